"""What is counted, by the states of values: nodes, leaves and items of lists, in the guide and in treeval's program."""

from itertools import compress
from typing import Any

import numpy as np

from tls_tasks.trees import nodes
from tls_tasks.trees.align import Lists, Matches
from tls_tasks.trees.compliance import slips
from tls_tasks.trees.meanings import as_meant
from tls_tasks.trees.nodes import ABSENT, MAYBE, NULL, VALUE, WRONG, BadReferenceError, count_nodes
from tls_tasks.trees.pairs import ALWAYS, EXACT, GUIDE, HITS, OUTSIDE, SOFT, SPARE, Array, Counts, Pairs, States
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Branch, ListOf, SchemaNode

RIGHT = 1 - 1e-12
"""From this similarity on a value is right."""


# --- nodes ---


def count_presence(plan: Plan, node: SchemaNode, states: States, counts: Counts) -> None:
    """Count whether the node of a key is in both trees, and whether its values are."""
    in_left, in_right = states.left != ABSENT, states.right != ABSENT
    both = in_left & in_right
    counts.add("node_tp", both)
    counts.add("node_fp", in_right & ~in_left)
    counts.add("node_fn", ~in_right & (in_left | plan.follows_treeval))
    if not isinstance(node, Branch):
        counts.add("leaf_tp", both & states.has_left & states.has_right)
        counts.add("leaf_fn", both & states.has_left & ~states.has_right)
        counts.add("leaf_fp", both & ~states.has_left & states.has_right)


def where_nodes_count(plan: Plan, node: SchemaNode, states: States) -> Array:
    """Whether nodes below this one count, and not only what each leaf is."""
    if not plan.follows_treeval and (isinstance(node, Branch) or plan.options.list_items == "nodes"):
        return ALWAYS
    is_walked = (states.right == VALUE) | ((states.right == WRONG) & isinstance(node, ListOf))
    return np.asarray((states.left == VALUE) & is_walked)


def count_as_treeval(plan: Plan, node: SchemaNode, pairs: Pairs, states: States, counts: Counts) -> None:
    """Count what treeval counts below a dictionary or list that one of the trees lacks, or has as null."""
    is_missed = (states.right == ABSENT) | ((states.left >= VALUE) & (states.right == NULL))
    is_extra, columns = (states.left == NULL) & states.has_right, pairs.columns
    counts_items = plan.options.list_items == "nodes"
    if isinstance(node, Branch) or counts_items:
        sizes = [nodes.nodes_below(node, own) if counts_items else count_nodes(own) for own in pairs.predictions]
        counts.add("node_fp", is_extra * np.array(sizes)[columns])
    if isinstance(node, Branch):
        leaves = np.array([count_nodes(value, only_leaves=True) for value in pairs.predictions])
        counts.add("node_fn", is_missed * count_nodes(nodes.full_tree(node)))
        counts.add("leaf_fn", is_missed * count_nodes(nodes.full_tree(node), only_leaves=True))
        counts.add("leaf_fp", is_extra * leaves[columns])


def unknown_nodes(plan: Plan, unknown: dict[Any, Any]) -> int:
    """How many nodes there are in the part of a dictionary that the schema doesn't have."""
    return len(unknown) if plan.follows_treeval else count_nodes(unknown, items=plan.options.list_items == "nodes")


# --- leaves ---


def score_leaf(plan: Plan, field: Field, pairs: Pairs, states: States, counts: Counts, has_details: bool) -> None:
    """Score the pairs that have two values; a prediction of another type gets each metric's worst score.

    Args:
        plan: The schema and its settings.
        field: The leaf.
        pairs: Its values.
        states: What they are to the leaf.
        counts: What is added to.
        has_details: Whether it matters what each pair is, or only its scores.
    """
    both = states.has_left & states.has_right
    usable = both & (states.right != WRONG)
    similarity: Any = 0.0
    for metric in field.metrics:
        predictions = pairs.predictions
        if metric.name == "exact_match" and plan.options.types == "loose" and not field.depth:
            predictions = _as_one_array(predictions, usable)
        scores = pairs.of(pairs.references, predictions).scores(metric, usable)
        scores = np.where(both & ~usable, metric.worst, scores)
        counts.add(field.part("sum", metric), scores)
        counts.add(field.part("n", metric), both)
        similarity = similarity + metric.normalize(scores)
    similarity = usable * (similarity / len(field.metrics))
    if has_details:
        is_right = similarity >= RIGHT
        counts.add(f"correct|{field.name}", is_right)
        counts.add(f"wrong|{field.name}", both & ~is_right)
        counts.add(f"missed|{field.name}", states.has_left & ~states.has_right)
        counts.add(f"invented|{field.name}", ~states.has_left & states.has_right)
        counts.add(f"absent|{field.name}", ~states.has_left & ~states.has_right)
    if plan.follows_treeval:
        return
    meant = as_meant(field, pairs, both, plan.options.day_month)
    if meant is not None:
        similarity = np.maximum(similarity, meant)
    is_right = similarity >= RIGHT
    counts.add(HITS, similarity, SOFT)
    counts.add(HITS, is_right, EXACT)
    if has_details:  # what it is where items of lists are paired for similarity, and how many values are wanted
        counts.add(f"sum|{field.name}", similarity, SOFT)
        counts.add(f"right|{field.name}", is_right, SOFT)
        counts.add(f"met|{field.name}", both, SOFT)
        is_spare = (states.left == MAYBE) & states.has_right
        counts.add(f"wanted|{field.name}", states.has_left & (states.left != MAYBE))
        counts.add(f"spare|{field.name}", is_spare, SOFT)
        counts.add(SPARE, is_spare, EXACT)


