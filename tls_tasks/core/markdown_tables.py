"""Markdown's tables in model text, with or without outer bars."""

import re
from collections.abc import Callable, Sequence
from itertools import takewhile
from typing import NamedTuple

_MAX_CELLS = 32
"""Cells of a row that are read; the last one takes the rest of the line."""

_CELL_END = re.compile(r"(?<!\\)\|")


class Table(NamedTuple):
    """A table within a text.

    Attributes:
        rows: Its cells, the header first if there is one.
        n_lines: How many lines of the text it takes.
    """

    rows: list[list[str]]
    n_lines: int


def table_at(lines: Sequence[str], index: int) -> Table | None:
    """The table that begins at a line; None if there is none.

    A table is a run of lines that begin with a bar, or one whose second line is of the form ``--- | ---``.

    Example:
        >>> table_at(["text", "| a | b |", "| c | d |", ""], 1)
        Table(rows=[['a', 'b'], ['c', 'd']], n_lines=2)
        >>> table_at(["a | b", "--- | ---", "c | d", "text"], 0).rows
        [['a', 'b'], ['c', 'd']]
    """
    line = lines[index]
    if line.lstrip().startswith("|"):
        run = _run(lines, index, lambda other: other.lstrip().startswith("|"))
    elif "|" in line and index + 1 < len(lines) and _is_rule(lines[index + 1]):
        run = _run(lines, index, lambda other: "|" in other)
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
