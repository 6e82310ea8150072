"""The data sets of the extraction tasks: ``data_sets.json``, read into typed records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tls_tasks.core.errors import OptionError


@dataclass(frozen=True, slots=True)
class TreeHub:
    """Where a data set lies on the Hugging Face hub.

    Attributes:
        repo_id: Data set repository, ``org/name``.
        revision: Commit of the repository.
        file: The file of rows in the repository.
    """

    repo_id: str
    revision: str
    file: str


@dataclass(frozen=True, slots=True)
class TreeSet:
    """What is known of one data set before any of it is read.

    Attributes:
        name: Name of the task and of the embedded edition: ``tree_extraction`` …
        title: The name by which it is known.
        folders: Names that its folder has where people keep it.
        licence: Licence of the original.
        citation: Where it is described.
        homepage: Where it comes from; empty if it is ours.
        obtain: How to get the data, a sentence without capital and full stop.
        split: The split that is scored.
        hub: The published source; None if the set is on no hub.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    licence: str
    citation: str
    homepage: str
    obtain: str
    split: str
    hub: TreeHub | None


@lru_cache(maxsize=1)
def tree_sets() -> Mapping[str, TreeSet]:
    """Every data set of ``data_sets.json`` by name.

    Example:
        >>> list(tree_sets())
        ['tree_extraction', 'tree_paraloq']
    """
    raw = json.loads((Path(__file__).parent / "data_sets.json").read_text(encoding="utf-8"))
    sets = {}
    for name, fields in raw.items():
        hub = None if fields["hub"] is None else TreeHub(**fields["hub"])
        sets[name] = TreeSet(**{**fields, "name": name, "folders": tuple(fields["folders"]), "hub": hub})
    return sets


def tree_set(name: str) -> TreeSet:
    """The data set called ``name``.

    Raises:
        OptionError: If there is none of that name; the message lists the names that exist.

    Example:
        >>> tree_set("tree_extraction").hub is None
        True
    """
    if name not in tree_sets():
        raise OptionError.unknown("data set", name, tree_sets())
    return tree_sets()[name]
