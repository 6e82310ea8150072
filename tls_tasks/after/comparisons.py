"""Runs compared task by task: documents paired, and the tests of :mod:`tls_tasks.core.significance` on them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tls_tasks.after.rescoring import TaskScore
from tls_tasks.after.scored_runs import Progress, ScoredTask, score_places
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.score import Sums
from tls_tasks.core.significance import Difference, Settings, compare, holm, smallest_p


@dataclass(frozen=True, slots=True)
class System:
    """One system: the newest samples of each task in a folder.

    Attributes:
        name: How it is called: the model, and the folder where two have the same.
        tasks: Task -> its scores.
    """

    name: str
    tasks: Mapping[str, ScoredTask]


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """Two systems on one task.

    Attributes:
        task: The task.
        first, second: The systems' names.
        differences: One a metric.
        adjusted: Its p-values after Holm, over all systems that were compared with the first.
        n_documents, n_units: How many there are; ``unit`` says what a unit is: ``topic`` or ``document``.
        n_systems: How many systems there are in all.
        settings: How it was done.
        warnings: What the reader must know, each a sentence.
    """

    task: str
    first: str
    second: str
    differences: tuple[Difference, ...]
    adjusted: tuple[float, ...]
    n_documents: int
    n_units: int
    unit: str
    n_systems: int
    settings: Settings
    warnings: tuple[str, ...]


def read_system(place: Path, *, tasks: Collection[str] | None = None, progress: Progress | None = None) -> System:
    """One system's newest samples, scored again.

    Raises:
        DataError: If there are none, or none of the tasks that were asked for.
    """
    found = {
        scored.task.name: scored
        for scored in score_places([place], newest=True, progress=progress)
        if tasks is None or scored.task.name in tasks
    }
    if not found:
        raise DataError(f"{place}: no samples of {', '.join(tasks or ())}")
    return System(f"{next(iter(found.values())).model} ({place})", found)


def compare_systems(
    systems: Sequence[System],
    *,
    keys: Sequence[str] | None = None,
    by_document: bool = False,
    settings: Settings | None = None,
) -> list[TaskComparison]:
    """Compare the first system with each of the others, on every task that all of them have.

    Args:
        systems: Two or more.
        keys: Metrics; None: all that are better higher or lower.
        by_document: Take each document as a unit, although some belong to one topic.
        settings: Of the tests.

    Raises:
        InputError: If there are fewer than two systems, or they did not answer the same documents.
        DataError: If they have no task in common.
        OptionError: If a metric doesn't exist.
    """
    settings = settings or Settings()
    if len(systems) < 2:
        raise InputError("systems", None, f"{len(systems)}", "two or more runs to compare")
    common = [name for name in systems[0].tasks if all(name in system.tasks for system in systems)]
    if not common:
        named = "; ".join(f"{system.name}: {', '.join(system.tasks)}" for system in systems)
        raise DataError(f"the runs have no task in common: {named}")
    return [row for name in common for row in _compare_task(name, systems, keys, by_document, settings)]


def _compare_task(
    name: str, systems: Sequence[System], keys: Sequence[str] | None, by_document: bool, settings: Settings
) -> list[TaskComparison]:
    scores = [_in_order(system.tasks[name], systems[0].tasks[name], system.name) for system in systems]
    wanted = _keys(scores[0], keys)
    sums = [Sums.of(score.score, by_topic=not by_document) for score in scores]
    differences = [compare(sums[0], other, wanted, settings=settings) for other in sums[1:]]
    # Holm over the systems, metric by metric: each metric asks its own question.
    p_values = [[row[place].p_value for row in differences] for place in range(len(wanted))]
    adjusted = list(zip(*map(holm, p_values), strict=True))
    n_documents, n_units = len(scores[0].ids), len(sums[0].rows)
    unit = "topic" if n_units < n_documents else "document"
    warnings = _warnings(n_units, unit, len(systems), settings)
    return [
        TaskComparison(
            name,
            systems[0].name,
            system.name,
            tuple(found),
            tuple(adjusted[place]),
            n_documents,
            n_units,
            unit,
            len(systems),
            settings,
            warnings,
        )
        for place, (system, found) in enumerate(zip(systems[1:], differences, strict=True))
    ]


def _in_order(scored: ScoredTask, first: ScoredTask, name: str) -> TaskScore:
    """The documents in the order of the first system's, after a check that they are the same ones."""
    hashes = {sample.row.get("doc_hash"): position for position, sample in enumerate(scored.log.samples)}
    wanted = [sample.row.get("doc_hash") for sample in first.log.samples]
    if None in hashes or None in wanted or len(hashes) != len(scored.log.samples):  # logs without hashes: by name
        hashes = {key: position for position, key in enumerate(scored.score.ids)}
        wanted = list(first.score.ids)
    if missing := [first.score.ids[place] for place, key in enumerate(wanted) if key not in hashes]:
        raise InputError(
            f"{first.task.name} of {name}",
            None,
            f"no or another document for {len(missing)} of {len(wanted)}: {', '.join(missing[:5])}",
            "the same documents as in the first run (the same data, budget and limit)",
        )
    if len(hashes) != len(wanted):
        got = f"{len(hashes)} documents"
        raise InputError(f"{first.task.name} of {name}", None, got, f"{len(wanted)}, as in the first run")
    return scored.score.taken([hashes[key] for key in wanted])


def _keys(score: TaskScore, keys: Sequence[str] | None) -> list[str]:
    known = [metric.key for metric in score.task.metrics]
    for key in keys or ():
        if key not in known:
            raise OptionError.unknown("--metric", key, known)
    judged = [metric.key for metric in score.task.metrics if metric.higher_is_better is not None]
    return list(keys) if keys else judged


def _warnings(n_units: int, unit: str, n_systems: int, settings: Settings) -> tuple[str, ...]:
    least = smallest_p(n_units, settings.n_permutations) * (n_systems - 1)
    if least < 0.05:
        return ()
    after = ", after Holm" if n_systems > 2 else ""
    return (f"warning: {n_units} {unit}s cannot reach significance: no p-value below {least:.3g} is possible{after}",)
