"""The days that a news sentence names, which is what date rankers count."""

from __future__ import annotations

import datetime
import re

MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
          "december")  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = {name: number for number, name in enumerate(MONTHS, start=1)}
_MONTHS |= {name[:3]: number for name, number in _MONTHS.items()} | {"sept": 9}
_DAYS_BACK = {"yesterday": 1, "today": 0, "tonight": 0, "this morning": 0}
_MONTH_NAMES = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)? ({_MONTH_NAMES})\b\.?(?:,? (\d{{4}}))?", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH_NAMES})\b\.? (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}}))?", re.IGNORECASE)
_ISO = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})\b")
_WEEKDAY = re.compile(rf"\b({'|'.join(WEEKDAYS)})\b", re.IGNORECASE)
_RELATIVE = re.compile(rf"\b({'|'.join(_DAYS_BACK)})\b", re.IGNORECASE)


def mentioned_dates(text: str, published: datetime.date) -> frozenset[datetime.date]:
    """The days that a sentence names.

    A date without a year is the nearest one to the day of publication. A weekday is the last such day up to the day of
    publication itself, since news agencies write "on Tuesday" on that very Tuesday.

    Example:
        >>> tuesday = datetime.date(2011, 2, 1)
        >>> [str(day) for day in sorted(mentioned_dates("Since Friday, Jan. 25 and on Tuesday", tuesday))]
        ['2011-01-25', '2011-01-28', '2011-02-01']
        >>> mentioned_dates("yesterday", tuesday)
        frozenset({datetime.date(2011, 1, 31)})
    """
    days = [_day(year, month, day) for year, month, day in _ISO.findall(text)]
    days += [_near(year, month, day, published) for day, month, year in _DAY_MONTH.findall(text)]
    days += [_near(year, month, day, published) for month, day, year in _MONTH_DAY.findall(text)]
    back = [(published.weekday() - WEEKDAYS.index(name.lower())) % 7 for name in _WEEKDAY.findall(text)]
    back += [_DAYS_BACK[name.lower()] for name in _RELATIVE.findall(text)]
    days += [datetime.date.fromordinal(max(1, published.toordinal() - n)) for n in back]
    return frozenset(day for day in days if day is not None)


def _day(year: str | int, month: str | int, day: str | int) -> datetime.date | None:
    try:
        return datetime.date(int(year), int(month), int(day))
    except ValueError:
        return None


def _near(year: str, month: str, day: str, published: datetime.date) -> datetime.date | None:
    number = _MONTHS[month.lower()]
    if year:
        return _day(year, number, day)
    around = [_day(published.year + offset, number, day) for offset in (-1, 0, 1)]
    return min(filter(None, around), key=lambda candidate: abs((candidate - published).days), default=None)
