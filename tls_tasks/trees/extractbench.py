"""ExtractBench's unified value F1: the cells of a tree, each right or wrong, with records paired one to one.

Original: ExtractBench (run-llama/ExtractBench, git 0aa76ce), without evidence and normalizers. A field of the root is
one cell, whatever it holds, and counts on both sides, so that a key left out is null said aloud. A list of records has
a cell for each record and field; its records are paired so that the fewest cells differ, and a list of records within
them is counted in the same way within each pair. Other lists count nothing at the root, and one cell within records.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Hashable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple

import numpy as np
from dateutil import parser as dates
from rapidfuzz import fuzz, process
from scipy.optimize import linear_sum_assignment

from tls_tasks.core.errors import InputError, describe
from tls_tasks.core.score import Result, f_beta, ratio, total
from tls_tasks.trees.schema import is_json_schema
from tls_tasks.trees.types import AnyOf, Branch, ListOf, SchemaNode

KEYS = ("extract_unified_value_precision", "extract_unified_value_recall", "extract_unified_value_f1")
"""The program's names of the results by which an answer is judged: means over the documents that have a cell."""

_COUNTS = ("v_correct", "expected_cells", "predicted_cells", "expected_rows", "predicted_rows", "value_incomplete")

RESULTS: dict[str, Result] = {
    **{key: ratio(f"mean|{key}", "scored", empty=math.nan) for key in KEYS},
    **{name: total(name, better={"v_correct": True, "value_incomplete": False}.get(name)) for name in _COUNTS},
}

_FUZZY = {"description": 95.0, "court": 85.0}
"""Fields whose text need only be this similar, in percent, without punctuation and case."""

_MOST_PAIRS = 100_000_000
"""Of lists with more possible pairs no records are paired; ``value_incomplete`` counts their documents."""

_Records = Sequence[Mapping[Hashable, Any]]


class Shape(NamedTuple):
    """What a schema decides: which fields are lists even where the reference has none, and what their records have."""

    is_list: bool
    fields: Mapping[Hashable, Shape]

    @classmethod
    def of(cls, schema: Any, node: SchemaNode) -> Shape:
        """The shape of a schema; ``node`` is the same, read. JSON Schema is taken literally: no ``$ref``, no ``anyOf``.

        Example:
            >>> Shape.of(None, Branch({"id": ListOf(Branch({}))})).digest()
            'c9fd15d2'
        """
        schema = schema.model_json_schema() if hasattr(schema, "model_json_schema") else schema
        if isinstance(schema, str) and schema.lstrip().startswith("{"):
            schema = json.loads(schema)
        return cls(False, _declared(schema) if is_json_schema(schema) else _children(node))

    def digest(self) -> str:
        """Eight hexadecimal digits that change with the shape."""
        return hashlib.sha256(repr(self).encode("utf-8", "surrogatepass")).hexdigest()[:8]


_ANY = Shape(False, {})


def _declared(schema: Any) -> dict[Hashable, Shape]:
    properties = _within(schema, "properties")
    parts = {key: _within(properties, key) for key in sorted(properties, key=repr)}
    return {key: Shape(own.get("type") == "array", _declared(_within(own, "items"))) for key, own in parts.items()}


def _within(schema: Any, key: Hashable) -> Mapping[Hashable, Any]:
    found = schema.get(key) if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _children(node: SchemaNode) -> dict[Hashable, Shape]:
    found = sorted(node.children.items(), key=repr) if isinstance(node, Branch) else ()
    return {key: Shape(True, _children(own.item)) if isinstance(own, ListOf) else _ANY for key, own in found}


