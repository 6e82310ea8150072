"""Counts, the ways to aggregate them, and the typed score that every metric returns.

A score is a sum of per-item counts: the same counts give an item's score, the micro and macro scores, intervals and
paired tests. Precision, recall and F are derived, never stored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tls_tasks.core.errors import OptionError
from tls_tasks.core.intervals import Interval, bootstrap_interval

AGGREGATES = ("f_of_means", "mean_f", "micro")
"""``f_of_means``: F of the mean precision and the mean recall; ``mean_f``: mean of the F (macro); ``micro``: F of
summed counts."""


class PRF(NamedTuple):
    """Precision, recall and F, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """F-beta of a precision and a recall; 0.0 where both are 0. ``beta`` > 1 favours recall (van Rijsbergen 1979).

    Example:
        >>> f_beta(0.5, 1.0)
        0.6666666666666666
    """
    if precision + recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


@dataclass(frozen=True, slots=True)
class Counts:
    """Sufficient statistics of one precision and one recall.

    Attributes:
        precision_hits: What the prediction got right (may be weighted, so a float).
        predicted: What the prediction offered.
        recall_hits: What of the reference was found. Differs from ``precision_hits`` where the two directions are
            aligned apart, as in alignment ROUGE.
        reference: What the reference asks for.

    Example:
        >>> (Counts(1, 2, 1, 4) + Counts(1, 2, 1, 1)).prf()
        PRF(precision=0.5, recall=0.4, f1=0.4444444444444445)
    """

    precision_hits: float
    predicted: float
    recall_hits: float
    reference: float

    def __add__(self, other: Counts) -> Counts:
        """Sum field by field: the counts of the two items taken together."""
        return Counts(
            self.precision_hits + other.precision_hits,
            self.predicted + other.predicted,
            self.recall_hits + other.recall_hits,
            self.reference + other.reference,
        )

    @property
    def precision(self) -> float:
        """``precision_hits / predicted``, 0.0 where nothing was offered."""
        return self.precision_hits / self.predicted if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """``recall_hits / reference``, 0.0 where nothing was asked for."""
        return self.recall_hits / self.reference if self.reference else 0.0

    def prf(self, beta: float = 1.0) -> PRF:
        """Precision, recall and F-beta."""
        precision, recall = self.precision, self.recall
        return PRF(precision, recall, f_beta(precision, recall, beta))


NO_COUNTS = Counts(0.0, 0.0, 0.0, 0.0)


def mean(values: Sequence[float]) -> float:
    """The mean, 0.0 of nothing; exactly rounded, so that it does not depend on the order of the items."""
    return math.fsum(values) / len(values) if values else 0.0


def aggregate_prf(prfs: Sequence[PRF], how: str, beta: float = 1.0) -> PRF:
    """Aggregate item scores by ``f_of_means`` or ``mean_f``.

    Example:
        >>> items = [PRF(1.0, 0.5, 2 / 3), PRF(0.0, 0.0, 0.0)]
        >>> aggregate_prf(items, "f_of_means")
        PRF(precision=0.5, recall=0.25, f1=0.3333333333333333)
        >>> aggregate_prf(items, "mean_f")
        PRF(precision=0.5, recall=0.25, f1=0.3333333333333333)
    """
    precision, recall = mean([prf.precision for prf in prfs]), mean([prf.recall for prf in prfs])
    if how == "f_of_means":
        return PRF(precision, recall, f_beta(precision, recall, beta))
    if how == "mean_f":
        return PRF(precision, recall, mean([prf.f1 for prf in prfs]))
    raise OptionError.unknown("aggregate", how, ("f_of_means", "mean_f"))


def aggregate(counts: Sequence[Counts], how: str = "f_of_means", beta: float = 1.0) -> PRF:
    """One score from the counts of many items.

    Args:
        counts: The items' counts; an empty sequence scores 0.
        how: One of :data:`AGGREGATES`.
        beta: Weight of recall in F.

    Example:
        >>> aggregate([Counts(1, 1, 1, 2), Counts(0, 3, 0, 2)], "micro")
        PRF(precision=0.25, recall=0.25, f1=0.25)
    """
    if how not in AGGREGATES:
        raise OptionError.unknown("aggregate", how, AGGREGATES)
    if how == "micro":
        return sum(counts, NO_COUNTS).prf(beta)
    return aggregate_prf([item.prf(beta) for item in counts], how, beta)


