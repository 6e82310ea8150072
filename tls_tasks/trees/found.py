"""What the walk finds: the unit of each pair of trees, and which items of lists belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tls_tasks.core.columns import Columns
from tls_tasks.trees.align import Matches
from tls_tasks.trees.pairs import EXACT, GUIDE, HITS, SOFT, Array
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import ANY_OF, Path, Position, nodes_of, path_name

COUNTS = ("node_tp", "node_fp", "node_fn", "leaf_tp", "leaf_fp", "leaf_fn")
"""Nodes and leaves: found, too many, missed."""

KINDS = ("correct", "wrong", "missed", "invented", "absent")
"""What a leaf can be: right; there with another value; not there though it should be; there though it should not be;
and rightly not there."""

UNSURE = "unsure"
"""What of a prediction may not comply with the schema, but for keys that it lacks."""

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

LACKING = "lacking"
"""How many keys a prediction lacks that the schema requires, of dictionaries that are there."""

Alignments = dict[Path, list[tuple[int, int]]]
"""Path of a list in the reference -> positions of its items and of those that they were aligned with.

Where a dictionary or list has several valid answers, its path with :data:`~tls_tasks.trees.types.ANY_OF` behind it has
the place of the one that counts, twice.
"""


@dataclass(frozen=True, slots=True)
class Links:
    """Which items of lists belong together; ``inner``: the same of lists within the matches, which own them."""

    path: Path
    matches: Matches
    inner: list[Links | Choices]


@dataclass(frozen=True, slots=True)
class Choices:
    """Which of several answers counts in each pair for each aim; -1 where there is a single one."""

    path: Path
    of_aim: list[Array]


@dataclass(frozen=True)
class Found:
    """What was found in pairs of trees.

    Attributes:
        units: The sums of each pair.
        is_clean: Of each pair, whether the prediction surely complies with the schema, but for keys that it lacks.
        lacking: Of each pair whose prediction is clean, how many keys it lacks.
        links: Which items of lists belong together.
    """

    units: Columns
    is_clean: list[bool]
    lacking: list[float]
    links: list[Links | Choices]

    @classmethod
    def of(cls, plan: Plan, tally: Mapping[str, Any], n: int, links: list[Links | Choices]) -> Found:
        """What was counted of ``n`` pairs of trees."""
        tally = {**tally, **(_value_counts(plan, tally) if not plan.follows_treeval else {})}
        columns = {part: _column(tally.get(part, 0), n) for part in _parts_of_unit(plan)}
        is_clean = [not amount for amount in _column(tally.get(UNSURE, 0), n)]
        return cls(Columns(columns, n), is_clean, _column(tally.get(LACKING, 0), n), links)

    @cached_property
    def alignments(self) -> list[Alignments]:
        """Of each pair, which items belong together."""
        return self._aligned(GUIDE)

    @cached_property
    def similar(self) -> list[Alignments]:
        """The same by similarity alone, as the scores of values have it."""
        return self._aligned(SOFT)

    def _aligned(self, aim: int) -> list[Alignments]:
        alignments: list[Alignments] = [{} for _ in self.is_clean]
        _collect(self.links, [((), own) for own in alignments], aim)
        return alignments


def _value_counts(plan: Plan, tally: Mapping[str, Any]) -> dict[str, Any]:
    """The sums of :data:`VALUE_COUNTS`."""

    def total(parts: Sequence[str], fields: Sequence[Field]) -> Any:
        return sum((tally.get(f"{part}|{field.name}", 0) + 0 for field in fields for part in parts), 0)

    wanted = total(["wanted"], plan.fields)
    return {
        "value_hits": tally.get(HITS[SOFT], 0.0),
        "value_hits_exact": tally.get(HITS[EXACT], 0) + 0,
        "value_given": total(["correct", "wrong", "invented"], plan.fields) + tally.get(OUTSIDE, 0),
        "value_wanted": wanted + total(["soft|spare"], plan.fields),
        "value_wanted_exact": wanted + tally.get("exact|spare", 0),
    }


def _collect(
    found: Sequence[Links | Choices], owners: Sequence[tuple[Path, Alignments]], aim: int, depth: int = 0
) -> None:
    """Note which items belong together.

    Args:
        found: The items.
        owners: The pairs of trees or items that own the lists: the path of each, and where to note it.
        aim: What they are paired for.
        depth: How many keys lead to the owners.
    """
    for own in found:
        if isinstance(own, Choices):
            for (path, noted), place in zip(owners, own.of_aim[aim].tolist(), strict=True):
                if place >= 0:
                    where: Path = (*path, *own.path[depth:], ANY_OF)
                    noted[where] = [(place, place)]
            continue
        is_keyed = own.matches.is_keyed  # then the last step stands for the key
        paths = [(*path, *own.path[depth : len(own.path) - is_keyed]) for path, _ in owners]
        links = own.matches.links()
        is_own = own.matches.is_own(aim).tolist()
        for (owner, i, j), is_noted in zip(links, is_own, strict=True):
            if is_noted and not is_keyed:
                owners[owner][1].setdefault(paths[owner], []).append((i, j))
        if own.inner:
            inner = [
                ((*paths[owner], i if is_keyed else Position(i)), owners[owner][1] if is_noted else {})
                for (owner, i, _), is_noted in zip(links, is_own, strict=True)
            ]
            _collect(own.inner, inner, aim, len(own.path))


def seen_part(path: Path) -> str:
    """The part that says that both trees have this dictionary or list."""
    return f"seen|{path_name([key for key in path if type(key) is not Position])}"


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


def _column(amount: Any, n: int) -> list[float]:
    """An amount of each pair of trees."""
    if type(amount) is not np.ndarray:
        return [amount] * n
    amounts: list[float] = amount.tolist()
    return list(map(int, amounts)) if amount.dtype.kind == "b" else amounts
