"""Sources of data sets in the order in which they are tried, and loading from the first that has a data set.

1. ``--metadata '{"data": …}'``; what a user names must work.
2. ``TLS_TASKS_DATA``: a folder with one folder a data set.
3. The cache of ``tls-tasks fetch`` (:mod:`tls_tasks.data.fetched`).
4. The hub.
5. The embedded edition: small, made for this package, not comparable with anything published; it warns of that.

A family provides the functions that read its documents (:class:`SetReader`); the order is the same for all.
"""

import dataclasses
import json
import logging
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any, Generic, TypeVar

from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.data import editions, hub
from tls_tasks.data.catalogue import DataSet, HubFiles
from tls_tasks.data.fetched import PublicCopy
from tls_tasks.data.files import Rows, file_rows

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of documents in a prompt, some 6,000 tokens of English: a context of 8k has room for the answer."""

DATA_VARIABLE = "TLS_TASKS_DATA"
EMBEDDED = Path(__file__).parent / "embedded"

# The user's folder or file, the authors' public repositories, the hub, and this package are tried in this order.
_EDITIONS = ("local", "fetched", "hub", "embedded")
_HUB_ID = re.compile(r"([\w.-]+/[\w.-]+?)(?:@([\w./-]+))?")  # matches org/name and org/name@revision

_CUSTOM = "own data"
_MESSAGES = json.loads(Path(__file__).with_name("messages.json").read_text(encoding="utf-8"))

_log = logging.getLogger(__name__)
_warned: set[str] = set()

DocumentT = TypeVar("DocumentT")


class EmbeddedEditionWarning(UserWarning):
    """The numbers of this run can't be compared with published ones: the data is the small embedded edition."""


@dataclass(frozen=True, slots=True)
class LoadedData(Generic[DocumentT]):
    """Documents and their source.

    Attributes:
        documents: In the order of the data; for timelines the topics, for reports the requests.
        edition: ``local``, ``fetched``, ``hub`` or ``embedded``.
        origin: Folder, file, or repositories with revision.
        data: The status of data that is not the pinned data set: ``unknown data``, ``own data``, or ``embedded`` for a
            copy of the embedded edition; else empty.
        fingerprint: A hash of the documents' ids, inputs and references in order, whatever their files; empty before
            :func:`load` computes it.
    """

    documents: tuple[DocumentT, ...]
    edition: str
    origin: str
    data: str = ""
    fingerprint: str = ""

    def record(self, provenance: MutableMapping[str, str] | None, name: object = None) -> "LoadedData[DocumentT]":
        """Add edition, origin and fingerprint to a task's metadata, which the results file repeats; return self.

        Args:
            provenance: The part of the metadata to fill; None for no metadata.
            name: The user's name for data of their own.

        Raises:
            InputError: If the name is no text.
        """
        if provenance is None:
            return self
        provenance.update(edition=self.edition, origin=self.origin, fingerprint=self.fingerprint)
        if self.data == _CUSTOM and name is not None:
            if not isinstance(name, str) or not name.strip():
                raise InputError("name", None, repr(name), "a name for your data in the results")
            provenance["data"] = name
        elif self.data:
            provenance["data"] = self.data
        return self


@dataclass(frozen=True, slots=True)
class SetReader(Generic[DocumentT]):
    """The functions that read a data set from each kind of source.

    Attributes:
        data_set: The data set.
        family_sets: All data sets of its family: a folder that is named like another one is refused.
        read_path: Reads a folder or a file.
        from_rows: Reads (where, row) pairs of a hub data set that the user names; None if its rows can't be read.
        published: Reads the data set's pinned source on the hub, or returns the reason why not; None if ``from_rows``
            reads it. After a DataError the next source is tried.
        join_files: Reads the rows of that source if it has several files.
        lacking: Returns a message about missing parts of documents; empty if they are complete.
        not_found: The error for data that is none of the possible sources.
        public: The copy that ``tls-tasks fetch`` downloads, if it is sufficient.
    """

    data_set: DataSet
    family_sets: Iterable[DataSet]
    read_path: Callable[[Path], tuple[DocumentT, ...]]
    published: Callable[[HubFiles], LoadedData[DocumentT] | str] | None = None
    from_rows: Callable[[Rows], tuple[DocumentT, ...]] | None = None
    join_files: Callable[..., Rows] = file_rows
    lacking: Callable[[Sequence[DocumentT]], str] = lambda documents: ""
    not_found: str = "neither a folder nor a file nor a hub data set org/name"
    public: PublicCopy | None = None


