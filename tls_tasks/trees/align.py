"""Which items of two lists belong together: by scores (an assignment problem), by place, or by the value of a key."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.leaf_base import FloatArray
from tls_tasks.trees.leaf_equality import value_key
from tls_tasks.trees.lists import Matches, Side
from tls_tasks.trees.pairs import Aligned, Array, Grid, Pairs, Scattered, Tally
from tls_tasks.trees.plan import LeafPlan, ListPlan, NodePlan, TreePlan
from tls_tasks.trees.scores import pair_weights
from tls_tasks.trees.states import Sides
from tls_tasks.trees.values import AnyOf

SHORT = 64
"""Lists with at most this many pairs of items are scored together with others, longer ones each on its own."""

CHUNK = 250_000
"""How many pairs of items are looked at at once: bounds the memory."""


class Walker(Protocol):
    """What is asked of :class:`~tls_tasks.trees.visit.Walk`."""

    plan: TreePlan

    def item(self, plan: NodePlan, sides: Sides, tally: Tally) -> None:
        """Walk through items of lists."""


def align(walk: Walker, plan: ListPlan, sides: Sides) -> Matches:
    """Align the items of each pair of lists.

    Args:
        walk: Walks through pairs of items, to score them.
        plan: The list.
        sides: Lists, and which of them are compared.
    """
    is_sorted = plan.order == "unordered" and walk.plan.options.ties == "canonical"
    item = plan.item if is_sorted else None
    left, right = Side(sides.references, item), Side(sides.predictions, item)
    if plan.order == "unordered":
        owners, rows, columns = _by_scores(walk, plan, left, right, sides.pairs)
    else:
        pair = _by_place if plan.order == "ordered" else _by_key(plan.order.removeprefix("key:"), left, right)
        owners, rows, columns = _each(pair, left, right, sides.pairs)
    return Matches(left, right, owners, rows, columns)


Found = tuple[Array, Array, Array]
"""Owners, and places on both sides."""

Stretch = tuple[int, int]
"""Start and length."""


def _stretches(left: Side, right: Side, pairs: Pairs) -> Iterator[tuple[int, Stretch, Stretch]]:
    """Each pair of lists that both have items: its number, and the two stretches."""
    rows, columns = pairs.blocks()
    lengths = left.lengths[rows], right.lengths[columns]
    full = np.flatnonzero((lengths[0] > 0) & (lengths[1] > 0))
    starts = left.starts[rows][full], right.starts[columns][full]
    numbers = (full, starts[0], lengths[0][full], starts[1], lengths[1][full])
    for owner, start, length, other_start, other_length in zip(*(one.tolist() for one in numbers), strict=True):
        yield owner, (start, length), (other_start, other_length)


def _each(
    pair: Callable[[Stretch, Stretch], tuple[Sequence[int], Sequence[int]]], left: Side, right: Side, pairs: Pairs
) -> Found:
    """Align each pair of lists by a rule that needs no scores."""
    owners: list[int] = []
    rows: list[int] = []
    columns: list[int] = []
    for owner, one, other in _stretches(left, right, pairs):
        found = pair(one, other)
        owners += [owner] * len(found[0])
        rows += found[0]
        columns += found[1]
    return _arrays(owners, rows, columns)


def _arrays(owners: list[int], rows: list[int], columns: list[int]) -> Found:
    return np.array(owners, dtype=np.int64), np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)


def _by_place(one: Stretch, other: Stretch) -> tuple[Sequence[int], Sequence[int]]:
    n = min(one[1], other[1])
    return range(one[0], one[0] + n), range(other[0], other[0] + n)


def _by_key(name: str, left: Side, right: Side) -> Callable[[Stretch, Stretch], tuple[Sequence[int], Sequence[int]]]:
    """Dictionaries with the same value of a key, the first with the first; what lacks the key stays alone."""

    def keys(side: Side) -> list[list[Any]]:
        return [_keys_of(item.get(name)) if isinstance(item, dict) else [] for item in side.items]

    left_keys, right_keys = keys(left), keys(right)

    def pair(one: Stretch, other: Stretch) -> tuple[Sequence[int], Sequence[int]]:
        waiting: dict[Any, list[int]] = {}
        for place in range(other[0] + other[1] - 1, other[0] - 1, -1):
            if len(right_keys[place]) == 1:  # several answers are for references; each item is found once
                waiting.setdefault(right_keys[place][0], []).append(place)
        matched: dict[int, int] = {}
        # what has one key only comes first, so that no choice among several answers takes it away
        for place in sorted(range(one[0], one[0] + one[1]), key=lambda place: len(left_keys[place])):
            found = next((waiting[key] for key in left_keys[place] if waiting.get(key)), None)
            if found:
                matched[place] = found.pop()
        rows = sorted(matched)
        return rows, [matched[place] for place in rows]

    return pair


def _keys_of(value: Any) -> list[Any]:
    """What a value can be found by: of several answers each; null and what isn't there by nothing."""
    if isinstance(value, AnyOf):
        return [key for answer in value.present for key in _keys_of(answer)]
    if value is None:
        return []
    key = value_key(value)
    try:
        hash(key)
    except TypeError:  # a class of the caller's
        return [repr(key)]
    return [key]


