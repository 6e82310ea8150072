"""How many words predicted days share with reference days, counted for all days of many timelines at once.

The obvious way is to count n-grams for one pair of days at a time; ``tests/timelines/slow_alignment_rouge.py`` does so
and is the oracle of this module. Here, all days of many predictions and their references become rows of two matrices.
Their product gives the counts of all pairs, which only the weights of an alignment need; what ROUGE counts is looked up
for the pairs that were aligned.

ROUGE clips counts, and a minimum is not a product. So the k-th occurrence of a word in a day has a column of its own: a
day with *police* twice has 1 under (police, 1) and (police, 2), and the product of two such rows is the clipped count.
Each prediction has columns of its own for each of its references, so that the product adds up over the references, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tls_tasks.core.prf import Counts
from tls_tasks.timelines.types import Timeline
from tls_tasks.timelines.words import Floats, Ints, Lists, Vocabulary, Words, ints, ranges

Comparison = tuple[Timeline, Sequence[Timeline]]
"""A prediction with one or more references that are taken jointly."""

_BLOCK = 1 << 16  # of a large table so many numbers are worked on at a time, which keeps what lies between small

_KINDS = 3  # of words: those that weigh the alignment, those that ROUGE counts, pairs of the latter


@dataclass(frozen=True, slots=True)
class Overlap:
    """What is known about one prediction and its K references before they are aligned.

    K is the number of references scored jointly, 1 if they are scored one at a time. P is the number of dates of the
    prediction, R that of all references together.

    Attributes:
        predicted_ordinals: Day numbers, shape (P,), ascending.
        reference_ordinals: The same of the references, shape (R,).
        content_f1: How similar two days are, by tilse's approximation of ROUGE-1, in [0, 1], shape (P, R).
        concat: For n = 1 and 2 the counts of the concatenated texts.
        totals: For n = 1 and 2 how many n-grams there are within days: the prediction's, times K, and the references'.
        rows: The row of the first predicted day and of the first reference day in :class:`Overlaps`.
    """

    predicted_ordinals: Ints
    reference_ordinals: Ints
    content_f1: Floats
    concat: Sequence[Counts]
    totals: Sequence[tuple[int, int]]
    rows: tuple[int, int]


class Overlaps:
    """What the days of predictions share with those of their references.

    A row is a day: the predicted days of all comparisons, then the reference days.

    Args:
        comparisons: What is compared.
        vocabulary: Reads the texts.

    Attributes:
        ordinals: The day number of each row.
        each: What is known of each comparison.
    """

    def __init__(self, comparisons: Sequence[Comparison], vocabulary: Vocabulary) -> None:
        timelines = {id(timeline): timeline for first, rest in comparisons for timeline in (first, *rest)}
        known = {key: ints(map(date.toordinal, own.dates), len(own)) for key, own in timelines.items()}
        days = [(known[id(first)], _union([known[id(own)] for own in rest])) for first, rest in comparisons]
        predicted, reference = zip(*days, strict=True)
        self.ordinals: Ints = np.concatenate([*predicted, *reference])
        starts = _starts(ints(map(len, (*predicted, *reference)), 2 * len(days)))
        tops, lefts = starts[: len(days)], starts[len(days) : -1]
        layout = _layout(comparisons, known, days, list(zip(tops.tolist(), lefts.tolist(), strict=True)))

        counted, content = (_placed(words, layout) for words in vocabulary.read(timelines.values()))
        self._shared = shared = _share((content, counted, _bigrams(*counted, layout)), layout, len(self.ordinals))
        groups = _starts(ints((len(rest) for _, rest in comparisons), len(days)))
        running = shared.running.reshape(_KINDS, -1, 2)
        hits, offered, wanted = (_sums(values, groups) for values in (shared.hits, running[:, :, 0], running[:, :, 1]))
        within = _sums(shared.words, starts)
        f1 = _f1(shared, starts)
        self.each = [
            Overlap(
                *days[at],
                f1[at],
                [Counts(hits[n][at], offered[n][at], hits[n][at], wanted[n][at]) for n in (1, 2)],
                [(within[n][at], within[n][at + len(days)]) for n in (1, 2)],
                (int(tops[at]), int(lefts[at])),
            )
            for at in range(len(days))
        ]

    def hits(self, predicted: Ints, reference: Ints) -> Floats:
        """The clipped hits of pairs of days, summed over the references, for n = 1 and 2, shape (2, N).

        Args:
            predicted: Rows of predicted days, shape (N,).
            reference: Rows of reference days, shape (N,).
        """
        n_rows, n_columns = len(self.ordinals), self._shared.n_columns
        pairs, back = np.unique(predicted * n_rows + reference, return_inverse=True)
        found = []
        for rows in np.divmod(pairs, n_rows) if n_rows else (pairs, pairs):
            sizes, columns = self._shared.columns.of_each(np.concatenate([rows + n_rows, rows + 2 * n_rows]))
            found.append(np.arange(len(sizes)).repeat(sizes) * n_columns + columns)
        both = np.concatenate(found)
        both = both[_order(both)]
        twice = both[1:][both[1:] == both[:-1]] // n_columns
        return np.bincount(twice, minlength=2 * len(pairs)).reshape(2, -1)[:, back].astype(np.float64)


def _union(ordinals: Sequence[Ints]) -> Ints:
    return ordinals[0] if len(ordinals) == 1 else np.unique(np.concatenate(ordinals))


def _starts(sizes: Ints) -> Ints:
    """Where each of so many things begins when they stand one after the other, and where the last one ends."""
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    sizes.cumsum(out=starts[1:])
    return starts


def _sums(values: Ints, starts: Ints) -> list[list[int]]:
    """The sums of all values between one start and the next, for each kind of words."""
    sums = np.zeros((_KINDS, values.shape[1] + 1), dtype=np.int64)
    values.cumsum(axis=1, out=sums[:, 1:])
    ends = sums[:, starts]
    found: list[list[int]] = (ends[:, 1:] - ends[:, :-1]).tolist()
    return found


class _Layout(NamedTuple):
    """Each prediction beside each of its references: G pairs of timelines, so 2 G sides, the even ones predicted.

    A place is a day of one side; after a side's days comes one more, for what lies between days.

    Attributes:
        timelines: The position of each side's timeline, shape (2 G,).
        days: The position of each timeline's first day among the days of all, and where the last one ends.
        starts: The first place of each side, and where the last one ends, shape (2 G + 1,).
        side: The side of each place.
        row: The row of each place; -1 between days.
    """

    timelines: Ints
    days: Ints
    starts: Ints
    side: Ints
    row: Ints


def _layout(
    comparisons: Sequence[Comparison],
    ordinals: Mapping[int, Ints],
    days: Sequence[tuple[Ints, Ints]],
    corners: Sequence[tuple[int, int]],
) -> _Layout:
    """Lay out comparisons, given each timeline's days, and the days and first rows of each comparison."""
    position = {key: place for place, key in enumerate(ordinals)}
    none = np.array([-1])
    timelines: list[int] = []
    row: list[Ints] = []
    for (first, rest), (predicted, union), (top, left) in zip(comparisons, days, corners, strict=True):
        for reference in rest:
            own = ordinals[id(reference)]
            timelines += (position[id(first)], position[id(reference)])
            row += (np.arange(top, top + len(predicted)), none, union.searchsorted(own) + left, none)
    sizes = ints(map(len, ordinals.values()), len(ordinals))
    which = np.array(timelines)
    starts = _starts(sizes[which] + 1)
    side = np.arange(len(which)).repeat(starts[1:] - starts[:-1])
    return _Layout(which, _starts(sizes), starts, side, np.concatenate(row))


