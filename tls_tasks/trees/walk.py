"""The walk along the schema through trees and their references: nodes are counted, leaves scored.

It goes through all trees at once, one key after the other: the values of a key are a column on each side. The same walk
serves pairs of trees, and all pairs of items of two lists, where it finds how well they fit together. A dictionary that
is absent, null or of another type is walked as an empty one, and a list as an empty list, so that what is missed or too
many below it is counted where it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import repeat
from operator import is_
from typing import Any

import numpy as np

from tls_tasks.trees.align import Matches, align
from tls_tasks.trees.answers import has_answers, walk_answers
from tls_tasks.trees.columns import are_single, columns, count_lists, with_empty
from tls_tasks.trees.compliance import slips
from tls_tasks.trees.found import COUNTS, LACKING, OUTSIDE, UNSURE, Choices, Found, Links, seen_part
from tls_tasks.trees.leaves import BadReferenceError, Leaves
from tls_tasks.trees.nodes import (
    ABSENT,
    MAYBE,
    MISSING,
    NULL,
    VALUE,
    WRONG,
    count_nodes,
    fields_with_value,
    item_nodes,
    nodes_below,
    schema_nodes,
    split,
    values_outside,
)
from tls_tasks.trees.pairs import ALIKE, GUIDE, SINGLE, Array, Pairs, Sides, States, Tally, at
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import EACH_KEY, Again, AnyOf, Branch, ListOf, OneOf, Path, SchemaNode


def _are_dictionaries(value: Any) -> bool:
    """Whether this is several dictionaries."""
    return isinstance(value, AnyOf) and all(isinstance(one, dict) or _are_dictionaries(one) for one in value.values)


class Walk(Leaves):
    """Walks along a plan.

    Args:
        plan: The schema and its settings.
        has_details: Whether it matters what each leaf is, and which items belong together, or only the scores.
    """

    def __init__(self, plan: Plan, has_details: bool = True) -> None:
        super().__init__(plan, has_details)
        self.has_item_nodes = plan.options.list_items == "nodes"
        self.links: list[Links | Choices] = []

    def trees(self, expected: list[Any], given: list[Any]) -> Found:
        """Walk pairs of trees; a prediction is :data:`~tls_tasks.trees.nodes.MISSING` where nothing could be read.

        Raises:
            BadReferenceError: If a reference does not follow the schema.
        """
        root, n, tally = self.plan.root, len(expected), Tally()
        if not isinstance(root, Branch):
            tally.add(UNSURE, np.array([tree is None for tree in given]))
            self._value(root, Sides(expected, given, Pairs.aligned(n)), tally, ())
        elif all(isinstance(tree, dict) or _are_dictionaries(tree) for tree in expected):
            trees = [tree if isinstance(tree, dict) else {} for tree in given]
            tally.add(UNSURE, np.array([not isinstance(tree, dict) for tree in given], dtype=np.int64))
            tally.add(
                OUTSIDE, np.array([0 if isinstance(tree, dict) else values_outside(root, tree) for tree in given])
            )
            sides = Sides(expected, trees, Pairs.aligned(n))
            if has_answers(root, expected):
                self._several(partial(self._branch, root), root, sides, tally, ())
            else:
                self._branch(root, sides, tally, ())
        else:
            raise BadReferenceError
        return Found.of(self.plan, tally, n, self.links)

    def _several(self, walk: Callable[..., None], node: SchemaNode, sides: Sides, tally: Tally, path: Path) -> None:
        """Walk references with several answers; ``walk`` walks those with one."""
        self.links += walk_answers(self, partial(walk, path=path), node, sides, tally, path)

    # --- dictionaries ---

    def _branch(self, node: Branch, sides: Sides, tally: Tally, path: Path) -> None:
        """Walk dictionaries."""
        left, n_left = columns(node, sides.references)
        right, n_right = columns(node, sides.predictions)
        if n_left < sum(map(len, sides.references)) and not self.is_loose and node.rest is None:
            raise BadReferenceError
        if self.has_details and node.required and n_right < len(right) * len(sides.predictions):
            for column in [column for key, column in zip(node.children, right, strict=True) if key in node.required]:
                is_missing = np.fromiter(map(is_, column, repeat(MISSING)), dtype=np.int64, count=len(column))
                tally.add(LACKING, is_missing[sides.pairs.columns])
        if n_right < sum(map(len, sides.predictions)) and node.rest is None:
            unknown = np.array([self._unknown_nodes(node, tree) for tree in sides.predictions])[sides.pairs.columns]
            tally.add("node_fp", unknown)
            tally.add(UNSURE, unknown)
            if self.has_details:
                lost = [
                    sum(values_outside(None, value) for key, value in tree.items() if key not in node.children)
                    for tree in sides.predictions
                ]
                tally.add(OUTSIDE, np.array(lost)[sides.pairs.columns])
        for (key, child), expected, given in zip(node.children.items(), left, right, strict=True):
            self._value(child, sides.of(expected, given), tally, (*path, key))
        if node.rest is not None:
            others = [
                [{key: value for key, value in tree.items() if key not in node.children} for tree in trees]
                for trees in (sides.references, sides.predictions)
            ]
            if any(map(any, others)):
                self._list(node.rest, sides.of(*others), tally, (*path, EACH_KEY))

    def _unknown_nodes(self, node: Branch, tree: dict[Any, Any]) -> int:
        """The nodes of keys that the schema doesn't have."""
        unknown = [value for key, value in tree.items() if key not in node.children]
        if self.plan.follows_treeval:
            return len(unknown)
        return len(unknown) + sum(count_nodes(value, items=self.has_item_nodes) for value in unknown)

    def _value(self, node: SchemaNode, sides: Sides, tally: Tally, path: Path) -> None:
        """Walk the values of a key."""
        is_again = isinstance(node, Again)
        while isinstance(node, Again):
            node = node.node
        if has_answers(node, sides.references):
            self._several(partial(self._value, node), node, sides, tally, path)
            return
        if isinstance(node, OneOf):
            for part, own in self._parts(node, sides):
                below = Tally()
                self._value(part, own, below, path)
                if isinstance(part, Field):  # what is of another kind is not absent
                    are_scalars = are_single(sides)
                    tally.merge(below, are_scalars[0] & are_scalars[1], [f"absent|{part.name}"])
                else:
                    tally.merge(below)
            return
        left, right = self.both_states(node, sides, tally)
        states = None if left is None and right is None else States(left, right, sides)
        self._presence(node, states, tally)
        if isinstance(node, Field):
            self.leaf(node, sides, states, tally)
            return
        if self.plan.follows_treeval:
            is_seen = 1 if states is None else (states.left == VALUE) & states.has_right
            tally.add(seen_part(path), is_seen)
        if states is None:
            self._below(node, sides, tally, path)
            return
        self._outside(node, sides, right, tally)
        if is_again and not any(own is None or (own == VALUE).any() for own in (left, right)):
            return  # a schema within itself goes on for as long as there is something in it
        if self.plan.follows_treeval:
            self._as_treeval(node, sides, states, tally)
        below = Tally()
        self._below(node, with_empty(node, sides, left, right), below, path)
        tally.merge(below, self._counts_below(node, states), COUNTS)
        if isinstance(node, ListOf) and isinstance(node.item, Field):
            self.add_worst(node.item, (states.left == VALUE) & (states.right == WRONG), tally)

    def _presence(self, node: SchemaNode, states: States | None, tally: Tally) -> None:
        """Whether the node itself is in both trees, and whether its values are."""
        if states is None:
            tally.add("node_tp", 1)
            tally.add("leaf_tp", int(not isinstance(node, Branch)))
            return
        in_left, in_right = states.left != ABSENT, states.right != ABSENT
        both = in_left & in_right
        tally.add("node_tp", both)
        tally.add("node_fp", in_right & ~in_left)
        tally.add("node_fn", ~in_right & (in_left | self.plan.follows_treeval))
        if not isinstance(node, Branch):
            tally.add("leaf_tp", both & states.has_left & states.has_right)
            tally.add("leaf_fn", both & states.has_left & ~states.has_right)
            tally.add("leaf_fp", both & ~states.has_left & states.has_right)

    def _outside(self, node: SchemaNode, sides: Sides, right: Array | None, tally: Tally) -> None:
        """Count the values of predictions that have something else than the dictionary or list that should be there."""
        if self.has_details and right is not None and (right == WRONG).any():
            lost = [
                values_outside(node, value) if state == WRONG else 0
                for value, state in zip(sides.predictions, right.tolist(), strict=True)
            ]
            tally.add(OUTSIDE, np.array(lost)[sides.pairs.columns])

    def _counts_below(self, node: SchemaNode, states: States) -> Array | None:
        """In which pairs nodes below this one count, and not only what each leaf is; None: in all."""
        if self.plan.follows_treeval or (isinstance(node, ListOf) and not self.has_item_nodes):
            is_walked = (states.right == VALUE) | ((states.right == WRONG) & isinstance(node, ListOf))
            live: Array = (states.left == VALUE) & is_walked
            return live
        return None

    def _as_treeval(self, node: SchemaNode, sides: Sides, states: States, tally: Tally) -> None:
        """Count what treeval counts below a dictionary or list that one of the trees lacks, or has as null."""
        is_missed = (states.right == ABSENT) | ((states.left >= VALUE) & (states.right == NULL))
        is_extra, columns = (states.left == NULL) & states.has_right, sides.pairs.columns
        if isinstance(node, Branch) or self.has_item_nodes:
            sizes = [
                nodes_below(node, value) if self.has_item_nodes else count_nodes(value) for value in sides.predictions
            ]
            tally.add("node_fp", is_extra * np.array(sizes)[columns])
        if isinstance(node, Branch):
            leaves = np.array([count_nodes(value, only_leaves=True) for value in sides.predictions])
            tally.add("node_fn", is_missed * schema_nodes(node))
            tally.add("leaf_fn", is_missed * schema_nodes(node, only_leaves=True))
            tally.add("leaf_fp", is_extra * leaves[columns])

    def _below(self, node: SchemaNode, sides: Sides, tally: Tally, path: Path) -> None:
        if isinstance(node, Branch):
            self._branch(node, sides, tally, path)
        elif isinstance(node, ListOf):
            self._list(node, sides, tally, path)

    # --- lists ---

    def _list(self, node: ListOf, sides: Sides, tally: Tally, path: Path) -> None:
        """Walk lists: align their items, and walk those that belong together."""
        matches, within = align(self, node, sides), Tally()
        outer, self.links = self.links, []
        if len(matches.owners):
            matched = self._matched(node, matches, path)
            matched.pop(ALIKE, None)
            matched.pop(SINGLE, None)
            for name, amount in matched.items():
                within[name] = sides.pairs.sums(matches.counted(name, amount), matches.owners)
        if self.plan.follows_treeval and sides.are_items:
            count_lists(within)
        if self.has_details:
            outer.append(Links(path, matches, self.links))
        self.links = outer
        self._unmatched(node, matches.of(GUIDE), sides, within)
        tally.merge(within)

    def _matched(self, node: ListOf, matches: Matches, path: Path) -> Tally:
        """What is counted of items that belong together; only those are walked that were not when they were weighed."""
        n, (known, amounts), matched = len(matches.owners), matches.known(), Tally()
        if len(known) == n:
            return amounts
        is_left = np.ones(n, dtype=bool)
        is_left[known] = False
        left = np.flatnonzero(is_left)
        references, predictions = (at(own, left) for own in matches.items())
        walk = self._value if node.is_keyed else self.items
        walk(node.item, Sides(references, predictions, Pairs.aligned(len(left)), are_items=True), matched, path)
        if not len(known):
            return matched
        both = Tally()
        for name in {**amounts, **matched}:
            one, other = amounts.get(name, 0), np.asarray(matched.get(name, 0))
            both[name] = np.zeros(n, dtype=np.result_type(one, other))
            both[name][known], both[name][left] = one, other
        return both

    def _unmatched(self, node: ListOf, matches: Matches, sides: Sides, within: Tally) -> None:
        """Count the nodes and the leaves of items without counterpart; leaves of nothing at all are rightly absent."""
        pairs = sides.pairs
        for kind, part, lists, found, places in (
            ("missed", "node_fn", matches.left, matches.rows, pairs.rows),
            ("invented", "node_fp", matches.right, matches.columns, pairs.columns),
        ):
            if len(found) == len(lists.items) and pairs.rows is pairs.columns:
                continue
            sizes = np.ones(len(lists.items), dtype=np.int64)
            if not isinstance(node.item, Field):
                sizes[:] = [
                    1 + nodes_below(node.item, item)
                    if node.is_keyed
                    else item_nodes(node.item, item, self.has_item_nodes)
                    for item in lists.items
                ]
            within.add(part, lists.totals(sizes)[places] - pairs.sums(sizes[found], matches.owners))
            if self.has_details:
                self._alone(node.item, kind, *lists.without(found), pairs, within)
        if isinstance(node.item, Field) and self.has_details:
            is_empty = (matches.left.lengths[pairs.rows] == 0) & (matches.right.lengths[pairs.columns] == 0)
            within.add(f"absent|{node.item.name}", is_empty)

    def _alone(self, node: SchemaNode, kind: str, owners: Array, items: list[Any], pairs: Pairs, within: Tally) -> None:
        """Count the leaves of items without counterpart, each with the pair that owns it."""
        known = {type(None), *(node.types if isinstance(node, Field) else ())}
        are_known = np.fromiter(map(known.__contains__, map(type, items)), dtype=bool, count=len(items))
        unknown = [items[place] for place in np.flatnonzero(~are_known).tolist()]
        if kind == "missed" and not self.is_loose and any(slips(item, node) for item in unknown):
            raise BadReferenceError
        if kind == "invented":
            is_plain = isinstance(node, Field) and not node.is_checked
            within.add(UNSURE, pairs.sums(1, owners[~are_known] if is_plain else owners))
            if not isinstance(node, Field):
                within.add(OUTSIDE, pairs.sums(np.array([values_outside(node, item) for item in items]), owners))
        by_field: dict[int, list[int]] = {}
        if isinstance(node, Field) and not unknown:
            by_field[node.index] = [place for place, item in enumerate(items) if item is not None]
        else:
            for place, item in enumerate(items):
                for field in fields_with_value(node, item, self.is_loose):
                    by_field.setdefault(field.index, []).append(place)
        for index, places in by_field.items():
            amounts = pairs.sums(1, owners[places])
            within.add(f"{kind}|{self.plan.fields[index].name}", amounts)
            if kind == "missed":
                within.add(f"wanted|{self.plan.fields[index].name}", amounts)
            if self.plan.options.unmatched_items == "worst":
                self.add_worst(self.plan.fields[index], amounts, within)

    def items(self, node: SchemaNode, sides: Sides, tally: Tally, path: Path = ()) -> None:
        """Walk items of lists; lists add nothing to the path."""
        while isinstance(node, Again):
            node = node.node
        if has_answers(node, sides.references):
            self._several(partial(self.items, node), node, sides, tally, path)
            return
        if isinstance(node, OneOf):
            self._kinds_of_items(node, sides, tally, path)
            return
        left, right = self.both_states(node, sides, tally)
        if isinstance(node, Field):
            tally.add("node_tp", int(self.has_item_nodes))
            if self.plan.follows_treeval:  # null is a value like any other
                left, right = (None if side is None else np.maximum(side, VALUE) for side in (left, right))
        states = None if left is None and right is None else States(left, right, sides)
        if states is not None:
            tally[ALIKE] = ((states.left == NULL) | (states.left == MAYBE)) & (states.right == NULL)
        if isinstance(node, Field):
            self.leaf(node, sides, states, tally)
            return
        if states is not None:  # an item that isn't a dictionary (a list) is one node
            tally.add("node_tp", tally[ALIKE])
            tally.add("node_fn", (states.left != VALUE) & ~tally[ALIKE])
            tally.add("node_fp", (states.right != VALUE) & ~tally[ALIKE])
            self._outside(node, sides, right, tally)
        self._below(node, with_empty(node, sides, left, right), tally, path)

    def _kinds_of_items(self, node: OneOf, sides: Sides, tally: Tally, path: Path) -> None:
        """Walk items that may be of several kinds; null or a scalar is one node."""
        left, right = are_single(sides)
        nulls = [np.array([value is None for value in own]) for own in (sides.references, sides.predictions)]
        tally[ALIKE] = nulls[0][sides.pairs.rows] & nulls[1][sides.pairs.columns]
        tally[SINGLE] = left | right
        tally.add("node_tp", (left & right) * int(self.has_item_nodes))
        tally.add("node_fn", (left & ~right) * int(self.has_item_nodes))
        tally.add("node_fp", (~left & right) * int(self.has_item_nodes))
        for part, own in self._parts(node, sides):
            states = self.both_states(part, own, tally)
            if isinstance(part, Field):
                below = Tally()
                self.leaf(part, own, States(*states, own), below)
                tally.merge(below, left & right, [f"absent|{part.name}"])
            else:
                self._outside(part, own, states[1], tally)
                self._below(part, with_empty(part, own, *states), tally, path)

    def _parts(self, node: OneOf, sides: Sides) -> Iterator[tuple[SchemaNode, Sides]]:
        """Each part of a node with its own values; but for leaves only those that have any."""
        left, right = split(node, sides.references), split(node, sides.predictions)
        for part, expected, given in zip(node.parts, left, right, strict=True):
            if isinstance(part, Field) or any(value is not MISSING for value in [*expected, *given]):
                yield part, sides.of(expected, given)
