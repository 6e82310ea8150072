"""The prose of a report: which lines hold it, and where its sentences end. What they cite: see citations.py."""

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence, Set
from itertools import chain

from tls_tasks.core.parsed import Parsed, beside
from tls_tasks.core.reasoning import Patterns
from tls_tasks.reports.citations import Citations, Entry, Mark, entry_of, in_brackets
from tls_tasks.reports.types import ReportSentence

_INVISIBLE = str.maketrans(dict.fromkeys("\u200b\u2060\ufeff", ""))
_ESCAPED = re.compile(r"\\([\[\]])")
_CUT_OFF = re.compile(r"(?<=\s)\[[0-9][0-9,;\s–-]{0,40}$")
_CUE = re.compile(r"\s{0,9}(?:\*\*|__)?(?:final )?(?:report|answer):(?:\*\*|__)?[ \t]{1,3}(?=\S)", re.IGNORECASE)
_INLINE = "(?P<inline>b|i|em|strong|u|span|small)"
_BLOCK = "(?P<heading>h[1-6])|(?P<item>li)|p|div|ul|ol|br|hr|section|article|body|html|report|content|text"
_TAG = re.compile(rf"(?i)</?(?:{_INLINE}|{_BLOCK})(?:\s[^<>]{{0,100}})?/?>")
_TAG_TEXTS = {"inline": "", "heading": "\n# ", "item": "\n- "}
_FENCE = re.compile(r"\s{0,12}(?:`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s{0,12}(?:[-=_*|:]\s{0,3}){3,}\s*$")
_BULLET = re.compile(r"\s{0,40}(?:>\s?){0,3}(?:[-*+•·◦–]|\(?[0-9]{1,3}[.)])\s+")
_QUOTE = re.compile(r"\s{0,12}(?:>\s?){1,5}")
_BOLD_LINE = re.compile(
    r"\s{0,12}(?:[0-9]{1,3}[.)]\s{1,3}|[-*+•]\s{1,3}(?=.*:[\s*_]{0,5}$))?(\*\*|__)[^*_]{1,150}\1[\s:]{0,3}$"
)
_PATTERN = Patterns(__file__)
_EMPHASIS = re.compile(r"(?<![\w*])([*_])(?=\S)([^*_]{1,300})(?<=\S)\1(?![\w*])")
_CITED = re.compile(r"(?<=[^\s*•>-]) ?[\[【,;–-] ?[\^@]?([^\[\]【】,;:\s]{1,60})(?=[\]】,;:\s–-])")
"""What is cited within a line, and not at its beginning."""
_DEFINITION = re.compile(r"\s{0,12}\[\^?[^\[\]\n]{1,60}\]:\s")
_HOURS = re.compile(r"\b[ap]\.m\.$")  # these end a sentence only where a mark stands behind them
_LISTED = re.compile(rf"{_BULLET.pattern}|.*(?:://|\((?:1[5-9]|20)[0-9]{{2}}[a-z]?\))")  # a bullet, an address, a year
_TITLE_WORDS, _LABEL_WORDS = 12, 4
_MARK_COLUMNS = re.compile(r"\W*(?:docs?|documents?|sources?|citations?|cited|references?|evidence)\W*$", re.IGNORECASE)
_LINE = 40
"""A line of prose that is no shorter, and ends in the middle of a sentence, is one that was broken."""


def prose_sentences(text: str, citations: Citations) -> Parsed[list[ReportSentence]]:
    """The sentences of prose with what they cite, and what is lost.

    Example:
        >>> prose_sentences("[1] says that it rained. [2] says that it snowed.", Citations(["a", "b"])).value[1]
        ReportSentence(text='says that it snowed.', citations=('b',))
    """
    sentences: list[ReportSentence] = []
    paragraphs, entries, left = _paragraphs(_without_markup(text, citations), citations)
    citations = citations.of_answer("\n".join(chain.from_iterable(paragraphs)), entries)
    for block in chain.from_iterable(map(_blocks, paragraphs)):
        clean, marks = citations.strip(block)
        if any(map(str.isalnum, clean)):
            sentences += _block_sentences(clean, marks)
        elif sentences:  # marks on a line of their own
            sentences[-1] = _with(sentences[-1], [doc_id for mark in marks for doc_id in mark.ids])
    return Parsed(sentences, tuple(beside("\n".join(left), is_between=True)))


