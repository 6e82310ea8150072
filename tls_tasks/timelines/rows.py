"""Rows of predictions and references, in every form a caller may have them -> timelines.

A timeline is model text, a JSON string, a list of ``{"date": …, "text": …}``, a list of ``(date, text)`` pairs, a
mapping date -> text, or a :class:`~tls_tasks.timelines.types.Timeline`; a text is a str or a list of str. A references
row is one timeline or a list of them.

Text in ``predictions`` comes from a model: whatever it holds, it is read as far as it can be and never raises. All else
comes from the caller, and what doesn't fit raises, naming row and field.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.parsed import Parsed
from tls_tasks.core.rows import describe, shorten
from tls_tasks.text.dates import read_date
from tls_tasks.timelines.read import DEFAULT_POLICY, TimelinePolicy, parse_timeline
from tls_tasks.timelines.types import Timeline

_FORMS = "a timeline: text, a list of {'date': …, 'text': …}, a list of (date, text) pairs, or a mapping date -> text"
_TEXT_KEYS = ("text", "summary")

# A model's answer is read as far as it can be; a reference that would lose an entry must not be scored against.
_LOSSES = ("invalid_date", "bad_entry")


def check_row(row: Any, field: str, index: int) -> None:
    """Refuse a row that could not be scored under any options."""
    if field == "references":
        read_references(row, index)
    elif not isinstance(row, str):  # a model's text may hold anything
        read_prediction(row, index)


def as_plain(value: Any) -> Any:
    """A :class:`~tls_tasks.timelines.types.Timeline` as rows of JSON."""
    if isinstance(value, Timeline):
        return value.as_rows()
    raise TypeError(type(value).__name__)


def read_prediction(row: Any, index: int, policy: TimelinePolicy = DEFAULT_POLICY) -> Parsed[Timeline]:
    """Read one predictions row.

    Args:
        row: A timeline in any form.
        index: The row's number, for errors.
        policy: How text is read.

    Raises:
        InputError: A row that isn't text and doesn't fit: None, NaN, a wrong shape, a date that is none.

    Example:
        >>> read_prediction("2011-01-25: Protests begin.", 0).value.dates
        (datetime.date(2011, 1, 25),)
        >>> read_prediction([{"date": "2011-01-25"}], 3)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: predictions[3][0]: got an entry without 'text', expected {'date': …, 'text': …}
    """  # noqa: E501
    if isinstance(row, str):
        return parse_timeline(row, policy)
    return Parsed(_structured(row, _Place("predictions", index)))


def read_references(row: Any, index: int, policy: TimelinePolicy = DEFAULT_POLICY) -> tuple[Timeline, ...]:
    """Read one references row: one timeline or a list of them.

    Raises:
        InputError: None, NaN, a wrong shape, a date that is none, text without a timeline in it, no timeline at all.

    Example:
        >>> len(read_references([{"2011-01-25": "Protests begin."}, {"2011-02-11": ["Mubarak resigns."]}], 0))
        2
    """
    place = _Place("references", index)
    if isinstance(row, str):
        row = _from_json(row)
    if not _is_list(row) or _is_one_timeline(row):
        return (_reference(row, place, policy),)
    return tuple(_reference(timeline, place.at(position), policy) for position, timeline in enumerate(row))


class _Place:
    """Where in the input we are: ``references[3][0]``."""

    def __init__(self, field: str, index: int, *deeper: int) -> None:
        self.field, self.index, self.deeper = field, index, deeper

    def at(self, position: int) -> _Place:
        return _Place(self.field, self.index, *self.deeper, position)

    def error(self, got: str, expected: str) -> InputError:
        path = [self.index, *self.deeper]
        return InputError(self.field + "".join(f"[{position}]" for position in path[:-1]), path[-1], got, expected)


def _from_json(text: str) -> Any:
    """The list or object that a string holds as JSON, else the string itself."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list | dict) else text


def _reference(row: Any, place: _Place, policy: TimelinePolicy) -> Timeline:
    if isinstance(row, str):
        structured = _from_json(row)
        if not isinstance(structured, str):
            return _structured(structured, place)
        parsed = parse_timeline(row, policy)
        if parsed.value is None:
            raise place.error(f"text in which no timeline can be read ({shorten(row)})", _FORMS)
        for problem in parsed.problems:
            if problem.kind in _LOSSES:
                raise place.error(f"text with an entry that can't be read ({shorten(problem.detail)})", _FORMS)
        return parsed.value
    return _structured(row, place)


def _is_list(row: Any) -> bool:
    return isinstance(row, Sequence) and not isinstance(row, str | bytes)


def _is_one_timeline(row: Sequence[Any]) -> bool:
    """Whether a list is a list of entries (also if it is empty), not a list of timelines."""
    return all(_is_entry(entry) for entry in row)


def _is_entry(entry: Any) -> bool:
    if isinstance(entry, Mapping):
        return "date" in entry or any(key in entry for key in _TEXT_KEYS)
    if not _is_list(entry) or len(entry) != 2 or not (isinstance(entry[1], str) or _is_list(entry[1])):
        return False
    return isinstance(entry[0], datetime.date) or (isinstance(entry[0], str) and _read_day(entry[0]) is not None)


def _structured(row: Any, place: _Place) -> Timeline:
    if isinstance(row, Timeline):
        return row
    if isinstance(row, Mapping) or _is_list(row):
        return Timeline.of(_days(row, place))
    raise place.error(describe(row), _FORMS)


def _days(row: Any, place: _Place) -> Iterator[tuple[datetime.date, tuple[str, ...]]]:
    if isinstance(row, Mapping):
        for day, text in row.items():
            yield _day(day, place), _sentences(text, place, f"the text of {day}")
        return
    for position, entry in enumerate(row):
        here = place.at(position)
        if isinstance(entry, Mapping):
            key = next((key for key in _TEXT_KEYS if key in entry), None)
            if "date" not in entry or key is None:
                missing = "'date'" if "date" not in entry else "'text'"
                raise here.error(f"an entry without {missing}", "{'date': …, 'text': …}")
            yield _day(entry["date"], here), _sentences(entry[key], here, f"'{key}'")
        elif _is_list(entry) and len(entry) == 2:
            yield _day(entry[0], here), _sentences(entry[1], here, "the text")
        else:
            raise here.error(describe(entry), "an entry: {'date': …, 'text': …} or a pair (date, text)")


def _day(value: Any, place: _Place) -> datetime.date:
    """The day of a str, date or datetime; the time of day and the zone are dropped, not converted."""
    day: datetime.date | None = None
    if isinstance(value, datetime.datetime):
        day = value.date() if value == value else None  # pandas' NaT is a datetime that is not itself
    elif isinstance(value, datetime.date):
        day = value
    elif isinstance(value, str):
        day = _read_day(value)
    if day is None:
        raise place.error(
            f"date {describe(value)}", "a date such as '2011-01-25', a datetime.date or a datetime.datetime"
        )
    return day


def _read_day(text: str) -> datetime.date | None:
    """The day that a str names; a month, a year or a range is none: the caller must say which day it stands for."""
    expression = read_date(text)
    if expression is None or expression.precision != "day" or expression.is_range:
        return None
    return expression.date


def _sentences(value: Any, place: _Place, what: str) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if _is_list(value) and all(isinstance(sentence, str) for sentence in value):
        return tuple(value)
    wrong = next((sentence for sentence in value if not isinstance(sentence, str)), None) if _is_list(value) else value
    raise place.error(f"{describe(wrong)} as {what}", "a str or a list of str")
