"""Columns of predictions and references: checked once, read row by row, and packed as text for tables of others.

What a row may be is the family's matter; what holds for every column is here. Text in ``predictions`` comes from a
model and never raises; everything else comes from the caller, and what does not fit raises, naming field and row.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError


def describe(value: Any) -> str:
    """What an error calls a wrong value.

    Example:
        >>> describe(None), describe(float("nan")), describe(3)
        ('None', 'NaN', 'int 3')
    """
    if value is None:
        return "None"
    if isinstance(value, float) and value != value:
        return "NaN"
    return f"{type(value).__name__} {shorten(value)}"


def shorten(value: Any) -> str:
    """The ``repr`` of a value, cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def check_columns(predictions: Any, **columns: Any) -> int:
    """Refuse what is no column, and columns of unequal length.

    Args:
        predictions: The column that gives the length.
        **columns: Further columns by name; None: not given.

    Returns:
        The number of rows.

    Raises:
        InputError: Naming the column.

    Example:
        >>> check_columns(["a", "b"], references=["a"])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: references: got length 1, expected 2, as many as predictions
    """
    for name, column in {"predictions": predictions, **columns}.items():
        if column is None and name != "predictions" and name != "references":
            continue
        is_column = hasattr(column, "__len__") and hasattr(column, "__iter__")
        if isinstance(column, str | bytes | Mapping) or not is_column:
            raise InputError(name, None, describe(column), "a list with one row a document")
        if len(column) != len(predictions):
            raise InputError(name, None, f"length {len(column)}", f"{len(predictions)}, as many as predictions")
    return len(predictions)


def read_text(value: Any, field: str, index: int | None) -> str:
    """A row that must be text.

    Raises:
        InputError: Not text: None, NaN, a number, a list.

    Example:
        >>> read_text(None, "predictions", 3)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: predictions[3]: got None, expected a str
    """
    if isinstance(value, str):
        return value
    raise InputError(field, index, describe(value), "a str")


# How a packed row says what JSON does not have: a dictionary whose keys are not all text, a date, a long integer.
_PAIRS, _DATE, _INTEGER = "$pairs", "$date", "$integer"
_TAGS = frozenset({_PAIRS, _DATE, _INTEGER})
_LONG = 10**600  # integers up to here are written as they are, whatever limit Python has been set to

Check = Callable[[Any, str, int], None]
"""(row, field, index): raises InputError for a row that cannot be scored."""

Plain = Callable[[Any], Any]
"""An object of a family's own class -> plain values; raises TypeError for any other class."""


def _no_class(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} is no plain value")


def pack_columns(columns: Mapping[str, Any], check: Check, plain: Plain = _no_class) -> dict[str, list[str]]:
    r"""Columns with every row as one JSON string, for tables that keep strings only.

    NaN, large integers, -0.0, lone surrogates, dates, and keys that are no text survive: :func:`unpack_column` gives
    the row back as it was, but for tuples, which become lists.

    Raises:
        InputError: A column that is none, columns of unequal length, a row that ``check`` refuses, or a value of a
            class that JSON does not have.

    Example:
        >>> pack_columns({"predictions": ['{"a": 1}'], "references": [{1: ["x"]}]}, lambda row, field, index: None)
        {'predictions': ['"{\\"a\\": 1}"'], 'references': ['{"$pairs": [[1, ["x"]]]}']}
    """
    check_columns(**columns)
    n_rows = len(columns["predictions"])
    packed: dict[str, list[str]] = {}
    for field, column in columns.items():
        packed[field] = []
        for index, row in enumerate([None] * n_rows if column is None else column):
            check(row, field, index)
            packed[field].append(json.dumps(_tagged(row, plain, field, index)))
    return packed


def unpack_column(column: Iterable[str]) -> list[Any]:
    """A packed column, row by row.

    Example:
        >>> unpack_column(['{"$pairs": [[1, ["x"]]]}', '{"day": {"$date": "2011-01-25"}}'])
        [{1: ['x']}, {'day': datetime.date(2011, 1, 25)}]
    """
    return [json.loads(packed, object_hook=_untagged) for packed in column]


def _tagged(value: Any, plain: Plain, field: str, index: int) -> Any:
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return value if -_LONG < value < _LONG else {_INTEGER: hex(value)}
    if isinstance(value, Mapping):
        tagged = [(_tagged(key, plain, field, index), _tagged(row, plain, field, index)) for key, row in value.items()]
        if all(type(key) is str for key in value) and not (len(value) == 1 and not _TAGS.isdisjoint(value)):
            return dict(tagged)
        return {_PAIRS: tagged}
    if isinstance(value, datetime.date):
        return {_DATE: value.isoformat()}
    if isinstance(value, Sequence) and not isinstance(value, bytes) and not hasattr(value, "_asdict"):
        return [_tagged(row, plain, field, index) for row in value]
    try:
        return _tagged(plain(value), plain, field, index)
    except TypeError:
        expected = "values that JSON has, or dates"
        raise InputError(field, index, f"a value of class {type(value).__name__}", expected) from None


def _untagged(value: dict[str, Any]) -> Any:
    if len(value) == 1:
        if _PAIRS in value:
            return {_key(key): row for key, row in value[_PAIRS]}
        if _DATE in value:
            text = value[_DATE]
            return (datetime.datetime if len(text) > 10 else datetime.date).fromisoformat(text)
        if _INTEGER in value:
            return int(value[_INTEGER], 16)
    return value


def _key(key: Any) -> Any:
    """A key that was a tuple has become a list."""
    return tuple(map(_key, key)) if isinstance(key, list) else key
