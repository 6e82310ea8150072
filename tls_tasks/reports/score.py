"""Outcomes of sentences -> a report's unit, and the results that are made of units.

Every result of one report is a ratio of two counts, undefined where the second is 0, but for F1, the harmonic mean of
two of them. A result of many reports is the mean of the defined ones (macro), or the ratio of the sums (micro).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from tls_tasks.core.score import Result, Score, Unit, grouped, ratio, total, values
from tls_tasks.reports.plan import Outcome, Pair
from tls_tasks.reports.types import Nugget

RATIOS = (
    "recall",  # nuggets that rewarded sentences give / nuggets
    "precision",  # rewarded sentences / rewarded and penalised ones
    "sentence_support",  # sentences whose every citation holds / sentences that cite or need a citation
    "citation_support",  # citations that hold / citations
    "nugget_coverage",  # questions answered / questions
    "nugget_coverage_weighted",  # the same by weight
)
KEYS = (*RATIOS, "f1")
"""The results; ``f1`` is the harmonic mean of sentence_support and nugget_coverage."""

COUNTS = (
    "sentences",
    "rewarded_sentences",
    "penalized_sentences",
    "unscored_sentences",
    "unique_nuggets_matched",
    "total_nuggets",
    "unknown_citations",
    "questions_asked",
    "questions_unanswered",
)
"""What else is counted of each report."""

_FLAG_COUNTS = {
    "empty_reports": "empty_report",
    "unjudged_reports": "unjudged",
    "reports_without_nuggets": "no_nuggets",
    "parse_failures": "parse_failure",
}
"""Part of a unit -> the flag of a report that makes it 1."""

AGGREGATES = ("macro", "micro")
RECALL_UNITS = ("answer", "question", "item")
ANSWERS = ("as_given", "any", "all")

_WEIGHTS = {"vital": 2}
"""Importance -> weight of a question; anything else weighs 1."""


class Ratio(NamedTuple):
    """A ratio by its two counts; undefined where ``of`` is 0."""

    hits: int
    of: int


UNDEFINED = Ratio(0, 0)


# --- what a report adds, and what the sums give


def unit_of(
    ratios: Mapping[str, Ratio], counts: Mapping[str, int], flags: Sequence[str], *, zero: bool = False
) -> dict[str, float]:
    """The unit of one report.

    Args:
        ratios: Each of :data:`RATIOS`.
        counts: Each of :data:`COUNTS`.
        flags: What is special about the report.
        zero: Whether recall and precision are 0 where they are undefined, as in report_gen_eval.

    Returns:
        ``<key>_hits`` and ``<key>_of`` of each ratio; ``<key>_sum`` and ``<key>_n`` of each result, its value and 1, or
        0 and 0 where it is undefined; the counts; ``reports``, 1.
    """
    unit: dict[str, float] = {"reports": 1}
    of_support, of_coverage = ratios["sentence_support"], ratios["nugget_coverage"]
    own = {key: hits / of if of else _undefined(key, zero) for key, (hits, of) in ratios.items()}
    own["f1"] = _f1(of_support.of, of_support.hits, of_coverage.of, of_coverage.hits)
    for key, value in own.items():
        unit[f"{key}_sum"], unit[f"{key}_n"] = (0.0, 0) if math.isnan(value) else (value, 1)
    for key, (hits, of) in ratios.items():
        unit[f"{key}_hits"], unit[f"{key}_of"] = hits, of
    answered = counts["questions_asked"] - counts["questions_unanswered"]
    unit |= {part: int(flag in flags) for part, flag in _FLAG_COUNTS.items()}
    return {**unit, **counts, "questions_answered": answered}


def from_items(items: Sequence[Any]) -> dict[str, Any]:
    """What a :class:`~tls_tasks.core.score.Score` takes from its items."""
    return {
        "units": [item.unit for item in items],
        "items": items,
        "problems": {item.row: item.problems for item in items if item.problems},
        "parse_failures": sum(item.unit["parse_failures"] for item in items),
    }


def own_results(unit: Unit) -> dict[str, float]:
    """A report's own results; NaN where undefined."""
    return {key: unit[f"{key}_sum"] if unit[f"{key}_n"] else math.nan for key in KEYS}


def macro(key: str, *, is_mean: bool = False) -> Result:
    """The mean of the reports' defined values."""
    return ratio(f"{key}_sum", f"{key}_n", empty=math.nan, is_mean=is_mean)


def micro(key: str, zero: bool = False) -> Result:
    """The ratio of the sums."""
    if key == "f1":
        parts = ("sentence_support_of", "sentence_support_hits", "nugget_coverage_of", "nugget_coverage_hits")
        return Result(parts, _f1, math.nan)
    return replace(ratio(f"{key}_hits", f"{key}_of", empty=_undefined(key, zero)), empty=math.nan)


def results_table(aggregate: str, zero: bool = False) -> dict[str, Result]:
    """The results of ``report_eval``; NaN if questions were asked and none was answered."""
    table = {key: macro(key) if aggregate == "macro" else micro(key, zero) for key in KEYS}
    return {
        **{key: _judged(result) for key, result in table.items()},
        "n_unscored": total("unscored_sentences", better=False),
        "parse_failures": total("parse_failures", better=False),
    }


def counts_of(score: Score) -> dict[str, dict[str, float]]:
    """``counts``: the sums of :data:`COUNTS`, how many reports there are, are empty and can't be judged."""
    parts = ("reports", *(part for part in _FLAG_COUNTS if part != "parse_failures"), *COUNTS)
    sums = {part: math.fsum(unit.get(part, math.nan) for unit in score.units) for part in parts}
    return {"counts": {part: value if math.isnan(value) else int(value) for part, value in sums.items()}}


