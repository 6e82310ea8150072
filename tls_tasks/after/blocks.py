"""A log in blocks, each of which can be read by itself, by whichever process: JSONL by bytes, Parquet by row groups."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from tls_tasks.after.foreign import read_json
from tls_tasks.after.logs import MOST_BYTES_OF_ROW, LogProblem, Sample, lines_of, sample_of
from tls_tasks.core.errors import DataError

_END = 1 << 16  # bytes at either end of a log that tell it from others
_PARQUET = ".parquet"
_NESTED = ("doc", "filtered_resps")
"""The columns of Parquet that may be JSON instead of a struct or a list."""


@dataclass(frozen=True, slots=True)
class LogBlocks:
    """A log and its blocks.

    Attributes:
        path: The file, or a URL that fsspec opens.
        n_bytes: How long it is.
        digest: A hash of how it begins and ends.
        block_bytes: The length of a block of JSONL: a line belongs to the block in which it begins.
        n_blocks: How many blocks there are; in Parquet its row groups.
    """

    path: str
    n_bytes: int
    digest: str
    block_bytes: int
    n_blocks: int

    @classmethod
    def of(cls, path: str, block_bytes: int) -> LogBlocks:
        """The blocks of a file.

        Raises:
            DataError: If it can't be read.
        """
        with open_log(path) as file:
            head = file.read(_END)
            n_bytes = file.seek(0, 2)
            file.seek(max(0, n_bytes - _END))
            digest = hashlib.blake2b(head + file.read(), digest_size=8).hexdigest()
            n_blocks = _parquet(path, file).num_row_groups if path.endswith(_PARQUET) else -(-n_bytes // block_bytes)
        return cls(path, n_bytes, digest, block_bytes, n_blocks)

    def read(self, number: int) -> Iterator[Sample | LogProblem | None]:
        """The lines of a block (from 0), numbered in it from 1; None for a blank one."""
        with open_log(self.path) as file:
            yield from (self._rows_of if self.path.endswith(_PARQUET) else self._lines_of)(file, number)

    def _lines_of(self, file: BinaryIO, number: int) -> Iterator[Sample | LogProblem | None]:
        start, left = number * self.block_bytes, self.block_bytes
        if start:  # the line that is there has begun before, unless the one before ends right here
            file.seek(start - 1)
            left -= len(file.readline(MOST_BYTES_OF_ROW + 1)) - 1
        for line, content in lines_of(file, f"{self.path} (counted from byte {start})", left):
            yield None if content.isspace() else sample_of(self.path, line, content)

    def _rows_of(self, file: BinaryIO, number: int) -> Iterator[Sample | LogProblem | None]:
        import pyarrow as pa

        try:
            batches = _parquet(self.path, file).iter_batches(256, row_groups=[number])
            rows = (row for batch in batches for row in batch.to_pylist())
            for line, row in enumerate(rows, start=1):
                yield _sample_of_cells(self.path, line, row)
        except pa.ArrowException as error:
            raise DataError(f"{self.path}: not readable as Parquet ({error!s:.120})") from error


def open_log(path: str) -> AbstractContextManager[BinaryIO]:
    """A file of this machine, or what fsspec opens by a URL."""
    if "://" not in path:
        return Path(path).open("rb")
    import fsspec

    try:
        opened: AbstractContextManager[BinaryIO] = fsspec.open(path, "rb")
    except (ImportError, ValueError) as error:  # no such protocol, or its package is not installed
        raise DataError(f"{path}: {error}") from error
    return opened


def _parquet(path: str, file: BinaryIO) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file)
    except pa.ArrowException as error:
        raise DataError(f"{path}: not readable as Parquet ({error!s:.120})") from error


def _sample_of_cells(path: str, line: int, row: dict[str, Any]) -> Sample | LogProblem:
    """A row of Parquet, by way of JSON: what is asked of a row is then the same in both."""
    try:
        row |= {name: read_json(row[name].encode()) for name in _NESTED if isinstance(row.get(name), str)}
        content = json.dumps({name: cell for name, cell in row.items() if cell is not None}, default=_refused).encode()
    except (DataError, UnicodeEncodeError) as error:
        return LogProblem("wrong_row", f"{path}:{line}", str(error))
    return sample_of(path, line, content + b"\n")


def _refused(value: Any) -> NoReturn:
    raise DataError(f"{value!r} is a {type(value).__name__}, expected what JSON has; write dates as text")
