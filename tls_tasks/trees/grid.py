"""The weights of all pairs of flat items at once: leaves, and dictionaries of leaves whose values have their types.

For these it says the same as comparing pair by pair, for lists of hundreds of items in milliseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.trees.counts import EXACT
from tls_tasks.trees.leaf_scores import is_present, mean_similarity
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.meanings import meaning, reader_of_meanings, reads_numbers
from tls_tasks.trees.nodes import MISSING
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Branch, SchemaNode

TIE_BREAK = 1e-9
"""What nodes and leaves in common weigh beside the scores of metrics, where those decide."""


class Grid(NamedTuple):
    """How well flat items fit together, all references with all predictions.

    Attributes:
        guide: By the guide's or treeval's rule.
        similarity: The sums of the similarities of values.
        exact: How many values are exact.
        n_values: How many values both items have.
    """

    guide: FloatArray
    similarity: FloatArray
    exact: FloatArray
    n_values: FloatArray


def flat_leaves(node: SchemaNode) -> list[Field]:
    """List the leaves of a node that is one or has nothing but dictionaries and leaves; empty for any other node."""
    if isinstance(node, Field):
        return [] if {str, int} <= node.types else [node]  # a number may be the same as a text
    if not isinstance(node, Branch) or node.rest:
        return []
    below = [flat_leaves(child) for child in node.children.values()]
    return [leaf for leaves in below for leaf in leaves] if all(below) else []


def flat_row(node: SchemaNode, item: Any, null_is_value: bool) -> list[Any] | None:
    """List the values of an item, leaf by leaf; None if one is of another type or a dictionary within is not there."""
    if isinstance(node, Field):
        is_flat = type(item) in node.types or item is MISSING or (item is None and not null_is_value)
        return [item] if is_flat else None
    if type(item) is not dict or not isinstance(node, Branch) or not item.keys() <= node.children.keys():
        return None
    row: list[Any] = []
    for key, child in node.children.items():
        below = flat_row(child, item.get(key, MISSING), null_is_value=False)
        if below is None:
            return None
        row += below
    return row


def weigh_rows(plan: Plan, node: SchemaNode, references: Sequence[Any], predictions: Sequence[Any]) -> Grid:
    """Weigh all rows of references with all rows of predictions."""
    shape = len(references), len(predictions)
    sums: dict[str, Any] = dict.fromkeys(plan.metrics, 0.0)
    votes: dict[str, Any] = dict.fromkeys(plan.metrics, 0)
    similarity, exact = np.zeros(shape), np.zeros(shape)
    for index, field in enumerate(flat_leaves(node)):
        column = _Column([row[index] for row in references], [row[index] for row in predictions])
        scores = [column.scores(metric.matrix) for metric in field.metrics]
        for metric, score in zip(field.metrics, scores, strict=True):
            sums[metric.name] = sums[metric.name] + score
            votes[metric.name] = votes[metric.name] + column.has_both
        if not plan.follows_treeval:
            alike = column.similarity(plan, field, scores)
            similarity += alike
            exact += alike >= EXACT
    is_single = plan.follows_treeval and isinstance(node, Field) and len(node.metrics) == 1
    if is_single and isinstance(node, Field):
        guide = sums[node.metrics[0].name]
    else:
        mean, n_metrics = _mean_over_metrics(plan, sums, votes)
        guide = _with_structure(plan, node, mean, n_metrics, references, predictions)
    n_values = np.add.outer(
        *(np.array([sum(map(is_present, row)) for row in rows]) for rows in (references, predictions))
    )
    return Grid(np.broadcast_to(guide, shape), similarity, exact, n_values)


class _Column:
    """The values of one leaf."""

    def __init__(self, references: list[Any], predictions: list[Any]) -> None:
        rows, columns = ([is_present(value) for value in side] for side in (references, predictions))
        self.is_whole = all(rows) and all(columns)
        self.has_both: Any = 1 if self.is_whole else np.logical_and.outer(rows, columns)
        self.sides = [value for value in references if is_present(value)], [v for v in predictions if is_present(v)]

    def scores(self, score: Any) -> Any:
        """Score the pairs of values; 0 where one is not there."""
        if self.is_whole:
            return score(*self.sides)
        scores = np.zeros(self.has_both.shape)
        if self.has_both.any():
            scores[self.has_both] = score(*self.sides).ravel()
        return scores

    def similarity(self, plan: Plan, field: Field, scores: Sequence[Any]) -> Any:
        """Return the similarities of the pairs, as they stand or as they are meant."""
        alike: Any = 0.0
        for metric, score in zip(field.metrics, scores, strict=True):
            alike = alike + metric.normalize(score)
        alike = alike / len(field.metrics) * self.has_both
        if reads_numbers(field, plan.options.day_month):  # which have their types
            return alike
        read = reader_of_meanings(field, plan.options.day_month)
        matrices = [metric.matrix for metric in field.metrics]

        def score_meanings(*sides: Any) -> FloatArray:
            return mean_similarity(
                field.metrics, matrices, *([meaning(read, value) for value in side] for side in sides)
            )

        return np.maximum(alike, self.scores(score_meanings))


def _mean_over_metrics(plan: Plan, sums: Any, votes: Any) -> tuple[Any, Any]:
    """The mean over metrics of the normalised mean over leaves, and how many metrics there are."""
    total: Any = 0.0
    n_metrics: Any = 0
    for name, metric in plan.metrics.items():
        mean = metric.normalize(sums[name] / np.maximum(votes[name], 1), clip=not plan.follows_treeval)
        total = total + mean * (votes[name] > 0)
        n_metrics = n_metrics + (votes[name] > 0)
    return total / np.maximum(n_metrics, 1), n_metrics


def _with_structure(
    plan: Plan, node: SchemaNode, mean: Any, n_metrics: Any, references: Sequence[Any], predictions: Sequence[Any]
) -> Any:
    """The weights by the mean over metrics and the nodes and leaves that items have in common."""
    if isinstance(node, Field):
        are_null = [np.array([row[0] is None for row in rows]) for rows in (references, predictions)]
        return np.where(np.logical_and.outer(*are_null), 1.0, mean)
    product = _common_structure(plan, node, references, predictions)
    if plan.follows_treeval:
        return np.where(n_metrics > 0, mean, 1.0) * product
    return np.where(n_metrics > 0, mean, product) + TIE_BREAK * product


def _common_structure(
    plan: Plan, node: SchemaNode, references: Sequence[Any], predictions: Sequence[Any]
) -> FloatArray:
    """Node F1 times leaf F1 of dictionaries of leaves."""
    (keys, values), (other_keys, other_values) = (
        (np.array([[value is not MISSING for value in row] for row in rows], dtype=float),
         np.array([[is_present(value) for value in row] for row in rows], dtype=float))
        for rows in (references, predictions)
    )  # fmt: skip
    expected = np.ones_like(keys) if plan.follows_treeval else keys
    n_common = keys @ other_keys.T + _n_dictionaries(node)
    nodes = f1(n_common, (1 - keys) @ other_keys.T, expected @ (1 - other_keys).T)
    return nodes * f1(values @ other_values.T, (keys - values) @ other_values.T, values @ (other_keys - other_values).T)


def _n_dictionaries(node: SchemaNode) -> int:
    """Count the dictionaries within a dictionary."""
    inner = [child for child in node.children.values() if isinstance(child, Branch)] if isinstance(node, Branch) else []
    return len(inner) + sum(map(_n_dictionaries, inner))


def f1(hits: Any, extra: Any, missed: Any) -> FloatArray:
    """Return the F1 of arrays of true positives, false positives and false negatives; 1 where nothing is wrong."""
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hits + extra > 0, hits / (hits + extra), 1.0)
        recall = np.where(hits + missed > 0, hits / (hits + missed), 1.0)
        return np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)
