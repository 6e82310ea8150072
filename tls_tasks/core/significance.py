"""Whether one system is better than another: paired tests on the number that is reported, whatever the metric.

A metric's number is a function of sums over units (:class:`~tls_tasks.core.score.Sums`), so that exchanging or
redrawing units is adding other rows, and the test is about the aggregate itself, not about a mean beside it.

Sources: Noreen, Computer-Intensive Methods for Testing Hypotheses, 1989 (approximate randomisation); Riezler & Maxwell,
On Some Pitfalls in Automatic Evaluation and Significance Testing for MT, 2005; Koehn, Statistical Significance Tests
for Machine Translation Evaluation, 2004 (paired bootstrap); Holm 1979 (several comparisons).
"""

import itertools
import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tls_tasks.core.errors import InputError, check_whole_number
from tls_tasks.core.intervals import Interval, Statistics, Table, check_interval
from tls_tasks.core.score import Sums

MOST_EXACT = 14
"""Up to so many units all 2^n exchanges are tried, and the p-value is exact."""

_SAME = 1e-12  # differences that only rounding tells apart are the same
_AT_ONCE = 2_000_000  # numbers of a table of exchanges, which are some megabytes


@dataclass(frozen=True, slots=True)
class Settings:
    """How a comparison is made.

    Attributes:
        n_permutations: Random exchanges, where there are too many units for all of them.
        n_resamples: Resamples of the interval, where it is bootstrapped.
        confidence: Coverage of the interval, in (0, 1).
        seed: Seed of both.
    """

    n_permutations: int = 10_000
    n_resamples: int = 1_000
    confidence: float = 0.95
    seed: int = 12345


@dataclass(frozen=True, slots=True)
class Difference:
    """One metric of two systems.

    Attributes:
        key: The metric.
        first, second: The values of both.
        p_value: Two-sided; NaN if one of the values is NaN.
        interval: Of ``second - first``, by the rule of :mod:`~tls_tasks.core.intervals`, over pairs of units; None if
            a value is NaN, or fewer than two units add to it.
        detectable: How large a true difference must be for four of five tests on so many units to find it at .05:
            (t[.975] + t[.8]) standard errors of the paired difference; NaN where there is no standard error.
        n_units: How many units were exchanged: clusters if there are any, else documents.
        exact: Whether all exchanges were tried.
    """

    key: str
    first: float
    second: float
    p_value: float
    interval: Interval | None
    detectable: float
    n_units: int
    exact: bool

    @property
    def difference(self) -> float:
        """What the second has more than the first."""
        return self.second - self.first


def smallest_p(n_units: int, n_permutations: int = 10_000) -> float:
    """The smallest p-value that so many units can give, two-sided.

    Example:
        >>> smallest_p(4), smallest_p(5)
        (0.125, 0.0625)
    """
    if n_units < 1:
        return 1.0
    return 2 / 2**n_units if n_units <= MOST_EXACT else 1 / (n_permutations + 1)


def compare(first: Sums, second: Sums, keys: Sequence[str], *, settings: Settings | None = None) -> list[Difference]:
    """Compare two systems on the same units.

    Args:
        first: The sums of a score, a row a unit (a topic, where topics belong together) in some order.
        second: Those of another, in the same order.
        keys: Which results to compare.
        settings: See :class:`Settings`.

    Returns:
        One difference a key, in that order.

    Raises:
        InputError: If the two have different numbers of units or none, or a setting is impossible.
    """
    settings = settings or Settings()
    left, right = first.rows, second.rows
    if len(left) != len(right) or not len(left):
        sizes = f"{len(left)} and {len(right)} units"
        raise InputError("compare", None, sizes, "the same units, at least one, in both")
    check_whole_number("n_permutations", settings.n_permutations)
    check_interval(len(left), settings.confidence, settings.n_resamples)

    old, new = first.values(left.sum(axis=0), keys), second.values(right.sum(axis=0), keys)
    p_values = _p_values(first, second, keys, settings)
    gained = differences(first, second, keys)
    intervals = gained.intervals(settings.confidence, settings.n_resamples, settings.seed)
    errors = gained.standard_errors()
    exact, n = len(left) <= MOST_EXACT, len(left)
    return [
        Difference(key, old[key], new[key], p_values[key], intervals.get(key), detectable(errors[key], n), n, exact)
        for key in keys
    ]


