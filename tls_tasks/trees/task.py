"""The extraction tasks.

The documents of a task may have different schemas, so that there is no one tree of results. A document's values are
those of ``tree_eval`` with its own schema; over documents counts are summed, and scores averaged.
"""

import json
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.score import Score, mean, ratio, total
from tls_tasks.core.task import Task, shorter_text
from tls_tasks.trees.counts import KINDS
from tls_tasks.trees.data import ALL_SETS, GROUNDED, examples, grounded_prompt, load_documents, prompt, shown_sources
from tls_tasks.trees.grounds import with_quotes
from tls_tasks.trees.leaf_metrics import DEFAULT_METRICS
from tls_tasks.trees.picture import picture
from tls_tasks.trees.plan import make_plan
from tls_tasks.trees.score import grounded_results, node_results, rate_results, value_results
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import ANY_OF

METRICS = tuple(sorted({name for names in DEFAULT_METRICS.values() for name in names}))
"""The leaf metrics that any leaf may have by default."""

_PARSE_FAILURES = {"parse_failures": total("parse_failures", better=False)}
_NODES, _VALUES = node_results(empty=1.0), value_results()
_FIRST = {key: _VALUES[key] for key in ("f1_value", "precision_value", "recall_value", "f1_value_exact")}
"""What one reports comes first, and with it node F1 and parse failures."""

_TABLE = {
    **_FIRST,
    "f1_node": _NODES["f1_node"],
    **_PARSE_FAILURES,
    **_VALUES,
    "treeval_score": mean("treeval_score"),
    **_NODES,
    **{name: ratio(f"score|{name}", f"scored|{name}") for name in METRICS},  # over documents with such a leaf
    **{
        f"leaves_{kind}": total(f"leaves|{kind}", better=better)
        for kind, better in zip(KINDS, (True, False, False, False, None), strict=True)
    },
    **rate_results(),
}


def _score(doc: Mapping[str, Any], answer: str) -> Score:
    return tree_eval([answer], [doc["reference"]], doc["schema"], sources=shown_sources(doc))


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


def _gold(doc: Mapping[str, Any]) -> str:
    """Return the reference as JSON, with the first of several valid answers."""
    return json.dumps(json.loads(doc["reference"], object_hook=_first_answer), ensure_ascii=False)


def _gold_quoted(doc: Mapping[str, Any]) -> str:
    """Return the reference as JSON in which each value has a sentence or line of the text as quote."""
    tree = with_quotes(make_plan(json.loads(doc["schema"])), json.loads(_gold(doc)), doc["text"])
    return json.dumps(tree, ensure_ascii=False)


def _first_answer(tree: dict[str, Any]) -> Any:
    return tree[ANY_OF][0] if tree.keys() == {ANY_OF} else tree


def _task(name: str) -> Task:
    quoted = name == GROUNDED
    table = {**_FIRST, **grounded_results(), **_TABLE} if quoted else _TABLE
    asks = (grounded_prompt, _gold_quoted) if quoted else (prompt, _gold)
    parts = load_documents, *asks, _unit, lambda doc, answer: {"tree_eval": _score(doc, answer)}, picture
    headline = "grounded_f1" if quoted else "f1_value"
    return Task(name, "trees", table, *parts, headline=headline, fewshot=examples, shorter=shorter_text)


TASKS = {name: _task(name) for name in ALL_SETS}
