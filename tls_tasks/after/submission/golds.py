"""Gold answers: whether a log has an edition's, and whether they come back as answers or stand around the prompts."""

import html
import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from tls_tasks.after.logs import Sample
from tls_tasks.after.run import BUDGET
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.core.json_text import is_whole_json
from tls_tasks.core.parsed import leaves
from tls_tasks.core.task import Doc, answer_text, frame_of
from tls_tasks.core.terminal import shown
from tls_tasks.hosts.discovery import task_files

EQUAL = "equal to the reference"
"""The column that says how many of the longer answers are the gold answer."""

_LONG = 20  # characters; shorter answers, an empty list for one, are right by chance
_WORD = re.compile(r"[^\W_]+")
_UNSEEN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]")
_RUN = 12  # letters and digits
_MOST_EXTRA = 10  # words around a gold answer, such as "Here is the summary:"
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


def response_of(sample: Sample) -> str | None:
    """What the model wrote, before any filter; None if the log does not hold one response."""
    match sample.row.get("resps"):
        case [[_]] as responses:
            return answer_text(responses)
    return None


def frame_in(task: ScoredTask, sample: Sample) -> tuple[str, str] | None:
    """What stands before and after the prompt in a request; None if the request does not hold it.

    Raises:
        DataError: If the task can't read the document.
    """
    return frame_of(str(task.made_of(sample, task.task.prompt)), sample.request)


def text_around(task: ScoredTask) -> str | None:
    """What stands before and after each prompt; None if no request holds its prompt.

    Raises:
        DataError: If the task can't read a document.
    """
    frames = (frame_in(task, sample) for sample in task.log.samples)
    return next(("".join(frame) for frame in frames if frame is not None), None)


def examples_around(task: ScoredTask, text: str) -> int:
    """How many of the task's own examples are answered in a text, whatever they look like there."""
    flat = _flat(text)
    return sum(len(example) > _LONG and _flat(example) in flat for example in _examples(task))


def golds_around(task: ScoredTask) -> int:
    """How many gold answers stand around all prompts, in the chat template or in settings; the task's examples may.

    Such is an answer of whose pieces more than half are there, in whatever notation and order.

    Raises:
        DataError: If the task can't read a document.
    """
    settings = [task.results.get(name) for name in ("chat_template", "system_instruction", "config")]
    stated = json.dumps([*settings, _generation(task)], ensure_ascii=False, default=str)
    text, shown_anyway = _squeezed(f"{text_around(task)} {stated}"), _squeezed(" ".join(_examples(task, asked=True)))
    golds = [_pieces(gold) for gold in set(golds_of(task).values()) if len(gold) > _LONG]
    common = Counter(piece for pieces in golds for piece in pieces if len(piece) < _RUN)
    own = [[one for one in pieces if common[one] <= max(1, len(golds) // 10)] for pieces in golds]
    runs = {text[n : n + _RUN] for n in range(len(text))}  # quicker than a search of the text for each
    found = {one for pieces in own for one in pieces if one in (runs if len(one) == _RUN else text)}
    known = {one for one in found if one not in shown_anyway}

    def is_held(pieces: Collection[str]) -> bool:
        there = known.intersection(pieces)
        return 2 * len(there) > len(pieces) and sum(map(len, there)) > _LONG  # a word or two may stand anywhere

    return sum(map(is_held, own))


def _examples(task: ScoredTask, *, asked: bool = False) -> Iterator[str]:
    """The answers of the task's own examples, or these with their prompts."""
    for doc in task.task.fewshot(task.name) if task.task.fewshot else ():
        yield f"{task.task.prompt(doc) if asked else ''}{task.task.target(doc)}"


def _generation(task: ScoredTask) -> Mapping[str, Any]:
    return task.results.get("configs", {}).get(task.name, {}).get("generation_kwargs") or {}


def _flat(text: str) -> str:
    """The words of a text in small letters, whatever stands between them, and whether JSON or HTML escaped it."""
    text = re.sub(r"(?<!\\)\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)
    words = _WORD.findall(re.sub(r"(?<!\\)\\+[nrtbf]", " ", _UNSEEN.sub("", html.unescape(text))).casefold())
    return f" {' '.join(words)} "


def _squeezed(text: str) -> str:
    return _flat(text).replace(" ", "")


def _pieces(gold: str) -> set[str]:
    """Runs of letters and digits of the values or lines of a gold answer, and shorter values whole."""
    values = leaves(json.loads(gold)) if is_whole_json(gold, _is_nested) else re.split(r"\n|(?<=[.!?])\s", gold)
    squeezed = [_squeezed(str(value)) for value in values]
    runs = (value[n : n + _RUN] for value in squeezed for n in range(0, max(1, len(value) - _RUN + 1), _RUN // 3))
    return {run for run in runs if len(run) > 3}


class Returned(NamedTuple):
    """How many of the ``n`` longer gold answers came back: word by word, and as answers that equal them when read.

    ``is_right`` says that they are JSON: a right answer can't help being the gold answer.
    """

    verbatim: int
    equal: int
    n: int
    is_right: bool


def returned_golds(task: ScoredTask) -> Returned:
    """Compare the answers with the gold answers.

    Raises:
        DataError: If the task can't read a document.
    """
    golds = golds_of(task)
    found = []
    for place, (doc_id, sample) in enumerate(task.documents):
        gold, response = golds[doc_id], response_of(sample) or ""
        if len(gold) >= _LONG:
            is_same = response.split() == gold.split()
            found.append((is_same, is_same or _is_equal(task, place, gold, response), is_whole_json(gold, _is_nested)))
    verbatim, equal, n_json = map(sum, zip(*found, strict=True)) if found else (0, 0, 0)
    return Returned(verbatim, equal, len(found), 2 * n_json > len(found))


def _is_equal(task: ScoredTask, place: int, gold: str, response: str) -> bool:
    """Whether an answer is the reference but for its form: without an error or, in prose, with the same words."""
    is_json = is_whole_json(gold, _is_nested)
    if task.task.judge is None:  # else other answers may be without an error, too
        table, results = task.score.definitions, task.of_document(place)
        shares = [value for key, value in results.items() if table[key].better and not table[key].is_count]
        if shares and min([results[task.headline]] if is_json else shares) > 1 - _TOLERANCE:
            return True
    wanted, given = (Counter(_flat(_content(task, place, text)).split()) for text in (gold, response))
    return not (is_json or wanted - given) and (given - wanted).total() <= min(_MOST_EXTRA, wanted.total() // 2)


def _content(task: ScoredTask, place: int, text: str) -> str:
    """The words that count of an answer."""
    if task.task.judge is None:
        return text
    report = task.made_of(task.log.samples[place], lambda doc: judged_by_nobody(task, doc, text)["report"])
    return " ".join(sentence["text"] for sentence in report["sentences"]) if report else ""


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | dict)


def facts(task: ScoredTask) -> dict[str, str]:
    """What a board shows beside a result for people to judge, by the title of its column: it splits no table.

    Raises:
        DataError: If the task can't read a document.
    """
    around, found, settings = text_around(task), returned_golds(task), _generation(task)
    return {
        EQUAL: f"{found.equal} of {found.n}",
        "characters around the prompt": "unchecked" if around is None else str(len(around)),
        "chat template": shown(task.results.get("chat_template_sha") or "none", _SHOWN_HASH),
        "generation": shown(json.dumps(settings, sort_keys=True), _SHOWN) if settings else "unchecked",
    }
