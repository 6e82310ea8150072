"""Responses of extraction tasks -> the values that the harness aggregates.

The documents of a task may have different schemas, so that there is no one tree of results. A document's values are
those of ``tree_eval`` with its own schema; over documents counts are summed, and scores averaged.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.core.answers import answer_text
from tls_tasks.trees.leaf_metrics import DEFAULT_METRICS
from tls_tasks.trees.pairs import FIELDS
from tls_tasks.trees.read import RATES
from tls_tasks.trees.tree_eval import tree_eval

_log = logging.getLogger(__name__)

PARTS = ("precision", "recall", "f1")
LEVELS = ("node", "leaf")

METRICS = tuple(sorted({name for names in DEFAULT_METRICS.values() for name in names}))
"""The leaf metrics that any leaf may have by default."""

_COUNTED = ("tp", "fp", "fn")


def process_tree(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, Any]:
    """Score one response against the document's reference tree.

    Args:
        doc: With ``schema`` and ``reference`` (JSON), and ``doc_id``.
        results: The model's answer as its only element; it is read leniently.

    Returns:
        ``treeval_score`` of the document; ``precision_node`` … ``f1_leaf``, each with the counts ``tp``, ``fp``, ``fn``
        that :func:`tree_precision` and its likes fold; for each of :data:`METRICS` the mean over the document's
        leaves, as ``hits``, with ``of`` 0 where nothing was scored by it; ``leaves_correct`` and the other numbers of
        leaves; the rates of reading and ``schema_compliance`` (0 or 1); ``type_errors``; ``parse_failures`` (0 or 1).

    As in :func:`~tls_tasks.timelines.task.process_timeline` an exception would lose the whole run: text of a model
    raises none, and should the scorer fail all the same, the document's values are NaN and the log says why.
    """
    try:
        with warnings.catch_warnings():
            # Answers that can't be read are counted for the whole run; a line a document would bury the table.
            warnings.simplefilter("ignore", UserWarning)
            return _values(doc, answer_text(results))
    except Exception:  # see above: nothing may cost the run, and NaN hides nothing
        _log.exception("tree_eval could not score document %s: its values are NaN", doc.get("doc_id", "?"))
        return _nothing()


def result_keys() -> list[str]:
    """The keys of :func:`process_tree`, which a task's ``metric_list`` must name one by one."""
    return list(_nothing())


def explain(doc: Mapping[str, Any], results: Sequence[Any]) -> dict[str, dict[str, Any]]:
    """Metric -> all that it has to say of one response; arguments as for :func:`process_tree`.

    Raises:
        TlsTasksError: If the document can't be scored.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # as in process_tree
        score = tree_eval([answer_text(results)], [doc["reference"]], doc["schema"])
    return {"tree_eval": score.as_dict(detailed=True)}


def _values(doc: Mapping[str, Any], answer: str) -> dict[str, Any]:
    score = tree_eval([answer], [doc["reference"]], doc["schema"])
    result, sums = score.as_dict(), score.units[0]
    values: dict[str, Any] = {"treeval_score": float(result["treeval_score"])}
    for level in LEVELS:
        counts = {name: sums[f"{level}_{name}"] for name in _COUNTED}
        values |= {f"{part}_{level}": counts for part in PARTS}
    averages = result["averages"]["per_metric"]
    for name in METRICS:
        mean = averages.get(name)
        values[name] = {"hits": mean or 0.0, "of": int(mean is not None)}
    for kind in FIELDS:
        values[f"leaves_{kind}"] = sum(field[kind] for field in result["fields"].values())
    values |= {name: float(result[name]) for name in (*RATES, "schema_compliance")}
    return {**values, "type_errors": int(result["type_errors"]), "parse_failures": score.parse_failures}


def _nothing() -> dict[str, Any]:
    """NaN for every value, in the order and the form of the values."""
    counts = dict.fromkeys(_COUNTED, math.nan)
    return {
        "treeval_score": math.nan,
        **{f"{part}_{level}": counts for level in LEVELS for part in PARTS},
        **{name: {"hits": math.nan, "of": math.nan} for name in METRICS},
        **{f"leaves_{kind}": math.nan for kind in FIELDS},
        **dict.fromkeys((*RATES, "schema_compliance", "type_errors", "parse_failures"), math.nan),
    }
