"""How well items of two lists fit together, which texts tell items apart, and which valid answer fits best.

The weight of two leaves is the mean of their normalised scores; two nulls fit, a null and a value do not. Of two
dictionaries or lists, the scores of each leaf are averaged, then the leaves per metric, then the metrics. Where nothing
could be scored the weight is node F1 times leaf F1, and a billionth of that product decides between equal ones; in
treeval it is a factor.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tls_tasks.trees.leaf_values import FloatArray
from tls_tasks.trees.nodes import count_nodes, values_of
from tls_tasks.trees.pairs import EXACT, GUIDE, HITS, LEAF_COUNTS, MORE, NODE_COUNTS, SOFT, SPARE, Array, Counts, Pairs
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, Branch, ListOf, OneOf, SchemaNode, part_for

_TIE_BREAK = 1e-9
"""What nodes and leaves in common weigh beside the scores of metrics, where those decide."""


def weights_of(plan: Plan, node: SchemaNode, pairs: Pairs, counts: Counts) -> FloatArray:
    """How well the items of each pair fit together for each objective, ``[objectives, pairs]``.

    For values it is the sum that the objective maximises. Items that are less similar than ``least_similarity`` have
    the weight 0: by the weight itself, for values by their F1.
    """
    of_guide = guide_weights(plan, node, counts)
    if plan.follows_treeval:
        return of_guide[None, :]
    weights = np.empty((3, counts.n))
    weights[GUIDE], weights[SOFT], weights[EXACT] = of_guide, counts.get(HITS, SOFT), counts.get(HITS, EXACT)
    least = plan.options.least_similarity
    if least:
        similarities = np.array([of_guide, *f1_of_values(plan, node, pairs, counts)])
        weights[similarities <= least - 1e-12] = 0.0
    return weights


def guide_weights(plan: Plan, node: SchemaNode, counts: Counts) -> FloatArray:
    """How well the values of each pair fit together by the profile's own score."""
    mean, is_scored = _mean_over_metrics(plan, counts)
    if isinstance(node, Field):
        if plan.follows_treeval and len(node.metrics) == 1:  # the score itself
            mean = counts.get(node.part("sum", node.metrics[0]))
    else:
        product = _f1(counts, NODE_COUNTS) * _f1(counts, LEAF_COUNTS)
        if plan.follows_treeval:
            mean = np.where(is_scored, mean, 1.0) * product
        else:
            mean = np.where(is_scored, mean, product) + _TIE_BREAK * product
        mean = np.where(counts.are_single & ~is_scored, 0.0, mean)  # what no metric sees
    return np.broadcast_to(np.where(counts.are_null, 1.0, mean), counts.n)


def f1_of_values(plan: Plan, node: SchemaNode, pairs: Pairs, counts: Counts) -> list[FloatArray]:
    """The F1 of the values of each pair by similarity and by exactness; 1 where neither side has a value."""
    left, right = (n_values(plan, node, values) for values in (pairs.references, pairs.predictions))
    both = left[pairs.rows] + right[pairs.columns]
    f1s = []
    for objective in (SOFT, EXACT):
        n = both + counts.get(MORE, objective)
        f1 = np.minimum(2 * counts.get(HITS, objective) / np.maximum(n, 1), 1.0)
        f1s.append(np.where(n > 0, f1, 1.0))
    return f1s


def n_values(plan: Plan, node: SchemaNode, values: Sequence[Any]) -> Array:
    """How many values there surely are in each of some values of a node; of several answers in the first."""
    is_loose = plan.options.types == "loose"
    return np.array([len(values_of(node, value, is_loose)) for value in values])


def _mean_over_metrics(plan: Plan, counts: Counts) -> tuple[Any, Array]:
    """The mean over metrics of the normalised mean over leaves, and where anything was scored."""
    total: Any = 0.0
    n_metrics: Any = np.array(0)
    for metric in plan.metrics.values():
        scores: Any = 0.0
        votes: Any = np.array(0)
        for field in plan.fields:
            if (GUIDE, field.part("sum", metric)) in counts.of:
                n = counts.get(field.part("n", metric))
                scores = scores + counts.get(field.part("sum", metric)) / np.maximum(n, 1)
                votes = votes + (n > 0)
        mean = metric.normalize(scores / np.maximum(votes, 1), clip=not plan.follows_treeval)
        total = total + mean * (votes > 0)
        n_metrics = n_metrics + (votes > 0)
    return total / np.maximum(n_metrics, 1), n_metrics > 0


def _f1(counts: Counts, names: Sequence[str]) -> Any:
    """The F1 of three counts; 1 where nothing is extra or missed."""
    hits, extra, missed = (np.asarray(counts.get(name), dtype=np.float64) for name in names)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(hits + extra > 0, hits / (hits + extra), 1.0)
        recall = np.where(hits + missed > 0, hits / (hits + missed), 1.0)
        return np.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)


# --- texts that tell items apart ---


