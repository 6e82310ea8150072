"""From the outcomes of sentences to a report's unit, and the results that are made of units.

Every result of one report is a ratio of two counts, undefined where the second is 0, but for F1, the harmonic mean of
two of them. A result of many reports is the mean of the defined ones (macro), or the ratio of the sums (micro).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

from tls_tasks.core.parsed import without_notes
from tls_tasks.core.score import Result, Score, Unit, grouped, ratio, total, values
from tls_tasks.core.terminal import shown
from tls_tasks.reports.plan import Outcome, Pair, ReportPlan
from tls_tasks.reports.rows import ReportRow
from tls_tasks.reports.types import Nugget, Query, Verdict

RATIOS = ("recall", "precision", "sentence_support", "citation_support", "nugget_coverage", "nugget_coverage_weighted")
"""Of each what is hit, and of how many:

- ``recall``: questions that rewarded sentences answer / questions, which are the nuggets.
- ``precision``: rewarded sentences / rewarded and penalised ones; undefined where the request has no nuggets.
- ``sentence_support``: sentences whose every citation holds / sentences that cite or need a citation.
- ``citation_support``: citations that hold / citations.
- ``nugget_coverage``: the same, also by sentences of which one citation holds; ``nugget_coverage_weighted``: by weight.
"""
KEYS = (*RATIOS, "f1")
"""The results; ``f1`` is the harmonic mean of sentence_support and nugget_coverage."""

COUNTS = (
    "sentences", "rewarded_sentences", "penalized_sentences", "unscored_sentences", "unique_nuggets_matched",
    "total_nuggets", "unknown_citations", "questions_asked", "questions_unanswered",
)  # fmt: skip
"""What else is counted of each report."""

_FLAGGED = {"empty_reports": "empty_report", "unjudged_reports": "unjudged", "reports_without_nuggets": "no_nuggets"}
"""Part of a unit -> the flag of a report that makes it 1."""

AGGREGATES = ("macro", "micro")

_F1_PARTS = ("sentence_support_of", "sentence_support_hits", "nugget_coverage_of", "nugget_coverage_hits")


Ratio = tuple[int, int]
"""A ratio by its two counts, what was hit and of how many; undefined where the second is 0."""

UNDEFINED: Ratio = (0, 0)


def unit_of(
    scores: Sequence[int | None], ratios: dict[str, Ratio], flags: Sequence[str], *, zero: bool = False, **counts: int
) -> dict[str, float]:
    """The unit of one report.

    Args:
        scores: The scores of its sentences; None where a sentence is unscored. They make up precision.
        ratios: The rest of :data:`RATIOS`; those that are not given are undefined.
        flags: What is special about the report.
        zero: Whether recall and precision are 0 where they are undefined, as in report_gen_eval.
        **counts: The rest of :data:`COUNTS`; 0 where not given.

    Returns:
        ``<key>_hits`` and ``<key>_of`` of each ratio; ``<key>_sum`` and ``<key>_n`` of each result, its value and 1, or
        0 and 0 where it is undefined; the counts; ``reports``, 1.
    """
    rewarded = sum((score or 0) > 0 for score in scores)
    penalized = sum((score or 0) < 0 for score in scores)
    known = {"precision": (rewarded, rewarded + penalized), **ratios}
    counted = dict.fromkeys(COUNTS, 0)
    unit: dict[str, float] = {"reports": 1, **counted, **counts, "sentences": len(scores)}
    unit |= {"rewarded_sentences": rewarded, "penalized_sentences": penalized}
    unit |= {"unscored_sentences": scores.count(None), "parse_failures": int("parse_failure" in flags)}
    unit["questions_answered"] = unit["questions_asked"] - unit["questions_unanswered"]
    for key in RATIOS:
        hits, of = unit[f"{key}_hits"], unit[f"{key}_of"] = known.get(key, UNDEFINED)
        add_value(unit, key, hits / of if of else _undefined(key, zero))
    add_value(unit, "f1", _f1(*(unit[part] for part in _F1_PARTS)))
    return {**unit, **{part: int(flag in flags) for part, flag in _FLAGGED.items()}}


def add_value(unit: dict[str, float], key: str, value: float) -> None:
    """Add a report's value to its unit, or that it has none."""
    unit[f"{key}_sum"], unit[f"{key}_n"] = (0.0, 0) if math.isnan(value) else (value, 1)


