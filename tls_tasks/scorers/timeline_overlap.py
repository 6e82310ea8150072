"""How much of its words every predicted day shares with every reference day, counted all at once.

The obvious way counts n-grams for one pair of days at a time; ``tests/scorers/slow_alignment_rouge.py`` does so and is
the oracle of this module. Here all days of a prediction and its references become sparse matrices and one product gives
all pairs.

Clipping is what stands in the way: min(2, 1) = 1 is no product. So the k-th occurrence of a word in a day is a column
of its own: a day with *police* twice has 1 under (police, 1) and (police, 2), and the product of two such rows is the
clipped count.
"""

from __future__ import annotations

import itertools
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tls_tasks.scores import Counts
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.types import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

NGRAMS = (1, 2)
"""Lengths of the n-grams that are counted: ROUGE-1 and ROUGE-2."""

# A topic of usual size (20 dates, 1,500 different words) is compared ten times faster by plain matrices: building a
# sparse one costs more than the product. Long timelines need the sparse ones for their memory.
_DENSE_CELLS = 1 << 18


class Vocabulary:
    """Gives every different word a number."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def numbers(self, words: Sequence[str]) -> Ints:
        """The numbers of words, shape (len(words),); new words get the next ones."""
        new = dict.fromkeys(words).keys() - self._numbers.keys()
        self._numbers.update(zip(new, itertools.count(len(self._numbers)), strict=False))
        return np.fromiter(map(self._numbers.__getitem__, words), dtype=np.int64, count=len(words))


@dataclass(frozen=True, slots=True)
class Words:
    """Numbered n-grams of a timeline.

    Attributes:
        days: For each n-gram the position of its day in the timeline, shape (N,).
        keys: For each n-gram its number, shape (N,), in order of the text.
    """

    days: Ints
    keys: Ints


@dataclass(frozen=True, slots=True)
class EncodedTimeline:
    """A timeline whose words have been numbered, made once however many references it meets.

    Attributes:
        ordinals: The dates as day numbers, shape (n_days,), rising.
        daily: For n = 1 and 2 the n-grams within a day.
        running: For n = 1 and 2 the n-grams of the whole text, over the borders of days too.
        content: The blank-separated words by which tilse weighs how alike two days are.
    """

    ordinals: Ints
    daily: tuple[Words, Words]
    running: tuple[Ints, Ints]
    content: Words

    def __len__(self) -> int:
        """The number of days."""
        return len(self.ordinals)


class Encoder:
    """Numbers the words of timelines that are to be compared with one another.

    Args:
        tokenizer: One sentence -> the words that ROUGE counts.
        content_tokenizer: One sentence -> the words that weigh the alignment (tilse: blank-separated, punctuation
            dropped).
    """

    def __init__(self, tokenizer: Tokenizer, content_tokenizer: Tokenizer) -> None:
        self._tokenizer, self._content_tokenizer = tokenizer, content_tokenizer
        self._vocabulary, self._content_vocabulary = Vocabulary(), Vocabulary()

    def encode(self, timeline: Timeline) -> EncodedTimeline:
        """Number all words of a timeline."""
        words = _words_by_day(timeline, self._tokenizer, self._vocabulary)
        pairs = (words.keys[:-1] << 32) | words.keys[1:]
        within = words.days[:-1] == words.days[1:]
        return EncodedTimeline(
            ordinals=np.array([entry.date.toordinal() for entry in timeline], dtype=np.int64),
            daily=(words, Words(words.days[:-1][within], pairs[within])),
            running=(words.keys, pairs),
            content=_words_by_day(timeline, self._content_tokenizer, self._content_vocabulary),
        )


def content_words(sentence: str) -> list[str]:
    """The words by which tilse weighs an alignment.

    Split at blanks, case kept, less every word that is a part of ``string.punctuation``.

    Example:
        >>> content_words("Police , again , clash .")
        ['Police', 'again', 'clash']
    """
    return [word for word in sentence.split() if word not in string.punctuation]


def _words_by_day(timeline: Timeline, tokenizer: Tokenizer, vocabulary: Vocabulary) -> Words:
    words: list[str] = []
    ends = [0]
    for entry in timeline.entries:
        for sentence in entry.sentences:
            words += tokenizer(sentence)
        ends.append(len(words))
    return Words(np.repeat(np.arange(len(timeline), dtype=np.int64), np.diff(ends)), vocabulary.numbers(words))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Everything that any variant needs of one prediction and its K references.

    K is the number of references scored jointly, 1 where they are scored one at a time. Dates are those of the
    prediction, P of them, and of all references together, R of them.

    Attributes:
        predicted_ordinals: Shape (P,), rising.
        reference_ordinals: Shape (R,), rising.
        hits: For n = 1 and 2 the clipped hits of each pair of days, summed over the references, shape (P, R).
        predicted: For n = 1 and 2 the n-grams of each predicted day times K, shape (P,).
        reference: For n = 1 and 2 the n-grams of each reference day, summed over the references, shape (R,).
        concat: For n = 1 and 2 the counts of the running texts.
        content_f1: How alike two days are, by tilse's approximation of ROUGE-1, in [0, 1], shape (P, R).
    """

    predicted_ordinals: Ints
    reference_ordinals: Ints
    hits: tuple[Floats, Floats]
    predicted: tuple[Ints, Ints]
    reference: tuple[Ints, Ints]
    concat: tuple[Counts, Counts]
    content_f1: Floats


