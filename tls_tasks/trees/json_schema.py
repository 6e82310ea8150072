"""JSON Schema as people write it -> the nodes of a schema: see :func:`nodes_of_json_schema`.

Whatever is said of one place, by ``$ref``, ``allOf``, ``anyOf``, ``if`` and all the rest, is first put together into a
:class:`_Shape`: which scalars a value may be, and what a dictionary or a list has in it. What is in it stays schemas,
which are read in their turn.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from tls_tasks.core.errors import InputError
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.types import (
    MAX_DEPTH,
    Again,
    Branch,
    Leaf,
    ListOf,
    OneOf,
    SchemaNode,
    any_leaf,
    distinct,
)

_MOST_NODES = 2_000
"""Once a schema has so many nodes, definitions that were followed before are not followed again, but shared; and at ten
times as many what is left is read as anything, which is scored by what is in it."""

_ANY, _NULL = Leaf("any"), Leaf("null")
_FORMATS = {"date": "date", "date-time": "datetime"}
_OTHER_NAMES = {
    "str": "string", "text": "string", "int": "integer", "long": "integer", "float": "number", "double": "number",
    "decimal": "number", "bool": "boolean", "list": "array", "tuple": "array", "dict": "object", "map": "object",
    "none": "null", "date": "date", "datetime": "datetime", "date-time": "datetime",
}  # fmt: skip
"""Names of types that JSON Schema doesn't have, but that schemas of tools do."""

_SCALARS = ("string", "integer", "number", "boolean", "null")
_COMMENTS = frozenset({"title", "description", "default", "examples", "example", "$comment", "deprecated"})
_AT_TIMES = "\0at times"
"""A key of schemas that we make: what they say goes for some of the values only."""


@dataclass(frozen=True, slots=True)
class _Object:
    """What is said of dictionaries: ``rest`` is the schema of other keys, False if there are none, None if unsaid."""

    is_typed: bool = False
    properties: Mapping[Hashable, Any] | None = None
    required: frozenset[Hashable] = frozenset()
    rest: Any = None

    @property
    def is_told(self) -> bool:
        """Whether anything is said of what is in it."""
        return self.is_typed or bool(self.properties) or self.rest not in (None, False)


@dataclass(frozen=True, slots=True)
class _Array:
    """What is said of lists; ``items`` is a schema, None if unsaid."""

    is_typed: bool = False
    items: Any = None
    is_ordered: bool = False

    @property
    def is_told(self) -> bool:
        """Whether anything is said of what is in it."""
        return self.is_typed or self.items is not None


@dataclass(frozen=True, slots=True)
class _Shape:
    """What values of a place may be: scalars of these leaves, dictionaries and lists unless None."""

    leaves: tuple[Leaf, ...] = (_ANY,)
    objects: _Object | None = _Object()
    arrays: _Array | None = _Array()
    is_at_times: bool = False


_NOTHING = _Shape((), None, None)
_DICTIONARY = Branch({}, rest=ListOf(_ANY, is_keyed=True))


def nodes_of_json_schema(document: Any) -> SchemaNode:
    """The root node of a document.

    Raises:
        InputError: Something that can't be read; the message names the place in the tree.

    Example:
        >>> nodes_of_json_schema({"type": "array", "items": {"type": ["INTEGER", "null"]}})
        ListOf(item=Leaf(type='integer', choices=()))
        >>> tree = nodes_of_json_schema({"properties": {"name": {"type": "string"}, "parent": {"$ref": "#"}}})
        >>> tree.children["parent"].node is tree
        True
    """
    return _Reader(document).node(document, "$", 0)


