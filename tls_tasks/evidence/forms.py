"""Objects in other forms than JSON: tables, XML and outlines (YAML, lists), by the names of the schema's keys."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.core.json_text import FoundJson
from tls_tasks.core.markdown_tables import table_at
from tls_tasks.core.parsed import folded, problem
from tls_tasks.core.yaml_text import find_yaml
from tls_tasks.evidence.objects import ObjectReader

_LEAF = re.compile(r"<([A-Za-z][\w.-]{0,60})>([^<]*)</\1\s*>|</[A-Za-z]")
_EMPTY = frozenset(("", "-", "–", "—", "n/a", "null"))
_QUOTES = ('""', "''", "“”", "‘’", "``")


def find_objects(text: str, reader: ObjectReader) -> FoundJson:
    r"""Find the objects of a text without JSON.

    An object needs a span, and a domain: its own, or that of the heading above it.

    Args:
        text: The answer, without thinking.
        reader: Knows the keys; case, blanks and hyphens of a name don't matter.

    Example:
        >>> from tls_tasks.evidence.types import JOURNAL_SCHEMA
        >>> find_objects("| Domain | Evidence span |\n|---|---|\n| food | tea |", ObjectReader(JOURNAL_SCHEMA)).values
        ([{'domain': 'food', 'evidence_span': 'tea'}],)
    """
    for form, objects in (("table", _in_tables(text, reader)), ("XML", _in_xml(text, reader))):
        if found := [fields for fields in objects if fields.get(reader.span) and reader.domain in fields]:
            return FoundJson((found,), "repaired", (problem("repaired_json", form),), ((0, len(text)),))
    return _in_outlines(text, reader)


def _in_tables(text: str, reader: ObjectReader) -> Iterator[dict[str, str]]:
    """The rows of tables whose columns are keys; a domain may stand in a line of its own above the table."""
    lines = text.split("\n")
    heading: dict[str, str] = {}
    index = 0
    while index < len(lines):
        table = table_at(lines, index, lambda header: reader.span in _columns(header, reader))
        if table is None:
            if domain := reader.domains.get(folded(lines[index])):
                heading = {reader.domain: domain}
            index += 1
            continue
        index += table.n_lines
        columns = _columns(table.rows[0], reader)
        for cells in table.rows[1:]:
            texts = zip(columns, map(_bare, cells), strict=False)
            yield {**heading, **{key: text for key, text in texts if key and text.lower() not in _EMPTY}}


def _columns(header: Sequence[str], reader: ObjectReader) -> list[str | None]:
    """The key that each column holds."""
    return [reader.keys.get(folded(cell)) for cell in header]


def _in_xml(text: str, reader: ObjectReader) -> Iterator[dict[str, str]]:
    """Elements of keys; one that comes again, or the end of what is around them, begins another object."""
    fields: dict[str, str] = {}
    for element in _LEAF.finditer(text):
        key = reader.keys.get(folded(element[1])) if element[1] else None
        if element[1] is None or key in fields:
            yield fields
            fields = {}
        if key is not None:
            fields[key] = html.unescape(element[2]).strip()
    yield fields


def _in_outlines(text: str, reader: ObjectReader) -> FoundJson:
    found = find_yaml(text, lambda value: reader.count_whole(_named(value, reader)), as_written=True)
    return replace(found, values=tuple(_named(value, reader) for value in found.values))


def _named(value: Any, reader: ObjectReader) -> Any:
    """A value with the schema's keys and domains in the place of the names that stand for them."""
    if isinstance(value, list):
        return [_named(entry, reader) for entry in value]
    if isinstance(value, dict):
        return {_name(str(key), reader): _named(inner, reader) for key, inner in value.items()}
    return _bare(value) if isinstance(value, str) else value


def _name(written: str, reader: ObjectReader) -> str:
    """The key or the domain that a name stands for; itself if it stands for none."""
    name = folded(_bare(written))
    return reader.keys.get(name) or reader.domains.get(name) or written


def _bare(cell: str) -> str:
    """A cell without quotes and Markdown around it."""
    text = cell.replace("\\|", "|").strip()
    for mark in ("**", "__", "*", "_"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)].strip()
    return text[1:-1] if len(text) > 1 and text[0] + text[-1] in _QUOTES else text
