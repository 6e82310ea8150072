import pytest
from hypothesis import given
from hypothesis import strategies as st

from tls_tasks.timelines.baseline import answer
from tls_tasks.timelines.data import load_documents
from tls_tasks.timelines.documents import closed_book_prompt, prompt
from tls_tasks.timelines.read import parse_timeline


@pytest.mark.parametrize("task", ["tls_crisis", "tls_timeline17", "tls_entities", "tls_open"])
def test_it_answers_as_asked(task):
    for doc in load_documents(task, edition="embedded"):
        parsed = parse_timeline(answer(prompt(doc)))
        assert parsed.value is not None and not parsed.problems
        assert len(parsed.value) == doc["n_dates"]
        shown = {line.split(": ", 1)[1] for line in doc["context"].splitlines()}
        texts = " ".join(sentence for entry in parsed.value for sentence in entry.sentences)
        assert any(sentence in texts for sentence in shown)


def test_without_articles_the_dates_are_spread():
    doc = load_documents("tls_crisis", closed_book=True, edition="embedded")[0]
    timeline = parse_timeline(answer(closed_book_prompt(doc))).value
    assert timeline.dates[0].isoformat() == doc["start_date"] and timeline.dates[-1].isoformat() == doc["end_date"]
    assert len(timeline) == doc["n_dates"]


@given(st.text(max_size=200))
def test_any_prompt_has_an_answer(text):
    assert isinstance(answer(text), str)
    frame = "\n{}\nIt covers the time from 2011-01-25 to 2011-02-11. exactly 3. at most 1."
    assert isinstance(answer(f"2011-01-25: {text}" + frame.format(text)), str)


def test_the_last_instruction_counts():
    text = "2011-01-26: It takes exactly 99 votes from 2001-01-01 to 2002-01-01.\n2011-01-27: Police act.\n"
    told = text + "It covers the time from 2011-01-25 to 2011-02-11. Dates: exactly 1. Sentences: at most 1."
    assert answer(told) == "2011-01-26: It takes exactly 99 votes from 2001-01-01 to 2002-01-01."
    assert answer(text.replace("from", "in")) == ""
