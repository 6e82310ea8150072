"""The plan: a schema whose leaves know their metrics, and the settings that hold for all trees."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_choice
from tls_tasks.trees.compliance import base_type, plain_types
from tls_tasks.trees.leaf_base import LeafMetric
from tls_tasks.trees.leaf_metrics import DEFAULT_METRICS, default_metrics, resolve_metric
from tls_tasks.trees.options import TreeOptions
from tls_tasks.trees.types import Branch, Leaf, ListOf, Path, SchemaNode, item_of, leaves_of, path_name

ORDERS = ("unordered", "ordered")
"""How the items of two lists find each other: by their scores, or by position."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Field(Leaf):
    """A leaf, with everything that scoring needs to know of it.

    Attributes:
        path: Keys from the root; lists add nothing.
        name: The path as people write it.
        kind: What the leaf's type is called in results.
        index: Its number among the leaves.
        depth: In how many lists it is.
        metrics: Its metrics.
        types: Python types whose values all fit the leaf.
        is_checked: Whether a value of such a type may still not comply: choices and dates.
    """

    path: Path
    name: str
    kind: str
    index: int
    depth: int
    metrics: tuple[LeafMetric, ...]
    types: frozenset[type]
    is_checked: bool

    def part(self, what: str, metric: LeafMetric) -> str:
        """The name of a sum of a unit: ``sum`` of the metric's scores, and ``n``, how many there are."""
        return f"{what}|{self.name}|{metric.name}"


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A schema and its settings.

    Attributes:
        root: The schema; all its leaves are fields.
        fields: Its leaves in order.
        metrics: The metrics by name, in order of first appearance.
        options: How to count, align and average.
        hierarchical: Whether a dictionary's mean counts as one value in that of the dictionary around it.
        digest: Eight hexadecimal digits that change with whatever decides what is scored how.
    """

    root: SchemaNode
    fields: tuple[Field, ...]
    metrics: Mapping[str, LeafMetric]
    options: TreeOptions
    hierarchical: bool
    digest: str

    @property
    def follows_treeval(self) -> bool:
        """Whether the program's rules hold, not those of its guide."""
        return self.options.profile == "treeval"


def make_plan(
    schema: SchemaNode,
    options: TreeOptions,
    leaf_metrics: Any = None,
    list_order: Any = "unordered",
    hierarchical: bool = False,
    compat: str | None = None,
) -> Plan:
    """Work out the plan; the arguments are those of :func:`~tls_tasks.trees.tree_eval.tree_eval`.

    Raises:
        InputError: Settings for a path or type that the schema doesn't have, or of the wrong kind.
        OptionError: No such metric or order.
    """
    planner = _Planner(_select_metrics(schema, leaf_metrics), _orders(schema, list_order), compat)
    root = planner.node(schema, (), 0)
    return Plan(root, tuple(planner.fields), _by_name(planner.fields), options, hierarchical, planner.digest())


