"""What an entry of a timeline begins with: marker, label, date, separator; and what its text is without marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from tls_tasks.text.dates import DateExpression, Known, leading_dates, may_hold_date
from tls_tasks.timelines.entries import UNKNOWN

_LOOK = 240
"""How many characters of a line its marker, its label, its date and its separator may take."""


class Lead(NamedTuple):
    """A line that begins with a date.

    Attributes:
        expression: None if that is no valid date.
        written: The date as written.
        text: What follows it.
        is_heading: The following lines belong to it: the date stands alone, or the line is a heading or bold.
        level: The number of heading marks before the date.
        separator: What parts the date from the text, such as a colon; empty if only a blank or a bracket does.
        is_short: Whether the year is not written but known from what is above.
        is_titled: Whether it is a heading whose title comes before its date.
    """

    expression: DateExpression | None
    written: str
    text: str
    is_heading: bool
    level: int
    separator: str
    is_short: bool
    is_titled: bool = False


_MARKS = "-*+•‣◦▪●○■□·・"
_BULLETS = frozenset(f" \t:–—{_MARKS}#>_~`\"'“”‘’[(【《<|=\ufe0f\u200b\u200d\ufeff")
_NUMBER = re.compile(
    r"[0-9]{1,3}[.):][*_]{0,3}\s+|[0-9]{1,2}\ufe0f?\u20e3\s*|(?<=#)[0-9]{1,3}[.):]?\s+|\[[ xX✓✔]\]\s"
    r"|[IVXLC]{1,7}[.)][*_]{0,3}\s+|[A-Za-z][.)][*_]{0,3}\s+"
)
_COUNTED = re.compile(  # Event 1:, Day 3 –, Key event #2., Day 1 (
    r"(?:[^\W\d_]{2,15}\s){1,2}#?[0-9]{1,3}[*_]{0,3}\s*(?:[:：.)|–—-][*_]{0,3}\s*|(?=[(\[]))"
)
_COUNT = re.compile(r"[*_]{0,3}[^\W\d_]{2,15}\s#?[0-9]{1,3}[*_]{0,3}\s?:?[*_]{0,3}")
_DATE_LABEL = re.compile(
    r"(?:date|day|when|time|year|month|datum|fecha|data|дата|tarih|tanggal|日期|日付|날짜|التاريخ)[*_]{0,3}\s?[:：=][*_]{0,3}\s*",
    re.IGNORECASE,
)
_ANY_LABEL = re.compile(r"[^\W\d][^:：\n]{0,80}?[:：][*_]{0,3}\s+")
_TITLE_END = re.compile(r"[*_]{0,3}\s?(?P<bracket>[(\[（])|[*_]{0,3}\s[–—-]\s|[*_]{0,3}[:：,]\s")
_TEXT_LABEL = re.compile(
    r"[*_]{0,3}(?:text|summary|events?|description|content|details|what(?: happened)?)[*_]{0,3}"
    r"\s?[:=][*_]{0,3}(?:\s[|>][+-]?\s*$|\s|$)",
    re.IGNORECASE,
)
_CALL = re.compile(r"[a-z_][\w.]{0,40}\([\w.,= \"']{0,80}\);?")  # print(timeline)
_ASIDE_LABEL = re.compile(
    r"[*_]{0,3}(?:sources?|references?|url|link|id|category|location)[*_]{0,3}\s?[:=][*_]{0,3}\s",
    re.IGNORECASE,
)
_ARROWS = "\u2190-\u21ff\u25b6\u25b8\u25ba\u2794-\u27be\u27f0-\u27ff"
_AFTER = re.compile(
    r"(?P<close>(?:\]\([^()\s]{0,200}\)|[\s\])}】》>*_`\"'”’])*)"
    rf"(?P<separator>:{{1,2}}|：|\||=>|[-–—―─━]{{1,3}}>?|[{_ARROWS}]\ufe0f?|[»~•]|//|=|;|[,，、]|\.{{2,5}}|…|\.|&)?"
    r"(?P<tail>[*_`\])\"”’]{0,4})"
)
_ASIDE = re.compile(
    r"(?:\s*[(\[（](?P<aside>[^()\[\]（）\n]{1,40})[)\]）]"
    r"|,?\s+(?:at |around |about |c\. )?[0-9]{1,2}[:.][0-9]{2}(?:\s?[ap]\.?m\.?)?(?:\s[A-Za-z]{2,6}){0,2}"
    r"|\s(?:[A-Za-z]{4,10}\s)?time)"
    rf"(?=[*_`\])]{{0,4}}\s?(?:[:：|{_ARROWS}]|->|=>|[-–—]\s))"
)
_COLONS = (":", "::", "：")
_WEAK = frozenset(("", "=", ";", "&", "…", ",", "，", "、", ".", "..", "...", "....", "....."))
_BLANK = re.compile(r"\s+")
_RULE = frozenset(" =#*_-")
_WRAPPING = frozenset("])}】》*_")
_ITEM = re.compile(
    r"(?P<indent>[ \t]*)(?:>\s?){0,9}"
    rf"(?:(?P<mark>[{_MARKS}])|\(?(?P<number>[0-9]{{1,3}}|[A-Za-z])[.)]|[0-9]\ufe0f?\u20e3)(?:\s|(?<=・)|$)"
)
_BULLET = re.compile(
    rf"(?:>\s?)*(?:(?:[{_MARKS}]|[0-9]{{1,3}}[.)]|[A-Za-z]\)|[0-9]\ufe0f?\u20e3|\[[ xX✓✔]\])(?:\s+|(?<=・)|$)){{0,3}}"
)


def split_lead(line: str, known: Known = UNKNOWN, *, is_listed: bool = False, is_numbered: bool = False) -> Lead | None:
    """Split a line that begins with a date, after any markers, numbers, labels, brackets or bold marks.

    Args:
        line: A line, without white space around it.
        known: The year and the month that the lines above give.
        is_listed: Whether the line is an item among dated items, so that a comma is enough after its date.
        is_numbered: Whether the number that it begins with counts the items, and is no day.

    Returns:
        None if the line does not begin with a date, or if the date is part of a sentence.

    Example:
        >>> split_lead("- **2011-01-25**: At 10:30 a.m. they march.").text
        'At 10:30 a.m. they march.'
        >>> split_lead("### 25 January 2011").is_heading
        True
        >>> split_lead("Event 2: January 25, 2011 - A").text, split_lead("- January 25: A", Known(2011)).text
        ('A', 'A')
        >>> split_lead("In January 2011: nothing"), split_lead("January 25, 2011, was cold.")
        (None, None)
    """
    head = line[:_LOOK]
    if known.year is None and not may_hold_date(head):
        return None
    position = 0
    is_labelled = False
    while position < len(head):
        is_count = is_numbered and _NUMBER.match(head, position)
        may_begin = head[position].isalnum() and not is_count
        if may_begin and (lead := _dated(line, head, position, known, is_listed, is_labelled)):
            return lead
        is_numbered = is_numbered and not head[position].isdigit()
        if match := _NUMBER.match(head, position) or _COUNTED.match(head, position):
            position = match.end()
        elif match := _DATE_LABEL.match(head, position):
            position, is_labelled = match.end(), True
        elif _is_mark(head[position]):
            position += 1
        else:
            return _titled(line, head, position) or _after_any_label(line, head, position)
    return None


def _titled(line: str, head: str, begin: int) -> Lead | None:
    """``The quake (2011-01-25): text``, or a heading ``## The quake (2011-01-25)``: a title, then a whole day."""
    marks = head[:begin]
    is_heading = "#" in marks or ("**" in marks and line.rstrip().endswith("**"))
    for title in _TITLE_END.finditer(head, begin + 1):
        if not may_hold_date(head[title.end() : title.end() + 60]):
            continue
        lead = _dated(line, head, title.end(), UNKNOWN, False, False)
        if lead is None or not is_whole(lead) or (lead.expression and lead.expression.is_range):
            continue
        after = head[title.end() + len(lead.written) :].lstrip()[:1]
        if title["bracket"] and after not in (")", "]", "）"):
            continue
        words = clean(head[begin : title.start()]).strip("*_ ")
        if not lead.text:
            return lead._replace(text=words, is_titled=True) if is_heading else None
        is_parted = lead.separator in _COLONS or (title["bracket"] and marks and lead.separator not in _WEAK)
        is_label = title[0].rstrip().endswith((":", "：", ","))
        return lead._replace(text=f"{words}: {lead.text}") if is_parted and not is_label else None
    return None


