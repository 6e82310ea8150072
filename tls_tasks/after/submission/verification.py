"""All checks of a submission, and what they are worth: ``verified against data`` or ``self-consistent``, never more.

With the maintainer's own data documents are made again and compared, with a judge verdicts are asked again.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tls_tasks.after.conditions import prompt_options, stated_metadata
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission import Refusal
from tls_tasks.after.submission.archive import MANIFEST, verify
from tls_tasks.after.submission.consistency import frame_of, golds_of, knows_golds, response_of
from tls_tasks.after.submission.signing import Signer, signer_of
from tls_tasks.core.errors import InputError, TlsTasksError
from tls_tasks.core.task import Doc, answer_text
from tls_tasks.data.editions import KNOWN, UNKNOWN

AGAINST_DATA, CONSISTENT = "verified against data", "self-consistent"

_EDITIONS = ("embedded", "fetched", "hub")
_NOT_CONTENT = frozenset({"edition", "judge"})  # columns that say where a document was read and who judges
_FITTING = frozenset({"context_tokens", "tokenizer"})
_MOST_OTHER_VERDICTS = 0.1  # of the verdicts that were asked again: no judge of today answers twice the same way

_ADVICE = "ask the submitter which data was used, and for a run on yours"


@dataclass(frozen=True, slots=True)
class Means:
    """What a maintainer has to check submissions with.

    Attributes:
        data: A place as ``--metadata '{"data": …}'`` takes it, or ``embedded``, ``fetched``, ``hub``; None: no data.
        judge: A specification of a judge; None: nobody is asked.
        sample: For how many documents of a task the judge is asked again.
        signers: The file of allowed signers.
    """

    data: str | None = None
    judge: Any = None
    sample: int = 5
    signers: Path | None = None


@dataclass(frozen=True, slots=True)
class Verified:
    """A submission after all checks.

    Attributes:
        manifest: Its manifest.
        scored: Its tasks, scored again; none if a file is not as it was written.
        refusals: What stands against it.
        signer: Who signed it.
        checked: What was checked against something else than the submission, each a phrase.
        unchecked: What was not, each a phrase.
        statuses: Task -> what its numbers are worth, by the maintainer's data or a fingerprint of this release.
        compared: The tasks whose documents are those of the maintainer's data, every one of them.
    """

    manifest: Mapping[str, Any]
    scored: Sequence[ScoredTask]
    refusals: Sequence[Refusal]
    signer: Signer = field(default_factory=Signer)
    checked: Sequence[str] = ()
    unchecked: Sequence[str] = ()
    statuses: Mapping[str, str] = field(default_factory=dict)
    compared: frozenset[str] = frozenset()

    def word(self, task: str | None = None) -> str:
        """What the checks of a task, or of all tasks, are worth."""
        names = {scored.name for scored in self.scored} if task is None else {task}
        return AGAINST_DATA if names and names <= self.compared else CONSISTENT


def verify_submission(folder: Path, means: Means) -> Verified:
    """Check a submission by all means there are.

    Raises:
        DataError: If it is not an archive of ours.
    """
    signer, problems = signer_of(folder / MANIFEST, means.signers)
    refusals, manifest, scored = verify(folder)
    if refusals := [*problems, *refusals]:
        return Verified(manifest, scored, refusals, signer)
    # A fingerprint is easily stated: it counts only where the gold answers show that it is the documents'.
    statuses = {task.name: task.status if knows_golds(task) else UNKNOWN for task in scored}
    checked: list[str] = []
    unchecked = ["whether the model wrote the answers: only running it again can tell"]
    if not signer.name:
        unchecked.append(f"who submitted it: {signer}")
    if means.data is None:
        unchecked.append("whether documents, gold answers and prompts are those of the data: --data PLACE")
    compared = set()
    for task in scored:
        # The text around a prompt is the same for all documents.
        frame = frame_of(task, task.log.samples[0]) if task.log.samples else None
        if n_characters := len("".join(frame or ())):
            unchecked.append(f"{task.name}: the {n_characters} characters around each prompt (chat template)")
        comparisons = [compare_documents(task, means.data)] if means.data is not None else []
        if comparisons and comparisons[0].status:
            compared.add(task.name)
            statuses[task.name] = comparisons[0].status
        if means.judge is not None:
            comparisons.append(ask_again(task, means.judge, means.sample))
        elif task.task.judge is not None:
            judge = task.conditions.judge
            unchecked.append(f"{task.name}: the verdicts of the judge {judge!r}: --judge SPEC --sample K")
        for comparison in comparisons:
            refusals += comparison.refusals
            checked += comparison.checked
            unchecked += comparison.unchecked
    return Verified(manifest, scored, refusals, signer, checked, unchecked, statuses, frozenset(compared))


@dataclass(frozen=True, slots=True)
class Comparison:
    """What a comparison found.

    Attributes:
        refusals: What differs.
        checked: What was compared and is the same, each a phrase.
        unchecked: What could not be compared, each a phrase.
        status: What numbers on the maintainer's data are worth; empty if the documents are not all the same.
    """

    refusals: tuple[Refusal, ...] = ()
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
        return Comparison(unchecked=(f"{name}: documents and prompts: their schema is a file of the submitter's",))
    source = {"edition": data} if data in _EDITIONS else {"data": data}
    try:
        documents = scored.task.documents(provenance=provenance, **source, **options)
    except (TlsTasksError, OSError) as error:
        if isinstance(error, InputError) and error.field in options:
            return Comparison((Refusal("options", f"{name}: {error}", _ADVICE),))
        return Comparison(unchecked=(f"{name}: documents and prompts: no such data at {data}: {error}",))
    logged = {doc_id: sample.doc for doc_id, sample in scored.documents}
    ours = {str(document["doc_id"]): document for document in documents}
    stated, own = scored.conditions.fingerprint, provenance["fingerprint"]
    problems = [*_other_documents(logged, ours), *_other_golds(scored, ours)]
    if stated != own:
        problems.append(f"the results state the fingerprint {stated[:12] or 'none'}, {data} has {own[:12]}")
    columns = {key: _other_columns(logged[key], ours[key]) for key in ours if key in logged}
    columns = {key: names for key, names in columns.items() if names}
    if columns and not problems and not is_fitted:
        first = next(iter(columns))
        problems.append(f"{len(columns)} documents differ from the data: {first!r} in {', '.join(columns[first])}")
    if problems:
        return Comparison(tuple(Refusal("data", f"{name}: {problem}", _ADVICE) for problem in problems))
    same = f"{name}: ids and gold answers of all {len(ours)} documents, and the fingerprint"
    if columns:
        shown = f"{name}: what {len(columns)} prompts show of their documents: they were fitted to the model's context"
        return Comparison((), (same,), (shown,))
    same += "; every column of the documents, so that the prompts are those of the data"
    return Comparison((), (same,), status=provenance.get("data", KNOWN))


def _other_documents(logged: Mapping[str, Doc], ours: Mapping[str, Doc]) -> Iterator[str]:
    """Documents that only one of both has."""
    if missing := sorted(ours.keys() - logged.keys()):
        yield f"{len(missing)} of {len(ours)} documents are not there: {missing[0]!r} …"
    if invented := sorted(logged.keys() - ours.keys()):
        yield f"{len(invented)} documents are invented: {invented[0]!r} …"


def _other_golds(scored: ScoredTask, ours: Mapping[str, Doc]) -> Iterator[str]:
    golds = golds_of(scored)
    if other := [key for key, doc in ours.items() if key in golds and str(scored.task.target(doc)) != golds[key]]:
        yield f"the gold answers of {len(other)} documents are not those of the data: {other[0]!r} …"


def _other_columns(logged: Doc, own: Doc) -> list[str]:
    """The columns of a document that differ, but for those that say where it was read and who judges."""
    keys = {*logged, *own} - _NOT_CONTENT
    return sorted(key for key in keys if key not in logged or key not in own or logged[key] != own[key])


def ask_again(scored: ScoredTask, judge: Any, n_documents: int) -> Comparison:
    """Ask a judge for the verdicts on some documents, drawn by chance, and compare them with the logged ones.

    Args:
        scored: The task; one without a judge has nothing to ask.
        judge: A specification, see :mod:`tls_tasks.reports.judges.choose`.
        n_documents: How many documents.
    """
    task, name, samples = scored.task, scored.name, scored.log.samples
    if task.judge is None:
        return Comparison()
    # Nobody may know beforehand which verdicts will be looked at.
    drawn = random.SystemRandom().sample(list(samples), min(n_documents, len(samples)))
    documents = [{**sample.doc, "judge": json.dumps(judge)} for sample in drawn]
    judged = [json.loads(text) for text in task.judge([response_of(sample) or "" for sample in drawn], documents)]
    if failed := next((row["judge_error"] for row in judged if row.get("judge_error")), ""):
        return Comparison(unchecked=(f"{name}: verdicts: the judge can't be used: {failed}",))
    n_verdicts = n_other = 0
    for sample, row in zip(drawn, judged, strict=True):
        # A question that was not asked before has no logged verdict.
        logged = _verdicts(json.loads(answer_text(sample.answer)))
        again = _verdicts(row)
        n_verdicts += len(again)
        n_other += sum(logged.get(key) != verdict for key, verdict in again.items())
    result = f"{name}: {n_verdicts} verdicts on {len(drawn)} of {len(samples)} documents asked again, {n_other} differ"
    if n_other > _MOST_OTHER_VERDICTS * n_verdicts or not n_verdicts:
        advice = "judge the samples yourself (tls-tasks judge) and compare (tls-tasks agree)"
        return Comparison((Refusal("verdicts", result, advice),))
    return Comparison((), (result,))


def _verdicts(judged: Mapping[str, Any]) -> dict[str, Any]:
    return {question["key"]: question["verdict"] for question in judged["judgments"]}
