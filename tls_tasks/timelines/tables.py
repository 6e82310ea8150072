"""Timelines as Markdown tables."""

import re
from collections.abc import Iterator, Sequence

from tls_tasks.core.markdown_tables import Table
from tls_tasks.core.parsed import Problem, problem
from tls_tasks.text.dates import MAX_LENGTH, Known, within
from tls_tasks.timelines.entries import ASIDE_KEYS, DATE_KEYS, TEXT_KEYS, UNKNOWN, RawEntry, clean, read_cell

_LINE_BREAK = re.compile(r"\r\n?")
_BREAK_IN_CELL = re.compile(r"<br\s?/?>", re.IGNORECASE)
_ESCAPE = re.compile(r"\\([-.*_#+!()\[\]])")


def as_lines(text: str) -> list[str]:
    r"""The lines of a text, without Markdown's escapes; a text that writes its line breaks as ``\n`` has lines, too.

    Example:
        >>> as_lines(r"2011\-01-25: A\n2011-01-26: B")
        ['2011-01-25: A', '2011-01-26: B']
    """
    text = _BREAK_IN_CELL.sub(" ", _LINE_BREAK.sub("\n", text))
    if "\n" not in text.strip():
        text = text.replace("\\n", "\n")
    return _ESCAPE.sub(r"\1", text).split("\n")


_WORD = re.compile(r"[a-z]+")


def read_table(table: Table, known: Known = UNKNOWN) -> Iterator[RawEntry | Problem | str]:
    """Read a table: the date is in the columns that the header names, else in those that hold dates.

    A year and a month may have columns of their own; an empty one is that of the row above. The text is in the columns
    that the header names, else in all columns except numbers. A row with an empty date belongs to the row above.

    Args:
        table: The table.
        known: The year and the month of the section that the table is in.

    Example:
        >>> table = Table([["No", "Event", "When"], ["1", "Protests.", "2011-01-25"]], 2)
        >>> [entry.sentences for entry in read_table(table)]
        [('Protests.',)]
        >>> table = Table([["Year", "Date", "Event"], ["2011", "Jan 25", "A"], ["", "Jan 28", "B"]], 3)
        >>> [str(entry.expression.date) for entry in read_table(table)]
        ['2011-01-25', '2011-01-28']
    """
    width = max(map(len, table.rows), default=0)
    rows = [[*row, *[""] * (width - len(row))] for row in table.rows]
    header = [_WORD.findall(cell[:MAX_LENGTH].lower()) for cell in rows[0]] if rows else []
    dates = _date_columns(rows, header)
    if not dates:
        yield from map(" | ".join, rows)
        return
    has_header = not any(_is_date(rows[0][column]) for column in dates)
    beside = {*dates, *(_named(header, ASIDE_KEYS) if has_header else ())}
    named = _named(header, TEXT_KEYS) if has_header else []
    texts = [column for column in named or range(width) if column not in beside]
    last: RawEntry | None = None
    for row in rows[has_header:]:
        written = (row[column] for column in texts if not row[column].rstrip(".").isdigit())
        sentences = tuple(filter(None, (clean(cell.replace("\\|", "|")) for cell in written)))
        lost = [row[column] for column in range(width) if column not in (*dates, *texts)]
        if any(cell.rstrip(".") and not cell.rstrip(".").isdigit() for cell in lost):
            yield problem("aside", " | ".join(lost))
        cells = [clean(row[column]) for column in dates if row[column]]
        dated, known = _date_in(cells, known)
        if cells and (sentences or dated.expression is None or dated.expression.precision == "day"):
            yield from [last] if last else []
            last = RawEntry(dated.expression, cells[-1], dated.sentences + sentences)
        elif last is not None:
            last = last._replace(sentences=last.sentences + sentences)
        elif sentences:
            yield problem("undated_text", " | ".join(sentences))
    yield from [last] if last else []


def _date_columns(rows: Sequence[Sequence[str]], header: Sequence[Sequence[str]]) -> list[int]:
    """The columns of year, month and date; without such names, a column of dates and one of years before it."""
    partial = [*_named(header, ("year",)), *_named(header, ("month",))]
    full = [column for column in _named(header, DATE_KEYS) if column not in partial][:1]
    if partial or full:
        return [*partial, *full]
    found = [column for column in range(len(header)) if any(_is_date(row[column]) for row in rows)]
    return found[: 2 if found and all(row[found[0]].isdigit() or not row[found[0]] for row in rows[1:]) else 1]


def _date_in(cells: Sequence[str], known: Known) -> tuple[RawEntry, Known]:
    """The date in the cells of a row and what else they say, and the year and month that they give to rows below."""
    dated = RawEntry(None, "", ())
    for cell in cells:
        if cell.isdigit() and len(cell) <= 2 and known.year:
            cell = f"{known.year}-{known.month}-{cell}" if known.month else f"{known.year}-{cell}"
        dated, known = read_cell(cell, known), within(cell, known)
    return dated, known


def _named(header: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """The columns whose header contains one of the names as a word."""
    return [column for column, words in enumerate(header) if any(word in names for word in words)]


def _is_date(cell: str) -> bool:
    """Whether a cell is a date, perhaps without its year; another number may be anything."""
    return read_cell(clean(cell), UNKNOWN if cell.isdigit() else Known(2000)).expression is not None  # any year will do
