"""The recursion along a schema through a reference and a prediction: nodes are counted, leaves scored, lists paired.

A dictionary that is absent, null or of another type is compared as an empty one, and a list as an empty list, so that
what is missed or too many below it is counted in its place. References follow the schema, but in treeval's profile.
:mod:`tls_tasks.trees.pairing` decides which items of two lists are compared.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

from tls_tasks.trees.counts import Counts, Outcome, mean_outcomes
from tls_tasks.trees.nodes import (
    MISSING,
    VALUE,
    WRONG,
    count_below_as_treeval,
    count_item,
    count_key,
    count_nodes,
    has_answers,
    states,
    values_outside,
)
from tls_tasks.trees.pairing import Pairing
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import Again, AnyOf, Branch, ListOf, OneOf, SchemaNode, part_for, resolved, settled

Place = Enum("Place", ["KEY", "ITEM", "CONTENT"])
"""Where two values stand: at a key, which is a node; in lists; or wherever only what is in them counts."""


def compare_trees(reference: Any, prediction: Any, pairing: Pairing) -> Counts:
    """Compare two trees; the prediction is MISSING where nothing could be read."""
    root = pairing.plan.root
    return compare(reference, prediction, root, pairing, Place.CONTENT if isinstance(root, Branch) else Place.KEY)


def compare(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing, place: Place = Place.KEY) -> Counts:
    """Compare two values; MISSING stands for the value of a key that isn't there."""
    if type(node) is Field and type(reference) in node.types and type(prediction) in node.types and place is Place.KEY:
        return Counts(node_tp=1, leaf_tp=1, outcomes=[pairing.scorer.outcome(node, reference, prediction)])  # as a rule
    is_recursive, node, plan = isinstance(node, Again), resolved(node), pairing.plan
    if has_answers(node, reference):
        return best_answer(reference, prediction, node, pairing, place)
    if isinstance(node, OneOf):
        return compare_kinds(reference, prediction, node, pairing, place)
    left, right = states(reference, prediction, node, plan)
    counts = count_key(left, right, node, plan) if place is Place.KEY else Counts()
    if place is Place.ITEM:
        counts = count_item(left, right, node, plan)
    if isinstance(node, Field):
        if plan.follows_treeval and place is Place.ITEM and left and right:  # null is a value like any other
            left, right = max(left, VALUE), max(right, VALUE)
        counts.outcomes.append(compare_leaves(reference, prediction, node, left, right, pairing))
        return counts
    below = Counts()
    if not (is_recursive and place is Place.KEY and left != VALUE != right):  # a schema within itself ends here
        empty: Any = {} if isinstance(node, Branch) else []
        step = compare_dictionaries if isinstance(node, Branch) else compare_lists
        below = step(reference if left == VALUE else empty, prediction if right == VALUE else empty, node, pairing)
    if right == WRONG:
        below.outside += values_outside(node, prediction)
        if place is Place.KEY and isinstance(node, ListOf) and isinstance(node.item, Field) and left == VALUE:
            below.outcomes.append(Outcome(node.item, scores=node.item.worst_scores))
    is_treeval = plan.follows_treeval and place is Place.KEY
    counts += count_below_as_treeval(below, prediction, node, left, right) if is_treeval else below
    return counts


def compare_leaves(reference: Any, prediction: Any, field: Field, left: int, right: int, pairing: Pairing) -> Outcome:
    """Say what became of a leaf."""
    if left >= VALUE and right >= VALUE:
        return pairing.scorer.outcome(field, reference, prediction, right != WRONG)
    return Outcome(field, "missed" if left >= VALUE else "invented" if right >= VALUE else "absent")


def compare_dictionaries(reference: Any, prediction: Any, node: Any, pairing: Pairing) -> Counts:
    """Compare two dictionaries key by key."""
    counts = Counts()
    for key, child in node.children.items():
        counts += compare(reference.get(key, MISSING), prediction.get(key, MISSING), child, pairing)
    if node.rest is None and prediction.keys() <= node.children.keys():
        return counts
    others, unknown = ({key: tree[key] for key in tree if key not in node.children} for tree in (reference, prediction))
    if node.rest is not None:
        counts += compare_lists(others, unknown, node.rest, pairing)
    else:
        counts.node_fp += len(unknown) if pairing.plan.follows_treeval else count_nodes(unknown, items=True)
        counts.outside += values_outside(None, unknown)
    return counts


