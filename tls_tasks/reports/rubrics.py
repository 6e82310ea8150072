"""Rubrics: criteria with points that a judge is asked about the whole report, and how they are added up.

The score of a report is the points of the criteria that it meets by all positive points; criteria with negative points
name faults, so that it may be below 0. The arithmetic is that of HealthBench (openai/simple-evals): a report whose
criteria have no positive points is left out and counted, and the mean over reports is clipped to [0, 1]. Each tag of a
criterion has a result of its own: HealthBench's ``tags`` and ``example_tags``, ResearchRubrics' ``axis``.

A missing verdict could move the score either way: the report then has none and is left out, and the criterion is
counted in ``criteria_unscored``.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tls_tasks.core.errors import InputError, describe
from tls_tasks.core.rows import read_columns
from tls_tasks.core.score import Result, ratio, total
from tls_tasks.reports.plan import Outcome, Walk, walk_together
from tls_tasks.reports.read import first_text
from tls_tasks.reports.rows import ReportRow
from tls_tasks.reports.score import ReportItem, macro
from tls_tasks.reports.types import Criterion, Judge, Query, Report, ReportRequest

Rubric = tuple[Criterion, ...]

_FORM = 'a list of {"criterion", "points", "tags"} or {"title", "weight"}, or an object with such a list in "rubrics"'


def as_rubric(given: Any, where: str) -> Rubric:
    """The rubric of one report: a list of criteria, or an object that has the list in ``rubrics``.

    Raises:
        InputError: Anything else, naming ``where`` it is, and the criterion.
    """
    rows = given.get("rubrics", given) if isinstance(given, Mapping) else given
    if not isinstance(rows, list | tuple):
        raise InputError(where, None, describe(rows), f"the criteria of one report: {_FORM}")
    # What HealthBench says of a whole example is the score of all its criteria: each of them has its tags.
    themes = _tags(given.get("example_tags"), f"{where}.example_tags") if isinstance(given, Mapping) else ()
    return tuple(_criterion(row, f"{where}[{number}]", themes) for number, row in enumerate(rows))


def rubrics_of(rubrics: Any, rows: Sequence[ReportRow]) -> list[Rubric | None] | None:
    """The rubric of each report, None where it has none; None where no rubrics are given.

    Raises:
        InputError: No column, one of another length, or a row that is no rubric.
    """
    if rubrics is None:
        return None
    column = read_columns(predictions=[*rows], references=[*rows], rubrics=rubrics)[-1]
    # pandas has NaN for None
    return [
        None if row is None or row != row else as_rubric(row, f"rubrics[{number}]") for number, row in enumerate(column)
    ]


def _criterion(row: Any, where: str, themes: Sequence[str]) -> Criterion:
    if isinstance(row, Criterion):
        return row
    fields = row if isinstance(row, Mapping) else {}
    text, axis = first_text(fields, ("criterion", "title")), fields.get("axis")
    points = fields["points"] if "points" in fields else fields.get("weight")
    if not text.strip():
        raise InputError(f"{where}.criterion", None, describe(fields.get("criterion", row)), "the criterion's text")
    if isinstance(points, bool) or not isinstance(points, int | float) or not math.isfinite(points):
        raise InputError(f"{where}.points", None, describe(points), "a number: points or weight, below 0 for a fault")
    tags = (*_tags(fields.get("tags"), f"{where}.tags"), *_tags([axis] if axis else (), f"{where}.axis"), *themes)
    return Criterion(text, points, tuple(dict.fromkeys(tags)))


def _tags(tags: Any, where: str) -> Sequence[str]:
    if not isinstance(tags or (), list | tuple) or not all(isinstance(tag, str) for tag in tags or ()):
        raise InputError(where, None, describe(tags), "a list of str")
    return tags or ()


def criteria_walk(report: Report | None, rubric: Rubric | None, request: ReportRequest) -> Walk[Outcome]:
    """Asks about each criterion; of an answer without a report nothing is asked."""
    asked = report or Report(request.request_id, "")
    about = {"request_id": asked.request_id or request.request_id, "run_id": asked.run_id}
    fields = {"request": request.text, "report": asked.text}
    end = Outcome(-1, "", about, score=0)
    if report is not None:
        yield from end.ask(Query("criterion", {**fields, "criterion": one.text}, about) for one in rubric or ())
    return end


def with_rubrics(
    items: Sequence[ReportItem], rows: Sequence[ReportRow], rubrics: Sequence[Rubric | None], judge: Judge
) -> tuple[list[ReportItem], dict[str, Result], list[tuple[Outcome, ...]]]:
    """The reports' numbers with those of their rubrics, the results of these, and what was asked."""
    pairs, criteria = list(zip(rows, rubrics, strict=True)), (one for rubric in rubrics for one in rubric or ())
    tags = list(dict.fromkeys(tag for one in criteria for tag in one.tags))
    ends = walk_together([[criteria_walk(row.report, own, row.request)] for row, own in pairs], judge)
    judged = zip(items, pairs, ends, strict=True)
    more = [_with_rubric(item, row.report, own, end, tags) for item, (row, own), (end,) in judged]
    return more, {**rubric_table(tags), "reports_without_rubric": total("reports_without_rubric", better=None)}, ends


def _with_rubric(
    item: ReportItem, report: Report | None, rubric: Rubric | None, end: Outcome, tags: Sequence[str]
) -> ReportItem:
    # An answer without a report meets nothing, and has no fault either.
    said = [verdict.value for _, verdict in end.verdicts] if report else [False] * len(rubric or ())
    values = [None if value is None else float(value) for value in said]
    pairs = list(zip(rubric or (), values, strict=True))
    known = [value for value in values if value is not None]
    unit: dict[str, float] = {"criteria_unscored": len(values) - len(known)}
    unit |= {"criteria_met_hits": known.count(1.0), "criteria_met_of": len(known)}
    unit["reports_without_rubric"] = not any(one.points > 0 for one in rubric or ())
    scores = {"rubric_score": _points(pairs)}
    for tag in tags:
        scores[f"rubric_score_{tag}"] = _points([pair for pair in pairs if tag in pair[0].tags])
    told = [{**one._asdict(), "tags": list(one.tags), "value": value} for one, value in pairs]
    return item.with_more(scores, unit, criteria=told, report=report.text if report else "")


def _points(pairs: Sequence[tuple[Criterion, float | None]]) -> float:
    """Points of what is met by all positive points; NaN if a verdict is missing, or without positive points."""
    possible = sum(one.points for one, _ in pairs if one.points > 0)
    if not possible or any(value is None for _, value in pairs):
        return math.nan
    return sum(one.points * (value or 0.0) for one, value in pairs) / possible


def rubric_table(tags: Sequence[str] = ()) -> dict[str, Result]:
    """The results of rubrics: means over reports, and the share of the criteria that are met."""
    table = {}
    for key in ("rubric_score", *(f"rubric_score_{tag}" for tag in tags)):
        mean = macro(key)
        table[key] = replace(mean, parts=("reports", *mean.parts), formula=partial(_clipped, mean.formula))
    table["criteria_met"] = ratio("criteria_met_hits", "criteria_met_of", empty=math.nan, better=None)
    return {**table, "criteria_unscored": total("criteria_unscored", better=False)}


def _clipped(of: Any, n_reports: float, *sums: float) -> float:
    value = float(of(*sums))
    # Hosts show a document as a corpus of one.
    return value if n_reports == 1 or math.isnan(value) else min(1.0, max(0.0, value))
