"""Which sentences a prompt shows."""

import datetime
import json
import random
from pathlib import Path

import pytest

from tls_tasks.timelines.prompts import Budget, build_context
from tls_tasks.timelines.topics import Article, read_data_set

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

DAY = datetime.date


def article(day, *sentences):
    return Article(day.isoformat(), day, "", sentences)


def articles_of(n_days, n_sentences):
    """One article a day, from Saturday 2011-01-01."""
    return [
        article(
            DAY(2011, 1, 1) + datetime.timedelta(day),
            *(f"Day {day} sentence {number} says something of some length." for number in range(n_sentences)),
        )
        for day in range(n_days)
    ]


def shown_days(text):
    return [line.split(", ")[1] for line in text.splitlines() if not line.startswith("- ")]


def test_everything_is_shown_when_it_fits():
    articles = articles_of(2, 2)
    context = build_context(articles, [Budget(10_000)])
    assert context.text.splitlines() == CASES["test_everything_is_shown_when_it_fits"]
    days = frozenset(DAY(2011, 1, day) for day in (1, 2))
    assert context[1:] == (2, 4, 2, 4, (False,), days)
    size = len(context.text)
    assert build_context(articles, [Budget(size)]) == context == build_context(articles, [])._replace(refused=(False,))
    assert build_context(articles, [Budget(size - 1), Budget(size)])[1:6] == (2, 3, 2, 4, (True, False))


@pytest.mark.parametrize("size", [0, 1, 70, 100, 1_000, 5_000])
def test_budget_is_never_exceeded_and_headings_cost(size):
    context = build_context(articles_of(40, 5), [Budget(size)])
    assert len(context.text) <= size
    assert context.text.count("\n- ") == context.n_sentences and len(shown_days(context.text)) == context.n_days
    assert shown_days(context.text) == sorted(set(shown_days(context.text)))


def test_all_budgets_hold():
    context = build_context(articles_of(40, 5), [Budget(1_000), Budget(30, lambda text: len(text.split()))])
    assert len(context.text) <= 1_000 and len(context.text.split()) <= 30
    assert context.refused == (False, True)


def test_days_that_are_mentioned_come_first():
    articles = [
        article(DAY(2011, 1, 25), "Crowds gather in the squares of the capital."),
        article(DAY(2011, 1, 26), "Nothing of note is reported from anywhere."),
        article(
            DAY(2011, 1, 27), "The crowds of Tuesday have not gone home.", "It began on January 25, says a witness."
        ),
    ]
    assert shown_days(build_context(articles, [Budget(70)]).text) == ["2011-01-25"]


def test_a_days_sentences_are_of_a_handy_length_and_central_first():
    day = DAY(2011, 1, 25)
    articles = [
        article(
            day,
            "Police and protesters.",
            "The weather is mild and dry on the coast in the north.",
            "Police fight protesters on the bridges of Cairo.",
            "Protesters and police fight in Cairo and in Suez.",
            "Police and protesters fight in Cairo; " + "police fight protesters " * 8,
        )
    ]
    assert len(articles[0].sentences[0]) < 40 and len(articles[0].sentences[-1]) > 170
    context = build_context(articles, [Budget(130)])
    assert [line[-6:] for line in context.text.splitlines()] == ["-01-25", "Cairo.", " Suez."]


def test_what_a_day_repeats_is_shown_once_and_keywords_do_not_matter():
    day, later = DAY(2011, 1, 25), DAY(2011, 1, 26)
    context = build_context(
        [article(day, "One  two.", "One\ntwo."), article(day, "One two."), article(later, "One two.")], []
    )
    assert context.text == "Tuesday, 2011-01-25\n- One two.\nWednesday, 2011-01-26\n- One two.\n"
    assert context.all_sentences == 2


def test_context_does_not_depend_on_the_order_of_days_in_the_file():
    articles = articles_of(50, 3)
    expected = build_context(articles, [Budget(700)])
    for seed in range(5):
        assert build_context(random.Random(seed).sample(articles, len(articles)), [Budget(700)]) == expected


def test_no_sentences_give_no_text():
    assert build_context([article(DAY(2011, 1, 1))], [Budget(99)])[:6] == ("", 0, 0, 0, 0, (False,))
    assert build_context([], [Budget(99)]).text == ""


def test_two_fifths_of_the_real_dates_are_among_the_days_that_24000_characters_show(shared_data):
    shown, there = 0, 0
    for topic in read_data_set(shared_data / "crisis"):
        dates = {day.isoformat() for timeline in topic.timelines for day in timeline.dates}
        shown += len(dates.intersection(shown_days(build_context(topic.articles, [Budget(24_000)]).text)))
        there += len(dates)
    assert there == 492 and shown / there >= 0.40


def test_captions_are_not_shown_and_tokenised_text_is_joined_back_but_not_changed_where_it_is_scored():
    articles = [
        article(
            DAY(2011, 1, 25),
            "Egypt 's crisis , live",
            "Egypt 's army , so far , waits .",
            "开罗爆发抗议。",
            "Photo : AP",
        )
    ]
    assert build_context(articles, []).text.splitlines()[1:] == ["- Egypt's army, so far, waits.", "- 开罗爆发抗议。"]
    assert articles[0].sentences[0] == "Egypt 's crisis , live"
