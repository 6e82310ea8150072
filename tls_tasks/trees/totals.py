"""What was found in samples, and its sums: all that results are made of."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from tls_tasks.trees.pairs import COUNTS, FIELDS, Tally
from tls_tasks.trees.plan import TreePlan
from tls_tasks.trees.read import RATES
from tls_tasks.trees.values import Path


class Totals(NamedTuple):
    """Sums over samples, or what a single one has.

    Attributes:
        counts: Of nodes and leaves, in the order of :data:`~tls_tasks.trees.pairs.COUNTS`.
        sums: Of the scores, one a slot.
        numbers: How many scores, one a slot.
        rates: How many samples are what: :data:`READING`.
        type_errors: How many values have another type.
        seen: The paths of lists and dictionaries that both trees have somewhere.
    """

    counts: Sequence[float]
    sums: Sequence[float]
    numbers: Sequence[float]
    rates: Sequence[float]
    type_errors: float
    seen: Collection[Path]


READING = (*RATES, "schema_compliance")
"""Names of what is known of each sample's text."""


def totals_of(amounts: Mapping[Any, float], plan: TreePlan) -> Totals:
    """The totals by their places.

    Args:
        amounts: Sums by name, see :class:`~tls_tasks.trees.pairs.Tally`.
        plan: Knows leaves and slots.
    """
    get, slots = amounts.get, range(len(plan.slots))
    return Totals(
        [get(name, 0) for name in COUNTS],
        [get(("sum", slot), 0.0) for slot in slots],
        [get(("n", slot), 0) for slot in slots],
        [get(name, 0) for name in READING],
        get("issue|type", 0),
        {key[1] for key, n in amounts.items() if type(key) is tuple and key[0] == "seen" and n},
    )


class Found(Protocol):
    """What was found in samples, however it was."""

    def totals(self) -> Totals:
        """The sums over all samples; exactly rounded, so that the order of the samples doesn't matter."""

    def fields(self) -> dict[str, dict[str, int]]:
        """How often each leaf, by name, was what of :data:`~tls_tasks.trees.pairs.FIELDS`."""

    def tally(self) -> Tally:
        """Everything by sample; ``links`` say which items of lists belong together."""


@dataclass(frozen=True, slots=True)
class Walked:
    """What a walk found in ``n`` samples."""

    plan: TreePlan
    n: int
    amounts: Tally

    def totals(self) -> Totals:
        """The sums over all samples."""
        return totals_of({key: self._sum(key) for key in self.amounts if key[0] not in FIELDS}, self.plan)

    def fields(self) -> dict[str, dict[str, int]]:
        """How often each leaf was what."""
        return {leaf.name: {kind: int(self._sum((kind, leaf.index))) for kind in FIELDS} for leaf in self.plan.leaves}

    def tally(self) -> Tally:
        """Everything by sample."""
        return self.amounts

    def _sum(self, key: Any) -> float:
        amount = self.amounts.get(key, 0)
        if not isinstance(amount, np.ndarray):
            return amount * self.n
        if amount.dtype.kind == "f":
            return math.fsum(amount.tolist())
        return sum(amount.tolist()) if self.n < _FEW else int(amount.sum())


_FEW = 200  # for so few numbers Python is quicker than numpy
