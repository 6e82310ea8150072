"""Columns of predictions, references and sources, row by row.

A row of objects is model text, a JSON string, a list of objects, or an object around such a list (``{"items": [...]}``,
``{"food": [...]}``). Text in ``predictions`` comes from a model and never raises. Whatever else is no object, and
objects of ``references`` without domain or span, come from the caller and raise, naming row and field. A prediction
that is None is an answer in which nothing can be read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError, describe, shorten, warn_caller
from tls_tasks.core.parsed import Problem
from tls_tasks.core.rows import no_class, read_columns
from tls_tasks.evidence.read import ObjectReader, ParsedEvidence, parse_objects
from tls_tasks.evidence.types import EvidenceObject, EvidenceSchema

_FORMS = "model text, a JSON string, a list of objects, or an object around such a list"

# A model's answer is read as far as it can be; a reference that would lose an object must not be scored against.
_LOSSES = ("bad_entry", "truncated", "broken_json")

_NESTED = (dict, list, tuple, Mapping)  # as isinstance takes it fastest

Row = tuple[ParsedEvidence, tuple[EvidenceObject, ...], str | None]
"""How the prediction was read, the reference's objects, and the text that both quote, if it is known."""


def read_rows(predictions: Any, references: Any, sources: Any, schema: EvidenceSchema) -> Iterator[Row]:
    """All three columns row by row; ``sources`` may be None.

    Raises:
        InputError: A column that is none, columns of unequal length, or a row that does not fit.

    Warns:
        UserWarning: Objects of references break the schema; attributes that they lack are just not compared.
    """
    columns = {"predictions": predictions, "references": references, "sources": sources}
    predictions, references, sources = read_columns(**columns)
    reader = ObjectReader(schema)
    texts = [None] * len(predictions) if sources is None else sources
    flaws: list[str] = []
    for index, (prediction, reference, text) in enumerate(zip(predictions, references, texts, strict=True)):
        _check_source(text, index)
        if prediction is None:
            told = ParsedEvidence(None)
        elif isinstance(prediction, str):
            told = parse_objects(prediction, reader)
        else:
            told = ParsedEvidence(_structured(prediction, "predictions", index, reader), (), "json")
        yield told, _read_reference(reference, index, reader, flaws), text
    if flaws:
        warn_caller(f"reference objects break the schema; issues: {len(flaws)}, the first {flaws[0]}", UserWarning)


def check_row(row: Any, field: str, index: int) -> None:
    """Refuse a row that fits under no schema; what its objects must have is known only when they are scored."""
    if field == "sources":
        _check_source(row, index)
    elif not isinstance(row, str) and not (field == "predictions" and row is None):
        _check_objects(row, field, index)


as_plain = no_class
"""Rows of objects hold plain values only."""


def _read_reference(row: Any, index: int, reader: ObjectReader, flaws: list[str]) -> tuple[EvidenceObject, ...]:
    """The objects of a row; ``flaws`` takes how they break the schema, but for what they lack: it is not compared."""
    if isinstance(row, str):
        parsed = parse_objects(row, reader)
        if parsed.value is None:
            raise InputError("references", index, f"text without objects ({describe(row)})", _FORMS)
        for noted in parsed.problems:
            if noted.kind in _LOSSES:
                raise InputError("references", index, f"text that can't be read whole ({noted.detail})", _FORMS)
        objects = parsed.value
    else:
        objects = _structured(row, "references", index, reader)
    for position, entry in enumerate(objects):
        if entry.domain is None or entry.span is None:
            keys = f"{reader.schema.domain_field!r} and {reader.schema.span_field!r}"
            got = describe(dict(entry.fields))
            raise InputError(f"references[{index}]", position, got, f"an object with texts under {keys}")
        flaws += [f"references[{index}][{position}]: {one}" for one in entry.issues if not one.startswith("missing_")]
    return objects


def _check_source(row: Any, index: int) -> None:
    if not isinstance(row, str | None):
        raise InputError("sources", index, describe(row), "the text that the objects quote, a str, or None")


def _structured(row: Any, column: str, index: int, reader: ObjectReader) -> tuple[EvidenceObject, ...]:
    """The objects of a row that is no text."""
    _check_objects(row, column, index)
    if isinstance(row, Mapping) and isinstance(row.get(reader.schema.span_field), str):
        raise InputError(column, index, f"one object {shorten(row)}", "a list of objects; did you mean [[{…}, …]]?")
    objects = []
    for entry in reader.raw(row):
        if not isinstance(entry, Problem):
            objects.append(reader.read(entry))
        elif entry.kind != "unread":
            raise InputError(column, index, f"something that is no object ({entry.detail})", _FORMS)
    return tuple(objects)


def _check_objects(row: Any, column: str, index: int) -> None:
    """Refuse what is neither an object nor a list of such or of lists."""
    if isinstance(row, bytes) or not isinstance(row, Mapping | Sequence):
        raise InputError(column, index, describe(row), _FORMS)
    for position, entry in enumerate(() if isinstance(row, Mapping) else row):
        if not isinstance(entry, _NESTED):
            raise InputError(f"{column}[{index}]", position, describe(entry), "an object with keys")
