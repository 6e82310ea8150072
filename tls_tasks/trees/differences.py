"""Metrics of differences of numbers, as they are used with treeval; ``tree_eval`` knows them by name.

``mse`` is treeval's: its range is (0, 1) whatever the numbers are. Where it is not a matter of treeval's numbers,
:func:`~tls_tasks.trees.leaf_values.number_closeness` is the better choice, since it has no scale.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tls_tasks.trees.leaf_base import FloatArray, LeafMetric


def _metric(
    name: str, score: Callable[[FloatArray], FloatArray], score_range: tuple[float, float], higher_is_better: bool
) -> LeafMetric:
    """A metric that is a function of the difference."""

    def pairs(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        return score(_numbers(predictions) - _numbers(references))

    def matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        return score(_numbers(predictions)[None, :] - _numbers(references)[:, None])

    return LeafMetric(
        name,
        pairs,
        matrix,
        _is_number,
        frozenset({float, bool}),
        score_range=score_range,
        higher_is_better=higher_is_better,
    )


def _is_number(value: Any) -> bool:
    """Numbers that a float holds; booleans are among them, as in treeval."""
    return isinstance(value, int | float) and abs(value) < 1e150


def _numbers(values: Sequence[Any]) -> FloatArray:
    return np.array(values, dtype=np.float64)


DIFFERENCES: Mapping[str, LeafMetric] = {
    "mse": _metric("mse", np.square, (0, 1), higher_is_better=False),
    "abs_err": _metric("abs_err", np.abs, (0, 10), higher_is_better=False),
    "num_sim": _metric("num_sim", lambda gaps: 1 / (1 + np.abs(gaps)), (0, 1), higher_is_better=True),
}
"""The square of the difference; its size, in the range 0 to 10; and 1 / (1 + its size)."""
