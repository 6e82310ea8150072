"""Evidence-grounded objects in model text (:func:`parse_evidence`): JSON, tables and outlines."""

import html
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

from tls_tasks.core.json_text import FoundJson, Stage, find_json
from tls_tasks.core.markdown_tables import table_at
from tls_tasks.core.parsed import Parsed, Problem, beside, folded, problem, problem_kinds, unread_in
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.core.yaml_text import ENTRY, find_yaml
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceObject, EvidenceSchema, known_name, scalar_text

_MAX_DEPTH = 6  # levels of wrappers and lists that are searched

_PLACEHOLDERS = ("...", "…", "str", "string")  # what stands for a quote in a template

_Raw = Mapping[str, Any] | Problem


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
            for attribute, key in self.schema.keys_for(domain):
                value = fields.get(key)
                if value is None:
                    misplaced = any(fields.get(other) is not None for other in attribute.fields.values())
                    issues.append(f"{'misplaced' if misplaced else 'missing'}_{attribute.name}")
                elif value not in attribute.values and scalar_text(value) not in attribute.values:
                    issues.append(f"unknown_{attribute.name}")
        return EvidenceObject(domain, span, fields, tuple(issues))

    def raw(self, value: Any, domain: str | None = None, depth: int = 0, listed: bool = False) -> Iterator[_Raw]:
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
        keys = {self.domain, self.span}
        return sum(not isinstance(entry, Problem) and keys <= entry.keys() for entry in self.raw(value))

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
        return isinstance(value, list) and all(map(self.says_nothing, value))

    def named(self, value: Any) -> Any:
        """An object with the schema's keys in place of those that are spelt in another way: ``evidenceSpan``."""
        if not isinstance(value, Mapping) or set(self.keys.values()).issuperset(value):
            return value
        meant = {key: self.keys.get(folded(str(key)), key) for key in value}
        taken = Counter(meant.values())
        return {key if taken[meant[key]] > 1 else meant[key]: inner for key, inner in value.items()}

    def spelt(self, fields: Mapping[str, Any]) -> Mapping[str, Any]:
        """A model's fields with the schema's spelling of domain and values: case, blanks and hyphens don't matter."""
        domain = fields.get(self.domain)
        name = known_name(domain, self.schema.domains) if isinstance(domain, str) else None
        named = {self.domain: name} if name is not None else {}
        for attribute, key in self.schema.keys_for(name or ""):
            value = fields.get(key)
            if isinstance(value, str) and (known := known_name(value, attribute.values)) is not None:
                named[key] = known
        return {**fields, **named}

    def _is_object(self, value: Mapping[str, Any]) -> bool:
        return self.domain in value or self.span in value

    def _raw_mapping(self, value: Mapping[str, Any], domain: str | None, depth: int, listed: bool) -> Iterator[_Raw]:
        if isinstance(value.get(self.domain), Mapping) or value.get(self.span) in _PLACEHOLDERS:  # a schema, a template
            yield problem("example", repr(dict(value))[:100])
            return
        inners = {key: inner for key, inner in value.items() if isinstance(inner, list | tuple | Mapping)}
        if self.span in value or (self.domain in value and not inners):
            yield {self.domain: domain, **value} if domain is not None else dict(value)
        elif inners:
            own = value.get(self.domain)
            yield from unread_in(value, (), {*inners, self.domain})
            for key, inner in inners.items():
                under = self.domains.get(folded(str(key))) or (own if isinstance(own, str) else domain)
                yield from self.raw(inner, under, depth + 1)
        elif listed:
            yield dict(value)
        elif value:
            yield problem("bad_entry", f"object with {', '.join(map(str, list(value)[:5]))}")


_ELEMENT = re.compile(r"<(?P<key>[A-Za-z][\w.-]{0,60})>(?P<value>[^<]*)</(?P=key)\s*>|</[A-Za-z]")
# A value ends at a comment and goes on in indented lines; a key in quotation marks is one of JSON or of a prompt.
_VALUE = r"(?:[|>][+-]?[ \t]*\n[ \t]*)?(?P<value>[^|>\s](?:(?! # ).)*(?:\n[ \t]+(?![-*+•#`]|.*:(?:\s|$))\S.*){0,20})"
_LINE = re.compile(rf"^(?:#+[ \t]+)?{ENTRY.pattern}(?<![\"']:)[ \t]*{_VALUE}|^(?:#|---|\*\*)", re.MULTILINE)
_FORM = re.compile(rf"{ENTRY.pattern}|[^|]*\||[#*<]|[ \t]+\S")
"""What begins a line of a form: a key, a row, a heading, a tag, what goes on with the line above."""
_EMPTY = frozenset(("", "-", "–", "—", "n/a", "null"))
_QUOTES = ('""', "''", "“”", "‘’", "``")


