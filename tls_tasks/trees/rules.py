"""What nodes count, by the states of their values: the rules of the guide, and those of treeval's program."""

from __future__ import annotations

from typing import Any

import numpy as np

from tls_tasks.trees.counts import ALWAYS, GUIDE, Array, Counts
from tls_tasks.trees.nodes import ABSENT, MAYBE, NULL, VALUE, WRONG, count_nodes, nodes_below, schema_nodes
from tls_tasks.trees.pairs import Operands, States
from tls_tasks.trees.plan import Plan
from tls_tasks.trees.types import Branch, ListOf, SchemaNode


def count_presence(plan: Plan, node: SchemaNode, states: States, counts: Counts) -> None:
    """Count whether the node of a key is in both trees, and whether its values are."""
    in_left, in_right = states.left != ABSENT, states.right != ABSENT
    both = in_left & in_right
    counts.add("node_tp", both)
    counts.add("node_fp", in_right & ~in_left)
    counts.add("node_fn", ~in_right & (in_left | plan.follows_treeval))
    if not isinstance(node, Branch):
        counts.add("leaf_tp", both & states.has_left & states.has_right)
        counts.add("leaf_fn", both & states.has_left & ~states.has_right)
        counts.add("leaf_fp", both & ~states.has_left & states.has_right)


def where_nodes_count(plan: Plan, node: SchemaNode, states: States) -> Array:
    """Whether nodes below this one count, and not only what each leaf is."""
    if not plan.follows_treeval and (isinstance(node, Branch) or plan.options.list_items == "nodes"):
        return ALWAYS
    is_walked = (states.right == VALUE) | ((states.right == WRONG) & isinstance(node, ListOf))
    return np.asarray((states.left == VALUE) & is_walked)


def count_as_treeval(plan: Plan, node: SchemaNode, operands: Operands, states: States, counts: Counts) -> None:
    """Count what treeval counts below a dictionary or list that one of the trees lacks, or has as null."""
    is_missed = (states.right == ABSENT) | ((states.left >= VALUE) & (states.right == NULL))
    is_extra, columns = (states.left == NULL) & states.has_right, operands.pairs.columns
    counts_items = plan.options.list_items == "nodes"
    if isinstance(node, Branch) or counts_items:
        sizes = [nodes_below(node, own) if counts_items else count_nodes(own) for own in operands.predictions]
        counts.add("node_fp", is_extra * np.array(sizes)[columns])
    if isinstance(node, Branch):
        leaves = np.array([count_nodes(value, only_leaves=True) for value in operands.predictions])
        counts.add("node_fn", is_missed * schema_nodes(node))
        counts.add("leaf_fn", is_missed * schema_nodes(node, only_leaves=True))
        counts.add("leaf_fp", is_extra * leaves[columns])


def unknown_nodes(plan: Plan, unknown: dict[Any, Any]) -> int:
    """How many nodes there are in the part of a dictionary that the schema doesn't have."""
    if plan.follows_treeval:
        return len(unknown)
    counts_items = plan.options.list_items == "nodes"
    return len(unknown) + sum(count_nodes(value, items=counts_items) for value in unknown.values())


# --- items of lists ---


def are_null(states: States) -> Array:
    """Where two items are null, or the first may be."""
    return np.asarray(((states.left == NULL) | (states.left == MAYBE)) & (states.right == NULL))


def count_items(states: States, counts: Counts) -> None:
    """Count items that should be dictionaries or lists: two nulls, and each that is something else, are one node."""
    both_null = are_null(states)
    counts.add("node_tp", both_null)
    counts.add("node_fn", (states.left != VALUE) & ~both_null)
    counts.add("node_fp", (states.right != VALUE) & ~both_null)


def are_scalars(operands: Operands) -> tuple[Array, Array]:
    """In which pairs the value of each side is neither a dictionary nor a list."""
    left, right = (
        np.array([not isinstance(value, dict | list) for value in values], dtype=bool)
        for values in (operands.references, operands.predictions)
    )
    return left[operands.pairs.rows], right[operands.pairs.columns]


def count_items_of_kinds(plan: Plan, operands: Operands, left: Array, right: Array, counts: Counts) -> None:
    """Count items that may be of several kinds: a scalar (``left``, ``right``: where it is one) or null is one node."""
    null_left, null_right = (
        np.array([value is None for value in values], dtype=bool)
        for values in (operands.references, operands.predictions)
    )
    counts.are_null = null_left[operands.pairs.rows] & null_right[operands.pairs.columns]
    counts.are_single = left | right
    one_node = int(plan.options.list_items == "nodes")
    counts.add("node_tp", (left & right) * one_node)
    counts.add("node_fn", (left & ~right) * one_node)
    counts.add("node_fp", (~left & right) * one_node)


def give_lists_one_vote(counts: Counts) -> None:
    """Replace the sums of scores by their means: in treeval a list in a list has one vote."""
    amounts = counts.of[GUIDE]
    for name in [name for name in amounts if name.startswith("sum|")]:
        n = f"n|{name.removeprefix('sum|')}"
        amounts[name] = amounts[name] / np.maximum(amounts[n], 1)
        amounts[n] = 0 + (amounts[n] > 0)
