"""Read rows of nuggets, in the forms that programs write, as :class:`~tls_tasks.reports.types.ReportRequest`.

:data:`NUGGET_FORMS` lists the forms. They differ in little but the names of their fields, so one reader takes a field
by whichever of its names a row has. Two differences go further:

- A **statement** (a ``claim``, or the ``text`` of nuggetizer) has no answer of its own: a report gives it by saying it.
  It becomes the question "True or false?" with the answer "true".
- **Sub-nuggets** are nuggets like any other. A question that has no answers, but sub-nuggets, is their heading.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from tls_tasks.core.parsed import Parsed, Problem, problem
from tls_tasks.reports.json_lines import FORMS, Read, read_rows, with_keys
from tls_tasks.reports.read import ID_FIELDS, first_id, first_text, id_text, refused, shown
from tls_tasks.reports.types import Nugget, NuggetAnswer, ReportRequest

LOST = ("bad_item", "no_answers", "bad_answer")
NUGGET_PROBLEMS = ("no_request", *LOST, "bad_aggregator", "bad_importance")
"""Kinds of problems of a row:

- ``no_request``: not a request with nuggets; the detail names what is missing.
- ``bad_item``: an item that is not a nugget, or has neither question nor statement; left out.
- ``no_answers``: a question without a list of answers (an empty list says that nobody knows); left out.
- ``bad_answer``: an answer that is not text; left out.
- ``bad_aggregator``: neither OR nor AND; read as OR.
- ``bad_importance``: neither vital nor okay, such as the failed of nuggetizer; weighs as okay does.
"""

NUGGET_FORMS = FORMS["requests"]
"""Program that writes a form -> the fields that identify it; for error messages and docs/reports.md."""

_AGGREGATORS = {"OR": "OR", "AND": "AND", "DEFAULT": "OR"}
_CLAIMS = "claim_bank"
LIST_FIELDS = ("items", "nugget_bank", "nuggets", _CLAIMS)
NO_LIST = f"no {', '.join(LIST_FIELDS[:-1])} or {LIST_FIELDS[-1]}"
_SUB_NUGGETS = "sub_nuggets"
RUBRIC_IDS = ("prompt_id", "sample_id")
_MAX_DEPTH = 20
"""The most levels of sub-nuggets that are read; banks have two or three."""

REQUEST_FORMS = "a ReportRequest, JSON text, a dict with 'items' or 'nugget_bank', or a list of such dicts"


def read_requests(lines: Iterable[str], name: str, *, has_rubric: bool = False) -> Read[ReportRequest]:
    """Read requests with their nuggets from JSON Lines, or from one JSON value over several lines.

    Args:
        lines: The lines.
        name: The file's name, for messages.
        has_rubric: See :func:`parse_request`.

    Returns:
        The requests in the order of the lines, and the bad rows. If a request has several rows, the first counts,
        whatever their collections, as in report_gen_eval; a row that says the same again, as in a file that assigns
        the nuggets to many answers, is not bad. Items that are left out are listed with ``lost=False``.

    Example:
        >>> line = '{"query_id": 7, "items": [{"question_text": "q", "gold_answers": ["a"]}, {"question_text": "r"}]}'
        >>> requests, bad = read_requests([line], "nuggets.jsonl")
        >>> [(nugget.question, nugget.answers) for nugget in requests[0].nuggets]
        [('q', (NuggetAnswer(text='a', references=()),))]
        >>> print(bad[0])
        nuggets.jsonl, line 1: items[1] with the keys question_text: no_answers
    """
    parse = partial(parse_request, has_rubric=has_rubric)
    return read_rows(lines, name, parse, lambda request: request.request_id, NUGGET_FORMS)


def parse_request(row: Any, *, has_rubric: bool = False) -> Parsed[ReportRequest]:
    """Read one request with its nuggets.

    Args:
        row: The row as parsed JSON; any value is accepted.
        has_rubric: Whether it may have no list of nuggets, since its reports are judged by criteria.

    Returns:
        The request, None if the row is not a request, and the problems, whose kinds are :data:`NUGGET_PROBLEMS`.

    Example:
        >>> bank = {"q": {"question": "q", "aggregator_type": "AND", "importance": "vital",
        ...               "answers": {"a": {"answer": "a", "references": [{"doc_id": "d1"}]}}}}
        >>> parse_request({"query_id": "7", "nugget_bank": bank}).value.nuggets[0].answers
        (NuggetAnswer(text='a', references=('d1',)),)
    """
    if not isinstance(row, Mapping):
        return refused("no_request", f"{shown(row)}, no object")
    metadata = row.get("metadata")
    fields = ("query_id", *ID_FIELDS, *(RUBRIC_IDS if has_rubric else ()))
    request_id = first_id({**metadata, **row} if isinstance(metadata, Mapping) else row, fields)
    if row.keys().isdisjoint(LIST_FIELDS) and not has_rubric:
        return refused("no_request", NO_LIST)
    filled = [field for field in LIST_FIELDS if row.get(field) is not None]
    for field in filled:
        if not isinstance(row[field], list | tuple | Mapping):
            return refused("no_request", f"{field}: {shown(row[field])}, no list or map")
    problems: list[Problem] = []
    banks = [field for field in filled if field in (filled[0], _CLAIMS)]
    nuggets = [nugget for field in banks for nugget in _nuggets(row[field], field, field == _CLAIMS, problems)]
    text = first_text(row, ("query_text", "problem_statement", "title_query", "title", "query", "text"))
    if has_rubric and not text and (conversation := row.get("prompt")):  # HealthBench has the turns of a conversation
        text = conversation if isinstance(conversation, str) else json.dumps(conversation, ensure_ascii=False)
    collection = first_text(row, ("test_collection", "collection_id", "collection"))
    by_sentence, shown_ids = not row.keys().isdisjoint(LIST_FIELDS), _doc_ids(row.get("doc_ids"))
    request = ReportRequest(request_id, text, collection, tuple(nuggets), shown_ids, by_sentence)
    return Parsed(request, tuple(problems))


def _nuggets(bank: Any, path: str, is_claim: bool, problems: list[Problem], depth: int = 0) -> Iterator[Nugget]:
    """Yield the nuggets of a bank and of its sub-nuggets; add what can't be read to ``problems``."""
    for key, entry in bank.items() if isinstance(bank, Mapping) else enumerate(bank):
        entry_path = f"{path}[{key!r}]"
        if entry is None and isinstance(bank, Mapping):
            continue  # Arrow gives each row the keys of all rows, with None
        if not isinstance(entry, Mapping):
            problems.append(problem("bad_item", f"{entry_path}: {shown(entry)}"))
            continue
        if nugget := _nugget(key, entry, entry_path, is_claim, problems):
            yield nugget
        sub_bank = entry.get(_SUB_NUGGETS)
        if isinstance(sub_bank, list | tuple | Mapping) and depth < _MAX_DEPTH:
            yield from _nuggets(sub_bank, f"{entry_path}.{_SUB_NUGGETS}", is_claim, problems, depth + 1)
        elif sub_bank is not None:
            problems.append(problem("bad_item", f"{entry_path}.{_SUB_NUGGETS}"))