def _placed(words: Words, layout: _Layout) -> tuple[Ints, Ints]:
    """The words of each side, and their places."""
    edges = words.days.searchsorted(layout.days)
    starts = edges[layout.timelines]
    sizes = edges[layout.timelines + 1] - starts
    which = ranges(starts, sizes)
    return words.keys[which], words.days[which] + (layout.starts[:-1] - layout.days[layout.timelines]).repeat(sizes)


def _bigrams(keys: Ints, places: Ints, layout: _Layout) -> tuple[Ints, Ints]:
    """Each side's pairs of neighbouring words, with their places."""
    side = layout.side[places]
    inside = np.flatnonzero(side[1:] == side[:-1])
    place = places[inside]
    between = layout.starts[side[inside] + 1] - 1
    pairs = keys[inside] * (1 + keys.max(initial=0)) + keys[inside + 1]
    return pairs, np.where(place == places[inside + 1], place, between)


class _Shared(NamedTuple):
    """What the two sides of each pair of timelines have in common, by kind of words.

    There is a row for each day under each kind, N in all.

    Attributes:
        columns: Of each row: the columns that hold 1.
        rows: Of each column of the first kind: the rows of reference days that hold 1.
        n_columns: How many columns there are.
        words: How many words each day has, times K on the predicted side, shape (kinds, rows).
        running: How many words each side has, shape (kinds, 2 G).
        hits: The clipped hits of each pair of timelines, taken as two running texts, shape (kinds, G).
    """

    columns: Lists
    rows: Lists
    n_columns: int
    words: Ints
    running: Ints
    hits: Ints