class _Reader:
    """Reads one document; references are looked up in it."""

    def __init__(self, document: Any) -> None:
        self.document = document
        self.ids: dict[str, Any] | None = None
        self.n_nodes = 0
        self.waiting: dict[Hashable, list[Again]] = {}  # by what is read now, from the root down to here
        self.known: dict[Hashable, SchemaNode] = {}
        self.shapes: dict[int, _Shape | None] = {}  # by the id of the schema; None: it is being read
        self.n_loops = 0
        self.ours: set[Hashable] = set()
        self.made: dict[Hashable, Any] = {}  # what we made of schemas, which are told apart by their id

    def node(self, schema: Any, place: str, depth: int) -> SchemaNode:
        if depth > MAX_DEPTH:
            raise _error(f"more than {MAX_DEPTH} levels", place, "fewer")
        key = self._key(schema, place)
        if self.n_nodes >= 10 * _MOST_NODES:
            return _ANY
        if key in self.waiting:
            self.waiting[key].append(again := Again())
            return again
        if self.n_nodes >= _MOST_NODES and key in self.known:
            own = self.known[key]
            return own if isinstance(own, Leaf | Again) else Again(own)
        self.n_nodes += 1
        self.waiting[key] = []
        node = self._built(self.shape(schema, place), place, depth)
        for again in self.waiting.pop(key):
            again.node = node
        self.known[key] = node
        return node

    def _key(self, schema: Any, place: str) -> Hashable:
        """What two schemas have in common if they are the same."""
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, Mapping) or "$ref" not in schema or not schema.keys() <= {"$ref", *_COMMENTS}:
                break
            schema = self._target(schema["$ref"], place)
        return schema if isinstance(schema, bool) else id(schema)

    def _built(self, shape: _Shape, place: str, depth: int) -> SchemaNode:
        objects, arrays = shape.objects, shape.arrays
        parts: list[SchemaNode] = []
        if objects is not None and objects.is_told:
            parts.append(self._branch(objects, place, depth))
        if arrays is not None and arrays.is_told:
            items = self.node(True if arrays.items is None else arrays.items, f"{place}[]", depth + 1)
            parts.append(ListOf(items, arrays.is_ordered))
        is_typed = any(own is not None and own.is_typed for own in (objects, arrays))
        present = [leaf for leaf in shape.leaves if leaf != _NULL and (leaf != _ANY or is_typed or not parts)]
        if present:
            parts.append(any_leaf(present))
        elif not parts and _NULL in shape.leaves:
            parts.append(_NULL)
        if not parts:
            raise _error("what no value can be (allOf of different types, or false)", place, "a schema that can be met")
        if len(parts) == 1:
            return parts[0]
        return OneOf(tuple(_DICTIONARY if part == Leaf("object") else part for part in parts))

    def _branch(self, objects: _Object, place: str, depth: int) -> SchemaNode:
        properties = {key: own for key, own in (objects.properties or {}).items() if own is not False}
        if not properties and objects.rest in (None, True):
            return Leaf("object")
        children = {key: self.node(own, f"{place}.{key}", depth + 1) for key, own in properties.items()}
        rest = None
        if objects.rest not in (None, False):
            rest = ListOf(self.node(objects.rest, f"{place}.*", depth + 1), is_keyed=True)
        return Branch(children, frozenset(key for key in objects.required if key in children), rest)

    # --- shapes ---

    def shape(self, schema: Any, place: str) -> _Shape:
        """What is said of a place. A schema that is nothing but itself says nothing."""
        if isinstance(schema, bool):
            return _Shape() if schema else _NOTHING
        if not isinstance(schema, Mapping):
            raise _error(repr(schema), place, "JSON Schema: a dictionary")
        key = id(schema)
        if key in self.shapes:
            known = self.shapes[key]
            self.n_loops += known is None
            return known or _Shape()
        self.shapes[key], n_loops = None, self.n_loops
        shape = self._all_of(self._said(schema, place))
        if n_loops == self.n_loops:
            self.shapes[key] = shape
        else:
            del self.shapes[key]  # only true within the loop
        return shape

    def _said(self, schema: Mapping[Any, Any], place: str) -> list[_Shape]:
        """What each part of a schema says."""
        shapes = [] if _AT_TIMES in schema else [self._own(schema, place)]
        read = partial(self.shape, place=place)
        if "$ref" in schema:
            shapes.append(read(self._target(schema["$ref"], place)))
        for name in ("allOf", "extends"):
            if name in schema:
                parts = schema[name] if name == "allOf" or isinstance(schema[name], list) else [schema[name]]
                shapes += map(read, _parts(parts, name, place))
        for name in ("anyOf", "oneOf"):
            if name in schema:
                shape = self._any_of(list(map(read, _parts(schema[name], name, place))))
                shapes.append(replace(shape, is_at_times=_AT_TIMES in schema))
        if "if" in schema:
            cases = [schema[name] for name in ("if", "then", "else") if name in schema]
            shapes += [replace(read(case), is_at_times=True) for case in cases if isinstance(case, Mapping)]
        for name in ("dependencies", "dependentSchemas"):
            if isinstance(schema.get(name), Mapping):
                cases = [own for own in schema[name].values() if isinstance(own, Mapping)]
                shapes += [replace(read(case), is_at_times=True) for case in cases]
        return shapes

    def _own(self, schema: Mapping[Any, Any], place: str) -> _Shape:
        """What the words of the schema itself say."""
        shape = _Shape(objects=self._own_object(schema, place), arrays=self._own_array(schema))
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            shape = self._all_of([shape, _enum(values, place)])
        kinds = schema.get("type")
        if kinds is None or (isinstance(kinds, str) and kinds.lower() == "any"):
            kind = _FORMATS.get(str(schema.get("format")))
            return shape if kind is None else self._all_of([shape, _Shape((Leaf(kind),), None, None)])
        if not isinstance(kinds, list):
            kinds = [kinds]
        if not kinds:
            raise _error(f"type {schema['type']!r}", place, "a type")
        allowed = []
        for kind in kinds:  # a schema among the types is of draft 3
            is_schema = isinstance(kind, Mapping)
            allowed.append(self.shape(kind, place) if is_schema else _of_type(kind, schema, place))
        both = self._all_of([shape, self._any_of(allowed)])
        return shape if both == _NOTHING else both  # {"type": "boolean", "enum": ["yes", "no"]}: what it lists counts

    def _own_object(self, schema: Mapping[Any, Any], place: str) -> _Object:
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise _error(f"properties {properties!r}", place, "a dictionary")
        required = schema.get("required", [])
        if isinstance(required, bool):
            required = []  # of draft 3: it says that this itself is required
        if not isinstance(required, list | tuple) or not all(isinstance(key, str) for key in required):
            raise _error(f"required {required!r}", place, "a list of keys")
        own = {key for key, child in properties.items() if isinstance(child, Mapping) and child.get("required") is True}
        patterns = schema.get("patternProperties")
        rests = list(patterns.values()) if isinstance(patterns, Mapping) else []
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if isinstance(others, Mapping | bool) and others is not False:
            rests.append(others)
        rest = self._either(rests) if rests else (False if others is False else None)
        return _Object(False, properties, frozenset([*required, *own]), rest)

    def _own_array(self, schema: Mapping[Any, Any]) -> _Array:
        items, more = schema.get("items"), schema.get("additionalItems")
        first = schema.get("prefixItems", items if isinstance(items, list) else [])
        kinds = [
            *(first if isinstance(first, list) else ()),
            *(own for own in (items, more) if isinstance(own, Mapping)),
        ]
        if items is True and not kinds:
            kinds = [True]
        return _Array(False, self._either(kinds) if kinds else None, bool(first))

    def _all_of(self, shapes: Sequence[_Shape]) -> _Shape:
        """What all of these say. What goes for some values only can't rule out what the others say."""
        always = [shape for shape in shapes if not shape.is_at_times]
        found = reduce(self._both, always) if always else None
        for shape in shapes:
            if shape.is_at_times:
                found = shape if found is None else self._any_of([self._both(found, shape), found])
        return found or _Shape()

    def _both(self, one: _Shape, other: _Shape) -> _Shape:
        leaves = [leaf for a in one.leaves for b in other.leaves if (leaf := _common(a, b)) is not None]
        objects, arrays = None, None
        if one.objects is not None and other.objects is not None:
            a, b = one.objects, other.objects
            rest = False if False in (a.rest, b.rest) else self._joined(self._both_schemas, a.rest, b.rest)
            properties = self._merged(self._both_schemas, [a.properties or {}, b.properties or {}])
            objects = _Object(a.is_typed or b.is_typed, properties, a.required | b.required, rest)
        if one.arrays is not None and other.arrays is not None:
            items = self._joined(self._both_schemas, one.arrays.items, other.arrays.items)
            flags = one.arrays.is_ordered or other.arrays.is_ordered
            arrays = _Array(one.arrays.is_typed or other.arrays.is_typed, items, flags)
        return _Shape(tuple(dict.fromkeys(leaves)), objects, arrays)

    def _any_of(self, shapes: Sequence[_Shape]) -> _Shape:
        """What one of these at least says."""
        leaves = dict.fromkeys(leaf for shape in shapes for leaf in shape.leaves)
        objects = [shape.objects for shape in shapes if shape.objects is not None]
        arrays = [shape.arrays for shape in shapes if shape.arrays is not None]
        either, both = None, None
        if objects:
            rests = [own.rest for own in objects if own.rest not in (None, False)]
            told = [own.properties or {} for own in objects]
            required = frozenset.intersection(*(own.required for own in objects))
            rest = self._either(rests) if rests else (False if all(own.rest is False for own in objects) else None)
            is_typed = any(own.is_typed for own in objects)
            either = _Object(is_typed, self._merged(self._either, told), required, rest)
        if arrays:
            items = [own.items for own in arrays if own.items is not None]
            is_ordered, is_typed = any(own.is_ordered for own in arrays), any(own.is_typed for own in arrays)
            both = _Array(is_typed, self._either(items) if items else None, is_ordered)
        return _Shape(tuple(leaves), either, both)

    # --- schemas made of others ---

    def _merged(self, join: Callable[..., Any], several: Sequence[Mapping[Hashable, Any]]) -> dict[Hashable, Any]:
        """The properties of several schemas; an alternative that doesn't name one allows anything there."""
        merged: dict[Hashable, Any] = {}
        for key in dict.fromkeys(key for own in several for key in own):
            schemas = [own[key] for own in several if key in own]
            is_at_times = join == self._either and len(schemas) < len(several)
            merged[key] = join(schemas, is_at_times) if is_at_times else join(schemas)
        return merged

    def _joined(self, join: Callable[..., Any], *schemas: Any) -> Any:
        told = [schema for schema in schemas if schema is not None]
        return join(told) if told else None

    def _both_schemas(self, schemas: Sequence[Any]) -> Any:
        return self._made("allOf", schemas)

    def _either(self, schemas: Sequence[Any], is_at_times: bool = False) -> Any:
        return self._made("anyOf", schemas, is_at_times)

    def _made(self, name: str, schemas: Sequence[Any], is_at_times: bool = False) -> Any:
        parts: dict[Hashable, Any] = {}
        for schema in schemas:
            key = self._key(schema, "$")
            is_same = key in self.ours and name in schema and (name == "anyOf" or _AT_TIMES not in schema)
            is_at_times = is_at_times or (is_same and _AT_TIMES in schema)
            inner = schema[name] if is_same else [schema]
            parts |= {self._key(part, "$"): part for part in inner}
        if len(parts) == 1 and not is_at_times:
            return next(iter(parts.values()))
        made = {name: list(parts.values()), **({_AT_TIMES: True} if is_at_times else {})}
        made = self.made.setdefault((name, is_at_times, frozenset(parts)), made)
        self.ours.add(id(made))
        return made

    # --- references ---

    def _target(self, reference: Any, place: str) -> Any:
        got = f"$ref {reference!r}"
        if not isinstance(reference, str):
            raise _error(got, place, "text")
        document, fragment = self.document, reference.removeprefix("#")
        if not f"{reference}/".startswith("#/"):
            base = self.document.get("$id", self.document.get("id", "")) if isinstance(self.document, Mapping) else ""
            base = base if isinstance(base, str) else ""
            if self.ids is None:
                self.ids = _by_id(self.document)
            names = [reference, urljoin(base, reference)]
            whole = next((self.ids[name] for name in names if name in self.ids), None)
            if whole is not None:
                return whole
            address, fragment = urldefrag(names[1])
            document = self.ids.get(address, self.ids.get(urldefrag(reference)[0] or base))
            if document is None or not f"#{fragment}/".startswith("#/"):
                raise _error(got, place, "a path into the same document, such as '#/$defs/Name'")
        for step in unquote(fragment).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(document, list) and name.isascii() and name.isdigit() and int(name) < len(document):
                document = document[int(name)]
            elif isinstance(document, Mapping) and name in document:
                document = document[name]
            else:
                raise _error(got, place, "one that leads to a definition")
        return document


