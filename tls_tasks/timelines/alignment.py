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

from tls_tasks.core.prf import Counts
from tls_tasks.core.sums import plain_sum
from tls_tasks.timelines.overlap import Floats, Ints, Overlap

VARIANTS = ("concat", "agreement", "align", "align+", "align+m:1")
"""The variants by the names of the paper; tilse calls the last three ``align_date_costs``, ``align_date_content_costs``
and ``align_date_content_costs_many_to_one``."""


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
        "align": _one_to_one(date_costs),
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


def aligned_days(words: Overlap, alignment: Alignment) -> list[AlignedDays]:
    """Both directions of an alignment, with weights and hits."""
    days = words.predicted_ordinals, words.reference_ordinals
    return [
        AlignedDays(
            days[0][pairs.predicted],
            days[1][pairs.reference],
            _weight((days[0][pairs.predicted] - days[1][pairs.reference]).astype(np.float64)),
            np.array([hits[pairs] for hits in words.hits], dtype=np.float64),
        )
        for pairs in alignment
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
