"""How well values fit together, by two rules: by treeval's guide or program, and by the similarities of values.

Flat items (leaves, and dictionaries of leaves) are weighed all with all at once, hundreds in milliseconds; that says
what comparing them pair by pair says.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.trees.counts import EXACT, Counts, Outcome, count_values, mean_similarity
from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Branch, SchemaNode, all_nodes
from tls_tasks.trees.value_normalization import normalized, reads_numbers, value_reader
from tls_tasks.trees.values import MISSING

TIE_BREAK = 1e-9
"""What nodes and leaves in common weigh beside the scores of metrics, and an exact value beside similarities."""


@dataclass(slots=True)
class PairCounts:
    """What is counted of many pairs of values, as arrays of one shape (or one number for all pairs).

    Attributes:
        nodes, leaves: True positives, false positives, false negatives.
        scores: By the index of a leaf, how many scores it has, and the sum of them for each of its metrics.
        similarity: The sum of the similarities of values.
        exact: How many values are exact.
        n_values: How many values both sides have, but for those where null is a valid answer, too.
        extra_reference_values: How many values more the reference has than it has on its own.
        are_null: Whether both are items that are null.
        are_scalars: Whether one at least of items that may be of several kinds is a scalar or null.
    """

    nodes: Sequence[Any]
    leaves: Sequence[Any]
    scores: dict[int, tuple[Any, Any]] = field(default_factory=dict)
    similarity: Any = 0.0
    exact: Any = 0
    n_values: Any = 0
    extra_reference_values: Any = 0
    are_null: Any = False
    are_scalars: Any = False

    @classmethod
    def from_counts(cls, counts: Sequence[Counts], leaves: Sequence[Sequence[Outcome]]) -> PairCounts:
        """Arrange the counts of pairs and their leaves, which have their scores, in arrays."""
        votes: dict[int, list[Any]] = {}
        for row, outcomes in enumerate(leaves):
            for outcome in outcomes:
                if outcome.scores:
                    votes.setdefault(outcome.field.index, []).append((row, *outcome.scores))
        sums = {}
        for index, scores in votes.items():
            rows, *columns = zip(*scores, strict=True)
            by_metric = [np.bincount(rows, column, len(counts)) for column in columns]
            sums[index] = np.bincount(rows, minlength=len(counts)), by_metric
        met = [[outcome for outcome in outcomes if outcome.scores and outcome.kind] for outcomes in leaves]
        extra = [sum(outcome.accepts_null for outcome in outcomes) for outcomes in met]
        return cls(
            nodes=np.array([(each.node_tp, each.node_fp, each.node_fn) for each in counts]).T,
            leaves=np.array([(each.leaf_tp, each.leaf_fp, each.leaf_fn) for each in counts]).T,
            scores=sums,
            similarity=np.array([each.similarity for each in counts]),
            exact=np.array([sum(outcome.similarity >= EXACT for outcome in outcomes) for outcomes in met]),
            n_values=np.array([pair.outside + count_values(group) for pair, group in zip(counts, leaves, strict=True)]),
            extra_reference_values=np.array([each.extra_reference_values for each in counts]) + extra,
            are_null=np.array([each.is_null_pair for each in counts]),
            are_scalars=np.array([each.is_scalar_pair for each in counts]),
        )


def guide_fits(plan: Plan, node: SchemaNode, pairs: PairCounts) -> FloatArray:
    """Return the fit of each pair by the guide: the mean over metrics of the normalised mean over leaves.

    Two nulls fit, a null and a value do not. Where nothing could be scored it is node F1 times leaf F1, and a billionth
    of that product decides between equal ones; in treeval's program it is a factor.
    """
    mean, is_scored = _mean_over_metrics(plan, pairs)
    if isinstance(node, Field):
        if plan.follows_treeval and len(node.metrics) == 1 and node.index in pairs.scores:  # the score itself
            mean = pairs.scores[node.index][1][0]
    else:
        product = _f1(*pairs.nodes) * _f1(*pairs.leaves)
        if plan.follows_treeval:
            mean = np.where(is_scored, mean, 1.0) * product
        else:
            mean = np.where(is_scored, mean, product) + TIE_BREAK * product
        mean = np.where(pairs.are_scalars & ~is_scored, 0.0, mean)  # what no metric sees
    return np.where(pairs.are_null, 1.0, mean)


def _mean_over_metrics(plan: Plan, pairs: PairCounts) -> tuple[Any, Any]:
    """Return the mean over metrics of the normalised mean over leaves, and for which pairs anything was scored."""
    total: Any = 0.0
    n_metrics: Any = np.array(0)
    for metric in plan.metrics.values():
        scores: Any = 0.0
        votes: Any = np.array(0)
        for index in sorted(pairs.scores):
            n, sums = pairs.scores[index]
            for leaf_metric, score in zip(plan.fields[index].metrics, sums, strict=True):
                if leaf_metric.name == metric.name:
                    scores = scores + score / np.maximum(n, 1)
                    votes = votes + (n > 0)
        mean = metric.normalize(scores / np.maximum(votes, 1), clip=not plan.follows_treeval)
        total = total + mean * (votes > 0)
        n_metrics = n_metrics + (votes > 0)
    return total / np.maximum(n_metrics, 1), n_metrics > 0


def _f1(*counts: Any) -> FloatArray:
    """Return the F1 of true positives, false positives and false negatives; 1 where nothing is wrong."""
    hits, extra, missed = (np.asarray(count, dtype=np.float64) for count in counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hits + extra > 0, hits / (hits + extra), 1.0)
        recall = np.where(hits + missed > 0, hits / (hits + missed), 1.0)
        return np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)


def value_fits(plan: Plan, node: SchemaNode, pairs: PairCounts) -> FloatArray:
    """Return the F1 of the values of each pair; 1 where neither side has one."""
    f1s = np.minimum(2 * pairs.similarity / np.maximum(pairs.n_values, 1), 1.0)
    return np.where(pairs.n_values > 0, f1s, 1.0)


def value_sums(plan: Plan, node: SchemaNode, pairs: PairCounts) -> FloatArray:
    """Return the sum of similarities; of equal sums the most exact values decide.

    Then nulls meet, and of several answers those with fewer values count.
    """
    last = pairs.are_null * 1.0 - pairs.extra_reference_values
    sums: FloatArray = pairs.similarity + TIE_BREAK * (pairs.exact + 1e-3 * last)
    return sums


class Rule(NamedTuple):
    """What the items of lists are paired for.

    Attributes:
        fits: How well the values of each pair fit together, from 0 to 1 as a rule.
        weights: What each pair adds to the sum that is maximised.
    """

    fits: Callable[[Plan, SchemaNode, PairCounts], FloatArray]
    weights: Callable[[Plan, SchemaNode, PairCounts], FloatArray]


GUIDE = Rule(guide_fits, guide_fits)
"""For what treeval's guide defines: nodes, leaves, the scores of metrics, averages."""

