"""Data sets fetched from their authors' public repositories at pinned commits, and the cache that keeps them.

This package contains addresses and hashes, and none of the data. In the cache::

    raw/OWNER/NAME/COMMIT/PATH          the files as they came
    sets/NAME/COMMITS/rows.parquet      what the family made of them, which its tasks read; people's ratings: logs, CSV
    sets/NAME/COMMITS/origin.json       where it came from, and the hash of each file
    settings.json                       whether tasks may fetch by themselves
"""

import hashlib
import http.client
import json
import os
import shutil
import sys
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from tls_tasks.core.errors import DataError
from tls_tasks.core.whole import made_folder, replaced, write_whole

CACHE_VARIABLE = "TLS_TASKS_CACHE"
MIRROR_VARIABLE = "TLS_TASKS_MIRROR"
FETCH_VARIABLE = "TLS_TASKS_FETCH"

_HOST = "https://raw.githubusercontent.com/"
ROWS = "rows.parquet"
_ORIGIN, _SETTINGS = "origin.json", "settings.json"
_TIMEOUT = 30  # seconds without a byte
_BY_HAND = "get the data by hand (tls-tasks list --obtain says how)"
_FORM = 1  # of what is made of the files: raised when that changes, so that older makings are not taken


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a repository.

    Attributes:
        path: Where it is in the repository.
        bytes: Its size.
        sha256: Its hash in hexadecimal.
    """

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Source:
    """Files of one repository at one commit.

    Attributes:
        repository: ``owner/name`` on GitHub.
        commit: The commit.
        licence: What the repository says of them; ``none stated`` if it says nothing.
        holds: ``references``, ``articles`` or ``ratings``.
        files: The files.
    """

    repository: str
    commit: str
    licence: str
    holds: str
    files: tuple[RemoteFile, ...]

    @property
    def origin(self) -> str:
        """Repository and commit, as results name them."""
        return f"{self.repository}@{self.commit}"


Write = Callable[["PublicCopy", Mapping[str, Path], Path], None]
"""Makes a family's files: (the data set, path in the repository -> file, the folder to write them into)."""


@dataclass(frozen=True, slots=True)
class PublicCopy:
    """A data set as it can be fetched.

    Attributes:
        name: The data set.
        sources: Where its files are.
        settings: What the family must know besides.
        write: Makes the family's files of them.
    """

    name: str
    sources: tuple[Source, ...]
    settings: Mapping[str, Any]
    write: Write

    @property
    def origin(self) -> str:
        """The repositories with their commits, as results name them."""
        return " + ".join(dict.fromkeys(source.origin for source in self.sources))

    @property
    def terms(self) -> str:
        """The repositories, what they hold and under which licence."""
        return "; ".join(f"{one.holds} from {one.origin}, licence: {one.licence}" for one in self.sources)

    @property
    def has_articles(self) -> bool:
        """Whether there are texts besides references."""
        return any(source.holds == "articles" for source in self.sources)

    @property
    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for source in self.sources for file in source.files)

    @property
    def folder(self) -> Path:
        """Where it is once it has been fetched."""
        commits = "-".join(dict.fromkeys(source.commit[:12] for source in self.sources))
        return cache_folder() / "sets" / self.name / f"{commits}-v{_FORM}"

    @property
    def is_there(self) -> bool:
        """Whether it has been fetched, and is whole."""
        origin = _read_json(self.folder / _ORIGIN)
        files = origin.get("files") or {ROWS: origin.get("sha256")}  # the latter was written before there were several
        return all(known and known == sha256_of(self.folder / name) for name, known in files.items())

    def fetch(self) -> Path:
        """Download what is missing and make the family's files of it; nothing is asked for if it is there.

        Returns:
            The folder, which the family reads.

        Raises:
            DataError: If a file can't be had or written; one line that says what to do.
        """
        folder, files = self.folder, {}
        if self.is_there:
            return folder
        try:
            for source in self.sources:
                place = f"{source.repository}/{source.commit}"
                for file in source.files:
                    files[file.path] = cache_folder() / "raw" / place / file.path
                    url = f"{_host()}{place}/{urllib.parse.quote(file.path)}"
                    download(url, files[file.path], file.bytes, file.sha256)
            if folder.exists() and not self.is_there:  # in this order: another process may be faster
                shutil.rmtree(folder, ignore_errors=True)  # damaged
            with made_folder(folder) as made:
                self.write(self, files, made)
                written = sorted(path for path in made.rglob("*") if path.is_file())
                hashes = {path.relative_to(made).as_posix(): sha256_of(path) for path in written}
                origin = {"data_set": self.name, "origin": self.terms, "files": hashes}
                (made / _ORIGIN).write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            if not self.is_there:  # another process may have been faster
                problem = f"{error.filename or folder}: can't be written: {error.strerror or error}"
                advice = f"make room, or set {CACHE_VARIABLE} to another folder, and run the same command again"
                raise DataError(f"{problem}; {advice}: what has arrived is kept") from error
        return folder


