"""Values of two operands, references and predictions, and which of them are compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tls_tasks.trees.counts import Array
from tls_tasks.trees.leaf_base import LeafMetric
from tls_tasks.trees.nodes import MAYBE, VALUE


@dataclass(frozen=True, slots=True)
class Pairs:
    """Which references are compared with which predictions.

    Attributes:
        rows: Of each pair, the index of the reference.
        columns: Likewise of the prediction.
        shape: How many references and predictions there are if all are compared with all, row by row.
    """

    rows: Array
    columns: Array
    shape: tuple[int, int] | None = None

    @classmethod
    def aligned(cls, n: int) -> Pairs:
        """Each with its counterpart."""
        return cls(np.arange(n), np.arange(n))

    @classmethod
    def grid(cls, n_references: int, n_predictions: int) -> Pairs:
        """All with all."""
        rows, columns = np.divmod(np.arange(n_references * n_predictions), max(1, n_predictions))
        return cls(rows, columns, (n_references, n_predictions))

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.rows)

    def sums(self, amounts: Any, owners: Array) -> Array:
        """The sums of amounts by owner: the index of the pair that owns each."""
        amounts = np.broadcast_to(amounts, len(owners))
        sums = np.bincount(owners, weights=amounts, minlength=self.n)
        return sums if amounts.dtype.kind == "f" else sums.astype(np.int64)

    def scores(self, metric: LeafMetric, references: Sequence[Any], predictions: Sequence[Any], usable: Array) -> Array:
        """A metric's scores of the pairs that are ``usable``, and 0 of the others."""
        scores, usable = np.zeros(self.n), np.broadcast_to(usable, self.n)
        if self.shape is None:
            indices = np.flatnonzero(usable)
            left, right = at(references, self.rows[indices]), at(predictions, self.columns[indices])
            scores[indices] = metric.pairs(left, right)
            return scores
        if usable.all():
            return metric.matrix(references, predictions).ravel()
        is_usable, grid = usable.reshape(self.shape), scores.reshape(self.shape)
        rows, columns = np.flatnonzero(is_usable.any(axis=1)), np.flatnonzero(is_usable.any(axis=0))
        if len(rows):
            grid[np.ix_(rows, columns)] = metric.matrix(at(references, rows), at(predictions, columns))
        return np.where(usable, scores, 0.0)


def at(values: Sequence[Any], indices: Array) -> list[Any]:
    """The values at these indices."""
    return [values[index] for index in indices.tolist()]


@dataclass(frozen=True, slots=True)
class Operands:
    """Values of references and of predictions, and which of them are compared.

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

    @classmethod
    def aligned(cls, references: list[Any], predictions: list[Any], are_items: bool = False) -> Operands:
        """Each reference with its prediction."""
        return cls(references, predictions, Pairs.aligned(len(references)), are_items)

    def of(self, references: list[Any], predictions: list[Any]) -> Operands:
        """Other values of the same trees."""
        return Operands(references, predictions, self.pairs, self.are_items)

    def chunks(self, n_rows: int, n_pairs: int) -> Iterator[Operands]:
        """The same pairs, so many rows of all with all at a time, or so many pairs."""
        pairs = self.pairs
        if pairs.shape is None:
            for start in range(0, pairs.n, n_pairs):
                part = slice(start, start + n_pairs)
                some = Pairs(pairs.rows[part], pairs.columns[part])
                yield Operands(self.references, self.predictions, some, self.are_items)
            return
        for start in range(0, pairs.shape[0], n_rows):
            references = self.references[start : start + n_rows]
            some = Pairs.grid(len(references), len(self.predictions))
            yield Operands(references, self.predictions, some, self.are_items)


class States:
    """What the values of each pair are to their node; one state stands for all pairs if all are values.

    Attributes:
        left, right: The states of the reference and of the prediction.
        has_left: Whether the reference has a value. Where null is one of several valid answers, it has one if the
            prediction has.
        has_right: Whether the prediction has a value, of whatever type.
        are_all_values: Whether there is nothing but values of the right type.
    """

    def __init__(self, left: Array, right: Array) -> None:
        """The states of both values of each pair."""
        self.left, self.right = left, right
        self.has_right = right >= VALUE
        self.has_left = (left >= VALUE) & ((left != MAYBE) | self.has_right)
        self.are_all_values = not left.ndim and not right.ndim

    @classmethod
    def of(cls, left: Array, right: Array, pairs: Pairs) -> States:
        """The states of the values of both operands."""
        value = np.array(VALUE, dtype=np.int8)
        return cls(
            left[pairs.rows] if (left != VALUE).any() else value,
            right[pairs.columns] if (right != VALUE).any() else value,
        )
