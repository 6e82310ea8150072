"""Model text -> trees: the study's 34 inputs and more, several trees in one text, hostile texts; rows and packing."""

from __future__ import annotations

import datetime
import json
import math
from pathlib import Path

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.rows import pack_columns, unpack_column
from tls_tasks.trees.read import TREE_PROBLEM_KINDS, TooDeepError, parse_tree, plain
from tls_tasks.trees.rows import answers_to_json, check_row, read_prediction, read_reference, read_rows
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.tree_eval import tree_eval
from tls_tasks.trees.types import MAX_DEPTH, AnyOf, Branch, Leaf, path_name

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def is_plain(value):
    """Whether there is nothing in a tree that reading would change."""
    try:
        return repr(plain(value)) == repr(value)
    except TooDeepError:
        return False


def pack(predictions, references):
    return pack_columns({"predictions": predictions, "references": references}, check_row, answers_to_json)


TEXTS = [json.loads(line) for line in Path(__file__).with_name("texts.jsonl").read_text("utf-8").splitlines()]
"""The study's 34 inputs, then others; `"stage": "none"` is a failure."""

ALL_TEXTS = pytest.mark.parametrize("case", TEXTS, ids=lambda case: case["name"])


@ALL_TEXTS
def test_texts(case):
    parsed = parse_tree(case["text"])
    assert repr(parsed.value) == repr(case["tree"])
    assert (parsed.stage, parsed.valid, parsed.failed) == (case["stage"], case["valid"], case["stage"] == "none")
    assert [one.kind for one in parsed.problems] == case["kinds"]
    assert set(case["kinds"]) <= set(TREE_PROBLEM_KINDS)
    assert is_plain(parsed.value)


def test_a_tree_that_was_cut_off_is_meant_if_no_whole_one_is_like_the_schema():
    node = read_schema({"a": "string", "b": "string"})
    cut = '{"result": {"a": "x", "b": "y'
    assert parse_tree('{"thoughts": "x"}\n' + cut, node).value == {"a": "x"}
    assert parse_tree('{"a": "z"}\n' + cut, node).value == {"a": "z"}
    assert parse_tree('[{"a": "z"}, {"a": "w"}]\n' + cut, node).value == {"a": "x"}


@ALL_TEXTS
def test_strictly_a_document_or_nothing(case):
    parsed = parse_tree(case["text"], mode="strict")
    is_document = case["valid"] and case["stage"] != "fence"
    assert parsed.failed is (not is_document or case["stage"] == "none")
    assert parsed.valid is is_document
    if not parsed.failed:
        assert parsed.value == case["tree"]
    elif not is_document:
        assert parsed.problems[0].kind in ("not_strict", "too_deep")


def test_no_such_mode():
    with pytest.raises(OptionError, match="parse_mode: got 'loose', expected one of 'lenient', 'strict'"):
        parse_tree("{}", mode="loose")


INVOICE = read_schema({"a": "integer", "lines": [{"x": "integer"}]})


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        *CASES["the_schema_tells_which_tree_is_meant"],
        ('{"a": 1} and {"a": 2, "lines": [{"x": 1}, {"x', {"a": 1}),  # the last whole one
    ],
)
def test_the_schema_tells_which_tree_is_meant(text, tree):
    assert parse_tree(text, INVOICE).value == tree


@pytest.mark.parametrize(("text", "tree"), CASES["a_list_as_root"])
def test_a_list_as_root(text, tree):
    assert parse_tree(text, read_schema([{"x": "integer"}])).value == tree


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@given(TREES, st.sampled_from([None, INVOICE]))
@example([None, [{}]], None)
def test_json_is_read_as_it_is(tree, node):
    assume(node is None or not isinstance(tree, list))  # of a list the one dictionary with the schema's keys is taken
    for text in (json.dumps(tree), json.dumps(tree, indent=1, ensure_ascii=False)):
        parsed = parse_tree(text, node, any_style=False)  # a key "A" is no "a"
        assert parsed.valid
        assert parsed.value == json.loads(text)


@given(TREES.filter(lambda tree: isinstance(tree, dict) and tree), st.integers(0, 10**6))
def test_cut_json_never_invents(tree, cut):
    text = json.dumps(tree)
    parsed = parse_tree(text[: cut % len(text)])
    if isinstance(parsed.value, dict):
        assert parsed.value.keys() <= tree.keys()


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), hostile.texts(hostile.LARGE))
def test_hostile_texts_take_linear_time(name, text):
    assert hostile.seconds(lambda one: parse_tree(one, INVOICE), text) < 60


