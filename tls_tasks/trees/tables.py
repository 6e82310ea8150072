"""Markdown tables in model text as the tree they are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tls_tasks.core.json_values import folded
from tls_tasks.core.markdown_tables import table_at
from tls_tasks.core.yaml_text import Unquoted
from tls_tasks.trees.types import Branch, ListOf

_LEFT_OUT = ("", "-", "–", "—")


def in_tables(text: str, node: Branch) -> tuple[dict[str, Any], str]:
    r"""What the tables of a text say, and the text without them.

    A table with two columns has a key and its value a row; one whose columns are keys of the schema is one row of it;
    one whose columns are keys of a list's items is that list. Cells stay as they are written.

    Example:
        >>> from tls_tasks.trees.types import Leaf
        >>> node = Branch({"city": Leaf("string"), "rooms": ListOf(Branch({"name": Leaf("string"), "beds": Leaf("integer")}))})
        >>> in_tables("| Field | Value |\n|---|---|\n| City | Oslo |\n\nRooms\n\n| name | beds |\n|---|---|\n| A | 2 |", node)[0]
        {'City': 'Oslo', 'rooms': [{'name': 'A', 'beds': '2'}]}
    """  # noqa: E501 - one line a table
    found: dict[str, Any] = {}
    others: list[str] = []
    lines = text.split("\n")
    index = 0
    while index < len(lines):
        table = table_at(lines, index, lambda names: False) if "|" in lines[index] else None
        if table is None or len(table.rows) < 2:
            others.append(lines[index])
            index += 1
            continue
        found.update(_pairs(table.rows, node))
        index += table.n_lines
    return found, "\n".join(others)


def _pairs(rows: Sequence[Sequence[str]], node: Branch) -> Iterator[tuple[str, Any]]:
    header = [folded(_bare(cell)) for cell in rows[0]]
    for key, child in node.children.items():
        if isinstance(child, ListOf) and isinstance(child.item, Branch) and _are_keys(header, child.item):
            yield str(key), [_row(rows[0], row) for row in rows[1:]]
            return
    if _are_keys(header, node):
        yield from _row(rows[0], rows[1]).items()
    else:
        names = {folded(str(key)) for key in node.children}
        pairs = [(_bare(row[0]), _cell(row[1])) for row in rows if len(row) > 1 and row[0]]
        are_keys = [folded(key.partition(".")[0]) in names for key, _ in pairs]
        if any(are_keys):
            yield from pairs[not are_keys[0] :]


def _are_keys(header: Sequence[str], node: Branch) -> bool:
    """Whether at least two columns, and half of them, are keys."""
    n_keys = len({folded(str(key)) for key in node.children} & set(header))
    return n_keys > 1 and 2 * n_keys >= len(header)


def _row(header: Sequence[str], row: Sequence[str]) -> dict[str, Any]:
    return {_bare(name): _cell(cell) for name, cell in zip(header, row, strict=False)}


def _cell(cell: str) -> Unquoted:
    text = _bare(cell)
    return Unquoted("null" if text in _LEFT_OUT else text)


def _bare(cell: str) -> str:
    """A cell without Markdown and quotes around it."""
    return cell.strip().strip('*`"').strip()
