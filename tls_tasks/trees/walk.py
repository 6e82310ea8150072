"""The walk along the schema through trees and their references: nodes are counted, leaves scored.

It goes through all trees at once, one key after the other: the values of a key are a column on each side. The same walk
serves pairs of trees, and all pairs of items of two lists, where it finds how well they fit together. A dictionary that
is absent, null or of another type is walked as an empty one, and a list as an empty list, so that what is missed or too
many below it is counted where it stands. What each node counts is in :mod:`tls_tasks.trees.rules`.
"""

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any

import numpy as np

from tls_tasks.trees import rules
from tls_tasks.trees.align import Aligner, Matches
from tls_tasks.trees.nodes import MISSING, VALUE, WRONG, BadReferenceError, states_of, values_outside
from tls_tasks.trees.pairs import COUNTS, OUTSIDE, Array, Counts, Pairs, States, seen_part
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.similarity import Answers, has_answers
from tls_tasks.trees.types import AnyOf, Branch, ListOf, OneOf, SchemaNode, all_nodes, part_for, resolved

Step = Callable[[Any, Pairs, Counts], None]


_ALL_VALUES = np.array(VALUE, dtype=np.int8)


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
        of_treeval = list(all_nodes(plan.root)) if self.is_treeval else []
        self.seen_parts = {id(node): seen_part(path) for path, node in of_treeval}
        lists = [node for _, node in of_treeval if isinstance(node, ListOf)]
        self.inner_lists = {id(inner) for outer in lists for _, inner in all_nodes(outer.item)}
        self.weigher: Walk = Walk(plan, has_details=False) if has_details else self

    # --- trees ---

    def trees(self, references: list[Any], predictions: list[Any]) -> Counts:
        """Walk pairs of trees; a prediction is :data:`~tls_tasks.trees.nodes.MISSING` where nothing could be read.

        Raises:
            BadReferenceError: If a reference does not follow the schema.
        """
        root, counts = self.plan.root, Counts(len(references))
        if not isinstance(root, Branch):
            self.value(root, Pairs.aligned(references, predictions), counts)
            return counts
        trees = [tree if isinstance(tree, dict) else {} for tree in predictions]
        outside = [0 if isinstance(tree, dict) else values_outside(root, tree) for tree in predictions]
        counts.add(OUTSIDE, np.array(outside, dtype=np.int64))
        self.tree(root, Pairs.aligned(list(map(whole_tree, references)), trees), counts)
        return counts

    def tree(self, root: SchemaNode, pairs: Pairs, counts: Counts) -> None:
        """Walk dictionaries that are whole trees."""
        if not self.count_answers(self.tree, root, pairs, counts):
            self.branch(root, pairs, counts)

    # --- several answers ---

    def count_answers(self, step: Step, node: SchemaNode, pairs: Pairs, counts: Counts) -> bool:
        """Count the best answers if any reference has several; ``step`` walks them all. Returns whether one has."""
        if AnyOf not in set(map(type, pairs.references)):  # as a rule, and quick to see
            return False
        if not any(has_answers(resolved(node), value) for value in pairs.references):
            return False
        answers, of_answers, best = self.best_answers(step, node, pairs)
        chosen = answers.counts_of(best, self.plan, resolved(node), of_answers)
        counts.merge(chosen)
        counts.are_null = counts.are_null | chosen.are_null  # of the items themselves, whatever is below them
        counts.are_single = counts.are_single | chosen.are_single
        return True

    def best_answers(self, step: Step, node: SchemaNode, pairs: Pairs) -> tuple[Answers, Counts, list[Array]]:
        """All answers, what was counted of them, and where the best ones are for each objective."""
        answers = Answers(resolved(node), pairs)
        counts = Counts(answers.pairs.n)
        step(node, answers.pairs, counts)
        return answers, counts, answers.best(self.plan, resolved(node), counts)

    # --- dictionaries ---

    def branch(self, node: Any, pairs: Pairs, counts: Counts) -> None:
        """Walk dictionaries."""
        for key, child in node.children.items():
            self.value(child, pairs.mapped(methodcaller("get", key, MISSING)), counts)
        others = pairs.mapped(lambda tree: {key: tree[key] for key in tree if key not in node.children})
        if node.rest is not None:
            self.lists(node.rest, others, counts)
            return
        if not self.is_loose and any(others.references):
            raise BadReferenceError
        if any(others.predictions):
            sizes = [(rules.unknown_nodes(self.plan, own), values_outside(None, own)) for own in others.predictions]
            nodes, outside = np.array(sizes)[pairs.columns].T
            counts.add("node_fp", nodes)
            counts.add(OUTSIDE, outside)

    def value(self, node: SchemaNode, pairs: Pairs, counts: Counts) -> None:
        """Walk the values of a key."""
        if self.count_answers(self.value, node, pairs, counts):
            return
        is_again, node = resolved(node) is not node, resolved(node)
        if isinstance(node, OneOf):
            self.kinds(self.value, node, pairs, counts)
            return
        states = self.states(node, pairs, counts)
        rules.count_presence(self.plan, node, states, counts)
        if self.is_treeval and self.has_details and not isinstance(node, Field):
            counts.add(self.seen_parts[id(node)], (states.left == VALUE) & states.has_right)
        if isinstance(node, Field) or states.are_all_values:
            self.inside(node, pairs, states, counts)
            return
        if self.is_treeval:
            rules.count_as_treeval(self.plan, node, pairs, states, counts)
        below, is_there = Counts(counts.n), (states.left == VALUE) | (states.right == VALUE)
        if is_there.any() or not is_again:
            self.below(node, pairs, below)
        if is_again:  # a schema within itself goes on for as long as there is something in it
            walked, below = below, Counts(counts.n)
            below.merge(walked, is_there)
        counts.merge(below, rules.where_nodes_count(self.plan, node, states), COUNTS)
        if isinstance(node, ListOf) and isinstance(node.item, Field):
            rules.add_worst(node.item, (states.left == VALUE) & (states.right == WRONG), counts)

    def states(self, node: SchemaNode, pairs: Pairs, counts: Counts) -> States:
        """What the values of each pair are to their node; counts what predictions have in place of its values.

        Raises:
            BadReferenceError: A value of a reference has another type.
        """
        left, right = (states_of(node, own, self.is_loose) for own in (pairs.references, pairs.predictions))
        if not self.is_loose and (left == WRONG).any():
            raise BadReferenceError
        if self.has_details and (right == WRONG).any():
            values = zip(pairs.predictions, right.tolist(), strict=True)
            outside = [values_outside(node, value) if state == WRONG else 0 for value, state in values]
            counts.add(OUTSIDE, np.array(outside)[pairs.columns])
        left = left[pairs.rows] if (left != VALUE).any() else _ALL_VALUES
        return States(left, right[pairs.columns] if (right != VALUE).any() else _ALL_VALUES)

    def inside(self, node: SchemaNode, pairs: Pairs, states: States, counts: Counts) -> None:
        """Score the values of a leaf, or walk what is in dictionaries or lists."""
        if isinstance(node, Field):
            rules.score_leaf(self.plan, node, pairs, states, counts, self.has_details)
        else:
            self.below(node, pairs, counts)

    def below(self, node: SchemaNode, pairs: Pairs, counts: Counts) -> None:
        """Walk what is in dictionaries or lists; anything that isn't one is walked as an empty one."""
        kind: Any = dict if isinstance(node, Branch) else list
        step: Step = self.branch if isinstance(node, Branch) else self.lists
        step(node, pairs.mapped(lambda value: value if type(value) is kind else kind()), counts)

    # --- values of several kinds ---

    def kinds(self, step: Step, node: OneOf, pairs: Pairs, counts: Counts) -> None:
        """Walk each kind with its own values."""
        for part in node.parts:
            values, below = pairs.mapped(partial(_of_part, node, part)), Counts(counts.n)
            left, right = values.where(lambda value: value is not MISSING)
            is_there = left | right
            if isinstance(part, Field) or is_there.any():
                step(part, values, below)
            if isinstance(part, Field):  # what is of another kind is not absent
                counts.merge(below, np.logical_and(*pairs.where(rules.is_scalar)), [f"absent|{part.name}"])
            else:
                counts.merge(below, is_there)

    def item_of_kind(self, node: SchemaNode, pairs: Pairs, counts: Counts) -> None:
        """Walk items of one kind."""
        self.inside(node, pairs, self.states(node, pairs, counts), counts)

    # --- lists ---

    def lists(self, node: ListOf, pairs: Pairs, counts: Counts) -> None:
        """Walk lists: align their items, walk those that belong together, and count the others."""
        matches, within = self.align(node, pairs), Counts(counts.n)
        if len(matches.owners):
            matched = matches.counts
            if matched is None:
                matched = Counts(len(matches.owners))
                step = self.value if node.is_keyed else self.items
                step(node.item, matches.pairs(), matched)
            for (objective, name), amount in matched.of.items():
                sums = pairs.sums(amount * matches.is_of[objective], matches.owners)
                within.add(name, sums, objective)
        if id(node) in self.inner_lists:
            rules.give_lists_one_vote(within)
        rules.count_unmatched(self.plan, node, matches, pairs, within, self.has_details)
        counts.merge(within)

    def align(self, node: ListOf, pairs: Pairs) -> Matches:
        """Which items belong together."""
        return Aligner(self.plan, node, pairs, self.weigher.items, keeps_counts=not self.has_details).matches()

    def items(self, node: SchemaNode, pairs: Pairs, counts: Counts) -> None:
        """Walk items of lists."""
        node = resolved(node)
        if self.count_answers(self.items, node, pairs, counts):
            return
        if isinstance(node, OneOf):
            rules.count_items_of_kinds(self.plan, pairs, counts)
            self.kinds(self.item_of_kind, node, pairs, counts)
            return
        states = self.states(node, pairs, counts)
        if isinstance(node, Field) and self.is_treeval:  # null is a value like any other
            states = States(np.maximum(states.left, VALUE), np.maximum(states.right, VALUE))
        rules.count_items(self.plan, node, states, counts)
        self.inside(node, pairs, states, counts)


def _of_part(node: OneOf, part: SchemaNode, value: Any) -> Any:
    """A value of this kind; no value of any other."""
    return value if value is not MISSING and part_for(node, value) is part else MISSING


def whole_tree(tree: Any) -> Any:
    """A reference for a dictionary, as it is walked: where no tree is right too, that is an empty one."""
    if isinstance(tree, AnyOf):
        return AnyOf([{} if answer is None else whole_tree(answer) for answer in tree.values])
    if isinstance(tree, dict):
        return tree
    raise BadReferenceError
