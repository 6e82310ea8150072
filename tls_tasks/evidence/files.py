"""The files that extraction data come in: texts with their gold in one file, or journals and gold in two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import file_rows, split_files, text_lines
from tls_tasks.data.keyed import PREDICTION_FIELDS, Keyed, Row, joined, read_keyed
from tls_tasks.evidence.data_rows import ID_FIELDS, OBJECT_FIELDS, TEXT_FIELDS, EvidenceDocument, read_rows
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
    for name, journal, found in joined(*(read_keyed(place, ID_FIELDS, needs_ids=True) for place in (journals, gold))):
        if found is None:
            said = f'{gold} has no row for {name!r}; "items": [] says that there is nothing to find'
            raise DataError(f"{journal.where}: {said}")
        yield found.where, {"id": name, "text": journal.field(TEXT_FIELDS), "items": found.field(OBJECT_FIELDS)}


def read_three(
    journals: Path, gold: Path, predictions: Path, schema: EvidenceSchema
) -> tuple[tuple[EvidenceDocument, ...], dict[str, str | None]]:
    """Read the three files of a scoring, each of which may be a folder with a file a journal.

    Args:
        journals: Rows with one of :data:`ID_FIELDS` and one of :data:`TEXT_FIELDS`.
        gold: Rows with an id and one of :data:`OBJECT_FIELDS`, one a journal.
        predictions: The same, with objects or a model's text.
        schema: What the gold objects must look like.

    Returns:
        The journals with their gold, and what was predicted for each as text (model text, or JSON of what the file
        has), by id; None for a journal without a prediction.

    Raises:
        DataError: If a file can't be read, a row lacks a field, an id stands twice or is of no journal, or the gold
            has an object without domain or span; names file and line.
    """
    documents = read_rows(schema, _paired_rows(journals, gold), strict=False)
    known = Keyed(journals, {document.id: Row(document.id, document) for document in documents})
    told = read_keyed(predictions, ID_FIELDS, needs_ids=True, of_a_model=True)
    return documents, {name: row and _prediction(row) for name, _, row in joined(known, told)}


def _prediction(row: Row) -> str:
    """What was predicted as text: all is read as what a model wrote, which never raises."""
    items = row.field((*OBJECT_FIELDS, *PREDICTION_FIELDS))
    return items if isinstance(items, str) else json.dumps(items)


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
