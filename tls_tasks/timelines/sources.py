"""Where a task's data comes from: the order in which the sources are tried.

1. ``--metadata '{"data": …}'``: a folder, a Parquet file or a data set on the hub. What a user names must work.
2. ``TLS_TASKS_DATA``: a folder with a folder a data set.
3. The hub source of ``data_sets.json``, where there is one. It has reference timelines only.
4. The embedded edition: small, written by us, and not comparable with anything published. It says so.

A task never changes its form by what it found: where articles are needed, a source without them is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.data import hub
from tls_tasks.data.loading import Loaded, Published, Reading, load, read_place
from tls_tasks.timelines.background_summaries import read_events
from tls_tasks.timelines.catalogue import DataSet, catalogue, data_set
from tls_tasks.timelines.news_tls import read_data_set
from tls_tasks.timelines.parquet import read_parquet, row_topic
from tls_tasks.timelines.topics import Topic


def load_topics(
    name: str, data: str | Path | None = None, need_articles: bool = True, edition: str | None = None
) -> Loaded[Topic]:
    """Load a data set from the first source that has it.

    Args:
        name: ``tls_crisis``, ``tls_timeline17``, ``tls_entities`` or ``tls_open``.
        data: A news-tls folder of this data set, a folder with such a folder in it (called ``name``, or as news-tls
            calls it), Parquet made by ``tls-tasks prepare`` (file or folder), or a hub data set ``org/name`` or
            ``org/name@revision`` that holds such Parquet. No other source is tried.
        need_articles: Whether every topic must have articles.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or the edition that was asked for isn't there.
        OptionError: If there is no such data set or edition.
    """
    return load(_reading(data_set(name), need_articles), data, edition)


def read_local(wanted: DataSet, place: Path) -> Loaded[Topic]:
    """Read a data set, with the articles that it has, from a folder or a Parquet file.

    Args:
        wanted: The data set.
        place: As the argument ``data`` of :func:`load_topics`.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    return read_place(_reading(wanted, need_articles=True), place)


def _reading(wanted: DataSet, need_articles: bool) -> Reading[Topic]:
    return Reading(
        wanted,
        catalogue().values(),
        at=partial(_read_at, wanted, articles=need_articles),
        published=partial(_published, wanted, need_articles),
        from_rows=partial(_from_rows, wanted, articles=need_articles),
        lacking=_lacking_articles if need_articles else lambda topics: "",
    )


def _read_at(wanted: DataSet, place: Path, articles: bool) -> tuple[Topic, ...]:
    files = [place] if place.is_file() else sorted([*place.glob("*.parquet"), *place.glob("data/*.parquet")])
    return read_parquet(wanted.name, files, articles=articles) if files else read_data_set(place, articles=articles)


def _from_rows(wanted: DataSet, rows: Iterable[tuple[str, Any]], articles: bool) -> tuple[Topic, ...]:
    topics = (row_topic(wanted.name, row, where) for where, row in rows)
    return tuple(topic if articles else replace(topic, articles=()) for topic in topics)


def _published(wanted: DataSet, need_articles: bool) -> Published[Topic] | str:
    source = wanted.hub
    if source is None:
        return "it has no source on the hub"
    if need_articles:
        return f"{source.repo_id} on the hub has no articles"
    topics = read_events(hub.fetch(source.repo_id, source.revision, source.file), source)
    return topics, f"{source.repo_id}@{source.revision}"


def _lacking_articles(topics: Sequence[Topic]) -> str:
    names = ", ".join(topic.name for topic in topics if not topic.articles)
    return f"no articles of {names}; the closed-book form needs none" if names else ""