@pytest.mark.parametrize(("name", "text"), hostile.texts(5_000))
def test_hostile_texts_are_read(name, text):
    parsed = parse_tree(text, INVOICE)
    assert parsed.failed or is_plain(parsed.value)


def test_rates():
    rates = [parse_tree(case["text"]).rates() for case in TEXTS[:34]]
    assert {name: sum(found[name] for found in rates) for name in rates[0]} == {
        "json_valid": 12, "parsed": 31, "repaired": 14, "duplicate_keys": 1, "non_finite": 1
    }  # fmt: skip


# --- values ---


def nested(depth, inner=1):
    for _ in range(depth):
        inner = {"a": inner} if depth % 2 else [inner]
    return inner


def test_depth():
    assert plain(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    for tree in (nested(MAX_DEPTH + 1), nested(5000), nested(MAX_DEPTH, [])):
        with pytest.raises(TooDeepError):
            plain(tree)
    assert parse_tree(json.dumps(nested(MAX_DEPTH))).value == nested(MAX_DEPTH)
    for text in (json.dumps(nested(MAX_DEPTH + 1)), "[" * 5000 + "]" * 5000, "[" * 5000):
        assert parse_tree(text).failed


def test_plain_values():
    bad: list[float] = []
    assert plain({"a": (1, math.inf, {"b": -math.inf})}, bad) == {"a": [1, None, {"b": None}]}
    assert bad == [math.inf, -math.inf]


def test_any_of():
    assert AnyOf(["x", None]) == AnyOf(("x", None))
    for wrong in ([], "x", {"a": 1}):
        with pytest.raises(ValueError, match="one answer or more"):
            AnyOf(wrong)


def test_path_names():
    assert path_name(("a", "b c", 0, 1.5, ("x",))) == "a['b c'][0][1.5][('x',)]"


# --- keys in another style ---

LINES = {"lines": [{"Line No": "integer"}]}
STYLES = {"song_name": "string", "unitPrice": "number", "home": {"zip-code": "string"}, **LINES}


@pytest.mark.parametrize(("answer", "tree", "n"), CASES["keys_in_another_style"])
def test_a_key_in_another_style_is_the_one_that_is_lacking(answer, tree, n):
    """In text, in prose, in a wrapper and in Python; with neither profile of others, nor strictly."""
    for form in (json.dumps(answer), f"It is {json.dumps(answer)}.", json.dumps({"result": answer}), answer):
        parsed = read_prediction(form, node=read_schema(STYLES))
        assert (parsed.value, parsed.kinds().get("key_style", 0)) == (tree, n)
        as_they_stand = read_prediction(form, node=read_schema(STYLES), any_style=False)
        assert "key_style" not in as_they_stand.kinds()
    assert read_prediction(json.dumps(answer), node=read_schema(STYLES), mode="strict").value == answer


def test_where_the_schema_allows_any_key_none_is_another():
    schema = {
        "type": "object",
        "properties": {"user_id": {"type": "string"}},
        "additionalProperties": {"type": "string"},
    }
    assert tree_eval(['{"userId": "x"}'], [{"userId": "x"}], schema).results["f1_value"] == 1


def test_the_program_takes_keys_as_they_stand():
    assert tree_eval(['{"Name": "x"}'], [{"name": "x"}], {"name": "string"}, compat="treeval").results["f1_node"] < 1


# --- rows ---


def test_predictions():
    assert read_prediction("no tree").failed
    assert read_prediction('{"a": 1').value is None
    assert read_prediction('{"a": 1, "b": 2').value == {"a": 1}
    assert read_prediction('{"a": 1} ', mode="strict").value == {"a": 1}
    assert read_prediction("{'a': 1}", mode="strict").failed
    tree = {"a": [1, "x", None, True], "b": {}}
    assert read_prediction(tree).value == tree
    assert read_prediction(5).value == 5
    assert read_prediction([]).value == []
    assert read_prediction({"$any_of": ["x"]}).value == {"$any_of": ["x"]}
    parsed = read_prediction({"a": math.nan, 1: (2,), "d": datetime.date(2011, 1, 25)})
    assert parsed.value == {"a": None, 1: [2], "d": datetime.date(2011, 1, 25)}
    assert parsed.counts() == {"non_finite": 1}
    assert not parsed.valid
    too_deep = read_prediction(nested(5000))
    assert too_deep.failed
    assert too_deep.counts() == {"too_deep": 1}


@pytest.mark.parametrize(
    ("field", "row"),
    [("references", None), *((field, row) for field in ("predictions", "references") for row in (math.nan, b"{}"))],
)
def test_no_row(row, field):
    with pytest.raises(InputError, match=rf"{field}\[7\]: got .*, expected a tree"):
        read_prediction(row, 7) if field == "predictions" else read_reference(row, 7)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        *CASES["references_that_cannot_be_scored_against"],
        (nested(65), "more than 64 levels"),
        (json.dumps(nested(65)), "more than 64 levels"),
        ("[" * 5000 + "]" * 5000, "no JSON document|more than 64 levels"),  # the json of Python 3.13 reads it
    ],
)
def test_references_that_cannot_be_scored_against(row, message):
    with pytest.raises(InputError, match=message):
        read_reference(row, 2)


