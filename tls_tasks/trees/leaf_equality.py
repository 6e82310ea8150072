"""Leaf metrics of equality: ours, which is strict about types, and treeval's.

Two values are equal if they have the same key (:func:`value_key`), so that a matrix costs one comparison of numbers a
pair, whatever the values are.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import partial
from operator import eq
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tls_tasks.core.errors import InputError
from tls_tasks.trees.leaf_base import FloatArray, LeafMetric

_COMPARABLE: frozenset[type] = frozenset({str, int, float, type(None)})  # no booleans: == is strict among these
_BOOLEAN: frozenset[type] = frozenset({bool})
_PLAIN: frozenset[type] = frozenset({str, int, bool, float, type(None)})


def value_key(value: Any, *, loose: bool = False) -> Any:
    """What two values have in common if and only if they are equal; hashable if the value's parts are.

    Numbers are equal by value, ``1`` and ``1.0``; booleans equal booleans only; NaN equals nothing; lists and
    dictionaries are compared part by part; values of any other class by their own ``==``.

    Args:
        value: Any value.
        loose: Whether ``True`` is 1, as Python and treeval have it.

    Example:
        >>> value_key(1) == value_key(1.0), value_key(1) == value_key(True), value_key(1) == value_key("1")
        (True, False, False)
    """
    kind = type(value)
    if kind is str or value is None:
        return value
    if isinstance(value, bool | np.bool_):
        return ("number", int(value)) if loose else ("boolean", bool(value))
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | float):
        return ("number", value if value == value else object())
    if isinstance(value, str):
        return str.__str__(value)  # the text of an Enum's member, where str(value) would name the member
    if isinstance(value, list | tuple):
        return ("list", tuple(value_key(one, loose=loose) for one in value))
    if isinstance(value, Mapping):
        keys = ((value_key(key, loose=loose), value_key(one, loose=loose)) for key, one in value.items())
        return ("dictionary", frozenset(keys))
    return ("other", value)


def _equal_pairs(loose: bool, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    kinds = {*map(type, references), *map(type, predictions)}
    if kinds <= _COMPARABLE or kinds == _BOOLEAN:
        return np.array(list(map(eq, references, predictions)), dtype=np.float64)
    equal = [_are_equal(one, other, loose) for one, other in zip(references, predictions, strict=True)]
    return np.array(equal, dtype=np.float64)


def _are_equal(reference: Any, prediction: Any, loose: bool) -> bool:
    try:
        return bool(value_key(reference, loose=loose) == value_key(prediction, loose=loose))
    except TypeError:  # an unhashable value of a class of the caller's within a dictionary
        return bool(reference == prediction)


def _equal_matrix(loose: bool, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    try:
        numbers: dict[Any, int] = {}
        left, right = (
            np.array([numbers.setdefault(value_key(value, loose=loose), len(numbers)) for value in values])
            for values in (references, predictions)
        )
    except TypeError:  # an unhashable value: compare pair by pair
        rows = [[_are_equal(one, other, loose) for other in predictions] for one in references]
        return np.array(rows, dtype=np.float64)
    return np.asarray(left[:, None] == right[None, :], dtype=np.float64)


Close = Callable[[FloatArray, FloatArray], NDArray[np.bool_]]
"""References, predictions -> whether they are close enough, element by element; both broadcast."""


def exact_match(tolerance: float = 0.0, relative_tolerance: float = 0.0) -> LeafMetric:
    """1 where two values are equal, else 0. Types are strict: ``True`` is not 1, ``"5"`` is not 5; 1 and 1.0 are equal.

    Args:
        tolerance: How far two numbers may be apart.
        relative_tolerance: How far, as a part of the reference. The larger of the two counts.

    Raises:
        InputError: A tolerance that is negative or no number.

    Example:
        >>> exact_match().pairs([1, 1, 5, "a"], [1.0, True, "5", "a"])
        array([1., 0., 0., 1.])
        >>> exact_match(relative_tolerance=0.01).pairs([100, 100], [101, 102])
        array([1., 0.])
    """
    given = {"tolerance": tolerance, "relative_tolerance": relative_tolerance}
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise InputError(name, None, repr(value), "a number from 0")
    settings = ",".join(f"{name}={value}" for name, value in given.items() if value)
    limits = float(tolerance), float(relative_tolerance)
    close = partial(_within, *limits) if settings else None
    return _equality("exact_match", close, loose=False, settings=settings, exactly=partial(_are_within, *limits))


def treeval_exact_match() -> LeafMetric:
    """Exact match as treeval has it: by the prediction's type. Booleans are numbers; floats need to be close only.

    A float or boolean prediction is compared with ``numpy.isclose`` (1e-5 of the reference, 1e-8 at least), all others
    by equality.

    Example:
        >>> treeval_exact_match().pairs([1, 1000000.0, 1000000, "a"], [True, 1000005.0, 1000005, "a"])
        array([1., 1., 0., 1.])
    """
    return _equality("exact_match", _numpy_close, loose=True)


def _equality(
    name: str,
    close: Close | None,
    *,
    loose: bool,
    settings: str = "",
    exactly: Callable[[Any, Any], bool] | None = None,
) -> LeafMetric:
    """Equality of values, and closeness of numbers; ``exactly`` decides where integers are too large for floats."""
    pairs, matrix = partial(_equal_pairs, loose), partial(_equal_matrix, loose)
    if close is None:
        return LeafMetric(name, pairs, matrix, types=_PLAIN, settings=settings)
    numbers = _loose_numbers if loose else _numbers

    def large(values: Sequence[Any]) -> set[int]:
        return {place for place, value in enumerate(values) if _is_large(value)} if exactly else set()

    def close_pairs(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        scores = pairs(references, predictions)
        left, right = numbers(references, False), numbers(predictions, loose)
        near = close(left, right)
        for place in large(references) | large(predictions):
            near[place] = exactly is not None and exactly(references[place], predictions[place])
        return np.maximum(scores, near)

    def close_matrix(references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        scores = matrix(references, predictions)
        left, right = numbers(references, False), numbers(predictions, loose)
        near = close(left[:, None], right[None, :])
        rows, columns = large(references), large(predictions)
        for row, column in itertools.product(range(len(left)), range(len(right))) if rows or columns else ():
            if row in rows or column in columns:
                near[row, column] = exactly is not None and exactly(references[row], predictions[column])
        return np.maximum(scores, near)

    return LeafMetric(name, close_pairs, close_matrix, types=_PLAIN, settings=settings)


def _within(tolerance: float, relative: float, left: FloatArray, right: FloatArray) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore", over="ignore"):
        limit = np.maximum(tolerance, relative * np.abs(left))
        # 1.01 and 1.00 are .01 apart, but not as floats: some units in the last place are let through
        slack = np.minimum(4 * np.spacing(np.maximum(np.abs(left), np.abs(right))), limit / 1000)
        near: NDArray[np.bool_] = np.abs(left - right) <= limit + slack
    return near & np.isfinite(left) & np.isfinite(right)


def _are_within(tolerance: float, relative: float, reference: Any, prediction: Any) -> bool:
    """The same of two numbers of which one is an integer that no float holds."""
    if not is_number(reference) or not is_number(prediction):
        return False
    left, right = Fraction(reference), Fraction(prediction)
    return abs(left - right) <= max(Fraction(tolerance), Fraction(relative) * abs(left))


def _is_large(value: Any) -> bool:
    return type(value) is int and abs(value) > 2**53


def _numpy_close(left: FloatArray, right: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(np.isclose(right, left, rtol=1e-5, atol=1e-8))


def _numbers(values: Sequence[Any], _: bool) -> FloatArray:
    """The numbers among the values, NaN for what is none."""
    return np.array([as_float(value) if is_number(value) else np.nan for value in values])


def _loose_numbers(values: Sequence[Any], floats_only: bool) -> FloatArray:
    """The same with booleans among them, and without integers where ``floats_only``."""
    return np.array(
        [
            as_float(value)
            if isinstance(value, float | bool) or (isinstance(value, int) and not floats_only)
            else np.nan
            for value in values
        ]
    )


def is_number(value: Any) -> bool:
    """Whether a value is a number other than NaN and infinity; booleans are none.

    Example:
        >>> is_number(1), is_number(True), is_number(float("nan"))
        (True, False, False)
    """
    return isinstance(value, int | float) and not isinstance(value, bool) and value - value == 0


def as_float(number: float) -> float:
    """The number as a float; an integer that no float holds becomes infinite.

    Example:
        >>> as_float(-(10**400))
        -inf
    """
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
