"""Text for a terminal: what is safe to show."""

from __future__ import annotations

import unicodedata


def visible(text: str) -> str:
    r"""The text with every character escaped that a terminal might obey or not show.

    These are control characters (so that no escape sequence survives), format characters such as marks of writing
    direction, lone surrogates, private and unassigned characters, and line and paragraph separators.

    Example:
        >>> print(visible("red \x1b[31m\n and \u202e back"))
        red \x1b[31m\n and \u202e back
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def shown(text: str, longest: int = 160) -> str:
    """What is visible of a text, cut to this many characters.

    Example:
        >>> shown("Talks end.", 6)
        'Talks…'
    """
    text = visible(text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def visible_lines(text: str) -> str:
    r"""As :func:`visible`, but newlines stay: for our own layout, whose parts from elsewhere are visible already.

    Example:
        >>> print(visible_lines("a\n\tb\x1b"))
        a
        \tb\x1b
    """
    return "\n".join(map(visible, text.split("\n")))


def _visible(character: str) -> str:
    if character.isprintable() or unicodedata.category(character) == "Zs":  # no-break spaces and their like
        return character
    return character.encode("unicode_escape").decode("ascii")
