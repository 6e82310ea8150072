"""What is counted of two trees: nodes, leaves with a value, and the outcome of each leaf."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from tls_tasks.core.score import Columns
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Path, SchemaNode, all_nodes, nodes_of, path_name

NODE_COUNTS = ("node_tp", "node_fp", "node_fn")
LEAF_COUNTS = ("leaf_tp", "leaf_fp", "leaf_fn")
COUNTS = (*NODE_COUNTS, *LEAF_COUNTS)
"""Nodes, and leaves with a value: in both trees, in the prediction only, in the reference only."""

KINDS = ("correct", "wrong", "missed", "invented", "absent")
"""What a leaf can be: right; there with another value; not there though it should be; there though it should not be;
and rightly not there."""

IN_BOTH, IN_REFERENCE, IN_PREDICTION = KINDS[:2], KINDS[:3], ("correct", "wrong", "invented")
"""Those with a value on both sides, in the reference, in the prediction."""

VALUE_COUNTS = ("value_hits", "value_hits_exact", "value_given", "value_wanted")
"""Of values (leaves that are not null): their similarities, how many are exact, how many each side has."""

VALUE_PARTS = ("similarity", "exact", "met", "wanted")
"""Of the values of a leaf: their similarities, how many are exact, how many pairs have two values, how many values the
reference has."""

EXACT = 1 - 1e-12
"""The least similarity of an exact value."""


@dataclass(slots=True, eq=False)
class Outcome:
    """What became of one leaf.

    Attributes:
        field: The leaf.
        kind: One of :data:`KINDS`; empty for nothing but scores.
        scores: The score of each metric; empty where nothing is scored.
        similarity: How similar the values are, from 0 to 1, the better of as they stand and as they are meant.
        accepts_null: Whether null is a valid answer, too: the reference has a value if the prediction has one.
        is_unmatched: Whether it is in an item of a list that has no counterpart.
    """

    field: Field
    kind: str = ""
    scores: Sequence[float] = ()
    similarity: float = 0.0
    accepts_null: bool = False
    is_unmatched: bool = False

    def votes(self, counts_worst: bool) -> Sequence[float]:
        """The scores, which are the worst ones for items without counterpart if these count (``counts_worst``)."""
        return self.field.worst_scores if self.is_unmatched and counts_worst else self.scores


def flat(outcomes: Sequence[Any]) -> Iterator[Outcome]:
    """Yield all outcomes, those in lists within lists, too."""
    for outcome in outcomes:
        if type(outcome) is list:
            yield from flat(outcome)
        else:
            yield outcome


def total_similarity(outcomes: Sequence[Any]) -> float:
    """Return the sum of the similarities of values; what is grouped is summed first."""
    total = 0.0
    for outcome in outcomes:
        if type(outcome) is list:
            total += total_similarity(outcome)
        elif outcome.kind in IN_BOTH:
            total += outcome.similarity
    return total


@dataclass(slots=True, eq=False)
class Counts:
    """What is counted of two values and everything below them.

    Attributes:
        node_tp, node_fp, node_fn: Nodes in both trees, in the prediction only, in the reference only.
        leaf_tp, leaf_fp, leaf_fn: The same of leaves with a value, among the nodes that both trees have.
        outside: How many values the prediction has where the schema has no leaf.
        outcomes: What became of each leaf; of pairs of items and of lists each has a list of its own, since sums of
            floats depend on their grouping.
        extra_reference_values: How many values more the chosen answers of the reference have than the first ones.
        common: Dictionaries and lists that both trees have (for treeval).
        is_null_pair: Whether these are two items of lists that are null; not of sums.
        is_scalar_pair: Whether one at least of two items that may be of several kinds is no dictionary or list; not of
            sums.

    Example:
        >>> total = Counts(node_tp=1) + Counts(node_tp=1, node_fn=2)
        >>> total.node_tp, total.node_fn
        (2, 2)
    """

    node_tp: int = 0
    node_fp: int = 0
    node_fn: int = 0
    leaf_tp: int = 0
    leaf_fp: int = 0
    leaf_fn: int = 0
    outside: int = 0
    extra_reference_values: int = 0
    outcomes: list[Any] = field(default_factory=list)
    common: tuple[SchemaNode, ...] = ()
    is_null_pair: bool = False
    is_scalar_pair: bool = False

    def __iadd__(self, other: Counts) -> Counts:
        """Add another."""
        self.node_tp += other.node_tp
        self.node_fp += other.node_fp
        self.node_fn += other.node_fn
        self.leaf_tp += other.leaf_tp
        self.leaf_fp += other.leaf_fp
        self.leaf_fn += other.leaf_fn
        self.outside += other.outside
        self.extra_reference_values += other.extra_reference_values
        self.outcomes += other.outcomes
        self.common += other.common
        return self

    def __add__(self, other: Counts) -> Counts:
        """The sum of two."""
        total = Counts()
        total += self
        total += other
        return total

    @property
    def n_reference_values(self) -> int:
        """How many values the reference surely has."""
        return sum(outcome.kind in IN_REFERENCE and not outcome.accepts_null for outcome in flat(self.outcomes))

    @property
    def n_values(self) -> int:
        """How many values both sides have, but for those where null is a valid answer, too."""
        n_predicted = sum(outcome.kind in IN_PREDICTION for outcome in flat(self.outcomes))
        return self.outside + n_predicted + self.n_reference_values

    def without_nodes(self) -> Counts:
        """The same where neither nodes nor leaves with a value count."""
        return replace(self, node_tp=0, node_fp=0, node_fn=0, leaf_tp=0, leaf_fp=0, leaf_fn=0)


# --- units ---


def common_part(path: Path) -> str:
    """Name the part that says whether both trees have this dictionary or list."""
    return f"seen|{path_name(path)}"


@lru_cache(maxsize=64)
def _parts(plan: Plan) -> list[str]:
    """List the parts of a unit: counts, what leaves were, sums of scores and how many there are."""
    kinds = [f"{kind}|{leaf.name}" for leaf in plan.fields for kind in KINDS]
    scores = [leaf.part(what, metric) for leaf in plan.fields for metric in leaf.metrics for what in ("sum", "n")]
    if plan.follows_treeval:
        paths = [path for path, node in nodes_of(plan.root).items() if not isinstance(node, Field)]
        return [*COUNTS, *kinds, *scores, *map(common_part, paths)]
    values = [f"{part}|{leaf.name}" for leaf in plan.fields for part in VALUE_PARTS]
    return [*COUNTS, *VALUE_COUNTS, *kinds, *scores, *values]


def units_of(plan: Plan, counts: Sequence[tuple[Counts, Counts]]) -> Columns:
    """Make a unit of each pair of trees: of its counts by the guide's pairing, and of those by the values' pairing."""
    columns: dict[str, list[float]] = {part: [0] * len(counts) for part in _parts(plan)}
    paths = {id(node): common_part(path) for path, node in all_nodes(plan.root)} if plan.follows_treeval else {}
    counts_worst = plan.options.unmatched_items == "worst"
    for row, (by_guide, by_value) in enumerate(counts):
        for name in COUNTS:
            columns[name][row] = getattr(by_guide, name)
        for node in by_guide.common:
            columns[paths[id(node)]][row] += 1
        for outcome in flat(by_guide.outcomes):
            _add_scores(columns, row, outcome, counts_worst)
        if not plan.follows_treeval:
            columns["value_given"][row] = by_value.outside
            columns["value_hits"][row] = total_similarity(by_value.outcomes)
            for outcome in flat(by_value.outcomes):
                _add_values(columns, row, outcome)
    return Columns(columns, len(counts))


def _add_scores(columns: dict[str, list[float]], row: int, outcome: Outcome, counts_worst: bool) -> None:
    """Add what a leaf was and its scores, the worst ones for items without counterpart where options say so."""
    leaf = outcome.field
    if outcome.kind:
        columns[f"{outcome.kind}|{leaf.name}"][row] += 1
    for metric, score in zip(leaf.metrics, outcome.votes(counts_worst), strict=False):
        columns[leaf.part("sum", metric)][row] += score
        columns[leaf.part("n", metric)][row] += 1


def _add_values(columns: dict[str, list[float]], row: int, outcome: Outcome) -> None:
    """Add how similar values are, and which side has one."""
    name = outcome.field.name
    if outcome.kind in IN_REFERENCE:
        columns["value_wanted"][row] += 1
        columns[f"wanted|{name}"][row] += 1
    if outcome.kind in IN_PREDICTION:
        columns["value_given"][row] += 1
    if outcome.kind in IN_BOTH:
        columns["value_hits_exact"][row] += outcome.similarity >= EXACT
        columns[f"similarity|{name}"][row] += outcome.similarity
        columns[f"exact|{name}"][row] += outcome.similarity >= EXACT
        columns[f"met|{name}"][row] += 1
