"""Rows of summaries: a prediction is a text, a row of references one text or several.

A model's text is scored as it is; a prediction of None is a missing answer.
"""

from collections.abc import Sequence
from typing import Any

from tls_tasks.core.errors import InputError, describe
from tls_tasks.core.rows import no_class, read_columns, read_text

_TEXTS = "a str or a list of str"


def read_texts(value: Any, index: int) -> tuple[str, ...]:
    """Read one references row: one text or a list of at least one.

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
    return tuple(read_text(text, f"references[{index}]", position) for position, text in enumerate(value))


def read_rows(predictions: Any, references: Any) -> list[tuple[str | None, tuple[str, ...]]]:
    """Return a (prediction, references) pair for each row; the prediction is None if there is no answer.

    Raises:
        InputError: A value that is no column, columns of unequal length, or a row that does not fit.
    """
    predictions, references = read_columns(predictions=predictions, references=references)
    return [
        (None if prediction is None else read_text(prediction, "predictions", index), read_texts(row, index))
        for index, (prediction, row) in enumerate(zip(predictions, references, strict=True))
    ]


def check_row(row: Any, field: str, index: int) -> None:
    """Raise InputError for a row that is neither text nor, among references, a list of texts."""
    if field == "references":
        read_texts(row, index)
    elif row is not None:
        read_text(row, field, index)


to_plain = no_class
"""Rows of summaries hold no objects of classes of this package."""
