"""One date expression as people and models write it: ``2011-01-25T10:00Z``, ``25th of Jan. 2011``, ``2011-01``, ranges.

Two questions are answered: whether a whole string is a date (:func:`read_date`), and where the date at the beginning of
a line ends (:func:`leading_dates`). Nothing is guessed: ``01/02/2011`` may be in January or February, so it is not
read as a date, while ``25/01/2011`` is unambiguous. Only the first :data:`MAX_LENGTH` characters are read, so the cost
of a call does not depend on the text.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

MAX_LENGTH = 120
"""Characters of a text that may belong to a date expression."""

Precision = Literal["day", "month", "year"]


@dataclass(frozen=True, slots=True)
class DateExpression:
    """A date, or a range of dates.

    Attributes:
        date: The day; the first day of a month, a year or a range.
        precision: What was written: the day, or only month or year.
        end: The last date of a range (of a partial one the first day of its last month or year), None otherwise.

    Example:
        >>> read_date("25-28 January 2011")
        DateExpression(date=datetime.date(2011, 1, 25), precision='day', end=datetime.date(2011, 1, 28))
        >>> read_date("Feb. 2011").date, read_date("Feb. 2011").precision
        (datetime.date(2011, 2, 1), 'month')
    """

    date: datetime.date
    precision: Precision = "day"
    end: datetime.date | None = None

    @property
    def is_range(self) -> bool:
        """Whether two dates were written."""
        return self.end is not None


class LeadingDate(NamedTuple):
    """A date at the beginning of a text.

    Attributes:
        expression: None if it looks like a date but is impossible (``2011-02-30``) or ambiguous.
        end: Where it ends in the text.
        is_bare: Whether it is a single day in digits with nothing before it. Sentences do not begin like that, but may
            begin with ``January 25, 2011``.
    """

    expression: DateExpression | None
    end: int
    is_bare: bool


# Character by character, so that positions stay the same: blanks, hyphens, dashes, and a slash that models like.
_PLAIN = str.maketrans(
    "\u00a0\u2007\u2009\u202f\u3000\u2010\u2011\u2012\u2013\u2014\u2212\uff0d\uff0f", " " * 5 + "-" * 7 + "/"
)

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAME = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_WEEKDAY = r"(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b\.?"
_Y, _MON, _D = r"(?P<y>[0-9]{4})(?![0-9])", rf"(?P<mon>{_NAME})", r"(?P<d>[0-9]{1,2})(?:st|nd|rd|th)?"
_D2, _MON2 = r"(?P<d2>[0-9]{1,2})(?:st|nd|rd|th)?", rf"(?P<mon2>{_NAME})"
_GAP, _OF, _COMMA = r"(?:\s+|-)", r"(?:\s+of\b)?", r"(?:,\s*|\s+|-)"
_TO = r"\s*(?:-+|~|/|&|(?:to|until|till|through|and)\b)\s*"


def _compiled(*forms: str) -> tuple[re.Pattern[str], ...]:
    """Compile forms; ASCII only, or ignoring case would let in letters such as the long s."""
    return tuple(re.compile(form, re.IGNORECASE | re.ASCII) for form in forms)


_ISO_DAY, _SHORT_ISO_RANGE = _compiled(
    r"(?P<y>[0-9]{4})(?P<sep>[-/.])(?P<m>[0-9]{1,2})(?P=sep)(?P<d>[0-9]{1,2})(?![0-9])",
    r"(?P<y>[0-9]{4})-(?P<m>[0-9]{1,2})-(?P<d>[0-9]{1,2})[-/](?P<d2>[0-9]{1,2})(?![0-9/-])",  # 2011-01-25/28
)
_DIGIT_RANGES = _compiled(  # both ends share a month or a year
    rf"{_D}{_TO}{_D2}{_OF}{_GAP}{_MON}{_COMMA}{_Y}",  # 25-28 January 2011
    rf"{_D}{_OF}\s+{_MON}{_TO}{_D2}{_OF}\s+{_MON2}{_COMMA}{_Y}",  # 25 January - 2 February 2011
)
_NAME_RANGES = _compiled(
    rf"{_MON}\s+{_D}{_TO}{_D2}{_COMMA}{_Y}",  # January 25-28, 2011
    rf"{_MON}\s+{_D}{_TO}{_MON2}\s+{_D2}{_COMMA}{_Y}",  # January 25 - February 2, 2011
    rf"{_MON}{_TO}{_MON2}{_COMMA}{_Y}",  # January-March 2011
)
_BARE = _compiled(
    r"(?P<y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})(?![0-9])",
    r"(?P<a>[0-9]{1,2})(?P<sep>[-/.])(?P<b>[0-9]{1,2})(?P=sep)(?P<y>[0-9]{4})(?![0-9])",
)
_DIGIT_FORMS = (
    *_BARE,
    *_compiled(
        rf"{_D}{_OF}{_GAP}{_MON}{_COMMA}{_Y}",  # 25th of January, 2011; 25-Jan-2011
        rf"(?P<y>[0-9]{{4}}){_GAP}{_MON}{_GAP}{_D}(?![0-9])",  # 2011 January 25
        r"(?P<y>[0-9]{4})年(?:(?P<m>[0-9]{1,2})月(?:(?P<d>[0-9]{1,2})日)?)?",
        r"(?P<y>[0-9]{4})[-/](?P<m>[0-9]{1,2})(?![0-9])",
        r"(?P<m>[0-9]{1,2})/(?P<y>[0-9]{4})(?![0-9])",
        r"(?P<y>[0-9]{4})(?![0-9])",
    ),
)
_NAME_FORMS = _compiled(
    rf"{_MON}{_GAP}{_D}{_COMMA}{_Y}",  # January 25, 2011
    rf"{_MON}(?:\s+of\b)?{_COMMA}{_Y}",  # January 2011
)
_TIME, _WEEKDAY_AFTER, _TO_DATE, _PREFIX = _compiled(
    # There may be a blank before the T, or no T at all.
    r"(?:\s?T\s?|,?\s+(?:at\s+)?)[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:[.,][0-9]+)?)?(?:\s?[ap]\.?m\b\.?)?"
    r"(?:\s?(?:Z|UTC|GMT|[ECMP][SD]T|CES?T|BST)\b|\s?[+-][0-9]{2}:?[0-9]{2}(?![0-9-]))?",
    rf"\s*[,(]\s*{_WEEKDAY}\)?",
    _TO,
    rf"(?:(?:from|between|on|early|mid|late)[\s-]+)?(?:{_WEEKDAY},?\s+)?",
)
_YEAR = re.compile("[0-9]{4}")
_WRAPPING = " \t\r\n\"'`*_()[]{}<>“”‘’"


def may_hold_date(text: str) -> bool:
    """Whether a text has four digits in a row, as every date expression does: a quick check before the slow one.

    Example:
        >>> may_hold_date("25 Jan 2011"), may_hold_date("25 January")
        (True, False)
    """
    return _YEAR.search(text) is not None


def read_date(text: str) -> DateExpression | None:
    """Read a string that is a date and nothing else but brackets, quotes and a colon around it.

    Returns:
        None if the string is not a date, or an impossible or ambiguous one, or a range that ends before it begins.

    Example:
        >>> read_date("2011-01-25 T10:00:00Z").date
        datetime.date(2011, 1, 25)
        >>> read_date("01/02/2011"), read_date("2011-02-30"), read_date("25 January 2011 in Cairo")
        (None, None, None)
    """
    stripped = text.strip().rstrip(":").strip(_WRAPPING)
    if len(stripped) > MAX_LENGTH or not may_hold_date(stripped):
        return None
    return next((found.expression for found in leading_dates(stripped) if found.end == len(stripped)), None)


def leading_dates(text: str) -> Iterator[LeadingDate]:
    """Every way to read a date at the beginning of a text, ranges first.

    The caller takes the first one that is followed by what its format requires: in ``2011 - 2012 budget`` the range
    ``2011 - 2012`` is followed by a word, the year ``2011`` by a dash.

    Example:
        >>> [found.end for found in leading_dates("2011 - 2012 budget")]
        [11, 4]
        >>> next(leading_dates("2011-02-30: no such day"))
        LeadingDate(expression=None, end=10, is_bare=True)
        >>> list(leading_dates("In January 2011"))
        []
    """
    plain = text[:MAX_LENGTH].translate(_PLAIN)
    prefix = _PREFIX.match(plain)
    start = prefix.end() if prefix else 0
    if start == len(plain) or not plain[start].isalnum():
        return
    for form in _ranges_at(plain, start):
        if match := form.match(plain, start):
            yield LeadingDate(_expression(match), match.end(), False)
    singles = _single_dates(plain, start)
    for first in singles:
        yield from _explicit_ranges(plain, first)
    for first in singles:
        yield first._replace(is_bare=first.is_bare and start == 0)


def _ranges_at(plain: str, start: int) -> tuple[re.Pattern[str], ...]:
    """The forms of ranges with a shared part that may match at ``start``; chosen by the first character, for speed."""
    if not plain[start].isdigit():
        return _NAME_RANGES
    return (_SHORT_ISO_RANGE,) if _ISO_DAY.match(plain, start) else _DIGIT_RANGES


def _single_dates(plain: str, start: int) -> list[LeadingDate]:
    """The dates that can be read at ``start``, including time and weekday; of ``2011-01-25`` no part is one."""
    if match := _ISO_DAY.match(plain, start):
        return [LeadingDate(_expression(match), _end_of_day(plain, match), True)]
    forms = _DIGIT_FORMS if plain[start : start + 1].isdigit() else _NAME_FORMS
    matches = ((form, form.match(plain, start)) for form in forms)
    return [
        LeadingDate(_expression(match), _end_of_day(plain, match), form in _BARE) for form, match in matches if match
    ]


def _end_of_day(plain: str, match: re.Match[str]) -> int:
    """Where the date ends, including time and weekday; a bare year has neither."""
    end = match.end()
    if end - match.start() == len("2011"):
        return end
    for form in (_TIME, _WEEKDAY_AFTER):
        if following := form.match(plain, end):
            end = following.end()
    return end


def _explicit_ranges(plain: str, first: LeadingDate) -> Iterator[LeadingDate]:
    """The ranges that begin with ``first`` and end with a date of the same precision."""
    to = _TO_DATE.match(plain, first.end)
    if first.expression is None or to is None:
        return
    begin, precision = first.expression.date, first.expression.precision
    for last in _single_dates(plain, to.end()):
        if last.expression is not None and last.expression.precision == precision:
            end = last.expression.date
            yield LeadingDate(DateExpression(begin, precision, end) if end >= begin else None, last.end, False)


def _expression(match: re.Match[str]) -> DateExpression | None:
    """The expression that a form matched; None if there is no such date."""
    part = match.groupdict()
    try:
        year, month, day = int(part["y"]), _month(part.get("m"), part.get("mon")), _number(part.get("d"))
        if "a" in part:
            month, day = _month_and_day(int(part["a"]), int(part["b"]))
        begin = datetime.date(year, month or 1, day or 1)
        precision: Precision = "day" if day is not None else "month" if month is not None else "year"
        if "d2" not in part and "mon2" not in part:
            return DateExpression(begin, precision)
        end = datetime.date(year, _month(None, part.get("mon2")) or month or 1, _number(part.get("d2")) or 1)
    except ValueError:
        return None
    return DateExpression(begin, precision, end) if end >= begin else None


def _number(digits: str | None) -> int | None:
    """The number; None if the form has none."""
    return None if digits is None else int(digits)


def _month(digits: str | None, name: str | None) -> int | None:
    """The month by its number or name; None if the form has neither."""
    return _number(digits) if name is None else _MONTHS.index(name[:3].lower()) + 1


def _month_and_day(first: int, second: int) -> tuple[int, int]:
    """Month and day of ``first/second/year``.

    Raises:
        ValueError: Either number could be the month, and they differ.
    """
    if first <= 12 and second <= 12 and first != second:
        raise ValueError("day and month can't be told apart")
    return (second, first) if first > 12 else (first, second)