def _share(kinds: Sequence[tuple[Ints, Ints]], layout: _Layout, n_rows: int) -> _Shared:
    """Compare the words at these places, each with the equal ones of the other side of its own pair of timelines."""
    n_sides, n_places = len(layout.timelines), len(layout.row)
    kind = np.arange(_KINDS)[:, np.newaxis]
    sides = (layout.side + kind * n_sides).ravel()
    rows = np.where(layout.row < 0, -1, layout.row + kind * n_rows).ravel()
    in_order = [(keys[order], places[order]) for keys, places in kinds for order in [_order(keys)]]
    keys = np.concatenate([keys for keys, _ in in_order])
    places = np.concatenate([places + n * n_places for n, (_, places) in enumerate(in_order)])

    side, row = sides[places], rows[places]
    is_reference = side & 1
    first = np.flatnonzero(_changes(keys) | _changes(side >> 1))  # of each word of each pair of timelines
    sizes = np.append(first[1:], len(keys)) - first if len(first) else first
    of_references = np.add.reduceat(is_reference, first) if len(first) else first
    common = np.minimum(of_references, sizes - of_references)
    within = row >= 0
    kept = np.flatnonzero(within & (common > 0).repeat(sizes))
    columns = first.repeat(sizes)[kept] + _since(_changes(keys[kept]) | _changes(places[kept]))
    paired = kept[: np.searchsorted(kept, len(kinds[0][0]))]  # only the first kind is compared by all pairs of days
    of_reference = np.flatnonzero(is_reference[paired])
    return _Shared(
        columns=_lists(row[kept], columns, _KINDS * n_rows),
        rows=_lists(columns[of_reference], row[paired[of_reference]], len(kinds[0][0])),
        n_columns=len(keys),
        words=np.bincount(row[within], minlength=_KINDS * n_rows).reshape(_KINDS, -1),
        running=np.bincount(side, minlength=_KINDS * n_sides).reshape(_KINDS, -1),
        hits=np.bincount(side[first] >> 1, common, _KINDS * n_sides // 2).astype(np.int64).reshape(_KINDS, -1),
    )


def _lists(things: Ints, values: Ints, n: int) -> Lists:
    """Lists of pairs of a thing, below n, and a value."""
    return Lists(_starts(np.bincount(things, minlength=n)), values[_order(things)])


def _order(values: Ints) -> Ints:
    """The positions of values in ascending order, equal ones as they came.

    Numpy sorts numbers of 16 bits by their digits, ten times as fast as it sorts larger ones.
    """
    order = values.astype(np.uint16).argsort(kind="stable")
    for shift in range(16, int(values.max(initial=0)).bit_length(), 16):
        order = order[(values >> shift).astype(np.uint16)[order].argsort(kind="stable")]
    return order


def _changes(values: Ints) -> npt.NDArray[np.bool_]:
    """Where a value is not the one before it; True for the first."""
    changes = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=changes[1:])
    return changes


def _since(marks: npt.NDArray[np.bool_]) -> Ints:
    """How many positions ago the last mark was."""
    positions = np.arange(len(marks))
    return positions - np.maximum.accumulate(np.where(marks, positions, 0))


def _f1(shared: _Shared, starts: Ints) -> list[Floats]:
    """F1 of each pair of days of each comparison, 0 if they share nothing.

    Args:
        shared: What they share.
        starts: The first row of each comparison's predicted days, then of its reference days, and the end.
    """
    words = shared.words[0]
    n_rows, n_columns = (starts[1:] - starts[:-1]).reshape(2, -1)
    width = n_columns.repeat(n_rows)  # of each predicted day's row in the table of its comparison
    left = starts[len(n_rows) : -1].repeat(n_rows)
    cell = _starts(width)  # the first one of each row
    flat: Floats = np.zeros(cell[-1])
    blocks = [0, *(1 + np.flatnonzero(_changes(cell[1:] // _BLOCK)[1:])).tolist(), len(width)]
    for top, end in pairwise(blocks) if len(flat) else ():
        rows, own = np.arange(top, end), slice(cell[top], cell[end])
        in_row, columns = shared.columns.of_each(rows)
        in_column, cells = shared.rows.of_each(columns)
        cells += (cell[rows] - own.start - left[rows]).repeat(in_row).repeat(in_column)
        hits = np.bincount(cells, minlength=own.stop - own.start)
        # In tilse's order of operations, so that ties stay ties.
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = hits / words[rows].repeat(width[rows])
            recall = hits / words[ranges(left[rows], width[rows])]
            np.divide(2 * precision * recall, precision + recall, out=flat[own], where=hits > 0)
    tables = _starts(n_rows * n_columns).tolist()
    sizes = zip(n_rows.tolist(), n_columns.tolist(), strict=True)
    return [flat[start:end].reshape(size) for (start, end), size in zip(pairwise(tables), sizes, strict=True)]
