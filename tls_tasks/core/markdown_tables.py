"""Tables in model text: Markdown's, with or without outer bars, and delimited ones such as CSV."""

import csv
import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

_MAX_CELLS = 32
"""Cells of a row that are read; the last one takes the rest of the line."""

_MAX_HEADER = 1000
"""Characters of a line that may be the header of a delimited table."""

_CELL_END = re.compile(r"(?<!\\)\|")
_DELIMITERS = ",;\t"


class Table(NamedTuple):
    """A table within a text.

    Attributes:
        rows: Its cells, the header first if there is one.
        n_lines: How many lines of the text it takes.
    """

    rows: list[list[str]]
    n_lines: int


def table_at(lines: Sequence[str], index: int, is_header: Callable[[Sequence[str]], bool]) -> Table | None:
    """The table that begins at a line; None if there is none.

    A table is a run of lines that begin with a bar, one whose second line is of the form ``--- | ---``, or one whose
    first line is a header such as ``date,event``.

    Args:
        lines: The lines of the text.
        index: Where the table may begin.
        is_header: Whether these names, in lower case, are the header of a table without bars.

    Example:
        >>> table_at(["text", "| a | b |", "| c | d |", ""], 1, lambda names: False)
        Table(rows=[['a', 'b'], ['c', 'd']], n_lines=2)
        >>> table_at(["a | b", "--- | ---", "c | d", "text"], 0, lambda names: False).rows
        [['a', 'b'], ['c', 'd']]
        >>> table_at(["Date,event", '2011-01-25,"A, B"'], 0, lambda names: "date" in names).rows
        [['Date', 'event'], ['2011-01-25', 'A, B']]
    """
    line = lines[index]
    if line.lstrip().startswith("|"):
        run = _run(lines, index, lambda other: other.lstrip().startswith("|"))
    elif "|" in line and index + 1 < len(lines) and _is_rule(lines[index + 1]):
        run = _run(lines, index, lambda other: "|" in other)
    elif delimiter := _delimiter(line, is_header):
        run = _run(lines, index, lambda other: delimiter in other)
        return Table(_delimited(run, delimiter), len(run)) if len(run) > 1 else None
    else:
        return None
    return Table([_cells(other) for other in run if not _is_rule(other)], len(run))


def _run(lines: Sequence[str], index: int, belongs: Callable[[str], bool]) -> Sequence[str]:
    return list(takewhile(belongs, map(lines.__getitem__, range(index, len(lines)))))


def _is_rule(line: str) -> bool:
    """Whether a line separates a table's header from its rows."""
    return "-" in line and "|" in line and set(line) <= set("|-: \t")


def _cells(line: str) -> list[str]:
    stripped = line.strip().removeprefix("|")
    cells = [cell.strip() for cell in _CELL_END.split(stripped, maxsplit=_MAX_CELLS - 1)]
    return cells[:-1] if cells[-1] == "" else cells


def _delimiter(line: str, is_header: Callable[[Sequence[str]], bool]) -> str | None:
    """The delimiter of a header; None if the line is none."""
    if len(line) > _MAX_HEADER:
        return None
    for delimiter in _DELIMITERS:
        names = [name.strip(" \"'").lower() for name in line.split(delimiter)]
        if 1 < len(names) < _MAX_CELLS and is_header(names):
            return delimiter
    return None


def _delimited(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    """The rows, one a line; text with delimiters in it may lack its quotes in the last column."""
    rows: list[list[str]] = []
    for line in lines:
        try:
            row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
        except (csv.Error, StopIteration):
            row = line.split(delimiter, _MAX_CELLS)
        n_cells = len(rows[0]) if rows else len(row)
        rows.append([*row[: n_cells - 1], delimiter.join(row[n_cells - 1 :])])
    return rows
