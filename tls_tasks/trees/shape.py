"""Infer a schema from the shape of reference trees, where the caller gives none."""

import datetime
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from tls_tasks.core.rows import read_columns
from tls_tasks.trees.rows import read_reference
from tls_tasks.trees.types import AnyOf, Branch, Leaf, ListOf, SchemaNode, UnionNode, merged

_TYPES: Mapping[type, str] = {
    **{str: "string", bool: "boolean", int: "integer", float: "number"},
    **{datetime.date: "date", datetime.datetime: "datetime"},
}


def infer_schema(predictions: Any, references: Any) -> SchemaNode:
    """Make a schema of the references; the columns are those of :func:`~tls_tasks.trees.tree_eval.tree_eval`.

    Raises:
        InputError: Columns or references that can't be read.
    """
    _, rows = read_columns(predictions=predictions, references=references)
    return infer_node([read_reference(row, index) for index, row in enumerate(rows)])


def infer_node(values: Sequence[Any]) -> SchemaNode:
    """Make a node that holds all values.

    Example:
        >>> infer_node([{"a": "2024", "b": [{"c": 1}, {"c": 0.5}]}]).children["b"]
        ListOf(item=Branch(children={'c': Leaf(type='number', choices=())}, required=frozenset({'c'})))
    """
    while any(isinstance(value, AnyOf) for value in values):
        values = [*chain(*(value.values if isinstance(value, AnyOf) else (value,) for value in values))]
    trees = [value for value in values if isinstance(value, dict)]
    lists = [value for value in values if isinstance(value, list)]
    names = [_TYPES.get(type(value), "any") for value in values if not isinstance(value, dict | list | None)]
    nodes: list[SchemaNode] = []
    if trees:
        columns = {key: [tree[key] for tree in trees if key in tree] for key in dict.fromkeys(chain(*trees))}
        required = frozenset(key for key, column in columns.items() if len(column) == len(trees))
        nodes.append(Branch({key: infer_node(column) for key, column in columns.items()}, required))
    if lists:
        nodes.append(ListOf(infer_node([*chain(*lists)])))
    if names or not nodes:
        nodes.append(merged([*map(Leaf, names or ["any"])]))
    return nodes[0] if len(nodes) == 1 else UnionNode(tuple(nodes))
