"""Quotes and values whose grounds were main_results by the rules before any code had seen them."""

import pytest

from tests.conftest import ROOT, read_jsonl
from tls_tasks.trees.tree_eval import tree_eval

GROUPS = read_jsonl(ROOT / "tests" / "trees" / "grounded.jsonl")
CASES = [(group["source"], kind or group["kind"], *case) for group in GROUPS for kind, *case in group["cases"]]


@pytest.mark.parametrize(("source", "kind", "value", "quote", "expected"), CASES)
def test_a_value_has_grounds(source, kind, value, quote, expected):
    told = {"a": {"value": value, "quote": quote}}
    score = tree_eval([told], [{"a": value}], {"a": kind}, sources=[source])
    assert score.f1_value == 1 and score.grounded_f1 == expected
