"""Which items of two lists are compared: by key, by position, or by the pairing with the greatest sum of weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.compare import compare_items
from tls_tasks.trees.counts import Counts
from tls_tasks.trees.grid import Row, flat_leaves, weigh_rows
from tls_tasks.trees.leaf_scores import LeafScorer
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.nodes import children_of, has_answers
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.sorting import SortedItems, candidates
from tls_tasks.trees.types import ListOf, SchemaNode, all_nodes, part_for, resolved
from tls_tasks.trees.weights import PairCounts, Rule

COMPARED = 20_000
"""How many pairs of items are compared at once: bounds the memory."""

BLOCK = 1_000_000
"""At most so many pairs of items of lists within items are weighed at once: bounds the memory."""


class Block(NamedTuple):
    """The weights of all items of some lists with all items of others.

    Attributes:
        rows: By the id of each list of references, the rows of its items.
        columns: Likewise of predictions.
        weights: ``[references, predictions]``.
    """

    rows: dict[int, slice]
    columns: dict[int, slice]
    weights: FloatArray


class Pairing:
    """Decides which items of two lists are compared, and which of several valid answers counts.

    Args:
        plan: The schema and its settings.
        rule: What items are paired for.
        scorer: Scores leaves; pairings of the same trees share one.

    Attributes:
        has_chosen: Whether there was something to decide since this was last set to False.
    """

    def __init__(self, plan: Plan, rule: Rule, scorer: LeafScorer) -> None:
        self.plan, self.rule, self.scorer, self.has_chosen = plan, rule, scorer, False
        self.is_loose, self.least = plan.options.types == "loose", plan.options.least_similarity
        self.are_reflexive = all(metric.is_reflexive for metric in plan.metrics.values())
        lists = [node for _, node in all_nodes(plan.root) if isinstance(node, ListOf)] if plan.follows_treeval else []
        self.inner_lists = {id(inner) for outer in lists for _, inner in all_nodes(outer.item)}
        self.blocks: dict[int, Block] = {}
        self.is_weighing = False

    @property
    def counts_worst(self) -> bool:
        """Whether items without counterpart have the worst scores: in results if options say so, never in weights."""
        return self.plan.options.unmatched_items == "worst" and not self.is_weighing

    def best_fit(self, node: SchemaNode, counts: Sequence[Counts]) -> int:
        """Return the index of the counts of the answer that fits best, of equal ones of the first."""
        self.has_chosen, best = True, 0
        fits = self.rule.fits(self.plan, resolved(node), PairCounts.of(counts, self.counts_worst)).tolist()
        for index, fit in enumerate(fits):
            if fit > fits[best] + 1e-12:
                best = index
        return best

    def match(self, references: Any, predictions: Any, node: ListOf) -> list[tuple[Any, Any]]:
        """Return the positions of the items of two lists (the keys of two dictionaries) that are compared."""
        if node.is_keyed:
            return [(key, key) for key in references if key in predictions]
        if node.is_ordered:
            return [(index, index) for index in range(min(len(references), len(predictions)))]
        if not references or not predictions:
            return []
        is_canonical, item = not self.plan.follows_treeval, resolved(node.item)
        left, right = self.in_order(references, item), self.in_order(predictions, item)
        is_equal = is_canonical and self.are_reflexive and left.keys == right.keys
        if is_equal or (len(references) == len(predictions) == 1 and not self.least):
            return list(zip(left.positions, right.positions, strict=True))
        self.has_chosen = True
        columns = candidates(left, right) if is_canonical else range(len(predictions))
        weights = self.weigh(references, predictions, columns, item)
        return [
            (left.positions[row], right.positions[columns[column]])
            for row, column in zip(*assign(weights), strict=True)
            if not self.least or weights[row, column] > 0
        ]

    def in_order(self, items: Sequence[Any], node: SchemaNode) -> SortedItems:
        """Sort items, so that the pairing does not depend on their order; for treeval they stay as they stand."""
        lists: dict[tuple[int, int], SortedItems] = self.scorer.sorted_lists
        if (key := (id(items), id(node))) not in lists:
            lists[key] = SortedItems.of(items, node, self.plan.follows_treeval)
        return lists[key]

    def weigh(self, references: Any, predictions: Any, columns: Sequence[int], node: SchemaNode) -> FloatArray:
        """Return the weights of sorted items: flat ones are weighed all at once, others are compared pair by pair."""
        block = self.blocks.get(id(node))
        if block and id(references) in block.rows and id(predictions) in block.columns:
            return block.weights[block.rows[id(references)], block.columns[id(predictions)]][:, columns]
        left, right = self.in_order(references, node), self.in_order(predictions, node)
        rows, others = left.rows, [right.rows[column] for column in columns]
        flat = [i for i, row in enumerate(rows) if row], [j for j, row in enumerate(others) if row]
        weights = np.zeros((len(rows), len(others)))
        if all(flat):
            key = id(references), id(predictions)
            weights[np.ix_(*flat)] = self.weigh_flat(key, node, list(filter(None, rows)), list(filter(None, others)))
        if len(flat[0]) * len(flat[1]) == weights.size:
            return weights
        items = [references[i] for i in left.positions], [predictions[right.positions[column]] for column in columns]
        pairs = ((i, j) for i, row in enumerate(rows) for j, other in enumerate(others) if not (row and other))
        with self.weighing(*items, node):
            while chunk := list(islice(pairs, COMPARED)):
                with self.scorer.apart():
                    counts = [compare_items(items[0][i], items[1][j], node, self) for i, j in chunk]
                weights[tuple(zip(*chunk, strict=True))] = self.rule.weigh(self.plan, node, PairCounts.of(counts))
        return weights

    def weigh_flat(self, key: Any, node: SchemaNode, references: list[Row], predictions: list[Row]) -> FloatArray:
        """Return the weights of rows; pairings of the same trees share them by a key."""
        grids = self.scorer.grids
        if (key, id(node)) not in grids:
            grids[key, id(node)] = weigh_rows(self.plan, node, references, predictions)
        return grids[key, id(node)][self.rule]

    @contextmanager
    def weighing(self, references: Sequence[Any], predictions: Sequence[Any], node: SchemaNode) -> Iterator[None]:
        """Weigh items, with the flat items of all lists within them weighed first and all at once."""
        if self.is_weighing:
            yield
            return
        self.is_weighing, self.blocks = True, self.blocks_within(references, predictions, node)
        yield
        self.is_weighing, self.blocks = False, {}

    def blocks_within(
        self, references: Sequence[Any], predictions: Sequence[Any], node: SchemaNode
    ) -> dict[int, Block]:
        """Weigh the flat items of all lists in items with all, by the id of their node."""
        blocks: dict[int, Block] = {}
        sides = [self.rows_within(items, node) for items in (references, predictions)]
        for key, (item, rows, spans) in sides[0].items():
            _, others, other_spans = sides[1].get(key, (item, [], {}))
            if 0 < len(rows) * len(others) <= BLOCK:
                weights = self.weigh_flat((tuple(spans), tuple(other_spans)), item, rows, others)
                blocks[key] = Block(spans, other_spans, weights)
        return blocks

    def rows_within(
        self, items: Sequence[Any], node: SchemaNode
    ) -> dict[int, tuple[SchemaNode, list[Any], dict[int, slice]]]:
        """Put the rows of all flat lists in items one after the other, by the id of their node; say where each is."""
        lists: dict[int, tuple[SchemaNode, list[Any], dict[int, slice]]] = {}
        for inner, values in (each for item in items for each in lists_within(node, item)):
            _, rows, spans = lists.setdefault(id(inner), (inner, [], {}))
            below = self.in_order(values, inner).rows
            if all(below) and id(values) not in spans:
                spans[id(values)] = slice(len(rows), len(rows) + len(below))
                rows += below
        return lists


def lists_within(node: SchemaNode, value: Any) -> Iterator[tuple[SchemaNode, list[Any]]]:
    """Yield the lists of flat items at and below a node, those of all answers, each with the node of its items."""
    kind = part_for(node, value)
    if has_answers(kind, value):
        for answer in value.values:
            yield from lists_within(node, answer)
    elif isinstance(value, dict | list):
        if isinstance(kind, ListOf) and isinstance(value, list) and flat_leaves(resolved(kind.item)):
            yield resolved(kind.item), value
        for inner, child in children_of(kind, value):
            if inner is not None:
                yield from lists_within(inner, child)


def assign(weights: FloatArray) -> tuple[list[int], list[int]]:
    """The pairing of rows and columns with the greatest sum (scipy's ``linear_sum_assignment``).

    Args:
        weights: ``[rows, columns]``, finite.

    Returns:
        Rows in ascending order, and the column of each.

    Example:
        >>> rows, columns = assign(np.array([[0.9, 0.2, 0.05], [0.8, 0.0, 0.0], [0.1, 0.1, 1.8]]))
        >>> list(zip(rows, columns))
        [(0, 1), (1, 0), (2, 2)]
    """
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return rows.tolist(), columns.tolist()
