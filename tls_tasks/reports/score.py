"""Outcomes of sentences -> the numbers of a report, and of many reports.

Every number is a ratio of two counts; where the second is 0 it is undefined, and NaN. A ratio of a run is the mean of
its reports' defined ones (macro) or the ratio of the sums (micro); F1 is the mean of the reports' F1, or F1 of the two
micro ratios.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tls_tasks.core.intervals import Sums, bootstrap_results, total_of
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
"""What is counted of each report besides."""

AGGREGATES = ("macro", "micro")
WEIGHTS = {"vital": 2}
"""Importance -> weight of a question; anything else weighs 1."""

RECALL_UNITS = ("answer", "question", "item")
ANSWERS = ("as_given", "any", "all")


class Ratio(NamedTuple):
    """A ratio by its two counts; undefined where ``of`` is 0."""

    hits: int
    of: int


UNDEFINED = Ratio(0, 0)


class Unit(NamedTuple):
    """What coverage and recall count: a set of pairs, of which any or all must be given.

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


@dataclass(frozen=True, slots=True)
class ReportResult:
    """One report's numbers and what they were made from.

    Attributes:
        row: Its place among the predictions.
        request_id: The request.
        run_id: The run.
        ratios: Each of :data:`RATIOS`.
        counts: Each of :data:`COUNTS`.
        flags: What is special: ``empty_report``, ``no_nuggets``, ``parse_failure``, ``unjudged`` …
        problems: Kind of trouble in the row -> how often.
        zero: Whether recall and precision are 0 where they are undefined, as report_gen_eval has it.
        details: Makes what explains the numbers, ready for JSON.
    """

    row: int
    request_id: str
    run_id: str
    ratios: Mapping[str, Ratio]
    counts: Mapping[str, int]
    flags: tuple[str, ...] = ()
    problems: Mapping[str, int] = field(default_factory=dict)
    zero: bool = False
    details: Callable[[], Mapping[str, Any]] = dict

    def values(self) -> dict[str, float]:
        """The report's own results."""
        empty = {key: 0.0 if self.zero and key in ("recall", "precision") else math.nan for key in RATIOS}
        found = {key: ratio.hits / ratio.of if ratio.of else empty[key] for key, ratio in self.ratios.items()}
        return {**found, "f1": f1_of(self.ratios["sentence_support"], self.ratios["nugget_coverage"])}

    def sums(self) -> dict[str, float]:
        """What the results of many reports are made from: see :meth:`ReportScore.results`."""
        sums: dict[str, float] = {}
        for key, value in self.values().items():
            sums[f"{key}_sum"], sums[f"{key}_n"] = (0.0, 0.0) if math.isnan(value) else (value, 1.0)
        for key, ratio in self.ratios.items():
            sums[f"{key}_hits"], sums[f"{key}_of"] = ratio
        asked, unanswered = self.counts["questions_asked"], self.counts["questions_unanswered"]
        return {**sums, "questions_asked": asked, "questions_answered": asked - unanswered}

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return {
            "row": self.row,
            "request_id": self.request_id,
            "run_id": self.run_id,
            **self.values(),
            "n_unscored": self.counts["unscored_sentences"],
            "counts": dict(self.counts),
            "ratios": {key: list(ratio) for key, ratio in self.ratios.items()},
            "flags": list(self.flags),
            "problems": dict(self.problems),
            **self.details(),
        }


