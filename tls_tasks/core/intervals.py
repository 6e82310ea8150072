"""Standard errors and confidence intervals of whatever is a function of sums over clusters.

A *cluster* is what is drawn together: a topic where there are topics, else a row with all its references. One rule:
below 100 clusters jackknife standard error and Student's t, on the log-odds scale of the values that the result can
take; from 100 on the percentile bootstrap. docs/intervals.md has its coverage, measured, and that of its rivals.

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
"""Of fewer clusters an interval holds the true value less often than it says."""

_SAME = 1e-12  # what only rounding tells apart is the same

Table = npt.NDArray[np.float64]
Bounds = tuple[float, float]


class Interval(NamedTuple("_Ends", [("low", float), ("high", float)])):
    """A confidence interval: a pair of its ends that knows how many clusters it was made of.

    Example:
        >>> low, high = Interval(0.25, 0.75, n=4)
        >>> low, high, Interval(0.25, 0.75, n=4).is_trusted, Interval(0.25, 0.75, n=100).method
        (0.25, 0.75, False, 'percentile bootstrap')
    """

    n: int

    def __new__(cls, low: float, high: float, n: int) -> Interval:
        """``n``: clusters that add to the result."""
        self = super().__new__(cls, low, high)
        self.n = n
        return self

    def __getnewargs__(self) -> tuple[float, float, int]:
        """For copies and pickles."""
        return self.low, self.high, self.n

    @property
    def method(self) -> str:
        """How it was made."""
        return "percentile bootstrap" if self.n >= LEAST_BOOTSTRAP else "jackknife-t"

    @property
    def has_width(self) -> bool:
        """False where every cluster gives the same value, which says nothing of other clusters."""
        return self.high - self.low > _SAME

    @property
    def is_trusted(self) -> bool:
        """Whether it holds the true value about as often as it says."""
        return self.n >= LEAST_TRUSTED and self.has_width


def caution(intervals: Mapping[str, Interval | None]) -> str:
    """A sentence of caution about intervals; empty where they are reliable.

    Example:
        >>> caution({"f1": Interval(0.2, 0.9, n=5), "recall": Interval(0.3, 0.8, n=4)})
        'with only 4 topics or documents these intervals are too narrow; use at least 8'
    """
    found = [interval for interval in intervals.values() if interval is not None]
    if not found:
        return "no intervals: they need two topics or documents at least that add to a result"
    said = []
    if (least := min(interval.n for interval in found)) < LEAST_TRUSTED:
        few = f"with only {least} topics or documents these intervals are too narrow"
        said.append(f"{few}; use at least {LEAST_TRUSTED}")
    if flat := [key for key, interval in intervals.items() if interval is not None and not interval.has_width]:
        said.append(f"no width, because all documents gave the same value: {', '.join(flat)}")
    return "; ".join(said)


@dataclass(frozen=True, slots=True)
class Statistics:
    """Results as functions of sums over clusters.

    Attributes:
        rows: A row a cluster, a column a part.
        columns: Result key -> the columns that it takes.
        of: The sums of some clusters -> the values of all results.
        bounds: Result key -> the least and the largest value that it can take, where it is bounded.
    """

    rows: Table
    columns: Mapping[str, Sequence[int]]
    of: Callable[[Table], Mapping[str, float]]
    bounds: Mapping[str, Bounds]

    def standard_errors(self) -> dict[str, float]:
        """The jackknife standard error of each result.

        One cluster at a time is left out, of those that add anything to the result; NaN of fewer than two of them,
        and of a result that is undefined without one of them.

        Example:
            >>> one_mean = Statistics(np.array([[1.0], [3.0]]), {"hits": [0]}, lambda sums: {"hits": sums[0] / 2}, {})
            >>> one_mean.standard_errors()
            {'hits': 0.5}
        """
        if len(self.rows) < 2:  # nothing is left without the one
            return dict.fromkeys(self.columns, math.nan)
        whole = self.rows.sum(axis=0)
        left_out = [self.of(whole - row) for row in self.rows]
        adds = {key: self.rows[:, own].any(axis=1) for key, own in self.columns.items()}
        return {key: _jackknife(np.array([values[key] for values in left_out])[adds[key]]) for key in adds}

    def intervals(self, confidence: float, n_resamples: int, seed: int) -> dict[str, Interval]:
        """The interval of each result that has one, by the one rule (see above); what is NaN has none.

        Args:
            confidence: Coverage, in (0, 1).
            n_resamples: How many resamples a bootstrap draws. A result that is NaN in some of them has the interval of
                the others.
            seed: Of the bootstrap.
        """
        values = self.of(self.rows.sum(axis=0))
        sizes = {key: int(self.rows[:, own].any(axis=1).sum()) for key, own in self.columns.items()}
        sizes = {key: n for key, n in sizes.items() if not math.isnan(values[key])}
        of_many = [key for key, n in sizes.items() if n >= LEAST_BOOTSTRAP]
        ends = self._bootstrap(of_many, confidence, n_resamples, seed) if of_many else {}
        if len(of_many) < len(sizes):
            errors = self.standard_errors()
            for key in sizes.keys() - {*of_many}:
                if not math.isnan(errors[key]):
                    ends[key] = _jackknife_t(values[key], errors[key], sizes[key], confidence, self.bounds.get(key))
        return {key: Interval(*ends[key], n) for key, n in sizes.items() if key in ends}

    def _bootstrap(self, keys: Iterable[str], confidence: float, n_resamples: int, seed: int) -> dict[str, Bounds]:
        generator, n = random.Random(seed), len(self.rows)
        drawn: dict[str, list[float]] = {key: [] for key in keys}
        for _ in range(n_resamples):
            there = self.of(self.rows[generator.choices(range(n), k=n)].sum(axis=0))
            for key, values in drawn.items():
                if not math.isnan(there[key]):
                    values.append(there[key])
        return {key: _percentiles(values, confidence) for key, values in drawn.items() if values}


def _jackknife(left_out: Table) -> float:
    if (n := len(left_out)) < 2:
        return math.nan
    return float(np.sqrt((n - 1) / n * ((left_out - left_out.mean()) ** 2).sum()))


def _jackknife_t(value: float, error: float, n: int, confidence: float, bounds: Bounds | None) -> Bounds:
    """Student's t interval of a value; of a bounded one on the log-odds scale, where no end can leave the bounds."""
    from scipy.special import expit, logit, stdtrit  # as late as here: scipy takes its time to import

    reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
    least, most = bounds or (-math.inf, math.inf)
    if error <= _SAME or bounds is None or not least < value < most:
        return (value, value) if error <= _SAME else (max(least, value - reach), min(most, value + reach))
    share = (value - least) / (most - least)
    slope = (most - least) * share * (1 - share)
    low, high = (float(expit(logit(share) + sign * reach / slope)) for sign in (-1, 1))
    return least + (most - least) * low, least + (most - least) * high


def _percentiles(drawn: Sequence[float], confidence: float) -> Bounds:
    """What holds the middle ``confidence`` of drawn values; at least one."""
    ordered, tail = sorted(drawn), (1 - confidence) / 2
    low, high = math.floor(tail * len(ordered)), math.ceil((1 - tail) * len(ordered)) - 1
    return ordered[low], ordered[high]


def check_interval(n: int, confidence: Any, n_resamples: Any) -> None:
    """Refuse what no interval can be made of."""
    if n < 1:
        raise InputError("confidence_interval", None, "no rows", "at least one")
    if not 0 < confidence < 1:
        raise InputError("confidence", None, f"{confidence:g}", "a number between 0 and 1, such as 0.95")
    check_whole_number("n_resamples", n_resamples)
