"""The extraction tasks.

The documents of a task may have different schemas, so that there is no one tree of results. A document's values are
those of ``tree_eval`` with its own schema; over documents counts are summed, and scores averaged.
"""

import json
import warnings
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.score import Score, mean, ratio, total, without_nan
from tls_tasks.core.task import Task, shorter_text
from tls_tasks.trees.data import ALL_SETS, examples, load_documents, prompt
from tls_tasks.trees.leaf_metrics import DEFAULT_METRICS
from tls_tasks.trees.pairs import KINDS
from tls_tasks.trees.score import node_results, rate_results, value_results
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import ANY_OF

METRICS = tuple(sorted({name for names in DEFAULT_METRICS.values() for name in names}))
"""The leaf metrics that any leaf may have by default."""

_TABLE = {
    **value_results(),
    "treeval_score": mean("treeval_score"),
    **node_results(empty=1.0),
    **{name: ratio(f"score|{name}", f"scored|{name}") for name in METRICS},  # over documents with such a leaf
    **{
        f"leaves_{kind}": total(f"leaves|{kind}", better=better)
        for kind, better in zip(KINDS, (True, False, False, False, None), strict=True)
    },
    **rate_results(),
    "parse_failures": total("parse_failures", better=False),
}


def _score(doc: Mapping[str, Any], answer: str) -> Score:
    return tree_eval([answer], [doc["reference"]], doc["schema"])


def _unit(doc: Mapping[str, Any], answer: str) -> dict[str, float]:
    score = _score(doc, answer)
    result, unit = score.as_dict(), {**score.units[0], "parse_failures": score.parse_failures}
    unit["treeval_score"] = result["treeval_score"]
    for name in METRICS:
        average = result["averages"]["per_metric"].get(name)
        unit |= {f"score|{name}": average or 0.0, f"scored|{name}": average is not None}
    for kind in KINDS:
        unit[f"leaves|{kind}"] = sum(counts[kind] for counts in result["fields"].values())
    return unit


_LONGEST_SOURCE = 20_000  # characters


def _drawn(doc: Mapping[str, Any], answer: str, explained: Mapping[str, Any]) -> dict[str, Any]:
    """What the page draws of one tree: its rows, and the text that it was taken from.

    ``options`` of a document are arguments of :func:`~tls_tasks.trees.tree_eval.tree_eval`.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # an answer that can't be read is what the page shows
        score = tree_eval([answer], [doc["reference"]], **{"schema": doc.get("schema"), **doc.get("options", {})})
    rows = [[*row[:-1], without_nan(row.scores)] for row in score.items[0].side_by_side()]
    return {"kind": "tree", "rows": rows, "source": doc.get("text", "")[:_LONGEST_SOURCE]}


def _gold(doc: Mapping[str, Any]) -> str:
    """The reference, with the first of several valid answers."""
    return json.dumps(json.loads(doc["reference"], object_hook=_first_answer), ensure_ascii=False)


def _first_answer(tree: dict[str, Any]) -> Any:
    return tree[ANY_OF][0] if tree.keys() == {ANY_OF} else tree


_PARTS = (load_documents, prompt, _gold, _unit, lambda doc, answer: {"tree_eval": _score(doc, answer)}, _drawn)

TASKS = {
    name: Task(name, "trees", _TABLE, *_PARTS, headline="f1_value", fewshot=examples, shorter=shorter_text)
    for name in ALL_SETS
}
