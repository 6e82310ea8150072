"""The order in which items of lists are paired, so that their order in the lists never matters; and how many are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.trees.nodes import MISSING, children_of, count_nodes, has_answers
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import AnyOf, Branch, ListOf, SchemaNode, part_for, resolved

ALIGNED = 250_000
"""How many pairs of items of two lists, and of items within them, are compared at most: bounds the time.

A list may always have four times as many items as the reference's, whatever the number of pairs.
"""

Row = list[Any]
"""The values of a flat item (a leaf, or dictionaries of leaves whose values have their types), leaf by leaf."""


@dataclass(slots=True, eq=False)
class SortedItems:
    """The items of a list in the order in which they are paired.

    Attributes:
        items: The items.
        positions: The position of each item in the list.
        keys: What the list is sorted by, a text an item, unless it stays as it is.
        rows: The values of each flat item; None for others.
    """

    items: Sequence[Any]
    positions: Sequence[int]
    keys: Sequence[str]
    rows: Sequence[Row | None]

    def take(self, indices: Sequence[int]) -> SortedItems:
        """Return some of the items."""
        columns: Any = (self.items, self.positions, self.keys, self.rows)
        return SortedItems(*([column[index] for index in indices] for column in columns))


def sorted_items(items: Sequence[Any], node: SchemaNode, stays: bool) -> SortedItems:
    """Sort the items of a list; ``stays``: leave them as they stand, as treeval does."""
    is_flat = bool(flat_leaves(node))
    rows = [flat_row(node, item) if is_flat and not (stays and item is None) else None for item in items]
    keys = [sort_key(node, item) for item in items]
    whole = SortedItems(items, range(len(items)), keys, rows)
    return whole if stays else whole.take(sorted(range(len(items)), key=keys.__getitem__))


def candidates(references: SortedItems, predictions: SortedItems) -> SortedItems:
    """Choose the predictions that are compared: of equal ones as many as can find another, and as many as affordable.

    Models that repeat themselves write the longest lists. What an answer has beyond :data:`ALIGNED` is too much,
    whatever it is; the items that stand first are compared, but for those that are too large themselves.
    """
    n, keys = len(references.keys), predictions.keys
    columns = [column for column in range(len(keys)) if column < n or keys[column] != keys[column - n]]
    n_compared, affordable = sum(map(n_items, references.items, references.rows)), list[int]()
    budget = max(ALIGNED // n_compared, 4 * n_compared)
    for column in sorted(columns, key=predictions.positions.__getitem__):
        if (size := n_items(predictions.items[column], predictions.rows[column])) <= budget:
            affordable.append(column)
            budget -= size
    return predictions if len(affordable) == len(keys) else predictions.take(sorted(affordable))


def n_items(item: Any, row: Row | None) -> int:
    """Count an item with the items of all lists within it; a flat one, which has a row, has none."""
    return 1 if row else 1 + count_nodes(item, items=True) - count_nodes(item)


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
        others = {key: value[key] for key in value if key not in node.children}
        if node.rest is None:
            return f"{{{','.join(texts)}{sorted(count_nodes(child, items=True) for child in others.values()) or ''}}}"
        texts += sorted(f"{key!r}:{_visible(node.rest.item, child)}" for key, child in others.items())
        return f"{{{','.join(texts)}}}"
    if kind is list and isinstance(node, ListOf):
        items = [_visible(node.item, item) for item in value]
        return f"[{','.join(items if node.is_ordered else sorted(items))}]"
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)


# --- flat items ---


def flat_leaves(node: SchemaNode) -> list[Field]:
    """List the leaves of a node that is one or has nothing but dictionaries and leaves; empty for any other node."""
    if isinstance(node, Field):
        is_asked_once = all(metric.is_reflexive for metric in node.metrics)  # a caller's metric gets no pair twice
        return [node] if is_asked_once and not {str, int} <= node.types else []  # a number may be the same as a text
    if not isinstance(node, Branch) or node.rest:
        return []
    below = [flat_leaves(child) for child in node.children.values()]
    return [leaf for leaves in below for leaf in leaves] if all(below) else []


def flat_row(node: SchemaNode, item: Any) -> Row | None:
    """List the values of an item; None if one is of another type or a dictionary within is not there."""
    if isinstance(node, Field):
        return [item] if type(item) in node.types or item is None or item is MISSING else None
    if type(item) is not dict or not isinstance(node, Branch) or not item.keys() <= node.children.keys():
        return None
    row: Row = []
    for key, child in node.children.items():
        below = flat_row(child, item.get(key, MISSING))
        if below is None:
            return None
        row += below
    return row


def flat_lists(node: SchemaNode, value: Any) -> Iterator[tuple[SchemaNode, list[Any]]]:
    """Yield the lists of flat items at and below a node, those of all answers, each with the node of its items."""
    kind = part_for(node, value)
    if has_answers(kind, value):
        for answer in value.values:
            yield from flat_lists(node, answer)
    elif isinstance(value, dict | list):
        if isinstance(kind, ListOf) and isinstance(value, list) and flat_leaves(resolved(kind.item)):
            yield resolved(kind.item), value
        for inner, child in children_of(kind, value):
            if inner is not None:
                yield from flat_lists(inner, child)
