"""tree_eval as a module of Hugging Face evaluate. The scorer lives in the installed package ``tls-tasks``."""

from collections.abc import Sequence
from typing import Any

import datasets
import evaluate

import tls_tasks
from tls_tasks.trees import rows as tree_rows

_DESCRIPTION = """
Structured output (JSON trees) against reference trees: a schema says what each leaf is and how it is scored; lists are
compared in any order; precision, recall and F1 of nodes and leaves stand beside the scores of the leaves.
"""

_KWARGS_DESCRIPTION = """
Args:
    predictions: one tree a row: what a model wrote, or plain Python values.
    references: one tree a row, as JSON or plain Python values; several valid answers of a leaf as {"$any_of": [...]}.
    schema: treeval's form ("string", ["string"], ["4/4", "2/2"] for a choice, dictionaries, [{...}]), JSON Schema, or a
        pydantic model class.
    leaf_metrics (dict): type or path -> a metric or a list of them: names, {"metric": name, option: value}, modules of
        evaluate, functions. Default None: by type.
    compat (str): "treeval" gives its program's numbers; default None, its guide's.
    exclusive_metrics (bool): a leaf with metrics by its path doesn't have those of its type. Default False.
    list_order (str or dict): "unordered" (default), "ordered", "key:NAME", or path -> one of these.
    hierarchical_averaging (bool): a dictionary's mean counts as one value in that of the one around it. Default False.
    weights (dict): type or path -> the leaf's weight in averages and alignments. Default None: all 1.
    thresholds (float or dict): the normalised score from which a value is correct, or type or path -> it. Default None.
    parse_mode (str): how model text is read: "lenient" (default), or "strict": JSON and nothing else.
    confidence_interval (float): coverage of bootstrap intervals, for example 0.95. Default None: none.
    n_resamples (int): resamples of the intervals. Default 1000.
    seed (int): seed of the intervals. Default 12345.
    options (dict): how to count, align and average where treeval's guide and program part; see tls-tasks'
        docs/tree_eval_options.md. Default None.
    detailed (bool): also return "items", each row's own numbers, leaves and alignments, and what was wrong in
        reading.

Returns:
    leaves: a tree in the shape of the schema; each leaf has its metrics' means, or None where nothing was scored.
    precision_node, recall_node, f1_node: of the structure; floats in [0, 1].
    precision_leaf, recall_leaf, f1_leaf: of values that are there where they should be; floats in [0, 1].
    treeval_score: the mean of the metrics, times f1_node, times f1_leaf.
    averages: "per_metric" and "per_leaf_type".
    fields: path -> how many values are correct, wrong, missed, invented and rightly absent.
    pass_rates: path -> the part of correct values, if thresholds were given.
    json_valid, parsed, repaired, duplicate_keys, non_finite, schema_compliance: rates of predictions in [0, 1].
    type_errors: how many values have another type than the schema says.
    <key>_ci: [low, high], if intervals were asked for.
    signature: how the numbers were made; quote it with them.

Examples:
    >>> tree_eval = evaluate.load("tree_eval")
    >>> results = tree_eval.compute(
    ...     predictions=['The tree: {"name": "baroo", "tempo": 81, "instruments": ["drums", "bass"]}'],
    ...     references=[{"name": "bar", "tempo": 81, "instruments": ["bass", "drums"]}],
    ...     schema={"name": "string", "tempo": "integer", "instruments": ["string"]},
    ... )
    >>> print(results["leaves"])
    {'name': {'indel_ratio': 0.75}, 'tempo': {'exact_match': 1.0}, 'instruments': {'indel_ratio': 1.0}}
    >>> print(results["treeval_score"], results["f1_node"])
    0.9375 1.0
"""

_CITATION = """
@software{treeval,
    title = "treeval",
    author = "Fradet, Nathan and Cripwell, Liam",
    organization = "NuMind",
    url = "https://github.com/NuMindAI/Treeval",
}
"""


@evaluate.utils.file_utils.add_start_docstrings(_DESCRIPTION, _KWARGS_DESCRIPTION)
class TreeEval(evaluate.Metric):
    """Scores of leaves by a schema, precision and recall of nodes and leaves."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_KWARGS_DESCRIPTION,
            # Strings only: rows are packed as JSON, so that NaN, large integers and missing keys come through as given.
            features=datasets.Features(
                {"predictions": datasets.Value("string"), "references": datasets.Value("string")}
            ),
            reference_urls=["https://github.com/NuMindAI/Treeval"],
        )

    def add(self, *, prediction: Any = None, reference: Any = None) -> None:
        """Add one row, in any form that ``compute`` takes."""
        self.add_batch(predictions=[prediction], references=[reference])

    def add_batch(self, *, predictions: Any = None, references: Any = None) -> None:
        """Add rows, in any form that ``compute`` takes; a row that can't be scored is refused here."""
        super().add_batch(**tree_rows.pack_batch(predictions, references))

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> dict[str, Any] | None:
        """Score the given rows, or those that were added; see the module's description for the options."""
        result: dict[str, Any] | None = super().compute(predictions=predictions, references=references, **options)
        return result

    def _compute(
        self,
        predictions: Sequence[str],
        references: Sequence[str],
        schema: Any,
        leaf_metrics: Any = None,
        compat: str | None = None,
        exclusive_metrics: bool = False,
        list_order: Any = "unordered",
        hierarchical_averaging: bool = False,
        weights: Any = None,
        thresholds: Any = None,
        parse_mode: str = "lenient",
        confidence_interval: float | None = None,
        n_resamples: int = 1000,
        seed: int = 12345,
        options: dict[str, str] | None = None,
        detailed: bool = False,
    ) -> dict[str, Any]:
        score = tls_tasks.tree_eval(
            tree_rows.unpack_batch(predictions),
            tree_rows.unpack_batch(references),
            schema,
            leaf_metrics,
            compat=compat,
            exclusive_metrics=exclusive_metrics,
            list_order=list_order,
            hierarchical_averaging=hierarchical_averaging,
            weights=weights,
            thresholds=thresholds,
            parse_mode=parse_mode,
            confidence_interval=confidence_interval,
            n_resamples=n_resamples,
            seed=seed,
            options=options,
        )
        result: dict[str, Any] = score.as_dict(detailed=detailed)
        return result
