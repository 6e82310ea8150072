"""How many words predicted days share with reference days, counted for many pairs of days at once.

The obvious way is to count n-grams for one pair of days at a time; ``tests/timelines/slow_alignment_rouge.py`` does so
and is the oracle of this module. Here, all days of a prediction and its references become rows of matrices. Their
product gives the counts of all pairs, which only the weights of an alignment need; what ROUGE counts is looked up for
the pairs that were aligned.

ROUGE clips counts, and a minimum is not a product. So the k-th occurrence of a word in a day has a column of its own: a
day with *police* twice has 1 under (police, 1) and (police, 2), and the product of two such rows is the clipped count.
"""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, filterfalse
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tls_tasks.core.prf import Counts
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.timelines.types import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_Numbers = dict[str | None, int]

# Up to this many multiplications dense matrices are faster: building a sparse one takes longer than the product. Long
# timelines need sparse ones, for time and memory.
_DENSE_WORK = 1 << 20
_BLOCK = 1 << 18  # of a large matrix so many numbers are worked on at a time, which keeps what lies between small

_PUNCTUATION = frozenset(
    string.punctuation[start:end] for start in range(33) for end in range(start, 33)
)  # all substrings of string.punctuation, the empty one included: tilse asks ``word in string.punctuation``


@dataclass(frozen=True, slots=True)
class _Words:
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
class _EncodedTimeline:
    """A timeline whose words have been numbered, once for all references that it is compared with.

    Attributes:
        ordinals: The dates as day numbers, shape (n_days,), ascending.
        counted: The words that ROUGE counts.
        content: The whitespace-separated words by which tilse judges how similar two days are.
    """

    ordinals: Ints
    counted: _Words
    content: _Words


class Encoder:
    """Numbers the words of timelines that are to be compared with each other.

    Args:
        tokenizer: One sentence -> the words that ROUGE counts.
        content_tokenizer: One sentence -> the words that weigh the alignment, :func:`content_words` in tilse.
        between: The two of them for many texts without ``<`` at once, with NUL as a word between them; None: there is
            no such thing.
    """

    def __init__(
        self, tokenizer: Tokenizer, content_tokenizer: Tokenizer, between: tuple[Tokenizer, Tokenizer] | None = None
    ) -> None:
        self._tokenizers = tokenizer, content_tokenizer
        self._between = between
        self._numbers: tuple[_Numbers, ...] = defaultdict(count().__next__), defaultdict(count().__next__)

    def encode(self, timeline: Timeline) -> _EncodedTimeline:
        """Number all words of a timeline."""
        ordinals = np.array([entry.date.toordinal() for entry in timeline], dtype=np.int64)
        if self._between:
            text = " \0 ".join(" ".join(entry.sentences) for entry in timeline)
            if "<" not in text and text.count("\0") == len(timeline) - 1:  # else one sentence at a time
                read = zip(self._between, self._numbers, strict=True)
                return _EncodedTimeline(
                    ordinals, *(_words(tokenizer(text), "\0", numbers, len(timeline)) for tokenizer, numbers in read)
                )
        read = zip(self._tokenizers, self._numbers, strict=True)
        return _EncodedTimeline(
            ordinals,
            *(_words(_separated(timeline, tokenizer), None, numbers, len(timeline)) for tokenizer, numbers in read),
        )


def content_words(sentence: str) -> list[str]:
    """The words by which tilse weighs an alignment.

    Split at whitespace, case kept, without the words that are a substring of ``string.punctuation``.

    Example:
        >>> content_words("Police , again , clash .")
        ['Police', 'again', 'clash']
    """
    return list(filterfalse(_PUNCTUATION.__contains__, sentence.split()))


def _separated(timeline: Timeline, tokenizer: Tokenizer) -> list[str | None]:
    """The words of a timeline, with None between days."""
    words: list[str | None] = []
    for entry in timeline:
        for sentence in entry.sentences:
            words += tokenizer(sentence)
        words.append(None)
    return words[:-1]