def detectable(error: float, n_units: int) -> float:
    """Return the true difference that four of five paired t-tests find at .05, by the standard error of a difference.

    Source: Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988.
    """
    from scipy.special import stdtrit  # as late as here: scipy takes its time to import

    return float(error * (stdtrit(n_units - 1, 0.975) + stdtrit(n_units - 1, 0.8))) if n_units > 1 else math.nan


def holm(p_values: Sequence[float]) -> list[float]:
    """P-values adjusted for several comparisons, in the order given (Holm 1979); NaN stays NaN and counts for none.

    Example:
        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    order = sorted((row for row, p in enumerate(p_values) if not math.isnan(p)), key=lambda row: p_values[row])
    adjusted, highest = list(p_values), 0.0
    for rank, row in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * p_values[row]))
        adjusted[row] = highest
    return adjusted


def _p_values(first: Sums, second: Sums, keys: Sequence[str], settings: Settings) -> dict[str, float]:
    """For each key how often an exchange gives a difference as large as the observed one."""
    left, right = first.rows.sum(axis=0), second.rows.sum(axis=0)
    here = first.values(left, keys), second.values(right, keys)
    least = {key: abs(here[1][key] - here[0][key]) - _SAME for key in keys}
    hits, n = dict.fromkeys(keys, 0), 0
    for moved in _exchanges(second.rows - first.rows, settings):
        n += len(moved)
        for key in keys:
            columns, of = first.columns[key], (first.table[key].of, second.table[key].of)
            # Counts come back to the same few sums again and again: each is computed once.
            sums, times = np.unique(moved[:, columns], axis=0, return_counts=True)
            there = (left[columns] + sums).tolist(), (right[columns] - sums).tolist()
            for own, other, n_times in zip(*there, times.tolist(), strict=True):
                hits[key] += n_times * (abs(of[1](*other) - of[0](*own)) >= least[key])
    # The observed assignment is one of the random ones (Davison & Hinkley 1997).
    extra = 0 if len(first.rows) <= MOST_EXACT else 1
    return {key: math.nan if math.isnan(least[key]) else (hits[key] + extra) / (n + extra) for key in keys}


def _exchanges(gains: Table, settings: Settings) -> Iterator[Table]:
    """What the first system's sums gain in exchanges of units, a row an exchange, some at a time."""
    n = len(gains)
    if n <= MOST_EXACT:
        yield np.array(list(itertools.product((0.0, 1.0), repeat=n))) @ gains
        return
    generator, at_once = random.Random(settings.seed), max(1, _AT_ONCE // max(gains.shape))
    for start in range(0, settings.n_permutations, at_once):
        n_rows = min(at_once, settings.n_permutations - start)
        drawn = b"".join(generator.getrandbits(n).to_bytes(n // 8 + 1, "little") for _ in range(n_rows))
        bits = np.frombuffer(drawn, np.uint8).reshape(n_rows, -1)
        yield np.unpackbits(bits, axis=1, count=n, bitorder="little") @ gains


def differences(first: Sums, second: Sums, keys: Sequence[str]) -> Statistics:
    """Return what the second system has more than the first: a function of the sums of pairs of units."""
    width = first.rows.shape[1]

    def of(sums: Table) -> dict[str, float]:
        left, right = first.values(sums[:width], keys), second.values(sums[width:], keys)
        return {key: right[key] - left[key] for key in keys}

    columns = {key: [*first.columns[key], *(width + column for column in second.columns[key])] for key in keys}
    bounds = {key: (-1.0, 1.0) for key in keys if first.table[key].bounded}
    return Statistics(np.hstack([first.rows, second.rows]), columns, of, bounds)