def compare_lists(references: Any, predictions: Any, node: Any, pairing: Pairing) -> Counts:
    """Compare two lists, or the values of two dictionaries: items that are paired, and those without counterpart."""
    counts, matches = Counts(), pairing.match(references, predictions, node, compare_items)
    for row, column in matches:
        place = Place.KEY if node.is_keyed else Place.ITEM
        pair = compare(references[row], predictions[column], node.item, pairing, place)
        pair.outcomes = [pair.outcomes]
        counts += pair
    if id(node) in pairing.inner_lists:
        pairing.scorer.score(counts.leaves)
        counts.outcomes = mean_outcomes(counts.leaves)
    if matches and not node.is_keyed:
        counts.choices += ((references, matches),)
    for side, items in enumerate((references, predictions)):
        matched = {match[side] for match in matches}
        for position in items if node.is_keyed else range(len(items)):
            if position not in matched:
                counts += count_alone(items[position], node, pairing, is_missed=side == 0)
    if isinstance(node.item, Field) and not node.is_keyed and not references and not predictions:
        counts.outcomes.append(Outcome(node.item, "absent"))
    counts.outcomes = [counts.outcomes]
    return counts


def compare_items(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare two items of lists."""
    return compare(reference, prediction, node, pairing, Place.ITEM)


def count_alone(item: Any, around: ListOf, pairing: Pairing, is_missed: bool) -> Counts:
    """Count an item that has no counterpart: it is missed in the prediction, or invented there."""
    node, item = settled(around.item, item)
    trees = (item, MISSING) if is_missed else (MISSING, item)
    counts = compare(*trees, node, pairing.alone, Place.KEY if around.is_keyed else Place.ITEM)
    n_nodes = counts.node_fn if is_missed else counts.node_fp
    if pairing.plan.follows_treeval and isinstance(node, Branch):
        n_nodes = count_nodes(item) if isinstance(item, dict) else 1
    outcomes = [outcome for outcome in counts.leaves if outcome.kind != "absent"]
    n_missed, n_extra = (n_nodes, 0) if is_missed else (0, n_nodes)
    return Counts(node_fn=n_missed, node_fp=n_extra, outside=counts.outside, outcomes=outcomes)


# --- values of several kinds, and several answers ---


def compare_kinds(reference: Any, prediction: Any, node: OneOf, pairing: Pairing, place: Place) -> Counts:
    """Compare values that may be of several kinds: each kind with its values.

    A leaf is absent only where both values are scalars, not where they are of another kind.
    """
    counts, kinds = Counts(), (part_for(node, reference), part_for(node, prediction))
    is_left, is_right = (not isinstance(value, dict | list) for value in (reference, prediction))
    for part in node.parts:
        left = reference if part is kinds[0] else MISSING
        right = prediction if part is kinds[1] else MISSING
        if left is not MISSING or right is not MISSING or (isinstance(part, Field) and is_left and is_right):
            below = compare(left, right, part, pairing, Place.CONTENT if place is Place.ITEM else place)
            if isinstance(part, Field) and not (is_left and is_right):
                below.outcomes = [outcome for outcome in below.outcomes if outcome.kind != "absent"]
            counts += below
    if place is Place.ITEM:
        counts.node_tp += is_left and is_right
        counts.node_fn += is_left and not is_right
        counts.node_fp += is_right and not is_left
        counts.is_null_pair, counts.is_scalar_pair = reference is None and prediction is None, is_left or is_right
    return counts


def best_answer(reference: AnyOf, prediction: Any, node: SchemaNode, pairing: Pairing, place: Place) -> Counts:
    """Compare the prediction with each valid answer; return the counts of the one that fits best."""
    counts = [compare(answer, prediction, node, pairing, place) for answer in reference.values]
    index = pairing.best_fit(node, counts)
    counts[index].extra_reference_values += counts[index].n_reference_values - counts[0].n_reference_values
    counts[index].choices += ((reference, index),)
    return counts[index]
