"""The questions of ``tls_corpus``, and what is read from their answers."""

import datetime
import json
from pathlib import Path

import pytest

from tests.hostile import HOSTILE
from tls_tasks.core.errors import InputError
from tls_tasks.timelines import corpus, data
from tls_tasks.timelines.data import load_documents
from tls_tasks.timelines.topics import Article

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


DAY = datetime.date(2011, 1, 25)
LAST = datetime.date(2011, 12, 31)


def article(days_later, *sentences):
    return Article("a", DAY + datetime.timedelta(days_later), "", sentences)


def test_chunks_hold_every_sentence_once_in_order_of_day_and_within_their_room():
    texts = [[f"Sentence {day} {place} " + "x" * (1 + 7 * place % 90) for place in range(30)] for day in range(5)]
    given = [article(day, *texts[day]) for day in (3, 1, 0, 4, 2)]
    chunks = corpus.make_chunks(given, 400, len)
    assert all(len(chunk.text) <= 400 for chunk in chunks)
    lines = [line for chunk in chunks for line in chunk.text.splitlines()]
    assert [line[2:] for line in lines if line.startswith("- ")] == [text for day in texts for text in day]
    assert sum(chunk.n_sentences for chunk in chunks) == 150
    assert all(chunk.text.startswith(("Tuesday, 2011-01-25\n", "W", "T", "F", "S")) for chunk in chunks)
    first_of_each = [chunk.text.splitlines()[0] for chunk in chunks]
    assert first_of_each == sorted(first_of_each, key=lambda heading: heading[-10:])


def test_articles_of_one_day_share_a_heading_and_a_line_break_is_no_line():
    (chunk,) = corpus.make_chunks([article(0, "One\nline."), article(0, "Another.")], 400, len)
    assert chunk == ("Tuesday, 2011-01-25\n- One line.\n- Another.\n", 2)


def test_a_sentence_longer_than_a_chunk_is_cut():
    chunks = corpus.make_chunks([article(0, "A.", "b" * 10_000, "C.")], 100, len)
    assert [len(chunk.text) <= 100 for chunk in chunks] == [True] * len(chunks)
    assert sum(chunk.n_sentences for chunk in chunks) == 3


def test_no_articles_make_no_chunks():
    assert corpus.make_chunks([], 100, len) == []


@pytest.mark.parametrize(("text", "expected"), CASES["what_is_read_from_an_answer_of_the_map_round"])
def test_what_is_read_from_an_answer_of_the_map_round(text, expected):
    assert [event.text for event in corpus.read_events(text, LAST, 200)] == expected


@pytest.mark.parametrize("text", HOSTILE)
def test_no_answer_stops_a_round(text):
    for event in corpus.read_events(text, LAST, 200):
        assert event.day <= LAST and event.text
    assert "\n" not in corpus.read_entry(text, 100)


def test_of_an_endless_answer_no_more_is_read_than_there_was_room_for():
    endless = "2011-01-25: Protests begin again and again.\n" * 25_000
    assert len(corpus.read_events(endless, LAST, 100)) < 50
    assert len(corpus.read_entry("word " * 200_000, 100)) <= 2_000


def test_days_on_which_events_agree_come_first_then_those_with_more_published_then_the_earlier():
    found = {
        DAY: ["It rains."],
        DAY + datetime.timedelta(1): ["Snow falls."],
        DAY + datetime.timedelta(2): ["Wind blows."],
        DAY + datetime.timedelta(3): ["Protests begin in Cairo.", "Protests in Cairo begin."],
        DAY + datetime.timedelta(4): ["Protests begin in Cairo.", "A ship arrives."],
    }
    ranked = corpus.rank_days(found, {DAY + datetime.timedelta(2): 7})
    assert [(day - DAY).days for day in ranked] == [3, 4, 2, 0, 1]
    heavy = corpus.rank_days(found, {DAY + datetime.timedelta(2): 7}, volume_weight=1.0)
    assert [(day - DAY).days for day in heavy] == [2, 3, 4, 0, 1]
    light = corpus.rank_days(found, {DAY + datetime.timedelta(3): 700}, volume_weight=-1.0)
    assert [(day - DAY).days for day in light] == [4, 0, 1, 2, 3]


def test_notes_are_the_twelve_most_central_and_fit():
    texts = [f"Protests in Cairo on square {n}." for n in range(20)] + ["It rains."]
    notes = corpus.central_notes(texts, 10_000, len)
    assert len(notes) == 12 and "It rains." not in notes
    assert sum(len(f"- {note}\n") for note in corpus.central_notes(texts, 100, len)) <= 100
    assert corpus.central_notes(["x" * 500], 100, len) == ["x" * 62]  # cut in halves until it fits


@pytest.mark.parametrize(("text", "expected"), CASES["what_is_read_from_an_answer_of_the_write_round"])
def test_what_is_read_from_an_answer_of_the_write_round(text, expected):
    assert corpus.read_entry(text, 100) == expected


def test_prompts_name_topic_day_and_numbers():
    one, more = corpus.map_prompt("Egypt", "…\n", 1), corpus.map_prompt("Egypt", "…\n", 12)
    assert "at most 1 event.\n" in one and "at most 12 events.\n" in more and more.count("Egypt") == 2
    entry = corpus.write_prompt("Egypt", DAY, ["Protests begin."], 2)
    assert entry.startswith("These notes about 25 January 2011 (2011-01-25) were taken")
    assert "<notes>\n- Protests begin.\n</notes>" in entry and "at most 2 sentences, at most 60 words in all" in entry


# --- the articles behind a document ---


@pytest.mark.filterwarnings("ignore")
def test_a_document_finds_all_articles_of_its_topic():
    rows = load_documents("tls_crisis", edition="embedded", context_budget=300)
    topics = [data.topic_of(row) for row in rows]
    assert [topic.name for topic in topics] == [row["topic"] for row in rows]
    assert all(len(topic.articles) >= 18 for topic in topics)
    assert topics[0] is data.topic_of(dict(rows[1])) and rows[1]["topic"] == rows[0]["topic"]


@pytest.mark.filterwarnings("ignore")
def test_a_document_of_other_data_finds_none():
    row = load_documents("tls_crisis", edition="embedded")[0]
    with pytest.raises(InputError, match=r"not loaded in this process.*--cache_requests refresh"):
        data.topic_of({**row, "reference": "[]"})
