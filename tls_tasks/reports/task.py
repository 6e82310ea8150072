"""The report task: answers -> judged answers -> units.

All answers are judged together, so that many questions are asked at a time, and a judged answer contains the verdicts:
a logged run is a recording. Scoring reads it and asks nobody.
"""

import json
import logging
import math
from collections.abc import Mapping, MutableMapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError, warn_caller, without_warnings
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.score import Results, Score, Unit, f_beta, mean, total
from tls_tasks.core.secrets import hide_headers
from tls_tasks.core.task import Doc, Task, answer_text
from tls_tasks.data.files import read_objects
from tls_tasks.reports.data import ALL_SETS, examples, load_documents, prompt, shorter
from tls_tasks.reports.documents import look_up, open_documents
from tls_tasks.reports.judges.choose import check_judge, make_judge
from tls_tasks.reports.judges.recordings import Recorded, record
from tls_tasks.reports.labels import Item, Items, Key, items_of, with_sources
from tls_tasks.reports.nuggets import parse_request
from tls_tasks.reports.picture import picture
from tls_tasks.reports.plan import Outcome, ReportPlan, Walk, walk_together
from tls_tasks.reports.read import parse_report
from tls_tasks.reports.report_eval import UnknownCitationsWarning, UnscoredWarning, report_eval
from tls_tasks.reports.rubrics import PROFILES, as_rubric, criteria_walk, rubric_table
from tls_tasks.reports.score import KEYS, RATIOS, macro, micro
from tls_tasks.reports.types import Judge, Query, Report, ReportRequest, Verdict

_log = logging.getLogger(__name__)

_NOBODY = "none"
"""The judge's name where nobody judges."""
_NO_JUDGE = """{}: no judge is named, so that every score will be NaN. To have the reports judged, type
  --metadata '{{"judge": {{"provider": "openai", "model": "MODEL"}}}}'
or run with --log_samples and judge them afterwards:
  tls-tasks reports --predictions SAMPLES.jsonl -o OUT -p openai -m MODEL"""


def _f1_of_ratios(support_of: float, support_hits: float, coverage_of: float, coverage_hits: float) -> float:
    return f_beta(support_hits / support_of, coverage_hits / coverage_of) if support_of and coverage_of else math.nan


_RESULTS = {
    **{key: macro(key) for key in KEYS},
    **{f"{key}_micro": micro(key) for key in RATIOS},
    "f1_micro": replace(micro("f1"), of=_f1_of_ratios),
    "n_unscored": total("unscored_sentences", better=False),
    "n_sentences": mean("n_sentences", better=None, bounded=False),
    "unknown_citations": total("unknown_citations", better=False),
    "parse_failures": total("parse_failures", better=False),
}
_OF_RUBRICS = {**rubric_table(PROFILES[0], ()), **{key: _RESULTS[key] for key in ("n_sentences", "parse_failures")}}
_RUBRIC_TASK = "report_rubric"


def rubric_of(doc: Doc) -> list[Any] | None:
    """The criteria that a report to the document's request is judged by, if there are some."""
    return json.loads(doc["rubrics"]) if doc.get("rubrics") else None


def _table_of(doc: Doc) -> Results:
    return _OF_RUBRICS if doc.get("rubrics") else _RESULTS


def _judge_answers(answers: Sequence[str], docs: Sequence[Doc]) -> list[str]:
    """Read the reports in all answers to a task and put the judge's questions about them.

    Args:
        answers: The model's answers, one a document.
        docs: The task's documents, whose ``judge`` says who judges.

    Returns:
        For each document JSON text: ``report`` (a row with ``sentences``), ``problems`` (kind -> how often), ``judge``
        (its name), ``judgments`` (lines of a recording) and, if the judge could not be used, ``judge_error``.

    Nothing is raised: an exception here would lose the answers of the whole run. Where the judge fails, its verdicts
    are missing, the log says why, and ``tls-tasks reports`` can ask again from the samples log.
    """
    parsed = [parse_answer(answer, doc) for answer, doc in zip(answers, docs, strict=True)]
    asker = _Asker()
    outcomes: list[tuple[Outcome, ...]] = [() for _ in docs]
    try:
        judge = make_judge(json.loads(docs[0]["judge"])) if docs else None
        if judge is not None:
            asker.judge, asker.name = judge, judge.name
            walks = [_walks(doc, answer.value) for doc, answer in zip(docs, parsed, strict=True)]
            outcomes = walk_together(walks, asker)
    except Exception as error:  # see above: the answers must survive, whatever it is
        asker.fail(error)
    return [json.dumps(_judged(*own, asker)) for own in zip(docs, parsed, outcomes, strict=True)]


