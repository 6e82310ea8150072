"""Timelines written as lines: ``2011-01-25: text``, lists, headings with bullets, tilse's text form, tables, markup.

A line that begins with a date and a separator opens a day. A date in the middle of a sentence does not, and neither
does ``January 25, 2011, marked …`` outside of a list. A date on a line of its own, or in a heading, opens a block,
whose lines are the day's sentences. Years and months above a line complete its date.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tls_tasks.core.markdown_tables import Table, table_at
from tls_tasks.core.parsed import Problem, problem
from tls_tasks.text.date_forms import MONTHS, RISKY_MONTHS, marked
from tls_tasks.text.dates import DateExpression, Known, leading_dates, may_hold_date
from tls_tasks.timelines import entries
from tls_tasks.timelines.entries import PHRASES, UNKNOWN, Prefix, RawEntry, item_of, split_prefix, split_title
from tls_tasks.timelines.list_forms import items_of_one_form, split_formed, without_numbers
from tls_tasks.timelines.losses import ANY_YEAR, YEAR, with_losses
from tls_tasks.timelines.prompts import CLOSED_BOOK_OPENING, EXAMPLE, OPENING
from tls_tasks.timelines.tables import as_lines, read_table

_BARE_YEAR = re.compile(rf"(?<![{MONTHS}{RISKY_MONTHS}] ){YEAR.pattern}")
"""A year without a month before it: "As of June 2023, here is a timeline of 2022:"."""
_PROMPT = re.compile(f"(?i:{OPENING}|{CLOSED_BOOK_OPENING}|{PHRASES['other_prompt']})")
_MARKUP_TAG, _RULE, _NO_DATE = (re.compile(PHRASES[kind]) for kind in ("markup_tag", "rule", "no_date"))
_LONG = 120
"""Characters of a line that is prose, and announces nothing."""
_HALF_A_YEAR = 6  # months
_MAX_LINES = 4_000
"""Lines that are read."""


class Section:
    """The year and the month that headings and entries above a line give it.

    Example:
        >>> section = Section()
        >>> section.heading("Phase 2: War (March-October 2011)", True)
        >>> section.known
        Known(year=2011, month=None)
    """

    def __init__(self, known: Known = UNKNOWN) -> None:
        self.known = known
        self._has_day = self._is_one_year = False
        self._month = 0  # of the last entry

    def heading(self, text: str, is_heading: bool) -> None:
        """Take the year of a heading, or of what precedes the first entry; the month of another section is over."""
        plain = marked(text[: 2 * _LONG], throughout=True)
        years = [*_BARE_YEAR.findall(plain), *YEAR.findall(plain)]
        if years and (is_heading or not self._has_day):
            self.known = Known(int(years[0]))
            self._is_one_year, self._month = len(set(years)) == 1, 0
        elif is_heading:
            self.known = Known(self.known.year)

    def dated(self, expression: DateExpression | None) -> None:
        """Take what a dated line says."""
        if expression is None:
            return
        day = expression.date
        is_month = expression.precision == "month" and not expression.is_range
        is_month = is_month or (self.known == (day.year, day.month) and expression.precision == "day")
        is_year = expression.precision == "year" and not expression.is_range
        self._is_one_year = is_year or (self._is_one_year and self.known.year == day.year)
        self.known, self._month = Known(day.year, day.month if is_month else None), day.month
        self._has_day = self._has_day or expression.precision == "day"

    def goes_over(self, prefix: Prefix) -> bool:
        """Take the next year if a date without one is January's, say, and follows one of December.

        Not below a heading or an introduction that names one year.
        """
        year, month = self.known.year, prefix.expression.date.month if prefix.expression and prefix.is_short else 12
        if year is None or self._is_one_year or self._month - month <= _HALF_A_YEAR:
            return False
        self.known = Known(year + 1)
        return True


_ASIDE_NAMES = frozenset("source sources reference references citations links note notes bibliography".split())
_HEADING, _FENCE = ("#", "**", "__", "=="), ("```", "~~~")


@dataclass(slots=True)
class _Day:
    """The day that is being read.

    Attributes:
        prefix: Its line.
        sentences: Its text.
        has_body: Whether any of it stands below its line and is no heading.
        last_is_item: Whether the last of it is a list item.
    """

    prefix: Prefix
    sentences: list[str]
    has_body: bool = False
    last_is_item: bool = False

    def entries(self, child: DateExpression | None) -> Iterator[RawEntry | Problem]:
        """The day's entry; a month or year without text was a section heading, as was one with dates below it.

        Only a sentence in such a heading is a loss.
        """
        expression = self.prefix.expression
        is_partial = expression is not None and expression.precision != "day"
        if is_partial and self.prefix.is_heading and not self.has_body and _is_within(child, expression):
            yield from (problem("undated_text", said) for said in self.sentences if said[-1:] in ".。")
        elif is_partial and not self.sentences:
            yield problem("empty_entry", self.prefix.written)
        else:
            yield RawEntry(expression, self.prefix.written, tuple(self.sentences))


def _is_within(child: DateExpression | None, parent: DateExpression | None) -> bool:
    """Whether a date is a part of a month or a year."""
    if child is None or parent is None:
        return False
    if child.precision in (parent.precision, "year") and not (parent.is_range and child.precision == "year"):
        return child == parent and parent.precision == "month"
    month = parent.date.month if parent.precision == "month" and not parent.is_range else child.date.month
    last = parent.end or parent.date
    return parent.date.year <= child.date.year <= last.year and child.date.month == month and child != parent


_Item = RawEntry | Problem | str
"""A str is a line that belongs to no entry."""


class _Lines:
    """Reads a text line by line."""

    def __init__(self, lines: list[str], known: Known, has_titles: bool = False) -> None:
        self.lines = lines
        self.section = Section(known)
        self.has_titles = has_titles  # whether a date may stand behind an entry's title or text
        self.formed = items_of_one_form(lines, has_titles)
        self.index = 0
        self.lacks_year = False  # whether a line begins with a date that lacks its year
        self.day: _Day | None = None
        self.siblings: tuple[str, int] | None = None  # the marker of the dated items of this list
        self.seen_date = False
        self.is_aside = False  # within a section such as "Sources"
        self.after_blank = False
        self.is_echo = False  # whether the text begins with a prompt

    def read(self) -> Iterator[_Item]:
        index = 0
        while index < len(self.lines):
            line = self.lines[index]
            index += 1
            if not line or line.isspace():
                self.after_blank = True
            elif self._is_next_prompt(line.strip()):
                yield from self._close()
                yield from (problem("next_prompt", rest) for rest in self.lines[index - 1 :] if rest.strip())
                return
            elif table := table_at(self.lines, index - 1):
                index += table.n_lines - 1
                yield from self._table(table)
            else:
                self.index = index - 1
                yield from self._line(line, line.strip())
                self.after_blank = False
        yield from self._close()

    def _is_next_prompt(self, stripped: str) -> bool:
        """Whether a line begins a prompt that a base model has made up behind its answer."""
        is_prompt = _PROMPT.match(stripped) is not None
        self.is_echo = self.is_echo or (is_prompt and not self.seen_date)
        return is_prompt and not self.is_echo

    def _table(self, table: Table) -> Iterator[_Item]:
        items = list(read_table(table, self.section.known))
        first = next((item.expression for item in items if isinstance(item, RawEntry)), None)
        yield from self._close(first)
        self.seen_date = self.seen_date or first is not None
        yield from items

    def _line(self, line: str, stripped: str) -> Iterator[_Item]:
        if stripped.startswith(_FENCE) or _MARKUP_TAG.fullmatch(stripped) or _RULE.fullmatch(stripped):
            yield from self._close()
        elif prefix := self._prefix(line, stripped):
            prefix = (self.section.goes_over(prefix) and self._prefix(line, stripped)) or prefix
            if self.is_aside:
                yield problem("dated_text", stripped)
                return
            self.siblings = item_of(line)
            self.section.dated(prefix.expression)
            yield from self._close(prefix.expression)
            self.seen_date = True
            self.day = _Day(prefix, [prefix.text] if prefix.text else [])
        else:
            yield from self._undated(line, stripped)

    def _prefix(self, line: str, stripped: str) -> Prefix | None:
        """A line's date; in an item of the first list or of a dated one, a comma or a blank is enough after it."""
        item = item_of(line)
        is_item = item is not None and (not self.seen_date or self.siblings == item)
        known, is_formed = self.section.known, self.index in self.formed
        if is_formed and self.has_titles:
            return split_title(stripped) or split_formed(line, known, True)
        if prefix := split_prefix(stripped, known, is_item=is_item):
            return prefix
        if known.year is None and not self.lacks_year:
            may_be_dated = is_formed or split_prefix(stripped, ANY_YEAR, is_item=is_item)
            self.lacks_year = bool(may_be_dated) and not self.has_titles
        if is_formed:
            return split_formed(line, known, False)
        return split_title(stripped) if self.has_titles else None

    def _undated(self, line: str, stripped: str) -> Iterator[_Item]:
        """Make a line without a date a sentence of the open day, or drop it."""
        level = len(stripped) - len(stripped.lstrip("#"))
        if level and self.day is not None and not 0 < self.day.prefix.level < level:
            yield from self._close()
        marker = item_of(line)
        is_item = marker is not None or line[0].isspace()
        is_entry = self.day is not None and not self.day.prefix.is_heading and (not is_item or marker == self.siblings)
        if is_entry and not _is_heading(stripped) and _NO_DATE.match(entries.without_marker(stripped)):
            yield from self._close()
            yield problem("invalid_date", stripped)
            return
        begins_with_date = is_entry and next(leading_dates(stripped, ANY_YEAR), None) is not None
        if self.day is None or begins_with_date or not self._continues(self.day, stripped, is_item):
            yield from self._drop(stripped)
            return
        if text := entries.continued(stripped):
            self.day.sentences.append(text)
            self.day.last_is_item = is_item
            self.day.has_body = self.day.has_body or not level
            if is_entry and marker is not None:
                yield problem("note", stripped)

    def _continues(self, day: _Day, stripped: str, is_item: bool) -> bool:
        """Whether the line belongs to the day."""
        if not day.prefix.is_heading and not is_item and _is_label(stripped):
            return False
        # "Let me know if you need more." follows a blank line, but so does the second paragraph of a day's block.
        return is_item or not self.after_blank or (day.prefix.is_heading and not day.last_is_item)

    def _drop(self, stripped: str) -> Iterator[_Item]:
        """Close the day before a line that belongs to none."""
        yield from self._close()
        self.siblings = None
        is_heading = _is_heading(stripped)
        if is_heading or _is_label(stripped):
            is_sources = stripped.strip("#*_=: ").lower() in _ASIDE_NAMES
            self.is_aside = is_sources and (self.seen_date or self.has_titles)
        if is_heading or not (self.lacks_year or item_of(stripped)):
            self.section.heading(stripped, is_heading)
        if any(map(str.isalnum, _MARKUP_TAG.sub("", stripped))):
            yield problem("note", stripped) if self.is_aside else stripped

    def _close(self, child: DateExpression | None = None) -> Iterator[_Item]:
        if self.day is not None:
            yield from self.day.entries(child)
        self.day = None


