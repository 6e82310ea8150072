"""Schemas in every form; the rule that tells them apart; compliance."""

from __future__ import annotations

import dataclasses
import datetime
import json
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.trees.compliance import ISSUE_KINDS, find_issues, fits
from tls_tasks.trees.data import _as_json_schema
from tls_tasks.trees.schema import is_json_schema, read_schema, schema_and_form
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import AnyOf, Branch, Leaf, ListOf, RecursiveNode, UnionNode, all_nodes, path_name

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

STRING, INTEGER, NUMBER = Leaf("string"), Leaf("integer"), Leaf("number")


def rows(name):
    return [json.loads(line) for line in Path(__file__).with_name(f"{name}.jsonl").read_text("utf-8").splitlines()]


class Isbn:
    """A type of the user's."""


SONG = CASES["SONG"]


def told(node):
    """A node as text: ``{a: string, b!: [integer]}``; what is required has a !, and * is any other key."""
    if isinstance(node, UnionNode):
        return " or ".join(map(told, node.parts))
    if isinstance(node, ListOf):
        return f"[{told(node.item)}]" + " in order" * node.is_ordered + " by key" * node.is_keyed
    if isinstance(node, Leaf):
        label = getattr(node.type, "__name__", node.type)
        return f"{label} of {', '.join(map(repr, node.choices))}" if node.choices else str(label)
    assert node.required <= node.children.keys()
    children = [f"{path_name((key,))}{'!' * (key in node.required)}: {told(one)}" for key, one in node.children.items()]
    return "{" + ", ".join(children + ([f"*: {told(node.rest)}"] if node.rest else [])) + "}"


@pytest.mark.parametrize(
    ("schema", "node"),
    [
        *CASES["treeval_form"],
        (read_schema(SONG), told(read_schema(SONG))),
        (("4/4",), "choice of '4/4'"),
        ([Isbn], "[Isbn]"),
        ({"a": Leaf("choice", ("x",))}, "{a!: choice of 'x'}"),
        ({1: "string", ("x", "y"): "integer"}, "{[1]!: string, [('x', 'y')]!: integer}"),
    ],
)
def test_treeval_form(schema, node):
    assert told(read_schema(schema)) == node


def of_type(schema):
    """A root object with one property ``a``; the node of ``a``."""
    return read_schema({"type": "object", "properties": {"a": schema}}).children["a"]


@pytest.mark.parametrize(("schema", "node"), CASES["form_of_json_schema"])
def test_json_schema(schema, node):
    assert told(of_type(schema)) == node


def test_references():
    schema = {
        "$ref": "#/$defs/Invoice",
        "$defs": {
            "Invoice": {"properties": {"lines": {"type": "array", "items": {"$ref": "#/$defs/a~1b~0c"}}}},
            "a/b~c": {"properties": {"price": {"anyOf": [{"$ref": "#/$defs/Price"}, {"type": "null"}]}}},
            "Price": {"type": "number"},
        },
    }  # fmt: skip
    assert read_schema(schema) == Branch({"lines": ListOf(Branch({"price": NUMBER}))})


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        *((case["schema"], case["message"]) for case in rows("schema_errors")),
        ("[" * 100_000, "text that is no JSON"),
        ({"a": ()}, "got no choice at a"),
        ({"a": {"b"}}, "at a, expected a type name"),
    ],
)
def test_errors_name_the_path(schema, message):
    with pytest.raises(InputError, match=message):
        read_schema(schema)


def test_schemas_that_contain_themselves():
    endless: dict = {}
    endless["a"] = endless
    with pytest.raises(InputError, match=r"^schema .*: got more than 64 levels"):
        read_schema(endless)
    endless = {"type": "object", "properties": {}}
    endless["properties"]["a"] = endless
    root = read_schema(endless)
    assert root.children["a"].node is root


@pytest.mark.parametrize("case", rows("schema_forms"))
def test_the_rule_that_tells_forms_apart(case):
    assert is_json_schema(case["schema"]) is case["is_json_schema"]


