"""Runs of reports from files, and their scores: what ``tls-tasks reports`` works on.

A run is a file of reports with a file of nuggets, or a samples log of the harness's report task, which contains both
and the documents that its prompts showed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Score
from tls_tasks.core.task import answer_text
from tls_tasks.data.files import text_lines
from tls_tasks.reports.files import BadRow, read_objects
from tls_tasks.reports.nuggets import read_requests
from tls_tasks.reports.read import read_reports
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.score import from_items
from tls_tasks.reports.task import read_sample
from tls_tasks.reports.types import Judge, Report, ReportRequest

_WANTED = {"doc_id", "documents", "nuggets", "limit", "collection_id"}
"""What a document in a samples log must have."""


@dataclass(frozen=True, slots=True)
class _ReportRun:
    """Reports that can be judged and scored.

    Attributes:
        reports: In the order of the file.
        requests: Each report's request; without nuggets if there is no row for it.
        documents: What the prompts showed, request id -> id -> document; None for a file of reports.
        bad: Rows of the files that could not be read as they stood.
    """

    reports: tuple[Report, ...]
    requests: tuple[ReportRequest, ...]
    documents: Mapping[str, Mapping[str, Any]] | None
    bad: tuple[BadRow, ...] = ()


def read_run(reports: Path, nuggets: Path | None) -> _ReportRun:
    """Read a run.

    Args:
        reports: Reports in JSON Lines (the forms of :mod:`tls_tasks.reports.read`), or a samples log of the harness.
        nuggets: The requests with their nuggets (:mod:`tls_tasks.reports.nuggets`); None: ``reports`` is a samples log,
            which has its own.

    Raises:
        DataError: A file that can't be read, that holds no report, or nuggets that are missing.
    """
    if nuggets is None:
        return _read_samples(reports)
    found, bad = read_reports(text_lines(reports), str(reports))
    if not found:
        raise DataError(f"{reports}: no report in it{f'; {bad[0]}' if bad else ''}")
    requests, bad_nuggets = read_requests(text_lines(nuggets), str(nuggets))
    by_id = {request.request_id: request for request in requests}
    asked = tuple(by_id.get(report.request_id, ReportRequest(report.request_id)) for report in found)
    return _ReportRun(found, asked, None, (*bad, *bad_nuggets))


def score_run(run: _ReportRun, judge: Judge, *, documents: Any = None, batch_size: int = 0, **options: Any) -> Score:
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


def _read_samples(path: Path) -> _ReportRun:
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
    return _ReportRun(tuple(reports.values()), tuple(requests), documents)