def unit_of(expected: Any, actual: Any, shape: Shape, row: int) -> dict[str, float]:
    """The unit of one document. An answer that is no dictionary has 0 in all three results.

    Raises:
        InputError: A reference that is no dictionary, or that has several valid answers.

    Example:
        >>> gold = {"id": 7, "due": "2024-05-03", "lines": [{"sku": "a", "n": 1}, {"sku": "b", "n": 2}]}
        >>> unit_of(gold, {"due": "May 3, 2024", "lines": [{"sku": "b", "n": 2}]}, Shape(False, {}), 0)["v_correct"]
        3
    """
    expected, actual = (_plain(tree["value"] if _is_wrapped(tree) else tree, row) for tree in (expected, actual))
    if not isinstance(expected, dict):
        raise InputError("references", row, describe(expected), "a dictionary: compat='extractbench' scores its fields")
    unit: dict[str, float] = {**dict.fromkeys(_COUNTS, 0), "scored": 1, **{f"mean|{key}": 0.0 for key in KEYS}}
    if not isinstance(actual, dict):
        return unit
    for key in (expected.keys() | actual.keys()) - {"_provenance"}:
        own, wanted, got = shape.fields.get(key, _ANY), expected.get(key), actual.get(key)
        if own.is_list or isinstance(wanted, list):
            _count_records(_records(wanted), _records(got), own, unit)
        else:
            unit["expected_cells"] += 1
            unit["predicted_cells"] += 1
            unit["v_correct"] += 1 - int(_costs([{key: got}], [{key: wanted}], [key])[0, 0])
    n_right, n_got, n_wanted = unit["v_correct"], unit["predicted_cells"], unit["expected_cells"]
    precision, recall = n_right / n_got if n_got else 0.0, n_right / n_wanted if n_wanted else 0.0
    means = zip(KEYS, (precision, recall, f_beta(precision, recall)), strict=True)
    return {**unit, **{f"mean|{key}": value for key, value in means}, "scored": int(n_got + n_wanted > 0)}


class Document(NamedTuple):
    """One answer with its reference."""

    row: int
    unit: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """Its own numbers."""
        means = {key: RESULTS[key].value([self.unit]) for key in KEYS}
        return {"sample": self.row, **means, **{name: int(self.unit[name]) for name in _COUNTS}}


def _is_wrapped(tree: Any) -> bool:
    return isinstance(tree, dict) and tree.keys() == {"value"}


def _records(value: Any) -> _Records:
    return [item if isinstance(item, dict) else {} for item in value] if isinstance(value, list) else []


def _fields(shape: Shape, records: _Records) -> list[Hashable]:
    return list(shape.fields or dict.fromkeys(key for record in records for key in record))


def _count_records(wanted: _Records, got: _Records, shape: Shape, unit: dict[str, float]) -> None:
    fields = _fields(shape, wanted)
    deep = [field for field in fields if any(_opens_with_record(record.get(field)) for record in wanted)]
    flat = [field for field in fields if field not in deep]
    for part, side in (("expected", wanted), ("predicted", got)):
        unit[f"{part}_cells"] += len(side) * len(flat)
        unit[f"{part}_rows"] += len(side) if fields else 0
    pairs, n_wrong = _pair(wanted, got, flat or fields, unit)
    unit["v_correct"] += len(pairs) * len(flat) - n_wrong if flat else 0
    for field in deep:
        own = shape.fields.get(field, _ANY)
        for i, j in pairs.items():
            _count_records(_records(wanted[i].get(field)), _records(got[j].get(field)), own, unit)
        for part, side, matched in (("expected", wanted, {*pairs}), ("predicted", got, {*pairs.values()})):
            alone = (record.get(field) for place, record in enumerate(side) if place not in matched)
            unit[f"{part}_cells"] += sum(_n_cells(value, own) for value in alone)


