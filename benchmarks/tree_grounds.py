"""What tree_eval and its peers say of values with true quotes, with false ones and with none, on the same 12 cases.

    python benchmarks/tree_grounds.py

One document with three fields, of which the reference leaves one null. The answers are right and quoted but for one
value. stickler and deepeval get the values without their quotes, of which they know nothing; deepeval's number is that
of ExactMatchMetric, since its other metrics ask a language model. One that is not installed is named.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.tree_peers import Tree, installed, stickler
from tls_tasks.trees.tree_eval import tree_eval

SOURCE = "Acme sold it on 2 April 2024 for EUR 12.50. It weighs 8 kg."
SCHEMA: Tree = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "seller": {"type": "string"}, "vat_id": {"type": ["string", "null"]}},
}
REFERENCE: Tree = {"total": 12.5, "seller": "Acme", "vat_id": None}


def _quoted(value: Any, quote: str) -> Tree:
    return {"value": value, "quote": quote}


RIGHT: Tree = {"total": _quoted(12.5, "for EUR 12.50"), "seller": _quoted("Acme", "Acme sold it"), "vat_id": None}
CASES: Mapping[str, Tree] = {
    "right value, true quote": RIGHT,
    "right value, quote with other blanks": RIGHT | {"total": _quoted(12.5, "for EUR\n 12.50")},
    "right value, no quote": RIGHT | {"total": 12.5},
    "right value, false quote": RIGHT | {"total": _quoted(12.5, "the total is 12.50")},
    "right value, true quote of something else": RIGHT | {"total": _quoted(12.5, "It weighs 8 kg")},
    "wrong value, true quote of the right one": RIGHT | {"total": _quoted(8, "for EUR 12.50")},
    "wrong value, true quote that holds it": RIGHT | {"total": _quoted(8, "It weighs 8 kg")},
    "invented, no quote": RIGHT | {"vat_id": "GB 12"},
    "invented, false quote": RIGHT | {"vat_id": _quoted("GB 12", "VAT GB 12")},
    "invented, true quote": RIGHT | {"vat_id": _quoted("Acme", "Acme sold it")},
    "absent and said so, with a quote": RIGHT | {"vat_id": _quoted(None, "Acme sold it")},
    "absent and left out": {key: RIGHT[key] for key in ("total", "seller")},
}
OURS = ("f1_value", "grounded_f1", "quote_in_source", "value_in_quote", "fabricated", "fabricated_quoted")


def bare(answer: Tree) -> Tree:
    """The values without their quotes."""
    return {key: own["value"] if isinstance(own, dict) else own for key, own in answer.items()}


def deepeval() -> Callable[[Tree, Tree, Tree], float]:
    """1 if the texts are equal, else 0."""
    metric = importlib.import_module("deepeval.metrics").ExactMatchMetric()
    case = importlib.import_module("deepeval.test_case").LLMTestCase

    def score(reference: Tree, answer: Tree, _: Tree) -> float:
        texts = {"actual_output": json.dumps(answer), "expected_output": json.dumps(reference)}
        return float(metric.measure(case(input="?", **texts), _show_indicator=False))

    return score


def table() -> list[str]:
    """A line a case."""
    peers = {"stickler": installed(stickler), "deepeval, exact match": installed(deepeval)}
    names = [*(f"`{key}`" for key in OURS), *peers]
    lines = [f"| answer | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for name, answer in CASES.items():
        found = tree_eval([answer], [REFERENCE], SCHEMA, sources=[SOURCE])
        told = [tool and tool(REFERENCE, bare(answer), SCHEMA) for tool in peers.values()]
        cells = [*(f"{found[key]:.2f}" for key in OURS), *("-" if one is None else f"{one:.2f}" for one in told)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    print("\n".join(table()))
