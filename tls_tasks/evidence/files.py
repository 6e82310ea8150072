"""The files that extraction data come in: texts with their gold in one file, or journals and gold in two."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import file_rows, json_lines, split_files, text_lines
from tls_tasks.evidence.data_rows import (
    ID_FIELDS,
    OBJECT_FIELDS,
    TEXT_FIELDS,
    EvidenceDocument,
    field_of,
    read_rows,
)
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


def read_three(
    journals: Path, gold: Path, predictions: Path, schema: EvidenceSchema
) -> tuple[tuple[EvidenceDocument, ...], list[str | None]]:
    """Read the three files of a scoring.

    Args:
        journals: JSON Lines with one of :data:`ID_FIELDS` and one of :data:`TEXT_FIELDS`.
        gold: JSON Lines with an id and one of :data:`OBJECT_FIELDS`, one line a journal.
        predictions: The same, with objects or a model's text.
        schema: What the gold objects must look like.

    Returns:
        The journals with their gold, and what was predicted for each as text (model text, or JSON of what the file
        has); None for a journal without predictions.

    Raises:
        DataError: If a file can't be read, a line lacks a field, an id stands twice or is of no journal, or the gold
            has an object without domain or span; names file and line.
    """
    told = _rows_by_id(predictions)
    documents = read_rows(schema, _paired_rows(journals, gold), strict=False)
    _refuse_unknown(told, [document.id for document in documents], journals)
    return documents, [_prediction(*told[document.id]) if document.id in told else None for document in documents]


def _prediction(where: str, row: Any) -> str:
    """What was predicted as text: all is read as what a model wrote, which never raises."""
    items = field_of(row, OBJECT_FIELDS, where)
    return items if isinstance(items, str) else json.dumps(items)


def _refuse_unknown(rows: Mapping[str, tuple[str, Any]], ids: Container[str], journals: Path) -> None:
    for name, (where, _) in rows.items():
        if name not in ids:
            raise DataError(f"{where}: no journal has the id {name!r}; the journals are in {journals}")


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
