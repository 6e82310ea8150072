"""Topics, articles and reference timelines of a data set, and the rows that hold them: JSON, news-tls' lines, Parquet.

Parquet is written with pyarrow and without the features note that ``datasets`` adds, so that every release of
``datasets`` reads it: a note written by one major release is not understood by the one before.
"""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, TypeAdapter, ValidationError, model_validator

from tls_tasks.core.errors import DataError, warn_of_repeated
from tls_tasks.data.files import json_lines
from tls_tasks.data.models import DataRow, named, read_model
from tls_tasks.data.sources import distinct
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
        name: Its name, in news-tls the name of its folder.
        keywords: The query words of the data set; may be none.
        articles: The articles in the order of the file; empty if the data set has none.
        timelines: The reference timelines, one or more.
    """

    name: str
    keywords: tuple[str, ...]
    articles: tuple[Article, ...]
    timelines: tuple[Timeline, ...]


def read_day(value: object) -> datetime.date:
    """Return the day that a date of a data set names.

    A year or a month counts as its first day. Times and time zones are cut off, as in news-tls.

    Args:
        value: Text: ``2011-01-25``, ``2011-01-25T00:00:00`` …

    Raises:
        ValueError: It is no date, a range, or can be read in two ways.

    Example:
        >>> read_day("2011-01T00:00:00")
        datetime.date(2011, 1, 1)
    """
    parsed = read_date(value) if isinstance(value, str) else None
    if parsed is None or parsed.is_range or parsed.other:
        raise ValueError(f"{value!r} is not a date, expected one like '2011-01-25T00:00:00'")
    return parsed.date


def read_sentences(value: object) -> tuple[str, ...]:
    r"""Return the sentences of a day or an article, stripped; empty ones are dropped.

    A newline written as a backslash and an ``n`` becomes a blank, since ROUGE would read ``end.\nThe`` as a word
    ``nThe``.

    Args:
        value: A text, or a list of texts or of objects with ``raw``, as news-tls' own preprocessing makes them.

    Raises:
        ValueError: Anything else.

    Example:
        >>> read_sentences(["Protests begin. \\nThe army waits. ", "", {"raw": "Curfew."}])
        ('Protests begin. The army waits.', 'Curfew.')
    """
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise ValueError(f"expected a list of sentences, got {type(value).__name__}")
    texts = []
    for item in items:
        text = item.get("raw") if isinstance(item, Mapping) else item
        if not isinstance(text, str):
            raise ValueError(f"a sentence must be text or an object with 'raw', got {str(item)[:60]!r}")
        texts.append(_WRITTEN_OUT_NEWLINE.sub(" ", text).strip())
    return tuple(filter(None, texts))


_Day = Annotated[datetime.date, BeforeValidator(read_day)]
_Keywords = Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]
_Sentences = Annotated[tuple[str, ...], BeforeValidator(read_sentences)]


class _DayRow(DataRow):
    """A day of a timeline: ``{"date": …, "text": …}``, or a pair of date and text as in news-tls."""

    date: _Day
    text: _Sentences

    @model_validator(mode="before")
    @classmethod
    def _from_pair(cls, row: Any) -> Any:
        return dict(zip(("date", "text"), row, strict=True)) if isinstance(row, list) and len(row) == 2 else row


class _ArticleRow(DataRow):
    """An article; one that news-tls only tokenised has ``text`` instead of sentences, with a sentence a line."""

    id: Any = None
    date: _Day = named("date", "time")
    title: Any = None
    sentences: _Sentences

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, row: Any) -> Any:
        if isinstance(row, Mapping) and row.get("sentences") is None and isinstance(row.get("text"), str):
            return {**row, "sentences": row["text"].splitlines()}
        return row

    def article(self, number: object) -> Article:
        """Return the article, with ``number`` as its id if it has none."""
        return Article(str(number if self.id is None else self.id), self.date, str(self.title or ""), self.sentences)


class _TimelineRow(DataRow):
    days: list[_DayRow]


class _TopicRow(DataRow):
    """A topic in JSON Lines or JSON, as people write it by hand, and in Parquet, as :func:`write_parquet` does."""

    data_set: str | None = None
    topic: str
    timelines: list[list[_DayRow]]
    keywords: _Keywords = named("keywords", default=[])
    articles: list[_ArticleRow] = named("articles", default=[])


def read_row(name: str, row: Any, where: str) -> Topic:
    """Read a topic from one row.

    Args:
        name: The data set; a row that names another one is refused.
        row: A mapping as in the example; ``articles`` (each with ``date`` and ``sentences``, perhaps ``id`` and
            ``title``) and ``keywords`` may be left out; ``text`` and ``sentences`` are one text or a list of sentences.
        where: File and line, for messages.

    Raises:
        DataError: If the row is no topic, or of another data set.

    Example:
        >>> day = {"date": "2011-01-25", "text": "Protests begin."}
        >>> read_row("tls_custom", {"topic": "egypt", "timelines": [[day]]}, "line 1").timelines[0].as_rows()
        [{'date': '2011-01-25', 'text': ['Protests begin.']}]
    """
    topic = read_model(_TopicRow, row, where)
    if topic.data_set not in (None, name):
        raise DataError(f"{where}: holds {topic.data_set}, not {name}")
    if not topic.timelines or not all(topic.timelines):
        raise DataError(f"{where}: {topic.topic!r} lacks a timeline, or has one without dates")
    timelines = tuple(_timeline(days, where) for days in topic.timelines)
    articles = tuple(article.article(number) for number, article in enumerate(topic.articles, start=1))
    return Topic(topic.topic, tuple(topic.keywords), articles, timelines)


def read_article(row: Any, where: str) -> Article:
    """Read an article of news-tls.

    Raises:
        DataError: If the row is no article.
    """
    return read_model(_ArticleRow, row, where).article("")


def read_timeline(rows: Any, where: str) -> Timeline:
    """Build a reference timeline from pairs of date and sentences, in any order.

    Args:
        rows: Dates, as :func:`read_day` takes them, each with its sentences.
        where: File and line, for messages.

    Raises:
        DataError: A row is no such pair.

    Warns:
        RepeatedDateWarning: A date has several rows, which are joined.

    Example:
        >>> read_timeline([["2011-02", ["B."]], ["2011-01-25", ["A."]]], "line 1").dates
        (datetime.date(2011, 1, 25), datetime.date(2011, 2, 1))
    """
    return _timeline(read_model(_TimelineRow, {"days": rows}, where).days, where)


def _timeline(days: Sequence[_DayRow], where: str) -> Timeline:
    counts = Counter(day.date for day in days)
    warn_of_repeated([f"{where}: {day}" for day, n in counts.items() if n > 1])
    return Timeline.from_days((day.date, day.text) for day in days)


def read_rows(name: str, rows: Iterable[tuple[str, Any]], source: str) -> tuple[Topic, ...]:
    """Read topics from (where, row) pairs, see :func:`read_row`; ``source`` names all rows in messages.

    Raises:
        DataError: If there is no row, a row is broken, or two topics have the same name.
    """
    return distinct(source, [read_row(name, row, where) for where, row in rows], "name")


def write_parquet(name: str, topics: Iterable[Topic], path: Path) -> None:
    """Write topics as one row group each, so that a large data set is never in memory twice and the hub can page."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, texts = pa.string(), pa.list_(pa.string())
    article = pa.struct([("id", text), ("date", text), ("title", text), ("sentences", texts)])
    day = pa.struct([("date", text), ("text", texts)])
    topic_kinds = {"keywords": texts, "articles": pa.list_(article), "timelines": pa.list_(pa.list_(day))}
    schema = pa.schema({"data_set": text, "topic": text, **topic_kinds})
    with pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True) as writer:
        for topic in topics:
            row = {
                "data_set": name,
                "topic": topic.name,
                "keywords": list(topic.keywords),
                "articles": [{**asdict(article), "date": article.date.isoformat()} for article in topic.articles],
                "timelines": [timeline.as_rows() for timeline in topic.timelines],
            }
            writer.write_table(pa.Table.from_pylist([row], schema=schema))


