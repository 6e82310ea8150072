"""Paired tests of whether one system is better than another, on the results that are reported, for every metric.

A result is a function of sums over units (:class:`~tls_tasks.core.score.Sums`). To exchange or resample units is to add
up other rows, so the test is about the corpus result itself, not about a mean of document scores.

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
"""Up to this many units all 2^n exchanges are tried, and the p-value is exact."""

_SAME = 1e-12  # differences that differ by less are the same but for rounding
_AT_ONCE = 2_000_000  # numbers in a block of exchanges, which takes some megabytes


@dataclass(frozen=True, slots=True)
class Settings:
    """Options of a comparison.

    Attributes:
        n_permutations: The number of random exchanges, where there are too many units for all of them.
        n_resamples: The number of resamples of the interval, where it is bootstrapped.
        confidence: Coverage of the interval, in (0, 1).
        seed: Seed of the exchanges and of the bootstrap.
    """

    n_permutations: int = 10_000
    n_resamples: int = 1_000
    confidence: float = 0.95
    seed: int = 12345


@dataclass(frozen=True, slots=True)
class Difference:
    """One result of two systems, compared.

    Attributes:
        key: The result key.
        first, second: The values of the two systems.
        p_value: Two-sided; NaN if one of the values is NaN.
        interval: The interval of ``second - first``, by the rule of :mod:`~tls_tasks.core.intervals`, over pairs of
            units; None if a value is NaN, or fewer than two units contribute to it.
        detectable: The smallest true difference that four of five tests on so many units find at .05: (t[.975] +
            t[.8]) standard errors of the paired difference; NaN where there is no standard error.
        n_units: The number of exchanged units: topics if there are any, else rows.
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
        """The second value minus the first."""
        return self.second - self.first


def smallest_p(n_units: int, n_permutations: int = 10_000) -> float:
    """Return the smallest two-sided p-value that a test on so many units can give.

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
        first: The sums of one system's score, a row a unit (a topic, where there are topics).
        second: The sums of the other system's score, with the units in the same order.
        keys: The result keys to compare.
        settings: See :class:`Settings`.

    Returns:
        One difference for each key, in that order.

    Raises:
        InputError: If the two have different numbers of units or none, or a setting is impossible.
    """
    settings = settings or Settings()
    first_rows, second_rows = first.rows, second.rows
    if len(first_rows) != len(second_rows) or not len(first_rows):
        sizes = f"{len(first_rows)} and {len(second_rows)} units"
        raise InputError("compare", None, sizes, "the same units, at least one, in both")
    check_whole_number("n_permutations", settings.n_permutations)
    check_interval(len(first_rows), settings.confidence, settings.n_resamples)

    firsts, seconds = first.values(first_rows.sum(axis=0), keys), second.values(second_rows.sum(axis=0), keys)
    p = _p_values(first, second, keys, settings)
    gained = differences(first, second, keys)
    intervals = gained.intervals(settings.confidence, settings.n_resamples, settings.seed)
    errors = gained.standard_errors()
    exact, n = len(first_rows) <= MOST_EXACT, len(first_rows)
    return [
        Difference(key, firsts[key], seconds[key], p[key], intervals.get(key), detectable(errors[key], n), n, exact)
        for key in keys
    ]


def detectable(error: float, n_units: int) -> float:
    """Return the true difference that 80 % of tests find, by its standard error (Cohen, Power Analysis, 1988)."""
    from scipy.special import stdtrit  # imported late, since it is slow to import

    return float(error * (stdtrit(n_units - 1, 0.975) + stdtrit(n_units - 1, 0.8))) if n_units > 1 else math.nan


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted for several comparisons, in the same order (Holm 1979); NaN stays and doesn't count.

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
    """Return for each key the share of exchanges that give a difference as large as the observed one."""
    first_sums, second_sums = first.rows.sum(axis=0), second.rows.sum(axis=0)
    observed = first.values(first_sums, keys), second.values(second_sums, keys)
    least = {key: abs(observed[1][key] - observed[0][key]) - _SAME for key in keys}
    hits, n = dict.fromkeys(keys, 0), 0
    for gains in _exchanges(second.rows - first.rows, settings):
        n += len(gains)
        for key in keys:
            columns, formulas = first.columns[key], (first.table[key].formula, second.table[key].formula)
            # Many exchanges of counts give the same few sums, so each is computed once.
            sums, times = np.unique(gains[:, columns], axis=0, return_counts=True)
            exchanged = (first_sums[columns] + sums).tolist(), (second_sums[columns] - sums).tolist()
            for first_amounts, second_amounts, n_times in zip(*exchanged, times.tolist(), strict=True):
                hits[key] += n_times * (abs(formulas[1](*second_amounts) - formulas[0](*first_amounts)) >= least[key])
    # The observed assignment is one of the random ones (Davison & Hinkley 1997).
    extra = 0 if len(first.rows) <= MOST_EXACT else 1
    return {key: math.nan if math.isnan(least[key]) else (hits[key] + extra) / (n + extra) for key in keys}


def _exchanges(gains: Table, settings: Settings) -> Iterator[Table]:
    """Yield in blocks what each exchange of units adds to the first system's sums; a row is an exchange."""
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
    """Return the differences second minus first, as functions of the sums of pairs of units."""
    width = first.rows.shape[1]

    def subtract(sums: Table) -> dict[str, float]:
        first_values, second_values = first.values(sums[:width], keys), second.values(sums[width:], keys)
        return {key: second_values[key] - first_values[key] for key in keys}

    columns = {key: [*first.columns[key], *(width + column for column in second.columns[key])] for key in keys}
    bounds = {key: (-1.0, 1.0) for key in keys if first.table[key].bounded}
    return Statistics(np.hstack([first.rows, second.rows]), columns, subtract, bounds)
