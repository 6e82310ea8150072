"""Rows of Parquet files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError


def parquet_rows(file: Path, columns: Sequence[str] | None = None) -> list[dict[str, Any]]:
    """The rows of any Parquet file.

    Args:
        file: The file.
        columns: The columns to read; None reads all.

    Raises:
        DataError: If it isn't Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[dict[str, Any]] = pq.ParquetFile(file).read(columns=columns).to_pylist()
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{file}: not readable as Parquet: {error}") from error
    return rows
