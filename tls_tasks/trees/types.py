"""The schema of a tree: what each node is. Trees themselves are plain dicts, lists and scalars."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
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
    """

    item: SchemaNode
    is_ordered: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Branch:
    """A dictionary.

    Attributes:
        children: Key -> node, in order.
        required: Keys that schema compliance asks for.
    """

    children: Mapping[Hashable, SchemaNode]
    required: frozenset[Hashable] = field(default_factory=frozenset)


SchemaNode = Union[Leaf, ListOf, Branch]  # noqa: UP007 - a name that refers to later ones, on Python 3.10
"""A node of a schema; the root is a :class:`Branch`, or any node if answers aren't dictionaries."""


@dataclass(frozen=True, slots=True, init=False)
class AnyOf:
    """Several valid answers for one leaf of a reference; the one that the prediction matches best counts.

    Attributes:
        values: The answers, at least one. None among them: the leaf may be absent.

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
        """``values`` as a list."""
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
    """A path as people write it; the root is ``$``.

    Example:
        >>> path_name(("lines", 2, "unit price")), path_name(()), path_name((0, "a"))
        ("lines[2]['unit price']", '$', '[0].a')
    """
    name = ""
    for step in path:
        if isinstance(step, str) and step.isidentifier():
            name += f".{step}" if name else step
        else:
            name += f"[{step!r}]"
    return name or "$"


def item_of(node: SchemaNode) -> SchemaNode:
    """What is in a list, in a list of lists, and so on; the node itself if it isn't a list."""
    while isinstance(node, ListOf):
        node = node.item
    return node


def nodes_of(node: SchemaNode, path: Path = ()) -> dict[Path, SchemaNode]:
    """Every node by its path; items of lists have the path of their list, and the root is there if it is no dictionary.

    Example:
        >>> list(nodes_of(Branch({"a": Leaf("string"), "b": ListOf(Branch({"c": Leaf("date")}))})))
        [('a',), ('b',), ('b', 'c')]
    """
    nodes = {path: node} if path or not isinstance(node, Branch) else {}
    inner = item_of(node)
    for key, child in inner.children.items() if isinstance(inner, Branch) else ():
        nodes |= nodes_of(child, (*path, key))
    return nodes


def leaves_of(node: SchemaNode) -> dict[Path, Leaf]:
    """Every leaf by its path, in the order of the schema; the items of a list have the list's path.

    Example:
        >>> leaves_of(Branch({"a": Leaf("string"), "b": ListOf(Leaf("date"))}))
        {('a',): Leaf(type='string', choices=()), ('b',): Leaf(type='date', choices=())}
    """
    inner = {path: item_of(child) for path, child in nodes_of(node).items()}
    return {path: leaf for path, leaf in inner.items() if isinstance(leaf, Leaf)}
