"""Rows by id: from a file of rows (JSON Lines, JSON, CSV, Parquet), a folder with a file a document, or lines of text.

Gold and predictions come in separate files and are joined by id here. Rows without ids (lines of text, two single
documents) are joined in order, and then both sides must have the same length.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, InputError, json_fault, nearest
from tls_tasks.data.files import ENDINGS, file_rows, first_value, json_or_text, text_lines, utf16_advice

PREDICTION_FIELDS = ("prediction", "answer", "output", "response")
"""Fields of a row that may hold a model's answer, in every family; the first one present is read."""

_ROW_ENDINGS = tuple(ending for ending in ENDINGS if ending != ".json")
_NO_DOCUMENTS = ("readme", "license", "licence")  # files that may lie beside the documents of a folder


class Row(NamedTuple):
    """One row.

    Attributes:
        where: File and line, for messages.
        value: The row as JSON; text for a file or a line of text.
        is_document: Whether the row is a whole file, so that an object may itself be the value of a field.
    """

    where: str
    value: Any
    is_document: bool = False

    def field(self, names: Iterable[str]) -> Any:
        """Return the first of these fields; the row itself if it is no object, or a document without any of them.

        Raises:
            DataError: An object that is a row has none of the fields.
        """
        if not isinstance(self.value, Mapping) or (self.is_document and self.value.keys().isdisjoint(names)):
            return self.value
        return first_value(self.value, names, self.where)

    def answer(self, names: Iterable[str]) -> Any:
        """Return the field of a model's answer, as :meth:`field`, but None if it is null."""
        present = [self.value[name] for name in names if name in self.value] if isinstance(self.value, Mapping) else ()
        return None if present and not any(value is not None for value in present) else self.field(names)


@dataclass(frozen=True, slots=True)
class RowsById:
    """Rows by id.

    Attributes:
        path: The file or folder.
        rows: Id -> row, in order; at least one.
        by_order: Whether the ids are only numbers given here, so that rows are joined in order.
    """

    path: Path
    rows: Mapping[str, Row]
    by_order: bool = False


def read_by_id(
    path: Path, id_fields: Sequence[str], *, text: str = "document", needs_ids: bool = False, from_model: bool = False
) -> RowsById:
    """Read rows by id.

    Args:
        path: A folder with one file a document, whose name without its ending is the id; a file of rows (one of
            :data:`~tls_tasks.data.files.ENDINGS`); an object in a ``.json`` file; or any other file, as text.
        id_fields: Fields of a row that may hold its id; the first one present is taken.
        text: What a file of text is: one ``document``, or a row a ``line``.
        needs_ids: Whether rows without an id are an error, or are joined in order.
        from_model: Whether a model wrote the text, whose broken characters are replaced instead of refused.

    Raises:
        DataError: If the path holds no row, can't be read, or repeats an id.
    """
    if path.is_dir():
        files = files_in(path)
        if all(file.name.endswith(_ROW_ENDINGS) for file in files):
            names = [file.name for file in files]
            raise DataError(f"{path}: is a folder with files of rows, expected one of them: {', '.join(names)}")
        return _index_rows(path, ((file.stem, Row(str(file), read_document(file, from_model))) for file in files))
    if not path.exists():
        raise DataError(f"{path}: no such file or folder")
    if path.name.endswith(ENDINGS):
        value = json_or_text("".join(text_lines(path))) if path.suffix == ".json" else None
        if isinstance(value, dict) and not isinstance(value.get("data"), list) and value.keys().isdisjoint(id_fields):
            return RowsById(path, {path.stem: Row(str(path), value, is_document=True)}, by_order=True)
        return _read_rows(path, id_fields, needs_ids)
    if text == "document":
        return RowsById(path, {path.stem: Row(str(path), read_document(path, from_model))}, by_order=True)
    lines = [line.rstrip("\r\n") for line in text_lines(path)]
    if isinstance(json_or_text(lines[0] if lines else ""), dict):
        raise DataError(f"{path}, line 1: a JSON object, expected a text; name a file of rows .jsonl")
    return _number_rows(path, (Row(f"{path}, line {number}", line) for number, line in enumerate(lines, start=1)))


def read_document(file: Path, from_model: bool = False) -> str:
    """Read a file as text.

    Raises:
        DataError: If it is not UTF-8, unless ``from_model`` is true.
    """
    advice = utf16_advice(file)
    errors = "replace" if from_model and not advice else "strict"
    try:
        return file.read_bytes().decode("utf-8", errors).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: no UTF-8 at byte {error.start}, expected a text file in UTF-8{advice}") from None


@contextmanager
def error_context(row: Row) -> Iterator[None]:
    """Turn errors about a row's value into a DataError that names file and line."""
    try:
        yield
    except InputError as error:
        raise DataError(f"{row.where}: got {error.got}, expected {error.expected}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{row.where}: not JSON: {json_fault(error)}") from error


