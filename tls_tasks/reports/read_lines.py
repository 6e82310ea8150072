"""The prose of a report: paragraphs without headings, lists and references, and where their sentences end."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

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


def blocks(text: str) -> Iterator[str]:
    r"""The paragraphs and list items of a report, each on one line.

    Left out: headings (including a title on the first line and a lead-in such as "Here is the report:"), rules, the
    fences of code blocks, footnote definitions, and a list of references up to the next heading.

    Example:
        >>> list(blocks("# Report\n\nIt rained.\nThen it\nstopped.\n- Rivers rose\n\nReferences:\n[1] coast-01"))
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


def sentence_spans(text: str, sure: Container[int] = (), marked: Container[int] = ()) -> list[tuple[int, int]]:
    """Where the sentences of one line begin and end. An abbreviation, or a dot before a lower-case letter, ends none.

    Args:
        text: The line.
        sure: Positions at which a sentence ends if they follow a full stop, whatever comes next.
        marked: Positions of citation marks: a full stop right after a mark does not belong to an abbreviation.

    Example:
        >>> text = "Dr. Hale left at 5.30 p.m. today. It rained! 开罗爆发抗议。警察开火。"
        >>> [text[start:end] for start, end in sentence_spans(text)]
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
