"""Reading verdicts: the last whole word, whatever stands around it; undecided rather than invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tls_tasks.reports.judges.questions import RAW_LENGTH, read_verdict, shorten

READ = {
    True: [
        "YES",
        "yes",
        "Yes",
        "YES.",
        " yes\n",
        "**YES**",
        "_Yes_",
        "'YES'",
        '"yes"',
        "Answer: yes",
        "The answer is **Yes**, since it says so.",
        "Yes, because the document says so.",
        "Yes. No document says otherwise.",
        "Yes, there is no doubt about it",
        "NO at first sight, but YES",
        "NO. YES.",
        "NO\nYES",
        "<think>NO</think>YES",
        "NO</think>\n\nYES",
        "<thinking>no</thinking>yes",
        '{"verdict": "YES"}',
        '{"verdict": "yes", "why": "it says so"}',
        "Verdict: yes (see line 2)",
        "It is not known: YES!",
        "YES - it does",
        "The sentence says so, yes.",
        "- yes",
        "The choice was YES or NO. YES",
        "no text says no, and the answer is yes for that",
    ],
    False: [
        "NO",
        "no",
        "No",
        "NO.",
        "no,\nit does not",
        "No, it does not say yes to that",
        "YES, YES, but in the end NO",
        "<think>YES YES</think>**No**",
        "Answer - no",
        "verdict is 'no', I fear",
        "The document does not support it. no",
        "`NO`",
        "YES/NO: NO",
        "[NO]",
        "NO – it is about Cairo",
        "¿NO?",
    ],
    None: [
        "",
        " ",
        "NOT SURE",
        "not sure",
        "I can't say",
        "maybe",
        "MAYBE",
        "UNKNOWN",
        "NOPE",
        "YESTERDAY",
        "Norway",
        "NO2 is a gas",
        "yesno",
        "there is no evidence for it",
        "It says nothing; no more is known of it",
        "YES or NO?",
        "yes/no",
        "YES | NO",
        "Answer with YES or NO.",
        "yes and no",
        "**YES** or **NO**",
        "<think>YES",
        "<think>YES YES YES",
        "YES <think> or not",
        "no-one knows",
        "yes-men all of them",
        "NO-ONE",
        "4",
        "да",
        "ＹＥＳ",
        "Non",
        "!503",
        "YES’s",
        "The yes camp had the no camp's votes, it is said",
    ],
}
CASES = [(text, value) for value, texts in READ.items() for text in texts if text != "YES <think> or not"]


@pytest.mark.parametrize(("text", "value"), CASES)
def test_what_is_read(text, value):
    assert read_verdict(text) is value


def test_a_block_that_is_not_closed_takes_what_follows_it_and_not_what_stands_before():
    assert read_verdict("YES <think> or not") is True


@given(
    st.text(alphabet="ab .,\n!?*:é中", max_size=40),
    st.sampled_from(["YES", "NO"]),
    st.sampled_from(["", ".", "!", "**", '"', "\n"]),
)
def test_capitals_at_the_end_are_the_verdict(before, word, after):
    assert read_verdict(f"{before} {word}{after}") is (word == "YES")


@given(st.text())
def test_any_text_is_read_or_undecided(text):
    assert read_verdict(text) in (True, False, None)
    kept = shorten(text)
    assert len(kept) <= RAW_LENGTH and kept.encode() is not None and "\n" not in kept


@pytest.mark.parametrize(
    "unit", ["yes ", "no\n", "answer ", "yes or ", "answer is", "***", "<think>", "</think>", "YES/", "'", " "]
)
def test_a_million_characters_take_no_time(unit):
    assert hostile.seconds(read_verdict, unit * (1_000_000 // len(unit))) < 10


def test_the_end_is_kept_of_a_long_answer():
    assert shorten("word " * 1000 + "YES").endswith("word YES") and shorten("\ud800 YES") == "? YES"
