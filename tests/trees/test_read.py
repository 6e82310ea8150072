"""Model text -> trees: the study's 34 inputs and more, several trees in one text, hostile texts; rows and packing."""

from __future__ import annotations

import datetime
import json
import math

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.rows import pack_columns, unpack_column
from tls_tasks.trees.read import TREE_PROBLEM_KINDS, TooDeepError, parse_tree, plain
from tls_tasks.trees.rows import as_plain, check_row, read_prediction, read_reference, read_rows
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.types import MAX_DEPTH, AnyOf, path_name


def is_plain(value):
    """Whether there is nothing in a tree that reading would change."""
    try:
        return repr(plain(value)) == repr(value)
    except TooDeepError:
        return False


def pack(predictions, references):
    return pack_columns({"predictions": predictions, "references": references}, check_row, as_plain)


PLAIN = '{"a": 1, "b": ["x", "y"]}'
TREE = {"a": 1, "b": ["x", "y"]}

# name: text, tree, stage, valid, kinds of problems. `None, "none"` is a failure; `None, "whole"` is null.
STUDY = {
    "plain": (PLAIN, TREE, "whole", True, []),
    "fence json": (f"```json\n{PLAIN}\n```", TREE, "fence", False, []),
    "fence no lang": (f"```\n{PLAIN}\n```", TREE, "fence", False, []),
    "prose + fence": (f"See {{smile}}:\n```json\n{PLAIN}\n```\nBye {{smile}}", TREE, "fence", False, []),
    "prose, no fence": (f"The answer is {PLAIN}. Bye.", TREE, "scan", False, []),
    "two objects": (f'{{"a": 0, "b": []}}\nNo, better:\n{PLAIN}', TREE, "scan", False, ["several_trees"]),
    "think then json": (f'<think>{{"a": 9}}</think>\n{PLAIN}', TREE, "whole", True, []),
    "trailing comma": ('{"a": 1, "b": ["x", "y",],}', TREE, "scan", False, ["repaired_json"]),
    "single quotes": ("{'a': 1, 'b': ['x', 'y']}", TREE, "repaired", False, ["repaired_json"]),
    "python literals": (
        "{'a': 1, 'b': ['x', 'y'], 'c': None, 'd': True}",
        {**TREE, "c": None, "d": True}, "repaired", False, ["repaired_json", "repaired_json"],
    ),
    "unquoted keys": ('{a: 1, b: ["x", "y"]}', TREE, "repaired", False, ["repaired_json"]),
    "comments": ('{"a": 1, // one\n "b": ["x", "y"] /* b */}', TREE, "scan", False, ["repaired_json"]),
    "truncated": ('{"a": 1, "b": ["x", "y"', TREE, "truncated", False, ["truncated"]),
    "truncated in string": ('{"a": 1, "b": ["x", "y and th', {"a": 1, "b": ["x"]}, "truncated", False, ["truncated"]),
    "missing comma": ('{"a": 1 "b": ["x", "y"]}', TREE, "repaired", False, ["repaired_json"]),
    "NaN": ('{"a": NaN, "b": Infinity}', {"a": None, "b": None}, "whole", False, ["non_finite", "non_finite"]),
    "duplicate keys": ('{"a": 0, "a": 1, "b": ["x", "y"]}', TREE, "whole", True, ["duplicate_key"]),
    "apostrophe inside": (
        '{"a": "it\'s", "b": "say \\"hi\\""}', {"a": "it's", "b": 'say "hi"'}, "whole", True, [],
    ),
    "unescaped quote": (
        '{"a": "the "big" one", "b": 2}', {"a": 'the "big" one', "b": 2}, "repaired", False, ["repaired_json"],
    ),
    "newline in string": ('{"a": "line1\nline2"}', {"a": "line1\nline2"}, "whole", False, ["repaired_json"]),
    "number as string": ('{"a": "1", "b": ["x", "y"]}', {**TREE, "a": "1"}, "whole", True, []),
    "thousands": ('{"a": 1,234, "b": 5}', {"a": "1,234", "b": 5}, "repaired", False, ["repaired_json"]),
    "leading zeros / plus": ('{"a": 007, "b": +5}', {"a": 7, "b": 5}, "repaired", False, ["repaired_json"]),
    "big int": ('{"a": 123456789012345678901234567890}', {"a": 123456789012345678901234567890}, "whole", True, []),
    "empty": ("", None, "none", False, ["no_json"]),
    "no json": ("I could not find any.", None, "none", False, ["no_json"]),
    "null": ("null", None, "whole", True, []),
    "list root": ('[{"a": 1}]', [{"a": 1}], "whole", True, []),
    "string root": ('"abc"', "abc", "whole", True, []),
    "bom": ('\ufeff{"a": 1}', {"a": 1}, "whole", True, []),
    "smart quotes": ("{“a”: 1}", {"a": 1}, "repaired", False, ["repaired_json"]),
    "yaml-ish": ("a: 1\nb:\n  - x", {"a": 1, "b": ["x"]}, "outline", False, ["repaired_json"]),
    "jsonl": ('{"a": 1}\n{"b": 2}', {"b": 2}, "jsonl", False, ["several_trees"]),
    "deep nesting 5000": ('{"a":' * 500 + "1" + "}" * 500, None, "none", False, ["too_deep"]),
}  # fmt: skip
MORE = {
    "number root": ("5", 5, "whole", True, []),
    "empty object": ("{}", {}, "whole", True, []),
    "empty list": ("[]", [], "whole", True, []),
    "too large for a float": ('{"a": 1e999}', {"a": None}, "whole", True, ["non_finite"]),
    "minus zero": ('{"a": -0.0}', {"a": -0.0}, "whole", True, []),
    "nothing finished": ('{"a": "half', None, "none", False, ["no_json", "truncated"]),
    "number cut": ('{"a": 1, "b": 12', {"a": 1}, "truncated", False, ["truncated"]),
    "object cut in an object": (
        '{"a": 1, "c": {"d": {"e": 2, "f": "x', {"a": 1, "c": {"d": {"e": 2}}}, "truncated", False, ["truncated"],
    ),
    "item cut": (
        '{"lines": [{"x": 1}, {"x": 2}, {"x": ', {"lines": [{"x": 1}, {"x": 2}]}, "truncated", False, ["truncated"],
    ),
    "brackets, deep": ("[" * 500 + "]" * 500, None, "none", False, ["too_deep"]),
    "tail of something deep": ('{"a":' * 70 + '{"b": 1}' + "}" * 70, None, "none", False, ["too_deep"]),
    "many but not deep": ('{"a": [' + "[1]," * 100 + "[1]]} done", {"a": [[1]] * 101}, "scan", False, []),
    "fence that was not closed": (f"```json\n{PLAIN}", TREE, "fence", False, []),
    "thinking without end": (f"<think>{PLAIN}", None, "none", False, ["no_json", "unfinished_thinking"]),
    "citation and tree": (f"As [1] says: {PLAIN} [2]", TREE, "scan", False, []),
    "list in prose": ('They are ["x", "y"].', None, "none", False, ["no_json"]),
    "list in a fence": ('They are:\n```\n["x", "y"]\n```', ["x", "y"], "fence", False, []),
    "lone surrogate": ('{"a": "\\ud800"}', {"a": "\ud800"}, "whole", True, []),
    "json strip of letters": ("```json\nnull\n```", None, "fence", False, []),
}  # fmt: skip
ALL_TEXTS = pytest.mark.parametrize(
    ("text", "tree", "stage", "valid", "kinds"), [*STUDY.values(), *MORE.values()], ids=[*STUDY, *MORE]
)