VALUES = Rule(value_fits, value_sums)
"""For the scores of values, and for all that shows which item met which."""


# --- all pairs of flat items at once ---

Row = list[Any]
"""The values of a flat item (a leaf, or dictionaries of leaves whose values have their types), leaf by leaf."""

CHUNK = 500_000
"""How many pairs of items are looked at at once: bounds the memory."""


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
        return [item] if type(item) in node.types or item is None or item is MISSING else None
    if type(item) is not dict or not isinstance(node, Branch) or not item.keys() <= node.children.keys():
        return None
    row: Row = []
    for key, child in node.children.items():
        below = flat_row(child, item.get(key, MISSING))
        if below is None:
            return None
        row += below
    return row


def flat_weights(plan: Plan, node: SchemaNode, references: list[Row], predictions: list[Row]) -> dict[Rule, FloatArray]:
    """Return the weights of all references with all predictions by each rule."""
    rules = [GUIDE] if plan.follows_treeval else [GUIDE, VALUES]
    weights = {rule: np.empty((len(references), len(predictions))) for rule in rules}
    step = max(1, CHUNK // max(1, len(predictions)))
    for start in range(0, len(references) if predictions else 0, step):
        rows = slice(start, start + step)
        pairs = _count_pairs(plan, node, references[rows], predictions)
        for rule in rules:
            weights[rule][rows] = rule.weights(plan, node, pairs)
    return weights


def _count_pairs(plan: Plan, node: SchemaNode, references: list[Row], predictions: list[Row]) -> PairCounts:
    """Count all references with all predictions."""
    sides, is_leaf = (references, predictions), isinstance(node, Field)
    n_dictionaries = sum(isinstance(below, Branch) for _, below in all_nodes(node)) - (not is_leaf)  # within the item
    keys: list[Any] = [np.array([[float(value is not MISSING) for value in row] for row in rows]) for rows in sides]
    nulls = [np.array([[value is None for value in row] for row in rows]) for rows in sides]
    values: list[Any] = [side - null for side, null in zip(keys, nulls, strict=True)]
    expected = np.ones_like(keys[0]) if plan.follows_treeval else keys[0]
    pairs = PairCounts(
        nodes=(keys[0] @ keys[1].T + n_dictionaries, (1 - keys[0]) @ keys[1].T, expected @ (1 - keys[1]).T),
        leaves=(values[0] @ values[1].T, (keys[0] - values[0]) @ values[1].T, values[0] @ (keys[1] - values[1]).T),
        n_values=np.add.outer(*(side.sum(axis=1) for side in values)),
        are_null=is_leaf and np.logical_and.outer(*(side[:, 0] == 0 for side in values)),
    )
    for index, leaf in enumerate(flat_leaves(node)):
        has_both = np.logical_and.outer(*(side[:, index] > 0 for side in values))
        columns = [[row[index] for row in rows] for rows in sides]
        matrices = [metric.matrix(*columns) * has_both for metric in leaf.metrics]
        pairs.scores[leaf.index] = has_both, matrices
        if not plan.follows_treeval:
            score = mean_similarity(leaf.metrics, matrices)
            if not reads_numbers(leaf, plan.day_month):  # numbers have their type here
                read = value_reader(leaf, plan.day_month)
                texts = [[normalized(read, value) for value in column] for column in columns]
                if texts != columns:
                    score = np.maximum(score, mean_similarity(leaf.metrics, [m.matrix(*texts) for m in leaf.metrics]))
            score = score * has_both
            pairs.similarity, pairs.exact = pairs.similarity + score, pairs.exact + (score >= EXACT)
    return pairs
