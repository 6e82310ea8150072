"""Match predicted and reference objects one to one: greedily by decreasing overlap, or as many as possible."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tls_tasks.evidence.overlap import Overlap
from tls_tasks.evidence.types import EvidenceObject, EvidenceSchema
from tls_tasks.text.rouge155 import Tokenizer

MATCHINGS = ("greedy", "optimal")


class Match(NamedTuple):
    """Two matched objects: their positions in the reference and in the prediction, and their overlap."""

    reference: int
    prediction: int
    overlap: float


_Span = tuple[int, Any]  # an object's position in the document, and what the measure compares of its span


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
        predicted_in = self._by_domain(predicted, across_domains)
        matches: list[Match] = []
        for domain, references in self._by_domain(wanted, across_domains).items():
            if predictions := predicted_in.get(domain):
                matches += self._matches(references, predictions)
        return sorted(matches)

    def _by_domain(self, objects: Sequence[EvidenceObject | None], across_domains: bool) -> dict[str, list[_Span]]:
        domains: dict[str, list[_Span]] = {}
        for position, entry in enumerate(objects):
            if entry is not None and entry.domain is not None and entry.span is not None:
                span = position, self.overlap.key(self.words(entry.span))
                domains.setdefault("" if across_domains else entry.domain, []).append(span)
        return domains

    def _matches(self, references: Sequence[_Span], predictions: Sequence[_Span]) -> Iterator[Match]:
        shape, value = (len(references), len(predictions)), self.overlap.value
        pairs = (value(reference, prediction) for _, reference in references for _, prediction in predictions)
        overlaps = np.fromiter(pairs, float, shape[0] * shape[1]).reshape(shape)
        solve = _greedy if self.how == "greedy" else _optimal
        for row, column in solve(overlaps, self.threshold if self.overlap.is_graded else 1.0):
            yield Match(references[row][0], predictions[column][0], float(overlaps[row, column]))


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
