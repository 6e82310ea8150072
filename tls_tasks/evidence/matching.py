"""The overlap of two quoted spans by words, and objects matched one to one: greedily, or as many as possible."""

import string
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple
from unicodedata import category

import numpy as np
from numpy.typing import NDArray

from tls_tasks.evidence.types import EvidenceObject
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import unicode_words, whitespace_words


def _bare_words(text: str) -> list[str]:
    """Lower-case words between blanks without punctuation at their ends; words of punctuation alone are dropped.

    Example:
        >>> _bare_words("“Seemed” half-asleep … today.")
        ['seemed', 'half-asleep', 'today']
    """
    return [bare for word in whitespace_words(text) if (bare := _bare(word))]


TOKENIZERS: Mapping[str, Tokenizer] = {
    "whitespace": whitespace_words,
    "strip_punct": _bare_words,
    "unicode": unicode_words,
}
"""The tokenisers by name: words between blanks, the same without punctuation at their ends, words of any script."""


@lru_cache(maxsize=10_000)
def _bare(word: str) -> str:
    return word.strip("".join(mark for mark in word if mark in string.punctuation or category(mark)[0] == "P"))


def _word_set(words: Sequence[Hashable]) -> frozenset[Hashable]:
    """The set of the words; having none is a word of its own, so that two spans without words are alike."""
    return frozenset(words or (None,))


def _jaccard(left: frozenset[Hashable], right: frozenset[Hashable]) -> float:
    common = len(left & right)
    return common / (len(left) + len(right) - common)


class Match(NamedTuple):
    """Two matched objects: their positions in the reference and in the prediction, and their overlap."""

    reference: int
    prediction: int
    overlap: float


_Span = tuple[int, frozenset[Hashable]]  # an object's position in the document, and the words of its span


@dataclass(frozen=True, slots=True)
class Matcher:
    """How the objects of a corpus are matched.

    Attributes:
        words: Splits a span into words.
        threshold: The least overlap of a match: words in common, of all words, as sets (Jaccard).
        how: ``greedy``: the pair of greatest overlap first, of equal ones that of the lowest reference position, then
            that of the lowest prediction position. ``optimal``: as many matches as possible, then the greatest sum of
            overlaps, then the lowest positions, in order.

    Example:
        >>> def objects(*spans):
        ...     return [EvidenceObject("food", span) for span in spans]
        >>> for how in MATCHINGS:
        ...     matcher = Matcher(str.split, 0.5, how)
        ...     [match[:2] for match in matcher.match(objects("a b", "c d"), objects("a b c d", "a b x y"))]
        [(0, 0)]
        [(0, 1), (1, 0)]
    """

    words: Tokenizer
    threshold: float
    how: str

    def match(self, wanted: Sequence[EvidenceObject], predicted: Sequence[EvidenceObject]) -> list[Match]:
        """Match the objects of one document.

        Args:
            wanted: The reference objects. Objects without domain or span are never matched.
            predicted: The predicted objects, likewise. What an object lacks beyond these two has no influence: it is
                counted where attributes are compared.

        Returns:
            The matches, in the order of the reference.
        """
        predicted_in = self._by_domain(predicted)
        matches: list[Match] = []
        for domain, references in self._by_domain(wanted).items():
            if predictions := predicted_in.get(domain):
                pairs = (_jaccard(left, right) for _, left in references for _, right in predictions)
                overlaps = np.fromiter(pairs, float).reshape(len(references), len(predictions))
                for row, column in MATCHINGS[self.how](overlaps, self.threshold):
                    matches.append(Match(references[row][0], predictions[column][0], float(overlaps[row, column])))
        return sorted(matches)

    def _by_domain(self, objects: Sequence[EvidenceObject]) -> dict[str, list[_Span]]:
        domains: dict[str, list[_Span]] = {}
        for position, entry in enumerate(objects):
            if entry.domain is not None and entry.span is not None:
                span = position, _word_set(self.words(entry.span))
                domains.setdefault(entry.domain, []).append(span)
        return domains


def _greedy(overlaps: NDArray[np.float64], threshold: float) -> Iterator[tuple[int, int]]:
    """The pair of greatest overlap first; a stable sort takes equal ones by row, then by column."""
    n_columns = overlaps.shape[1]
    n_enough = np.count_nonzero(overlaps >= threshold)
    rows: set[int] = set()
    columns: set[int] = set()
    for place in np.argsort(-overlaps, axis=None, kind="stable")[:n_enough]:
        row, column = divmod(int(place), n_columns)
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            yield row, column


def _optimal(overlaps: NDArray[np.float64], threshold: float) -> Iterator[tuple[int, int]]:
    """The cheapest one-to-one assignment."""
    from scipy.optimize import linear_sum_assignment  # takes longer to import than most corpora take to match

    n_rows, n_columns = overlaps.shape
    row, column = np.ogrid[:n_rows, :n_columns]
    # Of equally good choices take the lowest positions, in order; too little to outweigh a difference of overlaps.
    tie = (row * n_columns + column - row * column / overlaps.size) / overlaps.size
    # A match costs 1 to 2, a pair that overlaps too little more than all matches together can differ.
    costs = np.where(overlaps >= threshold, 2 - overlaps + 1e-8 * tie, 2.0 * n_rows + 3)
    for row, column in zip(*linear_sum_assignment(costs), strict=True):
        if overlaps[row, column] >= threshold:
            yield row, column


MATCHINGS: Mapping[str, Callable[..., Iterator[tuple[int, int]]]] = {"greedy": _greedy, "optimal": _optimal}
"""Name -> how (overlaps, the least overlap of a match) become pairs of a row and a column."""
