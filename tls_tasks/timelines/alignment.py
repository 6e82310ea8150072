"""Alignments of predicted with reference dates, in the five variants of Martschat & Markert (EACL 2017).

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
product of the costs is 0 for the wrong pair, too. ``align`` and ``align+`` take the solution of scipy, as tilse does.
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
    """Return the words by which tilse compares the contents of two days.

    Text is split at whitespace and keeps its case; words that are a substring of ``string.punctuation`` are dropped.

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
        content_words: For each day the words by which dates are aligned.
        rouge_words: For each day the words that ROUGE counts.
    """

    ordinals: Ints
    content_words: Sequence[Words]
    rouge_words: Sequence[Words]

    @classmethod
    def from_timeline(cls, timeline: Timeline, rouge_tokenizer: Tokenize, content_tokenizer: Tokenize) -> DayWords:
        """Tokenize the sentences of each day, with one tokenizer for ROUGE and one for the alignment."""
        ordinals = np.array([day.toordinal() for day in timeline.dates], dtype=np.int64)
        rouge_words = [list(chain.from_iterable(map(rouge_tokenizer, entry.sentences))) for entry in timeline]
        if content_tokenizer is rouge_tokenizer:
            return cls(ordinals, rouge_words, rouge_words)
        content_words = [list(chain.from_iterable(map(content_tokenizer, entry.sentences))) for entry in timeline]
        return cls(ordinals, content_words, rouge_words)

    @property
    def bigrams(self) -> list[list[Hashable]]:
        """For each day the pairs of neighbouring ROUGE words; no pair crosses two days."""
        return [list(pairwise(words)) for words in self.rouge_words]

    def concat_ngrams(self, n: int) -> Counter[Hashable]:
        """Count the n-grams (n = 1 or 2) of all days joined to one text."""
        words = list(chain.from_iterable(self.rouge_words))
        return Counter(words if n == 1 else pairwise(words))


@dataclass(frozen=True, slots=True)
class Overlap:
    """The words that a prediction shares with K jointly scored references, for every pair of days.

    P is the number of dates of the prediction, R that of the distinct dates of all references.

    Attributes:
        predicted_ordinals: Day numbers, shape (P,), ascending.
        reference_ordinals: Day numbers of the references, shape (R,), ascending.
        content_f1: Similarity of two days, by tilse's approximation of ROUGE-1, in [0, 1], shape (P, R).
        hits: For n = 1 and 2 the clipped hits of each pair of days, summed over the references, shape (P, R).
        totals: For n = 1 and 2 the number of n-grams within days: the prediction's times K, and the references'.
        concat: For n = 1 and 2 the counts of ROUGE-n on the concatenated texts.
    """

    predicted_ordinals: Ints
    reference_ordinals: Ints
    content_f1: Floats
    hits: Sequence[Ints]
    totals: Sequence[tuple[int, int]]
    concat: Sequence[Counts]


def count_overlap(prediction: DayWords, references: Sequence[DayWords]) -> Overlap:
    """Count the words that each day of a prediction shares with each day of jointly scored references."""
    days = np.unique(np.concatenate([reference.ordinals for reference in references]))
    columns_by_reference = [days.searchsorted(reference.ordinals) for reference in references]

    def count_hits(predicted: Sequence[Words], by_reference: Sequence[Sequence[Words]]) -> Ints:
        hits: Ints = np.zeros((len(predicted), len(days)), dtype=np.int64)
        for columns, texts in zip(columns_by_reference, by_reference, strict=True):
            hits[:, columns] += _clipped_hits(predicted, texts)
        return hits

    content = [reference.content_words for reference in references]
    reference_lengths = np.zeros(len(days))
    for columns, texts in zip(columns_by_reference, content, strict=True):
        reference_lengths[columns] += [len(words) for words in texts]
    predicted_lengths = np.array([len(words) for words in prediction.content_words], dtype=np.float64)
    unigrams = prediction.rouge_words, [reference.rouge_words for reference in references]
    bigrams = prediction.bigrams, [reference.bigrams for reference in references]
    return Overlap(
        prediction.ordinals,
        days,
        _f1(count_hits(prediction.content_words, content), len(references) * predicted_lengths, reference_lengths),
        [count_hits(*unigrams), count_hits(*bigrams)],
        [
            (len(references) * sum(map(len, predicted)), sum(map(len, chain.from_iterable(by_reference))))
            for predicted, by_reference in (unigrams, bigrams)
        ],
        [_concat_counts(prediction, references, n) for n in (1, 2)],
    )


def _clipped_hits(predicted: Sequence[Words], reference: Sequence[Words]) -> Ints:
    """Count the common words of each predicted and each reference day, as ``(Counter(a) & Counter(b)).total()`` does.

    The n-th occurrence of a word in a day has a matrix column of its own, so that one product of sparse 0/1 matrices
    clips all pairs of days at once. The result has shape (predicted days, reference days).
    """
    if not predicted or not reference:
        return np.zeros((len(predicted), len(reference)), dtype=np.int64)
    column_ids: dict[tuple[Hashable, int], int] = defaultdict(count().__next__)
    sides = [[_occurrence_columns(words, column_ids) for words in days] for days in (predicted, reference)]
    matrices = []
    for days in sides:
        offsets = np.cumsum([0, *map(len, days)])
        values = np.ones(offsets[-1], dtype=np.int64)
        matrices.append(csr_array((values, list(chain.from_iterable(days)), offsets), (len(days), 1 + len(column_ids))))
    hits: Ints = (matrices[0] @ matrices[1].T).toarray()
    return hits


def _occurrence_columns(words: Words, column_ids: Mapping[tuple[Hashable, int], int]) -> list[int]:
    """Return the column of each (word, occurrence number); ``column_ids`` gives a new pair the next free column."""
    return [column_ids[word, occurrence] for word, n in Counter(words).items() for occurrence in range(n)]


def _f1(hits: Ints, predicted_lengths: Floats, reference_lengths: Floats) -> Floats:
    """Return the F1 of each pair of days from its hits and the days' lengths; 0 where a pair shares nothing.

    The order of operations is tilse's, so that pairs that tie there tie here.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = hits / predicted_lengths[:, np.newaxis]
        recall = hits / reference_lengths
        f1: Floats = 2 * precision
        f1 *= recall
        f1 /= np.add(precision, recall, out=precision)
    f1[hits == 0] = 0
    return f1


