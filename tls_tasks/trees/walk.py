"""The walk along the schema through a predicted tree and its reference: nodes are counted, leaves brought together.

Of each pair of trees it makes a unit: counts of nodes and leaves, what each leaf was, and sums of scores. A dictionary
that is absent, null or of another type is walked as an empty one, and a list as an empty list, so that what is missed
or too many below it is counted where it stands. Leaves are scored at the end, all pairs of a leaf at once.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import Any

from tls_tasks.trees.align import align
from tls_tasks.trees.compliance import complies, follows
from tls_tasks.trees.leaf_base import LeafMetric
from tls_tasks.trees.nodes import (
    ABSENT,
    MAYBE,
    MISSING,
    NULL,
    VALUE,
    WRONG,
    count_nodes,
    fields_with_value,
    item_nodes,
    nodes_below,
    schema_nodes,
    state_of,
)
from tls_tasks.trees.plan import Field, Plan, nodes_of
from tls_tasks.trees.types import Branch, ListOf, Path, Position, SchemaNode, path_name

COUNTS = ("node_tp", "node_fp", "node_fn", "leaf_tp", "leaf_fp", "leaf_fn")
"""Nodes and leaves: found, too many, missed."""

KINDS = ("correct", "wrong", "missed", "invented", "absent")
"""What a leaf can be: right; there with another value; not there though it should be; there though it should not be;
and rightly not there."""

Where = tuple[int, ...]
"""Which pair of trees, which match of a list in it, which match of a list in that, and so on."""

Counts = dict[str, float]


class BadReferenceError(Exception):
    """A reference that doesn't comply with the schema. Never leaves the package: who catches it finds the row."""


