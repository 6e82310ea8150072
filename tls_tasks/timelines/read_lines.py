"""Timelines written as lines: ``2011-01-25: text``, lists, headings with bullets, tilse's text form, tables, markup.

A line that begins with a date and a separator opens a day. A date in the middle of a sentence does not, and neither
does ``January 25, 2011, marked …`` outside of a list. A date on a line of its own, or in a heading, opens a block,
whose lines are the day's sentences. Years and months above a line complete its date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tls_tasks.core.json_values import problem
from tls_tasks.core.markdown_tables import Table, table_at
from tls_tasks.core.parsed import Problem
from tls_tasks.text.dates import DateExpression, Known, dates_in
from tls_tasks.timelines.entries import UNKNOWN, RawEntry
from tls_tasks.timelines.leads import Lead, continued, is_date_label, item_of, labelled_text, split_entries, split_lead
from tls_tasks.timelines.markup import as_lines
from tls_tasks.timelines.prompts import EXAMPLE
from tls_tasks.timelines.sections import Section, is_restart, listed_lines, numbered_lines, text_comes_first
from tls_tasks.timelines.tables import is_header, read_table
from tls_tasks.timelines.tails import read_tails

_MARKUP_TAG = re.compile(r"</?[A-Za-z][\w.-]{0,30}/?>|\[{1,2}[a-z][\w.]{0,30}\]{1,2}")  # and TOML's [[event]]
_WORD = re.compile(r"\w+")
_ASIDE_NAMES = frozenset(
    ("source", "sources", "reference", "references", "citations", "links", "note", "notes", "footnotes", "bibliography")
)
_FENCE = ("```", "~~~")
_RULE_MARKS = frozenset("-–—─━*_=")


@dataclass(slots=True)
class _Day:
    """The day that is being read.

    Attributes:
        lead: Its line.
        sentences: Its text.
        has_body: Whether any of it stands below its line and is no heading.
        last_is_item: Whether the last of it is a list item.
    """

    lead: Lead
    sentences: list[str]
    has_body: bool = False
    last_is_item: bool = False

    def entries(self, child: DateExpression | None) -> Iterator[RawEntry | Problem]:
        """The day's entry; a month or year without text was a section heading, as was one with dates below it."""
        expression = self.lead.expression
        is_partial = expression is not None and expression.precision != "day"
        if is_partial and self.lead.is_heading and not self.has_body and _is_within(child, expression):
            return
        if self.lead.is_titled and not self.has_body:
            yield problem("dated_text", self.lead.written)
            return
        if is_partial and not self.sentences:
            yield problem("empty_entry", self.lead.written)
        else:
            yield RawEntry(expression, self.lead.written, tuple(self.sentences))


def _is_within(child: DateExpression | None, parent: DateExpression | None) -> bool:
    """Whether a date is a part of a month or a year."""
    if child is None or parent is None or child.precision in (parent.precision, "year"):
        return False
    month = parent.date.month if parent.precision == "month" and not parent.is_range else child.date.month
    last = parent.end or parent.date
    return parent.date.year <= child.date.year <= last.year and child.date.month == month


_Item = RawEntry | Problem
_RESTART = problem("draft", "")
"""Stands where an answer begins anew."""


