"""The leaf metrics of ``tree_eval`` by name, and which leaf has which by default."""

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, check_choice, describe, shorten, warn_caller
from tls_tasks.core.options import custom_sign
from tls_tasks.trees.leaf_values import BUILT_IN, TREEVAL_METRICS, LeafMetric, exact_match

DEFAULT_METRICS: Mapping[str, tuple[str, ...]] = {
    "string": ("indel_ratio",),
    **dict.fromkeys(("integer", "number", "boolean", "choice", "datetime"), ("exact_match",)),
    "date": ("date_closeness",),
}
"""Type -> its metrics: treeval's, but for BERTScore of texts, which needs a model. All other types: exact match."""

_HINTS = {
    "levenshtein": "'indel_ratio', which treeval calls so, or 'levenshtein_similarity'",
    "bertscore": "evaluate.load('bertscore') itself, with result_key='f1' and the model's language",
}


def resolve_metric(
    metric: Any, *, name: str | None = None, normalize: Any = (), compat: str | None = None, **options: Any
) -> LeafMetric:
    """Find a leaf metric by name, or make one of a function.

    Args:
        metric: A name of :data:`~tls_tasks.trees.leaf_values.BUILT_IN`; a
            :class:`~tls_tasks.trees.leaf_values.LeafMetric`; a function of a prediction and a reference, or of lists
            called ``predictions`` and ``references``; a module of ``evaluate``; or one of these with the arguments
            below as a dictionary: ``{"metric": "exact_match", "tolerance": 0.01}``.
        name: Key in results instead of the metric's own name.
        normalize: Names of :data:`~tls_tasks.text.tokenizers.NORMALIZERS`, applied to both texts in this order.
        compat: ``treeval``: its names mean what they mean there.
        options: The metric's own: ``tolerance`` of ``exact_match``; of a function or module ``score_range`` (least and
            greatest score, (0, 1) by default), ``higher_is_better`` (True by default), ``result_key`` (which entry of a
            dictionary is the score), and whatever else it is to be called with.

    Raises:
        OptionError: No metric of this name.
        InputError: No metric at all, or an option that it doesn't take.

    Example:
        >>> resolve_metric("exact_match", tolerance=0.5).signature
        'exact_match(tolerance=0.5)'
        >>> resolve_metric({"metric": "token_f1", "normalize": "nfc"}).pairs(["electric guitar"], ["guitar"])
        array([0.66666667])
        >>> resolve_metric("levenshtein")
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: metric: got 'levenshtein', expected 'indel_ratio', which treeval calls so, or 'levenshtein_similarity'
    """  # noqa: E501 - the message is one line
    if isinstance(metric, Mapping):
        if "metric" not in metric:
            raise InputError("metric", None, repr(metric), "a dictionary with 'metric': a name")
        return resolve_metric(**{"name": name, "normalize": normalize, "compat": compat, **options, **metric})
    if isinstance(metric, str):
        base = _named(metric, compat, options)
    elif isinstance(metric, LeafMetric):
        base = metric
    elif hasattr(metric, "compute") or callable(metric):  # by its methods: an evaluation module is falsy
        base = _custom_metric(metric, name=name, **options)
    else:
        raise InputError("metric", None, repr(metric), "a name, an evaluate module or a function")
    base = base.normalized(normalize)
    return base if name in (None, base.name) else replace(base, name=name, own_name=base.own_name or base.name)


def _named(name: str, compat: str | None, options: Mapping[str, Any]) -> LeafMetric:
    check_choice("compat", compat, (None, "treeval"))
    by_name = {**BUILT_IN, **(TREEVAL_METRICS if compat else {})}
    if name in _HINTS and name not in by_name:
        raise InputError("metric", None, repr(name), _HINTS[name])
    check_choice("metric", name, by_name)
    if not options:
        return by_name[name]
    if options.keys() != {"tolerance"} or by_name[name] is not BUILT_IN["exact_match"]:
        raise InputError("metric", None, f"{name!r} with {dict(options)}", "options that it has")
    return exact_match(**options)


# --- metrics of other people ---

_PERCENT_METRICS = frozenset({"sacrebleu", "chrf", "ter"})
_LOWER_IS_BETTER = frozenset({"ter", "mse", "mae", "wer", "cer"})
"""Modules of ``evaluate`` whose scores are not from 0 to 1, or not the better the higher."""