def hub_rows(source: HubFiles, join_files: Callable[..., Rows] = file_rows) -> list[tuple[str, Any]]:
    """Return (where, row) pairs of a data set's file on the hub, or of several files, which ``join_files`` reads.

    Raises:
        DataError: If a file can't be downloaded or read, or the number of rows is not that of the catalogue.
    """
    files = [hub.fetch(source.repo_id, source.revision, file) for file in source.files]
    rows = list(join_files(*files) if len(files) > 1 else file_rows(files[0], source.settings.get("member")))
    if source.rows is not None and len(rows) != source.rows:
        raise DataError(f"{source.repo_id}: rows: {len(rows)}, but data_sets.json expects {source.rows}")
    return rows


def text_fields(name: str, doc_id: str, text: str, budget: int) -> dict[str, Any]:
    """Return the first fields of a document whose prompt shows one text, cut to ``budget`` characters."""
    return {"doc_id": doc_id, "data_set": name, "text": text[:budget], "text_truncated": max(0, len(text) - budget)}


def distinct(name: str, documents: Sequence[DocumentT], key: str = "id") -> tuple[DocumentT, ...]:
    """Return the documents of a data set after checking that no two have the same ``key`` attribute.

    Raises:
        DataError: If there are none, or two have the same key.
    """
    if not documents:
        raise DataError(f"{name}: no row in the data")
    value, n = Counter(map(attrgetter(key), documents)).most_common(1)[0]
    if n > 1:
        raise DataError(f"{name}: two documents have the {key} {value!r}")
    return tuple(documents)


def load(reader: SetReader[DocumentT], data: str | Path | None, edition: str | None) -> LoadedData[DocumentT]:
    """Load a data set from the first source that has it.

    Args:
        reader: The functions that read the data set.
        data: The source that the user named, the only one to try; None if none was named.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: ``data`` can't be used, a local copy is broken, or no source has it; the message says how to get it.
        OptionError: If there is no such edition.
    """
    if edition is not None and edition not in _EDITIONS:
        raise OptionError.unknown("edition", edition, _EDITIONS)
    if reader.data_set.custom and data is None:
        metadata = '--metadata \'{"data": "PLACE", "name": "ours"}\''
        raise DataError(f"{reader.data_set.name}: runs on data of yours: {metadata}; {reader.data_set.obtain}")
    loaded = _first(reader, edition) if data is None else _from_user(reader, data)
    if edition is not None and loaded.edition != edition:
        raise DataError(f"{loaded.origin}: is the {loaded.edition} edition, but {edition} was asked for")
    loaded = dataclasses.replace(loaded, fingerprint=editions.hash_documents(map(_plain, loaded.documents)))
    return dataclasses.replace(loaded, data=_data_status(reader, loaded, is_named=data is not None))


def _data_status(reader: SetReader[Any], loaded: LoadedData[Any], is_named: bool) -> str:
    """Return :attr:`LoadedData.data`; warn of data that is not the pinned data set, once a process."""
    data_set = reader.data_set
    if data_set.custom:
        return _CUSTOM
    # Pinned sources hold the data set; data from a user is identified by its content alone.
    from_user = loaded.edition == "local" or (is_named and loaded.edition == "hub")
    status = editions.status(data_set, loaded.fingerprint, loaded.edition, trusted=not from_user)
    if status == editions.KNOWN:
        return ""
    key = data_set.name if status == editions.EMBEDDED else f"{data_set.name} {loaded.origin}"
    if key not in _warned:
        _warned.add(key)
        _warn(reader, loaded.origin, status)
    return "" if status == loaded.edition else status


def _warn(reader: SetReader[Any], origin: str, status: str) -> None:
    data_set = reader.data_set
    if status == editions.UNKNOWN:
        about = {"name": data_set.name, "title": data_set.title, "family": data_set.name.partition("_")[0]}
        _log.warning("%s", _MESSAGES["unknown"].format(origin=origin, **about))
        return
    message = _MESSAGES["embedded"].format(name=data_set.name, advice=_advice(reader))
    warnings.warn(message, EmbeddedEditionWarning, stacklevel=2)


def _plain(document: Any) -> dict[str, Any]:
    """Return a document as a mapping; reports are mappings already, all others are dataclasses."""
    return document if isinstance(document, dict) else dataclasses.asdict(document)


