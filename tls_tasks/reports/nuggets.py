"""Rows of nuggets, in the forms that programs write -> :class:`~tls_tasks.reports.types.ReportRequest`.

:data:`NUGGET_FORMS` has the forms. They differ in the names of their fields and in little else, so one reader takes a
field by whichever of its names is there. Two things are more than names:

- A **statement** (a ``claim``, or the ``text`` of nuggetizer) has no answer of its own: a report gives it by saying it.
  It becomes the question whether it is true, with the one right answer that it is.
- **Sub-nuggets** are nuggets like any other. A question that has no answers, but sub-nuggets, is their heading.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from tls_tasks.core.parsed import Parsed, Problem, problem
from tls_tasks.reports.files import BadRow, read_rows, with_keys
from tls_tasks.reports.read import ID_FIELDS, id_text, shown
from tls_tasks.reports.types import Nugget, NuggetAnswer, ReportRequest

NUGGET_PROBLEMS = (
    "no_request",  # not a request with nuggets; the detail says what is missing
    "bad_item",  # an item that is not a nugget, or has neither question nor statement; left out
    "no_answers",  # a question without a list of answers (an empty list says that nobody knows); left out
    "bad_answer",  # an answer that is not text; left out
    "bad_aggregator",  # neither OR nor AND; read as OR
    "bad_importance",  # neither vital nor okay, such as the failed of nuggetizer; weighs as okay does
)
"""What may be wrong with a row."""

NUGGET_FORMS = {
    "NeuCLIR 2024, report_gen_eval": "query_id, items: [{question_text, gold_answers, info.importance}]",
    "Auto-ARGUE, RAGTIME 2025, NuggetBank v3": "query_id, nugget_bank: {…: {question, answers, sub_nuggets}}, "
    "claim_bank: {…: {claim}}",
    "RAGTIME 2026": "metadata.topic_id, nugget_bank: [{question, aggregator_type, answers: [{answer, references}]}]",
    "nuggetizer, TREC RAG, NuggetBank v4": "qid, nuggets: [{text, importance}]",
}
"""Who writes a form -> what tells it apart; in error messages and in docs/reports.md."""

_AGGREGATORS = {"OR": "OR", "AND": "AND", "DEFAULT": "OR"}
_IMPORTANCES = ("vital", "okay", "")
_BANKS = ("items", "nugget_bank", "nuggets")
_CLAIMS = "claim_bank"
LIST_FIELDS = (*_BANKS, _CLAIMS)
_TEXT_FIELDS = ("query_text", "problem_statement", "title_query", "title", "query", "text")
_COLLECTION_FIELDS = ("test_collection", "collection_id", "collection")
_QUESTION_FIELDS = ("question_text", "question")
_STATEMENT_FIELDS = ("claim", "claim_text", "text")
_ID_FIELDS = ("question_id", "claim_id")
_ANSWER_FIELDS = ("gold_answers", "answers")
_SUB_NUGGETS = "sub_nuggets"
_TRUE = "true"
_MAX_DEPTH = 20
"""How deep sub-nuggets may lie; banks have two or three levels."""

REQUEST_FORMS = "a ReportRequest, JSON text, a dict with 'items' or 'nugget_bank', or a list of such dicts"


def read_requests(lines: Iterable[str], name: str) -> tuple[tuple[ReportRequest, ...], tuple[BadRow, ...]]:
    """Read requests with their nuggets from JSON Lines, or from one JSON value over several lines.

    Args:
        lines: The lines.
        name: The file's name, for messages.

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
    parse = partial(parse_request, needs_id=True)
    return read_rows(lines, name, parse, lambda request: request.request_id, NUGGET_FORMS)


def whether(statement: str) -> str:
    """The question to which a statement is the answer; its right answer is ``true``.

    Example:
        >>> whether("Rivers rose.")
        'True or false? Rivers rose.'
    """
    return f"True or false? {statement.strip()}"


def parse_request(row: Any, *, needs_id: bool = False) -> Parsed[ReportRequest]:
    """One request with its nuggets.

    Args:
        row: The row, as JSON gives it; any value is accepted.
        needs_id: Whether a row must name its request.

    Returns:
        The request, None if the row is not a request, and the problems, whose kinds are :data:`NUGGET_PROBLEMS`.

    Example:
        >>> bank = {"q": {"question": "q", "aggregator_type": "AND", "importance": "vital",
        ...               "answers": {"a": {"answer": "a", "references": [{"doc_id": "d1"}]}}}}
        >>> parse_request({"query_id": "7", "nugget_bank": bank}).value.nuggets[0].answers
        (NuggetAnswer(text='a', references=('d1',)),)
    """
    if not isinstance(row, Mapping):
        return Parsed(None, (problem("no_request", f"{shown(row)}, no object"),))
    metadata = row.get("metadata")
    found = {**metadata, **row} if isinstance(metadata, Mapping) else row
    request_id = next((text for field in ("query_id", *ID_FIELDS) if (text := id_text(found.get(field)))), "")
    if needs_id and not request_id:
        return Parsed(None, (problem("no_request", "no query_id"),))
    given = [field for field in LIST_FIELDS if row.get(field) is not None]
    if not given and row.keys().isdisjoint(LIST_FIELDS):
        return Parsed(None, (problem("no_request", f"no {', '.join(LIST_FIELDS[:-1])} or {LIST_FIELDS[-1]}"),))
    if wrong := [field for field in given if not isinstance(row[field], list | tuple | Mapping)]:
        return Parsed(None, (problem("no_request", f"{wrong[0]}: {shown(row[wrong[0]])}, no list or map"),))
    problems: list[Problem] = []
    banks = [field for field in given if field in (given[0], _CLAIMS)]
    nuggets = [
        _nugget(*entry, is_claim=field == _CLAIMS, problems=problems)
        for field in banks
        for entry in _entries(row[field], field, problems)
    ]
    return Parsed(
        ReportRequest(
            request_id, _first_text(row, _TEXT_FIELDS), _first_text(row, _COLLECTION_FIELDS),
            tuple(nugget for nugget in nuggets if nugget), tuple(_documents(row.get("doc_ids"))),
        ),
        tuple(problems),
    )  # fmt: skip


