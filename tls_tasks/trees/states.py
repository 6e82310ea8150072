"""What values are to their nodes: there, null, of another type; for one side, and for pairs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from operator import is_, itemgetter
from typing import Any

import numpy as np

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.pairs import Array, Pairs
from tls_tasks.trees.plan import LeafPlan
from tls_tasks.trees.values import AnyOf

MISSING = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for the value of a key that isn't there."""

ABSENT, NULL, VALUE, WRONG, MAYBE = range(5)
"""No key; null; a value; a value of another type; several valid answers, null among them."""

KNOWN = frozenset({dict, list, str, int, float, bool, type(None), type(MISSING)})
"""Types of values that need no reading, if they are finite."""


@dataclass(frozen=True, slots=True)
class Sides:
    """Values of two sides, and which of them are compared.

    Attributes:
        references: One a reference.
        predictions: One a prediction.
        pairs: Which with which.
        details: Whether it matters what each leaf is, or only the scores.
    """

    references: list[Any]
    predictions: list[Any]
    pairs: Pairs
    details: bool

    def of(self, references: list[Any], predictions: list[Any]) -> Sides:
        """Other values of the same trees."""
        return Sides(references, predictions, self.pairs, self.details)


class States:
    """What the values of pairs are; all in the pairing's shape.

    Attributes:
        expected: The reference's state.
        given: The prediction's state.
        in_reference: Whether the reference has the key.
        in_prediction: Whether the prediction has it.
        has_reference: Whether the reference has a value. Where null is one of several valid answers it has one if the
            prediction has.
        has_prediction: Whether the prediction has a value, of whatever type.
    """

    __slots__ = ("expected", "given", "has_prediction", "has_reference", "in_prediction", "in_reference")

    def __init__(self, left: Array | None, right: Array | None, sides: Sides) -> None:
        """``left`` and ``right`` are the sides' states; None: all are values."""
        pairs = sides.pairs
        left = np.full(len(sides.references), VALUE, dtype=np.int8) if left is None else left
        right = np.full(len(sides.predictions), VALUE, dtype=np.int8) if right is None else right
        self.expected = np.broadcast_to(pairs.left(left), pairs.shape)
        self.given = np.broadcast_to(pairs.right(right), pairs.shape)
        self.in_reference = self.expected != ABSENT
        self.in_prediction = self.given != ABSENT
        self.has_prediction = self.given >= VALUE
        self.has_reference = (self.expected >= VALUE) & ((self.expected != MAYBE) | self.has_prediction)

    @property
    def both_null(self) -> Array:
        """Whether both values are null, in the reference among several answers perhaps."""
        both: Array = ((self.expected == NULL) | (self.expected == MAYBE)) & (self.given == NULL)
        return both


def leaf_states(plan: LeafPlan, values: list[Any], is_loose: bool) -> list[int]:
    """What each value is to a leaf.

    Args:
        plan: The leaf.
        values: Finite values.
        is_loose: Whether any type will do.
    """
    by_type = {**dict.fromkeys(plan.clean, VALUE), type(None): NULL, type(MISSING): ABSENT}
    states = list(map(by_type.get, map(type, values)))
    return [
        _leaf_state(plan, value, is_loose) if state is None else state
        for value, state in zip(values, states, strict=True)
    ]


def _leaf_state(plan: LeafPlan, value: Any, is_loose: bool) -> int:
    if isinstance(value, AnyOf) and not value.present:
        return NULL
    if not is_loose and not fits(value, plan.node):
        return WRONG
    return MAYBE if isinstance(value, AnyOf) and value.may_be_null else VALUE


def container_state(value: Any, wanted: type) -> int:
    """What a value is to a dictionary or a list.

    Example:
        >>> [container_state(value, dict) for value in ({}, None, "text", MISSING)] == [VALUE, NULL, WRONG, ABSENT]
        True
    """
    if value is MISSING:
        return ABSENT
    return NULL if value is None else VALUE if isinstance(value, wanted) else WRONG


def with_null_as_value(states: Array | None) -> Array | None:
    """The states where null is a value like any other."""
    return None if states is None else np.where(states == NULL, VALUE, states)


def column_of(key: Any, trees: Sequence[Any]) -> list[Any]:
    """The value of a key in each dictionary, :data:`MISSING` where it isn't there.

    Example:
        >>> column_of("a", [{"a": 1}, {"b": 2}])
        [1, MISSING]
    """
    try:
        return list(map(itemgetter(key), trees))
    except KeyError:
        return list(map(dict.get, trees, repeat(key), repeat(MISSING)))


def absent_in(column: Sequence[Any]) -> int:
    """How many values of a column are :data:`MISSING`."""
    return sum(map(is_, column, repeat(MISSING)))


def or_else(values: list[Any], states: Array | None, stand_in: Any) -> list[Any]:
    """The values, with a stand-in for those that are none."""
    if states is None:
        return values
    return [value if state == VALUE else stand_in for value, state in zip(values, states.tolist(), strict=True)]


def are_finite(values: Sequence[Any]) -> bool:
    """Whether no float among the values is NaN or infinite."""
    try:
        return all(map(math.isfinite, values))
    except (TypeError, OverflowError):  # no numbers, or greater than any float
        return all(math.isfinite(value) for value in values if type(value) is float)
