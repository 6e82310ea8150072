"""Bootstrap intervals, and what a score must offer for them: results that are a function of sums over units."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np

from tls_tasks.core.errors import InputError


class Interval(NamedTuple):
    """A percentile bootstrap interval."""

    low: float
    high: float


def bootstrap_interval(
    n_items: int,
    statistic: Callable[[Sequence[int]], float],
    *,
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> Interval:
    """Percentile bootstrap interval of a statistic over items (Efron & Tibshirani 1993), the same for the same seed.

    Args:
        n_items: How many items there are; at least 1.
        statistic: Takes item indices (drawn with replacement) and returns the aggregate that is reported.
        confidence: Coverage, in (0, 1).
        n_resamples: How many resamples are drawn.
        seed: Seed of the generator; it belongs in the signature.

    Example:
        >>> values = [0.0, 0.5, 1.0, 1.0]
        >>> bootstrap_interval(4, lambda rows: sum(values[row] for row in rows) / len(rows), n_resamples=200)
        Interval(low=0.25, high=1.0)
    """
    check_interval(n_items, confidence, n_resamples)
    generator = random.Random(seed)
    rows = range(n_items)
    return percentiles([statistic(generator.choices(rows, k=n_items)) for _ in range(n_resamples)], confidence)


def check_interval(n_items: int, confidence: float, n_resamples: int) -> None:
    """Refuse what no interval can be made of."""
    if n_items < 1 or not 0 < confidence < 1 or n_resamples < 1:
        raise InputError(
            "confidence_interval",
            None,
            f"{n_items} items, confidence {confidence}, {n_resamples} resamples",
            "at least 1 item, a confidence in (0, 1) and at least 1 resample",
        )


def percentiles(drawn: Sequence[float], confidence: float) -> Interval:
    """The interval that holds the middle ``confidence`` of drawn values; at least one."""
    values, tail = sorted(drawn), (1 - confidence) / 2
    low, high = math.floor(tail * len(values)), math.ceil((1 - tail) * len(values)) - 1
    return Interval(values[low], values[high])


Sums = Mapping[str, float]
"""One unit's sufficient statistics by name, such that the corpus's results are a function of their totals."""


class Additive(Protocol):
    """A score whose results are a function of sums over units: what intervals, tests and rescoring need of any metric.

    ``results(total_of(score.units))`` are the numbers that ``as_dict()`` reports.
    """

    @property
    def units(self) -> Sequence[Sums]:
        """One unit (document, sample, report) each, all with the same names, in the order of the rows."""

    def results(self, totals: Sums) -> dict[str, float]:
        """The reported numbers of any such totals."""


def total_of(units: Sequence[Sums]) -> dict[str, float]:
    """The sums of each name over units; exactly rounded, so that it does not depend on their order.

    Example:
        >>> total_of([{"tp": 1, "fp": 0}, {"tp": 2, "fp": 1}])
        {'tp': 3.0, 'fp': 1.0}
    """
    return {name: math.fsum(unit[name] for unit in units) for name in (units[0] if units else ())}


def bootstrap_results(
    score: Additive, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 12345
) -> dict[str, Interval]:
    """Percentile bootstrap intervals over units of all results at once; options as :func:`bootstrap_interval`.

    A result that is NaN or missing in some resample (its denominator is empty there) has the interval of the others.
    """
    units = list(score.units)
    check_interval(len(units), confidence, n_resamples)
    names = list(units[0])
    table = np.array([[unit[name] for name in names] for unit in units], dtype=np.float64)
    generator = random.Random(seed)
    drawn: dict[str, list[float]] = {}
    for _ in range(n_resamples):
        rows = generator.choices(range(len(units)), k=len(units))
        totals = dict(zip(names, table[rows].sum(axis=0).tolist(), strict=True))
        for key, value in score.results(totals).items():
            if not math.isnan(value):
                drawn.setdefault(key, []).append(value)
    return {key: percentiles(values, confidence) for key, values in drawn.items()}
