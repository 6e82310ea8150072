"""Timelines written as lines: ``2011-01-25: text``, lists, headings with bullets, tilse's text form, Markdown tables.

A date opens a day where a line begins with it and a separator follows, so a date in mid-sentence opens none, and
neither does ``January 25, 2011, marked …``. What stands alone on its line (or in a heading) opens a block, whose lines
are its sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Problem
from tls_tasks.text.dates import DateExpression, leading_dates, may_hold_date
from tls_tasks.timelines.read_entries import RawEntry
from tls_tasks.timelines.read_tables import read_table, table_at

LOOK = 240
"""Characters at the beginning of a line in which its bullet, its date and its separator must stand."""


class DatedLine(NamedTuple):
    """A line that begins with a date.

    Attributes:
        expression: The date, None if it is none.
        written: The date as it was written.
        text: What follows the separator.
        is_heading: Whether the following lines belong to it: the date stands alone, or the line is a heading or bold.
        level: The number of heading marks before it.
    """

    expression: DateExpression | None
    written: str
    text: str
    is_heading: bool
    level: int


_BULLETS = frozenset(" \t-*+•‣◦▪●○■□·–—#>_~`\"'“”‘’[(【《<|=\ufe0f\u200b\u200d\ufeff")
_NUMBER = re.compile(r"[0-9]{1,3}[.)]\s+|\[[ xX]\]\s", re.ASCII)
_LABEL = re.compile(r"(?:date|day|when|time)[*_]{0,3}\s?:[*_]{0,3}\s*", re.IGNORECASE | re.ASCII)
_TEXT_LABEL = re.compile(
    r"[*_]{0,3}(?:text|summary|event|events|description|content|details)[*_]{0,3}\s?:[*_]{0,3}(?:\s|$)", re.IGNORECASE
)
_AFTER = re.compile(
    r"(?P<close>(?:\]\([^()\s]{0,200}\)|[\s\])}】》>*_`\"'”’])*)"
    r"(?P<separator>:|：|\||->|=>|→|-{1,3}>?|[–—]|=|;|,|\.)?(?P<tail>[*_`\])]{0,4})"
)
_BULLET = re.compile(r"(?:>\s?)*(?:[-*+•‣◦▪●○■□·]\s+|[0-9]{1,3}[.)]\s+|\[[ xX]\]\s+){1,3}")
_TAG = re.compile(r"</?[A-Za-z][\w.-]{0,30}/?>|<\|[\w.-]{1,30}\|>")  # <answer>, <|im_end|>
_FENCE = ("```", "~~~")
_RULE_MARKS = frozenset("-–—─━*_=")


def split_dated_line(line: str) -> DatedLine | None:
    """Take apart a line that begins with a date; bullets, numbers, heading marks, brackets, bold may stand before it.

    Returns:
        None if the line does not begin with a date, or if the date is the beginning of a sentence.

    Example:
        >>> split_dated_line("- **2011-01-25**: At 10:30 a.m. they march.").text
        'At 10:30 a.m. they march.'
        >>> split_dated_line("### 25 January 2011").is_heading
        True
        >>> split_dated_line("In January 2011: nothing"), split_dated_line("January 25, 2011, was cold.")
        (None, None)
    """
    head = line[:LOOK]
    if not may_hold_date(head):
        return None
    begin = _date_begins(head)
    if begin == len(head) or not (head[begin].isdigit() or head[begin].isalpha()):
        return None
    for found in leading_dates(head[begin:]):
        end = begin + found.end
        is_loose = found.is_bare or "#" in head[:begin]
        length = _separator_length(head[end:], is_loose, found.expression)
        if length is not None:
            text = clean(line[end + length :])
            level = head[:begin].count("#")
            is_heading = not text or level > 0 or ("**" in head[:begin] and line.rstrip().endswith("**"))
            return DatedLine(found.expression, head[begin:end], text, is_heading, level)
    return None


def _date_begins(head: str) -> int:
    """Where the bullets, the number and the label before a date end."""
    position = 0
    while position < len(head):
        if _is_mark(head[position]) and not _NUMBER.match(head, position):
            position += 1
        elif match := _NUMBER.match(head, position) or _LABEL.match(head, position):
            position = match.end()
        else:
            break
    return position


def _is_mark(char: str) -> bool:
    """Whether a character may stand before a date: bullets, brackets, Markdown, arrows, boxes and pictographs."""
    return char in _BULLETS or "\u2190" <= char <= "\u2bff" or char >= "\U0001f000"


def _separator_length(rest: str, is_loose: bool, expression: DateExpression | None) -> int | None:
    """How many characters after a date belong to its separator; None if what follows makes it part of a sentence."""
    match = _AFTER.match(rest)
    if match is None:
        return None
    close, separator, following = match["close"], match["separator"], rest[match.end() :]
    if not following.strip():
        return len(rest)
    gap = close[-1:].isspace() or following[0].isspace() or (separator == "," and is_loose)
    if separator is None or separator in ",.":
        is_wrapped = bool(set(close) & set("])}】》*_"))
        return match.end() if gap and (is_wrapped or is_loose) else None
    if separator in ("-", "–", "—"):
        # 2000 - 3000 people, 2011-based
        is_number = expression is not None and expression.precision == "year" and following.lstrip()[:1].isdigit()
        return None if is_number or (separator == "-" and not following[0].isspace()) else match.end()
    return match.end()


def clean(text: str) -> str:
    """A sentence without the blanks around it and without bold marks.

    Example:
        >>> clean(" **Day of Rage** in Cairo. ")
        'Day of Rage in Cairo.'
    """
    return text.replace("**", "").strip()


@dataclass(slots=True)
class _Day:
    """The day that is being read."""

    dated: DatedLine
    sentences: list[str]
    last_is_item: bool = False

    def entries(self) -> Iterator[RawEntry | Problem]:
        """The entry; a month or year without a text of its own was the heading of a section."""
        expression = self.dated.expression
        if not self.sentences and expression is not None and expression.precision != "day":
            yield problem("empty_entry", self.dated.written)
        else:
            yield RawEntry(expression, self.dated.written, tuple(self.sentences))


class _Lines:
    """The reading of a text line by line."""

    def __init__(self, text: str, keep_undated: bool) -> None:
        self.lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        self.keep_undated = keep_undated
        self.day: _Day | None = None
        self.seen_date = False
        self.after_blank = False

    def read(self) -> Iterator[RawEntry | Problem]:
        index = 0
        while index < len(self.lines):
            line = self.lines[index]
            index += 1
            if not line or line.isspace():
                self.after_blank = True
            elif rows := table_at(self.lines, index - 1):
                index += len(rows) - 1
                yield from self._table(rows)
            else:
                yield from self._line(line, line.strip())
                self.after_blank = False
        yield from self._close()

    def _table(self, rows: Sequence[str]) -> Iterator[RawEntry | Problem]:
        yield from self._close()
        for item in read_table(rows, self.keep_undated):
            self.seen_date = self.seen_date or isinstance(item, RawEntry)
            yield item

    def _line(self, line: str, stripped: str) -> Iterator[RawEntry | Problem]:
        if stripped.startswith(_FENCE) or _TAG.fullmatch(stripped) or (is_rule(stripped) and not self._is_underline()):
            yield from self._close()
        elif is_rule(stripped):
            pass
        elif dated := split_dated_line(stripped):
            yield from self._close()
            self.day, self.seen_date = _Day(dated, [dated.text] if dated.text else []), True
        else:
            yield from self._undated(line, stripped)

    def _undated(self, line: str, stripped: str) -> Iterator[RawEntry | Problem]:
        """A line without a date: a sentence of the open day, or dropped."""
        level = len(stripped) - len(stripped.lstrip("#"))
        if level and self.day is not None and not 0 < self.day.dated.level < level:
            yield from self._close()
        bullet = _BULLET.match(stripped)
        is_item = bullet is not None or line[0].isspace()
        if self.day is not None and self._continues(self.day, is_item):
            unmarked = stripped[bullet.end() :] if bullet else stripped[level:]
            label = _TEXT_LABEL.match(unmarked)
            text = clean(unmarked[label.end() :] if label else unmarked)
            if text:
                self.day.sentences.append(text)
                self.day.last_is_item = is_item
            return
        yield from self._close()
        if self.seen_date or not self.keep_undated:
            yield problem("undated_text", stripped)

    def _continues(self, day: _Day, is_item: bool) -> bool:
        """Whether the line belongs to the day."""
        if not day.dated.is_heading and not self.keep_undated:
            return False
        # "Let me know if you need more." stands after a blank line; so does the second paragraph of a day's block.
        return is_item or not self.after_blank or (day.dated.is_heading and not day.last_is_item)

    def _is_underline(self) -> bool:
        """Whether a line of dashes here underlines the date above it, as in Markdown."""
        return self.day is not None and not self.day.sentences and not self.after_blank

    def _close(self) -> Iterator[RawEntry | Problem]:
        if self.day is not None:
            yield from self.day.entries()
        self.day = None


def is_rule(stripped: str) -> bool:
    """Whether a line is a separator: two or more dashes, stars, underscores or equals signs and nothing else.

    Example:
        >>> is_rule("-" * 32), is_rule("* * *"), is_rule("- -x")
        (True, True, False)
    """
    marks = set(stripped)
    return stripped[0] in _RULE_MARKS and len(stripped) > 1 and len(marks - {" "}) == 1


def read_lines(text: str, keep_undated: bool = True) -> Iterator[RawEntry | Problem]:
    r"""Read the dated lines and tables of a text.

    A line without a date goes to the day before it. After a blank line it does so only if it is a list item, or if the
    day is a block of paragraphs. Separators, code fences, tags, undated headings and tables end a day. What stands
    before the first date is a preamble: dropped, and counted only if undated lines are not wanted.

    Args:
        text: Text without JSON and without thinking.
        keep_undated: Whether lines without a date continue the day before; if not, only the lines of a block do.

    Yields:
        Entries and problems in the order of the text.

    Example:
        >>> entry, dropped = read_lines("Here it is:\n2011-01-25: Protests begin.\nPolice wait.\n\nThat is all.")
        >>> entry.sentences, dropped
        (('Protests begin.', 'Police wait.'), Problem(kind='undated_text', detail='That is all.'))
    """
    return _Lines(text, keep_undated).read()
