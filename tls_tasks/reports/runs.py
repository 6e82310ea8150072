"""Runs of reports from files, and their scores: what ``tls-tasks judge`` and ``tls-tasks score`` work on.

A run is a file of reports with a file of nuggets, or a samples log of the harness's report task, which has both and the
documents that its prompts showed.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tls_tasks.core.answers import answer_text
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Score
from tls_tasks.data.files import json_values, text_lines
from tls_tasks.reports.files import BadRow
from tls_tasks.reports.nuggets import parse_request, read_requests
from tls_tasks.reports.read import read_reports
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.score import from_items
from tls_tasks.reports.task import NOBODY, parse_answer, read_judged, request_row, shown_documents
from tls_tasks.reports.types import Judge, Report, ReportRequest


@dataclass(frozen=True, slots=True)
class ReportRun:
    """Reports that can be judged and scored.

    Attributes:
        reports: In the order of the file.
        requests: For each report its request; without nuggets where there is no row for it.
        documents: What the prompts showed, request id -> id -> document; None for a file of reports.
        bad: Rows of the files that could not be taken as they stood.
        without_nuggets: Ids of requests for which there are no nuggets.
        judgments: Lines of a recording, where the log of the run has been judged already.
    """

    reports: tuple[Report, ...]
    requests: tuple[ReportRequest, ...]
    documents: Mapping[str, Mapping[str, Any]] | None
    bad: tuple[BadRow, ...]
    without_nuggets: tuple[str, ...]
    judgments: tuple[Mapping[str, Any], ...] = ()


def read_run(reports: Path, nuggets: Path | None) -> ReportRun:
    """Read a run.

    Args:
        reports: Reports in JSON Lines (the forms of :mod:`tls_tasks.reports.read`), or a samples log of the harness.
        nuggets: The requests with their nuggets (:mod:`tls_tasks.reports.nuggets`); not asked for with a samples log.

    Raises:
        DataError: A file that can't be read, that holds no report, or nuggets that are missing.
    """
    lines = list(text_lines(reports))
    if _is_samples_log(lines):
        return _of_samples(lines, reports)
    if nuggets is None:
        raise DataError(
            f"{reports}: reports without nuggets; name the nuggets file too (only a samples log has its own)"
        )
    found, bad = read_reports(lines, str(reports))
    if not found:
        raise DataError(f"{reports}: no report in it{f'; {bad[0]}' if bad else ''}")
    requests, bad_nuggets = read_requests(text_lines(nuggets), str(nuggets))
    by_id = {request.request_id: request for request in requests}
    lacking = dict.fromkeys(one.request_id for one in found if one.request_id not in by_id)
    return ReportRun(
        found,
        tuple(by_id.get(one.request_id, ReportRequest(one.request_id)) for one in found),
        None,
        (*bad, *bad_nuggets),
        tuple(lacking),
    )


def score_run(run: ReportRun, judge: Judge, *, documents: Any = None, batch_size: int = 0, **options: Any) -> Score:
    """Judge and score a run; with a recording as the judge nobody is asked.

    Args:
        run: The run.
        judge: Who judges.
        documents: See :func:`~tls_tasks.reports.report_eval.report_eval`; a samples log has its own.
        batch_size: Reports whose questions are put together; 0: all.
        **options: Those of ``report_eval``.

    Raises:
        JudgeError: If the judge can't be used at all.
        InputError: As ``report_eval``.
    """
    find = documents if run.documents is None else run.documents
    size = batch_size or len(run.reports)
    items: list[Any] = []
    for start in range(0, len(run.reports), size):
        rows = slice(start, start + size)
        part = report_eval(run.reports[rows], run.requests[rows], find, judge, **options)
        items += (replace(item, row=item.row + start) for item in part.items)
    return replace(part, **from_items(items))


def _is_samples_log(lines: Sequence[str]) -> bool:
    try:
        first = json.loads(next((line for line in lines if line.strip()), ""))
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and {"doc", "resps", "filtered_resps"} <= first.keys()


def _of_samples(lines: Sequence[str], path: Path) -> ReportRun:
    reports: dict[str, Report] = {}
    requests: list[ReportRequest] = []
    documents: dict[str, Mapping[str, Any]] = {}
    judgments: list[Mapping[str, Any]] = []
    for place, sample in _samples(lines, path):
        doc = sample["doc"]
        request_id = str(doc["doc_id"])
        if request_id in reports:
            continue  # the same answer under another filter, or a further repeat
        report = parse_answer(answer_text(sample["resps"]), doc).value or Report(request_id, "")
        # A request's documents are a collection of their own: what its prompt did not show can't be cited.
        reports[request_id] = replace(report, run_id=path.stem, collection_ids=(request_id,))
        request = parse_request(request_row(doc)).value
        if request is None:
            raise DataError(f"{place}: doc.nuggets is no row of nuggets")
        requests.append(request)
        documents[request_id] = shown_documents(doc)
        judged = read_judged(doc, answer_text(sample["filtered_resps"]))
        judgments += judged["judgments"] if judged["judge"] != NOBODY else []
    lacking = tuple(request.request_id for request in requests if not request.nuggets)
    return ReportRun(tuple(reports.values()), tuple(requests), documents, (), lacking, tuple(judgments))


def _samples(lines: Iterable[str], path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    wanted = ("doc_id", "documents", "nuggets", "limit", "collection_id")
    for place, sample in json_values(lines, str(path)):
        doc = sample.get("doc") if isinstance(sample, dict) else None
        if not isinstance(doc, dict) or not {"resps", "filtered_resps"} <= sample.keys():
            raise DataError(f"{place}: got no sample of the harness, expected doc, resps and filtered_resps")
        if lacking := [name for name in wanted if name not in doc]:
            raise DataError(f"{place}: doc has no {lacking[0]}: is it a samples log of report_generation?")
        yield place, sample
