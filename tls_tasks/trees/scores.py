"""From sums to scores: normalisation, precision and recall, averages over leaves, the treeval score."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import truediv
from typing import Any

import numpy as np

from tls_tasks.trees.leaf_base import FloatArray, LeafMetric
from tls_tasks.trees.options import TreeOptions
from tls_tasks.trees.pairs import ALIKE, Tally
from tls_tasks.trees.plan import BranchPlan, LeafPlan, ListPlan, NodePlan, TreePlan

TIE_BREAK = 1e-9
"""What nodes and leaves in common weigh beside the scores of metrics, where those decide."""


def normalized(scores: Any, metric: LeafMetric, clipping: str) -> Any:
    """Scores in [0, 1], 1 the best; of one score or an array.

    Args:
        scores: In the metric's range, or beyond it.
        metric: Knows range and direction.
        clipping: ``always``, or ``not_unit``: not in the range (0, 1).
    """
    low, high = metric.score_range
    if (low, high) != (0, 1):
        scores = (np.clip(scores, low, high) - low) / (high - low)
    elif clipping == "always":
        scores = np.clip(scores, 0.0, 1.0)
    return scores if metric.higher_is_better else 1.0 - scores


def normalized_mean(score: float, metric: LeafMetric, clipping: str) -> float:
    """:func:`normalized` of a single number.

    Example:
        >>> from tls_tasks.trees.leaf_metrics import resolve_metric
        >>> error = resolve_metric(max, name="error", score_range=(0, 10), higher_is_better=False)
        >>> normalized_mean(2.0, error, "always"), normalized_mean(12.0, error, "always")
        (0.8, 0.0)
    """
    low, high = metric.score_range
    if (low, high) != (0, 1):
        score = (min(max(score, low), high) - low) / (high - low)
    elif clipping == "always":
        score = min(max(score, 0.0), 1.0)
    return score if metric.higher_is_better else 1.0 - score


def precision_recall_f1(hits: float, extra: float, missed: float) -> tuple[float, float, float]:
    """Precision, recall and F1, each in [0, 1].

    Precision and recall are 1 where there is nothing that could be wrong; F1 is 0 where both are 0.

    Args:
        hits: How many nodes (or leaves) are in both trees.
        extra: How many in the prediction only.
        missed: How many in the reference only.

    Example:
        >>> [round(value, 3) for value in precision_recall_f1(5, 1, 2)]
        [0.833, 0.714, 0.769]
    """
    precision = hits / (hits + extra) if hits + extra else 1.0
    recall = hits / (hits + missed) if hits + missed else 1.0
    return precision, recall, 2 * (precision * recall) / (precision + recall) if precision + recall else 0.0


def _f1_product(tally: Tally, shape: tuple[int, ...]) -> FloatArray:
    """The product of node F1 and leaf F1 of each pair."""
    product: FloatArray = np.ones(shape)
    for part in ("node", "leaf"):
        amounts = (tally.get(f"{part}_{kind}", 0) for kind in ("tp", "fp", "fn"))
        hits, extra, missed = (np.asarray(amount, dtype=np.float64) for amount in amounts)
        with np.errstate(divide="ignore", invalid="ignore"):
            precision = np.where(hits + extra > 0, hits / (hits + extra), 1.0)
            recall = np.where(hits + missed > 0, hits / (hits + missed), 1.0)
            f1 = np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)
        product = product * f1
    return product


def pair_weights(
    leaves: Sequence[LeafPlan], tally: Tally, plan: TreePlan, shape: tuple[int, ...], is_leaf: bool
) -> FloatArray:
    """How well the two items of each pair fit together; the greatest sum of weights decides on the pairing.

    Of leaves: the mean of their normalised scores; two nulls fit, a null and a value don't. Of dictionaries and lists:
    the leaves' scores averaged per metric, normalised, and averaged; where nothing could be scored, the product of node
    F1 and leaf F1. The same product decides between equal ones, or under ``alignment="treeval_score"`` it is a factor.

    Args:
        leaves: The leaves of the items.
        tally: What was found.
        plan: The plan.
        shape: Of the result.
        is_leaf: Whether the items are leaves.
    """
    options = plan.options
    if is_leaf:
        scores = _leaf_weights(leaves[0], tally, options)
        weights = np.broadcast_to(scores, shape) if ALIKE not in tally else np.where(tally[ALIKE], 1.0, scores)
        return np.asarray(weights, dtype=np.float64)
    mean, scored = _metric_mean(leaves, tally, plan)
    product = _f1_product(tally, shape)
    if options.alignment == "treeval_score":
        weights = np.where(scored, mean, 1.0) * product
    else:
        weights = np.where(scored, mean, product) + TIE_BREAK * product
    if ALIKE in tally:
        weights = np.where(tally[ALIKE], 1.0, weights)
    return np.asarray(np.broadcast_to(weights, shape), dtype=np.float64)


def _leaf_weights(leaf: LeafPlan, tally: Tally, options: TreeOptions) -> Any:
    if len(leaf.metrics) == 1 and options.single_metric == "raw":
        return tally[("sum", leaf.slots[0])]
    total: Any = 0.0
    for slot, metric in zip(leaf.slots, leaf.metrics, strict=True):
        score = normalized(tally[("sum", slot)], metric, options.clipping)
        total = total + np.where(tally[("n", slot)], score, 0.0) if ALIKE in tally else total + score
    return total / len(leaf.metrics)


def _metric_mean(leaves: Sequence[LeafPlan], tally: Tally, plan: TreePlan) -> tuple[FloatArray, Any]:
    """The mean over metrics of the normalised mean over leaves, and where anything was scored."""
    total: Any = 0.0
    n_metrics: Any = 0
    for name, metric in plan.metrics.items():
        sums: Any = 0.0
        votes: Any = 0.0
        for leaf in leaves:
            for slot, one in zip(leaf.slots, leaf.metrics, strict=True):
                if one.name == name and leaf.weight and ("sum", slot) in tally:
                    n: Any = tally[("n", slot)]
                    sums = sums + leaf.weight * (tally[("sum", slot)] / np.maximum(n, 1))
                    votes = votes + leaf.weight * np.asarray(n > 0)
        has = np.asarray(votes > 0)
        mean = np.divide(sums, votes, out=np.zeros(np.broadcast(sums, votes).shape), where=has)
        total = total + np.where(has, normalized(mean, metric, plan.options.clipping), 0.0)
        n_metrics = n_metrics + has
    scored = np.asarray(n_metrics > 0)
    return np.divide(total, n_metrics, out=np.zeros(np.broadcast(total, n_metrics).shape), where=scored), scored


# --- averages over leaves ---

Means = Sequence["float | None"]
"""One mean a slot; None where nothing was scored."""


def leaf_means(sums: Sequence[float], numbers: Sequence[float]) -> list[float | None]:
    """Each metric's mean at each leaf."""
    try:
        return list(map(truediv, sums, numbers))
    except ZeroDivisionError:
        return [total / n if n else None for total, n in zip(sums, numbers, strict=True)]


