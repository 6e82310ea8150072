"""Making the plan of a schema, once for all trees: metrics, weights, thresholds and orders by leaf and list."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.trees.compliance import base_type
from tls_tasks.trees.differences import DIFFERENCES
from tls_tasks.trees.fields import FieldSettings, leaves_of, select_metrics, type_name
from tls_tasks.trees.leaf_metrics import BUILT_IN, TREEVAL_METRICS, LeafMetric, default_metrics, resolve_metric
from tls_tasks.trees.options import TreeOptions
from tls_tasks.trees.plan import ROOT, BranchPlan, LeafPlan, ListPlan, NodePlan, TreePlan, leaves_below
from tls_tasks.trees.types import Branch, Leaf, ListOf, SchemaNode
from tls_tasks.trees.values import Path, path_name

ORDERS = ("unordered", "ordered", "key:NAME")
"""How the items of two lists find each other: by scores, by their place, or dictionaries by the value of a key."""

PLAIN = frozenset({str, int, float, bool})
"""Types of values that are scored as they are."""


def make_plan(
    schema: SchemaNode,
    options: TreeOptions,
    *,
    leaf_metrics: Any = None,
    exclusive_metrics: bool = False,
    list_order: Any = "unordered",
    weights: Any = None,
    thresholds: Any = None,
    compat: str | None = None,
) -> TreePlan:
    """Work out the plan; the arguments are those of :func:`~tls_tasks.trees.tree_eval.tree_eval`.

    Raises:
        InputError: Settings for a path or type that the schema doesn't have, or of the wrong kind.
        OptionError: No such metric or order.
    """
    selected = select_metrics(schema, leaf_metrics, exclusive_metrics)
    by_name = {path: all(map(_is_by_name, chosen or ())) for path, chosen in selected.items()}
    maker = _Maker(
        {path: _resolved(path, leaf, selected[path], compat) for path, leaf in leaves_of(schema)},
        by_name,
        FieldSettings("list_order", None if isinstance(list_order, str) else list_order, schema),
        list_order if isinstance(list_order, str) else "unordered",
        FieldSettings("weights", weights, schema),
        FieldSettings("thresholds", None if isinstance(thresholds, int | float) else thresholds, schema),
        thresholds if isinstance(thresholds, int | float) else 1.0,
        options,
        compat == "treeval",
    )
    _check_order(maker.order)
    for settings in (maker.weights, maker.thresholds):
        settings.refuse_others(by_name, "values for its leaves")
    if not isinstance(schema, Branch):
        inner = maker.node(schema, ())
        root = BranchPlan({ROOT: inner}, *_getters([ROOT]), (), frozenset(), (), leaves_below(inner), 1, 1)
    else:
        root = maker.branch(schema, ())
    _check_lists(maker)
    if maker.leaves and not any(leaf.weight for leaf in maker.leaves):
        raise InputError("weights", None, "0 for every leaf", "at least one leaf with a weight above 0")
    slots = tuple((leaf, metric) for leaf in maker.leaves for metric in leaf.metrics)
    return TreePlan(
        root,
        not isinstance(schema, Branch),
        schema,
        tuple(maker.leaves),
        slots,
        tuple((leaf.index, metric.name) for leaf, metric in slots),
        tuple(dict.fromkeys(metric.name for metric in leaf.metrics) for leaf in maker.leaves),
        _groups(slots),
        all(leaf.weight == 1.0 for leaf in maker.leaves),
        _by_name(maker.leaves),
        options,
        all(by_name.values()),
        isinstance(schema, Branch) and not maker.lists and all(by_name.values()),
        _digest(maker),
    )


def _groups(slots: Sequence[tuple[LeafPlan, LeafMetric]]) -> dict[str, dict[str, tuple[int, ...]]]:
    groups: dict[str, dict[str, tuple[int, ...]]] = {"": {}}
    for slot, (leaf, metric) in enumerate(slots):
        for label in ("", leaf.kind):
            members = groups.setdefault(label, {})
            members[metric.name] = (*members.get(metric.name, ()), slot)
    return groups


def _is_by_name(metric: Any) -> bool:
    """Whether it is one of ours."""
    name = metric.get("metric") if isinstance(metric, Mapping) else metric
    return isinstance(name, str) and (name in BUILT_IN or name in TREEVAL_METRICS)


def _resolved(path: Path, leaf: Leaf, chosen: Sequence[Any] | None, compat: str | None) -> tuple[LeafMetric, ...]:
    label = "choice" if leaf.choices else leaf.type
    wanted = [DIFFERENCES.get(one, one) if isinstance(one, str) else one for one in chosen or default_metrics(label)]
    metrics = tuple(resolve_metric(one, compat=compat) for one in wanted)
    for metric in metrics:
        if metric.forget is not None:
            metric.forget()
    names = [metric.name for metric in metrics]
    if len(set(names)) < len(names):
        raise InputError(
            "leaf_metrics", None, f"the metrics {names} for {path_name(path)}", "a name of its own for each: name=…"
        )
    return metrics


class _Maker:
    """Makes the plan's nodes, and numbers leaves and metrics."""

    def __init__(
        self,
        metrics: Mapping[Path, tuple[LeafMetric, ...]],
        by_name: Mapping[Path, bool],
        orders: FieldSettings,
        order: str,
        weights: FieldSettings,
        thresholds: FieldSettings,
        threshold: float,
        options: TreeOptions,
        is_treeval: bool,
    ) -> None:
        self.is_treeval = is_treeval
        self.metrics, self.by_name, self.orders, self.order, self.weights = metrics, by_name, orders, order, weights
        self.thresholds, self.threshold, self.options = thresholds, threshold, options
        self.leaves: list[LeafPlan] = []
        self.lists: list[ListPlan] = []
        self.n_slots = 0

    def node(self, node: SchemaNode, path: Path) -> NodePlan:
        if isinstance(node, Branch):
            return self.branch(node, path)
        if isinstance(node, ListOf):
            item = self.node(node.item, path)
            made = ListPlan(item, path, path_name(path), self._order(path, node.item), leaves_below(item))
            self.lists.append(made)
            return made
        return self._leaf(node, path)

    def branch(self, node: Branch, path: Path) -> BranchPlan:
        children = {key: self.node(child, (*path, key)) for key, child in node.children.items()}
        below = [child for child in children.values() if isinstance(child, BranchPlan)]
        return BranchPlan(
            children,
            *_getters(list(children)),
            _steps(children),
            node.required,
            path,
            tuple(leaf for child in children.values() for leaf in leaves_below(child)),
            len(children) + sum(child.schema_nodes for child in below),
            len(children) - len(below) + sum(child.schema_leaves for child in below),
        )

    def _leaf(self, node: Leaf, path: Path) -> LeafPlan:
        metrics = self.metrics[path]
        types = _clean_types(node)
        is_checked = bool(node.choices) or base_type(node.type) in ("date", "datetime")
        clean = PLAIN if self.options.types == "loose" else types
        quick = tuple(_quick(metric, clean, self.is_treeval) if self.by_name[path] else "checked" for metric in metrics)
        is_same_best = _is_one_kind(types) and all(
            _is_same_best(*one, types) for one in zip(metrics, quick, strict=True)
        )
        threshold = _number("thresholds", path, self.thresholds.of_leaf(path, node, self.threshold), 0.0, 1.0)
        made = LeafPlan(
            node=node,
            path=path,
            name=path_name(path),
            kind=type_name(node),
            index=len(self.leaves),
            metrics=metrics,
            slots=tuple(range(self.n_slots, self.n_slots + len(metrics))),
            span=slice(self.n_slots, self.n_slots + len(metrics)),
            weight=_number("weights", path, self.weights.of_leaf(path, node, 1.0), 0.0, float("inf")),
            threshold=threshold,
            least=(threshold - 1e-12) * len(metrics),
            clean=clean,
            quick=quick,
            is_exact=self.by_name[path],
            is_checked=is_checked,
            types=types,
            choices=frozenset(node.choices),
            is_looked_at=is_checked or float in types,
            is_same_best=is_same_best,
        )
        self.leaves.append(made)
        self.n_slots += len(metrics)
        return made

    def _order(self, path: Path, item: SchemaNode) -> str:
        order = self.orders.by_path.get(path, self.order)
        _check_order(order)
        if order.startswith("key:") and not isinstance(item, Branch):
            return "unordered"  # only dictionaries have keys
        return str(order)


