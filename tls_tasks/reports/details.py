"""One report's outcomes -> its result, with everything that explains it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from tls_tasks.reports.columns import ReportRow
from tls_tasks.reports.plan import Outcome, Pair, ReportPlan
from tls_tasks.reports.score import COUNTS, RATIOS, UNDEFINED, Ratio, ReportResult, Unit, score_outcomes, units_of
from tls_tasks.reports.types import Query, Verdict


def report_result(
    row: ReportRow, plan: ReportPlan, outcomes: Sequence[Outcome], recall_unit: str, answers: str
) -> ReportResult:
    """The result of a report whose sentences have come out of the tree."""
    ratios, counts = score_outcomes(outcomes, row.request.nuggets, recall_unit, answers)
    flags = {
        "empty_report": not outcomes,
        "no_nuggets": not plan.pairs,
        "unknown_citations": counts["unknown_citations"] > 0,
        "unscored": counts["unscored_sentences"] > 0,
        "unjudged": 0 < counts["questions_asked"] == counts["questions_unanswered"],
    }
    return ReportResult(
        row.row,
        *_ids(row),
        ratios=ratios,
        counts=counts,
        flags=tuple(name for name, is_set in flags.items() if is_set),
        problems=row.problems,
        details=partial(_details, row, plan, outcomes, answers),
    )


def failed_result(row: ReportRow, recall_unit: str, answers: str, *, zero: bool = False) -> ReportResult:
    """The result of a text in which there is no report: 0 in everything that its request allows to score.

    ``zero`` marks the program's results, see :class:`~tls_tasks.reports.score.ReportResult`.
    """
    wanted, questions = (units_of(row.request.nuggets, unit, answers) for unit in (recall_unit, "question"))
    ratios = {
        "recall": Ratio(0, len(wanted)),
        "precision": Ratio(0, 1),
        "sentence_support": Ratio(0, 1),
        "citation_support": Ratio(0, 1),
        "nugget_coverage": Ratio(0, len(questions)),
        "nugget_coverage_weighted": Ratio(0, sum(unit.weight for unit in questions)),
    }
    if zero:  # the program has no others
        ratios |= dict.fromkeys(RATIOS[2:], UNDEFINED)
    counts = {**dict.fromkeys(COUNTS, 0), "total_nuggets": len(wanted)}
    return ReportResult(row.row, *_ids(row), ratios, counts, ("parse_failure",), row.problems, zero)


def _ids(row: ReportRow) -> tuple[str, str]:
    report = row.report
    return (report.request_id if report else "") or row.request.request_id, report.run_id if report else ""


def _details(row: ReportRow, plan: ReportPlan, outcomes: Sequence[Outcome], answers: str) -> dict[str, Any]:
    matched = frozenset(pair for outcome in outcomes if outcome.earns_coverage for pair in outcome.matched)
    questions = units_of(row.request.nuggets, "question", answers)
    return {
        "scores": [outcome.score for outcome in outcomes],
        "unscored": [outcome.index for outcome in outcomes if outcome.score is None],
        "sentences": [_sentence(outcome, plan.pairs) for outcome in outcomes],
        "nuggets": [_question(unit, matched) for unit in questions],
    }


def _sentence(outcome: Outcome, question_ids: Mapping[Pair, str]) -> dict[str, Any]:
    return {
        "index": outcome.index,
        "text": outcome.text,
        "score": outcome.score,
        "path": list(outcome.path),
        "supported": outcome.support,
        "citations": [
            {"doc_id": doc_id, "supports": holds, "known": doc_id not in outcome.unknown}
            for doc_id, holds in outcome.citations.items()
        ],
        "matched": [{**pair._asdict(), "question_id": question_ids[pair]} for pair in outcome.matched],
        "verdicts": [_verdict(query, verdict) for query, verdict in outcome.verdicts],
    }


def _verdict(query: Query, verdict: Verdict) -> dict[str, Any]:
    """What was asked, without the sentence, which stands above, and the document, which is long; and the answer."""
    asked = {name: text for name, text in query.fields.items() if name not in ("sentence", "document", "previous")}
    about = {name: query.about[name] for name in ("doc_id", "question_id", "scope") if name in query.about}
    return {"kind": query.kind, **asked, **about, **verdict._asdict()}


def _question(unit: Unit, matched: frozenset[Pair]) -> dict[str, Any]:
    return {
        "question": unit.pairs[0].question,
        "answers": [pair.answer for pair in unit.pairs],
        "given": [pair.answer for pair in unit.pairs if pair in matched],
        "needs_all": unit.needs_all,
        "weight": unit.weight,
        "covered": unit.is_met(matched),
    }
