"""JSON Schema of any draft -> the nodes of a schema: see :func:`nodes_of_json_schema`.

Everything that is said of one location, by ``$ref``, ``allOf``, ``anyOf``, ``if`` and the like, is first combined into
a :class:`_Shape`: which scalars a value may be, and which schemas hold for the content of dictionaries and lists. Those
are read in their turn.
"""

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property, reduce
from itertools import chain
from typing import Any, NamedTuple

from referencing import Registry
from referencing.exceptions import PointerToNowhere, Unresolvable
from referencing.jsonschema import DRAFT7, DRAFT202012, specification_with

from tls_tasks.core.errors import InputError
from tls_tasks.trees.compliance import base_type, fits
from tls_tasks.trees.types import MAX_DEPTH, Branch, Leaf, ListOf, RecursiveNode, SchemaNode, UnionNode, merged, unique

_ANY, _NULL = Leaf("any"), Leaf("null")
_DICTIONARY = Branch({}, rest=ListOf(_ANY, is_keyed=True))

_MOST_NODES = 2_000
"""Once a schema has so many nodes, definitions that were followed before are not followed again, but shared; and at ten
times as many what is left is read as anything, which is scored by what is in it."""

_COMMENTS = frozenset({"title", "description", "default", "examples", "example", "$comment", "deprecated"})
_OTHER_NAMES = {
    "long": "integer", "double": "number", "decimal": "number", "list": "array", "tuple": "array", "dict": "object",
    "map": "object", "none": "null", "date-time": "datetime",
}  # fmt: skip
"""Names of types that JSON Schema doesn't have, but that schemas of tools do."""

_FORMATS = {"date": "date", "date-time": "datetime"}
_NARROWER = (("integer", "number"), ("date", "string"), ("datetime", "string"))
_KEYWORDS: Mapping[str, Any] = {"properties": Mapping, **dict.fromkeys(["enum", "allOf", "anyOf", "oneOf"], list)}
"""What keywords have; lists of values and of schemas have one at least."""


class _Container(NamedTuple):
    """What a schema says of dictionaries, or of lists.

    Attributes:
        is_typed: Whether ``type`` names them.
        properties: Key -> schema.
        required: The keys that must be there.
        rest: The schema of all other keys, or of the items of a list; False: there are none; None: unspecified.
        is_ordered: Whether items are compared by position.
    """

    is_typed: bool = False
    properties: Mapping[Hashable, Any] = {}
    required: frozenset[Hashable] = frozenset()
    rest: Any = None
    is_ordered: bool = False

    @property
    def is_described(self) -> bool:
        """Whether the schema says anything of the content."""
        return self.is_typed or bool(self.properties) or not (self.rest is None or isinstance(self.rest, bool))


class _Shape(NamedTuple):
    """What values may be: scalars of these leaves; dictionaries and lists unless None.

    A partial shape holds for some of the values only (``if``).
    """

    leaves: tuple[Leaf, ...] = (_ANY,)
    objects: _Container | None = _Container()
    arrays: _Container | None = _Container()
    is_partial: bool = False


_NOTHING, _TYPED = _Shape((), None, None), _Container(is_typed=True)
_SCALARS = ("string", "integer", "number", "boolean", "null", *_FORMATS.values())
_SHAPES = {
    **{name: _Shape((Leaf(name),), None, None) for name in _SCALARS},
    "object": _Shape((), _TYPED, None),
    "array": _Shape((), None, _TYPED),
    "any": _Shape(),
}
"""What a type allows."""


class _Combined(NamedTuple):
    """A schema that we made of several: ``allOf`` or ``anyOf`` them; partial if it holds for some values only."""

    name: str
    parts: tuple[Any, ...]
    is_partial: bool


