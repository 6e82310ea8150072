"""All pairs of flat items at once: it says what comparing them pair by pair says, for hundreds in milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.trees.counts import EXACT
from tls_tasks.trees.leaf_scores import mean_similarity
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.meanings import meaning, reader_of_meanings, reads_numbers
from tls_tasks.trees.nodes import MISSING
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.sorting import Row, SortedItems, flat_leaves, flat_lists, sorted_items
from tls_tasks.trees.types import Branch, SchemaNode, all_nodes
from tls_tasks.trees.weights import GUIDE, VALUES, PairCounts, Rule

CHUNK = 500_000
"""How many pairs of items are looked at at once: bounds the memory."""


class Grid(NamedTuple):
    """The weights of the flat items of some lists with those of others.

    Attributes:
        rows: Where the items of each list of references are.
        columns: Likewise of predictions.
        weights: Rule -> ``[references, predictions]``.
    """

    rows: dict[SortedItems, slice]
    columns: dict[SortedItems, slice]
    weights: dict[Rule, FloatArray]


@dataclass
class Lists:
    """The sorted lists of two trees and the weights of their flat items, for all pairings of these trees."""

    plan: Plan
    lists: dict[tuple[int, int], SortedItems] = field(default_factory=dict)
    grids: dict[int, Grid] = field(default_factory=dict)

    def clear(self) -> None:
        """Forget all lists: those of other trees may get their ids."""
        self.lists.clear()
        self.grids.clear()

    def sorted(self, items: Sequence[Any], node: SchemaNode) -> SortedItems:
        """Sort items, so that the pairing does not depend on their order; for treeval they stay as they stand."""
        if (key := (id(items), id(node))) not in self.lists:
            self.lists[key] = sorted_items(items, node, self.plan.follows_treeval)
        return self.lists[key]

    def weigh(self, rule: Rule, references: SortedItems, predictions: SortedItems, node: SchemaNode) -> FloatArray:
        """Return the weights of the flat items of two lists."""
        grid = self.grid([references], [predictions], node)
        return grid.weights[rule][grid.rows[references], grid.columns[predictions]]

    def weigh_within(self, references: SortedItems, predictions: SortedItems, node: SchemaNode) -> None:
        """Weigh the flat items of all lists within items with all, which is quicker than list by list."""
        inner: dict[int, tuple[SchemaNode, list[SortedItems], list[SortedItems]]] = {}
        for side, items in enumerate((references.items, predictions.items)):
            for below, values in (each for item in items for each in flat_lists(node, item)):
                lists: Any = inner.setdefault(id(below), (below, [], []))[1 + side]
                lists.append(self.sorted(values, below))
        for key, (below, left, right) in inner.items():
            self.grids[key] = self.grid(left, right, below)

    def grid(self, references: list[SortedItems], predictions: list[SortedItems], node: SchemaNode) -> Grid:
        """Return the grid in which these lists are."""
        grid = self.grids.get(id(node))
        if grid and grid.rows.keys() >= set(references) and grid.columns.keys() >= set(predictions):
            return grid
        (rows, left), (columns, right) = _placed(references), _placed(predictions)
        grid = Grid(rows, columns, weigh_rows(self.plan, node, left, right))
        self.grids.setdefault(id(node), grid)
        return grid


def _placed(lists: Sequence[SortedItems]) -> tuple[dict[SortedItems, slice], list[Row]]:
    """Put the flat items of lists one after the other; say where those of each are."""
    rows: list[Row] = []
    slices: dict[SortedItems, slice] = {}
    for each in dict.fromkeys(lists):
        start = len(rows)
        rows += filter(None, each.rows)
        slices[each] = slice(start, len(rows))
    return slices, rows


def weigh_rows(plan: Plan, node: SchemaNode, references: list[Row], predictions: list[Row]) -> dict[Rule, FloatArray]:
    """Return the weights of all references with all predictions by each rule."""
    rules = [GUIDE] if plan.follows_treeval else [GUIDE, VALUES]
    weights = {rule: np.empty((len(references), len(predictions))) for rule in rules}
    step = max(1, CHUNK // max(1, len(predictions)))
    for start in range(0, len(references) if predictions else 0, step):
        rows = slice(start, start + step)
        pairs = _count_pairs(plan, node, references[rows], predictions)
        for rule in rules:
            weights[rule][rows] = rule.weights(plan, node, pairs)
    return weights


def _count_pairs(plan: Plan, node: SchemaNode, references: list[Row], predictions: list[Row]) -> PairCounts:
    """Count all references with all predictions."""
    sides = references, predictions
    keys: list[Any] = [np.array([[float(value is not MISSING) for value in row] for row in rows]) for rows in sides]
    nulls = [np.array([[value is None for value in row] for row in rows]) for rows in sides]
    values: list[Any] = [side - null for side, null in zip(keys, nulls, strict=True)]
    expected = np.ones_like(keys[0]) if plan.follows_treeval else keys[0]
    pairs = PairCounts(
        nodes=(keys[0] @ keys[1].T + _n_dictionaries(node), (1 - keys[0]) @ keys[1].T, expected @ (1 - keys[1]).T),
        leaves=(values[0] @ values[1].T, (keys[0] - values[0]) @ values[1].T, values[0] @ (keys[1] - values[1]).T),
        n_values=np.add.outer(*(side.sum(axis=1) for side in values)),
        are_null=isinstance(node, Field) and np.logical_and.outer(*(side[:, 0] == 0 for side in values)),
    )
    for index, leaf in enumerate(flat_leaves(node)):
        has_both = np.logical_and.outer(*(side[:, index] > 0 for side in values))
        columns = [[row[index] for row in rows] for rows in sides]
        matrices = [metric.matrix(*columns) * has_both for metric in leaf.metrics]
        pairs.scores[leaf.index] = has_both, matrices
        if not plan.follows_treeval:
            alike = mean_similarity(leaf.metrics, matrices)
            if not reads_numbers(leaf, plan.day_month):  # numbers have their type here
                read = reader_of_meanings(leaf, plan.day_month)
                meant = [[meaning(read, value) for value in column] for column in columns]
                if meant != columns:
                    alike = np.maximum(alike, mean_similarity(leaf.metrics, [m.matrix(*meant) for m in leaf.metrics]))
            alike = alike * has_both
            pairs.similarity, pairs.exact = pairs.similarity + alike, pairs.exact + (alike >= EXACT)
    return pairs


def _n_dictionaries(node: SchemaNode) -> int:
    """Count the dictionaries within a dictionary."""
    return sum(isinstance(below, Branch) for _, below in all_nodes(node)) - isinstance(node, Branch)
