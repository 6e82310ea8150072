"""How many words and word pairs each predicted day shares with each reference day.

The obvious way is to count n-grams for one pair of days at a time; ``tests/timelines/slow_alignment_rouge.py`` does so
and is the oracle of this module. Here the days of both sides become rows of two sparse matrices, whose product gives
the counts of all pairs. ROUGE clips counts, and a minimum is not a product. So the k-th occurrence of a word in a day
has a column of its own: a day with *police* twice has 1 under (police, 1) and (police, 2), and the product of two such
rows is the clipped count.
"""

from __future__ import annotations

import string
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from tls_tasks.core.prf import Counts
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
        by_day = [[list(counted(sentence)) for sentence in entry.sentences] for entry in timeline]
        rouge_words = [list(chain.from_iterable(sentences)) for sentences in by_day]
        if content is counted:
            return cls(ordinals, rouge_words, rouge_words)
        weighing = [[word for sentence in entry.sentences for word in content(sentence)] for entry in timeline]
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
