"""Build a report's unit from the outcomes of its sentences, and define the results over units.

Every result of one report is a ratio of two counts, undefined where the second is 0; only F1 is the harmonic mean of
two ratios. A result of many reports is the mean of the defined values (macro), or the ratio of the sums (micro).
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
"""Result -> its numerator and denominator:

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
"""Further counts of each report; each is a part of its unit."""

_FLAGGED = {"empty_reports": "empty_report", "unjudged_reports": "unjudged", "reports_without_nuggets": "no_nuggets"}
"""Part of a unit -> the flag of a report that makes it 1."""

AGGREGATES = ("macro", "micro")

_F1_PARTS = ("sentence_support_of", "sentence_support_hits", "nugget_coverage_of", "nugget_coverage_hits")


Ratio = tuple[int, int]
"""Numerator and denominator of a ratio; undefined where the denominator is 0."""

UNDEFINED: Ratio = (0, 0)


def build_unit(
    scores: Sequence[int | None], ratios: dict[str, Ratio], flags: Sequence[str], *, zero: bool = False, **counts: int
) -> dict[str, float]:
    """Build the unit of one report.

    Args:
        scores: The scores of its sentences; None where a sentence is unscored. Precision is computed from them.
        ratios: Result -> its ratio, for the rest of :data:`RATIOS`; missing ones are undefined.
        flags: See :class:`ReportItem`.
        zero: Whether recall and precision are 0 where they are undefined, as in report_gen_eval.
        **counts: The rest of :data:`COUNTS`; missing ones are 0.

    Returns:
        ``<key>_hits`` and ``<key>_of`` of each ratio; ``<key>_sum`` and ``<key>_n`` of each result, its value and 1, or
        0 and 0 where it is undefined; the counts; ``reports``, 1.
    """
    rewarded = sum((score or 0) > 0 for score in scores)
    penalized = sum((score or 0) < 0 for score in scores)
    all_ratios = {"precision": (rewarded, rewarded + penalized), **ratios}
    zeros = dict.fromkeys(COUNTS, 0)
    unit: dict[str, float] = {"reports": 1, **zeros, **counts, "sentences": len(scores)}
    unit |= {"rewarded_sentences": rewarded, "penalized_sentences": penalized}
    unit |= {"unscored_sentences": scores.count(None), "parse_failures": int("parse_failure" in flags)}
    unit["questions_answered"] = unit["questions_asked"] - unit["questions_unanswered"]
    for key in RATIOS:
        hits, n = unit[f"{key}_hits"], unit[f"{key}_of"] = all_ratios.get(key, UNDEFINED)
        add_value(unit, key, hits / n if n else _undefined(key, zero))
    add_value(unit, "f1", _f1(*(unit[part] for part in _F1_PARTS)))
    return {**unit, **{part: int(flag in flags) for part, flag in _FLAGGED.items()}}


def add_value(unit: dict[str, float], key: str, value: float) -> None:
    """Add a report's value of one result to its unit: the value and 1, or 0 and 0 where it is NaN."""
    unit[f"{key}_sum"], unit[f"{key}_n"] = (0.0, 0) if math.isnan(value) else (value, 1)


def macro(key: str) -> Result:
    """Return the result that is the mean of the reports' defined values."""
    return ratio(f"{key}_sum", f"{key}_n", empty=math.nan)


def micro(key: str, zero: bool = False) -> Result:
    """Return the result that is the ratio of the sums over all reports."""
    if key == "f1":
        return Result(_F1_PARTS, _f1, math.nan)
    return replace(ratio(f"{key}_hits", f"{key}_of", empty=_undefined(key, zero)), empty=math.nan)