def _words(words: Sequence[str | None], separator: str | None, numbers: _Numbers, n_days: int) -> _Words:
    """Words by their numbers; one that has none gets the next."""
    keys = np.fromiter(map(numbers.__getitem__, words), dtype=np.int64, count=len(words))
    ends = keys == numbers[separator]
    return _Words(np.cumsum(ends)[~ends], keys[~ends], n_days)


class Comparison:
    """The words that the days of one prediction and its K references share.

    Attributes:
        predicted: The words of each predicted day times K, shape (P,).
        reference: The words of each reference day, summed over the references, shape (R,).
        totals: The sums of both.
    """

    def __init__(self, prediction: _Words, references: Sequence[_Words]) -> None:
        n_days = references[0].n_days
        self.predicted: Ints = np.bincount(prediction.days, minlength=prediction.n_days) * len(references)
        self.reference: Ints = np.sum([np.bincount(own.days, minlength=n_days) for own in references], axis=0)
        self.totals = len(prediction.keys) * len(references), sum(len(reference.keys) for reference in references)
        self._matrices = [_shared(prediction, reference) for reference in references]

    def hits(self, predicted: Ints, reference: Ints) -> Floats:
        """The clipped hits of pairs of days, summed over the references.

        Args:
            predicted: Positions of the predicted days, shape (N,).
            reference: Positions of the reference days, shape (N,).
        """
        hits: Floats = np.zeros(len(predicted))
        for one, other in self._matrices:
            if isinstance(one, np.ndarray):
                hits += np.einsum("ij,ij->i", one[predicted], other[reference])
            else:
                hits += one[predicted].multiply(other[reference]).sum(axis=1).A1
        return hits

    def f1(self) -> Floats:
        """F1 of each pair of days, 0 if they share nothing, shape (P, R)."""
        shape = len(self.predicted), len(self.reference)
        f1: Floats = np.zeros(shape)
        turned = [other.T if isinstance(other, np.ndarray) else other.T.tocsr() for _, other in self._matrices]
        step = max(1, _BLOCK // max(1, shape[1]))
        for start in range(0, shape[0], step):
            rows = slice(start, start + step)
            # Not `@` for dense matrices: the threads of a BLAS cost more than they gain, above all on shared cores.
            hits = sum(
                np.einsum("ik,kj->ij", one[rows], other)
                if isinstance(one, np.ndarray)
                else (one[rows] @ other).toarray()
                for (one, _), other in zip(self._matrices, turned, strict=True)
            )
            # In tilse's order of operations, so that ties stay ties.
            with np.errstate(divide="ignore", invalid="ignore"):
                precision = hits / self.predicted[rows, np.newaxis]
                recall = hits / self.reference
                np.divide(2 * precision * recall, precision + recall, out=f1[rows], where=hits > 0)
        return f1


@dataclass(frozen=True, slots=True)
class Overlap:
    """Everything that any variant needs to know about one prediction and its K references.

    K is the number of references scored jointly, 1 if they are scored one at a time. P is the number of dates of the
    prediction, R that of all references together.

    Attributes:
        predicted_ordinals: Shape (P,), ascending.
        reference_ordinals: Shape (R,), ascending.
        ngrams: For n = 1 and 2 what each pair of days shares.
        concat: For n = 1 and 2 the counts of the concatenated texts.
        content_f1: How similar two days are, by tilse's approximation of ROUGE-1, in [0, 1], shape (P, R).
    """

    predicted_ordinals: Ints
    reference_ordinals: Ints
    ngrams: tuple[Comparison, Comparison]
    concat: tuple[Counts, Counts]
    content_f1: Floats


def overlap(prediction: _EncodedTimeline, references: Sequence[_EncodedTimeline]) -> Overlap:
    """Compare a prediction with its references, taken jointly.

    Args:
        prediction: P days.
        references: One or more timelines, encoded by the same encoder; R different days in all.
    """
    ordinals = np.unique(np.concatenate([reference.ordinals for reference in references]))
    rows = [np.searchsorted(ordinals, reference.ordinals) for reference in references]
    counted = _on_common_days(rows, [reference.counted for reference in references], len(ordinals))
    running = _bigrams([prediction.counted, *counted])
    content = _on_common_days(rows, [reference.content for reference in references], len(ordinals))
    return Overlap(
        predicted_ordinals=prediction.ordinals,
        reference_ordinals=ordinals,
        ngrams=(
            Comparison(prediction.counted, counted),
            Comparison(*_within_days(prediction.counted, counted, running)),
        ),
        concat=(
            _concat(prediction.counted.keys, [reference.keys for reference in counted]),
            _concat(running[0], running[1:]),
        ),
        content_f1=Comparison(prediction.content, content).f1(),
    )


def _on_common_days(rows: Sequence[Ints], references: Sequence[_Words], n_days: int) -> list[_Words]:
    """The references, with days as positions in the union of all their dates."""
    return [_Words(row[words.days], words.keys, n_days) for row, words in zip(rows, references, strict=True)]


def _bigrams(texts: Sequence[_Words]) -> list[Ints]:
    """Each text's pairs of neighbouring words, across days too, with the same numbers in all texts."""
    pairs = [(words.keys[:-1] << 32) | words.keys[1:] for words in texts]
    _, numbers = np.unique(np.concatenate(pairs), return_inverse=True)
    return np.split(numbers, np.cumsum([len(pair) for pair in pairs])[:-1])


def _within_days(
    prediction: _Words, references: Sequence[_Words], running: Sequence[Ints]
) -> tuple[_Words, list[_Words]]:
    """The bigrams within days, as words of their own."""
    first, *rest = (
        _Words(words.days[1:][inside], pairs[inside], words.n_days)
        for words, pairs in zip([prediction, *references], running, strict=True)
        for inside in [words.days[:-1] == words.days[1:]]
    )
    return first, rest


def _shared(left: _Words, right: _Words) -> tuple[Any, Any]:
    """Two matrices, one row a day, whose rows' products are the clipped numbers of common words."""
    days = np.concatenate([left.days, right.days + left.n_days])
    columns, width = _columns(days, np.concatenate([left.keys, right.keys]))
    sides = np.split(columns, [len(left.keys)])
    shared = _occurring(sides[0], width) & _occurring(sides[1], width)
    renumbered, n_shared = np.cumsum(shared) - 1, int(np.count_nonzero(shared))
    matrix = _dense if left.n_days * right.n_days * n_shared <= _DENSE_WORK else _sparse
    one, other = (
        matrix(words.days[kept], renumbered[side[kept]], words.n_days, n_shared)
        for words, side in zip((left, right), sides, strict=True)
        for kept in [shared[side]]
    )
    return one, other


def _columns(days: Ints, keys: Ints) -> tuple[Ints, int]:
    """A column for each (key, how often it has occurred in its day so far), and how many columns there may be."""
    n_keys = 1 + int(keys.max(initial=-1))
    places = days * n_keys + keys
    order = np.argsort(places, kind="stable")
    in_order = places[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = in_order[1:] != in_order[:-1]
    positions = np.arange(len(order), dtype=np.int64)
    occurrence = np.empty_like(positions)
    occurrence[order] = positions - np.maximum.accumulate(np.where(starts, positions, 0))
    return keys + occurrence * n_keys, n_keys * (1 + int(occurrence.max(initial=0)))


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
    return sparse.csr_matrix((np.ones(len(columns), dtype=np.float32), columns, starts), shape=(n_days, width))


def _concat(prediction: Ints, references: Sequence[Ints]) -> Counts:
    """The counts of concatenated texts."""
    n_keys = 1 + max(keys.max(initial=-1) for keys in (prediction, *references))
    offered = np.bincount(prediction, minlength=n_keys)
    hits = sum(int(np.minimum(offered, np.bincount(keys, minlength=n_keys)).sum()) for keys in references)
    return Counts(hits, len(prediction) * len(references), hits, sum(len(keys) for keys in references))
