"""The schema of a tree: what each node is. Values are plain dicts, lists and scalars."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Union


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
    """

    item: SchemaNode


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
"""A node of a schema; the root is a :class:`Branch`, or any node for answers that are no dictionary."""
