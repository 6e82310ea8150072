"""Entries whose text comes before their date, ``Protests begin (2011-01-25)``, and lists of sentences with one date.

This is tried only for a text in which no line begins with a day, since lists of sources and notes are like it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Problem
from tls_tasks.text.dates import DateExpression, Known, dates_in, read_date
from tls_tasks.timelines.entries import UNKNOWN, RawEntry
from tls_tasks.timelines.leads import clean, is_whole, item_of, split_lead, without_marker
from tls_tasks.timelines.sections import Section

_LOOK = 2_000
"""Characters of an item in which a date is looked for."""

_BRACKETS = re.compile(r"[(\[（]([^()\[\]（）\n]{3,60})[)\]）]([\s.。*_]{0,6})$")
_MARKS = " \t*_()[]（）.`"
_PARTING = (" -", " –", " —", "–", "—", ":", "：", "|", "→", ",", ";")


class _Tail(NamedTuple):
    expression: DateExpression
    written: str
    text: str
    is_end: bool


def read_tails(lines: list[str], known: Known = UNKNOWN) -> list[RawEntry | Problem]:
    """The entries of a list whose items end in a date or, with a marker, hold one; empty unless nearly all do.

    Example:
        >>> [entry.sentences for entry in read_tails(["- It begins (2011-01-25)", "- It ended on 11 February 2011."])]
        [('It begins',), ('It ended on 11 February 2011.',)]
        >>> read_tails(["It began on 25 January 2011.", "It ended on 11 February 2011."])
        []
    """
    section = Section(known)
    items: list[RawEntry | Problem] = []
    n_items = n_lines = n_marked = n_ends = 0
    below: list[str] = []  # the items below the last dated one, whose indentation follows
    indent = -1
    for line in filter(str.strip, lines):
        stripped = line.strip()
        item = item_of(line)
        is_item = item is not None
        unmarked = without_marker(stripped)
        lead = split_lead(unmarked, section.known, is_listed=True)
        if lead and lead.expression and is_whole(lead):
            tail: _Tail | None = _Tail(lead.expression, lead.written, lead.text, True)
        else:
            tail = _tail(unmarked, section.known)
        if item and 0 <= indent < item[1] and tail is None:
            below.append(clean(unmarked))
            continue
        _append(items, below)
        indent = item[1] if item and tail else -1
        n_items += is_item
        n_lines += 1
        if tail and (is_item or tail.is_end):
            n_marked += is_item
            n_ends += tail.is_end
            items.append(RawEntry(tail.expression, tail.written, (tail.text,)))
        elif is_item:
            items.append(problem("undated_text", stripped))
        else:
            section.heading(stripped, stripped.startswith(("#", "**", "__")))
    _append(items, below)
    is_list = n_marked >= 2 and 4 * n_marked >= 3 * n_items
    is_column = n_ends >= 3 and 4 * n_ends >= 3 * n_lines
    return items if is_list or is_column else []


def _append(items: list[RawEntry | Problem], texts: list[str]) -> None:
    """Move texts to the end of the last entry."""
    if texts and isinstance(items[-1], RawEntry):
        items[-1] = items[-1]._replace(sentences=(*items[-1].sentences, *texts))
    texts.clear()


def _tail(text: str, known: Known) -> _Tail | None:
    """The date at the end of a text and the text without it, or the only date in it and the whole text."""
    text = text[:_LOOK]
    if (match := _BRACKETS.search(text[-90:])) and (expression := read_date(match[1], known)):
        before = clean(text[: len(text) - len(match[0])])
        stop = match[2].strip("*_ ")[:1] if before[-1:].isalnum() else ""
        return _Tail(expression, match[1], before + stop, True)
    found = list(dates_in(text))
    if not found:
        return None
    begin, end, expression = found[-1]
    before = text[:begin].rstrip(_MARKS)
    if not text[end:].strip(_MARKS) and before.endswith(_PARTING):
        return _Tail(expression, text[begin:end], clean(before.rstrip(" -–—:：|→,;")), True)
    return _Tail(expression, text[begin:end], clean(text), False) if len(found) == 1 else None
