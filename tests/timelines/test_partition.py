"""No word of an answer is lost without a word: it is read, or frame, or in a problem that is counted."""

import re

import pytest

from tests.test_batteries import cases
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.text.date_forms import marked
from tls_tasks.text.dates import read_date
from tls_tasks.timelines.read import parse_timeline

ANSWERS = [
    case for folder in ("batteries", "batteries/later", "batteries/unseen") for case in cases("timelines", folder)
]

NOTATION = re.compile(  # tags, entities, fences, code, targets of links, names of fields, numbering, times of day
    r"<[!?/]?\w[^<>\n]*>|&#?\w+;|\\[a-z]+(?:\{[^{}\n]*\})*(?:\{[^\n]*)?|```.*|\]\([^()\s]*\)|【[^】]*】|//[^\n]*"
    r"|/\*.*?\*/|\[x\]|[\"'“]\w+[\"'”]:|\b\w+:\s*[\"\[{]|\bnull\b|^\W*(?:[a-z]{1,4}|[IVX]+)[.)]\s|\bCDT\b"
    r"|\bp\.m\. local time\b|（.）|^\W*(?:summary|timeline|day [0-9]+|date \| description)\b|\b(?:date|text|event)\b"
    r"|[0-9]\s*[年月日]|जनवरी|फ़रवरी|मार्च|अक्टूबर",
    re.IGNORECASE | re.MULTILINE,
)
FRAME = re.compile(  # headings, announcements, titles, greetings
    r"^\s*(?:[#=_|].*|<h2>.*|(?:1\. )?\*\*.*\*\*|.*[:：]\W*|[^.!?。:：|]*"
    r"|(?:sure|certainly|of course|here|great|i hope|ich hoffe|let me know|this timeline|¿quieres)\b.*)$",
    re.IGNORECASE,
)

MARKUP = re.compile(r"[\[{]\s*[\[\"'{]|<\w|\||\\begin|```|^#|^\*\*Date|\*\*$|^\s*[\w\"']+: *$|=", re.MULTILINE)


def words(text):
    return re.findall(r"[^\W_]+", text.lower())


def is_date(word):
    return any(char.isdigit() for char in word) or any("\ue100" <= mark <= "\ue1ff" for mark in marked(word))


@pytest.mark.parametrize("case", ANSWERS, ids=[case["id"] for case in ANSWERS])
def test_every_word_is_read_or_frame_or_counted(case):
    parsed, answer = parse_timeline(case["answer"]), strip_thinking(case["answer"]).text
    details = [noted.detail for noted in parsed.problems]
    cut = [line for detail in details for line in answer.split("\n") if detail[-1:] == "…" and detail[:-1] in line]
    known = {*words(parsed.value.text if parsed.value else ""), *words(" ".join((*details, *cut)))}
    for line in answer.split("\n"):
        lost = [word for word in words(NOTATION.sub(" ", line)) if word not in known and not is_date(word)]
        assert not lost or FRAME.match(line), line


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
            assert is_read or any("Zorblax" in noted.detail for noted in parsed.problems), (case["id"], place)
            assert may_be_read or not is_read, (case["id"], place)


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
    assert parsed.counts() == {"next_prompt": 3}
    # an answer behind the prompt itself, which some hosts give back, is still the answer
    assert str(parse_timeline(f"{request_line}\n\nTimeline:\n{text}").value.dates[-1]) == "2012-05-05"
