"""Where a line stands: the year and the month above it, the list that it is in, what announces the final answer."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise, takewhile

from tls_tasks.text.dates import Known
from tls_tasks.timelines.entries import UNKNOWN
from tls_tasks.timelines.leads import Lead, is_date_label, is_whole, item_of, labelled_text, split_lead

_YEAR = re.compile(r"(?<![\d.,/-])(1[0-9]{3}|20[0-9]{2})(?![\d]|[.,]\d)")
_NUMBERED = re.compile(r"\s{0,20}(?:>\s?)?[*_#]{0,6}\s?([0-9]{1,3})[.)][*_]{0,2}\s+(.{0,20})")
_FINAL = re.compile(
    r"\b(?:final|corrected|revised|updated|improved|complete)\s+(?:\w+\s+){0,2}"
    r"(?:timeline|chronology|answer|version|list|output|response|result)s?\b|^(?:the\s)?(?:timeline|answer|output|response)$",
    re.IGNORECASE,
)
_LONG = 120
"""Characters of a line that is prose, and announces nothing."""


class Section:
    """The year and the month that headings and entries above a line give it.

    Example:
        >>> section = Section()
        >>> section.heading("Phase 2: War (March-October 2011)", True)
        >>> section.known
        Known(year=2011, month=None)
    """

    def __init__(self, known: Known = UNKNOWN) -> None:
        self.known = known
        # A year from an entry or a title goes on in January; one that heads a list does not.
        self._rolls = False
        self._last: datetime.date | None = None

    def heading(self, text: str, is_heading: bool) -> None:
        """Take the year of a heading, or of what precedes the first entry; the month of another section is over."""
        year = _YEAR.search(text[: 2 * _LONG])
        if year and (is_heading or (self._last is None and not _lacks_year(text, int(year[1])))):
            self.known, self._rolls = Known(int(year[1])), True
        elif is_heading:
            self.known = Known(self.known.year)

    def dated(self, lead: Lead) -> Lead:
        """Take what a dated line says, and give it the year that it means: December is followed by January."""
        expression = lead.expression
        if expression is None:
            return lead
        day = expression.date
        last = self._last if lead.is_short and self._rolls else None
        if last and day.month <= 3 and last.month >= 10 and day < last:
            day = day.replace(year=day.year + 1, day=min(day.day, 28) if day.month == 2 else day.day)
            end = expression.end and expression.end.replace(year=expression.end.year + 1)
            lead = lead._replace(expression=type(expression)(day, expression.precision, end))
        is_month = expression.precision == "month" and not expression.is_range
        is_month = is_month or (self.known == (day.year, day.month) and expression.precision == "day")
        self.known = Known(day.year, day.month if is_month else None)
        self._rolls = self._rolls or is_whole(lead) or expression.is_range
        if expression.precision != "day" and lead.is_heading and not expression.is_range:
            self._rolls = False
        if expression.precision == "day":
            self._last = day
        return lead


def _lacks_year(line: str, year: int) -> bool:
    """Whether a line is an entry without a year: one in its text ("empty since 1981") is not that of the list."""
    lead = split_lead(line, Known(year))
    return lead is not None and lead.is_short


def is_restart(line: str) -> bool:
    """Whether a line announces the answer itself, so that entries before it were a draft or an example.

    Example:
        >>> [is_restart(line) for line in ("**Final timeline:**", "Timeline:", "<answer>", "Final years of the war:")]
        [True, True, True, False]
        >>> is_restart("Timeline:X")  # a label and its text
        False
    """
    text = line.strip(" \t*_#<>`=-:")
    is_announced = line.rstrip(" *_").endswith((":", ">")) or line.startswith(("#", "*", "="))
    return len(line) <= _LONG and is_announced and not line.startswith("</") and _FINAL.search(text) is not None


def numbered_lines(lines: Sequence[str]) -> frozenset[int]:
    """The lines whose first number counts them, as in ``1. January 2011`` above ``2. March 2011``.

    Example:
        >>> sorted(numbered_lines(["1. Januar: A", "5. Januar: B", "1. A", "2. B"]))
        [2, 3]
    """
    found = [(index, int(match[1]), match[2]) for index, line in enumerate(lines) if (match := _NUMBERED.match(line))]
    counting = [
        (one[0], two[0]) for one, two in pairwise(found) if two[1] == one[1] + 1 and _start(one[2]) != _start(two[2])
    ]
    return frozenset(index for pair in counting for index in pair)


def _start(text: str) -> str:
    """What follows a number, as far as it tells ``1. Januar 2011`` and ``2. Januar 2011`` from list items."""
    return text[:12].strip("*_ ") if text[:1].isalpha() else text


def listed_lines(lines: Sequence[str]) -> frozenset[int]:
    """The items of lists in which nearly every item begins with a whole date: there a comma is enough after it.

    Lines without a marker are such a list if there are three.

    Example:
        >>> sorted(listed_lines(["- On 25 January 2011, A", "- On 28 January 2011, B", "On 30 January 2011, C"]))
        [0, 1]
    """
    found: set[int] = set()
    for key, items in groupby(_items(lines), lambda item: item[0]):
        run = [index for _, index in items]
        begin = [
            index for index in run if (lead := split_lead(lines[index].strip(), is_listed=True)) and is_whole(lead)
        ]
        if len(begin) >= (2 if key else 3) and 4 * len(begin) >= 3 * len(run):
            found.update(begin)
    return frozenset(found)


def text_comes_first(lines: Iterable[str]) -> bool:
    """Whether labels give an entry's text before its date: ``Event: A`` above ``Date: 2011-01-25``.

    Example:
        >>> text_comes_first(["- Event: A", "  Date: 2011-01-25"]), text_comes_first(["Date: 2011-01-25", "Event: A"])
        (True, False)
        >>> text_comes_first(["Event: A", "Date: 2011-01-25", "Event: B"])  # and no room for the second date
        True
    """
    labels = [line for line in lines if labelled_text(line) is not None or is_date_label(line)]
    before = [_name(line) for line in takewhile(lambda line: not is_date_label(line), labels)]
    if not before or len(before) == len(labels):
        return False
    # The last entry may have been cut off before its date.
    return is_date_label(labels[-1]) or _name(labels[-1]) in before


def _name(label: str) -> str:
    return label.partition(":")[0].strip(" \t-*_#>.)0123456789").casefold()


def _items(lines: Iterable[str]) -> Iterator[tuple[tuple[str, int] | None, int]]:
    """The lines that are not empty, each with its marker; what is indented more belongs to the item above it."""
    indent = 0
    key: tuple[str, int] | None = None
    for index, line in enumerate(lines):
        if not line or line.isspace():
            continue
        item = item_of(line)
        own = item[1] if item else len(line) - len(line.lstrip())
        if key is not None and own > indent:
            continue
        key, indent = item, own
        yield item, index
