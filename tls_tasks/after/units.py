"""The units of a log of any size, in a folder: written block by block, by several processes or machines, and read back.

A folder holds one Parquet file a block of the log, and ``log.json``, which says of what log and which share of it.
Results are exactly rounded sums of units, so that it doesn't matter who scored which block, when, or in what order.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tls_tasks import __version__
from tls_tasks.after.logs import LogProblem
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Columns
from tls_tasks.core.whole import replaced, write_whole

_HEADER = "log.json"
_FORMAT = 1
_TOLD = ("doc_id", "line", "name", "topic", "problem", "detail")
"""The columns beside the parts. A row that has a problem and no ``doc_id`` is no document."""


@dataclass(frozen=True, slots=True)
class Header:
    """What a folder of units is of.

    Attributes:
        task: The task.
        log: The name of the log; ``n_bytes`` long.
        n_bytes: How long the log is.
        shard, n_shards: Which share of its blocks: 1 of 1 is all.
        n_blocks: How many blocks the log has; None while it is being scored.
        first: The first document, by which the task knows its results.
        release: The release of tls-tasks.
        format: Of the folder.
    """

    task: str
    log: str
    n_bytes: int
    shard: int = 1
    n_shards: int = 1
    n_blocks: int | None = None
    first: Mapping[str, Any] | None = None
    release: str = __version__
    format: int = _FORMAT

    def same(self, other: Header) -> bool:
        """Whether both are of the same log, scored by the same release, whatever their shares."""
        names = ("task", "log", "n_bytes", "n_shards", "release", "format")
        return all(getattr(self, name) == getattr(other, name) for name in names)


def write_header(folder: Path, header: Header) -> None:
    """Say what a folder is of.

    Raises:
        DataError: If it is of something else already.
    """
    if (folder / _HEADER).exists():
        there = read_header(folder)
        if not header.same(there) or there.shard != header.shard:
            raise DataError(
                f"{folder}: holds units of {_described(there)}, not of {_described(header)}; choose another folder or "
                "remove it"
            )
    write_whole(folder / _HEADER, json.dumps(asdict(header)) + "\n")


def read_header(folder: Path) -> Header:
    """What a folder is of.

    Raises:
        DataError: If it is no folder of units.
    """
    try:
        stated = json.loads((folder / _HEADER).read_text(encoding="utf-8"))
        header = Header(**stated)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{folder}: no folder of units, as `tls-tasks score LOG -o FOLDER` makes ({error})") from error
    if header.format != _FORMAT:
        raise DataError(f"{folder}: format {header.format} of another release, expected {_FORMAT}")
    return header


def _described(header: Header) -> str:
    share = f", shard {header.shard}/{header.n_shards}" if header.n_shards > 1 else ""
    return f"{header.task} in {header.log} ({header.n_bytes} bytes{share}, release {header.release})"


def block_file(folder: Path, block: int) -> Path:
    """Where a block's units are."""
    return folder / f"block-{block:08}.parquet"


def write_block(file: Path, rows: Sequence[Mapping[str, Any]], parts: Sequence[str]) -> None:
    """Write the units of a block: each with ``doc_id``, ``line``, ``name``, ``topic``, what is wrong, and its parts."""
    kinds = [pa.int64(), pa.int64(), *[pa.string()] * 4, *[pa.float64()] * len(parts)]
    schema = pa.schema(list(zip((*_TOLD, *parts), kinds, strict=True)))
    with replaced(file) as unfinished:
        pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), unfinished, compression="zstd")


