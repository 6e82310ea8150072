"""The data sets of the summarisation tasks: ``data_sets.json``, read into typed records."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from tls_tasks.core.errors import OptionError


@dataclass(frozen=True, slots=True)
class SummaryHub:
    """Where a data set lies on the Hugging Face hub.

    Attributes:
        repo_id: Data set repository, ``org/name``.
        revision: Commit of the repository.
        files: Paths in the repository: one file of rows, or two text files, documents and summaries line by line.
        member: The file of rows in the archive, if the file is a zip archive.
        rows: How many rows there must be; None for what the commit pins.
    """

    repo_id: str
    revision: str
    files: tuple[str, ...]
    member: str | None
    rows: int | None


@dataclass(frozen=True, slots=True)
class SummarySet:
    """What is known of one data set before any of it is read.

    Attributes:
        name: Name of the task and of the embedded edition: ``summ_dialogsum`` …
        title: The field's name of it.
        folders: Names that its folder has where people keep it.
        licence: Licence of the original, or ``none stated``.
        citation: Paper.
        homepage: Where it comes from.
        obtain: How to get the original, a sentence without capital and full stop.
        split: The split that has references and is scored.
        instruction: What the prompt asks for.
        query_comes_first: Whether a row's text begins with a query and a blank line.
        references_in_rows: Whether each reference has a row of its own; ids then differ in their last ``_N`` only.
        hub: The published source.
    """

    name: str
    title: str
    folders: tuple[str, ...]
    licence: str
    citation: str
    homepage: str
    obtain: str
    split: str
    instruction: str
    query_comes_first: bool
    references_in_rows: bool
    hub: SummaryHub


@lru_cache(maxsize=1)
def summary_sets() -> Mapping[str, SummarySet]:
    """Every data set of ``data_sets.json`` by name.

    Example:
        >>> list(summary_sets())[:3]
        ['summ_multi_news', 'summ_dialogsum', 'summ_qmsum']
    """
    raw = json.loads((Path(__file__).parent / "data_sets.json").read_text(encoding="utf-8"))
    sets = {}
    for name, fields in raw.items():
        hub = SummaryHub(**{**fields["hub"], "files": tuple(fields["hub"]["files"])})
        sets[name] = SummarySet(**{**fields, "name": name, "folders": tuple(fields["folders"]), "hub": hub})
    return sets


def summary_set(name: str) -> SummarySet:
    """The data set called ``name``.

    Raises:
        OptionError: If there is none of that name; the message lists the names that exist.

    Example:
        >>> summary_set("summ_dialogsum").hub.repo_id
        'knkarthick/dialogsum'
    """
    if name not in summary_sets():
        raise OptionError.unknown("data set", name, summary_sets())
    return summary_sets()[name]
