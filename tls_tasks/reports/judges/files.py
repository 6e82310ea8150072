"""JSON Lines of objects: read with the place of whatever is wrong, written completely or not at all."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import json_lines


def read_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, decompressed if its name ends in ``.gz``, each with its place for errors.

    Raises:
        DataError: A file that can't be read, or a line that is no JSON object; names file and line.
    """
    for place, value in json_lines(path):
        if not isinstance(value, dict):
            raise DataError(f"{place}: got {type(value).__name__}, expected an object")
        yield place, value


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write JSON Lines. Others see the old file until the new one is complete.

    Returns:
        How many lines were written.

    Raises:
        OSError: The file can't be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    n_rows = 0
    try:
        # UTF-8 has no lone surrogates; written with a backslash they are JSON's own escapes.
        with unfinished.open("w", encoding="utf-8", errors="backslashreplace") as lines:
            for n_rows, row in enumerate(rows, start=1):  # noqa: B007 - the last number is wanted
                lines.write(json.dumps(row, ensure_ascii=False) + "\n")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return n_rows
