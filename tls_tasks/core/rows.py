"""Check columns of predictions and references, read them row by row, and pack rows as text for tables.

Each family defines its rows; this module has what all columns share. Text in ``predictions`` comes from a model and
never raises. Everything else comes from the caller, and raises where it does not fit, naming field and row.
"""

import datetime
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import partial
from itertools import pairwise
from typing import Any

from tls_tasks.core.errors import InputError, describe, shorten, warn_caller


def read_columns(**columns: Any) -> list[Any]:
    """Return columns of any form as lists of plain rows of equal length.

    A column is a list, or an array or column of numpy, pandas, pyarrow or datasets. Rows are converted by
    :func:`to_plain`. Warns if there are no rows.

    Args:
        **columns: ``predictions``, ``references``, and further ones; None for a missing one.

    Returns:
        The columns in the same order; None for a missing one.

    Raises:
        InputError: A value that is no column, columns of unequal length, or pandas labels that differ; names the
            column.

    Example:
        >>> read_columns(predictions=("x", "y"), references=["X", "Y"])
        [['x', 'y'], ['X', 'Y']]
        >>> read_columns(predictions="x", references=["X"])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: predictions: got str 'x', expected a list with one row a document; did you mean predictions=['x']?
    """  # noqa: E501 - the message is one line
    present = {name: column for name, column in columns.items() if column is not None or name in _REQUIRED}
    indexes: dict[str, Any] = {name: getattr(column, "index", None) for name, column in present.items()}
    labels = {name: index for name, index in indexes.items() if hasattr(index, "equals")}  # only pandas has these
    for (first_name, label), (name, other_label) in pairwise(labels.items()):
        if not label.equals(other_label):
            expected = f"the labels of {first_name} in the same order; or lists, list({name})"
            raise InputError(name, None, "a pandas column with other labels", expected)
    lists = {name: _read_column(name, column) for name, column in present.items()}
    for name, column in lists.items():
        if len(column) != len(lists["predictions"]):
            n = len(lists["predictions"])
            turned = name == "references" and all(isinstance(row, list | tuple) and len(row) == n for row in column)
            hint = "; did you mean one list a document, list(zip(*references))?" if column and turned else ""
            raise InputError(name, None, f"length {len(column)}", f"{n}, as many as predictions{hint}")
    if not lists["predictions"]:
        warn_caller("predictions has no rows, so no result has a meaning", UserWarning)
    return [lists.get(name) for name in columns]


_REQUIRED = ("predictions", "references")


def _read_column(name: str, column: Any) -> list[Any]:
    """Return a column as a list of plain rows."""
    table = getattr(column, "column_names", None)
    table = getattr(column, "columns", None) if table is None else table
    if table is not None and not callable(table):
        labels = [str(label) for label in table]
        got = f"a {type(column).__name__} with the columns {shorten(labels)}"
        raise InputError(name, None, got, f"one column of it, such as {name}=table[{(labels or ['text'])[0]!r}]")
    is_one = isinstance(column, str | bytes | Mapping) or _is_ours(column) or _fields(column) is not None
    rows = None if is_one or isinstance(column, Set) else _unfold(column)
    if rows is column and hasattr(column, "__len__") and isinstance(column, Iterable):
        rows = list(column)
    if not isinstance(rows, list | tuple):
        hint = f"; did you mean {name}=[{shorten(column)}]?" if is_one else ""
        if isinstance(column, Iterator):
            hint = f"; did you mean {name}=list(…)?"
        raise InputError(name, None, describe(column), f"a list with one row a document{hint}")
    return [to_plain(row, refuse=partial(_refuse, name, index)) for index, row in enumerate(rows)]


_SCALARS = (str, int, float, bool, datetime.date, type(None))
_DEPTH = 64  # deeper levels are not converted; each family decides about them


def to_plain(value: Any, depth: int = 0, refuse: Callable[[Any], None] | None = None) -> Any:
    """Return a row with its dictionaries, lists and values in the form of JSON; nothing else changes.

    Dataclasses, pydantic models, named tuples, tilse's timelines and other objects with public attributes become
    dictionaries; arrays and columns of numpy, pandas, polars and pyarrow lists; a data frame a list of dictionaries; a
    member of an enumeration its value; missing values of pandas None. Objects of this package's classes stay as they
    are, since the families read them.

    Args:
        value: The row, or a value in it at this ``depth``.
        depth: The number of levels above it.
        refuse: Called with a value inside a row that is neither JSON, nor a date, nor of our classes, and raises; None:
            such a value stays as it is. The row itself is left to the family.

    Example:
        >>> import numpy as np
        >>> from types import SimpleNamespace
        >>> to_plain([SimpleNamespace(date="2011-01-25", text=np.array(["Protests.", "Clashes."]))])
        [{'date': '2011-01-25', 'text': ['Protests.', 'Clashes.']}]
    """
    if type(value) in _SCALARS or depth > _DEPTH:
        return value
    if type(value) not in (dict, list, tuple):
        if _is_ours(value):
            return value
        value = _plain(value)
    if isinstance(value, Mapping):
        keys = (key if type(key) is str else to_plain(key, depth + 1) for key in value)
        return dict(zip(keys, [to_plain(row, depth + 1, refuse) for row in value.values()], strict=True))
    if isinstance(value, list | tuple):
        rows = [to_plain(row, depth + 1, refuse) for row in value]
        return tuple(rows) if isinstance(value, tuple) else rows
    if refuse is not None and depth and not isinstance(value, _SCALARS):
        refuse(value)
    return value


