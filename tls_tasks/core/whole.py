"""Files and folders that are there as a whole or not at all, whatever happens while they are written.

What is unfinished has a hidden name beside the one that is wanted, and loses it when all of it is on the disk. Only a
process that is killed, or a machine that stops, leaves such a name behind; nothing reads it, and the next process that
writes the same removes it. A lock tells it from what another process is writing.
"""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

_KEPT_OF_NAME = 60
"""Characters of a name that its unfinished file has too: together they must not be longer than a name may be."""


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Where to write a file. Others see the old one until the new one is complete, and on the disk.

    A link stays a link, and what it leads to is replaced. Pipes and devices (``/dev/stdout``) are written to directly.

    Raises:
        OSError: It can't be written: with the name of the file that was wanted. The old one is as it was.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> with replaced(folder / "scores.csv") as file:
        ...     _ = file.write_text("0.5")
        >>> [path.name for path in folder.iterdir()]
        ['scores.csv']
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    is_file_or_folder = not target.exists() or target.is_file() or target.is_dir()
    if not is_file_or_folder or path.absolute().parts[1:2] == ("dev",):  # or what standard output leads to
        with _named(path, path):
            yield path
        return
    if target.is_dir():  # at once, not after the work
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    with _unfinished(target, path) as unfinished:
        yield unfinished
        if target.exists():
            shutil.copymode(target, unfinished)
        _flush(unfinished)
        unfinished.replace(target)
        _flush(target.parent)


def write_whole(path: Path, text: str) -> None:
    """Write a text; half a surrogate pair, which UTF-8 has no bytes for, is written as its escape.

    Raises:
        OSError: It can't be written.
    """
    with replaced(path) as file:
        file.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def made_folder(path: Path, *, into: bool = False) -> Iterator[Path]:
    """Where to write a folder, which becomes ``path`` when all is in it. An empty folder may be there before.

    Args:
        path: The folder.
        into: Write into a folder that is not empty as well: when all is written, its files take their places, one by
            one, and those that have other names stay. It is the same for an empty folder that can't be replaced: a
            mounted one, and the one in which the process works.

    Raises:
        OSError: It can't be written, or there is something in the way.
    """
    target = Path(os.path.realpath(path))
    holds = target.is_dir() and any(target.iterdir())
    if holds and not into:
        raise OSError(errno.ENOTEMPTY, "not empty; choose another folder or remove it", str(path))
    stays = holds or (target.is_dir() and (target.is_mount() or target == Path.cwd()))
    with _unfinished(target / target.name if stays else target, path, is_folder=True) as unfinished:
        yield unfinished
        made = sorted(unfinished.rglob("*"))
        for each in [*made, unfinished]:
            _flush(each)
        if stays:
            for each in made:
                place = target / each.relative_to(unfinished)
                if each.is_dir():
                    place.mkdir(exist_ok=True)
                else:
                    each.replace(place)
        else:
            if target.is_dir():
                target.rmdir()  # Windows renames onto no folder
            unfinished.rename(target)
        _flush(target.parent)


@contextmanager
def _unfinished(target: Path, wanted: Path, *, is_folder: bool = False) -> Iterator[Path]:
    """What is unfinished, beside the target; in the end it is removed, unless it has another name by then."""
    name = f".{target.name[:_KEPT_OF_NAME]}"
    unfinished = target.with_name(f"{name}.{secrets.token_hex(4)}")
    try:
        with _named(unfinished, wanted), ExitStack() as locks:
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except FileExistsError as error:  # true, but no help
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(target.parent)) from error
            for left in target.parent.iterdir():
                if re.fullmatch(rf"\.*{re.escape(name)}(\.[0-9a-f]{{8}})+", left.name):  # or of an unfinished one
                    with suppress(OSError, ImportError), _lock(left):  # else another process is writing it
                        _remove(left)
            while not unfinished.exists():  # or no longer: another process saw it before it was locked
                (unfinished.mkdir if is_folder else unfinished.touch)()
                with suppress(OSError, ImportError):
                    locks.enter_context(_lock(unfinished, waits=True))
            yield unfinished
    finally:
        _remove(unfinished)


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError:  # a folder, or nothing
        shutil.rmtree(path, ignore_errors=True)


@contextmanager
def _lock(path: Path, *, waits: bool = False) -> Iterator[None]:
    """Lock a file or folder, at most as long as the process lives.

    Args:
        path: The file or folder.
        waits: Wait while another process has locked it.

    Raises:
        OSError: If another process has locked it, or its file system knows no locks.
        ImportError: On Windows.
    """
    import fcntl

    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a pipe of that name would have us wait
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if waits else fcntl.LOCK_NB))
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _named(unfinished: Path, wanted: Path) -> Iterator[None]:
    """Have errors of the system name what was wanted: whoever reads them knows no other name."""
    try:
        yield
    except OSError as error:
        # Of a copy the second name is the one that could not be written.
        named = next((str(name) for name in (error.filename2, error.filename) if str(unfinished) in str(name)), None)
        if named is None and error.filename is not None:
            raise
        # Arrow tells a story; the system has a word for it.
        said = os.strerror(error.errno) if error.filename is None and error.errno else error.strerror or str(error)
        raise OSError(error.errno, said, (named or str(wanted)).replace(str(unfinished), str(wanted))) from error


def _flush(path: Path) -> None:
    """Have the system write it to the disk; a folder's entries, where the system can open folders."""
    is_folder = path.is_dir()
    try:
        descriptor = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
    except PermissionError:
        if is_folder:  # Windows
            return
        raise
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # a file system that knows nothing of the kind
            raise
    finally:
        os.close(descriptor)
