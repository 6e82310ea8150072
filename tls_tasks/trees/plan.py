"""The plan: a schema whose leaves know their metrics, and the settings that hold for all trees."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tls_tasks.core.errors import InputError, check_choice
from tls_tasks.trees import types
from tls_tasks.trees.compliance import plain_types
from tls_tasks.trees.leaf_metrics import resolve_metric
from tls_tasks.trees.leaf_values import LeafMetric
from tls_tasks.trees.schema import schema_and_form
from tls_tasks.trees.settings import custom_type_names, list_orders, select_metrics, type_label
from tls_tasks.trees.types import EACH_KEY, Branch, Leaf, ListOf, Path, RecursiveNode, SchemaNode, UnionNode, path_name

DAY_MONTHS = ("as_written", "day_first", "month_first")
"""What ``01/02/2024`` is, for the scores of values: a text, or a day, of which day or month comes first."""


@dataclass(frozen=True, slots=True, eq=False)
class Field(Leaf):
    """A leaf, with everything that scoring needs to know of it.

    Attributes:
        path: Keys from the root; lists add nothing.
        name: The path as people write it.
        kind: What the leaf's type is called in results.
        index: Its number among the leaves.
        depth: In how many lists it may be; not less than 1 where a value of several kinds or a schema within itself
            may put it in one.
        metrics: Its metrics.
        types: Python types whose values all fit the leaf.
    """

    path: Path = ()
    name: str = ""
    kind: str = ""
    index: int = 0
    depth: int = 0
    metrics: tuple[LeafMetric, ...] = ()
    types: frozenset[type] = frozenset()

    @property
    def worst_scores(self) -> tuple[float, ...]:
        """The worst score of each metric."""
        return tuple(metric.worst for metric in self.metrics)

    def part(self, what: str, metric: LeafMetric) -> str:
        """Return the name of a unit part: ``sum`` of the metric's scores at this leaf, or ``n``, how many there are."""
        return f"{what}|{self.name}|{metric.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A schema and its settings.

    Attributes:
        root: The schema; all its leaves are fields.
        fields: Its leaves in order.
        metrics: The metrics by name, in order of first appearance.
        follows_treeval: Whether the rules of treeval's program hold, not those of its guide.
        day_month: One of :data:`DAY_MONTHS`.
        hierarchical: Whether a dictionary's mean counts as one value in that of the dictionary around it.
        digest: Eight hexadecimal digits that change with whatever decides what is scored how.
        form: In which form the schema was read, for errors.
        has_sources: Whether values have grounds, see :mod:`tls_tasks.trees.grounds`.
        containers: In treeval's profile the path of each dictionary and list, by its id.
        within_lists: In treeval's profile the ids of all nodes within lists.
    """

    root: SchemaNode
    fields: tuple[Field, ...]
    metrics: Mapping[str, LeafMetric]
    follows_treeval: bool
    day_month: str
    hierarchical: bool
    digest: str
    form: str = ""
    has_sources: bool = False
    containers: Mapping[int, Path] = field(default_factory=dict)
    within_lists: frozenset[int] = frozenset()


def make_plan(
    schema: Any,
    compat: str | None = None,
    leaf_metrics: Any = None,
    list_order: Any = "unordered",
    day_month: str = DAY_MONTHS[0],
    hierarchical: bool = False,
    has_sources: bool = False,
) -> Plan:
    """Work out the plan; the arguments are those of :func:`~tls_tasks.trees.tree_eval.tree_eval`.

    Raises:
        InputError: Not a schema, settings for a path or type that it doesn't have, or of the wrong kind.
        OptionError: No such option, metric or order.
    """
    check_choice("day_month", day_month, DAY_MONTHS)
    if compat and day_month != DAY_MONTHS[0]:
        raise InputError("day_month", None, f"{day_month!r} with compat='treeval'", "none: that program knows no dates")
    node, form = schema_and_form(schema, type_names=custom_type_names(leaf_metrics))
    if compat == "treeval":
        node = _simplify_for_treeval(node)
    planner = _Planner(node, leaf_metrics, list_orders(node, list_order), compat)
    root = planner.root(node)
    nodes = [(path, each) for path, each in types.all_nodes(root) if compat and not isinstance(each, Field)]
    containers = {id(each): path for path, each in nodes}
    lists = [each for _, each in nodes if isinstance(each, ListOf)]
    within = frozenset(id(below) for each in lists for _, below in types.all_nodes(each.item))
    settings = bool(compat), day_month, hierarchical, _digest(root), form, has_sources, containers, within
    return Plan(root, tuple(planner.fields.values()), planner.by_name, *settings)


def _simplify_for_treeval(node: SchemaNode) -> SchemaNode:
    """Return a schema in which nodes that treeval doesn't know are leaves of any type."""
    if isinstance(node, ListOf):
        return ListOf(_simplify_for_treeval(node.item))
    if isinstance(node, Branch):
        if not node.children and node.rest is not None:
            return Leaf("object")
        return Branch({key: _simplify_for_treeval(child) for key, child in node.children.items()}, node.required)
    return node if isinstance(node, Leaf) else Leaf("any")


