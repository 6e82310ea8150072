"""Metrics of other people as leaf metrics: functions, modules of ``evaluate``, treeval's wrappers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from tls_tasks.core.errors import InputError, warn_caller
from tls_tasks.trees.leaf_base import LeafMetric

KNOWN: Mapping[str, tuple[tuple[float, float], bool]] = {
    "sacrebleu": ((0.0, 100.0), True),
    "chrf": ((0.0, 100.0), True),
    "ter": ((0.0, 100.0), False),
    "mse": ((0.0, 1.0), False),
    "mae": ((0.0, 1.0), False),
    "wer": ((0.0, 1.0), False),
    "cer": ((0.0, 1.0), False),
}
"""Score range and direction of modules of ``evaluate`` that have others than [0, 1] and up."""


class PairwiseMetricWarning(UserWarning):
    """A metric gives no scores of single pairs, and is asked pair by pair."""


class NoScoreWarning(UserWarning):
    """A metric gave NaN or infinity for a pair, which counts as its worst score."""


def custom_metric(
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
        metric: A function of one pair, called as ``metric(prediction, reference)``, that returns a number; or a
            function with parameters ``predictions`` and ``references``, or an object with such a ``compute``, that
            returns one number a pair. What returns one number for all pairs (most modules of ``evaluate``) is called
            again for each pair, with a warning: it is slow, and for corpus-level metrics such as BLEU another number.
        name: Key in results; the module's or the function's own by default.
        score_range: Least and greatest score; the metric's own ``score_range``, :data:`KNOWN` or (0, 1) by default.
        higher_is_better: Direction; likewise, True by default.
        result_key: Which entry of a dictionary is the score. By default its name's, ``score``, or ``f1``.
        options: Passed on with each call.

    Raises:
        InputError: A metric without a name, an invalid range, or later a result in which no score is found.

    Example:
        >>> def length(predictions, references):
        ...     return [abs(len(one) - len(other)) for one, other in zip(predictions, references)]
        >>> metric = custom_metric(length, score_range=(0, 10), higher_is_better=False)
        >>> metric.pairs(["abc", "abc"], ["a", "abcd"]), metric.best
        (array([2., 1.]), 0.0)
    """
    own = getattr(metric, "name", None) or getattr(getattr(metric, "func", metric), "__name__", None)
    own = own if isinstance(own, str) else name
    if own is None:
        raise InputError("metric", None, repr(metric), "a metric with a name: give name=…")
    known_range, known_direction = KNOWN.get(own, ((0.0, 1.0), True))
    low, high = _checked_range(own, score_range or getattr(metric, "score_range", known_range))
    direction = getattr(metric, "higher_is_better", known_direction) if higher_is_better is None else higher_is_better
    upwards = bool(direction)
    source = _Source(metric, name or own, own, low if upwards else high, result_key, options)
    settings = {**({"result_key": result_key} if result_key else {}), **options}
    return LeafMetric(
        name or own,
        source.scores,
        score_range=(low, high),
        higher_is_better=upwards,
        settings=",".join(f"{key}={value}" for key, value in settings.items()),
        own_name=own if own != (name or own) else "",
        is_reflexive=False,
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


@dataclass(frozen=True, slots=True)
class _Source:
    metric: Any
    name: str
    own_name: str
    worst: float
    result_key: str | None
    options: Mapping[str, Any]

    def scores(self, references: Sequence[Any], predictions: Sequence[Any]) -> list[float]:
        """The scores of pairs; equal pairs are asked for once."""
        keys = [
            (repr(reference), repr(prediction)) for reference, prediction in zip(references, predictions, strict=True)
        ]
        pairs = dict(zip(keys, zip(predictions, references, strict=True), strict=True))
        answers = self._answers(*map(list, zip(*pairs.values(), strict=True))) if pairs else []
        scores = dict(zip(pairs, self._finite(answers), strict=True))
        return [scores[key] for key in keys]

    def _finite(self, scores: list[float]) -> list[float]:
        n_bad = sum(not math.isfinite(score) for score in scores)
        if n_bad:
            warn_caller(
                f"metric {self.name!r} gave no number for {n_bad} of {len(scores)} pairs; they count as its worst "
                f"score, {self.worst}",
                NoScoreWarning,
            )
        return [score if math.isfinite(score) else self.worst for score in scores]

    def _answers(self, predictions: list[Any], references: list[Any]) -> list[float]:
        pairs = list(zip(predictions, references, strict=True))
        if self._takes_one_pair():
            return self._numbers([self.metric(*pair, **self.options) for pair in pairs], len(pairs))
        answer = self._ask(predictions, references)
        if isinstance(answer, Real) and len(pairs) > 1:
            warn_caller(
                f"metric {self.name!r} gives one number for many pairs, so that it is asked pair by pair: slow, and "
                "not what it gives for all of them together",
                PairwiseMetricWarning,
            )
            answer = [self._ask([prediction], [reference]) for prediction, reference in pairs]
            answer = [score if isinstance(score, Real) else score[0] for score in answer]
        return self._numbers([answer] if isinstance(answer, Real) else list(answer), len(pairs))

    def _ask(self, predictions: list[Any], references: list[Any]) -> Any:
        """One number, or a list of them."""
        function = self.metric.compute if hasattr(self.metric, "compute") else self.metric
        result = function(predictions=predictions, references=references, **self.options)
        if not isinstance(result, Mapping):
            return result
        wanted = [self.result_key] if self.result_key else [self.name, self.own_name, "score", "f1"]
        key = next((key for key in wanted if key in result), None)
        if key is None:
            got = f"a result of {self.name!r} with the keys {list(result)}"
            raise InputError("metric", None, got, "result_key=… that names one")
        return result[key]

    def _numbers(self, scores: list[Any], n_pairs: int) -> list[float]:
        if len(scores) != n_pairs or not all(isinstance(score, Real) for score in scores):
            raise InputError("metric", None, f"{len(scores)} scores of {self.name!r}", f"{n_pairs} numbers, one a pair")
        return [float(score) for score in scores]

    def _takes_one_pair(self) -> bool:
        """Whether it is a function of a prediction and a reference, not of two lists."""
        if hasattr(self.metric, "compute"):
            return False
        try:
            parameters = inspect.signature(self.metric).parameters
        except (TypeError, ValueError):  # written in C, without a signature: such are functions of one pair
            return True
        any_name = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
        return not ({"predictions", "references"} <= set(parameters)) and not (any_name and len(parameters) == 1)
