"""The data sets that the tasks are made of: ``data_sets.json``, read into typed records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import OptionError


@dataclass(frozen=True, slots=True)
class HubTopic:
    """Where one topic lies in the archive of a hub source.

    Attributes:
        name: The topic's name with us.
        folder: Its folder in the archive.
        keywords: The query words; the archive has none.
    """

    name: str
    folder: str
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HubSource:
    """A published archive of reference timelines on the Hugging Face hub, pinned by its hash. It holds no articles.

    Attributes:
        repo_id: Data set repository, ``org/name``.
        revision: Commit of the repository.
        file: The archive's path in the repository.
        sha256: Hash of the archive in hexadecimal; a file with another one is refused.
        licence: Licence of the archive.
        citation: Paper of the archive.
        topics: The topics taken from it.
        timelines: File names in each topic's folder, one a reference timeline, in order.
    """

    repo_id: str
    revision: str
    file: str
    sha256: str
    licence: str
    citation: str
    topics: tuple[HubTopic, ...]
    timelines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DataSet:
    """What is known of one data set before any of it is read.

    Attributes:
        name: Name of the task, of the embedded edition and of the prepared copy: ``tls_crisis`` …
        title: The field's name of it.
        folders: Names that its folder has where people keep it (news-tls: ``crisis``, ``t17`` …).
        licence: Licence of the original, or ``none stated``.
        citation: Paper.
        homepage: Where it comes from.
        obtain: How to get the original, a sentence without capital and full stop.
        hub: The published source that the tasks may fetch, if there is one.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    licence: str
    citation: str
    homepage: str
    obtain: str
    hub: HubSource | None


@lru_cache(maxsize=1)
def catalogue() -> Mapping[str, DataSet]:
    """Every data set of ``data_sets.json`` by name.

    Example:
        >>> sorted(catalogue())
        ['tls_crisis', 'tls_entities', 'tls_open', 'tls_timeline17']
    """
    raw = json.loads((Path(__file__).parent / "data_sets.json").read_text(encoding="utf-8"))
    return {name: _data_set(name, fields) for name, fields in raw.items()}


def data_set(name: str) -> DataSet:
    """The data set called ``name``.

    Raises:
        OptionError: If there is none of that name; the message lists the names that exist.

    Example:
        >>> data_set("tls_crisis").hub.repo_id
        'adithya7/background-summaries'
    """
    if name not in catalogue():
        raise OptionError.unknown("data set", name, catalogue())
    return catalogue()[name]


def _data_set(name: str, fields: Mapping[str, Any]) -> DataSet:
    others = {key: value for key, value in fields.items() if key not in {"folders", "hub"}}
    hub = None if fields["hub"] is None else _hub_source(fields["hub"])
    return DataSet(name=name, folders=tuple(fields["folders"]), hub=hub, **others)


def _hub_source(fields: Mapping[str, Any]) -> HubSource:
    topics = tuple(
        HubTopic(topic, place["folder"], tuple(place["keywords"])) for topic, place in fields["topics"].items()
    )
    others = {key: value for key, value in fields.items() if key not in {"topics", "timelines"}}
    return HubSource(topics=topics, timelines=tuple(fields["timelines"]), **others)
