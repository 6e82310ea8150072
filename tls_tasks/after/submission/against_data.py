"""A submission compared with the maintainer's own data and judge: documents are made again, verdicts asked again."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.after.conditions import prompt_options, stated_metadata
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission.consistency import golds_of, response_of
from tls_tasks.after.submission.refusal import Refusal
from tls_tasks.core.errors import InputError, TlsTasksError
from tls_tasks.core.task import answer_text
from tls_tasks.data.editions import KNOWN

_EDITIONS = ("embedded", "fetched", "hub")
_NOT_CONTENT = frozenset({"edition", "judge"})  # columns that say where a document was read and who judges
_FITTING = frozenset({"context_tokens", "tokenizer"})
_MOST_OTHER_VERDICTS = 0.1  # of the verdicts that were asked again: no judge of today answers twice the same way

_ADVICE = "ask the submitter which data was used, and for a run on yours"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison found.

    Attributes:
        refusals: What differs.
        checked: What was compared and is the same, each a phrase.
        unchecked: What could not be compared, each a phrase.
        status: What numbers on the maintainer's data are worth; empty if the documents are not all the same.
    """

    refusals: tuple[Refusal, ...]
    checked: tuple[str, ...] = ()
    unchecked: tuple[str, ...] = ()
    status: str = ""


def compare_documents(scored: ScoredTask, data: str) -> Comparison:
    """Make a task's documents from other data by the run's own options, and compare them with the logged ones.

    That the requests ask the prompts of the logged documents is checked without data: both together say that the
    requests ask the prompts of the data.

    Args:
        scored: The task.
        data: A place as ``--metadata '{"data": …}'`` takes it, or ``embedded``, ``fetched``, ``hub``.
    """
    name, provenance = scored.name, dict[str, str]()
    options = prompt_options(scored.task, stated_metadata(name, scored.results))
    is_fitted = "context" in scored.provenance or "auto" in options.values() or "context_tokens" in options
    # A stranger does not choose what tokenizer is loaded here.
    options = {key: value for key, value in options.items() if value != "auto" and key not in _FITTING}
    if isinstance(options.get("schema"), str):  # a stranger does not choose a file that is read here
        return Comparison((), unchecked=(f"{name}: documents and prompts: their schema is a file of the submitter's",))
    source = {"edition": data} if data in _EDITIONS else {"data": data}
    try:
        documents = scored.task.documents(provenance=provenance, **source, **options)
    except (TlsTasksError, OSError) as error:
        if isinstance(error, InputError) and error.field in options:
            return Comparison((Refusal("options", f"{name}: {error}", _ADVICE),))
        return Comparison((), unchecked=(f"{name}: documents and prompts: no such data at {data}: {error}",))
    logged = {key: sample.doc for key, sample in zip(scored.ids, scored.log.samples, strict=True)}
    ours = {str(document["doc_id"]): document for document in documents}
    found = [*_missing(name, logged, ours), *_golds(scored, logged, ours)]
    if (stated := scored.conditions.fingerprint) != provenance["fingerprint"]:
        differ = (
            f"the results state the fingerprint {stated[:12] or 'none'}, {data} has {provenance['fingerprint'][:12]}"
        )
        found.append(Refusal("data", f"{name}: {differ}", _ADVICE))
    other = [key for key in ours if key in logged and (_content(ours[key]) != _content(logged[key]))]
    if found or (other and not is_fitted):
        found += _columns(name, logged, ours, other) if not found else ()
        return Comparison(tuple(found))
    same = f"{name}: ids and gold answers of all {len(ours)} documents, and the fingerprint"
    if other:
        fitted = f"{name}: what {len(other)} prompts show of their documents: they were fitted to the model's context"
        return Comparison((), (same,), (fitted,))
    status = provenance.get("data", KNOWN)
    return Comparison(
        (), (f"{same}; every column of the documents, so that the prompts are those of the data",), (), status
    )


def ask_again(scored: ScoredTask, judge: Any, n_documents: int) -> Comparison:
    """Ask a judge for the verdicts on some documents, drawn by chance, and compare them with the logged ones.

    Args:
        scored: The task; one without a judge has nothing to ask.
        judge: A specification, see :mod:`tls_tasks.reports.judges.choose`.
        n_documents: How many documents.
    """
    task, name = scored.task, scored.name
    if task.judge is None:
        return Comparison(())
    samples = list(scored.log.samples)
    # Nobody may know beforehand which verdicts will be looked at.
    drawn = random.SystemRandom().sample(samples, min(n_documents, len(samples)))
    documents = [{**sample.doc, "judge": json.dumps(judge)} for sample in drawn]
    judged = [json.loads(text) for text in task.judge([response_of(sample) or "" for sample in drawn], documents)]
    if failed := next((row["judge_error"] for row in judged if row.get("judge_error")), ""):
        return Comparison((), unchecked=(f"{name}: verdicts: the judge can't be used: {failed}",))
    pairs = [pair for sample, row in zip(drawn, judged, strict=True) for pair in _verdicts(sample, row)]
    n_other = sum(logged != again for logged, again in pairs)
    asked = f"{name}: {len(pairs)} verdicts on {len(drawn)} of {len(samples)} documents asked again"
    if n_other > _MOST_OTHER_VERDICTS * len(pairs) or not pairs:
        advice = "judge the samples yourself (tls-tasks judge) and compare (tls-tasks agree)"
        return Comparison((Refusal("verdicts", f"{asked}, {n_other} differ", advice),))
    return Comparison((), (f"{asked}, {n_other} differ",))


def _verdicts(sample: Sample, judged: Mapping[str, Any]) -> list[tuple[object, object]]:
    """Question by question what was logged and what is said now; a question that was not asked has None."""
    logged = {row["key"]: row["verdict"] for row in json.loads(answer_text(sample.answer))["judgments"]}
    again = {row["key"]: row["verdict"] for row in judged["judgments"]}
    return [(logged.get(key), again[key]) for key in again]


def _missing(name: str, logged: Mapping[str, Any], ours: Mapping[str, Any]) -> list[Refusal]:
    lacking, invented = sorted(ours.keys() - logged.keys()), sorted(logged.keys() - ours.keys())
    of_ours, of_theirs = (
        f"{len(lacking)} of {len(ours)} documents are not there",
        f"{len(invented)} documents are invented",
    )
    found = [Refusal("data", f"{name}: {of_ours}: {lacking[0]!r} …", _ADVICE)] if lacking else []
    return [*found, Refusal("data", f"{name}: {of_theirs}: {invented[0]!r} …", _ADVICE)] if invented else found


def _golds(scored: ScoredTask, logged: Mapping[str, Any], ours: Mapping[str, Any]) -> list[Refusal]:
    golds = golds_of(scored)
    other = [key for key in ours if key in logged and str(scored.task.target(ours[key])) != golds[key]]
    if not other:
        return []
    found = f"{scored.name}: the gold answers of {len(other)} documents are not those of the data: {other[0]!r} …"
    return [Refusal("data", found, _ADVICE)]


def _columns(name: str, logged: Mapping[str, Any], ours: Mapping[str, Any], other: Sequence[str]) -> list[Refusal]:
    first = other[0]
    here, there = _content(logged[first]), _content(ours[first])
    columns = sorted(key for key in {*here, *there} if here.get(key) != there.get(key))
    found = f"{name}: {len(other)} documents differ from the data: {first!r} in {', '.join(columns)}"
    return [Refusal("data", found, _ADVICE)]


def _content(doc: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in doc.items() if key not in _NOT_CONTENT}
