"""A folder or zip that somebody sent -> a folder that is safe to read: plain files with plain names, within limits.

The limits hold for folders and zips alike, and are counted while the files are read: what a zip says of itself is not
believed. :mod:`tls_tasks.after.logs` has those of the rows.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tls_tasks.core.errors import DataError

MOST_FILES = 1_000
"""Of a submission. That of all our tasks has some hundred."""

MOST_BYTES = 2 << 30
"""Of all files of a submission together, unpacked."""

MOST_RATIO = 200
"""How many times larger than the zip its content may be; text shrinks to a fifth or tenth."""

MOST_ROWS = 100_000
"""The most rows of a submission's samples file."""

_MOST_PARTS = 20  # of a name; a record of Every Eval Ever has six
_FREE_BYTES = 16 << 20  # whatever the ratio: a short answer to every prompt shrinks to nearly nothing
_MOST_BYTES_OF_LIST = 1 << 20  # of the list of files at a zip's end, which is read as a whole
_CHUNK = 1 << 20
_NAME = re.compile(r"(?!.*\.\.)[\w.+=@-]{1,200}", re.ASCII)
_KINDS = {stat.S_IFLNK: "a symbolic link", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}


@contextlib.contextmanager
def opened(place: Path) -> Iterator[Path]:
    """The folder of a submission, which may be a zip.

    Raises:
        DataError: If it is not there, is neither, or holds what no submission has; names the file.
    """
    if not os.path.lexists(place):
        raise DataError(f"{place}: no such file or folder")
    mode = place.lstat().st_mode
    if stat.S_ISDIR(mode):
        files_of(place)
        yield place
    elif stat.S_ISREG(mode):
        with tempfile.TemporaryDirectory() as scratch:
            _unpack(place, Path(scratch))
            try:
                yield Path(scratch)
            except DataError as error:  # nobody else knows the scratch folder
                raise DataError(str(error).replace(scratch, str(place))) from error
    else:
        raise DataError(f"{place}: {_kind(mode)}, expected a folder or zip")


def check_rows(path: Path) -> None:
    """Refuse a samples file that is too long to be scored while somebody waits.

    Raises:
        DataError: If it has more than :data:`MOST_ROWS` rows.
    """
    with path.open("rb") as file:
        if sum(chunk.count(b"\n") for chunk in iter(lambda: file.read(1 << 20), b"")) > MOST_ROWS:
            raise DataError(f"{path}: more than {MOST_ROWS:,} rows")


def files_of(folder: Path) -> list[Path]:
    """All files below a submission's folder, in order.

    Raises:
        DataError: If there are too many or too large ones, or something is no plain file with a plain name.
    """
    files = []
    n_bytes = 0
    for place, folders, names in os.walk(folder, followlinks=False, onerror=_raise):
        for name in (*folders, *names):
            path = Path(place, name)
            inner, status = path.relative_to(folder).as_posix(), path.lstat()
            _check_name(folder, inner)
            _check_kind(folder, inner, status.st_mode)
            if stat.S_ISREG(status.st_mode):
                files.append(path)
                n_bytes += status.st_size
            _check_size(folder, len(files), n_bytes)
    return sorted(files)


def _raise(error: OSError) -> None:
    raise error


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "a device")


def _check_kind(place: Path, name: str, mode: int) -> None:
    """Only files and folders; a zip may leave open which."""
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        raise DataError(f"{place}: {name} is {_kind(mode)}, expected a file")


def _check_name(place: Path, name: str) -> None:
    """No file has a name that leads out of its folder, hides something, or differs between systems."""
    parts = name.split("/")
    if len(parts) > _MOST_PARTS:
        raise DataError(f"{place}: {name[:20]}… lies more than {_MOST_PARTS} folders deep")
    if not all(map(_NAME.fullmatch, parts)):
        raise DataError(f"{place}: the name {name[:100]!r} leads out of the submission or has other than ASCII letters")


def _check_size(place: Path, n_files: int, n_bytes: int) -> None:
    if n_files > MOST_FILES:
        raise DataError(f"{place}: more than {MOST_FILES:,} files")
    if n_bytes > MOST_BYTES:
        raise DataError(f"{place}: more than {MOST_BYTES >> 20:,} MiB unpacked")


class _Careful(io.FileIO):
    """A file of which no more is read at once than a zip's list of files may take."""

    def read(self, size: int | None = -1, /) -> bytes:
        rest = os.fstat(self.fileno()).st_size - self.tell()
        n_bytes = rest if size is None or size < 0 else min(size, rest)
        if n_bytes > _MOST_BYTES_OF_LIST:
            raise DataError(f"{self.name}: its list of files is longer than {_MOST_BYTES_OF_LIST >> 20} MiB")
        return super().read(n_bytes) or b""


def _unpack(path: Path, folder: Path) -> None:
    try:
        with _Careful(path) as file, zipfile.ZipFile(file) as packed:
            _extract(path, packed, folder)
    except DataError:
        raise
    except OSError as error:  # such as a file by the name of another's folder
        raise DataError(f"{path}: can't be unpacked: {error.strerror or error}") from error
    except Exception as error:  # a damaged zip makes the standard library raise anything from zlib.error to ValueError
        raise DataError(f"{path}: not a zip that tls-tasks submit wrote ({error})") from error


def _extract(path: Path, packed: zipfile.ZipFile, folder: Path) -> None:
    most = max(_FREE_BYTES, MOST_RATIO * path.stat().st_size)
    seen: set[str] = set()
    n_bytes = 0
    for entry in packed.infolist():
        name = entry.orig_filename.removesuffix("/")
        _check_name(path, name)
        _check_kind(path, name, entry.external_attr >> 16)
        if entry.flag_bits & 0x1:
            raise DataError(f"{path}: {name} is encrypted")
        if entry.compress_type not in _METHODS:
            raise DataError(f"{path}: {name} is packed by method {entry.compress_type}, expected deflate or none")
        if name.casefold() in seen:
            raise DataError(f"{path}: {name} comes twice")
        seen.add(name.casefold())
        _check_size(path, len(seen), n_bytes)
        target = folder / name
        if entry.is_dir():
            target.mkdir(parents=True, exist_ok=True)
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        with packed.open(entry) as source, target.open("xb") as copy:
            while chunk := source.read(_CHUNK):
                n_bytes += len(chunk)
                _check_size(path, len(seen), n_bytes)
                if n_bytes > most:
                    raise DataError(f"{path}: {name}: unpacked more than {MOST_RATIO} times as large as the zip")
                copy.write(chunk)
