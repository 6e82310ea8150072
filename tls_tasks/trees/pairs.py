"""Which values of two sides are compared, and what is counted of each pair."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tls_tasks.trees.leaf_base import LeafMetric
from tls_tasks.trees.nodes import MAYBE, VALUE

Array = NDArray[Any]

ALIKE = "alike"
"""Pairs of items that are both null; says nothing about what is around the list."""

SINGLE = "single"
"""Pairs of items that may be of several kinds, of which one at least is null or a scalar; likewise."""

GUIDE, SOFT, EXACT = range(3)
"""What items of lists are paired for: the profile's own score, the greatest sum of similarities, the most exact values.

What is counted for the last two has a name that begins with :data:`AIMS`; all else is counted for the first.
"""

AIMS = {"soft": SOFT, "exact": EXACT}
"""First part of a name -> what it is counted for."""


HITS = {SOFT: "soft|hits", EXACT: "exact|hits"}
"""Aim -> the sum of its similarities, of values that are compared: what the items of lists are paired for."""

MORE = {SOFT: "soft|more", EXACT: "exact|more"}
"""Aim -> how many values more the answers that were chosen have than the first ones, where there are several."""


def aim_of(name: str) -> int:
    """What an amount of this name is counted for.

    Example:
        >>> aim_of("exact|hits"), aim_of("node_tp")
        (2, 0)
    """
    return AIMS.get(name.partition("|")[0], GUIDE)


class Tally(dict[str, Any]):
    """Amounts by name: a number for every pair, or one for all. Most names are those of the parts of a unit."""

    def add(self, name: str, amount: Any) -> None:
        """Add to what is there."""
        known = self.get(name)
        if known is None:
            self[name] = amount
            return
        if isinstance(known, np.ndarray) and known.dtype.kind == "b":
            known = known + 0  # two Boolean arrays have no sum
        self[name] = known + amount

    def merge(self, other: Tally, live: Array | None = None, names: Iterable[str] = ()) -> None:
        """Add all of another; of these names only where ``live``."""
        for name, amount in other.items():
            self.add(name, amount * live if live is not None and name in names else amount)


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which references are compared with which predictions: two arrays of places that broadcast against each other.

    Attributes:
        rows: The places of the references.
        columns: Those of the predictions: as many; or ``rows`` is a column and this a row, for all with all.
    """

    rows: Array
    columns: Array

    @classmethod
    def aligned(cls, n: int) -> Pairs:
        """Each with its counterpart."""
        places = np.arange(n)
        return cls(places, places)

    @classmethod
    def grid(cls, n_references: int, n_predictions: int) -> Pairs:
        """All with all."""
        return cls(np.arange(n_references)[:, None], np.arange(n_predictions)[None, :])

    @property
    def is_grid(self) -> bool:
        """Whether all are compared with all."""
        return self.rows.ndim == 2

    @property
    def shape(self) -> tuple[int, ...]:
        """``(pairs,)``, or ``(references, predictions)``."""
        return (len(self.rows), self.columns.shape[1]) if self.is_grid else self.rows.shape

    def chosen(self, references: Sequence[Any], predictions: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
        """The two values of each pair, unless all are compared with all."""
        if self.rows is self.columns:
            return references, predictions
        return [references[i] for i in self.rows.tolist()], [predictions[j] for j in self.columns.tolist()]

    def sums(self, amounts: Any, owners: Array) -> Array:
        """The sums of the amounts of each pair, which owns some of them (by its place in the flattened shape)."""
        shape = self.shape
        if not isinstance(amounts, np.ndarray):
            found: Array = np.bincount(owners, minlength=math.prod(shape)).reshape(shape) * amounts
            return found
        sums = np.bincount(owners, weights=amounts, minlength=math.prod(shape)).reshape(shape)
        return sums if amounts.dtype.kind == "f" else sums.astype(np.int64)

    def scores(
        self, metric: LeafMetric, references: Sequence[Any], predictions: Sequence[Any], good: Array | None
    ) -> Array:
        """A metric's scores of the pairs that are ``good`` (None: all), and 0 of the others."""
        if not self.is_grid:
            left, right = self.chosen(references, predictions)
            if good is None:
                return metric.pairs(left, right)
            places = np.flatnonzero(good)
            scores = np.zeros(self.shape)
            scores[places] = metric.pairs(at(left, places), at(right, places))
            return scores
        if good is None:
            return metric.matrix(references, predictions)
        rows, columns = np.flatnonzero(good.any(axis=1)), np.flatnonzero(good.any(axis=0))
        scores = np.zeros(self.shape)
        if len(rows):
            scores[np.ix_(rows, columns)] = metric.matrix(at(references, rows), at(predictions, columns))
        return np.where(good, scores, 0.0)


def at(values: Sequence[Any], places: Array) -> list[Any]:
    """The values at these places."""
    return [values[place] for place in places.tolist()]


@dataclass(frozen=True, slots=True)
class Sides:
    """Values of two sides, and which of them are compared.

    Attributes:
        references: Values of references.
        predictions: Values of predictions.
        pairs: Which with which.
        are_items: Whether they are in lists.
    """

    references: list[Any]
    predictions: list[Any]
    pairs: Pairs
    are_items: bool = False

    def of(self, references: list[Any], predictions: list[Any]) -> Sides:
        """Other values of the same trees."""
        return Sides(references, predictions, self.pairs, self.are_items)


class States:
    """What the values of each pair are to their node.

    Attributes:
        left, right: The states of the reference and of the prediction.
        has_left: Whether the reference has a value. Where null is one of several valid answers, it has one if the
            prediction has.
        has_right: Whether the prediction has a value, of whatever type.
    """

    def __init__(self, left: Array | None, right: Array | None, sides: Sides) -> None:
        """``left`` and ``right``: the states of the sides; None: all are values."""
        shape, value = sides.pairs.shape, np.array(VALUE, dtype=np.int8)
        self.left = np.broadcast_to(value if left is None else left[sides.pairs.rows], shape)
        self.right = np.broadcast_to(value if right is None else right[sides.pairs.columns], shape)
        self.has_right = self.right >= VALUE
        self.has_left = (self.left >= VALUE) & ((self.left != MAYBE) | self.has_right)
