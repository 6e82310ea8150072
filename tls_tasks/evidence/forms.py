"""Objects in other forms than JSON: tables, XML, YAML, lines of ``key: value``, by the names of the schema's keys."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.core.json_text import FoundJson
from tls_tasks.core.json_values import folded, problem
from tls_tasks.core.markdown_tables import table_at
from tls_tasks.core.yaml_text import find_yaml
from tls_tasks.evidence.objects import ObjectReader
from tls_tasks.evidence.types import EvidenceSchema

_Found = tuple[list[dict[str, str]], tuple[int, int]]  # objects, and where they stand

_FENCE = ("```", "~~~")
_LEAF = re.compile(r"<([A-Za-z][\w.-]{0,60})>([^<]*)</\1\s*>|</[A-Za-z]")
_WITH_ATTRIBUTES = re.compile(r"<[A-Za-z][\w.-]{0,60}\s([^<>]*)>([^<]*)")
_ATTRIBUTE = re.compile(r"([A-Za-z][\w.-]{0,60})\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)')")
_HEADING = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]+|(?:\d{1,2}[.)][ \t]+)?(?=\*\*))\**([A-Za-z][\w -]{0,60})\**:?\**[ \t]*$", re.MULTILINE
)
_ONE_WORD = re.compile(r"[\w-]{1,40}")
_QUOTED = re.compile(r"\s*([\"'])(.*)\1\s*[)\]},;|]")
_EITHER = re.compile(r"\s*/\s*|\s+or\s+", re.IGNORECASE)
_EMPTY = frozenset(("", "-", "–", "—", "n/a", "null"))
_QUOTES = ('""', "''", "“”", "‘’", "``")


def find_objects(text: str, schema: EvidenceSchema) -> FoundJson:
    r"""Find the objects of a text without JSON.

    An object needs a span, and a domain: its own, or that of the heading above it.

    Args:
        text: The answer, without thinking.
        schema: The keys; case, blanks and hyphens of a name don't matter.

    Example:
        >>> from tls_tasks.evidence.types import JOURNAL_SCHEMA
        >>> find_objects("| Domain | Evidence span |\n|---|---|\n| food | tea |", JOURNAL_SCHEMA).values
        ([{'domain': 'food', 'evidence_span': 'tea'}],)
        >>> find_objects("<domain>food</domain><evidence_span>tea</evidence_span>", JOURNAL_SCHEMA).values
        ([{'domain': 'food', 'evidence_span': 'tea'}],)
    """
    reader = ObjectReader(schema)
    names = _Names(reader)
    for form, find in (("table", _in_tables), ("XML", _in_xml)):
        if found := [each for each in find(text, names) if each[0]]:
            values, places = zip(*found, strict=True)
            return FoundJson(values, "repaired", (problem("repaired_json", form),), places)
    outlines, pairs = _in_yaml(text, names, reader), _in_pairs(text, names)
    n_objects = sum(map(reader.count_whole, outlines.values))
    return pairs if len(pairs.values) > n_objects else outlines


class _Names:
    """The schema's keys and domains by the names that a model may give them."""

    def __init__(self, reader: ObjectReader) -> None:
        self.schema, self.keys, self.domains = reader.schema, reader.keys, reader.domains
        self.domain, self.span = self.schema.domain_field, self.schema.span_field

    def columns(self, header: Sequence[str]) -> list[list[str]]:
        """The keys that each column may hold: several under ``intensity_bucket / arousal_bucket``."""
        return [[key for part in _EITHER.split(_bare(cell)) if (key := self.keys.get(folded(part)))] for cell in header]

    def is_header(self, header: Sequence[str]) -> bool:
        """Whether these are the columns of objects."""
        found = [key for keys in self.columns(header) for key in keys]
        return self.domain in found and self.span in found

    def row(self, columns: Sequence[Sequence[str]], cells: Sequence[str], domain: str | None) -> dict[str, str]:
        """The object in a row."""
        texts = [_bare(cell) for cell in cells]
        own = next((text for keys, text in zip(columns, texts, strict=False) if self.domain in keys), domain)
        if own is None:
            return {}
        wanted = {key for _, key in self.schema.fields_of(own)} | {self.domain, self.span}
        found = {self.domain: own}
        for keys, text in zip(columns, texts, strict=False):
            key = next((key for key in keys if key in wanted), keys[0] if keys else None)
            if key is not None and (text.lower() not in _EMPTY or key == self.span):
                found[key] = text
        return found if self.span in found else {}

    def named(self, value: Any) -> Any:
        """A value with the schema's keys and domains in the place of the names that stand for them."""
        if isinstance(value, list):
            return [self.named(entry) for entry in value]
        if isinstance(value, dict):
            return {self.name(str(key)): self.named(inner) for key, inner in value.items()}
        return _bare(value) if isinstance(value, str) else value

    def name(self, written: str) -> str:
        """The key or the domain that a name stands for; itself if it stands for none."""
        name = folded(_bare(written))
        return self.keys.get(name) or self.domains.get(name) or written

    def heading(self, line: str) -> str | None:
        """The domain that a line is the name of."""
        return self.domains.get(folded(line.strip(" \t#*_:`")))


