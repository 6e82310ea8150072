"""The units of a log of any size, in a folder: written block by block, by several processes or machines, and read back.

A folder holds one Parquet file a block of the log, and ``log.json``, which says of what log and which share of it.
Results are exactly rounded sums of units, so that it doesn't matter who scored which block, when, or in what order.
"""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tls_tasks import __version__
from tls_tasks.after.blocks import LogBlocks
from tls_tasks.after.logs import LogProblem, missing, repeated
from tls_tasks.core.columns import Columns
from tls_tasks.core.errors import DataError
from tls_tasks.core.whole import replaced, write_whole

_HEADER = "log.json"
_FORMAT = 1
_N_LINES = b"n_lines"  # key of a file's metadata
_COLUMNS = {
    **dict.fromkeys(("doc_id", "line", "answer"), pa.int64()),
    "asked": pa.bool_(),
    **dict.fromkeys(("filter", "name", "topic", "problem", "detail"), pa.string()),
}
"""The columns beside the parts; ``answer`` is a hash. A row without ``doc_id`` is a line that could not be read."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a folder of units is of.

    Attributes:
        task: The task.
        log: The log's blocks.
        shard, n_shards: Which share of them: 1 of 1 is all. Block ``i`` (from 0) is of shard ``i % n_shards + 1``.
        first: The first row of the log, from which the task knows its results.
        release: The release of tls-tasks.
        format: Of the folder.
    """

    task: str
    log: LogBlocks
    shard: int = 1
    n_shards: int = 1
    first: Mapping[str, Any] | None = None
    release: str = __version__
    format: int = _FORMAT

    @property
    def blocks(self) -> range:
        """The blocks of its share."""
        return range(self.shard - 1, self.log.n_blocks, self.n_shards)

    def same(self, other: Header) -> bool:
        """Whether both are of the same log, scored by the same release, whatever their shares and its folder."""

        def whole(header: Header) -> Header:
            return replace(header, shard=1, first=None, log=replace(header.log, path=Path(header.log.path).name))

        return whole(self) == whole(other)

    def __str__(self) -> str:
        """For messages."""
        share = f", shard {self.shard}/{self.n_shards}" if self.n_shards > 1 else ""
        log = f"{Path(self.log.path).name} ({self.log.n_bytes} bytes, hash {self.log.digest})"
        return f"{self.task} in {log} in {self.log.n_blocks} blocks by release {self.release}{share}"


def begin_folder(folder: Path, header: Header) -> list[int]:
    """Say what a folder is of; the blocks of its share that are not there yet.

    Raises:
        DataError: If it is of something else already.
        OSError: If it can't be written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / _HEADER).exists():
        there = read_header(folder)
        if not header.same(there) or there.shard != header.shard:
            raise DataError(f"{folder}: holds units of {there}, not of {header}; choose another folder or remove it")
    else:
        write_whole(folder / _HEADER, json.dumps(asdict(header)) + "\n")
    return [block for block in header.blocks if not block_file(folder, block).exists()]


def read_header(folder: Path) -> Header:
    """What a folder is of.

    Raises:
        DataError: If it is no folder of units.
    """
    try:
        stated = json.loads((folder / _HEADER).read_text(encoding="utf-8"))
        if (version := stated["format"]) != _FORMAT:
            raise DataError(f"{folder}: format {version!r:.20} of another release, expected {_FORMAT}")
        return Header(**{**stated, "log": LogBlocks(**stated["log"])})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise DataError(f"{folder}: no folder of units, as `tls-tasks score LOG -o FOLDER` makes ({error})") from error


def block_file(folder: Path, block: int) -> Path:
    """Where a block's units are."""
    return folder / f"block-{block:08}.parquet"


def packed(rows: Sequence[Mapping[str, Any]], n_lines: int, parts: Sequence[str]) -> bytes:
    """The file of a block of ``n_lines``: its rows, each with what is known of it and its parts."""
    kinds = {**_COLUMNS, **dict.fromkeys(parts, pa.float64())}
    schema = pa.schema(list(kinds.items()), metadata={_N_LINES: str(n_lines)})
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), file, compression="zstd")
    return file.getvalue()


def write_block(folder: Path, block: int, content: bytes) -> None:
    """Write the file of a block, whole or not at all."""
    try:
        with replaced(block_file(folder, block)) as unfinished:
            unfinished.write_bytes(content)
    except FileNotFoundError:
        if not block_file(folder, block).is_file():  # else another process has written the same, and tidied up
            raise


def tidy_up(folder: Path) -> None:
    """Remove what processes that were killed left half written, of a folder in which all is there."""
    for left in folder.glob(".block-*"):
        left.unlink(missing_ok=True)


