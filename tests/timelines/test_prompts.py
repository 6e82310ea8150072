"""Prompts: what they ask for, and that they give no answer away."""

import datetime
import json
import re
from pathlib import Path

import pytest

from tls_tasks.timelines.data import DATA_SETS, examples, load_documents
from tls_tasks.timelines.prompts import MONTHS, WEEKDAYS, closed_book_prompt, mentioned_dates, prompt
from tls_tasks.timelines.task import TASKS

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.filterwarnings("ignore")

DOC = CASES["DOC"]


def test_prompts_say_what_is_wanted():
    text = prompt(DOC)
    assert "<sentences>\nTuesday, 2011-01-25\n- Protests in Egypt.\n</sentences>\n\nUse these" in text
    wanted = (
        "a timeline of the crisis in Egypt: ", "appeared between January 2011 and July 2012.", "about 20 dates.",
        "in at most 2 sentences that make sense on their own.", "YYYY-MM-DD: summary",
    )  # fmt: skip
    assert all(part in text.partition("</sentences>")[2] for part in wanted)
    assert text.endswith("\n\nTimeline:")
    closed = closed_book_prompt(DOC)
    assert "It covers the years 2011 to 2012." in closed and "sentences below" not in closed
    assert closed.partition("- Choose")[2].splitlines()[-4:] == text.splitlines()[-4:]


def test_one_is_not_told_in_the_plural():
    text = prompt({**DOC, "n_asked": 1, "n_sentences": 1, "end_date": "2011-01-30"})
    assert "about 1 date.\n" in text and "in one sentence that makes sense on its own.\n" in text
    assert "appeared in January 2011.\n" in text
    assert "the year 2011.\n" in closed_book_prompt({**DOC, "end_date": "2011-12-31"})


def heads(docs):
    """What a prompt says besides the articles, and the dates of the document's reference."""
    for doc in docs:
        dates = {datetime.date.fromisoformat(day["date"]) for day in json.loads(doc["reference"])}
        text = prompt(doc)
        assert doc["context"] in text
        yield text.replace(doc["context"], ""), dates
        yield closed_book_prompt(doc), dates


def check_heads(docs):
    """No date of the reference in any form; how many prompts there were."""
    n = 0
    for text, dates in heads(docs):
        n += 1
        for day in dates:
            month = MONTHS[day.month - 1]
            assert not re.search(rf"{day}|\b{month} {day.day}\b|\b{day.day} {month}\b", text, re.IGNORECASE), day
    return n


@pytest.mark.parametrize("name", sorted(DATA_SETS))
def test_no_prompt_gives_a_reference_date_away(name):
    for closed_book in (False, True):
        assert check_heads(load_documents(name, edition="embedded", closed_book=closed_book)) >= 2


def test_no_prompt_gives_a_real_reference_date_away(shared_data):
    assert check_heads(load_documents("tls_open", data=shared_data, closed_book=True)) == 100
    assert check_heads(load_documents("tls_crisis", data=shared_data, closed_book=True)) == 24
    assert check_heads(load_documents("tls_crisis", data=shared_data, context_budget=1000)) == 24


@pytest.mark.parametrize("name", sorted(DATA_SETS))
def test_every_embedded_topic_is_introduced_by_words(name):
    for doc in load_documents(name, edition="embedded"):
        assert doc["query"] == DATA_SETS[name].settings["topics"][doc["topic"]]


def test_every_real_topic_is_introduced_by_words(shared_data):
    phrases = {name: DATA_SETS[name].settings["topics"] for name in ("tls_open", "tls_crisis")}
    assert {path.name for path in (shared_data / "open_tls").iterdir()} < set(phrases["tls_open"])
    assert {path.name for path in (shared_data / "crisis").iterdir()} == set(phrases["tls_crisis"])


# ---- the examples of few-shot prompts


def test_examples_are_written_as_the_prompt_asks():
    task, rows = TASKS["tls_crisis"], examples("tls_crisis")
    assert len(rows) == 5 and rows == examples("tls_open")
    for row in rows:
        assert row["n_dates"] == row["n_asked"] == 3 and row["context_truncated"] == 0
        assert len(prompt(row)) < 1300 and len(closed_book_prompt(row)) < 800
        lines = task.target(row).splitlines()
        assert len(lines) == 3 and all(re.fullmatch(r"\d{4}-\d\d-\d\d: [A-Z].*\.", line) for line in lines)
        assert task.process(row, task.target(row))["date_f1"] == 1.0


def test_examples_dates_can_be_worked_out_from_their_articles():
    for row in examples("tls_crisis"):
        named, day = set(), None
        for line in row["context"].splitlines():
            if line.startswith("- "):
                named |= mentioned_dates(line, day)
            else:
                weekday, date = line.split(", ")
                day = datetime.date.fromisoformat(date)
                assert weekday == WEEKDAYS[day.weekday()].capitalize()
        assert named == {datetime.date.fromisoformat(day["date"]) for day in json.loads(row["reference"])}


def test_examples_are_of_no_data_set():
    own = {word for row in examples("tls_crisis") for word in re.findall(r"[A-Z]\w+", row["query"])}
    assert own == {"Apollo", "Titanic", "Berlin", "Wall", "Concorde", "Channel", "Tunnel"}
    for data_set in DATA_SETS.values():
        assert not any(
            word in f"{name} {phrase}" for name, phrase in data_set.settings["topics"].items() for word in own
        )
