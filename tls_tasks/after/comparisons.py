"""Runs compared task by task: documents paired, and the tests of :mod:`tls_tasks.core.significance` on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tls_tasks.after.joined import joined
from tls_tasks.after.run import Run
from tls_tasks.after.scored_runs import Progress, read_runs
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.intervals import caution
from tls_tasks.core.score import Score, Sums
from tls_tasks.core.significance import Difference, Settings, compare, holm, smallest_p

_SAME = 1e-12  # differences that only rounding tells apart are ties


@dataclass(frozen=True, slots=True)
class System:
    """One system: the newest samples of each task in a folder, a log, or a submission.

    Attributes:
        name: How it is called: the model, with the folder where there may be several of it.
        tasks: Task -> its scores.
    """

    name: str
    tasks: Mapping[str, Run]


@dataclass(frozen=True, slots=True)
class Documents:
    """One metric of two systems, document by document.

    Attributes:
        wins, ties, losses: Of how many the second is better, as good, worse.
        undefined: How many have no value of their own in one of them.
        most: Document -> the values of both, of those that differ most, the largest difference first.
    """

    wins: int
    ties: int
    losses: int
    undefined: int
    most: Mapping[str, tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Pairing:
    """How documents are paired.

    Attributes:
        join, cluster: See :func:`~tls_tasks.after.joined.joined`.
        by_document: Take each document as a unit, although some belong to one topic.
        n_most: How many of the documents that differ most to name.
        lower: Metrics of which less is better, where the logs don't say.
    """

    join: str = ""
    cluster: str = ""
    by_document: bool = False
    n_most: int = 0
    lower: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """Two systems on one task.

    Attributes:
        task: The task.
        first, second: The systems' names.
        differences: One a metric.
        adjusted: Its p-values after Holm, over all systems that were compared with the first.
        better: Whether higher is better; None: neither.
        documents: What each metric says of single documents.
        n_documents, n_units: How many there are; ``unit`` says what a unit is: ``topic`` or ``document``.
        warnings: What the reader must know, each a sentence.
    """

    task: str
    first: str
    second: str
    differences: tuple[Difference, ...]
    adjusted: tuple[float, ...]
    better: tuple[bool | None, ...]
    documents: tuple[Documents, ...]
    n_documents: int
    n_units: int
    unit: str
    warnings: tuple[str, ...]

    @property
    def keys(self) -> list[str]:
        """The metrics."""
        return [row.key for row in self.differences]

    def is_worse(self, key: str, margin: float = 0.0) -> bool | None:
        """Whether the second is worse than the first by more than a margin: its whole interval is. None: unknown."""
        place = self.keys.index(key)
        row = self.differences[place]
        if row.interval is None:  # where nothing differs there is nothing to draw an interval of
            return False if row.difference == 0 else None
        return (row.interval.low > margin) if self.better[place] is False else row.interval.high < -margin


def read_system(place: Path, *, tasks: Mapping[str, str] | None = None, progress: Progress | None = None) -> System:
    """One system's newest samples: our tasks scored again, others' as they were logged.

    Args:
        place: A log, or a folder of logs.
        tasks: The tasks to read alone, each with the name by which the systems' tasks find each other; None: all.
        progress: Shows how far it is.

    Raises:
        DataError: If there are none, or none of the tasks that were asked for.
    """
    runs = read_runs([place], only=tasks, newest=True, progress=progress)
    by_task = {tasks[run.name] if tasks else run.name: run for run in runs}
    return System(f"{next(iter(by_task.values())).model} ({place})", by_task)


def compare_systems(
    systems: Sequence[System],
    *,
    keys: Sequence[str] | None = None,
    pairing: Pairing | None = None,
    settings: Settings | None = None,
) -> list[TaskComparison]:
    """Compare the first system with each of the others, on every task that all of them have.

    Args:
        systems: Two or more. Where each has one task only, these are compared, whatever they are called.
        keys: Metrics, ``FIRST=OTHER`` where the others call it otherwise; None: all that are better higher or lower.
        pairing: How documents are paired.
        settings: Of the tests.

    Raises:
        InputError: If there are fewer than two systems, or they did not answer the same documents.
        DataError: If they have no task in common.
        OptionError: If a metric doesn't exist.
    """
    if len(systems) < 2:
        raise InputError("systems", None, "1 run" if systems else "none", "two or more")
    common = [name for name in systems[0].tasks if all(name in system.tasks for system in systems)]
    if not common and all(len(system.tasks) == 1 for system in systems):
        (name,) = systems[0].tasks
        systems = [System(system.name, {name: run}) for system in systems for run in system.tasks.values()]
        common = [name]
    if not common:
        named = "; ".join(f"{system.name}: {', '.join(system.tasks)}" for system in systems)
        raise DataError(f"the runs have no task in common: {named}")
    return [row for name in common for row in compare_task(name, systems, keys, pairing=pairing, settings=settings)]


def compare_task(
    name: str,
    systems: Sequence[System],
    keys: Sequence[str] | None,
    *,
    pairing: Pairing | None = None,
    settings: Settings | None = None,
) -> list[TaskComparison]:
    """Compare the first system with each of the others on one task; see :func:`compare_systems`."""
    settings, pairing = settings or Settings(), pairing or Pairing()
    runs = [system.tasks[name] for system in systems]
    metrics = {first: other or first for first, _, other in (key.partition("=") for key in keys or ())}
    scores, doubt = joined([system.name for system in systems], runs, metrics, by=pairing.join, cluster=pairing.cluster)
    score = scores[0]
    for key, theirs in metrics.items():
        if key not in score.definitions:
            raise _no_metric(key, theirs, runs, score)
    keys, better = _metrics(name, systems, score, list(metrics), pairing.lower)
    sums, *other_sums = [Sums.of(one, by_topic=not pairing.by_document) for one in scores]
    differences = [compare(sums, other, keys, settings=settings) for other in other_sums]
    # Holm over the systems, metric by metric: each metric asks its own question.
    p_values = [holm([row.p_value for row in of_metric]) for of_metric in zip(*differences, strict=True)]
    adjusted = list(zip(*p_values, strict=True))
    n_documents, n_units = len(runs[0].ids), len(sums.rows)
    unit = "topic" if n_units < n_documents else "document"
    warnings = (*([doubt] if doubt else ()), *_warnings(n_units, unit, len(systems), settings))
    comparisons = []
    for system, other, rows, own_p in zip(systems[1:], scores[1:], differences, adjusted, strict=True):
        doubts = caution({row.key: row.interval for row in rows})
        documents = tuple(
            _documents(key, score, other, runs[0].ids, -1 if higher is False else 1, pairing.n_most)
            for key, higher in zip(keys, better, strict=True)
        )
        about = (n_documents, n_units, unit, (*warnings, f"warning: {doubts}") if doubts else warnings)
        comparisons.append(
            TaskComparison(name, systems[0].name, system.name, tuple(rows), own_p, tuple(better), documents, *about)
        )
    return comparisons


def _metrics(
    name: str, systems: Sequence[System], score: Score, keys: Sequence[str], lower: Collection[str]
) -> tuple[Sequence[str], list[bool | None]]:
    """The metrics to compare, and whether higher is better of each."""
    first = systems[0].tasks[name]
    ranked = set(first.ranked) | (set(score.definitions) - set(first.score.definitions))
    chosen = keys or [key for key in score.definitions if key in ranked]
    if not chosen:
        metrics_of = "; ".join(
            f"{system.name}: {', '.join(system.tasks[name].score.definitions) or 'none'}" for system in systems
        )
        raise DataError(
            f"{name}: no metric that all runs have with values that are numbers ({metrics_of}); --metric FIRST=OTHER "
            "compares metrics that are called otherwise"
        )
    for key in lower:
        if key not in score.definitions:
            raise OptionError.unknown("--lower-is-better", key, score.definitions)
    return chosen, [False if key in lower else score.definitions[key].better for key in chosen]


def _no_metric(key: str, theirs: str, runs: Sequence[Run], score: Score) -> OptionError:
    for run, name in zip(runs, (key, *[theirs] * (len(runs) - 1)), strict=True):
        if name not in run.score.definitions:
            return OptionError.unknown("--metric", name, run.score.definitions)
    return OptionError.unknown("--metric", key, score.definitions)


def _documents(key: str, first: Score, second: Score, ids: Sequence[str], sign: int, n_most: int) -> Documents:
    result = first.definitions[key]
    pairs = [
        (name, result.value([left]), result.value([right]))
        for name, left, right in zip(ids, first.units, second.units, strict=True)
    ]
    defined = [(name, left, right) for name, left, right in pairs if left == left and right == right]
    gains = [sign * (right - left) for _, left, right in defined]
    wins, losses = sum(gain > _SAME for gain in gains), sum(gain < -_SAME for gain in gains)
    most = sorted(defined, key=lambda row: -abs(row[2] - row[1]))[:n_most]
    return Documents(
        wins,
        len(gains) - wins - losses,
        losses,
        len(pairs) - len(gains),
        {name: (left, right) for name, left, right in most if abs(right - left) > _SAME},
    )


def _warnings(n_units: int, unit: str, n_systems: int, settings: Settings) -> tuple[str, ...]:
    least = smallest_p(n_units, settings.n_permutations) * (n_systems - 1)
    if least < 0.05:
        return ()
    after, units = ", after Holm" if n_systems > 2 else "", f"{n_units} {unit}{'s' * (n_units > 1)}"
    return (f"warning: {units} cannot reach significance: no p-value below {least:.3g} is possible{after}",)
