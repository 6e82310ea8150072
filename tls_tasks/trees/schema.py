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
from collections.abc import Hashable, Mapping
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.options import check_choice
from tls_tasks.trees.json_schema import JsonSchemaReader, choice
from tls_tasks.trees.types import MAX_DEPTH, Branch, Leaf, ListOf, Path, SchemaNode, path_name

FORMS = ("auto", "treeval", "json_schema")
"""How a mapping is read: by the rule above, or as one of the two."""

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
        return JsonSchemaReader(value).read()
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
        return choice(value, path_name(path))
    if isinstance(value, list):
        return ListOf(_node(value[0], (*path, 0)) if value else Leaf("any"))
    if value is None or isinstance(value, bool | int | float) or not isinstance(value, Hashable) or value == "":
        raise InputError("schema", None, f"{value!r} at {path_name(path)}", _WANTED)
    return Leaf(value)


def as_json_schema(node: SchemaNode, *, nullable: bool = False) -> dict[str, Any]:
    """The schema as JSON Schema: for prompts, and for engines that constrain their output to one.

    A leaf whose type JSON Schema doesn't have takes any value and has the type's name as its title.

    Args:
        node: The schema.
        nullable: Whether to say at each leaf that null is allowed.

    Example:
        >>> as_json_schema(read_schema({"day": "date", "tags": ["string"]}))["properties"]
        {'day': {'type': 'string', 'format': 'date'}, 'tags': {'type': 'array', 'items': {'type': 'string'}}}
        >>> as_json_schema(read_schema(["4/4", "2/2"]), nullable=True)
        {'enum': ['4/4', '2/2', None]}
    """
    if isinstance(node, Branch):
        return {
            "type": "object",
            "properties": {str(key): as_json_schema(child, nullable=nullable) for key, child in node.children.items()},
            "required": [str(key) for key in node.children if key in node.required],
            "additionalProperties": False,
        }
    if isinstance(node, ListOf):
        return {"type": "array", "items": as_json_schema(node.item, nullable=nullable)}
    if node.choices:
        return {"enum": [*node.choices, *([None] if nullable else [])]}
    return _leaf_as_json_schema(node.type, nullable)


_JSON_LEAVES: Mapping[Hashable, Mapping[str, Any]] = {
    **{name: {"type": name} for name in ("string", "integer", "number", "boolean", "object", "null")},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "any": {},
}


def _leaf_as_json_schema(kind: Hashable, nullable: bool) -> dict[str, Any]:
    names = kind.split("|") if isinstance(kind, str) else [kind]
    if not all(name in _JSON_LEAVES for name in names):
        return {"title": kind.__name__ if isinstance(kind, type) else str(kind)}
    if len(names) > 1:
        nulls = [{"type": "null"}] if nullable else []
        return {"anyOf": [*(dict(_JSON_LEAVES[name]) for name in names), *nulls]}
    schema = dict(_JSON_LEAVES[names[0]])
    if nullable and "type" in schema and schema["type"] != "null":
        schema["type"] = [schema["type"], "null"]
    return schema