def results_table(aggregate: str, zero: bool = False) -> dict[str, Result]:
    """Build the table of ``report_eval``; results are NaN if questions were asked and none was answered."""
    table = {key: macro(key) if aggregate == "macro" else micro(key, zero) for key in KEYS}
    for key, result in table.items():
        parts = ("questions_asked", "questions_answered", *result.parts)
        table[key] = replace(result, parts=parts, formula=partial(_if_answered, result.formula))
    table["n_unscored"] = total("unscored_sentences", better=False)
    table["parse_failures"] = total("parse_failures", better=False)
    return table


def count_reports(score: Score) -> dict[str, dict[str, float]]:
    """Return ``counts``: sums of :data:`COUNTS`; how many reports there are, are empty, can't be judged."""
    parts = ("reports", *_FLAGGED, *COUNTS)
    sums = {part: math.fsum(unit.get(part, math.nan) for unit in score.units) for part in parts}
    return {"counts": {part: value if math.isnan(value) else int(value) for part, value in sums.items()}}


def score_runs(score: Score) -> dict[str, dict[str, dict[str, float]]]:
    """Return ``runs``: run id -> the results of that run alone."""
    table = {key: result for key, result in score.definitions.items() if not result.is_count}
    runs = grouped(score.units, [item.run_id for item in score.items])
    return {"runs": {str(run): values(table, units) for run, units in runs.items()}}


def explanation(item: Any) -> Iterator[str]:
    """Yield lines of text: each sentence with score, citations and given answers; open nuggets; criteria."""
    details = item.as_dict()
    for sentence in details.get("sentences", ()):
        score = "unscored" if sentence["score"] is None else f"{sentence['score']:+d}"
        yield f"  {score:>8}  {shown(str(sentence['text']))}"
        for cited in sentence.get("citations", ()):
            verdict = _VERDICTS[cited["supports"]] if cited["known"] else "is unknown"
            yield f"            {shown(str(cited['doc_id']))} {verdict}"
        for pair in sentence["matched"]:
            yield f"            answers {shown(str(pair['question']))}: {shown(str(pair['answer']))}"
    for nugget in details.get("nuggets", ()):
        yield f"  {'covered' if nugget['covered'] else 'open':>8}  {shown(str(nugget['question']))}"
    for criterion in details.get("criteria", ()):
        value = _MET.get(criterion["value"], "unscored")
        yield f"  {value:>8}  [{criterion['points']:+g}] {shown(str(criterion['text']))}"


_MET = {1: "met", 0: "not met"}
_VERDICTS = {True: "supports it", False: "does not support it", None: "was not judged"}


def from_items(items: Sequence[Any]) -> dict[str, Any]:
    """Build the keyword arguments of a :class:`~tls_tasks.core.score.Score` from one item a report."""
    problems = {item.row: item.problems for item in items if item.problems}
    failures = sum(item.unit["parse_failures"] for item in items)
    fields = {"units": [item.unit for item in items], "items": items, "problems": problems, "parse_failures": failures}
    return {**fields, "details": score_runs, "more": count_reports, "explanation": explanation}


def _undefined(key: str, zero: bool) -> float:
    """Return the value of an undefined ratio: NaN; with ``zero`` 0 for recall and precision."""
    return 0.0 if zero and key in ("recall", "precision") else math.nan


def _f1(support_of: float, support_hits: float, coverage_of: float, coverage_hits: float) -> float:
    """Return the harmonic mean of two ratios, correctly rounded; 0 if both are 0, NaN if one is undefined."""
    if not support_of or not coverage_of:
        return math.nan
    both = support_hits * coverage_of + coverage_hits * support_of
    return 2 * support_hits * coverage_hits / both if both else 0.0


def _if_answered(formula: Any, n_asked: float, n_answered: float, *sums: float) -> float:
    """Return ``formula`` of the sums; NaN if questions were asked and none was answered."""
    return math.nan if n_asked and not n_answered else float(formula(*sums))


# ---- Outcomes of sentences become a report's numbers, with everything that explains them.


