"""Pairs of values, of references and of predictions: which are compared, and what is counted of each."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tls_tasks.core.score import Columns
from tls_tasks.trees.leaf_values import LeafMetric
from tls_tasks.trees.nodes import MAYBE, VALUE
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
        of: Objective and name -> amount. Most names are those of the parts of a unit.
        are_null: Where both values of a pair are null; only of items of lists, and never added to other counts.
        are_single: Where one value at least is null or a scalar, of items that may be of several kinds; likewise.
    """

    def __init__(self, n: int) -> None:
        """No amounts yet."""
        self.n = n
        self.of: dict[tuple[int, str], Any] = {}
        self.are_null: Any = NEVER
        self.are_single: Any = NEVER

    def add(self, name: str, amount: Any, objective: int = GUIDE) -> None:
        """Add a number for every pair, or one for all."""
        self.of[objective, name] = self.of.get((objective, name), 0) + amount

    def get(self, name: str, objective: int = GUIDE) -> Any:
        """The amount of this name, 0 if nothing was counted."""
        return self.of.get((objective, name), 0)

    def merge(self, other: Counts, is_counted: Any = ALWAYS, names: Collection[str] | None = None) -> None:
        """Add all of another; amounts of these names (None: of all) only of the pairs that are counted."""
        for (objective, name), amount in other.of.items():
            self.add(name, amount * is_counted if names is None or name in names else amount, objective)

    def taken(self, indices: Sequence[Array]) -> Counts:
        """The counts of some of the pairs, which may be others for each objective."""
        counts = Counts(len(indices[GUIDE]))
        for (objective, name), amount in self.of.items():
            counts.of[objective, name] = np.broadcast_to(amount, self.n)[indices[objective]]
        return counts

    @classmethod
    def concatenated(cls, parts: list[Counts]) -> Counts:
        """The counts of all pairs of some."""
        counts = cls(sum(part.n for part in parts))
        for key in dict.fromkeys(key for part in parts for key in part.of):
            counts.of[key] = np.concatenate([np.broadcast_to(part.of.get(key, 0), part.n) for part in parts])
        return counts


def seen_part(path: Path) -> str:
    """The part that says that both trees have this dictionary or list."""
    return f"seen|{path_name(path)}"


def units_of(plan: Plan, counts: Counts) -> Columns:
    """The unit of each pair of trees."""
    amounts = {name if objective != SOFT else f"soft|{name}": own for (objective, name), own in counts.of.items()}

    def total(*parts: str) -> Any:
        return sum((amounts.get(f"{part}|{field.name}", 0) for field in plan.fields for part in parts), 0)

    if not plan.follows_treeval:
        amounts |= {
            "value_hits": counts.of.get((SOFT, HITS), 0.0),
            "value_hits_exact": counts.get(HITS, EXACT),
            "value_given": total("correct", "wrong", "invented") + counts.get(OUTSIDE),
            "value_wanted": total("wanted") + total("soft|spare"),
            "value_wanted_exact": total("wanted") + counts.get(SPARE, EXACT),
        }
    columns = {part: (amounts.get(part, 0) + np.zeros(counts.n, np.int64)).tolist() for part in _parts_of_unit(plan)}
    return Columns(columns, counts.n)


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


@dataclass(frozen=True, slots=True)
class Pairs:
    """Values of references and of predictions, and which of them are compared.

    Attributes:
        references: Values of references.
        predictions: Values of predictions.
        rows: Of each pair, the index of its reference.
        columns: Likewise of its prediction.
        are_all: Whether all are compared with all, row by row.
    """

    references: list[Any]
    predictions: list[Any]
    rows: Array
    columns: Array
    are_all: bool = False

    @classmethod
    def aligned(cls, references: list[Any], predictions: list[Any]) -> Pairs:
        """Each reference with its prediction."""
        indices = np.arange(len(references))
        return cls(references, predictions, indices, indices)

    @classmethod
    def all_of(cls, references: list[Any], predictions: list[Any]) -> Pairs:
        """All references with all predictions."""
        rows = np.repeat(np.arange(len(references)), len(predictions))
        columns = np.tile(np.arange(len(predictions)), len(references))
        return cls(references, predictions, rows, columns, are_all=True)

    @property
    def n(self) -> int:
        """How many pairs there are."""
        return len(self.rows)

    def of(self, references: list[Any], predictions: list[Any]) -> Pairs:
        """Other values of the same trees."""
        return Pairs(references, predictions, self.rows, self.columns, self.are_all)

    def mapped(self, function: Callable[[Any], Any]) -> Pairs:
        """What a function makes of each value."""
        return self.of(list(map(function, self.references)), list(map(function, self.predictions)))

    def where(self, test: Callable[[Any], bool]) -> tuple[Array, Array]:
        """In which pairs the reference, and in which the prediction, passes a test."""
        left, right = (np.array(list(map(test, own)), dtype=bool) for own in (self.references, self.predictions))
        return left[self.rows], right[self.columns]

    def chunks(self, n_rows: int, n_pairs: int) -> Iterator[Pairs]:
        """The same pairs, so many rows of all with all at a time, or so many pairs."""
        if self.are_all:
            for start in range(0, len(self.references), n_rows):
                yield Pairs.all_of(self.references[start : start + n_rows], self.predictions)
        else:
            for start in range(0, self.n, n_pairs):
                part = slice(start, start + n_pairs)
                yield Pairs(self.references, self.predictions, self.rows[part], self.columns[part])

    def sums(self, amounts: Any, owners: Array) -> Array:
        """The sums of amounts by owner: the index of the pair that owns each."""
        amounts = np.broadcast_to(amounts, len(owners))
        sums = np.bincount(owners, weights=amounts, minlength=self.n)
        return sums if amounts.dtype.kind == "f" else sums.astype(np.int64)

    def scores(self, metric: LeafMetric, usable: Array) -> Array:
        """A metric's scores of the pairs that are ``usable``, and 0 of the others."""
        scores, usable = np.zeros(self.n), np.broadcast_to(usable, self.n)
        if not self.are_all:
            indices = np.flatnonzero(usable)
            left, right = at(self.references, self.rows[indices]), at(self.predictions, self.columns[indices])
            scores[indices] = metric.pairs(left, right)
            return scores
        if usable.all():
            return metric.matrix(self.references, self.predictions).ravel()
        grid = usable.reshape(len(self.references), len(self.predictions))
        rows, columns = np.flatnonzero(grid.any(axis=1)), np.flatnonzero(grid.any(axis=0))
        if len(rows):
            found = metric.matrix(at(self.references, rows), at(self.predictions, columns))
            scores.reshape(grid.shape)[np.ix_(rows, columns)] = found
        return np.where(usable, scores, 0.0)


def at(values: Sequence[Any], indices: Array) -> list[Any]:
    """The values at these indices."""
    return [values[index] for index in indices.tolist()]


class States:
    """What the values of each pair are to their node; one state stands for all pairs if all are values.

    Attributes:
        left, right: The states of the reference and of the prediction.
        has_left: Whether the reference has a value. Where null is one of several valid answers, it has one if the
            prediction has.
        has_right: Whether the prediction has a value, of whatever type.
        are_all_values: Whether there is nothing but values of the right type.
    """

    def __init__(self, left: Array, right: Array) -> None:
        """The states of both values of each pair."""
        self.left, self.right = left, right
        self.has_right = right >= VALUE
        self.has_left = (left >= VALUE) & ((left != MAYBE) | self.has_right)
        self.are_all_values = not left.ndim and not right.ndim
