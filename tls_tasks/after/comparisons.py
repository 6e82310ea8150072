"""Runs compared task by task: documents paired, and the tests of :mod:`tls_tasks.core.significance` on them."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tls_tasks.after.aggregates import paired, table_of
from tls_tasks.after.logs import labelled
from tls_tasks.after.run import Progress, Run
from tls_tasks.after.scored_runs import ScoredTask, read_runs
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.intervals import caution
from tls_tasks.core.score import Score, Sums
from tls_tasks.core.significance import Difference, Settings, compare, holm, smallest_p

NOT_CONTENT = frozenset({"edition", "judge"})
"""Fields that say where a document was read and who judges, and are no part of it."""

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
class MetricComparison:
    """Two systems by one metric.

    Attributes:
        result: The numbers of both, and the test of their difference.
        adjusted: Its p-value after Holm, over all systems that were compared with the first.
        better: Whether higher is better; None: neither.
        wins, ties, losses: Of how many documents the second is better, as good, worse.
        undefined: How many have no value of their own in one of them.
    """

    result: Difference
    adjusted: float
    better: bool | None
    wins: int
    ties: int
    losses: int
    undefined: int

    def is_worse(self, margin: float = 0.0) -> bool | None:
        """Whether the second is worse than the first by more than a margin: its whole interval is. None: unknown."""
        interval = self.result.interval
        if interval is None:  # where nothing differs there is nothing to draw an interval of
            return False if self.result.difference == 0 else None
        return interval.low > margin if self.better is False else interval.high < -margin


@dataclass(frozen=True, slots=True)
class TaskComparison:
    """Two systems on one task.

    Attributes:
        task: The task.
        first, second: The systems' names.
        metrics: Metric -> what it says of the two.
        n_documents, n_units: How many there are; ``unit`` says what a unit is: ``topic`` or ``document``.
        warnings: What the reader must know, each a sentence.
    """

    task: str
    first: str
    second: str
    metrics: Mapping[str, MetricComparison]
    n_documents: int
    n_units: int
    unit: str
    warnings: tuple[str, ...]


def read_systems(
    place: str | Path, *, tasks: Collection[str] | None = None, progress: Progress | None = None
) -> list[System]:
    """The systems in a place, one a model: the newest samples of our tasks scored again, others' as they were logged.

    Args:
        place: A log, or a folder of logs, perhaps as ``LABEL=PLACE``.
        tasks: The tasks to read alone; None: all.
        progress: Shows how far it is.

    Raises:
        DataError: If there are none, or none of the tasks that were asked for.
    """
    label, path = labelled(place)
    found: list[tuple[Run, dict[str, Run]]] = []
    for run in read_runs([place], only=tasks, newest=True, progress=progress):
        fitting = (one for first, one in found if first.model == run.model and (label or run.name not in one))
        if (by_task := next(fitting, None)) is None:
            found.append((run, by_task := {}))
        by_task[run.name] = run
    places = [path if len(found) == 1 else first.run.folder for first, _ in found]
    return [System(label or f"{first.model} ({at})", one) for at, (first, one) in zip(places, found, strict=True)]


_USUAL = Settings()


def compare_systems(
    systems: Sequence[System], keys: Sequence[str] = (), settings: Settings = _USUAL
) -> list[TaskComparison]:
    """Compare the first system with each of the others, on every task that all of them have.

    Args:
        systems: Two or more. Where each has one task only, these are compared, whatever they are called.
        keys: Metrics; none: all that are better higher or lower.
        settings: Of the tests.

    Raises:
        InputError: If there are fewer than two systems, or they did not answer the same documents.
        DataError: If they have no task in common, or some were scored again and others not.
        OptionError: If a metric doesn't exist.
    """
    if len(systems) < 2:
        raise InputError("systems", None, "1 run" if systems else "none", "two or more")
    systems, common = with_common_tasks(systems)
    return [row for name in common for row in _compare_task(name, systems, keys, settings)]


def with_common_tasks(systems: Sequence[System]) -> tuple[Sequence[System], list[str]]:
    """Return the systems and the tasks that all have; where each has one, all are called as the first is.

    Raises:
        DataError: If there is none.
    """
    common = [name for name in systems[0].tasks if all(name in system.tasks for system in systems)]
    if not common and all(len(system.tasks) == 1 for system in systems):
        common = list(systems[0].tasks)
        systems = [System(system.name, dict(zip(common, system.tasks.values(), strict=True))) for system in systems]
    if not common:
        named = "; ".join(f"{system.name}: {', '.join(system.tasks)}" for system in systems)
        raise DataError(f"the runs have no task in common: {named}")
    return systems, common


def _compare_task(
    name: str, systems: Sequence[System], names: Sequence[str], settings: Settings
) -> Iterator[TaskComparison]:
    scores, doubt = joined(name, systems), []
    keys = metrics_to_compare(name, systems, scores[0], names)
    names_of = [(systems[0].name, system.name) for system in systems[1:]]
    pairs = [paired(scores[0], score, keys, both) for score, both in zip(scores[1:], names_of, strict=True)]
    sums = [[Sums.from_score(score) for score in pair[:2]] for pair in pairs]
    differences = [compare(first, second, keys, settings=settings) for first, second in sums]
    # Holm over the systems, metric by metric: each metric asks its own question.
    by_metric = (holm([row.p_value for row in of_metric]) for of_metric in zip(*differences, strict=True))
    adjusted = list(zip(*by_metric, strict=True))
    ids, n_units = systems[0].tasks[name].ids, len(sums[0][0].rows)
    unit = "topic" if n_units < len(ids) else "document"
    if (least := smallest_p(n_units, settings.n_permutations) * (len(systems) - 1)) >= 0.05:
        units = f"{n_units} {unit}{'s' * (n_units > 1)}"
        doubt.append(f"warning: {units} cannot reach significance: no p-value below {least:.3g} is possible")
    for system, (_, score, left_out), rows, own in zip(systems[1:], pairs, differences, adjusted, strict=True):
        trust = caution({row.key: row.interval for row in rows})
        metrics = {row.key: _by_metric(row, p, scores[0], score) for row, p in zip(rows, own, strict=True)}
        said = (*doubt, *(f"warning: {one}" for one in (*left_out, *[trust] * bool(trust))))
        yield TaskComparison(name, systems[0].name, system.name, metrics, len(ids), n_units, unit, said)


def metrics_to_compare(name: str, systems: Sequence[System], score: Score, names: Sequence[str]) -> list[str]:
    """Return the metrics to compare: those that are named, else all that rank systems."""
    if unknown := [key for key in names if key not in score.definitions]:
        raise OptionError.unknown("--metric", unknown[0], score.definitions)
    if chosen := list(names) or [key for key in systems[0].tasks[name].ranked if key in score.definitions]:
        return chosen
    metrics_of = "; ".join(f"{one.name}: {', '.join(one.tasks[name].score.definitions) or 'none'}" for one in systems)
    raise DataError(f"{name}: no metric that all runs have with values that are numbers ({metrics_of})")


def _by_metric(row: Difference, adjusted: float, first: Score, second: Score) -> MetricComparison:
    result = first.definitions[row.key]
    values = ([result.value([unit]) for unit in score.units] for score in (first, second))
    differences = [right - left for left, right in zip(*values, strict=True)]
    gaps = [gap for gap in differences if gap == gap]
    more, less = sum(gap > _SAME for gap in gaps), sum(gap < -_SAME for gap in gaps)
    wins, losses = (less, more) if result.better is False else (more, less)
    ties, undefined = len(gaps) - wins - losses, len(differences) - len(gaps)
    return MetricComparison(row, adjusted, result.better, wins, ties, losses, undefined)


# Documents joined


def joined(name: str, systems: Sequence[System]) -> list[Score]:
    """Return the scores of systems on the same documents, all in the order of the first one's.

    In the harness's logs and in those of our tasks documents are the same if all that is logged of them is; else their
    ids say it.
    """
    runs = [system.tasks[name] for system in systems]
    ours = {isinstance(run, ScoredTask) for run in runs}
    if len(ours) > 1:
        hosts = ", ".join(run.run.host for run in runs)
        expected = "logs of the harness and of Inspect, or numbers alone"
        raise InputError(name, None, f"documents to score again beside numbers that were logged ({hosts})", expected)
    has_documents = all(isinstance(run, ScoredTask) or run.run.host == "lm_eval" for run in runs)
    keys = [list(_counted(documents_of(run) if has_documents else run.ids)) for run in runs]
    orders = []
    for system, run, own in zip(systems, runs, keys, strict=True):
        wanted, places = set(keys[0]), {key: place for place, key in enumerate(own)}
        lacking = [doc_id for key, doc_id in zip(keys[0], runs[0].ids, strict=True) if key not in places]
        more = [doc_id for key, doc_id in zip(own, run.ids, strict=True) if key not in wanted]
        if lacking or more:
            got = f"no or another document for {len(lacking)} of {len(wanted)}: {_some(lacking)}; {len(more)} of "
            got += f"{len(own)} documents that the first run lacks: {_some(more)}"
            expected = "the same documents as in the first run (the same data, budget and limit)"
            raise InputError(f"{system.name} of {name}", None, got, expected)
        orders.append([places[key] for key in keys[0]])
    ordered = list(zip(runs, orders, strict=True))
    if True in ours or all(run.run.host == "files" for run in runs):
        return [
            replace(run.score, units=_taken(run.score.units, order), topics=_taken(run.topics, order))
            for run, order in ordered
        ]
    logged = [
        {key: replace(one, values=_taken(one.values, order)) for key, one in run.logged.items()}
        for run, order in ordered
    ]
    table, units_of, _ = table_of(logged, len(orders[0]))
    return [Score(name, "", units, table) for units in units_of]


def _taken(values: Sequence[Any], order: Sequence[int]) -> list[Any]:
    return [values[place] for place in order]


def _some(ids: Sequence[str]) -> str:
    return f"{', '.join(ids[:5]) or 'none'}{' …' if len(ids) > 5 else ''}"


def scores_of(runs: Mapping[str, Run], named: Sequence[str] | None) -> dict[str, dict[str, dict[str, float]]]:
    """Label -> document -> metric (the headline if none is named) -> its value, negative where less is better.

    Raises:
        OptionError: If a run has no such metric.
    """
    first = next(iter(runs.values()))
    keys = named or [first.headline or next(iter(first.ranked), "")]
    scores = {}
    for label, run in runs.items():
        table = run.score.definitions
        if unknown := [key for key in keys if key not in table]:
            raise OptionError.unknown(f"--metric of {label}", unknown[0], table)
        signs = {key: -1 if table[key].better is False else 1 for key in keys}
        values = ({key: signs[key] * run.of_document(place)[key] for key in keys} for place in range(len(run.ids)))
        scores[label] = dict(zip(run.ids, values, strict=True))
    return scores


def documents_of(run: Run) -> list[str]:
    """What says that two systems answered the same documents: a hash of all that each says, its name included."""
    return [_hash(sample.doc) for sample in run.log.samples]


def _counted(keys: Sequence[Any]) -> Iterator[tuple[Any, int]]:
    """Equal keys, numbered: a data set may hold a document twice."""
    seen: Counter[Any] = Counter()
    for key in keys:
        yield key, seen[key]
        seen[key] += 1


def _hash(value: Any) -> str:
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key not in NOT_CONTENT}
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
