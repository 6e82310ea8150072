"""Outcomes of sentences -> a report's numbers, with everything that explains them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

from tls_tasks.core.score import Unit
from tls_tasks.reports.plan import Outcome, Pair, ReportPlan
from tls_tasks.reports.rows import ReportRow
from tls_tasks.reports.score import COUNTS, KEYS, RATIOS, UNDEFINED, Ratio, unit_of
from tls_tasks.reports.types import Nugget, Query, Verdict

RECALL_UNITS = ("answer", "question", "item")
ANSWERS = ("as_given", "any", "all")

_WEIGHTS = {"vital": 2}
"""Importance -> weight of a question; anything else weighs 1."""


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
        """The report's own results; NaN where undefined."""
        return {key: self.unit[f"{key}_sum"] if self.unit[f"{key}_n"] else math.nan for key in KEYS}

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


class _NuggetUnit(NamedTuple):
    """What coverage and recall count: pairs of question and answer, of which any or all must be given.

    Attributes:
        pairs: The pairs.
        needs_all: Whether all of them are asked for.
        weight: Its weight.
    """

    pairs: tuple[Pair, ...]
    needs_all: bool
    weight: int

    def is_met(self, matched: frozenset[Pair]) -> bool:
        """Whether the pairs that a report gives suffice."""
        return (all if self.needs_all else any)(pair in matched for pair in self.pairs)


def report_item(
    row: ReportRow, plan: ReportPlan, outcomes: Sequence[Outcome], recall_unit: str, answers: str
) -> ReportItem:
    """The result of a report whose sentences have come out of the tree.

    A report none of whose questions was answered has no numbers; one whose nugget questions were all left unanswered
    has neither recall nor coverage. Otherwise a nugget that was not found counts as not found.
    """
    wanted = _nugget_units(row.request.nuggets, recall_unit, answers)
    questions = _nugget_units(row.request.nuggets, "question", answers)
    earned = frozenset(pair for outcome in outcomes if outcome.earns_recall for pair in outcome.matched)
    covered = frozenset(pair for outcome in outcomes if outcome.earns_coverage for pair in outcome.matched)
    n_found = sum(unit.is_met(earned) for unit in wanted)
    supports = [outcome.support for outcome in outcomes if outcome.support is not None]
    citations = [holds for outcome in outcomes for holds in outcome.citations.values() if holds is not None]
    ratios = {
        "recall": (n_found, len(wanted)),
        "sentence_support": (sum(supports), len(supports)),
        "citation_support": (sum(citations), len(citations)),
        **_coverage([unit for unit in questions if unit.is_met(covered)], questions),
    }
    asked = [(query.kind, verdict.value is not None) for outcome in outcomes for query, verdict in outcome.verdicts]
    n_unanswered = sum(not is_answered for _, is_answered in asked)
    n_unknown = sum(len(outcome.unknown) for outcome in outcomes)
    scores = [outcome.score for outcome in outcomes]
    is_set = {
        "empty_report": not outcomes,
        "no_nuggets": not plan.pairs,
        "unknown_citations": n_unknown > 0,
        "unscored": None in scores,
        "unjudged": 0 < len(asked) == n_unanswered,
    }
    flags = tuple(flag for flag in is_set if is_set[flag])
    unit = unit_of(
        scores,
        {**ratios, **dict.fromkeys(_unknowable(asked), UNDEFINED)},
        flags,
        unique_nuggets_matched=n_found,
        total_nuggets=len(wanted),
        unknown_citations=n_unknown,
        questions_asked=len(asked),
        questions_unanswered=n_unanswered,
    )
    details = partial(_details, plan, outcomes, questions, covered)
    return ReportItem(row.row, *row.ids, unit, flags, row.problems, details)


