"""How many words every predicted day shares with every reference day, counted all at once.

The obvious way is to count n-grams for one pair of days at a time; ``tests/timelines/slow_alignment_rouge.py`` does so
and is the oracle of this module. Here, all days of a prediction and its references become rows of sparse matrices, and
one product gives the counts of all pairs.

ROUGE clips counts, and a minimum is not a product. So the k-th occurrence of a word in a day has a column of its own: a
day with *police* twice has 1 under (police, 1) and (police, 2), and the product of two such rows is the clipped count.
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

from tls_tasks.core.prf import Counts
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.timelines.types import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

# Up to this many multiplications dense matrices are faster: building a sparse one takes longer than the product. Long
# timelines need sparse ones, for time and memory.
_DENSE_WORK = 1 << 20

_PUNCTUATION = frozenset(
    string.punctuation[start:end] for start in range(33) for end in range(start, 33)
)  # all substrings of string.punctuation, the empty one included: tilse asks ``word in string.punctuation``


@dataclass(frozen=True, slots=True)
class Words:
    """The numbered words of a timeline.

    Attributes:
        days: The position of each word's day in the timeline, shape (N,).
        keys: Each word's number, shape (N,), in the order of the text.
        n_days: How many days the timeline has.
    """

    days: Ints
    keys: Ints
    n_days: int


@dataclass(frozen=True, slots=True)
class EncodedTimeline:
    """A timeline whose words have been numbered, once for all references that it is compared with.

    Attributes:
        ordinals: The dates as day numbers, shape (n_days,), ascending.
        counted: The words that ROUGE counts.
        content: The whitespace-separated words by which tilse judges how similar two days are.
    """

    ordinals: Ints
    counted: Words
    content: Words


class Encoder:
    """Numbers the words of timelines that are to be compared with each other.

    Args:
        tokenizer: One sentence -> the words that ROUGE counts.
        content_tokenizer: One sentence -> the words that weigh the alignment, :func:`content_words` in tilse.
    """

    def __init__(self, tokenizer: Tokenizer, content_tokenizer: Tokenizer) -> None:
        self._tokenizer, self._content_tokenizer = tokenizer, content_tokenizer
        self._numbers: dict[str, int] = {}
        self._content_numbers: dict[str, int] = {}

    def encode(self, timeline: Timeline) -> EncodedTimeline:
        """Number all words of a timeline."""
        return EncodedTimeline(
            ordinals=np.array([entry.date.toordinal() for entry in timeline], dtype=np.int64),
            counted=_words(timeline, self._tokenizer, self._numbers),
            content=_words(timeline, self._content_tokenizer, self._content_numbers),
        )


def content_words(sentence: str) -> list[str]:
    """The words by which tilse weighs an alignment.

    Split at whitespace, case kept, without the words that are a substring of ``string.punctuation``.

    Example:
        >>> content_words("Police , again , clash .")
        ['Police', 'again', 'clash']
    """
    return [word for word in sentence.split() if word not in _PUNCTUATION]


def _words(timeline: Timeline, tokenizer: Tokenizer, numbers: dict[str, int]) -> Words:
    """The words of a timeline; a word that ``numbers`` lacks gets the next number."""
    words: list[str] = []
    lengths = []
    for entry in timeline.entries:
        before = len(words)
        for sentence in entry.sentences:
            words += tokenizer(sentence)
        lengths.append(len(words) - before)
    days = np.arange(len(timeline), dtype=np.int64).repeat(lengths) if lengths else np.zeros(0, dtype=np.int64)
    new = dict.fromkeys(words).keys() - numbers.keys()
    numbers.update(zip(new, itertools.count(len(numbers)), strict=False))
    keys = np.fromiter(map(numbers.__getitem__, words), dtype=np.int64, count=len(words))
    return Words(days, keys, len(timeline))


@dataclass(frozen=True, slots=True)
class Overlap:
    """Everything that any variant needs to know about one prediction and its K references.

    K is the number of references scored jointly, 1 if they are scored one at a time. P is the number of dates of the
    prediction, R that of all references together.

    Attributes:
        predicted_ordinals: Shape (P,), ascending.
        reference_ordinals: Shape (R,), ascending.
        hits: For n = 1 and 2 the clipped hits of each pair of days, summed over the references, shape (P, R).
        predicted: For n = 1 and 2 the n-grams of each predicted day times K, shape (P,).
        reference: For n = 1 and 2 the n-grams of each reference day, summed over the references, shape (R,).
        concat: For n = 1 and 2 the counts of the concatenated texts.
        content_f1: How similar two days are, by tilse's approximation of ROUGE-1, in [0, 1], shape (P, R).
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
    ordinals = np.unique(np.concatenate([reference.ordinals for reference in references]))
    rows = [np.searchsorted(ordinals, reference.ordinals) for reference in references]
    counted = _on_common_days(rows, [reference.counted for reference in references], len(ordinals))
    running = _bigrams([prediction.counted, *counted])
    words, bigrams = (
        _compare(prediction.counted, counted),
        _compare(*_within_days(prediction.counted, counted, running)),
    )
    content = _on_common_days(rows, [reference.content for reference in references], len(ordinals))
    return Overlap(
        predicted_ordinals=prediction.ordinals,
        reference_ordinals=ordinals,
        hits=(words.hits, bigrams.hits),
        predicted=(words.predicted, bigrams.predicted),
        reference=(words.reference, bigrams.reference),
        concat=(
            _concat(prediction.counted.keys, [reference.keys for reference in counted]),
            _concat(running[0], running[1:]),
        ),
        content_f1=_f1(_compare(prediction.content, content)),
    )


