"""The shape of trees as a schema: of references that have none, and of what they have beyond the one that they have."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from tls_tasks.core.rows import read_columns
from tls_tasks.trees.compliance import is_scalar
from tls_tasks.trees.rows import read_reference
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.settings import types_named
from tls_tasks.trees.types import Again, AnyOf, Branch, Leaf, ListOf, OneOf, SchemaNode, any_leaf

_TYPES: Mapping[type, str] = {
    **{str: "string", bool: "boolean", int: "integer", float: "number"},
    **{datetime.date: "date", datetime.datetime: "datetime"},
}


def schema_with(schema: Any, predictions: Any, references: Any, leaf_metrics: Any = None) -> SchemaNode:
    """Complete a schema with what references have that it lacks; None: theirs alone.

    Args:
        schema: What :func:`~tls_tasks.trees.schema.read_schema` reads, or None.
        predictions: As in :func:`~tls_tasks.trees.tree_eval.tree_eval`, and so the others.
        references: Likewise.
        leaf_metrics: Likewise.

    Raises:
        InputError: Columns or references that can't be read, or no schema.
    """
    node = None if schema is None else read_schema(schema, type_names=types_named(leaf_metrics))
    _, rows = read_columns(predictions=predictions, references=references)
    return completed(node, [read_reference(row, index) for index, row in enumerate(rows)])


def completed(node: SchemaNode | None, values: Sequence[Any]) -> SchemaNode:
    """Complete a node with what values have that it lacks; None: make one of the values.

    Example:
        >>> completed(Branch({"a": Leaf("date")}), [{"a": "2024", "b": [{"c": 1}, {"c": 0.5}]}]).children["b"]
        ListOf(item=Branch(children={'c': Leaf(type='number', choices=())}, required=frozenset({'c'})))
    """
    while any(isinstance(value, AnyOf) for value in values):
        values = [*chain(*(value.values if isinstance(value, AnyOf) else (value,) for value in values))]
    parts = node.parts if isinstance(node, OneOf) else () if node is None else (node,)
    if node and any(isinstance(part, Again) or (isinstance(part, Leaf) and not is_scalar(part)) for part in parts):
        return node  # takes everything as it is
    kinds: dict[type, Any] = {type(part): part for part in parts}
    trees = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    names = [_TYPES.get(type(value), "any") for value in values if not isinstance(value, dict | list | None)]
    if trees:
        kinds[Branch] = _completed_branch(kinds.get(Branch), trees)
    if lists:
        outer = kinds.get(ListOf, ListOf(Leaf("any")))
        item = completed(outer.item if ListOf in kinds else None, [*chain(*lists)])
        kinds[ListOf] = replace(outer, item=item)
    if Leaf not in kinds and (names or not kinds):
        kinds[Leaf] = any_leaf([*map(Leaf, names or ["any"])])
    nodes = [kinds[kind] for kind in (Branch, ListOf, Leaf) if kind in kinds]
    return nodes[0] if len(nodes) == 1 else OneOf(tuple(nodes))


def _completed_branch(branch: Branch | None, trees: Sequence[dict[Any, Any]]) -> Branch:
    keys = dict.fromkeys(chain(*trees))
    columns = {key: [tree[key] for tree in trees if key in tree] for key in keys}
    if branch is None:
        required = frozenset(key for key, column in columns.items() if len(column) == len(trees))
        return Branch({key: completed(None, column) for key, column in columns.items()}, required)
    others = [key for key in keys if key not in branch.children]
    children = {key: completed(child, columns.get(key, [])) for key, child in branch.children.items()}
    if branch.rest is None:
        return replace(branch, children=children | {key: completed(None, columns[key]) for key in others})
    rest = completed(branch.rest.item, [*chain(*(columns[key] for key in others))])
    return replace(branch, children=children, rest=replace(branch.rest, item=rest))
