"""Predicted and reference objects matched one to one: greedily by falling overlap, or as many as possible.

Objects with equal words are one group, so that a page of look-alikes costs no more than a page of different objects.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tls_tasks.evidence.overlap import FEW_PAIRS, Overlap, Row, RowOf
from tls_tasks.evidence.types import EvidenceObject, EvidenceSchema

MATCHINGS = ("greedy", "optimal")


class Match(NamedTuple):
    """Two objects that are matched: their positions in the reference and in the prediction, and their overlap."""

    reference: int
    prediction: int
    overlap: float


# (what of the span is compared, required attributes that the object lacks) -> the positions of such objects, rising
_Groups = dict[tuple[Hashable, frozenset[str]], list[int]]
_Members = Sequence[list[int]]


@dataclass(frozen=True, slots=True)
class Matcher:
    """How the objects of a corpus are matched.

    Attributes:
        schema: What the objects may hold.
        overlap: How alike two spans are.
        threshold: Overlap that a match needs.
        how: ``greedy``: the pair of greatest overlap first, of equal ones that of the lowest reference position, then
            that of the lowest prediction position. ``optimal``: as many matches as possible, then the greatest sum of
            overlaps, then the lowest positions, in order.

    Example:
        >>> from tls_tasks.evidence.overlap import resolve_overlap
        >>> schema = EvidenceSchema("spans", ("food",))
        >>> def objects(*spans):
        ...     return [EvidenceObject("food", span) for span in spans]
        >>> for how in MATCHINGS:
        ...     matcher = Matcher(schema, resolve_overlap("jaccard", "whitespace"), 0.5, how)
        ...     [one[:2] for one in matcher.match(objects("a b", "c d"), objects("a b c d", "a b x y"))]
        [(0, 0)]
        [(0, 1), (1, 0)]
    """

    schema: EvidenceSchema
    overlap: Overlap
    threshold: float
    how: str
    required: dict[str, str] = field(init=False, default_factory=dict)  # issue -> the attribute that is lacking

    def __post_init__(self) -> None:
        """Look up once which issues mean that a required attribute is lacking."""
        for attribute in self.schema.attributes:
            if attribute.default is None:
                self.required.update(
                    dict.fromkeys((f"missing_{attribute.name}", f"misplaced_{attribute.name}"), attribute.name)
                )

    def match(
        self,
        wanted: Sequence[EvidenceObject | None],
        predicted: Sequence[EvidenceObject | None],
        *,
        across_domains: bool = False,
    ) -> list[Match]:
        """Match the objects of one document.

        Args:
            wanted: The reference's objects; None for one that can't be matched. One without domain or span can't be.
            predicted: The predicted ones, likewise. One that lacks a required attribute matches only an object of the
                reference that lacks it too.
            across_domains: Whether all domains are taken as one.

        Returns:
            The matches in the order of the reference.
        """
        solve = _greedy if self.how == "greedy" else _optimal
        wanted_in, predicted_in = self._by_domain(wanted, across_domains), self._by_domain(predicted, across_domains)
        matches: list[Match] = []
        for domain, left in wanted_in.items():
            right = predicted_in.get(domain)
            if right is None:
                continue
            rows, members = self._rows(left, right), (list(left.values()), list(right.values()))
            sole = _uncontested(rows, *members) if len(left) * len(right) <= FEW_PAIRS else None
            matches += solve(rows, *members) if sole is None else sole
        return sorted(matches)

    def _by_domain(self, objects: Sequence[EvidenceObject | None], across_domains: bool) -> dict[str, _Groups]:
        domains: dict[str, _Groups] = {}
        key_of = self.overlap.key
        for position, one in enumerate(objects):
            if one is None:
                continue
            domain, span, _, issues = one
            if domain is None or span is None:
                continue
            lacks = _NOTHING
            if issues:
                lacks = frozenset(self.required[issue] for issue in issues if issue in self.required)
            groups = domains.setdefault("" if across_domains else domain, {})
            groups.setdefault((key_of(span), lacks), []).append(position)
        return domains

    def _rows(self, left: _Groups, right: _Groups) -> RowOf:
        """What each group may be matched with."""
        rows = self.overlap.rows([key for key, _ in left], [key for key, _ in right], self.threshold)
        lefts, rights = [lacks for _, lacks in left], [lacks for _, lacks in right]
        if not any(rights):
            return rows

        def fitting(group: int) -> Row:
            fits = [pair for pair in zip(*rows(group), strict=True) if rights[pair[0]] <= lefts[group]]
            return Row([other for other, _ in fits], [overlap for _, overlap in fits])

        return fitting


_NOTHING: frozenset[str] = frozenset()

KEPT = 64
"""How many of a group's best partners are kept; when they are used up its row is made once more."""

_NO_ONE = sys.maxsize
_Heads = list[int] | NDArray[np.int64]  # the first free member of each group of predictions, or _NO_ONE


def _uncontested(row_of: RowOf, left: _Members, right: _Members) -> list[Match] | None:
    """The matches where no group has a choice, as in most documents; None where one has."""
    matches, used = [], set()
    for group, members in enumerate(left):
        positions, overlaps = row_of(group)
        if not len(positions):
            continue
        if len(positions) > 1 or positions[0] in used:
            return None
        used.add(positions[0])
        partners, overlap = right[positions[0]], float(overlaps[0])
        matches += [Match(*pair, overlap) for pair in zip(members, partners, strict=False)]
    return matches


