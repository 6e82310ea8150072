"""evidence_extraction as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import tls_tasks
from tls_tasks.evidence import rows as evidence_rows
from tls_tasks.evidence.types import JOURNAL_SCHEMA

_DESCRIPTION = """
Evidence-grounded extraction: objects without canonical labels, each with a domain, a quoted span and a few constrained
attributes. Objects are matched one to one by domain and by the words that their spans share; attributes are judged on
matches, and evidence coverage says how many predicted quotes stand in the text at all.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: one row a document: model text, a JSON string, or a list of objects.
    references: one row a document: a JSON string or a list of objects.
    sources: the documents' texts, for evidence coverage; None for a text that is not known. Default None: none is.
    schema (schema, str or dict): domains, attributes and keys. Default: the schema of journal entries.
    threshold (float or str): overlap that a match needs, from 0 to 1. Default 0.5.
    overlap (str): "jaccard" (words as sets; default), "token_f1" (words with repetitions), "substring" or "exact".
    tokenizer (str or function): "whitespace" (lower case, punctuation stays on words; default), "strip_punct",
        "unicode", or a function: text -> words.
    matching (str): "greedy" (greatest overlap first, then lowest positions; default) or "optimal" (most matches, then
        greatest sum of overlaps).
    require_grounding (bool): an object whose quote is not verbatim in its source matches nothing. Default False.
    postprocess (str): make objects fit the schema first, and "keep", "drop" or mark "uncertain" those not grounded.
        Default None: score what the model gave.
    macro (bool): also give the means over documents. Default False.
    confidence_interval (float): coverage of a bootstrap interval over documents, for example 0.95. Default None: none.
    n_resamples (int): resamples of the interval. Default 1000.
    seed (int): seed of the interval. Default 12345.
    detailed (bool): also return "items" (one a document, with matches, misses and spurious objects), "confusions",
        "schemes", "issues", "changes" and "problems".

Returns:
    tp, fp, fn: counts over all documents.
    precision, recall, f1: floats in [0, 1], of those counts.
    polarity_accuracy, level_accuracy, time_accuracy: of each attribute of the schema, over matches.
    bucket_accuracy: level and time both right, over matches.
    evidence_coverage, evidence_coverage_normalised: the part of the predicted objects whose quote stands in the source,
        verbatim, or but for Unicode form, quotation marks and blanks; None without sources.
    domains: precision, recall, f1, tp, fp, fn of each domain.
    parse_failures: predictions in which nothing can be read.
    schema_invalid: predicted objects that break the schema.
    signature: how the number was made; quote it with the number.

Examples:
    >>> evidence_extraction = evaluate.load("evidence_extraction")
    >>> tea = {"domain": "food", "evidence_span": "had tea", "polarity": "present", "time_bucket": "today"}
    >>> results = evidence_extraction.compute(
    ...     predictions=['[{"domain": "food", "evidence_span": "Had tea twice", "polarity": "present", '
    ...                  '"intensity_bucket": "low", "time_bucket": "today"}]'],
    ...     references=[[tea]],
    ...     sources=["Had tea twice."],
    ... )
    >>> print(results["f1"], results["polarity_accuracy"], results["bucket_accuracy"], results["evidence_coverage"])
    1.0 1.0 0.0 1.0
    >>> print(results["signature"])
    evidence_extraction|schema:journal|overlap:jaccard|tok:whitespace|threshold:0.5|matching:greedy|agg:micro|v:1
"""

_CITATION = """
@misc{ashwam-exercise-a,
    title = "Ashwam Exercise A: Evidence-Grounded Extraction & Evaluation",
    note = "Section 3: Designed Evaluation Method",
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class EvidenceExtraction(evaluate.Metric):
    """Objects matched by domain and quoted span; attributes on matches; grounding."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Strings only: rows are packed as JSON, since Arrow's structs refuse a key that is missing in one object.
            features=datasets.Features(
                {
                    "predictions": datasets.Value("string"),
                    "references": datasets.Value("string"),
                    "sources": datasets.Value("string"),
                }
            ),
        )

    def add(self, *, prediction: Any = None, reference: Any = None, sources: Any = None) -> None:
        """Add one row, in any form that ``compute`` takes; ``sources`` is the row's text, if it is known."""
        self.add_batch(predictions=[prediction], references=[reference], sources=[sources])

    def add_batch(self, *, predictions: Any = None, references: Any = None, sources: Any = None) -> None:
        """Add rows, in any form that ``compute`` takes; a row that can't be scored is refused here."""
        super().add_batch(**evidence_rows.pack_batch(predictions, references, sources))

    def compute(
        self, *, predictions: Any = None, references: Any = None, sources: Any = None, **options: Any
    ) -> dict[str, Any] | None:
        """Score the given rows, or those that were added; see the module's description for the options."""
        rows = {"predictions": predictions, "references": references, "sources": sources}
        result: dict[str, Any] | None = super().compute(**rows, **options)
        return result

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        sources: Sequence[str] | None = None,
        schema: Any = JOURNAL_SCHEMA,
        threshold: Any = 0.5,
        overlap: str = "jaccard",
        tokenizer: Any = "whitespace",
        matching: str = "greedy",
        require_grounding: bool = False,
        postprocess: str | None = None,
        macro: bool = False,
        confidence_interval: float | None = None,
        n_resamples: int = 1000,
        seed: int = 12345,
        detailed: bool = False,
    ) -> dict[str, Any]:
        score = tls_tasks.evidence_extraction(
            evidence_rows.unpack_batch(predictions),
            evidence_rows.unpack_batch(references),
            None if sources is None else evidence_rows.unpack_batch(sources),
            schema=schema,
            threshold=threshold,
            overlap=overlap,
            tokenizer=tokenizer,
            matching=matching,
            require_grounding=require_grounding,
            postprocess=postprocess,
            macro=macro,
            confidence_interval=confidence_interval,
            n_resamples=n_resamples,
            seed=seed,
        )
        result: dict[str, Any] = score.as_dict(detailed=detailed)
        return result
