"""What a value is to its node in the schema, and how many nodes it has."""

from typing import Any

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import AnyOf, Branch, ListOf, OneOf, SchemaNode, settled

MISSING = type("Missing", (), {"__repr__": lambda self: "MISSING"})()
"""Stands for the value of a key that isn't there."""

ABSENT, NULL, VALUE, WRONG, NULLABLE = range(5)
"""No key; null; a value; a value of another type; several valid answers, null among them."""


class BadReferenceError(Exception):
    """A reference that doesn't comply with the schema. Never leaves the package: who catches it finds the row."""


def whole_tree(tree: Any) -> Any:
    """Return a reference for a dictionary as it is compared: where no tree is right too, that is an empty one."""
    if isinstance(tree, AnyOf):
        return AnyOf([{} if answer is None else whole_tree(answer) for answer in tree.values])
    if isinstance(tree, dict):
        return tree
    raise BadReferenceError


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


def nodes_below(node: SchemaNode | None, value: Any) -> int:
    """The nodes below a node of the schema with this value, and items of lists; a leaf has none, whatever its value.

    None: what is outside of the schema.
    """
    if node is None:
        return count_nodes(value, items=True)
    node, value = settled(node, value)
    if isinstance(node, ListOf) and isinstance(value, list):
        return sum(item_nodes(node.item, item) for item in value)
    if isinstance(node, Branch) and isinstance(value, dict):
        return len(value) + sum(nodes_below(inner, child) for inner, child in children_of(node, value))
    return 0


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
    return values_of(node, value, is_loose=True).count(None)


def item_nodes(node: SchemaNode, value: Any, items: bool = True) -> int:
    """The nodes of an item of a list: what is below a dictionary or a list, 1 for all else.

    Args:
        node: The node of the items.
        value: The item.
        items: Whether items of lists count within it; if not, it is as treeval counts.
    """
    node, value = settled(node, value)
    if isinstance(node, Branch) and isinstance(value, dict):
        return nodes_below(node, value) if items else count_nodes(value)
    return nodes_below(node, value) if isinstance(node, ListOf) and isinstance(value, list) else 1


def full_tree(node: SchemaNode) -> Any:
    """The dictionaries of a schema with all keys, and None for all else."""
    return {key: full_tree(child) for key, child in node.children.items()} if isinstance(node, Branch) else None


def values_of(node: SchemaNode | None, value: Any, is_loose: bool) -> list[Field | None]:
    """Of each value at or below a node its leaf; None for a scalar, not null, where the schema has no leaf."""
    if node is not None:
        node, value = settled(node, value)
    if isinstance(node, Field):
        return [node] if state_of(node, value, is_loose) in (VALUE, WRONG) else []
    if isinstance(value, dict | list):
        below = children_of(node, value)
        return [leaf for inner, child in below for leaf in values_of(inner, child, is_loose)]
    return [] if value is None or value is MISSING else [None]


def children_of(node: SchemaNode | None, value: Any) -> list[tuple[Any, Any]]:
    """The values in a dictionary or list, each with its node; None where the schema has nothing."""
    if isinstance(value, dict):
        children, rest = (node.children, node.rest and node.rest.item) if isinstance(node, Branch) else ({}, None)
        return [(children.get(key, rest), child) for key, child in value.items()]
    if isinstance(value, list):
        item = node.item if isinstance(node, ListOf) else None
        return [(item, child) for child in value]
    return []
