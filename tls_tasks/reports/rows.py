"""Read the metric's columns: rows of reports and requests, in every form that callers have.

Text in ``predictions`` comes from a model and never raises. Everything else comes from the caller, and raises where it
does not fit, with the name of the field and the index of the row.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, TypeVar

from tls_tasks.core.errors import InputError, describe, warn_caller
from tls_tasks.core.parsed import Parsed, problem
from tls_tasks.core.rows import no_class, read_columns
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
        row: The index of the row.
        report: The report; None where a model's text has no report in it.
        request: The request.
        raw_report: The report's row before reading, for ``compat``; None as above.
        raw_nuggets: The rows of its nuggets before reading.
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
    """Read both columns row by row.

    Args:
        predictions: Reports, see :data:`~tls_tasks.reports.read.REPORT_FORMS`.
        references: Requests, see :data:`~tls_tasks.reports.nuggets.REQUEST_FORMS`.
        documents: The documents that can be cited; text may cite them by number, see :func:`_read_answer`.
        limit: See :func:`~tls_tasks.reports.read.within_limit`.
        compat: Whether only JSON rows are reports: then ``report`` is None for prose and for a dict that is no report,
            which raises otherwise.

    Raises:
        InputError: Not columns, columns of unequal length, or a row that does not fit.

    Example:
        >>> read_rows([{"sentences": []}], [{"query_id": 7, "items": []}])[0].request.request_id
        '7'
    """
    predictions, references = read_columns(predictions=predictions, references=references)
    pairs = zip(predictions, references, strict=True)
    return [_row(index, *pair, documents, limit, compat) for index, pair in enumerate(pairs)]


def check_row(row: Any, field: str, index: int) -> None:
    """Refuse a row that is not a report, or not a request."""
    if field == "references":
        _read_reference(row, index, "")
    elif not isinstance(row, str):
        _read_prediction(row, index, None, compat=False)


def to_plain(value: Any) -> Any:
    """Return a report or a request as a plain row, for storing; other values as they are."""
    return value.to_row() if isinstance(value, Report | ReportRequest) else no_class(value)


def _row(index: int, prediction: Any, reference: Any, documents: Any, limit: int | None, compat: bool) -> ReportRow:
    """Read one prediction with its reference."""
    raw, parsed = _read_prediction(prediction, index, limit, compat)
    request_id = parsed.value.request_id if parsed.value else ""
    raw_nuggets, requested = _read_reference(reference, index, request_id)
    request = requested.value or ReportRequest(request_id)
    if lost := [loss.detail for loss in requested.problems if loss.kind in nuggets.LOST]:
        message = f"references[{index}]: {len(lost)} nuggets or answers can't be read and are left out: {lost[0]}"
        warn_caller(message, UserWarning)
    if isinstance(prediction, str) and not compat:
        parsed = _read_answer(prediction, parsed, shown_titles(documents, request.doc_ids), limit)
    problems = [*parsed.problems, *requested.problems]
    got = expected = ""
    if request_id and request.request_id not in ("", request_id):
        got, expected = f"query_id {request.request_id!r}", f"{request_id!r}, the report's request_id"
    elif parsed.value and not request_id and len(raw_nuggets) > 1:
        got, expected = f"{len(raw_nuggets)} requests, and a report without request_id", "one"
    if got and not isinstance(prediction, str):
        raise InputError("references", index, got, expected)
    problems += [problem("other_request", got)] * bool(got)  # a model may write a wrong id
    return ReportRow(index, parsed.value, request, raw, raw_nuggets, Parsed(None, tuple(problems)).kinds())


def _read_answer(text: str, parsed: Parsed[Report], shown: Mapping[str, str], limit: int | None) -> Parsed[Report]:
    """Read a model's text as the task reads it.

    Args:
        text: The text.
        parsed: The JSON row in the text, if there is one. The ``citations`` of its sentences count; if all are empty,
            the marks in its text do.
        shown: The ids of the prompt's documents with their titles, in the order of their numbers.
        limit: See :func:`~tls_tasks.reports.read.within_limit`.
    """
    row, ids, titles = parsed.value, list(shown), list(shown.values())
    if row and any(sentence.citations for sentence in row.sentences):
        return Parsed(resolved(row, Citations(ids, titles)), parsed.problems) if shown else parsed
    answer = read.parse_report(text, ids, titles=titles, limit=limit)
    if row is None:
        return answer
    sentences = answer.value.sentences if answer.value else ()
    cites = any(sentence.citations for sentence in sentences)
    return Parsed(replace(row, sentences=sentences), answer.problems) if cites else parsed


def resolved(report: Report, citations: Citations) -> Report:
    """Return a report whose citations are ids, where it cites documents of a prompt by number or title."""
    sentences = (replace(sentence, citations=_resolve(sentence.citations, citations)) for sentence in report.sentences)
    return replace(report, sentences=tuple(sentences))


def _resolve(cited: Sequence[str], citations: Citations) -> tuple[str, ...]:
    """Return the ids of cited documents, which may be given by number or title; other names stay as they are."""
    ids = ((name,) if citations.is_known(name) else citations.ids(name.strip("[] ")) or (name,) for name in cited)
    return tuple(dict.fromkeys(chain.from_iterable(ids)))


def _read_prediction(row: Any, index: int, limit: int | None, compat: bool) -> tuple[Any, Parsed[Report]]:
    """Return the raw row of a prediction, and the report in it."""
    if isinstance(row, Report):
        return row.to_row(), Parsed(replace(row, sentences=read.within_limit(row.sentences, limit)[0]))
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


def _read_reference(row: Any, index: int, request_id: str) -> tuple[list[Any], Parsed[ReportRequest]]:
    """Return the raw rows of a reference, and the request for ``request_id`` among them, if there is one."""
    row = _parse_json(row, index)
    rows = [_parse_json(member, index) for member in row] if isinstance(row, list | tuple) else [row]
    fitting: Parsed[ReportRequest] = Parsed(None)
    for member in reversed(rows):  # the first that fits counts
        # A request without nuggets is refused in report_eval, unless there are rubrics.
        is_request = isinstance(member, ReportRequest)
        parsed = Parsed(member) if is_request else nuggets.parse_request(member, has_rubric=True)
        if parsed.value is None:
            got = f"{parsed.problems[0].detail} {with_keys(member)}".rstrip()
            raise InputError("references", index, got, nuggets.REQUEST_FORMS)
        if member is row or request_id in ("", parsed.value.request_id):
            fitting = parsed
    return [member.to_row() if isinstance(member, ReportRequest) else member for member in rows], fitting


def _parse_json(row: Any, index: int) -> Any:
    """Return a row that is JSON text as its value, and any other row as it is."""
    try:
        return json.loads(row) if isinstance(row, str) else row
    except (ValueError, RecursionError) as error:
        raise InputError("references", index, f"text that is not JSON: {error}", nuggets.REQUEST_FORMS) from error
