"""References with several valid answers for a dictionary or a list: the one that the prediction fits best counts.

All answers are walked, each beside the prediction; then one of them is taken for each objective: for nodes and leaves
the one of the greatest weight, for the scores of values the one of the greatest F1. Of leaves, metrics see all answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tls_tasks.trees.counts import EXACT, GUIDE, MORE, SOFT, SPARE, Array, Counts
from tls_tasks.trees.pairs import Pairs
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.similarity import f1_of_values, guide_weights, n_values
from tls_tasks.trees.types import AnyOf, OneOf, SchemaNode


def has_answers(node: SchemaNode, value: Any) -> bool:
    """Whether a reference has several answers that are to be walked; those that are scalars are a leaf's."""
    if type(value) is not AnyOf or isinstance(node, Field):
        return False
    return not isinstance(node, OneOf) or any(isinstance(answer, dict | list) for answer in value.values)


@dataclass(frozen=True, slots=True)
class Answers:
    """All answers of references, each beside the predictions that the reference is compared with.

    Attributes:
        pairs: The answers and the predictions.
        first: Of each pair of a reference and a prediction, the index of the pair with the first answer.
        n: How many answers the reference has.
        stride: By how much the index of the pair with the next answer is greater.
    """

    pairs: Pairs
    first: Array
    n: Array
    stride: int

    @classmethod
    def of(cls, node: SchemaNode, pairs: Pairs) -> Answers:
        """The answers of these references; a reference with a single answer is that answer."""
        each = [value.values if has_answers(node, value) else (value,) for value in pairs.references]
        n = np.array(list(map(len, each)), dtype=np.int64)
        if pairs.are_all:
            stride = len(pairs.predictions)
            all_pairs = Pairs.all_of([answer for answers in each for answer in answers], pairs.predictions)
            return cls(all_pairs, (np.cumsum(n) - n)[pairs.rows] * stride + pairs.columns, n[pairs.rows], stride)
        n, rows, columns = n[pairs.rows], pairs.rows.tolist(), pairs.columns.tolist()
        answers = [answer for row in rows for answer in each[row]]
        predictions = [pairs.predictions[j] for i, j in zip(rows, columns, strict=True) for _ in each[i]]
        return cls(Pairs.aligned(answers, predictions), np.cumsum(n) - n, n, 1)

    def best(self, plan: Plan, node: SchemaNode, counts: Counts) -> list[Array]:
        """For each objective, the index of the pair with the answer that fits best."""
        scores = [guide_weights(plan, node, counts)]
        if not plan.follows_treeval:
            scores += f1_of_values(plan, node, self.pairs, counts)
        return [self.greatest(own) for own in scores]

    def greatest(self, scores: Array) -> Array:
        """The index of the pair with the greatest score among the answers of a reference; of equal ones the first."""
        best = self.first
        for number in range(1, int(self.n.max(initial=0))):
            other = self.first + np.minimum(number, self.n - 1) * self.stride
            best = np.where(scores[other] > scores[best] + 1e-12, other, best)
        return best

    def counts_of(self, best: list[Array], plan: Plan, node: SchemaNode, counts: Counts) -> Counts:
        """What is counted of each reference: what was counted of its best answer for each objective."""
        chosen = counts.taken(best)
        chosen.are_null = np.broadcast_to(counts.are_null, counts.n)[best[GUIDE]]
        chosen.are_single = np.broadcast_to(counts.are_single, counts.n)[best[GUIDE]]
        if plan.follows_treeval:
            return chosen
        for name, own in counts.of[GUIDE].items():
            kind, _, field = name.partition("|")
            if kind == "wanted":  # what the first answer has is wanted whatever is compared
                amount = np.broadcast_to(own, counts.n)
                chosen.of[GUIDE][name] = amount[self.first]
                chosen.add(f"spare|{field}", amount[best[SOFT]] - amount[self.first], SOFT)
                chosen.add(SPARE, amount[best[EXACT]] - amount[self.first], EXACT)
        n = n_values(plan, node, self.pairs.references)[self.pairs.rows]
        for objective in (SOFT, EXACT):
            chosen.add(MORE, n[best[objective]] - n[self.first], objective)
        return chosen
