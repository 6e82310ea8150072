"""How many nodes and leaves a value has: what an absent branch misses, and what an extra one adds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tls_tasks.trees.plan import BranchPlan, LeafPlan, ListPlan, NodePlan


def count_nodes(tree: Any, *, only_leaves: bool = False, items: bool = False) -> int:
    """The nodes below a value, whatever the schema: the keys of dictionaries at any depth.

    Args:
        tree: A tree of any depth; what is no dictionary has nothing below it.
        only_leaves: Whether keys of dictionaries are left out.
        items: Whether items of lists count too: a scalar as one, a dictionary and a list for what is in them.

    Example:
        >>> tree = {"a": 1, "b": {"c": 1, "d": {"e": 0, "f": [0, 1]}}}
        >>> count_nodes(tree), count_nodes(tree, only_leaves=True), count_nodes(tree, items=True)
        (6, 4, 8)
    """
    nodes, layer = 0, [tree]
    while layer:  # no recursion: nobody has looked how deep it is
        deeper: list[Any] = []
        for value in layer:
            if isinstance(value, dict):
                inner = sum(isinstance(one, dict) for one in value.values()) if only_leaves else 0
                nodes += len(value) - inner
                deeper += value.values()
            elif items and isinstance(value, list):
                nodes += sum(not isinstance(one, dict | list) for one in value)
                deeper += value
        layer = deeper
    return nodes


def nodes_below(plan: NodePlan, value: Any, items: bool) -> int:
    """The nodes below a node of the schema with this value; a leaf has none, whatever its value.

    Args:
        plan: The node.
        value: Its value, of the right type or not.
        items: Whether items of lists count.
    """
    if isinstance(plan, BranchPlan) and isinstance(value, dict):
        return sum(
            1 + (nodes_below(plan.children[key], one, items) if key in plan.children else count_nodes(one, items=items))
            for key, one in value.items()
        )
    if items and isinstance(plan, ListPlan) and isinstance(value, list):
        return sum(item_nodes(plan.item, value, items))
    return 0


def item_nodes(plan: NodePlan, values: Sequence[Any], items: bool) -> list[int]:
    """The nodes of each item of a list: what is below a dictionary or a list, 1 for all else.

    Args:
        plan: The node of the items.
        values: The items.
        items: Whether items of lists count within them; if not, it is as treeval counts.
    """
    if isinstance(plan, LeafPlan):
        return [1] * len(values)
    if isinstance(plan, BranchPlan):
        if not items:
            return [count_nodes(one) if isinstance(one, dict) else 1 for one in values]
        return [nodes_below(plan, one, items) if isinstance(one, dict) else 1 for one in values]
    return [nodes_below(plan, one, True) if isinstance(one, list) else 1 for one in values]
