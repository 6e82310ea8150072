"""The beginning of a text, where only part of it has room."""

import re

_PARAGRAPH_END = re.compile(r"(?=\n[ \t\r]*\n)")
_SENTENCE_END = re.compile(r"""[.!?…]["'”’)\]]*(?=\s)|[。！？]|(?=\n)""")


def beginning(text: str, most: int) -> str:
    r"""The whole paragraphs with which a text begins, of at most so many characters together.

    It is whole sentences where the paragraphs would leave less than a quarter of the room filled: a title, or nothing.

    Example:
        >>> beginning("It rained.\n\nIt snowed. It hailed.", 24), beginning("It rained. It snowed.", 12)
        ('It rained.', 'It rained.')
    """
    if most >= len(text):
        return text
    last = 0
    for end in (_PARAGRAPH_END, _SENTENCE_END):
        last = max((found.end() for found in end.finditer(text) if found.end() <= most), default=0)
        if last * 4 >= most:
            break
    if not last and most > 1000:  # a transcript without punctuation
        last = text.rfind(" ", 0, most)
    return text[: max(0, last)].rstrip()
