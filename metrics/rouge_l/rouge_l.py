"""rouge_l as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import tls_tasks
from tls_tasks.core import text_rows

_DESCRIPTION = """
ROUGE-L of summaries: precision, recall and F1 of the longest common subsequence of words. The tokeniser is an option
(words between blanks, rouge_score's, words of any script), and the score is the exact mean over the rows.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: one text a row.
    references: one text a row, or a list of them: the one of greatest F counts, the first of equal ones.
    tokenizer (str or function): "whitespace" (lower case, punctuation stays on words; default), "rouge" (rouge_score's
        a-z and 0-9), "unicode" (words of any script, Chinese and Japanese by character), or a function: text -> words.
    use_stemmer (bool): stem words of more than three letters by nltk's Porter stemmer. Default False.
    rouge_types (list of str): "rougeL" (default), "rougeLsum" or both.
    split_summaries (str, pattern or function): where rougeLsum's sentences end: "newline" (default), "regex" (also
        after . ! ?), a compiled pattern to split at, or a function: text -> sentences.
    empty_reference (str): what a reference of no characters scores, "one" (default) or "zero".
    use_aggregator (bool): False gives lists with one value a row instead of means. Default True.
    confidence_interval (float): coverage of a bootstrap interval of each mean, for example 0.95. Default None: none.
    n_resamples (int): resamples of the interval. Default 1000.
    seed (int): seed of the interval. Default 12345.
    detailed (bool): also return "items", one a row, with counts, flags and the number of the best reference.

Returns:
    rouge_l_precision, rouge_l_recall, rouge_l_f1: floats in [0, 1], or lists where use_aggregator=False.
    rouge_lsum_precision, rouge_lsum_recall, rouge_lsum_f1: the same of rougeLsum, if asked for.
    <key>_ci: [low, high], if an interval was asked for.
    signature: how the number was made; quote it with the number.

Examples:
    >>> rouge_l = evaluate.load("rouge_l")
    >>> results = rouge_l.compute(
    ...     predictions=["The budget was approved by the committee."],
    ...     references=["The committee approved the budget."],
    ... )
    >>> print(results["rouge_l_recall"], results["rouge_l_f1"])
    0.6 0.5
    >>> print(results["signature"])
    rouge_l|types:rougeL|tok:whitespace|stem:no|empty:one|refs:best|agg:mean_f|v:1
"""

_CITATION = """
@inproceedings{lin-2004-rouge,
    title = "{ROUGE}: A Package for Automatic Evaluation of Summaries",
    author = "Lin, Chin-Yew",
    booktitle = "Text Summarization Branches Out",
    year = "2004",
    pages = "74--81",
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class RougeL(evaluate.Metric):
    """Precision, recall and F1 of the longest common subsequence of words."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Strings only: rows are packed as JSON, since Arrow takes no list beside a text and no lone surrogates.
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
            reference_urls=["https://aclanthology.org/W04-1013"],
        )

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Add one row, in any form that ``compute`` takes."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add rows, in any form that ``compute`` takes; a row that can't be scored is refused here."""
        super().add_batch(**text_rows.pack_batch(predictions, references))

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, Any] | None:
        """Score the given rows, or those that were added; see the module's description for the options."""
        result: dict[str, Any] | None = super().compute(predictions=predictions, references=references, **options)
        return result

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        tokenizer: Any = "whitespace",
        use_stemmer: bool = False,
        rouge_types: Sequence[str] = ("rougeL",),
        split_summaries: Any = "newline",
        empty_reference: str = "one",
        use_aggregator: bool = True,
        confidence_interval: float | None = None,
        n_resamples: int = 1000,
        seed: int = 12345,
        detailed: bool = False,
    ) -> dict[str, Any]:
        score = tls_tasks.rouge_l(
            text_rows.unpack_batch(predictions),
            text_rows.unpack_batch(references),
            tokenizer=tokenizer,
            use_stemmer=use_stemmer,
            rouge_types=rouge_types,
            split_summaries=split_summaries,
            empty_reference=empty_reference,
            use_aggregator=use_aggregator,
            confidence_interval=confidence_interval,
            n_resamples=n_resamples,
            seed=seed,
        )
        result: dict[str, Any] = score.as_dict(detailed=detailed)
        return result
