"""Rows of a data set of trees: text, schema and reference, in the forms in which people have them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.data.files import ENDINGS
from tls_tasks.data.keyed import PREDICTION_FIELDS, joined, read_keyed, said_of
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.data.order import distinct
from tls_tasks.trees.compliance import slips
from tls_tasks.trees.rows import read_prediction, read_reference
from tls_tasks.trees.schema import read_schema

_TEXT_FIELDS = ("text", "document", "input")
"""Fields that hold the document; the first that a row has is read."""

REFERENCE_FIELDS = ("reference", "item", "output")
"""Fields that hold the reference tree; the first that a row has is read."""

ID_FIELDS = ("id", "doc_id")
"""Fields that hold the document's name; without one it is the number of the row."""


class _TreeRow(DataRow):
    """A row of a data set; one without an id is numbered."""

    id: Id = named(*ID_FIELDS, default="")
    title: Any = None
    text: str = named(*_TEXT_FIELDS)
    json_schema: Any = named("schema")
    reference: Any = named(*REFERENCE_FIELDS)


@dataclass(frozen=True, slots=True)
class TreeDocument:
    """One document to take a tree from.

    Attributes:
        id: Its name, unique in the data set.
        kind: What sort of document it is: the name of its schema, or the row's ``title``; may be empty.
        text: The text, whole.
        schema: JSON text of the schema, in the form in which it was given.
        reference: JSON text of the reference tree.
    """

    id: str
    kind: str
    text: str
    schema: str
    reference: str


def read_rows(
    name: str, rows: Iterable[tuple[str, Any]], schemas: Mapping[str, Any] | None = None
) -> tuple[TreeDocument, ...]:
    """Make documents of rows, in the order of the rows.

    Args:
        name: Name of the data set, for messages.
        rows: Each with its place for messages: an object with one of :data:`_TEXT_FIELDS`; with ``schema``, which is a
            schema, JSON text of one, or a name of ``schemas``; with one of :data:`REFERENCE_FIELDS`, which is a tree
            or JSON text of one; and perhaps with one of :data:`ID_FIELDS` and ``title``.
        schemas: Schemas that rows may name.

    Raises:
        DataError: If there is no row, a row lacks a field, a schema or a tree can't be read, a tree has a value of
            another type than its schema or a key that its schema lacks, or two documents have one id.

    Example:
        >>> row = {"id": "s1", "text": "Song: Rain.", "schema": "song", "reference": {"song_name": "Rain"}}
        >>> read_rows("tree_extraction", [("line 1", row)], {"song": {"song_name": "string"}})[0].reference
        '{"song_name": "Rain"}'
    """
    documents = [read_row(where, row, index, schemas or {}) for index, (where, row) in enumerate(rows)]
    return distinct(name, documents)


def read_row(where: str, row: Any, index: int, schemas: Mapping[str, Any]) -> TreeDocument:
    """One row; see :func:`read_rows`.

    Raises:
        DataError: If it is no document.
    """
    read = read_model(_TreeRow, row, where)
    kind, schema = read.title if isinstance(read.title, str) else "", read.json_schema
    if isinstance(schema, str) and not _is_json_text(schema):
        if schema not in schemas:
            known = ", ".join(map(repr, schemas)) or "none: there is no schemas.json beside the file"
            raise DataError(f"{where}: schema names {schema!r}; the schemas are {known}")
        kind, schema = schema, schemas[schema]
    if not isinstance(schema, Mapping | list) and not _is_json_text(schema):
        raise DataError(f"{where}: schema must be an object or a list, got {schema!r}")
    try:
        issues = slips(read_reference(read.reference, None), read_schema(schema))
    except InputError as error:
        raise DataError(f"{where}: {error}") from error
    if issues:
        raise DataError(f"{where}: reference: got {issues[0]}, expected a tree of its schema")
    return TreeDocument(read.id or str(index), kind, read.text, _json_text(schema), _json_text(read.reference))


def _is_json_text(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(("{", "["))


def _json_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- files of references and predictions, joined by id ---


class TreeRow(NamedTuple):
    """A prediction as it was written (None: there is none) and its reference."""

    id: str
    prediction: Any
    reference: Any


def holds_many(place: Path) -> bool:
    """Whether a place is a folder or a file of rows, and not one tree."""
    return place.is_dir() or place.name.endswith(tuple(ending for ending in ENDINGS if ending != ".json"))


def read_trees(predictions: Path, references: Path) -> list[TreeRow]:
    """Read both sides and join them.

    Args:
        predictions: Rows with one of :data:`~tls_tasks.data.keyed.PREDICTION_FIELDS`, or trees by name.
        references: The same with one of :data:`~tls_tasks.trees.data.REFERENCE_FIELDS`.

    Raises:
        DataError: A place that can't be read, what is no tree, or a prediction that has no reference.
    """
    told = read_keyed(predictions, ID_FIELDS, of_a_model=True)
    rows = []
    for name, own, other in joined(read_keyed(references, ID_FIELDS), told):
        with said_of(own):
            reference, prediction = read_reference(own.field(REFERENCE_FIELDS), None), None
        if other is not None:
            with said_of(other):
                prediction = other.field((*PREDICTION_FIELDS, *REFERENCE_FIELDS))
                read_prediction(prediction, None)
        rows.append(TreeRow(name, prediction, reference))
    return rows