def test_the_form_may_be_given():
    assert read_schema({"type": "string"}, form="json_schema") == STRING
    schema = {"type": "object", "properties": {"a": "string"}}
    assert list(read_schema(schema, form="treeval").children) == ["type", "properties"]
    with pytest.raises(OptionError, match="form: got 'xml'"):
        read_schema({}, form="xml")


def test_pydantic():
    pydantic = pytest.importorskip("pydantic")

    class Line(pydantic.BaseModel):
        quantity: int
        price: float | None = None

    class Invoice(pydantic.BaseModel):
        day: datetime.date
        lines: list[Line]

    Invoice.__annotations__ = {"day": datetime.date, "lines": list[Line]}
    node = Branch(
        {"day": Leaf("date"), "lines": ListOf(Branch({"quantity": INTEGER, "price": NUMBER}, frozenset({"quantity"})))},
        frozenset({"day", "lines"}),
    )
    assert schema_and_form(Invoice) == (node, "read as JSON Schema")


def test_a_dictionary_of_pydantic_is_scored_by_key():
    pydantic = pytest.importorskip("pydantic")
    root = read_schema(pydantic.create_model("Shop", prices=(dict[str, float], ...)))
    assert root.children["prices"] == Branch({}, rest=ListOf(NUMBER, is_keyed=True))
    score = tree_eval([{"prices": {"b": 2.0, "c": 1.0}}], [{"prices": {"a": 1.0, "b": 2.0}}], root).as_dict()
    assert (score["precision_value_exact"], score["recall_value_exact"]) == (0.5, 0.5)


LEAVES = st.sampled_from(
    [*(Leaf(name) for name in ("string", "integer", "number", "boolean", "date", "datetime", "any", "object", "null")),
     Leaf("choice", ("x", "y")), Leaf("integer|string")]
)  # fmt: skip
NODES = st.recursive(
    LEAVES,
    lambda inner: (
        inner.map(ListOf)
        | st.dictionaries(st.text(min_size=1, max_size=3), inner, min_size=1, max_size=3).map(
            lambda children: Branch(children, frozenset(list(children)[:1]))
        )
    ),
    max_leaves=8,
)


@given(NODES)
def test_as_json_schema_and_back(node):
    schema = _as_json_schema(node)
    assert json.loads(json.dumps(schema)) == schema
    if isinstance(node, Branch):
        assert is_json_schema(schema)
    assert read_schema(schema, form="json_schema") == node


def test_json_schema_of_types_that_it_does_not_have():
    schema = _as_json_schema(read_schema({"code": "isbn", "other": Isbn}))
    assert schema["properties"] == {"code": {"title": "isbn"}, "other": {"title": "Isbn"}}


# --- compliance ---

NODE = Branch(
    {
        "name": STRING,
        "n": INTEGER,
        "x": NUMBER,
        "ok": Leaf("boolean"),
        "day": Leaf("date"),
        "at": Leaf("datetime"),
        "c": Leaf("choice", ("a", 1, True)),
        "u": Leaf("integer|string"),
        "tags": ListOf(STRING),
        "inner": Branch({"a": ListOf(Branch({"b": INTEGER}, frozenset("b")))}, frozenset("a")),
        "isbn": Leaf("isbn"),
    },
    frozenset({"name", "inner"}),
)
FINE = {"name": "x", "inner": {"a": []}}


@pytest.mark.parametrize(
    ("tree", "issues"),
    [
*CASES["compliance"],
({**FINE, "day": datetime.date(2011, 1, 25), "c": True}, []),
({**FINE, "z z": 1, 5: 2}, [("['z z']", "unknown"), ("[5]", "unknown")]),
],
)  # fmt: skip
def test_compliance(tree, issues):
    found = find_issues(tree, NODE)
    assert [(str(issue).split(": ")[0], issue.kind) for issue in found] == list(map(tuple, issues))
    assert {issue.kind for issue in found} <= set(ISSUE_KINDS)


