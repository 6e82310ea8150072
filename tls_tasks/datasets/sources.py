"""Where a task's data comes from: the order in which the sources are tried.

1. ``--metadata '{"data": …}'``: a folder, a Parquet file or a data set on the hub. What a user names must work.
2. ``TLS_TASKS_DATA``: a folder with a folder a data set.
3. The hub source of ``datasets.json``, where there is one. It has reference timelines only.
4. The embedded edition: small, written by us, and not comparable with anything published. It says so.

A task never changes its form by what it found: where articles are needed, a source without them is passed over.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tls_tasks.datasets.background_summaries import read_events
from tls_tasks.datasets.catalogue import DataSet, HubSource, catalogue, data_set
from tls_tasks.datasets.news_tls import read_data_set
from tls_tasks.datasets.parquet import read_parquet, row_topic
from tls_tasks.datasets.topics import Topic
from tls_tasks.errors import DataError, OptionError

EDITIONS = ("local", "hub", "embedded")
"""Where topics can come from: a folder or file of the user's, the hub, this package."""

DATA_VARIABLE = "TLS_TASKS_DATA"
EMBEDDED = Path(__file__).parent / "embedded"

_HUB_ID = re.compile(r"([\w.-]+/[\w.-]+?)(?:@([\w./-]+))?")
_log = logging.getLogger(__name__)
_warned: set[str] = set()


class EmbeddedEditionWarning(UserWarning):
    """The numbers of this run can't be compared with published ones: the data is our small embedded edition."""


@dataclass(frozen=True, slots=True)
class LoadedTopics:
    """Topics and where they come from.

    Attributes:
        topics: In order of name. Without articles where they were not asked for.
        edition: One of :data:`EDITIONS`.
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
    if edition is not None and edition not in EDITIONS:
        raise OptionError.unknown("edition", edition, EDITIONS)
    if data is not None:
        return _accept(wanted, _from_user(wanted, data, need_articles), edition)
    steps = {"local": _from_environment, "hub": _from_hub, "embedded": _from_embedded}
    passed_over = []
    for step in EDITIONS if edition is None else (edition,):
        found = steps[step](wanted, need_articles)
        if isinstance(found, LoadedTopics):
            return _accept(wanted, found, edition)
        passed_over.append(found)
    raise DataError(f"{name}: no data: {'; '.join(passed_over)}")


def read_local(wanted: DataSet, place: Path, *, articles: bool = True) -> LoadedTopics:
    """Read a data set from a folder or a Parquet file.

    Args:
        wanted: The data set.
        place: As the argument ``data`` of :func:`load_topics`.
        articles: Whether to read the articles.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    folder = _own_folder(wanted, place) or place
    other = _owner(folder)
    if other is not None and other != wanted.name:
        raise DataError(f"{folder}: this folder is named like {other}, not {wanted.name}")
    files = [place] if place.is_file() else sorted([*folder.glob("*.parquet"), *folder.glob("data/*.parquet")])
    topics = read_parquet(wanted.name, files, articles=articles) if files else read_data_set(folder, articles=articles)
    edition = "embedded" if EMBEDDED in folder.resolve().parents else "local"
    return LoadedTopics(topics, edition, str(folder))


def _accept(wanted: DataSet, found: LoadedTopics, edition: str | None) -> LoadedTopics:
    if edition is not None and found.edition != edition:
        raise DataError(f"{found.origin}: is the {found.edition} edition, but {edition} was asked for")
    if found.edition == "embedded":
        _warn_embedded(wanted)
    return found


def _from_user(wanted: DataSet, data: str | Path, need_articles: bool) -> LoadedTopics:
    place = Path(data).expanduser()
    hub_id = _HUB_ID.fullmatch(str(data))
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
    folder = _own_folder(wanted, Path(root).expanduser())
    if folder is None:
        return _pass_over(wanted, f"{DATA_VARIABLE}={root} has no folder {' or '.join(_folder_names(wanted))}")
    found = read_local(wanted, folder, articles=need_articles)
    lacking = _without_articles(found) if need_articles else ""
    return _pass_over(wanted, f"{folder} has no articles of {lacking}") if lacking else found


