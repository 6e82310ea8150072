"""Standard errors and confidence intervals of results that are functions of sums over clusters.

A *cluster* is a set of units that are resampled together: a topic where there are topics, else a row with all its
references. The rule: below 100 clusters an interval is the jackknife standard error times Student's t, on the log-odds
scale of the values that the result can take; from 100 on it is the percentile bootstrap. docs/intervals.md has the
measured coverage of this rule and of others.

Sources: Efron & Stein, The Jackknife Estimate of Variance, 1981; Tukey, Bias and Confidence in Not-quite Large Samples,
1958 (Student's t); Efron & Tibshirani, An Introduction to the Bootstrap, 1993.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tls_tasks.core.errors import InputError, check_whole_number
from tls_tasks.core.options import LEAST_BOOTSTRAP

LEAST_TRUSTED = 8
"""With fewer clusters, an interval contains the true value less often than its coverage promises."""

_SAME = 1e-12  # values that differ by less are the same but for rounding

Table = npt.NDArray[np.float64]
Bounds = tuple[float, float]


class Interval(NamedTuple("_Ends", [("low", float), ("high", float)])):
    """A confidence interval: a pair of its ends, with the number ``n`` of clusters that it was computed from.

    Example:
        >>> low, high = Interval(0.25, 0.75, n=4)
        >>> low, high, Interval(0.25, 0.75, n=4).is_trusted
        (0.25, 0.75, False)
    """

    n: int

    def __new__(cls, low: float, high: float, n: int) -> Interval:
        """Build an interval from ``n`` clusters that contribute to the result."""
        self = super().__new__(cls, low, high)
        self.n = n
        return self

    def __getnewargs__(self) -> tuple[float, float, int]:
        """Return the arguments of :meth:`__new__`, for copies and pickles."""
        return self.low, self.high, self.n

    @property
    def has_width(self) -> bool:
        """False where every cluster gives the same value, so that the interval says nothing of other clusters."""
        return self.high - self.low > _SAME

    @property
    def is_trusted(self) -> bool:
        """Whether the interval contains the true value about as often as its coverage promises."""
        return self.n >= LEAST_TRUSTED and self.has_width


def caution(intervals: Mapping[str, Interval | None]) -> str:
    """Return a sentence of caution about intervals; empty where they are reliable.

    Example:
        >>> caution({"f1": Interval(0.2, 0.9, n=5), "recall": Interval(0.3, 0.8, n=4)})
        'only 4 topics or documents: these intervals are too narrow; use at least 8'
    """
    existing = [interval for interval in intervals.values() if interval is not None]
    if not existing:
        return "no intervals: at least two topics or documents must contribute to a result"
    cautions = []
    if (least := min(interval.n for interval in existing)) < LEAST_TRUSTED:
        too_few = f"only {least} topics or documents: these intervals are too narrow"
        cautions.append(f"{too_few}; use at least {LEAST_TRUSTED}")
    if without_width := [key for key, interval in intervals.items() if interval is not None and not interval.has_width]:
        cautions.append(f"all documents gave the same value, so the interval has no width: {', '.join(without_width)}")
    return "; ".join(cautions)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Results as a function of sums over clusters.

    Attributes:
        rows: Sums, an array of shape (clusters, parts).
        columns: Result key -> the columns that it depends on.
        formula: The summed rows of some clusters -> the values of all results.
        bounds: Result key -> the least and the largest value that it can take, where it is bounded.
    """

    rows: Table
    columns: Mapping[str, Sequence[int]]
    formula: Callable[[Table], Mapping[str, float]]
    bounds: Mapping[str, Bounds]

    def standard_errors(self) -> dict[str, float]:
        """Return the jackknife standard error of each result.

        Each cluster that contributes to the result is left out in turn. The error is NaN if fewer than two clusters
        contribute, or if the result is undefined without one of them.

        Example:
            >>> one_mean = Statistics(np.array([[1.0], [3.0]]), {"hits": [0]}, lambda sums: {"hits": sums[0] / 2}, {})
            >>> one_mean.standard_errors()
            {'hits': 0.5}
        """
        if len(self.rows) < 2:  # without its only cluster a corpus is empty
            return dict.fromkeys(self.columns, math.nan)
        total_sums = self.rows.sum(axis=0)
        left_out = [self.formula(total_sums - row) for row in self.rows]
        adds = {key: self.rows[:, columns].any(axis=1) for key, columns in self.columns.items()}
        return {key: _jackknife(np.array([values[key] for values in left_out])[adds[key]]) for key in adds}

    def intervals(self, confidence: float, n_resamples: int, seed: int) -> dict[str, Interval]:
        """Return the interval of each result that has one, by the rule of this module; NaN results have none.

        Args:
            confidence: Coverage, in (0, 1).
            n_resamples: The number of resamples of a bootstrap. Resamples in which a result is NaN are left out.
            seed: Seed of the bootstrap.
        """
        values = self.formula(self.rows.sum(axis=0))
        sizes = {key: int(self.rows[:, columns].any(axis=1).sum()) for key, columns in self.columns.items()}
        sizes = {key: n for key, n in sizes.items() if not math.isnan(values[key])}
        bootstrapped = [key for key, n in sizes.items() if n >= LEAST_BOOTSTRAP]
        limits = self._bootstrap(bootstrapped, confidence, n_resamples, seed) if bootstrapped else {}
        if len(bootstrapped) < len(sizes):
            errors = self.standard_errors()
            for key in sizes.keys() - {*bootstrapped}:
                if not math.isnan(errors[key]):
                    limits[key] = _jackknife_t(values[key], errors[key], sizes[key], confidence, self.bounds.get(key))
        return {key: Interval(*limits[key], n) for key, n in sizes.items() if key in limits}

    def _bootstrap(self, keys: Iterable[str], confidence: float, n_resamples: int, seed: int) -> dict[str, Bounds]:
        """Return the percentile interval of each result, over resamples in which it is defined."""
        generator, n = random.Random(seed), len(self.rows)
        samples: dict[str, list[float]] = {key: [] for key in keys}
        for _ in range(n_resamples):
            resampled = self.formula(self.rows[generator.choices(range(n), k=n)].sum(axis=0))
            for key, values in samples.items():
                if not math.isnan(resampled[key]):
                    values.append(resampled[key])
        return {key: _percentiles(values, confidence) for key, values in samples.items() if values}


