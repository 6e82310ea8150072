"""FAMILIES and METRICS: the one list of what can be asked and scored, read by docs, tests, hosts and commands.

A metric is data: its name, the function that computes it, its result keys, range and direction, where it comes from,
and what holds for it. Functions and tasks are named, not imported, so that reading the registry costs nothing.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

INVARIANTS: Mapping[str, str] = {
    "identity_is_one": "a prediction equal to its reference scores 1",
    "swap_exchanges_precision_and_recall": "exchanging prediction and reference exchanges precision and recall",
    "row_order_is_irrelevant": "the order of the rows does not change the corpus score",
    "unit_order_is_irrelevant": "the order of the parts of a prediction does not change its score",
    "repeated_reference_is_irrelevant": "giving the same reference twice changes nothing",
    "empty_prediction_scores_zero": "a prediction with nothing in it scores 0",
    "unparsable_prediction_scores_zero": "text in which nothing can be read scores 0 and counts as a parse failure",
}
"""What holds for a metric, unless it declares otherwise; ``tests/test_contract.py`` proves every declaration, the
exceptions too."""


_PARTS = ("precision", "recall", "f1")


@dataclass(frozen=True, slots=True)
class MetricSpec:
    """What is known of one metric.

    Attributes:
        name: Registry key, and folder under ``metrics/``. The function of this name lies in
            ``tls_tasks/FAMILY/NAME.py``; called as ``function(predictions, references, **options)``, it returns a typed
            score with ``as_dict()``.
        family: What a row is: ``timelines``, ``summaries`` …; decides which tasks report the metric and which cases
            the contract tests use.
        prefixes: Result keys are ``<prefix>_precision``, ``<prefix>_recall`` and ``<prefix>_f1``; empty where ``keys``
            names them.
        summary: One line for tables.
        original: The tool whose numbers are reproduced.
        citation: Paper and section, or the document that defines it.
        fails: The names of :data:`INVARIANTS` that do not hold: False, or None where it cannot be asked (several
            references of a metric that takes one).
        keys: The result keys of a metric without prefixes: the values that a prediction is judged by.
        further_keys: What ``as_dict()`` gives besides, but for the signature: counts, rates, trees.
        columns: The columns of rows that the function takes.
        value_range: Lowest and highest value.
        higher_is_better: Direction.
    """

    name: str
    family: str
    summary: str
    original: str
    citation: str
    prefixes: tuple[str, ...] = ()
    fails: Mapping[str, bool | None] = field(default_factory=dict)
    keys: tuple[str, ...] = ()
    further_keys: tuple[str, ...] = ()
    columns: tuple[str, ...] = ("predictions", "references")
    value_range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True

    @property
    def invariants(self) -> dict[str, bool | None]:
        """Each name of :data:`INVARIANTS` -> whether it holds."""
        return {**dict.fromkeys(INVARIANTS, True), **self.fails}

    @property
    def result_keys(self) -> tuple[str, ...]:
        """The keys of ``as_dict()`` by which a prediction is judged, in order: numbers in ``value_range``."""
        return self.keys or tuple(f"{prefix}_{part}" for prefix in self.prefixes for part in _PARTS)

    @property
    def module(self) -> str:
        """Where the function is."""
        return f"tls_tasks.{self.family}.{self.name}"

    @property
    def rows(self) -> str:
        """The module that reads the family's rows.

        Its ``check_row(row, field, index)`` refuses a row that cannot be scored, its ``as_plain(value)`` turns the
        family's own objects into plain values, and its ``is_row(mapping)`` tells a bare row from rows by name.
        """
        return f"tls_tasks.{self.family}.rows"

    def load(self) -> Callable[..., Any]:
        """Import the function."""
        function: Callable[..., Any] = getattr(importlib.import_module(self.module), self.name)
        return function


METRICS: Mapping[str, MetricSpec] = {
    spec.name: spec
    for spec in (
        MetricSpec(
            name="alignment_rouge",
            family="timelines",
            prefixes=("ar1", "ar2"),
            summary="ROUGE-1 and ROUGE-2 of two timelines whose dates are aligned first (AR-1, AR-2)",
            original="tilse 0.2.1 with ROUGE-1.5.5",
            citation="Martschat & Markert, Improving ROUGE for Timeline Summarization, EACL 2017",
            fails={"identity_is_one": False},  # m:1: one text on two dates ties, and the earlier date wins
        ),
        MetricSpec(
            name="date_f1",
            family="timelines",
            prefixes=("date",),
            summary="precision, recall and F1 of the dates that a timeline selects",
            original="tilse 0.2.1, evaluate_dates",
            citation="Martschat & Markert, A Temporally Sensitive Submodularity Framework for TLS, CoNLL 2018",
        ),
        MetricSpec(
            name="rouge_l",
            family="summaries",
            prefixes=("rouge_l",),
            summary="ROUGE-L and rougeLsum of summaries, with tokenisers for every script",
            original="context-bench (957190f) and rouge_score 0.1.2",
            citation="Lin, ROUGE: A Package for Automatic Evaluation of Summaries, 2004, section 3",
            fails={
                "unit_order_is_irrelevant": False,  # word order is what it measures
                "unparsable_prediction_scores_zero": False,  # any text is a summary: a refusal scores what its words do
            },
        ),
        MetricSpec(
            name="report_eval",
            family="reports",
            keys=(
                *("recall", "precision", "sentence_support", "citation_support"),
                *("nugget_coverage", "nugget_coverage_weighted", "f1"),
            ),
            further_keys=("n_unscored", "parse_failures", "counts"),
            summary="cited reports: support by citations and coverage of nuggets, by a judge's answers",
            original="report_gen_eval (b34e68e), with `compat`; by default its documentation",
            citation="Mayfield et al., On the Evaluation of Machine-Generated Reports, SIGIR 2024",
            fails={
                "swap_exchanges_precision_and_recall": False,  # sentences are counted there, nuggets here
                "unit_order_is_irrelevant": False,  # an uncited claim passes after a sentence that cites for it
            },
        ),
        MetricSpec(
            name="evidence_extraction",
            family="evidence",
            summary="objects without canonical labels, matched by domain and quoted span; attributes; grounding",
            original="scorer of the Ashwam exercise A",
            citation="Ashwam Exercise A: Evidence-Grounded Extraction & Evaluation, section 3",
            fails={
                "unit_order_is_irrelevant": False,  # of equal overlaps the lowest positions are matched first
                "repeated_reference_is_irrelevant": None,
            },
            keys=("precision", "recall", "f1"),
            further_keys=(
                *("tp", "fp", "fn", "polarity_accuracy", "bucket_accuracy", "level_accuracy", "time_accuracy"),
                *("evidence_coverage", "evidence_coverage_normalised", "domains", "parse_failures", "schema_invalid"),
            ),
            columns=("predictions", "references", "sources"),
        ),
        MetricSpec(
            name="tree_eval",
            family="trees",
            summary="structured answers (JSON trees) under a schema: values, nodes and leaves, lists in any order",
            original="treeval (a56937f) and its conceptual guide",
            citation="Fradet & Cripwell, treeval: Conceptual guide, NuMind, 2025",
            fails={
                "repeated_reference_is_irrelevant": None,
                "empty_prediction_scores_zero": False,  # no node is wrong: precision_node is 1; values and leaves are 0
                "unparsable_prediction_scores_zero": False,  # it counts as an empty tree, and as a parse failure
            },
            keys=(
                *(f"{part}_{of}" for of in ("value", "value_exact", "node", "leaf") for part in _PARTS),
                "treeval_score",
            ),
            further_keys=(
                *("values", "leaves", "averages", "fields", "json_valid", "parsed", "repaired", "duplicate_keys"),
                *("non_finite", "schema_compliance", "type_errors"),
            ),
        ),
    )
}


FAMILIES: Mapping[str, str] = {
    family: f"tls_tasks.{family}.task" for family in ("timelines", "summaries", "evidence", "trees", "reports")
}
"""Family -> the module with its ``TASKS``."""


def _tasks_of(family: str) -> Mapping[str, Any]:
    """The family's tasks by name; imports the family."""
    tasks: Mapping[str, Any] = importlib.import_module(FAMILIES[family]).TASKS
    return tasks


def find_task(name: str) -> Any:
    """The task called ``name``, a :class:`~tls_tasks.core.task.Task`.

    Raises:
        OptionError: If there is none; the message lists the names that exist.

    Example:
        >>> find_task("summ_qmsum").family
        'summaries'
    """
    from tls_tasks.core.errors import OptionError

    known: list[str] = []
    begin = name.partition("_")[0]  # summ, tree …: asked first, since importing another family may take a second
    for family in sorted(FAMILIES, key=lambda family: not family.startswith(begin)):
        tasks = _tasks_of(family)
        if name in tasks:
            return tasks[name]
        known += tasks
    raise OptionError.unknown("task", name, known)
