"""Which data a task would run on here and now, without loading any of it: what ``tls-tasks list`` shows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tls_tasks.data import hub
from tls_tasks.data.order import DATA_VARIABLE, EMBEDDED, Wanted, own_folder
from tls_tasks.evidence.data_sets import evidence_sets
from tls_tasks.reports.data import REPORT_SETS
from tls_tasks.summaries.data import DATA_SETS as SUMMARIES
from tls_tasks.timelines.catalogue import DataSet, catalogue
from tls_tasks.trees.data import DATA_SETS as TREES


@dataclass(frozen=True, slots=True)
class DataState:
    """Where a data set is, in the order in which a task looks.

    Attributes:
        name: The data set.
        obtain: How to get the original.
        local: Its folder below ``TLS_TASKS_DATA``; None if it isn't there.
        hub: The hub source that would do, ``org/name@revision``; None if there is none.
        is_cached: Whether all files of the hub source are in the local cache.
        has_embedded: Whether it has an embedded edition.
    """

    name: str
    obtain: str
    local: Path | None
    hub: str | None
    is_cached: bool
    has_embedded: bool

    @property
    def edition(self) -> str:
        """What a task takes without asking the network: ``local``, ``hub``, ``embedded`` or ``none``."""
        if self.local is not None:
            return "local"
        if self.is_cached:
            return "hub"
        return "embedded" if self.has_embedded else "none"


def data_sets() -> Mapping[str, Wanted]:
    """Every data set of every family by name.

    Example:
        >>> {"tls_crisis", "summ_qmsum"} <= set(data_sets())
        True
    """
    return {**catalogue(), **SUMMARIES, **evidence_sets(), **TREES, **REPORT_SETS}


def data_state(wanted: Wanted, closed_book: bool = False) -> DataState:
    """The state of one data set on this machine.

    Args:
        wanted: The data set.
        closed_book: Whether a task on timelines needs no articles: the hub sources of timelines have none.
    """
    root = os.environ.get(DATA_VARIABLE)
    lacks_articles = isinstance(wanted, DataSet) and not closed_book
    source = None if lacks_articles else getattr(wanted, "hub", None)
    return DataState(
        name=wanted.name,
        obtain=wanted.obtain,
        local=own_folder(wanted, Path(root).expanduser()) if root else None,
        hub=f"{source.repo_id}@{source.revision}" if source else None,
        is_cached=source is not None and all(hub.is_cached(*file) for file in _files(source)),
        has_embedded=(EMBEDDED / wanted.name).is_dir(),
    )


def _files(source: Any) -> Iterator[tuple[str, str, str]]:
    for file in getattr(source, "files", None) or (source.file,):
        yield source.repo_id, source.revision, file
