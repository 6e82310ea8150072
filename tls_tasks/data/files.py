"""Readers of rows from files of data sets: JSON Lines, JSON, CSV, Parquet, zip, pairs of text files; plain or gzip.

Each row is a pair (where, value); "where" is file and line for messages. The JSON builder of ``datasets`` is not used,
since it guesses types.
"""

import codecs
import csv
import gzip
import io
import json
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError, json_fault

ENDINGS = (".jsonl", ".jsonl.gz", ".json", ".csv", ".parquet")
"""Endings of the names of files with rows."""

_SPLITS = {"train": "train", "valid": "validation", "dev": "validation", "test": "test"}
"""Part of a file's name -> the split."""

Rows = Iterable[tuple[str, Any]]


def split_files(path: Path, split: str) -> list[Path]:
    """Return the files of a split in a folder, or the file itself.

    Args:
        path: A file, or a folder with files of :data:`ENDINGS` in it or in its folder ``data`` or ``document``, as
            copies of hub repositories have them.
        split: The split. Files that are named after another split are never read; if no file is named after a split,
            all are.

    Raises:
        DataError: If there are none.
    """
    if path.is_file():
        return [path]
    # Deeper folders are not searched: a folder of data sets that lacks this one must not give another one's rows.
    folders = (path, path / "data", path / "document")
    candidates = sorted(file for folder in folders for file in folder.glob("*") if file.name.endswith(ENDINGS))
    by_split: dict[str | None, list[Path]] = {}
    for file in candidates:
        by_split.setdefault(next((_SPLITS[key] for key in _SPLITS if key in file.name.lower()), None), []).append(file)
    files = by_split.get(split) or by_split.get(None)
    if not files:
        names = ", ".join(file.name for file in candidates) or "no file of rows"
        raise DataError(f"{path}: no file of the split {split} ({', '.join(ENDINGS)}); there is {names}")
    return files


def first_value(row: Any, names: Iterable[str], where: str) -> Any:
    """Return the value of the first of these fields that a row has.

    Raises:
        DataError: The row is not an object or has none of the fields.
    """
    if not isinstance(row, Mapping):
        advice = "; if the file is a JSON array, name it .json" if isinstance(row, list) else ""
        raise DataError(f"{where}: expected an object, got {type(row).__name__}{advice}")
    for name in names:
        if row.get(name) is not None:
            return row[name]
    raise DataError(f"{where}: no field {' or '.join(names)}; there are {', '.join(map(str, row)) or 'none'}")


def file_rows(file: Path, member: str | None = None) -> Rows:
    """Return (where, row) pairs of one file, which is read by the ending of its name.

    Args:
        file: The file.
        member: The file of JSON Lines in it, if it is a zip archive.

    Raises:
        DataError: If it can't be read.
    """
    if member is not None:
        return _zip_rows(file, member)
    readers = {".jsonl": json_lines, ".jsonl.gz": json_lines, ".json": json_rows, ".csv": _csv_rows}
    for ending, read in {**readers, ".parquet": _parquet_rows}.items():
        if file.name.endswith(ending):
            return read(file)
    raise DataError(f"{file}: expected a file that ends in {', '.join(ENDINGS)}")


