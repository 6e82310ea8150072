"""date_f1 as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import tls_tasks
from tls_tasks.timelines import rows as timeline_rows
from tls_tasks.timelines.read import TimelinePolicy

_DESCRIPTION = """
Precision, recall and F1 of the dates that a timeline selects, as tilse's evaluate_dates computes them. A date is right
if the reference has it too; a tolerance in days is an option.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: one timeline a row: model text, a JSON string, a list of {"date": ..., "text": ...}, or
        {date: [sentence, ...]}.
    references: one timeline a row in any of these forms, or a list of several.
    tolerance (int): how many days apart two dates may be and still match, one to one. Default 0.
    reference_mode (str): "separate" (each reference on its own, default) or "joint" (the union of their dates).
    aggregate (str): "f_of_means" (F of mean precision and mean recall, default) or "mean_f".
    beta (float): weight of recall in F. Default 1.0.
    topics (list of str): the topic of each row; topics then have one vote each.
    policy (tls_tasks.timelines.read.TimelinePolicy): how dates and texts are read out of model text.
    detailed (bool): also return "items", one a (row, reference) pair, with matched, missed and spurious dates.

Returns:
    date_precision, date_recall, date_f1: floats in [0, 1], 0.0 where a side has no dates.
    signature: how the number was made; quote it with the number.

Examples:
    >>> date_f1 = evaluate.load("date_f1")
    >>> results = date_f1.compute(
    ...     predictions=["2011-01-25: Protests begin.\\n2011-01-27: The internet is cut off."],
    ...     references=[{"2011-01-25": ["Protests begin in Cairo."], "2011-01-28": ["Friday of Anger."]}],
    ... )
    >>> print(results["date_precision"], results["date_recall"], results["date_f1"])
    0.5 0.5 0.5
    >>> print(results["signature"])
    date_f1|days:0|refs:separate|agg:f_of_means|v:1
"""

_CITATION = """
@inproceedings{martschat-markert-2018-temporally,
    title = "A Temporally Sensitive Submodularity Framework for Timeline Summarization",
    author = "Martschat, Sebastian and Markert, Katja",
    booktitle = "Proceedings of the 22nd Conference on Computational Natural Language Learning",
    year = "2018",
    pages = "230--240",
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class DateF1(evaluate.Metric):
    """Precision, recall and F1 of the dates that a timeline selects."""

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
        tolerance: int = 0,
        reference_mode: str = "separate",
        aggregate: str = "f_of_means",
        beta: float = 1.0,
        topics: Sequence[str] | None = None,
        policy: TimelinePolicy | None = None,
        detailed: bool = False,
    ) -> dict[str, Any]:
        score = tls_tasks.date_f1(
            timeline_rows.unpack_batch(predictions),
            timeline_rows.unpack_batch(references),
            tolerance=tolerance,
            reference_mode=reference_mode,
            aggregate=aggregate,
            beta=beta,
            topics=topics,
            policy=policy,
        )
        result: dict[str, Any] = score.as_dict(detailed=detailed)
        return result
