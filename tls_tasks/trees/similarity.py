"""How well items of two lists fit together, all pairs at once.

The weight of two leaves is the mean of their normalised scores; two nulls fit, a null and a value do not. Of two
dictionaries or lists, the scores of each leaf are averaged, then the leaves per metric, then the metrics. Where nothing
could be scored the weight is node F1 times leaf F1, and a billionth of that product decides between equal ones; in
treeval it is a factor.

What is known of an item alone is worked out once, see :class:`Side`. Nodes are counted by the rules of the guide.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from tls_tasks.trees.leaf_base import FloatArray
from tls_tasks.trees.nodes import (
    ABSENT,
    MAYBE,
    MISSING,
    NULL,
    VALUE,
    WRONG,
    count_nodes,
    fields_below,
    item_nodes,
    state_of,
)
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Branch, ListOf, SchemaNode

_TIE_BREAK = 1e-9
"""What nodes and leaves in common weigh beside the scores of metrics, where those decide."""

_ALL = 1
"""How many scores of a leaf each pair of items has where all values can be compared."""

Sums = dict[Any, Any]
"""What is known of all pairs of items, each an array ``[references, predictions]``: the counts of nodes and leaves by
name; by field and metric number, ``("sum", field, metric)`` and ``("n", …)``, the sum of its scores and how many."""

Array = NDArray[Any]


def assign(weights: FloatArray, canonical: bool = False, maximize: bool = True) -> tuple[list[int], list[int]]:
    """The pairing of rows and columns with the greatest sum (scipy's ``linear_sum_assignment``).

    Args:
        weights: ``[rows, columns]``, finite.
        maximize: False for the least sum.
        canonical: Whether the first of equally good partners may be taken where there is a single row or column.

    Returns:
        Rows in ascending order, and the column of each.

    Example:
        >>> rows, columns = assign(np.array([[0.9, 0.2, 0.05], [0.8, 0.0, 0.0], [0.1, 0.1, 1.8]]))
        >>> list(zip(rows, columns))
        [(0, 1), (1, 0), (2, 2)]
    """
    if not maximize:
        weights = -weights
    if canonical and weights.shape[0] == 1:
        return [0], [int(weights.argmax())]
    if canonical and weights.shape[1] == 1:
        return [int(weights.argmax())], [0]
    rows, columns = linear_sum_assignment(weights, maximize=True)
    return rows.tolist(), columns.tolist()


def sort_key(node: SchemaNode, value: Any) -> str:
    """A text that two values share if no score can tell them apart."""
    return value if type(value) is str and isinstance(node, Field) else "\0" + _visible(node, value)


def _visible(node: SchemaNode, value: Any) -> str:
    """What can be seen of a value: neither the order of keys, nor that of lists that are compared in any order."""
    if isinstance(node, Branch) and isinstance(value, dict):
        known = [_visible(child, value[key]) if key in value else "" for key, child in node.children.items()]
        unknown = [count_nodes(child, items=True) for key, child in value.items() if key not in node.children]
        return f"{{{','.join(known)}{sorted(unknown) if unknown else ''}}}"
    if isinstance(node, ListOf) and isinstance(value, list):
        items = [_visible(node.item, item) for item in value]
        return f"[{','.join(items if node.is_ordered else sorted(items))}]"
    if isinstance(value, str):
        return repr(str.__str__(value))
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)


def weigh(plan: Plan, node: SchemaNode, sums: Sums, shape: tuple[int, int]) -> FloatArray:
    """The weights of all pairs of items."""
    if isinstance(node, Field):
        mean = _mean_score(plan, node, sums)
    else:
        mean, scored = _mean_over_metrics(plan, node, sums)
        product = _f1(sums, "node") * _f1(sums, "leaf")
        if plan.follows_treeval:
            mean = np.where(scored, mean, 1.0) * product
        else:
            mean = np.where(scored, mean, product) + _TIE_BREAK * product
    both_null = sums["both_null"]
    weights = np.broadcast_to(mean, shape)
    return np.where(both_null, 1.0, weights) if both_null.any() else weights


def _mean_score(plan: Plan, field: Field, sums: Sums) -> Any:
    """The mean of a leaf's normalised scores; of a single one treeval takes the score itself."""
    if plan.follows_treeval and len(field.metrics) == 1:
        return sums["sum", field.index, 0]
    total: Any = 0.0
    for number, metric in enumerate(field.metrics):
        score = metric.normalize(sums["sum", field.index, number], clip=not plan.follows_treeval)
        n = sums["n", field.index, number]
        total = total + (score if n is _ALL else np.where(n, score, 0.0))
    return total / len(field.metrics)


def _mean_over_metrics(plan: Plan, node: SchemaNode, sums: Sums) -> tuple[Any, Any]:
    """The mean over metrics of the normalised mean over leaves, and where anything was scored."""
    total: Any = 0.0
    n_metrics: Any = 0
    for name, metric in plan.metrics.items():
        score: Any = 0.0
        votes: Any = 0.0
        for field in fields_below(node):
            for number, own in enumerate(field.metrics):
                if own.name == name:
                    n, own_score = sums["n", field.index, number], sums["sum", field.index, number]
                    score = score + (own_score if n is _ALL else own_score / np.maximum(n, 1))
                    votes = votes + (n > 0)
        has = votes > 0
        mean = metric.normalize(_divided(score, votes), clip=not plan.follows_treeval)
        total = total + (mean if has is True else np.where(has, mean, 0.0))
        n_metrics = n_metrics + has
    return _divided(total, n_metrics), n_metrics > 0


def _divided(amounts: Any, by: Any) -> Any:
    """A quotient, 0 where there is nothing to divide by; ``by`` may be one number for all."""
    if isinstance(by, np.ndarray):
        return np.divide(amounts, by, out=np.zeros(by.shape), where=by > 0)
    return amounts / by if by else amounts


def _f1(sums: Sums, part: str) -> Any:
    hits, extra, missed = (sums[f"{part}_{kind}"] for kind in ("tp", "fp", "fn"))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hits + extra > 0, hits / (hits + extra), 1.0)
        recall = np.where(hits + missed > 0, hits / (hits + missed), 1.0)
        return np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)


