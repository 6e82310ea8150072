"""What a value is to its node in the schema, and what nodes count, in treeval's guide and in its program."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.counts import Counts
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, OneOf, SchemaNode, settled

MISSING = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for the value of a key that isn't there."""

ABSENT, NULL, VALUE, WRONG, NULLABLE = range(5)
"""No key; null; a value; a value of another type; several valid answers, null among them."""


def has_answers(node: SchemaNode, value: Any) -> bool:
    """Whether a reference has several answers that are to be compared; those that are scalars are a leaf's."""
    if type(value) is not AnyOf or isinstance(node, Field):
        return False
    return not isinstance(node, OneOf) or any(isinstance(answer, dict | list) for answer in value.values)


def state_of(node: SchemaNode, value: Any, is_loose: bool) -> int:
    """What a value is to its node; ``is_loose``: a leaf takes values of any type.

    Example:
        >>> node = Branch({})
        >>> [state_of(node, value, False) for value in ({}, None, "text", MISSING)] == [VALUE, NULL, WRONG, ABSENT]
        True
    """
    kind = type(value)
    if kind in (node.types if isinstance(node, Field) else (dict if isinstance(node, Branch) else list,)):
        return VALUE
    if value is None or (kind is AnyOf and isinstance(node, Field) and not value.present):
        return NULL
    if value is MISSING:
        return ABSENT
    if not isinstance(node, Field) or (not is_loose and not fits(value, node)):
        return WRONG
    return NULLABLE if kind is AnyOf and value.may_be_null else VALUE


def states(reference: Any, prediction: Any, node: SchemaNode, plan: Plan) -> tuple[int, int]:
    """Return what two values are to their node; where null is valid, too, there is a value if both have one."""
    left, right = (state_of(node, value, plan.follows_treeval) for value in (reference, prediction))
    return (VALUE if right >= VALUE else NULL) if left == NULLABLE else left, right


# --- what is counted ---


def count_key(left: int, right: int, node: SchemaNode, plan: Plan) -> Counts:
    """Count whether the node of a key is in both trees, and whether its values are."""
    if right == ABSENT:
        return Counts(node_fn=int(left != ABSENT or plan.follows_treeval))
    if left == ABSENT:
        return Counts(node_fp=1)
    if isinstance(node, Branch):
        return Counts(node_tp=1)
    if left == NULL or right == NULL:
        return Counts(node_tp=1, leaf_fn=int(left != NULL), leaf_fp=int(right != NULL))
    return Counts(node_tp=1, leaf_tp=1)


def count_item(left: int, right: int, node: SchemaNode, plan: Plan) -> Counts:
    """Count the node that an item of a list is: a leaf, or what should be a dictionary or list and is none.

    Two leaves or nulls are one node. Treeval's program counts items without counterpart only, and takes null for a
    value in a list of leaves.
    """
    is_leaf = isinstance(node, Field)
    is_left, is_right = (state != ABSENT and (is_leaf or state != VALUE) for state in (left, right))
    is_null_pair = left == right == NULL
    if is_left and is_right and (is_leaf or is_null_pair):
        is_counted = not (is_leaf and plan.follows_treeval)
        return Counts(node_tp=int(is_counted), is_null_pair=is_null_pair and is_counted)
    return Counts(node_fn=int(is_left), node_fp=int(is_right))


def count_below_as_treeval(below: Counts, prediction: Any, node: SchemaNode, left: int, right: int) -> Counts:
    """Return what treeval's program counts below a key: nothing of what is compared unless both trees have it.

    Of a dictionary that one of them lacks, or has as null, it counts what is in it or what should be.
    """
    if left != VALUE or not (right == VALUE or (right == WRONG and isinstance(node, ListOf))):
        below = replace(below, node_tp=0, node_fp=0, node_fn=0, leaf_tp=0, leaf_fp=0, leaf_fn=0)
    if left == VALUE and right >= VALUE:
        below.common += (node,)
    if isinstance(node, Branch) and left == NULL and right >= VALUE:
        below.node_fp += count_nodes(prediction)
        below.leaf_fp += count_nodes(prediction, only_leaves=True)
    if isinstance(node, Branch) and (right == ABSENT or (left >= VALUE and right == NULL)):
        below.node_fn += count_nodes(full_tree(node))
        below.leaf_fn += count_nodes(full_tree(node), only_leaves=True)
    return below


def count_nodes(tree: Any, *, only_leaves: bool = False, items: bool = False) -> int:
    """The nodes below a value, whatever the schema: the keys of dictionaries at any depth.

    Args:
        tree: A tree; anything but a dictionary has nothing below it. Of several answers the first counts.
        only_leaves: Whether keys of dictionaries are left out.
        items: Whether items of lists count too: a scalar as one, a dictionary and a list for what is in them.

    Example:
        >>> tree = {"a": 1, "b": {"c": 1, "d": {"e": 0, "f": [0, 1]}}}
        >>> count_nodes(tree), count_nodes(tree, only_leaves=True), count_nodes(tree, items=True)
        (6, 4, 8)
    """
    while isinstance(tree, AnyOf):
        tree = tree.values[0]
    if isinstance(tree, dict):
        n_keys = sum(not (only_leaves and isinstance(value, dict)) for value in tree.values())
        return n_keys + sum(count_nodes(value, only_leaves=only_leaves, items=items) for value in tree.values())
    if items and isinstance(tree, list):
        return sum(count_nodes(item, items=True) if isinstance(item, dict | list) else 1 for item in tree)
    return 0


def full_tree(node: SchemaNode) -> Any:
    """The dictionaries of a schema with all keys, and None for all else."""
    return {key: full_tree(child) for key, child in node.children.items()} if isinstance(node, Branch) else None


def values_outside(node: SchemaNode | None, value: Any) -> int:
    """The values (scalars, not null) at or below a node where the schema has no leaf for them.

    Args:
        node: The node; None: all of the value is outside of the schema.
        value: Its value. A leaf's own is never outside, whatever it is.

    Example:
        >>> node = Branch({"a": Branch({})})
        >>> values_outside(node, {"a": "text", "b": [1, None, {"c": 2}]})
        3
    """
    if node is not None:
        node, value = settled(node, value)
    if isinstance(value, dict | list) and not isinstance(node, Field):
        return sum(values_outside(inner, child) for inner, child in children_of(node, value))
    return int(not isinstance(node, Field) and value is not None and value is not MISSING)


def children_of(node: SchemaNode | None, value: Any) -> list[tuple[Any, Any]]:
    """The values in a dictionary or list, each with its node; None where the schema has nothing."""
    if isinstance(value, dict):
        children, rest = (node.children, node.rest and node.rest.item) if isinstance(node, Branch) else ({}, None)
        return [(children.get(key, rest), child) for key, child in value.items()]
    if isinstance(value, list):
        item = node.item if isinstance(node, ListOf) else None
        return [(item, child) for child in value]
    return []
