"""The prose of a report: which lines hold it, and where its sentences end. What they cite: see citations.py."""

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain, takewhile

from tls_tasks.core.json_text import fences
from tls_tasks.core.parsed import Parsed, Problem, beside, problem
from tls_tasks.core.reasoning import Patterns
from tls_tasks.reports.citations import Citations, Mark, entries_of, entry_of, in_brackets
from tls_tasks.reports.types import ReportSentence

_INVISIBLE = str.maketrans(dict.fromkeys("\u200b\u2060\ufeff", ""))
_ESCAPED = re.compile(r"\\([\[\]_#~&*])")
_CUT_OFF = re.compile(r"(?<=\s)\[[0-9][0-9,;\s–-]{0,40}$")
_INLINE = "(?P<inline>b|i|em|strong|u|span|small)"
_BLOCK = "(?P<heading>h[1-6])|(?P<item>li)|p|div|ul|ol|br|hr|section|article|body|html|report|content|text"
_TAG = re.compile(rf"(?i)</?(?:{_INLINE}|{_BLOCK})(?:\s[^<>]{{0,100}})?/?>")
_TAG_TEXTS = {"inline": "", "heading": "\n# ", "item": "\n- "}
_FENCE = re.compile(r"\s{0,12}(?:`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s{0,12}(?:[-=_*|:]\s{0,3}){3,}\s*$")
_BULLET = re.compile(r"\s{0,40}(?:>\s?){0,3}(?:[-*+•·◦–]|\(?[0-9]{1,3}[.)])\s+")
# A line of a table of contents, a tag
_CONTENTS = re.compile(
    r"\s{0,12}(?:[-*+•]|[0-9]{1,3}[.)])\s.{1,300}\]\(#[^()\s]{1,300}\)\s*$|\s{0,12}</?[A-Za-z][\w ]{0,40}>\s*$"
)
_QUOTE = re.compile(r"\s{0,12}(?:>\s?){1,5}")
_BOLD_LINE = re.compile(
    r"\s{0,12}(?:[0-9]{1,3}[.)]\s{1,3}|[-*+•]\s{1,3}(?=.*:[\s*_]{0,5}$))?(\*\*|__)[^*_]{1,150}\1[\s:]{0,3}$"
)
_PATTERN = Patterns(__file__)
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_]{1,300})(?<=\S)\1(?![\w*])")
_CITED = re.compile(r"(?<=[^\s*•>-]) ?[\[【,;–-] ?[\^@]?([^\[\]【】,;:\s]{1,60})(?=[\]】,;:\s–-])")
"""What is cited within a line, and not at its beginning."""
_DEFINITION = re.compile(r"\s{0,12}\[\^?[^\[\]\n]{1,60}\]:\s")
_LISTED = re.compile(rf"{_BULLET.pattern}|.*(?:://|\((?:1[5-9]|20)[0-9]{{2}}[a-z]?\))")  # a bullet, an address, a year
_WIDE = re.compile(r"[\u1100-\u11ff\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uff60]")  # a word or a part of one
_TITLE, _LABEL, _LABEL_WORDS = 120, 40, 4
"""Characters of a heading without marks on the first line and before a colon; a wide one counts as four."""
_TITLE_ENDS = re.compile(r"[.!?](?:[\s\[【]|$)|[。！？।؟۔]|\([0-9, ]{1,12}\)$")
_BOLD, _LABELLED = 7, 8  # levels of headings, behind those of Markdown
_KEYED = re.compile(r"\s{0,12}(?:[-*•]\s)?[\[【].*://[^\s()]{1,1000}\s*$")
_ASIDE = re.compile(r"([*_])(?!\1)[^*_]+\1|\([^()]+\)")
_STOPS = (".", "。", "!", "！")
_LINE = 40
"""A line of prose that is no shorter, and ends in the middle of a sentence, is one that was broken."""
_PROSE, _PARAGRAPH = 80, 120
"""Below a list of sources a sentence that is no shorter is text again."""


@dataclass(slots=True)
class _Sorted:
    """The lines of an answer.

    Attributes:
        paragraphs: Those of the text.
        sources: Those of lists of sources, with an empty one between two lists.
        between: Those between these that were not understood.
        behind: The same behind the last paragraph.
    """

    paragraphs: list[list[str]] = field(default_factory=lambda: [[]])
    sources: list[str] = field(default_factory=list)
    between: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)


def is_refusal(text: str) -> bool:
    """Return whether a short answer says only that the model writes no report."""
    return _PATTERN["refusal"].match(text) is not None


