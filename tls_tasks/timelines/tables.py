"""Timelines as Markdown tables and CSV; HTML and XML as lines of Markdown: :func:`as_lines`."""

import html
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tls_tasks.core.markdown_tables import Table
from tls_tasks.core.parsed import Problem, problem
from tls_tasks.text.dates import MAX_LENGTH, Known, within
from tls_tasks.timelines.entries import ASIDE_KEYS, DATE_KEYS, TEXT_KEYS, UNKNOWN, RawEntry, clean, read_cell

_ESCAPE = re.compile(r"\\([-.*_#+!()\[\]])")
# Nothing in it looks beyond the next angle bracket, so that a megabyte of "<a " takes no longer than other text.
_TAG = re.compile(r"<(/?)([A-Za-z][\w:-]{0,15})((?:\s[^<>]{0,400})?)/?>(\s{0,40})|<[!?][^<>]{0,400}>()()()()")
_BREAK = re.compile(r"<br\s?/?>", re.IGNORECASE)
_TABLE = re.compile(r"^\s{0,9}\||<td", re.MULTILINE | re.IGNORECASE)  # in which a line break stays within its cell
_ATTRIBUTE = re.compile(r"([\w:-]{1,30})\s?=\s?[\"']([^\"'<>]{1,400})[\"']")

_HTML = json.loads(Path(__file__).with_name("html.json").read_text(encoding="utf-8"))
_OPENING = _HTML["opening"]
"""Tags -> their Markdown; ``inline`` ones have none, ``closing`` has what differs from a line break."""
_DATE_NAMES = frozenset((*DATE_KEYS, "year", "month"))
_NAMES = _DATE_NAMES | frozenset((*TEXT_KEYS, *ASIDE_KEYS))


def as_lines(text: str) -> list[str]:
    r"""The lines of a text; tags of HTML and of an XML with our names become Markdown, other tags are left.

    A list item becomes a line with a dash, a heading one with ``#``, a table row one with bars, and an element with a
    date in its attributes a line that begins with that date, so that one reader of lines is enough.

    Example:
        >>> as_lines("<ul><li><b>2011-01-25</b>: R &amp; D</li></ul>")
        ['', '', '- **2011-01-25**: R & D', '']
        >>> as_lines('<event date="2011-01-25">A</event>')
        ['', '2011-01-25: A', '']
        >>> as_lines("<tr><td>2011-01-25</td> <td>A</td></tr>")
        ['', '| 2011-01-25 | A |']
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\n" not in text.strip():
        text = text.replace("\\n", "\n")
    text = _ESCAPE.sub(r"\1", text)
    if "<" in text:
        plain = _TAG.sub(_as_markdown, _BREAK.sub(" " if _TABLE.search(text) else "\n", text))
        if plain != text:
            text = html.unescape(plain)
    return text.split("\n")


def _as_markdown(tag: re.Match[str]) -> str:
    """What stands for a tag."""
    is_closing, name, attributes, blanks = tag[1], (tag[2] or "").lower(), tag[3] or "", tag[4] or ""
    if not name:
        return ""
    if name in _HTML["inline"]:
        return blanks
    if not is_closing and attributes and (dates := _attributes(attributes, name)):
        return f"\n{' '.join(dates)}: "
    if name in _OPENING:
        mark: str = _HTML["closing"].get(name, "\n") if is_closing else _OPENING[name]
        return mark + ("" if name in _HTML["cells"] else blanks)
    if name in _NAMES:
        return "\n" if is_closing else f"\n{name}: "
    return tag[0]


def _attributes(attributes: str, name: str) -> list[str]:
    """The dates in an element's attributes; all of them are its date if it is called ``year`` or the like."""
    return [value for key, value in _ATTRIBUTE.findall(attributes) if not _DATE_NAMES.isdisjoint((key.lower(), name))]


_WORD = re.compile(r"[a-z]+")


def is_header(names: Sequence[str]) -> bool:
    """Whether these columns are a date and a text.

    Example:
        >>> is_header(["date", "event"]), is_header(["date", "place"])
        (True, False)
    """
    return not (set(DATE_KEYS).isdisjoint(names) or set(TEXT_KEYS).isdisjoint(names))