Averages = dict[str, dict[str, "float | None"]]
"""Type -> metric -> average; ``""`` for all types, None where nothing was scored."""

Key = tuple[str, str]
"""Type and metric of an average."""


def average_leaves(
    plan: TreePlan,
    means: Means,
    numbers: Sequence[float],
    hierarchical: bool,
    groups: Mapping[str, Mapping[str, Sequence[int]]] | None = None,
) -> Averages:
    """The mean of each metric over leaves: of all leaves, and of each type's.

    Args:
        plan: The plan.
        means: Each slot's mean.
        numbers: How many values each has.
        hierarchical: Whether a dictionary's mean is one value in the mean of the dictionary that it is in.
        groups: Those of the plan's that are wanted; None: all.
    """
    groups = plan.groups if groups is None else groups
    if hierarchical or plan.options.leaf_average == "values" or not plan.is_unweighted:
        if hierarchical:
            found = _branch_average(plan.root, plan, means, numbers)
        else:
            found = _weighted(_votes(plan, range(len(plan.slots)), means, numbers))
        return {label: {name: found.get((label, name)) for name in slots} for label, slots in groups.items()}
    mean_of: Any = means.__getitem__
    try:
        return {
            label: {name: sum(map(mean_of, slots)) / len(slots) for name, slots in by_metric.items()}
            for label, by_metric in groups.items()
        }
    except TypeError:  # nothing was scored somewhere
        return {
            label: {name: _mean([means[slot] for slot in slots]) for name, slots in by_metric.items()}
            for label, by_metric in groups.items()
        }


def _mean(values: Means) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


Votes = Iterable[tuple[Key, float, float]]
"""What a value is averaged under, the value, and its weight."""


def _weighted(votes: Votes) -> dict[Key, float]:
    """The weighted mean of each key."""
    sums: dict[Key, float] = {}
    weights: dict[Key, float] = {}
    for key, value, weight in votes:
        sums[key] = sums.get(key, 0.0) + value * weight
        weights[key] = weights.get(key, 0.0) + weight
    return {key: sums[key] / weight for key, weight in weights.items() if weight}


def _votes(plan: TreePlan, slots: Iterable[int], means: Means, numbers: Sequence[float]) -> Votes:
    for slot in slots:
        leaf, metric = plan.slots[slot]
        mean = means[slot]
        if mean is not None:
            weight = leaf.weight * (numbers[slot] if plan.options.leaf_average == "values" else 1.0)
            yield ("", metric.name), mean, weight
            yield (leaf.kind, metric.name), mean, weight


def _branch_average(branch: BranchPlan, plan: TreePlan, means: Means, numbers: Sequence[float]) -> dict[Key, float]:
    votes: list[tuple[Key, float, float]] = []
    for child in branch.children.values():
        inner: NodePlan = child
        while isinstance(inner, ListPlan):
            inner = inner.item
        if isinstance(inner, BranchPlan):
            votes += [(key, mean, 1.0) for key, mean in _branch_average(inner, plan, means, numbers).items()]
        else:
            votes += _votes(plan, inner.slots, means, numbers)
    return _weighted(votes)


def treeval_score(plan: TreePlan, averages: Mapping[str, float | None], node_f1: float, leaf_f1: float) -> float:
    """The mean of the normalised averages per metric, times node F1, times leaf F1; 1 for the mean of none."""
    scores = [mean for mean in averages.values() if mean is not None]
    if not plan.only_ours:
        known = ((mean, plan.metrics[name]) for name, mean in averages.items() if mean is not None)
        scores = [normalized_mean(mean, metric, plan.options.clipping) for mean, metric in known]
    return (sum(scores) / len(scores) if scores else 1.0) * node_f1 * leaf_f1