def _is_heading(stripped: str) -> bool:
    """Whether a line is a heading by its markup; a bold word before a text is none."""
    return stripped.startswith(("#", "==")) or (
        stripped.startswith(("**", "__")) and stripped.rstrip(" :：").endswith(stripped[:2])
    )


def _is_label(stripped: str) -> bool:
    """Whether a line only says what follows: ``Sources:``."""
    text = stripped.strip("*_ ")
    return len(text) <= 40 and text.endswith(":") and len(text.split()) <= 4


def read_lines(text: str, known: Known = UNKNOWN) -> list[RawEntry | Problem]:
    r"""Read the dated lines and tables of a text.

    A line without a date belongs to the day before it; after a blank line only if it is a list item, or if the day is
    a block of paragraphs. Separators, code fences, tags, undated headings and tables end a day. What precedes the first
    date is a preamble: it is dropped, and counted only if there is a date in it. If no line begins with a day, the
    items of a list are entries if nearly each of them holds one date.

    Args:
        text: Text without JSON and without thinking.
        known: The year and the month of what the text stands in.

    Returns:
        Entries and problems in the order of the text.

    Example:
        >>> _, entry, dropped = read_lines("Here it is:\n2011-01-25: Protests begin.\nPolice wait.\n\nIt rained.")
        >>> entry.sentences, dropped
        (('Protests begin.', 'Police wait.'), Problem(kind='note', detail='It rained.'))
        >>> [str(entry.expression.date) for entry in read_lines("## 2011\n- January 25: A\n- February 1: B")]
        ['2011-01-25', '2011-02-01']
    """
    lines = as_lines(text)
    beyond = [problem("too_long", line) for line in lines[_MAX_LINES : _MAX_LINES + 1]]
    lines, numbered = without_numbers(lines[:_MAX_LINES])
    reader = _Lines(lines, known)
    items = _without_example(list(reader.read()))
    if reader.lacks_year and _n_entries(items) == 0 and (year := _closing_year(lines)):
        reader = _Lines(lines, Known(year))
        items = _without_example(list(reader.read()))
    if _n_days(items) == 0 and not reader.lacks_year and any(map(may_hold_date, lines)):
        # Lists of sources and notes look like such.
        titled = _without_example(list(_Lines(lines, known, has_titles=True).read()))
        is_better = _n_entries(titled) > max(1, 2 * _n_entries(items))
        items = titled if _n_days(titled) > 1 or is_better else items
    noted = [problem("note", numbered)] if numbered else []
    return noted + with_losses(items) + beyond


def _closing_year(lines: Sequence[str]) -> int | None:
    """The one year that a last paragraph names, if it is no item and does not stand below a date."""
    written = [line for line in lines if line.strip()]
    closing = written[-1] if len(written) > 1 else ""
    years = set(YEAR.findall(closing))
    is_dated = any(split_prefix(line.strip(), ANY_YEAR) for line in written[-2:])
    return None if len(years) != 1 or item_of(closing) or _is_heading(closing) or is_dated else int(*years)


def _n_entries(items: list[_Item]) -> int:
    return sum(isinstance(item, RawEntry) for item in items)


def _n_days(items: list[_Item]) -> int:
    return sum(isinstance(item, RawEntry) and item.is_day for item in items)


def _without_example(items: list[_Item]) -> list[_Item]:
    """The items; the prompt's example only as a problem, if there are other entries."""
    entries_read = [item for item in items if isinstance(item, RawEntry)]
    if all(item.sentences == (EXAMPLE,) for item in entries_read):
        return items
    return [
        problem("draft", EXAMPLE) if isinstance(item, RawEntry) and item.sentences == (EXAMPLE,) else item
        for item in items
    ]
