"""Reader of the news-tls layout: ``DATASET/TOPIC/{timelines.jsonl, articles.jsonl.gz, keywords.json}``.

All data sets of the field come in it: the news-tls distribution (Crisis, Timeline17, Entities), CHRONOS' Open-TLS
(timelines only) and our embedded editions. A reference timeline is a line ``[[iso datetime, [sentence, …]], …]``. An
article is a line ``{id, time, title, sentences}``.
"""

from __future__ import annotations

import json
from pathlib import Path

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import json_lines
from tls_tasks.timelines.topics import Topic, read_article, read_timeline
from tls_tasks.timelines.types import Timeline

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
    folders = sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))
    topics = tuple(_read_topic(path) for path in folders if _is_topic(path))
    if not topics:
        raise DataError(f"{folder}: no topic in it, expected folders with a {TIMELINES_FILE}")
    return topics


def _is_topic(folder: Path) -> bool:
    if (folder / TIMELINES_FILE).is_file():
        return True
    if _article_file(folder) is not None:
        raise DataError(f"{folder}: has articles but no {TIMELINES_FILE}")
    return False


def _read_topic(folder: Path) -> Topic:
    timelines = read_timelines(folder / TIMELINES_FILE)
    article_file = _article_file(folder)
    rows = json_lines(article_file) if article_file else ()
    articles = tuple(read_article(row, where) for where, row in rows)
    return Topic(folder.name, _read_keywords(folder / "keywords.json"), articles, timelines)


def _article_file(folder: Path) -> Path | None:
    return next((folder / name for name in ARTICLE_FILES if (folder / name).is_file()), None)


def read_timelines(path: Path, *, may_be_empty: bool = False) -> tuple[Timeline, ...]:
    """The timelines of a ``timelines.jsonl``.

    Args:
        path: The file.
        may_be_empty: Whether a timeline without dates is one too, as among predictions, or passed over.

    Raises:
        DataError: If it can't be read, or there is none in it.
    """
    timelines = [read_timeline(rows, where) for where, rows in json_lines(path) if rows != [] or may_be_empty]
    if not timelines:
        raise DataError(f"{path}: no timeline in it")
    return tuple(timelines)


def _read_keywords(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return ()
    try:
        keywords = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"{path}: not JSON: {error}") from error
    if not isinstance(keywords, list) or not all(isinstance(word, str) for word in keywords):
        raise DataError(f"{path}: expected a list of words")
    return tuple(keywords)