def _quick(metric: LeafMetric, clean: frozenset[type], is_treeval: bool) -> str:
    """How a metric of ours scores pairs of clean values, see :attr:`LeafPlan.quick`."""
    if is_treeval:
        return "treeval" if metric.signature == "exact_match" else "checked" if metric.prepare else "direct"
    if metric.signature == "exact_match" and _is_one_kind(clean):
        return "equal"
    return "direct" if metric.prepare is None and clean and clean <= metric.types else "checked"


def _is_one_kind(types: frozenset[type]) -> bool:
    """Whether ``==`` is strict among values of these types."""
    return len(types) == 1 or types == {int, float}


def _is_same_best(metric: LeafMetric, quick: str, types: frozenset[type]) -> bool:
    return quick in ("equal", "treeval") or (quick == "direct" and types <= metric.types)


def _getters(keys: Sequence[Hashable]) -> tuple[tuple[Callable[[Any], Any], ...], Callable[[Any], tuple[Any, ...]]]:
    """Functions that take the value of each key, and the tuple of all values, from a dictionary."""
    getters = tuple(map(itemgetter, keys))
    if len(keys) > 1:
        return getters, itemgetter(*keys)
    return getters, lambda tree: tuple(tree[key] for key in keys)


def _steps(children: Mapping[Hashable, NodePlan]) -> tuple[tuple[Hashable, NodePlan, frozenset[type], bool], ...]:
    return tuple(
        (key, child, child.types, child.is_same_best and not child.is_looked_at)
        if isinstance(child, LeafPlan)
        else (key, child, frozenset({dict}), False)
        for key, child in children.items()
    )


