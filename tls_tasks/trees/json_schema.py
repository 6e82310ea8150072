"""JSON Schema -> the nodes of a tree's schema; :func:`tls_tasks.trees.schema.read_schema` says what is read."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any
from urllib.parse import unquote

from tls_tasks.core.errors import InputError
from tls_tasks.trees.types import MAX_DEPTH, Branch, Leaf, ListOf, SchemaNode

_SCALARS = ("string", "integer", "number", "boolean", "null")
_FORMATS = {"date": "date", "date-time": "datetime"}
_NULL = Leaf("null")
_ANY = Leaf("any")


class JsonSchemaReader:
    """Reads one JSON Schema document.

    Args:
        document: The whole document; references are looked up in it.

    Example:
        >>> JsonSchemaReader({"type": "array", "items": {"type": ["integer", "null"]}}).read()
        ListOf(item=Leaf(type='integer', choices=()))
    """

    def __init__(self, document: Any) -> None:
        self.document = document

    def read(self) -> SchemaNode:
        """The root node.

        Raises:
            InputError: Something that can't be read; the message names the place in the tree.
        """
        return self._node(self.document, "$", ())

    def _node(self, schema: Any, place: str, references: tuple[str, ...]) -> SchemaNode:
        """The node of a part of the document; ``references``: those followed on the way from the root to it."""
        if schema is True:
            return _ANY
        if not isinstance(schema, Mapping):
            raise _error(repr(schema), place, "JSON Schema: a dictionary")
        if place.count(".") + place.count("[]") > MAX_DEPTH:
            raise _error(f"more than {MAX_DEPTH} levels", place, "fewer: does it contain itself?")
        if "$ref" in schema:
            return self._referred(schema["$ref"], place, references)
        for key in ("anyOf", "oneOf", "allOf"):
            if key in schema:
                nodes = [self._node(part, place, references) for part in _parts(schema, key, place)]
                return _all_of(nodes, place) if key == "allOf" else _one_of(nodes)
        if "enum" in schema or "const" in schema:
            return _enum(schema["enum"] if "enum" in schema else [schema["const"]], place)
        return self._typed(schema, schema.get("type"), place, references)

    def _referred(self, reference: Any, place: str, references: tuple[str, ...]) -> SchemaNode:
        if not isinstance(reference, str) or not f"{reference}/".startswith("#/"):
            raise _error(f"$ref {reference!r}", place, "a path into the same document, such as '#/$defs/Name'")
        if reference in references:
            raise _error(f"$ref {reference!r}, which contains itself", place, "a schema that ends")
        target = self.document
        for step in unquote(reference).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, list) and name.isascii() and name.isdigit() and int(name) < len(target):
                target = target[int(name)]
            elif isinstance(target, Mapping) and name in target:
                target = target[name]
            else:
                raise _error(f"$ref {reference!r}", place, "one that leads to a definition")
        return self._node(target, place, (*references, reference))

    def _typed(self, schema: Mapping[str, Any], kind: Any, place: str, references: tuple[str, ...]) -> SchemaNode:
        if isinstance(kind, list) and kind:
            return _one_of([self._typed(schema, name, place, references) for name in kind])
        if kind == "object" or (kind is None and "properties" in schema):
            return self._object(schema, place, references)
        if kind == "array" or (kind is None and ("items" in schema or "prefixItems" in schema)):
            return self._array(schema, place, references)
        if kind is None:
            return _ANY
        if kind not in _SCALARS:
            raise _error(f"type {kind!r}", place, f"one of {', '.join((*_SCALARS, 'object', 'array'))}")
        return Leaf(_FORMATS.get(str(schema.get("format")), "string") if kind == "string" else kind)

    def _object(self, schema: Mapping[str, Any], place: str, references: tuple[str, ...]) -> SchemaNode:
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise _error(f"properties {properties!r}", place, "a dictionary")
        if not properties:
            return Leaf("object")
        children = {key: self._node(child, f"{place}.{key}", references) for key, child in properties.items()}
        required = schema.get("required", [])
        if not isinstance(required, list | tuple) or not all(isinstance(key, str) for key in required):
            raise _error(f"required {required!r}", place, "a list of keys")
        return Branch(children, frozenset(key for key in required if key in children))

    def _array(self, schema: Mapping[str, Any], place: str, references: tuple[str, ...]) -> SchemaNode:
        items = schema.get("items", True)
        first = schema.get("prefixItems", items if isinstance(items, list) else [])
        kinds = [*first, *([] if isinstance(items, list) or (first and isinstance(items, bool)) else [items])]
        return ListOf(_one_of([self._node(kind, f"{place}[]", references) for kind in kinds]))


def _error(got: str, place: str, expected: str) -> InputError:
    return InputError("schema", None, f"{got} at {place}", expected)


def _parts(schema: Mapping[str, Any], key: str, place: str) -> list[Any]:
    """The schemas under a key. What stands beside the key is one of all of them, and a part of each alternative.

    An example is ``{"type": "string", "anyOf": [{"format": "date"}, …]}``.
    """
    parts = schema[key]
    if not isinstance(parts, list) or not parts:
        raise _error(f"{key} {parts!r}", place, "a list of schemas")
    base = {name: value for name, value in schema.items() if name != key}
    if key == "allOf":
        return [*parts, base]
    return [_merged(base, part) if isinstance(part, Mapping) else part for part in parts]


def _merged(base: Mapping[str, Any], option: Mapping[str, Any]) -> dict[str, Any]:
    both = {**base, **option}
    if isinstance(base.get("properties"), Mapping) and isinstance(option.get("properties"), Mapping):
        both["properties"] = {**base["properties"], **option["properties"]}
    if isinstance(base.get("required"), list) and isinstance(option.get("required"), list):
        both["required"] = [*base["required"], *option["required"]]
    return both


def _all_of(nodes: Sequence[SchemaNode], place: str) -> SchemaNode:
    """The node that is all of these at once."""
    telling = [node for position, node in enumerate(nodes) if node not in (_ANY, *nodes[:position])]
    if len(telling) < 2:
        return telling[0] if telling else _ANY
    children: dict[Hashable, SchemaNode] = {}
    required: frozenset[Hashable] = frozenset()
    for node in telling:
        if node == Leaf("object"):
            continue
        if not isinstance(node, Branch):
            raise _error("allOf of different types", place, "objects")
        children |= node.children
        required |= node.required
    return Branch(children, required)


def _one_of(nodes: Sequence[SchemaNode]) -> SchemaNode:
    """The node that is any one of these: their common shape, or a leaf of any type if they have none in common.

    Example:
        >>> _one_of([Leaf("string"), Leaf("null")]), _one_of([Leaf("integer"), Leaf("string")])
        (Leaf(type='string', choices=()), Leaf(type='integer|string', choices=()))
        >>> _one_of([Leaf("string"), ListOf(Leaf("string"))])
        Leaf(type='any', choices=())
    """
    several: list[SchemaNode] = []
    for node in nodes:
        if node != _NULL and node not in several:
            several.append(node)
    if len(several) < 2:
        return several[0] if several else (_NULL if nodes else _ANY)
    if all(isinstance(node, Branch) for node in several):
        return _one_of_branches([node for node in several if isinstance(node, Branch)])
    if all(isinstance(node, ListOf) for node in several):
        return ListOf(_one_of([node.item for node in several if isinstance(node, ListOf)]))
    if all(isinstance(node, Leaf) for node in several):
        return _one_of_leaves([node for node in several if isinstance(node, Leaf)])
    return _ANY


def _one_of_branches(branches: Sequence[Branch]) -> Branch:
    """All keys; those that every branch asks for are required."""
    keys = dict.fromkeys(key for branch in branches for key in branch.children)
    children = {key: _one_of([branch.children[key] for branch in branches if key in branch.children]) for key in keys}
    return Branch(children, frozenset.intersection(*(branch.required for branch in branches)))


def _one_of_leaves(leaves: Sequence[Leaf]) -> Leaf:
    if all(leaf.choices for leaf in leaves):
        return choice([value for leaf in leaves for value in leaf.choices], "$")
    names: dict[str, None] = {}
    for leaf in leaves:
        kinds = [_type_of(value) for value in leaf.choices] or str(leaf.type).split("|")
        names |= dict.fromkeys(kinds)
    if "any" in names:
        return _ANY
    if "number" in names:
        names.pop("integer", None)
    return Leaf("|".join(names))


def _type_of(value: Any) -> str:
    """The JSON type of a choice."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "integer" if isinstance(value, int) else "number"
    return "string"


def _enum(values: Any, place: str) -> Leaf:
    if not isinstance(values, list) or not values:
        raise _error(f"enum {values!r}", place, "a list of values")
    present = [value for value in values if value is not None]
    if not present:
        return _NULL
    return choice(present, place) if not any(isinstance(value, list | dict) for value in present) else _ANY


def choice(values: Sequence[Any], place: str) -> Leaf:
    """A leaf that has one of these values; repeats count once, and ``True`` is not 1.

    Raises:
        InputError: No value, or one that is no text, number or boolean.

    Example:
        >>> choice(["low", "high", "low"], "priority")
        Leaf(type='choice', choices=('low', 'high'))
    """
    if not values:
        raise _error("no choice", place, "one choice or more")
    for value in values:
        if not isinstance(value, str | bool | int | float):
            raise InputError("schema", None, f"{value!r} among the choices at {place}", "text, numbers or booleans")
    known: dict[tuple[bool, Hashable], Hashable] = {}
    for value in values:
        known.setdefault((isinstance(value, bool), value), value)
    return Leaf("choice", tuple(known.values()))