def _after_any_label(line: str, head: str, position: int) -> Lead | None:
    """``Timeline: 2011-01-25: A``: behind words that say nothing of a date, only a whole entry opens a day."""
    label = _ANY_LABEL.match(head, position)
    if label is None or not may_hold_date(head[label.end() : label.end() + 60]):
        return None
    begin = label.end()
    while begin < len(head) and _is_mark(head[begin]):
        begin += 1
    lead = _dated(line, head, begin, UNKNOWN, False, False) if begin < len(head) else None
    return lead if lead and lead.text and lead.separator in _COLONS and is_whole(lead) else None


def is_whole(lead: Lead) -> bool:
    """Whether a lead's date is a day with its year."""
    return lead.expression is not None and lead.expression.precision == "day" and not lead.is_short


def _dated(
    line: str, head: str, begin: int, known: Known, is_listed: bool, is_labelled: bool, may_continue: bool = True
) -> Lead | None:
    """The lead whose date begins at ``begin``."""
    before = head[:begin]
    level = before.count("#") or len(before) - len(before.lstrip("="))
    for found in leading_dates(head[begin:], known):
        end = begin + found.end
        written = head[begin:end]
        is_short = not may_hold_date(written)
        is_loose = found.is_bare or level > 0 or is_listed
        aside = _ASIDE.match(head, end)
        rest = head[aside.end() if aside else end :]
        after = _separator(rest, is_loose, written, found.expression)
        if after is None or (is_short and not _parts(after, rest, level)):
            continue
        text = line[end + len(head) - end - len(rest) + after.length :]
        if is_labelled and (label := _TEXT_LABEL.match(text.lstrip())):
            text = text.lstrip()[label.end() :]
        text = "" if set(text) <= _RULE else clean(text)
        if aside and aside["aside"] and not _is_plain_aside(aside["aside"]):
            text = f"{aside['aside']}: {text}" if text else aside["aside"]
        is_heading = not text or level > 0 or ("**" in before and line.rstrip().endswith("**"))
        lead = Lead(found.expression, written, text, is_heading, level, after.separator, is_short)
        return _with_day(lead) if may_continue else lead
    return None


