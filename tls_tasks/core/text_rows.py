"""Rows whose predictions are texts and whose references are one text or several.

A text from a model is taken as it is: there is nothing to parse, so nothing can fail. What isn't text comes from the
caller, and raises, naming row and field.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from tls_tasks.core.errors import InputError

_ONE_TEXT = "a str"
_TEXTS = "a str or a list of str"


def read_text(value: Any, field: str, index: int | None) -> str:
    """The text itself.

    Args:
        value: What must be a str.
        field: Where it stands, for errors.
        index: The row's number, for errors.

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
    raise InputError(field, index, describe(value), _ONE_TEXT)


def read_texts(value: Any, index: int) -> tuple[str, ...]:
    """One references row: the texts in it, at least one.

    Raises:
        InputError: Neither text nor a list of texts, or an empty list.

    Example:
        >>> read_texts(["The talks end.", "Talks have ended."], 0)
        ('The talks end.', 'Talks have ended.')
    """
    if isinstance(value, str):
        return (value,)
    if isinstance(value, bytes) or not isinstance(value, Sequence):
        raise InputError("references", index, describe(value), _TEXTS)
    if not value:
        raise InputError("references", index, "no reference", _TEXTS)
    return tuple(read_text(one, f"references[{index}]", position) for position, one in enumerate(value))


def read_columns(predictions: Any, references: Any) -> list[tuple[str, tuple[str, ...]]]:
    """Both columns row by row: a prediction and its references.

    Raises:
        InputError: A column that is none, columns of unequal length, or a row that doesn't fit.
    """
    for name, column in (("predictions", predictions), ("references", references)):
        if isinstance(column, str | bytes | dict) or not hasattr(column, "__len__") or not hasattr(column, "__iter__"):
            raise InputError(name, None, describe(column), "a list with one row a document")
    if len(predictions) != len(references):
        raise InputError("references", None, f"{len(references)} rows", f"{len(predictions)}, as many as predictions")
    return [
        (read_text(prediction, "predictions", index), read_texts(row, index))
        for index, (prediction, row) in enumerate(zip(predictions, references, strict=True))
    ]


def pack_batch(predictions: Any, references: Any) -> dict[str, list[str]]:
    """Both columns with every row as one JSON string, for tables that keep well-formed strings only.

    Raises:
        InputError: As :func:`read_columns`.

    Example:
        >>> pack_batch(["a"], [["b", "c"]])
        {'predictions': ['"a"'], 'references': ['["b", "c"]']}
    """
    rows = read_columns(predictions, references)
    return {
        "predictions": [json.dumps(prediction) for prediction, _ in rows],
        "references": [json.dumps(texts) for _, texts in rows],
    }


def unpack_batch(column: Iterable[str]) -> list[Any]:
    """A packed column, row by row: a text or a list of texts.

    Example:
        >>> unpack_batch(['["b", "c"]'])
        [['b', 'c']]
    """
    return [json.loads(packed) for packed in column]


def describe(value: Any) -> str:
    """How a wrong value is called in an error.

    Example:
        >>> describe(None), describe(float("nan")), describe(3)
        ('None', 'NaN', 'int 3')
    """
    if value is None:
        return "None"
    if isinstance(value, float) and value != value:
        return "NaN"
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:57] + '…'}"
