"""report_eval as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import tls_tasks
from tls_tasks.reports import columns as report_columns

_DESCRIPTION = """
Cited reports: whether the cited documents support each sentence, and which nuggets (questions with answers) of its
request a report gives. Yes/no questions are put to a judge: recorded judgments, a function, or a model. What the judge
does not answer is unscored and counted, never a no.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: one report a row: JSON text or a dict with "sentences", each with "text" and "citations" (ids of
        documents); or the form of the TREC tracks ("metadata", "responses" or "answer", "references").
    references: one request a row: JSON text or a dict with "query_id" and "items" ("question_text", "gold_answers",
        "info"), or with a "nugget_bank"; or a list of such dicts, of which the one with the report's id counts.
    documents: document id -> text or {"title", "text"}; collection -> such a mapping; a function or a store. Citations
        of other ids are unsupported. Default None: the judge knows documents by their ids.
    judge: recorded judgments (a list of {"kind", "sentence", "doc_id" or "question" and "answer", "verdict"}), a
        function of a query, or a judge of tls_tasks.reports.judges. Default None: nothing can be asked.
    compat (str): "report_gen_eval" gives that program's recall and precision. Default None.
    recall_unit (str): what recall counts: "answer" (pairs of question and answer; default), "question", or "item".
    first_instance_scope (str): an uncited claim is ignored if a "cited" sentence made it before (default), or if "any".
    nugget_answers (str): whether a question takes "any" or "all" of its answers, or what its nugget says ("as_given").
    length_limit (int): characters that count; sentences beyond them are left out. Default None.
    aggregate (str): "macro" (the mean of the reports' values; default) or "micro" (ratios of sums).
    confidence_interval (float): coverage of a bootstrap interval over reports, for example 0.95. Default None: none.
    n_resamples (int): resamples of the interval. Default 1000.
    seed (int): seed of the interval. Default 12345.
    detailed (bool): also return "runs", and "items", one a report, with sentences, paths, verdicts and nuggets.

Returns:
    recall, precision: of the decision tree of the SIGIR 2024 paper; floats in [0, 1], NaN where undefined.
    sentence_support, citation_support, nugget_coverage, nugget_coverage_weighted: the same.
    f1: harmonic mean of sentence_support and nugget_coverage.
    n_unscored: sentences that have no score, since a verdict is missing; parse_failures: predictions without a report.
    counts: what the ratios were made from.
    signature: how the numbers were made; quote it with them.

Examples:
    >>> report_eval = evaluate.load("report_eval")
    >>> sentence = "It rained on Monday."
    >>> nugget = {"question_text": "When?", "gold_answers": ["on Monday", "at night"]}
    >>> results = report_eval.compute(
    ...     predictions=[{"sentences": [{"text": sentence, "citations": ["d1"]}]}],
    ...     references=[{"query_id": "7", "items": [nugget]}],
    ...     documents={"d1": "Heavy rain fell on Monday."},
    ...     judge=[
    ...         {"kind": "citation_support", "sentence": sentence, "doc_id": "d1", "verdict": "YES"},
    ...         {"kind": "nugget_agreement", "sentence": sentence, "question": "When?", "answer": "on Monday",
    ...          "verdict": "YES"},
    ...         {"kind": "nugget_agreement", "sentence": sentence, "question": "When?", "answer": "at night",
    ...          "verdict": "NO"},
    ...     ],
    ... )
    >>> print(results["recall"], results["precision"], results["nugget_coverage"])
    0.5 1.0 1.0
    >>> print(results["signature"])
    report_eval|unit:answer|first:cited|answers:as_given|agg:macro|judge:recorded|v:1
"""

_CITATION = """
@inproceedings{mayfield-etal-2024-evaluation,
    title = "On the Evaluation of Machine-Generated Reports",
    author = "Mayfield, James and Yang, Eugene and Lawrie, Dawn and MacAvaney, Sean and McNamee, Paul and
        Oard, Douglas W. and Soldaini, Luca and Soboroff, Ian and Weller, Orion and Kayi, Efsun and Sanders, Kate and
        Mason, Marc and Hibbler, Noah",
    booktitle = "Proceedings of the 47th International ACM SIGIR Conference on Research and Development in Information
        Retrieval",
    year = "2024",
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class ReportEval(evaluate.Metric):
    """Support by citations and coverage of nuggets of cited reports."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Strings only: rows are packed as JSON, since Arrow refuses rows with other keys and changes values.
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
            reference_urls=["https://arxiv.org/abs/2405.00982"],
        )

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Add one row, in any form that ``compute`` takes."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add rows, in any form that ``compute`` takes; a row that can't be scored is refused here."""
        super().add_batch(**report_columns.pack_batch(predictions, references))

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, Any] | None:
        """Score the given rows, or those that were added; see the module's description for the options."""
        result: dict[str, Any] | None = super().compute(predictions=predictions, references=references, **options)
        return result

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        documents: Any = None,
        judge: Any = None,
        compat: str | None = None,
        recall_unit: str = "answer",
        first_instance_scope: str = "cited",
        nugget_answers: str = "as_given",
        length_limit: int | None = None,
        aggregate: str = "macro",
        confidence_interval: float | None = None,
        n_resamples: int = 1000,
        seed: int = 12345,
        detailed: bool = False,
    ) -> dict[str, Any]:
        score = tls_tasks.report_eval(
            report_columns.unpack_batch(predictions),
            report_columns.unpack_batch(references),
            documents=documents,
            judge=judge,
            compat=compat,
            recall_unit=recall_unit,
            first_instance_scope=first_instance_scope,
            nugget_answers=nugget_answers,
            length_limit=length_limit,
            aggregate=aggregate,
            confidence_interval=confidence_interval,
            n_resamples=n_resamples,
            seed=seed,
        )
        result: dict[str, Any] = score.as_dict(detailed=detailed)
        return result
