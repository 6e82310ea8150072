"""YAML and outlines in model text: what they say, and that hostile ones cost little."""

import json
from pathlib import Path

import pytest

from tests import hostile
from tls_tasks.core.yaml_text import MAX_CHARACTERS, Unquoted, find_yaml

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def a_dict(value):
    return len(value) if isinstance(value, dict) else 0


@pytest.mark.parametrize(
    ("text", "value"),
    CASES["test_values_are_as_written"])  # fmt: skip
def test_values_are_as_written(text, value):
    assert find_yaml(text, a_dict).values == (value,)


@pytest.mark.parametrize(
    "text", ["", "Nothing.", "I think that it rained: twice.\nThen not.", "- a\n- b", "[1]: x", "a"]
)
def test_prose_is_no_outline(text):
    assert find_yaml(text, a_dict).values == ()


def test_who_knows_the_types_gets_scalars_as_written():
    found = find_yaml('a: 007\nb: "8"', a_dict, as_written=True)
    value = found.values[0]
    assert (type(value["a"]), type(value["b"]), found.stage) == (Unquoted, str, "outline")
    assert [(noted.kind, noted.detail) for noted in found.problems] == [("repaired_json", "YAML")]


def test_an_alias_bomb_is_not_expanded():
    bomb = "a0: &a0 [x, x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 40))
    value = find_yaml(bomb, a_dict).values[0]
    assert value["a0"] == "&a0 [x, x]"
    assert value["a39"] == "&a39 [*a38, *a38]"


@pytest.mark.parametrize(
    "piece", ["[", "- ", "? ", "a: [", "a:\n ", "a: *b\n", "a:\nx\n", "**", ": ", "|\n", "%YAML 1.1\n"]
)
def test_hostile_text_costs_little(piece):
    assert hostile.seconds(find, "a: " + piece * (MAX_CHARACTERS // 2 // len(piece))) < 60
    assert hostile.seconds(find, piece * (1_000_000 // len(piece))) < 60


def find(text):
    return find_yaml(text, a_dict)
