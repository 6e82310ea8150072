"""Match predicted and reference objects one to one: greedily by decreasing overlap, or as many as possible."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from tls_tasks.evidence.overlap import Overlap
from tls_tasks.evidence.types import EvidenceObject, EvidenceSchema
from tls_tasks.text.rouge155 import Tokenizer

MATCHINGS = ("greedy", "optimal")


class Match(NamedTuple):
    """Two matched objects: their positions in the reference and in the prediction, and their overlap."""

    reference: int
    prediction: int
    overlap: float


# What is compared of an object: its position in the document, and the words of its span as the measure of overlap wants
# them.
_Span = tuple[int, Any]

# Overlap -> position in the reference -> the positions in the prediction with that overlap, ascending.
_Candidates = Mapping[float, Mapping[int, Sequence[int]]]
_Numbers = defaultdict[Hashable, int]  # a document's words, numbered as they come


@dataclass(frozen=True, slots=True)
class Matcher:
    """How the objects of a corpus are matched.

    Attributes:
        schema: What the objects may hold.
        overlap: Measures how similar two spans are.
        words: Splits a span into words.
        threshold: The least overlap of a match, if the measure is graded.
        how: ``greedy``: the pair of greatest overlap first, of equal ones that of the lowest reference position, then
            that of the lowest prediction position. ``optimal``: as many matches as possible, then the greatest sum of
            overlaps, then the lowest positions, in order.

    Example:
        >>> from tls_tasks.evidence.overlap import OVERLAPS
        >>> schema = EvidenceSchema("spans", ("food",))
        >>> def objects(*spans):
        ...     return [EvidenceObject("food", span) for span in spans]
        >>> for how in MATCHINGS:
        ...     matcher = Matcher(schema, OVERLAPS["jaccard"], str.split, 0.5, how)
        ...     [match[:2] for match in matcher.match(objects("a b", "c d"), objects("a b c d", "a b x y"))]
        [(0, 0)]
        [(0, 1), (1, 0)]
    """

    schema: EvidenceSchema
    overlap: Overlap
    words: Tokenizer
    threshold: float
    how: str

    def match(
        self,
        wanted: Sequence[EvidenceObject | None],
        predicted: Sequence[EvidenceObject | None],
        *,
        across_domains: bool = False,
    ) -> list[Match]:
        """Match the objects of one document.

        Args:
            wanted: The reference objects; None stands for an object that must not be matched. Objects without domain or
                span are never matched.
            predicted: The predicted objects, likewise. What an object lacks beyond these two has no influence: it is
                counted where attributes are compared.
            across_domains: Whether to ignore domains.

        Returns:
            The matches, in the order of the reference.
        """
        solve = _greedy if self.how == "greedy" else _optimal
        numbers: _Numbers = defaultdict(count().__next__)
        predicted_in = self._by_domain(predicted, numbers, across_domains)
        matches: list[Match] = []
        for domain, left in self._by_domain(wanted, numbers, across_domains).items():
            if domain in predicted_in:
                matches += solve(self._candidates(left, predicted_in[domain]))
        return sorted(matches)

    def _by_domain(
        self, objects: Sequence[EvidenceObject | None], numbers: _Numbers, across_domains: bool
    ) -> dict[str, list[_Span]]:
        domains: dict[str, list[_Span]] = {}
        words_of, key_of = self.words, self.overlap.key
        for position, entry in enumerate(objects):
            if entry is None:
                continue
            domain, span = entry[:2]
            if domain is not None and span is not None:
                found = position, key_of(words_of(span), numbers)
                domains.setdefault("" if across_domains else domain, []).append(found)
        return domains

    def _candidates(self, left: Sequence[_Span], right: Sequence[_Span]) -> _Candidates:
        """All pairs that may be matched; nested, so that a pair costs eight bytes and only overlaps are sorted."""
        threshold = self.threshold if self.overlap.is_graded else 1.0
        value = self.overlap.value
        found: dict[float, dict[int, list[int]]] = {}
        for reference, wanted in left:
            row: dict[float, list[int]] = {}
            for prediction, predicted in right:
                overlap = value(wanted, predicted)
                if overlap >= threshold:
                    row.setdefault(overlap, []).append(prediction)
            for overlap, predictions in row.items():
                found.setdefault(overlap, {})[reference] = predictions
        return found


def _greedy(candidates: _Candidates) -> Iterator[Match]:
    taken: set[int] = set()
    used: set[int] = set()
    for overlap in sorted(candidates, reverse=True):
        for reference, predictions in candidates[overlap].items():
            if reference not in taken:
                free = next((position for position in predictions if position not in used), None)
                if free is not None:
                    taken.add(reference)
                    used.add(free)
                    yield Match(reference, free, overlap)


def _optimal(candidates: _Candidates) -> Iterator[Match]:
    """Pairs without competition are matched at once, the others by scipy."""
    pairs = [
        Match(reference, prediction, overlap)
        for overlap, rows in candidates.items()
        for reference, predictions in rows.items()
        for prediction in predictions
    ]
    n_predictions = Counter([pair.reference for pair in pairs])
    n_references = Counter([pair.prediction for pair in pairs])
    contested = []
    for pair in pairs:
        if n_predictions[pair.reference] == n_references[pair.prediction] == 1:
            yield pair
        else:
            contested.append(pair)
    if contested:
        yield from _assigned(contested)


def _assigned(pairs: Sequence[Match]) -> Iterator[Match]:
    """The best one-to-one choice of pairs: a sparse assignment in which reference objects may stay unmatched."""
    import numpy as np
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    references, predictions, overlaps = map(np.array, zip(*pairs, strict=True))
    rows, row = np.unique(references, return_inverse=True)
    columns, column = np.unique(predictions, return_inverse=True)
    n_rows, n_columns = len(rows), len(columns)
    # Of equally good choices take the lowest positions, in order; too little to outweigh a difference of overlaps.
    tie = (row * n_columns + column - row * column / (n_rows * n_columns)) / (n_rows * n_columns)
    # A match costs 1 to 2; staying unmatched costs more than the costs of all matches together can differ.
    cost = np.concatenate([2 - overlaps + 1e-8 * tie, np.full(n_rows, 2.0 * n_rows + 3)])
    places = np.arange(n_rows)
    where = np.concatenate([row, places]), np.concatenate([column, n_columns + places])
    table = coo_matrix((cost, where), shape=(n_rows, n_columns + n_rows)).tocsr()
    partner = np.empty(n_rows, dtype=np.int64)
    matched_rows, matched_columns = min_weight_full_bipartite_matching(table)
    partner[matched_rows] = matched_columns
    yield from (pair for pair, is_chosen in zip(pairs, partner[row] == column, strict=True) if is_chosen)