def prose_sentences(text: str, citations: Citations) -> Parsed[list[ReportSentence]]:
    """The sentences of prose with what they cite, and what is lost.

    Example:
        >>> prose_sentences("[1] says that it rained. [2] says that it snowed.", Citations(["a", "b"])).value[1]
        ReportSentence(text='says that it snowed.', citations=('b',))
    """
    sentences: list[ReportSentence] = []
    prose, notes = _without_code(_without_markup(text, citations))
    lines = _sorted_lines(prose, citations)
    citations = citations.of_answer("\n".join(chain.from_iterable(lines.paragraphs)), entries_of(lines.sources))
    for block in chain.from_iterable(map(_blocks, lines.paragraphs)):
        clean, marks = citations.strip(block)
        if any(map(str.isalnum, clean)):
            sentences += _block_sentences(clean, marks)
        elif sentences:  # marks on a line of their own
            sentences[-1] = _with(sentences[-1], [doc_id for mark in marks for doc_id in mark.ids])
    lost = beside("\n".join(lines.between), is_between=True)
    return Parsed(sentences, (*notes, *lost, *beside("\n".join(lines.behind))))


def _without_code(text: str) -> tuple[str, list[Problem]]:
    """A text without its fenced blocks, and a note of each; the text itself if one of them is most of it."""
    blocks = list(fences(text))
    if 2 * max((end - start for start, end in blocks), default=0) > len(text):
        return text, []
    starts, ends = [start for start, _ in blocks], [end for _, end in blocks]
    gaps = [text[end:start] for end, start in zip([0, *ends], [*starts, len(text)], strict=True)]
    return "\n".join(gaps), [problem("note", text[start:end]) for start, end in blocks]


def _without_markup(text: str, citations: Citations) -> str:
    r"""A text with its HTML as lines and its marks in brackets, without invisible characters.

    Example:
        >>> _without_markup("It rained \\[1\\].<br>It stopped [2", Citations())
        'It rained [1].\nIt stopped [2]'
    """
    text = in_brackets(unescaped(text), citations)
    text = _TAG.sub(_tag_text, text).rstrip()
    return f"{text}]" if _CUT_OFF.search(text[-60:]) else text


def unescaped(text: str) -> str:
    """A text without invisible characters, and without Markdown's backslashes where they hide marks and addresses."""
    return _ESCAPED.sub(r"\1", text.translate(_INVISIBLE))


def _tag_text(tag: re.Match[str]) -> str:
    # The end of a heading or of an item is the end of its line.
    return _TAG_TEXTS[tag.lastgroup] if tag.lastgroup and (tag[0][1] != "/" or tag["inline"]) else "\n"


def _block_sentences(clean: str, marks: Sequence[Mark]) -> list[ReportSentence]:
    """The sentences of one paragraph, each with the marks in it or right after it.

    In a paragraph that begins with a mark, marks stand before their sentences.
    """
    leading = bool(marks) and not clean[: marks[0].position].strip()
    spans = _sentence_spans(clean, {mark.position for mark in marks}, leading)
    cited: list[list[str]] = [[] for _ in spans]
    ends = [end for _, end in spans[:-1]] if leading else [start + 1 for start, _ in spans[1:]]
    for mark in marks:
        cited[bisect_right(ends, mark.position)] += mark.ids
    sentences: list[ReportSentence] = []
    for (start, end), ids in zip(spans, cited, strict=True):
        if any(map(str.isalnum, clean[start:end])):
            sentences.append(_with(ReportSentence(clean[start:end].strip()), ids))
        elif sentences:
            sentences[-1] = _with(sentences[-1], ids)
    return sentences


def _with(sentence: ReportSentence, ids: Sequence[str]) -> ReportSentence:
    return ReportSentence(sentence.text, tuple(dict.fromkeys([*sentence.citations, *ids])))


