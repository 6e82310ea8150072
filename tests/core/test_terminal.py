"""Text for a terminal: nothing that it obeys gets through."""

from __future__ import annotations

import json
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.hostile import is_linear
from tls_tasks.core.terminal import text_table, visible

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.parametrize(("text", "expected"), CASES["visible"])
def test_visible(text, expected):
    assert visible(text) == expected


@given(st.text())
def test_nothing_to_obey_is_left(text):
    shown = visible(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in shown)
    shown.encode("utf-8")


def test_a_table_takes_time_by_its_rows():
    def rows(n):
        return [("key", "value"), *((f"k{number}", str(number)) for number in range(n))]

    assert is_linear(text_table, rows(3_000), rows(12_000))


def test_a_dash_stands_under_the_last_digit():
    assert text_table([("n", "x"), ("1.5", "a"), ("-", "b")]).splitlines() == ["  n  x", "1.5  a", "  -  b"]


def test_a_mark_around_a_character_takes_no_room():
    assert text_table([("a", "b"), ("1\N{COMBINING ENCLOSING CIRCLE}", "c")]).splitlines()[0] == "a  b"