@ALL_TEXTS
def test_texts(text, tree, stage, valid, kinds):
    parsed = parse_tree(text)
    assert (parsed.value, parsed.stage, parsed.valid) == (tree, stage, valid)
    assert [one.kind for one in parsed.problems] == kinds
    assert parsed.failed is (stage == "none")
    assert set(kinds) <= set(TREE_PROBLEM_KINDS)
    assert is_plain(parsed.value)
    if isinstance(tree, dict) and "a" in tree:
        assert type(parsed.value["a"]) is type(tree["a"])
        assert math.copysign(1, parsed.value["a"]) == math.copysign(1, tree["a"]) if tree["a"] == 0 else True


def test_a_tree_that_was_cut_off_is_meant_if_no_whole_one_is_like_the_schema():
    node = read_schema({"a": "string", "b": "string"})
    cut = '{"result": {"a": "x", "b": "y'
    assert parse_tree('{"thoughts": "x"}\n' + cut, node).value == {"a": "x"}
    assert parse_tree('{"a": "z"}\n' + cut, node).value == {"a": "z"}
    assert parse_tree('[{"a": "z"}, {"a": "w"}]\n' + cut, node).value == {"a": "x"}


def test_the_study_has_34_inputs():
    assert len(STUDY) == 34


@ALL_TEXTS
def test_strictly_a_document_or_nothing(text, tree, stage, valid, kinds):
    parsed = parse_tree(text, mode="strict")
    assert parsed.failed is (not valid or stage == "none")
    assert parsed.valid is valid
    if not parsed.failed:
        assert parsed.value == tree
    elif not valid:
        assert parsed.problems[0].kind in ("not_strict", "too_deep")


