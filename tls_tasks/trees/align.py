"""Which items of two lists belong together: by key, by position, or by the pairing with the greatest sum of weights.

Lists of many trees are aligned at once. There is a pairing for each objective, see
:data:`~tls_tasks.trees.pairs.GUIDE`; items that belong together for several of them are one match, so that few pairs
of items are walked twice.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.nodes import count_nodes
from tls_tasks.trees.pairs import Array, Counts, Pairs, at
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.similarity import sort_key, weights_of
from tls_tasks.trees.types import Branch, ListOf, all_nodes

SHORT = 64
"""Lists with at most this many pairs of items are scored together with others, longer ones each on its own."""

CHUNK = 500_000
"""How many pairs of items, and of values within them, are looked at at once: bounds the memory."""

ALIGNED = 250_000
"""How many pairs of items of two lists, and of items within them, are compared at most: bounds the time.

A list may always have four times as many items as the reference's, whatever the number of pairs.
"""

_ALMOST = 1 - 1e-12
"""Sums of the same numbers in another order may differ by less."""

_ALL = 0b111
"""A bit for each objective."""

Weigh = Callable[[Any, Pairs, Counts], None]
"""Counts pairs of items of a node, as far as their weights need it."""


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


class Matches(NamedTuple):
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
        return Pairs.aligned(at(self.left.items, self.rows), at(self.right.items, self.columns))


class _Block(NamedTuple):
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

    def weights(self, weights: FloatArray) -> FloatArray:
        """``[objectives, rows, columns]``, without a copy."""
        shape, (step, size) = (len(weights), len(self.rows), len(self.columns)), weights.strides
        own: FloatArray = np.ndarray(shape, float, weights.data, self.start * size, (step, self.stride * size, size))
        return own


class Aligner:
    """Aligns the items of each pair of lists.

    Args:
        plan: The schema and its settings.
        node: The node of the lists.
        pairs: The lists.
        weigh: Counts pairs of items.
        keeps_counts: Whether these counts are all that is needed of the matches, so that a list in a list in a list …
            is walked once a level, and not twice for each level above it.
    """

    def __init__(self, plan: Plan, node: ListOf, pairs: Pairs, weigh: Weigh, keeps_counts: bool) -> None:
        self.plan, self.node, self.weigh, self.keeps_counts = plan, node, weigh, keeps_counts
        self.is_canonical = not plan.follows_treeval
        is_sorted = self.is_canonical and not node.is_ordered and not node.is_keyed
        self.left, self.right = (Lists(lists, node, is_sorted) for lists in (pairs.references, pairs.predictions))
        self.is_flat = all(isinstance(inner, Field | Branch) for _, inner in all_nodes(node.item))
        self.are_reflexive = all(metric.is_reflexive for metric in plan.metrics.values())
        self.objectives: dict[tuple[int, int, int, int], int] = {}  # owner, row, column, index among counts -> bits
        self.counts: list[Counts] = []
        self.n_counted = 0
        places = zip(pairs.rows.tolist(), pairs.columns.tolist(), strict=True)
        spans = ((self.left.spans[i], self.right.spans[j]) for i, j in places)
        blocks = [_Block(owner, *both) for owner, both in enumerate(spans) if all(both)]
        if node.is_keyed or node.is_ordered:
            for block in blocks:
                self.add(block, self.by_place(block))
        elif pairs.are_all:  # the items are one grid
            n = len(self.right.items)
            placed = [block._replace(start=block.rows[0] * n + block.columns[0], stride=n) for block in blocks]
            self.add_weighed(placed, Pairs.all_of(self.left.items, self.right.items))
        else:
            self.add_blocks(blocks)

    def matches(self) -> Matches:
        """All matches, sorted by owner, row and column."""
        matches = sorted(self.objectives)
        owners, rows, columns, indices = np.array(matches, dtype=np.int64).reshape(-1, 4).T
        bits = np.array([self.objectives[match] for match in matches], dtype=np.int64)
        is_of = np.array([bits >> objective & 1 for objective in range(3)], dtype=bool)
        counts = Counts.concatenated(self.counts).taken([indices] * 3) if self.counts else None
        return Matches(self.left, self.right, owners, rows, columns, is_of, counts)

    def add(self, block: _Block, pairing: Iterable[tuple[int, int]], objectives: int = _ALL) -> None:
        """Add rows and columns that belong together; ``objectives``: a bit for each for which they do."""
        for row, column in pairing:
            index = self.n_counted + block.start + row * block.stride + column
            match = (block.owner, block.rows[row], block.columns[column], index if self.keeps_counts else 0)
            self.objectives[match] = self.objectives.get(match, 0) | objectives

    def by_place(self, block: _Block) -> list[tuple[int, int]]:
        """The rows and columns of the same keys or positions."""
        columns = {self.right.places[j]: column for column, j in enumerate(block.columns)}
        places = [self.left.places[i] for i in block.rows]
        return [(row, columns[place]) for row, place in enumerate(places) if place in columns]

    def add_blocks(self, blocks: list[_Block]) -> None:
        """Align lists of which short ones share one walk and each long one has its own; some need no weights."""
        most = SHORT if self.are_reflexive else CHUNK  # custom metrics are asked for as much as possible at once
        short, rows, columns = list[_Block](), list[int](), list[int]()
        for block in blocks:
            n = len(block.rows)
            if not self.keeps_counts and self.needs_no_weights(block):
                self.add(block, enumerate(range(len(block.rows))))
            elif not (few := self.few(block) if self.right.keys else block.columns):
                continue
            elif n * len(few) <= most:
                short.append(block._replace(columns=few, start=len(rows), stride=len(few)))
                rows += [i for i in block.rows for _ in few]
                columns += [*few] * n
            else:
                items = [self.left.items[i] for i in block.rows], [self.right.items[j] for j in few]
                self.add_weighed([block._replace(columns=few, stride=len(few))], Pairs.all_of(*items))
        if short:
            self.add_weighed(short, Pairs(self.left.items, self.right.items, np.array(rows), np.array(columns)))

    def few(self, block: _Block) -> list[int]:
        """The columns that are compared: of equal items as many as can find another, and no more than are affordable.

        Models that repeat themselves write the longest lists. What an answer has beyond :data:`ALIGNED` is too much,
        whatever it is; the items that stand first are compared, but for those that are too large themselves.
        """
        n, start, keys = len(block.rows), block.columns[0], self.right.keys
        few = [j for j in block.columns if j - start < n or keys[j] != keys[j - n]]
        few.sort(key=self.right.places.__getitem__)
        size, kept = sum(self.sizes([self.left.items[i] for i in block.rows])), list[int]()
        left = max(ALIGNED // size, 4 * size)
        for j, own in zip(few, self.sizes([self.right.items[j] for j in few]), strict=True):
            if own <= left:
                kept.append(j)
                left -= own
        return sorted(kept)

    def sizes(self, items: Sequence[Any]) -> list[int]:
        """How many items each item is with those of all lists within it."""
        if self.is_flat:
            return [1] * len(items)
        return [1 + count_nodes(item, items=True) - count_nodes(item) for item in items]

    def needs_no_weights(self, block: _Block) -> bool:
        """Whether sorted items belong together one by one: equal lists, and two single items."""
        if len(block.rows) == len(block.columns) == 1:
            return not self.plan.options.least_similarity
        sides = ((self.left, block.rows), (self.right, block.columns))
        left, right = (lists.keys[indices[0] : indices[-1] + 1] for lists, indices in sides)
        return self.is_canonical and self.are_reflexive and left == right

    def add_weighed(self, blocks: list[_Block], pairs: Pairs) -> None:
        """Weigh pairs of items, and add the pairings of the blocks that these pairs are made of."""
        weights, n = np.empty((3 if self.is_canonical else 1, pairs.n)), 0
        least = self.plan.options.least_similarity  # what is less alike has the weight 0
        for chunk in pairs.chunks(max(1, CHUNK // max(1, sum(self.sizes(pairs.predictions)))), CHUNK):
            counts = Counts(chunk.n)
            self.weigh(self.node.item, chunk, counts)
            weights[:, n : n + counts.n] = weights_of(self.plan, self.node.item, chunk, counts)
            n += counts.n
            if self.keeps_counts:
                self.counts.append(counts)
        for block in blocks:
            of_block = block.weights(weights)
            first = assign(of_block[0], self.is_canonical)
            taken, columns, rows = of_block[:, first[0], first[1]], of_block.max(axis=1), of_block.max(axis=2)
            most = np.minimum(columns.sum(axis=1), rows.sum(axis=1))  # no sum is greater
            are_best = (taken.sum(axis=1) >= _ALMOST * most).tolist()
            others = zip(of_block[1:], are_best[1:], strict=True)
            solved = [first, *(first if is_best else _improved(own, first) for own, is_best in others)]
            if not least and all(own is first for own in solved):
                self.add(block, zip(*first, strict=True))
                continue
            for objective, (own, known) in enumerate(zip(of_block, solved, strict=True)):
                alike = [pair for pair in zip(*known, strict=True) if not least or own[pair] > 0]
                self.add(block, alike, 1 << objective)
        self.n_counted += n


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


def _improved(weights: FloatArray, known: tuple[list[int], list[int]]) -> tuple[list[int], list[int]]:
    """A pairing of a greater sum of weights than the known one; the known one itself where there is none."""
    solved = assign(weights, canonical=True)
    return known if weights[known].sum() >= _ALMOST * weights[solved].sum() else solved
