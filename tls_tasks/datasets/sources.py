"""Where a task's data comes from: the order in which the sources are tried.

1. ``--metadata '{"data": …}'``: a folder, a Parquet file or a data set on the hub. What a user names must work.
2. ``TLS_TASKS_DATA``: a folder with a folder a data set.
3. The hub source of ``datasets.json``, where there is one. It has reference timelines only.
4. The embedded edition: small, written by us, and not comparable with anything published. It says so.

A task never changes its form by what it found: where articles are needed, a source without them is passed over.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tls_tasks.datasets import hub
from tls_tasks.datasets.background_summaries import read_events
from tls_tasks.datasets.catalogue import DataSet, catalogue, data_set
from tls_tasks.datasets.news_tls import read_data_set
from tls_tasks.datasets.order import (
    DATA_VARIABLE,
    EMBEDDED,
    HUB_ID,
    edition_of,
    folder_names,
    own_folder,
    pass_over,
    refuse_other,
    take_first,
)
from tls_tasks.datasets.parquet import read_parquet, row_topic
from tls_tasks.datasets.topics import Topic
from tls_tasks.errors import DataError


@dataclass(frozen=True, slots=True)
class LoadedTopics:
    """Topics and where they come from.

    Attributes:
        topics: In order of name. Without articles where they were not asked for.
        edition: One of :data:`tls_tasks.datasets.order.EDITIONS`.
        origin: Folder, file, or hub repository with revision.
    """

    topics: tuple[Topic, ...]
    edition: str
    origin: str


def load_topics(
    name: str, data: str | Path | None = None, need_articles: bool = True, edition: str | None = None
) -> LoadedTopics:
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
    wanted = data_set(name)
    named = None if data is None else partial(_from_user, wanted, data, need_articles)
    steps = {"local": _from_environment, "hub": _from_hub, "embedded": _from_embedded}
    return take_first(
        wanted, named, {name: partial(step, wanted, need_articles) for name, step in steps.items()}, edition
    )


def read_local(wanted: DataSet, place: Path, *, articles: bool = True) -> LoadedTopics:
    """Read a data set from a folder or a Parquet file.

    Args:
        wanted: The data set.
        place: As the argument ``data`` of :func:`load_topics`.
        articles: Whether to read the articles.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    folder = own_folder(wanted, place) or place
    refuse_other(wanted, folder, catalogue().values())
    files = [place] if place.is_file() else sorted([*folder.glob("*.parquet"), *folder.glob("data/*.parquet")])
    topics = read_parquet(wanted.name, files, articles=articles) if files else read_data_set(folder, articles=articles)
    return LoadedTopics(topics, edition_of(folder), str(folder))


def _from_user(wanted: DataSet, data: str | Path, need_articles: bool) -> LoadedTopics:
    place = Path(data).expanduser()
    hub_id = HUB_ID.fullmatch(str(data))
    if place.exists():
        found = read_local(wanted, place, articles=need_articles)
    elif hub_id is not None:
        found = _read_hub_parquet(wanted, hub_id[1], hub_id[2], need_articles)
    else:
        raise DataError(f"data: {data} is neither a folder nor a file nor a hub data set org/name")
    lacking = _without_articles(found) if need_articles else ""
    if lacking:
        raise DataError(f"data: {found.origin} has no articles of {lacking}; the closed-book form needs none")
    return found


def _from_environment(wanted: DataSet, need_articles: bool) -> LoadedTopics | str:
    root = os.environ.get(DATA_VARIABLE)
    if not root:
        return f"{DATA_VARIABLE} is not set"
    folder = own_folder(wanted, Path(root).expanduser())
    if folder is None:
        return pass_over(wanted, f"{DATA_VARIABLE}={root} has no folder {' or '.join(folder_names(wanted))}")
    found = read_local(wanted, folder, articles=need_articles)
    lacking = _without_articles(found) if need_articles else ""
    return pass_over(wanted, f"{folder} has no articles of {lacking}") if lacking else found


def _from_hub(wanted: DataSet, need_articles: bool) -> LoadedTopics | str:
    source = wanted.hub
    if source is None:
        return "it has no source on the hub"
    if need_articles:
        return f"{source.repo_id} on the hub has no articles"
    try:
        topics = read_events(hub.fetch(source.repo_id, source.revision, source.file), source)
    except DataError as error:
        return pass_over(wanted, str(error))
    return LoadedTopics(topics, "hub", f"{source.repo_id}@{source.revision}")


def _from_embedded(wanted: DataSet, need_articles: bool) -> LoadedTopics | str:
    folder = EMBEDDED / wanted.name
    return read_local(wanted, folder, articles=need_articles) if folder.is_dir() else "it has no embedded edition"


def _read_hub_parquet(wanted: DataSet, repo_id: str, revision: str | None, need_articles: bool) -> LoadedTopics:
    topics = tuple(row_topic(wanted.name, row, repo_id) for row in hub.split_rows(repo_id, revision))
    if not need_articles:
        topics = tuple(replace(topic, articles=()) for topic in topics)
    return LoadedTopics(topics, "hub", repo_id if revision is None else f"{repo_id}@{revision}")


def _without_articles(found: LoadedTopics) -> str:
    return ", ".join(topic.name for topic in found.topics if not topic.articles)