def _by_scores(walk: Walker, plan: ListPlan, left: Side, right: Side, pairs: Pairs) -> Found:
    """The pairing of greatest weight in each pair of lists."""
    owners: list[int] = []
    rows: list[int] = []
    columns: list[int] = []
    is_aligned = isinstance(pairs, Aligned)
    for owner, start, places, weights in _weighted(walk, plan, left, right, pairs):
        if weights is None:
            found: tuple[Sequence[int], Sequence[int]] = range(len(places)), range(len(places))
        else:
            found = assign(weights, walk.plan.options.ties == "canonical")
        owners += [owner] * len(found[0])
        rows += [start + i for i in found[0]]
        columns += [places[i] for i in found[1]]
    result = _arrays(owners, rows, columns)
    if is_aligned:  # short and long lists are done in turn
        order = np.argsort(result[0], kind="stable")
        return result[0][order], result[1][order], result[2][order]
    return result


Weighted = tuple[int, int, Sequence[int], "FloatArray | None"]
"""A pair of lists: its number, where the reference's items start, the places of the prediction's items, and the weights
``[references, predictions]`` (None: first with first)."""


def _weighted(walk: Walker, plan: ListPlan, left: Side, right: Side, pairs: Pairs) -> Iterator[Weighted]:
    if isinstance(pairs, Aligned):
        yield from _of_aligned(walk, plan, left, right, pairs)
    elif isinstance(pairs, Grid):
        yield from _of_grid(walk, plan, left, right, pairs)
    else:
        yield from _of_short(walk, plan, left, right, list(_stretches(left, right, pairs)))


def _of_aligned(walk: Walker, plan: ListPlan, left: Side, right: Side, pairs: Aligned) -> Iterator[Weighted]:
    """Equal lists need no weights; short lists share one walk, a long one has its own."""
    short: list[tuple[int, Stretch, Stretch]] = []
    long: list[tuple[int, Stretch, Stretch]] = []
    most = SHORT if walk.plan.only_ours else CHUNK  # metrics of others are asked for as much as possible at once
    use_equality = walk.plan.only_ours and walk.plan.options.ties == "canonical"
    for owner, one, other in _stretches(left, right, pairs):
        if one[1] == other[1] and (one[1] == 1 or (use_equality and _are_equal(left, one, right, other))):
            yield owner, one[0], range(other[0], sum(other)), None
        elif one[1] * other[1] <= most:
            short.append((owner, one, other))
        else:
            long.append((owner, one, other))
    if len(short) == 1:
        long, short = long + short, []
    yield from _of_short(walk, plan, left, right, short)
    for owner, one, other in long:
        places = _few_of_a_kind(right, other, one[1])
        yield owner, one[0], places, _grid_weights(walk, plan.item, _cut(left, one), [right.items[i] for i in places])


def _few_of_a_kind(side: Side, stretch: Stretch, n: int) -> Sequence[int]:
    """The places of a sorted list's items, of equal ones the first ``n``: as many as can find a counterpart.

    Models that repeat themselves write the longest lists.
    """
    places, keys = range(stretch[0], sum(stretch)), side.keys
    if keys is None or len(places) <= n:
        return places
    return [*places[:n], *(i for i in places[n:] if keys[i] != keys[i - n])]


def _are_equal(left: Side, one: Stretch, right: Side, other: Stretch) -> bool:
    assert left.keys is not None and right.keys is not None  # both are sorted
    return left.keys[one[0] : sum(one)] == right.keys[other[0] : sum(other)]


def _cut(side: Side, stretch: Stretch) -> list[Any]:
    return side.items[stretch[0] : sum(stretch)]


