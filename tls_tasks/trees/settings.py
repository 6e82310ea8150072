"""Read a caller's settings for paths and types: the metrics of leaves and the order of lists."""

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

from tls_tasks.core.errors import InputError, check_choice
from tls_tasks.trees.compliance import base_type
from tls_tasks.trees.leaf_metrics import DEFAULT_METRICS
from tls_tasks.trees.types import Leaf, ListOf, Path, SchemaNode, all_nodes, leaves_by_path, nodes_by_path, path_name

_ORDERS = ("unordered", "ordered")
"""How the items of two lists find each other: by their scores, or by position."""


def select_metrics(schema: SchemaNode, leaf_metrics: Any) -> dict[Path, list[Any]]:
    """Return path -> metrics of each leaf: those of its path, then those of its type; if none, its type's defaults.

    Example:
        >>> from tls_tasks.trees.types import Branch
        >>> root = Branch({"a": Leaf("string"), "b": Leaf("string"), "c": Leaf("date")})
        >>> select_metrics(root, {"string": ["token_f1"], "a": "rouge_l"})
        {('a',): ['rouge_l', 'token_f1'], ('b',): ['token_f1'], ('c',): ['date_closeness']}
    """
    kinds = {path: type_label(leaf) for path, leaf in leaves_by_path(schema).items()}
    by_path, by_type = _split_settings("leaf_metrics", leaf_metrics, schema, kinds, {*kinds.values(), *DEFAULT_METRICS})
    selected: dict[Path, list[Any]] = {}
    for path, kind in kinds.items():
        every = _to_list(by_path.get(path)) + _to_list(by_type.get(kind))
        chosen = [metric for index, metric in enumerate(every) if metric not in every[:index]]
        selected[path] = chosen or list(DEFAULT_METRICS.get(kind, ("exact_match",)))
    return selected


def custom_type_names(leaf_metrics: Any) -> list[Any]:
    """List the keys of ``leaf_metrics`` that may be names of types, without ``type:``."""
    keys = leaf_metrics if isinstance(leaf_metrics, Mapping) else ()
    return [key.removeprefix("type:") if isinstance(key, str) else key for key in keys]


def _to_list(value: Any) -> list[Any]:
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda metric: getattr(metric, "__name__", metric))
    return list(value) if isinstance(value, list | tuple) else [] if value is None else [value]


def list_orders(schema: SchemaNode, list_order: Any) -> dict[Path, str]:
    """Return path -> ``ordered`` or ``unordered`` for each list."""
    lists = {path: node for path, node in all_nodes(schema) if isinstance(node, ListOf)}
    orders = {} if list_order == "unordered" else list_order
    if isinstance(orders, str):
        check_choice("list_order", orders, _ORDERS)
        return dict.fromkeys(lists, orders)
    by_path, _ = _split_settings("list_order", orders, schema, lists, ())
    for order in by_path.values():
        check_choice("list_order", order, _ORDERS)
    return {path: "ordered" if node.is_ordered else "unordered" for path, node in lists.items()} | by_path


def _split_settings(
    option: str, settings: Any, schema: SchemaNode, paths: Collection[Path], types: Collection[str]
) -> tuple[dict[Path, Any], dict[str, Any]]:
    """Split a caller's settings into those by path and those by type.

    A path is a key of the schema's root, or a name such as ``seller.name``, see :func:`named_path`. The root of a
    schema that is no dictionary is called ``$``.

    Args:
        option: The option's name, for errors.
        settings: Path or type -> value; the value of a dictionary's path may be a dictionary of the same kind. None:
            nothing. What may be a path is one; ``type:date`` is always a type.
        schema: The schema.
        paths: Those that may have a value.
        types: Likewise.

    Returns:
        The values by path, and those by type.

    Raises:
        InputError: A key that is neither a path nor a type.

    Example:
        >>> from tls_tasks.trees.types import Branch
        >>> root = Branch({"day": Leaf("date"), "seller": Branch({"name": Leaf("string")})})
        >>> paths = leaves_by_path(root)
        >>> _split_settings("leaf_metrics", {"seller": {"name": "rouge_l"}, "date": "exact_match"}, root, paths, ["date"])
        ({('seller', 'name'): 'rouge_l'}, {'date': 'exact_match'})
        >>> _split_settings("leaf_metrics", {"seler.name": "rouge_l"}, root, paths, ["date"])
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: leaf_metrics: got 'seler.name', expected a path (day, seller.name) or a type (date)
    """  # noqa: E501 - the message is one line
    by_path: dict[Path, Any] = {}
    by_type: dict[str, Any] = {}
    if not isinstance(settings, Mapping | None):
        raise InputError(option, None, repr(settings), "a dictionary: path or type -> value")
    nodes = nodes_by_path(schema)
    wrong: list[Any] = []
    for key, value in (settings or {}).items():
        path = named_path(key, nodes)
        label = _type_name(key.removeprefix("type:") if isinstance(key, str) else key)
        if path is not None and key != ():
            by_path |= dict(_expand_setting(path, value, nodes))
        elif label in types:
            by_type[label] = value
        else:
            wrong.append(key)
    wrong += [path_name(path) for path in by_path if path not in paths]
    if wrong:
        kinds = f" or a type ({', '.join(sorted(types))})" if types else ""
        raise InputError(option, None, repr(wrong[0]), f"a path ({', '.join(map(path_name, paths))}){kinds}")
    return by_path, by_type


def named_path(name: Any, nodes: Collection[Path]) -> Path | None:
    """Find the path that a name means: a key of the root, or a path as results name it; None if there is none.

    Lists add nothing to a path: the price of each line is ``lines.price``.

    Example:
        >>> from tls_tasks.trees.types import EACH_KEY
        >>> nodes = [("lines",), ("lines", "unit price"), ("prices",), ("prices", EACH_KEY)]
        >>> [named_path(name, nodes) for name in ("lines['unit price']", "prices.*", "lines.price")]
        [('lines', 'unit price'), ('prices', *), None]
    """
    by_name: dict[Hashable, Path] = {path_name(path): path for path in nodes}
    return (name,) if (name,) in nodes else by_name.get(name)


def _expand_setting(path: Path, value: Any, nodes: Collection[Path]) -> Iterator[tuple[Path, Any]]:
    """Yield (path, value) of a setting; a dictionary for a node with keys is a setting of each key."""
    if isinstance(value, Mapping) and any(longer[:-1] == path != longer for longer in nodes):
        for key, inner in value.items():
            yield from _expand_setting((*path, key), inner, nodes)
    else:
        yield path, value


def type_label(leaf: Leaf) -> str:
    """Return the name of a leaf's type in settings and results."""
    return "choice" if leaf.choices else _type_name(leaf.type)


def _type_name(label: Hashable) -> str:
    """Return the name of a type; treeval calls choices ``()``.

    Example:
        >>> _type_name("string"), _type_name(int), _type_name(())
        ('string', 'integer', 'choice')
    """
    label = "choice" if label == () else base_type(label)
    return label.__name__ if isinstance(label, type) else str(label)