def test_no_such_mode():
    with pytest.raises(OptionError, match="parse_mode: got 'loose', expected one of 'lenient', 'strict'"):
        parse_tree("{}", mode="loose")


INVOICE = read_schema({"a": "integer", "lines": [{"x": "integer"}]})


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('Schema: {"type": "x"}. Answer: {"a": 1}. Confidence: {"p": 0.9}', {"a": 1}),
        ('{"a": 0} then {"a": 1}', {"a": 1}),
        ('{"a": 1} and {"a": 2, "lines": [{"x": 1}, {"x', {"a": 1}),  # the last whole one
        ('{"zz": 1} and {"a": 2, "lines": [{"x": 1}, {"x', {"a": 2, "lines": [{"x": 1}]}),
        ('{"a": 1 "lines": [{"x": 1}, {"x": 2}]}', {"a": 1, "lines": [{"x": 1}, {"x": 2}]}),
        ('[{"a": 1}]', {"a": 1}),
        ('[{"a": 1}, {"a": 2}]', [{"a": 1}, {"a": 2}]),
        ('{"b": 1}', {"b": 1}),
        ('{"answer": {"a": 1}}', {"a": 1}),
        ('{"answer": {"zz": 1}}', {"answer": {"zz": 1}}),
        ("5", 5),
        ("{}", {}),
        ('```json\n{"a": 1}\n```\n```json\n{"zz": 1}\n```', {"a": 1}),
    ],
)
def test_the_schema_tells_which_tree_is_meant(text, tree):
    assert parse_tree(text, INVOICE).value == tree


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ('{"a": 1} [{"x": 1}]', [{"x": 1}]),
        ('[{"x": 1}, {"x": 2}, {"x": ', [{"x": 1}, {"x": 2}]),
        ("They are: [{'x': 1}]", [{"x": 1}]),
        ('{"a": 1}', {"a": 1}),
    ],
)
def test_a_list_as_root(text, tree):
    assert parse_tree(text, read_schema([{"x": "integer"}])).value == tree


@given(st.text())
def test_no_text_raises(text):
    for mode in ("lenient", "strict"):
        parsed = parse_tree(text, INVOICE, mode)
        assert parsed.failed or is_plain(parsed.value)


SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
TREES = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4))


@given(TREES, st.sampled_from([None, INVOICE]))
@example([None, [{}]], None)
def test_json_is_read_as_it_is(tree, node):
    assume(node is None or not isinstance(tree, list))  # of a list the one dictionary with the schema's keys is taken
    for text in (json.dumps(tree), json.dumps(tree, indent=1, ensure_ascii=False)):
        parsed = parse_tree(text, node)
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
    assert hostile.seconds(lambda one: parse_tree(one, INVOICE), text) < 8


@pytest.mark.parametrize(("name", "text"), hostile.texts(5_000))
def test_hostile_texts_are_read(name, text):
    parsed = parse_tree(text, INVOICE)
    assert parsed.failed or is_plain(parsed.value)


def test_rates():
    rates = [parse_tree(text).rates() for text, *_ in STUDY.values()]
    assert {name: sum(found[name] for found in rates) for name in rates[0]} == {
        "json_valid": 10, "parsed": 31, "repaired": 14, "duplicate_keys": 1, "non_finite": 1
    }  # fmt: skip
    assert len(rates) == 34


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


@pytest.mark.parametrize("row", [None, math.nan, b"{}"])
@pytest.mark.parametrize("field", ["predictions", "references"])
def test_no_row(row, field):
    with pytest.raises(InputError, match=rf"{field}\[7\]: got .*, expected a tree"):
        read_prediction(row, 7) if field == "predictions" else read_reference(row, 7)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("no tree", "text that is no JSON document"),
        ("{'a': 1}", "no JSON document"),
        ('{"a": 1, "a": 2}', r"a key twice \(a\)"),
        (nested(65), "more than 64 levels"),
        (json.dumps(nested(65)), "more than 64 levels"),
        ("[" * 5000 + "]" * 5000, "no JSON document|more than 64 levels"),  # the json of Python 3.13 reads it
        ({"a": {"$any_of": []}}, "any_of with list"),
        ({"a": {"$any_of": "x"}}, "any_of with str"),
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
        (("{}", ["{}"]), "predictions: got str"),
        (({}, [{}]), "predictions: got dict"),
        ((None, [{}]), "predictions: got None"),
        (([{}], iter([{}])), "references: got"),
        (([{}], []), "references: got length 0, expected 1"),
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
