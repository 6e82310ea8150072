"""Topics as Parquet: one row per topic, dates as strings.

Written with pyarrow and without the features note that ``datasets`` adds, so that every release of ``datasets`` reads
it: a note written by one major release is not understood by the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import parquet_rows
from tls_tasks.timelines.topics import Article, Topic, joined_timeline, read_day

COLUMNS = ("data_set", "topic", "keywords", "articles", "timelines")
"""The columns: see :func:`_topic_row`."""


def _topic_row(name: str, topic: Topic) -> dict[str, Any]:
    """The row of one topic of the data set ``name``.

    Example:
        >>> sorted(_topic_row("tls_crisis", Topic("egypt", ("egypt",), (), ()))) == sorted(COLUMNS)
        True
    """
    return {
        "data_set": name,
        "topic": topic.name,
        "keywords": list(topic.keywords),
        "articles": [{**asdict(article), "date": article.date.isoformat()} for article in topic.articles],
        "timelines": [timeline.as_rows() for timeline in topic.timelines],
    }


def row_topic(name: str, row: Mapping[str, Any], where: str) -> Topic:
    """The topic of one row; the inverse of :func:`_topic_row`.

    Args:
        name: The data set that is wanted.
        row: One row.
        where: File or repository, for messages.

    Raises:
        DataError: The row is of another data set, lacks a column, or has an invalid date.
    """
    missing = [column for column in COLUMNS if column not in row]
    if missing:
        raise DataError(f"{where}: no column {', '.join(missing)}; expected a file made by tls-tasks prepare")
    if row["data_set"] != name:
        raise DataError(f"{where}: holds {row['data_set']}, not {name}")
    articles = tuple(
        Article(article["id"], read_day(article["date"], where), article["title"], tuple(article["sentences"]))
        for article in row["articles"]
    )
    timelines = tuple(
        joined_timeline([(read_day(day["date"], where), day["text"]) for day in timeline], where)
        for timeline in row["timelines"]
    )
    return Topic(row["topic"], tuple(row["keywords"]), articles, timelines)


def write_parquet(name: str, topics: Iterable[Topic], path: Path) -> None:
    """Write topics, one row group each, so that a large data set is never in memory twice and the hub can page."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, texts = pa.string(), pa.list_(pa.string())
    article = pa.struct([("id", text), ("date", text), ("title", text), ("sentences", texts)])
    day = pa.struct([("date", text), ("text", texts)])
    kinds = (text, text, texts, pa.list_(article), pa.list_(pa.list_(day)))
    schema = pa.schema(list(zip(COLUMNS, kinds, strict=True)))
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for topic in topics:
            writer.write_table(pa.Table.from_pylist([_topic_row(name, topic)], schema=schema))


def read_parquet(name: str, files: Sequence[Path]) -> tuple[Topic, ...]:
    """Read topics from Parquet files, in the order of files and rows.

    Args:
        name: The data set that is wanted.
        files: One or more files.

    Raises:
        DataError: A file is broken or not one of ours, or there is no topic in it.
    """
    topics = [row_topic(name, row, str(file)) for file in files for row in parquet_rows(file)]
    if not topics:
        raise DataError(f"{', '.join(map(str, files))}: no topic in it")
    return tuple(topics)
