"""What the walk finds: the unit of each pair of trees, and which items of lists belong together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from tls_tasks.core.score import Columns
from tls_tasks.trees.align import Matches
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Path, Position, nodes_of, path_name

COUNTS = ("node_tp", "node_fp", "node_fn", "leaf_tp", "leaf_fp", "leaf_fn")
"""Nodes and leaves: found, too many, missed."""

KINDS = ("correct", "wrong", "missed", "invented", "absent")
"""What a leaf can be: right; there with another value; not there though it should be; there though it should not be;
and rightly not there."""

UNSURE = "unsure"
"""What of a prediction may not comply with the schema, but for keys that it lacks."""

LACKING = "lacking"
"""How many keys a prediction lacks that the schema requires, of dictionaries that are there."""

Alignments = dict[Path, list[tuple[int, int]]]
"""Path of a list in the reference -> positions of its items and of those that they were aligned with."""


@dataclass(frozen=True, slots=True)
class Links:
    """Which items of lists belong together; ``inner``: the same of lists within the matches, which own them."""

    path: Path
    matches: Matches
    inner: list[Links]


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
    links: list[Links]

    @classmethod
    def of(cls, plan: Plan, tally: Mapping[str, Any], n: int, links: list[Links]) -> Found:
        """What was counted of ``n`` pairs of trees."""
        columns = {part: _column(tally.get(part, 0), n) for part in _parts_of_unit(plan)}
        is_clean = [not amount for amount in _column(tally.get(UNSURE, 0), n)]
        return cls(Columns(columns, n), is_clean, _column(tally.get(LACKING, 0), n), links)

    @cached_property
    def alignments(self) -> list[Alignments]:
        """Of each pair, which items belong together."""
        alignments: list[Alignments] = [{} for _ in self.is_clean]
        _collect(self.links, [((), own) for own in alignments])
        return alignments


def _collect(found: Sequence[Links], owners: Sequence[tuple[Path, Alignments]], depth: int = 0) -> None:
    """Note which items belong together.

    Args:
        found: The items.
        owners: The pairs of trees or items that own the lists: the path of each, and where to note it.
        depth: How many keys lead to the owners.
    """
    for own in found:
        is_keyed = own.matches.is_keyed  # then the last step stands for the key
        paths = [(*path, *own.path[depth : len(own.path) - is_keyed]) for path, _ in owners]
        links = own.matches.links()
        for owner, i, j in [] if is_keyed else links:
            owners[owner][1].setdefault(paths[owner], []).append((i, j))
        if own.inner:
            inner = [((*paths[owner], i if is_keyed else Position(i)), owners[owner][1]) for owner, i, _ in links]
            _collect(own.inner, inner, len(own.path))


def seen_part(path: Path) -> str:
    """The part that says that both trees have this dictionary or list."""
    return f"seen|{path_name([key for key in path if type(key) is not Position])}"


@lru_cache(maxsize=64)
def _parts_of_unit(plan: Plan) -> list[str]:
    """The parts of a unit: counts, what leaves were, sums of scores and how many there are."""
    kinds = [f"{kind}|{field.name}" for field in plan.fields for kind in KINDS]
    sums = [field.part(what, metric) for field in plan.fields for metric in field.metrics for what in ("sum", "n")]
    containers = [path for path, node in nodes_of(plan.root).items() if not isinstance(node, Field)]
    return [*COUNTS, *kinds, *sums, *(map(seen_part, containers) if plan.follows_treeval else ())]


def _column(amount: Any, n: int) -> list[float]:
    """An amount of each pair of trees."""
    if type(amount) is not np.ndarray:
        return [amount] * n
    amounts: list[float] = amount.tolist()
    return list(map(int, amounts)) if amount.dtype.kind == "b" else amounts
