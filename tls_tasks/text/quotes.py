"""Where a quote stands in a text: verbatim, or but for Unicode's NFC, quotation marks and blanks; marked pieces."""

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable
from functools import cached_property
from operator import itemgetter

from tls_tasks.text.rouge155 import normal_form

Segments = list[list[str]]
"""``[text, mark]`` in order, with an empty mark for unmarked text; joined, the pieces are the whole text."""

_WORD = re.compile(r"[A-Za-z0-9]+")
_TOKEN = re.compile(r"\S+")


def mark_words(text: str, wanted: Collection[str]) -> Segments:
    """Mark the words whose counted form is in ``wanted``.

    Example:
        >>> mark_words("The protesters march.", {"protest"})
        [['The ', ''], ['protesters', 'common'], [' march.', '']]
    """
    return _marked(text, (word for word in _WORD.finditer(text) if (normal_form(word[0].lower()) or "") in wanted))


def mark_positions(text: str, positions: Iterable[int]) -> Segments:
    """Mark words, split at whitespace, by their positions.

    Example:
        >>> mark_positions("a b  c", [0, 2])
        [['a', 'common'], [' b  ', ''], ['c', 'common']]
    """
    wanted = frozenset(positions)
    return _marked(text, (word for place, word in enumerate(_TOKEN.finditer(text)) if place in wanted))


def mark_spans(text: str, spans: Iterable[tuple[int, int, str]]) -> Segments:
    """Mark spans of a text; where several overlap, a piece has the marks of all, separated by spaces.

    Args:
        text: The text.
        spans: Start, end and mark of each.

    Example:
        >>> mark_spans("abcdef", [(1, 4, "hit"), (3, 5, "miss")])
        [['a', ''], ['bc', 'hit'], ['d', 'hit miss'], ['e', 'miss'], ['f', '']]
    """
    marks: list[dict[str, None]] = [{} for _ in text]
    for start, end, mark in spans:
        for position in range(max(0, start), min(len(text), end)):
            marks[position][mark] = None
    pieces = itertools.groupby(zip(text, map(" ".join, marks), strict=True), key=itemgetter(1))
    return [["".join(character for character, _ in piece), mark] for mark, piece in pieces]


def _marked(text: str, words: Iterable[re.Match[str]]) -> Segments:
    return mark_spans(text, ((*word.span(), "common") for word in words))


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
        if not self.holds_normalised(quote):
            return []
        pattern = re.escape(quote) if self.holds(quote) else "".join(map(_any_form, _normalised_form(quote)))
        return [match.span() for match in itertools.islice(re.finditer(pattern, self.text), MAX_PLACES)]

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
