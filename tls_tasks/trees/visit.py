"""The walk through two sides of trees along the schema: presence of nodes and leaves, and the scores of leaves.

The same walk serves pairs of whole trees, and all pairs of items of two lists: see
:mod:`~tls_tasks.trees.pairs`. A dictionary that is absent, null or of another type is walked as an empty one,
and a list as an empty list, so that what is missed or too many below it is counted where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tls_tasks.trees.align import align
from tls_tasks.trees.compliance import complies
from tls_tasks.trees.leaf_base import FloatArray, LeafMetric
from tls_tasks.trees.lists import Matches
from tls_tasks.trees.nodes import count_nodes, item_nodes, nodes_below
from tls_tasks.trees.pairs import ALIKE, Aligned, Array, Links, Tally, reduced
from tls_tasks.trees.plan import BranchPlan, LeafPlan, ListPlan, NodePlan, TreePlan
from tls_tasks.trees.scores import normalized
from tls_tasks.trees.states import (
    KNOWN,
    NULL,
    VALUE,
    WRONG,
    Sides,
    States,
    absent_in,
    are_finite,
    column_of,
    container_state,
    leaf_states,
    or_else,
    with_null_as_value,
)

_EMPTY: dict[Any, Any] = {}
_EMPTY_LIST: list[Any] = []


class UnreadError(Exception):
    """A tree has values that must be read first: NaN, tuples, several valid answers. Never leaves the package."""


class BadReferenceError(Exception):
    """A reference that doesn't comply with the schema. Never leaves the package: who catches it finds the row."""


