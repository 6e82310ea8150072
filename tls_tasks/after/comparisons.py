"""Runs compared task by task: documents paired, and the tests of :mod:`tls_tasks.core.significance` on them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tls_tasks.after.scored_runs import Progress, ScoredTask, score_places
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.intervals import caution
from tls_tasks.core.score import Score, Sums
from tls_tasks.core.significance import Difference, Settings, compare, holm, smallest_p


@dataclass(frozen=True, slots=True)
class System:
    """One system: the newest samples of each task in a folder, or a submission.

    Attributes:
        name: How it is called: the model, with the folder where there may be several of it.
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
    warnings: tuple[str, ...]


def read_system(place: Path, *, tasks: Collection[str] | None = None, progress: Progress | None = None) -> System:
    """One system's newest samples, scored again.

    Raises:
        DataError: If there are none, or none of the tasks that were asked for.
    """
    found = {
        scored.name: scored
        for scored in score_places([place], newest=True, progress=progress)
        if tasks is None or scored.name in tasks
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
    if len(systems) < 2:
        raise InputError("systems", None, "1 run" if systems else "none", "two or more")
    common = [name for name in systems[0].tasks if all(name in system.tasks for system in systems)]
    if not common:
        named = "; ".join(f"{system.name}: {', '.join(system.tasks)}" for system in systems)
        raise DataError(f"the runs have no task in common: {named}")
    return [row for name in common for row in compare_task(name, systems, keys, by_document, settings)]


def compare_task(
    name: str,
    systems: Sequence[System],
    keys: Sequence[str] | None,
    by_document: bool = False,
    settings: Settings | None = None,
) -> list[TaskComparison]:
    """Compare the first system with each of the others on one task; see :func:`compare_systems`."""
    settings = settings or Settings()
    first, *others = systems
    scored = first.tasks[name]
    for key in keys or ():
        if key not in scored.score.definitions:
            raise OptionError.unknown("--metric", key, scored.score.definitions)
    keys = keys or list(scored.ranked)
    sums, *other_sums = [
        Sums.of(_in_order(system.tasks[name], scored, system.name), by_topic=not by_document) for system in systems
    ]
    differences = [compare(sums, other, keys, settings=settings) for other in other_sums]
    # Holm over the systems, metric by metric: each metric asks its own question.
    p_values = [holm([row.p_value for row in of_metric]) for of_metric in zip(*differences, strict=True)]
    adjusted = zip(*p_values, strict=True)
    n_documents, n_units = len(scored.ids), len(sums.rows)
    unit = "topic" if n_units < n_documents else "document"
    warnings = _warnings(n_units, unit, len(systems), settings)
    said = [caution({row.key: row.interval for row in rows}) for rows in differences]
    of_pair = [(*warnings, f"warning: {text}") if text else warnings for text in said]
    return [
        TaskComparison(name, first.name, other.name, tuple(rows), p_of, n_documents, n_units, unit, warned)
        for other, rows, p_of, warned in zip(others, differences, adjusted, of_pair, strict=True)
    ]


def _in_order(scored: ScoredTask, first: ScoredTask, name: str) -> Score:
    """The documents in the order of the first system's, after a check that they are the same ones."""
    places = {key: place for place, key in enumerate(documents_of(scored))}
    wanted = documents_of(first)
    if missing := [doc_id for key, doc_id in zip(wanted, first.ids, strict=True) if key not in places]:
        raise InputError(
            f"{first.name} of {name}",
            None,
            f"no or another document for {len(missing)} of {len(wanted)}: {', '.join(missing[:5])}",
            "the same documents as in the first run (the same data, budget and limit)",
        )
    if len(places) != len(wanted):
        raise InputError(
            f"{first.name} of {name}", None, f"{len(places)} documents", f"{len(wanted)}, as in the first run"
        )
    order = [places[key] for key in wanted]
    units, topics = scored.score.units, scored.topics
    return replace(scored.score, units=[units[place] for place in order], topics=[topics[place] for place in order])


def documents_of(scored: ScoredTask) -> list[tuple[str, str]]:
    """What says that two systems answered the same documents: each one's name, and a hash of what it says."""
    return [(key, _document_hash(sample.doc)) for key, sample in zip(scored.ids, scored.log.samples, strict=True)]


def _document_hash(doc: Mapping[str, Any]) -> str:
    """Where it was read and who judges is not part of it."""
    content = {key: value for key, value in doc.items() if key not in {"edition", "judge"}}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _warnings(n_units: int, unit: str, n_systems: int, settings: Settings) -> tuple[str, ...]:
    least = smallest_p(n_units, settings.n_permutations) * (n_systems - 1)
    if least < 0.05:
        return ()
    after = ", after Holm" if n_systems > 2 else ""
    return (f"warning: {n_units} {unit}s cannot reach significance: no p-value below {least:.3g} is possible{after}",)
