"""Tables as plain text, for terminals and printed scores."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from tls_tasks.core.terminal import visible

_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?%?|NaN")
_NO_NUMBER = ("", "-")  # what may stand among numbers


def text_table(rows: Iterable[Sequence[str]]) -> str:
    """Rows of cells as aligned columns, the first row being the heading; numbers are aligned at the decimal point.

    A column is one of numbers if it has one, and nothing but numbers, ``-`` and empty cells, below its heading. What a
    cell holds can neither leave it nor be obeyed by a terminal.

    Example:
        >>> print(text_table([("metric", "value", "n"), ("f1", "0.5000", "12"), ("tp", "10", "-")]))
        metric    value   n
        f1       0.5000  12
        tp      10        -
        >>> print(text_table([("topic", "n"), ("東京", "1"), ("egypt", "2")]))
        topic  n
        東京   1
        egypt  2
    """
    columns = [_aligned([visible(cell) for cell in column]) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def _aligned(column: Sequence[str]) -> list[str]:
    head, *cells = column
    numeric = [cell for cell in cells if _NUMBER.fullmatch(cell)]
    if numeric and all(cell in _NO_NUMBER for cell in cells if cell not in numeric):
        behind = [len(cell) - len(cell.partition(".")[0]) for cell in cells]
        widest = max(behind)
        cells = [
            cell + " " * (widest - n if cell in numeric and cell != "NaN" else 0)
            for cell, n in zip(cells, behind, strict=True)
        ]
        width = max(map(len, [head, *cells]))
        return [cell.rjust(width) for cell in (head, *cells)]
    width = max(map(_width, column))
    return [cell + " " * (width - _width(cell)) for cell in column]


def _width(text: str) -> int:
    """The cells that a text takes on a terminal: two for a wide character, none for one that marks another."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) in ("Mn", "Me", "Cf") for character in text)
