"""Scored runs as data: one JSON value, or one long table a document and metric for CSV and Parquet."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.after.scored_runs import ScoredTask, problems_of
from tls_tasks.core.score import Interval, without_nan

COLUMNS = ("run", "model", "task", "version", "edition", "doc_id", "topic", "metric", "value")
"""Columns of the table; ``doc_id`` and ``topic`` are empty in the rows of the corpus."""


def as_json(scored: Sequence[tuple[ScoredTask, Mapping[str, Interval]]]) -> str:
    """All runs as one JSON list; what could not be computed is null."""
    return json.dumps([_json_task(task, intervals) for task, intervals in scored], indent=2, ensure_ascii=False)


def _json_task(scored: ScoredTask, intervals: Mapping[str, Interval]) -> dict[str, Any]:
    topics = scored.score.by_topic()
    result: dict[str, Any] = {
        "task": scored.task.name,
        "version": scored.task.version,
        "edition": scored.edition,
        "model": scored.model,
        "samples": str(scored.log.path),
        "n_documents": len(scored.score.ids),
        "metrics": without_nan(scored.score.as_dict()),
        "intervals": {key: list(interval) for key, interval in intervals.items()},
        "signatures": scored.signatures(),
        "problems": [str(problem) for problem in problems_of(scored)],
    }
    if len(topics) < len(scored.score.ids):
        result["topics"] = {topic: without_nan(results) for topic, results in topics.items()}
    return result


def table_rows(scored: ScoredTask) -> Iterator[tuple[str, str, str, float, str, str, str, str, float]]:
    """The rows of :data:`COLUMNS`: the corpus first, then each document taken alone."""
    head = (str(scored.log.path), scored.model, scored.task.name, scored.task.version, scored.edition)
    for key, value in scored.score.as_dict().items():
        yield (*head, "", "", key, value)
    for place, (name, topic) in enumerate(zip(scored.score.ids, scored.score.topics, strict=True)):
        values = scored.score.of_document(place)
        for metric in scored.task.metrics:
            yield (*head, name, topic, metric.key, values[metric.key])


def write_csv(scored: Sequence[ScoredTask], path: Path) -> None:
    """Write the table as CSV, with a header."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(COLUMNS)
    for task in scored:
        writer.writerows(table_rows(task))
    path.write_text(text.getvalue(), encoding="utf-8", newline="", errors="surrogateescape")


def write_parquet(scored: Sequence[ScoredTask], path: Path) -> None:
    """Write the table as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = [row for task in scored for row in table_rows(task)]
    columns = list(zip(*rows, strict=True)) or [()] * len(COLUMNS)
    numbers = {"version", "value"}
    arrays = {
        name: pa.array(column, pa.float64() if name in numbers else pa.string())
        for name, column in zip(COLUMNS, columns, strict=True)
    }
    pq.write_table(pa.table(arrays), path)
