"""Columns of reports and requests, in every form that a caller may have them.

Text in ``predictions`` comes from a model, and never raises; all else comes from the caller, and what doesn't fit
raises, naming row and field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.text_rows import describe
from tls_tasks.reports.nuggets import REQUEST_FORMS, parse_request, request_row
from tls_tasks.reports.read import REPORT_FORMS, find_report_json, parse_report_row, report_row, within_limit
from tls_tasks.reports.types import Report, ReportRequest


@dataclass(frozen=True, slots=True)
class ReportRow:
    """One prediction and its reference.

    Attributes:
        row: Its number.
        report: The report; None where a model's text holds none.
        request: What was asked for.
        raw_report: The report's row as it was given, for ``compat``; None as above.
        raw_nuggets: The rows of its nuggets as they were given.
        problems: Kind of trouble in the report or its nuggets -> how often.
    """

    row: int
    report: Report | None
    request: ReportRequest
    raw_report: Any = None
    raw_nuggets: Sequence[Any] = ()
    problems: Mapping[str, int] = field(default_factory=dict)


def read_columns(
    predictions: Any, references: Any, *, limit: int | None = None, strict: bool = True
) -> list[ReportRow]:
    """Both columns row by row.

    Args:
        predictions: Reports, see :data:`~tls_tasks.reports.read.REPORT_FORMS`.
        references: Requests, see :data:`~tls_tasks.reports.nuggets.REQUEST_FORMS`.
        limit: See :func:`~tls_tasks.reports.read.within_limit`.
        strict: Whether a dict that is no report raises; else its ``report`` is None.

    Raises:
        InputError: A column that is none, columns of unequal length, or a row that doesn't fit.

    Example:
        >>> read_columns([{"sentences": []}], [{"query_id": 7, "items": []}])[0].request.request_id
        '7'
        >>> read_columns([{"sentences": []}], [])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: references: got 0 rows, expected 1, as many as predictions
    """
    for name, column in (("predictions", predictions), ("references", references)):
        if (
            isinstance(column, str | bytes | Mapping)
            or not hasattr(column, "__len__")
            or not hasattr(column, "__iter__")
        ):
            raise InputError(name, None, describe(column), "a list with one row a report")
    if len(predictions) != len(references):
        raise InputError("references", None, f"{len(references)} rows", f"{len(predictions)}, as many as predictions")
    return [_row(index, *pair, limit, strict) for index, pair in enumerate(zip(predictions, references, strict=True))]


def pack_batch(predictions: Any, references: Any) -> dict[str, list[str]]:
    """Both columns with every row as JSON text, for tables that keep strings only.

    Raises:
        InputError: As :func:`read_columns`, or a row that JSON can't hold.

    Example:
        >>> pack_batch(["I am sorry."], [{"items": []}])
        {'predictions': ['"I am sorry."'], 'references': ['{"items": []}']}
    """
    read_columns(predictions, references)
    return {
        "predictions": [_packed(row, "predictions", index) for index, row in enumerate(predictions)],
        "references": [_packed(row, "references", index) for index, row in enumerate(references)],
    }


def unpack_batch(column: Iterable[str]) -> list[Any]:
    """A packed column, row by row.

    Example:
        >>> unpack_batch(['{"items": []}'])
        [{'items': []}]
    """
    return [json.loads(packed) for packed in column]


def _packed(row: Any, name: str, index: int) -> str:
    try:
        return json.dumps(row, default=_plain)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(name, index, f"a row that JSON can't hold: {error}", "texts, numbers, lists, dicts") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Report):
        return report_row(value)
    if isinstance(value, ReportRequest):
        return request_row(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _row(index: int, prediction: Any, reference: Any, limit: int | None, strict: bool) -> ReportRow:
    raw, parsed = _prediction(prediction, index, limit, strict)
    request_id = parsed.value.request_id if parsed.value else ""
    raw_nuggets, requested = _reference(reference, index, request_id)
    request = requested.value or ReportRequest(request_id)
    problems = [*parsed.problems, *requested.problems]
    if parsed.value and (trouble := _mismatch(request_id, request, raw_nuggets)):
        if not isinstance(prediction, str):
            raise InputError("references", index, *trouble)
        problems.append(problem("other_request", trouble[0]))  # a model's slip
    counts = Parsed(None, tuple(problems)).counts()
    return ReportRow(index, parsed.value, request, raw, raw_nuggets, counts)


def _prediction(row: Any, index: int, limit: int | None, strict: bool) -> tuple[Any, Parsed[Report]]:
    """The row as it was given, and the report in it."""
    if isinstance(row, Report):
        kept = row.sentences if limit is None else row.sentences[: within_limit(row.sentences, limit)]
        return report_row(row), Parsed(replace(row, sentences=kept))
    if isinstance(row, str):
        found, problems = find_report_json(row)
        parsed: Parsed[Report] = Parsed(None) if found is None else parse_report_row(found, limit=limit)
        return found, Parsed(parsed.value, (*problems, *parsed.problems))
    if not isinstance(row, Mapping):
        raise InputError("predictions", index, describe(row), REPORT_FORMS)
    parsed = parse_report_row(row, limit=limit)
    if parsed.value is None and strict:
        raise InputError("predictions", index, parsed.problems[0].detail, REPORT_FORMS)
    return row, parsed


def _reference(row: Any, index: int, request_id: str) -> tuple[list[Any], Parsed[ReportRequest]]:
    """The rows as they were given, and the request among them; no value where the list has none for the report."""
    loaded = _loaded(row, index)
    if isinstance(loaded, list | tuple):
        rows = [_loaded(one, index) for one in loaded]
        requests = [_request(one, index) for one in rows]
        fitting = [one for one in requests if one.value and (not request_id or one.value.request_id == request_id)]
        return [_plain_row(one) for one in rows], fitting[0] if fitting else Parsed(None)
    return [_plain_row(loaded)], _request(loaded, index)


def _mismatch(request_id: str, request: ReportRequest, rows: Sequence[Any]) -> tuple[str, str] | None:
    """What is there and what was expected, if it isn't clear that the request is the report's."""
    if not request_id:
        return (f"{len(rows)} requests, and a report without request_id", "one") if len(rows) > 1 else None
    if request.request_id not in ("", request_id):
        return f"query_id {request.request_id!r}", f"{request_id!r}, the report's request_id"
    return None


def _loaded(row: Any, index: int) -> Any:
    if not isinstance(row, str):
        return row
    try:
        return json.loads(row)
    except (ValueError, RecursionError) as error:
        raise InputError("references", index, f"text that is no JSON: {error}", REQUEST_FORMS) from error


def _request(row: Any, index: int) -> Parsed[ReportRequest]:
    if isinstance(row, ReportRequest):
        return Parsed(row)
    parsed = parse_request(row)
    if parsed.value is None:
        raise InputError("references", index, parsed.problems[0].detail, REQUEST_FORMS)
    return parsed


def _plain_row(row: Any) -> Any:
    return request_row(row) if isinstance(row, ReportRequest) else row
