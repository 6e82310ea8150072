"""Files and folders that are there as a whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Where to write a file. Others see the old one until the new one is complete, and on the disk.

    Raises:
        OSError: It can't be written: with the name of the file that was wanted. The old one is as it was.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> with replaced(folder / "scores.csv") as file:
        ...     _ = file.write_text("0.5")
        >>> [path.name for path in folder.iterdir()]
        ['scores.csv']
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        yield unfinished
        _flush(unfinished)
        unfinished.replace(path)
        _flush(path.parent)
    except OSError as error:
        if error.filename not in (None, str(unfinished)):
            raise
        raise OSError(error.errno, error.strerror or str(error), str(path)) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text; half a surrogate pair, which UTF-8 has no bytes for, is written as its escape.

    Raises:
        OSError: It can't be written.
    """
    with replaced(path) as file:
        file.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def made_folder(path: Path) -> Iterator[Path]:
    """Where to write a folder, which becomes ``path`` when all is in it. An empty folder may be there before.

    Raises:
        OSError: It can't be written, or there is something in the way.
    """
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        yield unfinished
        for made in [*unfinished.rglob("*"), unfinished]:
            _flush(made)
        if path.is_dir():
            path.rmdir()
        unfinished.rename(path)
        _flush(path.parent)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _flush(path: Path) -> None:
    """Have the system write it to the disk; a folder's entries, where the system can open folders."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except PermissionError:  # a folder on Windows
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
