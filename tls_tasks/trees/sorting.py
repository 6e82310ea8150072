"""The order in which items of lists are paired, so that their order in the lists never matters; and how many are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tls_tasks.trees.grid import Row, flat_leaves, flat_row
from tls_tasks.trees.nodes import count_nodes
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import AnyOf, Branch, ListOf, SchemaNode, part_for

ALIGNED = 250_000
"""How many pairs of items of two lists, and of items within them, are compared at most: bounds the time.

A list may always have four times as many items as the reference's, whatever the number of pairs.
"""


class SortedItems(NamedTuple):
    """A list in the order in which its items are paired.

    Attributes:
        positions: The position of each item in the list.
        keys: What the list is sorted by, a text an item, unless it stays as it is.
        rows: The values of each flat item; None for others.
        sizes: How many items each item is with those of all lists within it.
    """

    positions: Sequence[int]
    keys: Sequence[str]
    rows: Sequence[Row | None]
    sizes: Sequence[int]

    @classmethod
    def of(cls, items: Sequence[Any], node: SchemaNode, stays: bool) -> SortedItems:
        """Sort items; ``stays``: leave them as they stand, as treeval does."""
        is_flat, keys = bool(flat_leaves(node)), [sort_key(node, item) for item in items]
        positions = range(len(items)) if stays else sorted(range(len(items)), key=keys.__getitem__)
        rows, sizes = list[Row | None](), list[int]()
        for item in (items[index] for index in positions):
            rows.append(flat_row(node, item) if is_flat and not (stays and item is None) else None)  # treeval: a value
            sizes.append(1 if rows[-1] else 1 + count_nodes(item, items=True) - count_nodes(item))
        return cls(positions, [keys[index] for index in positions], rows, sizes)


def candidates(references: SortedItems, predictions: SortedItems) -> Sequence[int]:
    """Choose the predictions that are compared: of equal ones as many as can find another, and as many as affordable.

    Models that repeat themselves write the longest lists. What an answer has beyond :data:`ALIGNED` is too much,
    whatever it is; the items that stand first are compared, but for those that are too large themselves.
    """
    n, keys = len(references.keys), predictions.keys
    columns = [column for column in range(len(keys)) if column < n or keys[column] != keys[column - n]]
    n_compared = sum(references.sizes)
    budget, affordable = max(ALIGNED // n_compared, 4 * n_compared), list[int]()
    for column in sorted(columns, key=predictions.positions.__getitem__):
        if predictions.sizes[column] <= budget:
            affordable.append(column)
            budget -= predictions.sizes[column]
    return columns if len(affordable) == len(columns) else sorted(affordable)


def sort_key(node: SchemaNode, value: Any) -> str:
    """Return a text that two items of a list share if no score can tell them apart."""
    keys = {sort_key(node, answer) for answer in value.values} if isinstance(value, AnyOf) else ()
    if len(keys) == 1:  # the same answer several times is that answer
        return keys.pop()
    return value if type(value) is str and isinstance(node, Field) else "\0" + _visible(node, value)


def _visible(node: SchemaNode, value: Any) -> str:
    """Write what is seen of a value: neither the order of keys, nor that of lists that are compared in any order."""
    if isinstance(value, str):
        return repr(str.__str__(value))
    if isinstance(value, AnyOf):
        return " | ".join(dict.fromkeys(_visible(node, answer) for answer in value.values))
    kind, node = type(value), part_for(node, value)
    if kind is dict and isinstance(node, Branch):
        texts = [_visible(child, value[key]) if key in value else "" for key, child in node.children.items()]
        others = {key: child for key, child in value.items() if key not in node.children}
        if node.rest is not None:
            texts += sorted(f"{key!r}:{_visible(node.rest.item, child)}" for key, child in others.items())
            return f"{{{','.join(texts)}}}"
        sizes = sorted(count_nodes(child, items=True) for child in others.values())
        return f"{{{','.join(texts)}{sizes or ''}}}"
    if kind is list and isinstance(node, ListOf):
        items = [_visible(node.item, item) for item in value]
        return f"[{','.join(items if node.is_ordered else sorted(items))}]"
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)
