"""Gold answers and requests of a log: whose answers they are, how many came back, what stands around the prompts."""

import json
from typing import Any

from tls_tasks.after.logs import Sample
from tls_tasks.after.run import BUDGET
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.task import Doc, answer_text, text_around
from tls_tasks.core.terminal import shown
from tls_tasks.hosts.discovery import task_files

EQUAL, AROUND = "equal to the reference", "characters around the prompt"
"""Columns: how many of the longer answers are the gold answer, and how much stands around each prompt."""

_LONG = 20  # characters; shorter answers, an empty list for one, are right by chance
_TOLERANCE = 1e-9
_SHOWN_HASH, _SHOWN = 12, 200  # characters of a hash, and of settings


def golds_of(task: ScoredTask) -> dict[str, str]:
    """Each document's id -> its gold answer.

    Raises:
        DataError: If the task can't read a document.
    """
    return {doc_id: str(task.made_of(sample, task.task.target)) for doc_id, sample in task.documents}


def knows_golds(task: ScoredTask) -> bool:
    """Whether the log alone can tell that ids and gold answers are those of an edition that this release knows.

    The gold answers of reports cite what their prompts show, so that they depend on the budget.
    """
    default = str(task_files()[task.name].config["metadata"].get(BUDGET, ""))
    is_stable = task.task.judge is None or task.conditions.budget == default
    return is_stable and task.pinned is not None and bool(task.pinned.golds)


def judged_by_nobody(task: ScoredTask, doc: Doc, response: str) -> Any:
    """The report in a response, judged by nobody."""
    assert task.task.judge is not None
    [text] = task.task.judge([response], [{**doc, "judge": json.dumps("none")}])
    return json.loads(text)


def responses_of(sample: Sample) -> list[str]:
    """What the model wrote, before any filter, once a repeat; empty if the log does not hold that."""
    match sample.row.get("resps"):
        case [[_, *_] as responses]:
            return [answer_text([response]) for response in responses]
    return []


def frame_in(task: ScoredTask, sample: Sample) -> tuple[str, str] | None:
    """What stands before and after the prompt in a request; None if the request does not hold it.

    Raises:
        DataError: If the task can't read the document.
    """
    return text_around(str(task.made_of(sample, task.task.prompt)), sample.request)


def _is_equal(task: ScoredTask, position: int, gold: str) -> bool:
    """Whether an answer is the gold answer once both are read: in a fence, in other order, after a sentence."""
    if task.task.judge is None:
        return task.of_document(position)[task.headline] > 1 - _TOLERANCE
    sample = task.log.samples[position]

    def is_same_report(doc: Doc) -> bool:  # a judge may find others as good
        first, *others = (judged_by_nobody(task, doc, text)["report"] for text in (gold, *responses_of(sample)))
        return first in others

    return task.made_of(sample, is_same_report)


def facts(task: ScoredTask) -> dict[str, str]:
    """What a board shows beside a result for people to judge, by the title of its column: it splits no table.

    Raises:
        DataError: If the task can't read a document.
    """
    golds = enumerate(golds_of(task).values())
    equal = [_is_equal(task, position, gold) for position, gold in golds if len(gold) >= _LONG]
    frame = next(filter(None, (frame_in(task, sample) for sample in task.log.samples)), None)
    settings = task.results.get("configs", {}).get(task.name, {}).get("generation_kwargs")
    return {
        EQUAL: f"{sum(equal)} of {len(equal)}",
        AROUND: "unchecked" if frame is None else str(len("".join(frame))),
        "chat template": shown(task.results.get("chat_template_sha") or "none", _SHOWN_HASH),
        "generation": shown(json.dumps(settings, sort_keys=True), _SHOWN) if settings else "unchecked",
    }