def sort_key(node: SchemaNode, value: Any) -> str:
    """A text that two items of a list share if no score can tell them apart."""
    keys = {sort_key(node, answer) for answer in value.values} if isinstance(value, AnyOf) else ()
    if len(keys) == 1:  # the same answer several times is that answer
        return keys.pop()
    return value if type(value) is str and isinstance(node, Field) else "\0" + _visible(node, value)


def _visible(node: SchemaNode, value: Any) -> str:
    """What can be seen of a value: neither the order of keys, nor that of lists that are compared in any order."""
    if isinstance(value, str):
        return repr(str.__str__(value))
    if isinstance(value, AnyOf):
        return " | ".join(dict.fromkeys(_visible(node, answer) for answer in value.values))
    kind, node = type(value), part_for(node, value)
    if kind is dict and isinstance(node, Branch):
        known = [_visible(child, value[key]) if key in value else "" for key, child in node.children.items()]
        others = {key: child for key, child in value.items() if key not in node.children}
        if node.rest is not None:
            known += sorted(f"{key!r}:{_visible(node.rest.item, child)}" for key, child in others.items())
            return f"{{{','.join(known)}}}"
        sizes = sorted(count_nodes(child, items=True) for child in others.values())
        return f"{{{','.join(known)}{sizes or ''}}}"
    if kind is list and isinstance(node, ListOf):
        items = [_visible(node.item, item) for item in value]
        return f"[{','.join(items if node.is_ordered else sorted(items))}]"
    try:
        return repr(value)
    except ValueError:  # an integer of thousands of digits
        return hex(value)


# ---- references with several valid answers for a dictionary or a list: the one that the prediction fits best counts


def has_answers(node: SchemaNode, value: Any) -> bool:
    """Whether a reference has several answers that are to be walked; those that are scalars are a leaf's."""
    if type(value) is not AnyOf or isinstance(node, Field):
        return False
    return not isinstance(node, OneOf) or any(isinstance(answer, dict | list) for answer in value.values)


class Answers:
    """All answers of references, each beside the predictions that the reference is compared with.

    A reference with a single answer is that answer.

    Attributes:
        pairs: The answers and the predictions.
        first: Of each pair of a reference and a prediction, the index of the pair with the first answer.
        n: How many answers the reference has.
        stride: By how much the index of the pair with the next answer is greater.
    """

    def __init__(self, node: SchemaNode, pairs: Pairs) -> None:
        """The answers of these references."""
        each = [value.values if has_answers(node, value) else (value,) for value in pairs.references]
        n = np.array(list(map(len, each)), dtype=np.int64)
        self.n, self.stride = n[pairs.rows], len(pairs.predictions) if pairs.are_all else 1
        if pairs.are_all:
            self.pairs = Pairs.all_of([answer for answers in each for answer in answers], pairs.predictions)
            self.first = (np.cumsum(n) - n)[pairs.rows] * self.stride + pairs.columns
            return
        rows, columns = pairs.rows.tolist(), pairs.columns.tolist()
        answers = [answer for row in rows for answer in each[row]]
        predictions = [pairs.predictions[j] for i, j in zip(rows, columns, strict=True) for _ in each[i]]
        self.pairs, self.first = Pairs.aligned(answers, predictions), np.cumsum(self.n) - self.n

    def best(self, plan: Plan, node: SchemaNode, counts: Counts) -> list[Array]:
        """For each objective, the index of the pair with the answer that fits best; of equal ones the first."""
        scores = [guide_weights(plan, node, counts)]
        if not plan.follows_treeval:
            scores += f1_of_values(plan, node, self.pairs, counts)
        best = [self.first] * len(scores)
        for number in range(1, int(self.n.max(initial=0))):
            other = self.first + np.minimum(number, self.n - 1) * self.stride
            best = [np.where(own[other] > own[old] + 1e-12, other, old) for own, old in zip(scores, best, strict=True)]
        return best

    def counts_of(self, best: list[Array], plan: Plan, node: SchemaNode, counts: Counts) -> Counts:
        """What is counted of each reference: what was counted of its best answer for each objective."""
        chosen = counts.taken(best)
        chosen.are_null = np.broadcast_to(counts.are_null, counts.n)[best[GUIDE]]
        chosen.are_single = np.broadcast_to(counts.are_single, counts.n)[best[GUIDE]]
        if plan.follows_treeval:
            return chosen
        for field in plan.fields:  # what the first answer has is wanted whatever is compared
            if (GUIDE, part := f"wanted|{field.name}") in counts.of:
                amount = np.broadcast_to(counts.get(part), counts.n)
                chosen.of[GUIDE, part] = amount[self.first]
                chosen.add(f"spare|{field.name}", amount[best[SOFT]] - amount[self.first], SOFT)
                chosen.add(SPARE, amount[best[EXACT]] - amount[self.first], EXACT)
        n = n_values(plan, node, self.pairs.references)[self.pairs.rows]
        for objective in (SOFT, EXACT):
            chosen.add(MORE, n[best[objective]] - n[self.first], objective)
        return chosen