def _as_one_array(predictions: list[Any], usable: Array) -> list[Any]:
    """The predictions as treeval compares them: they are one array, where one float makes floats of all."""
    kinds = set(map(type, compress(predictions, np.broadcast_to(usable, len(predictions)).tolist())))
    if float not in kinds or not kinds & {int, bool}:
        return predictions
    return [float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions]


def add_worst(field: Field, times: Array, counts: Counts) -> None:
    """Count each metric's worst score so many times."""
    if times.any():
        for metric in field.metrics:
            counts.add(field.part("sum", metric), times * metric.worst)
            counts.add(field.part("n", metric), times)


# --- items of lists ---


def count_items(plan: Plan, node: SchemaNode, states: States, counts: Counts) -> None:
    """Count items: each pair of leaves is one node.

    Of what should be dictionaries or lists, two nulls, and each that is something else, are one.
    """
    counts.are_null = np.asarray(((states.left == NULL) | (states.left == MAYBE)) & (states.right == NULL))
    if isinstance(node, Field):
        counts.add("node_tp", int(plan.options.list_items == "nodes"))
        return
    counts.add("node_tp", counts.are_null)
    counts.add("node_fn", (states.left != VALUE) & ~counts.are_null)
    counts.add("node_fp", (states.right != VALUE) & ~counts.are_null)


def is_scalar(value: Any) -> bool:
    """Whether a value is neither a dictionary nor a list."""
    return not isinstance(value, dict | list)


def count_items_of_kinds(plan: Plan, pairs: Pairs, counts: Counts) -> None:
    """Count items that may be of several kinds: a scalar or null is one node."""
    left, right = pairs.where(is_scalar)
    counts.are_null = np.logical_and(*pairs.where(lambda value: value is None))
    counts.are_single = left | right
    one_node = int(plan.options.list_items == "nodes")
    counts.add("node_tp", (left & right) * one_node)
    counts.add("node_fn", (left & ~right) * one_node)
    counts.add("node_fp", (~left & right) * one_node)


def give_lists_one_vote(counts: Counts) -> None:
    """Replace the sums of scores by their means: in treeval a list in a list has one vote."""
    for part in [name for _, name in counts.of if name.startswith("sum|")]:
        n = counts.of[GUIDE, f"n|{part[4:]}"]
        counts.of[GUIDE, part] = counts.of[GUIDE, part] / np.maximum(n, 1)
        counts.of[GUIDE, f"n|{part[4:]}"] = 0 + (n > 0)


# --- items without counterpart ---


def count_unmatched(
    plan: Plan, node: ListOf, matches: Matches, pairs: Pairs, counts: Counts, has_details: bool
) -> None:
    """Count the nodes of items without counterpart; ``has_details``: their leaves, too.

    Leaves of nothing at all are rightly absent.
    """
    is_guide = matches.is_of[GUIDE]
    owners, rows, columns = matches.owners[is_guide], matches.rows[is_guide], matches.columns[is_guide]
    for kind, count, lists, matched, of_pair in (
        ("missed", "node_fn", matches.left, rows, pairs.rows),
        ("invented", "node_fp", matches.right, columns, pairs.columns),
    ):
        if has_details and len(matched) == len(lists.items):  # each list has its own counterpart, and no item is left
            continue
        sizes = np.array([_size(plan, node, item) for item in lists.items], dtype=np.int64)
        counts.add(count, lists.totals(sizes)[of_pair] - pairs.sums(sizes[matched], owners))
        if has_details:
            _count_leaves(plan, node.item, kind, lists, matched, counts)
    if has_details and isinstance(node.item, Field) and not node.is_keyed:
        are_empty = (matches.left.lengths[pairs.rows] == 0) & (matches.right.lengths[pairs.columns] == 0)
        counts.add(f"absent|{node.item.name}", are_empty)


def _size(plan: Plan, node: ListOf, item: Any) -> int:
    """The nodes of an item."""
    if node.is_keyed:
        return 1 + nodes.nodes_below(node.item, item)
    return nodes.item_nodes(node.item, item, plan.options.list_items == "nodes")


def _count_leaves(plan: Plan, node: SchemaNode, kind: str, lists: Lists, matched: Array, counts: Counts) -> None:
    """Count the leaves of items without counterpart, each with the list that it is in.

    Raises:
        BadReferenceError: Such an item of a reference does not follow the schema.
    """
    is_alone, is_loose = np.ones(len(lists.items), dtype=bool), plan.options.types == "loose"
    is_alone[matched] = False
    outside, by_field = np.zeros(counts.n, dtype=np.int64), dict[int, list[int]]()
    for index in np.flatnonzero(is_alone).tolist():
        item = lists.items[index]
        if kind == "missed" and not is_loose and item is not None and slips(item, node):
            raise BadReferenceError
        for field in nodes.values_of(node, item, is_loose):
            if field is not None:
                by_field.setdefault(field.index, []).append(lists.list_of[index])
            elif kind == "invented":
                outside[lists.list_of[index]] += 1
    counts.add(OUTSIDE, outside)
    for number, owners in by_field.items():
        field, amounts = plan.fields[number], np.bincount(owners, minlength=counts.n)
        counts.add(f"{kind}|{field.name}", amounts)
        if kind == "missed":
            counts.add(f"wanted|{field.name}", amounts)
        if plan.options.unmatched_items == "worst":
            add_worst(field, amounts, counts)
