"""The schema of a tree: what each node is. Trees themselves are plain dicts, lists and scalars."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Union

MAX_DEPTH = 64
"""Dictionaries and lists nested deeper than this are not read: no schema asks for them, and walking them recurses."""

ANY_OF = "$any_of"
"""The key by which a reference in JSON gives several valid answers: ``{"$any_of": ["USA", "United States"]}``."""

Path = tuple[Hashable, ...]
"""Where a node is: keys, and positions in lists."""


class Position(int):
    """A position in a list, as opposed to a key that is a number."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A leaf.

    Attributes:
        type: ``string``, ``integer``, ``number``, ``boolean``, ``date`` … or any name of the user's; decides the
            metrics by default. ``choice`` where ``choices`` are given.
        choices: The values that it may have; empty: any.
    """

    type: Hashable
    choices: tuple[Hashable, ...] = ()


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list of leaves, of branches or of lists.

    Attributes:
        item: What each element is.
        is_ordered: Whether items are compared by their position; if not, each finds the counterpart that fits it best.
        is_keyed: Whether these are values of a dictionary, which find each other by their keys: see :class:`Branch`.
    """

    item: SchemaNode
    is_ordered: bool = field(default=False, repr=False)
    is_keyed: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """A dictionary.

    Attributes:
        children: Key -> node, in order.
        required: Keys that schema compliance asks for.
        rest: What all other keys have, as in ``dict[str, float]``; None: there are no other keys.
    """

    children: Mapping[Hashable, SchemaNode]
    required: frozenset[Hashable] = field(default_factory=frozenset)
    rest: ListOf | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class UnionNode:
    """A value of one of several kinds: a dictionary, a list or a scalar, each at most once, in this order."""

    parts: tuple[SchemaNode, ...]


@dataclass(slots=True, eq=False)
class RecursiveNode:
    """A node that stands elsewhere in the schema, around this one as a rule: so schemas that contain themselves end."""

    node: Any = field(default=None, repr=False)


SchemaNode = Union[Leaf, ListOf, Branch, UnionNode, RecursiveNode]  # noqa: UP007 - a name that refers to later ones, on Python 3.10
"""A node of a schema; the root is a :class:`Branch`, or any node if answers aren't dictionaries."""


class _EachKey:
    """The step of a path that stands for every key of a dictionary that the schema doesn't name."""

    def __repr__(self) -> str:
        return "*"

    def __reduce__(self) -> str:
        return "EACH_KEY"


EACH_KEY = _EachKey()
"""In ``dict[str, float]`` the numbers have the path ``prices.*``."""


@dataclass(frozen=True, slots=True, init=False)
class AnyOf:
    """Several valid answers in a reference, for a leaf, a dictionary or a list; the one that fits best counts.

    Attributes:
        values: The answers, at least one. None among them: it may be absent.

    Raises:
        ValueError: No answer at all.

    Example:
        >>> AnyOf(["USA", "United States", None]).values
        ('USA', 'United States', None)
        >>> AnyOf(["USA", None]).present, AnyOf(["USA", None]).may_be_null
        (('USA',), True)
    """

    values: tuple[Any, ...]

    def __init__(self, values: Sequence[Any]) -> None:
        """Store the answers, which must be a list or tuple of at least one."""
        if isinstance(values, str | bytes | Mapping) or not len(values):
            raise ValueError(f"AnyOf takes a list of one answer or more, got {values!r}")
        object.__setattr__(self, "values", tuple(values))

    @property
    def present(self) -> tuple[Any, ...]:
        """The answers that are not null."""
        return tuple(value for value in self.values if value is not None)

    @property
    def may_be_null(self) -> bool:
        """Whether null is a valid answer."""
        return any(value is None for value in self.values)


def path_name(path: Sequence[Hashable]) -> str:
    """Return a path as people write it, ``lines[2].price``; the root is ``$``.

    Example:
        >>> path_name(("lines", 2, "unit price")), path_name(()), path_name((0, "a")), path_name(("prices", EACH_KEY))
        ("lines[2]['unit price']", '$', '[0].a', 'prices.*')
    """
    name = ""
    for step in path:
        if step is EACH_KEY or (isinstance(step, str) and step.isidentifier()):
            name += f".{step}" if name else str(step)
        else:
            name += f"[{step!r}]"
    return name or "$"


