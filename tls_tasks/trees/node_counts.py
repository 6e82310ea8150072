"""What nodes and items count, whatever is below them, in treeval's guide and in its program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from tls_tasks.core.score import plain_mean
from tls_tasks.trees.compliance import slips
from tls_tasks.trees.counts import Counts, Outcome, flat
from tls_tasks.trees.leaf_scores import LeafScorer
from tls_tasks.trees.nodes import (
    ABSENT,
    NULL,
    NULLABLE,
    VALUE,
    WRONG,
    BadReferenceError,
    count_nodes,
    full_tree,
    item_nodes,
    nodes_below,
    state_of,
    values_of,
)
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Branch, ListOf, SchemaNode


class Pairing(Protocol):
    """What the recursion asks of a pairing; :mod:`tls_tasks.trees.pairing` has it."""

    plan: Plan
    scorer: LeafScorer
    is_loose: bool
    inner_lists: set[int]

    @property
    def counts_worst(self) -> bool:
        """Whether items without counterpart have the worst scores."""

    def match(self, references: Any, predictions: Any, node: Any) -> Any:
        """Pair the items of two lists."""

    def best_fit(self, node: SchemaNode, counts: Sequence[Counts]) -> int:
        """Return the index of the counts that fit best."""


def states(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> tuple[int, int]:
    """Return what two values are to their node; where null is a valid answer, too, there is a value if both have one.

    Raises:
        BadReferenceError: The reference has a value of another type.
    """
    left, right = state_of(node, reference, pairing.is_loose), state_of(node, prediction, pairing.is_loose)
    if left == WRONG and not pairing.is_loose:
        raise BadReferenceError
    return (VALUE if right >= VALUE else NULL) if left == NULLABLE else left, right


def presence(left: int, right: int, node: SchemaNode, pairing: Pairing) -> Counts:
    """Count whether the node of a key is in both trees, and whether its values are."""
    if right == ABSENT:
        return Counts(node_fn=int(left != ABSENT or pairing.plan.follows_treeval))
    if left == ABSENT:
        return Counts(node_fp=1)
    if isinstance(node, Branch):
        return Counts(node_tp=1)
    if left == NULL or right == NULL:
        return Counts(node_tp=1, leaf_fn=int(left != NULL), leaf_fp=int(right != NULL))
    return Counts(node_tp=1, leaf_tp=1)


def count_as_treeval(
    counts: Counts, prediction: Any, node: SchemaNode, left: int, right: int, pairing: Pairing
) -> None:
    """Count what treeval counts of a dictionary or list that one of the trees lacks, or has as null."""
    if left == VALUE and right >= VALUE:
        counts.common += (node,)
    counts_items = pairing.plan.counts_items
    if left == NULL and right >= VALUE:
        if isinstance(node, Branch) or counts_items:
            counts.node_fp += nodes_below(node, prediction) if counts_items else count_nodes(prediction)
        if isinstance(node, Branch):
            counts.leaf_fp += count_nodes(prediction, only_leaves=True)
    if isinstance(node, Branch) and (right == ABSENT or (left >= VALUE and right == NULL)):
        counts.node_fn += count_nodes(full_tree(node))
        counts.leaf_fn += count_nodes(full_tree(node), only_leaves=True)


def count_alone(item: Any, node: ListOf, kind: str, pairing: Pairing) -> Counts:
    """Count an item that has no counterpart: it is missed in the prediction, or invented there.

    Raises:
        BadReferenceError: It is the reference's, and does not follow the schema.
    """
    is_missed, is_loose, counts_items = kind == "missed", pairing.is_loose, pairing.plan.counts_items
    if is_missed and not is_loose and item is not None and slips(item, node.item):
        raise BadReferenceError
    leaves = values_of(node.item, item, is_loose)
    n_nodes = 1 + nodes_below(node.item, item) if node.is_keyed else item_nodes(node.item, item, counts_items)
    return Counts(
        node_fn=n_nodes * is_missed,
        node_fp=n_nodes * (not is_missed),
        outside=0 if is_missed else leaves.count(None),
        outcomes=[Outcome(leaf, kind, is_unmatched=True) for leaf in leaves if leaf],
    )


def means_by_leaf(outcomes: list[Any], counts_worst: bool) -> list[Outcome]:
    """Replace the scores of each leaf by their mean: in treeval a list within a list has one vote."""
    votes: dict[int, tuple[Field, list[Sequence[float]]]] = {}  # by index: fields of one type are equal
    for outcome in flat(outcomes):
        if scores := outcome.votes(counts_worst):
            votes.setdefault(outcome.field.index, (outcome.field, []))[1].append(scores)
    means = [Outcome(field, scores=[*map(plain_mean, zip(*scores, strict=True))]) for field, scores in votes.values()]
    others = (outcome for outcome in flat(outcomes) if outcome.kind)
    return [*(replace(outcome, scores=(), is_unmatched=False) for outcome in others), *means]
