"""JSON Schema as people write it -> the nodes of a schema: see :func:`nodes_of_json_schema`.

Whatever is said of one place, by ``$ref``, ``allOf``, ``anyOf``, ``if`` and all the rest, is first put together into a
:class:`Shape`: which scalars a value may be, and what a dictionary or a list has in it. What is in it stays schemas,
which are read in their turn.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from tls_tasks.trees.json_shapes import (
    ANY,
    FORMATS,
    NOTHING,
    NULL,
    Array,
    Object,
    Shape,
    common,
    of_type,
    of_values,
    schema_error,
)
from tls_tasks.trees.types import (
    MAX_DEPTH,
    Again,
    Branch,
    Leaf,
    ListOf,
    OneOf,
    SchemaNode,
    any_leaf,
)

_MOST_NODES = 2_000
"""Once a schema has so many nodes, definitions that were followed before are not followed again, but shared; and at ten
times as many what is left is read as anything, which is scored by what is in it."""

_COMMENTS = frozenset({"title", "description", "default", "examples", "example", "$comment", "deprecated"})
_AT_TIMES = "\0at times"
"""A key of schemas that we make: what they say goes for some of the values only."""


_OLD = re.compile(r"draft-0[3467]\b")
_DICTIONARY = Branch({}, rest=ListOf(ANY, is_keyed=True))


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
        self.is_old = isinstance(document, Mapping) and bool(_OLD.search(str(document.get("$schema"))))
        self.ids: dict[str, Any] | None = None
        self.n_nodes = 0
        self.waiting: dict[Hashable, list[Again]] = {}  # by what is read now, from the root down to here
        self.known: dict[Hashable, SchemaNode] = {}
        self.shapes: dict[int, Shape | None] = {}  # by the id of the schema; None: it is being read
        self.n_loops = 0
        self.ours: set[Hashable] = set()
        self.made: dict[Hashable, Any] = {}  # what we made of schemas, which are told apart by their id

    def node(self, schema: Any, place: str, depth: int) -> SchemaNode:
        if depth > MAX_DEPTH:
            raise schema_error(f"more than {MAX_DEPTH} levels", place, "fewer")
        key = self._key(schema, place)
        if self.n_nodes >= 10 * _MOST_NODES:
            return ANY
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

    def _built(self, shape: Shape, place: str, depth: int) -> SchemaNode:
        objects, arrays = shape.objects, shape.arrays
        parts: list[SchemaNode] = []
        if objects is not None and objects.is_told:
            parts.append(self._branch(objects, place, depth))
        if arrays is not None and arrays.is_told:
            items = self.node(True if arrays.items is None else arrays.items, f"{place}[]", depth + 1)
            parts.append(ListOf(items, arrays.is_ordered))
        is_typed = any(own is not None and own.is_typed for own in (objects, arrays))
        present = [leaf for leaf in shape.leaves if leaf != NULL and (leaf != ANY or is_typed or not parts)]
        if present:
            parts.append(any_leaf(present))
        elif not parts and NULL in shape.leaves:
            parts.append(NULL)
        if not parts:
            raise schema_error(
                "what no value can be (allOf of different types, or false)", place, "a schema that can be met"
            )
        if len(parts) == 1:
            return parts[0]
        return OneOf(tuple(_DICTIONARY if part == Leaf("object") else part for part in parts))

    def _branch(self, objects: Object, place: str, depth: int) -> SchemaNode:
        properties = {key: own for key, own in (objects.properties or {}).items() if own is not False}
        if not properties and objects.rest in (None, True):
            return Leaf("object")
        children = {key: self.node(own, f"{place}.{key}", depth + 1) for key, own in properties.items()}
        rest = None
        if objects.rest not in (None, False):
            rest = ListOf(self.node(objects.rest, f"{place}.*", depth + 1), is_keyed=True)
        return Branch(children, frozenset(key for key in objects.required if key in children), rest)

    # --- shapes ---

    def shape(self, schema: Any, place: str) -> Shape:
        """What is said of a place. A schema that is nothing but itself says nothing."""
        if isinstance(schema, bool):
            return Shape() if schema else NOTHING
        if not isinstance(schema, Mapping):
            raise schema_error(repr(schema), place, "JSON Schema: a dictionary")
        key = id(schema)
        if key in self.shapes:
            known = self.shapes[key]
            self.n_loops += known is None
            return known or Shape()
        self.shapes[key], n_loops = None, self.n_loops
        shape = self._all_of(self._said(schema, place))
        if n_loops == self.n_loops:
            self.shapes[key] = shape
        else:
            del self.shapes[key]  # only true within the loop
        return shape

    def _said(self, schema: Mapping[Any, Any], place: str) -> list[Shape]:
        """What each part of a schema says."""
        shapes = [] if _AT_TIMES in schema else [self._own(schema, place)]
        read = partial(self.shape, place=place)
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
        if "$ref" in schema:
            if self.is_old:  # what stands beside a reference is ignored there; here it can't rule anything out
                shapes = [replace(shape, is_at_times=True) for shape in shapes]
            shapes.insert(1, read(self._target(schema["$ref"], place)))
        return shapes

    def _own(self, schema: Mapping[Any, Any], place: str) -> Shape:
        """What the words of the schema itself say."""
        shape = Shape(objects=self._own_object(schema, place), arrays=self._own_array(schema))
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            shape = self._all_of([shape, of_values(values, place)])
        kinds = schema.get("type")
        if kinds is None or (isinstance(kinds, str) and kinds.lower() == "any"):
            kind = FORMATS.get(str(schema.get("format")))
            return shape if kind is None else self._all_of([shape, Shape((Leaf(kind),), None, None)])
        if not isinstance(kinds, list):
            kinds = [kinds]
        if not kinds:
            raise schema_error(f"type {schema['type']!r}", place, "a type")
        allowed = []
        for kind in kinds:  # a schema among the types is of draft 3
            is_schema = isinstance(kind, Mapping)
            allowed.append(self.shape(kind, place) if is_schema else of_type(kind, schema, place))
        both = self._all_of([shape, self._any_of(allowed)])
        return shape if both == NOTHING else both  # {"type": "boolean", "enum": ["yes", "no"]}: what it lists counts

    def _own_object(self, schema: Mapping[Any, Any], place: str) -> Object:
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise schema_error(f"properties {properties!r}", place, "a dictionary")
        required = schema.get("required", [])
        if isinstance(required, bool):
            required = []  # of draft 3: it says that this itself is required
        if not isinstance(required, list | tuple) or not all(isinstance(key, str) for key in required):
            raise schema_error(f"required {required!r}", place, "a list of keys")
        own = {key for key, child in properties.items() if isinstance(child, Mapping) and child.get("required") is True}
        patterns = schema.get("patternProperties")
        rests = list(patterns.values()) if isinstance(patterns, Mapping) else []
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if isinstance(others, Mapping | bool) and others is not False:
            rests.append(others)
        rest = self._made("anyOf", rests) if rests else (False if others is False else None)
        return Object(False, properties, frozenset([*required, *own]), rest)

    def _own_array(self, schema: Mapping[Any, Any]) -> Array:
        items, more = schema.get("items"), schema.get("additionalItems")
        first = schema.get("prefixItems", items if isinstance(items, list) else [])
        kinds = [
            *(first if isinstance(first, list) else ()),
            *(own for own in (items, more) if isinstance(own, Mapping)),
        ]
        if items is True and not kinds:
            kinds = [True]
        return Array(False, self._made("anyOf", kinds), bool(first))

    def _all_of(self, shapes: Sequence[Shape]) -> Shape:
        """What all of these say. What goes for some values only can't rule out what the others say."""
        always = [shape for shape in shapes if not shape.is_at_times]
        found = reduce(self._both, always) if always else None
        for shape in shapes:
            if shape.is_at_times:
                found = shape if found is None else self._any_of([self._both(found, shape), found])
        return found or Shape()

    def _both(self, one: Shape, other: Shape) -> Shape:
        leaves = [leaf for a in one.leaves for b in other.leaves if (leaf := common(a, b)) is not None]
        objects, arrays = None, None
        if one.objects is not None and other.objects is not None:
            a, b = one.objects, other.objects
            rest = False if False in (a.rest, b.rest) else self._made("allOf", [a.rest, b.rest])
            properties = self._merged("allOf", [a.properties or {}, b.properties or {}])
            objects = Object(a.is_typed or b.is_typed, properties, a.required | b.required, rest)
        if one.arrays is not None and other.arrays is not None:
            items = self._made("allOf", [one.arrays.items, other.arrays.items])
            flags = one.arrays.is_ordered or other.arrays.is_ordered
            arrays = Array(one.arrays.is_typed or other.arrays.is_typed, items, flags)
        return Shape(tuple(dict.fromkeys(leaves)), objects, arrays)

    def _any_of(self, shapes: Sequence[Shape]) -> Shape:
        """What one of these at least says."""
        leaves = dict.fromkeys(leaf for shape in shapes for leaf in shape.leaves)
        objects = [shape.objects for shape in shapes if shape.objects is not None]
        arrays = [shape.arrays for shape in shapes if shape.arrays is not None]
        either, both = None, None
        if objects:
            told = [own.properties or {} for own in objects]
            required = frozenset.intersection(*(own.required for own in objects))
            is_closed = all(own.rest is False for own in objects)
            rest = False if is_closed else self._made("anyOf", [own.rest for own in objects if own.rest is not False])
            either = Object(any(own.is_typed for own in objects), self._merged("anyOf", told), required, rest)
        if arrays:
            is_ordered, is_typed = any(own.is_ordered for own in arrays), any(own.is_typed for own in arrays)
            both = Array(is_typed, self._made("anyOf", [own.items for own in arrays]), is_ordered)
        return Shape(tuple(leaves), either, both)

    # --- schemas made of others ---

    def _merged(self, name: str, several: Sequence[Mapping[Hashable, Any]]) -> dict[Hashable, Any]:
        """The properties of several schemas; an alternative that doesn't name one allows anything there."""
        merged: dict[Hashable, Any] = {}
        for key in dict.fromkeys(key for own in several for key in own):
            schemas = [own[key] for own in several if key in own]
            merged[key] = self._made(name, schemas, name == "anyOf" and len(schemas) < len(several))
        return merged

    def _made(self, name: str, several: Sequence[Any], is_at_times: bool = False) -> Any:
        """The schema that says what all of these say, or one of them; None says nothing, and so does no schema."""
        schemas = [schema for schema in several if schema is not None]
        if not schemas:
            return None
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
            raise schema_error(got, place, "text")
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
                raise schema_error(got, place, "a path into the same document, such as '#/$defs/Name'")
        for step in unquote(fragment).split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(document, list) and name.isascii() and name.isdigit() and int(name) < len(document):
                document = document[int(name)]
            elif isinstance(document, Mapping) and name in document:
                document = document[name]
            else:
                raise schema_error(got, place, "one that leads to a definition")
        return document


def _parts(parts: Any, name: str, place: str) -> list[Any]:
    if not isinstance(parts, list) or not parts:
        raise schema_error(f"{name} {parts!r}", place, "a list of schemas")
    return parts


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
