"""Schemas of trees, in every form that callers may have: see :func:`read_schema`.

Two of the forms look alike; this rule tells them apart. A mapping is **JSON Schema** if it

- has ``$schema`` with a text, ``$ref`` with a text that begins with ``#``, or ``$defs`` with a mapping, or
- has ``"type": "object"`` (or ``"OBJECT"``) beside one of ``properties``, ``additionalProperties``, ``required`` and
  the like, each with such a value as JSON Schema has there, or ``"type": "array"`` beside a mapping ``items``, or
- has ``properties``, ``patternProperties`` or ``definitions`` with nothing but schemas, or
- has ``type`` with a type of JSON's beside a number or a boolean (``minimum``, ``default``), or a boolean
  ``additionalProperties``, or
- has ``anyOf``, ``oneOf`` or ``allOf`` with a list of two mappings or more, or ``if`` and ``then`` with mappings.

If what is given is none, and has exactly one JSON Schema in it, at most four keys deep, that is the schema, with a
warning: so it is in a tool of OpenAI, Anthropic, Gemini or MCP, and in a ``response_format``.

Every other mapping is in **treeval's form**: a key for each child. So ``{"type": "string"}`` is a dictionary with the
single key ``type``, unless it is read with ``form="json_schema"``.
"""

import json
import os
import re
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

from rapidfuzz.distance import OSA

from tls_tasks.core.errors import InputError, check_choice, warn_caller
from tls_tasks.trees import types
from tls_tasks.trees.compliance import TYPE_NAMES
from tls_tasks.trees.json_schema import nodes_of_json_schema
from tls_tasks.trees.types import MAX_DEPTH, Branch, Leaf, ListOf, Path, RecursiveNode, SchemaNode, UnionNode, path_name

FORMS = ("auto", "treeval", "json_schema")
"""How a mapping is read: by the rule above, or as one of the two."""

JSON_SCHEMA, TREEVAL = "read as JSON Schema", "read as treeval's form"


def read_schema(value: Any, form: str = "auto", type_names: Collection[Any] = ()) -> SchemaNode:
    """Read a schema.

    Treeval's form, in Python or as JSON text:

    ==========================  =======================================================================
    ``"string"``                a leaf; any name that is no misspelt type will do, and decides the metrics
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

    JSON Schema, of any draft: ``type`` (also a list of types, and in capitals), ``properties``, ``required``,
    ``additionalProperties``, ``patternProperties``, ``items``, ``prefixItems`` (in order), ``enum``, ``const``,
    ``anyOf``, ``oneOf``, ``allOf``, ``if`` with ``then`` and ``else``, ``$ref`` within the document, ``format`` ``date``
    and ``date-time`` (types ``date`` and ``datetime``). Null is allowed everywhere: it is how a tree says that there is
    no value. A leaf of several types is named after all of them, ``number|string``. An object of which nothing is said
    is of type ``object``, a value of which nothing is said of type ``any``: they are scored by what is in them.

    Args:
        value: The schema: treeval's form, JSON Schema, text with one of them as JSON, a class or annotation whose JSON
            Schema ``pydantic.TypeAdapter`` knows, or a node that was read before. Classes, annotations and nodes may
            also stand for parts of treeval's form.
        form: What a mapping is: ``treeval``, ``json_schema``, or ``auto``: JSON Schema if it looks like one.
        type_names: Names of the caller's types, which are never taken for misspelt ones.

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
        tls_tasks.core.errors.InputError: schema (read as treeval's form): got None among the choices at lines[0].price, expected text, numbers or booleans
    """  # noqa: E501 - the message is one line
    return schema_and_form(value, form, type_names)[0]


def schema_and_form(value: Any, form: str = "auto", type_names: Collection[Any] = ()) -> tuple[SchemaNode, str]:
    """Return the schema and the form in which it was read, as errors name it; empty for a node.

    Raises:
        InputError: Not a schema.
        OptionError: No such form.
    """
    check_choice("form", form, FORMS)
    if isinstance(value, Leaf | ListOf | Branch | UnionNode | RecursiveNode):
        return value, ""
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        value = _from_text(value)
    elif (converted := _pydantic_schema(value)) is not None:
        value, form = converted, "json_schema"
    value = _find_only_schema(value) if form == "auto" else value
    is_json = form == "json_schema" or (form == "auto" and is_json_schema(value))
    return (nodes_of_json_schema(value), JSON_SCHEMA) if is_json else (_node(value, (), type_names), TREEVAL)


