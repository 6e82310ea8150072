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
product of the costs is 0 for the wrong pair, too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.core.prf import Counts
from tls_tasks.timelines.overlap import Floats, Ints, Overlap

VARIANTS = ("concat", "agreement", "align", "align+", "align+m:1")
"""The variants by the names of the paper; tilse calls the last three ``align_date_costs``, ``align_date_content_costs``
and ``align_date_content_costs_many_to_one``."""


class _Pairs(NamedTuple):
    """Aligned dates, one array position per pair.

    Attributes:
        predicted: Positions of the predicted dates.
        reference: Positions of the reference dates.
        weight: What an overlap of the pair is worth, in (0, 1].
    """

    predicted: Ints
    reference: Ints
    weight: Floats


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
    apart = np.abs(words.predicted_ordinals[:, np.newaxis] - words.reference_ordinals[np.newaxis, :])
    weights: Floats = 1 / (apart + 1)
    same = _pairs(*np.nonzero(apart == 0), weights=weights)
    if apart.size == 0:  # one side has no dates: nothing can be aligned
        return {"concat": None} | dict.fromkeys(VARIANTS[1:], Alignment(same, same))
    date_costs = 1 - weights
    costs = date_costs * (1 - words.content_f1)
    return {
        "concat": None,
        "agreement": Alignment(same, same),
        "align": _one_to_one(date_costs, weights),
        "align+": _one_to_one(costs, weights),
        "align+m:1": _many_to_one(costs, weights),
    }


def _one_to_one(costs: Floats, weights: Floats) -> Alignment:
    """Minimal sum of costs, solved from each side: of equally cheap ones tilse may take two different."""
    rows, columns = linear_sum_assignment(costs)
    back_rows, back_columns = linear_sum_assignment(np.ascontiguousarray(costs.T))
    return Alignment(_pairs(rows, columns, weights=weights), _pairs(back_columns, back_rows, weights=weights))


def _many_to_one(costs: Floats, weights: Floats) -> Alignment:
    """Each date with the cheapest one, the earliest if there are several."""
    rows, columns = map(np.arange, costs.shape)
    return Alignment(
        _pairs(rows, costs.argmin(axis=1), weights=weights), _pairs(costs.argmin(axis=0), columns, weights=weights)
    )


def _pairs(predicted: Ints, reference: Ints, *, weights: Floats) -> _Pairs:
    return _Pairs(predicted, reference, weights[predicted, reference])


def weighted_counts(words: Overlap, alignment: Alignment | None, gram: int) -> Counts:
    """The counts of ROUGE-1 (``gram`` 0) or ROUGE-2 (1) under an alignment; unaligned dates count in the totals.

    Sums run in the order of dates over plain floats, as tilse's do, so that the last bit is the same.
    """
    if alignment is None:
        return words.concat[gram]
    hits = words.hits[gram]
    forward, backward = alignment.precision, alignment.recall
    return Counts(
        precision_hits=sum((forward.weight * hits[forward.predicted, forward.reference]).tolist()),
        predicted=int(words.predicted[gram].sum()),
        recall_hits=sum((backward.weight * hits[backward.predicted, backward.reference]).tolist()),
        reference=int(words.reference[gram].sum()),
    )


def aligned_days(pairs: _Pairs, words: Overlap) -> tuple[Ints, Ints, Floats, Floats]:
    """Of aligned pairs the day numbers, the weights and the unweighted ROUGE-1 hits, without the matrices."""
    predicted, reference = words.predicted_ordinals[pairs.predicted], words.reference_ordinals[pairs.reference]
    return predicted, reference, pairs.weight, words.hits[0][pairs.predicted, pairs.reference]
