"""Which items of two lists are compared: by key, by position, or by the pairing with the greatest sum of weights.

There are two pairings. :class:`GuidePairing` follows treeval's guide or program, for the results that these define;
:class:`ValuePairing` finds the greatest sum of similarities, for the scores of values and for everything that shows
which item met which.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.core.score import plain_mean
from tls_tasks.trees.counts import KINDS, Counts, Outcome
from tls_tasks.trees.grid import TIE_BREAK, Grid
from tls_tasks.trees.leaf_scores import LeafScorer
from tls_tasks.trees.leaf_values import FloatArray, LeafMetric
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.sorting import SortedItems, candidates
from tls_tasks.trees.types import ListOf, SchemaNode, all_nodes, resolved
from tls_tasks.trees.weighing import Block, Retained, weigh


class Match(NamedTuple):
    """Two items that are compared: their positions or keys, and what is counted of them if that is known."""

    row: Any
    column: Any
    counts: Counts | None = None


class Pairing(ABC):
    """Decides which items of two lists are compared, and which of several valid answers counts.

    Args:
        plan: The schema and its settings.
        scorer: Scores leaves; pairings of the same trees share one.

    Attributes:
        has_chosen: Whether there was something to decide since this was last set to False.
    """

    def __init__(self, plan: Plan, scorer: LeafScorer) -> None:
        self.plan, self.scorer, self.has_chosen = plan, scorer, False
        self.is_loose = plan.options.types == "loose"
        self.are_reflexive = all(metric.is_reflexive for metric in plan.metrics.values())
        self.unscored = [{kind: Outcome(leaf, kind) for kind in KINDS} for leaf in plan.fields]
        self.unmatched = [{kind: Outcome(leaf, kind, is_unmatched=True) for kind in KINDS} for leaf in plan.fields]
        lists = [node for _, node in all_nodes(plan.root) if isinstance(node, ListOf)] if plan.follows_treeval else []
        self.inner_lists = {id(inner) for outer in lists for _, inner in all_nodes(outer.item)}
        self.sorted_lists: dict[int, SortedItems] = {}
        self.blocks: dict[int, Block] = {}
        self.is_weighing = False

    @abstractmethod
    def fit(self, node: SchemaNode, counts: Counts) -> float:
        """Say how well a prediction fits one of several valid answers."""

    @abstractmethod
    def weight(self, node: SchemaNode, counts: Counts) -> float:
        """Say what a pair of items adds to the sum that is maximised; 0 if they are too unlike."""

    @abstractmethod
    def weights(self, grid: Grid) -> FloatArray:
        """Say the same of all pairs of flat items, ``[references, predictions]``."""

    def match(self, references: Any, predictions: Any, node: ListOf) -> list[Match]:
        """Return the pairs of items of two lists (of the values of two dictionaries) that are compared."""
        if node.is_keyed:
            return [Match(key, key) for key in references if key in predictions]
        if node.is_ordered:
            return [Match(index, index) for index in range(min(len(references), len(predictions)))]
        if not references or not predictions:
            return []
        left, right = self.in_order(references, node.item), self.in_order(predictions, node.item)
        least, is_canonical = self.plan.options.least_similarity, not self.plan.follows_treeval
        is_equal = is_canonical and self.are_reflexive and left.keys == right.keys
        if is_equal or (len(references) == len(predictions) == 1 and not least):
            return [Match(row, column) for row, column in zip(left.positions, right.positions, strict=True)]
        self.has_chosen = True
        columns = candidates(left, right) if is_canonical else range(len(predictions))
        if not columns:
            return []
        weights, retained = self._weigh(references, predictions, columns, node.item)
        return [
            Match(left.positions[row], right.positions[columns[column]], retained.get((row, column)))
            for row, column in zip(*assign(weights, is_canonical), strict=True)
            if not least or weights[row, column] > 0
        ]

    def in_order(self, items: Sequence[Any], node: SchemaNode) -> SortedItems:
        """Sort items, so that the pairing does not depend on their order; for treeval they stay as they stand."""
        if id(items) not in self.sorted_lists:
            self.sorted_lists[id(items)] = SortedItems.of(items, node, self.plan.follows_treeval)
        return self.sorted_lists[id(items)]

    def _weigh(
        self, references: Any, predictions: Any, columns: Sequence[int], node: SchemaNode
    ) -> tuple[FloatArray, Retained]:
        """Return the weights of sorted items, which may be known from a block; see :func:`weigh`."""
        block = self.blocks.get(id(node))
        if block and id(references) in block.rows and id(predictions) in block.columns:
            weights = block.weights[block.rows[id(references)], block.columns[id(predictions)]]
            return weights if len(columns) == len(predictions) else weights[:, columns], {}
        left, right = self.in_order(references, node), self.in_order(predictions, node)
        rows = [references[position] for position in left.positions]
        return weigh(rows, [predictions[right.positions[column]] for column in columns], node, self)


def assign(weights: FloatArray, canonical: bool = False) -> tuple[list[int], list[int]]:
    """The pairing of rows and columns with the greatest sum (scipy's ``linear_sum_assignment``).

    Args:
        weights: ``[rows, columns]``, finite.
        canonical: Whether the first of equally good partners may be taken where there is a single row or column.

    Returns:
        Rows in ascending order, and the column of each.

    Example:
        >>> rows, columns = assign(np.array([[0.9, 0.2, 0.05], [0.8, 0.0, 0.0], [0.1, 0.1, 1.8]]))
        >>> list(zip(rows, columns))
        [(0, 1), (1, 0), (2, 2)]
    """
    if canonical and 1 in weights.shape:
        row, column = np.unravel_index(weights.argmax(), weights.shape)
        return [int(row)], [int(column)]
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return rows.tolist(), columns.tolist()


class GuidePairing(Pairing):
    """Pairs items by the mean over metrics of the normalised mean over leaves.

    Two nulls fit, a null and a value do not. Where nothing could be scored the weight is node F1 times leaf F1, and a
    billionth of that product decides between equal ones; in treeval it is a factor.
    """

    def fit(self, node: SchemaNode, counts: Counts) -> float:
        """Say how well two values fit together by the guide's or the program's rule."""
        is_treeval, node = self.plan.follows_treeval, resolved(node)
        if counts.is_null_pair:
            return 1.0
        if is_treeval and isinstance(node, Field) and len(node.metrics) == 1:  # the score itself
            return next((outcome.scores[0] for outcome in counts.outcomes if outcome.scores), 0.0)
        mean = self.mean_over_metrics(counts)
        if isinstance(node, Field):
            return mean or 0.0
        if counts.is_scalar_pair and mean is None:  # what no metric sees
            return 0.0
        product = f1(*counts.nodes) * f1(*counts.leaves)
        if is_treeval:
            return (1.0 if mean is None else mean) * product
        return (product if mean is None else mean) + TIE_BREAK * product

    def mean_over_metrics(self, counts: Counts) -> float | None:
        """Return the mean over metrics of the normalised mean over leaves; None if nothing was scored."""
        totals: dict[int, tuple[list[float], int]] = {}
        for outcome in counts.outcomes:
            if outcome.scores:
                sums, n = totals.get(outcome.field.index, ([0.0] * len(outcome.scores), 0))
                totals[outcome.field.index] = [a + b for a, b in zip(sums, outcome.scores, strict=True)], n + 1
        means: dict[str, list[float]] = {}
        for index in sorted(totals):
            sums, n = totals[index]
            for metric, total in zip(self.plan.fields[index].metrics, sums, strict=True):
                means.setdefault(metric.name, []).append(total / n)
        scores = [
            normalized(metric, plain_mean(means[name]), clip=not self.plan.follows_treeval)
            for name, metric in self.plan.metrics.items()
            if name in means
        ]
        return plain_mean(scores) if scores else None

    def weight(self, node: SchemaNode, counts: Counts) -> float:
        """Return the fit, 0 if it is too low."""
        fit, least = self.fit(node, counts), self.plan.options.least_similarity
        return 0.0 if least and fit <= least - 1e-12 else fit

    def weights(self, grid: Grid) -> FloatArray:
        """Return the fits, 0 where they are too low."""
        least = self.plan.options.least_similarity
        return np.where(grid.guide <= least - 1e-12, 0.0, grid.guide) if least else grid.guide


class ValuePairing(Pairing):
    """Pairs items by the greatest sum of the similarities of their values; of equal sums, by the most exact values."""

    def fit(self, node: SchemaNode, counts: Counts) -> float:
        """Return the F1 of the values that both sides surely have; 1 where neither has one."""
        hits, _, n = sums_of_values(counts)
        return min(2 * hits / n, 1.0) if n else 1.0

    def weight(self, node: SchemaNode, counts: Counts) -> float:
        """Return the sum of similarities, which exact values only raise where they are equal."""
        least = self.plan.options.least_similarity
        if least and self.fit(node, counts) <= least - 1e-12:
            return 0.0
        hits, n_exact, _ = sums_of_values(counts)
        return hits + TIE_BREAK * n_exact

    def weights(self, grid: Grid) -> FloatArray:
        """Return the same of all pairs."""
        weights, least = grid.similarity + TIE_BREAK * grid.exact, self.plan.options.least_similarity
        if not least:
            return weights
        f1s = np.minimum(2 * grid.similarity / np.maximum(grid.n_values, 1), 1.0)
        return np.where(np.where(grid.n_values > 0, f1s, 1.0) <= least - 1e-12, 0.0, weights)


def sums_of_values(counts: Counts) -> tuple[float, int, int]:
    """Return the sum of similarities, the number of exact values, and how many values both sides surely have."""
    hits, n_exact, n = 0.0, 0, counts.outside
    for outcome in counts.outcomes:
        if outcome.has_both:
            hits += outcome.similarity
            n_exact += outcome.is_exact
        n += outcome.in_prediction + (outcome.in_reference and not outcome.accepts_null)
    return hits, n_exact, n


def normalized(metric: LeafMetric, score: float, clip: bool) -> float:
    """Return a score in [0, 1]; most are as they stand."""
    is_normal = metric.score_range == (0, 1) and metric.higher_is_better and 0 <= score <= 1
    return score if is_normal else float(metric.normalize(score, clip))


def f1(hits: int, extra: int, missed: int) -> float:
    """Return the F1 of three counts; 1 where nothing is extra or missed."""
    precision = hits / (hits + extra) if hits + extra else 1.0
    recall = hits / (hits + missed) if hits + missed else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