class _Planner:
    """Copies a schema, and numbers its leaves on the way."""

    def __init__(self, metrics: Mapping[Path, Sequence[Any]], orders: Mapping[Path, str], compat: str | None) -> None:
        self.metrics, self.orders, self.compat = metrics, orders, compat
        self.fields: list[Field] = []
        self.lists: list[tuple[Path, str]] = []

    def node(self, node: SchemaNode, path: Path, depth: int) -> SchemaNode:
        if isinstance(node, Branch):
            children = {key: self.node(child, (*path, key), depth) for key, child in node.children.items()}
            return replace(node, children=children)
        if isinstance(node, ListOf):
            item, order = self.node(node.item, path, depth + 1), self.orders[path]
            self.lists.append((path, order))
            return ListOf(item, order == "ordered")
        return self._field(node, path, depth)

    def _field(self, leaf: Leaf, path: Path, depth: int) -> Field:
        metrics = tuple(resolve_metric(metric, compat=self.compat) for metric in self.metrics[path])
        names = [metric.name for metric in metrics]
        if len(set(names)) < len(names):
            got = f"the metrics {names} for {path_name(path)}"
            raise InputError("leaf_metrics", None, got, "a name of its own for each: name=…")
        field = Field(
            leaf.type,
            leaf.choices,
            path=path,
            name=path_name(path),
            kind=_type_name(leaf),
            index=len(self.fields),
            depth=depth,
            metrics=metrics,
            types=plain_types(leaf),
            is_checked=bool(leaf.choices) or base_type(leaf.type) in ("date", "datetime"),
        )
        self.fields.append(field)
        return field

    def digest(self) -> str:
        leaves = [
            (
                # 1.0, 1.0: the weight and the threshold of release 0.1.0, so that its signatures stay what they were
                (field.path, field.kind, sorted(map(repr, field.choices)), 1.0, 1.0),
                [(metric.signature, metric.score_range, metric.higher_is_better) for metric in field.metrics],
            )
            for field in self.fields
        ]
        return hashlib.sha256(repr((leaves, self.lists)).encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _by_name(fields: Sequence[Field]) -> dict[str, LeafMetric]:
    """The metrics by name; those that share one must have the same range and direction, since they are averaged."""
    by_name: dict[str, LeafMetric] = {}
    for metric in (metric for field in fields for metric in field.metrics):
        known = by_name.setdefault(metric.name, metric)
        if (known.score_range, known.higher_is_better) != (metric.score_range, metric.higher_is_better):
            got = f"two metrics {metric.name!r} with different ranges or directions"
            raise InputError("leaf_metrics", None, got, "a name of its own for each: name=…")
    return by_name


def _select_metrics(schema: SchemaNode, leaf_metrics: Any) -> dict[Path, list[Any]]:
    """Which metrics each leaf has: those of its path, then those of its type, each once; else its type's defaults.

    Example:
        >>> root = Branch({"a": Leaf("string"), "b": Leaf("string"), "c": Leaf("date")})
        >>> _select_metrics(root, {"string": ["token_f1"], "a": "rouge_l"})
        {('a',): ['rouge_l', 'token_f1'], ('b',): ['token_f1'], ('c',): ['date_closeness']}
    """
    by_path, by_type = _settings_of("leaf_metrics", leaf_metrics, schema)
    leaves = leaves_of(schema)
    _refuse_others("leaf_metrics", by_path, dict(leaves), "metrics for its leaves")
    selected: dict[Path, list[Any]] = {}
    for path, leaf in leaves:
        chosen: list[Any] = []
        for metric in _listed(by_path.get(path)) + _listed(by_type.get(_type_name(leaf))):
            if not any(metric is known or metric == known for known in chosen):
                chosen.append(metric)
        selected[path] = chosen or list(default_metrics("choice" if leaf.choices else leaf.type))
    return selected


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda metric: metric if isinstance(metric, str) else metric.__name__)
    return list(value) if isinstance(value, list | tuple) else [value]


def _orders(schema: SchemaNode, list_order: Any) -> dict[Path, str]:
    """The order of each list."""
    lists = [path for path, node in nodes_of(schema).items() if isinstance(node, ListOf)]
    if isinstance(list_order, str):
        check_choice("list_order", list_order, ORDERS)
        return dict.fromkeys(lists, list_order)
    by_path, by_type = _settings_of("list_order", list_order, schema)
    if by_type:
        raise InputError("list_order", None, f"the type {next(iter(by_type))!r}", "paths of lists")
    _refuse_others("list_order", by_path, lists, "orders of lists")
    for order in by_path.values():
        check_choice("list_order", order, ORDERS)
    return {**dict.fromkeys(lists, "unordered"), **by_path}


# --- settings by path and type ---

_TYPE = "type:"


def _settings_of(option: str, given: Any, schema: SchemaNode) -> tuple[dict[Path, Any], dict[str, Any]]:
    """What a caller says of paths and types.

    A path is a key of the schema's root, a name such as ``seller.name``, or a tuple of keys. Lists add nothing to it:
    the price of each line is ``lines.price``. The root of a schema that is no dictionary is called ``$``.

    Args:
        option: The option's name, for errors.
        given: Path or type -> value; None: nothing. If its keys are those of the schema's root, it is a tree in the
            shape of the schema, and no key is a type.
        schema: The schema.

    Returns:
        The values by path, and those by type.

    Raises:
        InputError: A key that is neither a path nor a type of this schema, or both.

    Example:
        >>> root = Branch({"day": Leaf("date"), "seller": Branch({"name": Leaf("string")})})
        >>> _settings_of("leaf_metrics", {"seller.name": "rouge_l", "date": "exact_match"}, root)
        ({('seller', 'name'): 'rouge_l'}, {'date': 'exact_match'})
        >>> _settings_of("leaf_metrics", {"seler": "rouge_l"}, root)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: leaf_metrics: got 'seler', expected a path (day, seller, seller.name) or a type (date, string)
    """  # noqa: E501 - the message is one line
    by_path: dict[Path, Any] = {}
    by_type: dict[str, Any] = {}
    if given is None:
        return by_path, by_type
    if not isinstance(given, Mapping):
        raise InputError(option, None, repr(given), "a dictionary: path or type -> value")
    nodes, inner = nodes_of(schema), item_of(schema)
    is_tree = isinstance(inner, Branch) and given.keys() == inner.children.keys()
    for key, value in given.items():
        path = (key,) if is_tree else _path_of(key, nodes)
        label = None if is_tree else _type_of(key, schema)
        if path is not None and label is not None and not _are_one(path, label, schema):
            expected = f"{path!r} for the key, '{_TYPE}{label}' for the type"
            raise InputError(option, None, f"{key!r}, both a key and a type", expected)
        if path is not None:
            by_path |= _below(option, path, value, nodes)
        elif label is not None:
            by_type[label] = value
        else:
            raise _unknown(option, key, nodes)
    return by_path, by_type