def _from_hub(wanted: DataSet, need_articles: bool) -> LoadedTopics | str:
    hub = wanted.hub
    if hub is None:
        return "it has no source on the hub"
    if need_articles:
        return f"{hub.repo_id} on the hub has no articles"
    try:
        topics = read_events(_fetch(hub), hub)
    except DataError as error:
        return _pass_over(wanted, str(error))
    return LoadedTopics(topics, "hub", f"{hub.repo_id}@{hub.revision}")


def _from_embedded(wanted: DataSet, need_articles: bool) -> LoadedTopics | str:
    folder = EMBEDDED / wanted.name
    return read_local(wanted, folder, articles=need_articles) if folder.is_dir() else "it has no embedded edition"


def _fetch(hub: HubSource) -> Path:
    """The hub source's file in the local cache, downloaded if it isn't there and the network may be used."""
    from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
    from huggingface_hub.utils import LocalEntryNotFoundError

    place = {"repo_id": hub.repo_id, "filename": hub.file, "repo_type": "dataset", "revision": hub.revision}
    with contextlib.suppress(LocalEntryNotFoundError):
        return Path(hf_hub_download(**place, local_files_only=True))
    if _offline():
        raise DataError(f"{hub.repo_id}: {hub.file} is not in the cache, and the hub is switched off (HF_HUB_OFFLINE)")
    try:
        # One look first: with the network down this fails at once, where the download would try again for 20 seconds.
        get_hf_file_metadata(hf_hub_url(**place), timeout=10)
        return Path(hf_hub_download(**place))
    except Exception as error:
        # Each release of huggingface_hub raises what its HTTP client does, without a common base; none may end the run.
        raise DataError(f"{hub.repo_id}: {hub.file} can't be downloaded: {_one_line(error)}") from error


def _offline() -> bool:
    values = [os.environ.get(variable, "") for variable in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE")]
    return any(value.upper() in {"1", "ON", "YES", "TRUE"} for value in values)


def _read_hub_parquet(wanted: DataSet, repo_id: str, revision: str | None, need_articles: bool) -> LoadedTopics:
    import datasets

    try:
        rows = datasets.load_dataset(repo_id, revision=revision, split="test")
    except Exception as error:
        # As in _fetch; the user named this data set, so it is an error here.
        raise DataError(f"data: no folder {repo_id}, and no such hub data set: {_one_line(error)}") from error
    topics = tuple(row_topic(wanted.name, row, repo_id) for row in rows)
    if not need_articles:
        topics = tuple(replace(topic, articles=()) for topic in topics)
    return LoadedTopics(topics, "hub", repo_id if revision is None else f"{repo_id}@{revision}")


def _folder_names(wanted: DataSet) -> Sequence[str]:
    return (wanted.name, *wanted.folders)


def _own_folder(wanted: DataSet, parent: Path) -> Path | None:
    return next((parent / name for name in _folder_names(wanted) if (parent / name).is_dir()), None)


def _owner(folder: Path) -> str | None:
    """The data set whose folder is named like this one, so that no task scores another one's topics by mistake."""
    name = folder.resolve().name
    return next((entry.name for entry in catalogue().values() if name in _folder_names(entry)), None)


def _without_articles(found: LoadedTopics) -> str:
    return ", ".join(topic.name for topic in found.topics if not topic.articles)


def _pass_over(wanted: DataSet, reason: str) -> str:
    _log.warning("%s: going on to the next source: %s", wanted.name, reason)
    return reason


def _warn_embedded(wanted: DataSet) -> None:
    """Once a process and data set: a group loads the same one twice, with articles and closed-book."""
    if wanted.name in _warned:
        return
    _warned.add(wanted.name)
    warnings.warn(
        f"{wanted.name} runs on the EMBEDDED EDITION: a few topics written for tls-tasks, good for trying things out. "
        f"Its numbers must not be compared with published ones and can't be submitted. For the real {wanted.title}: "
        f"{wanted.obtain}, then set {DATA_VARIABLE}=<folder with {wanted.folders[0]} in it> or pass "
        f'--metadata \'{{"data": "<folder>"}}\'.',
        EmbeddedEditionWarning,
        stacklevel=2,
    )


def _one_line(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
