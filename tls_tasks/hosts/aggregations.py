"""Aggregations over documents: what the harness calls at the end with the values that ``process_results`` returned.

Each is sums over the documents and a function of them, so that rescoring, intervals and paired tests ask for the very
number that the harness reports. A value that could not be computed is NaN, and a NaN makes the aggregate NaN: an
instrument that failed is seen.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.intervals import Sums, total_of
from tls_tasks.core.scores import Counts, f_beta
from tls_tasks.trees.scores import precision_recall_f1


@dataclass(frozen=True, slots=True)
class Aggregation:
    """How the values of documents become one number.

    Attributes:
        units: All documents' values -> what each adds to the sums.
        value: The number that the sums give.
        of_nothing: The number of no documents.
    """

    units: Callable[[Sequence[Any]], list[Sums]]
    value: Callable[[Sums], float]
    of_nothing: float = 0.0

    def of(self, values: Sequence[Any]) -> float:
        """The aggregate of the documents' values; of none what ``of_nothing`` says."""
        return self.value(total_of(self.units(values))) if values else self.of_nothing


def f_of_means(values: Sequence[Mapping[str, Any]]) -> float:
    """F1 of the mean precision and the mean recall, over (topic, timeline) pairs, as news-tls and LLM-TLS report it.

    Args:
        values: One a document, with ``precision``, ``recall`` and ``f1``.

    Example:
        >>> f_of_means([{"precision": 1.0, "recall": 0.5, "f1": 2 / 3}, {"precision": 0.0, "recall": 0.0, "f1": 0.0}])
        0.3333333333333333
    """
    return AGGREGATIONS["f_of_means"].of(values)


def mean_f_by_topic(values: Sequence[Mapping[str, Any]]) -> float:
    """The mean F1 over topics of the mean F1 over each topic's reference timelines.

    Args:
        values: One a document, with ``f1`` and ``topic``.

    Example:
        >>> mean_f_by_topic([{"f1": 0.2, "topic": "a"}, {"f1": 0.4, "topic": "a"}, {"f1": 0.5, "topic": "b"}])
        0.4
    """
    return AGGREGATIONS["mean_f_by_topic"].of(values)


def total(values: Sequence[float]) -> float:
    """The sum: how many documents had it.

    Example:
        >>> total([0, 1, 1])
        2.0
    """
    return AGGREGATIONS["total"].of(values)


def ratio_of_sums(values: Sequence[Mapping[str, Any]]) -> float:
    """A micro average: what was right in all documents, of what there was in all of them; 0 of nothing.

    Args:
        values: One a document, with ``hits`` and ``of``.

    Example:
        >>> ratio_of_sums([{"hits": 1, "of": 1}, {"hits": 1, "of": 3}])
        0.5
    """
    return AGGREGATIONS["ratio_of_sums"].of(values)


def ratio_of_scored(values: Sequence[Mapping[str, Any]]) -> float:
    """A micro average that leaves out what was not scored: as :func:`ratio_of_sums`, but NaN of nothing.

    Args:
        values: One a document, with ``hits`` and ``of``; both 0 where nothing is known.

    Example:
        >>> ratio_of_scored([{"hits": 1, "of": 4}, {"hits": 0, "of": 0}]), ratio_of_scored([{"hits": 0, "of": 0}])
        (0.25, nan)
    """
    return AGGREGATIONS["ratio_of_scored"].of(values)


def f1_of_scored(values: Sequence[Mapping[str, Any]]) -> float:
    """The harmonic mean of two micro averages, sentence support and nugget coverage; NaN where one is not known.

    Args:
        values: One a document, with ``support`` and ``coverage``, each with ``hits`` and ``of``.

    Example:
        >>> f1_of_scored([{"support": {"hits": 1, "of": 1}, "coverage": {"hits": 1, "of": 2}}])
        0.6666666666666666
    """
    return AGGREGATIONS["f1_of_scored"].of(values)


def f1_of_sums(values: Sequence[Mapping[str, Any]]) -> float:
    """Micro F1: of the true positives, false positives and false negatives of all documents; 0 of nothing.

    Args:
        values: One a document, with ``tp``, ``fp`` and ``fn``.

    Example:
        >>> f1_of_sums([{"tp": 1, "fp": 0, "fn": 0}, {"tp": 0, "fp": 1, "fn": 1}])
        0.5
    """
    return AGGREGATIONS["f1_of_sums"].of(values)


def tree_precision(values: Sequence[Mapping[str, float]]) -> float:
    """Micro precision of nodes or leaves over documents; 1 where there is nothing that could be wrong, as in treeval.

    Args:
        values: One a document, with ``tp``, ``fp`` and ``fn``.

    Example:
        >>> tree_precision([{"tp": 1, "fp": 0, "fn": 1}, {"tp": 1, "fp": 2, "fn": 0}])
        0.5
    """
    return AGGREGATIONS["tree_precision"].of(values)