def _with_day(lead: Lead) -> Lead:
    """A lead of a year or a month, with the day where its text begins with that: ``[2018] March 6: A``."""
    expression, text = lead.expression, lead.text
    if expression is None or expression.precision == "day" or expression.is_range:
        return lead
    known = Known(expression.date.year, expression.date.month if expression.precision == "month" else None)
    begin = next((at for at, char in enumerate(text[:_LOOK]) if not _is_mark(char)), len(text))
    day = _dated(text, text[:_LOOK], begin, known, False, False, may_continue=False) if begin < len(text) else None
    is_day = day and day.is_short and day.text and day.expression and day.expression.precision == "day"
    if day is None or not is_day:
        return lead
    return day._replace(written=f"{lead.written} {day.written}", level=lead.level, is_short=False)


def _is_plain_aside(aside: str) -> bool:
    """Whether what stands in brackets behind a date is a weekday, a time or a count rather than text."""
    return any(char.isdigit() for char in aside) or len(aside.split()) == 1


def _is_mark(char: str) -> bool:
    """Whether a character may stand before a date: bullets, brackets, Markdown, arrows, boxes and pictographs."""
    return char in _BULLETS or _is_picture(char)


def _is_picture(char: str) -> bool:
    return "\u2190" <= char <= "\u2bff" or char >= "\U0001f000"


