"""Metrics of other people as leaf metrics: modules of ``evaluate``, treeval's wrappers, functions.

A module is asked once a leaf, for all distinct pairs. If it answers with one score a pair, that is all; if it answers
with one number for all of them, it is asked again pair by pair, with a warning, since that is slow and, for a
corpus-level metric such as BLEU, another number.
"""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np

from tls_tasks.core.errors import InputError
from tls_tasks.trees.leaf_base import FloatArray, LeafMetric

KNOWN: Mapping[str, tuple[tuple[float, float], bool]] = {
    "sacrebleu": ((0.0, 100.0), True),
    "chrf": ((0.0, 100.0), True),
    "ter": ((0.0, 100.0), False),
    "mse": ((0.0, 1.0), False),
    "mae": ((0.0, 1.0), False),
    "wer": ((0.0, 1.0), False),
    "cer": ((0.0, 1.0), False),
}
"""Score range and direction of modules that have others than [0, 1] and up, where the caller gives none."""


MOST_KNOWN = 1_000_000
"""Pairs whose scores are kept."""


class PairwiseMetricWarning(UserWarning):
    """A metric gives no scores of single pairs, and is asked pair by pair."""


class NoScoreWarning(UserWarning):
    """A metric gave NaN or infinity for a pair, which counts as its worst score."""


def plugged(
    metric: Any,
    *,
    name: str | None = None,
    score_range: tuple[float, float] | None = None,
    higher_is_better: bool | None = None,
    result_key: str | None = None,
    **options: Any,
) -> LeafMetric:
    """A leaf metric of somebody else's metric.

    Args:
        metric: An object with ``compute(predictions=…, references=…)``, such as a module of ``evaluate``; a function
            with parameters of these two names; or a function of one pair, called as ``metric(prediction, reference)``.
            The first two return a dictionary, a number, or a list with one number a pair; the third returns a number.
        name: Key in results; the module's or the function's own by default.
        score_range: Least and greatest score; the metric's own ``score_range``, :data:`KNOWN` or (0, 1) by default.
        higher_is_better: Direction; likewise, True by default.
        result_key: Which entry of the dictionary is the score. By default its name's, ``score``, ``f1``, or the only
            number in it.
        options: Passed on with each call.

    Raises:
        InputError: A metric without a name, a range that is none, or later a result in which no score is found.

    Example:
        >>> def length(predictions, references):
        ...     return [abs(len(one) - len(other)) for one, other in zip(predictions, references)]
        >>> metric = plugged(length, score_range=(0, 10), higher_is_better=False)
        >>> metric.pairs(["abc", "abc"], ["a", "abcd"]), metric.best
        (array([2., 1.]), 0)
    """
    own = getattr(metric, "name", None) or getattr(getattr(metric, "func", metric), "__name__", None)
    found = name or own
    if not isinstance(found, str):
        raise InputError("metric", None, repr(metric), "a metric with a name: give name=…")
    own = own if isinstance(own, str) else found
    known_range, known_direction = KNOWN.get(own, ((0.0, 1.0), True))
    limits = score_range or getattr(metric, "score_range", None) or known_range
    upwards = getattr(metric, "higher_is_better", None) if higher_is_better is None else higher_is_better
    limits, upwards = _checked_range(found, limits), known_direction if upwards is None else bool(upwards)
    source = _Plugin(metric, found, own, limits[0] if upwards else limits[1], result_key, options)
    settings = {**({"result_key": result_key} if result_key else {}), **options}
    return LeafMetric(
        found,
        source.pairs,
        source.matrix,
        score_range=limits,
        higher_is_better=upwards,
        settings=",".join(f"{key}={value}" for key, value in settings.items()),
        forget=source.known.clear,
        own_name=own if own != found else "",
    )


def _checked_range(name: str, limits: Any) -> tuple[float, float]:
    if (
        isinstance(limits, tuple | list)
        and len(limits) == 2
        and all(isinstance(limit, Real) and math.isfinite(limit) for limit in limits)
        and limits[0] < limits[1]
    ):
        return (limits[0], limits[1])
    raise InputError("score_range", None, f"{limits!r} of metric {name!r}", "(least, greatest), both finite")


