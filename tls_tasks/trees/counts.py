"""What is counted of two trees: nodes, leaves with a value, and the outcome of each leaf."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from tls_tasks.core.score import plain_mean
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Path, SchemaNode, all_nodes, path_name

COUNTS = ("node_tp", "node_fp", "node_fn", "leaf_tp", "leaf_fp", "leaf_fn")
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
    """

    field: Field
    kind: str = ""
    scores: Sequence[float] = ()
    similarity: float = 0.0
    accepts_null: bool = False


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
        choices: Each list of the reference with the positions of its items and of those that they were compared with;
            each set of answers with the index of the one that counts.
        common: Dictionaries and lists that both trees have (for treeval).
        is_null_pair: Whether these are two items of lists that are null; not of sums.
        is_scalar_pair: Whether one at least of two items that may be of several kinds is no dictionary or list; not of
            sums.

    Example:
        >>> counts = Counts(node_tp=1)
        >>> counts += Counts(node_tp=1, node_fn=2)
        >>> counts.node_tp, counts.node_fn
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
    choices: tuple[tuple[Any, Any], ...] = ()
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
        self.choices += other.choices
        self.common += other.common
        return self

    @property
    def similarity(self) -> float:
        """The sum of the similarities of values; what is grouped is summed first."""
        return _total_similarity(self.outcomes)

    @property
    def leaves(self) -> Iterator[Outcome]:
        """What became of each leaf, without groups."""
        return _flat(self.outcomes)

    @property
    def n_reference_values(self) -> int:
        """How many values the reference surely has."""
        return sum(outcome.kind in IN_REFERENCE and not outcome.accepts_null for outcome in self.leaves)

    @property
    def n_values(self) -> int:
        """How many values both sides have, but for those where null is a valid answer, too."""
        n_predicted = sum(outcome.kind in IN_PREDICTION for outcome in self.leaves)
        return self.outside + n_predicted + self.n_reference_values


def _flat(outcomes: Sequence[Any]) -> Iterator[Outcome]:
    for outcome in outcomes:
        if type(outcome) is list:
            yield from _flat(outcome)
        else:
            yield outcome


def _total_similarity(outcomes: Sequence[Any]) -> float:
    total = 0.0
    for outcome in outcomes:  # not sum(), which adds floats in another way since Python 3.12
        total += _total_similarity(outcome) if type(outcome) is list else outcome.similarity
    return total


def mean_outcomes(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Replace the scores of each leaf by their mean: in treeval a list within a list has one vote."""
    votes: dict[int, tuple[Field, list[Sequence[float]]]] = {}  # by index: fields of one type are equal
    outcomes = list(outcomes)
    for outcome in outcomes:
        if outcome.scores:
            votes.setdefault(outcome.field.index, (outcome.field, []))[1].append(outcome.scores)
    means = [Outcome(field, scores=[*map(plain_mean, zip(*scores, strict=True))]) for field, scores in votes.values()]
    return [*(Outcome(outcome.field, outcome.kind) for outcome in outcomes if outcome.kind), *means]


# --- units ---


def common_part(path: Path) -> str:
    """Name the part that says whether both trees have this dictionary or list."""
    return f"seen|{path_name(path)}"


@lru_cache(maxsize=64)
def _common_parts(plan: Plan) -> dict[int, str]:
    """Dictionary or list by its id -> its part, in treeval's profile."""
    nodes = [(path, node) for path, node in all_nodes(plan.root) if not isinstance(node, Field)]
    return {id(node): common_part(path) for path, node in nodes} if plan.follows_treeval else {}


@lru_cache(maxsize=64)
def _parts(plan: Plan) -> list[str]:
    """List the parts of a unit: counts, what leaves were, sums of scores and how many there are."""
    kinds = [f"{kind}|{leaf.name}" for leaf in plan.fields for kind in KINDS]
    scores = [leaf.part(what, metric) for leaf in plan.fields for metric in leaf.metrics for what in ("sum", "n")]
    values = [*VALUE_COUNTS, *(f"{part}|{leaf.name}" for leaf in plan.fields for part in VALUE_PARTS)]
    return [*COUNTS, *kinds, *scores, *(_common_parts(plan).values() if plan.follows_treeval else values)]


def unit_of(plan: Plan, by_guide: Counts, by_value: Counts) -> dict[str, float]:
    """Make a unit of a pair of trees: of its counts by the guide's pairing, and of those by the values' pairing."""
    unit = dict.fromkeys(_parts(plan), 0.0) | {name: getattr(by_guide, name) for name in COUNTS}
    for node in by_guide.common:
        unit[_common_parts(plan)[id(node)]] += 1
    for outcome in by_guide.leaves:
        if outcome.kind:
            unit[f"{outcome.kind}|{outcome.field.name}"] += 1
        for metric, score in zip(outcome.field.metrics, outcome.scores, strict=False):
            unit[outcome.field.part("sum", metric)] += score
            unit[outcome.field.part("n", metric)] += 1
    if plan.follows_treeval:
        return unit
    unit |= {"value_given": by_value.outside, "value_hits": by_value.similarity}
    for outcome in by_value.leaves:
        name, is_pair, is_exact = outcome.field.name, outcome.kind in IN_BOTH, outcome.similarity >= EXACT
        unit["value_given"] += outcome.kind in IN_PREDICTION
        unit["value_hits_exact"] += is_exact
        if outcome.kind in IN_REFERENCE:
            unit["value_wanted"] += 1
            unit[f"wanted|{name}"] += 1
        if is_pair:
            unit[f"similarity|{name}"] += outcome.similarity
            unit[f"exact|{name}"] += is_exact
            unit[f"met|{name}"] += 1
    return unit