class _Best(NamedTuple):
    """Those groups of predictions with free members that overlap most with a group of the reference.

    Attributes:
        overlap: Their overlap.
        groups: Of them the :data:`KEPT` whose first free member comes first.
        others_from: No other group of this overlap has a free member before this position.
    """

    overlap: float
    groups: list[int]
    others_from: int


def _greedy(row_of: RowOf, left: _Members, right: _Members) -> Iterator[Match]:
    """The best pair of all, then the best of what is left, and so on.

    A queue holds the best pair of each group of the reference. What is taken meanwhile can only make it worse, so it is
    enough to look again at the pair that comes up. No more than a row is held at a time.
    """
    firsts = [members[0] for members in right]
    heads: _Heads = np.array(firsts) if len(left) * len(right) > FEW_PAIRS else firsts
    best: dict[int, _Best] = {}
    queue: list[tuple[float, int, int]] = []  # overlap with a minus, position in the reference, group

    def enqueue(group: int, position: int) -> None:
        found = _best_of(row_of(group), heads)
        if found is not None:
            best[group] = found
            heappush(queue, (-found.overlap, position, group))

    for group, members in enumerate(left):
        enqueue(group, members[0])
    taken, used = [0] * len(left), [0] * len(right)
    while queue:
        overlap, position, group = heappop(queue)
        partner = min(best[group].groups, key=heads.__getitem__)
        if heads[partner] >= best[group].others_from:
            enqueue(group, position)
            continue
        yield Match(position, int(heads[partner]), -overlap)
        used[partner] += 1
        heads[partner] = right[partner][used[partner]] if used[partner] < len(right[partner]) else _NO_ONE
        taken[group] += 1
        if taken[group] < len(left[group]):
            heappush(queue, (overlap, left[group][taken[group]], group))


def _best_of(row: Row, heads: _Heads) -> _Best | None:
    """None if no group of the row has a free member."""
    if isinstance(heads, list) or not isinstance(row.positions, np.ndarray):
        pairs = [(overlap, int(heads[one]), int(one)) for one, overlap in zip(*row, strict=True)]
        overlap = max((pair[0] for pair in pairs if pair[1] != _NO_ONE), default=None)
        if overlap is None:
            return None
        first = sorted(pair[1:] for pair in pairs if pair[0] == overlap)
        others_from = first[KEPT][0] if len(first) > KEPT else _NO_ONE
        return _Best(overlap, [one for _, one in first[:KEPT]], others_from)
    free = heads[row.positions] != _NO_ONE
    if not free.any():
        return None
    overlaps = np.asarray(row.overlaps)[free]
    top = overlaps.max()
    groups = row.positions[free][overlaps == top]
    if len(groups) > KEPT:
        groups = groups[np.argpartition(heads[groups], KEPT)[: KEPT + 1]]
    ordered = groups[np.argsort(heads[groups])].tolist()
    return _Best(float(top), ordered[:KEPT], int(heads[ordered[KEPT]]) if len(ordered) > KEPT else _NO_ONE)


def _optimal(row_of: RowOf, left: _Members, right: _Members) -> Iterator[Match]:
    """As many matches as possible; what is in nobody's way is matched at once, the rest by scipy."""
    sizes = np.array([len(members) for members in right])
    parts: list[tuple[int, NDArray[np.int64], NDArray[np.float64]]] = []
    for group, members in enumerate(left):
        row = row_of(group)
        if len(row.positions):
            predictions = np.array([position for one in row.positions for position in right[one]])
            overlaps = np.repeat(np.asarray(row.overlaps, dtype=np.float64), sizes[np.asarray(row.positions)])
            parts += [(position, predictions, overlaps) for position in members]
    if not parts:
        return
    references = np.concatenate([np.full(len(predictions), position) for position, predictions, _ in parts])
    predictions = np.concatenate([part[1] for part in parts])
    overlaps = np.concatenate([part[2] for part in parts])
    alone = (np.bincount(references)[references] == 1) & (np.bincount(predictions)[predictions] == 1)
    chosen = alone.copy()
    if not alone.all():
        chosen[~alone] = _assigned(references[~alone], predictions[~alone], overlaps[~alone])
    columns = (column[chosen].tolist() for column in (references, predictions, overlaps))
    yield from map(Match, *columns)


def _assigned(
    references: NDArray[np.int64], predictions: NDArray[np.int64], overlaps: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Which edges the best one-to-one choice takes: a sparse assignment in which a reference object may stay alone."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    rows, row = np.unique(references, return_inverse=True)
    columns, column = np.unique(predictions, return_inverse=True)
    n_rows, n_columns = len(rows), len(columns)
    # Among equal choices the lowest positions, in order: too little to outweigh a difference of overlaps.
    tie = (row * n_columns + column - row * column / (n_rows * n_columns)) / (n_rows * n_columns)
    # A match costs 1 to 2; staying alone costs more than all matches together can differ by.
    cost = np.concatenate([2 - overlaps + 1e-8 * tie, np.full(n_rows, 2.0 * n_rows + 3)])
    places = np.arange(n_rows)
    where = np.concatenate([row, places]), np.concatenate([column, n_columns + places])
    table = coo_matrix((cost, where), shape=(n_rows, n_columns + n_rows)).tocsr()
    partner = np.empty(n_rows, dtype=np.int64)
    matched_rows, matched_columns = min_weight_full_bipartite_matching(table)
    partner[matched_rows] = matched_columns
    taken: NDArray[np.bool_] = partner[row] == column
    return taken
