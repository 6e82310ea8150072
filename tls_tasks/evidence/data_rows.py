"""Texts with gold objects, in one file or two -> documents whose gold objects fit the schema and quote the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import Rows, file_rows, split_files, text_lines
from tls_tasks.data.keyed import PREDICTION_FIELDS, Keyed, Row, joined, read_keyed
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.evidence.objects import ObjectReader
from tls_tasks.evidence.schema import read_schema
from tls_tasks.evidence.types import EvidenceSchema

JOURNALS, GOLD = "journals.jsonl", "gold.jsonl"
"""The two files of a folder: ``{"journal_id", "text"}`` and ``{"journal_id", "items"}`` a line."""

ID_FIELDS = ("journal_id", "id", "doc_id")
"""Fields that may hold the document's id; a row with none of them is numbered."""

TEXT_FIELDS = ("text", "full_text", "document")
"""Fields that may hold the text; the first one present is read."""

OBJECT_FIELDS = ("items", "objects", "references")
"""Fields that may hold the gold objects: a list, or a list as JSON text."""

ENTITY_FIELDS = ("ner_info", "entities")
"""Fields that may hold the gold as character offsets instead: a list of ``{"label", "start", "end"}``."""

_OFFSET_KEYS = {"label", "start", "end", "text"}
_MOST_MISPLACED = 0.1


@dataclass(frozen=True, slots=True)
class EvidenceDocument:
    """One document to extract from.

    Attributes:
        id: Unique within the data set.
        text: The full text.
        objects: The gold objects, each of which quotes the text verbatim; empty if there is nothing to find.
    """

    id: str
    text: str
    objects: tuple[Mapping[str, Any], ...]


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


class _EvidenceRow(DataRow):
    id: Id = named(*ID_FIELDS, default="")
    text: str = named(*TEXT_FIELDS)
    gold: Annotated[list[Any], BeforeValidator(_from_json)] = named(*OBJECT_FIELDS, *ENTITY_FIELDS)


def read_rows(
    schema: EvidenceSchema, rows: Iterable[tuple[str, Any]], *, strict: bool = True
) -> tuple[EvidenceDocument, ...]:
    """Turn rows into documents, in the same order.

    Args:
        schema: What the objects must look like.
        rows: Pairs of a place, for error messages, and an object with one of :data:`TEXT_FIELDS` and one of
            :data:`OBJECT_FIELDS` or :data:`ENTITY_FIELDS`. One of :data:`ID_FIELDS` is optional.
        strict: Whether a gold object must fit the schema and quote the text verbatim, or only have a domain and a span.

    Raises:
        DataError: There are no rows, a row lacks a field, two documents share an id, or a gold object violates the
            schema or quotes something that is not in the text, which would make every score wrong.

    Example:
        >>> from tls_tasks.evidence.types import EvidenceSchema
        >>> row = {"id": 7, "text": "No fever.", "entities": [{"label": "symptom", "start": 3, "end": 8}]}
        >>> read_rows(EvidenceSchema("s", ("symptom",)), [("line 1", row)])[0].objects
        ({'domain': 'symptom', 'evidence_span': 'fever'},)
    """
    reader = ObjectReader(schema)
    documents: dict[str, EvidenceDocument] = {}
    for index, (where, value) in enumerate(rows):
        row = read_model(_EvidenceRow, value, where)
        objects = row.gold
        if all(value.get(name) is None for name in OBJECT_FIELDS):
            objects = _from_offsets(schema, objects, row.text, where)
        objects = [_without_nulls(entry) for entry in objects]
        for number, entry in enumerate(objects, start=1):
            _check(reader, entry, row.text if strict else None, f"{where}, object {number}")
        document = EvidenceDocument(row.id or str(index), row.text, tuple(objects))
        if document.id in documents:
            raise DataError(f"{where}: a second document with the id {document.id!r}")
        documents[document.id] = document
    if not documents:
        raise DataError("no row in the data")
    return tuple(documents.values())


def _without_nulls(value: Any) -> Any:
    """Undo what Parquet does: it gives every object the keys of all objects, null where a key was absent."""
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value


def _from_offsets(schema: EvidenceSchema, entities: list[Any], text: str, where: str) -> list[dict[str, Any]]:
    """The entities whose label is a domain of the schema, as objects.

    A quote doesn't say which of two identical passages it comes from, so each passage counts once per domain.
    """
    domains = {domain.upper(): domain for domain in schema.domains}
    objects: dict[tuple[str, str], dict[str, Any]] = {}
    n_misplaced = 0
    for number, entity in enumerate(entities, start=1):
        if not isinstance(entity, Mapping) or "label" not in entity:
            raise DataError(f"{where}, entity {number}: expected an object with label, start and end, got {entity!r}")
        domain = domains.get(str(entity["label"]).upper())
        if domain is None:
            continue
        start, end = entity.get("start"), entity.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            got = f"got {start!r} and {end!r}"
            raise DataError(f"{where}, entity {number}: start and end must be offsets in a text of {len(text)}, {got}")
        span = text[start:end]
        n_misplaced += str(entity.get("text", span)).split() != span.split()
        others = {key: value for key, value in entity.items() if key not in _OFFSET_KEYS}
        objects.setdefault((domain, span), {schema.domain_field: domain, schema.span_field: span, **others})
    # A few legitimately differ, because they join two passages; many differ if the offsets belong to another text.
    if n_misplaced > _MOST_MISPLACED * len(entities):
        raise DataError(f"{where}: the offsets of {n_misplaced} of {len(entities)} entities don't point at their text")
    return list(objects.values())


_UNUSABLE = frozenset({"missing_domain", "invalid_domain", "missing_span", "invalid_span"})


def _check(reader: ObjectReader, value: Any, text: str | None, where: str) -> None:
    """Refuse a gold object that can't be scored or, with the text that it quotes, that doesn't fit."""
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: expected an object, got {type(value).__name__}")
    entry = reader.read(value)
    with_default = {f"missing_{attribute.name}" for attribute in reader.schema.attributes if attribute.default}
    issues = [issue for issue in entry.issues if (issue in _UNUSABLE if text is None else issue not in with_default)]
    if issues:
        raise DataError(f"{where}: {', '.join(issues)} in {json.dumps(value, ensure_ascii=False)}")
    if text is not None and str(entry.span) not in text:
        raise DataError(f"{where}: {reader.schema.span_field} {entry.span!r} is not verbatim in the text")


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


def _paired_rows(journals: Path, gold: Path) -> Iterator[tuple[str, Any]]:
    """The rows of journals, each with its gold objects; the place is that of the gold.

    Raises:
        DataError: If a file can't be read, an id stands twice in one, or is in one of the two only.
    """
    for name, journal, row in joined(*(read_keyed(place, ID_FIELDS, needs_ids=True) for place in (journals, gold))):
        if row is None:
            hint = '"items": [] says that there is nothing to find'
            raise DataError(f"{journal.where}: {gold} has no row for {name!r}; {hint}")
        yield row.where, {"id": name, "text": journal.field(TEXT_FIELDS), "items": row.field(OBJECT_FIELDS)}


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
    predicted = read_keyed(predictions, ID_FIELDS, needs_ids=True, of_a_model=True)
    return documents, {name: row and _prediction(row) for name, _, row in joined(known, predicted)}


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