def _on_common_days(rows: Sequence[Ints], references: Sequence[Words], n_days: int) -> list[Words]:
    """The references, with days as positions in the union of all their dates."""
    return [Words(row[words.days], words.keys, n_days) for row, words in zip(rows, references, strict=True)]


def _bigrams(texts: Sequence[Words]) -> list[Ints]:
    """Each text's pairs of neighbouring words, across days too, with the same numbers in all texts."""
    pairs = [(words.keys[:-1] << 32) | words.keys[1:] for words in texts]
    _, numbers = np.unique(np.concatenate(pairs), return_inverse=True)
    return np.split(numbers, np.cumsum([len(pair) for pair in pairs])[:-1])


def _within_days(prediction: Words, references: Sequence[Words], running: Sequence[Ints]) -> tuple[Words, list[Words]]:
    """The bigrams within days, as words of their own."""
    first, *rest = (
        Words(words.days[1:][inside], pairs[inside], words.n_days)
        for words, pairs in zip([prediction, *references], running, strict=True)
        for inside in [words.days[:-1] == words.days[1:]]
    )
    return first, rest


@dataclass(frozen=True, slots=True)
class _Comparison:
    hits: Floats
    predicted: Ints
    reference: Ints


def _compare(prediction: Words, references: Sequence[Words]) -> _Comparison:
    """Clipped hits of each pair of days and totals of each day, summed over the references."""
    shape = prediction.n_days, references[0].n_days
    hits: Floats = np.zeros(shape)
    totals: Ints = np.zeros(shape[1], dtype=np.int64)
    for reference in references:
        totals += np.bincount(reference.days, minlength=shape[1])
        hits += _clipped_hits(prediction, reference)
    return _Comparison(hits, np.bincount(prediction.days, minlength=shape[0]) * len(references), totals)


def _clipped_hits(left: Words, right: Words) -> Floats:
    """The clipped number of common words of each pair of days, shape (left days, right days)."""
    n_keys = 1 + max(left.keys.max(initial=-1), right.keys.max(initial=-1))
    left_columns, right_columns = _columns(left, n_keys), _columns(right, n_keys)
    width = 1 + max(left_columns.max(initial=-1), right_columns.max(initial=-1))
    shared = _occurring(left_columns, width) & _occurring(right_columns, width)
    renumbered, n_shared = np.cumsum(shared) - 1, int(np.count_nonzero(shared))
    dense = left.n_days * right.n_days * n_shared <= _DENSE_WORK
    one, other = (
        (_dense if dense else _sparse)(words.days[kept], renumbered[columns[kept]], words.n_days, n_shared)
        for words, columns in ((left, left_columns), (right, right_columns))
        for kept in [shared[columns]]
    )
    # Not `@` for dense matrices: the threads of a BLAS cost more than they gain here, above all on shared cores.
    hits: Floats = np.einsum("ik,jk->ij", one, other) if dense else (one @ other.T).toarray()
    return hits


def _columns(words: Words, n_keys: int) -> Ints:
    """A column for each (key, how often it has occurred in its day so far)."""
    places = words.days * n_keys + words.keys
    order = np.argsort(places, kind="stable")
    in_order = places[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = in_order[1:] != in_order[:-1]
    positions = np.arange(len(order), dtype=np.int64)
    occurrence = np.empty_like(positions)
    occurrence[order] = positions - np.maximum.accumulate(np.where(starts, positions, 0))
    return words.keys + occurrence * n_keys


def _occurring(columns: Ints, width: int) -> npt.NDArray[np.bool_]:
    found = np.zeros(width, dtype=bool)
    found[columns] = True
    return found


def _dense(days: Ints, columns: Ints, n_days: int, width: int) -> npt.NDArray[np.float32]:
    """A matrix with 1 at each (day, column); float32 counts exactly up to 16 million."""
    matrix = np.zeros((n_days, width), dtype=np.float32)
    matrix[days, columns] = 1
    return matrix


def _sparse(days: Ints, columns: Ints, n_days: int, width: int) -> Any:
    """The same as a sparse matrix."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(days, minlength=n_days))])
    return sparse.csr_matrix((np.ones(len(columns)), columns, starts), shape=(n_days, width))


def _concat(prediction: Ints, references: Sequence[Ints]) -> Counts:
    """The counts of concatenated texts."""
    n_keys = 1 + max(keys.max(initial=-1) for keys in (prediction, *references))
    offered = np.bincount(prediction, minlength=n_keys)
    hits = sum(int(np.minimum(offered, np.bincount(keys, minlength=n_keys)).sum()) for keys in references)
    return Counts(hits, len(prediction) * len(references), hits, sum(len(keys) for keys in references))


def _f1(pairs: _Comparison) -> Floats:
    """F1 of each pair of days, 0 if they share nothing; in tilse's order of operations, so that ties stay ties."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = pairs.hits / pairs.predicted[:, np.newaxis]
        recall = pairs.hits / pairs.reference[np.newaxis, :]
        f1: Floats = 2 * precision * recall / (precision + recall)
    return np.where(pairs.hits > 0, f1, 0.0)