class _Lines:
    """Reads a text line by line."""

    def __init__(self, lines: list[str], keep_undated: bool, known: Known) -> None:
        self.lines = lines
        self.keep_undated = keep_undated
        self.section = Section(known)
        self.numbered = numbered_lines(lines)
        self.listed = listed_lines(lines)
        self.text_first = text_comes_first(lines)
        self.announced: list[str] = []  # text whose date is on a line below
        self.day: _Day | None = None
        self.siblings: tuple[str, int] | None = None  # the marker of the dated items of this list
        self.seen_date = False
        self.after_blank = False
        self.is_aside = False  # within a section such as "Sources"

    def read(self) -> Iterator[_Item]:
        index = 0
        while index < len(self.lines):
            line = self.lines[index]
            index += 1
            if not line or line.isspace():
                self.after_blank = True
            elif table := table_at(self.lines, index - 1, is_header):
                index += table.n_lines - 1
                yield from self._table(table)
            else:
                yield from self._line(line, line.strip(), index - 1)
                self.after_blank = False
        yield from self._close()
        yield from (problem("undated_text", text) for text in self.announced)

    def _table(self, table: Table) -> Iterator[_Item]:
        items = list(read_table(table, self.keep_undated, self.section.known))
        first = next((item.expression for item in items if isinstance(item, RawEntry)), None)
        yield from self._close(first)
        self.seen_date = self.seen_date or first is not None
        yield from items

    def _line(self, line: str, stripped: str, index: int) -> Iterator[_Item]:
        if is_restart(stripped):
            yield from self._drop(stripped)
            yield _RESTART
        elif stripped.startswith(_FENCE) or _MARKUP_TAG.fullmatch(stripped):
            yield from self._close()
        elif _is_rule(stripped):
            if not self._is_underline():
                yield from self._close()
        elif lead := split_lead(
            stripped, self.section.known, is_listed=index in self.listed, is_numbered=index in self.numbered
        ):
            if self.is_aside:
                yield problem("dated_text", stripped)
                return
            self.siblings = item_of(line)
            for one in split_entries(lead):
                one = self.section.dated(one)
                yield from self._close(one.expression)
                texts = [*self.announced, one.text] if one.text else self.announced
                self.announced, self.seen_date = [], True
                self.day = _Day(one, texts)
        elif not self.text_first and self._is_title(line, stripped, index):
            yield from self._close()
            self.announced += filter(None, [continued(stripped.strip("#*_ "))])
        elif self.text_first and (text := labelled_text(stripped)):
            yield from self._close()
            self.announced.append(text)
        else:
            yield from self._undated(line, stripped)

    def _is_title(self, line: str, stripped: str, index: int) -> bool:
        """Whether a line is the title of an entry whose date has a label on the line below."""
        is_marked = item_of(line) is not None or stripped.startswith(("#", "**"))
        following = next(filter(str.strip, self.lines[index + 1 : index + 3]), "")
        return is_marked and is_date_label(following) and labelled_text(stripped) is None

    def _undated(self, line: str, stripped: str) -> Iterator[_Item]:
        """Make a line without a date a sentence of the open day, or drop it."""
        level = len(stripped) - len(stripped.lstrip("#"))
        if level and self.day is not None and not 0 < self.day.lead.level < level:
            yield from self._close()
        marker = item_of(line)
        is_item = marker is not None or line[0].isspace()
        if self.day is None or not self._continues(self.day, stripped, is_item):
            yield from self._drop(stripped)
            return
        if level:
            self.section.heading(stripped, True)
        if text := continued(stripped):
            self.day.sentences.append(text)
            self.day.last_is_item = is_item
            self.day.has_body = self.day.has_body or not level
            if marker is not None and marker == self.siblings and not self.day.lead.is_heading:
                yield problem("undated_text", stripped)

    def _continues(self, day: _Day, stripped: str, is_item: bool) -> bool:
        """Whether the line belongs to the day."""
        if not day.lead.is_heading and (not self.keep_undated or (not is_item and _is_label(stripped))):
            return False
        # "Let me know if you need more." follows a blank line, but so does the second paragraph of a day's block.
        return is_item or not self.after_blank or (day.lead.is_heading and not day.last_is_item)

    def _drop(self, stripped: str) -> Iterator[_Item]:
        """Close the day before a line that belongs to none; a preamble is no loss unless there is a date in it."""
        yield from self._close()
        self.siblings = None
        is_heading = stripped.startswith(("#", "**", "__", "=="))
        self.section.heading(stripped, is_heading)
        if is_heading or _is_label(stripped):
            words = _WORD.findall(stripped[:80].lower())
            self.is_aside = self.seen_date and len(words) <= 2 and not _ASIDE_NAMES.isdisjoint(words)
        if next(dates_in(stripped), None):
            yield problem("dated_text", stripped)
        elif self.seen_date or not self.keep_undated:
            yield problem("undated_text", stripped)

    def _is_underline(self) -> bool:
        """Whether a line of dashes here would underline the date above it, as in Markdown."""
        return self.day is not None and not self.day.sentences and not self.after_blank

    def _close(self, child: DateExpression | None = None) -> Iterator[_Item]:
        if self.day is not None:
            yield from self.day.entries(child)
        self.day = None


def _is_rule(stripped: str) -> bool:
    """Whether a line is a separator: two or more dashes, stars, underscores or equals signs and nothing else.

    Example:
        >>> _is_rule("-" * 32), _is_rule("* * *"), _is_rule("- -x")
        (True, True, False)
    """
    marks = set(stripped)
    return stripped[0] in _RULE_MARKS and len(stripped) > 1 and len(marks - {" "}) == 1


def _is_label(stripped: str) -> bool:
    """Whether a line only says what follows: ``Sources:``."""
    text = stripped.strip("*_ ")
    return len(text) <= 40 and text.endswith(":") and len(text.split()) <= 4


def read_lines(text: str, keep_undated: bool = True, known: Known = UNKNOWN) -> list[RawEntry | Problem]:
    r"""Read the dated lines and tables of a text.

    A line without a date belongs to the day before it; after a blank line only if it is a list item, or if the day is
    a block of paragraphs. Separators, code fences, tags, undated headings and tables end a day. What precedes the first
    date is a preamble: it is dropped, and counted only if there is a date in it or ``keep_undated`` is False. If no
    line begins with a day, the items of a list are entries if nearly each of them holds one date.

    Args:
        text: Text without JSON and without thinking.
        keep_undated: Whether lines without a date continue the preceding day; if not, only those of a block do.
        known: The year and the month of what the text stands in.

    Returns:
        Entries and problems in the order of the text.

    Example:
        >>> entry, dropped = read_lines("Here it is:\n2011-01-25: Protests begin.\nPolice wait.\n\nThat is all.")
        >>> entry.sentences, dropped
        (('Protests begin.', 'Police wait.'), Problem(kind='undated_text', detail='That is all.'))
        >>> [str(entry.expression.date) for entry in read_lines("## 2011\n- January 25: A\n- February 1: B")]
        ['2011-01-25', '2011-02-01']
    """
    lines = as_lines(text)
    items = _without_drafts(list(_Lines(lines, keep_undated, known).read()))
    if any(isinstance(item, RawEntry) and item.expression and item.expression.precision == "day" for item in items):
        return items
    return read_tails(lines, known) or items


def _without_drafts(items: list[_Item]) -> list[_Item]:
    """The items; entries before the answer's last new beginning, and the prompt's example, only as problems."""
    restart = max((index for index, item in enumerate(items) if item is _RESTART), default=-1)
    before, after = items[: restart + 1], items[restart + 1 :]
    if any(isinstance(item, RawEntry) for item in after):
        before = [problem("draft", item.written) if isinstance(item, RawEntry) else item for item in before]
    kept = [item for item in (*before, *after) if item is not _RESTART]
    if all(item.sentences == (EXAMPLE,) for item in kept if isinstance(item, RawEntry)):
        return kept
    return [
        problem("draft", EXAMPLE) if isinstance(item, RawEntry) and item.sentences == (EXAMPLE,) else item
        for item in kept
    ]
