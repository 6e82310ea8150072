"""Which values of two sides are compared: each with its counterpart, all with all, or all with all within many lists.

Everything that is known of a value alone is computed a side, ``[references]`` or ``[predictions]``; what is known of a
pair has the pairing's ``shape``, or broadcasts to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import eq
from typing import Any, Union

import numpy as np
from numpy.typing import NDArray

from tls_tasks.trees.leaf_base import FloatArray, LeafMetric

Array = NDArray[Any]
Amount = Union[int, float, Array]  # noqa: UP007 - used at run time, on Python 3.10
"""A number for every pair: one for all of them, or an array that broadcasts to the pairing's shape."""


@dataclass(frozen=True, slots=True)
class Aligned:
    """``references[i]`` with ``predictions[i]``.

    Attributes:
        n: How many.
        inside: Whether the values are items of lists.
    """

    n: int
    inside: bool = False

    @property
    def shape(self) -> tuple[int, ...]:
        """``(n,)``."""
        return (self.n,)

    @property
    def size(self) -> int:
        """How many pairs."""
        return self.n

    def equal(self, references: Sequence[Any], predictions: Sequence[Any]) -> Array:
        """Whether the two values of each pair are equal, by ``==``."""
        return np.array(list(map(eq, references, predictions)))

    def left(self, values: Array) -> Array:
        """A property of references, by pairs."""
        return values

    right = left

    def blocks(self) -> tuple[Array, Array]:
        """The place of each pair's reference and prediction, pairs in the order of the flattened shape."""
        places = np.arange(self.n)
        return places, places

    def score(
        self, metric: LeafMetric, references: Sequence[Any], predictions: Sequence[Any], good: Array | None
    ) -> Array:
        """A metric's scores of the pairs that are ``good`` (None: all); 0 elsewhere."""
        if good is None:
            return metric.pairs(references, predictions)
        chosen, scores = good.tolist(), np.zeros(self.n)
        left = list(compress(references, chosen))
        if left:
            scores[good] = metric.pairs(left, list(compress(predictions, chosen)))
        return scores