def group_by(items: Sequence[Counts], groups: Sequence[Hashable]) -> dict[Hashable, list[Counts]]:
    """Sort items into their groups (topics), in order of first appearance."""
    grouped: dict[Hashable, list[Counts]] = {}
    for item, group in zip(items, groups, strict=True):
        grouped.setdefault(group, []).append(item)
    return grouped


def aggregate_by_group(
    counts: Sequence[Counts], groups: Sequence[Hashable], how: str = "f_of_means", beta: float = 1.0
) -> tuple[PRF, dict[Hashable, PRF]]:
    """Aggregate within each group (topic), then over the groups, each group with one vote.

    Returns:
        The score over all groups, and each group's own.
    """
    by_group = {group: aggregate(members, how, beta) for group, members in group_by(counts, groups).items()}
    over = "f_of_means" if how == "f_of_means" else "mean_f"
    return aggregate_prf(list(by_group.values()), over, beta), by_group


@dataclass(frozen=True, slots=True)
class Item:
    """What one (row, reference) pair contributes to a score.

    Attributes:
        row: Position in ``predictions``.
        reference: Position among the row's references; None where they are taken jointly or there is one by nature.
        counts: Result prefix -> counts.
        topic: The row's topic, if topics were given.
        flags: Why a value is 0 by definition (``empty_prediction`` …); each metric's documentation lists its own.
        details: Makes what explains the numbers, ready for JSON: alignments, matches, misses.
    """

    row: int
    reference: int | None
    counts: Mapping[str, Counts]
    topic: str | None = None
    flags: tuple[str, ...] = ()
    details: Callable[[], Mapping[str, Any]] = dict

    def as_dict(self, beta: float = 1.0) -> dict[str, Any]:
        """The item's own scores, counts, flags and details as plain values."""
        result: dict[str, Any] = {"row": self.row, "reference": self.reference}
        if self.topic is not None:
            result["topic"] = self.topic
        for prefix, counts in self.counts.items():
            result |= named_prf(prefix, counts.prf(beta))
        result["counts"] = {prefix: _plain_counts(counts) for prefix, counts in self.counts.items()}
        return {**result, "flags": list(self.flags), **self.details()}


