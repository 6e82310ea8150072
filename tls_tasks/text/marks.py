"""Texts cut into marked and unmarked pieces: what the page highlights."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence

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
    kept = [(max(0, start), min(len(text), end), mark) for start, end, mark in spans if start < end]
    borders = sorted({0, len(text), *(start for start, _, _ in kept), *(end for _, end, _ in kept)})
    pieces = []
    for begin, finish in itertools.pairwise(borders):
        marks = dict.fromkeys(mark for start, end, mark in kept if start <= begin and finish <= end)
        pieces.append([text[begin:finish], " ".join(marks)])
    return _joined(pieces)


def _marked(text: str, words: Iterable[re.Match[str]]) -> Segments:
    pieces: Segments = []
    end = 0
    for word in words:
        pieces += [text[end : word.start()], ""], [word[0], "common"]
        end = word.end()
    return _joined([*pieces, [text[end:], ""]])


def _joined(pieces: Sequence[Sequence[str]]) -> Segments:
    """Merge neighbours with the same mark; drop empty pieces."""
    joined: Segments = []
    for text, mark in pieces:
        if text and joined and joined[-1][1] == mark:
            joined[-1][0] += text
        elif text:
            joined.append([text, mark])
    return joined
