"""Reading verdicts: a line that is nothing but one, or the word that opens or closes an answer; else undecided."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tests.conftest import read_jsonl
from tls_tasks.reports.judges.questions import RAW_LENGTH, read_verdict, shorten


@pytest.mark.parametrize("case", read_jsonl(Path(__file__).with_name("verdicts.jsonl")), ids=lambda case: case["text"])
def test_what_is_read(case):
    assert read_verdict(case["text"]) is case["verdict"]


def test_a_block_that_is_not_closed_takes_what_follows_it_and_not_what_stands_before():
    assert read_verdict("YES <think> or not") is True


@given(
    st.text(alphabet="ab .,\n!?*:é中", max_size=40),
    st.sampled_from(["\n", ". ", ", ", ": **", " Answer: ", " So the answer is "]),
    st.sampled_from(["YES", "no"]),
    st.sampled_from(["", ".", "!", "**", '"', "\n"]),
)
def test_a_word_that_closes_the_answer_on_its_own_is_the_verdict(text, before, word, after):
    assert read_verdict(f"{text}{before}{word}{after}") is (word == "YES")


@given(st.text())
def test_any_text_is_read_or_undecided(text):
    assert read_verdict(text) in (True, False, None)
    kept = shorten(text)
    assert len(kept) <= RAW_LENGTH and kept.encode() is not None and "\n" not in kept


UNITS = 'yes |no\n|no, a\n|the answer is |{"verdict": |answer |yes or |***|<think>|</think>|YES/|\'| '.split("|")


@pytest.mark.parametrize("unit", UNITS)
def test_a_million_characters_take_no_time(unit):
    text = unit * (1_000_000 // len(unit))
    assert hostile.seconds(lambda answer: read_verdict(answer), text) < 60


def test_the_end_is_kept_of_a_long_answer():
    assert shorten("word " * 1000 + "YES").endswith("word YES") and shorten("\ud800 YES") == "? YES"
