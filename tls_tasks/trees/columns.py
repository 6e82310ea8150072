"""Trees without lists, one leaf after the other: a shorter way to what :mod:`~tls_tasks.trees.visit` finds.

A leaf's values in all trees are two columns, many of which are equal, and what is missing where follows from the types
of the values. Trees that need a closer look go the long way: values of other types, several valid answers, NaN, and
whatever is missing or too much where the options ask for more than the guide does.
"""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import compress, repeat
from operator import add, eq, mul
from typing import Any

import numpy as np

from tls_tasks.trees.compliance import ISSUE_KINDS, base_type, complies
from tls_tasks.trees.nodes import count_nodes
from tls_tasks.trees.pairs import COUNTS, FIELDS, Array, Tally
from tls_tasks.trees.plan import BranchPlan, LeafPlan, TreePlan
from tls_tasks.trees.read import UNREAD
from tls_tasks.trees.states import MISSING, are_finite
from tls_tasks.trees.totals import Totals

FEW = 25
"""For fewer pairs, a metric's function of two values is quicker than its function of a batch."""

_N_CODES, _BOTH = 9, 8
"""A pair's code is the sum of two: 0, 3 or 6 if the reference has no such key, null, or a value; 0, 1 or 2 likewise for
the prediction."""

_NODE = (6, 1, 1, 2, 0, 0, 2, 0, 0)
_LEAF = (6, 6, 6, 6, 6, 4, 6, 5, 3)
"""Code -> the place in :data:`~tls_tasks.trees.pairs.COUNTS` of what is counted, 6 for nothing."""

_FIELD = (4, 4, 3, 4, 4, 3, 2, 2, 1)
"""Code -> the place in :data:`~tls_tasks.trees.pairs.FIELDS`; what both have is wrong until it is right."""


def _where(*codes: int) -> bytes:
    """A table for :meth:`bytes.translate`: 1 for these codes."""
    return bytes(code in codes for code in range(256))


_IS_BOTH, _NOT_GIVEN = _where(_BOTH), _where(0, 3, 6)
_DICT: frozenset[type] = frozenset({dict})
_EMPTY: dict[Any, Any] = {}
_NO_VALUES = {None, MISSING}


class UnsuitedError(Exception):
    """Trees that have to go the long way. Never leaves the package."""


