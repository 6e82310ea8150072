"""The recursion along a schema through a reference and a prediction: nodes are counted, leaves scored, lists paired.

A dictionary that is absent, null or of another type is compared as an empty one, and a list as an empty list, so that
what is missed or too many below it is counted in its place. :mod:`tls_tasks.trees.pairing` decides which items of two
lists are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from tls_tasks.trees.counts import Counts, Outcome
from tls_tasks.trees.node_counts import Pairing, count_alone, count_as_treeval, means_by_leaf, presence, states
from tls_tasks.trees.nodes import (
    MISSING,
    NULL,
    VALUE,
    WRONG,
    BadReferenceError,
    count_nodes,
    has_answers,
    values_outside,
    whole_tree,
)
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import Again, AnyOf, Branch, ListOf, OneOf, SchemaNode, part_for, resolved

Compare = Callable[[Any, Any, SchemaNode, Pairing], Counts]
"""One of the functions below: of two values of a key, two items of lists, or two whole trees."""


def compare_trees(reference: Any, prediction: Any, pairing: Pairing) -> Counts:
    """Compare two trees; the prediction is MISSING where nothing could be read.

    Raises:
        BadReferenceError: The reference does not follow the schema.
    """
    root = pairing.plan.root
    if not isinstance(root, Branch):
        return compare(reference, prediction, root, pairing)
    tree = prediction if isinstance(prediction, dict) else {}
    counts = compare_inside(whole_tree(reference), tree, root, pairing)
    if tree is not prediction:
        counts.outside += values_outside(root, prediction)
    return counts


def compare(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare the values of a key; MISSING stands for the value of a key that isn't there."""
    if isinstance(node, Field) and type(reference) in node.types and type(prediction) in node.types:  # as a rule
        return Counts(node_tp=1, leaf_tp=1, outcomes=[pairing.scorer.outcome(node, reference, prediction)])
    is_recursive, node = isinstance(node, Again), resolved(node)
    if has_answers(node, reference):
        return best_answer(compare, reference, prediction, node, pairing)[1]
    if isinstance(node, OneOf):
        return compare_kinds(compare, reference, prediction, node, pairing)
    left, right = states(reference, prediction, node, pairing)
    counts = presence(left, right, node, pairing)
    if is_recursive and left != VALUE and right != VALUE:  # a schema within itself ends where there is nothing in it
        counts.outside += values_outside(node, prediction) if right == WRONG else 0
        return counts
    below = compare_inside(reference, prediction, node, pairing)
    is_compared = left == VALUE and (right == VALUE or (right == WRONG and isinstance(node, ListOf)))
    always_counts = not pairing.plan.follows_treeval and (isinstance(node, Branch) or pairing.plan.counts_items)
    counts += below if is_compared or always_counts else below.without_nodes()
    if pairing.plan.follows_treeval and not isinstance(node, Field):
        count_as_treeval(counts, prediction, node, left, right, pairing)
    if isinstance(node, ListOf) and isinstance(node.item, Field) and left == VALUE and right == WRONG:
        counts.outcomes.append(Outcome(node.item, scores=node.item.worst_scores))
    return counts


