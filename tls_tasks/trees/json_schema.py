"""Schemas of trees as JSON Schema."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from tls_tasks.trees.types import Branch, ListOf, SchemaNode


def as_json_schema(node: SchemaNode, *, nullable: bool = False) -> dict[str, Any]:
    """The schema as JSON Schema: for prompts, and for engines that constrain their output to one.

    A leaf whose type JSON Schema doesn't have takes any value and has the type's name as its title.

    Args:
        node: The schema.
        nullable: Whether to say at each leaf that null is allowed.

    Example:
        >>> from tls_tasks.trees.schema import read_schema
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