def read_path(reader: SetReader[DocumentT], path: Path) -> LoadedData[DocumentT]:
    """Read a data set from a folder with its folder in it, from its folder, or from a file.

    Raises:
        DataError: If there is nothing of this data set, a file is broken, or the folder is named like another data set:
            no task may score another one's data by mistake.
    """
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    data_set = reader.data_set
    folder = find_folder(data_set, path) or path
    name = folder.resolve().name
    owner = next((entry.name for entry in reader.family_sets if name in (entry.name, *entry.folders)), data_set.name)
    if owner != data_set.name and not data_set.custom:
        raise DataError(f"{folder}: this folder is named like {owner}, not {data_set.name}")
    # Data in this package is embedded whatever a user calls it, so that nothing passes it off as the real data.
    edition = "embedded" if EMBEDDED in folder.resolve().parents else "local"
    return LoadedData(reader.read_path(folder), edition, str(folder))


def find_folder(data_set: DataSet, parent: Path) -> Path | None:
    """Return the data set's folder in ``parent``; None if it has none."""
    folders = (parent / name for name in (data_set.name, *data_set.folders))
    return next((folder for folder in folders if folder.is_dir()), None)


def _from_user(reader: SetReader[DocumentT], data: str | Path) -> LoadedData[DocumentT]:
    path, hub_id = Path(data).expanduser(), _HUB_ID.fullmatch(str(data))
    if path.exists():
        loaded = read_path(reader, path)
    elif hub_id is not None and reader.from_rows is not None:
        rows = enumerate(hub.split_rows(hub_id[1], hub_id[2]), start=1)
        loaded = LoadedData(reader.from_rows((f"{data}, row {number}", row) for number, row in rows), "hub", str(data))
    else:
        raise DataError(f"data: {data} is {reader.not_found}")
    if lacking := reader.lacking(loaded.documents):
        raise DataError(f"data: {loaded.origin} has {lacking}")
    return loaded


def _first(reader: SetReader[DocumentT], edition: str | None) -> LoadedData[DocumentT]:
    steps = {"local": _from_environment, "fetched": _from_cache, "hub": _from_hub, "embedded": _from_embedded}
    reasons = []
    for name in _EDITIONS if edition is None else (edition,):
        result = steps[name](reader)
        if isinstance(result, LoadedData):
            return result
        reasons.append(result)
    raise DataError(f"{reader.data_set.name}: no data: {'; '.join(reasons)}. {_advice(reader)}")


def _from_environment(reader: SetReader[DocumentT]) -> LoadedData[DocumentT] | str:
    data_set, root = reader.data_set, os.environ.get(DATA_VARIABLE)
    if not root:
        return f"{DATA_VARIABLE} is not set"
    folder = find_folder(data_set, Path(root).expanduser())
    if folder is None:
        names = " or ".join((data_set.name, *data_set.folders))
        return _skip_source(data_set, f"{DATA_VARIABLE}={root} has no folder {names}")
    loaded = read_path(reader, folder)
    lacking = reader.lacking(loaded.documents)
    return _skip_source(data_set, f"{folder} has {lacking}") if lacking else loaded


def _from_cache(reader: SetReader[DocumentT]) -> LoadedData[DocumentT] | str:
    public = reader.public
    if public is None:
        return "there are no public files to fetch it from"
    try:
        is_fetched = public.is_fetched
    except DataError as error:  # the user has no home folder for a cache
        return _skip_source(reader.data_set, str(error))
    if not is_fetched:
        return f"it has not been fetched (tls-tasks fetch {public.name})"
    return LoadedData(reader.read_path(public.folder), "fetched", public.origin)


def _from_hub(reader: SetReader[DocumentT]) -> LoadedData[DocumentT] | str:
    source = reader.data_set.hub
    if source is None or reader.from_rows is None:
        return "it has no source on the hub"
    try:
        if reader.published is not None:
            return reader.published(source)
        return LoadedData(reader.from_rows(hub_rows(source, reader.join_files)), "hub", source.origin)
    except DataError as error:
        return _skip_source(reader.data_set, str(error))


def _from_embedded(reader: SetReader[DocumentT]) -> LoadedData[DocumentT] | str:
    folder = EMBEDDED / reader.data_set.name
    return read_path(reader, folder) if folder.is_dir() else "it has no embedded edition"


def _skip_source(data_set: DataSet, reason: str) -> str:
    """Log and return the reason why a source that might have the data is skipped."""
    _log.warning("%s: trying the next source: %s", data_set.name, reason)
    return reason


def _advice(reader: SetReader[DocumentT]) -> str:
    entry = reader.data_set
    command = f"tls-tasks fetch {entry.name}; or " if reader.public else ""
    about = {"title": entry.title, "obtain": entry.obtain, "folder": entry.folders[0], "variable": DATA_VARIABLE}
    return str(_MESSAGES["advice"].format(command=command, **about))