# ---- reader of the news-tls layout: ``DATASET/TOPIC/{timelines.jsonl, articles.jsonl.gz, keywords.json}``


TIMELINES_FILE = "timelines.jsonl"

ARTICLE_FILES = tuple(
    f"articles{stage}.jsonl{ending}" for stage in (".preprocessed", ".tokenized", "") for ending in ("", ".gz")
)
"""Names of the article file; the first that exists is read. Preprocessed first: it is what news-tls itself reads."""


def read_data_set(folder: Path) -> tuple[Topic, ...]:
    """Read all topics of a data set, in the order of their names.

    Args:
        folder: A folder of topic folders. Other files and hidden folders in it are ignored.

    Raises:
        DataError: There is no topic in it, a topic has articles but no timelines, or a file is broken.
    """
    topics = []
    for path in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        if (path / TIMELINES_FILE).is_file():
            topics.append(_read_topic(path))
        elif _article_file(path):
            raise DataError(f"{path}: has articles but no {TIMELINES_FILE}")
    if not topics:
        raise DataError(f"{folder}: no topic in it, expected folders with a {TIMELINES_FILE}")
    return tuple(topics)


def _read_topic(folder: Path) -> Topic:
    timelines, keywords = read_timelines(folder / TIMELINES_FILE), folder / "keywords.json"
    article_file = _article_file(folder)
    articles = tuple(read_article(row, where) for where, row in (json_lines(article_file) if article_file else ()))
    return Topic(folder.name, _read_keywords(keywords) if keywords.is_file() else (), articles, timelines)


def _article_file(folder: Path) -> Path | None:
    return next((folder / name for name in ARTICLE_FILES if (folder / name).is_file()), None)


def read_timelines(path: Path, *, may_be_empty: bool = False) -> tuple[Timeline, ...]:
    """Read the timelines of a ``timelines.jsonl``.

    Args:
        path: The file.
        may_be_empty: Whether timelines without dates are returned, as for predictions, or skipped.

    Raises:
        DataError: If the file can't be read, or holds no timeline.
    """
    timelines = [read_timeline(rows, where) for where, rows in json_lines(path) if rows != [] or may_be_empty]
    if not timelines:
        raise DataError(f"{path}: no timeline in it")
    return tuple(timelines)


def _read_keywords(path: Path) -> tuple[str, ...]:
    try:
        return TypeAdapter(tuple[str, ...]).validate_json(path.read_bytes())
    except ValidationError as error:
        problem = error.errors()[0]["msg"]
        raise DataError(f"{path}: expected a list of words: {problem}") from error
