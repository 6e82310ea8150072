"""Which items of two lists belong together: the pairing with the greatest sum of weights, or items by position.

There is a pairing for each aim, see :data:`~tls_tasks.trees.pairs.GUIDE`. All aims share the scores of the pairs, and
where one pairing is the best for several of them it is theirs, so that few pairs of items are walked twice.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tls_tasks.trees.leaf_base import FloatArray
from tls_tasks.trees.nodes import width
from tls_tasks.trees.pairs import GUIDE, HITS, Array, Pairs, Sides, Tally, aim_of
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.similarity import (
    ALMOST,
    Pairing,
    alike_only,
    assign,
    improved,
    pairings,
    sort_keys,
    weigh,
    without_unlike,
)
from tls_tasks.trees.types import ListOf, SchemaNode

if TYPE_CHECKING:
    from tls_tasks.trees.walk import Walk

SHORT = 64
"""Lists with at most this many pairs of items are scored together with others, longer ones each on its own."""

_MOST_KEPT = 20_000_000
"""How many numbers are kept of pairs that were counted, so that they need not be walked again."""

CHUNK = 500_000
"""How many pairs of items are looked at at once: bounds the memory."""


class _Lists:
    """The lists of one side, one after the other.

    Args:
        lists: The lists.
        node: Their node.
        is_sorted: Whether each list is to be sorted, so that what is found does not depend on its order.

    Attributes:
        items: All items.
        keys: What each list is sorted by, an entry an item.
        places: Where each item stands in its own list as given.
        lengths: Of each list.
        starts: Where each list begins.

    Of dictionaries these are the values, and the places are their keys.
    """

    def __init__(self, lists: Sequence[Any], node: ListOf, is_sorted: bool) -> None:
        self.lengths = np.array(list(map(len, lists)), dtype=np.int64)
        self.starts = np.cumsum(self.lengths) - self.lengths
        self.items: list[Any] = [item for own in lists for item in (own.values() if node.is_keyed else own)]
        self.places: list[Any] = [place for own in lists for place in (own if node.is_keyed else range(len(own)))]
        self.keys: list[str] = []
        if is_sorted:
            keys, order = sort_keys(node.item, self.items), list[int]()
            for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=True):
                order += sorted(range(start, start + length), key=keys.__getitem__)
            self.items, self.places = [self.items[i] for i in order], [self.places[i] for i in order]
            self.keys = [keys[i] for i in order]

    def totals(self, amounts: Array) -> Array:
        """The sum over the items of each list."""
        sums = np.concatenate([[0], np.cumsum(amounts)])
        totals: Array = sums[self.starts + self.lengths] - sums[self.starts]
        return totals

    def without(self, found: Array) -> tuple[Array, list[Any]]:
        """All items but those found: the number of the list of each, and the items."""
        is_alone = np.ones(len(self.items), dtype=bool)
        is_alone[found] = False
        places = np.flatnonzero(is_alone)
        owners = np.repeat(np.arange(len(self.lengths)), self.lengths)[places]
        return owners, [self.items[place] for place in places.tolist()]


@dataclass(frozen=True, slots=True)
class Matches:
    """Which items belong together for any aim.

    Attributes:
        left: The lists of the references.
        right: Those of the predictions.
        owners: The pair of lists, an entry a match.
        rows: The item's place among all items of the references.
        columns: Likewise of the predictions.
        of_aim: Aim -> whether a match is one of its own; empty: all are, whatever the aim.
        is_keyed: Whether these are values of dictionaries.
        scored: What was counted of pairs of items when they were weighed, if nothing else is asked for.
    """

    left: _Lists
    right: _Lists
    owners: Array
    rows: Array
    columns: Array
    of_aim: Sequence[Array] = ()
    is_keyed: bool = False
    scored: Sequence[_Scored] = ()

    def known(self) -> tuple[Array, Tally]:
        """Which matches were counted before, as places among all, and what was counted of these.

        So that a list in a list in a list … is walked once a level, and not twice for each level above it.
        """
        if not self.scored:
            return np.zeros(0, dtype=np.int64), Tally()
        keys = np.concatenate([own for own, _ in self.scored])
        order = np.argsort(keys, kind="stable")
        wanted = self.rows * len(self.right.items) + self.columns
        found = order[np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)]
        places = np.flatnonzero(keys[found] == wanted)
        amounts = Tally()
        for name in dict.fromkeys(name for _, tally in self.scored for name in tally):
            own = [np.broadcast_to(tally.get(name, 0), keys.shape) for keys, tally in self.scored]
            amounts[name] = np.concatenate(own)[found[places]]
        return places, amounts

    def of(self, aim: int) -> Matches:
        """The matches of one aim."""
        if not len(self.of_aim):
            return self
        is_own = self.is_own(aim)
        return Matches(self.left, self.right, self.owners[is_own], self.rows[is_own], self.columns[is_own])

    def is_own(self, aim: int) -> Array:
        """Whether each match is one of this aim."""
        return self.of_aim[aim] if len(self.of_aim) else np.ones(len(self.owners), dtype=bool)

    def counted(self, name: str, amounts: Any) -> Any:
        """Amounts of each match, or 0 where it is none of the aim that the amount is counted for."""
        return amounts * self.of_aim[aim_of(name)].astype(np.int64) if len(self.of_aim) else amounts

    def items(self) -> tuple[list[Any], list[Any]]:
        """The items of both sides, match by match."""
        left, right = self.left.items, self.right.items
        return [left[i] for i in self.rows.tolist()], [right[j] for j in self.columns.tolist()]

    def links(self) -> list[tuple[int, Any, Any]]:
        """The pair of lists of each match, and where the items stand in their own lists as given, or their keys."""
        left, right = self.left.places, self.right.places
        matches = zip(self.owners.tolist(), self.rows.tolist(), self.columns.tolist(), strict=True)
        return [(owner, left[i], right[j]) for owner, i, j in matches]


def align(walk: Walk, node: ListOf, sides: Sides) -> Matches:
    """Align the items of each pair of lists; the walk scores pairs of items."""
    is_canonical = not walk.plan.follows_treeval
    left, right = (
        _Lists(lists, node, is_canonical and not node.is_ordered and not node.is_keyed)
        for lists in (sides.references, sides.predictions)
    )
    scored: list[_Scored] = []
    if node.is_keyed:
        aligned = _by_key(left, right, sides.pairs)
    elif node.is_ordered:
        aligned = _by_place(left, right, sides.pairs)
    else:
        aligned = _by_weight(walk, node, left, right, sides.pairs, scored)
    found = list(aligned)
    is_shared = all(len(of_aims) == 1 for of_aims in found)
    places = [
        _sorted([of_aims[aim if len(of_aims) > 1 else GUIDE] for of_aims in found])
        for aim in ([GUIDE] if is_shared else walk.aims)
    ]
    if is_shared:
        owners, rows, columns = places[GUIDE]
        return Matches(left, right, owners, rows, columns, is_keyed=node.is_keyed, scored=scored)
    union, which = np.unique(np.concatenate(places, axis=1), axis=1, return_inverse=True)
    ends = np.cumsum([own.shape[1] for own in places])
    of_aim = [np.isin(np.arange(union.shape[1]), own) for own in np.split(which.ravel(), ends[:-1])]
    return Matches(left, right, union[0], union[1], union[2], of_aim, scored=scored)


def _sorted(found: Sequence[_Aligned]) -> Array:
    """All in one, sorted by owners: short and long lists may have come in turn."""
    owners, rows, columns = list[int](), list[int](), list[int]()
    for own_owners, own_rows, own_columns in found:
        owners += own_owners
        rows += own_rows
        columns += own_columns
    places = np.array([owners, rows, columns], dtype=np.int64)
    return places if owners == sorted(owners) else places[:, np.argsort(places[0], kind="stable")]


_Aligned = tuple[Sequence[int], Sequence[int], Sequence[int]]
"""Items that belong together: the number of their pair of lists, and the places of both."""

_Scored = tuple[Array, Tally]
"""What was counted of pairs of items; a pair is row times number of all items of predictions, plus column."""

_OfAims = Sequence[_Aligned]
"""The same for each aim, or one for all."""


def _blocks(left: _Lists, right: _Lists, pairs: Pairs) -> Array:
    """All pairs of lists that both have items, a row each.

    The columns are the number of the pair that owns them, and where the one list and the other begin and end among the
    items of all lists. One array, since many small objects keep the garbage collector busy.
    """
    rows, columns = pairs.rows, pairs.columns
    if pairs.is_grid:
        rows, columns = (places.ravel() for places in np.broadcast_arrays(rows, columns))
    full = np.flatnonzero((left.lengths[rows] > 0) & (right.lengths[columns] > 0))
    rows, columns = rows[full], columns[full]
    starts, others = left.starts[rows], right.starts[columns]
    blocks: Array = np.array([full, starts, starts + left.lengths[rows], others, others + right.lengths[columns]]).T
    return blocks


def _by_place(left: _Lists, right: _Lists, pairs: Pairs) -> Iterator[_OfAims]:
    for owner, start, end, other, other_end in _blocks(left, right, pairs).tolist():
        n = min(end - start, other_end - other)
        yield [([owner] * n, range(start, start + n), range(other, other + n))]


def _by_key(left: _Lists, right: _Lists, pairs: Pairs) -> Iterator[_OfAims]:
    for owner, start, end, other, other_end in _blocks(left, right, pairs).tolist():
        places = {right.places[place]: place for place in range(other, other_end)}
        rows = [row for row in range(start, end) if left.places[row] in places]
        yield [([owner] * len(rows), rows, [places[left.places[row]] for row in rows])]


def _by_weight(
    walk: Walk, node: ListOf, left: _Lists, right: _Lists, pairs: Pairs, scored: list[_Scored]
) -> Iterator[_OfAims]:
    """The pairing of greatest weight in each pair of lists.

    Equal lists need no weights; short lists share one walk, a long one has its own. Lists within items that are
    compared all with all are parts of one large grid.
    """
    blocks = _blocks(left, right, pairs)
    is_canonical = not walk.plan.follows_treeval
    if pairs.is_grid:
        weights = _grid_weights(walk, node.item, left, right, scored) if len(blocks) else []
        for owner, start, end, other, other_end in blocks.tolist():
            own = [of_aim[start:end, other:other_end] for of_aim in weights]
            yield _assigned(walk.plan, owner, start, range(other, other_end), own)
        return
    are_reflexive = all(metric.is_reflexive for metric in walk.plan.metrics.values())
    most = SHORT if are_reflexive else CHUNK  # metrics of others are asked for as much as possible at once
    short: list[int] = []
    for place, (owner, start, end, other, other_end) in enumerate(zip(*blocks.T.tolist(), strict=True)):
        size = (end - start) * (other_end - other)
        is_equal = is_canonical and are_reflexive and left.keys[start:end] == right.keys[other:other_end]
        if is_equal or (size == 1 and not walk.plan.options.least_similarity):
            yield [([owner] * (end - start), range(start, end), range(other, other_end))]
        elif size <= most and len(blocks) > 1:
            short.append(place)
        else:
            columns = _few_of_a_kind(right, range(other, other_end), end - start)
            weights = _grid_weights(walk, node.item, left, right, scored, range(start, end), columns)
            yield _assigned(walk.plan, owner, start, columns, weights)
    if short:
        blocks = blocks[short]
        group = np.cumsum((blocks[:, 2] - blocks[:, 1]) * (blocks[:, 4] - blocks[:, 3])) // CHUNK
        for number in sorted(set(group.tolist())):
            yield _together(walk, node, left, right, blocks[group == number], scored)


def _assigned(plan: Plan, owner: int, start: int, columns: Sequence[int], weights: Sequence[FloatArray]) -> _OfAims:
    found = alike_only(plan, weights, pairings(weights, not plan.follows_treeval))
    return [([owner] * len(rows), [start + row for row in rows], [columns[i] for i in own]) for rows, own in found]


def _few_of_a_kind(lists: _Lists, places: range, n: int) -> Sequence[int]:
    """The places of a sorted list's items, of equal ones the first ``n``: as many as can find a counterpart.

    Models that repeat themselves write the longest lists.
    """
    if not lists.keys:
        return places
    return [place for i, place in enumerate(places) if i < n or lists.keys[place] != lists.keys[place - n]]


def _together(walk: Walk, node: ListOf, left: _Lists, right: _Lists, blocks: Array, scored: list[_Scored]) -> _OfAims:
    """Align lists, of which all pairs of items are scored in one walk."""
    owners, starts, ends, others, other_ends = blocks.T
    widths = other_ends - others
    sizes = (ends - starts) * widths
    begins, block = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(blocks)), sizes)
    within = np.arange(len(block)) - begins[block]
    pairs = Pairs(starts[block] + within // widths[block], others[block] + within % widths[block])
    weights, tally = _weights(walk, node.item, left.items, right.items, pairs)
    _keep(walk, scored, pairs, pairs, tally, len(right.items))
    heads = np.flatnonzero(within % widths[block] == 0)  # where the rows of the blocks begin
    found = _solved(walk.plan, weights, begins, widths, ends - starts, heads)
    aligned: list[_Aligned] = []
    for pairings_of_aim in found:
        block = np.repeat(np.arange(len(blocks)), [len(rows) for rows, _ in pairings_of_aim])
        rows, columns = ([place for own in pairings_of_aim for place in own[side]] for side in (0, 1))
        aligned.append((owners[block].tolist(), (starts[block] + rows).tolist(), (others[block] + columns).tolist()))
    return aligned


def _solved(
    plan: Plan, weights: Sequence[FloatArray], begins: Array, widths: Array, heights: Array, heads: Array
) -> Sequence[Sequence[Pairing]]:
    """The pairings of blocks that stand one after the other, for each aim; one for all where the first serves all.

    Args:
        plan: The schema and its settings.
        weights: Of each aim, those of all blocks.
        begins: Where each block begins.
        widths: How many columns each has.
        heights: How many rows each has.
        heads: Where each row of each block begins.
    """
    shapes = [
        (slice(begin, begin + width * height), width)
        for begin, width, height in zip(begins.tolist(), widths.tolist(), heights.tolist(), strict=True)
    ]
    first = [assign(weights[GUIDE][own].reshape(-1, width), not plan.follows_treeval) for own, width in shapes]
    lengths = np.array([len(rows) for rows, _ in first])
    block = np.repeat(np.arange(len(shapes)), lengths)
    rows, columns = (np.array([place for own in first for place in own[side]], dtype=np.int64) for side in (0, 1))
    matches, starts = begins[block] + rows * widths[block] + columns, np.cumsum(lengths) - lengths
    found = [first]
    for of_aim in weights[1:]:
        most = np.add.reduceat(np.maximum.reduceat(of_aim, heads), np.cumsum(heights) - heights)
        own = list(first)
        for place in np.flatnonzero(np.add.reduceat(of_aim[matches], starts) < most * ALMOST).tolist():
            where, width = shapes[place]
            own[place] = improved(of_aim[where].reshape(-1, width), first[place])
        found.append(own)
    if plan.options.least_similarity:
        blocks = [[of_aim[own].reshape(-1, width) for of_aim in weights] for own, width in shapes]
        told = [alike_only(plan, *own) for own in zip(blocks, zip(*found, strict=True), strict=True)]
        return list(zip(*told, strict=True))
    serves = all(one is other for own in found for one, other in zip(own, first, strict=True))
    return found[:1] if serves else found


def _grid_weights(
    walk: Walk,
    node: SchemaNode,
    left: _Lists,
    right: _Lists,
    scored: list[_Scored],
    rows: range | None = None,
    columns: Sequence[int] | None = None,
) -> Sequence[FloatArray]:
    """The weights of all pairs of items for each aim, some rows at a time; ``rows`` and ``columns``: of these only."""
    rows = range(len(left.items)) if rows is None else rows
    columns = range(len(right.items)) if columns is None else columns
    predictions = [right.items[j] for j in columns]
    step = max(1, CHUNK // max(1, width(node, predictions)))
    found: list[Sequence[FloatArray]] = []
    for start in range(0, len(rows), step):
        own = rows[start : start + step]
        pairs = Pairs.grid(len(own), len(predictions))
        weights, tally = _weights(walk, node, [left.items[i] for i in own], predictions, pairs)
        _keep(walk, scored, Pairs(np.array(own)[:, None], np.array(columns)[None, :]), pairs, tally, len(right.items))
        found.append(weights)
    return [np.concatenate(of_aim) for of_aim in zip(*found, strict=True)]


def _keep(walk: Walk, scored: list[_Scored], places: Pairs, pairs: Pairs, tally: Tally, n: int) -> None:
    """Keep what was counted of pairs, if the walk asks for nothing else and it isn't too much."""
    n_kept = sum(len(keys) for keys, _ in scored)
    if walk.has_details or (n_kept + math.prod(pairs.shape)) * len(tally) > _MOST_KEPT:
        return
    keys = np.broadcast_to(places.rows * n + places.columns, pairs.shape).ravel()
    own = {name: np.broadcast_to(np.asarray(amount), pairs.shape).ravel() for name, amount in tally.items()}
    scored.append((keys, Tally(own)))


def _weights(
    walk: Walk, node: SchemaNode, references: list[Any], predictions: list[Any], pairs: Pairs
) -> tuple[Sequence[FloatArray], Tally]:
    tally = Tally()
    type(walk)(walk.plan, has_details=False).items(node, Sides(references, predictions, pairs, are_items=True), tally)
    own = [np.asarray(tally.get(HITS[aim], 0.0), dtype=np.float64) for aim in walk.aims if aim != GUIDE]
    found = (weigh(walk.plan, node, tally, pairs.shape), *own)
    weights: Sequence[FloatArray] = [np.broadcast_to(of_aim, pairs.shape) for of_aim in found]
    if walk.plan.options.least_similarity:
        weights = without_unlike(walk.plan, node, Sides(references, predictions, pairs), tally, weights)
    return weights, tally
