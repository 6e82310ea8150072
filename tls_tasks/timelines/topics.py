"""Topics, articles and reference timelines of a data set, and how their dates and sentences are read."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable
from dataclasses import dataclass

from tls_tasks.core.errors import DataError
from tls_tasks.core.parsed import Problem
from tls_tasks.text.dates import read_date
from tls_tasks.timelines.types import Timeline

_BLANK_BEFORE_T = re.compile(r"\d\s+T\d")
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
        problems: What was repaired while reading.
    """

    name: str
    keywords: tuple[str, ...]
    articles: tuple[Article, ...]
    timelines: tuple[Timeline, ...]
    problems: tuple[Problem, ...] = ()


def read_day(value: object, where: str) -> tuple[datetime.date, tuple[Problem, ...]]:
    """Read one date of a data set.

    A year or a month counts as its first day (``partial_date``), and a blank before the ``T`` is ignored
    (``blank_in_date``). Times and time zones are cut off, as in news-tls.

    Args:
        value: Text: ``2011-01-25``, ``2011-01-25T00:00:00`` …
        where: File and line, for the message.

    Returns:
        The day and what was repaired.

    Raises:
        DataError: It is not a date.

    Example:
        >>> read_day("2011-01T00:00:00", "timelines.jsonl, line 1")
        (datetime.date(2011, 1, 1), (Problem(kind='partial_date', detail='2011-01T00:00:00'),))
    """
    found = read_date(value) if isinstance(value, str) else None
    if found is None or found.is_range:
        raise DataError(f"{where}: {value!r} is not a date, expected one like '2011-01-25T00:00:00'")
    problems = []
    if found.precision != "day":
        problems.append(Problem("partial_date", str(value)))
    if _BLANK_BEFORE_T.search(str(value)):
        problems.append(Problem("blank_in_date", str(value)))
    return found.date, tuple(problems)


def read_sentences(texts: Iterable[str]) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    r"""Clean the sentences of a day or an article.

    A newline written as a backslash and an ``n`` becomes a blank (``written_out_newline``), since ROUGE would read
    ``end.\nThe`` as a word ``nThe``. Surrounding whitespace and empty sentences (``empty_sentence``) are removed.

    Example:
        >>> read_sentences(["Protests begin. \\nThe army waits. ", ""])[0]
        ('Protests begin. The army waits.',)
    """
    kept, problems = [], []
    for text in texts:
        sentence, n_replaced = _WRITTEN_OUT_NEWLINE.subn(" ", text)
        sentence = sentence.strip()
        if n_replaced:
            problems.append(Problem("written_out_newline", sentence[:60]))
        if sentence:
            kept.append(sentence)
        else:
            problems.append(Problem("empty_sentence", ""))
    return tuple(kept), tuple(problems)


def read_timeline(rows: Iterable[tuple[object, Iterable[str]]], where: str) -> tuple[Timeline, tuple[Problem, ...]]:
    """Build a reference timeline from rows of a data set.

    The rows may be in any order (``unsorted_timeline``, reported once per timeline); rows of the same date are joined
    (``repeated_date``).

    Args:
        rows: Dates, as :func:`read_day` takes them, each with its sentences.
        where: File and line, for messages.

    Raises:
        DataError: A date can't be read.

    Example:
        >>> timeline, problems = read_timeline([("2011-02", ["B."]), ("2011-01-25", ["A."])], "line 1")
        >>> [day.isoformat() for day in timeline.dates], [problem.kind for problem in problems]
        (['2011-01-25', '2011-02-01'], ['partial_date', 'unsorted_timeline'])
    """
    days: list[tuple[datetime.date, tuple[str, ...]]] = []
    problems: list[Problem] = []
    for value, texts in rows:
        day, date_problems = read_day(value, where)
        sentences, sentence_problems = read_sentences(texts)
        days.append((day, sentences))
        problems += date_problems + sentence_problems
    timeline = Timeline.of(days)
    dates = [day for day, _ in days]
    if dates != sorted(dates):
        problems.append(Problem("unsorted_timeline", f"{len(dates)} dates"))
    if len(dates) != len(timeline):
        problems.append(Problem("repeated_date", f"{len(dates) - len(timeline)} rows joined to another"))
    return timeline, tuple(problems)
