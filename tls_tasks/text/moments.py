"""Dates, perhaps with a time of day, in one notation: what ``3 May 2024 at 10:00`` and ``2024-05-03T10:00`` share."""

import datetime
import re
from functools import lru_cache

from tls_tasks.text.dates import DateExpression, read_date
from tls_tasks.text.numbers import FORMS, LONGEST

_TIME = re.compile(FORMS["time"])
_LENGTHS = {"day": 10, "month": 7, "year": 4}


@lru_cache(maxsize=4096)
def read_moment(text: str, day_month: str = "", has_time: bool = True) -> str | None:
    """Read a text that is a date, or a date and a time, as ISO writes it: in UTC where it has a time zone.

    Args:
        text: The text.
        day_month: What ``01/02/2024`` is: ``day_first``, ``month_first``, or something else: nothing. In ``01.02.2024``
            the day comes first unless ``month_first`` is said.
        has_time: Whether the time is read; if not, it is left out.

    Returns:
        None if it is none, or has two readings.

    Example:
        >>> read_moment("2024-01-01T13:00+01:00"), read_moment("1 January 2024 at 1:00 pm"), read_moment("soon")
        ('2024-01-01T12:00:00Z', '2024-01-01T13:00:00', None)
        >>> read_moment("01/02/2024", "day_first"), read_moment("01/02/2024"), read_moment("1.2.2024")
        ('2024-02-01', None, '2024-02-01')
        >>> read_moment("May 2024"), read_moment("3-5 May 2024"), read_moment("3 May 2024, 10:30 am", has_time=False)
        ('2024-05', '2024-05-03 to 2024-05-05', '2024-05-03')
    """
    stripped = text.strip() if len(text) <= LONGEST else ""
    time = _TIME.search(stripped)
    date = read_date(stripped[: time.start()] if time else stripped)
    date = date and _in_order(date, day_month)
    if date is None:
        return None
    day = " to ".join(end.isoformat()[: _LENGTHS[date.precision]] for end in (date.date, date.end) if end)
    if time is None or not has_time:
        return day
    return None if date.end or date.precision != "day" else _with_time(date.date, time)


def _in_order(date: DateExpression, day_month: str) -> DateExpression | None:
    """The one reading of a date; None if it has two."""
    if date.other is None:
        return date
    is_dotted = date.numeric is not None and date.numeric.separator == "."
    if day_month == "month_first":
        return date.other
    return date if is_dotted or day_month == "day_first" else None


def _with_time(day: datetime.date, time: re.Match[str]) -> str | None:
    hour = int(time["hour"])
    if time["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (time["half"][0] in "pP")
    try:
        at = datetime.datetime(day.year, day.month, day.day, hour, int(time["minute"]), int(time["second"] or 0))
        if time["sign"]:
            offset = datetime.timedelta(hours=int(time["hours"]), minutes=int(time["minutes"] or 0))
            at = at - offset if time["sign"] == "+" else at + offset
    except (ValueError, OverflowError):  # a leap second, 25:00, the end of the calendar
        return None
    part = (time["part"] or "").rstrip("0")
    return at.isoformat() + (f".{part}" if part else "") + ("Z" if time["zero"] or time["sign"] else "")
