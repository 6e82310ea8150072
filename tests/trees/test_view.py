"""Two trees side by side: states, alignment, what a model's text may not do to a terminal."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tls_tasks.trees.differences import _SIGNS, MOST_ROWS, _value_text, table_lines, tree_rows
from tls_tasks.trees.plan import make_plan
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.types import AnyOf

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

NODE = read_schema(
    {"name": "string", "n": "integer", "seller": {"city": "string", "vat": "string"}, "tags": ["string"],
     "lines": [{"item": "string", "notes": ["string"]}]}
)  # fmt: skip
PLAN = make_plan(NODE)


def states(reference, prediction, alignments=None):
    rows = tree_rows(reference, prediction, PLAN, alignments or {})
    return [(row.state, row.depth, row.label) for row in rows]


@pytest.mark.parametrize(
    ("reference", "prediction", "expected"), [*CASES["shapes"], ({"n": AnyOf([1, 2])}, {"n": 2}, [("same", 0, "n")])]
)
def test_shapes(reference, prediction, expected):
    assert states(reference, prediction) == [tuple(row) for row in expected]


def test_alignment():
    reference = {"tags": ["a", "b", "c"], "lines": [{"item": "x", "notes": ["p", "q"]}, {"item": "y", "notes": []}]}
    lines = [{"item": "z"}, {"item": "x", "notes": ["q"]}, {"item": "y", "notes": ["r"]}]
    alignments = {("tags",): [(0, 1), (2, 0)], ("lines",): [(0, 1), (1, 2)], ("lines", 0, "notes"): [(1, 0)]}
    assert states(reference, {"tags": ["c", "a"], "lines": lines}, alignments) == [
        ("branch", 0, "tags"), ("same", 1, "[0] ~ [1]"), ("missing", 1, "[1]"), ("same", 1, "[2] ~ [0]"),
        ("branch", 0, "lines"),
        ("branch", 1, "[0] ~ [1]"), ("same", 2, "item"), ("branch", 2, "notes"), ("missing", 3, "[0]"),
        ("same", 3, "[1] ~ [0]"),
        ("branch", 1, "[1] ~ [2]"), ("same", 2, "item"), ("branch", 2, "notes"), ("extra", 3, "[0]"),
        ("extra", 1, "[0]"), ("extra", 2, "item"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a\x1b[0m", '"a\\x1b[0m"'),
        ({"a\x1b": "\u202e"}, '{"a\\u001b": "\\u202e"}'),
        (None, "null"),
        (5.0, "5.0"),
        (math.nan, "NaN"),
        (datetime.date(2011, 1, 25), "2011-01-25"),
        (AnyOf(["a", None]), '"a" or null'),
        ({1: "a"}, '{"1": "a"}'),
        ({("a", "b"): 1}, "(dict)"),
        ("\ud800", '"\\ud800"'),
    ],
)
def test_values(value, expected):
    assert _value_text(value) == expected


def test_an_integer_of_too_many_digits():
    assert _value_text(10**5000) == "(int)"


def test_values_are_cut_before_they_are_worked_on():
    assert len(_value_text("\x1b" * 10**6)) < 5000
    assert len(_value_text(["x" * 10**6])) <= 500
    assert len(tree_rows({}, {str(key): 1 for key in range(MOST_ROWS + 1)}, PLAN, {})) == MOST_ROWS


SCALARS = st.none() | st.booleans() | st.integers() | st.text()
KEYS = st.sampled_from(["name", "n", "seller", "city", "tags", "lines", "\x1b[1m"])
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4))


@given(TREES, TREES)
@example({"seller": {"name": None}}, {"seller": {"name": None}})
def test_any_two_trees_can_be_shown(reference, prediction):
    rows = tree_rows(reference, prediction, PLAN, {})
    assert all(row.state in _SIGNS for row in rows)
    *lines, _, _ = table_lines(rows)
    assert not any("\x1b" in line for line in lines)
    assert len(lines) == len(rows) + 1
    assert all(len(line) < 150 for line in lines)


def test_a_table():
    reference = {"name": "Acme Company Limited " * 3, "n": 1, "tags": ["a"]}
    prediction = {"name": "Acme Company", "n": "1", "tags": ["a", "b"], "x": None}
    rows = tree_rows(reference, prediction, PLAN, {("tags",): [(0, 0)]})
    *table, _, legend = table_lines(rows)
    assert table == [
        "  key    reference                                 prediction",
        '~ name   "Acme Company Limited Acme Company Limi…  "Acme Company"  0.32',
        '! n      1                                         "1"             0.00',
        "  tags   1 item                                    2 items",
        '=   [0]  "a"                                       "a"             1.00',
        '+   [1]                                            "b"',
        "+ x                                                null",
    ]
    assert legend == ("= the best score   ~ between   ! a value of another type   + only in the prediction")


def test_several_metrics_are_named():
    plan = make_plan(NODE, leaf_metrics={"name": ["indel_ratio", "exact_match"]})
    rows = tree_rows({"name": "ab"}, {"name": "a"}, plan, {})
    assert "indel_ratio 0.67 exact_match 0.00" in "\n".join(table_lines(rows))
