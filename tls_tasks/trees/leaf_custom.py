"""Metrics of other people as leaf metrics: functions of one pair, modules of ``evaluate`` and their like."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

from tls_tasks.core.errors import InputError, warn_caller
from tls_tasks.trees.leaf_base import LeafMetric

_OF_100 = frozenset({"sacrebleu", "chrf", "ter"})
_LOWER_IS_BETTER = frozenset({"ter", "mse", "mae", "wer", "cer"})
"""Modules of ``evaluate`` whose scores are not from 0 to 1, or not the better the higher."""


class CustomMetricWarning(UserWarning):
    """A metric gave NaN or infinity for a pair, or one number for many pairs."""


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
            NaN and infinity count as the worst score, with a warning.
        name: What it is called, if neither a ``name`` nor a function's name says so.
        score_range: Least and greatest score; by default that of the module of ``evaluate`` with this name, or (0, 1).
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
    own = getattr(metric, "name", None) or getattr(metric, "__name__", None) or name
    if own is None:
        raise InputError("metric", None, repr(metric), "a metric with a name: give name=…")
    low, high = score_range or (0.0, 100.0 if own in _OF_100 else 1.0)
    if not -math.inf < low < high < math.inf:
        raise InputError("score_range", None, f"{score_range!r} of {own!r}", "(least, greatest), both finite")
    upwards = own not in _LOWER_IS_BETTER if higher_is_better is None else higher_is_better
    settings = {**({"result_key": result_key} if result_key else {}), **options}
    return LeafMetric(
        own,
        _Source(metric, own, low if upwards else high, result_key, options).scores,
        score_range=(low, high),
        higher_is_better=upwards,
        settings=",".join(f"{key}={value}" for key, value in settings.items()),
        is_reflexive=False,
    )


@dataclass(frozen=True, slots=True)
class _Source:
    """Somebody else's metric, and how it is asked."""

    metric: Any
    name: str
    worst: float
    result_key: str | None
    options: Mapping[str, Any]

    def scores(self, references: Sequence[Any], predictions: Sequence[Any]) -> list[float]:
        """The scores of pairs; equal pairs are asked for once."""
        keys = list(zip(map(repr, references), map(repr, predictions), strict=True))
        pairs = dict(zip(keys, zip(predictions, references, strict=True), strict=True))
        answers = self._answers(list(pairs.values())) if pairs else []
        if len(answers) != len(pairs) or not all(isinstance(score, Real) for score in answers):
            got = f"{len(answers)} scores of {self.name!r}"
            raise InputError("metric", None, got, f"{len(pairs)} numbers, one a pair")
        n_bad = sum(not math.isfinite(score) for score in answers)
        if n_bad:
            self._warn(f"gave no number for {n_bad} of {len(pairs)} pairs; they count as its worst score, {self.worst}")
        finite = [float(score) if math.isfinite(score) else self.worst for score in answers]
        scores = dict(zip(pairs, finite, strict=True))
        return [scores[key] for key in keys]

    def _answers(self, pairs: list[tuple[Any, Any]]) -> list[Any]:
        """What it says of pairs of a prediction and a reference."""
        if not _takes_columns(self.metric):
            return [self.metric(*pair, **self.options) for pair in pairs]
        answer = self._ask(pairs)
        if not isinstance(answer, Real):
            return list(answer)
        if len(pairs) == 1:
            return [answer]
        self._warn("gives one number for many pairs and is asked pair by pair: slow, and not the same number")
        return [self._ask([pair]) for pair in pairs]

    def _ask(self, pairs: list[tuple[Any, Any]]) -> Any:
        """One number for all pairs, or a list of them."""
        predictions, references = map(list, zip(*pairs, strict=True))
        function = getattr(self.metric, "compute", self.metric)
        result = function(predictions=predictions, references=references, **self.options)
        if not isinstance(result, Mapping):
            return result
        wanted = [self.result_key] if self.result_key else [self.name, "score", "f1"]
        key = next((key for key in wanted if key in result), None)
        if key is None:
            got = f"a result of {self.name!r} with the keys {list(result)}"
            raise InputError("metric", None, got, "result_key=… that names one")
        return result[key]

    def _warn(self, what: str) -> None:
        warn_caller(f"metric {self.name!r} {what}", CustomMetricWarning)


def _takes_columns(metric: Any) -> bool:
    """Whether it takes all predictions and references at once, not one pair."""
    if hasattr(metric, "compute"):
        return True
    try:
        return {"predictions", "references"} <= inspect.signature(metric).parameters.keys()
    except ValueError:  # written in C, without a signature
        return False
