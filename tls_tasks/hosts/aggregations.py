"""The functions by which the harness makes one number of its documents' values, by the names that its logs have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any


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


_OF_SACREBLEU = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}


@dataclass(frozen=True)
class SentenceMetric:
    """A corpus score of sacreBLEU as the harness takes it, by its name there.

    Attributes:
        name: Of the class in ``sacrebleu.metrics``.
    """

    name: str

    def rows(self, values: Sequence[Any]) -> list[list[float]]:
        """Statistics of each sentence, which add up; of pairs of references and a prediction."""
        references = [[pair[0]] if isinstance(pair[0], str) else pair[0] for pair in values]
        predictions = [pair[1] if isinstance(pair[1], str) else pair[1][0] for pair in values]
        found = _sacrebleu(self.name)._extract_corpus_statistics(predictions, [*zip(*references, strict=True)])
        return [list(map(float, row)) for row in found]

    def of(self, *sums: float) -> float:
        """The score of sums of statistics, which are counts but for rounding."""
        whole = [round(value) for value in sums] if self.name != "TER" else list(sums)
        return float(_sacrebleu(self.name)._compute_score_from_stats(whole).score)


def sentence_metric(name: str) -> SentenceMetric | None:
    """BLEU, chrF and TER.

    Example:
        >>> bleu = sentence_metric("bleu")
        >>> round(bleu.of(*bleu.rows([("The cat sees the lamp.", "The cat sees a lamp.")])[0]), 2)
        37.99
    """
    return SentenceMetric(_OF_SACREBLEU[name]) if name in _OF_SACREBLEU else None


@lru_cache
def _sacrebleu(name: str) -> Any:
    return getattr(import_module("sacrebleu.metrics"), name)()  # a dependency of the harness's, which has it or not
