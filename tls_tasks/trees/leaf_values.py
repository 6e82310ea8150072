"""Leaf metrics of numbers, dates, booleans and sets."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tls_tasks.text.dates import read_date
from tls_tasks.trees.leaf_base import FloatArray, LeafMetric, overlaps
from tls_tasks.trees.leaf_equality import as_float, is_number, value_key


def number_closeness() -> LeafMetric:
    """1 - |a - b| / max(|a|, |b|), at least 0: how far two numbers are apart for their size. 1 if they are equal.

    Example:
        >>> number_closeness().pairs([100, 0, 5, 5], [90, 0, -5, "5"])
        array([0.9, 1. , 0. , 0. ])
    """
    return LeafMetric("number_closeness", _closeness_pairs, _closeness_matrix, is_number, frozenset({int}))


def _closeness_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    return _closeness(_floats(references), _floats(predictions), lambda i: (references[i[0]], predictions[i[0]]))


def _closeness_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    left, right = _floats(references)[:, None], _floats(predictions)[None, :]
    return _closeness(left, right, lambda i: (references[i[0]], predictions[i[1]]))


def _floats(values: Sequence[Any]) -> FloatArray:
    return np.array([as_float(value) for value in values], dtype=np.float64)


def _closeness(left: FloatArray, right: FloatArray, pair_at: Any) -> FloatArray:
    size = np.maximum(np.abs(left), np.abs(right))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scores = np.maximum(1.0 - np.abs(left - right) / size, 0.0)
    scores = np.where(size == 0, 1.0, scores)
    for place in np.argwhere(~np.isfinite(scores) | np.isinf(size)):  # integers that no float holds
        scores[tuple(place)] = _exact_closeness(*pair_at(place))
    return scores


def _exact_closeness(one: float, other: float) -> float:
    left, right = Fraction(one), Fraction(other)
    return float(max(Fraction(0), 1 - abs(left - right) / max(abs(left), abs(right))))


class _Day(NamedTuple):
    """A date: what kind of expression (0: none that can be read), its first day, and the last one of a range."""

    kind: int
    first: int
    last: int


_PRECISION = {"day": 1, "month": 2, "year": 3}


def date_closeness() -> LeafMetric:
    """1 / (1 + days between), of two dates in any notation that can be read in one way only.

    Times of day don't matter. Two months are compared by their first days, two years and two ranges likewise (of ranges
    both ends count); a day and a month have nothing in common: 0. Text that is no date is met by the same text only.

    Example:
        >>> date_closeness().pairs(["2011-01-25", "2011-01-25", "spring"], ["25 January 2011", "2011-01-26", "spring"])
        array([1. , 0.5, 1. ])
    """
    return LeafMetric("date_closeness", _date_pairs, _date_matrix, _is_date, frozenset({str, datetime.date}))


def _is_date(value: Any) -> bool:
    return isinstance(value, str | datetime.date)


def _date_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    texts: dict[str, int] = {}
    return _date_scores(_days(references, texts), _days(predictions, texts))


def _date_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    texts: dict[str, int] = {}
    return _date_scores(_days(references, texts)[:, :, None], _days(predictions, texts)[:, None, :])


def _date_scores(left: NDArray[np.int64], right: NDArray[np.int64]) -> FloatArray:
    days = np.abs(left[1] - right[1]) + np.abs(left[2] - right[2])
    scores = np.where(left[0] == right[0], 1.0 / (1.0 + days), 0.0)
    return np.where((left[0] == 0) & (days > 0), 0.0, scores)


def _days(values: Sequence[Any], texts: dict[str, int]) -> NDArray[np.int64]:
    """``[3, n]``: the days as columns. What is no date has its text's number in ``texts`` as its first day."""
    days: NDArray[np.int64] = np.array([_day(value, texts) for value in values], dtype=np.int64).reshape(-1, 3).T
    return days


def _day(value: str | datetime.date, texts: dict[str, int]) -> _Day:
    if isinstance(value, datetime.date):
        return _Day(1, value.toordinal(), 0)
    expression = read_date(value)
    if expression is None:
        return _Day(0, texts.setdefault(value.strip(), len(texts)), 0)
    kind, first = _PRECISION[expression.precision], expression.date.toordinal()
    if expression.end is None:
        return _Day(kind, first, 0)
    return _Day(kind + 3, first, expression.end.toordinal())


_TRUE, _FALSE = frozenset({"true", "yes", "y", "1"}), frozenset({"false", "no", "n", "0"})


def boolean() -> LeafMetric:
    """1 where two truth values agree, else 0; also read from 1 and 0 and from words: true, false, yes, no.

    Example:
        >>> boolean().pairs([True, False, True], ["yes", True, "maybe"])
        array([1., 0., 0.])
    """
    return LeafMetric("boolean", _boolean_pairs, _boolean_matrix, lambda value: truth(value) is not None)


def truth(value: Any) -> bool | None:
    """The truth value that something stands for; None if for none.

    Example:
        >>> truth(" Yes"), truth(0), truth("perhaps")
        (True, False, None)
    """
    if isinstance(value, bool | int | float) and value in (0, 1):
        return bool(value)
    if isinstance(value, str) and len(value) < 40:
        word = value.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None
    return None


def _boolean_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    return np.asarray(_truths(references) == _truths(predictions), dtype=np.float64)


def _boolean_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    return np.asarray(_truths(references)[:, None] == _truths(predictions)[None, :], dtype=np.float64)


def _truths(values: Sequence[Any]) -> NDArray[np.bool_]:
    return np.array([truth(value) for value in values], dtype=np.bool_)


_SEPARATOR = re.compile("[,;\n]")


def set_overlap() -> LeafMetric:
    """Jaccard: what two sets share, of all that is in them; two empty sets: 1.

    A value is a list, or a text whose parts stand between commas, semicolons or line ends.

    Example:
        >>> set_overlap().pairs([["drums", "bass"], "drums, bass"], [["bass", "flute"], "bass; drums"])
        array([0.33333333, 1.        ])
    """
    accepted = (str, list, tuple, set, frozenset)
    return LeafMetric("set_overlap", _set_pairs, _set_matrix, lambda value: isinstance(value, accepted))


def _members(value: Any) -> frozenset[Any]:
    parts = [part.strip() for part in _SEPARATOR.split(value)] if isinstance(value, str) else value
    return frozenset(_member(part) for part in parts if part != "")


def _member(value: Any) -> Any:
    key = value_key(value)
    try:
        hash(key)
    except TypeError:  # an object of the caller's: it is itself
        return id(value)
    return key


def _set_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    sets = [(_members(one), _members(other)) for one, other in zip(references, predictions, strict=True)]
    return np.array([len(one & other) / len(one | other) if one or other else 1.0 for one, other in sets])


def _set_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    left, right = [_members(value) for value in references], [_members(value) for value in predictions]
    common = overlaps(left, right)
    sizes = [np.array([len(one) for one in side], dtype=np.float64) for side in (left, right)]
    union = sizes[0][:, None] + sizes[1][None, :] - common
    return np.divide(common, union, out=np.ones_like(common), where=union > 0)