def test_references():
    assert read_reference('{"a": NaN}') == {"a": None}
    assert read_reference({"a": [{"$any_of": ["x", None]}]}) == {"a": [AnyOf(["x", None])]}
    assert read_reference({"a": AnyOf(["x"])}) == {"a": AnyOf(["x"])}
    assert read_reference({"$any_of": ["x"], "b": 1}) == {"$any_of": ["x"], "b": 1}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        *CASES["columns"],
        (([{}], iter([{}])), "references: got"),
        (([{}], [AnyOf([{"$any_of": []}])]), r"references\[0\]: got .any_of with .*, expected a list of one"),
    ],
)
def test_columns(columns, message):
    for read in (read_rows, pack):
        with pytest.raises(InputError, match=message):
            read(*columns)


ODD = [
    math.inf, -math.inf, -0.0, 0, 1, 1.0, True, 10**30, -(10**1000), "\ud800", "\x00", "NaN", "[1]",
    {1: "a", "1": "b", False: 5, None: 6, 1.5: 7, ("x", 1): 8}, {"$pairs": []}, {"$date": "x"}, {"$integer": 1},
    {"$pairs": [[1, 2]], "b": 1}, {}, [], [[]], {"a": {2: {3: [{}]}}},
    datetime.date(2011, 1, 25), {"at": datetime.datetime(2011, 1, 25, 10, 30)},
]  # fmt: skip


@pytest.mark.parametrize("row", ODD, ids=lambda row: repr(row)[:40])
def test_odd_rows_survive_packing(row):
    packed = pack([row], [{"a": row}])
    packed["predictions"][0].encode("utf-8")
    predictions, references = unpack_column(packed["predictions"]), unpack_column(packed["references"])
    assert (repr(predictions), repr(references)) == (repr([row]), repr([{"a": row}]))


@given(TREES)
def test_trees_survive_packing(tree):
    if isinstance(tree, str) or tree is None:
        tree = [tree]
    packed = pack([tree], [tree])
    assert repr(unpack_column(packed["predictions"])) == repr([tree])


def test_packing_answers_and_deep_trees():
    packed = pack([{}], [{"a": AnyOf(["x", (1, 2)])}])
    assert unpack_column(packed["references"]) == [{"a": {"$any_of": ["x", [1, 2]]}}]
    with pytest.raises(InputError, match=r"references\[0\]: got a tree with more than 64 levels"):
        pack([{}], [nested(100)])
    with pytest.raises(InputError, match=r"predictions\[0\]: got a tree with more than 64 levels"):
        pack([nested(5000)], [{}])
    with pytest.raises(InputError, match=r"references\[0\]: got text that is no JSON"):
        pack([{}], ["x"])
    with pytest.raises(InputError, match=r"predictions\[1\]: got a value of class object"):
        pack([{}, {"a": object()}], [{}, {}])


@pytest.mark.parametrize(
    ("text", "is_valid"),
    [
        ('```json\n{"a": 1}\n```', True), ('\n```\n{"a": 1}\n```\n', True), ('{"a": 1}', True),
        ('Here:\n```json\n{"a": 1}\n```', False), ('```json\n{"a": 1,}\n```', False), ('```\n{"a": NaN}\n```', False),
        ('```json\n{"a": 1}\n```\n```json\n{"a": 2}\n```', False),
    ],
)  # fmt: skip
def test_json_in_one_code_fence_is_valid_json(text, is_valid):
    assert parse_tree(text, Branch({"a": Leaf("integer")})).rates()["json_valid"] is is_valid
    assert parse_tree(text, Branch({"a": Leaf("integer")}), "strict").failed is (text[0] != "{")
