"""Topics as Parquet: one row per topic, dates as strings.

Written with pyarrow and without the features note that ``datasets`` adds, so that every release of ``datasets`` reads
it: a note written by one major release is not understood by the one before.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tls_tasks.data.files import parquet_rows
from tls_tasks.timelines.own_rows import distinct_topics, read_row
from tls_tasks.timelines.topics import Topic


def _topic_row(name: str, topic: Topic) -> dict[str, Any]:
    """The row of one topic of the data set ``name``."""
    return {
        "data_set": name,
        "topic": topic.name,
        "keywords": list(topic.keywords),
        "articles": [{**asdict(article), "date": article.date.isoformat()} for article in topic.articles],
        "timelines": [timeline.as_rows() for timeline in topic.timelines],
    }


def write_parquet(name: str, topics: Iterable[Topic], path: Path) -> None:
    """Write topics, one row group each, so that a large data set is never in memory twice and the hub can page."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, texts = pa.string(), pa.list_(pa.string())
    article = pa.struct([("id", text), ("date", text), ("title", text), ("sentences", texts)])
    day = pa.struct([("date", text), ("text", texts)])
    topic_kinds = {"keywords": texts, "articles": pa.list_(article), "timelines": pa.list_(pa.list_(day))}
    schema = pa.schema({"data_set": text, "topic": text, **topic_kinds})
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for topic in topics:
            writer.write_table(pa.Table.from_pylist([_topic_row(name, topic)], schema=schema))


def read_parquet(name: str, files: Sequence[Path]) -> tuple[Topic, ...]:
    """Read topics from Parquet files, in the order of files and rows.

    Args:
        name: The data set that is wanted.
        files: One or more files.

    Raises:
        DataError: A file is broken or not one of ours, there is no topic in it, or two have the same name.
    """
    topics = [read_row(name, row, str(file)) for file in files for row in parquet_rows(file)]
    return distinct_topics(", ".join(map(str, files)), topics)
