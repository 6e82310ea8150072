"""The recursion along a schema through a reference and a prediction: nodes are counted, leaves scored, lists paired.

A dictionary that is absent, null or of another type is compared as an empty one, and a list as an empty list, so that
what is missed or too many below it is counted in its place. :mod:`tls_tasks.trees.pairing` decides which items of two
lists are compared.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tls_tasks.trees.counts import Counts, Outcome
from tls_tasks.trees.node_counts import count_alone, count_as_treeval, means_by_leaf, presence, states
from tls_tasks.trees.nodes import MISSING, NULL, VALUE, WRONG, BadReferenceError, count_nodes, values_outside
from tls_tasks.trees.plan import Field
from tls_tasks.trees.types import Again, AnyOf, Branch, ListOf, OneOf, SchemaNode, part_for, resolved

if TYPE_CHECKING:
    from tls_tasks.trees.pairing import Pairing

Compare = Callable[[Any, Any, SchemaNode, "Pairing"], Counts]
"""One of the functions below: of two values of a key, two items of lists, or two whole trees."""


def compare_trees(reference: Any, prediction: Any, pairing: Pairing) -> Counts:
    """Compare two trees; the prediction is MISSING where nothing could be read.

    Raises:
        BadReferenceError: The reference does not follow the schema.
    """
    root = pairing.plan.root
    if not isinstance(root, Branch):
        return compare(reference, prediction, root, pairing)
    if isinstance(prediction, dict):
        return compare_roots(whole_tree(reference), prediction, root, pairing)
    counts = compare_roots(whole_tree(reference), {}, root, pairing)
    counts.outside += values_outside(root, prediction)
    return counts


def whole_tree(tree: Any) -> Any:
    """Return a reference for a dictionary as it is compared: where no tree is right too, that is an empty one."""
    if isinstance(tree, AnyOf):
        return AnyOf([{} if answer is None else whole_tree(answer) for answer in tree.values])
    if isinstance(tree, dict):
        return tree
    raise BadReferenceError


def compare_roots(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare two dictionaries that are whole trees."""
    if has_answers(node, reference):
        return compare_answers(compare_roots, reference, prediction, node, pairing)
    return compare_dictionaries(reference, prediction, node, pairing)