class Columns:
    """What was found in each leaf: :meth:`totals` sums it up, :meth:`tally` has it by sample.

    Args:
        plan: The plan.
        predictions: Dictionaries.
        references: As many dictionaries.

    Raises:
        UnsuitedError: Not for this plan, or not for these trees.
    """

    __slots__ = ("branches", "codes", "extra", "issues", "n", "plan", "right", "scores", "sums")

    def __init__(self, plan: TreePlan, predictions: Sequence[Any], references: Sequence[Any]) -> None:
        if not plan.is_flat or not predictions:
            raise UnsuitedError
        self.plan, self.n = plan, len(predictions)
        self.sums = [float(self.n)] * len(plan.slots)  # of the scores, of which 1 is the best
        self.right = [self.n] * len(plan.leaves)  # how many values of each leaf are right
        self.branches: list[tuple[BranchPlan, bytes | None]] = []  # with their codes
        # by leaf, where something is missing: the codes
        self.codes: dict[int, bytes] = {}
        # by leaf, where values differ: the scores by metric, and which are right, of the pairs that have two values
        self.scores: dict[int, tuple[Sequence[Sequence[float]], Sequence[bool]]] = {}
        self.extra: list[int] = []  # nodes of keys that the schema doesn't have, by sample
        self.issues: list[tuple[str, Sequence[int]]] = []  # the kind, and how many each sample has
        try:
            self._branch(plan.root, references, predictions, None)
        except KeyError:  # a type without a code
            raise UnsuitedError from None

    # --- dictionaries ---

    def _branch(
        self, plan: BranchPlan, references: Sequence[Any], predictions: Sequence[Any], there: bytes | None
    ) -> None:
        """Look at dictionaries; ``there`` says which predictions have one, of which the others' are a stand-in."""
        wanted = self.n * len(plan.children)
        n_expected, n_given = sum(map(len, references)) - wanted, sum(map(len, predictions)) - wanted
        found = b""  # all codes
        columns = zip(plan.steps, _columns(plan, references), _columns(plan, predictions))  # noqa: B905 - as below
        for (key, child, types, is_simple), one, other in columns:
            is_whole = types.issuperset(map(type, one))
            if is_whole and types.issuperset(map(type, other)):
                if is_simple and one == other:
                    continue
                codes = None
            else:
                codes = self._codes(types, one, other, is_whole)
            if type(child) is LeafPlan:
                self._leaf(child, one, other, codes)
            else:
                self._inner(child, one, other, codes)
            if codes is not None:
                found += codes
                if key in plan.required:
                    absent = codes.translate(_NOT_GIVEN)
                    self.issues.append(("missing", absent if there is None else bytes(map(mul, absent, there))))
        if found:
            n_expected += sum(map(found.count, (0, 1, 2)))
            n_given += sum(map(found.count, (0, 3, 6)))
        if n_expected:  # keys that the schema doesn't have
            raise UnsuitedError
        if n_given:
            self._unknown(plan, predictions)

    def _inner(self, plan: Any, expected: Sequence[Any], given: Sequence[Any], codes: bytes | None) -> None:
        """Look at dictionaries in dictionaries; null and nothing are walked as an empty one."""
        self.branches.append((plan, codes))
        if codes is None:
            self._branch(plan, expected, given, None)
        else:
            there = bytes(type(one) is dict for one in given)
            self._branch(plan, [_or_empty(one) for one in expected], [_or_empty(one) for one in given], there)

    def _codes(self, types: frozenset[type], expected: Sequence[Any], given: Sequence[Any], is_whole: bool) -> bytes:
        """The code of each pair; ``is_whole``: all references have a value."""
        if not self.plan.options.is_plain:
            raise UnsuitedError
        left, right, right_of_values = _codes_of(types)
        if is_whole:
            return bytes(map(right_of_values, map(type, given)))
        return bytes(map(add, map(left, map(type, expected)), map(right, map(type, given))))

    def _unknown(self, plan: BranchPlan, predictions: Sequence[Any]) -> None:
        """Keys that the schema doesn't have: each is a node, and what is below it."""
        if not self.plan.options.is_plain:
            raise UnsuitedError
        self.extra = self.extra or [0] * self.n
        items = self.plan.options.list_items == "nodes"
        n_unknown = []
        for row, tree in enumerate(predictions):
            unknown = [value for key, value in tree.items() if key not in plan.children]
            self.extra[row] += len(unknown) + sum(count_nodes(value, items=items) for value in unknown)
            n_unknown.append(len(unknown))
        self.issues.append(("unknown", n_unknown))

    # --- leaves ---

    def _leaf(self, leaf: LeafPlan, expected: Sequence[Any], given: Sequence[Any], codes: bytes | None) -> None:
        if leaf.is_looked_at:
            self._look(leaf, expected, given)
        if codes is not None:
            both = codes.translate(_IS_BOTH)
            expected, given = tuple(compress(expected, both)), tuple(compress(given, both))
            self.codes[leaf.index] = codes
            self.right[leaf.index] = len(given)
            self.sums[leaf.span] = [float(len(given))] * len(leaf.slots)
        if leaf.is_same_best and expected == given:
            return
        scores = self._scores(leaf, expected, given)
        totals = scores[0]
        for own in scores[1:]:
            totals = list(map(add, totals, own))
        least = leaf.least
        right = [total >= least for total in totals]
        self.scores[leaf.index] = scores, right
        self.sums[leaf.span] = map(math.fsum, scores)
        self.right[leaf.index] = sum(right)

    def _scores(self, leaf: LeafPlan, expected: Sequence[Any], given: Sequence[Any]) -> list[Sequence[float]]:
        """The scores by metric."""
        if self.plan.options.types == "loose":
            kinds = {*map(type, expected), *map(type, given)}
            if len(kinds) > 1 or float in kinds:  # treeval's exact match finds more of them equal
                raise UnsuitedError
        scores: list[Sequence[float]] = []
        for metric, quick in zip(leaf.metrics, leaf.quick):  # noqa: B905 - as below
            if not expected:
                scores.append(())
            elif quick == "equal" or (quick == "treeval" and float not in leaf.types):
                scores.append(list(map(eq, expected, given)))
            elif quick == "direct" and metric.score_pair is not None and len(expected) < FEW:
                scores.append(list(map(metric.score_pair, expected, given)))
            else:
                scores.append(metric.pairs(list(expected), list(given)).tolist())
        return scores

    def _look(self, leaf: LeafPlan, expected: Sequence[Any], given: Sequence[Any]) -> None:
        """Look at values of the right type: numbers that are none, and what is none of the choices, or no date."""
        if float in leaf.types and not (are_finite(expected) and are_finite(given)):
            raise UnsuitedError
        if not leaf.is_checked:
            return
        if leaf.choices.issuperset(given):
            return
        values = {*given} - _NO_VALUES
        if values <= leaf.choices or (base_type(leaf.node.type) == "date" and _are_dates(values)):
            return
        wrong = {value for value in values if complies(value, leaf.node)}
        self.issues.append(("choice" if leaf.choices else "format", bytes(value in wrong for value in given)))

    # --- what was found ---

    def totals(self) -> Totals:
        """The sums over all samples."""
        n, n_full = self.n, len(self.right) - len(self.codes)  # leaves without gaps
        counts = [n * (n_full + len(self.branches)), sum(self.extra), 0, n * n_full, 0, 0, 0]
        numbers = [n] * len(self.sums)
        for index, codes in self.codes.items():
            leaf = self.plan.leaves[index]
            numbers[leaf.span] = [codes.count(_BOTH)] * len(leaf.slots)
        for code, times in _counted(b"".join(self.codes.values())) if self.codes else ():
            counts[_NODE[code]] += times
            counts[_LEAF[code]] += times
        seen = set()
        for branch, gaps in self.branches:
            if gaps is not None:
                counts[0] -= n
                for code, times in _counted(gaps):
                    counts[_NODE[code]] += times
            if gaps is None or _BOTH in gaps:
                seen.add(branch.path)
        bad = 0
        for _, has in self.issues:
            bad |= int.from_bytes(has if isinstance(has, bytes) else bytes(map(bool, has)), "big")
        return Totals(counts[:6], self.sums, numbers, [n, n, 0, 0, 0, n - bad.bit_count()], 0, seen)

    def fields(self) -> dict[str, dict[str, int]]:
        """How often each leaf was what."""
        fields = {
            leaf.name: {"correct": hits, "wrong": self.n - hits, "missed": 0, "invented": 0, "absent": 0}
            for leaf, hits in zip(self.plan.leaves, self.right, strict=True)
        }
        for index, codes in self.codes.items():
            own = [0] * len(FIELDS)
            for code, times in _counted(codes):
                own[_FIELD[code]] += times
            own[:2] = self.right[index], own[1] - self.right[index]
            fields[self.plan.leaves[index].name] = dict(zip(FIELDS, own, strict=True))
        return fields

    def tally(self) -> Tally:
        """The same by sample, as the walk has it."""
        tally, full = Tally(), np.full(self.n, _BOTH, np.uint8)
        for branch, found in self.branches:
            codes = full if found is None else np.frombuffer(found, np.uint8)
            _add(COUNTS, _NODE, codes, tally)
            tally[("seen", branch.path)] = codes == _BOTH
        for leaf in self.plan.leaves:
            codes = np.frombuffer(self.codes[leaf.index], np.uint8) if leaf.index in self.codes else full
            _add(COUNTS, _NODE, codes, tally)
            _add(COUNTS, _LEAF, codes, tally)
            _add([(kind, leaf.index) for kind in FIELDS], _FIELD, codes, tally)
            both = codes == _BOTH
            scores, right = self.scores.get(leaf.index, ([1.0] * len(leaf.slots), True))
            correct = both.copy()
            correct[both] = right
            tally.add(("correct", leaf.index), correct)
            tally.add(("wrong", leaf.index), -correct.astype(np.int64))
            for slot, score in zip(leaf.slots, scores, strict=True):
                own = both.astype(np.float64)
                own[both] = score
                tally[("n", slot)], tally[("sum", slot)] = both, own
        if self.extra:
            tally.add("node_fp", np.array(self.extra))
        issues = {kind: np.zeros(self.n, np.int64) for kind in ISSUE_KINDS}
        for kind, counts in self.issues:
            issues[kind] += np.array(list(counts))
        tally.update({f"issue|{kind}": counts for kind, counts in issues.items()})
        is_good = sum(issues.values()) == 0
        tally.update({**UNREAD, "samples": 1, "schema_compliance": is_good})
        return tally


