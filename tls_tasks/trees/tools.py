"""What treeval offers beside its evaluation: each leaf's metrics from those of types, and averages of a tree of scores.

Its other two functions are :func:`~tls_tasks.trees.nodes.count_nodes` and
:func:`~tls_tasks.trees.align.assign`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.trees.fields import item_of, select_metrics, type_name
from tls_tasks.trees.schema import read_schema
from tls_tasks.trees.types import Branch, Leaf, SchemaNode
from tls_tasks.trees.values import Path, path_name


def create_tree_metrics(
    schema: Any,
    leaves_metrics: Mapping[Any, Any] | None = None,
    types_metrics: Mapping[Any, Any] | None = None,
    exclusive: bool = False,
) -> dict[Any, Any]:
    """The metrics of each leaf, as a tree in the shape of the schema; lists of dictionaries as dictionaries.

    Args:
        schema: As :func:`~tls_tasks.trees.schema.read_schema` takes it; a dictionary.
        leaves_metrics: A tree in the shape of the schema, or of a part of it: metrics of single leaves.
        types_metrics: Type -> metrics; ``choice`` or ``()`` for choices.
        exclusive: Whether a leaf with metrics of its own doesn't have those of its type.

    Raises:
        InputError: A leaf without metrics, or a key or type that the schema doesn't have.

    Example:
        >>> create_tree_metrics({"a": "string", "b": "date"}, {"a": ["rouge_l"]}, {"string": "token_f1", "date": "boolean"})
        {'a': ['rouge_l', 'token_f1'], 'b': ['boolean']}
    """  # noqa: E501 - the call is one line
    root = read_schema(schema)
    own = select_metrics(root, {(key,): value for key, value in (leaves_metrics or {}).items()})
    typed = select_metrics(
        root, {key if key == () else f"type:{key}": value for key, value in (types_metrics or {}).items()}
    )
    chosen: dict[Path, list[Any]] = {}
    for path, metrics in own.items():
        kept = list(metrics or ())
        if not (kept and exclusive):
            kept += [one for one in typed[path] or () if one not in kept]
        if not kept:
            raise InputError("leaves_metrics", None, f"no metric for {path_name(path)}", "one by its path or its type")
        chosen[path] = kept
    tree: dict[Any, Any] = _tree(root, (), chosen)
    return tree


def _tree(node: SchemaNode, path: Path, leaves: Mapping[Path, Any]) -> Any:
    inner = item_of(node)
    if isinstance(inner, Branch):
        return {key: _tree(child, (*path, key), leaves) for key, child in inner.children.items()}
    return leaves[path]


def average_tree(leaves: Mapping[Any, Any], schema: Any, hierarchical_averaging: bool = False) -> dict[str, Any]:
    """The averages of a tree of scores, such as the ``leaves`` of a result: per metric, and per type of leaf.

    Args:
        leaves: In the shape of the schema, lists left out; each leaf ``{metric: score}`` or None. A branch may be None.
        schema: As :func:`~tls_tasks.trees.schema.read_schema` takes it.
        hierarchical_averaging: Whether a dictionary's mean counts as one value in that of the dictionary around it.

    Returns:
        ``per_metric``: metric -> mean over leaves; ``per_leaf_type``: type -> metric -> mean over leaves of the type,
        None where no leaf of the type has a score.

    Example:
        >>> scores = {"a": {"f": 1.0}, "b": {"c": {"f": 0.0}, "d": {"f": 0.0}}}
        >>> average_tree(scores, {"a": "x", "b": {"c": "x", "d": "x"}})
        {'per_metric': {'f': 0.3333333333333333}, 'per_leaf_type': {'x': {'f': 0.3333333333333333}}}
    """
    root = read_schema(schema)
    votes = _votes(root, leaves, hierarchical_averaging)
    per_metric = {name: sum(values) / len(values) for (label, name), values in votes.items() if not label}
    per_type: dict[str, dict[str, float] | None] = dict.fromkeys(_types(root))
    for (label, name), values in votes.items():
        if label:
            per_type[label] = {**(per_type[label] or {}), name: sum(values) / len(values)}
    return {"per_metric": per_metric, "per_leaf_type": per_type}


def _types(node: SchemaNode) -> list[str]:
    inner = item_of(node)
    if isinstance(inner, Leaf):
        return [type_name(inner)]
    return [label for child in getattr(inner, "children", {}).values() for label in _types(child)]


def _votes(node: SchemaNode, leaves: Any, hierarchical: bool) -> dict[tuple[str, str], list[float]]:
    """All scores, by type (``""``: of all types) and metric."""
    inner, votes = item_of(node), dict[tuple[str, str], list[float]]()
    if leaves is None:
        return votes
    if isinstance(inner, Leaf):
        return {
            (label, name): [score]
            for label in ("", type_name(inner))
            for name, score in leaves.items()
            if score is not None
        }
    for key, child in getattr(inner, "children", {}).items():
        for name, values in _votes(child, leaves.get(key), hierarchical).items():
            votes.setdefault(name, []).extend([sum(values) / len(values)] if hierarchical else values)
    return votes