def _without_markup(text: str, citations: Citations) -> str:
    r"""A text with its HTML as lines and its marks in brackets, without invisible characters and the prompt's cue.

    Example:
        >>> _without_markup("Report: It rained \\[1\\].<br>It stopped [2", Citations())
        'It rained [1].\nIt stopped [2]'
    """
    text = in_brackets(_ESCAPED.sub(r"\1", text.translate(_INVISIBLE)), citations)
    text = _TAG.sub(_tag_text, text).rstrip()
    cue = _CUE.match(text)
    return f"{text[cue.end() if cue else 0 :]}{']' if _CUT_OFF.search(text[-60:]) else ''}"


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
    for (start, end), ids, following in zip(spans, cited, [*cited[1:], []], strict=True):
        if any(map(str.isalnum, clean[start:end])):
            sentences.append(_with(ReportSentence(clean[start:end].strip()), ids))
        elif sentences:
            sentences[-1] = _with(sentences[-1], ids)
        else:  # "[2]. It snowed."
            following[:0] = ids
    return sentences


def _with(sentence: ReportSentence, ids: Sequence[str]) -> ReportSentence:
    return ReportSentence(sentence.text, tuple(dict.fromkeys([*sentence.citations, *ids])))


def _paragraphs(text: str, citations: Citations) -> tuple[list[list[str]], list[Entry], list[str]]:
    r"""The paragraphs of a report, each with its lines, the entries of its list of references, and lost lines.

    Left out: headings (including a title on the first line, "Here is the report:" and labels of up to four words before
    a colon), rules, the fences of code blocks, footnote definitions, a list of references up to the next heading or
    paragraph that cites or, without a heading, at the end, and what the model says to its reader behind it. A row
    of a table is a list item. Lost are headings that cite, and sentences in the list of references or behind it.

    Example:
        >>> _paragraphs("# Report\n\nIt rained.\n- Rivers rose\n\nReferences:\n[1] coast-01", Citations())
        ([['It rained.', '- Rivers rose']], [('1', 'coast-01')], [])
    """
    entries, left, paragraphs = list[Entry](), list[str](), [list[str]()]
    in_references, goes_on, more = False, False, ""  # goes_on: whether the next line is of the list whatever it says
    stand_below = sum(bool(_cited_below(line, citations)) for line in text.splitlines()) > 1  # each sentence has one
    for line, is_title in _lines(text):
        if stand_below and (below := _cited_below(line, citations)):
            paragraphs[-1].append(below)
            continue
        references = _PATTERN["references"].match(line[:200])
        if _DEFINITION.match(line[:200]):
            entries.append(entry_of(line))
        elif _is_heading(line, is_title):
            in_references, goes_on = bool(references), bool(references and not references["notes"])
            is_text = _plain(line).endswith((".", "。")) and not _PATTERN["report_announced"].match(line)
            left += [line] if is_text or _cited_text(line, citations) else []
        elif references and not _cited_text(references["more"] or "", citations):
            in_references, goes_on = True, not references["more"]
            entries += [entry_of(references["more"])] if references["more"] else []
        elif in_references and (goes_on or not line or _is_entry(line, citations)):
            left += [line] if line.endswith((".", "。")) and not _is_entry(line, citations) else []
            goes_on = bool(line) or (goes_on and not entries)
            entries += [entry_of(line)] if line else []
        elif in_references and not _cited_text(line, citations):
            left.append(line)
        elif line:
            in_references = False
            paragraphs[-1].append(line)
            continue
        paragraphs.append([])
    left = [line for line in left if not _is_speech([line], "speech_after", citations)]
    every = [lines for lines in paragraphs if lines]
    paragraphs = _without_speech(every, citations)
    is_said = _PATTERN["speech_alone"].match
    for said in chain.from_iterable(every[len(paragraphs) or len(every) :]):
        left += [said[start:end] for start, end in _sentence_spans(said) if not is_said(said, start, end)]
    cited = set(_CITED.findall("\n".join(chain.from_iterable(paragraphs))))
    while len(paragraphs) > 1 and _are_sources(paragraphs[-1], cited, citations):
        for line in reversed(paragraphs.pop()):
            key, rest = entry_of(line)
            more = f"{rest} {more}".rstrip()  # an entry may have several lines
            if key:
                entries.append((key, more))
                more = ""
    return paragraphs, entries, left


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