def _bare(cell: str) -> str:
    """A cell without quotes and Markdown around it."""
    text = cell.replace("\\|", "|").strip()
    for mark in ("**", "__", "*", "_"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    if len(text) > 1 and text[0] + text[-1] in _QUOTES:
        text = text[1:-1]
    return text


def _in_tables(text: str, names: _Names) -> Iterator[_Found]:
    lines = text.split("\n")
    index = position = 0
    domain: str | None = None
    while index < len(lines):
        line = lines[index]
        table = table_at(lines, index, names.is_header)
        n_lines = table.n_lines if table else 1
        start, position = position, position + sum(map(len, lines[index : index + n_lines])) + n_lines
        index += n_lines
        if table is not None and table.rows:
            columns = names.columns(table.rows[0])
            found = [names.row(columns, row, domain) for row in table.rows[1:]]
            yield [fields for fields in found if fields], (start, min(position, len(text)))
        elif line.strip() and not line.lstrip().startswith(_FENCE):
            domain = names.heading(line)


def _in_yaml(text: str, names: _Names, reader: ObjectReader) -> FoundJson:
    """Outlines; a heading that is a domain is the key of what is below it."""

    def heading(line: re.Match[str]) -> str:
        return f"{line[1]}:" if names.heading(line[1]) else line[0]

    found = find_yaml(
        _HEADING.sub(heading, text), lambda value: reader.count_whole(names.named(value)), as_written=True
    )
    return replace(found, values=tuple(map(names.named, found.values)))


def _in_pairs(text: str, names: _Names) -> FoundJson:
    """Keys with their values on lines, one or several; a key that comes again begins another object."""
    keys = "|".join(re.escape(key).replace("_", "[ _-]?") for key in sorted(names.keys.values(), key=len, reverse=True))
    pair = re.compile(rf"(?<![^\s,;|({{\[*_`\"'])({keys})[*_`\"']{{0,3}}\s{{0,3}}[:=][*_]{{0,3}}", re.IGNORECASE)
    values: list[dict[str, str]] = [{}]
    places = [(0, 0)]
    domain: str | None = None
    end = 0
    for line in text.split("\n"):
        start, end = end, end + len(line) + 1
        domain = names.heading(line) if line.lstrip().startswith(("#", "**")) else domain
        found = list(pair.finditer(line))
        for at, key in enumerate(found):
            value = line[key.end() : found[at + 1].start() if at + 1 < len(found) else len(line)]
            name = names.keys[folded(key[1])]
            if name in values[-1]:
                values.append({})
                places.append((start, end))
            if not values[-1]:
                values[-1] = {names.domain: domain} if domain and name != names.domain else {}
                places[-1] = start, end
            quoted = _QUOTED.match(value)
            values[-1][name] = quoted[2] if quoted else _bare(value.rstrip(" \t,;|)}]*_"))
            places[-1] = places[-1][0], min(end, len(text))
    whole = [
        at for at, fields in enumerate(values) if _whole(fields, names) and _ONE_WORD.fullmatch(fields[names.domain])
    ]
    if not any(folded(values[at][names.domain]) in names.domains for at in whole):
        whole = []  # prose about the keys
    note = (problem("repaired_json", "lines of key: value"),) if whole else ()
    return FoundJson(tuple(values[at] for at in whole), "repaired", note, tuple(places[at] for at in whole))


def _in_xml(text: str, names: _Names) -> Iterator[_Found]:
    """Elements of keys; one that comes again, or the end of what is around them, begins another object."""
    found: dict[str, str] = {}
    start = end = 0
    for element in _LEAF.finditer(text):
        key = names.keys.get(folded(element[1])) if element[1] else None
        if found and (element[1] is None or key in found):
            yield _whole(found, names), (start, end)
            found = {}
        if key is not None:
            start = start if found else element.start()
            end = element.end()
            found[key] = html.unescape(element[2]).strip()
    yield _whole(found, names), (start, end)
    for element in _WITH_ATTRIBUTES.finditer(text):
        attributes = {
            folded(each[1]): html.unescape(each[2] or each[3] or "") for each in _ATTRIBUTE.finditer(element[1])
        }
        own = {names.keys[key]: value for key, value in attributes.items() if key in names.keys}
        if own and names.span not in own and element[2].strip():
            own[names.span] = html.unescape(element[2]).strip()
        yield _whole(own, names), element.span()


def _whole(fields: dict[str, str], names: _Names) -> list[dict[str, Any]]:
    return [fields] if names.domain in fields and fields.get(names.span) else []
