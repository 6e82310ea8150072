"""Runs compared task by task: documents paired, and the tests of :mod:`tls_tasks.core.significance` on them."""

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tls_tasks.after.aggregates import paired, table_of
from tls_tasks.after.foreign import MISSING, value_at
from tls_tasks.after.logs import Sample
from tls_tasks.after.run import Progress, Run
from tls_tasks.after.scored_runs import ScoredTask, read_runs
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.intervals import caution
from tls_tasks.core.score import Score, Sums
from tls_tasks.core.significance import Difference, Settings, compare, holm, smallest_p

NOT_CONTENT = frozenset({"edition", "judge"})
"""Fields that say where a document was read and who judges, and are no part of it."""

_SAME = 1e-12  # differences that only rounding tells apart are ties

Names = Mapping[str, str]
"""Metrics of the first system -> what the others call them."""


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
class Plan:
    """How systems are compared.

    Attributes:
        join: What says that two documents are the same: ``document`` (all that the logs have of it), ``id``, ``input``
            (what the model was asked), or a field of the document, with dots (``metadata.question_id``);
            ``FIRST=OTHER`` where it is something else in the first run's log than in the others'. Empty: the document
            of our tasks and in the harness's logs, else the id, or the input where the ids differ.
        cluster: A field of the document whose equal values say what is drawn and exchanged together; empty: topics.
        lower: Metrics of which less is better, where the logs don't say.
        settings: Of the tests.
    """

    join: str = ""
    cluster: str = ""
    lower: Collection[str] = ()
    settings: Settings = field(default_factory=Settings)


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


_USUAL = Plan()


def compare_systems(systems: Sequence[System], keys: Sequence[str] = (), plan: Plan = _USUAL) -> list[TaskComparison]:
    """Compare the first system with each of the others, on every task that all of them have.

    Args:
        systems: Two or more. Where each has one task only, these are compared, whatever they are called.
        keys: Metrics, ``FIRST=OTHER`` where the others call it otherwise; none: all that are better higher or lower.
        plan: How they are compared.

    Raises:
        InputError: If there are fewer than two systems, or they did not answer the same documents.
        DataError: If they have no task in common, a field does not exist, or some were scored again and others not.
        OptionError: If a metric doesn't exist.
    """
    if len(systems) < 2:
        raise InputError("systems", None, "1 run" if systems else "none", "two or more")
    common = [name for name in systems[0].tasks if all(name in system.tasks for system in systems)]
    if not common and all(len(system.tasks) == 1 for system in systems):
        common = list(systems[0].tasks)
        systems = [System(system.name, dict(zip(common, system.tasks.values(), strict=True))) for system in systems]
    if not common:
        named = "; ".join(f"{system.name}: {', '.join(system.tasks)}" for system in systems)
        raise DataError(f"the runs have no task in common: {named}")
    names = {first: other or first for first, _, other in (key.partition("=") for key in keys)}
    return [row for name in common for row in _compare_task(name, systems, names, plan)]


def _compare_task(name: str, systems: Sequence[System], names: Names, plan: Plan) -> Iterator[TaskComparison]:
    scores, doubt = _joined(name, systems, names, plan)
    keys = _metrics(name, systems, scores[0], names)
    if unknown := [key for key in plan.lower if key not in scores[0].definitions]:
        raise OptionError.unknown("--lower-is-better", unknown[0], scores[0].definitions)
    names_of = [(systems[0].name, system.name) for system in systems[1:]]
    pairs = [paired(scores[0], score, keys, both) for score, both in zip(scores[1:], names_of, strict=True)]
    sums = [[Sums.of(score) for score in pair[:2]] for pair in pairs]
    differences = [compare(first, second, keys, settings=plan.settings) for first, second in sums]
    # Holm over the systems, metric by metric: each metric asks its own question.
    by_metric = (holm([row.p_value for row in of_metric]) for of_metric in zip(*differences, strict=True))
    adjusted = list(zip(*by_metric, strict=True))
    ids, n_units = systems[0].tasks[name].ids, len(sums[0][0].rows)
    unit = "topic" if n_units < len(ids) else "document"
    if (least := smallest_p(n_units, plan.settings.n_permutations) * (len(systems) - 1)) >= 0.05:
        units = f"{n_units} {unit}{'s' * (n_units > 1)}"
        doubt.append(f"warning: {units} cannot reach significance: no p-value below {least:.3g} is possible")
    for system, (_, score, left_out), rows, own in zip(systems[1:], pairs, differences, adjusted, strict=True):
        trust = caution({row.key: row.interval for row in rows})
        metrics = {row.key: _by_metric(row, p, scores[0], score, plan) for row, p in zip(rows, own, strict=True)}
        said = (*doubt, *(f"warning: {one}" for one in (*left_out, *[trust] * bool(trust))))
        yield TaskComparison(name, systems[0].name, system.name, metrics, len(ids), n_units, unit, said)


def _metrics(name: str, systems: Sequence[System], score: Score, names: Names) -> list[str]:
    """The metrics to compare: those that are named, else all that rank systems."""
    runs = [system.tasks[name] for system in systems]
    for key in [key for key in names if key not in score.definitions]:
        for run, called in zip(runs, (key, *[names[key]] * len(runs)), strict=False):
            if called not in run.score.definitions:
                raise OptionError.unknown("--metric", called, run.score.definitions)
        raise OptionError.unknown("--metric", key, score.definitions)
    if chosen := list(names) or [key for key in runs[0].ranked if key in score.definitions]:
        return chosen
    metrics_of = "; ".join(f"{one.name}: {', '.join(one.tasks[name].score.definitions) or 'none'}" for one in systems)
    advice = "--metric FIRST=OTHER compares metrics that are called otherwise"
    raise DataError(f"{name}: no metric that all runs have with values that are numbers ({metrics_of}); {advice}")


