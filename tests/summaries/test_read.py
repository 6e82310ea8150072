"""What of an answer is its summary."""

import pytest

from tests import hostile
from tls_tasks.summaries.read import PROBLEM_KINDS, parse_summary

TEXT = "The council passed the bill. Members cheered."
TWO = "The council passed the bill.\n\nMembers cheered."

AROUND = [
    # (answer, summary, kinds of problems)
    (f"{TEXT}\n\nFinal answer:\n", TEXT, []),
    (f"{TEXT}\n\n<document>\nMayor: Hello.", TEXT, []),
    (f"Summary: {TEXT}", TEXT, ["lead_in"]),
    (f"**Summary:** {TEXT}", TEXT, ["lead_in"]),
    (f"## Summary\n\n{TWO}", TWO, ["lead_in"]),
    (f"**Summary**\n{TWO}", TWO, ["lead_in"]),
    (f"### Brief Summary (about 70 words):\n{TEXT}", TEXT, ["lead_in"]),
    (f"TL;DR: {TEXT}", TEXT, ["lead_in"]),
    (f"Here's a concise summary of the meeting: {TEXT}", TEXT, ["lead_in"]),
    (f"Here is a 70-word answer to the query:\n{TEXT}", TEXT, ["lead_in"]),
    (f"Based on the transcript, here is a summary of what was decided:\n\n{TWO}", TWO, ["lead_in"]),
    (f"Sure, I can do that.\n\n{TWO}", TWO, ["lead_in"]),
    (f"Certainly! Below is the summary.\n\nSummary:\n{TEXT}", TEXT, ["lead_in", "lead_in"]),
    (
        f"Okay, here is the summary of the three articles:\n\n---\n\n{TEXT}\n\n---",
        TEXT,
        ["wrapper", "lead_in", "wrapper"],
    ),
    (f"{TEXT}\n\nI hope this helps!", TEXT, ["closing_remark"]),
    (f"{TEXT}\n\n---\n*Word count: 7*", TEXT, ["closing_remark", "wrapper"]),
    (f"{TEXT}\n(7 words)", TEXT, ["closing_remark"]),
    (f"{TWO}\n\nNote: This summary leaves out the vote.", TWO, ["closing_remark"]),
    (f"{TEXT}\n\nWould you like more detail?\n\nFeel free to ask!", TEXT, ["closing_remark", "closing_remark"]),
    (f"~~~\n{TWO}\n~~~", TWO, ["wrapper"]),
    (f"```markdown\n## Summary\n{TEXT}\n```", TEXT, ["wrapper", "lead_in"]),
    (f'{{"summary": "{TEXT}"}}', TEXT, ["wrapper"]),
    (f'```json\n{{"summary": "{TEXT}", "n_words": 7}}\n```', TEXT, ["wrapper", "wrapper"]),
    ('{"summary": ["The council passed the bill.", "Members cheered."]}', TWO.replace("\n\n", "\n"), ["wrapper"]),
    (f"<summary>\n{TEXT}\n</summary>", TEXT, ["wrapper"]),
    (f"<analysis>Who voted?</analysis>\n<summary>{TEXT}</summary>", TEXT, ["wrapper"]),
    (f"“{TEXT}”", TEXT, ["wrapper"]),
    (f"> {TEXT}\n>\n> It rained.", f"{TEXT}\n\nIt rained.", ["wrapper"]),
    (f"Draft:\nA bill.\n\nFinal summary:\n{TEXT}", TEXT, []),  # labelled as no answer: like reasoning
    (f"Summary\n\n{TEXT}", TEXT, ["lead_in"]),
    (f"# Meeting Summary\n\n{TEXT}", TEXT, ["lead_in"]),
    (f"Let me summarize the meeting:\n\n{TEXT}", TEXT, ["lead_in"]),
    (f"I'd be happy to help!\n\n{TEXT}", TEXT, ["lead_in"]),
    ("{'summary': 'The council met.'}", "The council met.", ["wrapper"]),
    ('{"summary": "The council', "The council", ["wrapper"]),
    ("Here is the summary:", "", ["lead_in"]),
    ("<think>A bill", "", ["unfinished_thinking"]),
]


@pytest.mark.parametrize(("answer", "summary", "kinds"), AROUND)
def test_what_stands_around_a_summary_is_left_out_and_said(answer, summary, kinds):
    parsed = parse_summary(answer)
    assert (parsed.value, [one.kind for one in parsed.problems]) == (summary, kinds)
    assert set(kinds) <= set(PROBLEM_KINDS)


PLAIN = [
    "",
    TWO,
    "- The bill was passed.\n- Members cheered.",
    "**The bill is passed**\n\nMembers cheered.",
    "## Summary of a long day\n\nMembers cheered.",  # a title that says something
    "I'm sorry, but I can't summarise this transcript.",
    '"A bill," said Ann. "It is passed."',  # quotes around the whole, but not one pair
    "The summary offence was dropped: nobody had a case.",
    "Here is where the council met: Oxhampton.",
    "Answering the query takes time: two weeks.",
    "The council met.\nIf your remote is lost, it beeps.",
    "The council met.\nThe group hopes that this helps.",
    "In short: the bill was passed.",
    "The code:\n```\nx = 1\n```\nwas approved.",
    '{"decision": "passed", "votes": "12"}',
    "The final version of the bill was passed.",
    "The group wants a final draft:\nit is due in May.",
    "Okay was said by all.\nThe bill was passed.",
    "He said “yes”.",
    "a > b\n> c",
    "Sure enough, the bill was passed.\n\nMembers cheered.",
    "Great Yarmouth was flooded.\n\nMembers cheered.",
    "Three words were agreed:\n\nyes, no, maybe.",
    "I hope dies last, a member said.",
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
