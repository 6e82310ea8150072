"""One-to-one matching of objects by the word overlap of their quoted spans: greedy or optimal."""

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
    """Return lower-case words between blanks without punctuation at their ends; pure punctuation is dropped.

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
"""Name -> tokeniser: words between blanks, the same without punctuation at their ends, words of any script."""


@lru_cache(maxsize=10_000)
def _bare(word: str) -> str:
    return word.strip("".join(mark for mark in word if mark in string.punctuation or category(mark)[0] == "P"))


def _jaccard(a: frozenset[Hashable], b: frozenset[Hashable]) -> float:
    common = len(a & b)
    return common / (len(a) + len(b) - common)


class Match(NamedTuple):
    """Two matched objects: their indices in the reference and in the prediction, and their overlap."""

    reference: int
    prediction: int
    overlap: float


_Span = tuple[int, frozenset[Hashable]]  # (index of an object in its document, set of the words that it quotes)


@dataclass(frozen=True, slots=True)
class Matcher:
    """The settings by which objects are matched.

    Attributes:
        words: Splits a span into words.
        threshold: The least Jaccard overlap of a match: distinct words in both spans / in either.
        strategy: ``greedy``: the pair of greatest overlap first, ties by the lowest reference index, then by the lowest
            prediction index. ``optimal``: as many matches as possible, then the greatest sum of overlaps, then the
            lowest indices.

    Example:
        >>> def objects(*spans):
        ...     return [EvidenceObject("food", span) for span in spans]
        >>> for strategy in MATCHINGS:
        ...     matcher = Matcher(str.split, 0.5, strategy)
        ...     [match[:2] for match in matcher.match(objects("a b", "c d"), objects("a b c d", "a b x y"))]
        [(0, 0)]
        [(0, 1), (1, 0)]
    """

    words: Tokenizer
    threshold: float
    strategy: str

    def match(self, gold: Sequence[EvidenceObject], predicted: Sequence[EvidenceObject]) -> list[Match]:
        """Match the objects of one document.

        Args:
            gold: The reference objects. Objects without domain or span are never matched.
            predicted: The predicted objects, likewise. Attributes have no influence on matches.

        Returns:
            The matches, in the order of the reference.
        """
        predicted_spans = self._group_spans(predicted)
        matches: list[Match] = []
        for domain, references in self._group_spans(gold).items():
            if predictions := predicted_spans.get(domain):
                pairs = (_jaccard(a, b) for _, a in references for _, b in predictions)
                overlaps = np.fromiter(pairs, float).reshape(len(references), len(predictions))
                for row, column in MATCHINGS[self.strategy](overlaps, self.threshold):
                    matches.append(Match(references[row][0], predictions[column][0], float(overlaps[row, column])))
        return sorted(matches)

    def _group_spans(self, objects: Sequence[EvidenceObject]) -> dict[str, list[_Span]]:
        """Return domain -> spans of the objects that have both."""
        domains: dict[str, list[_Span]] = {}
        for index, entry in enumerate(objects):
            if entry.domain is not None and entry.span is not None:
                # None stands for no words, so that two spans without words overlap fully.
                span = index, frozenset(self.words(entry.span) or (None,))
                domains.setdefault(entry.domain, []).append(span)
        return domains


def _greedy(overlaps: NDArray[np.float64], threshold: float) -> Iterator[tuple[int, int]]:
    """Yield (row, column), the greatest overlap first; the stable sort keeps ties in order of row, then column."""
    n_columns = overlaps.shape[1]
    n_enough = np.count_nonzero(overlaps >= threshold)
    rows: set[int] = set()
    columns: set[int] = set()
    for flat_index in np.argsort(-overlaps, axis=None, kind="stable")[:n_enough]:
        row, column = divmod(int(flat_index), n_columns)
        if row not in rows and column not in columns:
            rows.add(row)
            columns.add(column)
            yield row, column


def _optimal(overlaps: NDArray[np.float64], threshold: float) -> Iterator[tuple[int, int]]:
    """Yield (row, column) of the cheapest one-to-one assignment."""
    from scipy.optimize import linear_sum_assignment  # takes longer to import than most corpora take to match

    n_rows, n_columns = overlaps.shape
    row, column = np.ogrid[:n_rows, :n_columns]
    # Ties go to the lowest indices; the term is too small to outweigh a difference of overlaps.
    tie = (row * n_columns + column - row * column / overlaps.size) / overlaps.size
    # A match costs 1 to 2. A pair below the threshold costs more than all matches together can differ.
    costs = np.where(overlaps >= threshold, 2 - overlaps + 1e-8 * tie, 2.0 * n_rows + 3)
    for row, column in zip(*linear_sum_assignment(costs), strict=True):
        if overlaps[row, column] >= threshold:
            yield row, column


MATCHINGS: Mapping[str, Callable[..., Iterator[tuple[int, int]]]] = {"greedy": _greedy, "optimal": _optimal}
"""Name -> function of (overlaps, threshold) that yields (row, column) of each match."""
