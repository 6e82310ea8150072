"""What a leaf metric is: scores of pairs of values, one by one or all with all."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tls_tasks.text.normalizers import names_of, normalizer
from tls_tasks.trees.types import AnyOf

FloatArray = NDArray[np.float64]

UNFIT = object()
"""What :attr:`LeafMetric.prepare` gives for a value that the metric cannot compare."""


@dataclass(frozen=True, slots=True)
class LeafMetric:
    """A metric of two leaf values.

    Values that a metric cannot compare (a list for a metric of texts) get its worst score and never raise.

    Attributes:
        name: The key in results.
        score_pairs: Prepared references, as many prepared predictions -> one score a pair.
        prepare: A value -> what is compared, or :data:`UNFIT`; None: the value itself.
        score_matrix: Distinct prepared references and predictions -> the scores of all pairs, where that is quicker
            than pair by pair.
        score_range: Least and greatest score.
        higher_is_better: Direction.
        settings: Options that differ from the defaults, for signatures.
        own_name: What the metric is called where ``name`` was changed; for signatures.
        is_reflexive: Whether equal values that it can compare surely have the best score.

    Example:
        >>> from tls_tasks.trees.leaf_metrics import resolve_metric
        >>> metric = resolve_metric("indel_ratio")
        >>> metric.pairs(["baroo", "drums"], ["bar", 7])
        array([0.75, 0.  ])
        >>> metric.matrix(["baroo", AnyOf(["drum kit", "drums"])], ["drums", "bar"]).round(2)
        array([[0.2 , 0.75],
               [1.  , 0.25]])
    """

    name: str
    score_pairs: Callable[[Sequence[Any], Sequence[Any]], Any]
    prepare: Callable[[Any], Any] | None = None
    score_matrix: Callable[[Sequence[Any], Sequence[Any]], FloatArray] | None = None
    score_range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    settings: str = ""
    own_name: str = ""
    is_reflexive: bool = True

    @property
    def worst(self) -> float:
        """The score of what can't be compared."""
        return float(self.score_range[0] if self.higher_is_better else self.score_range[1])

    @property
    def best(self) -> float:
        """The score of a perfect value."""
        return float(self.score_range[1] if self.higher_is_better else self.score_range[0])

    @property
    def signature(self) -> str:
        """Its own name, whatever the key in results is, and settings."""
        return (self.own_name or self.name) + (f"({self.settings})" if self.settings else "")

    def normalize(self, scores: Any, clip: bool = True) -> Any:
        """Scores (an array or a single one) in [0, 1], 1 the best.

        Args:
            scores: In the metric's range, or beyond it.
            clip: Whether those beyond the range (0, 1) are clipped; beyond any other range they always are.

        Example:
            >>> from tls_tasks.trees.leaf_metrics import resolve_metric
            >>> error = resolve_metric(max, name="error", score_range=(0, 10), higher_is_better=False)
            >>> error.normalize(np.array([2.0, 12.0]))
            array([0.8, 0. ])
        """
        low, high = self.score_range
        if (low, high) != (0, 1):
            scores = (np.clip(scores, low, high) - low) / (high - low)
        elif clip:
            scores = np.clip(scores, 0.0, 1.0)
        return scores if self.higher_is_better else 1.0 - scores

    def pairs(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """The scores of ``references[i]`` with ``predictions[i]``; of an :class:`AnyOf` the best answer counts."""
        if AnyOf in set(map(type, references)):
            answers, starts = _answers(references)
            repeats = np.diff([*starts, len(answers)])
            given = [predictions[index] for index in np.repeat(range(len(starts)), repeats)]
            return self._best_of(self.pairs(answers, given), starts)
        left, right = self._prepared(references), self._prepared(predictions)
        pairs = enumerate(zip(left, right, strict=True))
        fit = [index for index, (one, other) in pairs if one is not UNFIT and other is not UNFIT]
        scores = np.full(len(left), self.worst)
        if fit:
            scores[fit] = self.score_pairs([left[index] for index in fit], [right[index] for index in fit])
        return scores

    def matrix(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """The scores of every reference with every prediction, ``[references, predictions]``."""
        if AnyOf in set(map(type, references)):
            answers, starts = _answers(references)
            return self._best_of(self.matrix(answers, predictions), starts)
        (left, rows), (right, columns) = map(_distinct, (references, predictions))
        left, right = self._prepared(left), self._prepared(right)
        fit = [[index for index, value in enumerate(side) if value is not UNFIT] for side in (left, right)]
        scores = np.full((len(left), len(right)), self.worst)
        if all(fit):
            scores[np.ix_(*fit)] = self._all_with_all([left[i] for i in fit[0]], [right[j] for j in fit[1]])
        return scores if len(left) == len(rows) and len(right) == len(columns) else scores[np.ix_(rows, columns)]

    def _all_with_all(self, left: list[Any], right: list[Any]) -> Any:
        if self.score_matrix is not None:
            return self.score_matrix(left, right)
        repeated = [value for value in left for _ in right]
        return np.reshape(self.score_pairs(repeated, right * len(left)), (len(left), len(right)))

    def normalized(self, names: str | Sequence[str]) -> LeafMetric:
        """The same metric of normalised texts; ``names`` as in :data:`~tls_tasks.text.normalizers.NORMALIZERS`.

        Example:
            >>> from tls_tasks.trees.leaf_metrics import resolve_metric
            >>> metric = resolve_metric("exact_match").normalized(["lower", "strip"])
            >>> metric.pairs(["Berlin"], [" BERLIN"]), metric.signature
            (array([1.]), 'exact_match(normalize=lower+strip)')
        """
        if not names_of(names):
            return self
        settings = ",".join(filter(None, [self.settings, f"normalize={'+'.join(names_of(names))}"]))
        prepare = partial(_prepare_normalized, normalizer(names), self.prepare)
        return replace(self, prepare=prepare, settings=settings)

    def _prepared(self, values: Sequence[Any]) -> list[Any]:
        return list(values if self.prepare is None else map(self.prepare, values))

    def _best_of(self, scores: FloatArray, starts: Sequence[int]) -> FloatArray:
        best = np.maximum if self.higher_is_better else np.minimum
        result: FloatArray = best.reduceat(scores, starts, axis=0)
        return result


def _answers(references: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """The answers one after the other, and where those of each reference begin."""
    answers: list[Any] = []
    starts: list[int] = []
    for reference in references:
        starts.append(len(answers))
        answers.extend(reference.values if isinstance(reference, AnyOf) else [reference])
    return answers, starts


def _distinct(values: Sequence[Any]) -> tuple[Sequence[Any], Sequence[int]]:
    """The distinct values in order, and for each value the index of its like; 1, 1.0 and True are not alike."""
    keys = list(zip(map(type, values), values, strict=True))
    try:
        indices = {key: index for index, key in enumerate(dict.fromkeys(keys))}
    except TypeError:  # an unhashable value
        return values, range(len(values))
    return [value for _, value in indices], [indices[key] for key in keys]


def _prepare_normalized(normalize: Callable[[str], str], prepare: Callable[[Any], Any] | None, value: Any) -> Any:
    value = _with_texts(normalize, value)
    return value if prepare is None else prepare(value)


def _with_texts(normalize: Callable[[str], str], value: Any) -> Any:
    """The value with its texts changed, those in a list too."""
    if isinstance(value, str):
        return normalize(value)
    return [_with_texts(normalize, item) for item in value] if isinstance(value, list | tuple) else value
