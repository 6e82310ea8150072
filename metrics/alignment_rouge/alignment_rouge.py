"""alignment_rouge as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from collections.abc import Callable, Sequence
from typing import Any

import datasets
import evaluate

import tls_tasks
from tls_tasks.timelines import rows as timeline_rows
from tls_tasks.timelines.read import TimelinePolicy

_DESCRIPTION = """
Alignment ROUGE of timelines (AR-1, AR-2): the dates of a prediction and a reference are aligned, and the texts of
aligned dates are compared by ROUGE-1 and ROUGE-2. The counts equal those of tilse with ROUGE-1.5.5, without Perl.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: one timeline a row: model text, a JSON string, a list of {"date": ..., "text": ...}, or
        {date: [sentence, ...]}.
    references: one timeline a row in any of these forms, or a list of several.
    variant (str): "concat", "agreement", "align", "align+" or "align+m:1" (default, what papers report as AR).
    reference_mode (str): "separate" (each reference on its own, default) or "joint" (all references at once).
    aggregate (str): "f_of_means" (F of mean precision and mean recall, default) or "mean_f".
    beta (float): weight of recall in F. Default 1.0.
    topics (list of str): the topic of each row; topics then have one vote each.
    engine (str): "rouge155" (exact, default) or "tilse" (tilse with Perl, needs tls-tasks[tilse]).
    tokenizer (str or function): "rouge155" (ASCII only, default), "unicode", or a function sentence -> words.
    remove_stopwords (bool), use_stemmer (bool): both True by default, as in the papers.
    exact_date_mean (bool): also return exact_date_mean_1 and exact_date_mean_2, which are not AR.
    policy (tls_tasks.timelines.read.TimelinePolicy): how dates and texts are read out of model text.
    detailed (bool): also return "variants" (all five) and "items", one a (row, reference) pair, with the alignment.

Returns:
    ar1_precision, ar1_recall, ar1_f1, ar2_precision, ar2_recall, ar2_f1: floats in [0, 1].
    signature: how the number was made; quote it with the number.

Examples:
    >>> alignment_rouge = evaluate.load("alignment_rouge")
    >>> results = alignment_rouge.compute(
    ...     predictions=["2011-01-25: Mass protests erupt in Cairo."],
    ...     references=[{"2011-01-25": ["Protests erupt across Egypt."], "2011-02-11": ["Mubarak resigns."]}],
    ... )
    >>> print(round(results["ar1_precision"], 4), round(results["ar1_recall"], 4), round(results["ar1_f1"], 4))
    0.5 0.4 0.4444
    >>> print(results["signature"])
    alignment_rouge|variant:align+m:1|engine:rouge155|refs:separate|agg:f_of_means|v:1
"""

_CITATION = """
@inproceedings{martschat-markert-2017-improving,
    title = "Improving {ROUGE} for Timeline Summarization",
    author = "Martschat, Sebastian and Markert, Katja",
    booktitle = "Proceedings of the 15th Conference of the European Chapter of the Association for Computational
        Linguistics: Volume 2, Short Papers",
    year = "2017",
    pages = "285--290",
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class AlignmentRouge(evaluate.Metric):
    """ROUGE-1 and ROUGE-2 of timelines whose dates are aligned first."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Strings only: rows are packed as JSON, since Arrow would change or refuse many of them.
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
            reference_urls=["https://github.com/smartschat/tilse"],
        )

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Add one row, in any form that ``compute`` takes."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add rows, in any form that ``compute`` takes; a row that can't be scored is refused here."""
        super().add_batch(**timeline_rows.pack_batch(predictions, references))

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, Any] | None:
        """Score the given rows, or those that were added; see the module's description for the options."""
        result: dict[str, Any] | None = super().compute(predictions=predictions, references=references, **options)
        return result

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        variant: str = "align+m:1",
        reference_mode: str = "separate",
        aggregate: str = "f_of_means",
        beta: float = 1.0,
        topics: Sequence[str] | None = None,
        engine: str = "rouge155",
        tokenizer: str | Callable[[str], Sequence[str]] = "rouge155",
        remove_stopwords: bool = True,
        use_stemmer: bool = True,
        exact_date_mean: bool = False,
        policy: TimelinePolicy | None = None,
        detailed: bool = False,
    ) -> dict[str, Any]:
        score = tls_tasks.alignment_rouge(
            timeline_rows.unpack_batch(predictions),
            timeline_rows.unpack_batch(references),
            variant=variant,
            reference_mode=reference_mode,
            aggregate=aggregate,
            beta=beta,
            topics=topics,
            engine=engine,
            tokenizer=tokenizer,
            remove_stopwords=remove_stopwords,
            use_stemmer=use_stemmer,
            exact_date_mean=exact_date_mean,
            policy=policy,
        )
        result: dict[str, Any] = score.as_dict(detailed=detailed)
        return result
