"""The walk along the schema through trees and their references: nodes are counted, leaves scored.

It goes through all trees at once, one key after the other: the values of a key are a column on each side. The same walk
serves pairs of trees, and all pairs of items of two lists, where it finds how well they fit together. A dictionary that
is absent, null or of another type is walked as an empty one, and a list as an empty list, so that what is missed or too
many below it is counted where it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress, repeat
from operator import is_, itemgetter
from typing import Any

import numpy as np

from tls_tasks.trees.align import Matches, align
from tls_tasks.trees.compliance import complies, slips
from tls_tasks.trees.found import COUNTS, LACKING, UNSURE, Found, Links, seen_part
from tls_tasks.trees.leaf_base import LeafMetric
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
    state_of,
)
from tls_tasks.trees.pairs import ALIKE, SINGLE, Array, Pairs, Sides, States, Tally
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import EACH_KEY, Again, Branch, ListOf, OneOf, Path, SchemaNode, all_nodes


class BadReferenceError(Exception):
    """A reference that doesn't comply with the schema. Never leaves the package: who catches it finds the row."""


class Walk:
    """Walks along a plan.

    Args:
        plan: The schema and its settings.
        has_details: Whether it matters what each leaf is, and which items belong together, or only the scores.
    """

    def __init__(self, plan: Plan, has_details: bool = True) -> None:
        self.plan, self.has_details = plan, has_details
        self.is_loose = plan.options.types == "loose"
        self.has_item_nodes = plan.options.list_items == "nodes"
        self.requires_keys = any(isinstance(own, Branch) and own.required for _, own in all_nodes(plan.root))
        self._links: list[Links] = []

    def trees(self, expected: list[Any], given: list[Any]) -> Found:
        """Walk pairs of trees; a prediction is :data:`~tls_tasks.trees.nodes.MISSING` where nothing could be read.

        Raises:
            BadReferenceError: If a reference does not follow the schema.
        """
        root, n, tally = self.plan.root, len(expected), Tally()
        if not isinstance(root, Branch):
            tally.add(UNSURE, np.array([tree is None for tree in given]))
            self._value(root, Sides(expected, given, Pairs.aligned(n)), tally, ())
        elif all(isinstance(tree, dict) for tree in expected):
            trees = [tree if isinstance(tree, dict) else {} for tree in given]
            tally.add(UNSURE, np.array([not isinstance(tree, dict) for tree in given], dtype=np.int64))
            self._branch(root, Sides(expected, trees, Pairs.aligned(n)), tally, ())
        else:
            raise BadReferenceError
        return Found.of(self.plan, tally, n, self._links)

    # --- dictionaries ---

    def _branch(self, node: Branch, sides: Sides, tally: Tally, path: Path) -> None:
        """Walk dictionaries."""
        left, n_left = _columns(node, sides.references)
        right, n_right = _columns(node, sides.predictions)
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
        while isinstance(node, Again):
            node = node.node
        if isinstance(node, OneOf):
            for part, own in self._parts(node, sides):
                below = Tally()
                self._value(part, own, below, path)
                if isinstance(part, Field):  # what is of another kind is not absent
                    are_scalars = _are_single(sides)
                    tally.merge(below, are_scalars[0] & are_scalars[1], [f"absent|{part.name}"])
                else:
                    tally.merge(below)
            return
        left, right = self._both_states(node, sides, tally)
        states = None if left is None and right is None else States(left, right, sides)
        self._presence(node, states, tally)
        if isinstance(node, Field):
            self._leaf(node, sides, states, tally)
            return
        if self.plan.follows_treeval:
            is_seen = 1 if states is None else (states.left == VALUE) & states.has_right
            tally.add(seen_part(path), is_seen)
        if states is None:
            self._below(node, sides, tally, path)
            return
        if self.plan.follows_treeval:
            self._as_treeval(node, sides, states, tally)
        below = Tally()
        self._below(node, _with_empty(node, sides, left, right), below, path)
        tally.merge(below, self._counts_below(node, states), COUNTS)
        if isinstance(node, ListOf) and isinstance(node.item, Field):
            self._add_worst(node.item, (states.left == VALUE) & (states.right == WRONG), tally)

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
        outer, self._links = self._links, []
        if len(matches.owners):
            matched = Tally()
            pairs = Pairs.aligned(len(matches.owners))
            walk = self._value if node.is_keyed else self.items
            walk(node.item, Sides(*matches.items(), pairs, are_items=True), matched, path)
            matched.pop(ALIKE, None)
            matched.pop(SINGLE, None)
            within.update({name: sides.pairs.sums(amount, matches.owners) for name, amount in matched.items()})
        if self.plan.follows_treeval and sides.are_items:
            _count_lists(within)
        if self.has_details:
            outer.append(Links(path, matches, self._links))
        self._links = outer
        self._unmatched(node, matches, sides, within)
        tally.merge(within)

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
            if self.plan.options.unmatched_items == "worst":
                self._add_worst(self.plan.fields[index], amounts, within)

    def _add_worst(self, field: Field, times: Array, tally: Tally) -> None:
        """Count each metric's worst score so many times."""
        if times.any():
            for metric in field.metrics:
                tally.add(field.part("sum", metric), times * metric.worst)
                tally.add(field.part("n", metric), times)

    def items(self, node: SchemaNode, sides: Sides, tally: Tally, path: Path = ()) -> None:
        """Walk items of lists; lists add nothing to the path."""
        while isinstance(node, Again):
            node = node.node
        if isinstance(node, OneOf):
            self._kinds_of_items(node, sides, tally, path)
            return
        left, right = self._both_states(node, sides, tally)
        if isinstance(node, Field):
            tally.add("node_tp", int(self.has_item_nodes))
            if self.plan.follows_treeval:  # null is a value like any other
                left, right = (None if side is None else np.maximum(side, VALUE) for side in (left, right))
        states = None if left is None and right is None else States(left, right, sides)
        if states is not None:
            tally[ALIKE] = ((states.left == NULL) | (states.left == MAYBE)) & (states.right == NULL)
        if isinstance(node, Field):
            self._leaf(node, sides, states, tally)
            return
        if states is not None:  # an item that isn't a dictionary (a list) is one node
            tally.add("node_tp", tally[ALIKE])
            tally.add("node_fn", (states.left != VALUE) & ~tally[ALIKE])
            tally.add("node_fp", (states.right != VALUE) & ~tally[ALIKE])
        self._below(node, _with_empty(node, sides, left, right), tally, path)

    def _kinds_of_items(self, node: OneOf, sides: Sides, tally: Tally, path: Path) -> None:
        """Walk items that may be of several kinds; null or a scalar is one node."""
        left, right = _are_single(sides)
        nulls = [np.array([value is None for value in own]) for own in (sides.references, sides.predictions)]
        tally[ALIKE] = nulls[0][sides.pairs.rows] & nulls[1][sides.pairs.columns]
        tally[SINGLE] = left | right
        tally.add("node_tp", (left & right) * int(self.has_item_nodes))
        tally.add("node_fn", (left & ~right) * int(self.has_item_nodes))
        tally.add("node_fp", (~left & right) * int(self.has_item_nodes))
        for part, own in self._parts(node, sides):
            states = self._both_states(part, own, tally)
            if isinstance(part, Field):
                below = Tally()
                self._leaf(part, own, States(*states, own), below)
                tally.merge(below, left & right, [f"absent|{part.name}"])
            else:
                self._below(part, _with_empty(part, own, *states), tally, path)

    def _parts(self, node: OneOf, sides: Sides) -> Iterator[tuple[SchemaNode, Sides]]:
        """Each part of a node with its own values; but for leaves only those that have any."""
        left, right = split(node, sides.references), split(node, sides.predictions)
        for part, expected, given in zip(node.parts, left, right, strict=True):
            if isinstance(part, Field) or any(value is not MISSING for value in [*expected, *given]):
                yield part, sides.of(expected, given)

    # --- leaves ---

    def _leaf(self, field: Field, sides: Sides, states: States | None, tally: Tally) -> None:
        """Score the pairs that have two values; a prediction of another type gets each metric's worst score."""
        scored = None if states is None else states.has_left & states.has_right
        good = None if states is None or scored is None else scored & (states.right != WRONG)
        similarity: Any = 0.0
        for metric in field.metrics:
            predictions = self._batch(sides.predictions, good, field, metric)
            scores = sides.pairs.scores(metric, sides.references, predictions, good)
            if scored is not None and good is not None:
                scores = np.where(scored & ~good, metric.worst, scores)
            tally.add(field.part("sum", metric), scores)
            tally.add(field.part("n", metric), 1 if scored is None else scored)
            if self.has_details:
                similarity = similarity + metric.normalize(scores)
        if self.has_details:
            is_right = similarity >= (1 - 1e-12) * len(field.metrics)
            self._kinds(field, is_right if good is None else is_right & good, states, tally)

    def _kinds(self, field: Field, is_right: Array, states: States | None, tally: Tally) -> None:
        """Count what the leaf is."""
        tally.add(f"correct|{field.name}", is_right)
        if states is None:
            tally.add(f"wrong|{field.name}", ~is_right)
            return
        tally.add(f"wrong|{field.name}", states.has_left & states.has_right & ~is_right)
        tally.add(f"missed|{field.name}", states.has_left & ~states.has_right)
        tally.add(f"invented|{field.name}", ~states.has_left & states.has_right)
        tally.add(f"absent|{field.name}", ~states.has_left & ~states.has_right)

    def _batch(self, predictions: list[Any], good: Array | None, field: Field, metric: LeafMetric) -> list[Any]:
        """The predictions as treeval compares them: a batch is one array, where one float makes floats of all."""
        if self.is_loose and not field.depth and metric.name == "exact_match":
            kinds = set(map(type, predictions if good is None else compress(predictions, good.tolist())))
            if float in kinds and kinds & {int, bool}:
                return [
                    float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions
                ]
        return predictions

    # --- what values are ---

    def _both_states(self, node: SchemaNode, sides: Sides, tally: Tally) -> tuple[Array | None, Array | None]:
        """What the values of both sides are to their node; None: all of a side are values of its type.

        Raises:
            BadReferenceError: A value of a reference has another type.
        """
        left, right = self._states(node, sides.references), self._states(node, sides.predictions)
        if left is not None and not self.is_loose and (left == WRONG).any():
            raise BadReferenceError
        if self.has_details:
            if right is not None:  # null complies everywhere, but is walked as a dictionary that lacks its keys
                is_unsure = right != VALUE if self.requires_keys and isinstance(node, Branch) else right > VALUE
                tally.add(UNSURE, is_unsure[sides.pairs.columns])
            if isinstance(node, Field) and (right is not None or node.is_checked):
                self._check(node, sides.predictions, tally)
        return left, right

    def _states(self, node: SchemaNode, values: list[Any]) -> Array | None:
        kinds = set(map(type, values))
        types = node.types if isinstance(node, Field) else {dict if isinstance(node, Branch) else list}
        if kinds <= types:
            return None
        plain = {**dict.fromkeys(types, VALUE), type(None): NULL, type(MISSING): ABSENT}
        if kinds <= plain.keys():
            return np.fromiter(map(plain.__getitem__, map(type, values)), dtype=np.int8, count=len(values))
        return np.array([state_of(node, value, self.is_loose) for value in values], dtype=np.int8)

    def _check(self, field: Field, values: list[Any], tally: Tally) -> None:
        """Note values that may not comply, though they may be of the right type."""
        wrong = set()
        if field.is_checked:
            wrong = {
                value for value in {value for value in values if type(value) in field.types} if complies(value, field)
            }
        known = {*field.types, type(None), type(MISSING)}  # of these two the states tell enough
        is_unsure = [type(value) not in known or value in wrong for value in values]
        tally.add(UNSURE, np.array(is_unsure, dtype=np.int64))


