"""Runs side by side: the same documents in the same order, and numbers of one table, whoever wrote the logs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.after.aggregates import table_of
from tls_tasks.after.logs import Sample
from tls_tasks.after.run import Run
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.score import Score

_ELSEWHERE = frozenset({"edition", "judge"})  # where a document was read and who judges are no part of it


def joined(
    names: Sequence[str], runs: Sequence[Run], metrics: Mapping[str, str], *, by: str = "", cluster: str = ""
) -> tuple[list[Score], str]:
    """The scores of runs on the same documents, all in the order of the first run's; and a warning, or nothing.

    Args:
        names: What the runs are called in messages.
        runs: One a system, on one task.
        metrics: Metric of the first run -> what the others call it, where that is something else.
        by: What says that two documents are the same: ``document`` (all that the logs have of it), ``id``, ``input``
            (what the model was asked), or a field of the document, with dots (``metadata.question_id``);
            ``FIRST=OTHER`` where it is something else in the first run's log than in the others'. Empty: the document
            of our tasks and in the harness's logs, else the id, or the input where the ids differ.
        cluster: A field of the document whose equal values say what is drawn and exchanged together; empty: topics.

    Raises:
        InputError: If the runs did not answer the same documents.
        DataError: If a field does not exist, or some runs were scored again and others not.
    """
    orders, warning = _orders(names, runs, by)
    labels = [str(_field(runs[0], sample, cluster)) for sample in runs[0].log.samples] if cluster else None
    if all(isinstance(run, ScoredTask) for run in runs):
        scores = [_reordered(run.score, order) for run, order in zip(runs, orders, strict=True)]
        return [replace(score, topics=labels) for score in scores] if labels else scores, warning
    if any(isinstance(run, ScoredTask) for run in runs):
        hosts = ", ".join(f"{name}: {run.run.host}" for name, run in zip(names, runs, strict=True))
        raise DataError(
            f"{runs[0].name}: some logs hold documents that are scored again and others only numbers ({hosts}); "
            "compare logs of the harness or of Inspect with each other, or numbers with numbers"
        )
    logged = []
    for run, order in zip(runs, orders, strict=True):
        own = run.content.logged
        if run is not runs[0]:
            own = {**own, **{first: own[theirs] for first, theirs in metrics.items() if theirs in own}}
        logged.append({key: replace(one, values=[one.values[place] for place in order]) for key, one in own.items()})
    table, units, _ = table_of(logged, len(orders[0]))
    return [Score(runs[0].name, "", own, table, labels) for own in units], warning


def documents_of(run: Run) -> list[tuple[str, str]]:
    """What says that two systems answered the same documents: each one's name, and a hash of what it says."""
    return [(key, _hash(sample.doc)) for key, sample in zip(run.ids, run.log.samples, strict=True)]


def _reordered(score: Score, order: Sequence[int]) -> Score:
    topics = score.topics or range(len(order))
    return replace(score, units=[score.units[place] for place in order], topics=[topics[place] for place in order])


def _orders(names: Sequence[str], runs: Sequence[Run], by: str) -> tuple[list[list[int]], str]:
    """For each run the places of the first run's documents, and what must be said of it."""
    kind = by or _usual(runs)
    first, _, other = kind.partition("=")
    ours = all(isinstance(run, ScoredTask) for run in runs)
    keys = [_counted(_keys(run, first if run is runs[0] else other or first, ours)) for run in runs]
    places = [{key: place for place, key in enumerate(own)} for own in keys]
    for name, run, own in zip(names[1:], runs[1:], places[1:], strict=True):
        missing = [doc_id for key, doc_id in zip(keys[0], runs[0].ids, strict=True) if key not in own]
        more = [doc_id for key, doc_id in zip(own, run.ids, strict=True) if key not in places[0]]
        differences = []
        if missing:
            differences.append(f"no or another document for {len(missing)} of {len(keys[0])}: {_some(missing)}")
        if more:
            differences.append(f"{len(more)} of {len(own)} documents that the first run lacks: {_some(more)}")
        if differences:
            expected = (
                f"the same documents as in the first run (the same data, budget and limit), joined by {kind}; --join "
                "joins by document, id, input, a field of the document, or one of these for each: question=input"
            )
            raise InputError(f"{name} of {runs[0].name}", None, "; ".join(differences), expected)
    orders = [[own[key] for key in keys[0]] for own in places]
    return orders, "" if by or kind != "id" else _other_targets(runs, orders)


def _some(ids: Sequence[str]) -> str:
    return f"{', '.join(ids[:5])}{' …' if len(ids) > 5 else ''}"


def _usual(runs: Sequence[Run]) -> str:
    """By what documents are joined if nobody says it."""
    if all(isinstance(run, ScoredTask) for run in runs) or all(run.run.host == "lm_eval" for run in runs):
        return "document"
    asked = [[sample.request for sample in run.log.samples] for run in runs]
    by_input = not _same([run.ids for run in runs]) and _same(asked) and all(map(all, asked))
    return "input" if by_input else "id"


def _keys(run: Run, kind: str, ours: bool) -> Sequence[Any]:
    samples = run.log.samples
    if kind == "id":
        return run.ids
    if kind == "input":
        return [sample.request.strip() for sample in samples]
    if kind == "document":
        # Of tasks of ours the document has its name; numbers of others' documents are those of rows in a file.
        return documents_of(run) if ours else [_hash(sample.doc) for sample in samples]
    values = [_field(run, sample, kind) for sample in samples]
    return [value.strip() if isinstance(value, str) else _hash(value) for value in values]


def _other_targets(runs: Sequence[Run], orders: Sequence[Sequence[int]]) -> str:
    """A warning where documents have the same id in logs of several hosts, but what they ask for differs."""
    targets = [[str(sample.row.get("target") or "").strip() for sample in run.log.samples] for run in runs]
    for own, order in zip(targets[1:], orders[1:], strict=True):
        pairs = [(left, own[place]) for left, place in zip(targets[0], order, strict=True)]
        # One host may log a worked answer where the other logs its last number.
        differing = [ids for ids, (a, b) in zip(runs[0].ids, pairs, strict=True) if a not in b and b not in a]
        if differing:
            return (
                f"warning: {len(differing)} of {len(pairs)} documents with the same id have other targets "
                f"({', '.join(differing[:5])}): are they the same? --join says by what they are joined"
            )
    return ""


def _same(keys: Sequence[Sequence[str]]) -> bool:
    return all(Counter(own) == Counter(keys[0]) for own in keys)


def _counted(keys: Sequence[Any]) -> list[tuple[Any, int]]:
    """Equal keys, numbered: a data set may hold a document twice."""
    seen: Counter[Any] = Counter()
    numbered = []
    for key in keys:
        numbered.append((key, seen[key]))
        seen[key] += 1
    return numbered


def _field(run: Run, sample: Sample, name: str) -> Any:
    value: Any = sample.doc
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            fields = ", ".join(map(str, sample.doc)) or "none"
            raise DataError(f"{run.log.path}:{sample.line}: no field {name!r} in the document; its fields: {fields}")
        value = value[step]
    return value


def _hash(value: Any) -> str:
    if isinstance(value, Mapping):
        value = {key: item for key, item in value.items() if key not in _ELSEWHERE}
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
