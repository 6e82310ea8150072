"""json_repair on a leash: how much text it may see, and how often it may look at it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, SupportsIndex


class LeashEnds(Exception):
    """json_repair was given too much text, or looked at it too often."""


@dataclass(slots=True)
class Leash:
    """What json_repair may still do for one model text.

    Attributes:
        characters: Characters that it may be given, in all.
        steps: How often it may look at one; ordinary trouble needs 2 to 4 a character.
    """

    characters: int = 100_000
    steps: int = 2_000_000


class Metered(str):
    """A str that counts how often it is indexed. Its pieces share the count.

    json_repair looks ahead for the end of a string, again and again if it finds none: ten kilobytes of ``'it's',`` take
    it seconds, a hundred take minutes. Counting is what can be done from outside.

    Example:
        >>> text = Metered("abc", Leash(steps=2))
        >>> text[0], text[1:]
        ('a', 'bc')
        >>> text[1:][0]
        Traceback (most recent call last):
        ...
        tls_tasks.core.json_repairing.LeashEnds: json_repair takes too long
    """

    leash: Leash

    def __new__(cls, text: str, leash: Leash) -> Metered:
        """``leash`` is what the count is taken from."""
        metered = super().__new__(cls, text)
        metered.leash = leash
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        piece = super().__getitem__(key)
        self.leash.steps -= 1 + len(piece) // 100
        if self.leash.steps < 0:
            raise LeashEnds("json_repair takes too long")
        return Metered(piece, self.leash) if isinstance(key, slice) else piece

    def __add__(self, other: str) -> Metered:
        return Metered(super().__add__(other), self.leash)


def repaired(text: str, leash: Leash) -> Any:
    """What json_repair makes of a text.

    Args:
        text: JSON with something wrong in it.
        leash: What it may still do; used up.

    Raises:
        Exception: Of any kind: it is another project's parser on hostile text. RecursionError, ValueError and
            :class:`LeashEnds` are what was seen.

    Example:
        >>> repaired("[{'a': 1,}", Leash())
        [{'a': 1}]
    """
    import json_repair

    leash.characters -= len(text)
    if leash.characters < 0:
        raise LeashEnds(f"{len(text)} characters are too many for json_repair")
    # Through JSON once more, so that no string of the value is a Metered one.
    return json.loads(json.dumps(json_repair.loads(Metered(text, leash))))
