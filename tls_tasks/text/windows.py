"""Windows on a long text: overlapping pieces that a judge can read one at a time."""

from __future__ import annotations

import re

from tls_tasks.core.errors import InputError

_BLANK = re.compile(r"\s")


def windows(text: str, size: int = 8000, overlap: int = 800) -> tuple[str, ...]:
    """Cut a text into overlapping pieces, at whitespace if there is any nearby.

    Every passage of at most ``overlap`` characters is in one of the pieces as a whole, so that what supports a claim is
    not cut in two. Chinese and Japanese have no whitespace and are cut anywhere.

    Args:
        text: Any text.
        size: The greatest length of a piece in characters, above 0.
        overlap: How many characters two neighbours share at least; at most half of ``size``.

    Returns:
        The pieces in order, at least one; a text of ``size`` characters or fewer is returned as it is.

    Raises:
        InputError: A size or overlap that no cut can satisfy.

    Example:
        >>> windows("the talks ended on Monday without a result, and will go on", size=40, overlap=12)
        ('the talks ended on Monday without a', ' Monday without a result, and will go on')
        >>> windows("short")
        ('short',)
    """
    if size < 1:
        raise InputError("size", None, str(size), "a number of characters above 0")
    if not 0 <= overlap <= size // 2:
        raise InputError("overlap", None, str(overlap), f"0 to {size // 2}, half of size")
    pieces = []
    start = 0
    while len(text) - start > size:
        end = _back_to_blank(text, start + size, size // 4)
        pieces.append(text[start:end])
        # At most 1/2 + 1/4 + 1/8 of the size is given back, so that every step is a step forward.
        start = _back_to_blank(text, end - overlap, size // 8)
    return (*pieces, text[start:])


def _back_to_blank(text: str, position: int, reach: int) -> int:
    """The nearest blank at or before a position, no further than ``reach``; else the position itself."""
    for candidate in range(position, position - reach - 1, -1):
        if _BLANK.match(text, candidate):
            return candidate
    return position
