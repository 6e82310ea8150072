"""Rows of the files that data sets come in: JSON Lines, JSON, CSV, Parquet, zip, pairs of text files; plain or gzip.

Each row comes with its place for messages. The JSON builder of ``datasets`` is not used: it guesses types.
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
"""How the names of files with rows end."""

_SPLITS = {"train": "train", "valid": "validation", "dev": "validation", "test": "test"}
"""What is in the names of files -> the split."""

Rows = Iterable[tuple[str, Any]]


def split_files(place: Path, split: str) -> list[Path]:
    """The files to read in a folder, or the file itself.

    Args:
        place: A file, or a folder with files of :data:`ENDINGS` in it or in its folder ``data`` or ``document``, as
            copies of hub repositories have them.
        split: The split that is wanted. Files that are named after another one are never read; where none is named
            after a split, all are.

    Raises:
        DataError: If there are none.
    """
    if place.is_file():
        return [place]
    # No deeper: a folder of data sets that lacks this one must not give another one's rows.
    folders = (place, place / "data", place / "document")
    found = sorted(file for folder in folders for file in folder.glob("*") if file.name.endswith(ENDINGS))
    named: dict[str | None, list[Path]] = {}
    for file in found:
        named.setdefault(next((_SPLITS[part] for part in _SPLITS if part in file.name.lower()), None), []).append(file)
    files = named.get(split) or named.get(None)
    if not files:
        others = ", ".join(file.name for file in found) or "no file of rows"
        raise DataError(f"{place}: no file of the split {split} ({', '.join(ENDINGS)}); there is {others}")
    return files


def field_of(row: Any, names: Iterable[str], where: str) -> Any:
    """The value of the first of these fields that a row has.

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
    """The rows of one file, by the ending of its name.

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
    """The values of a JSON Lines file, each with its place for messages; empty lines are passed over.

    Raises:
        DataError: If the file can't be read or a line isn't JSON.
    """
    return _json_values(text_lines(path), str(path))


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of a JSON Lines file, decompressed if its name ends in ``.gz``, each with its place for errors.

    Raises:
        DataError: A file that can't be read, or a line that is not a JSON object; names file and line.
    """
    for place, value in json_lines(path):
        if not isinstance(value, dict):
            raise DataError(f"{place}: expected an object, got {type(value).__name__}")
        yield place, value


def _json_values(lines: Iterable[str], where: str) -> Rows:
    """The values of JSON lines, each with its place for messages; empty lines are passed over.

    Example:
        >>> list(_json_values(['{"a": 1}', ""], "x.jsonl"))
        [('x.jsonl, line 1', {'a': 1})]
    """
    for number, line in enumerate(lines, start=1):
        if line.strip():
            place = f"{where}, line {number}"
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                is_array = number == 1 and line.lstrip().startswith("[")
                advice = "; if the file is a JSON array, name it .json" if is_array else ""
                raise DataError(f"{place}: not JSON: {json_fault(error)}{advice}") from error
            yield place, value


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a UTF-8 text file, unpacked if its name ends in ``.gz``.

    Raises:
        DataError: If the file can't be read; says which line is no UTF-8, or after which line reading failed.
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
        n_read += len(error.object[: error.start + 1].splitlines())  # decoded in blocks of lines
        raise DataError(f"{path}, line {n_read}: can't be read: {error}; expected UTF-8{utf16_advice(path)}") from error
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"{path}, after line {n_read}: can't be read: {error}") from error


@contextmanager
def readable(file: object, form: str, *kinds: type[Exception]) -> Iterator[None]:
    """Raise errors of the system, of UTF-8 and of these kinds as a DataError: which file can't be read as what."""
    broken: tuple[type[Exception], ...] = (OSError, UnicodeDecodeError, *kinds)
    try:
        yield
    except broken as error:
        advice = utf16_advice(Path(str(file))) if isinstance(error, UnicodeDecodeError) else ""
        raise DataError(f"{file}: can't be read as {form}: {error}{advice}") from error


def utf16_advice(file: Path) -> str:
    """What to do about a file that begins as UTF-16 does; empty for any other."""
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
    """The rows of CSV by the names in its first line; commas, semicolons or tabs set them apart, as spreadsheets do.

    Raises:
        csv.Error: Two columns have the same name; later, a row whose quotation marks don't fit.
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
    """A list of objects, an object with one as ``data`` (MACCROBAT), or JSON Lines by another name (MeetingBank)."""
    value = json_or_text(text := "".join(text_lines(file)))
    rows = value.get("data") if isinstance(value, dict) else value
    if isinstance(rows, list):
        yield from _numbered(file, rows)
    else:
        yield from _json_values(text.split("\n"), str(file))


def json_or_text(text: Any) -> Any:
    """The list or object in a JSON string; any other string, and what is none, as it is.

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
    """The rows of ``fewshot.json`` beside a module, each with its place; of another data set if this has none.

    Returns:
        Whose they are, and the rows.
    """
    file = Path(module).with_name("fewshot.json")
    by_name = json.loads(file.read_text(encoding="utf-8"))
    own = name if name in by_name else next(iter(by_name))
    return own, [(file.name, row) for row in by_name[own]]


def filled_text(file: Path, **fields: Any) -> str:
    """The text of a file of the package, such as a prompt, with its fields ``{name}`` filled in."""
    return file.read_text(encoding="utf-8").removesuffix("\n").format(**fields)
