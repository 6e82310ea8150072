"""Where a line stands: the year and the month above it, and what announces the final answer."""

from __future__ import annotations

import datetime
import re

from tls_tasks.text.dates import Known
from tls_tasks.timelines.entries import UNKNOWN
from tls_tasks.timelines.prefixes import Prefix, split_prefix

_YEAR = re.compile(r"(?<![\d.,/-])(1[0-9]{3}|20[0-9]{2})(?![\d]|[.,]\d)")
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

    def dated(self, prefix: Prefix) -> Prefix:
        """Take what a dated line says, and give it the year that it means: December is followed by January."""
        expression = prefix.expression
        if expression is None:
            return prefix
        day = expression.date
        last = self._last if prefix.is_short and self._rolls else None
        if last and day.month <= 3 and last.month >= 10 and day < last:
            day = day.replace(year=day.year + 1, day=min(day.day, 28) if day.month == 2 else day.day)
            end = expression.end and expression.end.replace(year=expression.end.year + 1)
            prefix = prefix._replace(expression=type(expression)(day, expression.precision, end))
        is_month = expression.precision == "month" and not expression.is_range
        is_month = is_month or (self.known == (day.year, day.month) and expression.precision == "day")
        self.known = Known(day.year, day.month if is_month else None)
        self._rolls = self._rolls or prefix.is_whole or expression.is_range
        if expression.precision != "day" and prefix.is_heading and not expression.is_range:
            self._rolls = False
        if expression.precision == "day":
            self._last = day
        return prefix


def _lacks_year(line: str, year: int) -> bool:
    """Whether a line is an entry without a year: one in its text ("empty since 1981") is not that of the list."""
    prefix = split_prefix(line, Known(year))
    return prefix is not None and prefix.is_short


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
