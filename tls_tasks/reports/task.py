"""The report task: judge the answers of a run, and score judged answers.

All answers are judged together, so that many questions are asked at a time. A judged answer contains the verdicts, so a
logged run is a recording, from which scores are computed without a judge.
"""

import json
import logging
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any

from tls_tasks.core.errors import warn_caller, without_warnings
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.score import Results, Score, Unit, mean, total
from tls_tasks.core.task import Doc, Task
from tls_tasks.reports.data import ALL_SETS, examples, load_documents, prompt, shorter
from tls_tasks.reports.documents import make_lookup
from tls_tasks.reports.judges.choose import check_judge, make_judge
from tls_tasks.reports.judges.recordings import Recorded, recorded_row
from tls_tasks.reports.nuggets import parse_request
from tls_tasks.reports.picture import picture
from tls_tasks.reports.plan import Outcome, ReportPlan, Walk, walk_together
from tls_tasks.reports.read import parse_report
from tls_tasks.reports.report_eval import UnscoredWarning, report_eval
from tls_tasks.reports.rubrics import as_rubric, criteria_walk, rubric_table
from tls_tasks.reports.score import KEYS, macro, micro
from tls_tasks.reports.types import Report, ReportRequest

_log = logging.getLogger(__name__)

_NO_JUDGE_NAME = "none"
"""The judge's name where there is no judge."""
_NO_JUDGE_WARNING = """{}: no judge is named, so that every score will be NaN. To have the reports judged, type
  --metadata '{{"judge": {{"provider": "openai", "model": "MODEL"}}}}'
or run with --log_samples and judge them afterwards:
  tls-tasks reports --predictions SAMPLES.jsonl -o OUT -p openai -m MODEL"""


_RESULTS = {
    **{key: macro(key) for key in KEYS},
    **{f"{key}_micro": micro(key) for key in KEYS},
    "n_unscored": total("unscored_sentences", better=False),
    "n_sentences": mean("n_sentences", better=None, bounded=False),
    "unknown_citations": total("unknown_citations", better=False),
    "parse_failures": total("parse_failures", better=False),
}
_RUBRIC_RESULTS = {**rubric_table(), **{key: _RESULTS[key] for key in ("n_sentences", "parse_failures")}}
_RUBRIC_TASK = "report_rubric"


def read_criteria(doc: Doc) -> list[Any] | None:
    """Return the criteria that reports to the document's request are judged by; None if there are none."""
    return json.loads(doc["rubrics"]) if doc.get("rubrics") else None


def _document_table(doc: Doc) -> Results:
    """Return the table of results for the document: with a rubric, or with nuggets."""
    return _RUBRIC_RESULTS if doc.get("rubrics") else _RESULTS


def _judge_answers(answers: Sequence[str], docs: Sequence[Doc]) -> list[str]:
    """Read the reports in all answers to a task, and ask the judge about them.

    Args:
        answers: The model's answers, one a document.
        docs: The task's documents, whose ``judge`` specifies the judge.

    Returns:
        For each document JSON text: ``report`` (a row with ``sentences``), ``problems`` (kind -> how often), ``judge``
        (its name), ``judgments`` (lines of a recording) and, if the judge could not be used, ``judge_error``.

    Nothing is raised, since an exception here would lose the answers of the whole run. Where the judge fails, there is
    no verdict, a log message gives the error, and ``tls-tasks reports`` can judge the samples log later.
    """
    parsed = [parse_answer(answer, doc) for answer, doc in zip(answers, docs, strict=True)]
    outcomes: list[tuple[Outcome, ...]] = [() for _ in docs]
    name, failure = _NO_JUDGE_NAME, ""
    try:
        judge = make_judge(json.loads(docs[0]["judge"])) if docs else None
        if judge is not None:
            name = judge.name
            walks = [_walks(doc, answer.value) for doc, answer in zip(docs, parsed, strict=True)]
            outcomes = walk_together(walks, judge)
    except Exception as error:  # the answers must survive whatever a judge raises
        name, failure = "failed" if name == _NO_JUDGE_NAME else name, f"{type(error).__name__}: {error}"
        message = "the judge can't be used, judge the answers from the samples log by `tls-tasks reports`: %s"
        _log.error(message, failure, exc_info=not isinstance(error, ValueError | OSError))
    return [json.dumps(_log_record(*logged, name, failure)) for logged in zip(docs, parsed, outcomes, strict=True)]


def _walks(doc: Doc, report: Report | None) -> list[Walk[Outcome]]:
    """Return the walks of one report: through its criteria, or of its sentences through the decision tree."""
    request, empty = read_request(doc), Report(str(doc["doc_id"]), "")
    if (rubric := read_criteria(doc)) is not None:
        return [criteria_walk(report, as_rubric(rubric, request.request_id), request)]
    return ReportPlan(report or empty, request, make_lookup(shown_documents(doc))).walks()


