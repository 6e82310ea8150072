"""Schemas of trees, in every form that callers may have: see :func:`read_schema`.

Two of the forms look alike; this rule tells them apart. A mapping is **JSON Schema** if it

- has ``$schema`` with a text, ``$ref`` with a text that begins with ``#``, or ``$defs`` with a mapping, or
- has ``"type": "object"`` beside a mapping ``properties``, or ``"type": "array"`` beside a mapping ``items``, or
- has ``anyOf``, ``oneOf`` or ``allOf`` with a list of two mappings or more.

Every other mapping is in **treeval's form**: a key for each child. So ``{"type": "string"}`` is a dictionary with the
single key ``type``, unless it is read with ``form="json_schema"``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_choice
from tls_tasks.trees.types import MAX_DEPTH, Branch, Leaf, ListOf, Path, SchemaNode, path_name

FORMS = ("auto", "treeval", "json_schema")
"""How a mapping is read: by the rule above, or as one of the two."""

_SCALARS = ("string", "integer", "number", "boolean", "null")
_FORMATS = {"date": "date", "date-time": "datetime"}
_ESCAPED = re.compile("(?:%[0-9a-fA-F]{2})+")
_NULL = Leaf("null")
_ANY = Leaf("any")

_WANTED = "a type name, a list of one type, a list of two choices or more, or a dictionary of such"


def read_schema(value: Any, form: str = "auto") -> SchemaNode:
    """Read a schema.

    Treeval's form, in Python or as JSON text:

    ==========================  =======================================================================
    ``"string"``                a leaf; any name or class will do, and the name decides the metrics
    ``{"a": …, "b": …}``        a dictionary
    ``["string"]``              a list of strings
    ``[{…}]``, ``[["string"]]``  a list of dictionaries, of lists
    ``["4/4", "2/2"]``          a leaf that has one of these values: two scalars or more
    ``["4/4", "4/4"]``          a leaf with a single possible value, in JSON (repeats count once)
    ``("4/4",)``                the same in Python: a tuple of any length is a choice
    ``[5]``, ``[True]``         the same: numbers and booleans can't be type names
    ``[]``                      a list of anything
    ==========================  =======================================================================

    So ``["4/4"]`` is a list of the type ``4/4``, as in treeval.

    JSON Schema: ``type`` (also a list of types), ``properties``, ``required``, ``items``, ``prefixItems``, ``enum``,
    ``const``, ``anyOf``, ``oneOf``, ``allOf``, local ``$ref``, ``format`` ``date`` and ``date-time`` (types ``date`` and
    ``datetime``). Null is allowed everywhere: it is how a tree says that there is no value. A leaf of several types is
    named after all of them, ``number|string``. An object without ``properties`` is a leaf of type ``object``.

    Args:
        value: The schema: treeval's form, JSON Schema, text with one of them as JSON, a pydantic model class, or a node
            that was read before. Nodes may also stand for parts of treeval's form.
        form: One of :data:`FORMS`.

    Raises:
        InputError: Not a schema; the message names the path in it.
        OptionError: No such form.

    Example:
        >>> read_schema({"name": "string", "time": ["4/4", "2/2"], "tags": ["string"]}).children["tags"]
        ListOf(item=Leaf(type='string', choices=()))
        >>> read_schema({"type": "object", "properties": {"day": {"type": "string", "format": "date"}}}).children
        {'day': Leaf(type='date', choices=())}
        >>> read_schema({"lines": [{"price": [None, {}]}]})
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: schema: got None among the choices at lines[0].price, expected text, numbers or booleans
    """  # noqa: E501 - the message is one line
    check_choice("form", form, FORMS)
    if isinstance(value, Leaf | ListOf | Branch):
        return value
    if isinstance(value, str):
        value = _from_text(value)
    elif hasattr(value, "model_json_schema"):
        value, form = value.model_json_schema(), "json_schema"
    if form == "json_schema" or (form == "auto" and is_json_schema(value)):
        return _JsonSchemaReader(value).read()
    return _node(value, ())


def is_json_schema(value: Any) -> bool:
    """Whether a mapping is JSON Schema by the rule at the head of this module.

    Example:
        >>> is_json_schema({"type": "object", "properties": {"a": {"type": "string"}}})
        True
        >>> is_json_schema({"type": "string", "properties": ["string"]})
        False
    """
    if not isinstance(value, Mapping):
        return False
    kinds = value.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    reference = value.get("$ref")
    return (
        isinstance(value.get("$schema"), str)
        or (isinstance(reference, str) and reference.startswith("#"))
        or isinstance(value.get("$defs"), Mapping)
        or ("object" in kinds and isinstance(value.get("properties"), Mapping))
        or ("array" in kinds and isinstance(value.get("items"), Mapping))
        or any(_are_schemas(value.get(key)) for key in ("anyOf", "oneOf", "allOf"))
    )


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(part, Mapping) for part in value)


_TYPE_NAME = re.compile(r"[\w|:-]+(\[[\w|:, -]*\])?")


def _from_text(text: str) -> Any:
    """JSON if the text begins like a dictionary, a list or a string, else a type name."""
    stripped = text.strip().lstrip("\ufeff").lstrip()
    if not stripped.startswith(("{", "[", '"')):
        if not _TYPE_NAME.fullmatch(stripped):
            raise InputError("schema", None, repr(stripped[:60]), "JSON (not the name of a file), or a type name")
        return stripped
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError) as error:
        raise InputError("schema", None, f"text that is no JSON ({error})", "JSON, or a type name") from None


def _node(value: Any, path: Path) -> SchemaNode:
    if len(path) > MAX_DEPTH:
        raise InputError("schema", None, f"more than {MAX_DEPTH} levels", "fewer: does it contain itself?")
    if isinstance(value, Leaf | ListOf | Branch):
        return value
    if isinstance(value, Mapping):
        return Branch({key: _node(child, (*path, key)) for key, child in value.items()}, frozenset(value))
    if isinstance(value, tuple) or (
        isinstance(value, list) and (len(value) > 1 or (value and isinstance(value[0], bool | int | float)))
    ):
        return _choice(value, path_name(path))
    if isinstance(value, list):
        return ListOf(_node(value[0], (*path, 0)) if value else Leaf("any"))
    if value is None or isinstance(value, bool | int | float) or not isinstance(value, Hashable) or value == "":
        raise InputError("schema", None, f"{value!r} at {path_name(path)}", _WANTED)
    return Leaf(value)


# --- JSON Schema ---


class _JsonSchemaReader:
    """Reads one JSON Schema document.

    Args:
        document: The whole document; references are looked up in it.

    Example:
        >>> _JsonSchemaReader({"type": "array", "items": {"type": ["integer", "null"]}}).read()
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
        for step in _ESCAPED.sub(_unescaped, reference).split("/")[1:]:
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


def _unescaped(found: re.Match[str]) -> str:
    """The characters that ``%20`` and the like stand for in a reference."""
    return bytes.fromhex(found[0].replace("%", "")).decode("utf-8", "replace")


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
        return _choice([value for leaf in leaves for value in leaf.choices], "$")
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
    return _choice(present, place) if not any(isinstance(value, list | dict) for value in present) else _ANY


def _choice(values: Sequence[Any], place: str) -> Leaf:
    """A leaf that has one of these values; repeats count once, and ``True`` is not 1.

    Raises:
        InputError: No value, or one that is no text, number or boolean.

    Example:
        >>> _choice(["low", "high", "low"], "priority")
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