def _by_metric(row: Difference, adjusted: float, first: Score, second: Score, plan: Plan) -> MetricComparison:
    result = first.definitions[row.key]
    better = False if row.key in plan.lower else result.better
    values = ([result.value([unit]) for unit in score.units] for score in (first, second))
    differences = [right - left for left, right in zip(*values, strict=True)]
    gaps = [gap for gap in differences if gap == gap]
    more, less = sum(gap > _SAME for gap in gaps), sum(gap < -_SAME for gap in gaps)
    wins, losses = (less, more) if better is False else (more, less)
    ties, undefined = len(gaps) - wins - losses, len(differences) - len(gaps)
    return MetricComparison(row, adjusted, better, wins, ties, losses, undefined)


# Documents joined


def _joined(name: str, systems: Sequence[System], names: Names, plan: Plan) -> tuple[list[Score], list[str]]:
    """The scores of systems on the same documents, all in the order of the first one's; and warnings."""
    runs = [system.tasks[name] for system in systems]
    ours = {isinstance(run, ScoredTask) for run in runs}
    if len(ours) > 1:
        hosts = ", ".join(run.run.host for run in runs)
        expected = "logs of the harness and of Inspect, or numbers alone"
        raise InputError(name, None, f"documents to score again beside numbers that were logged ({hosts})", expected)
    kind = plan.join or _usual(runs)
    first, _, other = kind.partition("=")
    keys = [list(_counted(_keys(run, first if run is runs[0] else other or first))) for run in runs]
    orders = []
    for system, run, own in zip(systems, runs, keys, strict=True):
        wanted, places = set(keys[0]), {key: place for place, key in enumerate(own)}
        lacking = [doc_id for key, doc_id in zip(keys[0], runs[0].ids, strict=True) if key not in places]
        more = [doc_id for key, doc_id in zip(own, run.ids, strict=True) if key not in wanted]
        if lacking or more:
            got = f"no or another document for {len(lacking)} of {len(wanted)}: {_some(lacking)}; {len(more)} of "
            got += f"{len(own)} documents that the first run lacks: {_some(more)}"
            expected = "the same documents as in the first run (the same data, budget and limit)"
            raise InputError(f"{system.name} of {name}", None, got, f"{expected}, joined by {kind}; see --join")
        orders.append([places[key] for key in keys[0]])
    doubt = [] if plan.join or kind != "id" else list(_other_targets(runs, orders))
    clusters = [str(_field(runs[0], one, plan.cluster)) for one in runs[0].log.samples] if plan.cluster else None
    if True in ours:
        return [
            replace(run.score, units=_taken(run.score.units, order), topics=clusters or _taken(run.topics, order))
            for run, order in zip(runs, orders, strict=True)
        ], doubt
    renamed = [{first: run.logged[key] for first, key in names.items() if key in run.logged} for run in runs[1:]]
    logged = [
        {key: replace(one, values=_taken(one.values, order)) for key, one in {**run.logged, **more}.items()}
        for run, more, order in zip(runs, [{}, *renamed], orders, strict=True)
    ]
    table, units_of, _ = table_of(logged, len(orders[0]))
    return [Score(name, "", units, table, clusters) for units in units_of], doubt


def _taken(values: Sequence[Any], order: Sequence[int]) -> list[Any]:
    return [values[place] for place in order]


def _some(ids: Sequence[str]) -> str:
    return f"{', '.join(ids[:5]) or 'none'}{' …' if len(ids) > 5 else ''}"


def _usual(runs: Sequence[Run]) -> str:
    """By what documents are joined if nobody says it."""
    if all(isinstance(run, ScoredTask) or run.run.host == "lm_eval" for run in runs):
        return "document"
    asked = [[sample.request for sample in run.log.samples] for run in runs]
    by_input = not _same([run.ids for run in runs]) and _same(asked) and all(map(all, asked))
    return "input" if by_input else "id"


def _same(keys: Sequence[Sequence[str]]) -> bool:
    return all(Counter(own) == Counter(keys[0]) for own in keys)


def _keys(run: Run, kind: str) -> Sequence[Any]:
    samples = run.log.samples
    if kind == "id":
        return run.ids
    if kind == "input":
        return [sample.request.strip() for sample in samples]
    if kind == "document":
        return documents_of(run)
    values = (_field(run, sample, kind) for sample in samples)
    return [value.strip() if isinstance(value, str) else _hash(value) for value in values]


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


def _other_targets(runs: Sequence[Run], orders: Sequence[Sequence[int]]) -> Iterator[str]:
    """A warning where documents have the same id in logs of several hosts, but what they ask for differs."""
    targets = [[str(sample.row.get("target") or "").strip() for sample in run.log.samples] for run in runs]
    for own, order in zip(targets[1:], orders[1:], strict=True):
        pairs = zip(runs[0].ids, targets[0], _taken(own, order), strict=True)
        # One host may log a worked answer where the other logs its last number.
        if differing := [doc_id for doc_id, left, right in pairs if left not in right and right not in left]:
            said = f"other targets of {len(differing)} of {len(order)} documents with the same id"
            yield f"warning: {said} ({_some(differing)}): are they the same? --join says by what they are joined"


def _field(run: Run, sample: Sample, name: str) -> Any:
    if (value := value_at(sample.doc, name, MISSING)) is MISSING:
        fields = ", ".join(map(str, sample.doc)) or "none"
        raise DataError(f"{run.log.path}:{sample.line}: no field {name!r} in the document; its fields: {fields}")
    return value


def _hash(value: Any) -> str:
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key not in NOT_CONTENT}
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