def join_rows(gold: RowsById, predictions: RowsById) -> list[tuple[str, Row, Row | None]]:
    """Return (id, gold row, prediction row) for each row of the gold; None for a missing prediction.

    Raises:
        DataError: A prediction has an id that the gold lacks, or sides without ids differ in length.

    Example:
        >>> gold = RowsById(Path("gold.jsonl"), {"egypt": Row("line 1", 1), "libya": Row("line 2", 2)})
        >>> [row and row.value for _, _, row in join_rows(gold, RowsById(Path("p"), {"libya": Row("line 1", 3)}))]
        [None, 3]
        >>> join_rows(gold, RowsById(Path("p.jsonl"), {"libia": Row("p.jsonl, line 1", 3)}))
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.DataError: p.jsonl, line 1: 'libia' is not in gold.jsonl; did you mean 'libya'?
    """
    without_ids = gold.by_order + predictions.by_order
    if without_ids == 2 or (without_ids and len(gold.rows) == len(predictions.rows) == 1):
        if len(gold.rows) != len(predictions.rows):
            sizes = f"{len(predictions.rows)} rows, but {gold.path} has {len(gold.rows)}"
            raise DataError(f"{predictions.path}: {sizes}; without ids both need equally many, paired in order")
        return list(zip(gold.rows, gold.rows.values(), predictions.rows.values(), strict=True))
    for side, partner in ((gold, predictions), (predictions, gold)):
        if side.by_order:
            has = f"has no ids, but {partner.path} has: {some(list(partner.rows))}; expected ids in both"
            raise DataError(f"{side.path}: {has}, such as names of files or `id` in each object, or in neither")
    for name, row in predictions.rows.items():
        if name not in gold.rows:
            near = nearest(name, gold.rows) or f", which has {some(list(gold.rows))}"
            raise DataError(f"{row.where}: {name!r} is not in {gold.path}{near}")
    return [(name, row, predictions.rows.get(name)) for name, row in gold.rows.items()]


def some(names: Sequence[str]) -> str:
    """Return the first three names of many, and how many there are.

    Example:
        >>> some(["a", "b", "c", "d"]), some(["a"])
        ("'a', 'b', 'c' … (4)", "'a'")
    """
    listed = ", ".join(map(repr, names[:3]))
    return f"{listed} … ({len(names)})" if len(names) > 3 else listed


def missing_note(predictions: Iterable[tuple[str, object]], kind: str, effect: str) -> list[str]:
    """Return a note about ids whose prediction is None, as a list of one; empty if there is none.

    Example:
        >>> missing_note([("egypt", None), ("libya", "2011-02-15: Protests.")], "topics", "scored 0")
        ["1 of 2 topics without a prediction ('egypt'): scored 0"]
    """
    by_id = dict(predictions)
    missing = [name for name, prediction in by_id.items() if prediction is None]
    return [f"{len(missing)} of {len(by_id)} {kind} without a prediction ({some(missing)}): {effect}"] * bool(missing)


def files_in(path: Path) -> list[Path]:
    """Return a file itself, or the files in a folder, without READMEs, licences and hidden files.

    Raises:
        DataError: If the folder has no such file.
    """
    if not path.is_dir():
        return [path]
    visible = (file for file in sorted(path.iterdir()) if file.is_file() and not file.name.startswith("."))
    files = [file for file in visible if not file.stem.lower().startswith(_NO_DOCUMENTS)]
    if not files:
        raise DataError(f"{path}: no file in it, expected one a document, named by its id")
    return files


def _read_rows(file: Path, id_fields: Sequence[str], needs_ids: bool) -> RowsById:
    rows = [Row(*row) for row in file_rows(file)]
    have_ids = any(isinstance(row.value, Mapping) and not row.value.keys().isdisjoint(id_fields) for row in rows)
    only = rows[0].value if len(rows) == 1 and ".jsonl" in file.name else None
    objects = [row for row in only if isinstance(row, Mapping)] if isinstance(only, list) else []
    if any(not row.keys().isdisjoint(id_fields) for row in objects):
        raise DataError(f"{file}: a JSON array in one line, expected a row a line; name the file .json")
    if rows and not needs_ids and not have_ids:
        return _number_rows(file, rows)
    return _index_rows(file, ((str(first_value(row.value, id_fields, row.where)), row) for row in rows))


def _number_rows(path: Path, rows: Iterable[Row]) -> RowsById:
    numbered = _index_rows(path, ((str(number), row) for number, row in enumerate(rows, start=1)))
    return replace(numbered, by_order=True)


def _index_rows(path: Path, rows: Iterable[tuple[str, Row]]) -> RowsById:
    by_id: dict[str, Row] = {}
    for name, row in rows:
        if name in by_id:
            first = by_id[name].where.rpartition(", ")[2]
            raise DataError(f"{row.where}: duplicate id {name!r}, first on {first}; expected all of an id in one row")
        by_id[name] = row
    if not by_id:
        raise DataError(f"{path}: no row in it")
    return RowsById(path, by_id)
