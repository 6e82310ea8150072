"""Timelines written as lines: ``2011-01-25: text``, lists, headings with bullets, tilse's text form, Markdown tables.

A line that begins with a date and a separator opens a day. A date in the middle of a sentence does not, and neither
does ``January 25, 2011, marked …``. A date on a line of its own, or in a heading, opens a block, whose lines are the
day's sentences.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Problem
from tls_tasks.text.dates import MAX_LENGTH, DateExpression, leading_dates, may_hold_date, read_date

DATE_KEYS = ("date", "start", "start_date", "event_date", "datetime", "timestamp", "time", "day", "when")
"""Names of a date in JSON and table headers; the first one present is taken."""

END_KEYS = ("end", "end_date")
"""Names of the last day of a range."""

TEXT_KEYS = ("text", "summary", "event", "events", "description", "content", "sentences", "sentence", "details")
"""Names of an entry's text; all that are present are taken."""

TITLE_KEYS = ("headline", "title", "heading", "news", "body")
"""Names of a text that counts if none of :data:`TEXT_KEYS` is present."""


class RawEntry(NamedTuple):
    """One entry of a timeline in model text.

    Attributes:
        expression: Its date, None if the date can't be read.
        written: The date as written; empty if there is none.
        sentences: Its text.
    """

    expression: DateExpression | None
    written: str
    sentences: tuple[str, ...]


_LOOK = 240
"""How many characters of a line its bullet, its date and its separator may take."""


class _DatedLine(NamedTuple):
    """A line that begins with a date; ``expression`` is None if that is no valid date."""

    expression: DateExpression | None
    written: str
    text: str
    is_heading: bool  # the following lines belong to it: the date stands alone, or the line is a heading or bold
    level: int  # the number of heading marks before the date


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


def _split_dated_line(line: str) -> _DatedLine | None:
    """Split a line that begins with a date, after any bullets, numbers, heading marks, brackets or bold marks.

    Returns:
        None if the line does not begin with a date, or if the date is part of a sentence.

    Example:
        >>> _split_dated_line("- **2011-01-25**: At 10:30 a.m. they march.").text
        'At 10:30 a.m. they march.'
        >>> _split_dated_line("### 25 January 2011").is_heading
        True
        >>> _split_dated_line("In January 2011: nothing"), _split_dated_line("January 25, 2011, was cold.")
        (None, None)
    """
    head = line[:_LOOK]
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
            text = _clean(line[end + length :])
            level = head[:begin].count("#")
            is_heading = not text or level > 0 or ("**" in head[:begin] and line.rstrip().endswith("**"))
            return _DatedLine(found.expression, head[begin:end], text, is_heading, level)
    return None


def _date_begins(head: str) -> int:
    """Where the date begins, behind bullets, numbers and labels."""
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
    """How many characters after a date belong to its separator; None if the date is part of a sentence."""
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


def _clean(text: str) -> str:
    """A sentence without surrounding whitespace and bold marks.

    Example:
        >>> _clean(" **Day of Rage** in Cairo. ")
        'Day of Rage in Cairo.'
    """
    return text.replace("**", "").strip()


@dataclass(slots=True)
class _Day:
    """The day that is being read."""

    dated: _DatedLine
    sentences: list[str]
    last_is_item: bool = False

    def entries(self) -> Iterator[RawEntry | Problem]:
        """The day's entry; a month or year without text was a section heading."""
        expression = self.dated.expression
        if not self.sentences and expression is not None and expression.precision != "day":
            yield problem("empty_entry", self.dated.written)
        else:
            yield RawEntry(expression, self.dated.written, tuple(self.sentences))


class _Lines:
    """Reads a text line by line."""

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
            elif rows := _table_at(self.lines, index - 1):
                index += len(rows) - 1
                yield from self._table(rows)
            else:
                yield from self._line(line, line.strip())
                self.after_blank = False
        yield from self._close()

    def _table(self, rows: Sequence[str]) -> Iterator[RawEntry | Problem]:
        yield from self._close()
        for item in _read_table(rows, self.keep_undated):
            self.seen_date = self.seen_date or isinstance(item, RawEntry)
            yield item

    def _line(self, line: str, stripped: str) -> Iterator[RawEntry | Problem]:
        if stripped.startswith(_FENCE) or _TAG.fullmatch(stripped) or (_is_rule(stripped) and not self._is_underline()):
            yield from self._close()
        elif _is_rule(stripped):
            pass
        elif dated := _split_dated_line(stripped):
            yield from self._close()
            self.day, self.seen_date = _Day(dated, [dated.text] if dated.text else []), True
        else:
            yield from self._undated(line, stripped)

    def _undated(self, line: str, stripped: str) -> Iterator[RawEntry | Problem]:
        """Make a line without a date a sentence of the open day, or drop it."""
        level = len(stripped) - len(stripped.lstrip("#"))
        if level and self.day is not None and not 0 < self.day.dated.level < level:
            yield from self._close()
        bullet = _BULLET.match(stripped)
        is_item = bullet is not None or line[0].isspace()
        if self.day is not None and self._continues(self.day, is_item):
            unmarked = stripped[bullet.end() :] if bullet else stripped[level:]
            label = _TEXT_LABEL.match(unmarked)
            text = _clean(unmarked[label.end() :] if label else unmarked)
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
        # "Let me know if you need more." follows a blank line, but so does the second paragraph of a day's block.
        return is_item or not self.after_blank or (day.dated.is_heading and not day.last_is_item)

    def _is_underline(self) -> bool:
        """Whether a line of dashes here would underline the date above it, as in Markdown."""
        return self.day is not None and not self.day.sentences and not self.after_blank

    def _close(self) -> Iterator[RawEntry | Problem]:
        if self.day is not None:
            yield from self.day.entries()
        self.day = None