_DEEPEST = 4  # keys down to which a schema is looked for


def _nested_schemas(value: Any, path: Path = (), depth: int = 0) -> Iterator[tuple[Path, Any]]:
    """Yield the JSON Schemas within a value, with the paths that lead to them.

    Example:
        >>> tool = {"name": "save", "input_schema": {"type": "object", "properties": {"a": {"type": "string"}}}}
        >>> [path_name(path) for path, _ in _nested_schemas({"tools": [tool]})]
        ['tools[0].input_schema']
    """
    if is_json_schema(value):
        yield path, value
    elif isinstance(value, list):
        for position, item in enumerate(value):
            yield from _nested_schemas(item, (*path, position), depth)
    elif isinstance(value, Mapping) and depth < _DEEPEST:
        for key, inner in value.items():
            yield from _nested_schemas(inner, (*path, key), depth + 1)


def _find_only_schema(value: Any) -> Any:
    """Return the only JSON Schema within a value, with a warning; the value itself if there is none.

    Raises:
        InputError: There are several, or a list around one.
    """
    schemas = list(_nested_schemas(value))
    if not schemas or not schemas[0][0]:
        return value
    names = ", ".join(path_name(path) for path, _ in schemas[:10])
    if len(schemas) > 1:
        raise InputError("schema", None, f"{len(schemas)} schemas ({names})", "one of them, alone")
    (path, inner), hint = (schemas[0], "the schema itself, schema=schema[0]; of a list: {'type': 'array', 'items': …}")
    if path == (0,):
        raise InputError("schema", None, "a list with one schema", hint)
    warn_caller(f"schema: what was given is no schema and has one at {names}, which is used", UserWarning)
    return inner


def is_json_schema(value: Any) -> bool:
    """Tell whether a mapping is JSON Schema by the rule at the head of this module.

    Example:
        >>> is_json_schema({"type": "object", "properties": {"a": {"type": "string"}}})
        True
        >>> is_json_schema({"type": "string", "properties": ["string"]})
        False
    """
    return isinstance(value, Mapping) and (
        _has_any(value, {"$schema": str, "$defs": Mapping, "additionalProperties": bool})
        or str(value.get("$ref")).startswith("#")
        or (_has_type(value, ("object",)) and _has_any(value, _OBJECT_KEYWORDS))
        or (_has_type(value, ("array",)) and _has_any(value, {"items": Mapping}))
        or (_has_type(value, _TYPES) and any(isinstance(part, bool | int | float) for part in value.values()))
        or any(_hold_schemas(value.get(key)) for key in ("properties", "patternProperties", "definitions"))
        or any(_are_schemas(value.get(key)) for key in ("anyOf", "oneOf", "allOf"))
        or all(isinstance(value.get(key), Mapping) for key in ("if", "then"))
    )


_OBJECT_KEYWORDS: Mapping[str, Any] = {
    "properties": Mapping, "additionalProperties": Mapping, "patternProperties": Mapping, "allOf": list, "anyOf": list,
    "oneOf": list, "required": list, "$id": str, "id": str,
}  # fmt: skip
_WORDS = frozenset(
    ("type", "$ref", "anyOf", "oneOf", "allOf", "enum", "const", "items", "properties", "additionalProperties",
     "description", "format", "pattern", "minimum", "maximum", "minLength", "maxLength", "not", "default", "title")
)  # fmt: skip
_TYPES = frozenset(("string", "integer", "number", "boolean", "null", "object", "array"))
_STRONG = frozenset(("$ref", "anyOf", "oneOf", "allOf", "enum", "properties"))


def _has_any(value: Mapping[Any, Any], kinds: Mapping[str, Any]) -> bool:
    """Tell whether a mapping has one of these keys with a value of its kind."""
    return any(isinstance(value.get(key), kind) for key, kind in kinds.items())


def _has_type(value: Mapping[Any, Any], names: Collection[str]) -> bool:
    kinds = value.get("type")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    return any(isinstance(kind, str) and kind.lower() in names for kind in kinds)


