"""What is counted of pairs of values, for each of three objectives, and the units that these counts become."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tls_tasks.core.columns import Columns
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Path, nodes_of, path_name

Array = NDArray[Any]

ALWAYS, NEVER = np.array(True), np.array(False)
"""What holds for all pairs, or for none."""

NODE_COUNTS = ("node_tp", "node_fp", "node_fn")
LEAF_COUNTS = ("leaf_tp", "leaf_fp", "leaf_fn")
COUNTS = (*NODE_COUNTS, *LEAF_COUNTS)
"""Nodes and leaves: in both trees, in the prediction only, in the reference only."""

KINDS = ("correct", "wrong", "missed", "invented", "absent")
"""What a leaf can be: right; there with another value; not there though it should be; there though it should not be;
and rightly not there."""

GUIDE, SOFT, EXACT = range(3)
"""The objectives for which items of lists are paired: the profile's own score, the greatest sum of similarities, the
most exact values. Each amount is counted for one of them, since each has its own pairing of items."""

HITS = "hits"
"""The sum that an objective maximises: of similarities (SOFT), of exact values (EXACT)."""

MORE = "more"
"""How many values more the chosen answers have than the first ones, where a reference has several answers."""

SPARE = "spare"
"""How many values more the reference has than the first answers surely have: what EXACT adds to the wanted values."""

OUTSIDE = "outside"
"""How many values a prediction has where the schema has no leaf for them."""

VALUE_COUNTS = ("value_hits", "value_hits_exact", "value_given", "value_wanted", "value_wanted_exact")
"""Of values (leaves that are not null): their similarities, how many are exact, how many are given, how many wanted.

The reference wants as many whatever the alignment, but for those where null is a valid answer, too: they are wanted if
what they are aligned with has a value.
"""

VALUE_PARTS = ("soft|sum", "soft|right", "soft|met", "soft|spare", "wanted")
"""What is known of the values of a leaf, with its name behind it, where items of lists are aligned by similarity.

The sum of similarities, how many are right, how many pairs have two values, in how many of these null was a valid
answer, and how many values the reference surely has.
"""


class Counts:
    """Amounts of ``n`` pairs by objective and name; an amount is an array with a number for every pair, or one for all.

    Attributes:
        n: How many pairs there are.
        of: For each objective name -> amount. Most names are those of the parts of a unit.
        are_null: Where both values of a pair are null; only of items of lists, and never added to other counts.
        are_single: Where one value at least is null or a scalar, of items that may be of several kinds; likewise.
    """

    def __init__(self, n: int) -> None:
        """No amounts yet."""
        self.n = n
        self.of: tuple[dict[str, Any], ...] = ({}, {}, {})
        self.are_null: Any = NEVER
        self.are_single: Any = NEVER

    def add(self, name: str, amount: Any, objective: int = GUIDE) -> None:
        """Add a number for every pair, or one for all."""
        self.of[objective][name] = self.of[objective].get(name, 0) + amount

    def get(self, name: str, objective: int = GUIDE) -> Any:
        """The amount of this name, 0 if nothing was counted."""
        return self.of[objective].get(name, 0)

    def named(self) -> Iterator[tuple[int, str, Any]]:
        """All amounts with their objective and name."""
        for objective, amounts in enumerate(self.of):
            for name, amount in amounts.items():
                yield objective, name, amount

    def merge(self, other: Counts, is_counted: Any = ALWAYS, names: Collection[str] | None = None) -> None:
        """Add all of another; amounts of these names (None: of all) only of the pairs that are counted."""
        for objective, name, amount in other.named():
            self.add(name, amount * is_counted if names is None or name in names else amount, objective)

    def where(self, is_counted: Any) -> Counts:
        """The same amounts, 0 for pairs that are not counted."""
        counts = Counts(self.n)
        counts.merge(self, is_counted)
        return counts

    def taken(self, indices: Sequence[Array]) -> Counts:
        """The counts of some of the pairs, which may be others for each objective."""
        counts = Counts(len(indices[GUIDE]))
        for objective, name, amount in self.named():
            counts.of[objective][name] = np.broadcast_to(amount, self.n)[indices[objective]]
        return counts

    @classmethod
    def concatenated(cls, parts: list[Counts]) -> Counts:
        """The counts of all pairs of some."""
        counts = cls(sum(part.n for part in parts))
        for objective, amounts in enumerate(counts.of):
            for name in dict.fromkeys(name for part in parts for name in part.of[objective]):
                amounts[name] = np.concatenate([np.broadcast_to(part.get(name, objective), part.n) for part in parts])
        return counts


def seen_part(path: Path) -> str:
    """The part that says that both trees have this dictionary or list."""
    return f"seen|{path_name(path)}"


def units_of(plan: Plan, counts: Counts) -> Columns:
    """The unit of each pair of trees."""
    guide, soft, exact = counts.of
    amounts = {**guide, **{f"soft|{name}": amount for name, amount in soft.items()}}
    if not plan.follows_treeval:
        wanted = _total(plan, amounts, "wanted")
        amounts |= {
            "value_hits": soft.get(HITS, 0.0),
            "value_hits_exact": exact.get(HITS, 0),
            "value_given": _total(plan, amounts, "correct", "wrong", "invented") + guide.get(OUTSIDE, 0),
            "value_wanted": wanted + _total(plan, amounts, "soft|spare"),
            "value_wanted_exact": wanted + exact.get(SPARE, 0),
        }
    columns = {part: np.broadcast_to(amounts.get(part, 0), counts.n).tolist() for part in _parts_of_unit(plan)}
    return Columns(columns, counts.n)


def _total(plan: Plan, amounts: dict[str, Any], *parts: str) -> Any:
    """The sum of these parts over all leaves."""
    return sum((amounts.get(f"{part}|{field.name}", 0) for field in plan.fields for part in parts), 0)


@lru_cache(maxsize=64)
def _parts_of_unit(plan: Plan) -> list[str]:
    """The parts of a unit: counts, what leaves were, sums of scores and how many there are."""
    kinds = [f"{kind}|{field.name}" for field in plan.fields for kind in KINDS]
    sums = [field.part(what, metric) for field in plan.fields for metric in field.metrics for what in ("sum", "n")]
    containers = [path for path, node in nodes_of(plan.root).items() if not isinstance(node, Field)]
    if plan.follows_treeval:
        return [*COUNTS, *kinds, *sums, *map(seen_part, containers)]
    of_values = [f"{part}|{field.name}" for field in plan.fields for part in VALUE_PARTS]
    return [*COUNTS, *VALUE_COUNTS, *kinds, *sums, *of_values]
