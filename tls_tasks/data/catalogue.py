"""Descriptions of data sets: each family's ``data_sets.json`` as typed records."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import OptionError


@dataclass(frozen=True, slots=True)
class HubFiles:
    """The files of a data set on the Hugging Face hub.

    Attributes:
        repo_id: Data set repository, ``org/name``.
        revision: Commit of the repository.
        files: Paths in the repository.
        rows: The number of rows that there must be; None if the commit alone pins them.
        sha256: Hash of the file in hexadecimal; empty if the commit alone pins it.
        settings: Further settings for the family, from keys that are no attribute.
    """

    repo_id: str
    revision: str
    files: tuple[str, ...]
    rows: int | None = None
    sha256: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def origin(self) -> str:
        """Repository and commit, as results name them."""
        return f"{self.repo_id}@{self.revision}"


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set.

    Attributes:
        name: Name of the task and of the embedded edition: ``tls_crisis``, ``summ_dialogsum`` …
        title: The data set's usual name.
        folders: Usual names of its folder.
        licence: Licence of the original, or ``none stated``.
        citation: Paper.
        homepage: Address of the original.
        obtain: How to get the original, a sentence without capital and full stop.
        split: The split that has references and is scored.
        hub: The published source; None if there is none.
        custom: Whether it stands for a user's data, which ``data`` must name and whose folder may have any name.
        self_contained: Whether the embedded edition is the data set itself, without a larger original.
        settings: Further settings for the family, from keys that are no attribute.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    licence: str
    citation: str
    homepage: str
    obtain: str
    split: str = "test"
    hub: HubFiles | None = None
    custom: bool = False
    self_contained: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@cache
def read_catalogue(module: str) -> tuple[dict[str, DataSet], dict[str, DataSet]]:
    """Read the ``data_sets.json`` beside a module; keys that are no attribute become ``settings``.

    Returns:
        Name -> data set: all of them, and all but those that stand for a user's data.
    """
    entries = json.loads(Path(module).with_name("data_sets.json").read_text(encoding="utf-8"))
    hubs = {name: _build(HubFiles, entry.get("hub")) for name, entry in entries.items()}
    all_sets = {name: _build(DataSet, {**entry, "name": name, "hub": hubs[name]}) for name, entry in entries.items()}
    return all_sets, {name: data_set for name, data_set in all_sets.items() if not data_set.custom}


def _build(kind: Any, entry: Mapping[str, Any] | None) -> Any:
    """Build a dataclass from an entry of the catalogue; None for no entry."""
    names = {attribute.name for attribute in fields(kind)}
    attributes = {name: value for name, value in (entry or {}).items() if name in names}
    settings = {name: value for name, value in (entry or {}).items() if name not in names}
    return kind(**attributes, settings=settings) if entry else None


def find_data_set(catalogue: Mapping[str, DataSet], name: str) -> DataSet:
    """Return the data set called ``name``.

    Raises:
        OptionError: If there is no such data set; the message lists those that exist.
    """
    if name not in catalogue:
        raise OptionError.unknown("data set", name, catalogue)
    return catalogue[name]
