"""The functions by which the harness makes one number of its documents' values, by the names that its logs have."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any

_MOST = 1e100  # larger numbers, and infinity, are no measurement: their sums overflow


@lru_cache
def registered_aggregation(metric: str, name: str) -> tuple[str, Callable[[list[Any]], float]] | None:
    """The aggregation that the harness has registered under a name; without a name the metric's own.

    Returns:
        Its name and the function; None if there is none.

    Example:
        >>> name, function = registered_aggregation("mcc", "")
        >>> name, function([[1, 0], [0, 1]])
        ('matthews_corrcoef', -1.0)
        >>> registered_aggregation("mcc", "of_the_task") is None
        True
    """
    import lm_eval.api.metrics  # noqa: F401  # registers them
    from lm_eval.api.registry import AGGREGATION_REGISTRY, METRIC_AGGREGATION_REGISTRY

    own = METRIC_AGGREGATION_REGISTRY.get(metric) if not name and metric in METRIC_AGGREGATION_REGISTRY else None
    for known in AGGREGATION_REGISTRY:
        function: Callable[[list[Any]], float] = AGGREGATION_REGISTRY.get(known)
        if known == name or function is own:
            return known, function
    return None


@dataclass(frozen=True)
class Additive:
    """An aggregation that is a function of sums.

    Attributes:
        rows: The logged values -> statistics of each document, which add up. May raise for values of other forms.
        of: Their sums -> the number.
    """

    rows: Callable[[Sequence[Any]], list[list[float]]]
    of: Callable[..., float]


_OF_SACREBLEU = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}
_OF_LIKELIHOODS: Mapping[str, Callable[[float, float], float]] = {
    "perplexity": lambda total, weight: math.exp(-total / weight),
    "weighted_perplexity": lambda total, weight: math.exp(-total / weight),
    "bits_per_byte": lambda total, weight: -total / weight / math.log(2),
}


def additive_aggregation(name: str) -> Additive | None:
    """Perplexities, and BLEU, chrF and TER; None for others.

    Example:
        >>> bleu = additive_aggregation("bleu")
        >>> round(bleu.of(*bleu.rows([("The cat sees the lamp.", "The cat sees a lamp.")])[0]), 2)
        37.99
    """
    if name in _OF_SACREBLEU:
        return Additive(partial(_statistics, name), partial(_corpus_score, name))
    return Additive(_weighted, _OF_LIKELIHOODS[name]) if name in _OF_LIKELIHOODS else None


def _weighted(values: Sequence[Any]) -> list[list[float]]:
    """Log likelihoods and their weights; a likelihood alone counts once. What can't be added up is NaN."""
    rows = [list(map(float, value)) if isinstance(value, list) else [float(value), 1.0] for value in values]
    return [[number if abs(number) <= _MOST else math.nan for number in row] for row in rows]


def _statistics(name: str, values: Sequence[Any]) -> list[list[float]]:
    """Statistics of each sentence, of pairs of references and a prediction."""
    references = [[pair[0]] if isinstance(pair[0], str) else pair[0] for pair in values]
    predictions = [pair[1] if isinstance(pair[1], str) else pair[1][0] for pair in values]
    found = _sacrebleu(name)._extract_corpus_statistics(predictions, [*zip(*references, strict=True)])
    return [list(map(float, row)) for row in found]


def _corpus_score(name: str, *sums: float) -> float:
    """The score of sums of statistics, which are counts but for rounding."""
    whole = [round(value) for value in sums] if name != "ter" else list(sums)
    return float(_sacrebleu(name)._compute_score_from_stats(whole).score)


@lru_cache
def _sacrebleu(name: str) -> Any:
    # A dependency of the harness's, which has it or not.
    return getattr(import_module("sacrebleu.metrics"), _OF_SACREBLEU[name])()
