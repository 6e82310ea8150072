"""Where a quote stands in a text: verbatim, or but for what printing changes; marked pieces."""

import itertools
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from functools import cached_property
from operator import itemgetter

from tls_tasks.text.rouge155 import normal_form
from tls_tasks.text.tokenizers import SOUTH_EAST_ASIAN, UNSPACED

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
_STRAIGHT = str.maketrans(
    {**dict.fromkeys(_SINGLE, "'"), **dict.fromkeys(_DOUBLE, '"'), **dict.fromkeys("\u2010\u2011", "-")}
)
_INVISIBLE = str.maketrans(dict.fromkeys("\xad\u200b\u2060\ufeff"))
_BROKEN = "\ue000"
"""Stands for a hyphen at the end of a line, which may be the word's or the printer's."""

_PIECE = re.compile(
    rf"""(?P<broken>{_BROKEN}|(?<=[^\W\d_])[-\xad]\s*\n\s*(?=[^\W\d_]))
    |(?P<blank>\s+)|(?P<plain>[!-,.-~]+(?![^\x00-\x7f\s])|-(?![^\x00-\x7f\s]))|[!-~]?[^\x00-\x7f\s]+|.""",
    re.VERBOSE | re.DOTALL,
)
_UNSPACED = re.compile(f"[{UNSPACED}{SOUTH_EAST_ASIAN}]")
_SPLIT_NUMBER = re.compile(r"(?<=\d[.,:/'])(?=\d)|(?<=\d)(?=[.,:/']\d)")


def folded(text: str) -> tuple[str, list[int]]:
    r"""Fold what printing changes in a text: what a quote and its source are compared by; case stays.

    That is: NFKC (ligatures, full-width forms, ``…``), straight quotation marks, plain hyphens, none that is soft, one
    sign for a hyphen and the line's end behind it, one blank for each run of blanks.

    Returns:
        The folded text, and where each of its characters begins in the text.

    Example:
        >>> folded("couldn’t \n sleep")[0], folded("ﬁt")
        ("couldn't sleep", ('fit', [0, 0, 1]))
    """
    pieces, starts = list[str](), list[int]()
    for piece in _PIECE.finditer(text.translate(_STRAIGHT)):
        at, kind = piece.start(), piece.lastgroup
        parts = [piece[0]] if kind else _characters(piece[0])
        for part in parts:
            new = {"broken": _BROKEN, "blank": " ", "plain": part}.get(kind or "")
            new = unicodedata.normalize("NFKC", part.translate(_INVISIBLE)) if new is None else new
            pieces.append(new)
            starts += range(at, at + len(part)) if new == part else [at] * len(new)
            at += len(part)
    return "".join(pieces), starts


def _characters(text: str) -> list[str]:
    """The characters of a text, each with its marks; a text that needs no folding is one piece."""
    if unicodedata.is_normalized("NFKC", text) and text.translate(_INVISIBLE) == text:
        return [text]
    characters = list[str]()
    for character in text:
        if characters and (unicodedata.category(character)[0] == "M" or "\u1160" <= character <= "\u11ff"):
            characters[-1] += character
        else:
            characters.append(character)
    return characters


class Source:
    """A text that is quoted.

    Example:
        >>> source = Source("I couldn't  sleep. I couldn't eat.")
        >>> source.holds("I couldn't"), source.holds("couldn’t sleep"), source.holds_normalised("couldn’t sleep")
        (True, False, True)
        >>> source.places("I couldn't"), source.places("couldn’t sleep"), source.places("tea")
        ([(0, 10), (19, 29)], [(2, 17)], [])
        >>> source.whole_places("I could"), source.whole_places("sleep")
        ([], [(12, 17)])
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def holds(self, quote: str) -> bool:
        """Whether a quote stands in it verbatim; nothing, or blanks alone, quote nothing."""
        return quote in self.text and bool(quote) and not quote.isspace()

    def holds_normalised(self, quote: str) -> bool:
        """Whether a quote stands in it verbatim, or after both were folded."""
        return self.holds(quote) or next(self._spans(quote), None) is not None

    def places(self, quote: str) -> list[tuple[int, int]]:
        """Start and end of each place where a quote stands, from left to right and without overlap.

        The verbatim places if there are any, else those after folding; :data:`MAX_PLACES` at most.
        """
        if not self.holds(quote):
            return [*itertools.islice(map(self._place, self._spans(quote)), MAX_PLACES)]
        return [match.span() for match in itertools.islice(re.finditer(re.escape(quote), self.text), MAX_PLACES)]

    def whole_places(self, quote: str, least: int = 3) -> list[tuple[int, int]]:
        """Find the places where a quote is whole words and numbers after folding; :data:`MAX_PLACES` at most.

        Args:
            quote: The quote.
            least: How many letters and digits it has at least; of scripts without blanks two are enough.
        """
        least = min(least, 2) if any(map(_UNSPACED.match, quote)) else least
        if sum(map(str.isalnum, folded(quote)[0])) < least:
            return []
        spans = (span for span in self._spans(quote) if not any(map(self._is_within_word, span)))
        return [*itertools.islice(map(self._place, spans), MAX_PLACES)]

    def _spans(self, quote: str) -> Iterator[tuple[int, int]]:
        """Where a quote stands in the folded text."""
        target, text = folded(quote)[0].strip().replace(_BROKEN, ""), self._folded[0]
        if target:
            pattern = re.escape(target)
            if _BROKEN in text:
                parts = {"- ": f"(?:- |{_BROKEN})", "-": f"[-{_BROKEN}]"}
                signs = (parts.get(sign, re.escape(sign)) for sign in re.findall("- |.", target, re.DOTALL))
                pattern = f"{_BROKEN}?".join(signs)
            yield from (match.span() for match in re.finditer(pattern, text))

    def _place(self, span: tuple[int, int]) -> tuple[int, int]:
        """Where a span of the folded text is in the text."""
        starts, (begin, end) = self._folded[1], span
        return starts[begin], starts[end] if end < len(starts) else len(self.text)

    def _is_within_word(self, at: int) -> bool:
        """Whether a place in the folded text is within a word or a number."""
        text = self._folded[0]
        both = text[at - 1 : at + 1] if at else ""
        if len(both) < 2:
            return False
        if all(sign.isalnum() or sign == _BROKEN or unicodedata.category(sign)[0] == "M" for sign in both):
            return both.isdigit() or unicodedata.category(both[1])[0] == "M" or not any(map(_UNSPACED.match, both))
        return _SPLIT_NUMBER.match(text, at) is not None

    @cached_property
    def _folded(self) -> tuple[str, list[int]]:
        return folded(self.text)
