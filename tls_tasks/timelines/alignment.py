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
"""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array

from tls_tasks.core.score import Counts, plain_sum
from tls_tasks.timelines.types import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Words = Sequence[Hashable]
Tokenize = Callable[[str], Iterable[Hashable]]

_PUNCTUATION = frozenset(
    string.punctuation[start:end] for start in range(33) for end in range(start, 33)
)  # all substrings of string.punctuation, the empty one included: tilse asks ``word in string.punctuation``


def content_words(text: str) -> list[str]:
    """The words by which tilse weighs an alignment.

    Split at whitespace, case kept, without the words that are a substring of ``string.punctuation``.

    Example:
        >>> content_words("Police , again , clash .")
        ['Police', 'again', 'clash']
    """
    return [word for word in text.split() if word not in _PUNCTUATION]


@dataclass(frozen=True, slots=True)
class DayWords:
    """The words of a timeline, day by day.

    Attributes:
        ordinals: The day numbers, ascending.
        content: The words that weigh the alignment.
        counted: The words that ROUGE counts.
    """

    ordinals: Ints
    content: Sequence[Words]
    counted: Sequence[Words]

    @classmethod
    def of(cls, timeline: Timeline, counted: Tokenize, content: Tokenize) -> DayWords:
        """Read a timeline with one tokenizer for ROUGE and one for the alignment."""
        ordinals = np.array([day.toordinal() for day in timeline.dates], dtype=np.int64)
        rouge_words = [list(chain.from_iterable(map(counted, entry.sentences))) for entry in timeline]
        if content is counted:
            return cls(ordinals, rouge_words, rouge_words)
        weighing = [list(chain.from_iterable(map(content, entry.sentences))) for entry in timeline]
        return cls(ordinals, weighing, rouge_words)

    @property
    def bigrams(self) -> list[list[Hashable]]:
        """The pairs of neighbouring words within each day."""
        return [list(pairwise(words)) for words in self.counted]

    def running(self, n: int) -> Counter[Hashable]:
        """How often each n-gram occurs if the days are one text."""
        words = list(chain.from_iterable(self.counted))
        return Counter(words if n == 1 else pairwise(words))


@dataclass(frozen=True, slots=True)
class Overlap:
    """What one prediction shares with K references that are scored jointly, before their dates are aligned.

    P is the number of dates of the prediction, R that of all references together.

    Attributes:
        predicted_ordinals: Day numbers, shape (P,), ascending.
        reference_ordinals: The same of the references, shape (R,).
        content_f1: How similar two days are, by tilse's approximation of ROUGE-1, in [0, 1], shape (P, R).
        hits: For n = 1 and 2 the clipped hits of each pair of days, summed over the references, shape (P, R).
        totals: For n = 1 and 2 how many n-grams there are within days: the prediction's, times K, and the references'.
        concat: For n = 1 and 2 the counts of the concatenated texts.
    """

    predicted_ordinals: Ints
    reference_ordinals: Ints
    content_f1: Floats
    hits: Sequence[Ints]
    totals: Sequence[tuple[int, int]]
    concat: Sequence[Counts]


def compare(prediction: DayWords, references: Sequence[DayWords]) -> Overlap:
    """Count what a prediction shares with references that are scored jointly."""
    days = np.unique(np.concatenate([reference.ordinals for reference in references]))
    rows = [days.searchsorted(reference.ordinals) for reference in references]

    def shared(left: Sequence[Words], right: Sequence[Sequence[Words]]) -> Ints:
        hits: Ints = np.zeros((len(left), len(days)), dtype=np.int64)
        for columns, texts in zip(rows, right, strict=True):
            hits[:, columns] += _clipped_hits(left, texts)
        return hits

    content = [reference.content for reference in references]
    n_words = np.zeros(len(days))
    for columns, texts in zip(rows, content, strict=True):
        n_words[columns] += [len(words) for words in texts]
    predicted_words = len(references) * np.array([len(words) for words in prediction.content], dtype=np.float64)
    unigrams = prediction.counted, [reference.counted for reference in references]
    bigrams = prediction.bigrams, [reference.bigrams for reference in references]
    return Overlap(
        prediction.ordinals,
        days,
        _f1(shared(prediction.content, content), predicted_words, n_words),
        [shared(*unigrams), shared(*bigrams)],
        [
            (len(references) * sum(map(len, left)), sum(map(len, chain.from_iterable(right))))
            for left, right in (unigrams, bigrams)
        ],
        [_running_counts(prediction, references, n) for n in (1, 2)],
    )


def _clipped_hits(left: Sequence[Words], right: Sequence[Words]) -> Ints:
    """How many words each day of one side shares with each of the other, a word as often as the rarer side has it."""
    if not left or not right:
        return np.zeros((len(left), len(right)), dtype=np.int64)
    columns: dict[tuple[Hashable, int], int] = defaultdict(count().__next__)
    sides = [[_columns(words, columns) for words in days] for days in (left, right)]
    matrices = []
    for days in sides:
        ends = np.cumsum([0, *map(len, days)])
        ones = np.ones(ends[-1], dtype=np.int64)
        matrices.append(csr_array((ones, list(chain.from_iterable(days)), ends), (len(days), 1 + len(columns))))
    hits: Ints = (matrices[0] @ matrices[1].T).toarray()
    return hits


def _columns(words: Words, columns: Mapping[tuple[Hashable, int], int]) -> list[int]:
    return [columns[word, occurrence] for word, n in Counter(words).items() for occurrence in range(n)]


def _f1(hits: Ints, predicted: Floats, reference: Floats) -> Floats:
    """F1 of each pair of days, 0 if they share nothing; in tilse's order of operations, so that ties stay ties."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = hits / predicted[:, np.newaxis]
        recall = hits / reference
        f1: Floats = 2 * precision
        f1 *= recall
        f1 /= np.add(precision, recall, out=precision)
    f1[hits == 0] = 0
    return f1


def _running_counts(prediction: DayWords, references: Sequence[DayWords], n: int) -> Counts:
    predicted = prediction.running(n)
    running = [reference.running(n) for reference in references]
    hits = sum((predicted & counts).total() for counts in running)
    return Counts(hits, len(running) * predicted.total(), hits, sum(counts.total() for counts in running))


VARIANTS = ("concat", "agreement", "align", "align+", "align+m:1")
"""The variants by the names of the paper; tilse calls the last three ``align_date_costs``, ``align_date_content_costs``
and ``align_date_content_costs_many_to_one``."""


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
    if costs.shape[0] == costs.shape[1]:
        back_columns, back_rows = linear_sum_assignment(np.ascontiguousarray(costs.T))
        return linear_sum_assignment(costs), (back_rows, back_columns)
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
