"""From topics to the documents of a task, and from a document to its prompt.

One document is one (topic, reference timeline) pair, as in news-tls and LLM-TLS: a topic with three references is asked
about three times, each time with that reference's number of dates and of sentences per date.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from tls_tasks.timelines.context import Budget, build_context
from tls_tasks.timelines.topics import Topic
from tls_tasks.timelines.types import Timeline

_TRAILING_DATE = re.compile(r"[_ ]\d{4}\.\d{1,2}\.\d{1,2}$")


def documents(topics: Iterable[Topic], edition: str, budget: Budget | None) -> list[dict[str, str | int]]:
    """Make the documents of a task.

    Args:
        topics: With articles, unless ``budget`` is None.
        edition: Where the topics come from; every document says so.
        budget: How much article text a prompt may show; None for the closed-book form, which shows none.

    Returns:
        One row per (topic, timeline) pair, in order. ``reference`` is JSON, ``[{"date": "2011-01-25", "text": …}, …]``.
        ``start_date`` and ``end_date`` are the first and last day of the articles, in closed-book form of the
        reference. ``n_dates`` (L) is the reference's number of dates, ``n_sentences`` (k) its mean number of sentences
        per date, rounded and at least 1. ``context_truncated`` counts the article sentences that the budget left out.
    """
    rows: list[dict[str, str | int]] = []
    for topic in topics:
        # The text doesn't depend on the reference, and choosing it is the expensive part.
        text, n_left_out = "", 0
        if budget is not None:
            text, n_left_out = build_context(topic.articles, _query_words(topic), budget)
        for index, timeline in enumerate(topic.timelines):
            days = timeline.dates if budget is None else [article.date for article in topic.articles]
            rows.append(
                {
                    "doc_id": f"{topic.name}/{index}",
                    "topic": topic.name,
                    "timeline_index": index,
                    "query": ", ".join(_query_words(topic)),
                    "start_date": min(days).isoformat(),
                    "end_date": max(days).isoformat(),
                    "n_dates": len(timeline),
                    "n_sentences": _sentences_per_date(timeline),
                    "context": text,
                    "context_truncated": n_left_out,
                    "reference": json.dumps(timeline.as_rows(), ensure_ascii=False),
                    "edition": edition,
                }
            )
    return rows


def _query_words(topic: Topic) -> tuple[str, ...]:
    """The topic's keywords; if it has none (Open-TLS), its name without the date at its end.

    Example:
        >>> _query_words(Topic("MH370_Search_2024.3.5", (), (), ()))
        ('MH370 Search',)
    """
    return topic.keywords or (_TRAILING_DATE.sub("", topic.name).replace("_", " "),)


def _sentences_per_date(timeline: Timeline) -> int:
    """The mean number of sentences per date, rounded as in news-tls (half to even), at least 1.

    Example:
        >>> from datetime import date
        >>> _sentences_per_date(Timeline.of({date(2011, 1, 25): ["A.", "B."], date(2011, 1, 28): ["C.", "D."]}))
        2
    """
    return max(1, round(timeline.n_sentences / len(timeline)))


def prompt(doc: Mapping[str, Any]) -> str:
    """The prompt with articles. The instruction comes last, since a prompt that is too long loses its beginning."""
    return (
        f"News sentences about: {doc['query']}\n"
        "Each line gives the day on which a sentence was published, then the sentence.\n\n"
        f"{doc['context']}\n"
        f"Using the sentences above, write a timeline of: {doc['query']}\n"
        f"It covers the time from {doc['start_date']} to {doc['end_date']}.\n"
        f"{_form(doc)}"
    )


def closed_book_prompt(doc: Mapping[str, Any]) -> str:
    """The prompt of the closed-book form: topic, time span and lengths, nothing else.

    Example:
        >>> time = {"start_date": "2011-01-25", "end_date": "2011-02-11"}
        >>> doc = {"query": "egypt", **time, "n_dates": 2, "n_sentences": 1}
        >>> print(closed_book_prompt(doc))
        From what you know, write a timeline of the news about: egypt
        It covers the time from 2011-01-25 to 2011-02-11.
        Choose the dates on which the most important events happened: exactly 2.
        Summarise what happened on each date. Number of sentences for a date: at most 1.
        Write one line for each date, the earliest first, and nothing else. Every line has this form:
        YYYY-MM-DD: summary
        <BLANKLINE>
        Timeline:
    """
    return (
        f"From what you know, write a timeline of the news about: {doc['query']}\n"
        f"It covers the time from {doc['start_date']} to {doc['end_date']}.\n"
        f"{_form(doc)}"
    )


def _form(doc: Mapping[str, Any]) -> str:
    """How long the timeline is and what its lines look like."""
    return (
        f"Choose the dates on which the most important events happened: exactly {doc['n_dates']}.\n"
        f"Summarise what happened on each date. Number of sentences for a date: at most {doc['n_sentences']}.\n"
        "Write one line for each date, the earliest first, and nothing else. Every line has this form:\n"
        "YYYY-MM-DD: summary\n\n"
        "Timeline:"
    )