@pytest.mark.parametrize(
    ("value", "label", "expected"),
    [
        ("x", "str", True),
        (True, int, False),
        (10**400, "integer", True),
        (10**400, float, True),
        ({"a": 1}, "object", True),
        ([1], "object", False),
        (Isbn(), Isbn, True),
        ("x", Isbn, False),
        (AnyOf(["x", None]), "string", True),
        (AnyOf(["x", 5]), "string", False),
        (object(), "any", True),
        (object(), ("a", "label"), True),
        ("\ud800", "date", True),
    ],
)
def test_types(value, label, expected):
    assert fits(value, Leaf(label)) is expected


SCALARS = st.none() | st.booleans() | st.integers() | st.text()
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))


@given(TREES, NODES)
def test_any_tree_can_be_checked(tree, node):
    for issue in find_issues(tree, node):
        assert str(issue)


# --- schemas as people have them ---

TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CITY = Branch({"city": STRING}, frozenset({"city"}))


@pytest.mark.parametrize("wrapped", rows("wrapped"))
def test_wrappers_and_dialects(wrapped):
    assert read_schema(wrapped) == CITY
    assert read_schema(json.dumps(wrapped)) == CITY


@pytest.mark.parametrize(("schema", "keys"), CASES["what_only_looks_like_a_wrapper"])
def test_what_only_looks_like_a_wrapper(schema, keys):
    assert list(read_schema(schema).children) == keys


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        *CASES["errors_say_in_which_form_a_schema_was_read"],
        ([{"name": "a", "input_schema": TOOL}, {"name": "b", "input_schema": TOOL}], "got 2 schemas"),
    ],
)
def test_errors_say_in_which_form_a_schema_was_read(schema, message):
    with pytest.raises(InputError, match=message):
        read_schema(schema)


@pytest.mark.parametrize("key", ["result", ("data", "extraction", "spec", "json"), ("any", "key")])
def test_one_schema_at_most_four_keys_deep_is_the_schema_and_the_path_is_said(key):
    keys = [key] if isinstance(key, str) else key
    given = TOOL
    for own in reversed(keys):
        given = {own: given, "name": "x"}
    with pytest.warns(UserWarning, match=f"one at {'.'.join(keys)}, which is used"):
        assert read_schema(given) == CITY
    deeper = {"one": {"two": {"three": {"four": {"five": TOOL}}}}}
    assert list(read_schema(deeper).children) == ["one"]


def test_what_pydantic_knows_the_schema_of_is_a_schema():
    person = dataclasses.make_dataclass("Person", [("name", str), ("age", int | None, None)])
    node = Branch({"name": STRING, "age": INTEGER}, frozenset({"name"}))
    assert read_schema(person) == read_schema(person | None) == node
    assert read_schema(list[person]) == ListOf(node)
    assert read_schema({"who": person, "tags": list[str]}).children == {"who": node, "tags": ListOf(STRING)}
    assert read_schema(Literal["a", "b"]) == Leaf("choice", ("a", "b"))
    assert read_schema([Isbn]) == ListOf(Leaf(Isbn)), "a type of the user's"
    with pytest.raises(InputError, match="pydantic makes no JSON Schema"):
        read_schema(list[Isbn])


@pytest.mark.parametrize(
    ("schema", "reference", "message"),
    [
        (TOOL, {"town": "x"}, "town: unknown.* the schema \\(read as JSON Schema\\)"),
        ({"city": "string"}, {"town": "x"}, "the schema \\(read as treeval's form\\)"),
        ([{"city": "string"}], {"city": "x"}, "did you mean schema=schema\\[0\\]"),
        ({"city": "x"}, {"city": "string"}, "is it swapped with schema"),
    ],
)
def test_errors_of_references_say_in_which_form_the_schema_was_read(schema, reference, message):
    with pytest.raises(InputError, match=message):
        tree_eval([{}], [reference], schema)


def paths(schema):
    """The named properties of a schema that was read, in order."""
    root = read_schema(schema, "json_schema")
    return [path_name(path) for path, node in all_nodes(root) if path and not isinstance(node, RecursiveNode)]


S, N = {"type": "string"}, {"type": "number"}


@pytest.mark.parametrize("case", rows("schema_paths"), ids=lambda case: case["paths"])
def test_every_property_that_a_schema_names_is_in_the_plan(case):
    assert paths(case["schema"]) == case["paths"].split()


