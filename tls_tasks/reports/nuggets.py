"""Rows of nuggets, in the forms that programs write -> :class:`~tls_tasks.reports.types.ReportRequest`.

The form of NeuCLIR 2024 and report_gen_eval: ``query_id``, ``query_text``, ``test_collection`` and ``items`` with
``question_id``, ``question_text``, ``gold_answers`` and ``info.importance``. The form of Auto-ARGUE: ``query_id``,
``title_query`` and ``nugget_bank``, a map with ``question``, ``question_id``, ``aggregator_type`` (OR, AND),
``importance`` and ``answers``, a map with ``answer`` and ``references``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Parsed, Problem
from tls_tasks.reports.files import BadRow, read_rows
from tls_tasks.reports.read import ID_FIELDS, id_text, shown
from tls_tasks.reports.types import Nugget, NuggetAnswer, ReportRequest

NUGGET_PROBLEMS = (
    "no_request",  # not a request with nuggets; the detail says what is missing
    "bad_item",  # an item that is not a nugget, or has no question; left out
    "no_answers",  # an item without a list of answers (an empty list says that nobody knows); left out
    "bad_answer",  # an answer that is not text; left out
    "bad_aggregator",  # neither OR nor AND; read as OR
)
"""What may be wrong with a row."""

_AGGREGATORS = ("OR", "AND")
LIST_FIELDS = ("items", "nugget_bank", "nuggets")
_TEXT_FIELDS = ("query_text", "problem_statement", "title_query", "title", "text")
_COLLECTION_FIELDS = ("test_collection", "collection_id", "collection")
_ANSWER_FIELDS = ("gold_answers", "answers")
REQUEST_FORMS = "a ReportRequest, JSON text, a dict with 'items' or 'nugget_bank', or a list of such dicts"


def read_requests(lines: Iterable[str], name: str) -> tuple[tuple[ReportRequest, ...], tuple[BadRow, ...]]:
    """Read requests with their nuggets from JSON Lines, or from one JSON value over several lines.

    Args:
        lines: The lines.
        name: The file's name, for messages.

    Returns:
        The requests in the order of the lines, and the bad rows. If a request has several rows, the first counts,
        whatever their collections, as in report_gen_eval. Items that are left out are listed with ``lost=False``.

    Example:
        >>> line = '{"query_id": 7, "items": [{"question_text": "q", "gold_answers": ["a"]}, {"question_text": "r"}]}'
        >>> requests, bad = read_requests([line], "nuggets.jsonl")
        >>> [(nugget.question, nugget.answers) for nugget in requests[0].nuggets]
        [('q', (NuggetAnswer(text='a', references=()),))]
        >>> print(bad[0])
        nuggets.jsonl, line 1: items[1]: no_answers
    """
    return read_rows(lines, name, partial(parse_request, needs_id=True), lambda request: request.request_id)


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
    request_id = next((text for field in ("query_id", *ID_FIELDS) if (text := id_text(row.get(field)))), "")
    if needs_id and not request_id:
        return Parsed(None, (problem("no_request", "no query_id"),))
    there = sorted((field for field in LIST_FIELDS if field in row), key=lambda field: row[field] is None)
    field = there[0] if there else None  # Arrow fills with None what other rows have
    if field is None or not isinstance(row[field], list | tuple | Mapping | type(None)):
        got = f"no {LIST_FIELDS[0]}" if field is None else f"{field}: {shown(row[field])}, no list or map"
        return Parsed(None, (problem("no_request", got),))
    problems: list[Problem] = []
    bank = row[field].items() if isinstance(row[field], Mapping) else enumerate(row[field] or ())
    entries = ((key, entry) for key, entry in bank if entry is not None or isinstance(key, int))
    nuggets = [_nugget(key, entry, f"{field}[{key if isinstance(key, int) else repr(key)}]", problems)
               for key, entry in entries]  # fmt: skip
    return Parsed(
        ReportRequest(
            request_id, _first_text(row, _TEXT_FIELDS), _first_text(row, _COLLECTION_FIELDS),
            tuple(nugget for nugget in nuggets if nugget), tuple(_documents(row.get("doc_ids"))),
        ),
        tuple(problems),
    )  # fmt: skip


def _first_text(row: Mapping[str, Any], fields: Iterable[str]) -> str:
    return next((row[field] for field in fields if isinstance(row.get(field), str)), "")


def _nugget(key: Any, entry: Any, place: str, problems: list[Problem]) -> Nugget | None:
    """The nugget of an entry; None, and a problem, if the entry is not a nugget."""
    if not isinstance(entry, Mapping):
        problems.append(problem("bad_item", place))
        return None
    info = entry["info"] if isinstance(entry.get("info"), Mapping) else {}
    question = _first_text({**entry, "key": key}, ("question_text", "question", "key"))
    if not question.strip():
        problems.append(problem("bad_item", place))
        return None
    given = next((entry[field] for field in _ANSWER_FIELDS if entry.get(field) is not None), None)
    if given is None:
        problems.append(problem("no_answers", place))
        return None
    aggregator = str({**entry, **info}.get("aggregator_type") or _AGGREGATORS[0]).rpartition(".")[2].upper()
    if aggregator not in _AGGREGATORS:
        problems.append(problem("bad_aggregator", place))
        aggregator = _AGGREGATORS[0]
    importance = {**entry, **info}.get("importance")
    return Nugget(
        question_id=id_text(entry.get("question_id")) or question,
        question=question,
        answers=tuple(_answers(given, place, problems)),
        aggregator=aggregator,
        importance=importance.strip().lower() if isinstance(importance, str) else "",
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