@dataclass(frozen=True, slots=True)
class Grid:
    """Every reference with every prediction."""

    n_references: int
    n_predictions: int
    inside: bool = field(default=True, init=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """``(references, predictions)``."""
        return (self.n_references, self.n_predictions)

    @property
    def size(self) -> int:
        """How many pairs."""
        return self.n_references * self.n_predictions

    def equal(self, references: Sequence[Any], predictions: Sequence[Any]) -> Array:
        """Whether the two values of each pair are equal, by ``==``; they are hashable."""
        numbers: dict[Any, int] = {}
        left = np.array([numbers.setdefault(value, len(numbers)) for value in references])
        right = np.array([numbers.setdefault(value, len(numbers)) for value in predictions])
        same: Array = left[:, None] == right[None, :]
        return same

    def left(self, values: Array) -> Array:
        """A property of references, by pairs."""
        return values[:, None]

    def right(self, values: Array) -> Array:
        """A property of predictions, by pairs."""
        return values[None, :]

    def blocks(self) -> tuple[Array, Array]:
        """The place of each pair's reference and prediction, pairs in the order of the flattened shape."""
        rows, columns = np.indices(self.shape)
        return rows.ravel(), columns.ravel()

    def score(
        self, metric: LeafMetric, references: Sequence[Any], predictions: Sequence[Any], good: Array | None
    ) -> Array:
        """A metric's scores of the pairs that are ``good`` (None: all); 0 elsewhere."""
        if good is None:
            return metric.matrix(references, predictions)
        rows, columns = np.flatnonzero(good.any(axis=1)), np.flatnonzero(good.any(axis=0))
        scores = np.zeros(self.shape)
        if len(rows):
            part = metric.matrix([references[i] for i in rows.tolist()], [predictions[i] for i in columns.tolist()])
            scores[np.ix_(rows, columns)] = part
        return np.where(good, scores, 0.0)


@dataclass(frozen=True, slots=True)
class Scattered:
    """``references[rows[k]]`` with ``predictions[columns[k]]``: the pairs of many short lists."""

    rows: Array
    columns: Array
    inside: bool = field(default=True, init=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """``(pairs,)``."""
        return (len(self.rows),)

    @property
    def size(self) -> int:
        """How many pairs."""
        return len(self.rows)

    def equal(self, references: Sequence[Any], predictions: Sequence[Any]) -> Array:
        """Whether the two values of each pair are equal, by ``==``."""
        left, right = (
            map(references.__getitem__, self.rows.tolist()),
            map(predictions.__getitem__, self.columns.tolist()),
        )
        return np.array(list(map(eq, left, right)))

    def left(self, values: Array) -> Array:
        """A property of references, by pairs."""
        return values[self.rows]

    def right(self, values: Array) -> Array:
        """A property of predictions, by pairs."""
        return values[self.columns]

    def blocks(self) -> tuple[Array, Array]:
        """The place of each pair's reference and prediction."""
        return self.rows, self.columns

    def score(
        self, metric: LeafMetric, references: Sequence[Any], predictions: Sequence[Any], good: Array | None
    ) -> Array:
        """A metric's scores of the pairs that are ``good`` (None: all); 0 elsewhere."""
        places = np.arange(len(self.rows)) if good is None else np.flatnonzero(good)
        scores: FloatArray = np.zeros(len(self.rows))
        if len(places):
            left = [references[i] for i in self.rows[places].tolist()]
            right = [predictions[i] for i in self.columns[places].tolist()]
            scores[places] = metric.pairs(left, right)
        return scores


Pairs = Union[Aligned, Grid, Scattered]  # noqa: UP007 - used at run time, on Python 3.10


class Tally(dict[Any, Amount]):
    """Amounts by name, each for every pair. Names are those of :data:`COUNTS`, and ``(name, number)`` for the leaves'.

    ``("sum", slot)`` and ``("n", slot)`` are a metric's scores of one leaf and how many there are; ``("correct",
    leaf)`` and the others of :data:`FIELDS` say how often a leaf was what.
    """

    __slots__ = ("links",)

    def __init__(self) -> None:
        super().__init__()
        self.links: list[Links] = []

    def add(self, name: Any, amount: Amount) -> None:
        """Add to what is there."""
        # 0 + …: two Boolean arrays would not add up
        self[name] = self.get(name, 0) + amount

    def merge(self, other: Tally, live: Array | None = None) -> None:
        """Add all of another; where ``live`` is given, nodes and leaves are counted in these pairs only."""
        for name, amount in other.items():
            self.add(name, amount if live is None or type(name) is tuple else amount * live)
        self.links += other.links


COUNTS = ("node_tp", "node_fp", "node_fn", "leaf_tp", "leaf_fp", "leaf_fn")
"""Nodes and leaves: found, too many, missed."""

FIELDS = ("correct", "wrong", "missed", "invented", "absent")
"""What a leaf can be: right; there with another value; not there though it should be; there though it should not be;
and rightly not there."""


ALIKE = "alike"
"""Pairs of items that are both null; says nothing of what is around the list."""


@dataclass(frozen=True, slots=True)
class Links:
    """Which items of lists belong together.

    Attributes:
        name: The list's path.
        owners: The pair whose lists they are in, one a link.
        references: The item's place in the reference's list.
        predictions: The item's place in the prediction's list.
        inner: Links of lists within the items; their owners are links of this one.
    """

    name: str
    owners: list[int]
    references: list[int]
    predictions: list[int]
    inner: list[Links]


def reduced(amount: Amount, owners: Array, pairs: Pairs) -> Array:
    """The sums of amounts over the links of each pair, in the pairing's shape."""
    if not isinstance(amount, np.ndarray):
        return (np.bincount(owners, minlength=pairs.size) * amount).reshape(pairs.shape)
    weights = amount if amount.shape == owners.shape else np.broadcast_to(amount, owners.shape)
    sums = np.bincount(owners, weights=weights, minlength=pairs.size).reshape(pairs.shape)
    return sums if amount.dtype.kind == "f" else sums.astype(np.int64)
