"""A judge's mean corrected by people's labels of some items: PPI++, with an interval that holds people's mean.

A judge's verdicts are many and biased, people's labels few and right. PPI++ takes the judge's mean over the items that
nobody labelled and corrects it by how far judge and people are apart on the labelled ones; ``tuning`` (lambda) says how
much the judge is worth, 0 being the labels alone. The items of a request depend on each other, so that the variance is
made of the requests' sums.

Source: Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference, 2023 (arXiv 2311.01453).
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tls_tasks.core.intervals import Interval

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Corrected:
    """A judge's mean after its correction.

    Attributes:
        value: The estimate of people's mean over all items, in [0, 1].
        interval: Its interval in [0, 1], over requests; None if fewer than two requests have a label.
        tuning: Lambda, how much the judge counts, from 0 to 1.
        n: Labelled items.
        rest: Items without a label.
        requests: Requests that have a label.
    """

    value: float
    interval: Interval | None
    tuning: float
    n: int
    rest: int
    requests: int


def tuning(people: Values, judge: Values, rest: Values) -> float:
    """Lambda, by which the variance is least if items are independent; 0 where there is nothing to tune.

    Args:
        people: The labels.
        judge: The judge's verdicts on the same items.
        rest: Its verdicts on the items without a label.
    """
    n, variance = len(people), _variance(np.concatenate([judge, rest]))
    if n < 2 or not len(rest) or not variance:
        return 0.0
    covariance = float(((people - people.mean()) * (judge - judge.mean())).sum()) / (n - 1)
    return min(1.0, max(0.0, covariance / (variance * (1 + n / len(rest)))))


def estimate(people: Values, judge: Values, rest: Values, tuned: float) -> float:
    """Theta: the labels' mean, corrected by how far the judge's means over both parts are apart."""
    return float(people.mean() + (tuned * (rest.mean() - judge.mean()) if len(rest) else 0.0))


def variance(
    people: Values, judge: Values, rest: Values, tuned: float, labelled: Sequence[Any], others: Sequence[Any]
) -> float:
    """The variance of theta by the sums of requests; NaN of one request.

    Args:
        people: The labels.
        judge: The judge's verdicts on the same items.
        rest: Its verdicts on the items without a label.
        tuned: Lambda.
        labelled: The request of each labelled item.
        others: The request of each other item.
    """
    numbers = {name: number for number, name in enumerate(dict.fromkeys([*labelled, *others]))}
    residuals, sums = people - tuned * judge, np.zeros(len(numbers))
    np.add.at(sums, [numbers[name] for name in labelled], (residuals - residuals.mean()) / len(people))
    if len(rest):
        np.add.at(sums, [numbers[name] for name in others], tuned * (rest - rest.mean()) / len(rest))
    return len(sums) / (len(sums) - 1) * float((sums**2).sum()) if len(sums) > 1 else math.nan


def correct(items: Sequence[tuple[Hashable, bool, bool | None]], confidence: float = 0.95) -> Corrected:
    """Correct a judge's mean.

    Args:
        items: Of each item the request, the judge's verdict, and the label, None if it has none. At least one has one.
        confidence: Coverage of the interval.

    Example:
        >>> items = [(n // 5, n % 4 > 0, n % 8 > 0 if n < 60 else None) for n in range(600)]
        >>> corrected = correct(items)
        >>> round(corrected.value, 3), round(corrected.tuning, 3), corrected.n, corrected.rest, corrected.requests
        (0.867, 0.487, 60, 540, 12)
    """
    labelled = [(request, verdict, label) for request, verdict, label in items if label is not None]
    others = [(request, verdict) for request, verdict, label in items if label is None]
    judge, rest = (np.array([row[1] for row in rows], float) for rows in (labelled, others))
    people, names = np.array([row[2] for row in labelled], float), [row[0] for row in labelled]
    tuned, interval = tuning(people, judge, rest), None
    theta, n = estimate(people, judge, rest, tuned), len(set(names))
    if n > 1:
        from scipy.special import stdtrit  # as late as here: scipy takes its time to import

        error = math.sqrt(variance(people, judge, rest, tuned, names, [row[0] for row in others]))
        reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
        interval = Interval(max(0.0, theta - reach), min(1.0, theta + reach), n)
    return Corrected(min(1.0, max(0.0, theta)), interval, tuned, len(labelled), len(others), n)


def _variance(values: Values) -> float:
    """By n - 1, exactly 0 of equal values."""
    return float(values.var(ddof=1)) if len(values) > 1 and np.ptp(values) else 0.0