_WEIGHTS = {"vital": 2}
"""Importance -> weight of a question; anything else weighs 1."""


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One report's numbers and the details that explain them.

    Attributes:
        row: Index of its prediction.
        request_id: The request.
        run_id: The run.
        unit: See :func:`~tls_tasks.reports.score.build_unit`.
        flags: Special cases: ``empty_report``, ``no_nuggets``, ``parse_failure``, ``unjudged`` …
        problems: Kind of problem in the row -> how often.
        details: Returns the details that explain the numbers, ready for JSON.
    """

    row: int
    request_id: str
    run_id: str
    unit: Unit
    flags: tuple[str, ...] = ()
    problems: Mapping[str, int] = field(default_factory=dict)
    details: Callable[[], Mapping[str, Any]] = dict

    def values(self) -> dict[str, float]:
        """Return the report's own results; NaN where undefined."""
        keys = [part.removesuffix("_sum") for part in self.unit if part.endswith("_sum")]
        return {key: self.unit[f"{key}_sum"] if self.unit[f"{key}_n"] else math.nan for key in keys}

    def with_more(self, scores: Mapping[str, float], counts: Unit, **explained: Any) -> "ReportItem":
        """Return a copy with further results, further parts of its unit, and details that explain them."""
        unit = {**self.unit, **counts}
        for key, value in scores.items():
            add_value(unit, key, value)
        return replace(self, unit=unit, details=partial(_extended, self.details, explained))

    def as_dict(self) -> dict[str, Any]:
        """Return ids, results, counts, ratios, flags and details as plain values."""
        fields = {"row": self.row, "request_id": self.request_id, "run_id": self.run_id, **self.values()}
        counts = {name: self.unit[name] for name in COUNTS}
        keys = [part.removesuffix("_of") for part in self.unit if part.endswith("_of")]
        ratios = {key: [self.unit[f"{key}_hits"], self.unit[f"{key}_of"]] for key in keys}
        fields |= {"n_unscored": self.unit["unscored_sentences"], "counts": counts, "ratios": ratios}
        return fields | {"flags": list(self.flags), "problems": without_notes(self.problems), **self.details()}


def _extended(details: Callable[[], Mapping[str, Any]], explained: Mapping[str, Any]) -> dict[str, Any]:
    return {**details(), **explained}


class _Question(NamedTuple):
    """A question and its answers, any or all of which a report must give; coverage counts questions.

    Attributes:
        pairs: The question with each of its answers.
        needs_all: Whether a report must give all answers, since a nugget of the question says AND.
        weight: Its weight in ``nugget_coverage_weighted``.
    """

    pairs: tuple[Pair, ...]
    needs_all: bool
    weight: int

    def is_met(self, matched: frozenset[Pair]) -> bool:
        """Return whether the pairs that a report gives answer the question."""
        return (all if self.needs_all else any)(pair in matched for pair in self.pairs)


