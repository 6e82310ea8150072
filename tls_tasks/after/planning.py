"""How many documents, topics or repeats a difference takes, from one or two runs that are logged.

The variance of a mean over n documents with K answers each is (between + within / K) / n. Source: Miller, Adding Error
Bars to Evals, 2024 (arXiv 2411.00640), whose standard errors are here the jackknife's, so that any metric can be
planned; what four of five tests find is :func:`~tls_tasks.core.significance.detectable`.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tls_tasks.after.aggregates import paired
from tls_tasks.after.comparisons import System, joined, metrics_to_compare, with_common_tasks
from tls_tasks.after.run import Run
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.score import Result, Sums, Unit
from tls_tasks.core.significance import detectable, differences

_ROUNDS = 30  # the quantile of t depends on the number that is looked for


@dataclass(frozen=True, slots=True)
class Plan:
    """What a metric of a task can show.

    Attributes:
        task, metric: Of what.
        n_units: How many topics or documents there are; ``unit`` says which.
        detectable: The true difference that four of five tests on so many find.
        units: How many find the difference that is asked for; None: no number is known.
        repeats: How many answers to each document do; None: no number is enough, or it is not known.
        within: The share of the variance that lies between the answers to one document; NaN if each has one.
    """

    task: str
    metric: str
    n_units: int
    unit: str
    detectable: float
    units: int | None
    repeats: int | None
    within: float


def plan(systems: Sequence[System], difference: float, keys: Sequence[str] = ()) -> Iterator[Plan]:
    """Yield what each metric of each task needs to show a difference.

    Args:
        systems: Two, or one: then as if the other had nothing in common with it, which is the most that it takes.
        difference: What is to be shown.
        keys: Metrics; none: all that are better higher or lower.
    """
    systems, common = with_common_tasks(systems)
    for name in common:
        runs, scores = [system.tasks[name] for system in systems], joined(name, systems)
        repeats_of = [_repeat_units(run) for run in runs]
        named = metrics_to_compare(name, systems, scores[0], keys)
        chosen = [key for key in named if not scores[0].definitions[key].is_count]
        if len(scores) > 1:
            *scores, _ = paired(scores[0], scores[1], chosen, [system.name for system in systems])
            errors = differences(Sums.from_score(scores[0]), Sums.from_score(scores[1]), chosen).standard_errors()
        else:
            errors = Sums.from_score(scores[0]).statistics(chosen).standard_errors()
            errors = {key: math.sqrt(2) * error for key, error in errors.items()}
        n, n_repeats = len(Sums.from_score(scores[0]).rows), _n_repeats(runs[0])
        unit = "topic" if n < len(runs[0].ids) else "document"
        for key in chosen:
            of_documents = np.array([[score.definitions[key].value([one]) for one in score.units] for score in scores])
            spread = float(np.nanvar(of_documents[0] - of_documents[1:].sum(axis=0), ddof=1))
            variances = [_within(scores[0].definitions[key], documents) for documents in repeats_of]
            within = min(sum(variances) / spread, 1.0) if spread else math.nan
            error, n_needed = errors[key], n
            for _ in range(_ROUNDS if error > 0 else 0):
                n_needed = max(2, math.ceil(n * (error * detectable(1.0, n_needed) / difference) ** 2))
            rest = (difference / detectable(1.0, n)) ** 2 - (1 - within) * error**2
            repeats = math.ceil(within * n_repeats * error**2 / rest) if rest > 0 else None
            yield Plan(name, key, n, unit, detectable(error, n), n_needed if error > 0 else None, repeats, within)


def _n_repeats(run: Run) -> int:
    return min(len(run.repeats(sample)) for sample in run.log.samples)


def _repeat_units(run: Run) -> list[list[Unit]]:
    """Return the units of the answers to each document; none where each has one answer."""
    if not isinstance(run, ScoredTask) or _n_repeats(run) < 2:
        return []
    return [
        [run.made_of(one, run.task.score, str(one.answer[0])) for one in run.repeats(sample)]
        for sample in run.log.samples
    ]


def _within(result: Result, documents: Sequence[Sequence[Unit]]) -> float:
    """Return the variance that the answers to a document give to its mean, averaged over documents; NaN of none."""
    numbers = ([result.value([unit]) for unit in units] for units in documents)
    variances = [np.var(row, ddof=1) / len(row) for row in numbers]
    return float(np.nanmean(variances)) if variances else math.nan