def test_what_alternatives_leave_open_is_what_stands_beside_them():
    base = {"properties": {"kind": S, "a": N}}
    root = read_schema(
        {**base, "oneOf": [{"properties": {"kind": {"const": "x"}}}, {"required": ["a"]}]}, "json_schema"
    )
    assert root.children == {"kind": STRING, "a": NUMBER}


@pytest.mark.parametrize(("draft", "expected"), CASES["beside_a_reference"])
def test_what_stands_beside_a_reference_rules_nothing_out_in_old_drafts(draft, expected):
    schema = {"properties": {"a": {"type": "string", "$ref": "#/$defs/d"}}, "$defs": {"d": {"properties": {"b": S}}}}
    assert paths({"$schema": f"http://json-schema.org/{draft}#", **schema}) == expected.split()


@pytest.mark.parametrize("value", ["x", 5, {"url": "x"}, {"a": {"b": 1}}, ["x", {"y": 1}]])
def test_a_value_that_may_be_anything_besides_what_is_described(value):
    """Beside ``patternProperties``; a case of which nothing is said; ``additionalProperties: true`` without a type."""
    kinds = {"anyOf": [S, {"type": "object", "properties": {"url": S}, "additionalProperties": True}]}
    for schema in (
        {"type": "object", "patternProperties": {"^/": kinds}, "additionalProperties": True},
        {"properties": {"k": {"oneOf": [{"type": "string"}, {"type": "object"}, {}]}}},
        {"patternProperties": {"^_": {"description": "Anything.", "additionalProperties": True}}},
    ):
        node = read_schema(schema, "json_schema")
        assert tree_eval([{"k": value}], [{"k": value}], node).as_dict()["f1_value"] == 1


def test_definitions_that_branch_out_without_end_are_read_quickly():
    names = [f"d{i}" for i in range(40)]
    all_of_them = {name: {"$ref": f"#/$defs/{name}"} for name in names}
    root = read_schema({"$defs": {name: {"properties": all_of_them} for name in names}, "properties": all_of_them})
    assert list(root.children) == names


@pytest.mark.parametrize(
    ("schema", "reference", "prediction", "found", "missed", "extra"),
    CASES["nodes_of_keyed_open_and_recursive_schemas"],
)
def test_nodes_of_keyed_open_and_recursive_schemas(schema, reference, prediction, found, missed, extra):
    score = tree_eval([prediction], [reference], schema).as_dict()
    assert score["precision_node"] == pytest.approx(found / (found + extra) if found else 0)
    assert score["recall_node"] == pytest.approx(found / (found + missed) if found else 0)
    assert tree_eval([reference], [reference], schema).as_dict()["treeval_score"] == 1


# --- values, wherever the schema has them ---