class UnitFolders:
    """The units of one log, of one folder or of one folder a shard.

    Raises:
        DataError: If the folders are of different logs, or a shard is missing, doubled or unfinished.
    """

    def __init__(self, folders: Iterable[Path]) -> None:
        """Checks that the folders make up one log."""
        self.headers = {folder: read_header(folder) for folder in folders}
        first_folder, self.header = next(iter(self.headers.items()))
        shares: dict[int, Path] = {}
        for folder, header in self.headers.items():
            if not header.same(self.header):
                raise DataError(
                    f"{folder}: units of {_described(header)}, those of {first_folder} are of {_described(self.header)}"
                )
            if header.shard in shares:
                raise DataError(
                    f"{folder}: shard {header.shard}/{header.n_shards} again; {shares[header.shard]} has it"
                )
            shares[header.shard] = folder
            if header.n_blocks is None:
                raise DataError(f"{folder}: not finished; the same command goes on where it stopped")
        if missing := sorted(set(range(1, self.header.n_shards + 1)) - set(shares)):
            names = ", ".join(f"{shard}/{self.header.n_shards}" for shard in missing)
            raise DataError(f"{', '.join(map(str, self.headers))}: missing: shard {names}")
        self.files = []
        for block in range(self.header.n_blocks or 0):
            file = block_file(shares[block % self.header.n_shards + 1], block)
            if not file.is_file():
                raise DataError(f"{file}: missing; the command that made the folder makes it again")
            self.files.append(file)
        told = self._told()
        #: Which rows are documents: those with a number, of equal numbers the first.
        self.kept = told["kept"]
        self.n_documents = int(self.kept.sum())
        self.doc_ids = told["doc_id"][self.kept]
        self.problems: list[LogProblem] = told["problems"]

    def _told(self) -> dict[str, Any]:
        log = self.header.log
        ids, lines, problems = [], [], []
        for file in self.files:
            table = _read(file, ["doc_id", "line", "problem", "detail"])
            ids.append(table["doc_id"].to_numpy(zero_copy_only=False).astype(np.float64))  # NaN: no document
            lines.append(table["line"].to_numpy())
            wrong = table.filter(pa.compute.is_valid(table["problem"])).to_pylist()
            problems += [LogProblem(row["problem"], f"{log}:{row['line']}", row["detail"]) for row in wrong]
        doc_id = np.concatenate(ids) if ids else np.empty(0)
        line = np.concatenate(lines) if lines else np.empty(0, dtype=np.int64)
        kept = ~np.isnan(doc_id)
        _, first = np.unique(doc_id, return_index=True)
        again = kept.copy()
        again[first] = False
        for place in np.flatnonzero(again):
            detail = f"document {int(doc_id[place])} comes again; the first counts"
            problems.append(LogProblem("repeated_document", f"{log}:{line[place]}", detail))
        return {"doc_id": doc_id, "kept": kept & ~again, "problems": problems}

    def text(self, name: str) -> list[str]:
        """A column of text, ``name`` or ``topic``, of all documents."""
        column = [value for file in self.files for value in _read(file, [name])[name].to_pylist()]
        return [value for value, kept in zip(column, self.kept.tolist(), strict=True) if kept]

    def part(self, name: str) -> Any:
        """One part of all documents, an array."""
        found = [_read(file, [name])[name].to_numpy() for file in self.files]
        return (np.concatenate(found) if found else np.empty(0))[self.kept]


class StoredUnits(Columns):
    """The units of folders. Their sums are read part by part; the units themselves only when one is asked for."""

    def __init__(self, units: UnitFolders, parts: Sequence[str]) -> None:
        """``parts``: what each unit has."""
        self._units, self._parts, self.n = units, parts, units.n_documents

    @cached_property
    def columns(self) -> Mapping[str, Sequence[float]]:  # type: ignore[override]
        """All parts, in memory."""
        return {part: self._units.part(part) for part in self._parts}

    @cached_property
    def sums(self) -> dict[str, float]:
        """The sum of each part."""
        return {part: math.fsum(self._units.part(part).tolist()) for part in self._parts}


def _read(file: Path, columns: Sequence[str]) -> Any:
    try:
        return pq.read_table(file, columns=list(columns), memory_map=False)
    except (pa.ArrowException, OSError, KeyError) as error:
        raise DataError(
            f"{file}: not readable ({error!s:.120}); remove it, and the same command makes it again"
        ) from error


def missing_documents(units: UnitFolders, n_expected: int | None) -> list[LogProblem]:
    """What the numbers of the documents say of those that are missing."""
    ids = units.doc_ids
    n_all = n_expected if n_expected is not None else int(ids.max(initial=-1)) + 1
    n_missing = n_all - int(((ids >= 0) & (ids < n_all)).sum())
    if n_missing <= 0:
        return []
    return [LogProblem("missing_documents", units.header.log, f"{n_missing} of {n_all} documents are missing")]
