"""What all readers of JSON in model text share: numbers and objects as they are meant, and what is noted on the way."""

from __future__ import annotations

import re
from typing import Any

from tls_tasks.core.parsed import Problem

MAX_DIGITS = 640
"""Digits of an integer: the lowest limit that Python may be set to, so that ``int`` can't refuse it."""

DETAIL_LENGTH = 80
"""Characters of model text kept in a problem's detail."""

Notes = dict[Problem, None]
"""What was noted while reading, each thing once, in order."""


def problem(kind: str, text: str) -> Problem:
    """A problem with its text shortened and made safe to write (a lone surrogate can't be encoded).

    Example:
        >>> problem("invalid_date", " " + "soon " * 100).detail[-9:]
        'oon soon…'
    """
    detail = text[: 4 * DETAIL_LENGTH].strip()
    if len(detail) > DETAIL_LENGTH:
        detail = detail[: DETAIL_LENGTH - 1] + "…"
    return Problem(kind, detail.encode("utf-8", "replace").decode("utf-8"))


_NOT_IN_NAMES = re.compile(r"[\W_]+")


def folded(name: str) -> str:
    """A name without what does not tell names apart: case, blanks, hyphens and underscores.

    Example:
        >>> folded("Last night"), folded("last_night"), folded("lastNight")
        ('lastnight', 'lastnight', 'lastnight')
    """
    return _NOT_IN_NAMES.sub("", name).casefold()


class RepeatedKeys(dict[str, Any]):
    """An object in which a key occurs more than once: as a dict the last value counts, ``pairs`` has them all."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def object_of(pairs: list[tuple[str, Any]], notes: Notes) -> dict[str, Any]:
    """The object with these keys and values; repeated keys are noted."""
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            notes[problem("duplicate_key", key)] = None
        seen.add(key)
    return RepeatedKeys(pairs)


def number_of(token: str, notes: Notes) -> int | float:
    """The number; one that no finite float holds is noted, and so are NaN and Infinity."""
    if token.lstrip("-").isdigit() and len(token) <= MAX_DIGITS:
        return int(token)
    value = float(token)
    if value - value != 0:  # infinite or NaN
        notes[problem("non_finite", token)] = None
    return value