def _opens_with_record(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def _n_cells(value: Any, shape: Shape) -> int:
    """The cells of what has no counterpart."""
    if not isinstance(value, list) or not any(isinstance(item, dict) for item in value):
        return 1
    records = _records(value)
    fields = _fields(shape, records)
    return sum(_n_cells(record.get(key), shape.fields.get(key, _ANY)) for record in records for key in fields)


def _pair(
    wanted: _Records, got: _Records, fields: Sequence[Hashable], unit: dict[str, float]
) -> tuple[dict[int, int], int]:
    """Which record of the answer each of the reference has, and how many of their cells differ.

    Of pairings that are equally good it is scipy's, of the answer by the reference.
    """
    if len(wanted) * len(got) > _MOST_PAIRS:
        unit["value_incomplete"] = 1
        return {}, 0
    costs = _costs(got, wanted, fields)
    places = linear_sum_assignment(costs)
    return {i: j for j, i in zip(*map(np.ndarray.tolist, places), strict=True)}, int(costs[places].sum(dtype=np.int64))


def _costs(got: _Records, wanted: _Records, fields: Sequence[Hashable]) -> Any:
    """How many cells differ of each record of the answer (rows) and each of the reference (columns)."""
    costs = np.zeros((len(got), len(wanted)), dtype=np.int16)
    for field in fields:
        ids: dict[Hashable, int] = {}
        sides = ([_key(record.get(field)) for record in side] for side in (got, wanted))
        rows, columns = (np.array([ids.setdefault(key, len(ids)) for key in side]) for side in sides)
        differ = rows[:, None] != columns[None, :]
        if field in _FUZZY:
            texts = {i: _words(text) for i, record in enumerate(wanted) if isinstance(text := record.get(field), str)}
            for j, record in enumerate(got):
                if texts and isinstance(text := record.get(field), str):
                    likeness = process.cdist([_words(text)], texts.values(), scorer=fuzz.ratio, dtype=np.float64)
                    differ[j, list(texts)] = likeness[0] < _FUZZY[field]
        costs += differ
    return costs


def _words(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text).split()).lower()


def _key(value: Any) -> Hashable:
    """Equal for equal cells: any white space is one space in a cell's own text, though not in lists and objects."""
    return ("text", " ".join(value.split())) if isinstance(value, str) else ("value", _frozen(value))


def _frozen(value: Any) -> Hashable:
    if isinstance(value, list):
        return ("list", *map(_frozen, value))
    if isinstance(value, dict):
        return frozenset((key, _frozen(own)) for key, own in value.items())
    return value  # type: ignore[no-any-return]


def _plain(value: Any, row: int) -> Any:
    """A copy with whole dates in ISO form."""
    if isinstance(value, list):
        return [_plain(item, row) for item in value]
    if isinstance(value, dict):
        return {key: _plain(own, row) for key, own in value.items()}
    if isinstance(value, AnyOf):
        raise InputError("references", row, "several valid answers ($any_of)", "one for compat='extractbench'")
    return _iso(str(value)) if isinstance(value, str | date) else value


_DATE = re.compile(
    r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}/\d{1,2}/(\d{4}|\d{2}\b)|\d{1,2}-\d{1,2}-(\d{4}|\d{2}\b)"
    r"|[A-Za-z]+ \d{1,2},? \d{4}|[A-Za-z]+\.? [A-Za-z]+\.? \d{1,2},? \d{4}|\d{1,2} [A-Za-z]+ \d{4}"
)


class _Info(dates.parserinfo):
    def convertyear(self, year: int, century_specified: bool = False) -> int:
        """Years of two digits are 1976 to 2075, in which the original moves on with the year it runs in."""
        return year if year > 99 or century_specified else year + (1900 if year >= 76 else 2000)


_parser = dates.parser(_Info())


def _iso(text: str) -> str:
    """A text that is a date, in ISO form; any other as it is. What a date leaves out is never today's."""
    spaced = re.sub(r"\s*,\s*", ", ", text) if 4 <= len(text) <= 50 else ""
    if text.isdigit() or re.search(r"\d{10}", text) or not _DATE.search(spaced):
        return text
    try:
        day = _parser.parse(spaced, default=datetime(2026, 1, 1), ignoretz=True)
    except (ValueError, TypeError, OverflowError):
        return text
    return day.strftime("%Y-%m-%d") if 1900 <= day.year <= 2100 else text
