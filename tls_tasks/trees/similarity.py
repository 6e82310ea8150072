"""How well items of two lists fit together, all pairs at once.

The weight of two leaves is the mean of their normalised scores; two nulls fit, a null and a value do not. Of two
dictionaries or lists, the scores of each leaf are averaged, then the leaves per metric, then the metrics. Where nothing
could be scored the weight is node F1 times leaf F1, and a billionth of that product decides between equal ones; in
treeval it is a factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.leaf_base import FloatArray
from tls_tasks.trees.nodes import count_nodes, fields_with_value, values_outside
from tls_tasks.trees.pairs import ALIKE, HITS, MORE, SINGLE, Array, Sides, Tally
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Again, Branch, ListOf, OneOf, SchemaNode, part_for

_TIE_BREAK = 1e-9
"""What nodes and leaves in common weigh beside the scores of metrics, where those decide."""


ALMOST = 1 - 1e-12
"""Sums of the same numbers in another order may differ by less."""

Pairing = tuple[list[int], list[int]]
"""Rows, and the column of each."""


def assign(weights: FloatArray, canonical: bool = False) -> Pairing:
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
    if canonical and weights.shape[0] == 1:
        return [0], [int(weights.argmax())]
    if canonical and weights.shape[1] == 1:
        return [int(weights.argmax())], [0]
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return rows.tolist(), columns.tolist()


def pairings(weights: Sequence[FloatArray], canonical: bool = False) -> Sequence[Pairing]:
    """The pairing of each aim, by its weights, or one for all where the first is the best for each.

    Example:
        >>> pairings([np.eye(2), np.eye(2) / 2])
        [([0, 1], [0, 1])]
        >>> pairings([np.eye(2), 1 - np.eye(2)])
        [([0, 1], [0, 1]), ([0, 1], [1, 0])]
    """
    first = assign(weights[0], canonical)
    found = [first, *(first if np.array_equal(own, weights[0]) else improved(own, first) for own in weights[1:])]
    return found[:1] if all(own is first for own in found) else found


def alike_only(plan: Plan, weights: Sequence[FloatArray], found: Sequence[Pairing]) -> Sequence[Pairing]:
    """The pairing of each aim, or one for all, without items that are too unlike, whose weight is 0."""
    if not plan.options.least_similarity:
        return found
    each = found if len(found) > 1 else [*found] * len(weights)
    places = [np.array(own)[:, of_aim[own] > 0].tolist() for of_aim, own in zip(weights, each, strict=True)]
    return [(rows, columns) for rows, columns in places]


def without_unlike(
    plan: Plan, node: SchemaNode, sides: Sides, tally: Tally, weights: Sequence[FloatArray]
) -> Sequence[FloatArray]:
    """The weights of each aim, 0 where items are too unlike: by the weight itself, for values by their F1."""
    least, is_loose = plan.options.least_similarity - 1e-12, plan.options.types == "loose"
    alike = [weights[0], *f1_of_pairs(node, sides, tally, range(1, len(weights)), is_loose)]
    return [np.where(own > least, of_aim, 0.0) for own, of_aim in zip(alike, weights, strict=True)]


def improved(weights: FloatArray, known: Pairing) -> Pairing:
    """A pairing of a greater sum of weights than the known one; the known one itself where there is none."""
    total = weights[known].sum()
    if total >= ALMOST * min(weights.max(axis=1).sum(), weights.max(axis=0).sum()):  # no sum is greater
        return known
    solved = assign(weights, canonical=True)
    return known if total >= ALMOST * weights[solved].sum() else solved


def sort_keys(node: SchemaNode, values: list[Any]) -> list[str]:
    """Of each value a text that two of them share if no score can tell them apart."""
    if not isinstance(node, Field):
        return [_visible(node, value) for value in values]
    if set(map(type, values)) <= {str}:
        return values
    return [value if type(value) is str else "\0" + _visible(node, value) for value in values]


def _visible(node: SchemaNode, value: Any) -> str:
    """What can be seen of a value: neither the order of keys, nor that of lists that are compared in any order."""
    kind, node = type(value), part_for(node, value)
    if kind is dict and isinstance(node, Branch):
        known = [_visible(child, value[key]) if key in value else "" for key, child in node.children.items()]
        if node.rest is not None:
            rest = node.rest.item
            others = [f"{key!r}:{_visible(rest, own)}" for key, own in value.items() if key not in node.children]
            return f"{{{','.join([*known, *sorted(others)])}}}"
        unknown = [count_nodes(child, items=True) for key, child in value.items() if key not in node.children]
        return f"{{{','.join(known)}{sorted(unknown) if unknown else ''}}}"
    if kind is list and isinstance(node, ListOf):
        items = [_visible(node.item, item) for item in value]
        return f"[{','.join(items if node.is_ordered else sorted(items))}]"
    if isinstance(value, str):
        return repr(str.__str__(value))
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)


def weigh(plan: Plan, node: SchemaNode, tally: Tally, shape: tuple[int, ...]) -> FloatArray:
    """The weights of all pairs of items."""
    if isinstance(node, Field):
        mean = _mean_score(plan, node, tally)
    else:
        mean, scored = _mean_over_metrics(plan, node, tally)
        product = _f1(tally, "node") * _f1(tally, "leaf")
        if plan.follows_treeval:
            mean = np.where(scored, mean, 1.0) * product
        else:
            mean = np.where(scored, mean, product) + _TIE_BREAK * product
    if SINGLE in tally:  # what no metric sees
        mean = np.where(tally[SINGLE] & ~scored, 0.0, mean)
    if ALIKE in tally:
        mean = np.where(tally[ALIKE], 1.0, mean)
    return np.broadcast_to(mean, shape)


def f1_of_pairs(node: SchemaNode, sides: Sides, tally: Tally, aims: Sequence[int], is_loose: bool) -> list[FloatArray]:
    """What the F1 of values is of each pair, for these aims; 1 where neither side has a value.

    Args:
        node: Their node.
        sides: Values of references and predictions.
        tally: What was counted of the pairs.
        aims: Those of the scores of values.
        is_loose: Whether a leaf takes values of any type.
    """
    left, right = (value_counts(node, own, is_loose) for own in (sides.references, sides.predictions))
    both = left[sides.pairs.rows] + right[sides.pairs.columns]
    found = []
    for aim in aims:
        n_values = both + tally.get(MORE[aim], 0)
        f1 = np.minimum(2 * np.asarray(tally.get(HITS[aim], 0.0)) / np.maximum(n_values, 1), 1.0)
        found.append(np.where(n_values > 0, f1, 1.0))
    return found


def value_counts(node: SchemaNode, values: Sequence[Any], is_loose: bool) -> Array:
    """How many values there surely are in each of some values of a node; of several answers in the first."""
    return np.array([len(fields_with_value(node, value, is_loose)) + values_outside(node, value) for value in values])


def _mean_score(plan: Plan, field: Field, tally: Tally) -> Any:
    """The mean of a leaf's normalised scores; of a single one treeval takes the score itself."""
    if plan.follows_treeval and len(field.metrics) == 1:
        return tally[field.part("sum", field.metrics[0])]
    total: Any = 0.0
    for metric in field.metrics:
        score = metric.normalize(tally[field.part("sum", metric)], clip=not plan.follows_treeval)
        n = tally[field.part("n", metric)]
        total = total + (score if isinstance(n, int) else np.where(n, score, 0.0))
    return total / len(field.metrics)


