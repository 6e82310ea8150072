"""Settings by field: what a caller says of paths and types (metrics, weights, thresholds) -> what each node has.

A path is a key of the schema's root, a name such as ``seller.name``, or a tuple of keys. Lists add nothing to it: the
price of each line is ``lines.price``.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.trees.compliance import base_type
from tls_tasks.trees.leaf_metrics import DEFAULT_METRICS
from tls_tasks.trees.types import Branch, Leaf, ListOf, SchemaNode
from tls_tasks.trees.values import Path, path_name

_TYPE = "type:"


def item_of(node: SchemaNode) -> SchemaNode:
    """What is in a list, in a list of lists, and so on; the node itself if it is none."""
    while isinstance(node, ListOf):
        node = node.item
    return node


def nodes_of(node: SchemaNode, path: Path = ()) -> Iterator[tuple[Path, SchemaNode]]:
    """Every node below a node and its path; items of lists have the path of their list.

    Example:
        >>> [path for path, _ in nodes_of(Branch({"a": Leaf("string"), "b": ListOf(Branch({"c": Leaf("date")}))}))]
        [('a',), ('b',), ('b', 'c')]
    """
    inner = item_of(node)
    if isinstance(inner, Branch):
        for key, child in inner.children.items():
            yield (*path, key), child
            yield from nodes_of(child, (*path, key))


def leaves_of(node: SchemaNode) -> list[tuple[Path, Leaf]]:
    """Every leaf and its path, in the order of the schema; of a list of leaves its item, with the list's path.

    Example:
        >>> leaves_of(Branch({"a": Leaf("string"), "b": ListOf(Leaf("date"))}))
        [(('a',), Leaf(type='string', choices=())), (('b',), Leaf(type='date', choices=()))]
    """
    inner = item_of(node)
    if isinstance(inner, Leaf):
        return [((), inner)]
    found = ((path, item_of(child)) for path, child in nodes_of(node))
    return [(path, leaf) for path, leaf in found if isinstance(leaf, Leaf)]


def type_name(leaf: Leaf) -> str:
    """What a leaf's type is called in settings and results.

    Example:
        >>> type_name(Leaf("string")), type_name(Leaf(int)), type_name(Leaf("x", ("a", "b")))
        ('string', 'integer', 'choice')
    """
    label = "choice" if leaf.choices else base_type(leaf.type)
    return label.__name__ if isinstance(label, type) else str(label)


class FieldSettings:
    """What was set by type and by path.

    Args:
        what: The option's name, for errors.
        given: The settings: path or type -> value; None: nothing. If its keys are those of the schema's root, it is a
            tree in the shape of the schema, and no key is a type.
        root: The schema.

    Raises:
        InputError: Neither a path nor a type of this schema, or one that is both.

    The root of a schema that is no dictionary is called ``$``.

    Example:
        >>> root = Branch({"day": Leaf("date"), "seller": Branch({"name": Leaf("string")})})
        >>> weights = FieldSettings("weights", {"seller.name": 2, "date": 3}, root)
        >>> weights.by_path, weights.by_type
        ({('seller', 'name'): 2}, {'date': 3})
        >>> FieldSettings("weights", {"seler": 2}, root)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: weights: got 'seler', expected a path (day, seller, seller.name) or a type (date, string)
    """  # noqa: E501 - the message is one line

    def __init__(self, what: str, given: Any, root: SchemaNode) -> None:
        self.what, self.root = what, root
        self.by_path: dict[Path, Any] = {}
        self.by_type: dict[str, Any] = {}
        self._paths = dict(nodes_of(root))
        self._types = {type_name(leaf): leaf for _, leaf in leaves_of(root)}
        if given is not None:
            if not isinstance(given, Mapping):
                raise InputError(what, None, repr(given), "a dictionary: path or type -> value")
            names = {path_name(path): path for path in self._paths}
            inner = item_of(root)
            if not isinstance(root, Branch):
                self._paths[()] = root
                names["$"] = ()
            is_tree = isinstance(inner, Branch) and given.keys() == inner.children.keys()
            for key, value in given.items():
                if is_tree:
                    self._set((key,), value)
                else:
                    self._read(key, value, names)

    def _read(self, key: Hashable, value: Any, names: Mapping[str, Path]) -> None:
        if isinstance(key, tuple) and key and key in self._paths:  # () is treeval's word for choices
            return self._set(key, value)
        if isinstance(key, str) and key.startswith(_TYPE):
            self.by_type[str(base_type(key.removeprefix(_TYPE)))] = value
            return None
        path = (key,) if (key,) in self._paths else names.get(key) if isinstance(key, str) else None
        label = self._type(key)
        if path is not None and label is not None and not self._is_one(path, label):
            raise InputError(
                self.what,
                None,
                f"{key!r}, both a key and a type",
                f"{path!r} for the key, '{_TYPE}{label}' for the type",
            )
        if path is not None:
            return self._set(path, value)
        if label is None:
            raise self._unknown(key)
        self.by_type[label] = value
        return None

    def _set(self, path: Path, value: Any) -> None:
        """A value for a node; a dictionary for a branch goes on below."""
        inner = item_of(self._paths[path])
        if isinstance(inner, Branch) and isinstance(value, Mapping):
            for key, below in value.items():
                if (*path, key) not in self._paths:
                    raise self._unknown(path_name((*path, key)))
                self._set((*path, key), below)
        else:
            self.by_path[path] = value

    def _type(self, key: Hashable) -> str | None:
        """The type that a key names: one of the schema or a well-known one; treeval calls choices ``()``."""
        label = "choice" if key == () else key.__name__ if isinstance(key, type) else base_type(key)
        if isinstance(key, type) and base_type(key) != key:
            label = base_type(key)
        return label if isinstance(label, str) and (label in self._types or label in DEFAULT_METRICS) else None

    def _is_one(self, path: Path, label: str) -> bool:
        """Whether the leaf at the path is the only one of the type: then both readings are one."""
        return [path] == [one for one, leaf in leaves_of(self.root) if type_name(leaf) == label]

    def _unknown(self, key: object) -> InputError:
        paths = ", ".join(path_name(path) for path in self._paths)
        return InputError(self.what, None, repr(key), f"a path ({paths}) or a type ({', '.join(sorted(self._types))})")

    def refuse_others(self, wanted: Collection[Path], expected: str) -> None:
        """Refuse settings of nodes that can't have them.

        Args:
            wanted: The paths of those that can.
            expected: What they are, for the message.

        Raises:
            InputError: There is one.
        """
        for path in self.by_path:
            if path not in wanted:
                raise InputError(self.what, None, f"a value for {path_name(path)}", expected)

    def of_leaf(self, path: Path, leaf: Leaf, default: Any = None) -> Any:
        """What a leaf has: by its path, else by its type, else the default."""
        return self.by_path.get(path, self.by_type.get(type_name(leaf), default))


def select_metrics(root: SchemaNode, leaf_metrics: Any, exclusive: bool = False) -> dict[Path, list[Any] | None]:
    """Which metrics each leaf has: those of its path, then those of its type.

    Args:
        root: The schema.
        leaf_metrics: Path or type -> a metric or a list of them, or a tree in the shape of the schema.
        exclusive: Whether a leaf with metrics of its path doesn't have those of its type.

    Returns:
        Path -> the metrics as they were given, each once; None where nothing was said.

    Example:
        >>> root = Branch({"a": Leaf("string"), "b": Leaf("string"), "c": Leaf("date")})
        >>> select_metrics(root, {"string": ["token_f1"], "a": "rouge_l"})
        {('a',): ['rouge_l', 'token_f1'], ('b',): ['token_f1'], ('c',): None}
    """
    settings = FieldSettings("leaf_metrics", leaf_metrics, root)
    leaves = leaves_of(root)
    settings.refuse_others(dict(leaves), "metrics for its leaves")
    selected: dict[Path, list[Any] | None] = {}
    for path, leaf in leaves:
        own = _listed(settings.by_path.get(path))
        typed = [] if own and exclusive else _listed(settings.by_type.get(type_name(leaf)))
        kept: list[Any] = []
        for metric in own + typed:
            if not any(metric is one or metric == one for one in kept):
                kept.append(metric)
        selected[path] = kept or None
    return selected


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, set | frozenset):
        return sorted(value, key=lambda one: one if isinstance(one, str) else getattr(one, "__name__", repr(one)))
    return list(value) if isinstance(value, list | tuple) else [value]
