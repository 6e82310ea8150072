"""Topics as rows: what people write by hand in JSON Lines or JSON, and our own Parquet."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.timelines.topics import Article, Topic, read_day, read_sentences, read_timeline

_FORM = (
    '{"topic": "…", "timelines": [[{"date": "2011-01-25", "text": ["…"]}, …]], "articles": [{"date": "2011-01-25", '
    '"sentences": ["…"]}, …]}, where articles, their "id" and "title", and "keywords" may be left out'
)


def read_row(name: str, row: Any, where: str) -> Topic:
    """The topic of one row.

    Args:
        name: The data set; a row that names another one is refused.
        row: As the example shows; ``text`` and ``sentences`` are one text or a list of sentences.
        where: File and line, for messages.

    Raises:
        DataError: If the row is no topic, or of another data set.

    Example:
        >>> day = {"date": "2011-01-25", "text": "Protests begin."}
        >>> read_row("tls_custom", {"topic": "egypt", "timelines": [[day]]}, "line 1").timelines[0].as_rows()
        [{'date': '2011-01-25', 'text': ['Protests begin.']}]
    """
    try:
        if row.get("data_set", name) != name:
            raise DataError(f"{where}: holds {row['data_set']}, not {name}")
        timelines = tuple(
            read_timeline([(day["date"], _texts(day["text"])) for day in timeline], where)
            for timeline in row["timelines"]
        )
        found = tuple(
            Article(
                str(number if article.get("id") is None else article["id"]),
                read_day(article["date"], where),
                str(article.get("title") or ""),
                read_sentences(_texts(article["sentences"])),
            )
            for number, article in enumerate(row.get("articles") or (), start=1)
        )
        topic = Topic(_text(row["topic"]), tuple(_texts(row.get("keywords") or [])), found, timelines)
    except (AttributeError, KeyError, TypeError) as error:
        raise DataError(f"{where}: {type(error).__name__}: {error}; expected a topic: {_FORM}") from error
    if not topic.timelines or not all(map(len, topic.timelines)):
        raise DataError(f"{where}: {topic.name!r} lacks a timeline, or has one without dates")
    return topic


def distinct_topics(place: str, topics: Sequence[Topic]) -> tuple[Topic, ...]:
    """The topics of a place, which is named in messages.

    Raises:
        DataError: If there is none, or two have the same name.
    """
    if not topics:
        raise DataError(f"{place}: no topic in it")
    names = [topic.name for topic in topics]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise DataError(f"{place}: two topics are called {twice!r}; give all timelines of a topic in one row")
    return tuple(topics)


def _texts(value: Any) -> list[str]:
    return [_text(item) for item in ([value] if isinstance(value, str) else list(value))]


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"a text should be one, and is {value!r:.60}")
    return value
