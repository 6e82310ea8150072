"""report_eval: cited reports, judged sentence by sentence and nugget by nugget.

The decision tree, ``recall`` and ``precision`` are those of Mayfield et al., On the Evaluation of Machine-Generated
Reports, SIGIR 2024, as report_gen_eval's documentation has them; sentence support, citation support, nugget coverage
and their F1 are what the TREC RAGTIME and NeuCLIR tracks report. A judge answers yes/no questions; what it fails to
answer is unscored and counted, never a no.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tls_tasks.core import options
from tls_tasks.core.errors import InputError, check_choice, check_whole_number, describe, warn_caller, warn_of_unread
from tls_tasks.core.score import Score
from tls_tasks.reports import score as scores
from tls_tasks.reports.documents import make_lookup
from tls_tasks.reports.judges.callable import CallableJudge
from tls_tasks.reports.judges.recordings import Recorded
from tls_tasks.reports.nuggets import NO_LIST, REQUEST_FORMS
from tls_tasks.reports.plan import Outcome, ReportPlan, walk_together
from tls_tasks.reports.report_gen_eval import PROGRAM, score_as_program
from tls_tasks.reports.rows import ReportRow, read_rows
from tls_tasks.reports.rubrics import rubrics_of, with_rubrics
from tls_tasks.reports.types import Judge, Report

VERSION = 4

_JUDGE_FORMS = "a judge (see tls_tasks.reports.judges), a function of a query, or recorded judgments (a list of dicts)"


class UnscoredWarning(UserWarning):
    """A judge left questions unanswered, or no judge was given; the sentences concerned have no score."""


@dataclass(frozen=True, slots=True)
class _Settings:
    """Options that the signature shows; with ``compat`` only those that move the numbers of that program."""

    compat: str | None = field(metadata={"quiet": None})
    length_limit: int | None = field(metadata={"sign": "limit", "quiet": None})
    rubric: str | None = field(metadata={"quiet": None, "of": ()})
    aggregate: str = field(metadata={"sign": "agg"})
    judge: str
    interval: str = field(metadata={"sign": "ci", "quiet": "", "of": options.INTERVAL})


@options.signed_by(_Settings, data=("predictions", "references", "documents", "rubrics"))
def report_eval(
    predictions: Sequence[Any],
    references: Sequence[Any],
    documents: Any = None,
    judge: Any = None,
    *,
    compat: str | None = None,
    length_limit: int | None = None,
    rubrics: Any = None,
    aggregate: str = "macro",
    confidence_interval: float | None = None,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> Score:
    """Score cited reports against the nuggets of their requests.

    Args:
        predictions: One report a row: a model's answer (prose with marks such as ``[1]``, or JSON); a dict
            (``sentences`` with ``text`` and ``citations``, or a form of the TREC tracks); or a
            :class:`~tls_tasks.reports.types.Report`. Text without a report is a parse failure and scores 0; with
            ``compat``, only JSON is read.
        references: One request a row: JSON text, a dict (``items``, or a ``nugget_bank``), a
            :class:`~tls_tasks.reports.types.ReportRequest`, or a list of dicts of which the first with the report's
            ``request_id`` counts. ``doc_ids`` lists the documents that its prompt showed: ``[1]`` in an answer is the
            first of them or, without ``doc_ids``, of ``documents`` (a flat mapping of up to 1,000). With ``rubrics``, a
            request may have no list of nuggets: then nothing is asked about its sentences.
        documents: Document id -> text or ``{"title", "text"}``; or collection -> such a mapping; or a function
            (see :func:`~tls_tasks.reports.documents.make_lookup`). An id that is not in it is an unsupported citation.
            None: nothing is looked up; for recorded judgments and functions, which may know documents by their ids.
        judge: What answers the questions: a function of a :class:`~tls_tasks.reports.types.Query`, see
            :class:`~tls_tasks.reports.judges.CallableJudge`; a :class:`~tls_tasks.reports.types.Judge`; or recorded
            judgments, a list of rows or ``{"judgments": rows, "defaults": {kind: verdict}}``. None: every question is
            left open.
        compat: ``report_gen_eval``: compute recall and precision as that program (not its documentation) does;
            ``length_limit`` then has no effect, and the other results are NaN.
        length_limit: How many characters (NFKC, sentences joined by blanks) count; later sentences are left out.
        rubrics: Criteria about the whole report: for each report a list of ``{"criterion", "points", "tags"}`` or
            ``{"title", "weight"}``, or an object with such a list in ``rubrics``. Criteria with negative points name
            faults. Points are added up as in HealthBench, see :mod:`tls_tasks.reports.rubrics`.
        aggregate: ``macro``: the mean of the reports' values; ``micro``: ratios of sums.
        confidence_interval: Coverage of an interval over reports, for example 0.95; None: no intervals.
        n_resamples: Resamples of the bootstrap, which is used from 100 rows on.
        seed: Seed of the bootstrap.

    Returns:
        ``recall``, ``precision``, ``sentence_support``, ``citation_support``, ``nugget_coverage``,
        ``nugget_coverage_weighted`` and ``f1`` in [0, 1], NaN where undefined; ``n_unscored``, ``parse_failures``,
        ``counts``; with ``rubrics`` also ``rubric_score``, ``rubric_score_TAG`` of the criteria with that tag,
        ``criteria_met`` and ``criteria_unscored``; see :class:`~tls_tasks.core.score.Score`.

    Raises:
        InputError: Rows that can't be scored, naming index and field; a judge or documents that are missing.
        OptionError: An option that doesn't exist.
        JudgeError: A judge that can't be used at all.
        KeyError: With ``compat``, a row that makes the program drop its report.

    Warns:
        ParseFailureWarning: Predictions in which nothing could be read.
        UnscoredWarning: The judge left questions unanswered.

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
        (1.0, 1.0, 1.0, 1.0)
        >>> score.signature
        'report_eval|agg:macro|judge:custom(<lambda>)|v:4'
    """
    used_judge = _make_judge(judge)
    name = used_judge.name  # read before the judge is asked, which may change its name
    if type(used_judge).__module__.partition(".")[0] != "tls_tasks":  # boards refuse judges of other packages
        name = f"{name},{options.custom_sign(used_judge)}"
    interval = options.interval_options(confidence_interval, n_resamples, seed)
    check_choice("compat", compat, (None, PROGRAM))
    check_choice("aggregate", aggregate, scores.AGGREGATES)
    if length_limit is not None:
        check_whole_number("length_limit", length_limit, least=0)
    limit = length_limit if compat is None else None
    label, interval_label = name.replace("|", "/"), options.interval_sign(interval)
    settings = _Settings(compat, limit, None if rubrics is None else "healthbench", aggregate, label, interval_label)
    rows = read_rows(predictions, references, documents, limit=limit, compat=compat is not None)
    # Rows that can't be read are refused before the judge is asked.
    criteria = rubrics_of(rubrics, rows)
    lookup = None if documents is None else make_lookup(documents)
    needs_documents = lookup is None and not isinstance(used_judge, Recorded | CallableJudge)
    _check_needs(rows, rubrics is None, needs_documents)
    outcomes: list[tuple[Outcome, ...]] = []
    if compat is None:
        plans = [ReportPlan(row.report or Report("", ""), row.request, lookup) for row in rows]
        outcomes = walk_together([plan.walks() for plan in plans], used_judge)
        reports = zip(rows, plans, outcomes, strict=True)
        items = [scores.report_item(*report) for report in reports]
    else:
        items = score_as_program(rows, lookup, used_judge)
    definitions = scores.results_table(aggregate, zero=compat is not None)
    if criteria is not None:
        items, rubric_results, rubric_outcomes = with_rubrics(items, rows, criteria, used_judge)
        definitions, outcomes = definitions | rubric_results, outcomes + rubric_outcomes
    warn_of_unread([item.row for item in items if item.unit["parse_failures"]], len(items), "reports")
    signature = options.signature("report_eval", settings, VERSION)
    score = Score("report_eval", signature, definitions=definitions, **scores.from_items(items), interval=interval)
    _warn_of_unscored([outcome for of_report in outcomes for outcome in of_report], judge is None)
    return score


def _check_needs(rows: Sequence[ReportRow], needs_nuggets: bool, needs_documents: bool) -> None:
    """Refuse a request without a list of nuggets, and citations without documents."""
    for row in rows:
        if needs_nuggets and not row.request.by_sentence:
            raise InputError("references", row.row, NO_LIST, REQUEST_FORMS)
        cites = row.report and any(sentence.citations for sentence in row.report.sentences)
        if needs_documents and cites and row.request.by_sentence:
            got = f"None, and predictions[{row.row}] cites some"
            raise InputError("documents", None, got, "a mapping of ids to documents")


def _make_judge(spec: Any) -> Judge:
    """Build a judge from None, recorded judgments, a function or a judge.

    Raises:
        InputError: Anything else, or a row that is not a judgment.

    Example:
        >>> from tls_tasks.reports.types import Query
        >>> judge = _make_judge([{"kind": "check_negative", "sentence": "s", "verdict": "NO"}])
        >>> [verdict.value for verdict in judge.ask([Query("negative", {"sentence": text}) for text in "st"])]
        [False, None]
    """
    if spec is None:
        return Recorded([], name="none")
    if isinstance(spec, Mapping) and "judgments" in spec:
        return Recorded(spec["judgments"], defaults=spec.get("defaults"))
    if isinstance(spec, list | tuple):
        return Recorded(spec)
    if callable(getattr(spec, "ask", None)):
        return cast(Judge, spec)
    if callable(spec):
        return CallableJudge(spec)
    raise InputError("judge", None, describe(spec), _JUDGE_FORMS)


def _warn_of_unscored(outcomes: Sequence[Outcome], has_no_judge: bool) -> None:
    """Warn of questions without a verdict, with their three most frequent reasons, if there are any."""
    verdicts = [verdict for outcome in outcomes for _, verdict in outcome.verdicts]
    missing = [verdict for verdict in verdicts if verdict.value is None]
    if missing:
        reasons = Counter(" ".join(filter(None, (verdict.reason, verdict.raw))) for verdict in missing)
        common = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common(3))
        cause = f"no judge was given, judge={_JUDGE_FORMS}" if has_no_judge else common
        n_sentences = sum(outcome.score is None for outcome in outcomes)
        message = f"report_eval: no verdict on {len(missing)} of {len(verdicts)} questions: {cause}"
        effect = "they are left out, and coverage and recall can only be higher"
        warn_caller(f"{message}; sentences unscored: {n_sentences}; {effect}", UnscoredWarning)
