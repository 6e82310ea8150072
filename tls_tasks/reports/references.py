"""The entries of a list of references at the end of a report: what they are called, and what they say."""

from __future__ import annotations

import re
from typing import NamedTuple

_ENTRY = re.compile(
    r"\s{0,12}(?:[-*+•>]\s{1,4}|[0-9]{1,3}[.)]\s{1,3}(?=[\[【]))?\*{0,2}"
    r"(?:[\[【]{1,2}\^?(?P<square>[^\[\]【】\n]{1,60})[\]】]{1,2}:?|(?P<number>\(?[0-9]{1,3}[.):])(?=\s))?"
    r"\*{0,2}[:\s]{0,3}(?P<rest>.*)"
)


class Entry(NamedTuple):
    """An entry of a list of references.

    Attributes:
        key: What it is called; empty if it has no name.
        rest: What it says.
        is_mark: Whether the key is written as a mark, and not as the number of a list's item.
    """

    key: str
    rest: str
    is_mark: bool


def entry_of(line: str) -> Entry:
    """What a line of a list of references says.

    Example:
        >>> entry_of("- [2] Rain (2019)"), entry_of("Hale (2020). Snow.")
        (Entry(key='2', rest='Rain (2019)', is_mark=True), Entry(key='', rest='Hale (2020). Snow.', is_mark=False))
    """
    found = _ENTRY.match(line[:500])
    if not found:
        return Entry("", line[:500], False)
    mark, number = found["square"] or "", found["number"] or ""
    return Entry(mark or number.strip("(.):"), found["rest"].strip(), bool(mark))
