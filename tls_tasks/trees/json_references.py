"""References within a document of JSON Schema: ``#/$defs/Name``, ``$anchor``, ``$id``; nothing is ever fetched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from referencing import Registry
from referencing.exceptions import PointerToNowhere, Unresolvable
from referencing.jsonschema import DRAFT7, DRAFT202012, specification_with

from tls_tasks.trees.json_shapes import schema_error


class References:
    """The definitions that the references of a document lead to."""

    def __init__(self, document: Any, draft: str) -> None:
        is_old = isinstance(document, Mapping) and "definitions" in document
        self.specification = specification_with(draft, DRAFT7 if is_old else DRAFT202012)
        self.document = document
        self.targets: dict[int, Any] = {}
        self.resolvers: dict[int, Any] = {}  # of schemas with a reference: relative to the nearest $id around them

    def target(self, schema: Mapping[str, Any], path: str) -> Any:
        """The schema that ``$ref`` of a schema leads to."""
        if id(schema) not in self.targets:
            self.targets[id(schema)] = self._found(schema, path)
        return self.targets[id(schema)]

    def _found(self, schema: Mapping[str, Any], path: str) -> Any:
        reference = schema["$ref"]
        if not isinstance(reference, str):
            raise schema_error(f"$ref {reference!r}", path, "text")
        if not self.resolvers:
            self._walk()
        expected = "a path into the same document, such as '#/$defs/Name'"
        for resolver in (self.resolvers[id(schema)], self.resolvers[id(self.document)]):
            try:
                return resolver.lookup(reference).contents
            except PointerToNowhere:  # noqa: PERF203 - the second is for a document whose $ids are no base
                expected = "one that leads to a definition"
            except (Unresolvable, AttributeError, TypeError, ValueError):  # or the document is no valid JSON Schema
                continue
        raise schema_error(f"$ref {reference!r}", path, expected)

    def _walk(self) -> None:
        """Find the resolver of every dictionary."""
        root = self.specification.create_resource(self.document)
        waiting = [(self.document, Registry().resolver_with_root(root))]
        while waiting:
            value, resolver = waiting.pop()
            if id(value) in self.resolvers:
                continue
            if isinstance(value, Mapping):
                names = [value.get("$id"), value.get("id")]
                if any(isinstance(name, str) for name in names):
                    resolver = resolver.in_subresource(self.specification.create_resource(value))
                self.resolvers[id(value)] = resolver
                waiting += [(inner, resolver) for inner in value.values()]
            elif isinstance(value, list):
                waiting += [(inner, resolver) for inner in value]