def macro(key: str) -> Result:
    """The mean of the reports' defined values."""
    return ratio(f"{key}_sum", f"{key}_n", empty=math.nan)


def micro(key: str, zero: bool = False) -> Result:
    """The ratio of the sums."""
    if key == "f1":
        return Result(_F1_PARTS, _f1, math.nan)
    return replace(ratio(f"{key}_hits", f"{key}_of", empty=_undefined(key, zero)), empty=math.nan)


def results_table(aggregate: str, zero: bool = False) -> dict[str, Result]:
    """The results of ``report_eval``; NaN if questions were asked and none was answered."""
    table = {key: macro(key) if aggregate == "macro" else micro(key, zero) for key in KEYS}
    for key, result in table.items():
        parts = ("questions_asked", "questions_answered", *result.parts)
        table[key] = replace(result, parts=parts, of=partial(_if_answered, result.of))
    table["n_unscored"] = total("unscored_sentences", better=False)
    table["parse_failures"] = total("parse_failures", better=False)
    return table


def counts_of(score: Score) -> dict[str, dict[str, float]]:
    """``counts``: the sums of :data:`COUNTS`, how many reports there are, are empty and can't be judged."""
    parts = ("reports", *_FLAGGED, *COUNTS)
    sums = {part: math.fsum(unit.get(part, math.nan) for unit in score.units) for part in parts}
    return {"counts": {part: value if math.isnan(value) else int(value) for part, value in sums.items()}}


def runs_of(score: Score) -> dict[str, dict[str, dict[str, float]]]:
    """``runs``: each run's own results."""
    table = {key: result for key, result in score.definitions.items() if not result.is_count}
    runs = grouped(score.units, [item.run_id for item in score.items])
    return {"runs": {str(run): values(table, units) for run, units in runs.items()}}


def explanation(item: Any) -> Iterator[str]:
    """Each sentence with its score, its citations and the answers that it gives; the questions that are open."""
    told = item.as_dict()
    for sentence in told.get("sentences", ()):
        score = "unscored" if sentence["score"] is None else f"{sentence['score']:+d}"
        yield f"  {score:>8}  {shown(str(sentence['text']))}"
        for cited in sentence.get("citations", ()):
            verdict = _VERDICTS[cited["supports"]] if cited["known"] else "is unknown"
            yield f"            {shown(str(cited['doc_id']))} {verdict}"
        for pair in sentence["matched"]:
            yield f"            answers {shown(str(pair['question']))}: {shown(str(pair['answer']))}"
    for nugget in told.get("nuggets", ()):
        yield f"  {'covered' if nugget['covered'] else 'open':>8}  {shown(str(nugget['question']))}"
    for criterion in told.get("criteria", ()):
        value = _MET.get(criterion["value"], "unscored")
        yield f"  {value:>8}  [{criterion['points']:+g}] {shown(str(criterion['text']))}"


_MET = {1: "met", 0: "not met"}
_VERDICTS = {True: "supports it", False: "does not support it", None: "was not judged"}


def from_items(items: Sequence[Any]) -> dict[str, Any]:
    """What a :class:`~tls_tasks.core.score.Score` takes from its items, and what it makes of them."""
    problems = {item.row: item.problems for item in items if item.problems}
    failures = sum(item.unit["parse_failures"] for item in items)
    told = {"units": [item.unit for item in items], "items": items, "problems": problems, "parse_failures": failures}
    return {**told, "details": runs_of, "more": counts_of, "explanation": explanation}


def _undefined(key: str, zero: bool) -> float:
    return 0.0 if zero and key in ("recall", "precision") else math.nan


