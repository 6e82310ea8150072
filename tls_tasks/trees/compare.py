"""Compare a reference and a prediction along their schema: nodes are counted, leaves scored, lists paired.

A dictionary that is absent, null or of another type is compared as an empty one, and a list as an empty list, so that
what is missed or too many below it is counted in its place. References follow the schema, but in treeval's profile.
:mod:`tls_tasks.trees.pairing` decides which items of two lists are compared.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from functools import partial
from typing import Any

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.counts import Counts, Outcome, count_values, mean_outcomes
from tls_tasks.trees.pairing import Pairing
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, RecursiveNode, SchemaNode, UnionNode, dereference, node_for
from tls_tasks.trees.values import MISSING, count_nodes, count_values_outside, full_tree, has_several_answers, resolve

Slot = Enum("Slot", ["KEY", "ITEM", "CONTENT"])
"""Where two values are: at a key, which counts as a node; in lists; or where only their content counts."""


def compare_trees(reference: Any, prediction: Any, pairing: Pairing) -> Counts:
    """Compare two trees and return their counts; the prediction is MISSING where nothing could be read."""
    root = pairing.plan.root
    return compare(reference, prediction, root, pairing, Slot.CONTENT if isinstance(root, Branch) else Slot.KEY)


def compare(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing, slot: Slot = Slot.KEY) -> Counts:
    """Compare two values of a schema node, and all below them; MISSING stands for the value of an absent key."""
    if type(node) is Field and type(reference) in node.types and type(prediction) in node.types:  # as a rule
        is_key, is_node = slot is Slot.KEY, slot is Slot.ITEM and not pairing.plan.follows_treeval
        outcomes = [pairing.scorer.outcome(node, reference, prediction)]
        return Counts(node_tp=int(is_key or is_node), leaf_tp=int(is_key), outcomes=outcomes)
    is_recursive, node, plan = isinstance(node, RecursiveNode), dereference(node), pairing.plan
    if has_several_answers(node, reference):
        return compare_answers(reference, prediction, node, pairing, slot)
    if isinstance(node, UnionNode):
        return compare_union(reference, prediction, node, pairing, slot)
    ref, pred = value_states(reference, prediction, node, plan)
    counts = count_key(ref, pred, node, plan) if slot is Slot.KEY else Counts()
    if slot is Slot.ITEM:
        counts = count_item(ref, pred, node, plan)
    if isinstance(node, Field):
        if plan.follows_treeval and slot is Slot.ITEM and ref and pred:  # null is a value like any other
            ref, pred = max(ref, VALUE), max(pred, VALUE)
        counts.outcomes.append(compare_leaves(reference, prediction, node, ref, pred, pairing))
        return counts
    below = Counts()
    if not (is_recursive and slot is Slot.KEY and ref != VALUE != pred):  # a schema within itself ends here
        empty: Any = {} if isinstance(node, Branch) else []
        step = compare_dictionaries if isinstance(node, Branch) else compare_lists
        below = step(reference if ref == VALUE else empty, prediction if pred == VALUE else empty, node, pairing)
    if pred == WRONG:
        below.outside += count_values_outside(node, prediction)
        if slot is Slot.KEY and isinstance(node, ListOf) and isinstance(node.item, Field) and ref == VALUE:
            below.outcomes.append(Outcome(node.item, scores=node.item.worst_scores))
    is_treeval = plan.follows_treeval and slot is Slot.KEY
    counts += count_below_for_treeval(below, prediction, node, ref, pred) if is_treeval else below
    return counts


def compare_leaves(reference: Any, prediction: Any, field: Field, ref: int, pred: int, pairing: Pairing) -> Outcome:
    """Return the outcome of one leaf, from the states of its two values."""
    if ref >= VALUE and pred >= VALUE:
        return pairing.scorer.outcome(field, reference, prediction, pred != WRONG)
    return Outcome(field, "missed" if ref >= VALUE else "invented" if pred >= VALUE else "absent")


def compare_dictionaries(reference: Any, prediction: Any, node: Any, pairing: Pairing) -> Counts:
    """Compare two dictionaries key by key."""
    counts = Counts()
    for key, child in node.children.items():
        counts += compare(reference.get(key, MISSING), prediction.get(key, MISSING), child, pairing)
    if node.rest is None and prediction.keys() <= node.children.keys():
        return counts
    ref, pred = ({key: tree[key] for key in tree if key not in node.children} for tree in (reference, prediction))
    if node.rest is not None:
        counts += compare_lists(ref, pred, node.rest, pairing)
    else:
        counts.node_fp += len(pred) if pairing.plan.follows_treeval else count_nodes(pred, items=True)
        counts.outside += count_values_outside(None, pred)
    return counts


def compare_lists(references: Any, predictions: Any, node: Any, pairing: Pairing) -> Counts:
    """Compare two lists, or the values of two dictionaries: items that are paired, and those without counterpart."""
    counts, matches = Counts(), pairing.match(references, predictions, node, compare_items)
    for row, column in matches:
        slot = Slot.KEY if node.is_keyed else Slot.ITEM
        pair = compare(references[row], predictions[column], node.item, pairing, slot)
        pair.outcomes = [pair.outcomes]
        counts += pair
    if id(node) in pairing.plan.within_lists:
        pairing.scorer.score(counts.leaves)
        counts.outcomes = mean_outcomes(counts.leaves)
    if matches and not node.is_keyed:
        counts.choices += ((references, matches),)
    for side, items in enumerate((references, predictions)):
        matched = {match[side] for match in matches}
        for position in items if node.is_keyed else range(len(items)):
            if position not in matched:
                counts += count_unpaired(items[position], node, pairing, is_missed=side == 0)
    if isinstance(node.item, Field) and not node.is_keyed and not references and not predictions:
        counts.outcomes.append(Outcome(node.item, "absent"))
    counts.outcomes = [counts.outcomes]
    return counts


compare_items = partial(compare, slot=Slot.ITEM)


def count_unpaired(item: Any, list_node: ListOf, pairing: Pairing, is_missed: bool) -> Counts:
    """Count a list item that has no counterpart: all of it is missed in the prediction, or invented there."""
    node, item = resolve(list_node.item, item)
    trees = (item, MISSING) if is_missed else (MISSING, item)
    counts = compare(*trees, node, pairing.alone, Slot.KEY if list_node.is_keyed else Slot.ITEM)
    n_nodes = counts.node_fn if is_missed else counts.node_fp
    if pairing.plan.follows_treeval and isinstance(node, Branch):
        n_nodes = count_nodes(item) if isinstance(item, dict) else 1
    outcomes = [outcome for outcome in counts.leaves if outcome.kind != "absent"]
    n_missed, n_extra = (n_nodes, 0) if is_missed else (0, n_nodes)
    return Counts(node_fn=n_missed, node_fp=n_extra, outside=counts.outside, outcomes=outcomes)


# --- values of several kinds, and several answers ---


def compare_union(reference: Any, prediction: Any, node: UnionNode, pairing: Pairing, slot: Slot) -> Counts:
    """Compare values of a union: each of its parts with the values of its kind.

    A leaf is absent only where both values are scalars, not where they are of another kind.
    """
    counts, kinds = Counts(), (node_for(node, reference), node_for(node, prediction))
    is_ref, is_pred = (not isinstance(value, dict | list) for value in (reference, prediction))
    for part in node.parts:
        ref = reference if part is kinds[0] else MISSING
        pred = prediction if part is kinds[1] else MISSING
        if ref is not MISSING or pred is not MISSING or (isinstance(part, Field) and is_ref and is_pred):
            below = compare(ref, pred, part, pairing, Slot.CONTENT if slot is Slot.ITEM else slot)
            if isinstance(part, Field) and not (is_ref and is_pred):
                below.outcomes = [outcome for outcome in below.leaves if outcome.kind != "absent"]
            counts += below
    if slot is Slot.ITEM:
        counts.node_tp += is_ref and is_pred
        counts.node_fn += is_ref and not is_pred
        counts.node_fp += is_pred and not is_ref
        counts.is_null_pair, counts.is_scalar_pair = reference is None and prediction is None, is_ref or is_pred
    return counts


def compare_answers(reference: AnyOf, prediction: Any, node: SchemaNode, pairing: Pairing, slot: Slot) -> Counts:
    """Compare the prediction with each valid answer; return the counts of the one that fits best."""
    counts = [compare(answer, prediction, node, pairing, slot) for answer in reference.values]
    index = pairing.best_fit(node, counts)
    counts[index].extra_reference_values += count_values(counts[index].leaves, ()) - count_values(counts[0].leaves, ())
    counts[index].choices += ((reference, index),)
    return counts[index]


# --- what a value is to its node, and what is counted of it ---


ABSENT, NULL, VALUE, WRONG, NULLABLE = range(5)
"""No key; null; a value; a value of another type; several valid answers, null among them."""


def state(node: SchemaNode, value: Any, is_loose: bool) -> int:
    """Return the state of a value at its node, one of ABSENT … NULLABLE; ``is_loose``: a leaf takes values of any type.

    Example:
        >>> node = Branch({})
        >>> [state(node, value, False) for value in ({}, None, "text", MISSING)] == [VALUE, NULL, WRONG, ABSENT]
        True
    """
    kind = type(value)
    if kind in (node.types if isinstance(node, Field) else (dict if isinstance(node, Branch) else list,)):
        return VALUE
    if value is None or (kind is AnyOf and isinstance(node, Field) and not value.present):
        return NULL
    if value is MISSING:
        return ABSENT
    if not isinstance(node, Field) or (not is_loose and not fits(value, node)):
        return WRONG
    return NULLABLE if kind is AnyOf and value.may_be_null else VALUE


def value_states(reference: Any, prediction: Any, node: SchemaNode, plan: Plan) -> tuple[int, int]:
    """Return the states of two values; a nullable reference has a value if the prediction has one, else null."""
    ref, pred = state(node, reference, plan.follows_treeval), state(node, prediction, plan.follows_treeval)
    return (VALUE if pred >= VALUE else NULL) if ref == NULLABLE else ref, pred


def count_key(ref: int, pred: int, node: SchemaNode, plan: Plan) -> Counts:
    """Count whether the node of a key is in both trees, and whether its values are."""
    if pred == ABSENT:
        return Counts(node_fn=int(ref != ABSENT or plan.follows_treeval))
    if ref == ABSENT:
        return Counts(node_fp=1)
    if isinstance(node, Branch):
        return Counts(node_tp=1)
    if ref == NULL or pred == NULL:
        return Counts(node_tp=1, leaf_fn=int(ref != NULL), leaf_fp=int(pred != NULL))
    return Counts(node_tp=1, leaf_tp=1)


def count_item(ref: int, pred: int, node: SchemaNode, plan: Plan) -> Counts:
    """Count the node that an item of a list is: a leaf, or what should be a dictionary or list and is none.

    Two leaves or nulls are one node. Treeval's program counts items without counterpart only, and takes null for a
    value in a list of leaves.
    """
    is_leaf = isinstance(node, Field)
    in_ref, in_pred = ref != ABSENT and (is_leaf or ref != VALUE), pred != ABSENT and (is_leaf or pred != VALUE)
    is_null_pair = ref == pred == NULL
    if in_ref and in_pred and (is_leaf or is_null_pair):
        is_counted = not (is_leaf and plan.follows_treeval)
        return Counts(node_tp=int(is_counted), is_null_pair=is_null_pair and is_counted)
    return Counts(node_fn=int(in_ref), node_fp=int(in_pred))


def count_below_for_treeval(below: Counts, prediction: Any, node: SchemaNode, ref: int, pred: int) -> Counts:
    """Return what treeval's program counts below a key: nothing of what is compared unless both trees have it.

    Of a dictionary that one of them lacks, or has as null, it counts what is in it or what should be.
    """
    if ref != VALUE or not (pred == VALUE or (pred == WRONG and isinstance(node, ListOf))):
        below = replace(below, node_tp=0, node_fp=0, node_fn=0, leaf_tp=0, leaf_fp=0, leaf_fn=0)
    if ref == VALUE and pred >= VALUE:
        below.common += (node,)
    if isinstance(node, Branch) and ref == NULL and pred >= VALUE:
        below.node_fp += count_nodes(prediction)
        below.leaf_fp += count_nodes(prediction, only_leaves=True)
    if isinstance(node, Branch) and (pred == ABSENT or (ref >= VALUE and pred == NULL)):
        below.node_fn += count_nodes(full_tree(node))
        below.leaf_fn += count_nodes(full_tree(node), only_leaves=True)
    return below
