"""Decide which items of two lists are compared: by key, by position, or by the pairing with the greatest weight.

Items are sorted first, so that their order in the lists never matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.counts import Counts, LeafScorer
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, SchemaNode, dereference, node_for
from tls_tasks.trees.values import count_nodes, has_several_answers, list_children
from tls_tasks.trees.weights import PairCounts, Row, Rule, flat_leaves, flat_row, flat_weights

COMPARED = 20_000
"""How many pairs of items are compared at once: bounds the memory."""

ALIGNED = 250_000
"""How many pairs of items of two lists, and of items within them, are compared at most: bounds the time.

A list may always have four times as many items as the reference's, whatever the number of pairs.
"""

CompareItems = Callable[[Any, Any, SchemaNode, "Pairing"], Counts]
"""What compares two items of lists: :func:`tls_tasks.trees.compare.compare`."""


class Pairing:
    """Decides which items of two lists are compared, and which of several valid answers counts.

    Args:
        plan: The schema and its settings.
        rule: What items are paired for; None: there is nothing to pair, and of several answers the first counts.
        scorer: Scores leaves; pairings of the same trees share one.
        lists: The lists of these trees; likewise.
    """

    def __init__(self, plan: Plan, rule: Rule | None, scorer: LeafScorer, lists: Lists) -> None:
        self.plan, self.rule, self.scorer, self.lists = plan, rule, scorer, lists
        self.are_reflexive = all(metric.is_reflexive for metric in plan.metrics.values())

    @property
    def alone(self) -> Pairing:
        """The pairing for what is in items without counterpart."""
        return Pairing(self.plan, None, self.scorer, self.lists)

    def best_fit(self, node: SchemaNode, counts: Sequence[Counts]) -> int:
        """Return the index of the counts of the answer that fits best, of equal ones of the first."""
        fits, best = [] if self.rule is None else self.rule.fits(self.plan, node, self.scored(counts)).tolist(), 0
        for index, fit in enumerate(fits):
            if fit > fits[best] + 1e-12:
                best = index
        return best

    def scored(self, counts: Sequence[Counts]) -> PairCounts:
        """Arrange the counts of pairs in arrays, with the scores of their leaves."""
        leaves = [[*each.leaves] for each in counts]
        self.scorer.score(chain(*leaves))
        return PairCounts.from_counts(counts, leaves)

    def match(self, references: Any, predictions: Any, node: ListOf, compare: CompareItems) -> list[tuple[Any, Any]]:
        """Return the positions of the items of two lists (the keys of two dictionaries) that are compared."""
        if node.is_keyed:
            return [(key, key) for key in references if key in predictions]
        if node.is_ordered:
            return [(index, index) for index in range(min(len(references), len(predictions)))]
        if not references or not predictions:
            return []
        is_canonical, item = not self.plan.follows_treeval, dereference(node.item)
        ref_items, pred_items = self.lists.sorted(references, item), self.lists.sorted(predictions, item)
        is_equal = is_canonical and self.are_reflexive and ref_items.keys == pred_items.keys
        if is_equal or len(references) == len(predictions) == 1:
            return list(zip(ref_items.positions, pred_items.positions, strict=True))
        pred_items = candidates(ref_items, pred_items) if is_canonical else pred_items
        pairs = assign(self.weigh(ref_items, pred_items, item, compare))
        return [(ref_items.positions[row], pred_items.positions[column]) for row, column in pairs]

    def weigh(self, refs: SortedItems, preds: SortedItems, node: SchemaNode, compare: CompareItems) -> FloatArray:
        """Return the weights of sorted items: flat ones are weighed all at once, others are compared pair by pair."""
        rule: Any = self.rule
        if all(refs.rows) and all(preds.rows):
            return self.lists.weigh(rule, refs, preds, node)
        flat = [[index for index, row in enumerate(side.rows) if row] for side in (refs, preds)]
        weights = np.zeros((len(refs.items), len(preds.items)))
        if all(flat):
            weights[np.ix_(*flat)] = self.lists.weigh(rule, refs, preds, node)
        pairs = [(i, j) for i, row in enumerate(refs.rows) for j, pred in enumerate(preds.rows) if not (row and pred)]
        self.lists.weigh_inner_lists(refs, preds, node)
        for start in range(0, len(pairs), COMPARED):
            chunk = pairs[start : start + COMPARED]
            counts = self.scored([compare(refs.items[i], preds.items[j], node, self) for i, j in chunk])
            weights[tuple(zip(*chunk, strict=True))] = rule.weights(self.plan, node, counts)
        return weights


def assign(weights: FloatArray) -> list[tuple[int, int]]:
    """Return the pairs of rows and columns with the greatest sum (scipy's ``linear_sum_assignment``), row by row.

    Args:
        weights: ``[rows, columns]``, finite.

    Example:
        >>> assign(np.array([[0.9, 0.2, 0.05], [0.8, 0.0, 0.0], [0.1, 0.1, 1.8]]))
        [(0, 1), (1, 0), (2, 2)]
    """
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return list(zip(rows.tolist(), columns.tolist(), strict=True))


class Grid(NamedTuple):
    """The weights of the flat items of some lists with those of others, and where the items of each list are."""

    weights: Mapping[Rule, FloatArray] = {}
    rows: Mapping[SortedItems, slice] = {}
    columns: Mapping[SortedItems, slice] = {}


@dataclass
class Lists:
    """The sorted lists of two trees and the weights of their flat items, for all pairings of these trees.

    Attributes:
        plan: The schema and its settings.
        lists: By the ids of a list and of its items' node.
        grids: Of lists within items by the id of their items' node, of two lists alone by these.
    """

    plan: Plan
    lists: dict[tuple[int, int], SortedItems] = field(default_factory=dict)
    grids: dict[Any, Grid] = field(default_factory=dict)

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
        grid = self.grids.get(id(node), Grid())
        if references not in grid.rows or predictions not in grid.columns:
            if (key := (references, predictions)) not in self.grids:
                self.grids[key] = self.grid([references], [predictions], node)
            grid = self.grids[key]
        return grid.weights[rule][grid.rows[references], grid.columns[predictions]]

    def weigh_inner_lists(self, references: SortedItems, predictions: SortedItems, node: SchemaNode) -> None:
        """Weigh the flat items of all lists within items with all, which is quicker than list by list."""
        inner: dict[int, tuple[SchemaNode, list[SortedItems], list[SortedItems]]] = {}
        for side, items in enumerate((references.items, predictions.items)):
            for inner_node, values in (each for item in items for each in flat_lists(node, item)):
                lists: Any = inner.setdefault(id(inner_node), (inner_node, [], []))[1 + side]
                lists.append(self.sorted(values, inner_node))
        for key, (inner_node, refs, preds) in inner.items():
            grid = self.grids.get(key, Grid())
            if not (grid.rows.keys() >= {*refs} and grid.columns.keys() >= {*preds}):
                self.grids[key] = self.grid(refs, preds, inner_node)

    def grid(self, references: list[SortedItems], predictions: list[SortedItems], node: SchemaNode) -> Grid:
        """Weigh the flat items of all lists of references with those of all lists of predictions."""
        (rows, ref_rows), (columns, pred_rows) = map(_in_one, (references, predictions))
        return Grid(flat_weights(self.plan, node, ref_rows, pred_rows), rows, columns)


def _in_one(lists: Sequence[SortedItems]) -> tuple[dict[SortedItems, slice], list[Row]]:
    """Concatenate the flat items of lists; return the slice of each list, and all rows."""
    rows: list[Row] = []
    slices: dict[SortedItems, slice] = {}
    for items in dict.fromkeys(lists):
        start = len(rows)
        rows += filter(None, items.rows)
        slices[items] = slice(start, len(rows))
    return slices, rows


# --- sorted items ---


@dataclass(slots=True, eq=False)
class SortedItems:
    """The items of a list in the order in which they are paired.

    Attributes:
        items: The items.
        positions: The position of each item in the list.
        keys: What the list is sorted by, a text an item, unless it stays as it is.
        rows: The values of each flat item; None for others.
        sizes: How many items each is, with those of all lists within it.
    """

    items: Sequence[Any]
    positions: Sequence[int]
    keys: Sequence[str]
    rows: Sequence[Row | None]
    sizes: Sequence[int]

    def take(self, indices: Sequence[int]) -> SortedItems:
        """Return some of the items."""
        columns: Any = (self.items, self.positions, self.keys, self.rows, self.sizes)
        return SortedItems(*([column[index] for index in indices] for column in columns))


def sorted_items(items: Sequence[Any], node: SchemaNode, stays: bool) -> SortedItems:
    """Sort the items of a list; ``stays``: leave them as they stand, as treeval does."""
    is_flat = bool(flat_leaves(node))
    rows = [flat_row(node, item) if is_flat and not (stays and item is None) else None for item in items]
    keys = [sort_key(node, item) for item in items]
    sizes = [  # a flat item has no lists
        1 if row else 1 + count_nodes(item, items=True) - count_nodes(item)
        for row, item in zip(rows, items, strict=True)
    ]
    whole = SortedItems(items, range(len(items)), keys, rows, sizes)
    return whole if stays else whole.take(sorted(range(len(items)), key=keys.__getitem__))


def candidates(references: SortedItems, predictions: SortedItems) -> SortedItems:
    """Choose the predictions that are compared: of equal ones as many as can find another, and as many as affordable.

    Models that repeat themselves write the longest lists. What an answer has beyond :data:`ALIGNED` is too much,
    whatever it is; the items that stand first are compared, but for those that are too large themselves.
    """
    n, keys, n_compared = len(references.keys), predictions.keys, sum(references.sizes)
    budget = max(ALIGNED // n_compared, 4 * n_compared)
    if len(keys) <= n and sum(predictions.sizes) <= budget:
        return predictions
    columns = [column for column in range(len(keys)) if column < n or keys[column] != keys[column - n]]
    affordable = list[int]()
    for column in sorted(columns, key=predictions.positions.__getitem__):
        if predictions.sizes[column] <= budget:
            affordable.append(column)
            budget -= predictions.sizes[column]
    return predictions.take(sorted(affordable))


def sort_key(node: SchemaNode, value: Any) -> str:
    """Return a text that two items of a list share if no score can tell them apart."""
    keys = {sort_key(node, answer) for answer in value.values} if isinstance(value, AnyOf) else ()
    if len(keys) == 1:  # the same answer several times is that answer
        return keys.pop()
    return value if type(value) is str and isinstance(node, Field) else "\0" + _visible(node, value)


def _visible(node: SchemaNode, value: Any) -> str:
    """Write what is seen of a value: neither the order of keys, nor that of lists that are compared in any order."""
    if isinstance(value, str):
        return repr(str.__str__(value))
    if isinstance(value, AnyOf):
        return " | ".join(dict.fromkeys(_visible(node, answer) for answer in value.values))
    kind, node = type(value), node_for(node, value)
    if kind is dict and isinstance(node, Branch):
        texts = [_visible(child, value[key]) if key in value else "" for key, child in node.children.items()]
        rest = {key: value[key] for key in value if key not in node.children}
        if node.rest is None:
            return f"{{{','.join(texts)}{sorted(count_nodes(child, items=True) for child in rest.values()) or ''}}}"
        texts += sorted(f"{key!r}:{_visible(node.rest.item, child)}" for key, child in rest.items())
        return f"{{{','.join(texts)}}}"
    if kind is list and isinstance(node, ListOf):
        items = [_visible(node.item, item) for item in value]
        return f"[{','.join(items if node.is_ordered else sorted(items))}]"
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)


def flat_lists(node: SchemaNode, value: Any) -> Iterator[tuple[SchemaNode, list[Any]]]:
    """Yield the lists of flat items at and below a node, those of all answers, each with the node of its items."""
    kind = node_for(node, value)
    if has_several_answers(kind, value):
        for answer in value.values:
            yield from flat_lists(node, answer)
    elif isinstance(value, dict | list):
        if isinstance(kind, ListOf) and isinstance(value, list) and flat_leaves(dereference(kind.item)):
            yield dereference(kind.item), value
        for _, inner, child in list_children(kind, value):
            if inner is not None:
                yield from flat_lists(inner, child)