class _Separator(NamedTuple):
    length: int
    separator: str
    is_wrapped: bool


def _parts(after: _Separator, rest: str, level: int) -> bool:
    """Whether a separator is clear enough for a date without its year, which may be any number or month."""
    following = rest[after.length :]
    if not following.strip():
        return level > 0 or after.is_wrapped or after.separator not in _WEAK or len(rest.strip()) == 0
    if after.separator not in _WEAK:
        return not (following[0].isdigit() and not rest[: after.length][-1:].isspace())
    return after.is_wrapped


def _separator(rest: str, is_loose: bool, written: str, expression: DateExpression | None) -> _Separator | None:
    """How many characters after a date belong to its separator; None if the date is part of a sentence."""
    match = _AFTER.match(rest)
    if match is None:
        return None
    close, separator, following = match["close"], match["separator"] or "", rest[match.end() :]
    is_wrapped = bool(set(close) & _WRAPPING)
    if not following.strip():
        return _Separator(len(rest), separator, is_wrapped)
    if not separator and (blank := _BLANK.search(close)):  # what follows the blank may open the text
        is_loose = is_loose or "日" in written  # "2011年1月25日" needs no other sign
        return _Separator(blank.end(), "", is_wrapped) if is_wrapped or is_loose else None
    gap = close[-1:].isspace() or following[0].isspace() or (separator in (",", "，", "、") and is_loose)
    taken = _Separator(match.end(), separator, is_wrapped)
    if separator in ("", ",", "，", "、", "."):
        return taken if gap and (is_wrapped or is_loose) else None
    if separator in ("-", "–", "—", "~"):
        # 2000 - 3000 people, 2011-based
        is_number = expression is not None and expression.precision == "year" and following.lstrip()[:1].isdigit()
        return None if is_number or (separator == "-" and not following[0].isspace()) else taken
    return taken


# --- several entries on one line ---

_BOUNDARY = re.compile(r"(?:[.!?;。！？]|[.!?][\"'”’)\]]{1,2})\s*|\s*[|→⇒•]\s*|\s[–—-]\s+|,\s+(?=[0-9])")
_JOINING = " \t;|→⇒•,–—-"


def split_entries(lead: Lead) -> Iterator[Lead]:
    """A line's entries, where several follow each other: ``2011-01-25: A. 2011-01-26: B``.

    A date in the text begins an entry if it is a whole date behind the end of a sentence, and is parted from what
    follows as the first one is.

    Example:
        >>> [one.text for one in split_entries(split_lead("2011-01-25: A. 2011-01-26: B; 2011-01-27: C"))]
        ['A.', 'B', 'C']
        >>> [one.text for one in split_entries(split_lead("2011-01-25: A, until 2011-01-28: B"))]
        ['A, until 2011-01-28: B']
    """
    cuts = [0]
    for boundary in _BOUNDARY.finditer(lead.text) if lead.separator not in _WEAK else ():
        position = boundary.end()
        if position > cuts[-1] and may_hold_date(lead.text[position : position + 60]):
            following = split_lead(lead.text[position : position + _LOOK])
            if following and following.text and following.separator == lead.separator and is_whole(following):
                cuts.append(position)
    pieces = [lead.text[begin:end].rstrip(_JOINING) for begin, end in pairwise([*cuts, len(lead.text)])]
    yield lead if len(cuts) == 1 else lead._replace(text=pieces[0], is_heading=False)
    yield from (following for piece in pieces[1:] if (following := split_lead(piece)))


# --- a line without a date at its beginning ---


