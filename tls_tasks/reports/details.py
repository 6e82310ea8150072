"""One report's result, with everything that explains it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tls_tasks.core.score import Unit
from tls_tasks.reports.plan import Outcome, Pair, ReportPlan
from tls_tasks.reports.rows import ReportRow
from tls_tasks.reports.score import (
    COUNTS,
    RATIOS,
    UNDEFINED,
    NuggetUnit,
    Ratio,
    nugget_units,
    own_results,
    score_outcomes,
    unit_of,
    weight_of,
)
from tls_tasks.reports.types import Query, Verdict


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One report's numbers and what they were made from.

    Attributes:
        row: Its place among the predictions.
        request_id: The request.
        run_id: The run.
        unit: See :func:`~tls_tasks.reports.score.unit_of`.
        flags: What is special: ``empty_report``, ``no_nuggets``, ``parse_failure``, ``unjudged`` …
        problems: Kind of problem in the row -> how often.
        details: Makes what explains the numbers, ready for JSON.
    """

    row: int
    request_id: str
    run_id: str
    unit: Unit
    flags: tuple[str, ...] = ()
    problems: Mapping[str, int] = field(default_factory=dict)
    details: Callable[[], Mapping[str, Any]] = dict

    def values(self) -> dict[str, float]:
        """The report's own results."""
        return own_results(self.unit)

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "row": self.row,
            "request_id": self.request_id,
            "run_id": self.run_id,
            **self.values(),
            "n_unscored": self.unit["unscored_sentences"],
            "counts": {name: self.unit[name] for name in COUNTS},
            "ratios": {key: [self.unit[f"{key}_hits"], self.unit[f"{key}_of"]] for key in RATIOS},
            "flags": list(self.flags),
            "problems": dict(self.problems),
            **self.details(),
        }


def report_item(
    row: ReportRow, plan: ReportPlan, outcomes: Sequence[Outcome], recall_unit: str, answers: str
) -> ReportItem:
    """The result of a report whose sentences have come out of the tree."""
    ratios, counts = score_outcomes(outcomes, row.request.nuggets, recall_unit, answers)
    is_set = {
        "empty_report": not outcomes,
        "no_nuggets": not plan.pairs,
        "unknown_citations": counts["unknown_citations"] > 0,
        "unscored": counts["unscored_sentences"] > 0,
        "unjudged": 0 < counts["questions_asked"] == counts["questions_unanswered"],
    }
    flags = tuple(flag for flag in is_set if is_set[flag])
    details = partial(_details, row, plan, outcomes, answers)
    return ReportItem(row.row, *row.ids, unit_of(ratios, counts, flags), flags, row.problems, details)


def failed_item(row: ReportRow, recall_unit: str, answers: str, *, zero: bool = False) -> ReportItem:
    """The result of a text in which there is no report: 0 in everything that its request allows to score.

    ``zero`` marks the results of report_gen_eval, see :func:`~tls_tasks.reports.score.unit_of`.
    """
    wanted, questions = (nugget_units(row.request.nuggets, unit, answers) for unit in (recall_unit, "question"))
    ratios = {"recall": Ratio(0, len(wanted)), "precision": Ratio(0, 1)}
    if zero:  # that program has no other results
        ratios |= dict.fromkeys(RATIOS[2:], UNDEFINED)
    else:
        ratios |= {"sentence_support": Ratio(0, 1), "citation_support": Ratio(0, 1)}
        ratios |= {"nugget_coverage": Ratio(0, len(questions))}
        ratios |= {"nugget_coverage_weighted": Ratio(0, weight_of(questions))}
    counts = {**dict.fromkeys(COUNTS, 0), "total_nuggets": len(wanted)}
    flags = ("parse_failure",)
    return ReportItem(row.row, *row.ids, unit_of(ratios, counts, flags, zero=zero), flags, row.problems)


def _details(row: ReportRow, plan: ReportPlan, outcomes: Sequence[Outcome], answers: str) -> dict[str, Any]:
    matched = frozenset(pair for outcome in outcomes if outcome.earns_coverage for pair in outcome.matched)
    questions = nugget_units(row.request.nuggets, "question", answers)
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


def _question(unit: NuggetUnit, matched: frozenset[Pair]) -> dict[str, Any]:
    return {
        "question": unit.pairs[0].question,
        "answers": [pair.answer for pair in unit.pairs],
        "given": [pair.answer for pair in unit.pairs if pair in matched],
        "needs_all": unit.needs_all,
        "weight": unit.weight,
        "covered": unit.is_met(matched),
    }
