"""Rows of evidence-grounded objects in every form a caller may have them, and the texts they quote.

A row is model text, a JSON string, a list of objects (mappings or ``EvidenceObject``), or an object
around such a list (``{"items": [...]}``, ``{"food": [...]}``).

Text in ``predictions`` comes from a model, and so does what an object says: it is read as far as it can be and never
raises. What is no object, and objects of ``references`` without domain or span, come from the caller, and raise,
naming row and field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError
from tls_tasks.core.parsed import Problem
from tls_tasks.core.text_rows import describe
from tls_tasks.evidence.objects import ObjectReader
from tls_tasks.evidence.read import ParsedEvidence, parse_objects
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceObject, EvidenceSchema

FORMS = "model text, a JSON string, a list of objects, or an object around such a list"

# A model's answer is read as far as it can be; a reference that would lose an object must not be scored against.
_LOSSES = ("bad_entry", "truncated", "broken_json")


class EvidenceRow(NamedTuple):
    """One document.

    Attributes:
        predicted: The predicted objects; none if the prediction can't be read.
        wanted: The reference's objects.
        source: The text that both quote, if it is known.
        parsed: How the prediction was read.
    """

    predicted: tuple[EvidenceObject, ...]
    wanted: tuple[EvidenceObject, ...]
    source: str | None
    parsed: ParsedEvidence


def read_rows(predictions: Any, references: Any, sources: Any, schema: EvidenceSchema) -> list[EvidenceRow]:
    """All three columns row by row.

    Args:
        predictions: One row a document, in any form.
        references: The same.
        sources: One text a document; None for one that is not known, or for all of them.
        schema: The schema of the objects.

    Raises:
        InputError: A column that is none, columns of unequal length, or a row that doesn't fit.
    """
    _check_columns(predictions, references, sources)
    reader = ObjectReader(schema)
    rows = []
    texts = sources if sources is not None else [None] * len(predictions)
    for index, (prediction, reference, source) in enumerate(zip(predictions, references, texts, strict=True)):
        parsed = read_prediction(prediction, index, reader)
        wanted = read_reference(reference, index, reader)
        rows.append(EvidenceRow(parsed.value or (), wanted, read_source(source, index), parsed))
    return rows


def read_prediction(row: Any, index: int, reader: ObjectReader) -> ParsedEvidence:
    """Read one predictions row.

    Raises:
        InputError: None, NaN, a number, or a list of something else than objects.

    Example:
        >>> from tls_tasks.evidence.types import JOURNAL_SCHEMA
        >>> reader = ObjectReader(JOURNAL_SCHEMA)
        >>> read_prediction("I found nothing.", 0, reader).failed
        True
        >>> read_prediction(["Had tea"], 3, reader)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: predictions[3][0]: got str 'Had tea', expected an object, {'domain': …}
    """
    if isinstance(row, str):
        return parse_objects(row, reader)
    return ParsedEvidence(_structured(row, "predictions", index, reader), (), "json")


def read_reference(row: Any, index: int, reader: ObjectReader) -> tuple[EvidenceObject, ...]:
    """Read one references row.

    Raises:
        InputError: As :func:`read_prediction`, and: text in which something can't be read, and an object without domain
            or span.
    """
    if isinstance(row, str):
        parsed = parse_objects(row, reader)
        if parsed.value is None:
            raise InputError("references", index, f"text without objects ({describe(row)})", FORMS)
        for noted in parsed.problems:
            if noted.kind in _LOSSES:
                raise InputError("references", index, f"text that can't be read whole ({noted.detail})", FORMS)
        objects = parsed.value
    else:
        objects = _structured(row, "references", index, reader)
    for position, one in enumerate(objects):
        if one.domain is None or one.span is None:
            keys = f"{reader.schema.domain_field!r} and {reader.schema.span_field!r}"
            got = describe(dict(one.fields))
            raise InputError(f"references[{index}]", position, got, f"an object with texts under {keys}")
    return objects


def read_source(row: Any, index: int) -> str | None:
    """Read one sources row: a text, or None.

    Raises:
        InputError: Anything else.
    """
    if row is None or isinstance(row, str):
        return row
    raise InputError("sources", index, describe(row), "the text that the objects quote, a str, or None")


def _check_columns(predictions: Any, references: Any, sources: Any) -> None:
    columns = {"predictions": predictions, "references": references}
    if sources is not None:
        columns["sources"] = sources
    for name, column in columns.items():
        if isinstance(column, str | bytes | dict) or not hasattr(column, "__len__") or not hasattr(column, "__iter__"):
            raise InputError(name, None, describe(column), "a list with one row a document")
        if len(column) != len(predictions):
            raise InputError(name, None, f"{len(column)} rows", f"{len(predictions)}, as many as predictions")


def _structured(row: Any, column: str, index: int, reader: ObjectReader) -> tuple[EvidenceObject, ...]:
    """The objects of a row that is no text."""
    objects = []
    for one in reader.raw(_plain_row(row, column, index, reader.schema)):
        if isinstance(one, Problem):
            raise InputError(column, index, f"something that is no object ({one.detail})", FORMS)
        objects.append(reader.read(one))
    return tuple(objects)


def _plain_row(row: Any, column: str, index: int, schema: EvidenceSchema) -> Any:
    """A row that is no text as lists and mappings."""
    if isinstance(row, EvidenceObject | Mapping):
        return _plain(row, schema)
    if isinstance(row, bytes) or not isinstance(row, Sequence):
        raise InputError(column, index, describe(row), FORMS)
    for position, one in enumerate(row):
        if type(one) is not dict and not isinstance(one, Mapping | EvidenceObject | list | tuple):
            raise InputError(
                f"{column}[{index}]", position, describe(one), f"an object, {{{schema.domain_field!r}: …}}"
            )
    return [_plain(one, schema) for one in row]


def _plain(one: Any, schema: EvidenceSchema) -> Any:
    """An object's fields, so that it is read by the schema of today."""
    if not isinstance(one, EvidenceObject):
        return one
    given = {schema.domain_field: one.domain, schema.span_field: one.span}
    return {**{key: value for key, value in given.items() if value is not None}, **one.fields}


