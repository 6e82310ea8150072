"""Citation marks in model text: ``[1]``, ``[2, 5-7]``, ``[doc 3]``, ``[coast-07]`` -> ids of documents.

A number is the position of a document in the list that the prompt showed. A mark that points to no document of the list
is kept as an unknown id: citing what does not exist is a wrong citation, not a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

_MAX_RANGE = 50
"""The most documents that a range such as ``[2-9]`` may span."""

# One level of brackets, of bounded length, so that a text full of brackets takes no longer than any other. The target
# of a link belongs to its mark.
_MARK = re.compile(
    r"[\[【]{1,2}([^\[\]【】\n]{1,300})[\]】]{1,2}(?:\([^()\s]{1,500}\))?|(?<=[\s.!?])\(([^()\n]{1,300})\)"
)
_SEPARATOR = re.compile(r"[,;，、；]|\s(?:and|und|et|y)\s|&")
_LABEL = re.compile(
    r"(?:(?:see|cf\.?)\s{1,3})?(?:(?:docs?|documents?|doc_id|ids?|sources?|refs?|references?|passages?|articles?|texts?|nos?)\b[\s.:#]*)?",
    re.IGNORECASE,
)
_PAGE = re.compile(r"(?:pp?\.?|pages?|lines?|sections?|§)\s?[0-9]{1,6}(?:\s?[-–]\s?[0-9]{1,6})?", re.IGNORECASE)
_NUMBER = re.compile(r"[#^]?([0-9]{1,6})")
_RANGE = re.compile(r"[#^]?([0-9]{1,6})\s?[-–—]\s?[#^]?([0-9]{1,6})")
_ID_LIKE = re.compile(r"(?=[^\s]{0,100}[^\W\d_])(?=[^\s]{0,100}\d)(?=[^\s]{0,100}(?:[-_:/]|\d{3}))[^\s]{4,100}")


class Mark(NamedTuple):
    """A citation mark.

    Attributes:
        position: Where it stood, in characters of the text without marks.
        ids: What it cites, in order.
    """

    position: int
    ids: tuple[str, ...]


class Citations:
    """Reads marks against the list of documents that a prompt showed.

    Args:
        doc_ids: Their ids, in the order of their numbers.

    Example:
        >>> citations = Citations(["coast-01", "coast-02"])
        >>> citations.ids("1, 2"), citations.ids("doc 2"), citations.ids("coast-01; 9"), citations.ids("sic")
        (('coast-01', 'coast-02'), ('coast-02',), ('coast-01', '9'), ())
    """

    def __init__(self, doc_ids: Sequence[str] = ()) -> None:
        self._listed = tuple(doc_ids)
        self._known = {doc_id.casefold(): doc_id for doc_id in reversed(self._listed)}

    def is_known(self, doc_id: str) -> bool:
        """Whether the list has this document."""
        return self._known.get(doc_id.casefold()) == doc_id

    def of_number(self, number: int) -> str:
        """The id of the document with this number; outside the list, the document of that name or the number."""
        if 1 <= number <= len(self._listed):
            return self._listed[number - 1]
        return self._known.get(str(number), str(number))

    def ids(self, content: str, *, strict: bool = False) -> tuple[str, ...]:
        """What the inside of a bracket cites; nothing unless every part of it is a citation.

        Args:
            content: The text between the brackets.
            strict: For round brackets: only ids of the list and labelled numbers (``doc 3``) count.
        """
        found: list[str] = []
        for part in map(str.strip, _SEPARATOR.split(content)):
            if found and _PAGE.fullmatch(part):
                continue
            if not (ids := self._part(part, strict)):
                return ()
            found += ids
        return tuple(dict.fromkeys(found))

    def _part(self, part: str, strict: bool) -> list[str]:
        label = _LABEL.match(part)
        label = label if label and label[0] else None
        bare = part[label.end() :].strip() if label else part
        if number := _NUMBER.fullmatch(bare):
            return [self.of_number(int(number[1]))] if label or not strict else []
        for text in (part, bare):
            if known := self._known.get(text.strip("`*\"'").casefold()):
                return [known]
        if (span := _RANGE.fullmatch(bare)) and 0 <= int(span[2]) - int(span[1]) < _MAX_RANGE and (label or not strict):
            return [self.of_number(number) for number in range(int(span[1]), int(span[2]) + 1)]
        return [bare] if not strict and _ID_LIKE.fullmatch(bare) else []

    def strip(self, text: str) -> tuple[str, tuple[Mark, ...]]:
        """Remove the marks from a text.

        Returns:
            The text without marks, and the marks with their positions in it.

        Example:
            >>> Citations(["a", "b"]).strip("It rained [1, 2]. It stopped [sic].")
            ('It rained. It stopped [sic].', (Mark(position=9, ids=('a', 'b')),))
        """
        pieces: list[str] = []
        marks: list[Mark] = []
        length = position = 0
        for match in _MARK.finditer(text):
            ids = self.ids(match[1] or match[2], strict=match[1] is None)
            if not ids:
                continue
            piece = text[position : match.start()].rstrip()
            position = match.end()
            if not piece and not pieces:  # at the very beginning: leave no space behind
                position += len(text[position:]) - len(text[position:].lstrip())
            elif text[position : position + 1].isalnum():
                piece += " "
            pieces.append(piece)
            length += len(piece)
            marks.append(Mark(length, ids))
        return "".join([*pieces, text[position:]]), tuple(marks)
