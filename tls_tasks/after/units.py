"""A log of any size in blocks, and its units in a folder, written by several processes and read back.

A folder holds one Parquet file per block of the log, and ``log.json``, which says of what log. Results are exactly
rounded sums of units, so that it doesn't matter who scored which block, when, or in what order.
"""

from __future__ import annotations

import hashlib
import io
import json
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tls_tasks import __version__
from tls_tasks.after.foreign import MOST_BYTES
from tls_tasks.after.logs import LogProblem, Sample, lines_of, missing, repeated, sample_of
from tls_tasks.core.atomic import atomic_file, atomic_write_text
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Columns

_END = 1 << 16  # bytes at either end of a log that tell it from others


@dataclass(frozen=True, slots=True)
class LogBlocks:
    """A log and its blocks.

    Attributes:
        path: The file.
        n_bytes: How long it is.
        digest: A hash of how it begins and ends.
        block_bytes: The length of a block: a line belongs to the block in which it begins.
        n_blocks: How many blocks there are.
    """

    path: Path
    n_bytes: int
    digest: str
    block_bytes: int
    n_blocks: int

    @classmethod
    def of(cls, path: Path, block_bytes: int) -> LogBlocks:
        """The blocks of a file.

        Raises:
            OSError: If it can't be read.
        """
        with path.open("rb") as file:
            head = file.read(_END)
            n_bytes = file.seek(0, 2)
            file.seek(max(0, n_bytes - _END))
            digest = hashlib.blake2b(head + file.read(), digest_size=8).hexdigest()
        return cls(path, n_bytes, digest, block_bytes, n_blocks=-(-n_bytes // block_bytes))

    def read(self, number: int) -> Iterator[Sample | LogProblem | None]:
        """The lines of a block (from 0), numbered in it from 1; None for a blank one."""
        with self.path.open("rb") as file:
            start, left = number * self.block_bytes, self.block_bytes
            if start:  # the line that is there has begun before, unless the one before ends right here
                file.seek(start - 1)
                left -= len(file.readline(MOST_BYTES + 1)) - 1
            for line, content in lines_of(file, f"{self.path} (counted from byte {start})", left):
                yield None if content.isspace() else sample_of(self.path, line, content)


_HEADER = "log.json"
_N_LINES = b"n_lines"  # key of a file's metadata
_COLUMNS = {
    **dict.fromkeys(("doc_id", "line", "answer"), pa.int64()),
    "asked": pa.bool_(),
    **dict.fromkeys(("filter", "name", "topic", "problem", "detail"), pa.string()),
}
"""The columns beside the parts; ``answer`` is a hash. A row without ``doc_id`` is a line that could not be read."""


def begin_folder(folder: Path, task: str, log: LogBlocks) -> list[int]:
    """Say what a folder is of; returns the blocks that are not there yet.

    Raises:
        DataError: If it is of something else already.
        OSError: If it can't be written.
    """
    header = json.dumps({"task": task, **asdict(log), "path": log.path.name, "tls_tasks": __version__})
    if not (file := folder / _HEADER).exists():
        atomic_write_text(file, header)
    elif (stated := file.read_text("utf-8", "replace")) != header:
        raise DataError(f"{folder}: holds units of {stated:.300}, not of {header}; choose another folder or remove it")
    done = {int(block.name.split("-")[1]) for block in folder.glob("block-*.parquet")}
    return [block for block in range(log.n_blocks) if block not in done]


def packed(rows: Sequence[Mapping[str, Any]], n_lines: int, parts: Sequence[str]) -> bytes:
    """The file of a block of ``n_lines``: its rows, each with what is known of it and its parts."""
    kinds = {**_COLUMNS, **dict.fromkeys(parts, pa.float64())}
    schema = pa.schema(list(kinds.items()), metadata={_N_LINES: str(n_lines)})
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), file, compression="zstd")
    return file.getvalue()


def write_block(folder: Path, block: int, content: bytes) -> None:
    """Write the file of a block, whole or not at all; its name ends with its checksum."""
    with atomic_file(folder / f"block-{block:08}-{zlib.crc32(content):08x}.parquet") as unfinished:
        unfinished.write_bytes(content)


@dataclass(frozen=True, slots=True)
class StoredLog:
    """What a folder says of a log, all blocks together: a unit a document, in the order of their numbers.

    Attributes:
        units: Their sums.
        names, topics: Of each document.
        problems: What is wrong with the log, in the order of a log that is read at once.
        not_asked: Line and name of the documents whose model was asked another prompt.
    """

    units: Columns
    names: list[str]
    topics: list[str]
    problems: list[LogProblem]
    not_asked: list[tuple[int, str]]


def read_units(folder: Path, log: LogBlocks, n_expected: int | None) -> StoredLog:
    """Read the units of a log back; of several filters the first counts, of equal numbers the first row.

    Args:
        folder: Has all blocks of the log.
        log: The log.
        n_expected: How many documents there must be.

    Raises:
        DataError: If a file of the folder is damaged.
    """
    tables = [_read(file) for file in sorted(folder.glob("block-*.parquet"))]
    lines: list[int] = []
    before = 0
    for table in tables:
        lines += [before + line for line in table["line"].to_pylist()]
        before += int(table.schema.metadata[_N_LINES])
    # Columns, since a dictionary a row would take most of the memory.
    cells: _Cells = {name: [cell for table in tables for cell in table[name].to_pylist()] for name in _COLUMNS}
    cells["line"] = lines
    filtered: dict[str, dict[int, int]] = {}  # filter -> number of a document -> its first row
    problems = []
    for row, (doc_id, filter_name) in enumerate(zip(cells["doc_id"], cells["filter"], strict=True)):
        if doc_id is None:
            problems.append(_problem(log, cells, row))
        elif (first := filtered.setdefault(filter_name, {}).setdefault(doc_id, row)) != row:
            same = cells["answer"][first] == cells["answer"][row]
            problems.append(repeated(log.path, lines[row], doc_id, lines[first], same))
    for by_number in filtered.values() or ({},):
        problems += missing(log.path, by_number, n_expected)
    rows = [row for _, row in sorted(next(iter(filtered.values()), {}).items())]
    parts = [name for name in tables[0].column_names if name not in _COLUMNS] if tables else []
    amounts = {part: np.concatenate([table[part].to_numpy() for table in tables])[rows] for part in parts}
    return StoredLog(
        units=Columns({part: array("d", column.tobytes()) for part, column in amounts.items()}, len(rows)),
        names=[cells["name"][row] for row in rows],
        topics=[cells["topic"][row] for row in rows],
        problems=problems + [_problem(log, cells, row) for row in rows if cells["problem"][row]],
        not_asked=[(lines[row], cells["name"][row]) for row in rows if not cells["asked"][row]],
    )


_Cells = dict[str, list[Any]]


def _problem(log: LogBlocks, cells: _Cells, row: int) -> LogProblem:
    return LogProblem(cells["problem"][row], f"{log.path}:{cells['line'][row]}", cells["detail"][row])


def _read(file: Path) -> Any:
    content = file.read_bytes()
    if f"{zlib.crc32(content):08x}" != file.stem[-8:]:
        raise DataError(f"{file}: damaged: its checksum is not that of its content; remove it, and run this again")
    return pq.read_table(io.BytesIO(content))
