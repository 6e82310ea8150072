"""JSON Lines in, with the place of whatever is wrong; JSON Lines out, whole or not at all."""

from __future__ import annotations

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, unpacked if its name ends in ``.gz``, each with its place for messages.

    Raises:
        DataError: If the file can't be read or a line is no JSON object; names file and line.
    """
    number = 0
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    place = f"{path}, line {number}"
                    yield place, _object(line, place)
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DataError(f"{path}, after line {number}: can't be read: {error}") from error


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write JSON Lines; whoever reads meanwhile sees the old file or the new one.

    Returns:
        How many lines were written.

    Raises:
        OSError: It can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    n_rows = 0
    try:
        with unfinished.open("w", encoding="utf-8") as lines:
            for n_rows, row in enumerate(rows, start=1):  # noqa: B007 - the number of rows is wanted
                # Half a surrogate pair can't be written as UTF-8, but can be as an escape.
                lines.write(f"{_writable(json.dumps(row, ensure_ascii=False))}\n")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return n_rows


def _object(line: str, place: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{place}: not JSON: {error}") from error
    if not isinstance(value, dict):
        raise DataError(f"{place}: got {type(value).__name__}, expected an object")
    return value


def _writable(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return "".join(f"\\u{ord(char):04x}" if "\ud800" <= char <= "\udfff" else char for char in text)
    return text