@dataclass(frozen=True, slots=True)
class ReportScore:
    """The numbers of many reports.

    Attributes:
        signature: How they were made.
        items: One a report.
        how: ``macro`` or ``micro``.
        zero: See :class:`ReportResult`.
        confidence: Options of :func:`~tls_tasks.core.intervals.bootstrap_results`, if ``<key>_ci`` are wanted.
    """

    signature: str
    items: tuple[ReportResult, ...]
    how: str = "macro"
    zero: bool = False
    confidence: Mapping[str, Any] | None = None

    @property
    def units(self) -> Sequence[Sums]:
        """Each report's sums."""
        return [item.sums() for item in self.items]

    @property
    def n_unscored(self) -> int:
        """How many sentences could not be scored, since a verdict is missing."""
        return self.counts()["unscored_sentences"]

    @property
    def parse_failures(self) -> int:
        """How many predictions could not be read at all."""
        return sum("parse_failure" in item.flags for item in self.items)

    @property
    def problems(self) -> Mapping[int, Mapping[str, int]]:
        """Row -> kind of trouble in it -> how often."""
        return {item.row: item.problems for item in self.items if item.problems}

    def results(self, totals: Sums) -> dict[str, float]:
        """The reported numbers of the totals of any units; NaN if questions were asked and none was answered."""
        if totals.get("questions_asked") and not totals["questions_answered"]:
            return dict.fromkeys(KEYS, math.nan)
        if self.how == "macro":
            return {key: _ratio(totals, f"{key}_sum", f"{key}_n", self._empty(key)) for key in KEYS}
        found = {key: _ratio(totals, f"{key}_hits", f"{key}_of", self._empty(key)) for key in RATIOS}
        support, coverage = (
            Ratio(int(totals.get(f"{key}_hits", 0)), int(totals.get(f"{key}_of", 0)))
            for key in ("sentence_support", "nugget_coverage")
        )
        return {**found, "f1": f1_of(support, coverage)}

    def counts(self) -> dict[str, int]:
        """The sums of :data:`COUNTS`, and how many reports there are, are empty and can't be judged."""
        flagged = {name: sum(flag in item.flags for item in self.items) for name, flag in _FLAG_COUNTS.items()}
        sums = {name: sum(item.counts[name] for item in self.items) for name in COUNTS}
        return {"reports": len(self.items), **flagged, **sums}

    def runs(self) -> dict[str, dict[str, float]]:
        """Each run's own results."""
        return {
            run: self.results(total_of([item.sums() for item in self.items if item.run_id == run]))
            for run in dict.fromkeys(item.run_id for item in self.items)
        }

    def as_dict(self, detailed: bool = False) -> dict[str, Any]:
        """The result as plain values; ``detailed`` adds runs, reports with their sentences, and what was wrong."""
        result: dict[str, Any] = self.results(total_of(self.units))
        if self.confidence is not None:
            found = bootstrap_results(self, **self.confidence)
            result |= {f"{key}_ci": list(found.get(key, (math.nan, math.nan))) for key in KEYS}
        result |= {
            "n_unscored": self.n_unscored,
            "parse_failures": self.parse_failures,
            "counts": self.counts(),
            "signature": self.signature,
        }
        if detailed:
            result["runs"] = self.runs()
            result["items"] = [item.as_dict() for item in self.items]
            result["problems"] = {row: dict(kinds) for row, kinds in self.problems.items()}
        return result

    def _empty(self, key: str) -> float:
        return 0.0 if self.zero and self.items and key in ("recall", "precision") else math.nan


_FLAG_COUNTS = {
    "empty_reports": "empty_report",
    "unjudged_reports": "unjudged",
    "reports_without_nuggets": "no_nuggets",
}


def f1_of(support: Ratio, coverage: Ratio) -> float:
    """Harmonic mean of two ratios, correctly rounded; 0 if both are 0, NaN if one is undefined.

    Example:
        >>> f1_of(Ratio(1, 1), Ratio(1, 2)), f1_of(Ratio(0, 1), Ratio(0, 2)), f1_of(Ratio(0, 0), Ratio(1, 2))
        (0.6666666666666666, 0.0, nan)
    """
    if not support.of or not coverage.of:
        return math.nan
    both = support.hits * coverage.of + coverage.hits * support.of
    return 2 * support.hits * coverage.hits / both if both else 0.0