def compare(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare the values of a key; MISSING stands for the value of a key that isn't there."""
    if isinstance(node, Field) and type(reference) in node.types and type(prediction) in node.types:  # as a rule
        return Counts(node_tp=1, leaf_tp=1, outcomes=[pairing.scorer.outcome(node, reference, prediction)])
    is_recursive, node = isinstance(node, Again), resolved(node)
    if has_answers(node, reference):
        return compare_answers(compare, reference, prediction, node, pairing)
    if isinstance(node, OneOf):
        is_scalar = not isinstance(reference, dict | list) and not isinstance(prediction, dict | list)
        return compare_kinds(compare, reference, prediction, node, pairing, is_scalar)
    left, right = states(reference, prediction, node, pairing)
    counts = presence(left, right, node, pairing)
    if isinstance(node, Field):
        counts.outcomes.append(compare_leaves(reference, prediction, node, left, right, pairing))
        return counts
    if is_recursive and left != VALUE and right != VALUE:  # a schema within itself ends where there is nothing in it
        counts.outside += values_outside(node, prediction) if right == WRONG else 0
        return counts
    below = compare_inside(reference, prediction, node, left, right, pairing)
    is_compared = left == VALUE and (right == VALUE or (right == WRONG and isinstance(node, ListOf)))
    always_counts = not pairing.plan.follows_treeval and (isinstance(node, Branch) or pairing.plan.counts_items)
    counts += below if is_compared or always_counts else below.without_nodes()
    if pairing.plan.follows_treeval:
        count_as_treeval(counts, prediction, node, left, right, pairing)
    if isinstance(node, ListOf) and isinstance(node.item, Field) and left == VALUE and right == WRONG:
        counts.outcomes.append(Outcome(node.item, scores=node.item.worst_scores))
    return counts


def compare_leaves(reference: Any, prediction: Any, field: Field, left: int, right: int, pairing: Pairing) -> Outcome:
    """Say what became of a leaf."""
    if left >= VALUE and right >= VALUE:
        return pairing.scorer.outcome(field, reference, prediction, right != WRONG)
    return pairing.unscored[field.index]["missed" if left >= VALUE else "invented" if right >= VALUE else "absent"]


def compare_inside(
    reference: Any, prediction: Any, node: SchemaNode, left: int, right: int, pairing: Pairing
) -> Counts:
    """Compare what is in dictionaries or lists; anything that isn't one is as an empty one."""
    empty: Any = {} if isinstance(node, Branch) else []
    step = compare_dictionaries if isinstance(node, Branch) else compare_lists
    counts = step(reference if left == VALUE else empty, prediction if right == VALUE else empty, node, pairing)
    if right == WRONG:
        counts.outside += values_outside(node, prediction)
    return counts


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
    matches = pairing.match(references, predictions, node)
    if id(node) in pairing.inner_lists:
        with pairing.scorer.apart():
            counts = compare_matches(matches, references, predictions, node, pairing)
        counts.outcomes = means_by_leaf(counts.outcomes, pairing.counts_worst)
    else:
        counts = compare_matches(matches, references, predictions, node, pairing)
    for side, (kind, items) in enumerate((("missed", references), ("invented", predictions))):
        matched = {match[side] for match in matches}
        for step, item in items.items() if node.is_keyed else enumerate(items):
            if step not in matched:
                counts += count_alone(item, node, kind, pairing)
    if isinstance(node.item, Field) and not node.is_keyed and not references and not predictions:
        counts.outcomes.append(pairing.unscored[node.item.index]["absent"])
    counts.outcomes = [counts.outcomes]
    return counts


def compare_matches(matches: Any, references: Any, predictions: Any, node: ListOf, pairing: Pairing) -> Counts:
    """Compare the items that are paired."""
    counts, step = Counts(), compare if node.is_keyed else compare_items
    for row, column in matches:
        counts.add_group(step(references[row], predictions[column], node.item, pairing))
    return counts


def compare_items(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare two items of lists: a pair of leaves is one node, as are two nulls and what should be in an item."""
    node = resolved(node)
    if has_answers(node, reference):
        return compare_answers(compare_items, reference, prediction, node, pairing)
    one_node = int(pairing.plan.counts_items)
    if isinstance(node, OneOf):
        is_left, is_right = (not isinstance(item, dict | list) for item in (reference, prediction))
        counts = compare_kinds(_compare_kind, reference, prediction, node, pairing, is_left and is_right)
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
    counts = compare_inside(reference, prediction, node, left, right, pairing)
    counts.is_null_pair = left == right == NULL
    counts.node_tp += counts.is_null_pair
    counts.node_fn += left != VALUE and not counts.is_null_pair
    counts.node_fp += right != VALUE and not counts.is_null_pair
    return counts


# --- values of several kinds, and several answers ---


def compare_kinds(
    step: Compare, reference: Any, prediction: Any, node: OneOf, pairing: Pairing, is_scalar: bool
) -> Counts:
    """Compare values that may be of several kinds: each kind with its values.

    A leaf is absent only where both values are scalars (``is_scalar``), not where they are of another kind.
    """
    counts = Counts()
    kinds = part_for(node, reference), part_for(node, prediction)
    for part in node.parts:
        left = reference if part is kinds[0] else MISSING
        right = prediction if part is kinds[1] else MISSING
        if left is not MISSING or right is not MISSING or (isinstance(part, Field) and is_scalar):
            below = step(left, right, part, pairing)
            if isinstance(part, Field) and not is_scalar:
                below.outcomes = [outcome for outcome in below.outcomes if outcome.kind != "absent"]
            counts += below
    return counts


def _compare_kind(reference: Any, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare two items of one kind."""
    left, right = states(reference, prediction, node, pairing)
    if isinstance(node, Field):
        return Counts(outcomes=[compare_leaves(reference, prediction, node, left, right, pairing)])
    return compare_inside(reference, prediction, node, left, right, pairing)


def has_answers(node: SchemaNode, value: Any) -> bool:
    """Whether a reference has several answers that are to be compared; those that are scalars are a leaf's."""
    if type(value) is not AnyOf or isinstance(node, Field):
        return False
    return not isinstance(node, OneOf) or any(isinstance(answer, dict | list) for answer in value.values)


def compare_answers(step: Compare, reference: AnyOf, prediction: Any, node: SchemaNode, pairing: Pairing) -> Counts:
    """Compare the prediction with each valid answer; the one that fits best counts."""
    return best_answer(step, reference, prediction, node, pairing)[1]


def best_answer(
    step: Compare, reference: AnyOf, prediction: Any, node: SchemaNode, pairing: Pairing
) -> tuple[int, Counts]:
    """Return the index of the answer that fits best, and what is counted of it."""
    with pairing.scorer.apart():
        counts = [step(answer, prediction, node, pairing) for answer in reference.values]
    index = pairing.best_fit(node, counts)
    counts[index].extra_reference_values += counts[index].n_reference_values - counts[0].n_reference_values
    return index, counts[index]