class Walk:
    """Walks along a plan.

    Args:
        plan: The plan.
        is_read: Whether all rows have gone through the reader; if not, values that need it raise
            :class:`UnreadError`.

    Attributes:
        is_clean: Whether all predictions comply with the schema, as far as they were walked through.
    """

    def __init__(self, plan: TreePlan, is_read: bool) -> None:
        self.plan, self.options, self.is_read = plan, plan.options, is_read
        self.is_clean = True
        self.is_loose = self.options.types == "loose"
        self.items = self.options.list_items == "nodes"
        # then what is walked as empty is counted right as it is
        self.is_plain = self.options.is_plain

    # --- dictionaries ---

    def branch(self, plan: BranchPlan, sides: Sides, tally: Tally) -> None:
        """Walk through dictionaries, which are all of type dict."""
        left, n_left = _columns(plan, sides.references)
        right, n_right = _columns(plan, sides.predictions)
        if n_left != sum(map(len, sides.references)) and not self.is_loose:
            raise BadReferenceError
        if n_right != sum(map(len, sides.predictions)):
            self.is_clean = False
            unknown = np.array([self._unknown_nodes(plan, tree) for tree in sides.predictions])
            tally.add("node_fp", sides.pairs.right(unknown))
        for child, expected, given in zip(plan.children.values(), left, right, strict=True):
            if isinstance(child, LeafPlan):
                self._leaf(child, sides.of(expected, given), tally)
            else:
                self._inner(child, sides.of(expected, given), tally)

    def _unknown_nodes(self, plan: BranchPlan, tree: dict[Any, Any]) -> int:
        if tree.keys() <= plan.children.keys():
            return 0
        unknown = [value for key, value in tree.items() if key not in plan.children]
        if self.options.extra_nodes == "one":
            return len(unknown)
        return len(unknown) + sum(count_nodes(value, items=self.items) for value in unknown)

    def _inner(self, plan: ListPlan | BranchPlan, sides: Sides, tally: Tally) -> None:
        """A dictionary or a list that is a value of a dictionary."""
        left, right = self._both_states(plan, sides)
        is_branch = isinstance(plan, BranchPlan)
        if left is None and right is None:
            tally[("seen", plan.path)] = 1
            tally.add("node_tp", 1)
            if not is_branch:
                tally.add("leaf_tp", 1)
            self._below(plan, sides, tally)
            return
        states, below = States(left, right, sides), Tally()
        tally[("seen", plan.path)] = (states.expected == VALUE) & (states.given >= VALUE)
        self._below(plan, _with_empty(plan, left, right, sides), below)
        self._presence(plan, states, sides, tally)
        if self.is_plain and (is_branch or self.items):
            tally.merge(below)
        else:
            given = (states.given == VALUE) | ((states.given == WRONG) & (not is_branch))
            tally.merge(below, (states.expected == VALUE) & given)
        if isinstance(plan, ListPlan) and isinstance(plan.item, LeafPlan):
            self._add_worst(plan.item, (states.expected == VALUE) & (states.given == WRONG), tally)

    def _below(self, plan: NodePlan, sides: Sides, tally: Tally) -> None:
        if isinstance(plan, BranchPlan):
            self.branch(plan, sides, tally)
        elif isinstance(plan, ListPlan):
            self.lists(plan, sides, tally)

    def _presence(self, plan: NodePlan, states: States, sides: Sides, tally: Tally) -> None:
        """Whether the node itself is in both trees, and whether its values are."""
        both = states.in_reference & states.in_prediction
        missed = ~states.in_prediction & (states.in_reference | (self.options.absent_in_both == "missed"))
        tally.add("node_tp", both)
        tally.add("node_fp", states.in_prediction & ~states.in_reference)
        tally.add("node_fn", missed)
        if not isinstance(plan, BranchPlan):
            tally.add("leaf_tp", both & states.has_reference & states.has_prediction)
            tally.add("leaf_fn", both & states.has_reference & ~states.has_prediction)
            tally.add("leaf_fp", both & ~states.has_reference & states.has_prediction)
        if not self.is_plain and not isinstance(plan, LeafPlan):
            missed = missed | (both & states.has_reference & (states.given == NULL))
            self._beyond(plan, missed, states, sides, tally)

    def _beyond(self, plan: ListPlan | BranchPlan, missed: Array, states: States, sides: Sides, tally: Tally) -> None:
        """What is below a node that one tree lacks or has as null, where it is not counted by the walk itself.

        Args:
            plan: The node.
            missed: Pairs whose prediction lacks it, or has null for it.
            states: What the values are.
            sides: The values.
            tally: Where to count.
        """
        options, pairs = self.options, sides.pairs
        extra = states.in_reference & ~states.has_reference & states.has_prediction
        unknown = states.in_prediction & ~states.in_reference
        if self.items or isinstance(plan, BranchPlan):
            too_many = extra | unknown if options.extra_nodes == "all" else extra
            tally.add("node_fp", too_many * pairs.right(self._sizes(plan, sides.predictions)))
            if options.missing_nodes == "reference":
                tally.add("node_fn", missed * pairs.left(self._sizes(plan, sides.references)))
            elif isinstance(plan, BranchPlan):
                tally.add("node_fn", missed * plan.schema_nodes)
        if isinstance(plan, BranchPlan) and options.branch_leaves == "counted":
            leaves = np.array([count_nodes(value, only_leaves=True) for value in sides.predictions])
            tally.add("leaf_fn", missed * plan.schema_leaves)
            tally.add("leaf_fp", extra * pairs.right(leaves))

    def _sizes(self, plan: NodePlan, values: Sequence[Any]) -> Array:
        if not self.items:
            return np.array([count_nodes(value) for value in values], dtype=np.int64)
        return np.array([nodes_below(plan, value, True) for value in values], dtype=np.int64)

    # --- leaves ---

    def _leaf(self, plan: LeafPlan, sides: Sides, tally: Tally) -> None:
        """A leaf that is a value of a dictionary."""
        left, right = self._both_states(plan, sides)
        if left is None and right is None:
            tally.add("node_tp", 1)
            tally.add("leaf_tp", 1)
            self._score(plan, sides, tally)
        else:
            states = States(left, right, sides)
            self._presence(plan, states, sides, tally)
            self._score_some(plan, states, sides, tally)

    def _score(self, plan: LeafPlan, sides: Sides, tally: Tally) -> None:
        """Score all pairs."""
        kinds = {*map(type, sides.references), *map(type, sides.predictions)} if self.is_loose else None
        for slot, metric, quick in zip(plan.slots, plan.metrics, plan.quick, strict=True):
            how = quick
            if kinds is not None and quick == "treeval":
                how = "equal" if float not in kinds else "checked"
            elif kinds is not None and not kinds <= metric.types:
                how = "checked"
            if how == "equal":
                scores = sides.pairs.equal(sides.references, sides.predictions)
            elif how == "direct" and isinstance(sides.pairs, Aligned):
                scores = metric.score_pairs(sides.references, sides.predictions)
            else:
                scores = sides.pairs.score(metric, sides.references, self._as_treeval(metric, sides), None)
            tally[("sum", slot)] = scores
            tally[("n", slot)] = 1
        if sides.details:
            correct = self._is_right(plan, tally)
            tally[("correct", plan.index)] = correct
            tally[("wrong", plan.index)] = ~correct

    def _score_some(self, plan: LeafPlan, states: States, sides: Sides, tally: Tally) -> None:
        """Score the pairs that have two values; one of another type is a metric's worst."""
        scored = states.has_reference & states.has_prediction
        good = scored & (states.given != WRONG)
        for slot, metric in zip(plan.slots, plan.metrics, strict=True):
            scores = sides.pairs.score(metric, sides.references, self._as_treeval(metric, sides), good)
            tally[("sum", slot)] = np.where(scored & ~good, float(metric.worst), scores)
            tally[("n", slot)] = scored
        if sides.details:
            correct = self._is_right(plan, tally) & good
            tally.add(("correct", plan.index), correct)
            tally.add(("wrong", plan.index), scored & ~correct)
            tally.add(("missed", plan.index), states.has_reference & ~states.has_prediction)
            tally.add(("invented", plan.index), ~states.has_reference & states.has_prediction)
            tally.add(("absent", plan.index), ~states.has_reference & ~states.has_prediction)

    def _as_treeval(self, metric: LeafMetric, sides: Sides) -> list[Any]:
        """The predictions as treeval compares them: a batch is one array, where one float makes floats of all."""
        predictions = sides.predictions
        if self.is_loose and not sides.pairs.inside and metric.name == "exact_match":
            kinds = set(map(type, predictions))
            if float in kinds and kinds & {int, bool}:
                return [float(one) if isinstance(one, int) and abs(one) < 2**1000 else one for one in predictions]
        return predictions

    def _is_right(self, plan: LeafPlan, tally: Tally) -> Array:
        """Whether the mean of a leaf's normalised scores reaches its threshold."""
        scores: Any = tally[("sum", plan.slots[0])]
        if len(plan.slots) > 1 or not plan.is_exact:
            scores = 0.0
            for slot, metric in zip(plan.slots, plan.metrics, strict=True):
                own = tally[("sum", slot)]
                scores = scores + (own if plan.is_exact else normalized(own, metric, "always"))
        right: Array = scores >= plan.least
        return right

    # --- lists ---

    def lists(self, plan: ListPlan, sides: Sides, tally: Tally) -> None:
        """Walk through lists, which are all of type list: align their items, and walk through the aligned ones."""
        matches = align(self, plan, sides)
        matched, within = Tally(), Tally()
        if len(matches.owners):
            aligned = Aligned(len(matches.owners), inside=True)
            self.item(plan.item, Sides(matches.references, matches.predictions, aligned, sides.details), matched)
        for name, amount in matched.items():
            if name != ALIKE:
                within[name] = reduced(amount, matches.owners, sides.pairs)
        if sides.pairs.inside and self.options.inner_lists == "lists":
            _as_means(within)
        if sides.details:
            within.links.append(Links(plan.name, matches.owners.tolist(), *matches.places, matched.links))
            self._unmatched_fields(plan, matches, sides, within)
        self._unmatched_nodes(plan, matches, sides, within)
        tally.merge(within)

    def _unmatched_nodes(self, plan: ListPlan, matches: Matches, sides: Sides, within: Tally) -> None:
        """Nodes of items that have no counterpart."""
        pairs = sides.pairs
        for name, side, places, view in (
            ("node_fn", matches.left, matches.reference_places, pairs.left),
            ("node_fp", matches.right, matches.prediction_places, pairs.right),
        ):
            if isinstance(pairs, Aligned) and len(places) == len(side.items):
                continue
            sizes = np.array(item_nodes(plan.item, side.items, self.items), dtype=np.int64)
            found = reduced(sizes[places], matches.owners, pairs)
            within.add(name, view(side.totals(sizes)) - found)

    def _unmatched_fields(self, plan: ListPlan, matches: Matches, sides: Sides, within: Tally) -> None:
        """What is missed or invented with items that have no counterpart; nothing at all is rightly absent."""
        for name, owners, items in matches.unmatched():
            alone = self._alone(plan.item, name, items)
            for (_, index), amount in alone.items():
                times = reduced(amount, owners, sides.pairs)
                within.add((name, index), times)
                if self.options.unmatched_items == "worst":
                    self._add_worst(self.plan.leaves[index], times, within)
        if isinstance(plan.item, LeafPlan):
            empty = sides.pairs.left(matches.left.lengths == 0) & sides.pairs.right(matches.right.lengths == 0)
            within.add(("absent", plan.item.index), empty)

    def _alone(self, item: NodePlan, name: str, items: list[Any]) -> dict[Any, Array]:
        """The fields of items without counterpart: how often each leaf is ``missed`` (``invented``) in each item."""
        if isinstance(item, LeafPlan):
            states = self._states(item, items, is_reference=name == "missed")
            has_value = np.ones(len(items), np.bool_) if states is None else (states == VALUE) | (states == WRONG)
            return {(name, item.index): has_value}
        nothing: list[Any] = [None] * len(items)
        alone = Tally()
        both = (items, nothing) if name == "missed" else (nothing, items)
        self.item(item, Sides(*both, Aligned(len(items), inside=True), True), alone)
        return {key: np.asarray(amount) for key, amount in alone.items() if type(key) is tuple and key[0] == name}

    def _add_worst(self, leaf: LeafPlan, times: Array, tally: Tally) -> None:
        if times.any():
            for slot, metric in zip(leaf.slots, leaf.metrics, strict=True):
                tally.add(("sum", slot), times * float(metric.worst))
                tally.add(("n", slot), times)

    # --- items of lists ---

    def item(self, plan: NodePlan, sides: Sides, tally: Tally) -> None:
        """Walk through items of lists."""
        left, right = self._both_states(plan, sides)
        if isinstance(plan, LeafPlan):
            self._leaf_item(plan, left, right, sides, tally)
            return
        if left is None and right is None:
            self._below(plan, sides, tally)
            return
        states = States(left, right, sides)
        self._below(plan, _with_empty(plan, left, right, sides), tally)
        # an item that is no dictionary (no list) is one node
        alike = states.both_null
        tally.add("node_tp", alike)
        tally.add("node_fn", (states.expected != VALUE) & ~alike)
        tally.add("node_fp", (states.given != VALUE) & ~alike)
        tally[ALIKE] = alike

    def _leaf_item(self, plan: LeafPlan, left: Array | None, right: Array | None, sides: Sides, tally: Tally) -> None:
        if self.items:
            tally.add("node_tp", 1)
        if self.options.null_items == "value":
            left, right = with_null_as_value(left), with_null_as_value(right)
        if left is None and right is None:
            self._score(plan, sides, tally)
            return
        states = States(left, right, sides)
        self._score_some(plan, states, sides, tally)
        tally[ALIKE] = states.both_null

    # --- what values are ---

    def _both_states(self, plan: NodePlan, sides: Sides) -> tuple[Array | None, Array | None]:
        return self._states(plan, sides.references, is_reference=True), self._states(plan, sides.predictions)

    def _states(self, plan: NodePlan, values: list[Any], is_reference: bool = False) -> Array | None:
        """What each value is to its node; None if all are values of its type."""
        kinds = set(map(type, values))
        if isinstance(plan, LeafPlan):
            if kinds <= plan.clean and (float not in kinds or are_finite(values)):
                if self.is_clean and not is_reference:
                    self.is_clean = kinds <= plan.types and not (
                        plan.is_checked and any(complies(value, plan.node) for value in set(values))
                    )
                return None
            self._check_read(kinds, values, frozenset({dict, list}))
            states = leaf_states(plan, values, self.is_loose)
        else:
            wanted = dict if isinstance(plan, BranchPlan) else list
            if kinds <= {wanted}:
                return None
            self._check_read(kinds, values, frozenset({dict}) - {wanted})
            states = [container_state(value, wanted) for value in values]
        if not is_reference:
            self.is_clean = False
        elif WRONG in states and not self.is_loose:
            raise BadReferenceError
        return np.array(states, dtype=np.int8)

    def _check_read(self, kinds: set[type], values: list[Any], unread: frozenset[type]) -> None:
        if not self.is_read and (
            not kinds <= KNOWN or not kinds.isdisjoint(unread) or (float in kinds and not are_finite(values))
        ):
            raise UnreadError


def _columns(plan: BranchPlan, trees: list[Any]) -> tuple[list[list[Any]], int]:
    """The values of each key, and how many keys of the plan there are in all trees together."""
    n_keys = len(trees) * len(plan.children)
    try:
        return [list(map(getter, trees)) for getter in plan.getters], n_keys
    except KeyError:
        columns = [column_of(key, trees) for key in plan.children]
        return columns, n_keys - sum(map(absent_in, columns))


def _with_empty(plan: NodePlan, left: Array | None, right: Array | None, sides: Sides) -> Sides:
    """The same with an empty dictionary (list) for what is none."""
    empty: Any = _EMPTY if isinstance(plan, BranchPlan) else _EMPTY_LIST
    return sides.of(or_else(sides.references, left, empty), or_else(sides.predictions, right, empty))


def _as_means(tally: Tally) -> None:
    """Each list's mean as one value."""
    for name in [name for name in tally if type(name) is tuple and name[0] == "n"]:
        n: Any = tally[name]
        sums: FloatArray = tally[("sum", name[1])]  # type: ignore[assignment]
        tally[("sum", name[1])] = np.divide(sums, n, out=np.zeros(np.shape(sums)), where=n > 0)
        tally[name] = n > 0