def _is_rule(stripped: str) -> bool:
    """Whether a line is a separator: two or more dashes, stars, underscores or equals signs and nothing else.

    Example:
        >>> _is_rule("-" * 32), _is_rule("* * *"), _is_rule("- -x")
        (True, True, False)
    """
    marks = set(stripped)
    return stripped[0] in _RULE_MARKS and len(stripped) > 1 and len(marks - {" "}) == 1


def read_lines(text: str, keep_undated: bool = True) -> Iterator[RawEntry | Problem]:
    r"""Read the dated lines and tables of a text.

    A line without a date belongs to the day before it; after a blank line only if it is a list item, or if the day is a
    block of paragraphs. Separators, code fences, tags, undated headings and tables end a day. What precedes the first
    date is a preamble: it is dropped, and counted only if ``keep_undated`` is False.

    Args:
        text: Text without JSON and without thinking.
        keep_undated: Whether lines without a date continue the preceding day; if not, only those of a block do.

    Yields:
        Entries and problems in the order of the text.

    Example:
        >>> entry, dropped = read_lines("Here it is:\n2011-01-25: Protests begin.\nPolice wait.\n\nThat is all.")
        >>> entry.sentences, dropped
        (('Protests begin.', 'Police wait.'), Problem(kind='undated_text', detail='That is all.'))
    """
    return _Lines(text, keep_undated).read()


# --- tables ---

_MAX_CELLS = 32
"""Cells of a row that are read; the last one takes the rest of the line."""

_CELL_END = re.compile(r"(?<!\\)\|")
_LINE_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_WORD = re.compile(r"[a-z]+")


def _table_at(lines: Sequence[str], index: int) -> Sequence[str]:
    """The lines of the table that begins at ``index``; empty if there is none.

    A table is a run of lines that begin with a bar, or one whose second line is of the form ``--- | ---``.

    Example:
        >>> _table_at(["text", "| a | b |", "| c | d |", ""], 1)
        ['| a | b |', '| c | d |']
        >>> _table_at(["a | b", "--- | ---", "c | d", "text"], 0)
        ['a | b', '--- | ---', 'c | d']
    """
    if lines[index].lstrip().startswith("|"):
        return _run(lines, index, lambda line: line.lstrip().startswith("|"))
    if "|" in lines[index] and index + 1 < len(lines) and _is_delimiter(lines[index + 1]):
        return _run(lines, index, lambda line: "|" in line)
    return ()


def _run(lines: Sequence[str], index: int, belongs: Callable[[str], bool]) -> Sequence[str]:
    end = index
    while end < len(lines) and belongs(lines[end]):
        end += 1
    return lines[index:end]


def _is_delimiter(line: str) -> bool:
    """Whether a line separates a table's header from its rows."""
    return "-" in line and "|" in line and set(line) <= set("|-: \t")


def _read_table(lines: Sequence[str], keep_undated: bool = True) -> Iterator[RawEntry | Problem]:
    """Read a table: the date column is the one that the header names, else the first that holds a date.

    The text is in the columns that the header names, else in all columns except numbers. A row with an empty date
    belongs to the row above.

    Args:
        lines: The lines of the table.
        keep_undated: Whether a row without a date continues the row above.

    Example:
        >>> list(_read_table(["| No | Event | When |", "|--|--|--|", "| 1 | Protests. | 2011-01-25 |"]))[0].sentences
        ('Protests.',)
    """
    rows = [_cells(line) for line in lines if not _is_delimiter(line)]
    header = [_WORD.findall(cell[:MAX_LENGTH].lower()) for cell in rows[0]] if rows else []
    column = _named(header, DATE_KEYS)[:1] or _first_with_date(rows)
    if not column:
        if rows:
            yield problem("undated_text", lines[0])
        return
    date_column = column[0]
    has_header = len(header) <= date_column or read_date(rows[0][date_column]) is None
    named = [at for at in _named(header, TEXT_KEYS) or _named(header, TITLE_KEYS) if at != date_column and has_header]
    last: RawEntry | None = None
    for row in rows[has_header:]:
        entry = _entry(row, date_column, named)
        if entry.written:
            if last is not None:
                yield last
            last = entry
        elif keep_undated and last is not None:
            last = last._replace(sentences=last.sentences + entry.sentences)
        elif entry.sentences:
            yield problem("undated_text", " | ".join(entry.sentences))
    if last is not None:
        yield last


def _cells(line: str) -> list[str]:
    stripped = line.strip().removeprefix("|")
    cells = [cell.strip() for cell in _CELL_END.split(stripped, maxsplit=_MAX_CELLS - 1)]
    return cells[:-1] if cells[-1] == "" else cells


def _named(header: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """The columns whose header contains one of the names as a word."""
    return [at for at, words in enumerate(header) if any(word in names for word in words)]


def _first_with_date(rows: Sequence[Sequence[str]]) -> list[int]:
    columns = {at for row in rows for at, cell in enumerate(row) if cell and read_date(cell)}
    return [min(columns)] if columns else []


def _entry(row: Sequence[str], date_column: int, named: Sequence[int]) -> RawEntry:
    """A row's entry; ``written`` is empty if its date cell is."""
    written = row[date_column] if date_column < len(row) else ""
    others = [at for at in range(len(row)) if at != date_column and not row[at].rstrip(".").isdigit()]
    texts = [row[at] for at in named or others if at < len(row)]
    parts = [part for text in texts for part in _LINE_BREAK.split(text)]
    sentences = [part.replace("**", "").replace("\\|", "|").strip() for part in parts]
    return RawEntry(read_date(written) if written else None, written, tuple(filter(None, sentences)))
