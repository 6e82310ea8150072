"""Trees in wrappers, in YAML and Markdown, and with schemas before them: what is decided by the schema."""

import json
from pathlib import Path

import pytest

from tests import hostile
from tls_tasks.trees.read import parse_tree
from tls_tasks.trees.rows import read_reference
from tls_tasks.trees.schema import read_schema

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

NODE = read_schema(CASES["schema"])
TREE = {"name": "Bo", "price": 2.5}
TEXT = json.dumps(TREE)
OUTLINES = [json.loads(line) for line in Path(__file__).with_name("outlines.jsonl").read_text("utf-8").splitlines()]


@pytest.mark.parametrize("wrapped", CASES["wrappers_are_taken_off_and_said"])
def test_wrappers_are_taken_off_and_said(wrapped):
    parsed = parse_tree(json.dumps(wrapped), NODE)
    assert parsed.value == TREE
    assert (parsed.rates()["json_valid"], parsed.rates()["repaired"]) == (True, True)
    assert parsed.problems[-1].kind == "wrapped"
    assert parse_tree(f"<tool_call>\n{json.dumps(wrapped)}\n</tool_call>", NODE).value == TREE


@pytest.mark.parametrize("value", CASES["what_is_no_wrapper_stays_as_it_is"])
def test_what_is_no_wrapper_stays_as_it_is(value):
    assert parse_tree(json.dumps(value), NODE).value == value


def test_strictly_a_wrapper_is_the_answer():
    assert parse_tree('{"output": "{\\"name\\": \\"Bo\\"}"}', NODE, "strict").value == {"output": '{"name": "Bo"}'}
    assert parse_tree("name: Bo", NODE, "strict").failed


@pytest.mark.parametrize("case", OUTLINES, ids=lambda case: case["text"])
def test_outlines_are_read_by_the_schema(case):
    parsed = parse_tree(case["text"], NODE)
    assert parsed.value == case["tree"]
    assert parsed.rates()["json_valid"] is False


@pytest.mark.parametrize(
    ("schema", "answer"),
    CASES["data_that_look_like_a_schema_or_a_wrapper"],
)  # fmt: skip
def test_data_that_look_like_a_schema_or_a_wrapper(schema, answer):
    assert parse_tree(json.dumps(answer), read_schema(schema)).value == answer


def test_where_other_keys_are_allowed_a_wrapper_lacks_what_is_required():
    schema = {"properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": True}
    assert parse_tree('{"result": {"a": "x"}}', read_schema(schema)).value == {"a": "x"}


def test_a_reference_is_never_taken_for_a_schema():
    order = {"order": {"items": {"type": "string"}}}
    assert read_reference(json.dumps(order)) == order


@pytest.mark.parametrize("echo", CASES["a_schema_before_the_answer"])
def test_a_schema_before_the_answer_is_not_the_answer(echo):
    assert parse_tree(f"Schema: {json.dumps(echo)}\nAnswer: {TEXT}", NODE).value == TREE


@pytest.mark.parametrize(("text", "tree"), CASES["what_is_missing_costs_nothing_else"])
def test_what_is_missing_costs_nothing_else(text, tree):
    assert parse_tree(text, NODE).value == tree


@pytest.mark.parametrize(("text", "tree"), CASES["which_of_several_is_meant"])
def test_which_of_several_is_meant(text, tree):
    assert parse_tree(text, NODE).value == tree


PIECES = (
    "| name | a |\n|---|---|\n", "| name | a |\n", "name.a: 1\n", "name: a, b\n", "\n<document>\n{", "<a>", "<a>x</b>",
    "<a><b>", "<a x='", '{"a":[', "- name: x\n", '"{\\"a\\": ', 'for example {"name": 1}',
)  # fmt: skip


@pytest.mark.parametrize("piece", PIECES)
def test_hostile_text_costs_little(piece):
    text = piece * (200_000 // len(piece))
    assert hostile.seconds(lambda text: parse_tree(text, NODE), text) < 60
    assert hostile.seconds(lambda text: parse_tree(text, NODE), f"name: x\n</a>{text}") < 60
