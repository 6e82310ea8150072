"""What JSON Schema says of a place: which scalars a value may be, and what a dictionary or a list has in it."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.types import Leaf, distinct

ANY, NULL = Leaf("any"), Leaf("null")
FORMATS = {"date": "date", "date-time": "datetime"}
_OTHER_NAMES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
    "decimal": "number", "bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "map": "object",
    "none": "null", "date": "date", "datetime": "datetime", "date-time": "datetime",
}  # fmt: skip
"""Names of types that JSON Schema doesn't have, but that schemas of tools do."""

_SCALARS = ("string", "integer", "number", "boolean", "null")


@dataclass(frozen=True, slots=True)
class Object:
    """What is said of dictionaries: ``rest`` is the schema of other keys, False if there are none, None if unsaid."""

    is_typed: bool = False
    properties: Mapping[Hashable, Any] | None = None
    required: frozenset[Hashable] = frozenset()
    rest: Any = None

    @property
    def is_told(self) -> bool:
        """Whether anything is said of what is in it."""
        return self.is_typed or bool(self.properties) or not (self.rest is None or isinstance(self.rest, bool))


@dataclass(frozen=True, slots=True)
class Array:
    """What is said of lists; ``items`` is a schema, None if unsaid."""

    is_typed: bool = False
    items: Any = None
    is_ordered: bool = False

    @property
    def is_told(self) -> bool:
        """Whether anything is said of what is in it."""
        return self.is_typed or self.items is not None


@dataclass(frozen=True, slots=True)
class Shape:
    """What values of a place may be: scalars of these leaves, dictionaries and lists unless None."""

    leaves: tuple[Leaf, ...] = (ANY,)
    objects: Object | None = Object()
    arrays: Array | None = Array()
    is_at_times: bool = False


NOTHING = Shape((), None, None)


def schema_error(got: str, place: str, expected: str) -> InputError:
    """What is wrong in a schema, and where."""
    return InputError("schema", None, f"{got} at {place}", expected)


def of_type(kind: Any, schema: Mapping[Any, Any], place: str) -> Shape:
    """What a type says.

    Example:
        >>> of_type("INTEGER", {}, "$").leaves
        (Leaf(type='integer', choices=()),)
    """
    name = kind.lower() if isinstance(kind, str) else kind
    name = _OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    if name == "any":
        return Shape()
    if name == "object":
        return Shape((), Object(True), None)
    if name == "array":
        return Shape((), None, Array(True))
    if name == "string":
        name = FORMATS.get(str(schema.get("format")), "string")
    elif name not in (*_SCALARS, "date", "datetime"):
        raise schema_error(f"type {kind!r}", place, f"one of {', '.join((*_SCALARS, 'object', 'array'))}")
    return Shape((Leaf(name),), None, None)


def of_values(values: Any, place: str) -> Shape:
    """What ``enum`` says.

    Example:
        >>> of_values(["a", None], "$").leaves
        (Leaf(type='choice', choices=('a',)), Leaf(type='null', choices=()))
    """
    if not isinstance(values, list) or not values:
        raise schema_error(f"enum {values!r}", place, "a list of values")
    scalars = [value for value in values if isinstance(value, str | bool | int | float)]
    objects = Object(True) if any(isinstance(value, Mapping) for value in values) else None
    arrays = Array(True) if any(isinstance(value, list) for value in values) else None
    leaves = [*([Leaf("choice", distinct(scalars))] if scalars else []), *([NULL] if None in values else [])]
    return Shape(tuple(leaves), objects, arrays)


def common(one: Leaf, other: Leaf) -> Leaf | None:
    """The leaf whose values two leaves both take, if there are any."""
    if one == other or other == ANY:
        return one
    if one == ANY:
        return other
    if NULL in (one, other):
        return None
    if one.choices and other.choices:
        known = set(map(repr, other.choices))
        choices = tuple(value for value in one.choices if repr(value) in known)
    elif one.choices or other.choices:
        chosen, leaf = (one, other) if one.choices else (other, one)
        choices = tuple(value for value in chosen.choices if fits(value, leaf))
    else:
        names = {one.type, other.type}
        return next((Leaf(low) for low, high in _WITHIN if names == {low, high}), None)
    return Leaf("choice", choices) if choices else None


_WITHIN = (("integer", "number"), ("date", "string"), ("datetime", "string"))
