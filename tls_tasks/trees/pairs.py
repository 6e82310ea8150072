"""Pairs of values, of references and of predictions: which are compared, and what each is to its node."""

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
    """Values of references and of predictions, and which of them are compared.

    Attributes:
        references: Values of references.
        predictions: Values of predictions.
        rows: Of each pair, the index of its reference.
        columns: Likewise of its prediction.
        are_all: Whether all are compared with all, row by row.
    """

    references: list[Any]
    predictions: list[Any]
    rows: Array
    columns: Array
    are_all: bool = False

    @classmethod
    def aligned(cls, references: list[Any], predictions: list[Any]) -> Pairs:
        """Each reference with its prediction."""
        indices = np.arange(len(references))
        return cls(references, predictions, indices, indices)

    @classmethod
    def all_of(cls, references: list[Any], predictions: list[Any]) -> Pairs:
        """All references with all predictions."""
        rows, columns = np.divmod(np.arange(len(references) * len(predictions)), max(1, len(predictions)))
        return cls(references, predictions, rows, columns, are_all=True)

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.rows)

    def of(self, references: list[Any], predictions: list[Any]) -> Pairs:
        """Other values of the same trees."""
        return Pairs(references, predictions, self.rows, self.columns, self.are_all)

    def chunks(self, n_rows: int, n_pairs: int) -> Iterator[Pairs]:
        """The same pairs, so many rows of all with all at a time, or so many pairs."""
        if self.are_all:
            for start in range(0, len(self.references), n_rows):
                yield Pairs.all_of(self.references[start : start + n_rows], self.predictions)
        else:
            for start in range(0, self.n, n_pairs):
                part = slice(start, start + n_pairs)
                yield Pairs(self.references, self.predictions, self.rows[part], self.columns[part])

    def sums(self, amounts: Any, owners: Array) -> Array:
        """The sums of amounts by owner: the index of the pair that owns each."""
        amounts = np.broadcast_to(amounts, len(owners))
        sums = np.bincount(owners, weights=amounts, minlength=self.n)
        return sums if amounts.dtype.kind == "f" else sums.astype(np.int64)

    def scores(self, metric: LeafMetric, usable: Array) -> Array:
        """A metric's scores of the pairs that are ``usable``, and 0 of the others."""
        scores, usable = np.zeros(self.n), np.broadcast_to(usable, self.n)
        if not self.are_all:
            indices = np.flatnonzero(usable)
            left, right = _at(self.references, self.rows[indices]), _at(self.predictions, self.columns[indices])
            scores[indices] = metric.pairs(left, right)
            return scores
        if usable.all():
            return metric.matrix(self.references, self.predictions).ravel()
        shape = len(self.references), len(self.predictions)
        is_usable, grid = usable.reshape(shape), scores.reshape(shape)
        rows, columns = np.flatnonzero(is_usable.any(axis=1)), np.flatnonzero(is_usable.any(axis=0))
        if len(rows):
            grid[np.ix_(rows, columns)] = metric.matrix(_at(self.references, rows), _at(self.predictions, columns))
        return np.where(usable, scores, 0.0)


def _at(values: Sequence[Any], indices: Array) -> list[Any]:
    """The values at these indices."""
    return [values[index] for index in indices.tolist()]


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
