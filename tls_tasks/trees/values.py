"""Walk values together with their schema nodes: list children, count nodes, replace values."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from tls_tasks.trees.types import AnyOf, Branch, Leaf, ListOf, Position, SchemaNode, UnionNode, node_for

MISSING = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for the value of a key that isn't there."""


def resolve(node: SchemaNode, value: Any) -> tuple[SchemaNode, Any]:
    """Return the schema node for a value, and the value; of several answers for a dictionary or list the first.

    Example:
        >>> resolve(ListOf(Leaf("string")), AnyOf([["a"], []]))[1], resolve(Leaf("string"), AnyOf(["a", "b"]))[1]
        (['a'], AnyOf(values=('a', 'b')))
    """
    part = node_for(node, value)
    while isinstance(value, AnyOf) and (
        not isinstance(part, Leaf)
        or (part is not node and any(isinstance(entry, dict | list) for entry in value.values))
    ):
        value = value.values[0]
        part = node_for(node, value)
    return part, value


def count_nodes(tree: Any, *, only_leaves: bool = False, items: bool = False) -> int:
    """Count the nodes below a value, whatever the schema: the keys of dictionaries at any depth.

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
    """Return a tree with every key of the schema's dictionaries, and None for all other values."""
    return {key: full_tree(child) for key, child in node.children.items()} if isinstance(node, Branch) else None


def count_values_outside(node: SchemaNode | None, value: Any) -> int:
    """Count the values (scalars, not null) at or below a node where the schema has no leaf for them.

    Args:
        node: The node; None: all of the value is outside of the schema.
        value: Its value. A leaf's own is never outside, whatever it is.

    Example:
        >>> node = Branch({"a": Branch({})})
        >>> count_values_outside(node, {"a": "text", "b": [1, None, {"c": 2}]})
        3
    """
    if node is not None:
        node, value = resolve(node, value)
    if isinstance(value, dict | list) and not isinstance(node, Leaf):
        return sum(count_values_outside(inner, child) for _, inner, child in list_children(node, value))
    return int(not isinstance(node, Leaf) and value is not None and value is not MISSING)


def list_children(node: SchemaNode | None, value: Any) -> list[tuple[Any, Any, Any]]:
    """List (key or position, schema node, value) for each child of a dictionary or list; unknown keys have node None.

    Example:
        >>> list_children(Branch({"a": Leaf("string")}), {"a": "x", "b": 1})
        [('a', Leaf(type='string', choices=()), 'x'), ('b', None, 1)]
    """
    steps = value if isinstance(value, dict) else map(Position, range(len(value))) if isinstance(value, list) else ()
    return [(step, child_node(node, step), value[step]) for step in steps]


def child_node(node: SchemaNode | None, step: Hashable) -> SchemaNode | None:
    """Return the schema node of a key or position below a node; None if the schema has none."""
    if isinstance(node, ListOf) and type(step) is Position:
        return node.item
    if isinstance(node, Branch) and type(step) is not Position:
        return node.children.get(step, node.rest and node.rest.item)
    return None


def replace_children(value: Any, children: Iterable[Any]) -> Any:
    """Return a dictionary or list with the same keys or length and other values."""
    return dict(zip(value, children, strict=True)) if isinstance(value, dict) else list(children)


def has_several_answers(node: SchemaNode, value: Any) -> bool:
    """Tell whether a reference has several answers to compare in turn; a leaf compares its scalar answers itself."""
    if type(value) is not AnyOf or isinstance(node, Leaf):
        return False
    return not isinstance(node, UnionNode) or any(isinstance(answer, dict | list) for answer in value.values)
