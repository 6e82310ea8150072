"""The prose of a report: which lines hold it, where its sentences end, and what they cite.

Citation marks are ``[1]``, ``[2, 5-7]``, ``[doc 3]``, ``[coast-07]`` and the like. A number is the position of a
document in the list that the prompt showed. A mark that points to no document of the list is kept as an unknown id:
citing what does not exist is a wrong citation, not a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import NamedTuple

from tls_tasks.reports.types import ReportSentence

_FENCE = re.compile(r"\s{0,12}(?:`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s{0,12}(?:[-=_*|:]\s{0,3}){3,}\s*$")
_BULLET = re.compile(r"\s{0,40}(?:>\s?){0,3}(?:[-*+•·◦–]|\(?[0-9]{1,3}[.)])\s+")
_QUOTE = re.compile(r"\s{0,12}(?:>\s?){1,5}")
_BOLD_LINE = re.compile(r"\s{0,12}(\*\*|__)[^*_]{1,150}\1[\s:]{0,3}$")
_SOURCES = (
    r"references?(?: list| cited)?|sources?(?: cited| used)?|bibliography|works cited|citations?|cited documents"
    r"|documents cited|footnotes?|literature|参考文献|来源|источники|منابع"
)
_REFERENCES = re.compile(
    rf"[\s#>*_-]{{0,12}}(?:{_SOURCES})[\s*_]{{0,4}}(?:[:：][\s*_]{{0,4}}(?P<more>.*))?$", re.IGNORECASE
)
_DEFINITION = re.compile(r"\s{0,12}\[\^?[^\[\]\n]{1,60}\]:\s")
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’»)*_]*(?=\s)|(?<![。！？])[。！？]+[”’」』）]*|(?<![।؟۔])[।؟۔]+[\"'”’»)]*"
)
_ABBREVIATION = re.compile(
    r"\b(?:[A-Z]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Sen|Rep|Gov|Gen|Col|Lt|vs|No|Nos|Fig|approx|ca|cf|e\.g|i\.e|al|p|pp)\.$"
)
_LEAD_IN_WORDS = 12
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


class _Mark(NamedTuple):
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

    def strip(self, text: str) -> tuple[str, tuple[_Mark, ...]]:
        """Remove the marks from a text.

        Returns:
            The text without marks, and the marks with their positions in it.

        Example:
            >>> Citations(["a", "b"]).strip("It rained [1, 2]. It stopped [sic].")
            ('It rained. It stopped [sic].', (_Mark(position=9, ids=('a', 'b')),))
        """
        pieces: list[str] = []
        marks: list[_Mark] = []
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
            marks.append(_Mark(length, ids))
        return "".join([*pieces, text[position:]]), tuple(marks)


def prose_sentences(text: str, citations: Citations) -> list[ReportSentence]:
    """The sentences of prose with what they cite.

    Example:
        >>> prose_sentences("[1] says that it rained. [2] says that it snowed.", Citations(["a", "b"]))[1]
        ReportSentence(text='says that it snowed.', citations=('b',))
    """
    sentences: list[ReportSentence] = []
    for block in _blocks(text):
        clean, marks = citations.strip(block)
        if not any(map(str.isalnum, clean)) and sentences:  # marks on a line of their own
            sentences[-1] = _with(sentences[-1], [doc_id for mark in marks for doc_id in mark.ids])
        sentences += _block_sentences(clean, marks)
    return sentences


def _block_sentences(clean: str, marks: Sequence[_Mark]) -> list[ReportSentence]:
    """The sentences of one paragraph, each with the marks in it or right after it."""
    leading = bool(marks) and not clean[: marks[0].position].strip()
    places = {mark.position for mark in marks}
    spans = _sentence_spans(clean, places if leading else (), places)
    if not spans:
        return []
    cited: list[list[str]] = [[] for _ in spans]
    index = 0
    for mark in marks:
        while index + 1 < len(spans) and _is_after(mark.position, spans, index, leading):
            index += 1
        cited[index] += mark.ids
    found = []
    for (start, end), ids in zip(spans, cited, strict=True):
        if any(map(str.isalnum, clean[start:end])):
            found.append(ReportSentence(clean[start:end].strip(), tuple(dict.fromkeys(ids))))
        elif found:
            found[-1] = _with(found[-1], ids)
    return found


def _is_after(position: int, spans: Sequence[tuple[int, int]], index: int, leading: bool) -> bool:
    """Whether a mark belongs to a later sentence than this."""
    return position >= spans[index][1] if leading else position > spans[index + 1][0]


def _with(sentence: ReportSentence, ids: Sequence[str]) -> ReportSentence:
    return ReportSentence(sentence.text, tuple(dict.fromkeys([*sentence.citations, *ids])))


def _blocks(text: str) -> Iterator[str]:
    r"""The paragraphs and list items of a report, each on one line.

    Left out: headings (including a title on the first line and a lead-in such as "Here is the report:"), rules, the
    fences of code blocks, footnote definitions, and a list of references up to the next heading.

    Example:
        >>> list(_blocks("# Report\n\nIt rained.\nThen it\nstopped.\n- Rivers rose\n\nReferences:\n[1] coast-01"))
        ['It rained.', 'Then it stopped.', 'Rivers rose']
    """
    current: list[str] = []
    in_references = False
    for line, is_title in _lines(text):
        if line and _is_heading(line, is_title):
            in_references = bool(_REFERENCES.match(line[:200]))
            line = ""
        elif line and (references := _REFERENCES.match(line[:200])) and not _is_prose(references["more"]):
            in_references = True
        bullet = _BULLET.match(line)
        if current and (bullet or not _goes_on(current[-1], line)):
            yield " ".join(current)
            current = []
        if line and not in_references and (words := _plain(line[bullet.end() :] if bullet else line)):
            current.append(words)
    if current:
        yield " ".join(current)


def _sentence_spans(text: str, sure: Container[int] = (), marked: Container[int] = ()) -> list[tuple[int, int]]:
    """Where the sentences of one line begin and end.

    An abbreviation does not end a sentence, nor does a dot before a lower-case letter.

    Args:
        text: The line.
        sure: Positions at which a sentence ends if they follow a full stop, whatever comes next.
        marked: Positions of citation marks: a full stop right after a mark does not belong to an abbreviation.

    Example:
        >>> text = "Dr. Hale left at 5.30 p.m. today. It rained! 开罗爆发抗议。警察开火。"
        >>> [text[start:end] for start, end in _sentence_spans(text)]
        ['Dr. Hale left at 5.30 p.m. today.', 'It rained!', '开罗爆发抗议。', '警察开火。']
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for found in _SENTENCE_END.finditer(text):
        end = found.end()
        following = text[end : end + 20].lstrip()[:1]
        is_short = found.start() not in marked and _ABBREVIATION.search(text, max(begin, end - 12), end)
        if end not in sure and (following.islower() or is_short):
            continue
        spans.append((begin, end))
        begin = end
    if text[begin:].strip():
        spans.append((begin, len(text)))
    return [(start + _indent(text, start, end), end) for start, end in spans]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines that can hold prose, each with whether it is the first of the text and a blank line follows."""
    is_first = True
    lines = [line if line.strip() else "" for line in text.splitlines()]
    for number, line in enumerate(lines):
        if _FENCE.match(line) or _RULE.match(line[:200]) or _DEFINITION.match(line[:200]):
            line = ""
        yield line, is_first and number + 1 < len(lines) and not lines[number + 1]
        is_first = is_first and not line


def _is_heading(line: str, is_title: bool) -> bool:
    """By its marks, as a title, or as a lead-in that ends in a colon."""
    if _HEADING.match(line) or _BOLD_LINE.match(line[:200]):
        return True
    bare = line.strip()
    few = len(bare) <= 150 and len(bare.split()) <= _LEAD_IN_WORDS
    if few and bare.endswith((":", "：")) and not _BULLET.match(line):
        return True
    return is_title and few and bool(bare) and not re.search(r"[.!?。！？।؟۔\])}】]", bare) and not _BULLET.match(line)


def _is_prose(more: str | None) -> bool:
    """Whether a line that begins like "Sources: …" continues as a sentence and not as a list of sources."""
    return bool(more) and bool(re.match(r"[a-z]", str(more)))


def _goes_on(current: str, line: str) -> bool:
    """Whether a line continues the unfinished sentence of the line before."""
    begin = _QUOTE.sub("", line[:40]).strip()[:1]
    return (begin.islower() or begin in "[(,;") and bool(begin) and current[-1:] not in ".!?。！？:"


def _plain(line: str) -> str:
    """A line without markup."""
    quote = _QUOTE.match(line)
    line = line[quote.end() :] if quote else line
    if line.lstrip().startswith("|"):
        line = " ".join(line.split("|"))
    return " ".join(line.replace("**", "").replace("__", "").split())


def _indent(text: str, start: int, end: int) -> int:
    return end - start - len(text[start:end].lstrip())
