"""What is counted of items of lists that have no counterpart."""

from __future__ import annotations

from typing import Any

import numpy as np

from tls_tasks.trees.align import Lists, Matches
from tls_tasks.trees.compliance import slips
from tls_tasks.trees.counts import GUIDE, OUTSIDE, Array, Counts
from tls_tasks.trees.leaves import add_worst
from tls_tasks.trees.nodes import BadReferenceError, fields_with_value, item_nodes, nodes_below, values_outside
from tls_tasks.trees.pairs import Operands
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import ListOf, SchemaNode


def count_unmatched(
    plan: Plan, node: ListOf, matches: Matches, operands: Operands, counts: Counts, has_details: bool
) -> None:
    """Count the nodes of items without counterpart; ``has_details``: their leaves, too.

    Leaves of nothing at all are rightly absent.
    """
    pairs, is_guide = operands.pairs, matches.is_of[GUIDE]
    owners, rows, columns = matches.owners[is_guide], matches.rows[is_guide], matches.columns[is_guide]
    for kind, count, lists, matched, of_pair in (
        ("missed", "node_fn", matches.left, rows, pairs.rows),
        ("invented", "node_fp", matches.right, columns, pairs.columns),
    ):
        sizes = np.array([_size(plan, node, item) for item in lists.items], dtype=np.int64)
        counts.add(count, lists.totals(sizes)[of_pair] - pairs.sums(sizes[matched], owners))
        if has_details:  # then each list has its own counterpart
            _count_leaves(plan, node.item, kind, lists, matched, counts)
    if has_details and isinstance(node.item, Field) and not node.is_keyed:
        are_empty = (matches.left.lengths[pairs.rows] == 0) & (matches.right.lengths[pairs.columns] == 0)
        counts.add(f"absent|{node.item.name}", are_empty)


def _size(plan: Plan, node: ListOf, item: Any) -> int:
    """The nodes of an item."""
    if node.is_keyed:
        return 1 + nodes_below(node.item, item)
    return item_nodes(node.item, item, plan.options.list_items == "nodes")


def _count_leaves(plan: Plan, node: SchemaNode, kind: str, lists: Lists, matched: Array, counts: Counts) -> None:
    """Count the leaves of items without counterpart, each with the list that it is in.

    Raises:
        BadReferenceError: Such an item of a reference does not follow the schema.
    """
    is_alone, is_loose = np.ones(len(lists.items), dtype=bool), plan.options.types == "loose"
    is_alone[matched] = False
    list_of = np.repeat(np.arange(counts.n), lists.lengths)
    outside, by_field = np.zeros(counts.n, dtype=np.int64), dict[int, list[int]]()
    for index in np.flatnonzero(is_alone).tolist():
        item = lists.items[index]
        if kind == "missed" and not is_loose and item is not None and slips(item, node):
            raise BadReferenceError
        if kind == "invented":
            outside[list_of[index]] += values_outside(node, item)
        for field in fields_with_value(node, item, is_loose):
            by_field.setdefault(field.index, []).append(list_of[index])
    counts.add(OUTSIDE, outside)
    for number, owners in by_field.items():
        field, amounts = plan.fields[number], np.bincount(owners, minlength=counts.n)
        counts.add(f"{kind}|{field.name}", amounts)
        if kind == "missed":
            counts.add(f"wanted|{field.name}", amounts)
        if plan.options.unmatched_items == "worst":
            add_worst(field, amounts, counts)