def _are_single(sides: Sides) -> tuple[Array, Array]:
    """In which pairs the value of each side is neither a dictionary nor a list."""
    left, right = (
        np.array([not isinstance(value, dict | list) for value in own]) for own in (sides.references, sides.predictions)
    )
    return left[sides.pairs.rows], right[sides.pairs.columns]


def _columns(node: Branch, trees: list[Any]) -> tuple[list[list[Any]], int]:
    """The values of each key, and how many keys of the schema there are in all trees together."""
    n_keys = len(trees) * len(node.children)
    try:
        return [list(map(itemgetter(key), trees)) for key in node.children], n_keys
    except KeyError:
        columns = [[tree.get(key, MISSING) for tree in trees] for key in node.children]
        return columns, n_keys - sum(sum(map(is_, column, repeat(MISSING))) for column in columns)


def _with_empty(node: SchemaNode, sides: Sides, left: Array | None, right: Array | None) -> Sides:
    """The same, with an empty dictionary (list) for anything that isn't one."""
    empty: Any = {} if isinstance(node, Branch) else []
    values = [
        own
        if states is None
        else [value if state == VALUE else empty for value, state in zip(own, states.tolist(), strict=True)]
        for own, states in ((sides.references, left), (sides.predictions, right))
    ]
    return sides.of(*values)


def _count_lists(tally: Tally) -> None:
    """In treeval a list in a list has one vote: its mean."""
    for part in [part for part in tally if part.startswith("sum|")]:
        n = f"n|{part.removeprefix('sum|')}"
        tally[part] = np.divide(tally[part], tally[n], out=np.zeros(tally[n].shape), where=tally[n] > 0)
        tally[n] = (tally[n] > 0).astype(np.int64)