def pack_batch(predictions: Any, references: Any, sources: Any = None) -> dict[str, list[str]]:
    """All columns with every row as one JSON string, for tables that keep strings only; a missing source is ``null``.

    What a row's objects must have is known only with the schema, when they are scored.

    Raises:
        InputError: A row that fits under no schema, or holds a value that JSON doesn't have.

    Example:
        >>> pack_batch(["[]"], [[{"domain": "food", "evidence_span": "tea"}]])
        {'predictions': ['"[]"'], 'references': ['[{"domain": "food", "evidence_span": "tea"}]'], 'sources': ['null']}
    """
    _check_columns(predictions, references, sources)
    texts = sources if sources is not None else [None] * len(predictions)
    return {
        "predictions": [_pack(row, "predictions", index) for index, row in enumerate(predictions)],
        "references": [_pack(row, "references", index) for index, row in enumerate(references)],
        "sources": [json.dumps(read_source(source, index)) for index, source in enumerate(texts)],
    }


def _pack(row: Any, column: str, index: int) -> str:
    try:
        return json.dumps(row if isinstance(row, str) else _plain_row(row, column, index, JOURNAL_SCHEMA))
    except InputError:
        raise
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(column, index, f"a value that JSON doesn't have ({error})", FORMS) from None


def unpack_batch(column: Iterable[str]) -> list[Any]:
    """A packed column, row by row: a text, a list of objects, or None.

    Example:
        >>> unpack_batch(['null', '"[]"'])
        [None, '[]']
    """
    return [json.loads(packed) for packed in column]
