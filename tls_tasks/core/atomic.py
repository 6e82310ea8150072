"""Write files and folders as a whole or not at all, also after an error, an interrupt or SIGTERM.

An unfinished file has a hidden temporary name in the same folder. Only a process that is killed leaves it behind, and
nothing reads it.
"""

import errno
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a path to write a file to, which becomes ``path`` when it is complete; pipes are written directly.

    Raises:
        OSError: It can't be written; the error names ``path``, not the temporary file. The old file is unchanged.

    Example:
        >>> folder = getfixture("tmp_path")
        >>> with atomic_file(folder / "scores.csv") as file:
        ...     _ = file.write_text("0.5")
        >>> [path.name for path in folder.iterdir()]
        ['scores.csv']
    """
    if path.exists() and not path.is_file():  # a device such as /dev/stdout, or a folder, which can't be opened
        yield path
        return
    target = Path(os.path.realpath(path))  # a link is followed, never replaced: it could be /dev/stdout
    with _temporary(path, target.parent) as temporary:
        yield temporary
        temporary.replace(target)


def atomic_write_text(path: Path, text: str) -> None:
    """Write a text as a whole or not at all; lone surrogates, which UTF-8 lacks, are written as escapes.

    Raises:
        OSError: It can't be written.
    """
    with atomic_file(path) as file:
        file.write_text(text, encoding="utf-8", errors="backslashreplace")


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a path to write a folder to, which becomes ``path`` when it is complete.

    Args:
        path: The folder. If it exists (a mounted one, or the working directory), the finished files are moved into it.

    Raises:
        OSError: It can't be written, or is not empty.
    """
    target = Path(os.path.realpath(path))
    exists = target.is_dir()
    if exists and any(target.iterdir()):
        raise OSError(errno.ENOTEMPTY, "not empty; choose another folder or remove it", str(path))
    with _temporary(path, target if exists else target.parent) as temporary:
        temporary.mkdir()
        yield temporary
        if not exists:
            temporary.rename(target)
            return
        for entry in sorted(temporary.iterdir()):
            entry.rename(target / entry.name)


@contextmanager
def _temporary(path: Path, folder: Path) -> Iterator[Path]:
    """Yield a temporary path in a folder, and remove what is left of it; errors name ``path`` instead."""
    temporary = folder / f".tls-tasks.{secrets.token_hex(4)}"
    try:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except FileExistsError as error:
            raise OSError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent)) from error
        yield temporary
    except OSError as error:
        names = [str(name) for name in (error.filename2, error.filename) if name is not None]  # a full disk has none
        name = next((name for name in names if str(temporary) in name), names[0] if names else str(temporary))
        reason = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(error.errno, reason, name.replace(str(temporary), str(path))) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):
            temporary.unlink()
