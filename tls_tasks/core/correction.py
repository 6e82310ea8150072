"""Correct a judge's mean by people's labels of some items: PPI++, with an interval for people's mean.

A judge's verdicts are many and biased, people's labels few and right. PPI++ takes the judge's mean over the unlabelled
items and corrects it by the difference between judge and people on the labelled ones. ``tuning`` (lambda) is the weight
of the judge, 0 being the labels alone. The items of a request depend on each other, so the variance is computed from
the requests' sums.

Source: Angelopoulos, Duchi & Zrnic, PPI++: Efficient Prediction-Powered Inference, 2023 (arXiv 2311.01453).
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tls_tasks.core.intervals import Interval

Values = npt.NDArray[np.float64]


class Corrected(NamedTuple):
    """A judge's mean after correction.

    Attributes:
        value: The estimate of people's mean over all items, in [0, 1].
        interval: Its interval in [0, 1], over the requests that have a label; None if these are fewer than two.
        tuning: Lambda, the weight of the judge, from 0 to 1.
    """

    value: float
    interval: Interval | None
    tuning: float


def tuning(people: Values, judge: Values, rest: Values) -> float:
    """Return lambda, for which the variance is least if items are independent; 0 where it can't be estimated.

    Args:
        people: The labels, 1 or 0.
        judge: The judge's verdicts on the same items.
        rest: The judge's verdicts on the items without a label.
    """
    n, verdicts = len(people), np.concatenate([judge, rest])
    if n < 2 or not len(rest) or not np.ptp(verdicts):
        return 0.0
    return float(np.clip(np.cov(people, judge)[0, 1] / (verdicts.var(ddof=1) * (1 + n / len(rest))), 0, 1))


def estimate(people: Values, judge: Values, rest: Values, tuned: float) -> float:
    """Return the estimate of people's mean: the labels' mean plus lambda times (mean ``rest`` - mean ``judge``)."""
    return float(people.mean() + (tuned * (rest.mean() - judge.mean()) if len(rest) else 0.0))


def variance(
    people: Values, judge: Values, rest: Values, tuned: float, labelled: Sequence[Any], unlabelled: Sequence[Any]
) -> float:
    """Return the variance of :func:`estimate`, clustered by request; NaN for a single request.

    Args:
        people: The labels, 1 or 0.
        judge: The judge's verdicts on the same items.
        rest: The judge's verdicts on the items without a label.
        tuned: Lambda.
        labelled: The request of each labelled item.
        unlabelled: The request of each item without a label.
    """
    residuals = (people - tuned * judge - (people - tuned * judge).mean()) / len(people)
    rest_residuals = tuned * (rest - rest.mean()) / len(rest) if len(rest) else rest
    _, clusters = np.unique([*labelled, *unlabelled], return_inverse=True)
    sums = np.bincount(clusters, np.concatenate([residuals, rest_residuals]))
    return len(sums) / (len(sums) - 1) * float((sums**2).sum()) if len(sums) > 1 else math.nan


def correct(items: Sequence[tuple[str | int, bool, bool | None]], confidence: float = 0.95) -> Corrected:
    """Return a judge's mean corrected by people's labels.

    Args:
        items: For each item its request, the judge's verdict, and the label, which is None for unlabelled items. At
            least one item is labelled.
        confidence: Coverage of the interval.

    Example:
        >>> items = [(n // 5, n % 4 > 0, n % 8 > 0 if n < 60 else None) for n in range(600)]
        >>> corrected = correct(items)
        >>> round(corrected.value, 3), round(corrected.tuning, 3), corrected.interval.n
        (0.867, 0.487, 12)
    """
    labelled, unlabelled = ([item for item in items if (item[2] is None) == lacks] for lacks in (False, True))
    judge, rest = (np.array([verdict for _, verdict, _ in rows], float) for rows in (labelled, unlabelled))
    people, requests = np.array([label for *_, label in labelled], float), [request for request, *_ in labelled]
    tuned, interval = tuning(people, judge, rest), None
    theta, n = estimate(people, judge, rest, tuned), len(set(requests))
    if n > 1:
        from scipy.special import stdtrit  # imported late, since it is slow to import

        error = math.sqrt(variance(people, judge, rest, tuned, requests, [request for request, *_ in unlabelled]))
        reach = float(stdtrit(n - 1, (1 + confidence) / 2)) * error
        interval = Interval(max(0.0, theta - reach), min(1.0, theta + reach), n)
    return Corrected(min(1.0, max(0.0, theta)), interval, tuned)