def _first_text(row: Mapping[str, Any], fields: Iterable[str]) -> str:
    return next((row[field] for field in fields if isinstance(row.get(field), str)), "")


def _entries(bank: Any, place: str, problems: list[Problem], depth: int = 0) -> Iterator[tuple[Any, Any, str]]:
    """Key, entry and place of each nugget of a bank, and of those below it."""
    for key, entry in bank.items() if isinstance(bank, Mapping) else enumerate(bank):
        if entry is None and isinstance(bank, Mapping):
            continue  # Arrow fills with None what other rows have
        where = f"{place}[{key if isinstance(key, int) else repr(key)}]"
        yield key, entry, where
        below = entry.get(_SUB_NUGGETS) if isinstance(entry, Mapping) else None
        if isinstance(below, list | tuple | Mapping) and depth < _MAX_DEPTH:
            yield from _entries(below, f"{where}.{_SUB_NUGGETS}", problems, depth + 1)
        elif below is not None:
            problems.append(problem("bad_item", f"{where}.{_SUB_NUGGETS}"))


def _nugget(key: Any, entry: Any, place: str, *, is_claim: bool, problems: list[Problem]) -> Nugget | None:
    """The nugget of an entry; None if the entry is a heading, and None and a problem if it is not a nugget."""
    if not isinstance(entry, Mapping):
        problems.append(problem("bad_item", f"{place}: {shown(entry)}"))
        return None
    info = entry["info"] if isinstance(entry.get("info"), Mapping) else {}
    question, statement = _first_text(entry, _QUESTION_FIELDS), _first_text(entry, _STATEMENT_FIELDS)
    if not question and not statement and isinstance(key, str):
        question, statement = ("", key) if is_claim else (key, "")
    given = next((entry[field] for field in _ANSWER_FIELDS if entry.get(field) is not None), None)
    if not question.strip() and (given is not None or statement.rstrip().endswith("?")):
        question = statement
    elif not question.strip() and statement.strip():
        question, given = whether(statement), [{"answer": _TRUE, "references": entry.get("references")}]
    if not question.strip() or given is None:
        if not (question.strip() and entry.get(_SUB_NUGGETS)):
            kind = "no_answers" if question.strip() else "bad_item"
            problems.append(problem(kind, f"{place} {with_keys(entry)}"))
        return None
    aggregator = str({**entry, **info}.get("aggregator_type") or "OR").rpartition(".")[2].upper()
    if aggregator not in _AGGREGATORS:
        problems.append(problem("bad_aggregator", place))
    importance = {**entry, **info}.get("importance")
    known = importance.strip().lower() if isinstance(importance, str) else ""
    if known not in _IMPORTANCES or not isinstance(importance, str | None):
        problems.append(problem("bad_importance", f"{place}: {shown(importance)}"))
    return Nugget(
        question_id=next((text for field in _ID_FIELDS if (text := id_text(entry.get(field)))), question),
        question=question,
        answers=tuple(_answers(given, place, problems)),
        aggregator=_AGGREGATORS.get(aggregator, "OR"),
        importance=known,
    )


def _answers(given: Any, place: str, problems: list[Problem]) -> Iterable[NuggetAnswer]:
    if isinstance(given, Mapping):
        listed = [{"answer": text, **(more if isinstance(more, Mapping) else {})} for text, more in given.items()]
    else:
        listed = list(given) if isinstance(given, list | tuple) else [given]
    for answer in listed:
        more: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {"answer": answer}
        text = next((text for field in ("answer", "text") if (text := _plain(more.get(field)))), "")
        if text:
            yield NuggetAnswer(text, tuple(_documents(more.get("references") or more.get("citations"))))
        else:
            problems.append(problem("bad_answer", f"{place}: {shown(answer)}"))


def _plain(value: Any) -> str:
    """The text of an answer, which may be a number (7, 3.7); empty if it is blank or of another type."""
    if isinstance(value, float):
        return repr(value)
    return value if isinstance(value, str) and value.strip() else id_text(value)


def _documents(given: Any) -> Iterable[str]:
    for document in given if isinstance(given, list | tuple) else [given]:
        if text := id_text(document.get("doc_id") if isinstance(document, Mapping) else document):
            yield text
