"""From topics to the documents of a task: what each prompt shows, and how long a timeline it asks for.

One document is one (topic, reference timeline) pair, as in news-tls and LLM-TLS: a topic with three references is asked
about three times, each time with that reference's number of dates and of sentences per date.
"""

from __future__ import annotations

import datetime
import functools
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.data.files import file_rows
from tls_tasks.data.model_context import LONGEST_ANSWER, ModelContext
from tls_tasks.timelines.context import Budget, Context, build_context
from tls_tasks.timelines.prompts import prompt
from tls_tasks.timelines.topics import Topic, read_rows
from tls_tasks.timelines.types import Timeline

_TOKENS_A_DATE = 50
_TRAILING_DATE = re.compile(r"[_ ]\d{4}\.\d{1,2}\.\d{1,2}$")
_EXAMPLES = Path(__file__).with_name("examples.json")
_NO_CONTEXT = Context("", 0, 0, 0, 0, ())


@dataclass(frozen=True, slots=True)
class Room:
    """What a prompt and its answer may take.

    Attributes:
        budget: How much article text is wanted; None: as much as fits.
        model: The model's context, where it is known: prompt and answer stay in it.
        answer: Tokens for the answer.
    """

    budget: Budget | None = None
    model: ModelContext | None = None
    answer: int = LONGEST_ANSWER

    @property
    def most_dates(self) -> int:
        """How many dates an answer has room for."""
        return self.answer // _TOKENS_A_DATE

    def show(self, topic: Topic, phrases: Mapping[str, str]) -> Context:
        """Choose what the prompts of a topic show of its articles; the model's own context is the last budget."""
        budgets = [self.budget] if self.budget else []
        if self.model:
            frame = prompt({**_common(topic, phrases), "n_asked": 999, "n_sentences": 99, "context": ""})
            size = self.model.prompt(self.answer) - self.model.count(frame)
            budgets.append(Budget(max(0, size), self.model.count))
        return build_context(topic.articles, budgets)


def documents(
    topics: Iterable[Topic],
    edition: str,
    phrases: Mapping[str, str],
    room: Room,
    contexts: Mapping[str, Context] | None = None,
) -> list[dict[str, str | int]]:
    """Make the documents of a task.

    Args:
        topics: The topics.
        edition: Where they come from; every document says so.
        phrases: Topic -> what it is about, in words that "a timeline of" can stand before.
        room: What prompt and answer may take.
        contexts: Topic -> what :meth:`Room.show` gave; None for the closed-book form, which shows no articles.

    Returns:
        One row per (topic, timeline) pair, in order. ``query`` says what the topic is about. ``reference`` is JSON,
        ``[{"date": "2011-01-25", "text": …}, …]``. ``start_date`` and ``end_date`` are the first and last day of the
        articles; without articles, of the years in which the reference lies. ``n_dates`` (L) is the reference's number
        of dates, ``n_asked`` how many the prompt asks for: no more than it shows days or the answer has room for.
        ``n_sentences`` (k) is the reference's mean number of sentences per date, rounded and at least 1.
        ``context_sentences`` of ``context_sentences_total`` sentences are shown, on ``context_days`` of
        ``context_days_total`` days; ``context_truncated`` is how many sentences are not.
    """
    rows: list[dict[str, str | int]] = []
    for topic in topics:
        context, most = _NO_CONTEXT, room.most_dates
        if contexts is not None:
            context = contexts[topic.name]
            most = min(most, context.n_days)
        for index, timeline in enumerate(topic.timelines):
            rows.append(
                {
                    "doc_id": f"{topic.name}/{index}",
                    "timeline_index": index,
                    **_common(topic, phrases),
                    "n_dates": len(timeline),
                    "n_asked": max(1, min(len(timeline), most)),
                    "n_sentences": _sentences_per_date(timeline),
                    "context": context.text,
                    "context_truncated": context.all_sentences - context.n_sentences,
                    "context_sentences": context.n_sentences,
                    "context_sentences_total": context.all_sentences,
                    "context_days": context.n_days,
                    "context_days_total": context.all_days,
                    "reference": json.dumps(timeline.as_rows(), ensure_ascii=False),
                    "edition": edition,
                }
            )
    return rows


def examples(name: str) -> list[dict[str, str | int]]:
    """Examples for few-shot prompts: topics of our own, the same for every data set and for both forms.

    Example:
        >>> examples("tls_crisis")[0]["query"]
        'the flight of Apollo 11'
    """
    topics = read_rows("examples", file_rows(_EXAMPLES), _EXAMPLES.name)
    room = Room()
    return documents(topics, "examples", {}, room, {topic.name: room.show(topic, {}) for topic in topics})


# ---- the topics behind documents, which show a few of their articles only

_KEY_FIELDS = ("topic", "edition", "reference")
_loaders: dict[tuple[Any, ...], Callable[[], Sequence[Topic]]] = {}


def remember(rows: Iterable[Mapping[str, Any]], load: Callable[[], Sequence[Topic]]) -> None:
    """Say how the topics of documents are loaded; a later call for the same documents replaces an earlier one.

    A document finds its topic by topic, edition and reference. So one that the harness kept from an earlier run
    (``--cache_requests``) finds its articles too, and one of other data doesn't.

    Args:
        rows: Documents.
        load: Loads their topics again, with articles; called when they are asked for, and once only.
    """
    once = functools.cache(load)
    _loaders.update({_key(row): once for row in rows})


def topic_of(doc: Mapping[str, Any]) -> Topic:
    """The topic of a document, with all articles; the same object for all documents of the topic.

    Raises:
        InputError: If no such document was loaded in this process.
    """
    load = _loaders.get(_key(doc))
    if load is None:
        raise InputError(
            "doc",
            None,
            f"a document of topic {doc.get('topic')!r} that was not loaded in this process",
            "one of the task's own data; with --cache_requests, the cache holds prompts of other data: "
            "--cache_requests refresh",
        )
    return next(topic for topic in load() if topic.name == doc["topic"])


def _key(doc: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(doc.get(name) for name in _KEY_FIELDS)


# ---- what a document says of its topic


def _common(topic: Topic, phrases: Mapping[str, str]) -> dict[str, str]:
    """What all documents of a topic say."""
    start, end = _time(topic)
    return {
        "topic": topic.name,
        "query": phrases.get(topic.name) or ", ".join(_query_words(topic)),
        "start_date": start.isoformat(),
        "end_date": end.isoformat(),
    }


def _time(topic: Topic) -> tuple[datetime.date, datetime.date]:
    """The articles' first and last day. Without articles whole years: the reference's own ends are answers.

    Example:
        >>> from datetime import date
        >>> [str(day) for day in _time(Topic("egypt", (), (), (Timeline.of({date(2011, 1, 25): ["Protests."]}),)))]
        ['2011-01-01', '2011-12-31']
    """
    if topic.articles:
        days = [article.date for article in topic.articles]
        return min(days), max(days)
    years = [day.year for timeline in topic.timelines for day in timeline.dates]
    return datetime.date(min(years), 1, 1), datetime.date(max(years), 12, 31)


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
