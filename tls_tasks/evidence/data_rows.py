"""Rows of an extraction data set -> documents whose gold objects fit the schema and quote the text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import field_of
from tls_tasks.evidence.objects import ObjectReader
from tls_tasks.evidence.types import EvidenceSchema

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
    documents: dict[str, EvidenceDocument] = {}
    for index, (where, row) in enumerate(rows):
        document = _document(schema, where, row, index, strict)
        if document.id in documents:
            raise DataError(f"{where}: a second document with the id {document.id!r}")
        documents[document.id] = document
    if not documents:
        raise DataError("no row in the data")
    return tuple(documents.values())


def _document(schema: EvidenceSchema, where: str, row: Any, index: int, strict: bool) -> EvidenceDocument:
    text = field_of(row, TEXT_FIELDS, where)
    if not isinstance(text, str):
        raise DataError(f"{where}: {'/'.join(TEXT_FIELDS)} must be text, got {type(text).__name__}")
    found = field_of(row, (*OBJECT_FIELDS, *ENTITY_FIELDS), where)
    values = _list(found, where)
    if any(row.get(name) is found for name in ENTITY_FIELDS):
        values = _from_offsets(schema, values, text, where)
    values = [_without_nulls(value) for value in values]
    for number, value in enumerate(values, start=1):
        _check(ObjectReader(schema), value, text if strict else None, f"{where}, object {number}")
    name = next((row[field] for field in ID_FIELDS if row.get(field) not in (None, "")), index)
    return EvidenceDocument(str(name), text, tuple(values))


def _list(value: Any, where: str) -> list[Any]:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise DataError(f"{where}: the objects are not JSON: {error}") from error
    if not isinstance(value, list):
        raise DataError(f"{where}: expected a list of objects, got {type(value).__name__}")
    return value


def _without_nulls(value: Any) -> Any:
    """Undo what Parquet does: it gives every object the keys of all objects, null where a key was absent."""
    return {key: item for key, item in value.items() if item is not None} if isinstance(value, Mapping) else value


def _from_offsets(schema: EvidenceSchema, entities: list[Any], text: str, where: str) -> list[dict[str, Any]]:
    """The entities whose label is a domain of the schema, as objects.

    A quote doesn't say which of two identical passages it comes from, so each passage counts once per domain.
    """
    domains = {domain.upper(): domain for domain in schema.domains}
    objects: dict[tuple[str, str], dict[str, Any]] = {}
    misplaced = 0
    for number, entity in enumerate(entities, start=1):
        place = f"{where}, entity {number}"
        domain = domains.get(str(field_of(entity, ("label",), place)).upper())
        if domain is None:
            continue
        span = _slice(text, entity, place)
        misplaced += " ".join(str(entity.get("text", span)).split()) != " ".join(span.split())
        others = {key: value for key, value in entity.items() if key not in _OFFSET_KEYS}
        objects.setdefault((domain, span), {schema.domain_field: domain, schema.span_field: span, **others})
    # A few legitimately differ, because they join two passages; many differ if the offsets belong to another text.
    if misplaced > _MOST_MISPLACED * len(entities):
        raise DataError(f"{where}: the offsets of {misplaced} of {len(entities)} entities don't point at their text")
    return list(objects.values())


def _slice(text: str, entity: Mapping[str, Any], where: str) -> str:
    start, end = entity.get("start"), entity.get("end")
    if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
        raise DataError(f"{where}: start and end must be offsets in a text of {len(text)}, got {start!r} and {end!r}")
    return text[start:end]


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