# --- all pairs at once, by the rules of the guide ---


class Side:
    """What is known of the items of one side alone, an entry an item.

    Attributes:
        node: What the items are.
        n: How many there are.
        width: How many there are, or of items of lists within them, if these are more.
        is_null: Which items are null.
        n_own: Nodes of each item that no key of the schema accounts for: unknown keys and what is below them, and the
            item itself if it is no dictionary (no list).
        present: By key, whether each item has it.
        has, sure, null: By key of a leaf or list, whether each item has a value there; surely, whatever the other side
            has; or null.
        leaves: The leaves, with the items' values and their states.
        lists: The lists within the items.
    """

    def __init__(self, plan: Plan, node: SchemaNode, items: list[Any], is_predicted: bool = False) -> None:
        self.plan, self.node, self.n, self.is_predicted = plan, node, len(items), is_predicted
        self.present: list[Array] = []
        self.has: list[Array] = []
        self.sure: list[Array] = []
        self.null: list[Array] = []
        self.leaves: list[tuple[Field, list[Any], Array]] = []
        self.lists: list[_Lists] = []
        states = self._states(node, items)
        self.is_null = _is_null(states, is_predicted)
        self.n_own = np.asarray((states != VALUE) | isinstance(node, Field), dtype=np.float64)
        if isinstance(node, ListOf):  # unlike the value of a key, an item that is no list is no wrong value
            states = np.where(states == WRONG, NULL, states)
        self._below(node, items, states)
        self.width: int = max([self.n, *(own.items.width for own in self.lists)])

    def _states(self, node: SchemaNode, values: list[Any]) -> Array:
        return _states(self.plan, node, values)

    def _below(self, node: SchemaNode, values: list[Any], states: Array) -> None:
        if isinstance(node, Field):
            self.leaves.append((node, values, states))
        elif isinstance(node, ListOf):
            self.lists.append(_Lists(self, node, values, states))
        elif isinstance(node, Branch):
            trees = [value if state == VALUE else {} for value, state in zip(values, states.tolist(), strict=True)]
            for key, child in node.children.items():
                self._key(child, [tree.get(key, MISSING) for tree in trees])
            if self.is_predicted:
                for place, tree in enumerate(trees):
                    unknown = tree.keys() - node.children.keys()
                    self.n_own[place] += sum(1 + count_nodes(tree[key], items=True) for key in unknown)

    def _key(self, node: SchemaNode, values: list[Any]) -> None:
        states = self._states(node, values)
        self.present.append(states != ABSENT)
        if not isinstance(node, Branch):
            self.has.append(states >= VALUE)
            self.sure.append((states >= VALUE) & (states != MAYBE))
            self.null.append(states == NULL)
        self._below(node, values, states)


