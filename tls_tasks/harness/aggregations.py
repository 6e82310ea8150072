"""Aggregations over documents: what the harness calls at the end with the values that ``process_results`` returned.

A value that could not be computed is NaN, and a NaN makes the aggregate NaN: an instrument that failed is seen.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.scores import PRF, Counts, aggregate_prf, mean


def f_of_means(values: Sequence[Mapping[str, Any]]) -> float:
    """F1 of the mean precision and the mean recall, over (topic, timeline) pairs, as news-tls and LLM-TLS report it.

    Args:
        values: One a document, with ``precision``, ``recall`` and ``f1``.

    Example:
        >>> f_of_means([{"precision": 1.0, "recall": 0.5, "f1": 2 / 3}, {"precision": 0.0, "recall": 0.0, "f1": 0.0}])
        0.3333333333333333
    """
    return aggregate_prf([_prf(value) for value in values], "f_of_means").f1


def mean_f_by_topic(values: Sequence[Mapping[str, Any]]) -> float:
    """The mean F1 over topics of the mean F1 over each topic's reference timelines.

    Args:
        values: One a document, with ``f1`` and ``topic``.

    Example:
        >>> mean_f_by_topic([{"f1": 0.2, "topic": "a"}, {"f1": 0.4, "topic": "a"}, {"f1": 0.5, "topic": "b"}])
        0.4
    """
    topics: dict[str, list[float]] = {}
    for value in values:
        topics.setdefault(str(value["topic"]), []).append(float(value["f1"]))
    return mean([mean(scores) for scores in topics.values()])


def total(values: Sequence[float]) -> float:
    """The sum: how many documents had it.

    Example:
        >>> total([0, 1, 1])
        2.0
    """
    return math.fsum(values)


def ratio_of_sums(values: Sequence[Mapping[str, Any]]) -> float:
    """A micro average: what was right in all documents, of what there was in all of them; 0 of nothing.

    Args:
        values: One a document, with ``hits`` and ``of``.

    Example:
        >>> ratio_of_sums([{"hits": 1, "of": 1}, {"hits": 1, "of": 3}])
        0.5
    """
    return Counts(_sum(values, "hits"), _sum(values, "of"), 0, 0).precision


def f1_of_sums(values: Sequence[Mapping[str, Any]]) -> float:
    """Micro F1: of the true positives, false positives and false negatives of all documents; 0 of nothing.

    Args:
        values: One a document, with ``tp``, ``fp`` and ``fn``.

    Example:
        >>> f1_of_sums([{"tp": 1, "fp": 0, "fn": 0}, {"tp": 0, "fp": 1, "fn": 1}])
        0.5
    """
    hits, predicted, wanted = _sum(values, "tp"), _sum(values, "fp"), _sum(values, "fn")
    return Counts(hits, hits + predicted, hits, hits + wanted).prf().f1


def _sum(values: Sequence[Mapping[str, Any]], name: str) -> float:
    return math.fsum(float(value[name]) for value in values)


def _prf(value: Mapping[str, Any]) -> PRF:
    return PRF(float(value["precision"]), float(value["recall"]), float(value["f1"]))