def find_objects(text: str, reader: ObjectReader) -> FoundJson:
    r"""Find the objects of a text without JSON: rows of tables, XML, lines of keys, or YAML.

    An object needs a span, and a domain: its own, or that of the line above its table.

    Args:
        text: The answer, without thinking.
        reader: Knows the keys; case, blanks and hyphens of a name don't matter.

    Example:
        >>> from tls_tasks.evidence.types import JOURNAL_SCHEMA
        >>> find_objects("Domain: food\nEvidence span: tea", ObjectReader(JOURNAL_SCHEMA)).values
        ([{'domain': 'food', 'evidence_span': 'tea'}],)
    """
    keyed = partial(_by_key, text, reader)
    for form, objects in (("table", _in_tables(text, reader)), ("XML", keyed(_ELEMENT)), ("an outline", keyed(_LINE))):
        if whole := [fields for fields in objects if fields.get(reader.span) and reader.domain in fields]:
            noted = problem("repaired_json", form)
            return FoundJson((whole,), "repaired", (noted, *_beside(text)), ((0, len(text)),))
    return find_yaml(text, reader.count_whole, as_written=True)


def _in_tables(text: str, reader: ObjectReader) -> Iterator[dict[str, str]]:
    """The rows of tables whose columns are keys; a domain may stand in a line of its own above the table."""

    def key_of(cell: str) -> str | None:
        return reader.keys.get(folded(cell))

    lines = text.split("\n")
    heading: dict[str, str] = {}
    index = 0
    while index < len(lines):
        table = table_at(lines, index)
        if table is None:
            if domain := reader.domains.get(folded(lines[index])):
                heading = {reader.domain: domain}
            index += 1
            continue
        index += table.n_lines
        header, *rows = table.rows or [[]]  # none if all its lines are rules
        columns = list(map(key_of, header))
        for cells in rows:
            texts = zip(columns, map(_bare, cells), strict=False)
            yield {**heading, **{key: text for key, text in texts if key and text.lower() not in _EMPTY}}


def _by_key(text: str, reader: ObjectReader, pattern: re.Pattern[str]) -> Iterator[dict[str, str]]:
    """The lines or elements of keys; one that comes again, a heading or another element's end begins another object."""
    fields: dict[str, str] = {}
    for part in pattern.finditer(text):
        key = reader.keys.get(folded(part["key"])) if part["key"] else None
        if part["key"] is None or key in fields:
            yield fields
            fields = {}
        if key is not None:
            fields[key] = _bare(" ".join(html.unescape(part["value"]).split()))
    yield fields


def _beside(text: str) -> Iterator[Problem]:
    """What stands beside the rows, elements and lines of keys."""
    runs = [
        (is_form, "\n".join(run))
        for is_form, run in groupby(text.split("\n"), key=lambda line: bool(_FORM.match(line)))
    ]
    for place, (is_form, run) in enumerate(runs):
        yield from () if is_form else beside(run, is_between=0 < place < len(runs) - 1)


def _bare(cell: str) -> str:
    """A cell without quotes around it."""
    text = cell.replace("\\|", "|").replace('\\"', '"').strip()
    return text[1:-1].replace("''", "'") if len(text) > 1 and text[0] + text[-1] in _QUOTES else text


PROBLEM_KINDS = problem_kinds("evidence", "json")
"""Every kind of problem that :func:`parse_evidence` reports."""

Status = Literal["json", "fence", "scan", "repaired", "failed"]
"""How far a text is from the JSON that was asked for: it is JSON (or JSON Lines); JSON in code fences; JSON in prose or
cut off; JSON that had to be guessed; nothing that can be read."""

_STATUSES: dict[Stage, Status] = {"fence": "fence", "scan": "scan", "truncated": "scan", "repaired": "repaired"}
"""The status of the stages of :func:`~tls_tasks.core.json_text.find_json` that are not ``json``."""

# Repairs between objects that are JSON themselves; any other repair concerns what an object says.
_BETWEEN_OBJECTS = ("comment", "trailing comma", "missing comma")
_MAX_COMPARED = 16  # earlier lists that a list is compared with