def json_lines(path: Path) -> Rows:
    """Return (where, value) pairs of a JSON Lines file; empty lines are skipped.

    Raises:
        DataError: If the file can't be read or a line isn't JSON.
    """
    return _json_values(text_lines(path), str(path))


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield (where, object) pairs of a JSON Lines file, decompressed if its name ends in ``.gz``.

    Raises:
        DataError: The file can't be read, or a line is not a JSON object.
    """
    for where, value in json_lines(path):
        if not isinstance(value, dict):
            raise DataError(f"{where}: expected an object, got {type(value).__name__}")
        yield where, value


def _json_values(lines: Iterable[str], source: str) -> Rows:
    """Yield (where, value) pairs of JSON lines; empty lines are skipped.

    Example:
        >>> list(_json_values(['{"a": 1}', ""], "x.jsonl"))
        [('x.jsonl, line 1', {'a': 1})]
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            where = f"{source}, line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                is_array = number == 1 and line.lstrip().startswith("[")
                advice = "; if the file is a JSON array, name it .json" if is_array else ""
                raise DataError(f"{where}: not JSON: {json_fault(error)}{advice}") from error
            yield where, value


def text_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a UTF-8 text file, decompressed if its name ends in ``.gz``.

    Raises:
        DataError: If the file can't be read; the message names the line that is not UTF-8, or the last line read.
    """
    n_read = 0
    try:
        with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig") as lines:
            for line in lines:
                n_read += 1
                yield line
    except FileNotFoundError as error:
        raise DataError(f"{path}: no such file") from error
    except UnicodeDecodeError as error:
        n_read += len(error.object[: error.start + 1].splitlines())  # the decoder gets blocks of lines
        raise DataError(f"{path}, line {n_read}: can't be read: {error}; expected UTF-8{utf16_advice(path)}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}, after line {n_read}: can't be read: {error}") from error


@contextmanager
def readable(file: object, form: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn errors of the system, of UTF-8 and of these kinds into a DataError: the file can't be read as ``form``."""
    errors: tuple[type[Exception], ...] = (OSError, UnicodeDecodeError, *kinds)
    try:
        yield
    except errors as error:
        advice = utf16_advice(Path(str(file))) if isinstance(error, UnicodeDecodeError) else ""
        raise DataError(f"{file}: can't be read as {form}: {error}{advice}") from error


def utf16_advice(file: Path) -> str:
    """Return what to do about a file that begins as UTF-16 does; empty for any other."""
    with suppress(OSError), file.open("rb") as content:
        if content.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
            return f"; it is UTF-16: iconv -f UTF-16 -t UTF-8 {file.name} > NEW"
    return ""


def _parquet_rows(file: Path) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with readable(file, "Parquet", pa.ArrowException):
        rows = pq.ParquetFile(file, page_checksum_verification=True).read().to_pylist()
    yield from _numbered(file, rows)


def _numbered(file: Path, rows: Iterable[Any]) -> Rows:
    return ((f"{file}, row {number}", row) for number, row in enumerate(rows, start=1))


def csv_table(lines: Iterator[str]) -> "csv.DictReader[str]":
    """Return the rows of CSV by the names in its first line; the separator is comma, semicolon or tab.

    Raises:
        csv.Error: Two columns have the same name; while reading, a row has unbalanced quotation marks.
    """
    csv.field_size_limit(2**31 - 1)  # a document may be longer than the module's default
    head = next(lines, "")
    table = csv.DictReader(chain([head], lines), delimiter=max(",;\t", key=head.count), strict=True)
    names = table.fieldnames or []
    if repeated := [name for name in names if name and names.count(name) > 1]:
        raise csv.Error(f"several columns {repeated[0]!r}, expected each name once")
    return table


def _csv_rows(file: Path) -> Rows:
    # newline="" leaves line ends inside quotes to the csv module, as its documentation asks.
    with readable(file, "CSV", csv.Error), file.open(encoding="utf-8-sig", newline="") as lines:
        table, n_read = csv_table(lines), 1
        try:
            for row in table:
                n_read = table.line_num
                yield f"{file}, line {n_read}", row
        except csv.Error as error:
            raise DataError(f"{file}, line {n_read + 1}: not CSV: {error}; is a quotation mark missing?") from error


def json_rows(file: Path) -> Rows:
    """Yield (where, row) of a list, of a list as ``data`` in an object (MACCROBAT), or of JSON Lines (MeetingBank)."""
    value = json_or_text(text := "".join(text_lines(file)))
    rows = value.get("data") if isinstance(value, dict) else value
    if isinstance(rows, list):
        yield from _numbered(file, rows)
    else:
        yield from _json_values(text.split("\n"), str(file))


def json_or_text(text: Any) -> Any:
    """Return the list or object in a JSON string; any other string or value as it is.

    Example:
        >>> json_or_text('{"a": 1}'), json_or_text("2011"), json_or_text("[1, ")
        ({'a': 1}, '2011', '[1, ')
    """
    try:
        value = json.loads(text) if isinstance(text, str) else text
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list | dict) else text


def _zip_rows(file: Path, member: str) -> Rows:
    with readable(file, f"zip with {member}", KeyError, zipfile.BadZipFile), zipfile.ZipFile(file) as archive:
        content = archive.open(member)
        yield from _json_values(io.TextIOWrapper(content, encoding="utf-8"), f"{file}/{member}")


def example_rows(module: str, name: str) -> tuple[str, list[tuple[str, Any]]]:
    """Read the rows of ``fewshot.json`` beside a module; those of its first data set if this one has none.

    Returns:
        The name of the data set that has them, and (where, row) pairs.
    """
    file = Path(module).with_name("fewshot.json")
    by_name = json.loads(file.read_text(encoding="utf-8"))
    data_set = name if name in by_name else next(iter(by_name))
    return data_set, [(file.name, row) for row in by_name[data_set]]


def filled_text(file: Path, **fields: Any) -> str:
    """Return the text of a file of the package, such as a prompt, with its fields ``{name}`` filled in."""
    return file.read_text(encoding="utf-8").removesuffix("\n").format(**fields)