def tree_recall(values: Sequence[Mapping[str, float]]) -> float:
    """Micro recall of nodes or leaves over documents; 1 where there is nothing to be found, as in treeval.

    Example:
        >>> tree_recall([{"tp": 1, "fp": 0, "fn": 1}, {"tp": 1, "fp": 2, "fn": 1}]), tree_recall([])
        (0.5, 1.0)
    """
    return AGGREGATIONS["tree_recall"].of(values)


def tree_f1(values: Sequence[Mapping[str, float]]) -> float:
    """F1 of micro precision and micro recall of nodes or leaves over documents.

    Example:
        >>> tree_f1([{"tp": 1, "fp": 0, "fn": 1}, {"tp": 1, "fp": 2, "fn": 1}])
        0.5
    """
    return AGGREGATIONS["tree_f1"].of(values)


def _numbers(values: Sequence[Any]) -> list[Sums]:
    return [{"sum": float(value), "n": 1.0} for value in values]


def _known(values: Sequence[Any]) -> list[Sums]:
    """As :func:`_numbers`, but what could not be computed is left out, as by the harness's ``nanmean``."""
    numbers = [float(value) for value in values]
    return [{"sum": 0.0, "n": 0.0} if math.isnan(number) else {"sum": number, "n": 1.0} for number in numbers]


def _support_and_coverage(values: Sequence[Any]) -> list[Sums]:
    parts = ("support", "coverage")
    return [
        {f"{part}_{name}": float(value[part][name]) for part in parts for name in ("hits", "of")} for value in values
    ]


def _parts(*names: str) -> Callable[[Sequence[Any]], list[Sums]]:
    """Parts of a value that add up, and the number of documents."""
    return lambda values: [{**{name: float(value[name]) for name in names}, "n": 1.0} for value in values]


def _votes_of_topics(values: Sequence[Any]) -> list[Sums]:
    """A topic has one vote, which its documents share."""
    sizes = Counter(str(value["topic"]) for value in values)
    shares = [1 / sizes[str(value["topic"])] for value in values]
    return [{"f1": float(value["f1"]) * share, "topics": share} for value, share in zip(values, shares, strict=True)]


def _ratio(hits: str, of: str) -> Callable[[Sums], float]:
    return lambda sums: sums[hits] / sums[of] if sums[of] else 0.0


def _ratio_or_nan(hits: str, of: str) -> Callable[[Sums], float]:
    return lambda sums: sums[hits] / sums[of] if sums[of] else math.nan


def _f1_of_scored(sums: Sums) -> float:
    ratios = [_ratio_or_nan(f"{part}_hits", f"{part}_of")(sums) for part in ("support", "coverage")]
    return math.nan if any(map(math.isnan, ratios)) else f_beta(*ratios)


def _f_of_means(sums: Sums) -> float:
    return f_beta(sums["precision"] / sums["n"], sums["recall"] / sums["n"])


def _of_nodes(part: int) -> Callable[[Sums], float]:
    """Precision, recall or F1 of nodes or leaves as tree_eval takes them."""
    return lambda sums: precision_recall_f1(sums["tp"], sums["fp"], sums["fn"])[part]


def _micro_f1(sums: Sums) -> float:
    hits = sums["tp"]
    return Counts(hits, hits + sums["fp"], hits, hits + sums["fn"]).prf().f1


AGGREGATIONS: Mapping[str, Aggregation] = {
    "mean": Aggregation(_numbers, _ratio("sum", "n")),
    "f_of_means": Aggregation(_parts("precision", "recall"), _f_of_means),
    "mean_f_by_topic": Aggregation(_votes_of_topics, _ratio("f1", "topics")),
    "total": Aggregation(_numbers, lambda sums: sums["sum"]),
    "ratio_of_sums": Aggregation(_parts("hits", "of"), _ratio("hits", "of")),
    "tree_precision": Aggregation(_parts("tp", "fp", "fn"), _of_nodes(0), 1.0),
    "tree_recall": Aggregation(_parts("tp", "fp", "fn"), _of_nodes(1), 1.0),
    "tree_f1": Aggregation(_parts("tp", "fp", "fn"), _of_nodes(2), 1.0),
    "nanmean": Aggregation(_known, _ratio_or_nan("sum", "n"), math.nan),
    "ratio_of_scored": Aggregation(_parts("hits", "of"), _ratio_or_nan("hits", "of"), math.nan),
    "f1_of_scored": Aggregation(_support_and_coverage, _f1_of_scored, math.nan),
    "f1_of_sums": Aggregation(_parts("tp", "fp", "fn"), _micro_f1),
}
"""Each by the name that the YAML files give it. ``mean`` and ``nanmean`` are the harness's own."""