@dataclass(frozen=True, slots=True)
class Score:
    """A corpus score with everything that it was made from.

    Attributes:
        metric: Registry name.
        signature: How the number was made.
        prefixes: The result prefixes, in order.
        items: One an (row, reference) pair, in order.
        how: The aggregate, one of :data:`AGGREGATES`.
        beta: Weight of recall in F.
        by_topic: Whether topics have one vote each.
        variants: Variant -> the counts of the items under it, in the order of ``items``.
        extra: Further plain results of the metric.
        parse_failures: How many predictions could not be read at all.
        problems: Row -> kind of trouble in the model's text -> how often.
        per_item: Whether ``as_dict`` gives lists with one value an item instead of aggregates.
        confidence: Options of :func:`bootstrap_interval`, if ``as_dict`` is to give ``<key>_ci`` for each key.
    """

    metric: str
    signature: str
    prefixes: tuple[str, ...]
    items: tuple[Item, ...]
    how: str = "f_of_means"
    beta: float = 1.0
    by_topic: bool = False
    variants: Mapping[str, Sequence[Mapping[str, Counts]]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)
    parse_failures: int = 0
    problems: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    per_item: bool = False
    confidence: Mapping[str, Any] | None = None

    def prf(self, prefix: str) -> PRF:
        """Precision, recall and F of one prefix over all items."""
        return self._aggregate([item.counts[prefix] for item in self.items], range(len(self.items)))

    def topics(self) -> dict[str, dict[str, float]]:
        """Each topic's own scores, where topics were given."""
        names = [str(item.topic) for item in self.items]
        result: dict[str, dict[str, float]] = {}
        for prefix in self.prefixes:
            counts = [item.counts[prefix] for item in self.items]
            for topic, members in group_by(counts, names).items():
                result.setdefault(str(topic), {}).update(named_prf(prefix, aggregate(members, self.how, self.beta)))
        return result

    def interval(self, prefix: str, part: str = "f1", **options: Any) -> Interval:
        """Bootstrap interval over items of the aggregate that is reported; options as :func:`bootstrap_interval`."""
        counts = [item.counts[prefix] for item in self.items]
        if self.how == "mean_f" and not self.by_topic:  # then each part is the mean of the items' own
            values = [float(getattr(item.prf(self.beta), part)) for item in counts]
            return bootstrap_interval(len(values), lambda rows: mean([values[row] for row in rows]), **options)

        def statistic(rows: Sequence[int]) -> float:
            value: float = getattr(self._aggregate([counts[row] for row in rows], rows), part)
            return value

        return bootstrap_interval(len(counts), statistic, **options)

    def as_dict(self, detailed: bool = False) -> dict[str, Any]:
        """The result as plain values; ``detailed`` adds variants, items, topics and what went wrong in reading."""
        result: dict[str, Any] = {}
        for prefix in self.prefixes:
            result |= self._lists(prefix) if self.per_item else named_prf(prefix, self.prf(prefix))
        if self.confidence is not None:
            result |= self._intervals(self.confidence)
        result |= {**self.extra, "signature": self.signature}
        if not detailed:
            return result
        if self.variants:
            result["variants"] = {name: self._variant(rows) for name, rows in self.variants.items()}
        if self.by_topic:
            result["topics"] = self.topics()
        result["items"] = [item.as_dict(self.beta) for item in self.items]
        result["parse_failures"] = self.parse_failures
        result["problems"] = {row: dict(kinds) for row, kinds in self.problems.items()}
        return result

    def _lists(self, prefix: str) -> dict[str, list[float]]:
        prfs = [item.counts[prefix].prf(self.beta) for item in self.items]
        return {f"{prefix}_{part}": [float(getattr(prf, part)) for prf in prfs] for part in PRF._fields}

    def _intervals(self, options: Mapping[str, Any]) -> dict[str, list[float]]:
        return {
            f"{prefix}_{part}_ci": list(self.interval(prefix, part, **options))
            for prefix in self.prefixes
            for part in PRF._fields
        }

    def _variant(self, rows: Sequence[Mapping[str, Counts]]) -> dict[str, float]:
        result: dict[str, float] = {}
        for prefix in self.prefixes:
            result |= named_prf(prefix, self._aggregate([row[prefix] for row in rows], range(len(rows))))
        return result

    def _aggregate(self, counts: Sequence[Counts], positions: Sequence[int]) -> PRF:
        if not self.by_topic:
            return aggregate(counts, self.how, self.beta)
        return aggregate_by_group(counts, [self.items[position].topic for position in positions], self.how, self.beta)[
            0
        ]


def named_prf(prefix: str, prf: PRF) -> dict[str, float]:
    """The three result keys of a prefix.

    Example:
        >>> named_prf("date", PRF(1.0, 0.5, 2 / 3))
        {'date_precision': 1.0, 'date_recall': 0.5, 'date_f1': 0.6666666666666666}
    """
    return {f"{prefix}_{part}": float(value) for part, value in zip(PRF._fields, prf, strict=True)}


def without_nan(values: Mapping[str, float]) -> dict[str, float | None]:
    """The values for JSON, which has no NaN: what could not be computed is None.

    Example:
        >>> without_nan({"f1": 0.5, "recall": math.nan})
        {'f1': 0.5, 'recall': None}
    """
    return {key: None if math.isnan(value) else value for key, value in values.items()}


def _plain_counts(counts: Counts) -> dict[str, float]:
    return {
        "precision_hits": counts.precision_hits,
        "predicted": counts.predicted,
        "recall_hits": counts.recall_hits,
        "reference": counts.reference,
    }