def _error(got: str, place: str, expected: str) -> InputError:
    return InputError("schema", None, f"{got} at {place}", expected)


def _by_id(document: Any) -> dict[str, Any]:
    """The schemas that have a name of their own: ``$id``, ``id`` or ``$anchor``."""
    found: dict[str, Any] = {}
    base = ""
    layer, seen = [document], set[int]()
    while layer:
        deeper: list[Any] = []
        for one in layer:
            if not isinstance(one, Mapping | list) or id(one) in seen:
                continue
            seen.add(id(one))
            if isinstance(one, Mapping):
                names = [one.get("$id"), one.get("id"), f"#{one['$anchor']}" if "$anchor" in one else None]
                for name in names:
                    if isinstance(name, str) and name not in ("", "#"):
                        base = base or name
                        for full in (name, urljoin(base, name)):
                            found.setdefault(full, one)
                            found.setdefault(full.removesuffix("#"), one)
            deeper += one.values() if isinstance(one, Mapping) else one
        layer = deeper
    return found


def _parts(parts: Any, name: str, place: str) -> list[Any]:
    if not isinstance(parts, list) or not parts:
        raise _error(f"{name} {parts!r}", place, "a list of schemas")
    return parts


def _of_type(kind: Any, schema: Mapping[Any, Any], place: str) -> _Shape:
    name = kind.lower() if isinstance(kind, str) else kind
    name = _OTHER_NAMES.get(name, name) if isinstance(name, str) else name
    if name == "any":
        return _Shape()
    if name == "object":
        return _Shape((), _Object(True), None)
    if name == "array":
        return _Shape((), None, _Array(True))
    if name == "string":
        name = _FORMATS.get(str(schema.get("format")), "string")
    elif name not in (*_SCALARS, "date", "datetime"):
        raise _error(f"type {kind!r}", place, f"one of {', '.join((*_SCALARS, 'object', 'array'))}")
    return _Shape((Leaf(name),), None, None)


def _enum(values: Any, place: str) -> _Shape:
    if not isinstance(values, list) or not values:
        raise _error(f"enum {values!r}", place, "a list of values")
    scalars = [value for value in values if isinstance(value, str | bool | int | float)]
    objects = _Object(True) if any(isinstance(value, Mapping) for value in values) else None
    arrays = _Array(True) if any(isinstance(value, list) for value in values) else None
    leaves = [*([Leaf("choice", distinct(scalars))] if scalars else []), *([_NULL] if None in values else [])]
    return _Shape(tuple(leaves), objects, arrays)


def _common(one: Leaf, other: Leaf) -> Leaf | None:
    """The leaf whose values two leaves both take, if there are any."""
    if one == other or other == _ANY:
        return one
    if one == _ANY:
        return other
    if _NULL in (one, other):
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
