"""The plan: a schema with everything that scoring needs to know of each node."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Union

from tls_tasks.trees.leaf_base import LeafMetric
from tls_tasks.trees.options import TreeOptions
from tls_tasks.trees.types import Leaf, SchemaNode
from tls_tasks.trees.values import Path


@dataclass(frozen=True, slots=True, eq=False)
class LeafPlan:
    """A leaf, or the item of a list of leaves.

    Attributes:
        node: The schema's leaf.
        path: Keys from the root.
        name: The path as people write it.
        kind: What the leaf's type is called in results.
        index: Its number among the leaves.
        metrics: Its metrics.
        slots: The number of each of its metrics among those of all leaves, one after the other.
        weight: Its part in averages.
        threshold: The normalised score from which a value is right.
        least: The sum of its metrics' normalised scores from which it is.
        clean: Types that its values may have without a further look.
        quick: How each metric scores pairs of such values: by ``==``, by its own function without a further look, in
            the usual way; by ``==`` where there are no floats, as treeval's exact match does (``equal``, ``direct``,
            ``checked``, ``treeval``). Where any type is let through, ``direct`` holds for the metric's own types only.
        is_exact: Whether all scores are surely in their range.
        span: The slots as a slice.
        is_checked: Whether a value of the right type may still not comply: choices and dates.
        types: Types whose values all fit; ``clean`` has more where any type is let through.
        choices: The node's.
        is_looked_at: Whether values of these types are looked at one by one: if they comply, if they are finite.
        is_same_best: Whether equal values of these types have the best score under all metrics.
    """

    node: Leaf
    path: Path
    name: str
    kind: str
    index: int
    metrics: tuple[LeafMetric, ...]
    slots: tuple[int, ...]
    weight: float
    threshold: float
    least: float
    clean: frozenset[type]
    quick: tuple[str, ...]
    is_exact: bool
    span: slice
    is_checked: bool
    types: frozenset[type]
    choices: frozenset[Any]
    is_looked_at: bool
    is_same_best: bool


@dataclass(frozen=True, slots=True, eq=False)
class ListPlan:
    """A list: its items, how they are aligned, and the leaves in them."""

    item: NodePlan
    path: Path
    name: str
    order: str
    leaves: tuple[LeafPlan, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BranchPlan:
    """A dictionary: its children, and how many nodes and leaves the schema has below it (lists count 1).

    Attributes:
        children: Key -> node.
        getters: A function for each child that takes its value from a dictionary.
        row: Takes all their values at once, as a tuple.
        steps: Key and child; the types of its values, as far as they need no further look; and whether it is enough
            to know that two of them are equal.
        required: Keys that compliance asks for.
        path: Keys from the root.
        leaves: The leaves below.
        schema_nodes, schema_leaves: How many there are.
    """

    children: Mapping[Hashable, NodePlan]
    getters: tuple[Callable[[Any], Any], ...]
    row: Callable[[Any], tuple[Any, ...]]
    steps: tuple[tuple[Hashable, NodePlan, frozenset[type], bool], ...]
    required: frozenset[Hashable]
    path: Path
    leaves: tuple[LeafPlan, ...]
    schema_nodes: int
    schema_leaves: int


NodePlan = Union[LeafPlan, ListPlan, BranchPlan]  # noqa: UP007 - refers to itself, on Python 3.10


@dataclass(frozen=True, slots=True, eq=False)
class TreePlan:
    """Everything about a schema, but the trees.

    Attributes:
        root: A branch; a schema of another shape is its only child, under the key :data:`ROOT`.
        is_wrapped: Whether it is.
        schema: The schema as given.
        leaves: All leaves in order.
        slots: Leaf and metric of each number.
        names: The leaf's number and the metric's name of each number.
        blanks: For each leaf its metrics' names without scores.
        groups: The slots that are averaged, by type and metric; those of all types under ``""``.
        is_unweighted: Whether all weights are 1.
        metrics: The metrics by name, in order of first appearance.
        options: How to count, align and average.
        only_ours: Whether all metrics are ours, whose scores are in [0, 1], 1 the best, as a value has with itself.
        is_flat: Whether they are, and there are no lists.
        digest: A fingerprint of paths, types, metrics, weights and orders.
    """

    root: BranchPlan
    is_wrapped: bool
    schema: SchemaNode
    leaves: tuple[LeafPlan, ...]
    slots: tuple[tuple[LeafPlan, LeafMetric], ...]
    names: tuple[tuple[int, str], ...]
    blanks: tuple[dict[str, float | None], ...]
    groups: Mapping[str, Mapping[str, tuple[int, ...]]]
    is_unweighted: bool
    metrics: Mapping[str, LeafMetric]
    options: TreeOptions
    only_ours: bool
    is_flat: bool
    digest: str


ROOT = "$"
"""The key of a root that is no dictionary."""


def leaves_below(plan: NodePlan) -> tuple[LeafPlan, ...]:
    """The leaves at and below a node."""
    return (plan,) if isinstance(plan, LeafPlan) else plan.leaves