def failed_item(row: ReportRow, recall_unit: str, answers: str, *, zero: bool = False) -> ReportItem:
    """The result of a text in which there is no report: 0 in everything that its request allows to score.

    ``zero`` marks the results of report_gen_eval, see :func:`~tls_tasks.reports.score.unit_of`.
    """
    wanted, questions = (_nugget_units(row.request.nuggets, unit, answers) for unit in (recall_unit, "question"))
    ratios = {"recall": (0, len(wanted)), "precision": (0, 1)}
    if not zero:  # that program has no other results
        ratios |= {"sentence_support": (0, 1), "citation_support": (0, 1), **_coverage([], questions)}
    flags = ("parse_failure",)
    unit = unit_of([], ratios, flags, zero=zero, total_nuggets=len(wanted))
    return ReportItem(row.row, *row.ids, unit, flags, row.problems)


def _nugget_units(nuggets: Sequence[Nugget], unit: str, answers: str) -> tuple[_NuggetUnit, ...]:
    """What recall and coverage count.

    Args:
        nuggets: A request's nuggets; those without answers count for nothing.
        unit: ``answer``: each (question, answer) pair once; ``question``: each question once, with the answers of all
            its items; ``item``: each item of the file, but for repeated ones.
        answers: Whether a unit takes ``any`` or ``all`` of its answers, or what its nuggets say (``as_given``; if
            several items of a question differ, AND wins).

    Example:
        >>> from tls_tasks.reports.types import NuggetAnswer
        >>> nuggets = [Nugget("q", "q", tuple(map(NuggetAnswer, texts))) for texts in ("ab", "c")]
        >>> [len(_nugget_units(nuggets, unit, "any")) for unit in ("answer", "question", "item")]
        [3, 1, 2]
    """
    groups: dict[Any, list[tuple[Nugget, Iterable[str]]]] = {}
    for nugget in nuggets:
        texts = tuple(dict.fromkeys(answer.text for answer in nugget.answers))
        if unit == "answer":
            for text in texts:
                groups.setdefault((nugget.question, text), []).append((nugget, [text]))
        elif texts:
            key = nugget.question if unit == "question" else (nugget.question, texts, nugget.aggregator)
            groups.setdefault(key, []).append((nugget, texts))
    return tuple(_nugget_unit(members, answers) for members in groups.values())


def _nugget_unit(members: Sequence[tuple[Nugget, Iterable[str]]], answers: str) -> _NuggetUnit:
    pairs = dict.fromkeys(Pair(nugget.question, text) for nugget, texts in members for text in texts)
    needs_all = answers == "all" or (answers == "as_given" and any(own.aggregator == "AND" for own, _ in members))
    return _NuggetUnit(tuple(pairs), needs_all, max(_WEIGHTS.get(nugget.importance, 1) for nugget, _ in members))


def _coverage(met: Sequence[_NuggetUnit], questions: Sequence[_NuggetUnit]) -> dict[str, Ratio]:
    weights = [sum(unit.weight for unit in units) for units in (met, questions)]
    return {"nugget_coverage": (len(met), len(questions)), "nugget_coverage_weighted": (weights[0], weights[1])}


def _unknowable(asked: Sequence[tuple[str, bool]]) -> tuple[str, ...]:
    """The ratios that can't be known, since no question behind them was answered."""
    if asked and not any(is_answered for _, is_answered in asked):
        return RATIOS
    of_nuggets = [is_answered for kind, is_answered in asked if kind == "nugget_agreement"]
    return ("recall", "nugget_coverage", "nugget_coverage_weighted") if of_nuggets and not any(of_nuggets) else ()


def _details(
    plan: ReportPlan, outcomes: Sequence[Outcome], questions: Sequence[_NuggetUnit], matched: frozenset[Pair]
) -> dict[str, Any]:
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


def _question(unit: _NuggetUnit, matched: frozenset[Pair]) -> dict[str, Any]:
    return {
        "question": unit.pairs[0].question,
        "answers": [pair.answer for pair in unit.pairs],
        "given": [pair.answer for pair in unit.pairs if pair in matched],
        "needs_all": unit.needs_all,
        "weight": unit.weight,
        "covered": unit.is_met(matched),
    }