def _jackknife(left_out: Table) -> float:
    """Return the standard error from the values with one cluster left out each; NaN of fewer than two."""
    if (n := len(left_out)) < 2:
        return math.nan
    return float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))


def _jackknife_t(value: float, error: float, n: int, confidence: float, bounds: Bounds | None) -> Bounds:
    """Return Student's t interval; of a bounded value on the log-odds scale, which keeps it within the bounds."""
    from scipy.special import expit, logit, stdtrit  # imported late, since it is slow to import

    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    least, most = bounds or (-math.inf, math.inf)
    if error <= _SAME or bounds is None or not least < value < most:
        return (value, value) if error <= _SAME else (max(least, value - reach), min(most, value + reach))
    share = (value - least) / (most - least)
    slope = (most - least) * share * (1 - share)
    low, high = (float(expit(logit(share) + sign * reach / slope)) for sign in (-1, 1))
    return least + (most - least) * low, least + (most - least) * high


def _percentiles(drawn: Sequence[float], confidence: float) -> Bounds:
    """Return the ends of the middle ``confidence`` of the drawn values, of which there is at least one."""
    ordered, tail = sorted(drawn), (1 - confidence) / 2
    low, high = math.floor(tail * len(ordered)), math.ceil((1 - tail) * len(ordered)) - 1
    return ordered[low], ordered[high]


def check_interval(n: int, confidence: Any, n_resamples: Any) -> None:
    """Refuse options with which no interval can be computed."""
    if n < 1:
        raise InputError("confidence_interval", None, "no rows", "at least one")
    if not 0 < confidence < 1:
        raise InputError("confidence", None, f"{confidence:g}", "a number between 0 and 1, such as 0.95")
    check_whole_number("n_resamples", n_resamples)
