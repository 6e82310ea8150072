"""What must follow from a log alone: answers from responses, requests from documents, documents from a fingerprint."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator

from tls_tasks.after.conditions import stated_metadata
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission import Refusal
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.options import check_whole_number
from tls_tasks.core.task import Doc, answer_text
from tls_tasks.data.editions import EMBEDDED, editions_of, golds_hash
from tls_tasks.hosts.task_files import data_set_of, task_files

AGAIN = "run lm_eval again without changing its files"
"""Advice."""

_BUDGET = "context_budget"
_LONG_GOLD = 20  # characters; shorter answers, an empty list for one, are right by chance


def inconsistencies(scored: ScoredTask) -> Iterator[Refusal]:
    """Whatever in a task's log contradicts the rest of it."""
    budget = stated_metadata(scored.name, scored.results).get(_BUDGET)
    try:
        if budget not in (None, "auto"):  # under a budget that no task takes a run would have a board of its own
            check_whole_number(_BUDGET, budget)
    except InputError as error:
        yield Refusal("options", f"{scored.name}: {error}, or auto", AGAIN)
    yield from _answers(scored)
    yield from _requests(scored)
    yield from _documents(scored)
    yield from _verbatim(scored)


def knows_golds(scored: ScoredTask) -> bool:
    """Whether the log alone can tell that ids and gold answers are those of an edition that this release knows.

    The gold answers of reports cite what their prompts show, so that they depend on the budget.
    """
    default = str(task_files()[scored.name].config["metadata"].get(_BUDGET, ""))
    is_stable = scored.task.judge is None or scored.conditions.budget == default
    return is_stable and scored.pinned is not None and bool(scored.pinned.golds)


def golds_of(scored: ScoredTask) -> dict[str, str]:
    """Each document's id -> its gold answer; of a document that can't be read a word that no gold answer is."""
    return {doc_id: _gold_of(scored, sample) for doc_id, sample in scored.documents}


def _gold_of(scored: ScoredTask, sample: Sample) -> str:
    try:
        return str(scored.made_of(sample, scored.task.target))
    except DataError:
        return "\0unreadable"


def response_of(sample: Sample) -> str | None:
    """What the model wrote, before any filter; None if the log does not hold one response."""
    responses = sample.row.get("resps") or [None]
    is_one = len(responses) == 1 and isinstance(responses[0], list) and len(responses[0]) == 1
    return answer_text(responses) if is_one else None


def _answers(scored: ScoredTask) -> Iterator[Refusal]:
    """The task's filters give the first response, and the report in it where a judge reads reports."""
    samples = scored.log.samples
    if wrong := [sample for sample in samples if not _follows(scored, sample)]:
        problem = f"{scored.name}: filtered_resps do not follow from resps in {len(wrong)} of {len(samples)} documents"
        yield Refusal("answers", f"{problem} ({scored.log.path.name}:{wrong[0].line} first)", AGAIN)


def _follows(scored: ScoredTask, sample: Sample) -> bool:
    response = response_of(sample)
    if response is None:
        return False
    if scored.task.judge is None:
        return sample.answer == [response]
    try:
        return scored.made_of(sample, _is_read_so, response, answer_text(sample.answer), scored.task.judge)
    except DataError:
        return False


def _is_read_so(doc: Doc, response: str, logged: str, judge: Callable[..., list[str]]) -> bool:
    """Whether the report in a judged answer is that of the response; who judged it does not matter."""
    [text] = judge([response], [{**doc, "judge": json.dumps("none")}])
    judged, read = json.loads(logged), json.loads(text)
    return all(judged[key] == read[key] for key in ("report", "problems"))