def overlap(prediction: EncodedTimeline, references: Sequence[EncodedTimeline]) -> Overlap:
    """Compare a prediction with its references, taken jointly.

    Args:
        prediction: P days.
        references: One or more timelines, encoded by the same encoder; R different days in all.
    """
    ordinals = _union([reference.ordinals for reference in references])
    rows = [np.searchsorted(ordinals, reference.ordinals) for reference in references]
    shape = (len(prediction), len(ordinals))
    grams = range(len(NGRAMS))
    daily = [
        _pairwise(prediction.daily[gram], [reference.daily[gram] for reference in references], rows, shape)
        for gram in grams
    ]
    content = _pairwise(prediction.content, [reference.content for reference in references], rows, shape)
    return Overlap(
        predicted_ordinals=prediction.ordinals,
        reference_ordinals=ordinals,
        hits=(daily[0].hits, daily[1].hits),
        predicted=(daily[0].predicted, daily[1].predicted),
        reference=(daily[0].reference, daily[1].reference),
        concat=(_concat(prediction, references, 0), _concat(prediction, references, 1)),
        content_f1=_f1(content),
    )


@dataclass(frozen=True, slots=True)
class _Pairwise:
    hits: Floats
    predicted: Ints
    reference: Ints


def _pairwise(
    prediction: Words, references: Sequence[Words], rows: Sequence[Ints], shape: tuple[int, int]
) -> _Pairwise:
    hits: Floats = np.zeros(shape)
    totals: Ints = np.zeros(shape[1], dtype=np.int64)
    for reference, row in zip(references, rows, strict=True):
        days = row[reference.days] if len(reference.days) else reference.days
        totals += np.bincount(days, minlength=shape[1])
        hits += _clipped_hits(prediction, Words(days, reference.keys), shape)
    predicted = np.bincount(prediction.days, minlength=shape[0]) * len(references)
    return _Pairwise(hits, predicted, totals)


def _clipped_hits(left: Words, right: Words, shape: tuple[int, int]) -> Floats:
    """The clipped number of common n-grams of each pair of days, shape (left days, right days)."""
    common, keys = np.unique(np.concatenate([left.keys, right.keys]), return_inverse=True)
    split = len(left.keys)
    left_columns = _columns(left.days, keys[:split], len(common))
    right_columns = _columns(right.days, keys[split:], len(common))
    width = int(max(left_columns.max(initial=-1), right_columns.max(initial=-1))) + 1
    make = _dense if max(shape) * width <= _DENSE_CELLS else _sparse
    product = make(left.days, left_columns, (shape[0], width)) @ make(right.days, right_columns, (shape[1], width)).T
    hits: Floats = product if make is _dense else product.toarray()
    return hits


def _columns(days: Ints, keys: Ints, n_keys: int) -> Ints:
    """A column for each (key, how often it has occurred in its day so far)."""
    order = np.lexsort((keys, days))
    sorted_days, sorted_keys = days[order], keys[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (sorted_days[1:] != sorted_days[:-1]) | (sorted_keys[1:] != sorted_keys[:-1])
    positions = np.arange(len(order), dtype=np.int64)
    occurrence = positions - np.maximum.accumulate(np.where(starts, positions, 0))
    columns = np.empty_like(order)
    columns[order] = sorted_keys + occurrence * n_keys
    return columns


def _dense(days: Ints, columns: Ints, shape: tuple[int, int]) -> Any:
    """A matrix with 1 at each (day, column)."""
    matrix = np.zeros(shape)
    matrix[days, columns] = 1
    return matrix


def _sparse(days: Ints, columns: Ints, shape: tuple[int, int]) -> Any:
    """The same, kept sparse."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(days, minlength=shape[0]))])
    return sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=shape)


def _concat(prediction: EncodedTimeline, references: Sequence[EncodedTimeline], gram: int) -> Counts:
    keys = prediction.running[gram]
    hits = sum(_common(keys, reference.running[gram]) for reference in references)
    return Counts(
        hits, len(keys) * len(references), hits, sum(len(reference.running[gram]) for reference in references)
    )


def _common(left: Ints, right: Ints) -> int:
    """The clipped number of common n-grams of two texts."""
    left_keys, left_counts = np.unique(left, return_counts=True)
    right_keys, right_counts = np.unique(right, return_counts=True)
    _, in_left, in_right = np.intersect1d(left_keys, right_keys, assume_unique=True, return_indices=True)
    return int(np.minimum(left_counts[in_left], right_counts[in_right]).sum())


def _f1(pairs: _Pairwise) -> Floats:
    """F1 of each pair of days, 0 where nothing is shared; the operations in tilse's order, so that ties stay ties."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = pairs.hits / pairs.predicted[:, np.newaxis]
        recall = pairs.hits / pairs.reference[np.newaxis, :]
        f1: Floats = 2 * precision * recall / (precision + recall)
    return np.where(pairs.hits > 0, f1, 0.0)


def _union(ordinals: Sequence[Ints]) -> Ints:
    """All dates of all references, rising."""
    return ordinals[0] if len(ordinals) == 1 else np.unique(np.concatenate(ordinals))
