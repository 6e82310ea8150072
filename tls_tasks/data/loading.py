"""How any family's data gets from a source into a task: the steps of :mod:`tls_tasks.data.order`, and the split.

A family says how its documents are read (:class:`Reading`); where they are looked for is the same for all.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from tls_tasks.core.errors import DataError
from tls_tasks.data import hub
from tls_tasks.data.order import (
    DATA_VARIABLE,
    EMBEDDED,
    HUB_ID,
    Wanted,
    edition_of,
    folder_names,
    own_folder,
    pass_over,
    refuse_other,
    take_first,
)

if TYPE_CHECKING:
    import datasets

DocumentT = TypeVar("DocumentT")


@dataclass(frozen=True, slots=True)
class Loaded(Generic[DocumentT]):
    """Documents and where they come from.

    Attributes:
        documents: In the order of the data; of timelines the topics, of reports the requests.
        edition: One of :data:`tls_tasks.data.order.EDITIONS`.
        origin: Folder, file, or hub repository with revision.
    """

    documents: tuple[DocumentT, ...]
    edition: str
    origin: str

    def note(self, provenance: MutableMapping[str, str] | None) -> None:
        """Write edition and origin into a task's metadata, so that they stand in the results file."""
        if provenance is not None:
            provenance.update(edition=self.edition, origin=self.origin)


Published = tuple[tuple[DocumentT, ...], str]
"""The documents of a data set's own source on the hub, and its repository with revision."""


@dataclass(frozen=True, slots=True)
class Reading(Generic[DocumentT]):
    """How a data set is read.

    Attributes:
        wanted: The data set.
        known: All data sets of its family: a folder that is named like another one is refused.
        at: Reads a folder or a file.
        from_rows: Reads rows, each with its place for messages, of a data set on the hub that the user names; None if
            such a data set has no rows that could be read.
        published: Reads the data set's own source on the hub, or says in words why there is none. What it raises as
            DataError is a reason to look elsewhere.
        lacking: What is wanting in documents that were read, in words; empty if nothing is.
        place: What a user can name, for the message.
    """

    wanted: Wanted
    known: Iterable[Wanted]
    at: Callable[[Path], tuple[DocumentT, ...]]
    published: Callable[[], Published[DocumentT] | str]
    from_rows: Callable[[Iterable[tuple[str, Any]]], tuple[DocumentT, ...]] | None = None
    lacking: Callable[[Sequence[DocumentT]], str] = lambda documents: ""
    place: str = "neither a folder nor a file nor a hub data set org/name"


def load(reading: Reading[DocumentT], data: str | Path | None, edition: str | None) -> Loaded[DocumentT]:
    """Load a data set from the first source that has it.

    Args:
        reading: How.
        data: What the user named; no other source is tried. None: nothing.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        OptionError: If there is no such edition.
    """
    named = None if data is None else partial(_from_user, reading, data)
    steps = {"local": _from_environment, "hub": _from_hub, "embedded": _from_embedded}
    return take_first(reading.wanted, named, {key: partial(step, reading) for key, step in steps.items()}, edition)


def read_place(reading: Reading[DocumentT], place: Path) -> Loaded[DocumentT]:
    """Read a data set from a folder with its folder in it, from its folder, or from a file.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    folder = own_folder(reading.wanted, place) or place
    refuse_other(reading.wanted, folder, reading.known)
    return Loaded(reading.at(folder), edition_of(folder), str(folder))


def _from_user(reading: Reading[DocumentT], data: str | Path) -> Loaded[DocumentT]:
    place, hub_id = Path(data).expanduser(), HUB_ID.fullmatch(str(data))
    if place.exists():
        found = read_place(reading, place)
    elif hub_id is not None and reading.from_rows is not None:
        rows = enumerate(hub.split_rows(hub_id[1], hub_id[2]), start=1)
        found = Loaded(reading.from_rows((f"{data}, row {number}", row) for number, row in rows), "hub", str(data))
    else:
        raise DataError(f"data: {data} is {reading.place}")
    lacking = reading.lacking(found.documents)
    if lacking:
        raise DataError(f"data: {found.origin} has {lacking}")
    return found


def _from_environment(reading: Reading[DocumentT]) -> Loaded[DocumentT] | str:
    root = os.environ.get(DATA_VARIABLE)
    if not root:
        return f"{DATA_VARIABLE} is not set"
    folder = own_folder(reading.wanted, Path(root).expanduser())
    if folder is None:
        names = " or ".join(folder_names(reading.wanted))
        return pass_over(reading.wanted, f"{DATA_VARIABLE}={root} has no folder {names}")
    found = read_place(reading, folder)
    lacking = reading.lacking(found.documents)
    return pass_over(reading.wanted, f"{folder} has {lacking}") if lacking else found


def _from_hub(reading: Reading[DocumentT]) -> Loaded[DocumentT] | str:
    try:
        published = reading.published()
    except DataError as error:
        return pass_over(reading.wanted, str(error))
    return published if isinstance(published, str) else Loaded(published[0], "hub", published[1])


def _from_embedded(reading: Reading[DocumentT]) -> Loaded[DocumentT] | str:
    folder = EMBEDDED / reading.wanted.name
    return read_place(reading, folder) if folder.is_dir() else "it has no embedded edition"


def as_split(
    loaded: Any,
    rows: Sequence[Mapping[str, str | int]],
    text_fields: Sequence[str],
    number_fields: Sequence[str],
    provenance: MutableMapping[str, str] | None,
) -> dict[str, datasets.Dataset]:
    """What the harness's ``custom_dataset`` wants: ``{"test": dataset}``, its columns text and whole numbers.

    Args:
        loaded: Knows ``edition`` and ``origin``.
        rows: One a document.
        text_fields: Columns of text; the JSON in some of them is never looked into, so that no date becomes a time.
        number_fields: Columns of whole numbers.
        provenance: Filled with edition and origin, and so shown in the results file.
    """
    from datasets import Dataset, Features, Value

    if provenance is not None:
        provenance.update(edition=loaded.edition, origin=loaded.origin)
    features = Features({**dict.fromkeys(text_fields, Value("string")), **dict.fromkeys(number_fields, Value("int64"))})
    return {"test": Dataset.from_list(list(rows), features=features)}
