"""Responses of the report task -> judged reports (a filter) -> the values that the harness aggregates.

The harness calls a filter once with all responses of a task, and whatever the filter returns is written into the
samples log. So the judge is asked there, by many questions at a time, and a logged run is a recording: scoring reads
what the log has and asks nobody.
"""

from __future__ import annotations

import json
import logging
import math
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tls_tasks.core.answers import answer_text
from tls_tasks.core.parsed import Parsed
from tls_tasks.reports.documents import look_up
from tls_tasks.reports.judges import Recorded
from tls_tasks.reports.judges.choose import make_judge
from tls_tasks.reports.judges.recordings import record
from tls_tasks.reports.nuggets import parse_request
from tls_tasks.reports.plan import Outcome, ReportPlan, judge_reports, plan_report
from tls_tasks.reports.read import report_row
from tls_tasks.reports.read_text import parse_report
from tls_tasks.reports.report_eval import UnscoredWarning, report_eval
from tls_tasks.reports.score import KEYS, RATIOS, UNDEFINED, Ratio, ReportResult, ReportScore
from tls_tasks.reports.types import Judge, Query, Report, ReportRequest, Verdict

_log = logging.getLogger(__name__)

COUNTS = ("n_unscored", "n_sentences", "unknown_citations", "parse_failures")
"""What is counted of each report besides the results."""

NOBODY = "none"
"""The judge's name where there is none."""


def judge_answers(responses: Iterable[Any], docs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Read the reports in all responses of a task and put the judge's questions about them.

    Args:
        responses: The model's answers, one a document.
        docs: The documents of :func:`tls_tasks.reports.data.load_report_task`; ``judge`` in them says who judges.

    Returns:
        For each document JSON text: ``report`` (a row with ``sentences``), ``problems`` (kind -> how often), ``judge``
        (its name), ``judgments`` (lines of a recording) and, if the judge could not be used, ``judge_error``.

    Nothing is raised: an exception here would lose the answers of the whole run. Where the judge fails, its verdicts
    are missing, the log says why, and ``tls-tasks judge`` can ask again from the samples log.
    """
    parsed = [parse_answer(answer_text([response]), doc) for response, doc in zip(responses, docs, strict=True)]
    asker = _Asker()
    judged: list[tuple[Outcome, ...]] = [() for _ in docs]
    try:
        asker.judge = make_judge(json.loads(docs[0]["judge"])) if docs else None
        if asker.judge is not None:
            plans = [_plan(one.value, doc) for one, doc in zip(parsed, docs, strict=True)]
            judged = judge_reports(plans, asker)
    except Exception as error:  # see above: the generations must survive whatever it is
        asker.fail(error)
    return [json.dumps(_judged(one, outcomes, asker)) for one, outcomes in zip(parsed, judged, strict=True)]


def process_report(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Score one judged report; asks nobody.

    Args:
        doc: With ``documents``, ``nuggets``, ``collection_id`` and ``doc_id``.
        results: What :func:`judge_answers` made of the answer, as its only element. Anything else is taken for an
            answer that nobody has judged.

    Returns:
        The results of ``report_eval`` (floats, NaN where undefined or not judged), ``<key>_micro`` (what
        :func:`~tls_tasks.hosts.aggregations.ratio_of_scored` folds), ``n_unscored`` (sentences), ``n_sentences``,
        ``unknown_citations`` and ``parse_failures`` (0 or 1). Without a judge every result is NaN.

    As in :func:`~tls_tasks.timelines.task.process_timeline` nothing is raised: should scoring fail, the results are
    NaN.
    """
    try:
        judged = read_judged(doc, answer_text(results))
        result = score_judged(doc, judged)
        return {**_ratios(result), **_counts(judged, result)}
    except Exception:  # nothing may cost the run, and NaN hides nothing
        _log.exception("report_eval could not score request %s: its values are NaN", doc.get("doc_id", "?"))
        return {**_ratios(None), **dict.fromkeys(COUNTS, math.nan)}


def result_keys() -> list[str]:
    """The keys of :func:`process_report`, which a task's ``metric_list`` must name one by one."""
    return [*_ratios(None), *COUNTS]


def read_judged(doc: Mapping[str, Any], text: str) -> dict[str, Any]:
    """What :func:`judge_answers` wrote; of any other text the report in it, judged by nobody."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict) and {"report", "judge", "judgments"} <= value.keys():
        return value
    return _judged(parse_answer(text, doc), (), _Asker())


def score_judged(doc: Mapping[str, Any], judged: Mapping[str, Any]) -> ReportResult | None:
    """The score of one judged report; None if nobody has judged it."""
    return None if judged["judge"] == NOBODY else _scored(doc, judged).items[0]


def explain(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Metric -> all that it has to say of one judged report; arguments as for :func:`process_report`.

    Raises:
        TlsTasksError: If the document can't be scored.
    """
    return {"report_eval": _scored(doc, read_judged(doc, answer_text(results))).as_dict(detailed=True)}


def _scored(doc: Mapping[str, Any], judged: Mapping[str, Any]) -> ReportScore:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnscoredWarning)  # counted for the whole run by a metric of its own
        return report_eval(
            ["" if judged["report"] is None else judged["report"]],  # no report in the answer: the worst score
            [request_row(doc)],
            documents=shown_documents(doc),
            judge=Recorded(judged["judgments"], name=str(judged["judge"])),
        )


