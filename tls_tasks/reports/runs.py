"""Runs of reports from files, and their scores: what ``tls-tasks reports`` works on.

A run is a file of reports with a file of nuggets, or a samples log of the harness's report task, which contains both
and the documents that its prompts showed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Score
from tls_tasks.core.task import answer_text
from tls_tasks.data.files import text_lines
from tls_tasks.data.keyed import files_in, some
from tls_tasks.reports.files import BadRow, read_objects
from tls_tasks.reports.nuggets import read_requests
from tls_tasks.reports.read import read_reports
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.score import from_items
from tls_tasks.reports.task import read_sample
from tls_tasks.reports.types import Judge, Report, ReportRequest

T = TypeVar("T")

_WANTED = {"doc_id", "documents", "nuggets", "limit", "collection_id"}
"""What a document in a samples log must have."""


@dataclass(frozen=True, slots=True)
class ReportRun:
    """Reports that can be judged and scored.

    Attributes:
        reports: In the order of the file.
        requests: Each report's request; without nuggets if there is no row for it.
        documents: What the prompts showed, request id -> id -> document; None for a file of reports.
        bad: Rows of the files, and parts of rows, that could not be read as they stood.
        unanswered: Run -> the requests that it has no report for.
    """

    reports: tuple[Report, ...]
    requests: tuple[ReportRequest, ...]
    documents: Mapping[str, Mapping[str, Any]] | None
    bad: tuple[BadRow, ...] = ()
    unanswered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_run(reports: Path, nuggets: Path | None) -> ReportRun:
    """Read a run.

    Args:
        reports: Reports in JSON Lines (the forms of :mod:`tls_tasks.reports.read`), a folder of such files, or a
            samples log of the harness.
        nuggets: The requests with their nuggets (:mod:`tls_tasks.reports.nuggets`), in a file or a folder of files;
            None: ``reports`` is a samples log, which has its own.

    Raises:
        DataError: A file that can't be read, that holds no report, or nuggets that are missing.
    """
    if nuggets is None:
        return _read_samples(reports)
    found, bad = _read_all(read_reports, reports, lambda report: (report.run_id, report.request_id))
    if not found:
        raise DataError(f"{reports}: no report in it{f'; {bad[0]}' if bad else ''}")
    requests, bad_nuggets = _read_all(read_requests, nuggets, lambda request: request.request_id)
    if not requests:
        raise DataError(f"{nuggets}: no request in it{f'; {bad_nuggets[0]}' if bad_nuggets else ''}")
    by_id = {request.request_id: request for request in requests}
    if by_id.keys().isdisjoint(report.request_id for report in found):
        wanted = some(list(dict.fromkeys(report.request_id for report in found)))
        raise DataError(f"{nuggets}: nuggets of {some(list(by_id))}, but {reports} has reports of {wanted}")
    asked = tuple(by_id.get(report.request_id, ReportRequest(report.request_id)) for report in found)
    return ReportRun(found, asked, None, (*bad, *bad_nuggets), _unanswered(found, by_id))


def _read_all(
    read: Callable[[Iterable[str], str], tuple[tuple[T, ...], tuple[BadRow, ...]]],
    place: Path,
    key: Callable[[T], Hashable],
) -> tuple[tuple[T, ...], tuple[BadRow, ...]]:
    """What is in a file, or in all files of a folder, as a run a file or the nuggets of a request a file."""
    values: dict[Hashable, T] = {}
    bad: list[BadRow] = []
    for file in files_in(place):
        found, own_bad = read(text_lines(file), str(file))
        bad += own_bad
        for value in found:
            if key(value) in values:
                raise DataError(f"{file}: {key(value)!r} stands in another file of {place}, too")
            values[key(value)] = value
    return tuple(values.values()), tuple(bad)


def _unanswered(reports: Iterable[Report], asked: Iterable[str]) -> dict[str, tuple[str, ...]]:
    runs: dict[str, set[str]] = {}
    for report in reports:
        runs.setdefault(report.run_id, set()).add(report.request_id)
    lacking = {run_id: tuple(name for name in asked if name not in answered) for run_id, answered in runs.items()}
    return {run_id: names for run_id, names in lacking.items() if names}


def score_run(run: ReportRun, judge: Judge, *, documents: Any = None, batch_size: int = 0, **options: Any) -> Score:
    """Judge and score a run; with a recording as the judge, nobody is asked.

    Args:
        run: The run.
        judge: The judge.
        documents: See :func:`~tls_tasks.reports.report_eval.report_eval`; a samples log has its own.
        batch_size: How many reports are judged at a time; 0: all.
        **options: Those of ``report_eval``.

    Raises:
        JudgeError: If the judge can't be used at all.
        InputError: As ``report_eval``.
    """
    find = documents if run.documents is None else run.documents
    size = batch_size if batch_size > 0 else len(run.reports)
    items: list[Any] = []
    for start in range(0, len(run.reports), size):
        rows = slice(start, start + size)
        part = report_eval(run.reports[rows], run.requests[rows], find, judge, **options)
        items += (replace(item, row=item.row + start) for item in part.items)
    return replace(part, **from_items(items))


def _read_samples(path: Path) -> ReportRun:
    reports: dict[str, Report] = {}
    requests: list[ReportRequest] = []
    documents: dict[str, Mapping[str, Any]] = {}
    for place, sample in read_objects(path):
        doc = sample.get("doc")
        if "resps" not in sample or not isinstance(doc, dict) or not doc.keys() >= _WANTED:
            raise DataError(f"{place}: no sample of report_generation; a file of reports needs the nuggets file")
        request_id = str(doc["doc_id"])
        if request_id in reports:
            continue  # the same answer under another filter, or a further repeat
        report, request, documents[request_id] = read_sample(doc, answer_text(sample["resps"]))
        # A request's documents are a collection of their own: what its prompt did not show can't be cited.
        reports[request_id] = replace(report, run_id=path.stem, collection_ids=(request_id,))
        requests.append(request)
    return ReportRun(tuple(reports.values()), tuple(requests), documents)
