"""The lists of one side as one flat sequence, and which of their items belong together.

A list is a stretch of the sequence. Where ties must not depend on the order of the lists, each stretch is sorted first,
so that lists that look equal are equal item by item.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tls_tasks.trees.nodes import count_nodes
from tls_tasks.trees.pairs import Array
from tls_tasks.trees.plan import BranchPlan, LeafPlan, ListPlan, NodePlan


class Side:
    """The lists of one side, one after the other.

    Args:
        lists: The lists.
        sorted_by: What the items are, if each list is to be sorted.

    Attributes:
        items: All items.
        keys: What the items were sorted by; None if they stand as given.
        places: Where each item stands in its own list as given.
        lengths: Of each list.
        starts: Where each list begins.
    """

    __slots__ = ("items", "keys", "lengths", "places", "starts")

    def __init__(self, lists: Sequence[list[Any]], sorted_by: NodePlan | None) -> None:
        self.items: list[Any] = [item for one in lists for item in one]
        self.lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
        self.starts = np.concatenate(([0], np.cumsum(self.lengths)[:-1])) if len(lists) else self.lengths
        self.places: list[int] = [place for one in lists for place in range(len(one))]
        self.keys: list[str] | None = None
        if sorted_by is not None:
            self._sort(sorted_by)

    def _sort(self, plan: NodePlan) -> None:
        """Sort each list by what scoring can see of its items, as text."""
        is_text = set(map(type, self.items)) <= {str}
        keys = self.items if is_text else [_sort_key(plan, one) for one in self.items]
        order: list[int] = []
        for start, length in zip(self.starts.tolist(), self.lengths.tolist(), strict=True):
            stretch = range(start, start + length)
            order += sorted(stretch, key=keys.__getitem__) if length > 1 else stretch
        self.keys = [keys[i] for i in order]
        self.places = [self.places[i] for i in order]
        self.items = self.keys if is_text else [self.items[i] for i in order]

    def totals(self, amounts: Array) -> Array:
        """The sum over each list's items."""
        owners = np.repeat(np.arange(len(self.lengths)), self.lengths)
        return np.bincount(owners, weights=amounts, minlength=len(self.lengths)).astype(np.int64)


def _sort_key(plan: NodePlan, value: Any) -> str:
    """A text that two values share if no score can tell them apart."""
    return value if type(value) is str and isinstance(plan, LeafPlan) else "\0" + _visible(plan, value)


def _visible(plan: NodePlan, value: Any) -> str:
    """What can be seen of a value: neither the order of keys, nor that of lists that are compared in any order."""
    if isinstance(plan, BranchPlan) and isinstance(value, dict):
        known = [_visible(child, value[key]) if key in value else "" for key, child in plan.children.items()]
        unknown = [count_nodes(one, items=True) for key, one in value.items() if key not in plan.children]
        return f"{{{','.join(known)}{sorted(unknown) if unknown else ''}}}"
    if isinstance(plan, ListPlan) and isinstance(value, list):
        items = [_visible(plan.item, one) for one in value]
        return f"[{','.join(sorted(items) if plan.order == 'unordered' else items)}]"
    if isinstance(value, str):
        return repr(str.__str__(value))
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)


@dataclass(frozen=True, slots=True)
class Matches:
    """Which items belong together.

    Attributes:
        left: The references' lists.
        right: The predictions' lists.
        owners: The pair of lists, one a match, in ascending order.
        reference_places: The item's place among all items of the references.
        prediction_places: Likewise of the predictions.
    """

    left: Side
    right: Side
    owners: Array
    reference_places: Array
    prediction_places: Array

    @property
    def references(self) -> list[Any]:
        """The items of the references."""
        return [self.left.items[i] for i in self.reference_places.tolist()]

    @property
    def predictions(self) -> list[Any]:
        """The items of the predictions."""
        return [self.right.items[i] for i in self.prediction_places.tolist()]

    @property
    def places(self) -> tuple[list[int], list[int]]:
        """Where the items stand in their own lists as given."""
        return (
            [self.left.places[i] for i in self.reference_places.tolist()],
            [self.right.places[i] for i in self.prediction_places.tolist()],
        )

    def unmatched(self) -> Iterator[tuple[str, Array, list[Any]]]:
        """``missed`` and ``invented``: the lists of items without counterpart, and these items; of aligned lists."""
        for name, side, found in (
            ("missed", self.left, self.reference_places),
            ("invented", self.right, self.prediction_places),
        ):
            if len(found) == len(side.items):
                continue
            alone = np.ones(len(side.items), dtype=np.bool_)
            alone[found] = False
            owners = np.repeat(np.arange(len(side.lengths)), side.lengths)[alone]
            yield name, owners, [side.items[i] for i in np.flatnonzero(alone).tolist()]