def _f1(support_of: float, support_hits: float, coverage_of: float, coverage_hits: float) -> float:
    """Harmonic mean of two ratios, correctly rounded; 0 if both are 0, NaN if one is undefined."""
    if not support_of or not coverage_of:
        return math.nan
    both = support_hits * coverage_of + coverage_hits * support_of
    return 2 * support_hits * coverage_hits / both if both else 0.0


def _if_answered(of: Any, asked: float, answered: float, *sums: float) -> float:
    return math.nan if asked and not answered else float(of(*sums))


# ---- outcomes of sentences -> a report's numbers, with everything that explains them


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
        keys = [part.removesuffix("_sum") for part in self.unit if part.endswith("_sum")]
        return {key: self.unit[f"{key}_sum"] if self.unit[f"{key}_n"] else math.nan for key in keys}

    def with_more(self, scores: Mapping[str, float], counts: Unit, **told: Any) -> "ReportItem":
        """The same with further results, further parts of its unit, and what explains them."""
        unit = {**self.unit, **counts}
        for key, value in scores.items():
            add_value(unit, key, value)
        return replace(self, unit=unit, details=partial(_with_told, self.details, told))

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        told = {"row": self.row, "request_id": self.request_id, "run_id": self.run_id, **self.values()}
        counts = {name: self.unit[name] for name in COUNTS}
        keys = [part.removesuffix("_of") for part in self.unit if part.endswith("_of")]
        ratios = {key: [self.unit[f"{key}_hits"], self.unit[f"{key}_of"]] for key in keys}
        told |= {"n_unscored": self.unit["unscored_sentences"], "counts": counts, "ratios": ratios}
        return told | {"flags": list(self.flags), "problems": without_notes(self.problems), **self.details()}


def _with_told(details: Callable[[], Mapping[str, Any]], told: Mapping[str, Any]) -> dict[str, Any]:
    return {**details(), **told}


class _Question(NamedTuple):
    """What coverage counts: a question and its answers, of which any or all must be given.

    Attributes:
        pairs: The pairs.
        needs_all: Whether all of them are asked for, since a nugget of the question says AND.
        weight: Its weight.
    """

    pairs: tuple[Pair, ...]
    needs_all: bool
    weight: int

    def is_met(self, matched: frozenset[Pair]) -> bool:
        """Whether the pairs that a report gives suffice."""
        return (all if self.needs_all else any)(pair in matched for pair in self.pairs)


def report_item(row: ReportRow, plan: ReportPlan, outcomes: Sequence[Outcome]) -> ReportItem:
    """The result of a report whose sentences have come out of the tree.

    A report none of whose questions was answered has no numbers; one whose nugget questions were all left unanswered
    has neither recall nor coverage. Otherwise a nugget that was not found counts as not found.
    """
    questions = _questions(row.request.nuggets)
    earned = frozenset(pair for outcome in outcomes if outcome.earns_recall for pair in outcome.matched)
    covered = frozenset(pair for outcome in outcomes if outcome.earns_coverage for pair in outcome.matched)
    supports = [outcome.support for outcome in outcomes if outcome.support is not None]
    citations = [holds for outcome in outcomes for holds in outcome.citations.values() if holds is not None]
    reported, met = ([unit for unit in questions if unit.is_met(pairs)] for pairs in (earned, covered))
    weight, of = (sum(unit.weight for unit in units) for units in (met, questions))
    ratios = {"recall": (len(reported), len(questions)), "nugget_coverage": (len(met), len(questions))}
    ratios |= {"nugget_coverage_weighted": (weight, of), "sentence_support": (sum(supports), len(supports))}
    ratios["citation_support"] = (sum(citations), len(citations))
    if row.report is None and row.request.by_sentence:
        ratios |= dict.fromkeys(("precision", "sentence_support", "citation_support"), (0, 1))
    if not plan.can_reward:
        ratios["precision"] = UNDEFINED
    verdicts = [pair for outcome in outcomes for pair in outcome.verdicts]
    asked = [query.kind for query, _ in verdicts]
    answered = [query.kind for query, verdict in verdicts if verdict.value is not None]
    if asked and not answered:
        ratios = dict.fromkeys(RATIOS, UNDEFINED)
    elif "nugget_agreement" in asked and "nugget_agreement" not in answered:
        ratios |= dict.fromkeys(("recall", "nugget_coverage", "nugget_coverage_weighted"), UNDEFINED)
    n_unknown = sum(len(outcome.unknown) for outcome in outcomes)
    scores = [outcome.score for outcome in outcomes]
    is_set = {"empty_report": not outcomes and row.request.by_sentence, "no_nuggets": not plan.pairs}
    is_set |= {"unknown_citations": n_unknown > 0, "unscored": None in scores, "unjudged": bool(asked) and not answered}
    flags = tuple(flag for flag in is_set if is_set[flag]) if row.report else ("parse_failure",)
    counts = {"unique_nuggets_matched": len(reported), "total_nuggets": len(questions), "unknown_citations": n_unknown}
    counts |= {"questions_asked": len(asked), "questions_unanswered": len(asked) - len(answered)}
    unit = unit_of(scores, ratios, flags, zero=False, **counts)
    details: Any = partial(_details, plan.pairs, outcomes, questions, covered) if row.report else dict
    return ReportItem(row.row, *row.ids, unit, flags, row.problems, details)