def _concat_counts(prediction: DayWords, references: Sequence[DayWords], n: int) -> Counts:
    """Return the counts of ROUGE-n of the ``concat`` variant, summed over the references."""
    predicted = prediction.concat_ngrams(n)
    ngrams = [reference.concat_ngrams(n) for reference in references]
    hits = sum((predicted & reference).total() for reference in ngrams)
    return Counts(hits, len(ngrams) * predicted.total(), hits, sum(reference.total() for reference in ngrams))


VARIANTS = ("concat", "agreement", "align", "align+", "align+m:1")
"""The variants by the names of the paper; tilse calls the last three ``align_date_costs``, ``align_date_content_costs``
and ``align_date_content_costs_many_to_one``."""


class AlignedDays(NamedTuple):
    """One direction of an alignment as arrays of equal length, one element per aligned pair of days.

    Attributes:
        predicted: Ordinals of the predicted days.
        reference: Ordinals of the reference days.
        weight: The weight of the pair's hits, in (0, 1].
        hits: For n = 1 and 2 the clipped hits of n-grams.
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
"""Indices of aligned dates: those into the predicted days and, element by element, those into the reference days."""


def align_all(overlap: Overlap) -> dict[str, Alignment | None]:
    """Align the dates in every variant: variant -> alignment, None for ``concat``, which aligns no dates."""
    days = overlap.predicted_ordinals, overlap.reference_ordinals
    weights: Floats = 1 / (1 + np.abs(np.subtract.outer(*days)))
    _, *equal = np.intersect1d(*days, assume_unique=True, return_indices=True)
    equal_days = (equal[0], equal[1])
    indices = dict.fromkeys(VARIANTS[1:], (equal_days, equal_days))
    if weights.size:  # else one side has no dates, and nothing can be aligned
        date_costs = 1 - weights
        costs = (1 - overlap.content_f1) * date_costs
        indices |= {"align": _one_to_one(date_costs), "align+": _one_to_one(costs), "align+m:1": _many_to_one(costs)}

    def aligned_days(pairs: _Indices) -> AlignedDays:
        return AlignedDays(days[0][pairs[0]], days[1][pairs[1]], weights[pairs], [hits[pairs] for hits in overlap.hits])

    return {"concat": None} | {name: Alignment(*map(aligned_days, sides)) for name, sides in indices.items()}


def _one_to_one(costs: Floats) -> tuple[_Indices, _Indices]:
    """Match dates one to one with a minimal sum of costs; return the pairs for precision and those for recall.

    tilse solves the problem once from each side. If several solutions are equally cheap, the sides may get different
    ones. With unequal numbers of dates scipy itself transposes a matrix that has more rows than columns, so that both
    sides get the same solution; the pairs for recall are then only sorted by reference date.
    """
    if costs.shape[0] == costs.shape[1]:
        recall_columns, recall_rows = linear_sum_assignment(np.ascontiguousarray(costs.T))
        return linear_sum_assignment(costs), (recall_rows, recall_columns)
    rows, columns = linear_sum_assignment(costs)
    order = columns.argsort()
    return (rows, columns), (rows[order], columns[order])


def _many_to_one(costs: Floats) -> tuple[_Indices, _Indices]:
    """Pair each date with the cheapest one of the other side, the earliest of ties; return both directions."""
    rows, columns = map(np.arange, costs.shape)
    return (rows, costs.argmin(axis=1)), (costs.argmin(axis=0), columns)


def weighted_counts(overlap: Overlap, alignment: Alignment | None, index: int) -> Counts:
    """Return the counts of ROUGE-1 (``index`` 0) or ROUGE-2 (1) under an alignment; None is ``concat``.

    Dates that are not aligned still count in the totals. Sums run in the order of dates over plain floats, as tilse's
    do, so that the last bit is the same.
    """
    if alignment is None:
        return overlap.concat[index]
    precision_hits, recall_hits = (plain_sum((side.weight * side.hits[index]).tolist()) for side in alignment)
    predicted, reference = overlap.totals[index]
    return Counts(precision_hits, predicted, recall_hits, reference)