def _walks(doc: Doc, report: Report | None) -> list[Walk[Outcome]]:
    request, nothing = request_of(doc), Report(str(doc["doc_id"]), "")
    if (rubric := rubric_of(doc)) is not None:
        return [criteria_walk(report, as_rubric(rubric, request.request_id), request, PROFILES[0])]
    return ReportPlan(report or nothing, request, look_up(shown_documents(doc))).walks()


def _read_judged(doc: Doc, text: str) -> dict[str, Any]:
    """What :func:`_judge_answers` wrote; for any other text the report in it, judged by nobody."""
    with suppress(ValueError, RecursionError):
        value = json.loads(text)
        if isinstance(value, dict) and {"report", "judge", "judgments"} <= value.keys():
            return value
    return _judged(doc, parse_answer(text, doc), (), _Asker())


@wraps(load_documents)  # it takes the same options
def _load(
    name: str, /, *, judge: Any = _NOBODY, provenance: MutableMapping[str, str] | None = None, **options: Any
) -> list[dict[str, Any]]:
    """The documents. A judge that can't work is refused before anything has been generated."""
    name_of_judge = check_judge(judge)
    if name_of_judge == _NOBODY:
        warn_caller(_NO_JUDGE.format(name), UnscoredWarning)
    hide_headers(judge)
    if provenance is not None:
        provenance["judge"] = name_of_judge
    return load_documents(name, judge=judge, provenance=provenance, **options)


def _target(doc: Doc) -> str:
    """The answers of the request's nuggets, each with the numbers of the documents that attest it."""
    numbers = {doc_id: str(number) for number, doc_id in enumerate(shown_documents(doc), start=1)}
    answers = [answer for nugget in request_of(doc).nuggets for answer in nugget.answers]
    marks = (", ".join(numbers[name] for name in answer.references if name in numbers) for answer in answers)
    return "\n".join(f"{answer.text} [{mark}]." for answer, mark in zip(answers, marks, strict=True))


def _unit(doc: Doc, answer: str) -> dict[str, float]:
    """The unit of a judged report; of one that nobody has judged only what can be counted."""
    judged = _read_judged(doc, answer)
    n_sentences = len(judged["report"]["sentences"]) if judged["report"] else 0
    unit: Unit = {"unscored_sentences": n_sentences, "criteria_unscored": len(rubric_of(doc) or ())}
    unit = unit if judged["judge"] == _NOBODY else _score(doc, judged).units[0]
    counts = {"n": 1, "n_sentences": n_sentences, "parse_failures": int(judged["report"] is None)}
    return {**unit, **counts, "unknown_citations": int(judged["problems"].get("unknown_citation", 0))}


def _scores(doc: Doc, answer: str) -> dict[str, Score]:
    return {"report_eval": _score(doc, _read_judged(doc, answer))}


def _score(doc: Doc, judged: Mapping[str, Any]) -> Score:
    report = "" if judged["report"] is None else judged["report"]  # no report in the answer: the worst score
    judge = Recorded(judged["judgments"], name=str(judged["judge"]))
    with without_warnings(UnscoredWarning, UnknownCitationsWarning):  # results count both for the whole run
        rubrics = None if (rubric := rubric_of(doc)) is None else [rubric]
        return report_eval([report], [_request_row(doc)], shown_documents(doc), judge, rubrics=rubrics)