def item_of(line: str) -> tuple[str, int] | None:
    """Kind and indentation of a list item's marker; None if the line has no marker.

    Example:
        >>> item_of("  - a"), item_of("2. a"), item_of("b) a"), item_of("a")
        (('-', 2), ('1', 0), ('a', 0), None)
    """
    match = _ITEM.match(line)
    if match is None:
        return None
    mark = match["mark"] or ("a" if (match["number"] or "1").isalpha() else "1")
    return mark, len(match["indent"].expandtabs(4))


def without_marker(stripped: str) -> str:
    """A line without its list marker and its quotation mark.

    Example:
        >>> without_marker("> - [x] a"), without_marker("1. 2011")
        ('a', '2011')
    """
    unmarked = stripped[_BULLET.match(stripped).end() :]  # type: ignore[union-attr] # it matches the empty text, too
    return unmarked[1:].lstrip(" \ufe0f\u200d") if _is_picture(unmarked[:1]) else unmarked


def continued(stripped: str) -> str:
    """The text of a line that belongs to the entry above it: without marker and label; empty for a source or marks.

    Example:
        >>> continued("- **Event:** A"), continued("Source: BBC"), continued("5."), continued("},")
        ('A', '', '', '')
    """
    unmarked = without_marker(stripped).lstrip("#")
    is_label = (
        _ASIDE_LABEL.match(unmarked)
        or _DATE_LABEL.fullmatch(unmarked)
        or _COUNT.fullmatch(unmarked)
        or _CALL.fullmatch(unmarked)
    )
    if is_label or not any(map(str.isalnum, unmarked[:_LOOK])):
        return ""
    label = _TEXT_LABEL.match(unmarked)
    return clean(unmarked[label.end() :] if label else unmarked)


def labelled_text(line: str) -> str | None:
    """The text behind a label such as ``Event:``; None if the line has no such label."""
    unmarked = without_marker(line.strip())
    label = _TEXT_LABEL.match(unmarked)
    return clean(unmarked[label.end() :]) if label else None


def is_date_label(line: str) -> bool:
    """Whether a line begins with a label such as ``Date:``."""
    return _DATE_LABEL.match(without_marker(line.strip()).lstrip("*_ ")) is not None


_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,300})\]\((?:[a-z]{2,6}:|www\.|/|#)[^()\s]{0,300}(?:\([^()\s]{0,100}\)[^()\s]{0,100})?\)"
)
_CITATION = re.compile(
    r"(?<=\S)\s?(?:\[\^?[0-9]{1,3}(?:[,;–-]\s?\^?[0-9]{1,3}){0,9}\]|【[0-9]{1,3}[†:][^【】\n]{0,40}】)"
)
_EMPHASIS = re.compile(
    r"(?<![\w*])\*([^\s*](?:[^*\n]{0,300}[^\s*])?)\*(?![\w*])|(?<!\w)_([^\s_](?:[^_\n]{0,300}[^\s_])?)_(?!\w)"
)
_CODE = re.compile(r"`([^`\n]{1,300})`")
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "「": "」"}


def clean(text: str) -> str:
    """A sentence without surrounding white space, Markdown's emphasis and links, and marks of citations.

    Example:
        >>> clean(" **Day of Rage** in [Cairo](https://example.org).[1] ")
        'Day of Rage in Cairo.'
        >>> clean('"We stay," he says.'), clean('"They stay."')
        ('"We stay," he says.', 'They stay.')
    """
    text = text.replace("**", "").strip()
    if "[" in text or "【" in text:
        text = _CITATION.sub("", _LINK.sub(r"\1", text)).strip()
    if "`" in text:
        text = _CODE.sub(r"\1", text)
    if "*" in text or "_" in text:
        text = _EMPHASIS.sub(r"\1\2", text)
    closing = _QUOTES.get(text[:1])
    text = text.rstrip(",; ") if closing and text.endswith((closing + ",", closing + ";")) else text  # of data
    if closing and len(text) > 2 and text.endswith(closing) and text.count(closing) == (2 if closing == text[0] else 1):
        text = text[1:-1].strip()
    return text
