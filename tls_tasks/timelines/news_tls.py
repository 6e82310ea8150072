"""Reader of the news-tls layout: ``DATASET/TOPIC/{timelines.jsonl, articles.jsonl.gz, keywords.json}``.

All data sets of the field come in it: the news-tls distribution (Crisis, Timeline17, Entities), CHRONOS' Open-TLS
(timelines only) and our embedded editions. A reference timeline is a line ``[[iso datetime, [sentence, …]], …]``. An
article is a line ``{id, time, title, sentences}``, where a sentence is text or, after news-tls' own preprocessing,
``{"raw": text, …}``; an article that was only tokenised has ``text`` instead, one sentence per line.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import json_lines
from tls_tasks.timelines.topics import Article, Topic, read_day, read_sentences, read_timeline
from tls_tasks.timelines.types import Timeline

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
    topic_folders = [path for path in folders if _is_topic(path)]
    if not topic_folders:
        raise DataError(f"{folder}: no topic in it, expected folders with a timelines.jsonl")
    return tuple(_read_topic(path) for path in topic_folders)


def _read_topic(folder: Path) -> Topic:
    """Read one topic.

    Args:
        folder: Holds ``timelines.jsonl``; ``keywords.json`` and one of :data:`ARTICLE_FILES` may be absent.

    Raises:
        DataError: A file is missing or broken; the message names file and line.
    """
    timelines = read_timelines(folder / "timelines.jsonl")
    article_file = _article_file(folder)
    found = () if article_file is None else _read_articles(article_file)
    return Topic(folder.name, _read_keywords(folder / "keywords.json"), found, timelines)


def _is_topic(folder: Path) -> bool:
    if (folder / "timelines.jsonl").is_file():
        return True
    if _article_file(folder) is not None:
        raise DataError(f"{folder}: has articles but no timelines.jsonl")
    return False


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
    timelines = []
    for where, rows in json_lines(path):
        if not isinstance(rows, list):
            raise DataError(f"{where}: expected a list of [date, sentences] pairs, got {type(rows).__name__}")
        if rows or may_be_empty:
            timelines.append(read_timeline([_pair(row, where) for row in rows], where))
    if not timelines:
        raise DataError(f"{path}: no timeline in it")
    return tuple(timelines)


def _pair(row: Any, where: str) -> tuple[object, Sequence[str]]:
    if not isinstance(row, list) or len(row) != 2:
        raise DataError(f"{where}: expected [date, [sentence, …]], got {str(row)[:60]!r}")
    return row[0], _texts(row[1], where)


def _texts(value: Any, where: str) -> list[str]:
    """Sentences as plain text, in whichever form they come."""
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list):
        raise DataError(f"{where}: expected a list of sentences, got {type(values).__name__}")
    texts = []
    for item in values:
        text = item.get("raw") if isinstance(item, dict) else item
        if not isinstance(text, str):
            raise DataError(f"{where}: a sentence must be text or an object with 'raw', got {str(item)[:60]!r}")
        texts.append(text)
    return texts


def _read_articles(path: Path) -> tuple[Article, ...]:
    articles = []
    for where, fields in json_lines(path):
        if not isinstance(fields, dict):
            raise DataError(f"{where}: expected an object {{id, time, title, sentences}}, got {type(fields).__name__}")
        articles.append(_article(fields, where))
    return tuple(articles)


def _article(fields: dict[str, Any], where: str) -> Article:
    day = read_day(fields.get("time"), where)
    if fields.get("sentences") is None and isinstance(fields.get("text"), str):
        texts = fields["text"].splitlines()
    else:
        texts = _texts(fields.get("sentences"), where)
    return Article(str(fields.get("id", "")), day, str(fields.get("title") or ""), read_sentences(texts))


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