def nodes_of_json_schema(document: Any) -> SchemaNode:
    """Return the root node of a JSON Schema document.

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


class _Reader:
    """Reads one document; references are looked up in it."""

    def __init__(self, document: Any) -> None:
        self.document, self.path = document, "$"
        self.draft = str(document.get("$schema")) if isinstance(document, Mapping) else ""
        self.n_nodes = self.n_loops = 0
        self.nodes: dict[Hashable, SchemaNode] = {}  # of what is read now a node that refers to it
        self.shapes: dict[int, _Shape | None] = {}  # by the id of the schema; None: it is being read
        self.combined: dict[Hashable, _Combined] = {}

    def node(self, schema: Any, path: str, depth: int) -> SchemaNode:
        self.path = path
        if depth > MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} levels", "fewer")
        key = self._key(schema)
        if self.n_nodes >= 10 * _MOST_NODES:
            return _ANY
        cached = self.nodes.get(key)
        if cached and (isinstance(cached, RecursiveNode) or self.n_nodes >= _MOST_NODES):
            return cached if isinstance(cached, Leaf | RecursiveNode) else RecursiveNode(cached)
        self.n_nodes += 1
        self.nodes[key] = reference = RecursiveNode()
        reference.node = self.nodes[key] = self._build_node(self._shape(schema), path, depth)
        return self.nodes[key]

    def _error(self, got: str, expected: str) -> InputError:
        return InputError("schema (read as JSON Schema)", None, f"{got} at {self.path}", expected)

    def _build_node(self, shape: _Shape, path: str, depth: int) -> SchemaNode:
        leaves, objects, arrays, _ = shape
        parts: list[SchemaNode] = []
        if objects and objects.is_described:
            parts.append(self._branch(objects, path, depth))
        if arrays and arrays.is_described:
            items = self.node(True if arrays.rest is None else arrays.rest, f"{path}[]", depth + 1)
            parts.append(ListOf(items, arrays.is_ordered))
        if parts and not any(container and container.is_typed for container in (objects, arrays)):
            leaves = tuple(leaf for leaf in leaves if leaf != _ANY)
        if any(leaf != _NULL or not parts for leaf in leaves):
            parts.append(merged(leaves))
        if not parts:
            got = "what no value can be (allOf of different types, or false)"
            raise self._error(got, "a schema that can be met")
        if len(parts) == 1:
            return parts[0]
        return UnionNode(tuple(_DICTIONARY if part == Leaf("object") else part for part in parts))

    def _branch(self, objects: _Container, path: str, depth: int) -> SchemaNode:
        properties = {key: schema for key, schema in objects.properties.items() if schema is not False}
        if not properties and objects.rest in (None, True):
            return Leaf("object")
        children = {key: self.node(schema, f"{path}.{key}", depth + 1) for key, schema in properties.items()}
        rest = None
        if objects.rest not in (None, False):
            rest = ListOf(self.node(objects.rest, f"{path}.*", depth + 1), is_keyed=True)
        return Branch(children, objects.required & children.keys(), rest)

    # --- references ---

    def _key(self, schema: Any) -> Hashable:
        """Return an identifier of a schema; references to one definition have the same."""
        for _ in range(MAX_DEPTH):
            if not isinstance(schema, Mapping) or "$ref" not in schema or not schema.keys() <= {"$ref", *_COMMENTS}:
                break
            schema = self._target(schema)
        return id(schema)

    def _target(self, schema: Mapping[str, Any]) -> Any:
        """Return the schema that the ``$ref`` of a schema leads to."""
        expected = "a path into the same document, such as '#/$defs/Name'"
        for base in (schema, self.document):
            try:
                return self.resolvers[id(base)].lookup(schema["$ref"]).contents
            except PointerToNowhere:  # noqa: PERF203 - the second is for a document whose $ids are no base
                expected = "one that leads to a definition"
            except (Unresolvable, AttributeError, TypeError, ValueError):  # or the document is no valid JSON Schema
                continue
        raise self._error(f"$ref {schema['$ref']!r}", expected)

    @cached_property
    def resolvers(self) -> dict[int, Any]:
        """By the id of a dictionary what resolves references there: relative to the nearest ``$id`` around it."""
        specification = specification_with(self.draft, DRAFT7 if "definitions" in self.document else DRAFT202012)
        root = specification.create_resource(self.document)
        waiting, resolvers = [(self.document, Registry().resolver_with_root(root))], dict[int, Any]()
        while waiting:
            value, resolver = waiting.pop()
            if id(value) in resolvers or not isinstance(value, Mapping | list):
                continue
            if isinstance(value, Mapping) and any(isinstance(value.get(name), str) for name in ("$id", "id")):
                resolver = resolver.in_subresource(specification.create_resource(value))
            resolvers[id(value)] = resolver
            waiting += [(inner, resolver) for inner in (value.values() if isinstance(value, Mapping) else value)]
        return resolvers

    # --- shapes ---

    def _shape(self, schema: Any) -> _Shape:
        """Return the shape that a schema allows; a schema that refers to itself only allows everything."""
        if isinstance(schema, bool):
            return _Shape() if schema else _NOTHING
        if not isinstance(schema, Mapping | _Combined):
            raise self._error(repr(schema), "JSON Schema: a dictionary")
        if id(schema) in self.shapes:
            self.n_loops += self.shapes[id(schema)] is None
            return self.shapes[id(schema)] or _Shape()
        self.shapes[id(schema)], n_loops = None, self.n_loops
        if isinstance(schema, Mapping):
            shape = self._merge("allOf", self._statements(schema))
        else:
            parts = list(map(self._shape, schema.parts))
            shape = self._merge(schema.name, parts)._replace(is_partial=schema.is_partial)
        self.shapes[id(schema)] = shape
        if n_loops != self.n_loops:
            del self.shapes[id(schema)]  # this shape holds only within the loop
        return shape

    def _statements(self, schema: Mapping[str, Any]) -> list[_Shape]:
        """List the shapes that each keyword of a schema allows."""
        for name, kind in _KEYWORDS.items():
            if name in schema and not (isinstance(schema[name], kind) and (schema[name] or kind is not list)):
                raise self._error(f"{name} {schema[name]!r}", "a dictionary" if kind is Mapping else "a list")
        shapes = [self._keywords_shape(schema)]
        shapes += map(self._shape, schema.get("allOf", []))
        for name in ("anyOf", "oneOf"):
            if name in schema:
                shapes.append(self._merge("anyOf", list(map(self._shape, schema[name]))))
        cases = [schema.get(name) for name in ("if", "then", "else") if "if" in schema]
        shapes += [self._shape(case)._replace(is_partial=True) for case in cases if isinstance(case, Mapping)]
        if "$ref" in schema:
            # in old drafts what stands beside a reference is ignored; here it can't rule anything out
            if any(f"draft-0{number}" in self.draft for number in (4, 6, 7)):
                shapes = [shape._replace(is_partial=True) for shape in shapes]
            shapes.insert(1, self._shape(self._target(schema)))
        return shapes

    def _keywords_shape(self, schema: Mapping[str, Any]) -> _Shape:
        """Return the shape by the keywords without schemas for the same location (``type``, ``enum``, ``items`` …)."""
        shape, kinds = _Shape((_ANY,), self._objects(schema), self._arrays(schema)), schema.get("type")
        if "enum" in schema or "const" in schema:
            shape = self._merge("allOf", [shape, _enum_shape(schema.get("enum", [schema.get("const")]))])
        shapes = [self._type_shape(kind, schema) for kind in (kinds if kinds and isinstance(kinds, list) else [kinds])]
        both = self._merge("allOf", [shape, self._merge("anyOf", shapes)])
        return shape if both == _NOTHING else both  # {"type": "boolean", "enum": ["yes", "no"]}: what it lists counts

    def _type_shape(self, kind: Any, schema: Mapping[Any, Any]) -> _Shape:
        """Return the shape that a type allows; for None, without a type, that of its format, or any."""
        name = "any" if kind is None else str(kind).lower()
        name = _OTHER_NAMES.get(name, base_type(name))
        if kind is None or name == "string":
            name = _FORMATS.get(str(schema.get("format")), name)
        if name not in _SHAPES:
            raise self._error(f"type {kind!r}", f"one of {', '.join(_SHAPES)}")
        return _SHAPES[name]

    def _objects(self, schema: Mapping[str, Any]) -> _Container:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        if not isinstance(required, list | tuple) or not all(isinstance(key, str) for key in required):
            raise self._error(f"required {required!r}", "a list of keys")
        patterns = schema.get("patternProperties")
        extra = schema.get("additionalProperties")
        rests = list(patterns.values()) if isinstance(patterns, Mapping) else []
        rests += [rule for rule in [extra] if rule is True or isinstance(rule, Mapping)]
        rest = False if extra is False and not rests else self._combine("anyOf", rests)
        return _Container(False, properties, frozenset(required), rest)

    def _arrays(self, schema: Mapping[str, Any]) -> _Container:
        items = schema.get("items")
        first = schema.get("prefixItems", items if isinstance(items, list) else [])
        several = [*(first if isinstance(first, list) else ()), *([items] if isinstance(items, Mapping) else ())]
        return _Container(rest=self._combine("anyOf", several), is_ordered=bool(first))

    # --- what is made of others ---

    def _merge(self, name: str, shapes: Sequence[_Shape]) -> _Shape:
        """Return the shape that all of these allow (``allOf``), or at least one of them (``anyOf``); it is not partial.

        In ``allOf`` a partial shape can't rule out what the others say.
        """
        some = [shape._replace(is_partial=False) for shape in shapes if shape.is_partial and name == "allOf"]
        if some:
            whole = self._merge(name, [_Shape(), *(shape for shape in shapes if not shape.is_partial)])
            for shape in some:
                whole = self._merge("anyOf", [self._merge(name, [whole, shape]), whole])
            return whole
        leaves, objects, arrays, _ = zip(*shapes, strict=True)
        together = reduce(_intersect_leaves, leaves) if name == "allOf" else chain(*leaves)
        return _Shape(tuple(dict.fromkeys(together)), self._contents(name, objects), self._contents(name, arrays))

    def _contents(self, name: str, several: Sequence[_Container | None]) -> _Container | None:
        """Combine what several schemas say of dictionaries, or of lists, by ``allOf`` or ``anyOf``."""
        present, is_all = [container for container in several if container], name == "allOf"
        if len(present) < (len(several) if is_all else 1):
            return None
        typed, keyed, required, rests, ordered = zip(*present, strict=True)
        properties: dict[Hashable, Any] = {}
        for key in dict.fromkeys(chain(*keyed)):
            schemas = [container[key] for container in keyed if key in container]
            # an alternative that doesn't name a property allows anything there
            properties[key] = self._combine(name, schemas, not is_all and len(schemas) < len(present))
        rest: Any = False
        if not (any if is_all else all)(container is False for container in rests):
            rest = self._combine(name, [container for container in rests if container is not False])
        common = (frozenset.union if is_all else frozenset.intersection)(*required)
        return _Container(any(typed), properties, common, rest, any(ordered))

    def _combine(self, name: str, several: Sequence[Any], is_partial: bool = False) -> Any:
        """Return one schema for ``allOf`` or ``anyOf`` of several; None, as no schema, says nothing.

        Schemas of one kind are merged, so that combining them again and again comes to an end.
        """
        parts: dict[Hashable, Any] = {}
        for schema in several:
            is_alike = isinstance(schema, _Combined) and schema.name == name
            is_partial = is_partial or (is_alike and schema.is_partial)
            inner = schema.parts if is_alike else [] if schema is None else [schema]
            parts |= {self._key(part): part for part in inner}
        if not parts or (len(parts) == 1 and not is_partial):
            return next(iter(parts.values()), None)
        combined = _Combined(name, tuple(parts.values()), is_partial)
        return self.combined.setdefault((name, is_partial, frozenset(parts)), combined)


def _enum_shape(values: Sequence[Any]) -> _Shape:
    """Return the shape that ``enum`` allows."""
    scalars = [value for value in values if isinstance(value, str | bool | int | float)]
    leaves = [*([Leaf("choice", unique(scalars))] if scalars else []), *([_NULL] if None in values else [])]
    has_objects, has_arrays = (any(isinstance(value, kind) for value in values) for kind in (Mapping, list))
    return _Shape(tuple(leaves), _TYPED if has_objects else None, _TYPED if has_arrays else None)


def _intersect_leaves(lefts: Sequence[Leaf], rights: Sequence[Leaf]) -> Sequence[Leaf]:
    """Return the leaves with the values that are in both groups of leaves."""
    shared = (_intersect_leaf(first, second) for first in lefts for second in rights)
    return tuple(dict.fromkeys(leaf for leaf in shared if leaf))


def _intersect_leaf(leaf: Leaf, partner: Leaf) -> Leaf | None:
    """Return the leaf with the values that two leaves share; None if they share none."""
    if _ANY in (leaf, partner):
        return partner if leaf == _ANY else leaf
    for first, second in ((leaf, partner), (partner, leaf)):
        if first.choices:
            allowed = set(map(repr, second.choices))
            choices = [value for value in first.choices if (repr(value) in allowed if allowed else fits(value, second))]
            return Leaf("choice", tuple(choices)) if choices else None
    if leaf == partner:
        return leaf
    return next((Leaf(low) for low, high in _NARROWER if {low, high} == {leaf.type, partner.type}), None)
