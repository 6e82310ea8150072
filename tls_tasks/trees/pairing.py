"""Which items of two lists are compared: by key, by position, or by the pairing with the greatest sum of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.compare import compare_items, has_answers
from tls_tasks.trees.counts import KINDS, Counts, Outcome
from tls_tasks.trees.grid import flat_leaves, weigh_rows
from tls_tasks.trees.leaf_scores import LeafScorer
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.nodes import children_of
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.sorting import SortedItems, candidates
from tls_tasks.trees.types import ListOf, SchemaNode, all_nodes, part_for, resolved
from tls_tasks.trees.weights import PairCounts, Rule

COMPARED = 20_000
"""How many pairs of items are compared at once: bounds the memory. Of lists with no more all counts are retained, so
that no pair is compared twice."""

BLOCK = 1_000_000
"""At most so many pairs of items of lists within items are weighed at once: bounds the memory."""


ListsByNode = dict[int, tuple[SchemaNode, dict[int, list[Any]]]]
"""By the id of the node of their items: this node, and lists by their id."""


class Match(NamedTuple):
    """Two items that are compared: their positions or keys, and what is counted of them if that is known."""

    row: Any
    column: Any
    counts: Counts | None = None


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
        self.unscored = [{kind: Outcome(leaf, kind) for kind in KINDS} for leaf in plan.fields]
        self.unmatched = [{kind: Outcome(leaf, kind, is_unmatched=True) for kind in KINDS} for leaf in plan.fields]
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
        fits = np.broadcast_to(
            self.rule.fits(self.plan, resolved(node), PairCounts.of(counts, self.counts_worst)), len(counts)
        ).tolist()
        for index, fit in enumerate(fits):
            if fit > fits[best] + 1e-12:
                best = index
        return best

    def match(self, references: Any, predictions: Any, node: ListOf) -> list[Match]:
        """Return the pairs of items of two lists (of the values of two dictionaries) that are compared."""
        if node.is_keyed:
            return [Match(key, key) for key in references if key in predictions]
        if node.is_ordered:
            return [Match(index, index) for index in range(min(len(references), len(predictions)))]
        if not references or not predictions:
            return []
        is_canonical = not self.plan.follows_treeval
        left, right = self.in_order(references, node.item), self.in_order(predictions, node.item)
        is_equal = is_canonical and self.are_reflexive and left.keys == right.keys
        if is_equal or (len(references) == len(predictions) == 1 and not self.least):
            return [Match(row, column) for row, column in zip(left.positions, right.positions, strict=True)]
        self.has_chosen = True
        columns = candidates(left, right) if is_canonical else range(len(predictions))
        if not columns:
            return []
        weights, retained = self.weigh(references, predictions, columns, node.item)
        retained = {} if self.counts_worst else retained
        return [
            Match(left.positions[row], right.positions[columns[column]], retained.get((row, column)))
            for row, column in zip(*assign(weights, is_canonical), strict=True)
            if not self.least or weights[row, column] > 0
        ]

    def in_order(self, items: Sequence[Any], node: SchemaNode) -> SortedItems:
        """Sort items, so that the pairing does not depend on their order; for treeval they stay as they stand."""
        lists: dict[tuple[int, int], SortedItems] = self.scorer.sorted_lists
        if (key := (id(items), id(node))) not in lists:
            lists[key] = SortedItems.of(items, resolved(node), self.plan.follows_treeval)
        return lists[key]

    def weigh(
        self, references: Any, predictions: Any, columns: Sequence[int], node: SchemaNode
    ) -> tuple[FloatArray, dict[tuple[int, int], Counts]]:
        """Return the weights of sorted items, and what was counted of those that were compared for it.

        Flat items are weighed all at once, others by comparing pair by pair.
        """
        block = self.blocks.get(id(node))
        if block and id(references) in block.rows and id(predictions) in block.columns:
            weights = block.weights[block.rows[id(references)], block.columns[id(predictions)]]
            return weights if len(columns) == len(predictions) else weights[:, columns], {}
        left, right = self.in_order(references, node), self.in_order(predictions, node)
        flat = [i for i, row in enumerate(left.rows) if row], [j for j, k in enumerate(columns) if right.rows[k]]
        weights = np.zeros((len(left.rows), len(columns)))
        if all(flat):
            rows = [left.rows[i] for i in flat[0]], [right.rows[columns[j]] for j in flat[1]]
            weights[np.ix_(*flat)] = self.weigh_flat((id(references), id(predictions)), node, *rows)
        if all(len(side) == n for side, n in zip(flat, weights.shape, strict=True)):
            return weights, {}
        items = [references[i] for i in left.positions], [predictions[right.positions[column]] for column in columns]
        retained, step = dict[tuple[int, int], Counts](), max(1, COMPARED // len(columns))
        is_flat = [bool(right.rows[column]) for column in columns]
        for start in range(0, len(left.rows), step):
            chunk = range(start, min(start + step, len(left.rows)))
            pairs = [(i, j) for i in chunk for j, can_skip in enumerate(is_flat) if not (can_skip and left.rows[i])]
            if pairs:
                counts = self.compare_all(*items, pairs, resolved(node))
                fits = self.rule.weigh(self.plan, resolved(node), PairCounts.of(counts))
                weights[tuple(zip(*pairs, strict=True))] = fits
                retained = dict(zip(pairs, counts, strict=True)) if weights.size <= COMPARED else {}
        return weights, retained

    def weigh_flat(self, key: Any, node: SchemaNode, references: list[Any], predictions: list[Any]) -> FloatArray:
        """Return the weights of rows; pairings of the same trees share them by a key."""
        grids = self.scorer.grids
        if (key, id(node)) not in grids:
            grids[key, id(node)] = weigh_rows(self.plan, resolved(node), references, predictions)
        weights: FloatArray = grids[key, id(node)][self.rule]
        return weights

    def compare_all(
        self, references: Sequence[Any], predictions: Sequence[Any], pairs: Sequence[tuple[int, int]], node: SchemaNode
    ) -> list[Counts]:
        """Compare pairs of items, with the flat items of all lists within them weighed all at once."""
        is_outermost = not self.is_weighing
        if is_outermost:
            self.is_weighing, self.blocks = True, self.blocks_within(references, predictions, node)
        with self.scorer.apart():
            counts = [compare_items(references[i], predictions[j], node, self) for i, j in pairs]
        if is_outermost:
            self.is_weighing, self.blocks = False, {}
        return counts

    def blocks_within(
        self, references: Sequence[Any], predictions: Sequence[Any], node: SchemaNode
    ) -> dict[int, Block]:
        """Weigh the flat items of all lists in items with all, node by node."""
        sides: list[ListsByNode] = [{}, {}]
        for lists, items in zip(sides, (references, predictions), strict=True):
            for item in items:
                collect_lists(node, item, lists)
        blocks: dict[int, Block] = {}
        for key in sides[0].keys() & sides[1].keys():
            item = sides[0][key][0]
            (rows, starts), (columns, ends) = (self.rows_of(side[key][1], item) for side in sides)
            if 0 < len(rows) * len(columns) <= BLOCK:
                weights = self.weigh_flat((tuple(starts), tuple(ends)), item, rows, columns)
                blocks[key] = Block(starts, ends, weights)
        return blocks

    def rows_of(self, lists: dict[int, list[Any]], node: SchemaNode) -> tuple[list[Any], dict[int, slice]]:
        """Put the rows of flat lists one after the other, and say where each list is."""
        rows, spans = list[Any](), dict[int, slice]()
        for key, items in lists.items():
            below = self.in_order(items, node).rows
            if all(below):
                spans[key] = slice(len(rows), len(rows) + len(below))
                rows += below
        return rows, spans


def collect_lists(node: SchemaNode, value: Any, lists: ListsByNode) -> None:
    """Collect the lists of flat items at and below a node, those of all answers, by the node of their items."""
    kind = part_for(node, value)
    if has_answers(kind, value):
        for answer in value.values:
            collect_lists(node, answer, lists)
    elif isinstance(value, dict | list):
        if isinstance(kind, ListOf) and not kind.is_ordered and isinstance(value, list) and flat_leaves(kind.item):
            lists.setdefault(id(kind.item), (kind.item, {}))[1][id(value)] = value
        for inner, child in children_of(kind, value):
            if inner is not None:
                collect_lists(inner, child, lists)


def assign(weights: FloatArray, canonical: bool = False) -> tuple[list[int], list[int]]:
    """The pairing of rows and columns with the greatest sum (scipy's ``linear_sum_assignment``).

    Args:
        weights: ``[rows, columns]``, finite.
        canonical: Whether the first of equally good partners may be taken where there is a single row or column.

    Returns:
        Rows in ascending order, and the column of each.

    Example:
        >>> rows, columns = assign(np.array([[0.9, 0.2, 0.05], [0.8, 0.0, 0.0], [0.1, 0.1, 1.8]]))
        >>> list(zip(rows, columns))
        [(0, 1), (1, 0), (2, 2)]
    """
    if canonical and 1 in weights.shape:
        row, column = np.unravel_index(weights.argmax(), weights.shape)
        return [int(row)], [int(column)]
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return rows.tolist(), columns.tolist()
