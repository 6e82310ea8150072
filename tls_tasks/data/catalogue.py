"""What is known of a data set before any of it is read: each family's ``data_sets.json`` as typed records."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import OptionError


@dataclass(frozen=True, slots=True)
class HubFiles:
    """Where a data set lies on the Hugging Face hub.

    Attributes:
        repo_id: Data set repository, ``org/name``.
        revision: Commit of the repository.
        files: Paths in the repository.
        rows: How many rows there must be; None for what the commit pins.
        sha256: Hash of the file in hexadecimal, where it is pinned by it.
        settings: What else the family must know: the keys that are no attribute.
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
        title: The field's name of it.
        folders: Names that its folder has where people keep it.
        licence: Licence of the original, or ``none stated``.
        citation: Paper.
        homepage: Where it comes from.
        obtain: How to get the original, a sentence without capital and full stop.
        split: The split that has references and is scored.
        hub: The published source; None if there is none.
        own: It stands for a user's own data, which must be named, and may be of any name.
        self_contained: The embedded edition is the data set: there is no other to compare with.
        settings: What else the family must know: the keys that are no attribute.
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
    own: bool = False
    self_contained: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)


@cache
def read_catalogue(module: str) -> tuple[dict[str, DataSet], dict[str, DataSet]]:
    """The data sets of the ``data_sets.json`` beside a module, by name; keys that are no attribute become ``settings``.

    Returns:
        All of them; and those that others have too, without the names that stand for a user's own data.
    """
    given = json.loads(Path(module).with_name("data_sets.json").read_text(encoding="utf-8"))
    hubs = {name: _entry(HubFiles, entry.get("hub")) for name, entry in given.items()}
    all_sets = {name: _entry(DataSet, {**entry, "name": name, "hub": hubs[name]}) for name, entry in given.items()}
    return all_sets, {name: data_set for name, data_set in all_sets.items() if not data_set.own}


def _entry(kind: Any, given: Mapping[str, Any] | None) -> Any:
    names = {own.name for own in fields(kind)}
    known = {name: value for name, value in (given or {}).items() if name in names}
    settings = {name: value for name, value in (given or {}).items() if name not in names}
    return kind(**known, settings=settings) if given else None


def find_data_set(catalogue: Mapping[str, DataSet], name: str) -> DataSet:
    """The data set called ``name``.

    Raises:
        OptionError: If there is none of that name; the message lists those that exist.
    """
    if name not in catalogue:
        raise OptionError.unknown("data set", name, catalogue)
    return catalogue[name]