def compare_inside(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare leaves, or what is in dictionaries or lists; anything that isn't one is as an empty one."""
    if has_answers(node, reference):
        return best_answer(compare_inside, reference, prediction, node, pairing)[1]
    left, right = states(reference, prediction, node, pairing)
    if isinstance(node, Field):
        return Counts(outcomes=[compare_leaves(reference, prediction, node, left, right, pairing)])
    empty: Any = {} if isinstance(node, Branch) else []
    step = compare_dictionaries if isinstance(node, Branch) else compare_lists
    counts = step(reference if left == VALUE else empty, prediction if right == VALUE else empty, node, pairing)
    if right == WRONG:
        counts.outside += values_outside(node, prediction)
    return counts


def compare_leaves(reference: Any, prediction: Any, field: Field, left: int, right: int, pairing: Pairing) -> Outcome:
    """Say what became of a leaf."""
    if left >= VALUE and right >= VALUE:
        return pairing.scorer.outcome(field, reference, prediction, right != WRONG)
    return Outcome(field, "missed" if left >= VALUE else "invented" if right >= VALUE else "absent")


def compare_dictionaries(reference: Any, prediction: Any, node: Any, pairing: Pairing) -> Counts:
    """Compare two dictionaries key by key."""
    counts, plan = Counts(), pairing.plan
    for key, child in node.children.items():
        counts += compare(reference.get(key, MISSING), prediction.get(key, MISSING), child, pairing)
    if node.rest is None and prediction.keys() <= node.children.keys() and reference.keys() <= node.children.keys():
        return counts
    others, unknown = ({key: tree[key] for key in tree if key not in node.children} for tree in (reference, prediction))
    if node.rest is not None:
        counts += compare_lists(others, unknown, node.rest, pairing)
        return counts
    if others and not pairing.is_loose:
        raise BadReferenceError
    counts.node_fp += len(unknown) if plan.follows_treeval else count_nodes(unknown, items=plan.counts_items)
    counts.outside += values_outside(None, unknown)
    return counts


# --- lists ---


def compare_lists(references: Any, predictions: Any, node: Any, pairing: Pairing) -> Counts:
    """Compare two lists, or the values of two dictionaries: items that are paired, and those without counterpart."""
    counts, matches = Counts(), pairing.match(references, predictions, node)
    step, is_inner = compare if node.is_keyed else compare_items, id(node) in pairing.inner_lists
    with pairing.scorer.apart() if is_inner else nullcontext():
        for row, column in matches:
            pair = step(references[row], predictions[column], node.item, pairing)
            pair.outcomes = [pair.outcomes]
            counts += pair
    if is_inner:
        counts.outcomes = means_by_leaf(counts.outcomes, pairing.counts_worst)
    for side, (kind, items) in enumerate((("missed", references), ("invented", predictions))):
        matched = {match[side] for match in matches}
        for position, item in items.items() if node.is_keyed else enumerate(items):
            if position not in matched:
                counts += count_alone(item, node, kind, pairing)
    if isinstance(node.item, Field) and not node.is_keyed and not references and not predictions:
        counts.outcomes.append(Outcome(node.item, "absent"))
    counts.outcomes = [counts.outcomes]
    return counts


def compare_items(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare two items of lists: a pair of leaves is one node, as are two nulls and what should be in an item."""
    node, one_node = resolved(node), int(pairing.plan.counts_items)
    if has_answers(node, reference):
        return best_answer(compare_items, reference, prediction, node, pairing)[1]
    if isinstance(node, OneOf):
        counts = compare_kinds(compare_inside, reference, prediction, node, pairing)
        is_left, is_right = (not isinstance(item, dict | list) for item in (reference, prediction))
        counts.node_tp += one_node * (is_left and is_right)
        counts.node_fn += one_node * (is_left and not is_right)
        counts.node_fp += one_node * (is_right and not is_left)
        counts.is_null_pair, counts.is_scalar_pair = reference is None and prediction is None, is_left or is_right
        return counts
    left, right = states(reference, prediction, node, pairing)
    if isinstance(node, Field):
        if pairing.plan.follows_treeval:  # null is a value like any other
            left, right = max(left, VALUE), max(right, VALUE)
        outcome = compare_leaves(reference, prediction, node, left, right, pairing)
        return Counts(node_tp=one_node, outcomes=[outcome], is_null_pair=left == right == NULL)
    counts = compare_inside(reference, prediction, node, pairing)
    counts.is_null_pair = left == right == NULL
    counts.node_tp += counts.is_null_pair
    counts.node_fn += left != VALUE and not counts.is_null_pair
    counts.node_fp += right != VALUE and not counts.is_null_pair
    return counts


# --- values of several kinds, and several answers ---


def compare_kinds(step: Compare, reference: Any, prediction: Any, node: OneOf, pairing: Pairing) -> Counts:
    """Compare values that may be of several kinds: each kind with its values.

    A leaf is absent only where both values are scalars, not where they are of another kind.
    """
    counts, kinds = Counts(), (part_for(node, reference), part_for(node, prediction))
    is_scalar = not isinstance(reference, dict | list) and not isinstance(prediction, dict | list)
    for part in node.parts:
        left = reference if part is kinds[0] else MISSING
        right = prediction if part is kinds[1] else MISSING
        if left is not MISSING or right is not MISSING or (isinstance(part, Field) and is_scalar):
            below = step(left, right, part, pairing)
            if isinstance(part, Field) and not is_scalar:
                below.outcomes = [outcome for outcome in below.outcomes if outcome.kind != "absent"]
            counts += below
    return counts


def best_answer(
    step: Compare, reference: AnyOf, prediction: Any, node: SchemaNode, pairing: Pairing
) -> tuple[int, Counts]:
    """Compare the prediction with each valid answer; return the index of the one that fits best, and its counts."""
    with pairing.scorer.apart():
        counts = [step(answer, prediction, node, pairing) for answer in reference.values]
    index = pairing.best_fit(node, counts)
    counts[index].extra_reference_values += counts[index].n_reference_values - counts[0].n_reference_values
    return index, counts[index]
