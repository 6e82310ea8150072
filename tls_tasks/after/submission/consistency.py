"""What must follow from a log alone: answers from responses, requests from documents, documents from a fingerprint."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator

from tls_tasks.after.conditions import stated_metadata
from tls_tasks.after.logs import Sample
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission.refusal import Refusal
from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.options import check_whole_number
from tls_tasks.core.task import Doc, answer_text
from tls_tasks.data.editions import EMBEDDED, editions_of, golds_hash
from tls_tasks.hosts.task_files import data_set_of, task_files

_AGAIN = "run lm_eval again without changing its files"
_BUDGET = "context_budget"
_LONG_GOLD = 20  # characters; shorter answers, an empty list for one, are right by chance


def inconsistencies(scored: ScoredTask) -> Iterator[Refusal]:
    """Whatever in a task's log contradicts the rest of it."""
    yield from _budget(scored)
    yield from _answers(scored)
    yield from _requests(scored)
    yield from _documents(scored)
    yield from _verbatim(scored)


def knows_golds(scored: ScoredTask) -> bool:
    """Whether the log alone can tell that ids and gold answers are those of an edition that this release knows.

    The gold answers of reports cite what their prompts show, so that they depend on the budget.
    """
    default = str(task_files()[scored.name].config["metadata"].get("context_budget", ""))
    is_stable = scored.task.judge is None or scored.conditions.budget == default
    return is_stable and scored.pinned is not None and bool(scored.pinned.golds)


def golds_of(scored: ScoredTask) -> dict[str, str]:
    """Each document's id -> its gold answer; of a document that can't be read a word that no gold answer is."""
    return {key: _gold_of(scored, sample) for key, sample in zip(scored.ids, scored.log.samples, strict=True)}


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


def _budget(scored: ScoredTask) -> Iterator[Refusal]:
    """Under a budget that no task takes a run would have a board of its own."""
    budget = stated_metadata(scored.name, scored.results).get(_BUDGET)
    try:
        if budget not in (None, "auto"):
            check_whole_number(_BUDGET, budget)
    except InputError as error:
        yield Refusal("options", f"{scored.name}: {error}, or auto", _AGAIN)


def _answers(scored: ScoredTask) -> Iterator[Refusal]:
    """The task's filters give the first response, and the report in it where a judge reads reports."""
    samples = scored.log.samples
    wrong = [sample for sample in samples if not _follows(scored, sample)]
    if wrong:
        found = f"{scored.name}: filtered_resps do not follow from resps in {len(wrong)} of {len(samples)} documents"
        yield Refusal("answers", f"{found} ({scored.log.path.name}:{wrong[0].line} first)", _AGAIN)


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
        found = (
            f"{name}: {silent} of {len(scored.ids)} documents have no request, so that nobody can tell what was asked"
        )
        yield Refusal("prompts", found, _AGAIN)
    stated = results.get("chat_template")
    if isinstance(stated, str) and stated and results.get("chat_template_sha") != sha256(stated):
        yield Refusal("chat template", f"{name}: chat_template_sha is not that of the chat template", _AGAIN)
    first: tuple[str, str] | None = None
    for sample, doc_id in zip(scored.log.samples, scored.ids, strict=True):
        frame = frame_of(scored, sample)
        if frame is None:
            continue  # it does not ask the prompt, which is said elsewhere
        first = first or frame
        if frame != first:
            found = f"{name}: around the prompt of {doc_id} stands other text than around that of {scored.ids[0]}"
            yield Refusal("prompts", found, _AGAIN)
            return
    if first is None:
        return
    text = "".join(first)
    n_shots, n_stated = _examples(scored, text), scored.conditions.shots
    if n_shots != n_stated:
        found = f"{name}: the requests hold {n_shots} examples, the results say {n_stated}-shot"
        yield Refusal("shots", found, _AGAIN)
    elif stated is None and not n_stated and text.strip() != str(results.get("system_instruction") or "").strip():
        found = f"{name}: {len(text)} characters stand around each prompt, though the results say no chat template"
        yield Refusal("chat template", found, _AGAIN)


def frame_of(scored: ScoredTask, sample: Sample) -> tuple[str, str] | None:
    """What stands before and after the prompt in a request; None if the request does not hold it."""
    try:
        prompt = scored.made_of(sample, scored.task.prompt).strip()
    except DataError:
        return None
    request = sample.request
    for form in (prompt, *(json.dumps(prompt, ensure_ascii=own)[1:-1] for own in (False, True))):
        before, found, after = request.rpartition(form)
        if found:
            return before, after
    return None


def _examples(scored: ScoredTask, frame: str) -> int:
    """How many prompts of the task's kind stand in the text around a prompt, or answers of an assistant."""
    for sample in scored.log.samples:
        with contextlib.suppress(DataError):
            opening = scored.made_of(sample, scored.task.prompt).strip().split("\n")[0][:24]
            break
    else:
        return 0  # no document can be read, which is said elsewhere
    escaped = json.dumps(opening, ensure_ascii=False)[1:-1]
    return max(frame.count(opening), frame.count(escaped), frame.count('"role": "assistant"'))


def _documents(scored: ScoredTask) -> Iterator[Refusal]:
    """The logged documents are those of the edition that the fingerprint names, as far as ids and gold answers tell."""
    name, samples, advice = scored.name, scored.log.samples, "submit the run's own files"
    stated = {str(sample.doc.get("edition")) for sample in samples} - {scored.edition}
    if stated:
        found = f"{name}: the results say the {scored.edition} edition, the documents {', '.join(sorted(stated))}"
        yield Refusal("edition", found, advice)
    golds = golds_hash(golds_of(scored).items())
    wanted, pinned = data_set_of(scored.task), scored.pinned
    embedded = editions_of(wanted.name).get(EMBEDDED)
    if embedded is not None and not wanted.self_contained and golds == embedded.golds and pinned != embedded:
        found = f"{name}: the documents are those of the embedded edition, whatever the results say"
        yield Refusal("edition", found, f"run {name} on the real data")
    if pinned is None:
        return
    if pinned.documents is not None and pinned.documents != len(samples):
        found = f"{name}: {len(samples)} documents, but the edition {pinned.label!r} has {pinned.documents}"
        yield Refusal("edition", found, advice)
    elif knows_golds(scored) and pinned.golds != golds:
        found = f"{name}: ids or gold answers are not those of the edition {pinned.label!r}, whose fingerprint it has"
        yield Refusal("edition", found, advice)


def _verbatim(scored: ScoredTask) -> Iterator[Refusal]:
    """No model writes the references word by word."""
    golds = golds_of(scored)
    long = [(golds[key], sample) for key, sample in zip(scored.ids, scored.log.samples, strict=True)]
    long = [(gold, sample) for gold, sample in long if len(gold) >= _LONG_GOLD]
    same = sum((response_of(sample) or "").split() == gold.split() for gold, sample in long)
    if long and 2 * same > len(long):
        found = f"{scored.name}: {same} of {len(long)} answers are the gold answer word by word"
        yield Refusal("gold", found, "submit what the model wrote; if it wrote this, it has seen the references")


def sha256(text: str) -> str:
    """The hex digest of a text in UTF-8; half a surrogate pair is encoded as if it were a character."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