def runs_of(score: Score) -> dict[str, dict[str, dict[str, float]]]:
    """``runs``: each run's own results."""
    table = {key: score.table[key] for key in KEYS}
    runs = grouped(score.units, [item.run_id for item in score.items])
    return {"runs": {str(run): values(table, units) for run, units in runs.items()}}


def _undefined(key: str, zero: bool) -> float:
    return 0.0 if zero and key in ("recall", "precision") else math.nan


def _f1(support_of: float, support_hits: float, coverage_of: float, coverage_hits: float) -> float:
    """Harmonic mean of two ratios, correctly rounded; 0 if both are 0, NaN if one is undefined."""
    if not support_of or not coverage_of:
        return math.nan
    both = support_hits * coverage_of + coverage_hits * support_of
    return 2 * support_hits * coverage_hits / both if both else 0.0


def _judged(result: Result) -> Result:
    parts = ("questions_asked", "questions_answered", *result.parts)
    return replace(result, parts=parts, of=partial(_if_answered, result.of))


def _if_answered(of: Any, asked: float, answered: float, *sums: float) -> float:
    return math.nan if asked and not answered else float(of(*sums))


# --- what a report earns


class NuggetUnit(NamedTuple):
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


def nugget_units(nuggets: Sequence[Nugget], unit: str, answers: str = "as_given") -> tuple[NuggetUnit, ...]:
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
        >>> [len(nugget_units(nuggets, unit)) for unit in ("answer", "question", "item")]
        [3, 1, 2]
    """
    groups: dict[Any, list[Nugget]] = {}
    for nugget in nuggets:
        texts = tuple(dict.fromkeys(answer.text for answer in nugget.answers))
        if unit == "answer":
            for text in texts:
                groups.setdefault(Pair(nugget.question, text), []).append(nugget)
        elif texts:
            key = nugget.question if unit == "question" else (nugget.question, texts, nugget.aggregator)
            groups.setdefault(key, []).append(nugget)
    return tuple(_nugget_unit(key, members, answers) for key, members in groups.items())


def score_outcomes(
    outcomes: Sequence[Outcome], nuggets: Sequence[Nugget], recall_unit: str, answers: str
) -> tuple[dict[str, Ratio], dict[str, int]]:
    """The ratios and counts of one report.

    A report none of whose questions was answered has no numbers; one whose nugget questions were all left unanswered
    has neither recall nor coverage. Otherwise a nugget that was not found counts as not found.
    """
    asked = [(query, verdict) for outcome in outcomes for query, verdict in outcome.verdicts]
    answered = [query for query, verdict in asked if verdict.value is not None]
    supports = [outcome.support for outcome in outcomes if outcome.support is not None]
    citations = [holds for outcome in outcomes for holds in outcome.citations.values() if holds is not None]
    scores = [outcome.score for outcome in outcomes]
    rewarded = sum(score is not None and score > 0 for score in scores)
    penalized = sum(score is not None and score < 0 for score in scores)
    recall, coverage = nugget_units(nuggets, recall_unit, answers), nugget_units(nuggets, "question", answers)
    found = frozenset(pair for outcome in outcomes if outcome.earns_recall for pair in outcome.matched)
    n_found = sum(unit.is_met(found) for unit in recall)
    covered = frozenset(pair for outcome in outcomes if outcome.earns_coverage for pair in outcome.matched)
    met = [unit for unit in coverage if unit.is_met(covered)]
    ratios = {
        "recall": Ratio(n_found, len(recall)),
        "precision": Ratio(rewarded, rewarded + penalized),
        "sentence_support": Ratio(sum(supports), len(supports)),
        "citation_support": Ratio(sum(citations), len(citations)),
        "nugget_coverage": Ratio(len(met), len(coverage)),
        "nugget_coverage_weighted": Ratio(weight_of(met), weight_of(coverage)),
    }
    counts = {
        "sentences": len(outcomes),
        "rewarded_sentences": rewarded,
        "penalized_sentences": penalized,
        "unscored_sentences": scores.count(None),
        "unique_nuggets_matched": n_found,
        "total_nuggets": len(recall),
        "unknown_citations": sum(len(outcome.unknown) for outcome in outcomes),
        "questions_asked": len(asked),
        "questions_unanswered": len(asked) - len(answered),
    }
    return {**ratios, **dict.fromkeys(_unknowable(asked, answered), UNDEFINED)}, counts


def weight_of(units: Iterable[NuggetUnit]) -> int:
    """The sum of the weights."""
    return sum(unit.weight for unit in units)


def _unknowable(asked: Sequence[tuple[Any, Any]], answered: Sequence[Any]) -> tuple[str, ...]:
    """The ratios that can't be known, since no question behind them was answered."""
    if asked and not answered:
        return RATIOS
    nuggets = "nugget_agreement"
    if any(query.kind == nuggets for query, _ in asked) and not any(query.kind == nuggets for query in answered):
        return ("recall", "nugget_coverage", "nugget_coverage_weighted")
    return ()


def _nugget_unit(key: Any, members: Sequence[Nugget], answers: str) -> NuggetUnit:
    if isinstance(key, Pair):
        pairs: Iterable[Pair] = [key]
    else:
        pairs = dict.fromkeys(Pair(nugget.question, answer.text) for nugget in members for answer in nugget.answers)
    given = any(nugget.aggregator == "AND" for nugget in members)
    needs_all = given if answers == "as_given" else answers == "all"
    return NuggetUnit(tuple(pairs), needs_all, max(_WEIGHTS.get(nugget.importance, 1) for nugget in members))
