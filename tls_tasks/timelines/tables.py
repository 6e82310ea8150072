"""Timelines as tables: Markdown's, with or without outer bars, and CSV with a header."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tls_tasks.core.json_values import problem
from tls_tasks.core.markdown_tables import Table
from tls_tasks.core.parsed import Problem
from tls_tasks.text.dates import MAX_LENGTH, DateExpression, Known, read_date
from tls_tasks.timelines.entries import ASIDE_KEYS, DATE_KEYS, TEXT_KEYS, UNKNOWN, RawEntry, clean

_WORD = re.compile(r"[a-z]+")
_YEAR = re.compile(r"\W{0,4}([12][0-9]{3})\W{0,4}")
_DATE_NAMES, _TEXT_NAMES = frozenset(DATE_KEYS), frozenset(TEXT_KEYS)


def is_header(names: Sequence[str]) -> bool:
    """Whether these columns are a date and a text.

    Example:
        >>> is_header(["date", "event"]), is_header(["date", "place"])
        (True, False)
    """
    return not (_DATE_NAMES.isdisjoint(names) or _TEXT_NAMES.isdisjoint(names))


def read_table(table: Table, keep_undated: bool = True, known: Known = UNKNOWN) -> Iterator[RawEntry | Problem]:
    """Read a table: the date column is the one that the header names, else the first that holds a date.

    A date may lack the year if a column of years or ``known`` gives it; an empty year is that of the row above. The
    text is in the columns that the header names, else in all columns except numbers. A row with an empty date belongs
    to the row above.

    Args:
        table: The table.
        keep_undated: Whether a row without a date continues the row above.
        known: The year and the month of the section that the table is in.

    Example:
        >>> table = Table([["No", "Event", "When"], ["1", "Protests.", "2011-01-25"]], 2)
        >>> [entry.sentences for entry in read_table(table)]
        [('Protests.',)]
        >>> table = Table([["Year", "Date", "Event"], ["2011", "Jan 25", "A"], ["", "Jan 28", "B"]], 3)
        >>> [str(entry.expression.date) for entry in read_table(table)]
        ['2011-01-25', '2011-01-28']
    """
    rows = table.rows
    header = [_WORD.findall(cell[:MAX_LENGTH].lower()) for cell in rows[0]] if rows else []
    columns = _Columns(rows, header, known)
    if columns.date is None:
        if rows:
            yield problem("undated_text", " | ".join(rows[0]))
        return
    has_header = len(header) <= columns.date or columns.expression(rows[0]) is None
    texts = columns.texts(header if has_header else [])
    last: RawEntry | None = None
    for row in rows[has_header:]:
        entry = columns.entry(row, texts)
        if entry.written:
            if last is not None:
                yield last
            last = None if columns.is_section(entry) else entry
        elif keep_undated and last is not None:
            last = last._replace(sentences=last.sentences + entry.sentences)
        elif entry.sentences:
            yield problem("undated_text", " | ".join(entry.sentences))
    if last is not None:
        yield last


class _Columns:
    """Which column is what, and the year and month that hold until another is given."""

    def __init__(self, rows: Sequence[Sequence[str]], header: Sequence[Sequence[str]], known: Known) -> None:
        self.known = known
        self.width = max((len(row) for row in rows), default=0)
        body = rows[1:] if len(rows) > 1 else rows
        named = _named(header, DATE_KEYS)
        years, months = ([at for at in _named(header, (name,)) if at not in named] for name in ("year", "month"))
        self.month = next(iter(months), None)
        self.year = next(iter(years or _first(body, self.width, _YEAR.fullmatch)), None)
        named = [at for at in named if at != self.year]
        year = self._year_in(body)
        self.date = next(iter(named or _first(rows, self.width, lambda cell: _is_date(cell, known, year))), self.year)
        if self.date == self.year:
            self.year = None

    def _year_in(self, rows: Sequence[Sequence[str]]) -> Known:
        years = [match for row in rows if (match := _YEAR.fullmatch(_cell(row, self.year)))]
        return Known(int(years[0][1])) if years else self.known

    def texts(self, header: Sequence[Sequence[str]]) -> list[int]:
        """The columns of the text."""
        own = (self.date, self.year, self.month)
        aside = _named(header, ASIDE_KEYS)
        named = [at for at in _named(header, TEXT_KEYS) if at not in own]
        return named or [at for at in range(self.width) if at not in own and at not in aside]

    def entry(self, row: Sequence[str], texts: Sequence[int]) -> RawEntry:
        """A row's entry; ``written`` is empty if its date cell is."""
        written = _cell(row, self.date)
        kept = [row[at] for at in texts if at < len(row) and not row[at].rstrip(".").isdigit()]
        sentences = [clean(text.replace("\\|", "|")) for text in kept]
        return RawEntry(self.expression(row), written, tuple(filter(None, sentences)))

    def is_section(self, entry: RawEntry) -> bool:
        """Whether a row only gives the year or the month of those below it."""
        read = entry.expression
        if read is None or entry.sentences or read.precision == "day":
            return False
        self.known = Known(read.date.year, read.date.month if read.precision == "month" else None)
        return True

    def expression(self, row: Sequence[str]) -> DateExpression | None:
        """A row's date."""
        if match := _YEAR.fullmatch(_cell(row, self.year)):
            self.known = Known(int(match[1]))
        month = _cell(row, self.month)
        if month and (read := read_date(month, self.known) or read_date(f"{self.known.year}-{month}")):
            self.known = Known(read.date.year, read.date.month)
        written = _cell(row, self.date)
        if not written:
            return None
        if written.isdigit() and len(written) <= 2 and self.known.year and self.known.month:
            written = f"{self.known.year}-{self.known.month}-{written}"
        return read_date(written, self.known)


def _cell(row: Sequence[str], column: int | None) -> str:
    return row[column] if column is not None and column < len(row) else ""


def _named(header: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """The columns whose header contains one of the names as a word."""
    return [at for at, words in enumerate(header) if any(word in names for word in words)]


def _first(rows: Sequence[Sequence[str]], width: int, accepts: Callable[[str], object]) -> list[int]:
    """The first column with a cell that is accepted."""
    return [at for at in range(width) if any(at < len(row) and row[at] and accepts(row[at]) for row in rows)][:1]


def _is_date(cell: str, known: Known, year: Known) -> bool:
    """Whether a cell is a date; a number alone may be anything."""
    return read_date(cell) is not None or (
        not cell.isdigit() and (read_date(cell, known) is not None or read_date(cell, year) is not None)
    )