def _plain(value: Any) -> Any:
    """Return the JSON value, or the container, that stands for a value."""
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        if not value.is_finite():
            return None
        return int(value) if value.as_tuple().exponent == 0 else float(value)
    if isinstance(value, (*_SCALARS, bytes, type)):
        return value
    fields_by_name = _fields(value)
    return _unfold(value) if fields_by_name is None else fields_by_name


def _refuse(field: str, index: int, value: Any) -> None:
    """Refuse a value in a row that is neither JSON nor a date."""
    raise InputError(field, index, f"a value of class {type(value).__name__}", "values that JSON has, or dates")


def _is_ours(value: Any) -> bool:
    """Return whether the class of a value is defined in this package."""
    return type(value).__module__.partition(".")[0] == "tls_tasks"


def _fields(value: Any) -> Mapping[Any, Any] | None:
    """Return the named fields of an object; None for a container or a scalar."""
    if hasattr(value, "dates_to_summaries"):  # a timeline of tilse, which is iterable but no mapping
        dated: Mapping[Any, Any] = value.dates_to_summaries
        return dated
    if isinstance(value, Mapping | list | set | type) or any(hasattr(value, name) for name in _UNFOLDERS):
        return None
    if is_dataclass(value):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    if hasattr(value, "model_dump"):
        return dict(value.model_dump(by_alias=True))  # its JSON Schema has these names
    if hasattr(value, "_asdict"):
        return dict(value._asdict())
    if isinstance(value, Iterable) or callable(value):
        return None
    attributes = getattr(value, "__dict__", {})
    return {name: attributes[name] for name in attributes if not name.startswith("_")} or None


# In this order they are methods of pyarrow, its scalars, polars' frames, numpy and pandas, and polars.
_UNFOLDERS = ("to_pylist", "as_py", "to_dicts", "tolist", "to_list")


def _unfold(value: Any) -> Any:
    """Return a list for an array or table, a plain value for a scalar; anything else as it is."""
    if type(value).__module__ == "numpy" and value.dtype.kind == "M":
        value = value.astype("datetime64[us]")  # numpy gives nanoseconds as plain integers
    unfold = next((name for name in _UNFOLDERS if callable(getattr(value, name, None))), None)
    if unfold is not None:
        return getattr(value, unfold)()
    return value.to_dict("records") if hasattr(value, "to_dict") and hasattr(value, "columns") else value


def read_text(value: Any, field: str, index: int | None) -> str:
    """Return a row that must be text.

    Raises:
        InputError: The row is None, NaN, a number or a list.

    Example:
        >>> read_text(None, "predictions", 3)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: predictions[3]: got None, expected a str
    """
    if isinstance(value, str):
        return value
    raise InputError(field, index, describe(value), "a str")


# Tags of values that JSON lacks: a dictionary whose keys are not all text, a date, a long integer.
_PAIRS, _DATE = "$pairs", "$date"
_TAGS = frozenset({_PAIRS, _DATE})

Check = Callable[[Any, str, int], None]
"""(row, field, index): raises InputError for a row that cannot be scored."""

Plain = Callable[[Any], Any]
"""An object of a family's own class -> plain values; raises TypeError for any other class."""


def no_class(value: Any) -> Any:
    """Refuse an object of any class; for families whose rows hold plain values only."""
    raise TypeError(f"{type(value).__name__} is no plain value")


def pack_columns(columns: Mapping[str, Any], check: Check, plain: Plain = no_class) -> dict[str, list[str]]:
    r"""Return columns with every row as one JSON string, for tables that store strings only.

    :func:`unpack_column` restores the rows, with NaN, large integers, -0.0, lone surrogates, dates, and keys that are
    no text; only tuples become lists.

    Raises:
        InputError: A value that is no column, columns of unequal length, a row that ``check`` refuses, or a value of a
            class that JSON lacks.

    Example:
        >>> pack_columns({"predictions": ['{"a": 1}'], "references": [{1: ["x"]}]}, lambda row, field, index: None)
        {'predictions': ['"{\\"a\\": 1}"'], 'references': ['{"$pairs": [[1, ["x"]]]}']}
    """
    lists = dict(zip(columns, read_columns(**columns), strict=True))
    packed: dict[str, list[str]] = {}
    for field, column in lists.items():
        packed[field] = []
        for index, row in enumerate([None] * len(lists["predictions"]) if column is None else column):
            check(row, field, index)
            packed[field].append(json.dumps(_tagged(row, plain, field, index)))
    return packed


def unpack_column(column: Iterable[str]) -> list[Any]:
    """Return the rows of a packed column.

    Example:
        >>> unpack_column(['{"$pairs": [[1, ["x"]]]}', '{"day": {"$date": "2011-01-25"}}'])
        [{1: ['x']}, {'day': datetime.date(2011, 1, 25)}]
    """
    return [json.loads(packed, object_hook=_untagged) for packed in column]


def _tagged(value: Any, plain: Plain, field: str, index: int) -> Any:
    """Return a value in the form of JSON; values that JSON lacks become a dictionary with a tag."""
    if value is None or isinstance(value, str | bool | float | int):
        return value
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
        return _refuse(field, index, value)


def _untagged(value: dict[str, Any]) -> Any:
    """Return the value of a tagged dictionary; any other dictionary as it is."""
    if len(value) == 1:
        if _PAIRS in value:
            return {_key(key): row for key, row in value[_PAIRS]}
        if _DATE in value:
            text = value[_DATE]
            return (datetime.datetime if len(text) > 10 else datetime.date).fromisoformat(text)
    return value


def _key(key: Any) -> Any:
    """Return a key that was a tuple before JSON made it a list."""
    return tuple(map(_key, key)) if isinstance(key, list) else key
