"""Where a quote stands in a text: letter by letter, or but for Unicode's NFC, quotation marks and blanks."""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple

MAX_PLACES = 20
"""How many places of one quote are listed."""

_MARKS = str.maketrans({**dict.fromkeys("‘’‚‛‹›′`´ʼ", "'"), **dict.fromkeys("“”„‟«»″", '"')})


def normalised(text: str) -> str:
    r"""NFC, straight quotation marks, one blank for each run of blanks, none at the ends; case stays.

    Example:
        >>> normalised(" couldn’t \n sleep")
        "couldn't sleep"
    """
    return " ".join(unicodedata.normalize("NFC", text).translate(_MARKS).split())


class _Pieces(NamedTuple):
    """A normalised text and where it comes from.

    Attributes:
        text: The normalised text.
        ends: Where in it each piece ends.
        spans: Start and end of each piece in the original.
    """

    text: str
    ends: list[int]
    spans: list[tuple[int, int]]


class Source:
    """A text that is quoted.

    Example:
        >>> source = Source("I couldn't  sleep. I couldn't eat.")
        >>> source.holds("I couldn't"), source.holds("couldn’t sleep"), source.holds_normalised("couldn’t sleep")
        (True, False, True)
        >>> source.places("I couldn't"), source.places("couldn’t sleep"), source.places("tea")
        ([(0, 10), (19, 29)], [(2, 17)], [])
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def holds(self, quote: str) -> bool:
        """Whether a quote stands in it verbatim; nothing, or blanks alone, quote nothing."""
        return quote in self.text and bool(quote) and not quote.isspace()

    def holds_normalised(self, quote: str) -> bool:
        """Whether a quote stands in it verbatim, or after both were normalised."""
        if self.holds(quote):
            return True
        wanted = normalised(quote)
        return bool(wanted) and wanted in self._normalised

    def places(self, quote: str) -> list[tuple[int, int]]:
        """Start and end of each place where a quote stands, from left to right and without overlap.

        The verbatim places if there are any, else the normalised ones; :data:`MAX_PLACES` at most.
        """
        if self.holds(quote):
            return list(_places(quote, self.text))
        wanted = normalised(quote)
        if not wanted or wanted not in self._normalised:
            return []
        text, ends, spans = self._pieces
        return [
            (spans[bisect_right(ends, start)][0], spans[bisect_right(ends, end - 1)][1])
            for start, end in _places(wanted, text)
        ]

    @cached_property
    def _normalised(self) -> str:
        return normalised(self.text)

    @cached_property
    def _pieces(self) -> _Pieces:
        spans = list(_clusters(self.text))
        pieces = [
            " " if self.text[start].isspace() else unicodedata.normalize("NFC", self.text[start:end]).translate(_MARKS)
            for start, end in spans
        ]
        return _Pieces("".join(pieces), list(accumulate(map(len, pieces))), spans)


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Runs of blanks, and characters with the marks (or Hangul vowels and finals) that NFC may join to them."""
    start = 0
    for index in range(1, len(text) + 1):
        if index < len(text):
            before, character = text[index - 1], text[index]
            joins = unicodedata.combining(character) or "\u1160" <= character <= "\u11ff"
            if (character.isspace() and before.isspace()) or (joins and not before.isspace()):
                continue
        yield start, index
        start = index


def _places(wanted: str, text: str) -> Iterator[tuple[int, int]]:
    start = -1
    for _ in range(MAX_PLACES):
        start = text.find(wanted, start + (len(wanted) if start >= 0 else 1))
        if start < 0:
            return
        yield start, start + len(wanted)
