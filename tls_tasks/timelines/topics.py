"""Topics, articles and reference timelines of a data set, and how their dates and sentences are read."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tls_tasks.core.errors import DataError, warn_of_repeated
from tls_tasks.text.dates import read_date
from tls_tasks.timelines.types import Timeline

_WRITTEN_OUT_NEWLINE = re.compile(r"\s*\\n\s*")


@dataclass(frozen=True, slots=True)
class Article:
    """One article.

    Attributes:
        id: The data set's name for it.
        date: Day of publication.
        title: Empty if the data set has none.
        sentences: The sentences in the order of the text, none of them empty.
    """

    id: str
    date: datetime.date
    title: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: the articles about it and its reference timelines.

    Attributes:
        name: Its name, which is that of its folder.
        keywords: The query words of the data set; may be none.
        articles: Its articles in the order of the file; empty if the data set has none or they were not asked for.
        timelines: Its reference timelines, one or more.
    """

    name: str
    keywords: tuple[str, ...]
    articles: tuple[Article, ...]
    timelines: tuple[Timeline, ...]


def read_day(value: object, where: str) -> datetime.date:
    """Read one date of a data set.

    A year or a month counts as its first day. Times and time zones are cut off, as in news-tls.

    Args:
        value: Text: ``2011-01-25``, ``2011-01-25T00:00:00`` …
        where: File and line, for the message.

    Raises:
        DataError: It is not a date.

    Example:
        >>> read_day("2011-01T00:00:00", "timelines.jsonl, line 1")
        datetime.date(2011, 1, 1)
    """
    found = read_date(value) if isinstance(value, str) else None
    if found is None or found.is_range or found.other:
        raise DataError(f"{where}: {value!r} is not a date, expected one like '2011-01-25T00:00:00'")
    return found.date


def read_sentences(texts: Iterable[str]) -> tuple[str, ...]:
    r"""The sentences of a day or an article without surrounding whitespace; empty ones are dropped.

    A newline written as a backslash and an ``n`` becomes a blank, since ROUGE would read ``end.\nThe`` as a word
    ``nThe``.

    Example:
        >>> read_sentences(["Protests begin. \\nThe army waits. ", ""])
        ('Protests begin. The army waits.',)
    """
    cleaned = (_WRITTEN_OUT_NEWLINE.sub(" ", text).strip() for text in texts)
    return tuple(filter(None, cleaned))


def read_timeline(rows: Iterable[tuple[object, Iterable[str]]], where: str) -> Timeline:
    """Build a reference timeline from rows of a data set, in any order.

    Args:
        rows: Dates, as :func:`read_day` takes them, each with its sentences.
        where: File and line, for messages.

    Raises:
        DataError: A date can't be read.

    Warns:
        RepeatedDateWarning: A date has several rows, which are joined.

    Example:
        >>> read_timeline([("2011-02", ["B."]), ("2011-01-25", ["A."])], "line 1").dates
        (datetime.date(2011, 1, 25), datetime.date(2011, 2, 1))
    """
    days = [(read_day(value, where), read_sentences(texts)) for value, texts in rows]
    counts = Counter(day for day, _ in days)
    warn_of_repeated([f"{where}: {day}" for day, n in counts.items() if n > 1])
    return Timeline.of(days)
