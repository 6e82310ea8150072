"""The order in which any family's documents are looked for, and how they are read from the first source that has them.

1. ``--metadata '{"data": …}'``: what a user names must work.
2. ``TLS_TASKS_DATA``: a folder with a folder a data set.
3. What ``tls-tasks fetch`` has put into the cache (:mod:`tls_tasks.data.fetched`).
4. The hub.
5. The embedded edition: small, written by us, and not comparable with anything published. It says so.

A family says how its documents are read (:class:`Reading`); where they are looked for is the same for all.
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

# a folder or file of the user's, the authors' public repositories, the hub, this package
_EDITIONS = ("local", "fetched", "hub", "embedded")
_HUB_ID = re.compile(r"([\w.-]+/[\w.-]+?)(?:@([\w./-]+))?")  # org/name or org/name@revision

_OWN = "own data"
_MESSAGES = json.loads(Path(__file__).with_name("messages.json").read_text(encoding="utf-8"))

_log = logging.getLogger(__name__)
_warned: set[str] = set()

DocumentT = TypeVar("DocumentT")


class EmbeddedEditionWarning(UserWarning):
    """The numbers of this run can't be compared with published ones: the data is our small embedded edition."""


@dataclass(frozen=True, slots=True)
class Loaded(Generic[DocumentT]):
    """Documents and where they come from.

    Attributes:
        documents: In the order of the data; of timelines the topics, of reports the requests.
        edition: ``local``, ``fetched``, ``hub`` or ``embedded``.
        origin: Folder, file, or repositories with revision.
        data: What the data is, where task and edition do not say it: ``unknown data``, ``own data``, ``embedded`` for a
            copy of the embedded edition.
        fingerprint: A hash of what the documents say, whatever files they came in: ids, inputs and references, in
            order; empty before :func:`load` has worked it out.
    """

    documents: tuple[DocumentT, ...]
    edition: str
    origin: str
    data: str = ""
    fingerprint: str = ""

    def noted(self, provenance: MutableMapping[str, str] | None, name: object = None) -> "Loaded[DocumentT]":
        """Write where the data is from and what it is into a task's metadata, so that they stand in the results file.

        Args:
            provenance: That part of the metadata.
            name: What the user calls data of their own.

        Raises:
            InputError: If the name is no text.
        """
        if provenance is None:
            return self
        provenance.update(edition=self.edition, origin=self.origin, fingerprint=self.fingerprint)
        if self.data == _OWN and name is not None:
            if not isinstance(name, str) or not name.strip():
                raise InputError("name", None, repr(name), "what the results are to call your data")
            provenance["data"] = name
        elif self.data:
            provenance["data"] = self.data
        return self


@dataclass(frozen=True, slots=True)
class Reading(Generic[DocumentT]):
    """How a data set is read.

    Attributes:
        wanted: The data set.
        known: All data sets of its family: a folder that is named like another one is refused.
        at: Reads a folder or a file.
        from_rows: Reads rows, each with its place for messages, of a data set on the hub that the user names; None if
            such a data set has no rows that could be read.
        published: Reads the data set's own source on the hub, or says in words why not; None if its rows say all. What
            it raises as DataError is a reason to look elsewhere.
        of_files: Reads the rows of that source together if it has several files.
        lacking: What is wanting in documents that were read, in words; empty if nothing is.
        place: What a user can name, for the message.
        public: What ``tls-tasks fetch`` gets, if it has all that is needed.
    """

    wanted: DataSet
    known: Iterable[DataSet]
    at: Callable[[Path], tuple[DocumentT, ...]]
    published: Callable[[HubFiles], Loaded[DocumentT] | str] | None = None
    from_rows: Callable[[Rows], tuple[DocumentT, ...]] | None = None
    of_files: Callable[..., Rows] = file_rows
    lacking: Callable[[Sequence[DocumentT]], str] = lambda documents: ""
    place: str = "neither a folder nor a file nor a hub data set org/name"
    public: PublicCopy | None = None