def public_copy(name: str, given: Mapping[str, Any], write: Write) -> PublicCopy:
    """One entry of a list of public files."""
    sources = TypeAdapter(tuple[Source, ...]).validate_python(given["sources"])
    return PublicCopy(name, sources, {key: value for key, value in given.items() if key != "sources"}, write)


def cache_folder() -> Path:
    """Where fetched data is kept: ``TLS_TASKS_CACHE``, or a folder ``tls-tasks`` where the platform has its caches.

    Raises:
        DataError: If the user has no home folder.
    """
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(os.path.abspath(os.path.expanduser(given)))  # noqa: PTH100, PTH111 - pathlib raises without a home
    xdg = os.environ.get("XDG_CACHE_HOME", "")  # the specification: a relative path in it is to be ignored
    parents = {"win32": os.environ.get("LOCALAPPDATA", ""), "darwin": "~/Library/Caches"}
    parent = parents.get(sys.platform, xdg if Path(xdg).is_absolute() else "~/.cache")
    folder = Path(os.path.expanduser(parent))  # noqa: PTH111
    if not folder.is_absolute():
        raise DataError(f"no home folder for a cache; set {CACHE_VARIABLE} to a folder for fetched data")
    return folder / "tls-tasks"


def fetches_by_itself() -> bool:
    """Whether a task may fetch its data when it is loaded: TLS_TASKS_FETCH, else what :func:`remember` was told."""
    if given := os.environ.get(FETCH_VARIABLE):
        return given.upper() in {"1", "ON", "YES", "TRUE"}
    return _read_json(cache_folder() / _SETTINGS).get("fetch") == "always"


def remember(always: bool) -> Path:
    """Write down whether tasks may fetch by themselves; returns the file.

    Raises:
        OSError: If it can't be written.
    """
    file = cache_folder() / _SETTINGS
    write_whole(file, json.dumps({"fetch": "always" if always else "asked"}) + "\n")
    return file


def _host() -> str:
    """The host, or the mirror that stands for it, with a slash at the end.

    Raises:
        DataError: If the mirror is no address.
    """
    mirror = os.environ.get(MIRROR_VARIABLE, "")
    if mirror and not mirror.startswith(("https://", "http://")):
        raise DataError(f"{MIRROR_VARIABLE}={mirror}: expected an address that begins with https:// or http://")
    return f"{mirror.rstrip('/')}/" if mirror else _HOST


def _read_json(file: Path) -> dict[str, Any]:
    """A small file of ours; empty if it isn't there or is no longer what we wrote."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def sha256_of(file: Path) -> str:
    """The hash of a file in hexadecimal; empty if there is no such file."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def download(url: str, target: Path, size: int, sha256: str) -> None:
    """Put a file at ``target``, unless it is there already.

    Args:
        url: Where from: https, or http from a mirror.
        target: The file, which gets its name when it is whole and its hash is right.
        size: How many bytes it has; no more are read.
        sha256: Its hash.

    Raises:
        DataError: If it can't be had; one line that says why and what to do.
        OSError: If it can't be written.
    """
    if sha256_of(target) == sha256:
        return
    content = _content(url, size)
    if len(content) < size:
        problem = f"the connection ended after {len(content):,} of {size:,} bytes"
        raise DataError(f"{url}: {problem}; run the same command again: it goes on from here")
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        problem = f"its sha256 is {found}, but {sha256} is pinned: not the file that this release knows, and not kept"
        raise DataError(f"{url}: {problem}; try again, and if it stays like this {_BY_HAND}")
    with replaced(target) as file:
        file.write_bytes(content)


def _content(url: str, size: int) -> bytes:
    """The bytes of a file; too few if the connection ended too early.

    Where redirects lead does not matter: the bytes are pinned.

    Raises:
        DataError: If the server refuses, can't be reached, or sends too many bytes.
    """
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "tls-tasks"})  # noqa: S310 - https, or a mirror
        with urllib.request.urlopen(request, timeout=_TIMEOUT) as response:  # noqa: S310
            content: bytes = response.read(size + 1)
    except urllib.error.HTTPError as error:
        gone = error.code in {403, 404, 410, 451}
        advice = f"it is not there (any more): {_BY_HAND}" if gone else "try again later"
        raise DataError(f"{url}: HTTP {error.code} {error.reason}; {advice}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        reason = " ".join(str(getattr(error, "reason", error)).split()) or type(error).__name__
        advice = "check the network, or set TLS_TASKS_MIRROR to a mirror"
        raise DataError(f"{url}: can't be reached: {reason}; {advice}") from error
    if len(content) > size:
        problem = f"sends more than the {size:,} bytes that are pinned: not the file that we know"
        raise DataError(f"{url}: {problem}; {_BY_HAND}")
    return content
