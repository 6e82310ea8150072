"""Which predicted date is aligned with which reference date, in the five variants of Martschat & Markert (EACL 2017).

| variant | which dates are aligned | weight of their overlap |
|---|---|---|
| ``concat`` | none: the two timelines are compared as running texts | |
| ``agreement`` | equal dates | 1 |
| ``align`` | one to one, minimal sum of date costs | 1 / (days apart + 1) |
| ``align+`` | one to one, minimal sum of date cost times content cost | 1 / (days apart + 1) |
| ``align+m:1`` | each date with the cheapest one of the other side, cost as in align+ | 1 / (days apart + 1) |

The date cost is 1 - 1 / (days apart + 1), the content cost 1 - F1 of a rough ROUGE-1. Precision and recall each have an
alignment of their own, from predicted to reference dates and the other way round. If several dates are equally cheap,
``align+m:1`` takes the earliest. That is why a perfect prediction with the same text on two dates scores below 1: the
product of the costs is 0 for the wrong pair, too. The other two take what scipy gives for either side, as tilse does.
Above a million pairs of dates, which tilse does not get through, one alignment serves both sides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.core.prf import Counts
from tls_tasks.core.sums import plain_sum
from tls_tasks.timelines.overlap import Overlap, Overlaps
from tls_tasks.timelines.words import Floats, Ints

VARIANTS = ("concat", "agreement", "align", "align+", "align+m:1")
"""The variants by the names of the paper; tilse calls the last three ``align_date_costs``, ``align_date_content_costs``
and ``align_date_content_costs_many_to_one``."""


_FEW = 1 << 16
"""Up to so many pairs of dates, scipy is asked twice sooner than proved to be of one mind."""

_AS_TILSE = 1_000_000
"""Up to so many pairs of dates, scipy chooses between equally cheap alignments, from each side."""


class _Pairs(NamedTuple):
    """Aligned dates, one array position per pair.

    Attributes:
        predicted: Positions of the predicted dates.
        reference: Positions of the reference dates.
    """

    predicted: Ints
    reference: Ints


class Alignment(NamedTuple):
    """Both directions of an alignment.

    Attributes:
        precision: Each predicted date with the reference date that it is aligned with.
        recall: Each reference date with the predicted date that it is aligned with.
    """

    precision: _Pairs
    recall: _Pairs


def align_all(words: Overlap) -> dict[str, Alignment | None]:
    """Align the dates in every variant; None for ``concat``, which knows no dates."""
    apart: Floats = np.subtract.outer(words.predicted_ordinals, words.reference_ordinals).astype(np.float64)
    _, *equal = np.intersect1d(words.predicted_ordinals, words.reference_ordinals, True, return_indices=True)
    same = _Pairs(*equal)
    if apart.size == 0:  # one side has no dates: nothing can be aligned
        return {"concat": None} | dict.fromkeys(VARIANTS[1:], Alignment(same, same))
    date_costs = np.subtract(1, _weight(apart), out=apart)
    costs = 1 - words.content_f1
    costs *= date_costs
    return {
        "concat": None,
        "agreement": Alignment(same, same),
        "align": _by_date(words) or _one_to_one(date_costs),
        "align+": _one_to_one(costs),
        "align+m:1": _many_to_one(costs),
    }


def _weight(apart: Floats) -> Floats:
    """What an overlap is worth over so many days, in (0, 1]; ``apart`` is overwritten."""
    np.abs(apart, out=apart)
    apart += 1
    return np.reciprocal(apart, out=apart)


def _one_to_one(costs: Floats) -> Alignment:
    """Minimal sum of costs, solved from each side, as in tilse: of equally cheap ones it may take two different.

    Where the sides have unequal numbers of dates, scipy itself turns the matrix so that it has more columns than rows,
    and both sides are one and the same problem.
    """
    n_predicted, n_reference = costs.shape
    if n_predicted != n_reference:
        return _both_ways(*linear_sum_assignment(costs))
    if costs.size > _AS_TILSE:
        costs = costs - costs.min(axis=1)[:, np.newaxis]  # changes all sums alike, and halves the time
        costs -= costs.min(axis=0)
        return _both_ways(*linear_sum_assignment(costs))
    rows, columns = linear_sum_assignment(costs)
    back_columns, back_rows = linear_sum_assignment(np.ascontiguousarray(costs.T))
    return Alignment(_Pairs(rows, columns), _Pairs(back_rows, back_columns))


def _both_ways(rows: Ints, columns: Ints) -> Alignment:
    order = columns.argsort()
    return Alignment(_Pairs(rows, columns), _Pairs(rows[order], columns[order]))


def _by_date(words: Overlap) -> Alignment | None:
    """The cheapest alignment by dates alone of a large timeline, found without a matrix; None if it isn't the only one.

    An overlap's cost rises with the days apart, ever more slowly. So equal dates belong together (the way round costs
    more), pairs are apart or one within the other (else swapping their ends is cheaper), and none has an unaligned date
    within (which would be nearer). Between the two dates of a pair there are then as many predicted as reference dates:
    counted up at each predicted and down at each reference date, both lie on one step of that count, and each step is
    a small problem of its own.
    """
    predicted, reference = words.predicted_ordinals, words.reference_ordinals
    if (n_pairs := len(predicted) * len(reference)) <= _FEW:
        return None
    turned = len(predicted) > len(reference)
    days = (reference, predicted) if turned else (predicted, reference)
    _, *same = np.intersect1d(*days, assume_unique=True, return_indices=True)
    left = [np.delete(np.arange(len(own)), gone) for own, gone in zip(days, same, strict=True)]
    steps = np.repeat([1, -1], [len(own) for own in left])
    order = np.argsort(np.concatenate([own[rest] for own, rest in zip(days, left, strict=True)]))
    counted = np.empty_like(steps)
    counted[order] = np.cumsum(steps[order])
    levels = np.split(np.minimum(counted, counted - steps), [len(left[0])])
    aligned = [(same[0], same[1])]
    for level in np.unique(levels[0]):
        near, far = (own[on == level] for own, on in zip(left, levels, strict=True))
        costs = 1 - _weight(np.subtract.outer(days[0][near], days[1][far]).astype(np.float64))
        rows, columns = linear_sum_assignment(costs)
        if n_pairs <= _AS_TILSE and not _is_only(costs, rows, columns):
            return None
        aligned.append((near[rows], far[columns]))
    rows, columns = map(np.concatenate, zip(*aligned, strict=True))
    order = rows.argsort()
    found = _both_ways(rows[order], columns[order])
    return Alignment(*(_Pairs(*reversed(pairs)) for pairs in reversed(found))) if turned else found


def _is_only(costs: Floats, rows: Ints, columns: Ints) -> bool:
    """Whether all other assignments cost more, by more than what adding up in another order could change.

    An alignment of dates on other steps costs more by what the cost bends, at least 1e-11 up to 5,000 days apart.
    """
    cheapest = costs[rows, columns]
    if cheapest.max() > 1 - 1 / 5_001:
        return False
    for row, column in zip(rows, columns, strict=True):
        without = costs.copy()
        without[row, column] = len(costs) + 1
        if without[linear_sum_assignment(without)].sum() - cheapest.sum() < 1e-11:
            return False
    return True


def _many_to_one(costs: Floats) -> Alignment:
    """Each date with the cheapest one, the earliest if there are several."""
    rows, columns = map(np.arange, costs.shape)
    return Alignment(_Pairs(rows, costs.argmin(axis=1)), _Pairs(costs.argmin(axis=0), columns))


class AlignedDays(NamedTuple):
    """One direction of an alignment, one array position per pair of days.

    Attributes:
        predicted: The predicted days' numbers.
        reference: The reference days' numbers.
        weight: What an overlap of the pair is worth, in (0, 1].
        hits: The clipped hits of n-grams, for n = 1 and 2, shape (2, N).
    """

    predicted: Ints
    reference: Ints
    weight: Floats
    hits: Floats


def aligned_days(
    overlaps: Overlaps, alignments: Sequence[Mapping[str, Alignment | None]]
) -> list[dict[str, list[AlignedDays]]]:
    """For each comparison the two directions of each variant that has any; all are looked up at once."""
    sides = [
        (words.rows, pairs)
        for words, variants in zip(overlaps.each, alignments, strict=True)
        for alignment in filter(None, variants.values())
        for pairs in alignment
    ]
    rows = [np.concatenate([first[side] + pairs[side] for first, pairs in sides]) for side in range(2)]
    days = overlaps.ordinals[rows[0]], overlaps.ordinals[rows[1]]
    weight = _weight((days[0] - days[1]).astype(np.float64))
    hits = overlaps.hits(*rows)
    ends = np.cumsum([len(pairs.predicted) for _, pairs in sides]).tolist()
    found = iter(
        AlignedDays(days[0][own], days[1][own], weight[own], hits[:, own]) for own in map(slice, [0, *ends], ends)
    )
    return [
        {name: [next(found), next(found)] for name, alignment in variants.items() if alignment}
        for variants in alignments
    ]


def weighted_counts(words: Overlap, sides: Sequence[AlignedDays] | None, gram: int) -> Counts:
    """The counts of ROUGE-1 (``gram`` 0) or ROUGE-2 (1) under an alignment; unaligned dates count in the totals.

    Sums run in the order of dates over plain floats, as tilse's do, so that the last bit is the same.
    """
    if sides is None:
        return words.concat[gram]
    precision_hits, recall_hits = (plain_sum((side.weight * side.hits[gram]).tolist()) for side in sides)
    predicted, reference = words.totals[gram]
    return Counts(precision_hits, predicted, recall_hits, reference)