def hub_rows(source: HubFiles, of_files: Callable[..., Rows] = file_rows) -> list[tuple[str, Any]]:
    """The rows of a data set's file on the hub, or of its files, which ``of_files`` reads together.

    Raises:
        DataError: If a file can't be had or read, or there are more or fewer rows than the catalogue says.
    """
    files = [hub.fetch(source.repo_id, source.revision, file) for file in source.files]
    rows = list(of_files(*files) if len(files) > 1 else file_rows(files[0], source.settings.get("member")))
    if source.rows is not None and len(rows) != source.rows:
        raise DataError(f"{source.repo_id}: rows: {len(rows)}, but data_sets.json expects {source.rows}")
    return rows


def text_fields(name: str, doc_id: str, text: str, budget: int) -> dict[str, Any]:
    """The first fields of a document whose prompt shows one text: no more of it than the budget, in characters."""
    return {"doc_id": doc_id, "data_set": name, "text": text[:budget], "text_truncated": max(0, len(text) - budget)}


def distinct(name: str, documents: Sequence[DocumentT], key: str = "id") -> tuple[DocumentT, ...]:
    """The documents of a data set, each with an ``id``, or what else the ``key`` is, of its own.

    Raises:
        DataError: If there are none, or two have the same id.
    """
    if not documents:
        raise DataError(f"{name}: no row in the data")
    given, n = Counter(map(attrgetter(key), documents)).most_common(1)[0]
    if n > 1:
        raise DataError(f"{name}: two documents have the {key} {given!r}")
    return tuple(documents)


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
    if edition is not None and edition not in _EDITIONS:
        raise OptionError.unknown("edition", edition, _EDITIONS)
    if reading.wanted.own and data is None:
        metadata = '--metadata \'{"data": "PLACE", "name": "ours"}\''
        raise DataError(f"{reading.wanted.name}: runs on data of yours: {metadata}; {reading.wanted.obtain}")
    found = _first(reading, edition) if data is None else _from_user(reading, data)
    if edition is not None and found.edition != edition:
        raise DataError(f"{found.origin}: is the {found.edition} edition, but {edition} was asked for")
    found = dataclasses.replace(found, fingerprint=editions.fingerprint_of(map(_plain, found.documents)))
    return dataclasses.replace(found, data=_kind(reading, found, is_named=data is not None))


def _kind(reading: Reading[Any], found: Loaded[Any], is_named: bool) -> str:
    """What the data is, where task and edition do not say it; warns of what is no known data set, once a process."""
    wanted = reading.wanted
    if wanted.own:
        return _OWN
    # What comes from the pinned places is the data set; of what a user brings, only its content can tell.
    brought = found.edition == "local" or (is_named and found.edition == "hub")
    is_worth = editions.status(wanted, found.fingerprint, found.edition, trusted=not brought)
    if is_worth == editions.KNOWN:
        return ""
    key = wanted.name if is_worth == editions.EMBEDDED else f"{wanted.name} {found.origin}"
    if key not in _warned:
        _warned.add(key)
        _warn(reading, found.origin, is_worth)
    return "" if is_worth == found.edition else is_worth


def _warn(reading: Reading[Any], origin: str, is_worth: str) -> None:
    wanted = reading.wanted
    if is_worth == editions.UNKNOWN:
        about = {"name": wanted.name, "title": wanted.title, "family": wanted.name.partition("_")[0]}
        _log.warning("%s", _MESSAGES["unknown"].format(origin=origin, **about))
        return
    told = _MESSAGES["embedded"].format(name=wanted.name, advice=_advice(reading))
    warnings.warn(told, EmbeddedEditionWarning, stacklevel=2)


def _plain(document: Any) -> dict[str, Any]:
    """Reports are read as rows, all others as objects."""
    return document if isinstance(document, dict) else dataclasses.asdict(document)


def read_place(reading: Reading[DocumentT], place: Path) -> Loaded[DocumentT]:
    """Read a data set from a folder with its folder in it, from its folder, or from a file.

    Raises:
        DataError: If there is nothing of this data set, a file is broken, or the folder is named like another data set:
            no task may score another one's data by mistake.
    """
    if not place.exists():
        raise DataError(f"{place}: no such file or folder")
    wanted = reading.wanted
    folder = own_folder(wanted, place) or place
    name = folder.resolve().name
    owner = next((entry.name for entry in reading.known if name in (entry.name, *entry.folders)), wanted.name)
    if owner != wanted.name and not wanted.own:
        raise DataError(f"{folder}: this folder is named like {owner}, not {wanted.name}")
    # What lies in this package is embedded however it is named, so that nothing passes it off as the real data.
    edition = "embedded" if EMBEDDED in folder.resolve().parents else "local"
    return Loaded(reading.at(folder), edition, str(folder))