@dataclass(slots=True)
class _Plugin:
    """Somebody else's metric, and what was learned about it while asking."""

    metric: Any
    name: str
    own_name: str
    worst: float
    result_key: str | None
    options: Mapping[str, Any]
    is_pairwise: bool = False
    known: dict[Any, tuple[float, Any]] = field(default_factory=dict)
    """Pair -> its score, and the two values themselves: as long as they are kept, nothing else has their identity."""

    def pairs(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """Each distinct pair is asked for once, however often it comes."""
        keys = [tuple(map(_identity, pair)) for pair in zip(references, predictions, strict=True)]
        pairs = dict(zip(keys, zip(references, predictions, strict=True), strict=True))
        new = {key: pair for key, pair in pairs.items() if key not in self.known}
        if len(self.known) + len(new) > MOST_KNOWN:
            self.known.clear()
            new = pairs
        if new:
            answers = self._scores([pair[1] for pair in new.values()], [pair[0] for pair in new.values()])
            scores = self._finite(np.array(answers, dtype=np.float64)).tolist()
            self.known |= {key: (score, pair) for (key, pair), score in zip(new.items(), scores, strict=True)}
        return np.array([self.known[key][0] for key in keys], dtype=np.float64)

    def _finite(self, scores: FloatArray) -> FloatArray:
        bad = ~np.isfinite(scores)
        if bad.any():
            warnings.warn(
                f"metric {self.name!r} gave no number for {int(bad.sum())} of {len(scores)} pairs; they count as its "
                f"worst score, {self.worst}",
                NoScoreWarning,
                stacklevel=2,
            )
        return np.where(bad, self.worst, scores)

    def matrix(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """All pairs in one question."""
        left = [reference for reference in references for _ in predictions]
        return self.pairs(left, [*predictions] * len(references)).reshape(len(references), len(predictions))

    def _scores(self, predictions: list[Any], references: list[Any]) -> list[float]:
        if _takes_one_pair(self.metric):
            return self._checked(
                [self.metric(one, other, **self.options) for one, other in zip(predictions, references, strict=True)]
            )
        if not self.is_pairwise:
            answer = self._answer(predictions, references)
            if not isinstance(answer, Real) or len(predictions) == 1:
                return self._checked([answer] if isinstance(answer, Real) else list(answer), len(predictions))
            self.is_pairwise = True
            warnings.warn(
                f"metric {self.name!r} gives one number for many pairs, so that it is asked pair by pair: slow, and "
                "not what it gives for all of them together",
                PairwiseMetricWarning,
                stacklevel=2,
            )
        answers = (self._answer([one], [other]) for one, other in zip(predictions, references, strict=True))
        return self._checked([answer if isinstance(answer, Real) else answer[0] for answer in answers])

    def _answer(self, predictions: list[Any], references: list[Any]) -> Any:
        """One number, or a list of them."""
        function = self.metric.compute if hasattr(self.metric, "compute") else self.metric
        result = function(predictions=predictions, references=references, **self.options)
        if not isinstance(result, Mapping):
            return result
        numbers = [key for key, value in result.items() if isinstance(value, Real)]
        keys = (
            [self.result_key]
            if self.result_key
            else [self.name, self.own_name, "score", "f1", *(numbers if len(numbers) == 1 else [])]
        )
        key = next((key for key in keys if key in result), None)
        if key is None:
            raise InputError(
                "metric", None, f"a result of {self.name!r} with the keys {list(result)}", "result_key=… that names one"
            )
        return result[key]

    def _checked(self, scores: list[Any], n_pairs: int | None = None) -> list[float]:
        if n_pairs not in (None, len(scores)) or not all(isinstance(score, Real) for score in scores):
            raise InputError("metric", None, f"{len(scores)} scores of {self.name!r}", f"{n_pairs} numbers, one a pair")
        return [float(score) for score in scores]


def _identity(value: Any) -> Any:
    """A key that only values have that no metric can tell apart; what can't be hashed is itself only."""
    if isinstance(value, list | tuple):
        return (type(value), tuple(map(_identity, value)))
    if isinstance(value, Mapping):
        return (type(value), tuple((_identity(key), _identity(one)) for key, one in value.items()))
    try:
        hash(value)
    except TypeError:
        return (type(value), id(value))
    return (type(value), value)


def _takes_one_pair(metric: Any) -> bool:
    """Whether it is a function of a prediction and a reference, not of two lists."""
    if hasattr(metric, "compute"):
        return False
    try:
        parameters = inspect.signature(metric).parameters
    except (TypeError, ValueError):  # written in C, without a signature: such are functions of one pair
        return True
    any_name = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    return not ({"predictions", "references"} <= set(parameters)) and not (any_name and len(parameters) == 1)