class _Lists:
    """Lists within items.

    Attributes:
        node: Their node.
        states: What each of them is.
        starts: Where each begins among the items of all; the last entry is the number of all.
        items: All items. Where their order doesn't matter each list is sorted.
        sizes: The nodes of each item.
    """

    def __init__(self, side: Side, node: ListOf, values: list[Any], states: Array) -> None:
        lists = [value if state == VALUE else [] for value, state in zip(values, states.tolist(), strict=True)]
        if not node.is_ordered:
            lists = [sorted(items, key=lambda item: sort_key(node.item, item)) for items in lists]
        items = [item for own in lists for item in own]
        self.node, self.states = node, states
        self.starts = np.cumsum([0, *map(len, lists)])
        self.items = Side(side.plan, node.item, items, side.is_predicted)
        self.sizes = np.array([item_nodes(node.item, item, True) for item in items], dtype=np.float64)

    def totals(self) -> FloatArray:
        """The nodes of each list."""
        return np.diff(np.cumsum([0.0, *self.sizes])[self.starts])


def _states(plan: Plan, node: SchemaNode, values: list[Any]) -> Array:
    is_loose = plan.options.types == "loose"
    return np.array([state_of(node, value, is_loose) for value in values], dtype=np.int8)


def _is_null(states: Array, is_predicted: bool) -> Array:
    """Which values are null; of a reference, where several answers are valid, null may be one of them."""
    is_null: Array = states == NULL
    return is_null if is_predicted else is_null | (states == MAYBE)


def compare_values(plan: Plan, field: Field, expected: list[Any], given: list[Any]) -> Sums:
    """What is known of all pairs of items that are leaves."""
    left, right = _states(plan, field, expected), _states(plan, field, given)
    if plan.follows_treeval:  # null is a value like any other
        left, right = np.maximum(left, VALUE), np.maximum(right, VALUE)
    sums: Sums = {"both_null": _is_null(left, False)[:, None] & _is_null(right, True)[None, :]}
    _compare_leaves(field, expected, left, given, right, sums)
    return sums


def compare(left: Side, right: Side) -> Sums:
    """What is known of all pairs of items."""
    both_null = left.is_null[:, None] & right.is_null[None, :]
    shared = _in_both(left.present, right.present)
    if both_null.any() or isinstance(left.node, Field):
        shared = shared + (1.0 if isinstance(left.node, Field) else both_null)
    sums: Sums = {
        "both_null": both_null,
        "node_tp": shared,
        "node_fn": _one_or_all(sum(left.present, left.n_own))[:, None] - shared,
        "node_fp": _one_or_all(sum(right.present, right.n_own))[None, :] - shared,
        "leaf_tp": _in_both(left.has, right.has),
        "leaf_fn": _in_both(left.sure, right.null),
        "leaf_fp": _in_both(left.null, right.has),
    }
    for (field, expected, left_states), (_, given, right_states) in zip(left.leaves, right.leaves, strict=True):
        _compare_leaves(field, expected, left_states, given, right_states, sums)
    for own, other in zip(left.lists, right.lists, strict=True):
        _compare_lists(left.plan, own, other, sums, (left.n, right.n))
    return sums


