"""What stands beside the entries: lost, or a note; and another prompt behind them."""

import re

import pytest

from tests.test_batteries import cases
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.text.dates import read_date
from tls_tasks.timelines.read import parse_timeline

ANSWERS = [
    case for folder in ("batteries", "batteries/later", "batteries/unseen") for case in cases("timelines", folder)
]

MARKUP = re.compile(r"[\[{]\s*[\[\"'{]|<\w|\||\\begin|```|^#|^\*\*Date|\*\*$|^\s*[\w\"']+: *$|=", re.MULTILINE)


@pytest.mark.parametrize(
    ("line", "may_be_read"),
    [
        ("Zorblax quibbled on the quay.", True),
        ("- Zorblax quibbled on the quay.", True),
        ("Source: Zorblax", True),
        ("Note: Zorblax quibbled.", True),
        ("Spring 2013: Zorblax quibbled.", False),
        ("Ramadan 1434 (2013): Zorblax quibbled.", False),
        ("2013 Q3 – Zorblax quibbled.", False),
        ("平成23年1月25日：Zorblax", False),
        ("2013-02-30: Zorblax quibbled.", False),
    ],
)
def test_a_line_more_is_read_or_counted_and_one_with_another_date_is_no_part_of_the_day_above(line, may_be_read):
    for case in ANSWERS[::4]:
        lines = case["answer"].split("\n")
        is_plain = not MARKUP.search(case["answer"]) and not any(read_date(one.strip(" *-#")) for one in lines)
        for place in {0, len(lines) // 2, len(lines)} if is_plain else ():
            answer = "\n".join([*lines[:place], line, *lines[place:]])
            if "Zorblax" not in strip_thinking(answer).text:
                continue
            parsed = parse_timeline(answer)
            is_read = parsed.value is not None and "Zorblax" in parsed.value.text
            assert is_read or parsed.failed or any("Zorblax" in noted.detail for noted in parsed.problems), (
                case["id"],
                place,
            )
            assert may_be_read or not is_read, (case["id"], place)


ENTRIES = "2022-01-05: Ann opened the bridge.\n2022-01-09: Bob closed it."


@pytest.mark.parametrize(
    ("text", "lost", "notes"),
    [
        (f"# Bridges\n\nHere is a timeline of 2022:\n\n{ENTRIES}\n\nThese events made 2022 a hard year.", 0, 3),
        (f"{ENTRIES}\n\nIn 2022 the quay closed, too.", 1, 0),
        (f"{ENTRIES}\n\nFebruary 7th was when Cid came.", 1, 0),
        (f"{ENTRIES}\nFebruary 7th was when Cid came.", 1, 0),
        (f"{ENTRIES}\n\nAlso:\n\n- Cid came.", 1, 1),
        (f"{ENTRIES}\n\n{'Cid came and went. ' * 20}", 1, 0),
        (f"Up to 2023 it went so.\n\n{ENTRIES}", 1, 0),
        (ENTRIES.replace("\n", "\n\nCid came.\n\n"), 1, 0),
        (ENTRIES.replace("\n", "\n\n## The end\n\n"), 0, 0),
        ("- January 5: A\n- January 9: B", 0, 1),
    ],
)
def test_what_stands_between_entries_or_could_be_one_is_lost(text, lost, notes):
    parsed = parse_timeline(text)
    assert (sum(parsed.counts().values()), len(parsed.problems)) == (lost, lost + notes)


REQUESTS = [
    "The sentences below come from news articles about floods. They are",
    "From what you know, write a timeline of",
]


@pytest.mark.parametrize(
    "request_line", [*REQUESTS, "Write a timeline of the floods.", "User: And the floods?", "Question: x"]
)
def test_the_next_prompt_that_a_base_model_makes_up_does_not_replace_its_answer(request_line):
    answer = "2011-01-25: A\n2011-01-26: B"
    text = f"{answer}\n\n{request_line}\n\nTimeline:\n2012-05-05: Zorblax quibbled."
    parsed = parse_timeline(text)
    assert parsed.value == parse_timeline(answer).value
    assert parsed.kinds() == {"next_prompt": 3}
    # an answer behind the prompt itself, which some hosts give back, is still the answer
    assert str(parse_timeline(f"{request_line}\n\nTimeline:\n{text}").value.dates[-1]) == "2012-05-05"
