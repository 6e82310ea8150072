"""The files that extraction data come in: texts with their gold in one file, or journals and gold in two."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import file_rows, json_lines, split_files, text_lines
from tls_tasks.evidence.data_rows import ID_FIELDS, OBJECT_FIELDS, TEXT_FIELDS, field_of
from tls_tasks.evidence.schema import read_schema
from tls_tasks.evidence.types import EvidenceSchema

JOURNALS, GOLD = "journals.jsonl", "gold.jsonl"
"""The two files of a folder: ``{"journal_id", "text"}`` and ``{"journal_id", "items"}`` a line."""

Rows = Iterator[tuple[str, Any]]


def rows_at(place: Path) -> Rows:
    """The rows of a file, or of a folder: of its two files, or of its files of rows.

    Args:
        place: A folder with :data:`JOURNALS` and :data:`GOLD`; any other folder, or a file, as
            :func:`~tls_tasks.data.files.split_files` and :func:`~tls_tasks.data.files.file_rows` read it.

    Raises:
        DataError: If there is no such file, or it can't be read.
    """
    if (place / JOURNALS).is_file():
        yield from _paired_rows(place / JOURNALS, place / GOLD)
        return
    for file in split_files(place, "test"):
        yield from file_rows(file)


def _paired_rows(journals: Path, gold: Path) -> Rows:
    """The rows of journals, each with its gold objects; the place is that of the gold.

    Raises:
        DataError: If a file can't be read, an id stands twice in one, or is in one of the two only.
    """
    texts, items = _rows_by_id(journals), _rows_by_id(gold)
    _refuse_unknown(items, texts, journals)
    for name, (where, row) in texts.items():
        if name not in items:
            raise DataError(f'{where}: {gold} has no line for {name!r}; "items": [] says that there is nothing to find')
        place, gold_row = items[name]
        text, objects = field_of(row, TEXT_FIELDS, where), field_of(gold_row, OBJECT_FIELDS, place)
        yield place, {"id": name, "text": text, "items": objects}


class _Scorable(NamedTuple):
    """Journals, gold and predictions, row by row in the order of the journals.

    Attributes:
        ids: The journals' names.
        texts: The journals.
        gold: The gold objects of each.
        predictions: What was predicted for each, as text: model text, or JSON of what the file has.
        unpredicted: How many journals have no line in the file of predictions; theirs is ``[]``.
        misquoted: Places of gold objects whose quote is not verbatim in its journal.
    """

    ids: list[str]
    texts: list[str]
    gold: list[list[Any]]
    predictions: list[str]
    unpredicted: int
    misquoted: list[str]


def read_three(journals: Path, gold: Path, predictions: Path, schema: EvidenceSchema) -> _Scorable:
    """Read the three files of a scoring: what comes from a model is kept as it is, what is gold must have its keys.

    Args:
        journals: JSON Lines with one of :data:`ID_FIELDS` and one of :data:`TEXT_FIELDS`.
        gold: JSON Lines with an id and one of :data:`OBJECT_FIELDS`, one line a journal.
        predictions: The same, with objects or a model's text; a journal without a line has no predictions.
        schema: Which keys hold domain and span.

    Raises:
        DataError: If a file can't be read, there is no journal, a line lacks a field, an id stands twice or is of no
            journal, a journal has no gold, or a gold object no domain or no span; names file and line.
    """
    told = _rows_by_id(predictions)
    found = _Scorable([], [], [], [], 0, [])
    for where, row in _paired_rows(journals, gold):
        if not isinstance(row["text"], str):
            raise DataError(f"{where}: the journal must be text, got {type(row['text']).__name__}")
        found.ids.append(row["id"])
        found.texts.append(row["text"])
        found.gold.append(list(_gold_objects(row["items"], where, schema)))
        found.misquoted.extend(
            f"{where}, object {number}"
            for number, entry in enumerate(row["items"], start=1)
            if entry[schema.span_field] not in row["text"]
        )
        items: Any = []
        if row["id"] in told:
            place, prediction = told[row["id"]]
            items = field_of(prediction, OBJECT_FIELDS, place)
        # Given as text, all is read as what a model wrote, which never raises.
        found.predictions.append(items if isinstance(items, str) else json.dumps(items))
    if not found.ids:
        raise DataError(f"{journals}: no journal in it")
    _refuse_unknown(told, found.ids, journals)
    return found._replace(unpredicted=len(found.ids) - len(told))


def _refuse_unknown(rows: Mapping[str, tuple[str, Any]], ids: Container[str], journals: Path) -> None:
    for name, (where, _) in rows.items():
        if name not in ids:
            raise DataError(f"{where}: no journal has the id {name!r}; the journals are in {journals}")


def _gold_objects(value: Any, where: str, schema: EvidenceSchema) -> Iterator[Any]:
    if not isinstance(value, list):
        raise DataError(f"{where}: expected a list of objects, got {type(value).__name__}")
    for number, entry in enumerate(value, start=1):
        for key in (schema.domain_field, schema.span_field):
            if not isinstance(field_of(entry, (key,), f"{where}, object {number}"), str):
                raise DataError(f"{where}, object {number}: {key} must be text, got {type(entry[key]).__name__}")
        yield entry


def _rows_by_id(file: Path) -> Mapping[str, tuple[str, Any]]:
    """The rows of a JSON Lines file by id, each with its place.

    Raises:
        DataError: If the file can't be read, a row has no id or one that another row has.
    """
    rows: dict[str, tuple[str, Any]] = {}
    for where, row in json_lines(file):
        name = str(field_of(row, ID_FIELDS, where))
        if name in rows:
            raise DataError(f"{where}: duplicate id {name!r}, first on {rows[name][0].rpartition(', ')[2]}")
        rows[name] = (where, row)
    return rows


def schema_at(file: Path) -> EvidenceSchema:
    """The schema in a JSON file, in the form of :func:`~tls_tasks.evidence.schema.read_schema`.

    Raises:
        DataError: If the file can't be read or is no JSON; InputError if it is no schema.
    """
    try:
        value = json.loads("".join(text_lines(file)))
    except ValueError as error:
        raise DataError(f"{file}: not JSON: {error}") from error
    return read_schema(value)
