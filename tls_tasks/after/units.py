"""A log of any size in blocks, and its units in a folder, written by several processes and read back.

A folder holds one Parquet file per block of the log, and ``log.json``, which says of what log. Results are exactly
rounded sums of units, so that it doesn't matter who scored which block, when, or in what order.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tls_tasks import __version__
from tls_tasks.after.foreign import MOST_BYTES
from tls_tasks.after.logs import LogProblem, Sample, lines_of, missing, repeated, sample_of
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Columns
from tls_tasks.core.whole import replaced, write_whole

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
_AGAIN = "; remove it, and the same command makes it again"
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
        write_whole(file, header)
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
    with replaced(folder / f"block-{block:08}-{zlib.crc32(content):08x}.parquet") as unfinished:
        unfinished.write_bytes(content)


class StoredUnits(Columns):
    """The units of one log in a folder: a unit a document, in the order of their numbers.

    Of several filters the first counts, of equal numbers the first row. Sums are made part by part; all parts are in
    memory only when units are asked for.

    Raises:
        DataError: If a file of the folder is damaged.
    """

    def __init__(self, folder: Path, log: LogBlocks) -> None:
        """``log``: of which the folder has all blocks."""
        self._path, self._files = log.path, sorted(folder.glob("block-*.parquet"))
        for file in self._files:
            if f"{zlib.crc32(file.read_bytes()):08x}" != file.stem[-8:]:
                raise DataError(f"{file}: damaged: its checksum is not that of its content{_AGAIN}")
        tables = [_read(file, *_COLUMNS) for file in self._files]
        n_lines = [int(table.schema.metadata[_N_LINES]) for table in tables]
        before = np.repeat(np.cumsum([0, *n_lines])[: len(tables)], [len(table) for table in tables])
        self._table = pa.concat_tables([pa.schema(list(_COLUMNS.items())).empty_table(), *tables])
        self._lines = self._table["line"].to_numpy() + before
        self._numbers = self._table["doc_id"].fill_null(0).to_numpy()
        filters = self._table["filter"].combine_chunks().dictionary_encode()
        codes = filters.indices.fill_null(-1).to_numpy()
        n_filters = max(1, len(filters.dictionary))
        self._filtered = [_distinct(np.flatnonzero(codes == code), self._numbers) for code in range(n_filters)]
        self._places = self._filtered[0][0]
        self.n = len(self._places)

    def problems(self, n_expected: int | None) -> list[LogProblem]:
        """What is wrong with the log, in the order of a log that is read at once."""
        path, lines, answers, kinds = self._path, self._lines, self._table["answer"], self._table["problem"]

        def at(row: int) -> LogProblem:
            return LogProblem(kinds[row].as_py(), f"{path}:{lines[row]}", self._table["detail"][row].as_py())

        by_row = {row: at(row) for row in np.flatnonzero(self._table["doc_id"].is_null()).tolist()}
        for _, again in self._filtered:
            for row, first in again:
                same = answers[row] == answers[first]
                by_row[row] = repeated(path, lines[row], self._numbers[row], lines[first], same)
        problems = [by_row[row] for row in sorted(by_row)]
        for rows, _ in self._filtered:
            problems += missing(path, self._numbers[rows], n_expected)
        return problems + [at(row) for row in self._places[kinds.is_valid().to_numpy()[self._places]].tolist()]

    def not_asked(self) -> Iterator[tuple[int, str]]:
        """Line and name of the documents whose model was asked another prompt."""
        for row in self._places[~self._table["asked"].fill_null(True).to_numpy()[self._places]].tolist():
            yield self._lines[row], self._table["name"][row].as_py()

    def text(self, name: str) -> list[str]:
        """A column of text, ``name`` or ``topic``, of all documents."""
        return list(self._table[name].take(pa.array(self._places)).to_pylist())

    @cached_property
    def _parts(self) -> list[str]:
        return [name for file in self._files[:1] for name in pq.read_schema(file).names if name not in _COLUMNS]

    def _part(self, name: str) -> Any:
        return np.concatenate([_read(file, name)[name].to_numpy() for file in self._files])[self._places]

    @cached_property
    def columns(self) -> Mapping[str, Sequence[float]]:  # type: ignore[override]
        """All parts, in memory."""
        return {part: self._part(part) for part in self._parts}

    @cached_property
    def sums(self) -> dict[str, float]:
        """The sum of each part."""
        return {part: math.fsum(self._part(part).tolist()) for part in self._parts}


def _read(file: Path, *names: str) -> Any:
    try:
        return pq.ParquetFile(file).read(names).select(names)
    except (pa.ArrowException, OSError, KeyError, ValueError) as error:
        raise DataError(f"{file}: not readable ({error!s:.120}){_AGAIN}") from error


def _distinct(rows: Any, numbers: Any) -> tuple[Any, list[tuple[int, int]]]:
    """The first row of each number, in the order of the numbers, and (row, first row) of those that come again."""
    _, first, which = np.unique(numbers[rows], return_index=True, return_inverse=True)
    again = np.flatnonzero(first[which] != np.arange(len(rows)))
    return rows[first], list(zip(rows[again].tolist(), rows[first[which[again]]].tolist(), strict=True))
