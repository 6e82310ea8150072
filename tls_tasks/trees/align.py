"""Which items of two lists belong together: by key, by position, or by the pairing with the greatest sum of weights.

Lists of many trees are aligned at once. There is a pairing for each objective, see
:data:`~tls_tasks.trees.counts.GUIDE`; items that belong together for several of them are one match, so that few pairs
of items are walked twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.counts import Array, Counts
from tls_tasks.trees.leaf_base import FloatArray
from tls_tasks.trees.nodes import count_nodes
from tls_tasks.trees.pairs import Pairs
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.similarity import sort_key, weights_of
from tls_tasks.trees.types import ListOf

SHORT = 64
"""Lists with at most this many pairs of items are scored together with others, longer ones each on its own."""

CHUNK = 500_000
"""How many pairs of items, and of values within them, are looked at at once: bounds the memory."""

_ALMOST = 1 - 1e-12
"""Sums of the same numbers in another order may differ by less."""

_ALL = 0b111
"""A bit for each objective."""

Weigh = Callable[[Pairs], Counts]
"""Counts pairs of items, as far as their weights need it."""

Pairing = tuple[Sequence[int], Sequence[int]]
"""Rows, and the column of each."""


class Lists:
    """The lists of one operand, one after the other; of dictionaries these are the values.

    Args:
        lists: The lists.
        node: Their node.
        is_sorted: Whether each list is to be sorted, so that the alignment does not depend on its order.

    Attributes:
        items: All items.
        places: Where each item stands in its own list as given: its position, or its key.
        keys: What each list is sorted by, a text an item.
        spans: Of each list, the indices of its items.
        lengths: How many items each list has.
        list_of: The number of the list that each item is in.
    """

    def __init__(self, lists: Sequence[Any], node: ListOf, is_sorted: bool) -> None:
        self.items: list[Any] = []
        self.places: list[Any] = []
        self.keys: list[str] = []
        self.spans: list[range] = []
        for items in lists:
            places = list(items) if node.is_keyed else list(range(len(items)))
            if is_sorted:
                keys = [sort_key(node.item, item) for item in items]
                places.sort(key=keys.__getitem__)
                self.keys += [keys[place] for place in places]
            self.spans.append(range(len(self.items), len(self.items) + len(items)))
            self.items += [items[place] for place in places]
            self.places += places
        self.lengths = np.array(list(map(len, self.spans)), dtype=np.int64)
        self.list_of = np.repeat(np.arange(len(self.spans)), self.lengths)

    def totals(self, amounts: Array) -> Array:
        """The sum over the items of each list."""
        return np.bincount(self.list_of, weights=amounts, minlength=len(self.spans)).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Matches:
    """Which items of pairs of lists belong together for any objective.

    Attributes:
        left: The lists of the references.
        right: Those of the predictions.
        owners: Of each match, the index of the pair of lists.
        rows: The index of the reference's item among all of them.
        columns: Likewise of the prediction.
        is_of: For each objective, whether a match is one of its own.
        counts: What was counted of the matches when they were weighed; None: they were not, or not all that is needed.
    """

    left: Lists
    right: Lists
    owners: Array
    rows: Array
    columns: Array
    is_of: Array
    counts: Counts | None

    def pairs(self) -> Pairs:
        """The items that belong together."""
        left, right = self.left.items, self.right.items
        references, predictions = [left[i] for i in self.rows.tolist()], [right[j] for j in self.columns.tolist()]
        return Pairs.aligned(references, predictions)


@dataclass(frozen=True, slots=True)
class _Block:
    """A pair of lists that both have items.

    Attributes:
        owner: The index of the pair.
        rows: The indices of the reference's items.
        columns: Likewise of the prediction's.
        start: Where the weights of the block begin among all of them.
        stride: How many weights further those of the next row begin.
    """

    owner: int
    rows: Sequence[int]
    columns: Sequence[int]
    start: int = 0
    stride: int = 0

    @property
    def size(self) -> int:
        return len(self.rows) * len(self.columns)

    def weights(self, weights: FloatArray) -> FloatArray:
        """``[objectives, rows, columns]``."""
        n_rows, n_columns = len(self.rows), len(self.columns)
        if self.stride == n_columns:
            return weights[:, self.start : self.start + self.size].reshape(-1, n_rows, n_columns)
        starts = self.start + self.stride * np.arange(n_rows)
        return weights[:, starts[:, None] + np.arange(n_columns)]


def align(plan: Plan, node: ListOf, pairs: Pairs, weigh: Weigh, keeps_counts: bool) -> Matches:
    """Align the items of each pair of lists.

    Args:
        plan: The schema and its settings.
        node: The node of the lists.
        pairs: The lists.
        weigh: Counts pairs of items.
        keeps_counts: Whether these counts are all that is needed of the matches, so that a list in a list in a list …
            is walked once a level, and not twice for each level above it.
    """
    is_free = not node.is_ordered and not node.is_keyed
    is_sorted = is_free and not plan.follows_treeval
    left, right = (Lists(lists, node, is_sorted) for lists in (pairs.references, pairs.predictions))
    blocks = [
        _Block(owner, left.spans[i], right.spans[j])
        for owner, (i, j) in enumerate(zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True))
        if left.spans[i] and right.spans[j]
    ]
    aligner = _Aligner(plan, node, left, right, weigh, keeps_counts)
    if node.is_keyed:
        aligner.add(zip(blocks, (_by_key(left, right, block) for block in blocks), strict=True))
    elif node.is_ordered:
        aligner.add((block, _by_position(block)) for block in blocks)
    elif pairs.are_all:
        aligner.add_grid(blocks)
    else:
        aligner.add_blocks(blocks)
    return aligner.matches()


def _by_key(left: Lists, right: Lists, block: _Block) -> Pairing:
    columns = {right.places[j]: column for column, j in enumerate(block.columns)}
    rows = [row for row, i in enumerate(block.rows) if left.places[i] in columns]
    return rows, [columns[left.places[block.rows[row]]] for row in rows]


def _by_position(block: _Block) -> Pairing:
    n = min(len(block.rows), len(block.columns))
    return range(n), range(n)


class _Aligner:
    """Collects the matches of pairs of lists."""

    def __init__(self, plan: Plan, node: ListOf, left: Lists, right: Lists, weigh: Weigh, keeps_counts: bool) -> None:
        self.plan, self.node, self.left, self.right = plan, node, left, right
        self.weigh, self.keeps_counts = weigh, keeps_counts
        self.is_canonical = not plan.follows_treeval
        self.n_objectives = 1 if plan.follows_treeval else 3
        self.are_reflexive = all(metric.is_reflexive for metric in plan.metrics.values())
        self.objectives: dict[tuple[int, int, int, int], int] = {}  # owner, row, column, index among counts -> bits
        self.counts: list[Counts] = []
        self.n_counted = 0

    def matches(self) -> Matches:
        """All matches, sorted by owner, row and column."""
        matches = sorted(self.objectives)
        owners, rows, columns, indices = np.array(matches, dtype=np.int64).reshape(-1, 4).T
        bits = np.array([self.objectives[match] for match in matches], dtype=np.int64)
        is_of = np.array([bits >> objective & 1 for objective in range(3)], dtype=bool)
        counts = None
        if self.counts:
            counts = Counts.concatenated(self.counts).taken([indices] * 3)
        return Matches(self.left, self.right, owners, rows, columns, is_of, counts)

    def add(self, aligned: Iterable[tuple[_Block, Pairing]], objectives: int = _ALL) -> None:
        """Add the pairings of blocks; ``objectives``: a bit for each that they are the pairings of."""
        for block, (rows, columns) in aligned:
            for row, column in zip(rows, columns, strict=True):
                index = self.n_counted + block.start + row * block.stride + column
                match = (block.owner, block.rows[row], block.columns[column], index if self.keeps_counts else 0)
                self.objectives[match] = self.objectives.get(match, 0) | objectives

    def add_grid(self, blocks: list[_Block]) -> None:
        """Align lists that are compared all with all: their items are one grid."""
        n = len(self.right.items)
        placed = [replace(block, start=block.rows[0] * n + block.columns[0], stride=n) for block in blocks]
        self.add_weighed(placed, Pairs.all_of(self.left.items, self.right.items))

    def add_blocks(self, blocks: list[_Block]) -> None:
        """Align lists of which short ones share one walk and each long one has its own; some need no weights."""
        most = SHORT if self.are_reflexive else CHUNK  # custom metrics are asked for as much as possible at once
        short: list[_Block] = []
        for block in blocks:
            if not self.keeps_counts and self.needs_no_weights(block):
                self.add([(block, _by_position(block))])
            elif block.size <= most:
                short.append(block)
            else:
                columns = self.few_of_a_kind(block)
                items = [self.left.items[i] for i in block.rows], [self.right.items[j] for j in columns]
                placed = replace(block, columns=columns, stride=len(columns))
                self.add_weighed([placed], Pairs.all_of(*items))
        if short:
            self.add_together(short)

    def needs_no_weights(self, block: _Block) -> bool:
        """Whether sorted items belong together one by one: equal lists, and two single items."""
        if block.size == 1:
            return not self.plan.options.least_similarity
        keys = self.left.keys[block.rows[0] : block.rows[-1] + 1]
        are_equal = keys == self.right.keys[block.columns[0] : block.columns[-1] + 1]
        return self.is_canonical and self.are_reflexive and are_equal

    def few_of_a_kind(self, block: _Block) -> Sequence[int]:
        """Of the equal items of a prediction as many as can find a counterpart.

        Models that repeat themselves write the longest lists.
        """
        keys, n, start = self.right.keys, len(block.rows), block.columns[0]
        if not keys:
            return block.columns
        return [j for j in block.columns if j - start < n or keys[j] != keys[j - n]]

    def add_together(self, blocks: list[_Block]) -> None:
        """Align lists of which all pairs of items are scored in one walk."""
        placed, rows, columns = list[_Block](), list[int](), list[int]()
        for block in blocks:
            placed.append(replace(block, start=len(rows), stride=len(block.columns)))
            rows += [i for i in block.rows for _ in block.columns]
            columns += [*block.columns] * len(block.rows)
        self.add_weighed(placed, Pairs(self.left.items, self.right.items, np.array(rows), np.array(columns)))

    def add_weighed(self, blocks: list[_Block], pairs: Pairs) -> None:
        """Weigh pairs of items, and add the pairings of the blocks that these pairs are made of."""
        n_inner = sum(count_nodes(item, items=True) - count_nodes(item) for item in pairs.predictions)
        weights, n = np.empty((self.n_objectives, pairs.n)), 0
        for chunk in pairs.chunks(max(1, CHUNK // max(1, len(pairs.predictions) + n_inner)), CHUNK):
            counts = self.weigh(chunk)
            weights[:, n : n + counts.n] = weights_of(self.plan, self.node.item, chunk, counts)
            n += counts.n
            if self.keeps_counts:
                self.counts.append(counts)
        for block in blocks:
            for objective, pairing in enumerate(self.pairings(block.weights(weights))):
                self.add([(block, pairing)], _ALL if self.n_objectives == 1 else 1 << objective)
        self.n_counted += n

    def pairings(self, weights: FloatArray) -> Iterator[Pairing]:
        """The pairing of each objective; without pairs that are too unlike, whose weight is 0."""
        for own, (rows, columns) in zip(weights, pairings(weights, self.is_canonical), strict=True):
            if self.plan.options.least_similarity:
                is_alike = own[rows, columns] > 0
                yield np.array(rows)[is_alike].tolist(), np.array(columns)[is_alike].tolist()
            else:
                yield rows, columns


def pairings(weights: FloatArray, canonical: bool = False) -> list[Pairing]:
    """The pairing of each objective by its weights: that of the first wherever it is the best for another, too.

    Example:
        >>> pairings(np.array([np.eye(2), np.eye(2) / 2]))
        [([0, 1], [0, 1]), ([0, 1], [0, 1])]
        >>> pairings(np.array([np.eye(2), 1 - np.eye(2)]))
        [([0, 1], [0, 1]), ([0, 1], [1, 0])]
    """
    first = assign(weights[0], canonical)
    return [first, *(_improved(own, first) for own in weights[1:])]


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
    if canonical and weights.shape[0] == 1:
        return [0], [int(weights.argmax())]
    if canonical and weights.shape[1] == 1:
        return [int(weights.argmax())], [0]
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return rows.tolist(), columns.tolist()


def _improved(weights: FloatArray, known: Pairing) -> Pairing:
    """A pairing of a greater sum of weights than the known one; the known one itself where there is none."""
    total = weights[known].sum()
    if total >= _ALMOST * min(weights.max(axis=1).sum(), weights.max(axis=0).sum()):  # no sum is greater
        return known
    solved = assign(weights, canonical=True)
    return known if total >= _ALMOST * weights[solved].sum() else solved
