"""Data sets fetched from their authors' public repositories at pinned commits, and the cache that keeps them.

This package contains addresses and hashes, and none of the data. In the cache::

    raw/OWNER/NAME/COMMIT/PATH          the downloaded files
    sets/NAME/COMMITS/rows.parquet      the rows that tasks read (people's ratings: logs and CSV instead)
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
_BY_HAND = "get the data by hand (tls-tasks list --obtain says how)"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a repository.

    Attributes:
        path: Path in the repository.
        bytes: Size.
        sha256: Hash in hexadecimal.
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
        licence: The licence that the repository states, or ``none stated``.
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
    """A data set that can be fetched.

    Attributes:
        name: The data set.
        sources: The repositories with its files.
        settings: Further settings for the family.
        maker: The module whose ``write(copy, files, folder)`` writes the family's files; ``files`` maps paths in the
            repository to downloaded files.
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
        return "; ".join(f"{source.holds} from {source.origin}, licence: {source.licence}" for source in self.sources)

    @property
    def has_articles(self) -> bool:
        """Whether the copy has articles besides references."""
        return any(source.holds == "articles" for source in self.sources)

    @property
    def n_bytes(self) -> int:
        """The size of all files."""
        return sum(file.bytes for source in self.sources for file in source.files)

    @property
    def folder(self) -> Path:
        """The folder of the fetched data set, whether or not it exists yet."""
        commits = "-".join(dict.fromkeys(source.commit[:12] for source in self.sources))
        return cache_folder() / "sets" / self.name / commits

    @property
    def is_fetched(self) -> bool:
        """Whether the data set has been fetched; its folder is written completely or not at all."""
        return self.folder.is_dir()

    def fetch(self) -> Path:
        """Download missing files and write the family's files from them, unless the data set has been fetched.

        Returns:
            The folder, which the family reads.

        Raises:
            DataError: If a file can't be downloaded or written; the message says what to do.
        """
        folder, files = self.folder, {}
        if self.is_fetched:
            return folder
        try:
            for source in self.sources:
                repository = f"{source.repository}/{source.commit}"
                for file in source.files:
                    files[file.path] = cache_folder() / "raw" / repository / file.path
                    host = os.environ.get(MIRROR_VARIABLE) or _HOST
                    url = f"{host.rstrip('/')}/{repository}/{urllib.parse.quote(file.path)}"
                    download(url, files[file.path], file.sha256)
            with atomic_folder(folder) as unfinished:
                importlib.import_module(self.maker).write(self, files, unfinished)
        except OSError as error:
            if not self.is_fetched:  # another process may have been faster
                problem = f"{error.filename or folder}: can't be written: {error.strerror or error}"
                advice = f"make room, or set {CACHE_VARIABLE} to another folder, and run the same command again"
                raise DataError(f"{problem}; {advice}: what has arrived is kept") from error
        return folder


@cache
def public_copies(family: str) -> dict[str, PublicCopy]:
    """Read the ``public_files.json`` of a family: name -> copy; nothing of the family is imported."""
    file = Path(__file__).parents[1] / family / "public_files.json"
    entries = json.loads(file.read_text(encoding="utf-8"))
    return {name: public_copy(name, entry, f"tls_tasks.{family}.public_files") for name, entry in entries.items()}


def public_copy(name: str, entry: Mapping[str, Any], maker: str) -> PublicCopy:
    """Build a copy from its entry in a ``public_files.json``."""
    files = (tuple(RemoteFile(**file) for file in source["files"]) for source in entry["sources"])
    sources = (Source(**{**source, "files": paths}) for source, paths in zip(entry["sources"], files, strict=True))
    return PublicCopy(name, tuple(sources), {key: value for key, value in entry.items() if key != "sources"}, maker)


def cache_folder() -> Path:
    """Return the folder of fetched data: ``TLS_TASKS_CACHE``, or ``tls-tasks`` in the platform's folder of caches.

    Raises:
        DataError: If the user has no home folder.
    """
    if path := os.environ.get(CACHE_VARIABLE):
        return Path(os.path.abspath(os.path.expanduser(path)))  # noqa: PTH100, PTH111 - pathlib raises without a home
    folder = Path(platformdirs.user_cache_dir("tls-tasks"))
    if not folder.is_absolute():
        raise DataError(f"no home folder for a cache; set {CACHE_VARIABLE} to a folder for fetched data")
    return folder


def file_sha256(file: Path) -> str:
    """Return the hash of a file in hexadecimal; empty if there is no such file."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.is_file() else ""


def download(url: str, target: Path, sha256: str) -> None:
    """Download a file to ``target``, unless the target exists with the right hash.

    Raises:
        DataError: The file can't be downloaded, or has another hash; the message says what to do.
        OSError: The file can't be written.
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
