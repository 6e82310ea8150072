"""Text for a terminal: nothing that it obeys gets through."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.core.terminal import visible


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain, 東京, é, 👍", "plain, 東京, é, 👍"),
        ("\x1b[2J\x07", "\\x1b[2J\\x07"),
        ("a\nb\r\tc", "a\\nb\\r\\tc"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil\u2066", "\\u202eevil\\u2066"),
        ("a\u2028b\u200b", "a\\u2028b\\u200b"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\u00a0", "\u00a0"),
    ],
)
def test_visible(text, expected):
    assert visible(text) == expected


@given(st.text())
def test_nothing_to_obey_is_left(text):
    shown = visible(text)
    assert not any(unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp") for character in shown)
    shown.encode("utf-8")
