"""What tree_eval and its peers say of a silent, a lazy, a wrong and a perfect answer, on the same 20 cases.

    python benchmarks/tree_peers.py

Five trees (flat, nested, a list of strings, a list of objects, fields that are rightly null), each answered in four
ways: with nothing, with one value that is right and nothing else, with nothing but values that are wrong, and with the
reference itself. Each tool says one number of each, by its defaults; DeepDiff is told to take lists in any order.
Prints the means of each kind of answer, then all cases, and then values with quotes of one document: right and quoted
but for one value. stickler and deepeval get these without their quotes, of which they know nothing; deepeval's number
is that of ExactMatchMetric, since its other metrics ask a language model. treeval is our ``compat``, the peers are in
the extra ``bench``; one that is not installed is named.
"""

from __future__ import annotations

import importlib
import json
import math
import statistics
from collections.abc import Callable, Mapping
from typing import Any

from tls_tasks.trees.tree_eval import tree_eval

Tree = dict[str, Any]
Tool = Callable[[Tree, Tree, Tree], float]
"""Reference, answer, JSON Schema -> the number."""

TEXT, INTEGER, NUMBER, BOOLEAN = ({"type": name} for name in ("string", "integer", "number", "boolean"))
TEXT_OR_NULL = {"type": ["string", "null"]}
KINDS = ("silent", "lazy", "wrong", "perfect")


def _object(**properties: Tree) -> Tree:
    return {"type": "object", "properties": properties}


def _list(items: Tree) -> Tree:
    return {"type": "array", "items": items}


TREES: Mapping[str, tuple[Tree, Tree, Tree, Tree, Tree]] = {
    "flat": (
        _object(song=TEXT, artist=TEXT, tempo=INTEGER, live=BOOLEAN),
        {"song": "Rain", "artist": "Mika Berg", "tempo": 81, "live": False},
        {},
        {"song": "Rain"},
        {"song": "Summer", "artist": "The Owls", "tempo": 120, "live": True},
    ),
    "nested": (
        _object(seller=_object(name=TEXT, city=TEXT), total=_object(amount=NUMBER, currency=TEXT)),
        {"seller": {"name": "Acme", "city": "Ulm"}, "total": {"amount": 12.5, "currency": "EUR"}},
        {},
        {"seller": {"name": "Acme"}},
        {"seller": {"name": "Globex", "city": "Bonn"}, "total": {"amount": 99.0, "currency": "USD"}},
    ),
    "strings": (
        _object(instruments=_list(TEXT)),
        {"instruments": ["bass", "drums", "piano", "violin"]},
        {"instruments": []},
        {"instruments": ["bass"]},
        {"instruments": ["flute", "harp", "organ", "tuba"]},
    ),
    "objects": (
        _object(lines=_list(_object(item=TEXT, quantity=INTEGER))),
        {"lines": [{"item": "hammer", "quantity": 2}, {"item": "screws", "quantity": 500}]},
        {"lines": []},
        {"lines": [{"item": "hammer"}]},
        {"lines": [{"item": "paint", "quantity": 7}, {"item": "ladder", "quantity": 1}]},
    ),
    "nulls": (
        _object(name=TEXT, born=INTEGER, email=TEXT_OR_NULL, phone=TEXT_OR_NULL),
        {"name": "Ada Winter", "born": 1975, "email": None, "phone": None},
        {"name": None, "born": None, "email": None, "phone": None},
        {"name": "Ada Winter", "born": None, "email": None, "phone": None},
        {"name": "Tom Lake", "born": 1990, "email": "tom@example.org", "phone": "555-0100"},
    ),
}
"""Name -> schema, reference, and the silent, the lazy and the wrong answer."""


def cases() -> list[tuple[str, str, Tree, Tree, Tree]]:
    """The 20 cases: tree, kind of answer, reference, answer, schema."""
    return [
        (name, kind, reference, answer, schema)
        for name, (schema, reference, *answers) in TREES.items()
        for kind, answer in zip(KINDS, [*answers, reference], strict=True)
    ]


def ours(key: str, compat: str | None = None) -> Tool:
    """A result of tree_eval."""
    return lambda reference, answer, schema: tree_eval([answer], [reference], schema, compat=compat)[key]


def stickler() -> Tool:
    """The overall score of stickler, whose model is made of the JSON Schema."""
    model_of = importlib.import_module("stickler").StructuredModel.from_json_schema

    def score(reference: Tree, answer: Tree, schema: Tree) -> float:
        model = model_of({"title": "Answer", **schema})
        return float(model(**reference).compare_with(model(**answer))["overall_score"])

    return score


