"""The walk along the schema through trees and their references: nodes are counted, leaves scored.

It goes through all trees at once, one key after the other: the values of a key are a column on each side. The same walk
serves pairs of trees, and all pairs of items of two lists, where it finds how well they fit together. A dictionary that
is absent, null or of another type is walked as an empty one, and a list as an empty list, so that what is missed or too
many below it is counted where it stands. What each node counts is in :mod:`tls_tasks.trees.rules`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tls_tasks.trees import rules
from tls_tasks.trees.align import Matches, align
from tls_tasks.trees.answers import Answers, has_answers
from tls_tasks.trees.counts import COUNTS, OUTSIDE, Array, Counts, seen_part
from tls_tasks.trees.leaves import add_worst, score_leaf
from tls_tasks.trees.nodes import (
    MISSING,
    VALUE,
    WRONG,
    BadReferenceError,
    resolved,
    states_of,
    values_outside,
)
from tls_tasks.trees.pairs import Operands, States
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, OneOf, SchemaNode, nodes_of, part_for
from tls_tasks.trees.unmatched import count_unmatched

Step = Callable[[Any, Operands, Counts], None]


class Walk:
    """Walks along a plan.

    Args:
        plan: The schema and its settings.
        has_details: Whether it matters what each leaf is, or only the scores; if it does, each reference has its own
            prediction.
    """

    def __init__(self, plan: Plan, has_details: bool = True) -> None:
        self.plan, self.has_details = plan, has_details
        self.is_loose, self.is_treeval = plan.options.types == "loose", plan.follows_treeval
        self.counts_items = plan.options.list_items == "nodes"
        self.seen_parts: dict[int, str] = {}
        if self.is_treeval and has_details:
            self.seen_parts = {id(node): seen_part(path) for path, node in nodes_of(plan.root).items()}

    # --- trees ---

    def trees(self, references: list[Any], predictions: list[Any]) -> Counts:
        """Walk pairs of trees; a prediction is :data:`~tls_tasks.trees.nodes.MISSING` where nothing could be read.

        Raises:
            BadReferenceError: If a reference does not follow the schema.
        """
        root, counts = self.plan.root, Counts(len(references))
        if not isinstance(root, Branch):
            self.value(root, Operands.aligned(references, predictions), counts)
            return counts
        are_trees = [isinstance(tree, dict) for tree in predictions]
        outside = [
            0 if is_tree else values_outside(root, tree) for tree, is_tree in zip(predictions, are_trees, strict=True)
        ]
        counts.add(OUTSIDE, np.array(outside, dtype=np.int64))
        trees = [tree if is_tree else {} for tree, is_tree in zip(predictions, are_trees, strict=True)]
        self.tree(root, Operands.aligned(list(map(whole_tree, references)), trees), counts)
        return counts

    def tree(self, root: SchemaNode, operands: Operands, counts: Counts) -> None:
        """Walk dictionaries that are whole trees."""
        if not self.has_several(self.tree, root, operands, counts):
            self.branch(root, operands, counts)

    # --- several answers ---

    def has_several(self, step: Step, node: SchemaNode, operands: Operands, counts: Counts) -> bool:
        """Whether a reference has several answers; if so, ``step`` walks all of them and the best ones are counted."""
        if not any(has_answers(resolved(node), value) for value in operands.references):
            return False
        answers, of_answers, best = self.best_answers(step, node, operands)
        chosen = answers.counts_of(best, self.plan, resolved(node), of_answers)
        counts.merge(chosen)
        counts.are_null, counts.are_single = chosen.are_null, chosen.are_single
        return True

    def best_answers(self, step: Step, node: SchemaNode, operands: Operands) -> tuple[Answers, Counts, list[Array]]:
        """All answers, what was counted of them, and where the best ones are for each objective."""
        answers = Answers.of(resolved(node), operands)
        counts = Counts(answers.operands.pairs.n)
        step(node, answers.operands, counts)
        return answers, counts, answers.best(self.plan, resolved(node), counts)

    # --- dictionaries ---

    def branch(self, node: Any, operands: Operands, counts: Counts) -> None:
        """Walk dictionaries."""
        for key, child in node.children.items():
            references = [tree.get(key, MISSING) for tree in operands.references]
            predictions = [tree.get(key, MISSING) for tree in operands.predictions]
            self.value(child, operands.of(references, predictions), counts)
        references, predictions = (
            [{key: tree[key] for key in tree if key not in node.children} for tree in trees]
            for trees in (operands.references, operands.predictions)
        )
        if node.rest is not None:
            self.lists(node.rest, operands.of(references, predictions), counts)
            return
        if not self.is_loose and any(references):
            raise BadReferenceError
        if any(predictions):
            columns = operands.pairs.columns
            counts.add("node_fp", np.array([rules.unknown_nodes(self.plan, own) for own in predictions])[columns])
            counts.add(OUTSIDE, np.array([values_outside(None, own) for own in predictions])[columns])

    def value(self, node: SchemaNode, operands: Operands, counts: Counts) -> None:
        """Walk the values of a key."""
        if self.has_several(self.value, node, operands, counts):
            return
        is_again, node = resolved(node) is not node, resolved(node)
        if isinstance(node, OneOf):
            left, right = rules.are_scalars(operands)
            self.kinds(self.value, node, operands, counts, left & right)
            return
        states = self.states(node, operands)
        rules.count_presence(self.plan, node, states, counts)
        if isinstance(node, Field):
            score_leaf(self.plan, node, operands, states, counts, self.has_details)
            return
        if self.is_treeval and self.has_details:
            counts.add(self.seen_parts[id(node)], (states.left == VALUE) & states.has_right)
        if states.are_all_values:
            self.below(node, operands, counts)
            return
        if self.is_treeval:
            rules.count_as_treeval(self.plan, node, operands, states, counts)
        self.count_outside(node, operands, states, counts)
        below, is_there = Counts(counts.n), (states.left == VALUE) | (states.right == VALUE)
        if is_there.any() or not is_again:
            self.below(node, operands, below)
        if is_again:  # a schema within itself goes on for as long as there is something in it
            below = below.where(is_there)
        counts.merge(below, rules.where_nodes_count(self.plan, node, states), COUNTS)
        if isinstance(node, ListOf) and isinstance(node.item, Field):
            add_worst(node.item, (states.left == VALUE) & (states.right == WRONG), counts)

    def states(self, node: SchemaNode, operands: Operands) -> States:
        """What the values of each pair are to their node.

        Raises:
            BadReferenceError: A value of a reference has another type.
        """
        left, right = (states_of(node, own, self.is_loose) for own in (operands.references, operands.predictions))
        if not self.is_loose and (left == WRONG).any():
            raise BadReferenceError
        return States.of(left, right, operands.pairs)

    def below(self, node: SchemaNode, operands: Operands, counts: Counts) -> None:
        """Walk what is in dictionaries or lists; anything that isn't one is walked as an empty one."""
        kind: Any = dict if isinstance(node, Branch) else list
        references, predictions = (
            [value if type(value) is kind else kind() for value in values]
            for values in (operands.references, operands.predictions)
        )
        step: Step = self.branch if isinstance(node, Branch) else self.lists
        step(node, operands.of(references, predictions), counts)

    def count_outside(self, node: SchemaNode, operands: Operands, states: States, counts: Counts) -> None:
        """Count the values of predictions that have something else than the dictionary or list that should be there."""
        if self.has_details and (states.right == WRONG).any():
            kind: Any = dict if isinstance(node, Branch) else list
            outside = [0 if isinstance(value, kind) else values_outside(node, value) for value in operands.predictions]
            counts.add(OUTSIDE, np.array(outside)[operands.pairs.columns])

    # --- values of several kinds ---

    def kinds(self, step: Step, node: OneOf, operands: Operands, counts: Counts, are_scalars: Array) -> None:
        """Walk each kind with its own values; ``are_scalars``: where both values are, or null."""
        pairs = operands.pairs
        for part in node.parts:
            references, predictions = (
                [value if value is not MISSING and part_for(node, value) is part else MISSING for value in values]
                for values in (operands.references, operands.predictions)
            )
            left, right = (np.array([own is not MISSING for own in values]) for values in (references, predictions))
            below, is_there = Counts(counts.n), left[pairs.rows] | right[pairs.columns]
            if isinstance(part, Field):  # what is of another kind is not absent
                step(part, operands.of(references, predictions), below)
                counts.merge(below, are_scalars, [f"absent|{part.name}"])
            elif is_there.any():
                step(part, operands.of(references, predictions), below)
                counts.merge(below, is_there)

    def item_of_kind(self, node: SchemaNode, operands: Operands, counts: Counts) -> None:
        """Walk items of one kind."""
        states = self.states(node, operands)
        if isinstance(node, Field):
            score_leaf(self.plan, node, operands, states, counts, self.has_details)
        else:
            self.count_outside(node, operands, states, counts)
            self.below(node, operands, counts)

    # --- lists ---

    def lists(self, node: ListOf, operands: Operands, counts: Counts) -> None:
        """Walk lists: align their items, walk those that belong together, and count the others."""
        matches, within = self.align(node, operands), Counts(counts.n)
        if len(matches.owners):
            matched = matches.counts
            if matched is None:
                matched = Counts(len(matches.owners))
                step = self.value if node.is_keyed else self.items
                step(node.item, matches.operands(), matched)
            for objective, name, amount in matched.named():
                sums = operands.pairs.sums(amount * matches.is_of[objective], matches.owners)
                within.add(name, sums, objective)
        if self.is_treeval and operands.are_items:
            rules.give_lists_one_vote(within)
        count_unmatched(self.plan, node, matches, operands, within, self.has_details)
        counts.merge(within)

    def align(self, node: ListOf, operands: Operands) -> Matches:
        """Which items belong together."""
        walk = Walk(self.plan, has_details=False) if self.has_details else self

        def weigh(pairs_of_items: Operands) -> Counts:
            counts = Counts(pairs_of_items.pairs.n)
            walk.items(node.item, pairs_of_items, counts)
            return counts

        return align(self.plan, node, operands, weigh, keeps_counts=not self.has_details)

    def items(self, node: SchemaNode, operands: Operands, counts: Counts) -> None:
        """Walk items of lists."""
        node = resolved(node)
        if self.has_several(self.items, node, operands, counts):
            return
        if isinstance(node, OneOf):
            left, right = rules.are_scalars(operands)
            rules.count_items_of_kinds(self.plan, operands, left, right, counts)
            self.kinds(self.item_of_kind, node, operands, counts, left & right)
            return
        states = self.states(node, operands)
        if isinstance(node, Field):
            counts.add("node_tp", int(self.counts_items))
            if self.is_treeval:  # null is a value like any other
                states = States(np.maximum(states.left, VALUE), np.maximum(states.right, VALUE))
            counts.are_null = rules.are_null(states)
            score_leaf(self.plan, node, operands, states, counts, self.has_details)
            return
        counts.are_null = rules.are_null(states)
        rules.count_items(states, counts)
        self.count_outside(node, operands, states, counts)
        self.below(node, operands, counts)


def whole_tree(tree: Any) -> Any:
    """A reference for a dictionary, as it is walked: where no tree is right too, that is an empty one."""
    if isinstance(tree, AnyOf):
        return AnyOf([{} if answer is None else whole_tree(answer) for answer in tree.values])
    if isinstance(tree, dict):
        return tree
    raise BadReferenceError