@dataclass(frozen=True, slots=True)
class ParsedEvidence(Parsed[tuple[EvidenceObject, ...]]):
    """The objects of a text, what was wrong on the way, and how far the text was from JSON."""

    status: Status = "failed"


def parse_evidence(text: str, schema: EvidenceSchema = JOURNAL_SCHEMA) -> ParsedEvidence:
    """Read the objects that a model wrote.

    Args:
        text: The model's text. Thinking, prose and code fences around the JSON don't matter; several lists or objects
            are read one after the other; what a token limit cut off is dropped, and what stood before it is kept.
            Domains and values of attributes may be in any case.
        schema: Which keys hold domain and span, and what an object must have.

    Returns:
        The objects in the order of the text, those that break the schema too (see ``issues``). An empty tuple if the
        model says that there are none (``[]``); None, a parse failure, if no object can be read: prose, no text, a list
        of strings. Never raises on text.

    Example:
        >>> parsed = parse_evidence('Sure: [{"domain": "food", "evidence_span": "Had tea"}, {"domain": "mi')
        >>> [(found.domain, found.span) for found in parsed.value], parsed.status, parsed.counts()
        ([('food', 'Had tea')], 'scan', {'truncated': 1})
        >>> parse_evidence("[]").value, parse_evidence("There are none.").value
        ((), None)
    """
    return parse_objects(text, ObjectReader(schema))


def parse_objects(text: str, reader: ObjectReader) -> ParsedEvidence:
    """:func:`parse_evidence` by a reader that serves many texts."""
    found = find_json(text, reader.count, reader.count_listed)
    if not found.values:
        # JSON whose objects have neither domain nor span breaks the schema.
        other = find_json(text, lambda value: any(not isinstance(entry, Problem) for entry in reader.raw(value)))
        found = other if other.stage in ("whole", "fence") else found
    answer = strip_thinking(text).text
    if not found.values and not _is_damaged(found):
        other = find_objects(answer, reader)
        found = replace(other, problems=found.problems + other.problems) if other.values else found
    entries = list(_entries(found, reader))
    noted = found.problems + tuple(entry for entry in entries if isinstance(entry, Problem))
    fields: list[Mapping[str, Any]] = [entry for entry in entries if not isinstance(entry, Problem)]
    objects = tuple(reader.read(reader.spelt(entry)) for entry in fields)
    if objects:
        return ParsedEvidence(objects, noted, _status(found))
    empty = find_json(text, reader.says_nothing, lambda value: False)  # what is cut off may have held something
    if _is_damaged(found) or not empty.values:
        return ParsedEvidence(None, noted or tuple(beside(answer, is_between=True)))
    unsaid = unread_in(empty.values, ())  # what says that there is nothing may hold words
    return ParsedEvidence((), tuple(dict.fromkeys((*noted, *empty.problems, *unsaid))), _status(empty))


def _entries(found: FoundJson, reader: ObjectReader) -> Iterator[_Raw]:
    """The entries of the values that count: no list that a later one repeats.

    A model may write a list for each domain or an object a line, and means them all. A list that has half of the
    objects of an earlier one is a new version of it.
    """
    kept: list[tuple[list[_Raw], set[tuple[str, str]]]] = []
    for value in found.values:
        entries = list(reader.raw(value))
        objects = (entry for entry in entries if not isinstance(entry, Problem))
        spans = {(str(entry.get(reader.domain)), str(entry.get(reader.span))) for entry in objects}
        for earlier in kept[-_MAX_COMPARED:] if isinstance(value, list) else ():
            if is_repeated(earlier[1], spans):
                kept.remove(earlier)
                yield problem("draft", str(earlier[0]))
        kept.append((entries, spans))
    for entries, _ in kept:
        yield from entries


def is_repeated(earlier: Set[tuple[str, str]], later: Set[tuple[str, str]]) -> bool:
    """Whether a list has at least half of the objects of an earlier one."""
    return 0 < len(earlier) <= 2 * len(earlier & later)


def _status(found: FoundJson) -> Status:
    guessed = any(noted.kind == "repaired_json" and noted.detail not in _BETWEEN_OBJECTS for noted in found.problems)
    return "repaired" if guessed else _STATUSES.get(found.stage, "json")


def _is_damaged(found: FoundJson) -> bool:
    return any(noted.kind in ("truncated", "broken_json") for noted in found.problems)