def units_of(nuggets: Sequence[Nugget], unit: str, answers: str = "as_given") -> tuple[Unit, ...]:
    """What recall and coverage count.

    Args:
        nuggets: A request's nuggets; those without answers count for nothing.
        unit: ``answer``: each (question, answer) pair once; ``question``: each question once, with the answers of all
            its items; ``item``: each item of the file, but for repeated ones.
        answers: Whether a unit takes ``any`` or ``all`` of its answers, or what its nuggets say (``as_given``; of one
            question AND wins).

    Example:
        >>> from tls_tasks.reports.types import NuggetAnswer
        >>> nuggets = [Nugget("q", "q", tuple(map(NuggetAnswer, texts))) for texts in ("ab", "c")]
        >>> [len(units_of(nuggets, unit)) for unit in ("answer", "question", "item")]
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
    return tuple(_unit(key, members, answers) for key, members in groups.items())


def score_outcomes(
    outcomes: Sequence[Outcome], nuggets: Sequence[Nugget], recall_unit: str, answers: str
) -> tuple[dict[str, Ratio], dict[str, int]]:
    """The ratios and counts of one report.

    A report of whose questions none was answered has no numbers; one whose nugget questions were all left unanswered
    has neither recall nor coverage. Else a nugget that was not found counts as not found.
    """
    asked = [(query, verdict) for outcome in outcomes for query, verdict in outcome.verdicts]
    answered = [query for query, verdict in asked if verdict.value is not None]
    supports = [outcome.support for outcome in outcomes if outcome.support is not None]
    citations = [holds for outcome in outcomes for holds in outcome.citations.values() if holds is not None]
    scores = [outcome.score for outcome in outcomes]
    rewarded = sum(score is not None and score > 0 for score in scores)
    penalized = sum(score is not None and score < 0 for score in scores)
    recall, coverage = units_of(nuggets, recall_unit, answers), units_of(nuggets, "question", answers)
    found = frozenset(pair for outcome in outcomes if outcome.earns_recall for pair in outcome.matched)
    covered = frozenset(pair for outcome in outcomes if outcome.earns_coverage for pair in outcome.matched)
    ratios = {
        "recall": _met([unit._replace(weight=1) for unit in recall], found),
        "precision": Ratio(rewarded, rewarded + penalized),
        "sentence_support": Ratio(sum(supports), len(supports)),
        "citation_support": Ratio(sum(citations), len(citations)),
        "nugget_coverage": _met([unit._replace(weight=1) for unit in coverage], covered),
        "nugget_coverage_weighted": _met(coverage, covered),
    }
    for key in _unknowable(asked, answered):
        ratios[key] = UNDEFINED
    counts = {
        "sentences": len(outcomes),
        "rewarded_sentences": rewarded,
        "penalized_sentences": penalized,
        "unscored_sentences": scores.count(None),
        "unique_nuggets_matched": sum(unit.is_met(found) for unit in recall),
        "total_nuggets": len(recall),
        "unknown_citations": sum(len(outcome.unknown) for outcome in outcomes),
        "questions_asked": len(asked),
        "questions_unanswered": len(asked) - len(answered),
    }
    return ratios, counts


def _unknowable(asked: Sequence[tuple[Any, Any]], answered: Sequence[Any]) -> tuple[str, ...]:
    """The ratios that can't be known, since no question behind them was answered."""
    if asked and not answered:
        return RATIOS
    nuggets = "nugget_agreement"
    if any(query.kind == nuggets for query, _ in asked) and not any(query.kind == nuggets for query in answered):
        return ("recall", "nugget_coverage", "nugget_coverage_weighted")
    return ()


def _unit(key: Any, members: Sequence[Nugget], answers: str) -> Unit:
    if isinstance(key, Pair):
        pairs: Iterable[Pair] = [key]
    else:
        pairs = dict.fromkeys(Pair(nugget.question, answer.text) for nugget in members for answer in nugget.answers)
    given = any(nugget.aggregator == "AND" for nugget in members)
    needs_all = given if answers == "as_given" else answers == "all"
    return Unit(tuple(pairs), needs_all, max(WEIGHTS.get(nugget.importance, 1) for nugget in members))


def _met(units: Sequence[Unit], matched: frozenset[Pair]) -> Ratio:
    return Ratio(sum(unit.weight for unit in units if unit.is_met(matched)), sum(unit.weight for unit in units))


def _ratio(totals: Sums, hits: str, of: str, empty: float) -> float:
    return totals[hits] / totals[of] if totals.get(of) else empty
