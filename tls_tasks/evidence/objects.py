"""Read evidence-grounded objects from plain values of any shape; schema violations are noted, never refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from tls_tasks.core.parsed import Problem, folded, problem
from tls_tasks.evidence.types import EvidenceObject, EvidenceSchema, scalar_text

_MAX_DEPTH = 6  # levels of wrappers and lists that are searched

_PLACEHOLDERS = ("...", "…", "str", "string")  # what stands for a quote in a template


class ObjectReader:
    """Reads objects of one schema.

    Example:
        >>> from tls_tasks.evidence.types import JOURNAL_SCHEMA
        >>> reader = ObjectReader(JOURNAL_SCHEMA)
        >>> reader.read({"domain": "sleep", "evidence_span": "", "polarity": "present"}).issues
        ('unknown_domain', 'empty_span', 'missing_level', 'missing_time')
    """

    def __init__(self, schema: EvidenceSchema) -> None:
        self.schema = schema
        self.domain, self.span = schema.domain_field, schema.span_field
        fields = [key for attribute in schema.attributes for key in attribute.fields.values()]
        self.keys = {folded(key): key for key in (*fields, self.domain, self.span)}
        self.domains = {folded(name): name for name in schema.domains}
        self._known = frozenset(self.keys.values())

    def read(self, fields: Mapping[str, Any]) -> EvidenceObject:
        """The object with these fields, and how it violates the schema.

        Issues are ``missing_domain`` (absent or null), ``invalid_domain`` (not text), ``unknown_domain`` (not in the
        schema); ``missing_span``, ``invalid_span``, ``empty_span`` (only blanks); and for each attribute
        ``missing_NAME`` (absent or null), ``misplaced_NAME`` (absent, but present under the key of another domain),
        ``unknown_NAME`` (a value that is not in the schema).
        """
        issues: list[str] = []
        domain, span = fields.get(self.domain), fields.get(self.span)
        if not isinstance(domain, str):
            issues.append("missing_domain" if domain is None else "invalid_domain")
            domain = None
        elif domain not in self.schema.domains:
            issues.append("unknown_domain")
        if not isinstance(span, str):
            issues.append("missing_span" if span is None else "invalid_span")
            span = None
        elif not span or span.isspace():
            issues.append("empty_span")
        if domain is not None:
            for attribute, key in self.schema.fields_of(domain):
                value = fields.get(key)
                if value is None:
                    misplaced = any(fields.get(other) is not None for other in attribute.fields.values())
                    issues.append(f"{'misplaced' if misplaced else 'missing'}_{attribute.name}")
                elif value not in attribute.values and scalar_text(value) not in attribute.values:
                    issues.append(f"unknown_{attribute.name}")
        return EvidenceObject(domain, span, fields, tuple(issues))

    def raw(
        self, value: Any, domain: str | None = None, depth: int = 0, listed: bool = False
    ) -> Iterator[Mapping[str, Any] | Problem]:
        """The fields of each object in a JSON value; an ``example`` for a template, a ``bad_entry`` for anything else.

        An object has the schema's key for the domain or for the span. Nested lists and wrappers around them
        (``{"items": [...]}``, rows of journals) are searched. Under a key that is a domain (``{"food": [...]}``),
        objects without a domain get that domain, and strings are spans. A flat object in a list that has neither key
        counts as an object that violates the schema.

        Args:
            value: A JSON value.
            domain: The domain of objects without one.
            depth: How many wrappers and lists are around it.
            listed: Whether it is an entry of a list.
        """
        if depth > _MAX_DEPTH:
            yield problem("bad_entry", "nested too deeply")
        elif isinstance(value, list | tuple):
            for entry in value:
                yield from self.raw(entry, domain, depth + 1, True)
        elif isinstance(value, Mapping):
            yield from self._raw_mapping(self.named(value), domain, depth, listed)
        elif isinstance(value, str) and domain is not None:
            yield {self.domain: domain, self.span: value}
        elif value is not None or listed:
            yield problem("bad_entry", repr(value)[:100])

    def count(self, value: Any) -> int:
        """How many objects with a domain or a span a value holds."""
        return sum(not isinstance(entry, Problem) and self._is_object(entry) for entry in self.raw(value))

    def count_whole(self, value: Any) -> int:
        """How many objects it holds that have both a domain and a span."""
        return sum(
            not isinstance(entry, Problem) and {self.domain, self.span} <= entry.keys() for entry in self.raw(value)
        )

    def count_listed(self, value: Any) -> int:
        """How many of them are in lists. In truncated JSON, an object outside any list may itself be truncated."""
        if isinstance(value, list):
            return self.count(value)
        inners = value.values() if isinstance(value, dict) else ()
        return sum(self.count_listed(inner) for inner in inners if isinstance(inner, list | dict))

    def says_nothing(self, value: Any) -> bool:
        """Whether a value says that there is nothing: an empty list or object, or one that contains only such values.

        Example:
            >>> from tls_tasks.evidence.types import JOURNAL_SCHEMA
            >>> reader = ObjectReader(JOURNAL_SCHEMA)
            >>> [reader.says_nothing(value) for value in ([], {"items": []}, {"food": [], "mind": []}, [[]], "", None)]
            [True, True, True, True, False, False]
        """
        if isinstance(value, dict):
            inners = [inner for inner in value.values() if isinstance(inner, list | dict)]
            return not self._is_object(value) and all(map(self.says_nothing, inners)) and bool(inners or not value)
        return isinstance(value, list) and all(
            isinstance(entry, list | dict) and self.says_nothing(entry) for entry in value
        )

    def named(self, value: Any) -> Any:
        """An object with the schema's keys in place of those that are spelt in another way: ``evidenceSpan``."""
        if not isinstance(value, Mapping) or self._known.issuperset(value):
            return value
        meant = {key: self.keys.get(folded(str(key)), key) for key in value}
        taken = Counter(meant.values())
        return {key if taken[meant[key]] > 1 else meant[key]: inner for key, inner in value.items()}

    def _is_object(self, value: Mapping[str, Any]) -> bool:
        return self.domain in value or self.span in value

    def _raw_mapping(
        self, value: Mapping[str, Any], domain: str | None, depth: int, listed: bool
    ) -> Iterator[Mapping[str, Any] | Problem]:
        if isinstance(value.get(self.domain), Mapping) or value.get(self.span) in _PLACEHOLDERS:  # a schema, a template
            yield problem("example", repr(dict(value))[:100])
            return
        inners = {key: inner for key, inner in value.items() if isinstance(inner, list | tuple | Mapping)}
        if self.span in value or (self.domain in value and not inners):
            yield {self.domain: domain, **value} if domain is not None else dict(value)
        elif inners:
            own = value.get(self.domain)
            for key, inner in inners.items():
                under = self.domains.get(folded(str(key))) or (own if isinstance(own, str) else domain)
                yield from self.raw(inner, under, depth + 1)
        elif listed:
            yield dict(value)
        elif value:
            yield problem("bad_entry", f"object with {', '.join(map(str, list(value)[:5]))}")