_KEYED = {"type": "object", "additionalProperties": {"type": "string"}}
_NODE = {"$ref": "#/$defs/node"}
_PARTS = {"name": {"type": "string"}, "next": _NODE, "kids": {"type": "array", "items": _NODE}}
_ITSELF = {"$defs": {"node": {"type": "object", "properties": _PARTS}}, **_NODE}
_LISTS = {"$defs": {"list": {"type": "array", "items": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/list"}]}}}}

_letters = st.sampled_from("abc")
_anything = st.recursive(_letters, lambda own: st.lists(own, max_size=3) | st.dictionaries(_letters, own, max_size=3))
_nested = st.recursive(st.lists(_letters, max_size=3), lambda own: st.lists(_letters | own, max_size=3), max_leaves=6)
_nodes = st.recursive(
    st.fixed_dictionaries({}, optional={"name": _letters}),
    lambda own: st.fixed_dictionaries({}, optional={"name": _letters, "next": own, "kids": st.lists(own, max_size=3)}),
    max_leaves=6,
)


def n_values(tree):
    if isinstance(tree, dict | list):
        return sum(map(n_values, tree.values() if isinstance(tree, dict) else tree))
    return int(tree is not None)


@pytest.mark.parametrize(
    ("schema", "trees"),
    [
        ({}, _anything),
        (_KEYED, st.dictionaries(_letters, _letters)),
        (_ITSELF, _nodes),
        ({**_LISTS, "$ref": "#/$defs/list"}, _nested),
        ({"anyOf": [_KEYED, {"type": "array", "items": _KEYED}, {"type": "string"}]}, _letters | st.lists(
            st.dictionaries(_letters, _letters), max_size=3) | st.dictionaries(_letters, _letters)),
    ],
)  # fmt: skip
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_values_are_counted_wherever_they_are(schema, trees, data):
    """Each value of both sides once, whatever the schema has it in; the differences tell the same story."""
    reference, prediction = data.draw(trees), data.draw(trees)
    node = read_schema({"type": "object", "properties": {"x": schema}, "$defs": schema.get("$defs", {})}, "json_schema")
    score = tree_eval([{"x": prediction}], [{"x": reference}], node)
    unit, kinds = score.units[0], [own["kind"] for own in score.differences()]
    assert unit["value_given"] == n_values(prediction)
    assert unit["value_wanted"] == n_values(reference)
    assert (
        unit["value_hits_exact"] <= unit["value_hits"] + 1e-9 <= min(n_values(prediction), n_values(reference)) + 2e-9
    )
    n_met = unit["value_wanted"] - kinds.count("missed")
    assert n_met == unit["value_given"] - kinds.count("invented")
    assert unit["value_hits"] == pytest.approx(
        n_met - sum(1 - own["score"] for own in score.differences() if own["kind"] == "wrong")
    )
    perfect = tree_eval([{"x": reference}], [{"x": reference}], node).as_dict()
    assert n_values(reference) == 0 or perfect["f1_value"] == perfect["f1_value_exact"] == 1
    assert perfect["treeval_score"] == pytest.approx(1)


@pytest.mark.parametrize("depth", [1, 5, 30])
def test_a_schema_within_itself_ends_with_the_tree(depth):
    tree = {"name": "a"}
    for _ in range(depth):
        tree = {"name": "a", "next": tree, "kids": [{"name": "b"}, tree, {"name": "c"}][: 3 if depth < 9 else 0]}
    found = tree_eval([{"name": "a"}, tree], [tree, tree], read_schema(_ITSELF)).as_dict()
    assert found["recall_value"] == pytest.approx((1 + n_values(tree)) / (2 * n_values(tree)))


def test_lists_in_lists_are_walked_once_a_level():
    """Pairs that were counted when they were weighed are not walked again, so that depth costs no more than size."""
    calls = []

    def counted(predictions, references):
        calls.append(len(predictions))
        return [float(one == other) for one, other in zip(predictions, references, strict=True)]

    tree = other = ["z"]
    for letter in "abcdefghijkl":
        tree, other = [letter, tree, letter * 2], [letter * 2, other, letter * 3]
    schema = {"type": "object", "properties": {"x": {**_LISTS, "$ref": "#/$defs/list"}}, **_LISTS}
    found = tree_eval([{"x": other}], [{"x": tree}], schema, {"x": counted}).as_dict()
    assert found["f1_value_exact"] == pytest.approx(13 / 25)
    assert sum(calls) < 2_000


def test_a_null_is_told_all_kinds_that_it_is_not():
    (issue,) = find_issues(None, UnionNode((Branch({}), ListOf(STRING), Leaf("integer"))))
    assert str(issue).endswith("wanted a dictionary or a list or integer, got null")


def test_null_among_the_types_of_a_leaf_says_nothing():
    assert read_schema({"a": "string|null", "b": "null|number|string", "c": "null"}) == read_schema(
        {"a": "string", "b": "number|string", "c": "null"}
    )


@pytest.mark.parametrize("key", ["string_2", "type:string_2"])
def test_a_type_that_the_caller_uses_is_not_misspelt(key):
    with pytest.raises(InputError, match="unknown type 'string_2'"):
        tree_eval([{"a": "x"}], [{"a": "x"}], {"a": "string_2"})
    score = tree_eval([{"a": "x y"}], [{"a": "x"}], {"a": "string_2"}, {key: "token_f1"})
    assert score.as_dict()["leaves"] == {"a": {"token_f1": pytest.approx(2 / 3)}}
