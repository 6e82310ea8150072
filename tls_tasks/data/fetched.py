"""Data sets fetched from their authors' public repositories at pinned commits, and the cache that keeps them.

This package contains addresses and hashes, and none of the data. In the cache::

    raw/OWNER/NAME/COMMIT/PATH          the files as they came
    sets/NAME/COMMITS/rows.parquet      what the family made of them, which its tasks read; people's ratings: logs, CSV
    sets/NAME/COMMITS/origin.json       where it came from
"""

import hashlib
import importlib
import json
import os
import urllib.parse
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import platformdirs

from tls_tasks.core.atomic import atomic_folder
from tls_tasks.core.errors import DataError

CACHE_VARIABLE = "TLS_TASKS_CACHE"
MIRROR_VARIABLE = "TLS_TASKS_MIRROR"

_HOST = "https://raw.githubusercontent.com/"
ROWS = "rows.parquet"
_ORIGIN = "origin.json"
_BY_HAND = "get the data by hand (tls-tasks list --obtain says how)"


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


@dataclass(frozen=True, slots=True)
class PublicCopy:
    """A data set as it can be fetched.

    Attributes:
        name: The data set.
        sources: Where its files are.
        settings: What the family must know besides.
        maker: The module whose ``write`` makes the family's files: (this, path in the repository -> file, the folder).
    """

    name: str
    sources: tuple[Source, ...]
    settings: Mapping[str, Any]
    maker: str

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
        return cache_folder() / "sets" / self.name / commits

    @property
    def is_there(self) -> bool:
        """Whether it has been fetched: a folder is there as a whole or not at all."""
        return self.folder.is_dir()

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
                    host = os.environ.get(MIRROR_VARIABLE) or _HOST
                    url = f"{host.rstrip('/')}/{place}/{urllib.parse.quote(file.path)}"
                    download(url, files[file.path], file.sha256)
            with atomic_folder(folder) as made:
                importlib.import_module(self.maker).write(self, files, made)
                origin = {"data_set": self.name, "origin": self.terms}
                (made / _ORIGIN).write_text(json.dumps(origin, indent=2) + "\n", encoding="utf-8")
        except OSError as error:
            if not self.is_there:  # another process may have been faster
                problem = f"{error.filename or folder}: can't be written: {error.strerror or error}"
                advice = f"make room, or set {CACHE_VARIABLE} to another folder, and run the same command again"
                raise DataError(f"{problem}; {advice}: what has arrived is kept") from error
        return folder


@cache
def public_copies(family: str) -> dict[str, PublicCopy]:
    """What the ``public_files.json`` of a family lists, by name; it imports nothing of the family."""
    file = Path(__file__).parents[1] / family / "public_files.json"
    given = json.loads(file.read_text(encoding="utf-8"))
    return {name: public_copy(name, entry, f"tls_tasks.{family}.public_files") for name, entry in given.items()}


def public_copy(name: str, given: Mapping[str, Any], maker: str) -> PublicCopy:
    """One entry of a list of public files."""
    files = ([RemoteFile(**file) for file in source["files"]] for source in given["sources"])
    sources = (Source(**{**source, "files": tuple(own)}) for source, own in zip(given["sources"], files, strict=True))
    return PublicCopy(name, tuple(sources), {key: value for key, value in given.items() if key != "sources"}, maker)


def cache_folder() -> Path:
    """Where fetched data is kept: ``TLS_TASKS_CACHE``, or a folder ``tls-tasks`` where the platform has its caches.

    Raises:
        DataError: If the user has no home folder.
    """
    if given := os.environ.get(CACHE_VARIABLE):
        return Path(os.path.abspath(os.path.expanduser(given)))  # noqa: PTH100, PTH111 - pathlib raises without a home
    folder = Path(platformdirs.user_cache_dir("tls-tasks"))
    if not folder.is_absolute():
        raise DataError(f"no home folder for a cache; set {CACHE_VARIABLE} to a folder for fetched data")
    return folder


def sha256_of(file: Path) -> str:
    """The hash of a file in hexadecimal; empty if there is no such file."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def download(url: str, target: Path, sha256: str) -> None:
    """Put a file at ``target``, unless it is there already with the right hash.

    Raises:
        DataError: It can't be downloaded, or is another file; one line that says what to do.
        OSError: It can't be written.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    try:
        pooch.retrieve(url, f"sha256:{sha256}", fname=target.name, path=target.parent)
    except requests.RequestException as error:
        reason = type(error).__name__ if error.response is None else f"HTTP {error.response.status_code}"
        advice = f"check the network, set {MIRROR_VARIABLE} to a mirror, or {_BY_HAND}"
        raise DataError(f"{url}: can't be downloaded: {reason}; {advice}") from error
    except ValueError as error:
        reason = " ".join(str(error).split())
        raise DataError(f"{url}: {reason} Try again, and if it stays like this {_BY_HAND}") from error
