"""How well all items of two lists fit together: flat items all at once, others by comparing pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tls_tasks.trees.compare import compare_items, has_answers
from tls_tasks.trees.counts import Counts
from tls_tasks.trees.grid import Grid, flat_leaves, flat_row, weigh_rows
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.nodes import children_of
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import AnyOf, ListOf, SchemaNode, part_for, resolved

if TYPE_CHECKING:
    from tls_tasks.trees.pairing import Pairing

RETAINED = 10_000
"""Of lists with at most so many pairs of items all counts are retained, so that no pair is compared twice."""

BLOCK = 1_000_000
"""At most so many pairs of items of lists within items are weighed at once: bounds the memory."""

Retained = dict[tuple[int, int], Counts]
"""What was counted of pairs of items, by row and column."""


class Block(NamedTuple):
    """The weights of all items of some lists with all items of others.

    Attributes:
        rows: Of each list of references, by its id, the rows of its items.
        columns: Likewise of predictions.
        weights: ``[references, predictions]``.
    """

    rows: dict[int, slice]
    columns: dict[int, slice]
    weights: FloatArray


def weigh(
    references: Sequence[Any], predictions: Sequence[Any], node: SchemaNode, pairing: Pairing
) -> tuple[FloatArray, Retained]:
    """Return the weights of all pairs of items, and what was counted of those that were compared for it."""
    weights, node = np.zeros((len(references), len(predictions))), resolved(node)
    left, right = (_flat_rows(items, node, pairing) for items in (references, predictions))
    rows, columns = [i for i, row in enumerate(left) if row], [j for j, row in enumerate(right) if row]
    if rows and columns:
        grid = grid_of([left[i] for i in rows], [right[j] for j in columns], node, pairing)
        weights[np.ix_(rows, columns)] = pairing.weights(grid)
    pairs = [(i, j) for i, row in enumerate(left) for j, column in enumerate(right) if not row or not column]
    if not pairs:
        return weights, {}
    is_outermost = not pairing.is_weighing
    with pairing.scorer.apart():
        if is_outermost:
            pairing.is_weighing = True
            prepare(references, predictions, node, pairing)
        counts = [compare_items(references[i], predictions[j], node, pairing) for i, j in pairs]
    if is_outermost:
        pairing.is_weighing = False
        pairing.blocks.clear()
    for pair, each in zip(pairs, counts, strict=True):
        weights[pair] = pairing.weight(node, each)
    return weights, dict(zip(pairs, counts, strict=True)) if len(pairs) <= RETAINED else {}


def _flat_rows(items: Sequence[Any], node: SchemaNode, pairing: Pairing) -> list[list[Any] | None]:
    """The values of each item, leaf by leaf; None for what is not flat."""
    if not flat_leaves(node):
        return [None] * len(items)
    return [flat_row(node, item, pairing.plan.follows_treeval) for item in items]


def grid_of(references: list[Any], predictions: list[Any], node: SchemaNode, pairing: Pairing) -> Grid:
    """Weigh rows of flat items; both pairings of two trees share what is computed."""
    key = id(node), *(tuple(id(value) for row in rows for value in row) for rows in (references, predictions))
    grids = pairing.scorer.grids
    if key not in grids:
        grids[key] = weigh_rows(pairing.plan, node, references, predictions)
    return grids[key]


# --- lists within items ---


@dataclass(slots=True)
class _Contents:
    """The leaf values in items, and the lists of flat items in them.

    Attributes:
        values: By the leaf's index, its distinct values.
        lists: By the id of the node of their items, the lists by their id.
        nodes: These nodes.
    """

    values: dict[int, dict[Any, Any]] = field(default_factory=dict)
    lists: dict[int, dict[int, list[Any]]] = field(default_factory=dict)
    nodes: dict[int, SchemaNode] = field(default_factory=dict)

    def collect(self, node: SchemaNode, value: Any) -> None:
        """Add what is at and below a node, of all of several answers."""
        own = part_for(node, value)
        if has_answers(own, value):
            for answer in value.values:
                self.collect(node, answer)
        elif isinstance(own, Field):
            if type(value) in own.types:
                self.values.setdefault(own.index, {})[type(value), value] = value
            elif type(value) is AnyOf:
                self.values.setdefault(own.index, {})[AnyOf, id(value)] = value
        elif isinstance(value, dict | list):
            if isinstance(own, ListOf) and not own.is_ordered and isinstance(value, list) and flat_leaves(own.item):
                self.nodes[id(own.item)] = own.item
                self.lists.setdefault(id(own.item), {})[id(value)] = value
            for inner, child in children_of(own, value):
                if inner is not None:
                    self.collect(inner, child)


def prepare(references: Sequence[Any], predictions: Sequence[Any], node: SchemaNode, pairing: Pairing) -> None:
    """Score all leaves below with all, and weigh all flat items of the lists below with all."""
    left, right = _Contents(), _Contents()
    for contents, items in ((left, references), (right, predictions)):
        for item in items:
            contents.collect(node, item)
    for index in left.values.keys() & right.values.keys():
        values = left.values[index].values(), right.values[index].values()
        pairing.scorer.score_all(pairing.plan.fields[index], *values)
    for key in left.lists.keys() & right.lists.keys():
        item = left.nodes[key]
        rows, starts = _rows_of_lists(left.lists[key], item, pairing)
        columns, ends = _rows_of_lists(right.lists[key], item, pairing)
        if 0 < len(rows) * len(columns) <= BLOCK:
            pairing.blocks[key] = Block(starts, ends, pairing.weights(grid_of(rows, columns, item, pairing)))


def _rows_of_lists(
    lists: dict[int, list[Any]], node: SchemaNode, pairing: Pairing
) -> tuple[list[Any], dict[int, slice]]:
    """The rows of the items of lists, one list after the other; and where each list is. Lists are flat or not in it."""
    rows, spans = list[Any](), dict[int, slice]()
    for key, items in lists.items():
        flat = [flat_row(node, items[i], pairing.plan.follows_treeval) for i in pairing.in_order(items, node).positions]
        if None not in flat:
            spans[key] = slice(len(rows), len(rows) + len(flat))
            rows += flat
    return rows, spans
