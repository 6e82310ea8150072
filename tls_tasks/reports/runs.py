"""Read files of reports with their requests after a run, and judge and score them.

The input is a file of reports and one of nuggets, or a samples log of the harness, which holds both.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Score, grouped
from tls_tasks.core.task import answer_text
from tls_tasks.data.files import read_objects, text_lines
from tls_tasks.data.rows_by_id import files_in, some
from tls_tasks.reports.citations import Citations
from tls_tasks.reports.json_lines import BadRow, Read, T
from tls_tasks.reports.nuggets import parse_request, read_requests
from tls_tasks.reports.read import read_reports
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.rows import resolved
from tls_tasks.reports.rubrics import as_rubric
from tls_tasks.reports.task import parse_answer, read_criteria, read_request, shown_documents
from tls_tasks.reports.types import Judge, Report, ReportRequest

_SAMPLE_FIELDS = {"doc_id", "documents", "nuggets", "limit", "collection_id"}
"""The fields that a document in a samples log must have."""


@dataclass(frozen=True, slots=True)
class ReportRun:
    """Reports that can be judged and scored.

    Attributes:
        reports: The reports, in the order of the file.
        requests: Each report's request; without nuggets if no row has them.
        documents: The documents of the prompts, request id -> id -> document; None for a file of reports.
        bad: Rows of the files, and parts of rows, that could not be read.
        unanswered: Run -> the requests without a report of this run.
        rubrics: The criteria of each report, None where it has none; None: nothing is asked about whole reports.
    """

    reports: tuple[Report, ...]
    requests: tuple[ReportRequest, ...]
    documents: Mapping[str, Mapping[str, Any]] | None
    bad: tuple[BadRow, ...] = ()
    unanswered: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    rubrics: Sequence[Any] | None = None


def read_run(reports: Path, nuggets: Path | None, rubrics: Path | None = None) -> ReportRun:
    """Read the reports of a run with their requests.

    Args:
        reports: Reports in JSON Lines (the forms of :mod:`tls_tasks.reports.read`), a folder of such files, or a
            samples log of the harness.
        nuggets: The requests with their nuggets (:mod:`tls_tasks.reports.nuggets`), in a file or a folder of files;
            None: ``reports`` is a samples log, which has its own.
        rubrics: Criteria of requests, JSON Lines; requests may then lack nuggets.

    Raises:
        DataError: A file that can't be read or holds no report, or nuggets that are missing.
    """
    if nuggets is None:
        return _read_samples(reports)
    answers, bad = _read_all(read_reports, reports, lambda report: (report.run_id, report.request_id), "report")
    rows = read_objects(rubrics) if rubrics else ()
    named = [(parse_request(row, has_rubric=True).value, as_rubric(row, source)) for source, row in rows]
    criteria = {request.request_id: row for request, row in reversed(named) if request}  # the first row counts
    read = partial(read_requests, has_rubric=rubrics is not None)
    all_requests, bad_nuggets = _read_all(read, nuggets, lambda request: request.request_id, "request")
    by_id = {request.request_id: request for request in all_requests}
    request_ids = list(dict.fromkeys(report.request_id for report in answers))
    for kind, path, names in (("rubrics", rubrics, criteria.keys()), ("nuggets", nuggets, by_id.keys())):
        if names and names.isdisjoint(request_ids):
            raise DataError(f"{path}: {kind} of {some([*names])}, but {reports} has reports of {some(request_ids)}")
    has_nuggets = any(request.by_sentence for request in all_requests)
    empty = {name: ReportRequest(name, by_sentence=has_nuggets) for name in request_ids}
    requests = tuple({**empty, **by_id}[report.request_id] for report in answers)
    answers = tuple(
        resolved(report, Citations(request.doc_ids)) if request.doc_ids else report
        for report, request in zip(answers, requests, strict=True)
    )
    answered = grouped([report.request_id for report in answers], [report.run_id for report in answers])
    missing = {str(run): tuple(name for name in by_id if name not in names) for run, names in answered.items()}
    unanswered = {run: names for run, names in missing.items() if names}
    report_rubrics = [criteria.get(report.request_id) for report in answers] if criteria else None
    return ReportRun(answers, requests, None, (*bad, *bad_nuggets), unanswered, report_rubrics)


def _read_all(read: Callable[[Iterable[str], str], Read[T]], path: Path, key: Callable[[T], Any], kind: str) -> Read[T]:
    """Read a file or all files of a folder; a key that stands in two files is refused."""
    values: dict[Any, T] = {}
    bad: list[BadRow] = []
    for file in files_in(path):
        rows, bad_rows = read(text_lines(file), str(file))
        bad += bad_rows
        for row in rows:
            if values.setdefault(key(row), row) is not row:
                raise DataError(f"{file}: {key(row)!r} stands in another file of {path}, too")
    if not values:
        raise DataError(f"{path}: no {kind} in it{f'; {bad[0]}' if bad else ''}")
    return tuple(values.values()), tuple(bad)


def score_run(run: ReportRun, judge: Judge, *, documents: Any = None, **options: Any) -> Score:
    """Judge and score a run; with a recording as the judge, no model is asked.

    Args:
        run: The run.
        judge: The judge.
        documents: See :func:`~tls_tasks.reports.report_eval.report_eval`; a samples log has its own.
        **options: Those of ``report_eval``.

    Raises:
        JudgeError: If the judge can't be used at all.
        InputError: As ``report_eval``.
    """
    find = documents if run.documents is None else run.documents
    return report_eval(run.reports, run.requests, find, judge, rubrics=run.rubrics, **options)


def _read_samples(path: Path) -> ReportRun:
    """Read a samples log of the harness, whose documents hold requests and documents."""
    samples: dict[str, tuple[Report, ReportRequest, Mapping[str, Any]]] = {}
    rubrics: list[Any] = []
    for source, sample in read_objects(path):
        doc = sample.get("doc")
        if "resps" not in sample or not isinstance(doc, dict) or not doc.keys() >= _SAMPLE_FIELDS:
            raise DataError(f"{source}: no sample of report_generation; a file of reports needs the nuggets file")
        request_id = str(doc["doc_id"])
        if request_id in samples:
            continue  # a log repeats a sample for each filter and each further answer
        report = parse_answer(answer_text(sample["resps"]), doc).value or Report(request_id, "")
        # Each request gets a collection, so that documents that its prompt did not show can't be cited.
        report = replace(report, run_id=path.stem, collection_ids=(request_id,))
        samples[request_id] = (report, read_request(doc), shown_documents(doc))
        rubrics.append(read_criteria(doc))
    if not samples:
        raise DataError(f"{path}: no report in it")
    reports, requests, documents = zip(*samples.values(), strict=True)
    documents_by_request = dict(zip(samples, documents, strict=True))
    return ReportRun(reports, requests, documents_by_request, rubrics=rubrics if any(rubrics) else None)