def _cited_below(line: str, citations: Citations) -> str:
    """The marks in a line such as "Source: [1]" or "Sources: doc-a, doc-b"; empty if it has none."""
    below = _PATTERN["source_below"].match(line[:200])
    marks = re.sub(r"[\[\]()【】]", "", below["marks"]) if below else ""
    return f"[{marks}]" if marks and citations.ids(f"source: {marks}", strict=True) else ""


def _are_sources(lines: Sequence[str], cited: Set[str], citations: Citations) -> bool:
    """Whether lines after the text are a list of sources without a heading: each begins with a mark or is an address.

    If no line is sure to be a source, the text must cite by one of the marks: other reports begin each line with one.
    """
    sure = [citations.is_source(line) for line in lines]
    keys = [entry_of(line)[0] if line.lstrip("-*• ")[:1] in "[【" else "" for line in lines]
    return all(map(any, zip(sure, keys, strict=True))) and (any(sure) or not cited.isdisjoint(keys))


def _without_speech(paragraphs: list[list[str]], citations: Citations) -> list[list[str]]:
    """The paragraphs without those at the end that speak to the reader and don't cite; none of a refusal."""
    while len(paragraphs) > 1 and _is_speech(paragraphs[-1], "speech_after", citations):
        paragraphs = paragraphs[:-1]
    kinds = ("refusal", "speech_alone") if len(paragraphs) == 1 else ()
    return [] if any(_is_speech(paragraphs[0], kind, citations) for kind in kinds) else paragraphs


def _is_speech(lines: Sequence[str], kind: str, citations: Citations) -> bool:
    text = " ".join(map(_plain, lines)).strip("*_ ").replace("’", "'")
    return len(lines) < 9 and bool(_PATTERN[kind].match(text)) and not _cited_text(text, citations)


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
        following = text[end : end + 20].lstrip()[:1]
        is_short = match.start() not in marked and _PATTERN["abbreviation"].search(text, max(begin, end - 12), end)
        is_short = is_short or (end not in marked and _HOURS.search(text, max(begin, end - 12), end))
        if (leading and end in marked) or not (following.islower() or is_short):
            spans.append((begin, end))
            begin = end
    if text[begin:].strip():
        spans.append((begin, len(text)))
    return [(end - len(text[start:end].lstrip()), end) for start, end in spans]


def _lines(text: str) -> Iterator[tuple[str, bool]]:
    """The lines that can hold prose, each with whether it is the first of the text and a blank line follows."""
    is_first = True
    header: list[str] = []
    lines = [line if line.strip() else "" for line in text.splitlines()]
    for line, following in zip(lines, [*lines[1:], "."], strict=False):
        is_row = line.lstrip()[:1] == "|"
        if not is_row:
            header = []
        elif _RULE.match(following[:200]):
            header, line = _cells(line), ""
        if _FENCE.match(line) or _RULE.match(line[:200]):
            line = ""
        yield _row(line, header) if is_row and line else line, is_first and not following
        is_first = is_first and not line


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _row(line: str, header: Sequence[str]) -> str:
    """A row of a table as a list item; numbers in a column of documents become marks."""
    cells = _cells(line)
    named = zip([*header, *["text"] * len(cells)], cells, strict=False)
    texts = (f"[{cell}]" if cell[:1].isdigit() and _MARK_COLUMNS.match(name[:60]) else cell for name, cell in named)
    return f"- {' '.join(filter(None, texts))}"


def _is_heading(line: str, is_title: bool) -> bool:
    """By its marks, as a title, or as an announcement: at the beginning, or before a colon as any few words."""
    if _HEADING.match(line) or _BOLD_LINE.match(line[:200]):
        return True
    bare = line.strip()
    n_words = len(bare.split())
    if not 0 < n_words <= _TITLE_WORDS or len(bare) > 150 or _BULLET.match(line):
        return False
    if bare.endswith((":", "：")):
        return n_words <= _LABEL_WORDS or _PATTERN["announced"].match(bare) is not None
    is_announced = _PATTERN["report_announced"].match(bare) is not None
    return is_title and (is_announced or not re.search(r"[.!?。！？।؟۔\])}】]", bare))


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
