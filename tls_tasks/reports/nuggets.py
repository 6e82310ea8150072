"""Rows of nuggets, in the forms that programs write -> :class:`~tls_tasks.reports.types.ReportRequest`.

:data:`NUGGET_FORMS` has the forms. They differ in the names of their fields and in little else, so one reader takes a
field by whichever of its names is there. Two things are more than names:

- A **statement** (a ``claim``, or the ``text`` of nuggetizer) has no answer of its own: a report gives it by saying it.
  It becomes the question whether it is true, with the one right answer that it is.
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
"""What may be wrong with a row:

- ``no_request``: not a request with nuggets; the detail says what is missing.
- ``bad_item``: an item that is not a nugget, or has neither question nor statement; left out.
- ``no_answers``: a question without a list of answers (an empty list says that nobody knows); left out.
- ``bad_answer``: an answer that is not text; left out.
- ``bad_aggregator``: neither OR nor AND; read as OR.
- ``bad_importance``: neither vital nor okay, such as the failed of nuggetizer; weighs as okay does.
"""

NUGGET_FORMS = FORMS["requests"]
"""Who writes a form -> what tells it apart; in error messages and in docs/reports.md."""

_AGGREGATORS = {"OR": "OR", "AND": "AND", "DEFAULT": "OR"}
_CLAIMS = "claim_bank"
LIST_FIELDS = ("items", "nugget_bank", "nuggets", _CLAIMS)
NO_LIST = f"no {', '.join(LIST_FIELDS[:-1])} or {LIST_FIELDS[-1]}"
_SUB_NUGGETS = "sub_nuggets"
RUBRIC_IDS = ("prompt_id", "sample_id")
_MAX_DEPTH = 20
"""How deep sub-nuggets may lie; banks have two or three levels."""

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
    """One request with its nuggets.

    Args:
        row: The row, as JSON gives it; any value is accepted.
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
    given = [field for field in LIST_FIELDS if row.get(field) is not None]
    for field in given:
        if not isinstance(row[field], list | tuple | Mapping):
            return refused("no_request", f"{field}: {shown(row[field])}, no list or map")
    problems: list[Problem] = []
    banks = [field for field in given if field in (given[0], _CLAIMS)]
    nuggets = [nugget for field in banks for nugget in _nuggets(row[field], field, field == _CLAIMS, problems)]
    text = first_text(row, ("query_text", "problem_statement", "title_query", "title", "query", "text"))
    if has_rubric and not text and (asked := row.get("prompt")):  # of HealthBench the turns of a conversation
        text = asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False)
    collection = first_text(row, ("test_collection", "collection_id", "collection"))
    by_sentence, shown_ids = not row.keys().isdisjoint(LIST_FIELDS), _documents(row.get("doc_ids"))
    request = ReportRequest(request_id, text, collection, tuple(nuggets), shown_ids, by_sentence)
    return Parsed(request, tuple(problems))


def _nuggets(bank: Any, place: str, is_claim: bool, problems: list[Problem], depth: int = 0) -> Iterator[Nugget]:
    """The nuggets of a bank, and of those below them."""
    for key, entry in bank.items() if isinstance(bank, Mapping) else enumerate(bank):
        where = f"{place}[{key!r}]"
        if entry is None and isinstance(bank, Mapping):
            continue  # Arrow fills with None what other rows have
        if not isinstance(entry, Mapping):
            problems.append(problem("bad_item", f"{where}: {shown(entry)}"))
            continue
        if nugget := _nugget(key, entry, where, is_claim, problems):
            yield nugget
        below = entry.get(_SUB_NUGGETS)
        if isinstance(below, list | tuple | Mapping) and depth < _MAX_DEPTH:
            yield from _nuggets(below, f"{where}.{_SUB_NUGGETS}", is_claim, problems, depth + 1)
        elif below is not None:
            problems.append(problem("bad_item", f"{where}.{_SUB_NUGGETS}"))


def _nugget(key: Any, entry: Mapping[str, Any], place: str, is_claim: bool, problems: list[Problem]) -> Nugget | None:
    """The nugget of an entry; None if the entry is a heading, and None and a problem if it is not a nugget."""
    question = first_text(entry, ("question_text", "question"))
    statement = first_text(entry, ("claim", "claim_text", "text"))
    if not question and not statement and isinstance(key, str):
        question, statement = ("", key) if is_claim else (key, "")
    given = next((entry[field] for field in ("gold_answers", "answers") if entry.get(field) is not None), None)
    if not question.strip() and (given is not None or statement.rstrip().endswith("?")):
        question = statement
    elif not question.strip() and statement.strip():
        question = f"True or false? {statement.strip()}"
        given = [{"answer": "true", "references": entry.get("references")}]
    has_question = bool(question.strip())
    if not has_question or given is None:
        if not (has_question and entry.get(_SUB_NUGGETS)):
            problems.append(problem("no_answers" if has_question else "bad_item", f"{place} {with_keys(entry)}"))
        return None
    info: Mapping[str, Any] = entry["info"] if isinstance(entry.get("info"), Mapping) else {}
    fields, has_info = {**entry, **info}, "importance" in info or not place.startswith("items[")
    aggregator = str(fields.get("aggregator_type") or "OR").rpartition(".")[2].upper()
    if aggregator not in _AGGREGATORS:
        problems.append(problem("bad_aggregator", place))
    importance = fields.get("importance")
    known = importance.strip().lower() if isinstance(importance, str) else ""
    if known not in ("vital", "okay", "") or not isinstance(importance, str | None):
        problems.append(problem("bad_importance", f"{place}: {shown(importance)}"))
    answers = tuple(_answers(given, place, problems))
    question_id = first_id(entry, ("question_id", "claim_id")) or question
    return Nugget(question_id, question, answers, _AGGREGATORS.get(aggregator, "OR"), known, has_info)


def _answers(given: Any, place: str, problems: list[Problem]) -> Iterator[NuggetAnswer]:
    if isinstance(given, Mapping):
        given = [{"answer": text, **(more if isinstance(more, Mapping) else {})} for text, more in given.items()]
    for answer in given if isinstance(given, list | tuple) else [given]:
        fields: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {"answer": answer}
        text = _plain(fields.get("answer")) or _plain(fields.get("text"))
        if text:
            yield NuggetAnswer(text, _documents(fields.get("references") or fields.get("citations")))
        else:
            problems.append(problem("bad_answer", f"{place}: {shown(answer)}"))


def _plain(value: Any) -> str:
    """The text of an answer, which may be a number (7, 3.7); empty if it is blank or of another type."""
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str) and value.strip() else id_text(value)


def _documents(given: Any) -> tuple[str, ...]:
    listed = given if isinstance(given, list | tuple) else [given]
    ids = (id_text(entry.get("doc_id") if isinstance(entry, Mapping) else entry) for entry in listed)
    return tuple(filter(None, ids))