class CustomMetricWarning(UserWarning):
    """A metric gave no number, one outside its range, equal values its worst score, or one number for many pairs."""


def _custom_metric(
    metric: Any,
    *,
    name: str | None = None,
    score_range: tuple[float, float] | None = None,
    higher_is_better: bool | None = None,
    result_key: str | None = None,
    **options: Any,
) -> LeafMetric:
    """Return a leaf metric that calls a caller's function or evaluation module.

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
        >>> metric = _custom_metric(length, score_range=(0, 10), higher_is_better=False)
        >>> metric.pairs(["abc", "abc"], ["a", "abcd"]), metric.best
        (array([2., 1.]), 0.0)
    """
    label = getattr(metric, "name", None) or getattr(metric, "__name__", None) or name
    if label is None:
        raise InputError("metric", None, repr(metric), "a metric with a name: give name=…")
    low, high = score_range or (0.0, 100.0 if label in _PERCENT_METRICS else 1.0)
    if not -math.inf < low < high < math.inf:
        raise InputError("score_range", None, f"{score_range!r} of {label!r}", "(least, greatest), both finite")
    upwards = label not in _LOWER_IS_BETTER if higher_is_better is None else higher_is_better
    settings = {**({"result_key": result_key} if result_key else {}), **options}
    return LeafMetric(
        label,
        _CustomScorer(metric, label, (low, high), low if upwards else high, result_key, options).scores,
        score_range=(low, high),
        higher_is_better=upwards,
        settings=",".join(f"{key}={custom_sign(v) if callable(v) else v}" for key, v in settings.items()),
        own_name=custom_sign(metric, label),
        is_reflexive=False,
    )


class _CustomScorer(NamedTuple):
    """Somebody else's metric, and how it is asked."""

    metric: Any
    name: str
    limits: tuple[float, float]
    worst: float
    result_key: str | None
    options: Mapping[str, Any]

    def scores(self, references: Sequence[Any], predictions: Sequence[Any]) -> list[float]:
        """Return the score of each pair; equal pairs are scored once."""
        keys = list(zip(map(repr, references), map(repr, predictions), strict=True))
        pairs = dict(zip(keys, zip(predictions, references, strict=True), strict=True))
        answers = self._answers(list(pairs.values()))
        if len(answers) != len(pairs) or not all(isinstance(score, Real) for score in answers):
            bad = next((score for score in answers if not isinstance(score, Real)), answers)
            raise InputError("metric", None, f"{describe(bad)} from {self.name!r}", f"{len(pairs)} numbers, one a pair")
        scores = {key: score for key, score in zip(pairs, answers, strict=True) if math.isfinite(score)}
        if n_bad := len(pairs) - len(scores):
            self._warn(f"gave no number for {n_bad} of {len(pairs)} pairs; they count as its worst score, {self.worst}")
        low, high = self.limits
        is_odd = {key: not low <= score <= high for key, score in scores.items()}
        odd = [key for key in is_odd if is_odd[key] or (key[0] == key[1] and scores[key] == self.worst)]
        for key in odd[:1]:
            message = f"gave {scores[key]:g} for {shorten(pairs[key])}: beyond its range, or its worst score for equals"
            self._warn(f"{message}; give score_range=(least, greatest), and of a distance higher_is_better=False")
        return [float(scores.get(key, self.worst)) for key in keys]

    def _answers(self, pairs: list[tuple[Any, Any]]) -> list[Any]:
        """Return what the metric returns for each pair (prediction, reference)."""
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
        """Return the metric's result for these pairs: one number for all, or a list of them."""
        predictions, references = map(list, zip(*pairs, strict=True))
        function = getattr(self.metric, "compute", self.metric)
        result = function(predictions=predictions, references=references, **self.options)
        if not isinstance(result, Mapping):
            return result
        for key in [self.result_key] if self.result_key else [self.name, "score", "f1"]:
            if key in result:
                return result[key]
        got = f"a result of {self.name!r} with the keys {list(result)}"
        raise InputError("metric", None, got, "result_key=… that names one")

    def _warn(self, what: str) -> None:
        warn_caller(f"metric {self.name!r} {what}", CustomMetricWarning)


def _takes_columns(metric: Any) -> bool:
    """Tell whether a metric takes all predictions and references at once, not one pair."""
    if hasattr(metric, "compute"):
        return True
    try:
        return {"predictions", "references"} <= inspect.signature(metric).parameters.keys()
    except ValueError:  # functions written in C have no signature
        return False
