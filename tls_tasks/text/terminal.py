"""Text for a terminal: what is safe to show, how wide it is, and how it is cut."""

from __future__ import annotations

import unicodedata

_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
_UNSAFE = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_NO_WIDTH = frozenset({"Mn", "Me"})


def visible(text: str) -> str:
    r"""The text with everything escaped that a terminal might obey, or that can't be seen.

    Control characters (so no escape sequence survives), marks of writing direction and other format characters, lone
    surrogates, private and unassigned characters, line and paragraph separators.

    Example:
        >>> print(visible("red \x1b[31m\n and \u202e back"))
        red \x1b[31m\n and \u202e back
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def _visible(character: str) -> str:
    if character in _SHORT:
        return _SHORT[character]
    if unicodedata.category(character) not in _UNSAFE:
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def width(text: str) -> int:
    r"""How many columns a visible text takes: two for wide characters, none for combining marks.

    Example:
        >>> width("abc"), width("東京"), width("e\u0301")
        (3, 4, 1)
    """
    return len(text) if text.isascii() else sum(map(_width, text))


def _width(character: str) -> int:
    if unicodedata.category(character) in _NO_WIDTH:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def fitted(text: str, columns: int) -> str:
    """The text cut or filled up with blanks to a number of columns; what is cut ends with an ellipsis.

    Example:
        >>> fitted("drums", 7), fitted("synthesizer", 7), fitted("東京都", 4)
        ('drums  ', 'synthe…', '東… ')
    """
    if width(text) <= columns:
        return text + " " * (columns - width(text))
    kept, used = "", 0
    for character in text:
        if used + _width(character) > columns - 1:
            break
        kept, used = kept + character, used + _width(character)
    return kept + "…" + " " * (columns - 1 - used)