def _check_lists(maker: _Maker) -> None:
    """Whether orders are those of lists, and keys those of their items."""
    orders = maker.orders
    if orders.by_type:
        raise InputError("list_order", None, f"the type {next(iter(orders.by_type))!r}", "paths of lists")
    orders.refuse_others({one.path for one in maker.lists}, "orders of lists")
    for one in maker.lists:
        key = one.order.removeprefix("key:")
        names = [str(name) for name in one.item.children] if isinstance(one.item, BranchPlan) else [key]
        if one.path in orders.by_path and key != one.order and key not in names:
            expected = f"one of its keys: {', '.join(names)}"
            raise InputError("list_order", None, f"{one.order!r} for {one.name}", expected)


def _check_order(order: Any) -> None:
    if not isinstance(order, str) or (order not in ORDERS[:2] and not order.startswith("key:")) or order == "key:":
        raise InputError("list_order", None, repr(order), f"one of {', '.join(ORDERS)}, or a dictionary: path -> order")


def _number(what: str, path: Path, value: Any, low: float, high: float) -> float:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not low <= value <= high
        or value == float("inf")
    ):
        raise InputError(
            what, None, f"{value!r} for {path_name(path)}", "a number from 0" + ("" if high > 1 else " to 1")
        )
    return float(value)


_CLEAN: Mapping[Hashable, frozenset[type]] = {
    "string": frozenset({str}),
    "date": frozenset({str}),
    "datetime": frozenset({str}),
    "integer": frozenset({int}),
    "number": frozenset({int, float}),
    "boolean": frozenset({bool}),
    "object": frozenset(),
    "null": frozenset(),
}


def _clean_types(leaf: Leaf) -> frozenset[type]:
    """Types whose values all fit the leaf; what isn't among them is looked at one by one."""
    if leaf.choices:
        kinds = {type(one) for one in leaf.choices}
        return frozenset(kinds) if len(kinds) == 1 and kinds <= PLAIN else frozenset()
    label = base_type(leaf.type)
    if isinstance(label, type) or (isinstance(label, str) and "|" in label):
        return frozenset()
    return _CLEAN.get(label, PLAIN)


def _by_name(leaves: Sequence[LeafPlan]) -> dict[str, LeafMetric]:
    """The metrics by name; those that share one must have the same range and direction, since they are averaged."""
    found: dict[str, LeafMetric] = {}
    for leaf in leaves:
        for metric in leaf.metrics:
            known = found.setdefault(metric.name, metric)
            if (known.score_range, known.higher_is_better) != (metric.score_range, metric.higher_is_better):
                raise InputError(
                    "leaf_metrics",
                    None,
                    f"two metrics {metric.name!r} with different ranges or directions",
                    "a name of its own for each: name=…",
                )
    return found


def _digest(maker: _Maker) -> str:
    """Eight hexadecimal digits that change with whatever decides what is scored how."""
    leaves = [
        (
            (leaf.path, leaf.kind, sorted(map(repr, leaf.node.choices)), leaf.weight, leaf.threshold),
            [(metric.signature, metric.score_range, metric.higher_is_better) for metric in leaf.metrics],
        )
        for leaf in maker.leaves
    ]
    lists = [(one.path, one.order) for one in maker.lists]
    return hashlib.sha256(repr((leaves, lists)).encode("utf-8", "surrogatepass")).hexdigest()[:8]