def _nugget(key: Any, entry: Mapping[str, Any], path: str, is_claim: bool, problems: list[Problem]) -> Nugget | None:
    """Read the nugget of an entry; None if it is a heading, and None with a problem if it is not a nugget."""
    question = first_text(entry, ("question_text", "question"))
    statement = first_text(entry, ("claim", "claim_text", "text"))
    if not question and not statement and isinstance(key, str):
        question, statement = ("", key) if is_claim else (key, "")
    raw_answers = next((entry[field] for field in ("gold_answers", "answers") if entry.get(field) is not None), None)
    if not question.strip() and (raw_answers is not None or statement.rstrip().endswith("?")):
        question = statement
    elif not question.strip() and statement.strip():
        question = f"True or false? {statement.strip()}"
        raw_answers = [{"answer": "true", "references": entry.get("references")}]
    has_question = bool(question.strip())
    if not has_question or raw_answers is None:
        if not (has_question and entry.get(_SUB_NUGGETS)):
            problems.append(problem("no_answers" if has_question else "bad_item", f"{path} {with_keys(entry)}"))
        return None
    info: Mapping[str, Any] = entry["info"] if isinstance(entry.get("info"), Mapping) else {}
    fields, has_info = {**entry, **info}, "importance" in info or not path.startswith("items[")
    aggregator = str(fields.get("aggregator_type") or "OR").rpartition(".")[2].upper()
    if aggregator not in _AGGREGATORS:
        problems.append(problem("bad_aggregator", path))
    importance = fields.get("importance")
    level = importance.strip().lower() if isinstance(importance, str) else ""
    if level not in ("vital", "okay", "") or not isinstance(importance, str | None):
        problems.append(problem("bad_importance", f"{path}: {shown(importance)}"))
    answers = tuple(_answers(raw_answers, path, problems))
    question_id = first_id(entry, ("question_id", "claim_id")) or question
    return Nugget(question_id, question, answers, _AGGREGATORS.get(aggregator, "OR"), level, has_info)


def _answers(raw: Any, path: str, problems: list[Problem]) -> Iterator[NuggetAnswer]:
    """Yield the answers of a list, a map of text to details, or one value; add the unreadable to ``problems``."""
    if isinstance(raw, Mapping):
        raw = [{"answer": text, **(more if isinstance(more, Mapping) else {})} for text, more in raw.items()]
    for answer in raw if isinstance(raw, list | tuple) else [raw]:
        entry: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {"answer": answer}
        text = _answer_text(entry.get("answer")) or _answer_text(entry.get("text"))
        if text:
            yield NuggetAnswer(text, _doc_ids(entry.get("references") or entry.get("citations")))
        else:
            problems.append(problem("bad_answer", f"{path}: {shown(answer)}"))


def _answer_text(value: Any) -> str:
    """Return the text of an answer, which may be a number (7, 3.7); empty if it is blank or of another type."""
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str) and value.strip() else id_text(value)


def _doc_ids(references: Any) -> tuple[str, ...]:
    """Return the ids of a list of references, each an id or a dict with ``doc_id``."""
    entries = references if isinstance(references, list | tuple) else [references]
    ids = (id_text(entry.get("doc_id") if isinstance(entry, Mapping) else entry) for entry in entries)
    return tuple(filter(None, ids))
