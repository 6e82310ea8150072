"""A report's unit, and the results that are made of units.

Every result of one report is a ratio of two counts, undefined where the second is 0, but for F1, the harmonic mean of
two of them. A result of many reports is the mean of the defined ones (macro), or the ratio of the sums (micro).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tls_tasks.core.columns import grouped
from tls_tasks.core.score import Result, Score, ratio, total, values
from tls_tasks.core.terminal import shown

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

_F1_PARTS = ("sentence_support_of", "sentence_support_hits", "nugget_coverage_of", "nugget_coverage_hits")


Ratio = tuple[int, int]
"""A ratio by its two counts, what was hit and of how many; undefined where the second is 0."""

UNDEFINED: Ratio = (0, 0)


def unit_of(
    scores: Sequence[int | None],
    ratios: Mapping[str, Ratio],
    flags: Sequence[str] = (),
    *,
    zero: bool = False,
    **counts: int,
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
    rewarded = sum(score is not None and score > 0 for score in scores)
    penalized = sum(score is not None and score < 0 for score in scores)
    known = {"precision": (rewarded, rewarded + penalized), **ratios}
    unit: dict[str, float] = {
        "reports": 1,
        **dict.fromkeys(COUNTS, 0),
        **counts,
        "sentences": len(scores),
        "rewarded_sentences": rewarded,
        "penalized_sentences": penalized,
        "unscored_sentences": scores.count(None),
    }
    unit["questions_answered"] = unit["questions_asked"] - unit["questions_unanswered"]
    for key in RATIOS:
        hits, of = unit[f"{key}_hits"], unit[f"{key}_of"] = known.get(key, UNDEFINED)
        _add_value(unit, key, hits / of if of else _undefined(key, zero))
    _add_value(unit, "f1", _f1(*(unit[part] for part in _F1_PARTS)))
    return {**unit, **{part: int(flag in flags) for part, flag in _FLAG_COUNTS.items()}}


def _add_value(unit: dict[str, float], key: str, value: float) -> None:
    unit[f"{key}_sum"], unit[f"{key}_n"] = (0.0, 0) if math.isnan(value) else (value, 1)


def from_items(items: Sequence[Any]) -> dict[str, Any]:
    """What a :class:`~tls_tasks.core.score.Score` takes from its items."""
    return {
        "units": [item.unit for item in items],
        "items": items,
        "problems": {item.row: item.problems for item in items if item.problems},
        "parse_failures": sum(item.unit["parse_failures"] for item in items),
    }


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
    table = {key: score.definitions[key] for key in KEYS}
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


_VERDICTS = {True: "supports it", False: "does not support it", None: "was not judged"}


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
