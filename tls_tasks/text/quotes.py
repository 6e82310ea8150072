"""Where a quote stands in a text: verbatim, or but for Unicode's NFC, quotation marks and blanks."""

from __future__ import annotations

import re
import unicodedata
from functools import cached_property
from itertools import islice

MAX_PLACES = 20
"""How many places of one quote are listed."""

_SINGLE, _DOUBLE = "'‘’‚‛‹›′`´ʼ", '"“”„‟«»″'
_STRAIGHT = str.maketrans({**dict.fromkeys(_SINGLE, "'"), **dict.fromkeys(_DOUBLE, '"')})


def _normalised_form(text: str) -> str:
    r"""NFC, straight quotation marks, one blank for each run of blanks, none at the ends; case stays.

    Example:
        >>> _normalised_form(" couldn’t \n sleep")
        "couldn't sleep"
    """
    return " ".join(unicodedata.normalize("NFC", text).translate(_STRAIGHT).split())


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
        wanted = _normalised_form(quote)
        return bool(wanted) and wanted in self._normalised

    def places(self, quote: str) -> list[tuple[int, int]]:
        """Start and end of each place where a quote stands, from left to right and without overlap.

        The verbatim places if there are any, else the normalised ones; :data:`MAX_PLACES` at most.
        """
        if self.holds(quote):
            return self._verbatim(quote)
        if not self.holds_normalised(quote):
            return []
        pattern = "".join(map(_any_form, _normalised_form(quote)))
        return [match.span() for match in islice(re.finditer(pattern, self.text), MAX_PLACES)]

    def _verbatim(self, quote: str) -> list[tuple[int, int]]:
        """Without a pattern: compiling one for each of thousands of quotes takes longer than everything else."""
        places: list[tuple[int, int]] = []
        start = self.text.find(quote)
        while start >= 0 and len(places) < MAX_PLACES:
            end = start + len(quote)
            places.append((start, end))
            start = self.text.find(quote, end)
        return places

    @cached_property
    def _normalised(self) -> str:
        return _normalised_form(self.text)


def _any_form(character: str) -> str:
    """A pattern for what a character of a normalised text may have been: composed or not, any mark, any blanks."""
    if character == " ":
        return r"\s+"
    marks = {"'": _SINGLE, '"': _DOUBLE}.get(character)
    if marks is not None:
        return f"[{marks}]"
    return f"(?:{re.escape(character)}|{re.escape(unicodedata.normalize('NFD', character))})"