@cache
def _codes_of(types: frozenset[type]) -> tuple[Callable[[type], int], ...]:
    """By type: the reference's part of a code; the prediction's; the code where the reference is a value."""
    left = {type(MISSING): 0, type(None): 3, **dict.fromkeys(types, 6)}
    right = {type(MISSING): 0, type(None): 1, **dict.fromkeys(types, 2)}
    return left.__getitem__, right.__getitem__, {kind: 6 + code for kind, code in right.items()}.__getitem__


def _counted(codes: bytes) -> list[tuple[int, int]]:
    """How often each code occurs, that may."""
    return [(code, codes.count(code)) for code in (range(_N_CODES) if len(codes) > _N_CODES else set(codes))]


def _add(names: Sequence[Any], places: Sequence[int], codes: Array, tally: Tally) -> None:
    """Count each pair where its code says."""
    where = np.array(places)[codes]
    for place in {*places} - {6}:
        tally.add(names[place], where == place)


def _columns(plan: BranchPlan, trees: Sequence[Any]) -> Iterable[Sequence[Any]]:
    """The values of each key."""
    try:
        return zip(*map(plan.row, trees))  # noqa: B905 - the rows are of one length, and saying so takes time
    except KeyError:
        return [tuple(map(dict.get, trees, repeat(key), repeat(MISSING))) for key in plan.children]


def _or_empty(value: Any) -> Any:
    return value if type(value) is dict else _EMPTY


def _are_dates(values: Iterable[Any]) -> bool:
    """Whether all values are ISO dates."""
    texts = [value for value in values if type(value) is str]
    try:
        return list(map(str, map(datetime.date.fromisoformat, texts))) == texts
    except ValueError:
        return False