class _Asker:
    """Stands between the questions and the judge: what the judge can't answer is unscored, and the reason is kept."""

    def __init__(self) -> None:
        self.judge: Judge | None = None
        self.error = ""

    @property
    def name(self) -> str:
        """The judge's name."""
        return NOBODY if self.judge is None else self.judge.name

    def ask(self, queries: Sequence[Query]) -> Sequence[Verdict]:
        """The judge's verdicts; after a failure none, without another try."""
        if self.judge is not None and not self.error:
            try:
                return self.judge.ask(queries)
            except Exception as error:  # whatever a judge raises must not cost the generations
                self.fail(error)
        return [Verdict(None, "down")] * len(queries)

    def fail(self, error: Exception) -> None:
        """Remember why, and say so."""
        self.error = f"{type(error).__name__}: {error}"
        _log.error(
            "the judge can't be used, its verdicts are missing (the answers are kept; judge them from the samples log "
            "by `tls-tasks judge`): %s",
            self.error,
            exc_info=not isinstance(error, ValueError | OSError),
        )


def parse_answer(text: str, doc: Mapping[str, Any]) -> Parsed[Report]:
    """The report in an answer to a document of the task."""
    return parse_report(
        text,
        [str(document["id"]) for document in json.loads(doc["documents"])],
        request_id=str(doc["doc_id"]),
        collection_ids=[doc["collection_id"]] if doc["collection_id"] else [],
        limit=doc["limit"] or None,
    )


def _judged(parsed: Parsed[Report], outcomes: Sequence[Outcome], asker: _Asker) -> dict[str, Any]:
    """What the samples log keeps of one report."""
    judgments = [record(query, verdict, asker.name) for outcome in outcomes for query, verdict in outcome.verdicts]
    return {
        "report": report_row(parsed.value) if parsed.value is not None else None,
        "problems": parsed.counts(),
        "judge": asker.name if asker.judge is not None or not asker.error else "failed",
        **({"judge_error": asker.error} if asker.error else {}),
        "judgments": judgments,
    }


def _plan(report: Report | None, doc: Mapping[str, Any]) -> ReportPlan:
    request = parse_request(request_row(doc)).value or ReportRequest(str(doc["doc_id"]))
    return plan_report(report or Report(str(doc["doc_id"]), ""), request, look_up(shown_documents(doc)))


def request_row(doc: Mapping[str, Any]) -> dict[str, Any]:
    """The request's row of nuggets, empty where there is none."""
    row: dict[str, Any] = json.loads(doc["nuggets"]) if doc["nuggets"] else {"query_id": doc["doc_id"], "items": []}
    return row


def shown_documents(doc: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """The documents that a prompt showed: what it did not show can't be cited."""
    return {document["id"]: document for document in json.loads(doc["documents"])}


def _ratios(result: ReportResult | None) -> dict[str, Any]:
    values: dict[str, Any] = dict(dict.fromkeys(KEYS, math.nan) if result is None else result.values())
    ratios = dict.fromkeys(RATIOS, UNDEFINED) if result is None else result.ratios
    for key in RATIOS:
        values[f"{key}_micro"] = _plain(ratios[key])
    support, coverage = _plain(ratios["sentence_support"]), _plain(ratios["nugget_coverage"])
    return {**values, "f1_micro": {"support": support, "coverage": coverage}}


def _counts(judged: Mapping[str, Any], result: ReportResult | None) -> dict[str, int]:
    n_sentences = len(judged["report"]["sentences"]) if judged["report"] else 0
    return {
        "n_unscored": n_sentences if result is None else result.counts["unscored_sentences"],
        "n_sentences": n_sentences,
        "unknown_citations": int(judged["problems"].get("unknown_citation", 0)),
        "parse_failures": int(judged["report"] is None),
    }


def _plain(ratio: Ratio) -> dict[str, int]:
    return {"hits": ratio.hits, "of": ratio.of}