def _grid_weights(walk: Walker, plan: NodePlan, references: list[Any], predictions: list[Any]) -> FloatArray:
    """The weights of all pairs of items, some rows at a time."""
    weights = np.zeros((len(references), len(predictions)))
    step = max(1, CHUNK // max(1, len(predictions)))
    for start in range(0, len(references), step):
        part = references[start : start + step]
        weights[start : start + step] = _weights(walk, plan, part, predictions, Grid(len(part), len(predictions)))
    return weights


def _weights(walk: Walker, plan: NodePlan, references: list[Any], predictions: list[Any], pairs: Pairs) -> FloatArray:
    tally = Tally()
    walk.item(plan, Sides(references, predictions, pairs, details=False), tally)
    is_leaf = isinstance(plan, LeafPlan)
    leaves = (plan,) if isinstance(plan, LeafPlan) else plan.leaves
    return pair_weights(leaves, tally, walk.plan, pairs.shape, is_leaf)


def _of_grid(walk: Walker, plan: ListPlan, left: Side, right: Side, pairs: Grid) -> Iterator[Weighted]:
    """Lists within items, all with all: their items are one large grid, of which each pair of lists is a part."""
    others = [(start, length) for start, length in zip(right.starts.tolist(), right.lengths.tolist(), strict=True)]
    limit = max(1, 16 * CHUNK // max(1, len(right.items)))
    for rows in _rows_of(left, limit):
        first, last = left.starts[rows[0]], left.starts[rows[-1]] + left.lengths[rows[-1]]
        weights = _grid_weights(walk, plan.item, left.items[first:last], right.items)
        for row in rows:
            start, length = int(left.starts[row]), int(left.lengths[row])
            part = weights[start - first : start - first + length]
            for column, (other, width) in enumerate(others):
                if length and width:
                    owner = row * pairs.n_predictions + column
                    yield owner, start, range(other, other + width), part[:, other : other + width]


def _rows_of(side: Side, limit: int) -> Iterator[list[int]]:
    """Lists in groups of at most ``limit`` items, or of one list."""
    group: list[int] = []
    n_items = 0
    for number, length in enumerate(side.lengths.tolist()):
        if group and n_items + length > limit:
            yield group
            group, n_items = [], 0
        group.append(number)
        n_items += length
    if group:
        yield group


def _of_short(
    walk: Walker, plan: ListPlan, left: Side, right: Side, blocks: Sequence[tuple[int, Stretch, Stretch]]
) -> Iterator[Weighted]:
    """Many short lists: all pairs of items in one walk."""
    group: list[tuple[int, Stretch, Stretch]] = []
    n_pairs = 0
    for block in blocks:
        group.append(block)
        n_pairs += block[1][1] * block[2][1]
        if n_pairs >= CHUNK:
            yield from _of_group(walk, plan, left, right, group)
            group, n_pairs = [], 0
    if group:
        yield from _of_group(walk, plan, left, right, group)


def _of_group(
    walk: Walker, plan: ListPlan, left: Side, right: Side, group: Sequence[tuple[int, Stretch, Stretch]]
) -> Iterator[Weighted]:
    stretches = np.array([(*one, *other) for _, one, other in group], dtype=np.int64)
    lengths, widths = stretches[:, 1], stretches[:, 3]
    sizes = lengths * widths
    offsets = np.cumsum(sizes) - sizes
    block = np.repeat(np.arange(len(group)), sizes)
    within = np.arange(int(sizes.sum())) - offsets[block]
    pairs = Scattered(stretches[block, 0] + within // widths[block], stretches[block, 2] + within % widths[block])
    weights = _weights(walk, plan.item, left.items, right.items, pairs)
    for (owner, one, other), offset in zip(group, offsets.tolist(), strict=True):
        part = weights[offset : offset + one[1] * other[1]]
        yield owner, one[0], range(other[0], sum(other)), part.reshape(one[1], other[1])


def assign(weights: FloatArray, canonical: bool = False, maximize: bool = True) -> tuple[Sequence[int], Sequence[int]]:
    """The pairing of rows and columns with the greatest sum (scipy's ``linear_sum_assignment``).

    Args:
        weights: ``[rows, columns]``, finite.
        maximize: False for the least sum.
        canonical: Whether the first of equally good partners may be taken where there is a single row or column.

    Returns:
        Rows in ascending order, and the column of each.

    Example:
        >>> rows, columns = assign(np.array([[0.9, 0.2, 0.05], [0.8, 0.0, 0.0], [0.1, 0.1, 1.8]]))
        >>> list(zip(rows, columns))
        [(0, 1), (1, 0), (2, 2)]
    """
    if not maximize:
        weights = -weights
    if canonical and weights.shape[0] == 1:
        return (0,), (int(weights.argmax()),)
    if canonical and weights.shape[1] == 1:
        return (int(weights.argmax()),), (0,)
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return rows.tolist(), columns.tolist()
