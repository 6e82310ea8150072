"""Documents: what a model is shown and asked, under which budget."""

import datetime
import json
import logging
from pathlib import Path

import pytest

from tls_tasks.core.errors import InputError
from tls_tasks.data.model_context import ModelContext
from tls_tasks.timelines.data import DEFAULT_CONTEXT_BUDGET, Room, documents, load_documents
from tls_tasks.timelines.prompts import Budget
from tls_tasks.timelines.topics import Topic, read_data_set
from tls_tasks.timelines.types import Timeline

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

DAY = datetime.date


def with_articles(topics, room=None):
    room = room or Room()
    return documents(
        topics, "local", {"egypt": "the crisis in Egypt"}, room, {t.name: room.select_context(t, {}) for t in topics}
    )


# ---- documents


def test_one_document_a_reference_timeline(crisis):
    rows = with_articles(read_data_set(crisis))
    assert [row["doc_id"] for row in rows] == ["egypt/0", "egypt/1", "libya/0", "libya/1"]
    assert rows[0] == CASES["test_one_document_a_reference_timeline"]
    assert (rows[1]["n_dates"], rows[1]["n_sentences"]) == (1, 1)


def test_closed_book_shows_no_articles_but_has_their_time(crisis):
    rows = documents(read_data_set(crisis), "local", {}, Room())
    assert {row["context"] for row in rows} == {""}
    assert {row["context_truncated"] for row in rows} == {0}
    assert (rows[0]["query"], rows[0]["n_asked"]) == ("egypt", 2)
    assert (rows[1]["start_date"], rows[1]["end_date"]) == ("2011-01-25", "2011-01-28")


def test_without_articles_the_time_is_that_of_whole_years():
    timeline = Timeline.from_days({DAY(2009, 12, 30): ["A."], DAY(2011, 2, 11): ["B."]})
    (row,) = documents([Topic("x", (), (), (timeline,))], "local", {}, Room())
    assert (row["start_date"], row["end_date"]) == ("2009-01-01", "2011-12-31")


@pytest.mark.parametrize(("answer", "asked"), [(8192, 2), (100, 2), (99, 1), (10, 1)])
def test_no_more_dates_are_asked_for_than_the_answer_has_room_for(crisis, answer, asked):
    assert with_articles(read_data_set(crisis), Room(answer=answer))[0]["n_asked"] == asked
    assert documents(read_data_set(crisis), "local", {}, Room(answer=answer))[0]["n_asked"] == asked


@pytest.mark.parametrize(("size", "asked"), [(1000, 2), (40, 1), (1, 1)])
def test_no_more_dates_are_asked_for_than_are_shown(crisis, size, asked):
    row = with_articles(read_data_set(crisis), Room(Budget(size)))[0]
    assert (row["n_asked"], row["n_dates"]) == (asked, 2)


@pytest.mark.parametrize(
    ("lengths", "expected"), [([1], 1), ([0, 0], 1), ([1, 2], 2), ([2, 3], 2), ([3, 4], 4), ([1, 1, 2], 1)], ids=str
)
def test_sentences_per_date_rounds_halves_to_even_as_python_and_news_tls_do(lengths, expected):
    days = {DAY(2011, 1, 1 + number): ["S."] * length for number, length in enumerate(lengths)}
    (row,) = documents([Topic("egypt", (), (), (Timeline.from_days(days),))], "local", {}, Room())
    assert row["n_sentences"] == expected


@pytest.mark.parametrize(
    ("name", "keywords", "query"),
    [
        ("bpoil", ("bp", "oil", "spill"), "bp, oil, spill"),
        ("U.S.-Syria_2017.4.7", (), "U.S.-Syria"),
        ("Rosetta_mission", (), "Rosetta mission"),
    ],
)
def test_query_is_the_keywords_or_the_name(name, keywords, query):
    timeline = Timeline.from_days({DAY(2011, 1, 25): ["Protests."]})
    (row,) = documents([Topic(name, keywords, (), (timeline,))], "local", {}, Room())
    assert row["query"] == query


@pytest.mark.parametrize(
    "options",
    [{"context_budget": 0}, {"context_budget": "many"}, {"context_budget": True}],
    ids=str,
)  # fmt: skip
def test_impossible_budgets_are_errors(crisis, options):
    with pytest.raises(InputError):
        load_documents("tls_crisis", data=crisis, **options)


# ---- the whole way


def test_rows_are_text_and_whole_numbers(crisis):
    row = load_documents("tls_crisis", data=crisis)[0]
    numbers = {"timeline_index", "n_dates", "n_asked", "n_sentences", "context_truncated", "context_sentences",
               "context_sentences_total", "context_days", "context_days_total"}  # fmt: skip
    texts = {"doc_id", "topic", "query", "start_date", "end_date", "context", "reference", "edition"}
    texts |= {"article_dates", "reference_dates"}
    assert {key: type(value) for key, value in row.items()} == {
        **dict.fromkeys(texts, str),
        **dict.fromkeys(numbers, int),
    }
    assert (row["start_date"], row["end_date"]) == ("2011-01-25", "2011-01-28")
    assert [day["date"] for day in json.loads(row["reference"])] == ["2011-01-25", "2011-01-28"]


