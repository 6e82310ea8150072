"""All pairs of flat items at once: leaves, and dictionaries of leaves whose values have their types.

It says what comparing them pair by pair says, for lists of hundreds of items in milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tls_tasks.trees.counts import EXACT
from tls_tasks.trees.leaf_scores import is_present, mean_similarity
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.meanings import meaning, reader_of_meanings, reads_numbers
from tls_tasks.trees.nodes import MISSING
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Branch, SchemaNode
from tls_tasks.trees.weights import GUIDE, VALUES, PairCounts, Rule

CHUNK = 500_000
"""How many pairs of items are looked at at once: bounds the memory."""

Row = list[Any]
"""The values of a flat item, leaf by leaf."""


def flat_leaves(node: SchemaNode) -> list[Field]:
    """List the leaves of a node that is one or has nothing but dictionaries and leaves; empty for any other node."""
    if isinstance(node, Field):
        is_asked_once = all(metric.is_reflexive for metric in node.metrics)  # a caller's metric gets no pair twice
        return [node] if is_asked_once and not {str, int} <= node.types else []  # a number may be the same as a text
    if not isinstance(node, Branch) or node.rest:
        return []
    below = [flat_leaves(child) for child in node.children.values()]
    return [leaf for leaves in below for leaf in leaves] if all(below) else []


def flat_row(node: SchemaNode, item: Any) -> Row | None:
    """List the values of an item; None if one is of another type or a dictionary within is not there."""
    if isinstance(node, Field):
        return [item] if type(item) in node.types or not is_present(item) else None
    if type(item) is not dict or not isinstance(node, Branch) or not item.keys() <= node.children.keys():
        return None
    row: Row = []
    for key, child in node.children.items():
        below = flat_row(child, item.get(key, MISSING))
        if below is None:
            return None
        row += below
    return row


def weigh_rows(plan: Plan, node: SchemaNode, references: list[Row], predictions: list[Row]) -> dict[Rule, FloatArray]:
    """Return the weights of all references with all predictions by each rule."""
    rules = [GUIDE] if plan.follows_treeval else [GUIDE, VALUES]
    weights = {rule: np.empty((len(references), len(predictions))) for rule in rules}
    step = max(1, CHUNK // len(predictions))
    for start in range(0, len(references), step):
        rows = slice(start, start + step)
        pairs = _count_pairs(plan, node, references[rows], predictions)
        for rule in rules:
            weights[rule][rows] = rule.weigh(plan, node, pairs)
    return weights


def _count_pairs(plan: Plan, node: SchemaNode, references: list[Row], predictions: list[Row]) -> PairCounts:
    """Count all references with all predictions."""
    sides = references, predictions
    keys: list[Any] = [np.array([[float(value is not MISSING) for value in row] for row in rows]) for rows in sides]
    values: list[Any] = [np.array([[float(is_present(value)) for value in row] for row in rows]) for rows in sides]
    expected = np.ones_like(keys[0]) if plan.follows_treeval else keys[0]
    pairs = PairCounts(
        nodes=(keys[0] @ keys[1].T + _n_dictionaries(node), (1 - keys[0]) @ keys[1].T, expected @ (1 - keys[1]).T),
        leaves=(values[0] @ values[1].T, (keys[0] - values[0]) @ values[1].T, values[0] @ (keys[1] - values[1]).T),
        n_values=np.add.outer(*(side.sum(axis=1) for side in values)),
        are_null=isinstance(node, Field) and np.logical_and.outer(*(side[:, 0] == 0 for side in values)),
    )
    if is_whole := all(side.all() for side in values):  # as a rule; one number for all pairs is quicker
        n = values[0].shape[1]
        pairs.nodes, pairs.leaves, pairs.are_null = (n + _n_dictionaries(node), 0, 0), (n, 0, 0), False
    for index, field in enumerate(flat_leaves(node)):
        has_both = np.array(True) if is_whole else np.logical_and.outer(*(side[:, index] > 0 for side in values))
        column = [[row[index] for row in rows if is_present(row[index])] for rows in sides]
        matrices = [_placed(metric.matrix(*column), has_both) if has_both.any() else 0.0 for metric in field.metrics]
        pairs.scores[field.index] = has_both, matrices
        if not plan.follows_treeval:
            alike = _similarity(plan, field, matrices, has_both, column)
            pairs.similarity, pairs.exact = pairs.similarity + alike, pairs.exact + (alike >= EXACT)
    return pairs


def _placed(scores: FloatArray, has_both: Any) -> FloatArray:
    """The scores of values in the matrix of all pairs of items, 0 where one is not there."""
    if has_both.all():
        return scores
    matrix = np.zeros(has_both.shape)
    matrix[has_both] = scores.ravel()
    return matrix


def _similarity(plan: Plan, field: Field, matrices: Sequence[Any], has_both: Any, column: Sequence[Any]) -> FloatArray:
    """The similarities of the values of a leaf, as they stand or as they are meant."""
    alike: FloatArray = has_both * mean_similarity(field.metrics, matrices)
    if reads_numbers(field, plan.options.day_month) or not has_both.any():  # numbers have their type here
        return alike
    read = reader_of_meanings(field, plan.options.day_month)
    if (sides := [[meaning(read, value) for value in side] for side in column]) == [*column]:
        return alike
    meant = mean_similarity(field.metrics, [metric.matrix(*sides) for metric in field.metrics])
    return np.maximum(alike, _placed(meant, has_both))


def _n_dictionaries(node: SchemaNode) -> int:
    """Count the dictionaries within a dictionary."""
    inner = [child for child in node.children.values() if isinstance(child, Branch)] if isinstance(node, Branch) else []
    return len(inner) + sum(map(_n_dictionaries, inner))