def read_table(table: Table, keep_undated: bool = True, known: Known = UNKNOWN) -> Iterator[RawEntry | Problem]:
    """Read a table: the date is in the columns that the header names, else in those that hold dates.

    A year and a month may have columns of their own; an empty one is that of the row above. The text is in the columns
    that the header names, else in all columns except numbers. A row with an empty date belongs to the row above.

    Args:
        table: The table.
        keep_undated: Whether a row without a date continues the row above.
        known: The year and the month of the section that the table is in.

    Example:
        >>> table = Table([["No", "Event", "When"], ["1", "Protests.", "2011-01-25"]], 2)
        >>> [entry.sentences for entry in read_table(table)]
        [('Protests.',)]
        >>> table = Table([["Year", "Date", "Event"], ["2011", "Jan 25", "A"], ["", "Jan 28", "B"]], 3)
        >>> [str(entry.expression.date) for entry in read_table(table)]
        ['2011-01-25', '2011-01-28']
    """
    width = max(map(len, table.rows), default=0)
    rows = [[*row, *[""] * (width - len(row))] for row in table.rows]
    header = [_WORD.findall(cell[:MAX_LENGTH].lower()) for cell in rows[0]] if rows else []
    dates = _date_columns(rows, header)
    if not dates:
        yield from (problem("undated_text", " | ".join(row)) for row in rows[:1])
        return
    has_header = not any(_is_date(rows[0][column]) for column in dates)
    beside = {*dates, *(_named(header, ASIDE_KEYS) if has_header else ())}
    named = _named(header, TEXT_KEYS) if has_header else []
    texts = [column for column in named or range(width) if column not in beside]
    last: RawEntry | None = None
    for row in rows[has_header:]:
        written = (row[column] for column in texts if not row[column].rstrip(".").isdigit())
        sentences = tuple(filter(None, (clean(cell.replace("\\|", "|")) for cell in written)))
        lost = [row[column] for column in range(width) if column not in (*dates, *texts)]
        if any(cell.rstrip(".") and not cell.rstrip(".").isdigit() for cell in lost):
            yield problem("aside", " | ".join(lost))
        cells = [clean(row[column]) for column in dates if row[column]]
        dated, known = _date_in(cells, known)
        if cells and (sentences or dated.expression is None or dated.expression.precision == "day"):
            yield from [last] if last else []
            last = RawEntry(dated.expression, cells[-1], dated.sentences + sentences)
        elif last is not None and keep_undated:
            last = last._replace(sentences=last.sentences + sentences)
        elif sentences:
            yield problem("undated_text", " | ".join(sentences))
    yield from [last] if last else []


def _date_columns(rows: Sequence[Sequence[str]], header: Sequence[Sequence[str]]) -> list[int]:
    """The columns of year, month and date; without such names, a column of dates and one of years before it."""
    partial = [*_named(header, ("year",)), *_named(header, ("month",))]
    full = [column for column in _named(header, DATE_KEYS) if column not in partial][:1]
    if partial or full:
        return [*partial, *full]
    found = [column for column in range(len(header)) if any(_is_date(row[column]) for row in rows)]
    return found[: 2 if found and all(row[found[0]].isdigit() or not row[found[0]] for row in rows[1:]) else 1]


def _date_in(cells: Sequence[str], known: Known) -> tuple[RawEntry, Known]:
    """The date in the cells of a row and what else they say, and the year and month that they give to rows below."""
    dated = RawEntry(None, "", ())
    for cell in cells:
        if cell.isdigit() and len(cell) <= 2 and known.year:
            cell = f"{known.year}-{known.month}-{cell}" if known.month else f"{known.year}-{cell}"
        dated, known = read_cell(cell, known), within(cell, known)
    return dated, known


def _named(header: Sequence[Sequence[str]], names: Sequence[str]) -> list[int]:
    """The columns whose header contains one of the names as a word."""
    return [column for column, words in enumerate(header) if any(word in names for word in words)]


def _is_date(cell: str) -> bool:
    """Whether a cell is a date, perhaps without its year; another number may be anything."""
    return read_cell(clean(cell), UNKNOWN if cell.isdigit() else Known(2000)).expression is not None  # any year will do
