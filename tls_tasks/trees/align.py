"""Which items of two lists belong together: the pairing with the greatest sum of weights."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tls_tasks.trees.leaf_base import FloatArray
from tls_tasks.trees.nodes import fields_below
from tls_tasks.trees.plan import Field
from tls_tasks.trees.similarity import Side, Sums, assign, compare, compare_values, sort_key, weigh
from tls_tasks.trees.types import ListOf, SchemaNode

if TYPE_CHECKING:
    from tls_tasks.trees.walk import Walk

CHUNK = 500_000
"""How many pairs of items are looked at at once: bounds the memory."""


def align(walk: Walk, node: ListOf, expected: list[Any], given: list[Any]) -> list[tuple[int, int]]:
    """Align the items of two lists.

    Args:
        walk: Knows the plan, and scores pairs of items one by one where there is no quicker way.
        node: The lists' node.
        expected: The items of the reference.
        given: The items of the prediction.

    Returns:
        The positions of items that belong together.
    """
    if node.is_ordered or not expected or not given:
        return [(place, place) for place in range(min(len(expected), len(given)))]
    left, right = list(range(len(expected))), list(range(len(given)))
    is_canonical = not walk.plan.follows_treeval
    if is_canonical:  # what is found does not depend on the order of the lists
        left_keys, right_keys = ([sort_key(node.item, item) for item in items] for items in (expected, given))
        left.sort(key=left_keys.__getitem__)
        right.sort(key=right_keys.__getitem__)
        are_reflexive = all(metric.is_reflexive for metric in walk.plan.metrics.values())
        if are_reflexive and [left_keys[i] for i in left] == [right_keys[j] for j in right]:
            return list(zip(left, right, strict=True))
        right = _few_of_a_kind(right, right_keys, len(left))
    if len(expected) == len(given) == 1:
        return [(0, 0)]
    weights = _weights(walk, node.item, [expected[i] for i in left], [given[j] for j in right])
    rows, columns = assign(weights, is_canonical)
    return [(left[i], right[j]) for i, j in zip(rows, columns, strict=True)]


def _few_of_a_kind(places: list[int], keys: Sequence[str], n: int) -> list[int]:
    """Of sorted items that are equal the first ``n``: as many as can find a counterpart.

    Models that repeat themselves write the longest lists.
    """
    return [place for i, place in enumerate(places) if i < n or keys[place] != keys[places[i - n]]]


def _weights(walk: Walk, node: SchemaNode, references: list[Any], predictions: list[Any]) -> FloatArray:
    """How well each item of the reference fits each of the prediction, some rows at a time."""
    plan, right = walk.plan, None
    if not plan.follows_treeval and plan.options.list_items == "nodes" and not isinstance(node, Field):
        right = Side(plan, node, predictions, is_predicted=True)
    width = len(predictions) if right is None else right.width
    step = max(1, CHUNK // max(width, 1))
    parts = []
    for start in range(0, len(references), step):
        part = references[start : start + step]
        if isinstance(node, Field):
            sums = compare_values(plan, node, part, predictions)
        elif right is not None:
            sums = compare(Side(plan, node, part), right)
        else:
            sums = _compare_one_by_one(walk, node, part, predictions)
        parts.append(weigh(plan, node, sums, (len(part), len(predictions))))
    return np.concatenate(parts)


def _compare_one_by_one(walk: Walk, node: SchemaNode, references: list[Any], predictions: list[Any]) -> Sums:
    """Score all pairs of items by the walk, for rules of counting that have no shorter form."""
    inner = type(walk)(walk.plan, is_inside=True)
    for expected in references:
        for given in predictions:
            inner.items(node, expected, given)
    names: dict[Any, str] = {
        f"{part}_{kind}": f"{part}_{kind}" for part in ("node", "leaf") for kind in ("tp", "fp", "fn")
    }
    for field in fields_below(node):
        for number, metric in enumerate(field.metrics):
            names |= {(what, field.index, number): field.part(what, metric) for what in ("sum", "n")}
    units, shape = inner.units(), (len(references), len(predictions))
    sums: Sums = {key: np.array([unit[name] for unit in units]).reshape(shape) for key, name in names.items()}
    none = [np.array([item is None for item in items], dtype=bool) for items in (references, predictions)]
    return {**sums, "both_null": np.logical_and.outer(*none)}
