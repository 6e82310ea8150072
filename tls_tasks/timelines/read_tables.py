"""Timelines in Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Problem
from tls_tasks.text.dates import MAX_LENGTH, read_date
from tls_tasks.timelines.read_entries import DATE_KEYS, TEXT_KEYS, TITLE_KEYS, RawEntry

MAX_CELLS = 32
"""Cells of a row that are looked at; the last one takes what is left."""

_CELL_END = re.compile(r"(?<!\\)\|")
_LINE_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+")


def table_at(lines: Sequence[str], index: int) -> Sequence[str]:
    """The lines of the table that begins at ``index``; empty if none does.

    A table is a run of lines that begin with a bar, or a header line with a bar and a line as ``--- | ---`` below it.

    Example:
        >>> table_at(["text", "| a | b |", "| c | d |", ""], 1)
        ['| a | b |', '| c | d |']
        >>> table_at(["a | b", "--- | ---", "c | d", "text"], 0)
        ['a | b', '--- | ---', 'c | d']
    """
    if lines[index].lstrip().startswith("|"):
        return _run(lines, index, lambda line: line.lstrip().startswith("|"))
    if "|" in lines[index] and index + 1 < len(lines) and _is_delimiter(lines[index + 1]):
        return _run(lines, index, lambda line: "|" in line)
    return ()


def _run(lines: Sequence[str], index: int, belongs: Callable[[str], bool]) -> Sequence[str]:
    end = index
    while end < len(lines) and belongs(lines[end]):
        end += 1
    return lines[index:end]


def _is_delimiter(line: str) -> bool:
    """Whether a line separates a table's header from its rows."""
    return "-" in line and "|" in line and set(line) <= set("|-: \t")


def read_table(lines: Sequence[str], keep_undated: bool = True) -> Iterator[RawEntry | Problem]:
    """Read a table whose header names a date column, or else one of whose columns holds dates.

    The text is in the columns that the header names so, else in all columns but those of numbers. A row with an empty
    date belongs to the row above.

    Args:
        lines: The lines of the table.
        keep_undated: Whether a row without a date continues the row above.

    Example:
        >>> list(read_table(["| No | Event | When |", "|--|--|--|", "| 1 | Protests. | 2011-01-25 |"]))[0].sentences
        ('Protests.',)
    """
    rows = [_cells(line) for line in lines if not _is_delimiter(line)]
    header = [_WORD.findall(cell[:MAX_LENGTH].lower()) for cell in rows[0]] if rows else []
    column = _named(header, DATE_KEYS)[:1] or _first_with_date(rows)
    if not column:
        if rows:
            yield problem("undated_text", lines[0])
        return
    date_column = column[0]
    has_header = len(header) <= date_column or read_date(rows[0][date_column]) is None
    named = [at for at in _named(header, TEXT_KEYS) or _named(header, TITLE_KEYS) if at != date_column and has_header]
    last: RawEntry | None = None
    for row in rows[has_header:]:
        entry = _entry(row, date_column, named)
        if entry.written:
            if last is not None:
                yield last
            last = entry
        elif keep_undated and last is not None:
            last = last._replace(sentences=last.sentences + entry.sentences)
        elif entry.sentences:
            yield problem("undated_text", " | ".join(entry.sentences))
    if last is not None:
        yield last


def _cells(line: str) -> list[str]:
    stripped = line.strip().removeprefix("|")
    cells = [cell.strip() for cell in _CELL_END.split(stripped, maxsplit=MAX_CELLS - 1)]
    return cells[:-1] if cells[-1] == "" else cells


def _named(header: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """The columns whose header has one of the names among its words."""
    return [at for at, words in enumerate(header) if any(word in names for word in words)]


def _first_with_date(rows: Sequence[Sequence[str]]) -> list[int]:
    columns = {at for row in rows for at, cell in enumerate(row) if cell and read_date(cell)}
    return [min(columns)] if columns else []


def _entry(row: Sequence[str], date_column: int, named: Sequence[int]) -> RawEntry:
    """A row's entry; ``written`` is empty if the date cell is."""
    written = row[date_column] if date_column < len(row) else ""
    others = [at for at in range(len(row)) if at != date_column and not row[at].rstrip(".").isdigit()]
    texts = [row[at] for at in named or others if at < len(row)]
    parts = [part for text in texts for part in _LINE_BREAK.split(text)]
    sentences = [part.replace("**", "").replace("\\|", "|").strip() for part in parts]
    return RawEntry(read_date(written) if written else None, written, tuple(filter(None, sentences)))