def _hold_schemas(value: Any) -> bool:
    """Tell whether all values are schemas, one of them with a type, a reference or a part that is a schema."""
    parts = [part for part in value.values() if not isinstance(part, bool)] if isinstance(value, Mapping) else []
    return all(isinstance(part, Mapping) and (not part or _WORDS & part.keys()) for part in parts) and any(
        _has_type(part, _TYPES) or _STRONG & part.keys() for part in parts
    )


def _are_schemas(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 1 and all(isinstance(part, Mapping) for part in value)


_TYPE_NAME = re.compile(r"[\w|:-]+(\[[\w|:, -]*\])?")


def _from_text(text: str) -> Any:
    """Return a type name, or the value that the text is as JSON."""
    stripped = text.strip().removeprefix("\ufeff").lstrip()
    if _TYPE_NAME.fullmatch(stripped):
        return stripped
    try:
        return json.loads(stripped)
    except (ValueError, RecursionError) as error:
        got = f"text that is no JSON ({error}): {stripped[:60]!r}"
        hint = "" if stripped.startswith(("{", "[")) else "; of a file give the content, schema=json.load(open(name))"
        raise InputError("schema", None, got, f"JSON or a type name{hint}") from None


def _node(value: Any, path: Path, type_names: Collection[Any]) -> SchemaNode:
    def error(got: str, expected: str) -> InputError:
        return InputError(f"schema ({TREEVAL})", None, f"{got} at {path_name(path)}", expected)

    if len(path) > MAX_DEPTH:
        raise error(f"more than {MAX_DEPTH} levels", "fewer: does it contain itself?")
    if isinstance(value, Leaf | ListOf | Branch | UnionNode | RecursiveNode):
        return value
    if isinstance(value, Mapping):
        return Branch({key: _node(child, (*path, key), type_names) for key, child in value.items()}, frozenset(value))
    if isinstance(value, list) and (not value or (len(value) == 1 and not isinstance(value[0], bool | int | float))):
        return ListOf(_node(value[0], (*path, 0), type_names) if value else Leaf("any"))
    if isinstance(value, list | tuple):
        wrong = [repr(choice) for choice in value if not isinstance(choice, str | bool | int | float)]
        if wrong or not value:
            raise error(f"{wrong[0]} among the choices" if wrong else "no choice", "text, numbers or booleans")
        return Leaf("choice", types.unique(value))
    if value is None or isinstance(value, bool | int | float) or not isinstance(value, Hashable) or value == "":
        raise error(repr(value), "a type name, a list of one type or of several choices, or a dictionary of such")
    if (converted := _pydantic_schema(value)) is not None:
        return nodes_of_json_schema(converted)
    if isinstance(value, str):  # null is allowed everywhere
        value = "|".join(name for name in value.split("|") if name != "null") or value
    names = value.split("|") if isinstance(value, str) else []
    if suggestions := [near for name in names if name not in type_names and (near := _closest_type(name))]:
        raise error(f"the unknown type {value!r}", " and ".join(map(repr, suggestions)))
    return Leaf(value)


def _pydantic_schema(value: Any) -> Any:
    """Return pydantic's JSON Schema of a class or annotation; None if it has none, or for a type name of ours."""
    is_value = value is None or isinstance(value, str | bool | int | float | Mapping | list | tuple)
    if is_value or not isinstance(value, Hashable) or value in TYPE_NAMES:
        return None
    from pydantic import TypeAdapter

    try:
        return (value if isinstance(value, TypeAdapter) else TypeAdapter(value)).json_schema()
    except Exception as error:  # pydantic raises errors of many kinds
        if isinstance(value, type) and not getattr(value, "__annotations__", None):  # the label is the user's own type
            return None
        got = f"{value!r}, of which pydantic makes no JSON Schema: {str(error).splitlines()[0]}"
        raise InputError("schema", None, got, "a class or annotation that pydantic.TypeAdapter takes") from None


def _closest_type(name: str) -> str | None:
    """Return the type of which an unknown name is a likely misspelling; None if it resembles none.

    Example:
        >>> _closest_type("integr"), _closest_type("String"), _closest_type("datetime"), _closest_type("isbn")
        ('integer', 'string', None, None)
    """
    names = [type_name for type_name in TYPE_NAMES if isinstance(type_name, str)]
    distance, nearest = min((OSA.distance(name.lower(), type_name), type_name) for type_name in names)
    return nearest if name not in names and distance <= max(1, len(name) // 4) else None