def _in_both(left: list[Array], right: list[Array]) -> Any:
    """How many of the keys hold on both sides: of all pairs of items, or one number if it is the same for all."""
    one, other = np.array(left, dtype=np.float64), np.array(right, dtype=np.float64)
    if one.all() and other.all():
        return np.full((1, 1), float(len(left)))
    return one.T @ other if one.any() and other.any() else np.zeros((1, 1))


def _one_or_all(amounts: FloatArray) -> FloatArray:
    """The amounts, or one of them if all are the same: long lists are mostly regular."""
    return amounts[:1] if (amounts == amounts[:1]).all() else amounts


def _compare_leaves(field: Field, expected: list[Any], left: Array, given: list[Any], right: Array, sums: Sums) -> None:
    rows, columns = np.flatnonzero(left >= VALUE), np.flatnonzero((right >= VALUE) & (right != WRONG))
    is_whole = len(rows) == len(left) and len(columns) == len(right)
    references, predictions = [expected[i] for i in rows.tolist()], [given[j] for j in columns.tolist()]
    scored = _ALL if is_whole else np.logical_and.outer(left >= VALUE, right >= VALUE).astype(np.int64)
    for number, metric in enumerate(field.metrics):
        scores = metric.matrix(references, predictions)
        if not is_whole:
            scores, some = np.where(scored, metric.worst, 0.0), scores
            scores[np.ix_(rows, columns)] = some
        sums["sum", field.index, number] = scores
        sums["n", field.index, number] = scored


def _compare_lists(plan: Plan, own: _Lists, other: _Lists, sums: Sums, shape: tuple[int, int]) -> None:
    """Add what lists within items have in common: those of each pair of items are aligned."""
    inner = compare(own.items, other.items)
    matches = np.array(list(_matches(plan, own, other, inner)), dtype=np.int64).reshape(-1, 3)
    owners, rows, columns = matches.T

    def added(amounts: Any) -> FloatArray:
        total = np.bincount(owners, weights=amounts, minlength=shape[0] * shape[1]).astype(np.float64)
        return total.reshape(shape)

    for key, amounts in inner.items():
        found = added(np.broadcast_to(amounts, (own.items.n, other.items.n))[rows, columns])
        if isinstance(key, tuple):
            sums[key] = found
        elif key != "both_null":
            sums[key] = sums[key] + found
    sums["node_fn"] = sums["node_fn"] + own.totals()[:, None] - added(own.sizes[rows])
    sums["node_fp"] = sums["node_fp"] + other.totals()[None, :] - added(other.sizes[columns])
    if isinstance(own.node.item, Field):  # a value that is no list counts as one wrong item
        field = own.node.item
        is_wrong = np.logical_and.outer(own.states == VALUE, other.states == WRONG)
        for number, metric in enumerate(field.metrics):
            sums["sum", field.index, number] += is_wrong * metric.worst
            sums["n", field.index, number] += is_wrong


def _matches(plan: Plan, own: _Lists, other: _Lists, inner: Sums) -> Iterator[tuple[int, int, int]]:
    """The number of each pair of lists, and the places of two items that belong together in it."""
    weights = weigh(plan, own.node.item, inner, (own.items.n, other.items.n))
    left, right = itertools.pairwise(own.starts.tolist()), list(itertools.pairwise(other.starts.tolist()))
    for number, ((start, end), (other_start, other_end)) in enumerate(itertools.product(left, right)):
        if own.node.is_ordered:
            n = min(end - start, other_end - other_start)
            rows, columns = list(range(n)), list(range(n))
        elif end > start and other_end > other_start:
            rows, columns = assign(weights[start:end, other_start:other_end], canonical=True)
        else:
            continue
        for row, column in zip(rows, columns, strict=True):
            yield number, start + row, other_start + column
