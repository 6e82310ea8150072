"""Which items of two lists are compared: by key, by position, or by the pairing with the greatest sum of weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.counts import Counts
from tls_tasks.trees.grid import Lists
from tls_tasks.trees.leaf_scores import LeafScorer
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.sorting import SortedItems, candidates
from tls_tasks.trees.types import ListOf, SchemaNode, all_nodes, resolved
from tls_tasks.trees.weights import ALONE, PairCounts, Rule

COMPARED = 20_000
"""How many pairs of items are compared at once: bounds the memory."""

CompareItems = Callable[[Any, Any, SchemaNode, "Pairing"], Counts]
"""What compares two items of lists: :func:`tls_tasks.trees.compare.compare_items`."""


class Pairing:
    """Decides which items of two lists are compared, and which of several valid answers counts.

    Args:
        plan: The schema and its settings.
        rule: What items are paired for.
        scorer: Scores leaves; pairings of the same trees share one.
        lists: The lists of these trees; likewise.
    """

    def __init__(self, plan: Plan, rule: Rule, scorer: LeafScorer, lists: Lists) -> None:
        self.plan, self.rule, self.scorer, self.lists = plan, rule, scorer, lists
        self.are_reflexive = all(metric.is_reflexive for metric in plan.metrics.values())
        outer = [node for _, node in all_nodes(plan.root) if isinstance(node, ListOf)] if plan.follows_treeval else []
        self.inner_lists = {id(inner) for node in outer for _, inner in all_nodes(node.item)}

    @cached_property
    def alone(self) -> Pairing:
        """The pairing for what is in items without counterpart."""
        return Pairing(self.plan, ALONE, self.scorer, self.lists)

    def best_fit(self, node: SchemaNode, counts: Sequence[Counts]) -> int:
        """Return the index of the counts of the answer that fits best, of equal ones of the first."""
        fits, best = self.rule.fits(self.plan, node, self.scored(counts)).tolist(), 0
        for index, fit in enumerate(fits):
            if fit > fits[best] + 1e-12:
                best = index
        return best

    def scored(self, counts: Sequence[Counts]) -> PairCounts:
        """Arrange the counts of pairs in arrays, with the scores of their leaves."""
        self.scorer.score(outcome for each in counts for outcome in each.leaves)
        return PairCounts.of(counts)

    def match(self, references: Any, predictions: Any, node: ListOf, compare: CompareItems) -> list[tuple[Any, Any]]:
        """Return the positions of the items of two lists (the keys of two dictionaries) that are compared."""
        if node.is_keyed:
            return [(key, key) for key in references if key in predictions]
        if node.is_ordered:
            return [(index, index) for index in range(min(len(references), len(predictions)))]
        if not references or not predictions:
            return []
        is_canonical, item = not self.plan.follows_treeval, resolved(node.item)
        left, right = self.lists.sorted(references, item), self.lists.sorted(predictions, item)
        is_equal = is_canonical and self.are_reflexive and left.keys == right.keys
        if is_equal or len(references) == len(predictions) == 1:
            return list(zip(left.positions, right.positions, strict=True))
        right = candidates(left, right) if is_canonical else right
        rows, columns = assign(self.weigh(left, right, item, compare))
        return [(left.positions[row], right.positions[column]) for row, column in zip(rows, columns, strict=True)]

    def weigh(self, left: SortedItems, right: SortedItems, node: SchemaNode, compare: CompareItems) -> FloatArray:
        """Return the weights of sorted items: flat ones are weighed all at once, others are compared pair by pair."""
        flat = [[index for index, row in enumerate(side.rows) if row] for side in (left, right)]
        shape = len(left.items), len(right.items)
        if all(flat) and tuple(map(len, flat)) == shape:
            return self.lists.weigh(self.rule, left, right, node)
        weights = np.zeros(shape)
        if all(flat):
            weights[np.ix_(*flat)] = self.lists.weigh(self.rule, left, right, node)
        pairs = [(i, j) for i, row in enumerate(left.rows) for j, other in enumerate(right.rows) if not (row and other)]
        self.lists.weigh_within(left, right, node)
        for start in range(0, len(pairs), COMPARED):
            chunk = pairs[start : start + COMPARED]
            counts = self.scored([compare(left.items[i], right.items[j], node, self) for i, j in chunk])
            weights[tuple(zip(*chunk, strict=True))] = self.rule.weights(self.plan, node, counts)
        return weights


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