def _mean_over_metrics(plan: Plan, node: SchemaNode, tally: Tally) -> tuple[Any, Any]:
    """The mean over metrics of the normalised mean over leaves, and where anything was scored."""
    total: Any = 0.0
    n_metrics: Any = 0
    for metric in plan.metrics.values():
        score: Any = 0.0
        votes: Any = 0.0
        for field in _fields_below(node):
            part = field.part("sum", metric)
            if part in tally:
                n = tally[field.part("n", metric)]
                score = score + (tally[part] if isinstance(n, int) else tally[part] / np.maximum(n, 1))
                votes = votes + (n > 0)
        has = votes > 0
        mean = metric.normalize(_divided(score, votes), clip=not plan.follows_treeval)
        total = total + (mean if has is True else np.where(has, mean, 0.0))
        n_metrics = n_metrics + has
    return _divided(total, n_metrics), n_metrics > 0


def _divided(amounts: Any, by: Any) -> Any:
    """A quotient, 0 where there is nothing to divide by; ``by`` may be one number for all."""
    if isinstance(by, np.ndarray):
        shape = np.broadcast_shapes(np.shape(amounts), by.shape)
        return np.divide(amounts, by, out=np.zeros(shape), where=by > 0)
    return amounts / by if by else amounts


def _f1(tally: Tally, part: str) -> Any:
    amounts = (np.asarray(tally.get(f"{part}_{kind}", 0), dtype=np.float64) for kind in ("tp", "fp", "fn"))
    hits, extra, missed = amounts
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hits + extra > 0, hits / (hits + extra), 1.0)
        recall = np.where(hits + missed > 0, hits / (hits + missed), 1.0)
        return np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)


def _fields_below(node: SchemaNode) -> list[Field]:
    """The leaves at and below a node, each once."""
    fields: dict[int, Field] = {}
    left, seen = [node], set[int]()
    while left:
        own = left.pop()
        if id(own) in seen:
            continue
        seen.add(id(own))
        if isinstance(own, Branch):
            left += [*own.children.values(), *([] if own.rest is None else [own.rest.item])]
        elif isinstance(own, ListOf | Again):
            left.append(own.item if isinstance(own, ListOf) else own.node)
        elif isinstance(own, OneOf):
            left += own.parts
        elif isinstance(own, Field):
            fields[own.index] = own
    return [fields[index] for index in sorted(fields)]
