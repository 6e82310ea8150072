"""json_repair on a leash: it may look at its text only so often."""

from __future__ import annotations

import json
from typing import Any, SupportsIndex

MAX_STEPS = 2_000_000
"""How often json_repair may look at its text: one or two seconds."""


class OutOfSteps(Exception):
    """json_repair has looked at its text too often."""


class Metered(str):
    """A str that counts how often it is indexed. Its pieces share the count.

    json_repair looks ahead for the end of a string, again and again if it finds none: ten kilobytes of ``'it's',`` take
    it seconds, a hundred take minutes. Counting is what can be done from outside.

    Example:
        >>> text = Metered("abc", [2])
        >>> text[0], text[1:]
        ('a', 'bc')
        >>> text[1:][0]
        Traceback (most recent call last):
        ...
        tls_tasks.parsing.json_repairing.OutOfSteps
    """

    steps: list[int]

    def __new__(cls, text: str, steps: list[int]) -> Metered:
        """``steps`` holds one number, how many are left."""
        metered = super().__new__(cls, text)
        metered.steps = steps
        return metered

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        piece = super().__getitem__(key)
        self.steps[0] -= 1 + len(piece) // 100
        if self.steps[0] < 0:
            raise OutOfSteps
        return Metered(piece, self.steps) if isinstance(key, slice) else piece

    def __add__(self, other: str) -> Metered:
        return Metered(super().__add__(other), self.steps)


def repaired(text: str, max_steps: int = MAX_STEPS) -> Any:
    """What json_repair makes of a text.

    Raises:
        Exception: Of any kind: it is another project's parser on hostile text. RecursionError, ValueError and
            :class:`OutOfSteps` are what was seen.

    Example:
        >>> repaired("[{'a': 1,}")
        [{'a': 1}]
    """
    import json_repair

    # Through JSON once more, so that no string of the value is a Metered one.
    return json.loads(json.dumps(json_repair.loads(Metered(text, [max_steps]))))