class Walk:
    """Walks pairs of trees, one after the other.

    Args:
        plan: The schema and its settings.
        is_inside: Whether the trees are items of lists, of which only the scores matter.

    Attributes:
        alignments: Of each pair of trees: path of a list in the reference -> positions of its items and of those that
            they were aligned with.
        is_clean: Of each pair of trees, whether the predicted one surely complies with the schema.
    """

    def __init__(self, plan: Plan, is_inside: bool = False) -> None:
        self.plan, self.is_inside = plan, is_inside
        self.is_loose = plan.options.types == "loose"
        self.has_item_nodes = plan.options.list_items == "nodes"
        self.alignments: list[dict[Path, list[tuple[int, int]]]] = []
        self.is_clean: list[bool] = []
        self._units: list[Counts] = []
        self._blank: Counts = dict.fromkeys(_parts_of_unit(plan), 0)
        self._pairs: list[list[tuple[Where, Any, Any, bool]]] = [[] for _ in plan.fields]
        self._penalties: list[dict[Where, list[int]]] = [defaultdict(list) for _ in plan.fields]

    def tree(self, expected: Any, given: Any) -> None:
        """Walk a pair of trees; ``given`` is :data:`~tls_tasks.trees.nodes.MISSING` where nothing could be read.

        Raises:
            BadReferenceError: If the reference does not follow the schema.
        """
        root, counts, where = self.plan.root, *self._start()
        if not isinstance(root, Branch):
            self._child(root, expected, given, counts, where, ())
        elif isinstance(expected, dict):
            self._branch(root, expected, given if isinstance(given, dict) else {}, counts, where, ())
        else:
            raise BadReferenceError

    def items(self, node: SchemaNode, expected: Any, given: Any) -> None:
        """Walk a pair of items of lists as if they were trees."""
        self._item(node, expected, given, *self._start(), ())

    def _start(self) -> tuple[Counts, Where]:
        self._units.append(self._blank.copy())
        self.alignments.append({})
        self.is_clean.append(True)
        return self._units[-1], (len(self._units) - 1,)

    # --- nodes ---

    def _branch(self, node: Branch, expected: Any, given: Any, counts: Counts, where: Where, path: Path) -> None:
        n_expected = n_given = 0
        for key, child in node.children.items():
            left, right = expected.get(key, MISSING), given.get(key, MISSING)
            n_expected += left is not MISSING
            n_given += right is not MISSING
            self._child(child, left, right, counts, where, (*path, key))
        if n_expected < len(expected) and not self.is_loose:
            raise BadReferenceError
        if n_given < len(given):
            self.is_clean[where[0]] = False
            unknown = [value for key, value in given.items() if key not in node.children]
            counts["node_fp"] += len(unknown)
            if not self.plan.follows_treeval:
                counts["node_fp"] += sum(count_nodes(value, items=self.has_item_nodes) for value in unknown)

    def _child(self, node: SchemaNode, expected: Any, given: Any, counts: Counts, where: Where, path: Path) -> None:
        """Walk the values of a key in both trees."""
        left, right = self._states(node, expected, given, where)
        has_left, has_right = _have_values(left, right)
        if left != ABSENT and right != ABSENT:
            counts["node_tp"] += 1
            if not isinstance(node, Branch) and (has_left or has_right):
                counts["leaf_tp" if has_left and has_right else "leaf_fn" if has_left else "leaf_fp"] += 1
        elif right != ABSENT:
            counts["node_fp"] += 1
        elif left != ABSENT or self.plan.follows_treeval:
            counts["node_fn"] += 1
        if isinstance(node, Field):
            self._leaf(node, expected, given, left, right, where)
            return
        if self.plan.follows_treeval:
            self._as_treeval(node, given, left, right, counts)
            if left == VALUE and right >= VALUE:
                self._units[where[0]][seen_part(path)] = 1
        if not self._counts_below(node, left, right):
            counts = dict.fromkeys(COUNTS, 0)
        self._below(node, expected, given, left, right, counts, where, path)
        if isinstance(node, ListOf) and isinstance(node.item, Field) and left == VALUE and right == WRONG:
            self._penalties[node.item.index][where].append(1)

    def _states(self, node: SchemaNode, expected: Any, given: Any, where: Where) -> tuple[int, int]:
        left, right = state_of(node, expected, self.is_loose), state_of(node, given, self.is_loose)
        if left == WRONG and not self.is_loose:
            raise BadReferenceError
        if right != VALUE or (
            isinstance(node, Field) and (type(given) not in node.types or (node.is_checked and complies(given, node)))
        ):
            self.is_clean[where[0]] = False
        return left, right

    def _counts_below(self, node: SchemaNode, left: int, right: int) -> bool:
        """Whether nodes below this one count, and not only what each leaf is."""
        if self.plan.follows_treeval or (isinstance(node, ListOf) and not self.has_item_nodes):
            return left == VALUE and (right == VALUE or (right == WRONG and isinstance(node, ListOf)))
        return True

    def _as_treeval(self, node: SchemaNode, given: Any, left: int, right: int, counts: Counts) -> None:
        """Count what treeval counts below a dictionary or list that one of the trees lacks, or has as null."""
        is_missed = right == ABSENT or (left >= VALUE and right == NULL)
        is_extra = left == NULL and right >= VALUE
        if is_extra and (isinstance(node, Branch) or self.has_item_nodes):
            counts["node_fp"] += nodes_below(node, given, True) if self.has_item_nodes else count_nodes(given)
        if isinstance(node, Branch):
            counts["node_fn"] += is_missed * schema_nodes(node)
            counts["leaf_fn"] += is_missed * schema_nodes(node, only_leaves=True)
            counts["leaf_fp"] += is_extra * count_nodes(given, only_leaves=True)

    def _below(
        self,
        node: SchemaNode,
        expected: Any,
        given: Any,
        left: int,
        right: int,
        counts: Counts,
        where: Where,
        path: Path,
    ) -> None:
        """Walk a dictionary or a list; what is none is empty."""
        empty: Any = {} if isinstance(node, Branch) else []
        expected, given = expected if left == VALUE else empty, given if right == VALUE else empty
        if isinstance(node, Branch):
            self._branch(node, expected, given, counts, where, path)
        elif isinstance(node, ListOf):
            self._list(node, expected, given, counts, where, path)

    # --- lists ---

    def _list(
        self, node: ListOf, expected: list[Any], given: list[Any], counts: Counts, where: Where, path: Path
    ) -> None:
        pairs = align(self, node, expected, given)
        if pairs:
            self.alignments[where[0]][path] = pairs
        for number, (i, j) in enumerate(pairs):
            self._item(node.item, expected[i], given[j], counts, (*where, number), (*path, Position(i)))
        for kind, part, items, matched in (
            ("missed", "node_fn", expected, {i for i, _ in pairs}),
            ("invented", "node_fp", given, {j for _, j in pairs}),
        ):
            if len(matched) == len(items):
                continue
            self.is_clean[where[0]] = False
            alone = [item for place, item in enumerate(items) if place not in matched]
            counts[part] += sum(item_nodes(node.item, item, self.has_item_nodes) for item in alone)
            if kind == "missed" and not self.is_loose and not all(follows(item, node.item) for item in alone):
                raise BadReferenceError
            if not self.is_inside:
                self._unmatched(node.item, alone, kind, where)
        if isinstance(node.item, Field) and not expected and not given:
            self._units[where[0]][f"absent|{node.item.name}"] += 1

    def _unmatched(self, node: SchemaNode, items: list[Any], kind: str, where: Where) -> None:
        """Count the leaves of items that have no counterpart."""
        times = Counter(field.index for item in items for field in fields_with_value(node, item, self.is_loose))
        for index, n in times.items():
            self._units[where[0]][f"{kind}|{self.plan.fields[index].name}"] += n
            if self.plan.options.unmatched_items == "worst":
                self._penalties[index][where].append(n)

    def _item(self, node: SchemaNode, expected: Any, given: Any, counts: Counts, where: Where, path: Path) -> None:
        left, right = self._states(node, expected, given, where)
        if isinstance(node, Field):
            counts["node_tp"] += self.has_item_nodes
            if self.plan.follows_treeval:  # null is a value like any other
                left, right = max(left, VALUE), max(right, VALUE)
            self._leaf(node, expected, given, left, right, where)
            return
        if left == right == NULL:
            counts["node_tp"] += 1
        else:  # an item that is no dictionary (no list) is one node
            counts["node_fn"] += left != VALUE
            counts["node_fp"] += right != VALUE
        self._below(node, expected, given, left, right, counts, where, path)

    # --- leaves ---

    def _leaf(self, field: Field, expected: Any, given: Any, left: int, right: int, where: Where) -> None:
        has_left, has_right = _have_values(left, right)
        if has_left and has_right:
            self._pairs[field.index].append((where, expected, given, right == WRONG))
        else:
            kind = "missed" if has_left else "invented" if has_right else "absent"
            self._units[where[0]][f"{kind}|{field.name}"] += 1

    def units(self) -> list[Counts]:
        """The unit of each pair of trees, with all scores."""
        for field in self.plan.fields:
            self._score(field)
        return self._units

    def _score(self, field: Field) -> None:
        """Score all pairs of a leaf's values; one of another type gets each metric's worst score."""
        pairs = self._pairs[field.index]
        fits = [not is_wrong for *_, is_wrong in pairs]
        references = [expected for _, expected, _, is_wrong in pairs if not is_wrong]
        predictions = [given for _, _, given, is_wrong in pairs if not is_wrong]
        similarity: Any = 0.0
        for metric in field.metrics:
            found = metric.pairs(references, self._batch(predictions, field, metric))
            similarity = similarity + metric.normalize(found)
            scores = iter(found)
            by_pair = [float(next(scores)) if fit else metric.worst for fit in fits]
            self._add(field, metric, zip((where for where, *_ in pairs), by_pair, strict=True))
        right = iter(similarity >= (1 - 1e-12) * len(field.metrics))
        for (where, *_), fit in zip(pairs, fits, strict=True):
            kind = "correct" if fit and next(right) else "wrong"
            self._units[where[0]][f"{kind}|{field.name}"] += 1

    def _batch(self, predictions: list[Any], field: Field, metric: LeafMetric) -> list[Any]:
        """The predictions as treeval compares them: a batch is one array, where one float makes floats of all."""
        if self.is_loose and not (field.depth or self.is_inside) and metric.name == "exact_match":
            kinds = set(map(type, predictions))
            if float in kinds and kinds & {int, bool}:
                return [
                    float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions
                ]
        return predictions

    def _add(self, field: Field, metric: LeafMetric, scores: Iterable[tuple[Where, float]]) -> None:
        """Add up a leaf's scores: those of a list's items first, then those of the lists of a list."""
        level = [(where, score, 1) for where, score in scores]
        top = max((len(where) for where, *_ in level), default=0)
        penalties = self._penalties[field.index]
        top = max([top, *(len(where) + 1 for where in penalties)])
        for length in range(top - 1, 0, -1):
            totals: dict[Where, list[Any]] = {}
            for where, score, n in level:
                total = totals.setdefault(where[:length], [0.0, 0])
                total[0] += score
                total[1] += n
            if self.plan.follows_treeval and length > (not self.is_inside):  # a list in a list has one vote
                totals = {where: [score / n if n else 0.0, int(n > 0)] for where, (score, n) in totals.items()}
            for where, times in penalties.items():
                for n in times if len(where) == length else ():
                    total = totals.setdefault(where, [0.0, 0])
                    total[0] += n * metric.worst
                    total[1] += n
            level = [(where, *totals[where]) for where in sorted(totals)]
        total_part, n_part = field.part("sum", metric), field.part("n", metric)
        for (row,), score, n in level:
            self._units[row][total_part] += score
            self._units[row][n_part] += n


def _have_values(left: int, right: int) -> tuple[bool, bool]:
    """Whether both sides have a value; where null is one of several valid answers, there is one if there is a right."""
    has_right = right >= VALUE
    return left >= VALUE and (left != MAYBE or has_right), has_right


def seen_part(path: Path) -> str:
    """The part that says that both trees have this dictionary or list."""
    return f"seen|{path_name([key for key in path if type(key) is not Position])}"


def _parts_of_unit(plan: Plan) -> list[str]:
    """The parts of a unit: counts, what leaves were, sums of scores and how many there are."""
    kinds = [f"{kind}|{field.name}" for field in plan.fields for kind in KINDS]
    sums = [field.part(what, metric) for field in plan.fields for metric in field.metrics for what in ("sum", "n")]
    containers = [path for path, node in nodes_of(plan.root).items() if not isinstance(node, Field)]
    return [*COUNTS, *kinds, *sums, *(map(seen_part, containers) if plan.follows_treeval else ())]