def dereference(node: SchemaNode) -> SchemaNode:
    """Return the node that a :class:`RecursiveNode` refers to; any other node is returned as it is."""
    while isinstance(node, RecursiveNode):
        node = node.node
    return node


def node_for(node: SchemaNode, value: Any) -> SchemaNode:
    """Return the schema node for a value: references are followed, and of a union the part of its kind is taken.

    Null has the leaf, if there is one, as has what fits none of the others.

    Example:
        >>> node_for(UnionNode((ListOf(Leaf("any")), Leaf("string"))), ["a"])
        ListOf(item=Leaf(type='any', choices=()))
    """
    node = dereference(node)
    if not isinstance(node, UnionNode):
        return node
    kind = Branch if isinstance(value, Mapping) else ListOf if isinstance(value, list | tuple) else Leaf
    return next((part for part in node.parts if isinstance(part, kind)), None) or (
        node.parts[-1] if isinstance(node.parts[-1], Leaf) else node.parts[0]
    )


def all_nodes(node: SchemaNode, path: Path = ()) -> Iterator[tuple[Path, SchemaNode]]:
    """Yield (path, node) for each node in the order of the schema; a node that is referred to comes only once."""
    yield path, node
    if isinstance(node, Branch):
        for key, child in node.children.items():
            yield from all_nodes(child, (*path, key))
        if node.rest is not None:
            yield from all_nodes(node.rest.item, (*path, EACH_KEY))
    for part in node.parts if isinstance(node, UnionNode) else [node.item] if isinstance(node, ListOf) else ():
        yield from all_nodes(part, path)


def nodes_by_path(node: SchemaNode) -> dict[Path, SchemaNode]:
    """Return path -> node; items of a list have the list's path, and the root is left out if it is a dictionary.

    Example:
        >>> list(nodes_by_path(Branch({"a": Leaf("string"), "b": ListOf(Branch({"c": Leaf("date")}))})))
        [('a',), ('b',), ('b', 'c')]
    """
    nodes: dict[Path, SchemaNode] = {}
    for path, inner in all_nodes(node):
        if path or not isinstance(node, Branch):
            nodes.setdefault(path, inner)
    return nodes


def leaves_by_path(node: SchemaNode) -> dict[Path, Leaf]:
    """Return path -> leaf in the order of the schema; the items of a list have the list's path.

    Where two leaves have one path, as in text or a list of numbers, there is one that takes the values of both.

    Example:
        >>> leaves_by_path(Branch({"a": Leaf("string"), "b": ListOf(Leaf("date"))}))
        {('a',): Leaf(type='string', choices=()), ('b',): Leaf(type='date', choices=())}
        >>> leaves_by_path(Branch({"a": UnionNode((ListOf(Leaf("number")), Leaf("string")))}))
        {('a',): Leaf(type='number|string', choices=())}
    """
    leaves: dict[Path, list[Leaf]] = {}
    for path, inner in all_nodes(node):
        if isinstance(inner, Leaf):
            leaves.setdefault(path, []).append(inner)
    return {path: merged(inner) for path, inner in leaves.items()}


def merged(leaves: Sequence[Leaf]) -> Leaf:
    """Return one leaf that takes every value that any of these leaves takes.

    Example:
        >>> merged([Leaf("integer"), Leaf("number"), Leaf("choice", ("a", "b"))])
        Leaf(type='number|string', choices=())
    """
    distinct = [leaf for leaf in dict.fromkeys(leaves) if leaf != Leaf("null")] or leaves[:1]
    if len(distinct) == 1:
        return distinct[0]
    if all(leaf.choices for leaf in distinct):
        return Leaf("choice", unique([value for leaf in distinct for value in leaf.choices]))
    names: dict[str, None] = {}
    for leaf in distinct:
        kinds = [_CHOICE_TYPES.get(type(value), "string") for value in leaf.choices]
        names |= dict.fromkeys(kinds or str(leaf.type).split("|"))
    if "number" in names:
        names.pop("integer", None)
    return Leaf("any" if "any" in names else "|".join(names))


_CHOICE_TYPES: Mapping[type, str] = {bool: "boolean", int: "integer", float: "number"}


def unique(values: Sequence[Hashable]) -> tuple[Hashable, ...]:
    """Return the choices without repetitions, in order; ``True`` is not 1."""
    return tuple(value for _, value in dict.fromkeys((isinstance(value, bool), value) for value in values))
