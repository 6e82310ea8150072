"""Rows of reports and requests, in every form that a caller may have them.

Text in ``predictions`` comes from a model and never raises; everything else comes from the caller, and what does not
fit raises, naming row and field.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

from tls_tasks.core.errors import InputError, describe, warn_caller
from tls_tasks.core.parsed import Parsed, problem
from tls_tasks.core.rows import no_class, read_columns
from tls_tasks.data.keyed import some
from tls_tasks.reports import nuggets, read
from tls_tasks.reports.citations import Citations
from tls_tasks.reports.documents import shown_titles
from tls_tasks.reports.json_lines import with_keys
from tls_tasks.reports.types import Report, ReportRequest

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One prediction and its reference.

    Attributes:
        row: Its number.
        report: The report; None where a model's text has no report in it.
        request: What was asked for.
        raw_report: The report's row as it was given, for ``compat``; None as above.
        raw_nuggets: The rows of its nuggets as they were given.
        problems: Kind of problem in the report or its nuggets -> how often.
    """

    row: int
    report: Report | None
    request: ReportRequest
    raw_report: Any = None
    raw_nuggets: Sequence[Any] = ()
    problems: Mapping[str, int] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, str]:
        """The ids of the request and of the run."""
        request_id, run_id = (self.report.request_id, self.report.run_id) if self.report else ("", "")
        return request_id or self.request.request_id, run_id


def read_rows(
    predictions: Any, references: Any, documents: Any = None, *, limit: int | None = None, compat: bool = False
) -> list[ReportRow]:
    """Both columns row by row.

    Args:
        predictions: Reports, see :data:`~tls_tasks.reports.read.REPORT_FORMS`.
        references: Requests, see :data:`~tls_tasks.reports.nuggets.REQUEST_FORMS`.
        documents: Those that can be cited; text may cite them by number, see :func:`_answer`.
        limit: See :func:`~tls_tasks.reports.read.within_limit`.
        compat: Whether only rows are reports: a dict that is none doesn't raise, its ``report`` is None, as is that of
            prose.

    Raises:
        InputError: Not columns, columns of unequal length, or a row that does not fit.

    Example:
        >>> read_rows([{"sentences": []}], [{"query_id": 7, "items": []}])[0].request.request_id
        '7'
    """
    predictions, references = read_columns(is_row, predictions=predictions, references=references)
    pairs = zip(predictions, references, strict=True)
    return [_row(index, *pair, documents, limit, compat) for index, pair in enumerate(pairs)]


def for_each(field: str, given: Any, rows: Sequence[ReportRow], load: Callable[[Any, str], T]) -> list[T | None] | None:
    """What a column has for each report; None where there is none for it.

    Args:
        field: The column's name.
        given: The column, request id -> value, or None.
        rows: The reports.
        load: Reads a value; it is also told what errors call its place.

    Raises:
        InputError: No column, or one of another length; ids of requests that no report answers; a row of another
            request than the report's.
    """
    if given is None:
        return None
    ids, places = [row.ids[0] for row in rows], [f"{field}[{number}]" for number in range(len(rows))]
    if isinstance(given, Mapping):
        by_id = {str(name): own for name, own in given.items()}
        if lost := [name for name in by_id if name not in ids]:
            expected = f"ids of the reports' requests ({some([*dict.fromkeys(ids)])}), or a list with a row a report"
            raise InputError(field, None, f"the keys {some(lost)}", expected)
        given, places = [by_id.get(name) for name in ids], [f"{field}[{name!r}]" for name in ids]
    column = read_columns(predictions=[*rows], references=[*rows], **{field: given})[-1]
    for place, name, own in zip(places, ids, column, strict=True):
        fields = (*read.ID_FIELDS, *nuggets.RUBRIC_IDS) if isinstance(own, Mapping) else ()
        named = sorted({read.id_text(own.get(id_field)) for id_field in fields} - {""})
        if name and named and name not in named:
            raise InputError(place, None, f"a row of request {some(named)}", f"{name!r}, the report's request")
    # pandas has NaN for None
    return [None if own is None or own != own else load(own, place) for place, own in zip(places, column, strict=True)]


def check_row(row: Any, field: str, index: int) -> None:
    """Refuse a row that is not a report, or not a request."""
    if field == "references":
        _reference(row, index, "")
    elif not isinstance(row, str):
        _prediction(row, index, None, compat=False)


def is_row(mapping: Mapping[Any, Any]) -> bool:
    """Whether a mapping is a request rather than requests by name."""
    return not mapping.keys().isdisjoint((*read.ID_FIELDS, *nuggets.LIST_FIELDS))


def as_plain(value: Any) -> Any:
    """A report or a request as a row."""
    return value.as_row() if isinstance(value, Report | ReportRequest) else no_class(value)


