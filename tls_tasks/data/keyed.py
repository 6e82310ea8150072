"""Rows by id: a file of rows (JSON Lines, JSON, CSV, Parquet), a folder with a file a document, lines of text.

Gold and predictions come in files of their own and are joined by id here. What has no ids (lines of text, rows without
an id, two single documents) is joined by its order, and then both sides must be of one length.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, InputError, json_fault, nearest
from tls_tasks.data.files import ENDINGS, field_of, file_rows, json_or_text, text_lines, utf16_advice

PREDICTION_FIELDS = ("prediction", "answer", "output", "response")
"""Fields of a row that may hold what a model said, in every family; the first one present is read."""

_OF_ROWS = tuple(ending for ending in ENDINGS if ending != ".json")
_NO_DOCUMENTS = ("readme", "license", "licence")  # what lies in folders of documents besides them


class Row(NamedTuple):
    """One row.

    Attributes:
        where: Where it stands, for messages.
        value: What it is; of a file or a line of text its text.
        is_document: Whether it is a whole file, so that an object may be the value itself and not a row with it.
    """

    where: str
    value: Any
    is_document: bool = False

    def field(self, names: Iterable[str]) -> Any:
        """What the row says: the first of these fields, or the row itself where it has none and need not.

        Raises:
            DataError: An object that should have one of them.
        """
        if not isinstance(self.value, Mapping) or (self.is_document and self.value.keys().isdisjoint(names)):
            return self.value
        return field_of(self.value, names, self.where)

    def answer(self, names: Iterable[str]) -> Any:
        """The same of what a model said, which may be null."""
        present = [self.value[name] for name in names if name in self.value] if isinstance(self.value, Mapping) else ()
        return None if present and not any(value is not None for value in present) else self.field(names)


@dataclass(frozen=True, slots=True)
class Keyed:
    """Rows by id.

    Attributes:
        place: The file or folder.
        rows: Id -> row, in order; at least one.
        by_order: Whether the ids are made up here, so that only the order of the rows says what belongs together.
    """

    place: Path
    rows: Mapping[str, Row]
    by_order: bool = False


def read_keyed(
    place: Path, id_fields: Sequence[str], *, text: str = "document", needs_ids: bool = False, of_a_model: bool = False
) -> Keyed:
    """Read rows by id.

    Args:
        place: A folder with a file a document, whose name without its ending is the id; a file of rows (one of
            :data:`~tls_tasks.data.files.ENDINGS`); an object in a ``.json`` file; or any other file, as text.
        id_fields: Fields of a row that may hold its id; the first one present is taken.
        text: What a file of text is: one ``document``, or a row a ``line``.
        needs_ids: Whether rows without an id are an error, or joined by their order.
        of_a_model: Whether a model wrote the text, whose broken characters are replaced instead of refused.

    Raises:
        DataError: If there is nothing in the place, it can't be read, or an id stands twice.
    """
    if place.is_dir():
        files = files_in(place)
        if all(file.name.endswith(_OF_ROWS) for file in files):
            names = [file.name for file in files]
            raise DataError(f"{place}: is a folder with files of rows, expected one of them: {', '.join(names)}")
        return _named(place, ((file.stem, Row(str(file), read_document(file, of_a_model))) for file in files))
    if not place.exists():
        raise DataError(f"{place}: no such file or folder")
    if place.name.endswith(ENDINGS):
        value = json_or_text("".join(text_lines(place))) if place.suffix == ".json" else None
        if isinstance(value, dict) and not isinstance(value.get("data"), list) and value.keys().isdisjoint(id_fields):
            return Keyed(place, {place.stem: Row(str(place), value, is_document=True)}, by_order=True)
        return _read_rows(place, id_fields, needs_ids)
    if text == "document":
        return Keyed(place, {place.stem: Row(str(place), read_document(place, of_a_model))}, by_order=True)
    lines = [line.rstrip("\r\n") for line in text_lines(place)]
    if isinstance(json_or_text(lines[0] if lines else ""), dict):
        raise DataError(f"{place}, line 1: a JSON object, expected a text; name a file of rows .jsonl")
    return _numbered(place, (Row(f"{place}, line {number}", line) for number, line in enumerate(lines, start=1)))


def read_document(file: Path, of_a_model: bool = False) -> str:
    """A file as text.

    Raises:
        DataError: If it is no UTF-8, unless a model wrote it.
    """
    advice = utf16_advice(file)
    try:
        return (
            file.read_bytes()
            .decode("utf-8", "replace" if of_a_model and not advice else "strict")
            .removeprefix("\ufeff")
        )
    except UnicodeDecodeError as error:
        raise DataError(f"{file}: no UTF-8 at byte {error.start}, expected a text file in UTF-8{advice}") from None


@contextmanager
def said_of(row: Row) -> Iterator[None]:
    """Name the place of a row in what is wrong with it."""
    try:
        yield
    except InputError as error:
        raise DataError(f"{row.where}: got {error.got}, expected {error.expected}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{row.where}: not JSON: {json_fault(error)}") from error


def joined(gold: Keyed, predictions: Keyed) -> list[tuple[str, Row, Row | None]]:
    """Each row of the gold with its prediction; None where there is none.

    Raises:
        DataError: A prediction of what is not in the gold, or sides without ids that differ in length.

    Example:
        >>> gold = Keyed(Path("gold.jsonl"), {"egypt": Row("line 1", 1), "libya": Row("line 2", 2)})
        >>> [told and told.value for _, _, told in joined(gold, Keyed(Path("p"), {"libya": Row("line 1", 3)}))]
        [None, 3]
        >>> joined(gold, Keyed(Path("p.jsonl"), {"libia": Row("p.jsonl, line 1", 3)}))
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.DataError: p.jsonl, line 1: 'libia' is not in gold.jsonl; did you mean 'libya'?
    """
    without_ids = gold.by_order + predictions.by_order
    if without_ids == 2 or (without_ids and len(gold.rows) == len(predictions.rows) == 1):
        if len(gold.rows) != len(predictions.rows):
            sizes = f"{len(predictions.rows)} rows, but {gold.place} has {len(gold.rows)}"
            raise DataError(f"{predictions.place}: {sizes}; without ids both need equally many, paired in order")
        return list(zip(gold.rows, gold.rows.values(), predictions.rows.values(), strict=True))
    for side, other in ((gold, predictions), (predictions, gold)):
        if side.by_order:
            has = f"has no ids, but {other.place} has: {some(list(other.rows))}; expected ids in both"
            raise DataError(f"{side.place}: {has}, such as names of files or `id` in each object, or in neither")
    for name, row in predictions.rows.items():
        if name not in gold.rows:
            near = nearest(name, gold.rows) or f", which has {some(list(gold.rows))}"
            raise DataError(f"{row.where}: {name!r} is not in {gold.place}{near}")
    return [(name, row, predictions.rows.get(name)) for name, row in gold.rows.items()]


def some(names: Sequence[str]) -> str:
    """The first three names of many.

    Example:
        >>> some(["a", "b", "c", "d"]), some(["a"])
        ("'a', 'b', 'c' … (4)", "'a'")
    """
    listed = ", ".join(map(repr, names[:3]))
    return f"{listed} … ({len(names)})" if len(names) > 3 else listed


def missing_note(told: Iterable[tuple[str, object]], what: str, hence: str) -> list[str]:
    """What to say where ids have no prediction (None); nothing where all have one.

    Example:
        >>> missing_note([("egypt", None), ("libya", "2011-02-15: Protests.")], "topics", "scored 0")
        ["1 of 2 topics without a prediction ('egypt'): scored 0"]
    """
    found = dict(told)
    missing = [name for name, prediction in found.items() if prediction is None]
    return [f"{len(missing)} of {len(found)} {what} without a prediction ({some(missing)}): {hence}"] * bool(missing)


def files_in(place: Path) -> list[Path]:
    """A file itself, or the files in a folder, without those that only say what lies there.

    Raises:
        DataError: If there is nothing.
    """
    if not place.is_dir():
        return [place]
    visible = (file for file in sorted(place.iterdir()) if file.is_file() and not file.name.startswith("."))
    files = [file for file in visible if not file.stem.lower().startswith(_NO_DOCUMENTS)]
    if not files:
        raise DataError(f"{place}: no file in it, expected one a document, named by its id")
    return files


def _read_rows(file: Path, id_fields: Sequence[str], needs_ids: bool) -> Keyed:
    found = [Row(*row) for row in file_rows(file)]
    have_ids = any(isinstance(row.value, Mapping) and not row.value.keys().isdisjoint(id_fields) for row in found)
    only = found[0].value if len(found) == 1 and ".jsonl" in file.name else None
    if isinstance(only, list) and any(
        isinstance(row, Mapping) and not row.keys().isdisjoint(id_fields) for row in only
    ):
        raise DataError(f"{file}: a JSON array in one line, expected a row a line; name the file .json")
    if found and not needs_ids and not have_ids:
        return _numbered(file, found)
    return _named(file, ((str(field_of(row.value, id_fields, row.where)), row) for row in found))


def _numbered(place: Path, rows: Iterable[Row]) -> Keyed:
    named = _named(place, ((str(number), row) for number, row in enumerate(rows, start=1)))
    return replace(named, by_order=True)


def _named(place: Path, rows: Iterable[tuple[str, Row]]) -> Keyed:
    named: dict[str, Row] = {}
    for name, row in rows:
        if name in named:
            first = named[name].where.rpartition(", ")[2]
            raise DataError(f"{row.where}: duplicate id {name!r}, first on {first}; expected all of an id in one row")
        named[name] = row
    if not named:
        raise DataError(f"{place}: no row in it")
    return Keyed(place, named)
