"""What of an answer is its summary."""

import json
from pathlib import Path

import pytest

from tests import hostile
from tls_tasks.summaries.read import PROBLEM_KINDS, parse_summary

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

TEXT = "The council passed the bill. Members cheered."
TWO = "The council passed the bill.\n\nMembers cheered."

AROUND = [
    # (answer, summary, kinds of problems)
    *CASES["AROUND"]
]


@pytest.mark.parametrize(("answer", "summary", "kinds"), AROUND)
def test_what_stands_around_a_summary_is_left_out_and_said(answer, summary, kinds):
    parsed = parse_summary(answer)
    assert (parsed.value, [one.kind for one in parsed.problems]) == (summary, kinds)
    assert set(kinds) <= set(PROBLEM_KINDS)


PLAIN = [
    *CASES["PLAIN"],
    '"A bill," said Ann. "It is passed."',  # quotes around the whole, but not one pair
]


@pytest.mark.parametrize("text", PLAIN)
def test_a_plain_summary_comes_through_byte_for_byte(text):
    assert parse_summary(text) == parse_summary(f"\n {text} \n")
    parsed = parse_summary(text)
    assert (parsed.value, parsed.problems) == (text, ())


PIECES = ("```\n", "{", '"', "> ", ">\n", "Summary: ", "## Summary\n", "final summary:\n", "I hope this\n", "**")
PIECES += ("---\n", "Sure! ", "here is ", "<summary>", "[")


@pytest.mark.parametrize("piece", PIECES)
def test_time_is_linear_in_hostile_text(piece):
    small, large = (piece * (n // 4 // len(piece)) for n in (hostile.SMALL, hostile.LARGE))
    assert hostile.is_linear(parse_summary, small, large)
