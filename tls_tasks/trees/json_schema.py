"""JSON Schema of any draft -> the nodes of a schema: see :func:`nodes_of_json_schema`.

Everything that is said of one location, by ``$ref``, ``allOf``, ``anyOf``, ``if`` and the like, is first combined into
a :class:`Shape`: which scalars a value may be, and which schemas hold for the content of dictionaries and lists. Those
are read in their turn.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import chain
from typing import Any

from tls_tasks.trees.json_references import References
from tls_tasks.trees.json_shapes import ANY, NOTHING, NULL, Container, Shape, common, of_type, of_values, schema_error
from tls_tasks.trees.types import MAX_DEPTH, Again, Branch, Leaf, ListOf, OneOf, SchemaNode, any_leaf

_MOST_NODES = 2_000
"""Once a schema has so many nodes, definitions that were followed before are not followed again, but shared; and at ten
times as many what is left is read as anything, which is scored by what is in it."""

_COMMENTS = frozenset({"title", "description", "default", "examples", "example", "$comment", "deprecated"})
_OLD_DRAFTS = tuple(f"draft-0{number}" for number in (3, 4, 6, 7))
_DICTIONARY = Branch({}, rest=ListOf(ANY, is_keyed=True))


def nodes_of_json_schema(document: Any) -> SchemaNode:
    """The root node of a document.

    Raises:
        InputError: Something that can't be read; the message names the path in the tree.

    Example:
        >>> nodes_of_json_schema({"type": "array", "items": {"type": ["INTEGER", "null"]}})
        ListOf(item=Leaf(type='integer', choices=()))
        >>> tree = nodes_of_json_schema({"properties": {"name": {"type": "string"}, "parent": {"$ref": "#"}}})
        >>> tree.children["parent"].node is tree
        True
    """
    return _Reader(document).node(document, "$", 0)


@dataclass(frozen=True, slots=True, eq=False)
class _Combined:
    """A schema that we made of several: ``allOf`` or ``anyOf`` them; partial if it holds for some values only."""

    name: str
    parts: tuple[Any, ...]
    is_partial: bool


class _Reader:
    """Reads one document; references are looked up in it."""

    def __init__(self, document: Any) -> None:
        draft = str(document.get("$schema")) if isinstance(document, Mapping) else ""
        self.is_old = any(name in draft for name in _OLD_DRAFTS)
        self.references = References(document, draft)
        self.n_nodes = 0
        self.open: dict[Hashable, Again] = {}  # schemas that are read now, from the root down to here
        self.known: dict[Hashable, SchemaNode] = {}
        self.shapes: dict[int, Shape | None] = {}  # by the id of the schema; None: it is being read
        self.n_loops = 0
        self.combined: dict[Hashable, _Combined] = {}

    def node(self, schema: Any, path: str, depth: int) -> SchemaNode:
        if depth > MAX_DEPTH:
            raise schema_error(f"more than {MAX_DEPTH} levels", path, "fewer")
        key = self._key(schema, path)
        if self.n_nodes >= 10 * _MOST_NODES:
            return ANY
        if key in self.open:
            return self.open[key]
        if self.n_nodes >= _MOST_NODES and key in self.known:
            known = self.known[key]
            return known if isinstance(known, Leaf | Again) else Again(known)
        self.n_nodes += 1
        self.open[key] = again = Again()
        again.node = self.known[key] = self._built(self.shape(schema, path), path, depth)
        del self.open[key]
        return self.known[key]

    def _key(self, schema: Any, path: str) -> Hashable:
        """What identifies a schema: two references to one definition are the same."""
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, Mapping) or "$ref" not in schema or not schema.keys() <= {"$ref", *_COMMENTS}:
                break
            schema = self.references.target(schema, path)
        return schema if isinstance(schema, bool) else id(schema)

    def _built(self, shape: Shape, path: str, depth: int) -> SchemaNode:
        objects, arrays = shape.objects, shape.arrays
        parts: list[SchemaNode] = []
        if objects is not None and objects.is_described:
            parts.append(self._branch(objects, path, depth))
        if arrays is not None and arrays.is_described:
            items = self.node(True if arrays.rest is None else arrays.rest, f"{path}[]", depth + 1)
            parts.append(ListOf(items, arrays.is_ordered))
        is_typed = any(own is not None and own.is_typed for own in (objects, arrays))
        present = [leaf for leaf in shape.leaves if leaf != NULL and (leaf != ANY or is_typed or not parts)]
        if present:
            parts.append(any_leaf(present))
        elif not parts and NULL in shape.leaves:
            parts.append(NULL)
        if not parts:
            got = "what no value can be (allOf of different types, or false)"
            raise schema_error(got, path, "a schema that can be met")
        if len(parts) == 1:
            return parts[0]
        return OneOf(tuple(_DICTIONARY if part == Leaf("object") else part for part in parts))

    def _branch(self, objects: Container, path: str, depth: int) -> SchemaNode:
        properties = {key: schema for key, schema in objects.properties.items() if schema is not False}
        if not properties and objects.rest in (None, True):
            return Leaf("object")
        children = {key: self.node(schema, f"{path}.{key}", depth + 1) for key, schema in properties.items()}
        rest = None
        if objects.rest not in (None, False):
            rest = ListOf(self.node(objects.rest, f"{path}.*", depth + 1), is_keyed=True)
        return Branch(children, objects.required & children.keys(), rest)

    # --- shapes ---

    def shape(self, schema: Any, path: str) -> Shape:
        """What is said of a location. A schema that is nothing but itself says nothing."""
        if isinstance(schema, bool):
            return Shape() if schema else NOTHING
        if not isinstance(schema, Mapping | _Combined):
            raise schema_error(repr(schema), path, "JSON Schema: a dictionary")
        key = id(schema)
        if key in self.shapes:
            known = self.shapes[key]
            self.n_loops += known is None
            return known or Shape()
        self.shapes[key], n_loops = None, self.n_loops
        if isinstance(schema, Mapping):
            shape = self._all_of(self._statements(schema, path))
        elif schema.name == "allOf":
            shape = self._all_of([Shape(), *(self.shape(part, path) for part in schema.parts)])
        else:
            shape = self._any_of([self.shape(part, path) for part in schema.parts])
            shape = replace(shape, is_partial=schema.is_partial)
        if n_loops == self.n_loops:
            self.shapes[key] = shape
        else:
            del self.shapes[key]  # only true within the loop
        return shape

    def _statements(self, schema: Mapping[str, Any], path: str) -> list[Shape]:
        """What each keyword of a schema says."""
        read = partial(self.shape, path=path)
        shapes = [self._of_keywords(schema, path)]
        extended = schema.get("extends", [])  # allOf of draft 3
        shapes += map(read, extended if isinstance(extended, list) else [extended])
        shapes += map(read, _alternatives(schema, "allOf", path))
        for name in ("anyOf", "oneOf"):
            if name in schema:
                shapes.append(self._any_of(list(map(read, _alternatives(schema, name, path)))))
        cases = [schema.get(name) for name in ("if", "then", "else") if "if" in schema]
        for name in ("dependencies", "dependentSchemas"):
            cases += schema[name].values() if isinstance(schema.get(name), Mapping) else ()
        shapes += [replace(read(case), is_partial=True) for case in cases if isinstance(case, Mapping)]
        if "$ref" in schema:
            if self.is_old:  # what stands beside a reference is ignored there; here it can't rule anything out
                shapes = [replace(shape, is_partial=True) for shape in shapes]
            shapes.insert(1, read(self.references.target(schema, path)))
        return shapes

    def _of_keywords(self, schema: Mapping[str, Any], path: str) -> Shape:
        """What the keywords say that hold no schemas for the same location."""
        shape = Shape(objects=self._objects(schema, path), arrays=self._arrays(schema))
        if "enum" in schema or "const" in schema:
            values = schema["enum"] if "enum" in schema else [schema["const"]]
            shape = self._all_of([shape, of_values(values, path)])
        kinds = schema.get("type")
        if kinds == []:
            raise schema_error("type []", path, "a type")
        kinds = kinds if isinstance(kinds, list) else [kinds]
        both = self._all_of([shape, self._any_of([of_type(kind, schema, path) for kind in kinds])])
        return shape if both == NOTHING else both  # {"type": "boolean", "enum": ["yes", "no"]}: what it lists counts

    def _objects(self, schema: Mapping[str, Any], path: str) -> Container:
        properties = schema.get("properties", {})
        if not isinstance(properties, Mapping):
            raise schema_error(f"properties {properties!r}", path, "a dictionary")
        required = schema.get("required", [])
        if isinstance(required, bool):
            required = []  # of draft 3: this value itself is required
        if not isinstance(required, list | tuple) or not all(isinstance(key, str) for key in required):
            raise schema_error(f"required {required!r}", path, "a list of keys")
        patterns = schema.get("patternProperties")
        rests = list(patterns.values()) if isinstance(patterns, Mapping) else []
        others = schema.get("additionalProperties", schema.get("unevaluatedProperties"))
        if others is True or isinstance(others, Mapping):
            rests.append(others)
        rest = self._combine("anyOf", rests) if rests else (False if others is False else None)
        return Container(False, properties, frozenset(required), rest)

    def _arrays(self, schema: Mapping[str, Any]) -> Container:
        items = schema.get("items")
        first = schema.get("prefixItems", items if isinstance(items, list) else [])
        others = [own for own in (items, schema.get("additionalItems")) if isinstance(own, Mapping)]
        several = [*(first if isinstance(first, list) else ()), *others]
        return Container(rest=self._combine("anyOf", several), is_ordered=bool(first))

    def _all_of(self, shapes: Sequence[Shape]) -> Shape:
        """What all of these say. A partial shape can't rule out what the others say."""
        always = [shape for shape in shapes if not shape.is_partial]
        found = reduce(self._both, always) if always else None
        for shape in shapes:
            if shape.is_partial:
                found = self._any_of([self._both(found, shape), found]) if found else shape
        return found or Shape()

    def _both(self, left: Shape, right: Shape) -> Shape:
        shared = [common(one, other) for one in left.leaves for other in right.leaves]
        leaves = tuple(dict.fromkeys(leaf for leaf in shared if leaf is not None))
        objects = self._contents("allOf", [left.objects, right.objects])
        return Shape(leaves, objects, self._contents("allOf", [left.arrays, right.arrays]))

    def _any_of(self, shapes: Sequence[Shape]) -> Shape:
        """What at least one of these says."""
        leaves = dict.fromkeys(leaf for shape in shapes for leaf in shape.leaves)
        objects, arrays = [shape.objects for shape in shapes], [shape.arrays for shape in shapes]
        return Shape(tuple(leaves), self._contents("anyOf", objects), self._contents("anyOf", arrays))

    def _contents(self, name: str, several: Sequence[Container | None]) -> Container | None:
        """What ``allOf`` or ``anyOf`` of these says of dictionaries, or of lists."""
        present = [own for own in several if own is not None]
        is_all = name == "allOf"
        if not present or (is_all and len(present) < len(several)):
            return None
        closed = [own.rest is False for own in present]
        is_closed = any(closed) if is_all else all(closed)
        rest = False if is_closed else self._combine(name, [own.rest for own in present if own.rest is not False])
        required = (frozenset.union if is_all else frozenset.intersection)(*(own.required for own in present))
        properties = self._properties(name, [own.properties for own in present])
        is_typed, is_ordered = any(own.is_typed for own in present), any(own.is_ordered for own in present)
        return Container(is_typed, properties, required, rest, is_ordered)

    # --- schemas made of others ---

    def _properties(self, name: str, several: Sequence[Mapping[Hashable, Any]]) -> dict[Hashable, Any]:
        """The properties of several schemas; an alternative that doesn't name one allows anything there."""
        merged: dict[Hashable, Any] = {}
        for key in dict.fromkeys(chain(*several)):
            schemas = [own[key] for own in several if key in own]
            merged[key] = self._combine(name, schemas, name == "anyOf" and len(schemas) < len(several))
        return merged

    def _combine(self, name: str, several: Sequence[Any], is_partial: bool = False) -> Any:
        """The schema that says what all of these say, or one of them; None says nothing, and so does no schema.

        Schemas of one kind are merged, so that combining them again and again comes to an end.
        """
        parts: dict[Hashable, Any] = {}
        for schema in several:
            is_alike = isinstance(schema, _Combined) and schema.name == name
            is_partial = is_partial or (is_alike and schema.is_partial)
            inner = schema.parts if is_alike else [] if schema is None else [schema]
            parts |= {self._key(part, "$"): part for part in inner}
        if not parts or (len(parts) == 1 and not is_partial):
            return next(iter(parts.values()), None)
        made = _Combined(name, tuple(parts.values()), is_partial)
        return self.combined.setdefault((name, is_partial, frozenset(parts)), made)


def _alternatives(schema: Mapping[str, Any], name: str, path: str) -> list[Any]:
    parts = schema.get(name, [])
    if not isinstance(parts, list) or (name in schema and not parts):
        raise schema_error(f"{name} {parts!r}", path, "a list of schemas")
    return parts