def anls_star() -> Tool:
    """ANLS*, which needs no schema."""
    function = importlib.import_module("anls_star").anls_score
    return lambda reference, answer, _: float(function(reference, answer))


def deepdiff() -> Tool:
    """1 less the distance by which DeepDiff pairs the items of lists; it has no score of its own."""
    diff = importlib.import_module("deepdiff").DeepDiff

    def score(reference: Tree, answer: Tree, _: Tree) -> float:
        return 1 - float(diff(reference, answer, ignore_order=True, get_deep_distance=True)["deep_distance"])

    return score


OURS: Mapping[str, Tool] = {
    **{f"`{key}`": ours(key) for key in ("f1_value", "f1_value_exact", "f1_node", "f1_leaf", "treeval_score")},
    'treeval (`compat="treeval"`)': ours("treeval_score", "treeval"),
}
PEERS: Mapping[str, Callable[[], Tool]] = {
    "stickler, overall score": stickler,
    "ANLS*": anls_star,
    "DeepDiff, 1 - deep distance": deepdiff,
}


def installed(make: Callable[[], Tool]) -> Tool | None:
    """The tool, or None."""
    try:
        return make()
    except ImportError:
        return None


def numbers() -> dict[str, list[float] | None]:
    """Name of the number -> its value of each case; None where the tool is not installed."""
    tools = {**OURS, **{name: installed(make) for name, make in PEERS.items()}}
    return {name: tool and [tool(*case[2:]) for case in cases()] for name, tool in tools.items()}


def table(found: Mapping[str, list[float] | None]) -> list[str]:
    """The mean of each kind of answer, over the trees for which there is a number."""
    lines = [f"| number | {' | '.join(KINDS)} |", "|---|" + "---:|" * len(KINDS)]
    for name, values in found.items():
        if values is None:
            lines.append(f"| {name} |" + " not installed |" * len(KINDS))
            continue
        of_kinds = [[value for value in values[i :: len(KINDS)] if not math.isnan(value)] for i in range(len(KINDS))]
        less = "" if len(of_kinds[0]) == len(TREES) else f", {len(of_kinds[0])} of {len(TREES)} trees"
        lines.append(f"| {name}{less} | {' | '.join(f'{statistics.fmean(some):.2f}' for some in of_kinds)} |")
    return lines


def every_case(found: Mapping[str, list[float] | None]) -> list[str]:
    """A line a case."""
    lines = [f"| tree | answer | {' | '.join(found)} |", "|---|---|" + "---:|" * len(found)]
    for i, (name, kind, *_) in enumerate(cases()):
        cells = ["not installed" if values is None else f"{values[i]:.2f}" for values in found.values()]
        lines.append(f"| {name} | {kind} | {' | '.join(cells)} |")
    return lines


# --- values with true quotes, with false ones and with none ---

SOURCE = "Acme sold it on 2 April 2024 for EUR 12.50. It weighs 8 kg."
QUOTED_SCHEMA: Tree = {
    "type": "object",
    "properties": {"total": {"type": "number"}, "seller": {"type": "string"}, "vat_id": {"type": ["string", "null"]}},
}
REFERENCE: Tree = {"total": 12.5, "seller": "Acme", "vat_id": None}


def _quoted(value: Any, quote: str) -> Tree:
    return {"value": value, "quote": quote}


RIGHT: Tree = {"total": _quoted(12.5, "for EUR 12.50"), "seller": _quoted("Acme", "Acme sold it"), "vat_id": None}
QUOTED: Mapping[str, Tree] = {
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
GROUNDED = ("f1_value", "grounded_f1", "quote_in_source", "value_in_quote", "fabricated", "fabricated_quoted")


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


def quoted_table() -> list[str]:
    """A line a case."""
    peers = {"stickler": installed(stickler), "deepeval, exact match": installed(deepeval)}
    names = [*(f"`{key}`" for key in GROUNDED), *peers]
    lines = [f"| answer | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for name, answer in QUOTED.items():
        found = tree_eval([answer], [REFERENCE], QUOTED_SCHEMA, sources=[SOURCE])
        told = [tool and tool(REFERENCE, bare(answer), QUOTED_SCHEMA) for tool in peers.values()]
        cells = [*(f"{found[key]:.2f}" for key in GROUNDED), *("-" if one is None else f"{one:.2f}" for one in told)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


if __name__ == "__main__":
    found = numbers()
    print("\n".join([*table(found), "", *every_case(found), "", *quoted_table()]))
