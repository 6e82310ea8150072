"""Columns of predictions, references and sources, row by row.

A row of objects is model text, a JSON string, a list of objects, or an object around such a list (``{"items": [...]}``,
``{"food": [...]}``). Text in ``predictions`` comes from a model and never raises. Whatever else is no object, and
objects of ``references`` without domain or span, come from the caller and raise, naming row and field. A prediction of
None counts as an answer in which nothing can be read.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError, describe, shorten, warn_caller
from tls_tasks.core.parsed import Problem
from tls_tasks.core.rows import no_class, read_columns
from tls_tasks.evidence.read import ObjectReader, ParsedEvidence, parse_objects
from tls_tasks.evidence.types import EvidenceObject, EvidenceSchema

_FORMS = "model text, a JSON string, a list of objects, or an object around such a list"

# Problems of a model's answer that are errors of a reference: an object would be lost, and the scores be wrong.
_LOSSES = ("bad_entry", "truncated", "broken_json")

_NESTED = (dict, list, tuple, Mapping)  # the order in which isinstance is fastest

Row = tuple[ParsedEvidence, tuple[EvidenceObject, ...], str | None]
"""(Prediction as it was read, reference objects, text that both quote, or None if it is unknown)."""


def read_rows(predictions: Any, references: Any, sources: Any, schema: EvidenceSchema) -> Iterator[Row]:
    """Yield the rows of the three columns; ``sources`` may be None.

    Raises:
        InputError: A value that is no column, columns of unequal length, or a row that does not fit.

    Warns:
        UserWarning: Objects of references break the schema; attributes that they lack are not compared.
    """
    columns = {"predictions": predictions, "references": references, "sources": sources}
    predictions, references, sources = read_columns(**columns)
    reader = ObjectReader(schema)
    texts = [None] * len(predictions) if sources is None else sources
    flaws: list[str] = []
    for index, (prediction, reference, text) in enumerate(zip(predictions, references, texts, strict=True)):
        _check_source(text, index)
        if prediction is None:
            parsed = ParsedEvidence(None)
        elif isinstance(prediction, str):
            parsed = parse_objects(prediction, reader)
        else:
            parsed = ParsedEvidence(_structured(prediction, "predictions", index, reader), (), "json")
        yield parsed, _read_reference(reference, index, reader, flaws), text
    if flaws:
        warn_caller(f"reference objects break the schema; issues: {len(flaws)}, the first {flaws[0]}", UserWarning)


def check_row(row: Any, field: str, index: int) -> None:
    """Raise InputError for a row that fits no schema; the keys of its objects are checked when they are scored."""
    if field == "sources":
        _check_source(row, index)
    elif not isinstance(row, str) and not (field == "predictions" and row is None):
        _check_objects(row, field, index)


to_plain = no_class
"""Rows of objects hold no objects of classes of this package."""


def _read_reference(row: Any, index: int, reader: ObjectReader, flaws: list[str]) -> tuple[EvidenceObject, ...]:
    """Read the objects of a row; add their violations of the schema, except missing attributes, to ``flaws``."""
    if isinstance(row, str):
        parsed = parse_objects(row, reader)
        if parsed.value is None:
            raise InputError("references", index, f"text without objects ({describe(row)})", _FORMS)
        for problem in parsed.problems:
            if problem.kind in _LOSSES:
                raise InputError("references", index, f"text that can't be read whole ({problem.detail})", _FORMS)
        objects = parsed.value
    else:
        objects = _structured(row, "references", index, reader)
    for i, entry in enumerate(objects):
        if entry.domain is None or entry.span is None:
            keys = f"{reader.schema.domain_field!r} and {reader.schema.span_field!r}"
            got = describe(dict(entry.fields))
            raise InputError(f"references[{index}]", i, got, f"an object with texts under {keys}")
        flaws += [f"references[{index}][{i}]: {issue}" for issue in entry.issues if not issue.startswith("missing_")]
    return objects


def _check_source(row: Any, index: int) -> None:
    if not isinstance(row, str | None):
        raise InputError("sources", index, describe(row), "the text that the objects quote, a str, or None")


def _structured(row: Any, column: str, index: int, reader: ObjectReader) -> tuple[EvidenceObject, ...]:
    """Read the objects of a row that is not text."""
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
    """Raise InputError for a row that is neither an object nor a list of objects or lists."""
    if isinstance(row, bytes) or not isinstance(row, Mapping | Sequence):
        raise InputError(column, index, describe(row), _FORMS)
    for position, entry in enumerate(() if isinstance(row, Mapping) else row):
        if not isinstance(entry, _NESTED):
            raise InputError(f"{column}[{index}]", position, describe(entry), "an object with keys")