def _row(index: int, prediction: Any, reference: Any, documents: Any, limit: int | None, compat: bool) -> ReportRow:
    raw, parsed = _prediction(prediction, index, limit, compat)
    request_id = parsed.value.request_id if parsed.value else ""
    raw_nuggets, requested = _reference(reference, index, request_id)
    request = requested.value or ReportRequest(request_id)
    if lost := [noted.detail for noted in requested.problems if noted.kind in nuggets.LOST]:
        told = f"references[{index}]: {len(lost)} nuggets or answers can't be read and are left out: {lost[0]}"
        warn_caller(told, UserWarning)
    if isinstance(prediction, str) and not compat:
        parsed = _answer(prediction, parsed, shown_titles(documents, request.doc_ids), limit)
    problems = [*parsed.problems, *requested.problems]
    got = expected = ""
    if request_id and request.request_id not in ("", request_id):
        got, expected = f"query_id {request.request_id!r}", f"{request_id!r}, the report's request_id"
    elif parsed.value and not request_id and len(raw_nuggets) > 1:
        got, expected = f"{len(raw_nuggets)} requests, and a report without request_id", "one"
    if got and not isinstance(prediction, str):
        raise InputError("references", index, got, expected)
    problems += [problem("other_request", got)] * bool(got)  # a model's slip
    return ReportRow(index, parsed.value, request, raw, raw_nuggets, Parsed(None, tuple(problems)).kinds())


def _answer(text: str, parsed: Parsed[Report], shown: Mapping[str, str], limit: int | None) -> Parsed[Report]:
    """A model's text, read as the task reads it.

    Args:
        text: The text.
        parsed: The row in it, if there is one. What its sentences have in ``citations`` counts; marks in their text do
            where none has any.
        shown: The documents of the prompt with their titles, in the order of their numbers.
        limit: See :func:`~tls_tasks.reports.read.within_limit`.
    """
    row, ids, titles = parsed.value, list(shown), list(shown.values())
    if row and any(sentence.citations for sentence in row.sentences):
        citations = Citations(ids, titles)
        named = [replace(sentence, citations=_named(sentence.citations, citations)) for sentence in row.sentences]
        return Parsed(replace(row, sentences=tuple(named)), parsed.problems) if shown else parsed
    answer = read.parse_report(text, ids, titles=titles, limit=limit)
    if row is None:
        return answer
    sentences = answer.value.sentences if answer.value else ()
    cites = any(sentence.citations for sentence in sentences)
    return Parsed(replace(row, sentences=sentences), answer.problems) if cites else parsed


def _named(cited: Sequence[str], citations: Citations) -> tuple[str, ...]:
    """The documents that are cited, by number too; what names none stays as it is."""
    ids = ((name,) if citations.is_known(name) else citations.ids(name.strip("[] ")) or (name,) for name in cited)
    return tuple(dict.fromkeys(chain.from_iterable(ids)))


def _prediction(row: Any, index: int, limit: int | None, compat: bool) -> tuple[Any, Parsed[Report]]:
    """The row as it was given, and the report in it."""
    if isinstance(row, Report):
        return row.as_row(), Parsed(replace(row, sentences=read.within_limit(row.sentences, limit)[0]))
    if isinstance(row, str):
        raw, problems = read.find_report_json(row)
        parsed: Parsed[Report] = (
            Parsed(None) if raw is None else read.parse_report_row(raw, limit=limit, of_a_model=True)
        )
        return raw, Parsed(parsed.value, (*problems, *parsed.problems))
    if not isinstance(row, Mapping):
        raise InputError("predictions", index, describe(row), read.REPORT_FORMS)
    parsed = read.parse_report_row(row, limit=limit)
    if parsed.value is None and not compat:
        raise InputError("predictions", index, f"{parsed.problems[0].detail} {with_keys(row)}", read.REPORT_FORMS)
    return row, parsed


def _reference(row: Any, index: int, request_id: str) -> tuple[list[Any], Parsed[ReportRequest]]:
    """The rows as they were given, and the request among them; None if no row of a list is for the report."""
    row = _loaded(row, index)
    rows = [_loaded(member, index) for member in row] if isinstance(row, list | tuple) else [row]
    fitting: Parsed[ReportRequest] = Parsed(None)
    for member in reversed(rows):  # the first that fits counts
        # One without nuggets is refused where it is asked about: see report_eval.
        own = isinstance(member, ReportRequest)
        parsed = Parsed(member) if own else nuggets.parse_request(member, has_rubric=True)
        if parsed.value is None:
            got = f"{parsed.problems[0].detail} {with_keys(member)}".rstrip()
            raise InputError("references", index, got, nuggets.REQUEST_FORMS)
        if member is row or request_id in ("", parsed.value.request_id):
            fitting = parsed
    return [member.as_row() if isinstance(member, ReportRequest) else member for member in rows], fitting


def _loaded(row: Any, index: int) -> Any:
    try:
        return json.loads(row) if isinstance(row, str) else row
    except (ValueError, RecursionError) as error:
        raise InputError("references", index, f"text that is not JSON: {error}", nuggets.REQUEST_FORMS) from error
