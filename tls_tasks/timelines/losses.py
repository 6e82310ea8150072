"""Lines that belong to no entry of a timeline: an entry may be lost with them, or they are notes."""

import re
from collections.abc import Mapping, Sequence, Set

from tls_tasks.core.parsed import Problem, problem
from tls_tasks.text.date_forms import MONTHS, marked
from tls_tasks.text.dates import Known, dates_in, may_hold_date
from tls_tasks.timelines.entries import PHRASES, RawEntry, item_of, split_prefix

YEAR = re.compile(r"(?<![\d.,/-])(1[0-9]{3}|20[0-9]{2})(?![\d]|[.,]\d)")
ANY_YEAR = Known(2000)
_MONTH = re.compile(f"[{MONTHS}]+")
_DAY = re.compile(f"[{MONTHS}]{{3,}}[.,]? ?[0-9]|[0-9][ .-]{{0,2}}[{MONTHS}]{{3}}")
_NUMBER = re.compile("[0-9]+")
_HEAD = re.compile(PHRASES["head"])
_BEGINNING = 12
"""Characters of a line behind the entries at whose beginning the year of an entry says what happened in it."""
_SHORT = 200
"""Characters of an introduction or a closing that may be longer than the entries."""


def with_losses(items: Sequence[RawEntry | Problem | str]) -> list[RawEntry | Problem]:
    """The items, with a problem for each line that belongs to no entry; a section's heading above an entry is none.

    Between entries a line is lost. Before the first entry and behind the last one it is a note, unless it is a list
    item, names a date, or belongs to a passage that is longer than the entries: then an entry may be lost with it. Of
    dates, the years of entries may be named, but not at the beginning of a line behind them; the answer's first and
    last line may name any year but at their beginning. A section of its own below a heading without a number is a note
    but for the lines that name a day, and the items that name a year. A question is no entry.
    """
    read = {index: item for index, item in enumerate(items) if isinstance(item, RawEntry)}
    if not read:
        return _without_entries(items)
    first, last = min(read), max(read)
    years = {str(entry.expression.date.year) for entry in read.values() if entry.expression}
    size = sum(len(text) for entry in read.values() for text in entry.sentences)
    outside = {index: item for index, item in enumerate(items) if isinstance(item, str) and not first < index < last}
    apart = _sections(outside, years)
    sides = ([outside[index] for index in outside.keys() - apart if (index > last) == behind] for behind in (0, 1))
    is_long = [sum(map(len, lines)) > max(size, _SHORT) for lines in sides]
    kept: list[RawEntry | Problem] = []
    for index, item in reversed([*enumerate(items)]):
        if not isinstance(item, str):
            kept.append(item)
        elif not (kept and isinstance(kept[-1], RawEntry) and _HEAD.fullmatch(item)):
            is_title = index < first and (item.endswith((":", "：")) or _HEAD.fullmatch(item))
            is_apart = index in (0, len(items) - 1) and not _says_when(item)
            names_date = _dates_named(item) - years and (not is_apart or _names_day(item))
            names_date = names_date or (_says_when(item) and index > last)
            names_date = names_date and not (is_title or item.endswith("?"))
            is_note = index in outside and not is_long[index > last] and item_of(item) is None and not names_date
            kept.append(problem("note", item) if is_note or index in apart else _lost(item))
    return kept[::-1]


def _sections(lines: Mapping[int, str], years: Set[str]) -> set[int]:
    """The places of lines in sections without a date, below a heading of their own."""
    apart: set[int] = set()
    is_apart = False
    for index, line in lines.items():
        is_apart = is_apart and index - 1 in lines
        if _HEAD.fullmatch(line):
            is_apart = not (_says_when(line) or {*_NUMBER.findall(line)} - years)
        names_year = item_of(line) is not None and ({*YEAR.findall(line)} - years or _says_when(line))
        if is_apart and not names_year and not _names_day(line):
            apart.add(index)
    return apart


def _without_entries(items: Sequence[RawEntry | Problem | str]) -> list[RawEntry | Problem]:
    """The problems of an answer without entries: a line that says when something happened is lost with it.

    If none does so with its year, one note says why nothing is dated.
    """
    lines = [item for item in items if isinstance(item, str)]
    has_year = any(map(may_hold_date, lines))
    dated = [line for line in lines if _says_when(line) or (has_year and _names_day(line))]
    lost = [_lost(line) for line in dated if not split_prefix(line, ANY_YEAR) and not line.endswith((":", "?"))]
    said = lost or [problem("no_date", line) for line in lines[:1]]
    return [*(item for item in items if isinstance(item, Problem)), *said]


def _says_when(line: str) -> bool:
    """Whether a line begins with a year: "In 2011 it rained." says what happened."""
    return YEAR.search(line[:_BEGINNING]) is not None


def _lost(line: str) -> Problem:
    return problem("dated_text" if next(dates_in(line), None) else "undated_text", line)


def _dates_named(line: str) -> set[str]:
    """The years and months that a line names."""
    months = _MONTH.finditer(marked(line, throughout=True))
    names = {line[month.start() : month.end()] for month in months} - {"may", "march"}
    return names.union(YEAR.findall(marked(line)))


def _names_day(line: str) -> bool:
    """Whether a line names a month beside a number, or a day in digits."""
    return any(dates_in(line)) or _DAY.search(marked(line, throughout=True)) is not None