def _parse_judged(doc: Doc, text: str) -> dict[str, Any]:
    """Read the text of :func:`_judge_answers`; any other text is read as a report without a judge."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict) and {"report", "judge", "judgments"} <= value.keys():
            return value
    return _log_record(doc, parse_answer(text, doc), (), _NO_JUDGE_NAME)


@wraps(load_documents)  # for its signature: both take the same options
def _load(
    name: str, /, *, judge: Any = _NO_JUDGE_NAME, provenance: MutableMapping[str, str] | None = None, **options: Any
) -> list[dict[str, Any]]:
    """Load the documents; a judge that can't work is refused before anything is generated."""
    judge_name = check_judge(judge)
    if judge_name == _NO_JUDGE_NAME:
        warn_caller(_NO_JUDGE_WARNING.format(name), UnscoredWarning)
    if provenance is not None:
        provenance["judge"] = judge_name
    return load_documents(name, judge=judge, provenance=provenance, **options)


def _target(doc: Doc) -> str:
    """Return the answers of the request's nuggets, each with the numbers of its documents, line by line."""
    numbers = {doc_id: str(number) for number, doc_id in enumerate(shown_documents(doc), start=1)}
    answers = [answer for nugget in read_request(doc).nuggets for answer in nugget.answers]
    marks = (", ".join(numbers[name] for name in answer.references if name in numbers) for answer in answers)
    return "\n".join(f"{answer.text} [{mark}]." for answer, mark in zip(answers, marks, strict=True))


def _unit(doc: Doc, answer: str) -> dict[str, float]:
    """Build the unit of a judged report; without a judge it has nothing but counts."""
    judged = _parse_judged(doc, answer)
    n_sentences = len(judged["report"]["sentences"]) if judged["report"] else 0
    unit: Unit = {"unscored_sentences": n_sentences, "criteria_unscored": len(read_criteria(doc) or ())}
    unit = unit if judged["judge"] == _NO_JUDGE_NAME else _score(doc, judged).units[0]
    counts = {"n": 1, "n_sentences": n_sentences, "parse_failures": int(judged["report"] is None)}
    return {**unit, **counts, "unknown_citations": int(judged["problems"].get("unknown_citation", 0))}


def _scores(doc: Doc, answer: str) -> dict[str, Score]:
    """Return the score of one judged answer, by metric."""
    return {"report_eval": _score(doc, _parse_judged(doc, answer))}


def _score(doc: Doc, judged: Mapping[str, Any]) -> Score:
    """Score one judged report with the verdicts that its log holds."""
    report = "" if judged["report"] is None else judged["report"]  # an answer without a report gets the worst score
    judge = Recorded(judged["judgments"], name=str(judged["judge"]))
    with without_warnings(UnscoredWarning):  # the results of the run count unscored sentences
        rubrics = None if (rubric := read_criteria(doc)) is None else [rubric]
        return report_eval([report], [_request_row(doc)], shown_documents(doc), judge, rubrics=rubrics)


def parse_answer(text: str, doc: Doc) -> Parsed[Report]:
    """Read the report in an answer to a document of the task."""
    documents, name = shown_documents(doc), str(doc["doc_id"])
    titles = [document["title"] for document in documents.values()]
    collections, limit = [doc["collection_id"]] if doc["collection_id"] else [], doc["limit"] or None
    return parse_report(text, list(documents), titles=titles, request_id=name, collection_ids=collections, limit=limit)


def _log_record(
    doc: Doc, parsed: Parsed[Report], outcomes: Sequence[Outcome], judge: str, failure: str = ""
) -> dict[str, Any]:
    """Return the report, its problems and its judgments, as the samples log stores them."""
    report = parsed.value.to_row() if parsed.value else None
    if parsed.value and doc.get("rubrics"):
        report = {**parsed.value.to_row(), "written": parsed.value.written}
    judgments = [recorded_row(*judgment, judge) for outcome in outcomes for judgment in outcome.verdicts]
    fields: dict[str, Any] = {"report": report, "problems": parsed.counts(), "judge": judge, "judgments": judgments}
    if lost := parsed.lost():
        fields["lost"] = lost
    return {**fields, "judge_error": failure} if failure else fields


def read_request(doc: Doc) -> ReportRequest:
    """Return the request of a document, with its nuggets."""
    request = parse_request(_request_row(doc), has_rubric=bool(doc.get("rubrics"))).value
    return request or ReportRequest(str(doc["doc_id"]))


def _request_row(doc: Doc) -> Any:
    """Return the request's row of nuggets, empty if it has none; with a rubric the text of the request."""
    if doc.get("rubrics"):
        texts = filter(None, (doc["title"], doc["background"], doc["problem_statement"]))
        return {"query_id": doc["doc_id"], "query_text": "\n".join(texts)}
    return json.loads(doc["nuggets"]) if doc["nuggets"] else {"query_id": doc["doc_id"], "items": []}


def shown_documents(doc: Doc) -> dict[str, dict[str, str]]:
    """Return the documents that the prompt showed, by id; no other document can be cited."""
    return {document["id"]: document for document in json.loads(doc["documents"])}


TASKS = {
    name: Task(name, "reports", _RUBRIC_RESULTS if name == _RUBRIC_TASK else _RESULTS, _load, prompt, _target, _unit,
               _scores, picture, headline="rubric_score" if name == _RUBRIC_TASK else "f1", judge=_judge_answers,
               fewshot=examples, shorter=shorter, get_table=_document_table)
    for name in ALL_SETS
}  # fmt: skip