class UnitFolders:
    """The documents of one log, of one folder or of one folder a shard.

    Attributes:
        header: What the first folder says.
        rows: Where the documents are among all rows: of the first filter, in the order of their numbers, of equal
            numbers the first. An array.

    Raises:
        DataError: If the folders are of different logs, or a shard is missing, doubled or unfinished.
    """

    def __init__(self, folders: Sequence[Path]) -> None:
        """Checks that the folders make up one log."""
        self.header, self._files = _complete(folders)
        stated = [_of(file, pq.read_metadata) for file in self._files]
        n_lines = [int(one.metadata[_N_LINES]) for one in stated]
        before = np.repeat(np.cumsum([0, *n_lines])[: len(stated)], [one.num_rows for one in stated])
        columns = self._table("line", "doc_id", "filter")
        self._lines = columns["line"].to_numpy() + before
        self._unread = columns["doc_id"].is_null().to_numpy()
        self._numbers = columns["doc_id"].fill_null(0).to_numpy()
        filters = pa.concat_arrays(columns["filter"].chunks or [pa.array([], pa.string())]).dictionary_encode()
        codes = filters.indices.fill_null(-1).to_numpy()
        n_filters = len(filters.dictionary)
        self._filtered = [_distinct(np.flatnonzero(codes == code), self._numbers) for code in range(n_filters)]
        self.rows = self._filtered[0][0] if self._filtered else np.empty(0, np.int64)

    def problems(self, n_expected: int | None) -> list[LogProblem]:
        """What is wrong with the log, in the order of a log that is read at once."""
        path, lines = self.header.log.path, self._lines
        columns = self._table("problem", "detail", "answer").combine_chunks()
        answers = columns["answer"].fill_null(0).to_numpy()

        def at(row: int) -> LogProblem:
            return LogProblem(columns["problem"][row].as_py(), f"{path}:{lines[row]}", columns["detail"][row].as_py())

        by_row = {row: at(row) for row in np.flatnonzero(self._unread).tolist()}
        for _, again in self._filtered:
            for row, first in again:
                same = bool(answers[row] == answers[first])
                by_row[row] = repeated(path, lines[row], self._numbers[row], lines[first], same)
        problems = [by_row[row] for row in sorted(by_row)]
        for rows in [rows for rows, _ in self._filtered] or [self.rows]:
            problems += missing(path, self._numbers[rows], n_expected)
        unscored = columns["problem"].is_valid().to_numpy()[self.rows]
        return problems + [at(row) for row in self.rows[unscored].tolist()]

    def not_asked(self) -> list[tuple[int, str]]:
        """Line and name of the documents whose model was asked another prompt."""
        rows = self.rows[~self._table("asked")["asked"].fill_null(True).to_numpy()[self.rows]]
        names = self._table("name")["name"].take(pa.array(rows)).to_pylist() if len(rows) else []
        return list(zip(self._lines[rows].tolist(), names, strict=True))

    def text(self, name: str) -> list[str]:
        """A column of text, ``name`` or ``topic``, of all documents."""
        texts: list[str] = self._table(name)[name].take(pa.array(self.rows)).to_pylist()
        return texts

    def part(self, name: str) -> Any:
        """One part of all documents, an array."""
        return self._table(name)[name].to_numpy()[self.rows]

    def _table(self, *columns: str) -> Any:
        if not self._files:
            return pa.schema([(name, _COLUMNS.get(name, pa.float64())) for name in columns]).empty_table()
        names = list(columns)
        return pa.concat_tables(
            _of(file, lambda file: pq.ParquetFile(file).read(names).select(names)) for file in self._files
        )


class StoredUnits(Columns):
    """The units of folders. Sums are made part by part; all parts are in memory only when units are asked for."""

    def __init__(self, units: UnitFolders, parts: Sequence[str]) -> None:
        """``parts``: what each unit has."""
        self._units, self._parts, self.n = units, parts, len(units.rows)

    @cached_property
    def columns(self) -> Mapping[str, Sequence[float]]:  # type: ignore[override]
        """All parts, in memory."""
        return {part: self._units.part(part) for part in self._parts}

    @cached_property
    def sums(self) -> dict[str, float]:
        """The sum of each part."""
        return {part: math.fsum(self._units.part(part).tolist()) for part in self._parts}


def _complete(folders: Sequence[Path]) -> tuple[Header, list[Path]]:
    """What folders are of that make up one log, and the files of its blocks in order."""
    headers = [read_header(folder) for folder in folders]
    whole, n_shards = headers[0], headers[0].n_shards
    shares: dict[int, Path] = {}
    for folder, header in zip(folders, headers, strict=True):
        if not header.same(whole):
            raise DataError(f"{folder}: units of {header}, but those of {folders[0]} are of {whole}")
        if header.shard in shares:
            raise DataError(f"{folder}: shard {header.shard}/{n_shards} again; {shares[header.shard]} has it")
        shares[header.shard] = folder
        if left := sum(not block_file(folder, block).is_file() for block in header.blocks):
            of = f"{left} of {len(header.blocks)} blocks are missing"
            raise DataError(f"{folder}: not finished, {of}; the command that made it goes on where it stopped")
    if absent := [f"{shard}/{n_shards}" for shard in range(1, n_shards + 1) if shard not in shares]:
        raise DataError(f"{', '.join(map(str, folders))}: missing: shard {', '.join(absent)}")
    return whole, [block_file(shares[block % n_shards + 1], block) for block in range(whole.log.n_blocks)]


def _of(file: Path, read: Callable[[Path], Any]) -> Any:
    try:
        return read(file)
    except (pa.ArrowException, OSError, KeyError) as error:
        again = "remove it, and the command that made the folder makes it again"
        raise DataError(f"{file}: not readable ({error!s:.120}); {again}") from error


def _distinct(rows: Any, numbers: Any) -> tuple[Any, list[tuple[int, int]]]:
    """The first row of each number, in the order of the numbers, and (row, first row) of those that come again."""
    _, first, which = np.unique(numbers[rows], return_index=True, return_inverse=True)
    again = np.flatnonzero(first[which] != np.arange(len(rows)))
    return rows[first], list(zip(rows[again].tolist(), rows[first[which[again]]].tolist(), strict=True))