class _Planner:
    """Copies a schema, and numbers its leaves on the way."""

    def __init__(self, root: SchemaNode, leaf_metrics: Any, orders: Mapping[Path, str], compat: str | None) -> None:
        self.leaves, self.metrics = types.leaves_by_path(root), select_metrics(root, leaf_metrics)
        self.orders, self.compat = orders, compat
        self.fields: dict[Path, Field] = {}
        self.by_name: dict[str, LeafMetric] = {}
        self.copies: dict[int, SchemaNode] = {}
        self.waiting: list[tuple[RecursiveNode, RecursiveNode]] = []

    def root(self, node: SchemaNode) -> SchemaNode:
        root = self.node(node, (), int(any(isinstance(n, RecursiveNode | UnionNode) for _, n in types.all_nodes(node))))
        for copy, original in self.waiting:
            copy.node = self.copies[id(original.node)]
        return root

    def node(self, node: SchemaNode, path: Path, depth: int) -> SchemaNode:
        if isinstance(node, RecursiveNode):
            self.waiting.append((copy := RecursiveNode(), node))
            return copy
        result = self.copies[id(node)] = self._copy(node, path, depth)
        return result

    def _copy(self, node: SchemaNode, path: Path, depth: int) -> SchemaNode:
        if isinstance(node, Branch):
            children = {key: self.node(child, (*path, key), depth) for key, child in node.children.items()}
            rest = node.rest and replace(node.rest, item=self.node(node.rest.item, (*path, EACH_KEY), depth + 1))
            return replace(node, children=children, rest=rest)
        if isinstance(node, ListOf):
            return ListOf(self.node(node.item, path, depth + 1), self.orders[path] == "ordered")
        if isinstance(node, UnionNode):
            parts: dict[type, SchemaNode] = {}
            for part in node.parts:
                copied = self.node(part, path, depth)  # a leaf of any type is of several kinds, too
                for kind in copied.parts if isinstance(copied, UnionNode) else [copied]:
                    parts.setdefault(type(kind), kind)
            return UnionNode(tuple(parts.values()))
        return self._leaf(node, path, depth) if isinstance(node, Leaf) else node

    def _leaf(self, leaf: Leaf, path: Path, depth: int) -> SchemaNode:
        """Return a leaf's field; an object or a leaf of any type without metrics is scored by the values within it."""
        is_object = leaf.type == "object"
        if self.compat or not (leaf.type == "any" or is_object) or self.metrics[path] != ["exact_match"]:
            return self._field(self.leaves[path], path, path, depth)
        inner = (*path, EACH_KEY) if is_object else path
        field = self._field(Leaf("any") if is_object else self.leaves[path], inner, path, depth + 1)
        within = RecursiveNode()
        within.node = UnionNode((Branch({}, rest=ListOf(within, is_keyed=True)), ListOf(within), field))
        return Branch({}, rest=ListOf(within.node, is_keyed=True)) if is_object else within.node

    def _field(self, leaf: Leaf, path: Path, set_at: Path, depth: int) -> Field:
        """Return the field of a path, made once; ``set_at`` is the path that its metrics were chosen for."""
        if path in self.fields:
            return self.fields[path]
        metrics = tuple(resolve_metric(metric, compat=self.compat) for metric in self.metrics[set_at])
        for n, metric in enumerate(metrics):
            first = self.by_name.setdefault(metric.name, metric)  # what shares a name is averaged
            is_alike = (first.score_range, first.higher_is_better) == (metric.score_range, metric.higher_is_better)
            if not is_alike or metric.name in [earlier.name for earlier in metrics[:n]]:
                got = f"another metric {metric.name!r} for {path_name(path)}"
                raise InputError("leaf_metrics", None, got, "a name of its own for each: name=…")
        index, name = len(self.fields), path_name(path)
        field = Field(leaf.type, leaf.choices, path, name, type_label(leaf), index, depth, metrics, plain_types(leaf))
        self.fields[path] = field
        return field


def _digest(root: SchemaNode) -> str:
    """Return eight hexadecimal digits that depend on all that decides scores and compliance."""
    entries: list[Any] = []
    for path, node in types.all_nodes(root):
        entry: Any = type(node).__name__
        if isinstance(node, Field):
            metrics = [(metric.signature, metric.score_range, metric.higher_is_better) for metric in node.metrics]
            entry = node.kind, sorted(map(repr, node.choices)), metrics
        elif isinstance(node, Branch | ListOf):
            entry = node.is_ordered if isinstance(node, ListOf) else sorted(map(repr, node.required))
        entries.append((path, entry))
    return hashlib.sha256(repr(entries).encode()).hexdigest()[:8]
