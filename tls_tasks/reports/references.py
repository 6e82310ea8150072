"""The entries of a list of references at the end of a report: what they are called, and what they say."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

SMALL = "⁰¹²³⁴-⁹①-⑳"
"""Superscript digits and circled numbers, as a class of characters."""

_ENTRY = re.compile(
    r"\s{0,12}(?:[-*+•>]\s{1,4}|[0-9]{1,3}[.)]\s{1,3}(?=[\[【]))?\*{0,2}"
    r"(?:\[{1,2}\^?(?P<square>[^\[\]\n]{1,60})\]{1,2}:?|(?P<number>\(?[0-9]{1,3}[.):])(?=\s)|【(?P<lens>[^【】\n]{1,60})】"
    rf"|(?P<small>[{SMALL}]{{1,3}})|<sup>(?P<sup>[^<>]{{1,20}})</sup>)?\*{{0,2}}[:\s]{{0,3}}(?P<rest>.*)"
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
    number = found["number"] or ""
    mark = found["square"] or found["lens"] or found["small"] or found["sup"] or ""
    return Entry(unicodedata.normalize("NFKC", mark) or number.strip("(.):"), found["rest"].strip(), bool(mark))