def _sorted_lines(text: str, citations: Citations) -> _Sorted:
    r"""The lines of a report: its paragraphs, and its lists of sources.

    Left out: headings (including a title on the first line and short labels before a colon), rules, footnote
    definitions, lists of sources up to the next heading of their level, a paragraph that cites or a long sentence or,
    without a heading, at the end, and a last paragraph in italics or brackets that doesn't cite. A row of a table is a
    list item.

    Example:
        >>> lines = _sorted_lines("# Report\n\nIt rained.\n- Rivers rose\n\nReferences:\n[1] coast-01", Citations())
        >>> lines.paragraphs, lines.sources
        ([['It rained.', '- Rivers rose']], ['', '', '[1] coast-01'])
    """
    lines = _Sorted()
    in_list, goes_on = 0, False  # the level of the heading of a list; whether the next line is of it whatever it says
    for line, is_title in _lines(text):
        references, level = _PATTERN["references"].match(line[:200]), _level(line, is_title)
        if _DEFINITION.match(line[:200]):
            lines.sources.append(line)
        elif level:
            is_part = 0 < in_list < level and not references
            in_list, goes_on = in_list if is_part else level * bool(references), is_part or bool(references)
            goes_on = goes_on and not (references and references["notes"])
            lines.sources.append("")
            is_sentence = level == _BOLD and line.lstrip()[0] in "*_" and _plain(line).endswith(_STOPS)
            lines.between += [line] if is_sentence or _cited_text(line, citations) else []
        elif references and not _cited_text(references["more"] or "", citations):
            in_list, goes_on = _LABELLED, not references["more"]
            lines.sources += ["", references["more"]] if references["more"] else [""]
        elif in_list and (goes_on or not line or _is_entry(line, citations)):
            if line.endswith((".", "。")) and not _is_entry(line, citations):
                (lines.between if _cited_text(line, citations) else lines.behind).append(line)
            goes_on = bool(line) or (goes_on and not lines.sources[-1])
            lines.sources += [line] if line else []
        elif in_list and not (_is_prose(line) or _cited_text(line, citations)):
            lines.behind.append(line)
        elif line:
            in_list = 0
            lines.between += lines.behind
            lines.behind = []
            lines.paragraphs[-1].append(line)
            continue
        lines.paragraphs.append([])
    every = [paragraph for paragraph in lines.paragraphs if paragraph]
    cited = set(_CITED.findall("\n".join(chain.from_iterable(every))))
    at_end = list(takewhile(lambda own: _are_sources(own, cited, citations), every[:0:-1]))
    lines.paragraphs, lists = [], at_end[::-1]
    for paragraph in every[: len(every) - len(at_end)]:
        (lists if _are_keyed(paragraph, cited) else lines.paragraphs).append(paragraph)
    lines.sources = [*chain.from_iterable([*own, ""] for own in lists), *lines.sources]
    last = " ".join(lines.paragraphs[-1]).strip() if len(lines.paragraphs) > 1 else ""
    if _ASIDE.fullmatch(last) and not citations.strip(last)[1]:
        lines.behind = [*lines.paragraphs.pop(), *lines.behind]
    return lines


def _cited_text(line: str, citations: Citations) -> str:
    """The text of a line in which a bracket cites what stands before it; empty if there is none.

    An entry of a list begins with its mark, and words that name a document are no bracket.
    """
    clean, marks = citations.strip(line)
    return clean if clean != line and any(map(str.isalnum, clean[: marks[0].position])) else ""


def _is_entry(line: str, citations: Citations) -> bool:
    """Whether a paragraph goes on with a list of references: it has a key or an address, or is a document."""
    key, rest = entry_of(line)
    may_cite = (key and not line.lstrip()[0].isdigit()) or citations.is_source(line)
    cites = _PATTERN["sentence_end"].search(f"{_cited_text(line, citations)} ")
    return bool(may_cite or (not cites and (key or _LISTED.match(line) or citations.document_in(rest))))


def _are_sources(lines: Sequence[str], cited: Set[str], citations: Citations) -> bool:
    """Whether lines after the text are a list of sources without a heading: each begins with a mark or is an address.

    If no line is sure to be a source, the text must cite by one of the marks: other reports begin each line with one.
    """
    sure = [citations.is_source(line) for line in lines]
    keys = [entry_of(line)[0] if line.lstrip("-*• ")[:1] in "[【" else "" for line in lines]
    return all(map(any, zip(sure, keys, strict=True))) and (any(sure) or not cited.isdisjoint(keys))


def _are_keyed(lines: Sequence[str], cited: Set[str]) -> bool:
    """Whether lines are a list of sources wherever they stand: all begin with a mark of the text and end in a URL."""
    return all(entry_of(line)[0] in cited and _KEYED.match(line) for line in lines)


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """The prose and the list items of a paragraph, each on one line.

    Example:
        >>> list(_blocks(["It rained.", "Then it", "stopped.", "- Rivers rose"]))
        ['It rained.', 'Then it stopped.', 'Rivers rose']
    """
    current: list[str] = []
    for line in lines:
        bullet = _BULLET.match(line)
        if current and (bullet or not _goes_on(current[-1], line)):
            yield " ".join(current)
            current = []
        words = _plain(line[bullet.end() :] if bullet else line)
        current += [words] if words else []
    if current:
        yield " ".join(current)