class _Asker:
    """Passes questions on to the judge; if the judge fails, they are unscored and the reason is kept."""

    judge: Judge | None = None
    name = _NOBODY
    error = ""

    def ask(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """The judge's verdicts; once it has failed, unscored ones."""
        if self.judge is not None and not self.error:
            try:
                return self.judge.ask(queries)
            except Exception as error:  # whatever it is, it must not lose the answers
                self.fail(error)
        return [Verdict(None, "down")] * len(queries)

    def fail(self, error: Exception) -> None:
        """Keep the reason, and log it."""
        self.name, self.error = self.name if self.judge else "failed", f"{type(error).__name__}: {error}"
        message = "the judge can't be used, judge the answers from the samples log by `tls-tasks reports`: %s"
        _log.error(message, self.error, exc_info=not isinstance(error, ValueError | OSError))


def parse_answer(text: str, doc: Doc) -> Parsed[Report]:
    """The report in an answer to a document of the task."""
    documents, name = shown_documents(doc), str(doc["doc_id"])
    titles = [document["title"] for document in documents.values()]
    collections, limit = [doc["collection_id"]] if doc["collection_id"] else [], doc["limit"] or None
    return parse_report(text, list(documents), titles=titles, request_id=name, collection_ids=collections, limit=limit)


def _judged(doc: Doc, parsed: Parsed[Report], outcomes: Sequence[Outcome], asker: _Asker) -> dict[str, Any]:
    """What the samples log keeps of one report."""
    report = parsed.value.as_row() if parsed.value else None
    if parsed.value and doc.get("rubrics"):
        report = {**parsed.value.as_row(), "written": parsed.value.written}
    judgments = [record(*asked, asker.name) for outcome in outcomes for asked in outcome.verdicts]
    told: dict[str, Any] = {"report": report, "problems": parsed.counts(), "judge": asker.name, "judgments": judgments}
    if lost := parsed.lost():
        told["lost"] = lost
    return {**told, "judge_error": asker.error} if asker.error else told


def request_of(doc: Doc) -> ReportRequest:
    """The request of a document, with its nuggets."""
    request = parse_request(_request_row(doc), has_rubric=bool(doc.get("rubrics"))).value
    return request or ReportRequest(str(doc["doc_id"]))


def _request_row(doc: Doc) -> Any:
    """The request's row of nuggets, empty if it has no nuggets; with a rubric what was asked for."""
    if doc.get("rubrics"):
        asked = filter(None, (doc["title"], doc["background"], doc["problem_statement"]))
        return {"query_id": doc["doc_id"], "query_text": "\n".join(asked)}
    return json.loads(doc["nuggets"]) if doc["nuggets"] else {"query_id": doc["doc_id"], "items": []}


def shown_documents(doc: Doc) -> dict[str, dict[str, str]]:
    """The documents that the prompt showed by id; others can't be cited."""
    return {document["id"]: document for document in json.loads(doc["documents"])}


def read_items(path: Path, places: Sequence[str] = ()) -> Items:
    """The items that a judge was asked about.

    Args:
        path: ``results.jsonl`` of ``tls-tasks reports``, or ``verdicts.jsonl`` beside it; or a samples log of the
            harness.
        places: Files of the cited documents, see :func:`~tls_tasks.reports.documents.open_documents`; a samples log
            has its own.

    Raises:
        DataError: A file that can't be read, that has no item, or that has two reports of a run to a request.
    """
    place = path.with_name("results.jsonl") if path.name == "verdicts.jsonl" else path
    items: dict[Key, Item] = {}
    without_sources: dict[Key, Item] = {}
    for where, row in read_objects(place):
        try:
            if "filtered_resps" in row:
                (item,) = _scores(row["doc"], answer_text(row["filtered_resps"]))["report_eval"].items
                read = with_sources(dict(items_of(item.as_dict())), look_up(shown_documents(row["doc"])))
            else:
                read = dict(items_of(row))
                without_sources |= read
        except (LookupError, TypeError, AttributeError, json.JSONDecodeError) as error:  # of another task, or changed
            raise DataError(f"{where}: no judged report ({type(error).__name__}: {error})") from error
        if twice := read.keys() & items:
            raise DataError(f"{where}: got {min(twice)} twice, expected each report once")
        items |= read
    if not items:
        raise DataError(f"{place}: got none, expected citations, nuggets or criteria")
    if places:
        cited = {item.source for (kind, *_), item in without_sources.items() if kind == "citation"}
        items |= with_sources(without_sources, look_up(open_documents(places, cited)))
    return items


TASKS = {
    name: Task(name, "reports", _OF_RUBRICS if name == _RUBRIC_TASK else _RESULTS, _load, prompt, _target, _unit,
               _scores, picture, headline="rubric_score" if name == _RUBRIC_TASK else "f1", judge=_judge_answers,
               fewshot=examples, shorter=shorter, table_of=_table_of)
    for name in ALL_SETS
}  # fmt: skip
