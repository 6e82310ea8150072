"""report_eval: cited reports, judged sentence by sentence and nugget by nugget.

The decision tree, ``recall`` and ``precision`` are those of Mayfield et al., On the Evaluation of Machine-Generated
Reports, SIGIR 2024, as report_gen_eval's documentation has them; sentence support, citation support, nugget coverage
and their F1 are what the TREC RAGTIME and NeuCLIR tracks report. A judge answers yes/no questions; what it fails to
answer is unscored and counted, never a no.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.signature import signature
from tls_tasks.core.text_rows import describe
from tls_tasks.reports.asking import NoJudge, as_judge
from tls_tasks.reports.columns import ReportRow, read_columns
from tls_tasks.reports.details import failed_result, report_result
from tls_tasks.reports.documents import LookUp, look_up
from tls_tasks.reports.judges.callable import CallableJudge
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.plan import SCOPES, judge_reports, plan_report
from tls_tasks.reports.report_gen_eval import RawRow, run_program
from tls_tasks.reports.score import AGGREGATES, ANSWERS, RECALL_UNITS, ReportResult, ReportScore
from tls_tasks.reports.types import Judge, Report

VERSION = 1

COMPAT = (None, "report_gen_eval")

_CHOICES = {
    "compat": COMPAT,
    "recall_unit": RECALL_UNITS,
    "first_instance_scope": SCOPES,
    "nugget_answers": ANSWERS,
    "aggregate": AGGREGATES,
}
_NOTHING = Report("", "")


class UnscoredWarning(UserWarning):
    """A judge left questions unanswered; the sentences concerned have no score."""


@dataclass(frozen=True, slots=True)
class ReportEvalConfig:
    """The settings of :func:`report_eval`, as they stand in its signature."""

    compat: str | None = field(default=None, metadata={"quiet": None})
    recall_unit: str | None = field(default="answer", metadata={"sign": "unit", "quiet": None})
    first_instance_scope: str | None = field(default="cited", metadata={"sign": "first", "quiet": None})
    nugget_answers: str | None = field(default="as_given", metadata={"sign": "answers", "quiet": None})
    length_limit: int | None = field(default=None, metadata={"sign": "limit", "quiet": None})
    aggregate: str = field(default="macro", metadata={"sign": "agg"})
    judge: str = "none"
    interval: str = field(default="", metadata={"sign": "ci", "quiet": ""})


def report_eval(
    predictions: Sequence[Any],
    references: Sequence[Any],
    documents: Any = None,
    judge: Any = None,
    *,
    compat: str | None = None,
    recall_unit: str = "answer",
    first_instance_scope: str = "cited",
    nugget_answers: str = "as_given",
    length_limit: int | None = None,
    aggregate: str = "macro",
    confidence_interval: float | None = None,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> ReportScore:
    """Score cited reports against the nuggets of their requests.

    Args:
        predictions: One report a row: JSON text, a dict (``sentences`` with ``text`` and ``citations``, or the form of
            the TREC tracks), or a :class:`~tls_tasks.reports.types.Report`. Text in which there is no report is a parse
            failure and scores 0.
        references: One request a row: JSON text, a dict (``items``, or a ``nugget_bank``), a
            :class:`~tls_tasks.reports.types.ReportRequest`, or a list of dicts of which the first with the report's
            ``request_id`` counts.
        documents: Document id -> text or ``{"title", "text"}``; or collection -> such a mapping; or a function or store
            (see :func:`~tls_tasks.reports.documents.look_up`). An id that is not in it is an unsupported citation.
            None: nothing is looked up; for recorded judgments and functions, which may know documents by their ids.
        judge: Who answers, see :func:`~tls_tasks.reports.asking.as_judge`.
        compat: ``report_gen_eval``: the recall and precision of that program, whatever its documentation says; the
            options from ``recall_unit`` to ``length_limit`` have no meaning then, and the other results are NaN.
        recall_unit: What recall counts: each (question, ``answer``) pair, each ``question``, or each ``item`` of the
            nuggets file.
        first_instance_scope: An uncited claim that was made before is ignored if a ``cited`` sentence made it, or if
            ``any`` did.
        nugget_answers: Whether a question or item takes ``any`` or ``all`` of its answers, or what the file says
            (``as_given``: all where it says AND).
        length_limit: Characters (NFKC, sentences joined by blanks) that count; sentences beyond them are left out.
        aggregate: ``macro``: the mean of the reports' values; ``micro``: ratios of sums.
        confidence_interval: Coverage of a bootstrap interval over reports, for example 0.95.
        n_resamples: Resamples of the interval.
        seed: Seed of the interval.

    Returns:
        ``recall``, ``precision``, ``sentence_support``, ``citation_support``, ``nugget_coverage``,
        ``nugget_coverage_weighted`` and ``f1`` in [0, 1], NaN where undefined; ``n_unscored``, ``parse_failures``,
        ``counts``; see :class:`~tls_tasks.reports.score.ReportScore`.

    Raises:
        InputError: Rows that can't be scored, naming index and field; a judge or documents that are missing.
        OptionError: An option that doesn't exist.
        JudgeError: A judge that can't be used at all.
        KeyError: With ``compat``, a row by which the program loses a report.

    Warns:
        UnscoredWarning: Questions were left unanswered.

    Example:
        >>> score = report_eval(
        ...     predictions=[{"sentences": [{"text": "It rained on Monday.", "citations": ["d1"]}]}],
        ...     references=[{"query_id": "7", "items": [{"question_text": "When did it rain?",
        ...                                              "gold_answers": ["on Monday", "at night"]}]}],
        ...     documents={"d1": "Heavy rain fell on Monday."},
        ...     judge=lambda query: query.fields.get("answer", "") in query.fields["sentence"],
        ... )
        >>> result = score.as_dict()
        >>> result["recall"], result["precision"], result["nugget_coverage"], result["f1"]
        (0.5, 1.0, 1.0, 1.0)
        >>> score.signature
        'report_eval|unit:answer|first:cited|answers:as_given|agg:macro|judge:custom(<lambda>)|v:1'
    """
    config = ReportEvalConfig(
        compat, recall_unit, first_instance_scope, nugget_answers, length_limit, aggregate,
        interval="" if confidence_interval is None else f"{confidence_interval},{n_resamples},seed{seed}",
    )  # fmt: skip
    _check_options(config, confidence_interval)
    asked = as_judge(judge)
    rows = read_columns(predictions, references, limit=None if compat else length_limit, strict=compat is None)
    find = None if documents is None else look_up(documents)
    if find is None:
        _check_documents(rows, asked)
    items = _judged(rows, find, asked, config) if compat is None else _as_the_program(rows, find, asked)
    _warn_of_unscored(items)
    return ReportScore(
        signature("report_eval", _signed(config, asked), VERSION),
        items,
        aggregate,
        compat is not None,
        None
        if confidence_interval is None
        else {"confidence": confidence_interval, "n_resamples": n_resamples, "seed": seed},
    )


def _signed(config: ReportEvalConfig, judge: Judge) -> ReportEvalConfig:
    """The settings that moved the numbers."""
    config = replace(config, judge=judge.name.replace("|", "/"))
    if config.compat is None:
        return config
    return replace(config, recall_unit=None, first_instance_scope=None, nugget_answers=None, length_limit=None)


def _check_options(config: ReportEvalConfig, confidence_interval: Any) -> None:
    for option, choices in _CHOICES.items():
        if (value := getattr(config, option)) not in choices:
            raise OptionError.unknown(option, value, choices)
    limit = config.length_limit
    if limit is not None and (isinstance(limit, bool) or not isinstance(limit, int) or limit < 0):
        raise InputError("length_limit", None, describe(limit), "a number of characters, or None")
    if confidence_interval is not None and (
        isinstance(confidence_interval, bool) or not isinstance(confidence_interval, int | float)
    ):
        raise InputError("confidence_interval", None, describe(confidence_interval), "a coverage such as 0.95")


def _check_documents(rows: Sequence[ReportRow], judge: Judge) -> None:
    """Refuse to show a judge empty documents."""
    if isinstance(judge, Recorded | CallableJudge | NoJudge):
        return
    for row in rows:
        if row.report and any(sentence.citations for sentence in row.report.sentences):
            raise InputError(
                "documents", None, f"None, and predictions[{row.row}] cites some", "a mapping of ids to documents"
            )


def _judged(
    rows: Sequence[ReportRow], find: LookUp | None, judge: Judge, config: ReportEvalConfig
) -> tuple[ReportResult, ...]:
    """The reports by the tree; what could not be read at all scores the worst."""
    unit, answers, scope = str(config.recall_unit), str(config.nugget_answers), str(config.first_instance_scope)
    plans = [plan_report(row.report or _NOTHING, row.request, find, scope) for row in rows]
    return tuple(
        report_result(row, plan, outcomes, unit, answers) if row.report else failed_result(row, unit, answers)
        for row, plan, outcomes in zip(rows, plans, judge_reports(plans, judge), strict=True)
    )


def _as_the_program(rows: Sequence[ReportRow], find: LookUp | None, judge: Judge) -> tuple[ReportResult, ...]:
    raw = [RawRow(row.row, row.raw_report, row.raw_nuggets) for row in rows if row.raw_report is not None]
    results = {result.row: result for result in run_program(raw, find, judge)}
    return tuple(results.get(row.row) or failed_result(row, "answer", "as_given", zero=True) for row in rows)


def _warn_of_unscored(items: Sequence[ReportResult]) -> None:
    n_unscored, n_asked, n_unanswered = (
        sum(item.counts[name] for item in items)
        for name in ("unscored_sentences", "questions_asked", "questions_unanswered")
    )
    if n_unanswered:
        reasons = ", ".join(f"{reason} ({n})" for reason, n in _reasons(items).most_common(3))
        warnings.warn(
            f"report_eval: {n_unanswered} of {n_asked} questions have no verdict: {reasons}; {n_unscored} sentences "
            "are unscored and left out, and coverage and recall can only be higher",
            UnscoredWarning,
            stacklevel=3,
        )


def _reasons(items: Sequence[ReportResult]) -> Counter[str]:
    """Why questions have no verdict."""
    return Counter(
        " ".join(filter(None, (verdict["reason"], verdict["raw"])))
        for item in items
        for sentence in item.as_dict().get("sentences", ())
        for verdict in sentence.get("verdicts", ())
        if verdict["value"] is None
    )
