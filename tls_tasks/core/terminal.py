"""Text for display: escaped for terminals, in tables, and cut where a prompt has no room."""

import re
import unicodedata
from collections.abc import Iterable, Sequence


def visible(text: str) -> str:
    r"""Return the text with every character escaped that a terminal might obey or not show.

    These are control characters (so that no escape sequence survives), format characters such as marks of writing
    direction, lone surrogates, private and unassigned characters, and line and paragraph separators.

    Example:
        >>> print(visible("red \x1b[31m\n and \u202e back"))
        red \x1b[31m\n and \u202e back
    """
    return text if text.isprintable() else "".join(map(_visible, text))


def shown(text: str, longest: int = 160) -> str:
    """Return the visible text, cut to this many characters.

    Example:
        >>> shown("Talks end.", 6)
        'Talks…'
    """
    text = visible(text[: longest + 1])
    return text if len(text) <= longest else text[: longest - 1] + "…"


def visible_lines(text: str) -> str:
    r"""Return the text as :func:`visible` does, but with its newlines: for our own layout.

    Example:
        >>> print(visible_lines("a\n\tb\x1b"))
        a
        \tb\x1b
    """
    return "\n".join(map(visible, text.split("\n")))


def _visible(character: str) -> str:
    """Return a character, escaped where a terminal might obey it or not show it."""
    if character.isprintable() or unicodedata.category(character) == "Zs":  # covers the no-break space
        return character
    return character.encode("unicode_escape").decode("ascii")


_NUMBER = re.compile(r"[-+]?\d[\d,]*(\.\d+)?%?|NaN")
_NO_NUMBER = ("", "-")  # cells that a numeric column may have


def text_table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows of cells as aligned columns; the first row is the heading, numbers stand at the right.

    A column is numeric if below its heading it has at least one number, and otherwise only ``-`` and empty cells. No
    cell's content can break the layout or be obeyed by a terminal.

    Example:
        >>> print(text_table([("metric", "value", "n"), ("f1", "0.5000", "12"), ("tp", "10", "-")]))
        metric   value   n
        f1      0.5000  12
        tp          10   -
        >>> print(text_table([("topic", "n"), ("東京", "1"), ("egypt", "2")]))
        topic  n
        東京   1
        egypt  2
    """
    columns = [_aligned([visible(cell) for cell in column]) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(cells).rstrip() for cells in zip(*columns, strict=True))


def _aligned(column: Sequence[str]) -> list[str]:
    """Return the cells of a column, padded to equal width."""
    cells = column[1:]
    numeric = {cell for cell in cells if _NUMBER.fullmatch(cell)}  # a set: a table may have 200,000 rows
    if numeric and all(cell in _NO_NUMBER for cell in cells if cell not in numeric):
        width = max(map(len, column))
        return [cell.rjust(width) for cell in column]
    width = max(map(_width, column))
    return [cell + " " * (width - _width(cell)) for cell in column]


def _width(text: str) -> int:
    """Return the cells that a text takes on a terminal: two for a wide character, none for a combining one."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(character) in "WF" for character in text)
    return len(text) + wide - sum(unicodedata.category(character) in ("Mn", "Me", "Cf") for character in text)


_PARAGRAPH_END = re.compile(r"(?=\n[ \t\r]*\n)")
_SENTENCE_END = re.compile(r"""[.!?…]["'”’)\]]*(?=\s)|[。！？]|(?=\n)""")


def beginning(text: str, most: int) -> str:
    r"""Return the whole paragraphs with which a text begins, of at most so many characters together.

    Where whole paragraphs would fill less than a quarter of the room (a title, or nothing), it returns whole sentences.

    Example:
        >>> beginning("It rained.\n\nIt snowed. It hailed.", 24), beginning("It rained. It snowed.", 12)
        ('It rained.', 'It rained.')
    """
    if most >= len(text):
        return text
    last = 0
    for end in (_PARAGRAPH_END, _SENTENCE_END):
        last = max((match.end() for match in end.finditer(text) if match.end() <= most), default=0)
        if last * 4 >= most:
            break
    if not last and most > 1000:  # a transcript may lack punctuation
        last = text.rfind(" ", 0, most)
    return text[: max(0, last)].rstrip()
