"""Precision, recall and F: counts, and the results that are made of them."""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache, partial, reduce
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, check_choice, shorten
from tls_tasks.core.score import Result, mean

AGGREGATES = ("f_of_means", "mean_f")
"""``f_of_means``: F of the mean precision and the mean recall; ``mean_f``: the mean of the units' F (macro)."""


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
        >>> Counts(2, 4, 2, 5).prf()
        PRF(precision=0.5, recall=0.4, f1=0.4444444444444445)
    """

    precision_hits: float
    predicted: float
    recall_hits: float
    reference: float

    def prf(self, beta: float = 1.0) -> PRF:
        """Precision, recall and F-beta; 0.0 where nothing was offered or asked for."""
        precision = self.precision_hits / self.predicted if self.predicted else 0.0
        recall = self.recall_hits / self.reference if self.reference else 0.0
        return PRF(precision, recall, f_beta(precision, recall, beta))


@dataclass(frozen=True, slots=True)
class Item:
    """What one row, or one (row, reference) pair, contributes to a score of precision, recall and F.

    Attributes:
        row: Position in ``predictions``.
        reference: Position among the row's references; None where they are taken jointly or there is one by nature.
        counts: Result prefix -> counts.
        topic: The row's topic, if topics were given.
        flags: Why a value is 0 by definition (``empty_prediction`` …); each metric's documentation lists its own.
        details: Makes what explains the numbers, ready for JSON: alignments, matches, misses.
        beta: Weight of recall in F.
    """

    row: int
    reference: int | None
    counts: Mapping[str, Counts]
    topic: str | None = None
    flags: tuple[str, ...] = ()
    details: Callable[[], Mapping[str, Any]] = dict
    beta: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        """The item's own scores, counts, flags and details as plain values."""
        result: dict[str, Any] = {"row": self.row, "reference": self.reference}
        if self.topic is not None:
            result["topic"] = self.topic
        for prefix, counts in self.counts.items():
            result |= _named_prf(prefix, counts.prf(self.beta))
        result["counts"] = {prefix: asdict(counts) for prefix, counts in self.counts.items()}
        return {**result, "flags": list(self.flags), **self.details()}


def _named_prf(prefix: str, prf: PRF) -> dict[str, float]:
    """The three result keys of a prefix.

    Example:
        >>> _named_prf("date", PRF(1.0, 0.5, 2 / 3))
        {'date_precision': 1.0, 'date_recall': 0.5, 'date_f1': 0.6666666666666666}
    """
    return {f"{prefix}_{part}": float(value) for part, value in zip(PRF._fields, prf, strict=True)}


def prf_unit(counts: Mapping[str, Counts], beta: float = 1.0) -> dict[str, float]:
    """The unit of counts by prefix, as :func:`prf_of_means` takes it.

    Example:
        >>> prf_unit({"date": Counts(1, 2, 1, 2)})
        {'n': 1.0, 'date_precision': 0.5, 'date_recall': 0.5, 'date_f1': 0.5}
    """
    unit = {"n": 1.0}
    for prefix, own in counts.items():
        unit |= _named_prf(prefix, own.prf(beta))
    return unit


def _f_of_means(beta: float, n: float, precision: float, recall: float) -> float:
    return f_beta(precision / n, recall / n, beta)


@lru_cache
def prf_of_means(prefix: str, how: str = "f_of_means", beta: float = 1.0, by_topic: bool = False) -> dict[str, Result]:
    """The three results of a prefix: the mean precision and recall over units, and F by ``how``.

    Args:
        prefix: Of the result keys and of the units' parts, as :func:`prf_unit` names them.
        how: One of :data:`AGGREGATES`.
        beta: Weight of recall in F.
        by_topic: Whether topics have one vote each.
    """
    keys = precision, recall, f1 = [f"{prefix}_{part}" for part in PRF._fields]
    table = {key: mean(key, equal_votes=by_topic) for key in keys}
    if how == "f_of_means":
        table[f1] = Result(("n", precision, recall), partial(_f_of_means, beta), equal_votes=by_topic)
    return table


def check_aggregate(aggregate: str, beta: float) -> None:
    """Refuse an aggregate that does not exist and a beta that is not a positive number."""
    check_choice("aggregate", aggregate, AGGREGATES)
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 1e-100 <= beta <= 1e100:
        raise InputError("beta", None, shorten(beta), "a positive number from 1e-100 to 1e100")


def plain_sum(values: Iterable[float]) -> float:
    """Add from left to right, and round after each step, as the original tools did.

    Python's own ``sum`` makes up for what it rounds from 3.12 on, so that its last bits are others there.

    Example:
        >>> plain_sum([1e16, 1.0, -1e16])
        0.0
    """
    return reduce(operator.add, values, 0)


def plain_mean(values: Sequence[float]) -> float:
    """The mean by :func:`plain_sum`; there must be values."""
    return plain_sum(values) / len(values)
