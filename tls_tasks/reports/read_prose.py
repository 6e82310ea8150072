"""The prose of a report: which lines hold it, and where its sentences end. What they cite: see citations.py."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence

from tls_tasks.reports.citations import Citations, Mark
from tls_tasks.reports.references import Entry, entry_of
from tls_tasks.reports.types import ReportSentence

_INVISIBLE = str.maketrans(dict.fromkeys("\u200b\u2060\ufeff", ""))
_ESCAPED = re.compile(r"\\([\[\]])")
_CUT_OFF = re.compile(r"(?<=\s)\[[0-9][0-9,;\s–-]{0,40}$")
_CUE = re.compile(r"\s{0,9}(?:\*\*|__)?(?:final )?(?:report|answer):(?:\*\*|__)?[ \t]{1,3}(?=\S)", re.IGNORECASE)
_HTML_HEADING = re.compile(r"<h[1-6]\b[^<>]{0,100}>([^<>\n]{1,200})</h[1-6]>", re.IGNORECASE)
_HTML_ITEM = re.compile(r"<li\b[^<>]{0,100}>\s{0,99}", re.IGNORECASE)
_HTML_BLOCK = re.compile(
    r"</?(?:p|div|ul|ol|li|br|hr|section|article|body|html|report|content|text)(?:\s[^<>]{0,100})?/?>", re.IGNORECASE
)
_HTML_INLINE = re.compile(r"</?(?:b|i|em|strong|u|span|small)>", re.IGNORECASE)
_FENCE = re.compile(r"\s{0,12}(?:`{3,}|~{3,})")
_HEADING = re.compile(r"\s{0,3}#{1,6}(?:\s|$)")
_RULE = re.compile(r"\s{0,12}(?:[-=_*|:]\s{0,3}){3,}\s*$")
_BULLET = re.compile(r"\s{0,40}(?:>\s?){0,3}(?:[-*+•·◦–]|\(?[0-9]{1,3}[.)])\s+")
_QUOTE = re.compile(r"\s{0,12}(?:>\s?){1,5}")
_BOLD_LINE = re.compile(r"\s{0,12}(\*\*|__)[^*_]{1,150}\1[\s:]{0,3}$")
_SOURCES = (
    r"(?:list of )?references?(?: list| cited| used)?|sources?(?: cited| used| documents)?|bibliography|works cited"
    r"|citations?|(?:cited|used|source) documents|documents (?:cited|used)|(?:foot|end)?notes?|literature|quellen"
    r"|literatur(?:verzeichnis)?|références|fuentes|fonti|参考文献|来源|источники|منابع"
)
_REFERENCES = re.compile(
    rf"[\s#>*_-]{{0,12}}(?:{_SOURCES})[\s*_]{{0,4}}(?:[:：][\s*_]{{0,4}}(?P<more>.*))?$", re.IGNORECASE
)
_NEXT_ENTRY = re.compile(r"[,;]\s{1,3}(?=[\[【])")
_DEFINITION = re.compile(r"\s{0,12}\[\^?[^\[\]\n]{1,60}\]:\s")
_SENTENCE_END = re.compile(
    r"(?<![.!?…])[.!?…]+[\"'”’»)*_]*(?=\s)|(?<![。！？])[。！？]+[”’」』）]*|(?<![।؟۔])[।؟۔]+[\"'”’»)]*"
)
_ABBREVIATION = re.compile(
    r"\b(?:[A-ZÀ-ÖØ-ÞΑ-ΩА-Я]|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Sen|Rep|Gov|Gen|Col|Lt|vs|No|Nos|Fig|approx|ca|cf|e\.g|i\.e|al|p|pp)\.$"
)
_LEAD_IN_WORDS = 12
_MARK_COLUMNS = re.compile(
    r"\W*(?:docs?|documents?|sources?|citations?|cited|references?|refs?|evidence|support(?:ing documents?)?)\W*$",
    re.IGNORECASE,
)
_COUNT_COLUMNS = re.compile(r"\W*(?:no|nr|number|row|item)?\W*$", re.IGNORECASE)
# What a model says to its reader, in a paragraph of its own before or after the report, and where it writes none.
_SPEECH_BEFORE = re.compile(
    r"(?:(?:sure|certainly|of course|absolutely|okay|ok|understood|great)[!,.:]{0,3}\s{0,3})?"
    r"(?:(?:here(?:'s| is| are)|below (?:is|are)|this is|i(?:'ve| have) (?:written|prepared))\s(?:[\w-]+\s){0,8}?"
    r"(?:report|summary|answer|response|overview|text)\b.*)?$",
    re.IGNORECASE,
)
_SPEECH_AFTER = re.compile(
    r"[\W_]{0,4}(?:(?:please )?let me know|(?:please )?feel free|i hope (?:this|that|it)\b|i(?:'m| am) happy to"
    r"|i can (?:also )?(?:expand|shorten|revise|add|adjust|rewrite|write)|would you like|do you want me|shall i\b"
    r"|(?:if|should) you\b.{1,80}\b(?:let me|i can|i could|just ask|i(?:'d|'ll| will)|happy|tell me)"
    r"|(?:total |approx\w*\.? )?(?:words?|characters?)(?: count)?:"
    r"|\(?(?:approx\w*\.? |about |~)?[0-9]{1,5} (?:words|characters)\W*$)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"(?:(?:i(?:'m| am) (?:very )?sorry|sorry|i apologi[sz]e|unfortunately|as an ai[^,.]{0,40})\W{0,3}(?:but )?)?"
    r"(?:$|i(?:(?:'m| am) (?:unable|not able) to| can(?:'t|not| not)| won't| will not)\s(?:[\w-]+\s){0,5}"
    r"(?:report|request|help|assist|comply|task|that|this)\b.*$)",
    re.IGNORECASE,
)
_SPEECH_LENGTH = 400
_LINE = 60
"""A line of prose that is no shorter, and ends in the middle of a sentence, is one that was broken."""
_HANGING = frozenset("a an the of in on at to and or for with by from that than as is are was were has had".split())


def prose_sentences(text: str, citations: Citations, references: Sequence[Entry] = ()) -> list[ReportSentence]:
    """The sentences of prose with what they cite; ``references`` is a list of references that stands elsewhere.

    Example:
        >>> prose_sentences("[1] says that it rained. [2] says that it snowed.", Citations(["a", "b"]))[1]
        ReportSentence(text='says that it snowed.', citations=('b',))
    """
    sentences: list[ReportSentence] = []
    paragraphs, entries = _paragraphs(_without_markup(text), citations)
    own = citations.of_answer("\n".join("\n".join(lines) for lines in paragraphs), [*references, *entries])
    for block in (block for lines in paragraphs for block in _blocks(lines)):
        clean, marks = own.strip(block)
        if not any(map(str.isalnum, clean)) and sentences:  # marks on a line of their own
            sentences[-1] = _with(sentences[-1], [doc_id for mark in marks for doc_id in mark.ids])
        sentences += _block_sentences(clean, marks)
    return sentences


def _without_markup(text: str) -> str:
    r"""A text with its HTML as lines, without invisible characters, escapes and the prompt's cue, its last mark closed.

    Example:
        >>> _without_markup("Report: It rained \\[1\\].<br>It stopped [2")
        'It rained [1].\nIt stopped [2]'
    """
    text = _ESCAPED.sub(r"\1", text.translate(_INVISIBLE))
    if "<" in text:
        text = _HTML_ITEM.sub("\n- ", _HTML_HEADING.sub(r"\n# \1\n", text))
        text = _HTML_INLINE.sub("", _HTML_BLOCK.sub("\n", text))
    text = text.rstrip()
    cue = _CUE.match(text)
    return f"{text[cue.end() if cue else 0 :]}{']' if _CUT_OFF.search(text[-60:]) else ''}"


def _block_sentences(clean: str, marks: Sequence[Mark]) -> list[ReportSentence]:
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


def _paragraphs(text: str, citations: Citations) -> tuple[list[list[str]], list[Entry]]:
    r"""The paragraphs of a report, each with its lines, and the entries of its list of references.

    Left out: headings (including a title on the first line and a lead-in such as "Here is the report:"), rules, the
    fences of code blocks, footnote definitions, a list of references up to the next heading or, without a heading, at
    the end, and what the model says to its reader before and after the report. A row of a table is a list item.

    Example:
        >>> _paragraphs("# Report\n\nIt rained.\n- Rivers rose\n\nReferences:\n[1] coast-01", Citations())
        ([['It rained.', '- Rivers rose']], [Entry(key='1', rest='coast-01', is_mark=True)])
    """
    entries: list[Entry] = []
    paragraphs: list[list[str]] = [[]]
    in_references = False
    lines = [(line, is_title, _REFERENCES.match(line[:200])) for line, is_title in _lines(text)]
    below = [bool(found and _is_marks(found["more"] or "", citations)) for _, _, found in lines]
    several = sum(below) > 1
    for (line, is_title, references), is_below in zip(lines, below, strict=True):
        if is_below and several:  # what the sentence above cites
            paragraphs[-1].append(str(references and references["more"]))
            continue
        if line and _DEFINITION.match(line[:200]):
            entries.append(entry_of(line))
        elif line and _is_heading(line, is_title):
            in_references = bool(references)
        elif references and not _is_prose(references["more"]):
            in_references = True
            entries += map(entry_of, _NEXT_ENTRY.split(references["more"] or ""))
        elif in_references:
            entries += [entry_of(line)] if line else []
        elif line:
            paragraphs[-1].append(line)
            continue
        if paragraphs[-1]:
            paragraphs.append([])
    paragraphs = _without_speech([lines for lines in paragraphs if lines], citations)
    n_left = len(paragraphs)
    while n_left > 1 and all(entry_of(line).key for line in paragraphs[n_left - 1]):
        n_left -= 1
    listed = [entry_of(line) for lines in paragraphs[n_left:] for line in lines]
    if citations.is_list(listed, "\n".join("\n".join(lines) for lines in paragraphs[:n_left])):
        return paragraphs[:n_left], [*entries, *listed]
    return paragraphs, entries


def _without_speech(paragraphs: list[list[str]], citations: Citations) -> list[list[str]]:
    """The paragraphs without those at the beginning and the end in which the model speaks to its reader."""

    def is_speech(lines: Sequence[str], *patterns: re.Pattern[str]) -> bool:
        said = " ".join(map(_plain, lines[:9])).strip("*_ ").replace("’", "'")
        short = 0 < len(said) <= _SPEECH_LENGTH and len(lines) < 9
        return short and any(pattern.match(said) for pattern in patterns) and not citations.strip(said)[1]

    first, last = 0, len(paragraphs)
    while first < last and is_speech(paragraphs[first], _SPEECH_BEFORE):
        first += 1
    while first < last and is_speech(paragraphs[last - 1], _SPEECH_AFTER):
        last -= 1
    return [] if last - first == 1 and is_speech(paragraphs[first], _REFUSAL) else paragraphs[first:last]


def _blocks(lines: Sequence[str]) -> Iterator[str]:
    """The prose and the list items of a paragraph, each on one line.

    Example:
        >>> list(_blocks(["It rained.", "Then it", "stopped.", "- Rivers rose"]))
        ['It rained.', 'Then it stopped.', 'Rivers rose']
    """
    is_wrapped = any(map(_is_broken, lines[:-1]))
    current: list[str] = []
    for line in lines:
        bullet = _BULLET.match(line)
        if current and (bullet or not (is_wrapped or _goes_on(current[-1], line))):
            yield " ".join(current)
            current = []
        if words := _plain(line[bullet.end() :] if bullet else line):
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
    header: list[str] = []
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else "."
        if line.lstrip()[:1] != "|":
            header = []
        elif _RULE.match(following[:200]):
            header, line = _cells(line), ""
        if _FENCE.match(line) or _RULE.match(line[:200]):
            line = ""
        yield _row(line, header) if line.lstrip()[:1] == "|" else line, is_first and not following
        is_first = is_first and not line


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().removeprefix("|").removesuffix("|").split("|")]


def _row(line: str, header: Sequence[str]) -> str:
    """A row of a table as a list item: what a column of documents has becomes marks, one of numbers is left out."""
    cells = _cells(line)
    names = [*header, *["text"] * len(cells)]
    kept = [
        f"[{cell}]" if _MARK_COLUMNS.match(name[:60]) and cell and cell[0] not in "[【(<" else cell
        for name, cell in zip(names, cells, strict=False)
        if not _COUNT_COLUMNS.match(name[:60]) or not cell.strip(".").isdigit()
    ]
    return f"- {' '.join(filter(None, kept))}"


def _is_heading(line: str, is_title: bool) -> bool:
    """By its marks, as a title, or as a lead-in that ends in a colon."""
    if _HEADING.match(line) or _BOLD_LINE.match(line[:200]):
        return True
    bare = line.strip()
    few = len(bare) <= 150 and len(bare.split()) <= _LEAD_IN_WORDS
    if few and bare.endswith((":", "：")) and not _BULLET.match(line):
        return True
    return is_title and few and bool(bare) and not re.search(r"[.!?。！？।؟۔\])}】]", bare) and not _BULLET.match(line)


def _is_marks(more: str, citations: Citations) -> bool:
    clean, marks = citations.strip(more)
    return bool(marks) and not any(map(str.isalnum, clean))


def _is_prose(more: str | None) -> bool:
    """Whether a line that begins like "Sources: …" continues as a sentence and not as a list of sources."""
    return bool(more) and bool(re.match(r"[a-z]", str(more)))


def _is_broken(line: str) -> bool:
    """Whether a sentence ends within a line and the one after it is unfinished: such a paragraph's lines are broken."""
    return line.rstrip()[-1:].isalnum() and len(_sentence_spans(_plain(_BULLET.sub("", line, count=1)))) > 1


def _goes_on(current: str, line: str) -> bool:
    """Whether a line continues the unfinished sentence of the line before."""
    begin = _QUOTE.sub("", line[:40]).strip()[:1]
    if not begin or current[-1:] in ".!?。！？:":
        return False
    hangs = current[-1:] == "," or current[-20:].split()[-1] in _HANGING
    return begin.islower() or begin in "[(,;" or hangs or (len(current) >= _LINE and current[-1:].isalnum())


def _plain(line: str) -> str:
    """A line without markup."""
    quote = _QUOTE.match(line)
    line = line[quote.end() :] if quote else line
    return " ".join(line.replace("**", "").replace("__", "").split())


def _indent(text: str, start: int, end: int) -> int:
    return end - start - len(text[start:end].lstrip())
