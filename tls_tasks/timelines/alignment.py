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

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.core.prf import Counts, plain_sum
from tls_tasks.timelines.overlap import Floats, Ints, Overlap

VARIANTS = ("concat", "agreement", "align", "align+", "align+m:1")
"""The variants by the names of the paper; tilse calls the last three ``align_date_costs``, ``align_date_content_costs``
and ``align_date_content_costs_many_to_one``."""


_AS_TILSE = 1_000_000
"""Up to so many pairs of dates, scipy chooses between equally cheap alignments, from each side."""


class AlignedDays(NamedTuple):
    """One direction of an alignment, one array position per pair of days.

    Attributes:
        predicted: The predicted days' numbers.
        reference: The reference days' numbers.
        weight: What an overlap of the pair is worth, in (0, 1].
        hits: The clipped hits of n-grams, for n = 1 and 2.
    """

    predicted: Ints
    reference: Ints
    weight: Floats
    hits: Sequence[Ints]


class Alignment(NamedTuple):
    """Both directions of an alignment.

    Attributes:
        precision: Each predicted date with the reference date that it is aligned with.
        recall: Each reference date with the predicted date that it is aligned with.
    """

    precision: AlignedDays
    recall: AlignedDays


_Indices = tuple[Ints, Ints]
"""Positions of aligned dates: the predicted ones and the reference ones."""


def align_all(words: Overlap) -> dict[str, Alignment | None]:
    """Align the dates in every variant; None for ``concat``, which knows no dates."""
    days = words.predicted_ordinals, words.reference_ordinals
    weights: Floats = 1 / (1 + np.abs(np.subtract.outer(*days)))
    _, *equal = np.intersect1d(*days, assume_unique=True, return_indices=True)
    same = (equal[0], equal[1])
    indices = dict.fromkeys(VARIANTS[1:], (same, same))
    if weights.size:  # else one side has no dates, and nothing can be aligned
        date_costs = 1 - weights
        costs = (1 - words.content_f1) * date_costs
        indices |= {"align": _one_to_one(date_costs), "align+": _one_to_one(costs), "align+m:1": _many_to_one(costs)}

    def aligned(pairs: _Indices) -> AlignedDays:
        return AlignedDays(days[0][pairs[0]], days[1][pairs[1]], weights[pairs], [hits[pairs] for hits in words.hits])

    return {"concat": None} | {name: Alignment(*map(aligned, both)) for name, both in indices.items()}


def _one_to_one(costs: Floats) -> tuple[_Indices, _Indices]:
    """Minimal sum of costs, solved from each side, as in tilse: of equally cheap ones it may take two different.

    Where the sides have unequal numbers of dates, scipy itself turns the matrix so that it has more columns than rows,
    and both sides are one and the same problem.
    """
    is_square = costs.shape[0] == costs.shape[1]
    if is_square and costs.size <= _AS_TILSE:
        back_columns, back_rows = linear_sum_assignment(np.ascontiguousarray(costs.T))
        return linear_sum_assignment(costs), (back_rows, back_columns)
    if is_square:
        costs = costs - costs.min(axis=1)[:, np.newaxis]  # changes all sums alike, and halves the time
        costs -= costs.min(axis=0)
    rows, columns = linear_sum_assignment(costs)
    order = columns.argsort()
    return (rows, columns), (rows[order], columns[order])


def _many_to_one(costs: Floats) -> tuple[_Indices, _Indices]:
    """Each date with the cheapest one, the earliest if there are several."""
    rows, columns = map(np.arange, costs.shape)
    return (rows, costs.argmin(axis=1)), (costs.argmin(axis=0), columns)


def weighted_counts(words: Overlap, alignment: Alignment | None, gram: int) -> Counts:
    """The counts of ROUGE-1 (``gram`` 0) or ROUGE-2 (1) under an alignment; unaligned dates count in the totals.

    Sums run in the order of dates over plain floats, as tilse's do, so that the last bit is the same.
    """
    if alignment is None:
        return words.concat[gram]
    precision_hits, recall_hits = (plain_sum((side.weight * side.hits[gram]).tolist()) for side in alignment)
    predicted, reference = words.totals[gram]
    return Counts(precision_hits, predicted, recall_hits, reference)