def own_folder(wanted: DataSet, parent: Path) -> Path | None:
    """The data set's folder in ``parent``."""
    folders = (parent / name for name in (wanted.name, *wanted.folders))
    return next((folder for folder in folders if folder.is_dir()), None)


def _from_user(reading: Reading[DocumentT], data: str | Path) -> Loaded[DocumentT]:
    place, hub_id = Path(data).expanduser(), _HUB_ID.fullmatch(str(data))
    if place.exists():
        found = read_place(reading, place)
    elif hub_id is not None and reading.from_rows is not None:
        rows = enumerate(hub.split_rows(hub_id[1], hub_id[2]), start=1)
        found = Loaded(reading.from_rows((f"{data}, row {number}", row) for number, row in rows), "hub", str(data))
    else:
        raise DataError(f"data: {data} is {reading.place}")
    if lacking := reading.lacking(found.documents):
        raise DataError(f"data: {found.origin} has {lacking}")
    return found


def _first(reading: Reading[DocumentT], edition: str | None) -> Loaded[DocumentT]:
    steps = {"local": _from_environment, "fetched": _from_cache, "hub": _from_hub, "embedded": _from_embedded}
    reasons = []
    for name in _EDITIONS if edition is None else (edition,):
        found = steps[name](reading)
        if isinstance(found, Loaded):
            return found
        reasons.append(found)
    raise DataError(f"{reading.wanted.name}: no data: {'; '.join(reasons)}. {_advice(reading)}")


def _from_environment(reading: Reading[DocumentT]) -> Loaded[DocumentT] | str:
    wanted, root = reading.wanted, os.environ.get(DATA_VARIABLE)
    if not root:
        return f"{DATA_VARIABLE} is not set"
    folder = own_folder(wanted, Path(root).expanduser())
    if folder is None:
        names = " or ".join((wanted.name, *wanted.folders))
        return _passed_over(wanted, f"{DATA_VARIABLE}={root} has no folder {names}")
    found = read_place(reading, folder)
    lacking = reading.lacking(found.documents)
    return _passed_over(wanted, f"{folder} has {lacking}") if lacking else found


def _from_cache(reading: Reading[DocumentT]) -> Loaded[DocumentT] | str:
    public = reading.public
    if public is None:
        return "there are no public files to fetch it from"
    try:
        is_there = public.is_there
    except DataError as error:  # no home folder for a cache
        return _passed_over(reading.wanted, str(error))
    if not is_there:
        return f"it has not been fetched (tls-tasks fetch {public.name})"
    return Loaded(reading.at(public.folder), "fetched", public.origin)


def _from_hub(reading: Reading[DocumentT]) -> Loaded[DocumentT] | str:
    source = reading.wanted.hub
    if source is None or reading.from_rows is None:
        return "it has no source on the hub"
    try:
        if reading.published is not None:
            return reading.published(source)
        return Loaded(reading.from_rows(hub_rows(source, reading.of_files)), "hub", source.origin)
    except DataError as error:
        return _passed_over(reading.wanted, str(error))


def _from_embedded(reading: Reading[DocumentT]) -> Loaded[DocumentT] | str:
    folder = EMBEDDED / reading.wanted.name
    return read_place(reading, folder) if folder.is_dir() else "it has no embedded edition"


def _passed_over(wanted: DataSet, reason: str) -> str:
    """The reason why a source that might have had the data is passed over, which is logged too."""
    _log.warning("%s: trying the next source: %s", wanted.name, reason)
    return reason


def _advice(reading: Reading[DocumentT]) -> str:
    wanted = reading.wanted
    command = f"tls-tasks fetch {wanted.name}; or " if reading.public else ""
    about = {"title": wanted.title, "obtain": wanted.obtain, "folder": wanted.folders[0], "variable": DATA_VARIABLE}
    return str(_MESSAGES["advice"].format(command=command, **about))