def nodes_of(schema: SchemaNode) -> dict[Path, SchemaNode]:
    """Every node by its path; items of lists have the path of their list, and the root is there if it is no dictionary.

    Example:
        >>> list(nodes_of(Branch({"a": Leaf("string"), "b": ListOf(Branch({"c": Leaf("date")}))})))
        [('a',), ('b',), ('b', 'c')]
    """
    nodes: dict[Path, SchemaNode] = {}

    def visit(node: SchemaNode, path: Path) -> None:
        if path or not isinstance(node, Branch):
            nodes[path] = node
        inner = item_of(node)
        for key, child in inner.children.items() if isinstance(inner, Branch) else ():
            visit(child, (*path, key))

    visit(schema, ())
    return nodes


def _type_name(leaf: Leaf) -> str:
    """What a leaf's type is called in settings and results.

    Example:
        >>> _type_name(Leaf("string")), _type_name(Leaf(int)), _type_name(Leaf("x", ("a", "b")))
        ('string', 'integer', 'choice')
    """
    label = "choice" if leaf.choices else base_type(leaf.type)
    return label.__name__ if isinstance(label, type) else str(label)


def _path_of(key: Hashable, nodes: Mapping[Path, SchemaNode]) -> Path | None:
    if isinstance(key, tuple) and key and key in nodes:  # () is treeval's word for choices
        return key
    return (key,) if (key,) in nodes else next((path for path in nodes if path_name(path) == key), None)


def _type_of(key: Hashable, schema: SchemaNode) -> str | None:
    """The type that a key names: one of the schema or a well-known one; treeval calls choices ``()``."""
    if isinstance(key, str) and key.startswith(_TYPE):
        return str(base_type(key.removeprefix(_TYPE)))
    label = "choice" if key == () else base_type(key)
    label = label.__name__ if isinstance(label, type) else label
    types = {_type_name(leaf) for _, leaf in leaves_of(schema)}
    return label if isinstance(label, str) and (label in types or label in DEFAULT_METRICS) else None


def _are_one(path: Path, label: str, schema: SchemaNode) -> bool:
    """Whether the leaf at the path is the only one of the type: then both readings are one."""
    return [path] == [own for own, leaf in leaves_of(schema) if _type_name(leaf) == label]


def _below(option: str, path: Path, value: Any, nodes: Mapping[Path, SchemaNode]) -> dict[Path, Any]:
    """A value for a node; a dictionary for a branch goes on below."""
    if not isinstance(item_of(nodes[path]), Branch) or not isinstance(value, Mapping):
        return {path: value}
    below: dict[Path, Any] = {}
    for key, inner in value.items():
        if (*path, key) not in nodes:
            raise _unknown(option, path_name((*path, key)), nodes)
        below |= _below(option, (*path, key), inner, nodes)
    return below


def _unknown(option: str, key: object, nodes: Mapping[Path, SchemaNode]) -> InputError:
    paths = ", ".join(path_name(path) for path in nodes)
    types = {_type_name(node) for node in map(item_of, nodes.values()) if isinstance(node, Leaf)}
    return InputError(option, None, repr(key), f"a path ({paths}) or a type ({', '.join(sorted(types))})")


def _refuse_others(option: str, by_path: Mapping[Path, Any], wanted: Collection[Path], expected: str) -> None:
    for path in by_path:
        if path not in wanted:
            raise InputError(option, None, f"a value for {path_name(path)}", expected)