def report_item(row: ReportRow, plan: ReportPlan, outcomes: Sequence[Outcome]) -> ReportItem:
    """Build the item of one report from the outcomes of its sentences.

    If the judge answered nothing about a report, all its ratios are undefined; if it answered none of the nugget
    questions, recall and coverage are. Otherwise a nugget without a verdict counts as missed.
    """
    questions = _questions(row.request.nuggets)
    earned = frozenset(pair for outcome in outcomes if outcome.earns_recall for pair in outcome.matched)
    covered = frozenset(pair for outcome in outcomes if outcome.earns_coverage for pair in outcome.matched)
    supports = [outcome.support for outcome in outcomes if outcome.support is not None]
    citations = [holds for outcome in outcomes for holds in outcome.citations.values() if holds is not None]
    reported, met = ([question for question in questions if question.is_met(pairs)] for pairs in (earned, covered))
    met_weight, weight = (sum(question.weight for question in some) for some in (met, questions))
    ratios = {"recall": (len(reported), len(questions)), "nugget_coverage": (len(met), len(questions))}
    ratios |= {"nugget_coverage_weighted": (met_weight, weight), "sentence_support": (sum(supports), len(supports))}
    ratios["citation_support"] = (sum(citations), len(citations))
    if row.report is None and row.request.by_sentence:
        ratios |= dict.fromkeys(("precision", "sentence_support", "citation_support"), (0, 1))
    if not plan.can_reward:
        ratios["precision"] = UNDEFINED
    verdicts = [pair for outcome in outcomes for pair in outcome.verdicts]
    kinds = [query.kind for query, _ in verdicts]
    answered = [query.kind for query, verdict in verdicts if verdict.value is not None]
    if kinds and not answered:
        ratios = dict.fromkeys(RATIOS, UNDEFINED)
    elif "nugget_agreement" in kinds and "nugget_agreement" not in answered:
        ratios |= dict.fromkeys(("recall", "nugget_coverage", "nugget_coverage_weighted"), UNDEFINED)
    n_unknown = sum(len(outcome.unknown) for outcome in outcomes)
    scores = [outcome.score for outcome in outcomes]
    is_flagged = {"empty_report": not outcomes and row.request.by_sentence, "no_nuggets": not plan.pairs}
    is_flagged |= {"unknown_citations": n_unknown > 0, "unscored": None in scores}
    is_flagged["unjudged"] = bool(kinds) and not answered
    flags = tuple(flag for flag in is_flagged if is_flagged[flag]) if row.report else ("parse_failure",)
    counts = {"unique_nuggets_matched": len(reported), "total_nuggets": len(questions), "unknown_citations": n_unknown}
    counts |= {"questions_asked": len(kinds), "questions_unanswered": len(kinds) - len(answered)}
    unit = build_unit(scores, ratios, flags, zero=False, **counts)
    details: Any = partial(_details, plan.pairs, outcomes, questions, covered) if row.report else dict
    return ReportItem(row.row, *row.ids, unit, flags, row.problems, details)


def _questions(nuggets: Sequence[Nugget]) -> list[_Question]:
    """Group a request's nuggets by question, with the answers of all; those without answers are left out.

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
    """Return sentences, nuggets and scores for JSON; ``ids`` maps each pair to its question's id."""
    sentences = []
    for outcome in outcomes:
        holds = outcome.citations.items()
        cited = [{"doc_id": name, "supports": value, "known": name not in outcome.unknown} for name, value in holds]
        given_pairs = [{**pair._asdict(), "question_id": ids[pair]} for pair in outcome.matched]
        verdicts = [_verdict(query, verdict) for query, verdict in outcome.verdicts]
        sentence = {"index": outcome.index, "text": outcome.text, "score": outcome.score, "path": list(outcome.path)}
        sentence |= {"supported": outcome.support, "citations": cited, "matched": given_pairs, "verdicts": verdicts}
        sentences.append(sentence)
    nuggets = []
    for question in questions:
        answers = [pair.answer for pair in question.pairs]
        given_answers = [pair.answer for pair in question.pairs if pair in matched]
        nugget: dict[str, Any] = {"question": question.pairs[0].question, "answers": answers, "given": given_answers}
        nugget |= {"needs_all": question.needs_all, "weight": question.weight, "covered": question.is_met(matched)}
        nuggets.append(nugget)
    scores = [outcome.score for outcome in outcomes]
    unscored = [outcome.index for outcome in outcomes if outcome.score is None]
    return {"scores": scores, "unscored": unscored, "sentences": sentences, "nuggets": nuggets}


def _verdict(query: Query, verdict: Verdict) -> dict[str, Any]:
    """Return kind, fields, ids and verdict of a query for JSON, without the long texts that it shows."""
    fields = {name: text for name, text in query.fields.items() if name not in ("sentence", "document", "previous")}
    about = {name: query.about[name] for name in ("doc_id", "question_id", "scope") if name in query.about}
    return {"kind": query.kind, **fields, **about, **verdict._asdict()}
