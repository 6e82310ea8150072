"""Runs side by side: the same documents in the same order, and numbers of one table, whoever wrote the logs."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.after.aggregates import table_of
from tls_tasks.after.logged import LoggedTask
from tls_tasks.after.logs import Sample
from tls_tasks.after.run import Run
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.score import Score

_ELSEWHERE = frozenset({"edition", "judge"})  # where a document was read and who judges are no part of it


def joined(
    names: Sequence[str], runs: Sequence[Run], metrics: Mapping[str, str], *, by: str = "", cluster: str = ""
) -> list[Score]:
    """The scores of runs on the same documents, all in the order of the first run's.

    Args:
        names: What the runs are called in messages.
        runs: One a system, on one task.
        metrics: Metric of the first run -> what the others call it, where that is something else.
        by: What says that two documents are the same: ``document`` (all that the logs have of it), ``id``, ``input``
            (what the model was asked), or a field of the document, with dots (``metadata.question_id``). Empty: the
            document where one host wrote all logs, else the id, or the input where the ids differ.
        cluster: A field of the document whose equal values say what is drawn and exchanged together; empty: topics.

    Raises:
        InputError: If the runs did not answer the same documents.
        DataError: If a field does not exist, or some runs were scored again and others not.
    """
    orders = _orders(names, runs, by)
    labels = [str(_field(runs[0], sample, cluster)) for sample in runs[0].log.samples] if cluster else None
    if all(isinstance(run, ScoredTask) for run in runs):
        scores = [_reordered(run.score, order) for run, order in zip(runs, orders, strict=True)]
        return [replace(score, topics=labels) for score in scores] if labels else scores
    if not all(isinstance(run, LoggedTask) for run in runs):
        told = ", ".join(f"{name}: {run.run.host}" for name, run in zip(names, runs, strict=True))
        raise DataError(
            f"{runs[0].name}: some logs hold documents that are scored again and others only numbers ({told}); compare "
            "logs of the harness or of Inspect with each other, or numbers with numbers"
        )
    logged = []
    for run, order in zip(runs, orders, strict=True):
        own = run.content.logged if isinstance(run, LoggedTask) else {}
        if run is not runs[0]:
            own = {**own, **{first: own[theirs] for first, theirs in metrics.items() if theirs in own}}
        logged.append({key: replace(one, values=[one.values[place] for place in order]) for key, one in own.items()})
    table, units, _ = table_of(logged, len(orders[0]))
    return [Score(runs[0].name, "", own, table, labels) for own in units]


def documents_of(run: Run) -> list[tuple[str, str]]:
    """What says that two systems answered the same documents: each one's name, and a hash of what it says."""
    return [(key, _hash(sample.doc)) for key, sample in zip(run.ids, run.log.samples, strict=True)]


def _reordered(score: Score, order: Sequence[int]) -> Score:
    topics = score.topics or range(len(order))
    return replace(score, units=[score.units[place] for place in order], topics=[topics[place] for place in order])


def _orders(names: Sequence[str], runs: Sequence[Run], by: str) -> list[list[int]]:
    """For each run the places of the first run's documents."""
    keys = [_counted(found) for found in _keys(runs, by)]
    places = [{key: place for place, key in enumerate(own)} for own in keys]
    for name, own in zip(names[1:], places[1:], strict=True):
        pairs = zip(keys[0], runs[0].ids, strict=True)
        if missing := [doc_id for key, doc_id in pairs if key not in own]:
            raise InputError(
                f"{name} of {runs[0].name}",
                None,
                f"no or another document for {len(missing)} of {len(keys[0])}: {', '.join(missing[:5])}",
                "the same documents as in the first run (the same data, budget and limit)",
            )
        if len(own) != len(keys[0]):
            raise InputError(
                f"{name} of {runs[0].name}", None, f"{len(own)} documents", f"{len(keys[0])}, as in the first run"
            )
    return [[own[key] for key in keys[0]] for own in places]


def _keys(runs: Sequence[Run], by: str) -> list[list[Any]]:
    if by == "document" or (not by and _alike(runs)):
        # Of tasks of ours the document has its name; numbers of others' documents are those of rows in a file.
        ours = all(isinstance(run, ScoredTask) for run in runs)
        return [documents_of(run) if ours else [_hash(sample.doc) for sample in run.log.samples] for run in runs]
    if by not in ("", "id", "input"):
        return [[_hash(_field(run, sample, by)) for sample in run.log.samples] for run in runs]
    asked = [[sample.request for sample in run.log.samples] for run in runs]
    ids = [run.ids for run in runs]
    if by == "input" or (not by and not _same(ids) and _same(asked) and all(map(all, asked))):
        return asked
    return ids


def _alike(runs: Sequence[Run]) -> bool:
    return all(isinstance(run, ScoredTask) for run in runs) or all(run.run.host == "lm_eval" for run in runs)


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