def _questions(nuggets: Sequence[Nugget]) -> list[_Question]:
    """The questions of a request with the answers of all their nuggets; nuggets without answers count for nothing.

    Example:
        >>> from tls_tasks.reports.types import NuggetAnswer
        >>> nuggets = [Nugget("q", "q", tuple(map(NuggetAnswer, texts))) for texts in ("ab", "c", "")]
        >>> [(len(question.pairs), question.needs_all) for question in _questions(nuggets)]
        [(3, False)]
    """
    questions = []
    for members in grouped(nuggets, [nugget.question for nugget in nuggets]).values():
        pairs = dict.fromkeys(Pair(nugget.question, answer.text) for nugget in members for answer in nugget.answers)
        answered = [nugget for nugget in members if nugget.answers]
        needs_all = any(nugget.aggregator == "AND" for nugget in answered)
        weight = max((_WEIGHTS.get(nugget.importance, 1) for nugget in answered), default=0)
        questions += [_Question(tuple(pairs), needs_all, weight)] * bool(pairs)
    return questions


def _details(
    ids: Mapping[Pair, str], outcomes: Sequence[Outcome], questions: Sequence[_Question], matched: frozenset[Pair]
) -> dict[str, Any]:
    """Each sentence and each question; ``ids`` has the question's id of each pair."""
    sentences = []
    for outcome in outcomes:
        holds = outcome.citations.items()
        cited = [{"doc_id": name, "supports": value, "known": name not in outcome.unknown} for name, value in holds]
        given = [{**pair._asdict(), "question_id": ids[pair]} for pair in outcome.matched]
        verdicts = [_verdict(query, verdict) for query, verdict in outcome.verdicts]
        told = {"index": outcome.index, "text": outcome.text, "score": outcome.score, "path": list(outcome.path)}
        told |= {"supported": outcome.support, "citations": cited, "matched": given, "verdicts": verdicts}
        sentences.append(told)
    nuggets = []
    for unit in questions:
        answers = [pair.answer for pair in unit.pairs]
        given_answers = [pair.answer for pair in unit.pairs if pair in matched]
        told = {"question": unit.pairs[0].question, "answers": answers, "given": given_answers}
        nuggets.append({**told, "needs_all": unit.needs_all, "weight": unit.weight, "covered": unit.is_met(matched)})
    scores = [outcome.score for outcome in outcomes]
    unscored = [outcome.index for outcome in outcomes if outcome.score is None]
    return {"scores": scores, "unscored": unscored, "sentences": sentences, "nuggets": nuggets}


def _verdict(query: Query, verdict: Verdict) -> dict[str, Any]:
    """What was asked, without the sentence, which stands above, and the document, which is long; and the answer."""
    asked = {name: text for name, text in query.fields.items() if name not in ("sentence", "document", "previous")}
    about = {name: query.about[name] for name in ("doc_id", "question_id", "scope") if name in query.about}
    return {"kind": query.kind, **asked, **about, **verdict._asdict()}