def _sentence_spans(text: str, marked: Container[int] = (), leading: bool = False) -> list[tuple[int, int]]:
    """Where the sentences of one line begin and end.

    An abbreviation does not end a sentence, nor does a dot before a lower-case letter.

    Args:
        text: The line.
        marked: Positions of citation marks: a full stop right after a mark does not belong to an abbreviation.
        leading: Whether a mark after a full stop begins the next sentence, whatever its first letter is.

    Example:
        >>> text = "Dr. Hale left at 5.30 p.m. today. It rained! 开罗爆发抗议。警察开火。"
        >>> [text[start:end] for start, end in _sentence_spans(text)]
        ['Dr. Hale left at 5.30 p.m. today.', 'It rained!', '开罗爆发抗议。', '警察开火。']
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    for match in _PATTERN["sentence_end"].finditer(text):
        end = match.end()
        end += text[end : end + 1] == '"' and not text[end + 1 : end + 2].strip()
        following = text[end : end + 20].lstrip()[:1]
        is_short = match.start() not in marked and _PATTERN["abbreviation"].search(text, max(begin, end - 12), end)
        if (leading and end in marked) or not (following.islower() or is_short):
            spans.append((begin, end))
            begin = end
    if text[begin:].strip():
        spans.append((begin, len(text)))
    return [(end - len(text[start:end].lstrip()), end) for start, end in spans]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines that can hold prose, each with whether it stands as a title does.

    It is the first line and a blank one follows, or it stands between a blank line and a paragraph on one line.
    """
    is_first = True
    lines = [line if line.strip() else "" for line in text.splitlines()]
    for before, line, following in zip(["", *lines], lines, [*lines[1:], "."], strict=False):
        is_markup = any(own.match(line[:800]) for own in (_FENCE, _RULE, _CONTENTS))
        is_markup = is_markup and not _PATTERN["references"].match(line[:200])
        line = "" if is_markup or (line.lstrip()[:1] == "|" and _RULE.match(following[:200])) else line
        stands_above = not before and len(line) < _PROSE and len(following) > _PARAGRAPH
        yield _as_item(line), (is_first and not following) or (stands_above and not _BULLET.match(following))
        is_first = is_first and not line


def _as_item(line: str) -> str:
    """A row of a table as a list item; any other line as it is."""
    if line.lstrip()[:1] != "|":
        return line
    return f"- {' '.join(filter(None, map(str.strip, line.strip().strip('|').split('|'))))}"


def _level(line: str, is_title: bool) -> int:
    """The level of a heading: by its marks, as a title, or as a few words before a colon; 0: it is none."""
    if marks := _HEADING.match(line):
        return line.count("#", 0, marks.end())
    bare = _plain(line)
    width = len(bare) + 3 * len(_WIDE.findall(bare[:_TITLE]))
    if _BOLD_LINE.match(line[:200]):
        return 0 if width > _LABEL and bare.endswith(_STOPS) else _BOLD
    if not bare or _BULLET.match(line) or width > _TITLE:
        return 0
    if bare.endswith((":", "：")):
        is_label = width <= _LABEL and len(bare.split()) <= _LABEL_WORDS
        return _LABELLED * (is_label or (is_title and width <= _PROSE))
    return int(is_title and not _TITLE_ENDS.search(bare))


def _is_prose(line: str) -> bool:
    """Whether a line is a long sentence."""
    bare = _plain(line)
    return len(bare) + 3 * len(_WIDE.findall(bare[:_PROSE])) >= _PROSE and bare.endswith(_STOPS)


def _goes_on(current: str, line: str) -> bool:
    """Whether a line continues the unfinished sentence of the line before."""
    begin = _QUOTE.sub("", line[:40]).strip()[:1]
    if not begin or current[-1:] in ".!?。！？:":
        return False
    is_broken = current[-1:] == "," or (len(current) >= _LINE and current[-1:].isalnum())
    return begin.islower() or begin in "[(,;" or is_broken


def _plain(line: str) -> str:
    """A line without markup."""
    quote = _QUOTE.match(line)
    line = line[quote.end() :] if quote else line
    return " ".join(_EMPHASIS.sub(r"\2", line.replace("**", "").replace("__", "")).split())
