"""JSON Lines and text files, plain or gzip, with the place of whatever is wrong in them."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError


def json_lines(path: Path) -> Iterator[tuple[str, Any]]:
    """The values of a JSON Lines file, each with its place for messages; empty lines are passed over.

    Raises:
        DataError: If the file can't be read or a line isn't JSON.
    """
    return json_values(text_lines(path), str(path))


def json_values(lines: Iterable[str], where: str) -> Iterator[tuple[str, Any]]:
    """The values of JSON lines, each with its place for messages; empty lines are passed over.

    Example:
        >>> list(json_values(['{"a": 1}', ""], "x.jsonl"))
        [('x.jsonl, line 1', {'a': 1})]
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{where}, line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise DataError(f"{place}: not JSON: {error}") from error
            yield place, value


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 text file, unpacked if its name ends in ``.gz``.

    Raises:
        DataError: If the file can't be read; says after which line.
    """
    n_read = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for line in lines:
                n_read += 1
                yield line
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DataError(f"{path}, after line {n_read}: can't be read: {error}") from error