def _requests(scored: ScoredTask) -> Iterator[Refusal]:
    """Around the prompts stands the same text for all documents, and no more examples than the results say."""
    name, results = scored.name, scored.results
    if silent := sum(not sample.request for sample in scored.log.samples):
        problem = f"{name}: {silent} of {len(scored.ids)} documents have no request"
        yield Refusal("prompts", f"{problem}, so that nobody can tell what was asked", AGAIN)
    stated = results.get("chat_template")
    if isinstance(stated, str) and stated and results.get("chat_template_sha") != sha256(stated):
        yield Refusal("chat template", f"{name}: chat_template_sha is not that of the chat template", AGAIN)
    # A request that does not ask the prompt has no frame, and is refused elsewhere.
    frames = {doc_id: frame for doc_id, sample in scored.documents if (frame := frame_of(scored, sample)) is not None}
    if not frames:
        return
    first = next(iter(frames.values()))
    if others := [doc_id for doc_id, frame in frames.items() if frame != first]:
        problem = f"{name}: around the prompt of {others[0]} stands other text than around that of {scored.ids[0]}"
        yield Refusal("prompts", problem, AGAIN)
        return
    text = "".join(first)
    n_shots, n_stated = _examples(scored, text), scored.conditions.shots
    if n_shots != n_stated:
        problem = f"{name}: the requests hold {n_shots} examples, the results say {n_stated}-shot"
        yield Refusal("shots", problem, AGAIN)
    elif stated is None and not n_stated and text.strip() != str(results.get("system_instruction") or "").strip():
        problem = f"{name}: {len(text)} characters stand around each prompt, though the results say no chat template"
        yield Refusal("chat template", problem, AGAIN)


def frame_of(scored: ScoredTask, sample: Sample) -> tuple[str, str] | None:
    """What stands before and after the prompt in a request; None if the request does not hold it."""
    prompt = _prompt(scored, sample)
    if prompt is None:
        return None
    for form in (prompt, *(json.dumps(prompt, ensure_ascii=is_ascii)[1:-1] for is_ascii in (False, True))):
        before, is_there, after = sample.request.rpartition(form)
        if is_there:
            return before, after
    return None


def _prompt(scored: ScoredTask, sample: Sample) -> str | None:
    """The prompt of a document; None of one that can't be read, which is refused elsewhere."""
    try:
        return scored.made_of(sample, scored.task.prompt).strip()
    except DataError:
        return None


def _examples(scored: ScoredTask, frame: str) -> int:
    """How many prompts of the task's kind stand in the text around a prompt, or answers of an assistant."""
    prompts = (_prompt(scored, sample) for sample in scored.log.samples)
    prompt = next((prompt for prompt in prompts if prompt is not None), None)
    if prompt is None:
        return 0
    opening = prompt.split("\n")[0][:24]
    escaped = json.dumps(opening, ensure_ascii=False)[1:-1]
    return max(frame.count(opening), frame.count(escaped), frame.count('"role": "assistant"'))


def _documents(scored: ScoredTask) -> Iterator[Refusal]:
    """The logged documents are those of the edition that the fingerprint names, as far as ids and gold answers tell."""
    name, n_documents, advice = scored.name, len(scored.log.samples), "submit the run's own files"
    stated = {str(sample.doc.get("edition")) for sample in scored.log.samples} - {scored.edition}
    if stated:
        problem = f"{name}: the results say the {scored.edition} edition, the documents {', '.join(sorted(stated))}"
        yield Refusal("edition", problem, advice)
    golds = golds_hash(golds_of(scored).items())
    data_set, pinned = data_set_of(scored.task), scored.pinned
    embedded = editions_of(data_set.name).get(EMBEDDED)
    if embedded is not None and not data_set.self_contained and golds == embedded.golds and pinned != embedded:
        problem = f"{name}: the documents are those of the embedded edition, whatever the results say"
        yield Refusal("edition", problem, f"run {name} on the real data")
    if pinned is None:
        return
    if pinned.documents is not None and pinned.documents != n_documents:
        problem = f"{name}: {n_documents} documents, but the edition {pinned.label!r} has {pinned.documents}"
        yield Refusal("edition", problem, advice)
    elif knows_golds(scored) and pinned.golds != golds:
        problem = f"{name}: ids or gold answers are not those of the edition {pinned.label!r}, whose fingerprint it has"
        yield Refusal("edition", problem, advice)


def _verbatim(scored: ScoredTask) -> Iterator[Refusal]:
    """No model writes the references word by word."""
    golds = golds_of(scored)
    long = [(golds[doc_id], sample) for doc_id, sample in scored.documents if len(golds[doc_id]) >= _LONG_GOLD]
    same = sum((response_of(sample) or "").split() == gold.split() for gold, sample in long)
    if long and 2 * same > len(long):
        problem = f"{scored.name}: {same} of {len(long)} answers are the gold answer word by word"
        yield Refusal("gold", problem, "submit what the model wrote; if it wrote this, it has seen the references")


def sha256(text: str) -> str:
    """The hex digest of a text in UTF-8; half a surrogate pair is encoded as if it were a character."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
