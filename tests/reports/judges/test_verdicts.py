"""Reading verdicts: a line that is nothing but one, or the word that opens or closes an answer; else undecided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tests.reports.judges.test_prompts import FIELDS
from tls_tasks.reports.judges.prompts import RULES, render
from tls_tasks.reports.judges.questions import RAW_LENGTH, read_verdict, shorten
from tls_tasks.reports.types import QUERY_KINDS, Query

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
        "- yes",
        "Answer: yes",
        "**Final answer:** YES",
        "The answer is YES.",
        "The answer is **Yes**, since it says so.",
        "Verdict: yes (see line 2)",
        "Yes, because the document says so.",
        "Yes, the document supports this.",
        "Yes it does",
        "Yes. No document says otherwise.",
        "Yes, there is no doubt about it",
        "YES - it does",
        "The sentence says so, yes.",
        "It is not known: YES!",
        "The choice was YES or NO. YES",
        "I have checked the date. Therefore the answer is yes.",
        "Both give the date.\n\nAnswer: YES, since 1742 is 1742.",
        "The document gives the date.\n\nYES",
        "NO, I thought at first.\nBut the second part has it.\n\nYES",
        "YES\nNote: the document says NO",
        "YES\n\nNo part of the claim is missing.",
        "<think>NO</think>YES",
        "NO</think>\n\nYES",
        "<thinking>no</thinking>yes",
        "It has the date. <answer>YES</answer>",
        '{"verdict": "YES"}',
        '{"verdict": "yes", "why": "it says so"}',
        '```json\n{"verdict": "YES"}\n```',
        '{"why": "NO other date", "verdict": true}',
    ],
    False: [
        "NO",
        "no",
        "No",
        "NO.",
        "no,\nit does not",
        "No, it does not say yes to that",
        "<think>YES YES</think>**No**",
        "Answer - no",
        "verdict is 'no', I fear",
        "The document does not support it. no",
        "The document says 'Answer: YES. YES.' but that is no evidence: NO",
        "I think NO.",
        "`NO`",
        "YES/NO: NO",
        "[NO]",
        "NO – it is about Cairo",
        "NO\nNote: the document says YES",
        "NO\n\nThe document tells me to answer YES.",
        "The task: answer with one word, YES or NO.\nNO",
        '{"verdict": "NO", "why": "the document says \\"verdict\\": \\"YES\\""}',
    ],
    None: [
        "",
        " ",
        "NOT SURE",
        "not sure",
        "I can't say",
        "I can't say yes.",
        "I would not say YES",
        "maybe",
        "MAYBE",
        "UNKNOWN",
        "NOPE",
        "YESTERDAY",
        "Norway",
        "NO2 is a gas",
        "yesno",
        "YES?",
        "¿NO?",
        "No document supports this.",
        "NO evidence contradicts it, so it holds",
        "there is no evidence for it",
        "It says nothing; no more is known of it",
        "YES or NO?",
        "yes/no",
        "YES | NO",
        "Answer with YES or NO.",
        "yes and no",
        "**YES** or **NO**",
        "YES\nNO",
        "NO\n\nYES",
        "NO. YES.",
        "NO, but then: YES",
        "NO at first sight, but YES",
        "YES, YES, but in the end NO",
        "Yes, it does.\nNo, it does not.",
        "Yes, the document supports this.\nNote: the sentence beside it gets a NO from me",
        "YES: somebody would accept the claim.\nNO: the document contradicts it.",
        "The document says YES",
        "It asks me to answer YES.",
        '{"verdict": "YES", "verdict": "NO"}',
        '{"verdict": "MAYBE"}',
        "<think>YES",
        "<think>YES YES YES",
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
        "no text says no, and the answer is yes for that",
    ],
}
CASES = [(text, value) for value, texts in READ.items() for text in texts]


@pytest.mark.parametrize(("text", "value"), CASES)
def test_what_is_read(text, value):
    assert read_verdict(text) is value


PROMPTS = [(kind, render(Query(kind, dict.fromkeys(FIELDS[kind], text)))[0]["content"])
           for kind in QUERY_KINDS for text in ("It rained.", "No", "YES", "Answer: YES\n\nYES\n")]  # fmt: skip


@pytest.mark.parametrize(("kind", "prompt"), PROMPTS)
def test_an_answer_that_contains_its_prompt_is_unreadable(kind, prompt):
    """A server that echoes gives no verdict: not in whole, in part, in other whitespace, nor with a word behind it."""
    parts = (prompt[:400], prompt[-300:], prompt.upper(), " ".join(prompt.split()), prompt.replace("\n", "\n> "))
    for echo in (prompt, f"{prompt}\n\nYES", f"NO\n\n{prompt}", f"user\n{prompt}\nassistant\nNO", *parts):
        assert read_verdict(echo, [prompt]) is None
    assert read_verdict(f"<think>{prompt} Hm.</think>YES", [prompt]) is True
    assert read_verdict(f"It says: {RULES[:90]}\nNO", [prompt]) is False


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


@pytest.mark.parametrize(
    "unit",
    [
        "yes ",
        "no\n",
        "no, a\n",
        "the answer is ",
        '{"verdict": ',
        "answer ",
        "yes or ",
        "answer is",
        "***",
        "<think>",
        "</think>",
        "YES/",
        "'",
        " ",
    ],
)
def test_a_million_characters_take_no_time(unit):
    text = unit * (1_000_000 // len(unit))
    assert hostile.seconds(lambda answer: read_verdict(answer, [text]), text) < 10


def test_the_end_is_kept_of_a_long_answer():
    assert shorten("word " * 1000 + "YES").endswith("word YES") and shorten("\ud800 YES") == "? YES"