def test_smaller_budget_shows_less(crisis):
    small = load_documents("tls_crisis", data=crisis, context_budget=44)[0]
    whole = load_documents("tls_crisis", data=crisis)[0]
    assert small["context_truncated"] == 2
    assert whole["context_truncated"] == 0
    assert len(small["context"]) <= 44 < len(whole["context"]) <= DEFAULT_CONTEXT_BUDGET


def test_real_open_tls_closed_book(shared_data):
    task = load_documents("tls_open", closed_book=True, data=shared_data)
    assert len(task) == 50
    assert sum(row["n_dates"] for row in task) == 1130
    for row in task:
        dates = [day["date"] for day in json.loads(row["reference"])]
        assert dates == sorted(set(dates))
        assert (row["start_date"], row["end_date"]) == (f"{dates[0][:4]}-01-01", f"{dates[-1][:4]}-12-31")
        assert row["n_dates"] == row["n_asked"] == len(dates)
        assert all(DAY.fromisoformat(date).isoformat() == date for date in dates)


# ---- the model's context


@pytest.mark.parametrize(
    ("size", "answer", "closed_book"), [(2048, 512, 1024), (4096, 1024, 2048), (8192, 2048, 4096), (32768, 8192, 8192)]
)
def test_the_answers_room_is_a_share_of_the_models_context(crisis, caplog, size, answer, closed_book):
    for form, expected in ((False, answer), (True, closed_book)):
        generation = {"max_gen_toks": 77}
        caplog.clear()
        load_documents(
            "tls_crisis", data=crisis, closed_book=form, model_args={"max_length": size}, generation=generation
        )
        assert generation == {"max_gen_toks": expected}
        assert caplog.text.count(f"answers have {expected} tokens instead of 8192") == (expected < 8192)


def test_without_a_known_context_the_answer_has_its_whole_room(crisis):
    generation = {"max_gen_toks": 77}
    load_documents("tls_crisis", data=crisis, generation=generation, model_args={"base_url": "http://127.0.0.1/v1"})
    assert generation == {"max_gen_toks": 8192}


def test_auto_fills_the_context_and_says_so_where_it_is_not_known(shared_data, caplog):
    filled = load_documents(
        "tls_crisis", data=shared_data / "crisis", context_budget="auto", model_args={"max_length": 32768}
    )[0]
    # without a tokenizer three bytes are a token: 32768 - 8192 - 2048 tokens for the prompt
    assert 22528 * 3 - 2000 < len(filled["context"].encode()) < 22528 * 3
    caplog.clear()
    with caplog.at_level(logging.INFO):
        (row, *_) = load_documents("tls_crisis", data=shared_data / "crisis", context_budget="auto")
    assert 23_000 < len(row["context"]) <= DEFAULT_CONTEXT_BUDGET
    assert "context is not known" in caplog.text
    assert "the prompts show 677 of 61301 sentences (1.1 %), on 633 of 3099 days (20.4 %)" in caplog.text
    assert (row["context_days"], row["context_days_total"]) == (147, 796)


def test_more_than_the_model_holds_is_cut_with_one_warning(shared_data, caplog):
    row = load_documents(
        "tls_crisis", data=shared_data / "crisis", context_budget=400_000, model_args={"max_length": 32768}
    )[0]
    assert caplog.text.count("the model's context is 32768 tokens: prompts show less of the articles than was") == 1
    assert len(row["context"].encode()) < 22528 * 3


def test_a_context_that_holds_no_sentence_stops_and_the_smallest_that_would_do_is_named(crisis, caplog):
    with pytest.raises(InputError, match="got 400 tokens for tls_crisis, expected more: with 100 for the answer"):
        load_documents("tls_crisis", data=crisis, model_args={"max_length": 400})
    row = load_documents("tls_crisis", data=crisis, model_args={"max_length": 449}, context_budget=999)[0]
    assert "room for 2 dates, and prompts show less" in caplog.text
    assert (row["context"], row["n_asked"], row["context_truncated"]) == ("", 1, 3)


def test_the_models_context_holds_prompt_and_answer():
    context = ModelContext(2048, len)
    assert context.answer(1 / 4) + context.prompt(512) == 2048 - 128
    assert ModelContext(1, len).answer(1 / 4) == 1


def test_a_budget_is_a_number_or_auto(crisis):
    with pytest.raises(InputError, match="context_budget: got 'all', expected a whole number"):
        load_documents("tls_crisis", data=crisis, context_budget="all")
