"""One date expression as people and models write it: ``2011-01-25T10:00Z``, ``25th of Jan. 2011``, ``2011-01``, ranges.

Four questions are answered: whether a whole string is a date (:func:`read_date`), where the date at the beginning of a
line ends (:func:`leading_dates`), which days stand anywhere in a text (:func:`dates_in`), and whether a heading names
the year or month of what is below it (:func:`partial_context`). Words are those of some fifty languages
(:mod:`~tls_tasks.text.date_forms`). Nothing is guessed: ``01/02/2011`` has two readings, and both are given. Of a line
only the first :data:`MAX_LENGTH` characters are read, so the cost of a call does not depend on the text.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from tls_tasks.text import date_forms

MAX_LENGTH = 120
"""Characters of a text that may belong to a date expression."""

Precision = Literal["day", "month", "year"]
DayMonth = Literal["day_first", "month_first"]


class Known(NamedTuple):
    """What the headings above a line have said.

    Attributes:
        year: The year, if any.
        month: The month, if any; it counts only beside a year.
    """

    year: int | None = None
    month: int | None = None


class Numeric(NamedTuple):
    """How day and month in digits were written.

    Attributes:
        separator: What stands between them: ``-``, ``/`` or ``.``.
        order: Which of them comes first, None if the numbers don't say.
    """

    separator: str
    order: DayMonth | None


@dataclass(frozen=True, slots=True)
class DateExpression:
    """A date, or a range of dates.

    Attributes:
        date: The day; the first day of a month, a year or a range.
        precision: What was written: the day, or only month or year.
        end: The last date of a range (of a partial one the first day of its last month or year), None otherwise.
        other: The same with the month first if what was written has two readings, such as ``01/02/2011``; the day is
            first here.
        numeric: How day and month in digits were written, None if they weren't.

    Example:
        >>> read_date("25-28 January 2011").end
        datetime.date(2011, 1, 28)
        >>> read_date("Feb. 2011").date, read_date("Feb. 2011").precision
        (datetime.date(2011, 2, 1), 'month')
        >>> read_date("01/02/2011").date, read_date("01/02/2011").other.date
        (datetime.date(2011, 2, 1), datetime.date(2011, 1, 2))
    """

    date: datetime.date
    precision: Precision = "day"
    end: datetime.date | None = None
    other: DateExpression | None = None
    numeric: Numeric | None = field(default=None, compare=False, repr=False)

    @property
    def is_range(self) -> bool:
        """Whether two dates were written."""
        return self.end is not None


class _LeadingDate(NamedTuple):
    """A date at the beginning of a text.

    Attributes:
        expression: None if it looks like a date but is impossible (``2011-02-30``).
        end: Where it ends in the text.
        is_bare: Whether it is a single day in digits with nothing before it. Sentences do not begin like that, but may
            begin with ``January 25, 2011``.
    """

    expression: DateExpression | None
    end: int
    is_bare: bool


_FOUR_DIGITS = re.compile(r"\d{4}")
_DIGITS = re.compile(r"\d{4}|\d{1,2}([./])\d{1,2}\1\d{2}")
_WRAPPING = " \t\r\n\"'`*_()[]{}<>“”‘’"
_ANY_YEAR = 2000


def may_hold_date(text: str) -> bool:
    """Whether a text has the digits of a year, as every full date expression does: a quick check before the slow one.

    Example:
        >>> may_hold_date("25 Jan 2011"), may_hold_date("25 January")
        (True, False)
    """
    return _DIGITS.search(text) is not None


def read_date(text: str, known: Known = Known()) -> DateExpression | None:  # noqa: B008 - it is immutable
    """Read a string that is a date and nothing else but brackets, quotes and a colon around it.

    Args:
        text: The string.
        known: The year, or year and month, that a date without one has.

    Returns:
        None if the string is not a date, or an impossible one, or a range that ends before it begins.

    Example:
        >>> read_date("2011-01-25 T10:00:00Z").date, read_date("٢٥ يناير ٢٠١١").date
        (datetime.date(2011, 1, 25), datetime.date(2011, 1, 25))
        >>> read_date("25th", Known(2011, 1)).date, read_date("25. Januar", Known(2011)).date
        (datetime.date(2011, 1, 25), datetime.date(2011, 1, 25))
        >>> read_date("2011-02-30"), read_date("25 January 2011 in Cairo"), read_date("25 January")
        (None, None, None)
    """
    stripped = text.strip().rstrip(":：").strip(_WRAPPING)
    # A string such as "25/01/11" alone may be anything; at the beginning of a line it is a date.
    if len(stripped) > MAX_LENGTH or (known.year is None and not _FOUR_DIGITS.search(stripped)):
        return None
    length = len(stripped)
    ends = (length, length - 1 if stripped.endswith(".") else length)
    return next((found.expression for found in leading_dates(stripped, known) if found.end in ends), None)


def partial_context(text: str) -> Known | None:
    """The year, the month or both that a whole heading, cell or key names, and nothing more exact.

    Returns:
        None if the text says anything else. A range of months names its year, if it is one year.

    Example:
        >>> partial_context("The year 2011"), partial_context("January 2011:"), partial_context("Février")
        (Known(year=2011, month=None), Known(year=2011, month=1), Known(year=None, month=2))
        >>> partial_context("January 25") is partial_context("Later in 2011") is None
        True
    """
    stripped = text.strip().rstrip(":：").strip(_WRAPPING).rstrip(":：")
    if not 0 < len(stripped) <= MAX_LENGTH:
        return None
    label = date_forms.YEAR_LABEL.match(date_forms.marked(stripped))
    rest = stripped[label.end() :] if label else stripped
    if (found := read_date(rest)) and found.precision != "day":
        if found.end is not None:
            return Known(found.date.year) if found.end.year == found.date.year else None
        return Known(found.date.year, found.date.month if found.precision == "month" else None)
    month = None if may_hold_date(rest) else read_date(rest, Known(_ANY_YEAR))
    return Known(None, month.date.month) if month and month.precision == "month" and not month.is_range else None


def within(text: str, known: Known) -> Known:
    """What is known below a heading, a cell or a key: what it names, or else what is known above.

    Example:
        >>> within("February", Known(2011, 1)), within("Protests", Known(2011, 1))
        (Known(year=2011, month=2), Known(year=2011, month=1))
    """
    context = partial_context(text)
    return Known(context.year or known.year, context.month) if context else known


def dates_in(text: str) -> Iterator[tuple[int, int, DateExpression]]:
    """Every day anywhere in a text that is written with its year, and every range that ends in one.

    Yields:
        Where it begins and ends, and what it is; in the order of the text.

    Example:
        >>> [(begin, end) for begin, end, _ in dates_in("From 25 January 2011 (2011-01-25) on, in May 2011")]
        [(5, 20), (22, 32)]
    """
    if not may_hold_date(text):
        return
    for match in date_forms.FULL_DAY.finditer(date_forms.marked(text, throughout=True)):
        begin, end = match.span()
        if expression := read_date(text[begin:end]):
            yield begin, end, expression


def leading_dates(text: str, known: Known = Known()) -> Iterator[_LeadingDate]:  # noqa: B008
    """Every way to read a date at the beginning of a text, ranges first.

    The caller takes the first one that is followed by what its format requires: in ``2011 - 2012 budget`` the range
    ``2011 - 2012`` is followed by a word, the year ``2011`` by a dash. Only where no date with a year leads, what is
    known completes one without; a number alone is a day where year and month are known.

    Example:
        >>> [found.end for found in leading_dates("2011 - 2012 budget")]
        [11, 4]
        >>> next(leading_dates("2011-02-30: no such day"))
        _LeadingDate(expression=None, end=10, is_bare=True)
        >>> list(leading_dates("In January 2011"))
        []
        >>> next(leading_dates("25: Protests", Known(2011, 1))).expression.date
        datetime.date(2011, 1, 25)
    """
    plain = date_forms.marked(text[:MAX_LENGTH])
    prefix = date_forms.PREFIX.match(plain)
    start = prefix.end() if prefix else 0
    if start == len(plain) or not (plain[start].isdigit() or plain[start] >= "\ue100"):
        return
    # "The 25th of January 2011", but not "The 2011 elections".
    needs_day = prefix is not None and bool(prefix["day"])
    for forms in (date_forms.FULL, date_forms.NO_YEAR, date_forms.NO_MONTH)[
        : 1 if known.year is None else 2 if known.month is None else 3
    ]:
        if forms is date_forms.NO_YEAR and known.month is not None and _is_day_range(plain, start):
            continue  # "25-28" below the heading of a month
        found = list(_readings(plain, start, forms, known))
        if needs_day:
            found = [one for one in found if one.expression is None or one.expression.precision == "day"]
        if found:
            yield from found
            return


def _is_day_range(plain: str, start: int) -> bool:
    match = date_forms.NO_MONTH.digit_ranges[0].match(plain, start)
    return match is not None and not any(form.match(plain, start) for form in date_forms.NO_YEAR.digit_ranges)


def _readings(plain: str, start: int, forms: date_forms.Forms, known: Known) -> Iterator[_LeadingDate]:
    """The dates and ranges at ``start`` in one set of forms."""
    if not plain[start].isdigit():
        ranges = forms.name_ranges
    else:
        ranges = (date_forms.SHORT_ISO_RANGE,) if date_forms.ISO_DAY.match(plain, start) else forms.digit_ranges
    for form in ranges:
        if match := form.match(plain, start):
            yield _LeadingDate(_expression(match, known), match.end(), False)
    singles = _single_dates(plain, start, forms, known)
    for first in singles:
        yield from _explicit_ranges(plain, first, forms, known)
    for first in singles:
        yield first._replace(is_bare=False) if first.is_bare and start else first


def _single_dates(plain: str, start: int, forms: date_forms.Forms, known: Known) -> list[_LeadingDate]:
    """The dates that can be read at ``start``, including time and weekday; of ``2011-01-25`` no part is one."""
    candidates = forms.digits if plain[start : start + 1].isdigit() else forms.names
    iso_day = date_forms.ISO_DAY.match(plain, start)
    matches = [iso_day] if iso_day else filter(None, (form.match(plain, start) for form in candidates))
    bare = (date_forms.ISO_DAY, *date_forms.BARE)
    return [_LeadingDate(_expression(one, known), _end_of_day(plain, one), one.re in bare) for one in matches]


def _end_of_day(plain: str, match: re.Match[str]) -> int:
    """Where the date ends, including time and weekday; a bare year has neither."""
    end = match.end()
    if end - match.start() == len("2011"):
        return end
    for form in (date_forms.TIME, date_forms.WEEKDAY_AFTER, date_forms.TIME):
        if following := form.match(plain, end):
            end = following.end()
    return end


def _explicit_ranges(plain: str, first: _LeadingDate, forms: date_forms.Forms, known: Known) -> Iterator[_LeadingDate]:
    """The ranges that begin with ``first`` and end with a date of the same precision."""
    to = date_forms.TO_DATE.match(plain, first.end)
    if first.expression is None or to is None:
        return
    for last in _single_dates(plain, to.end(), forms, known):
        if last.expression is not None and last.expression.precision == first.expression.precision:
            yield _LeadingDate(_range(first.expression, last.expression), last.end, False)


def _range(first: DateExpression, last: DateExpression) -> DateExpression | None:
    """From one date to another; None if it runs backwards in every reading that both may have."""
    numeric = next((one.numeric for one in (first, last) if one.numeric and one.numeric.order), None)
    settled = settle(first, numeric), settle(last, numeric)
    readings = [settled]
    if any(one.other for one in settled):
        readings.append((settled[0].other or settled[0], settled[1].other or settled[1]))
        numeric = next(one.numeric for one in settled if one.other)
    found = [DateExpression(a.date, a.precision, b.date, None, numeric) for a, b in readings if b.date >= a.date]
    return replace(found[0], other=found[1] if len(found) > 1 else None) if found else None


def settle(expression: DateExpression, numeric: Numeric | None) -> DateExpression:
    """The one reading of a date, if its order of day and month is that of another date.

    Example:
        >>> settle(read_date("01/02/2011"), read_date("01/25/2011").numeric).date
        datetime.date(2011, 1, 2)
    """
    if expression.other is None or numeric is None or numeric.order is None:
        return expression
    if expression.numeric is None or expression.numeric.separator != numeric.separator:
        return expression
    chosen = expression if numeric.order == "day_first" else expression.other
    return replace(chosen, other=None, numeric=numeric)


def _expression(match: re.Match[str], known: Known) -> DateExpression | None:
    """The expression that a form matched; None if there is no such date."""
    part = {name: text for name, text in match.groupdict().items() if text is not None}
    year = int(part["y"]) if "y" in part else known.year or 0
    if len(part.get("y", "")) == 2:
        year += 2000 if year < 70 else 1900
    try:
        if match.re is date_forms.ISO_DAY:  # by far the most frequent
            return DateExpression(datetime.date(year, int(part["m"]), int(part["d"])))
        if "a" in part:
            return _numeric_day(year, int(part["a"]), int(part["b"]), part["sep"].strip())
        month = _month(part, "")
        if month is None and "d" in part:
            month = known.month
        begin = datetime.date(year, month or 1, int(part.get("d", 1)) or 1)
        precision: Precision = "day" if "d" in part else "month" if month is not None else "year"
        if "decade" in part:
            return DateExpression(begin, precision, datetime.date(year + 9, 1, 1))
        if "d2" not in part and "mon2" not in part:
            return DateExpression(begin, precision)
        last_month = _month(part, "2") or month or 1
        # Below a year's heading "December 30 - January 2" ends in the next one.
        end_year = year if "y" in part or last_month >= begin.month else year + 1
        end = datetime.date(end_year, last_month, int(part.get("d2", 1)) or 1)
    except ValueError:
        return None
    return DateExpression(begin, precision, end) if end >= begin else None


def _month(part: Mapping[str, str], which: str) -> int | None:
    """The month by its name or number; None if the form has neither."""
    name, digits = part.get(f"mon{which}"), part.get(f"m{which}")
    return date_forms.month_of(name) if name else int(digits) if digits else None


def _numeric_day(year: int, first: int, second: int, separator: str) -> DateExpression:
    """The day of ``first/second/year``.

    Raises:
        ValueError: There is none.
    """
    if first > 12 or second > 12:
        month, day = (second, first) if first > 12 else (first, second)
        order: DayMonth | None = "day_first" if first > 12 else "month_first"
        return DateExpression(datetime.date(year, month, day), numeric=Numeric(separator, order))
    numeric = Numeric(separator, None)
    other = DateExpression(datetime.date(year, first, second), numeric=numeric) if first != second else None
    return DateExpression(datetime.date(year, second, first), other=other, numeric=numeric)
