"""What JSON Schema says of one location: which scalars a value may be, and what dictionaries and lists contain."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.types import Leaf, distinct

ANY, NULL = Leaf("any"), Leaf("null")
_FORMATS = {"date": "date", "date-time": "datetime"}
_OTHER_NAMES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
    "decimal": "number", "bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "map": "object",
    "none": "null", "date": "date", "datetime": "datetime", "date-time": "datetime",
}  # fmt: skip
"""Names of types that JSON Schema doesn't have, but that schemas of tools do."""

_SCALARS = ("string", "integer", "number", "boolean", "null")


@dataclass(frozen=True, slots=True)
class Container:
    """What a schema says of dictionaries, or of lists.

    Attributes:
        is_typed: Whether ``type`` names them.
        properties: Key -> schema.
        required: The keys that must be there.
        rest: The schema of all other keys, or of the items of a list; False: there are none; None: unspecified.
        is_ordered: Whether items are compared by position.
    """

    is_typed: bool = False
    properties: Mapping[Hashable, Any] = field(default_factory=dict)
    required: frozenset[Hashable] = frozenset()
    rest: Any = None
    is_ordered: bool = False

    @property
    def is_described(self) -> bool:
        """Whether the schema says anything of the content."""
        return self.is_typed or bool(self.properties) or not (self.rest is None or isinstance(self.rest, bool))


@dataclass(frozen=True, slots=True)
class Shape:
    """What values may be: scalars of these leaves; dictionaries and lists unless None.

    A partial shape holds for some of the values only (``if``, ``dependencies``).
    """

    leaves: tuple[Leaf, ...] = (ANY,)
    objects: Container | None = Container()
    arrays: Container | None = Container()
    is_partial: bool = False


NOTHING = Shape((), None, None)


def schema_error(got: str, path: str, expected: str) -> InputError:
    """What is wrong in a schema, and where."""
    return InputError("schema", None, f"{got} at {path}", expected)


def of_type(kind: Any, schema: Mapping[Any, Any], path: str) -> Shape:
    """The shape that a type allows; None: no type is given, but there may be a format.

    Example:
        >>> of_type("INTEGER", {}, "$").leaves
        (Leaf(type='integer', choices=()),)
    """
    name: Any = kind.lower() if isinstance(kind, str) else _FORMATS.get(str(schema.get("format")), "any")
    name = _OTHER_NAMES.get(name, name) if isinstance(kind, str | None) else None
    if name == "any":
        return Shape()
    if name == "object":
        return Shape((), Container(is_typed=True), None)
    if name == "array":
        return Shape((), None, Container(is_typed=True))
    if name == "string":
        name = _FORMATS.get(str(schema.get("format")), "string")
    elif name not in (*_SCALARS, "date", "datetime"):
        raise schema_error(f"type {kind!r}", path, f"one of {', '.join((*_SCALARS, 'object', 'array'))}")
    return Shape((Leaf(name),), None, None)


def of_values(values: Any, path: str) -> Shape:
    """The shape that ``enum`` allows.

    Example:
        >>> of_values(["a", None], "$").leaves
        (Leaf(type='choice', choices=('a',)), Leaf(type='null', choices=()))
    """
    if not isinstance(values, list) or not values:
        raise schema_error(f"enum {values!r}", path, "a list of values")
    scalars = [value for value in values if isinstance(value, str | bool | int | float)]
    objects = Container(is_typed=True) if any(isinstance(value, Mapping) for value in values) else None
    arrays = Container(is_typed=True) if any(isinstance(value, list) for value in values) else None
    leaves = [*([Leaf("choice", distinct(scalars))] if scalars else []), *([NULL] if None in values else [])]
    return Shape(tuple(leaves), objects, arrays)


_NARROWER = (("integer", "number"), ("date", "string"), ("datetime", "string"))


def common(left: Leaf, right: Leaf) -> Leaf | None:
    """The leaf with the values that two leaves share; None if they share none."""
    if left == right or right == ANY:
        return left
    if left == ANY:
        return right
    if right.choices and not left.choices:
        left, right = right, left
    if not left.choices:
        return next((Leaf(low) for low, high in _NARROWER if {low, high} == {left.type, right.type}), None)
    known = set(map(repr, right.choices))
    choices = [value for value in left.choices if (repr(value) in known if known else fits(value, right))]
    return Leaf("choice", tuple(choices)) if choices else None
