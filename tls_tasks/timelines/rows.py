"""Rows of predictions and references in every form a caller may have them -> timelines.

A timeline is model text, a JSON string, a list of ``{"date": …, "text": …}``, a list of ``(date, text)`` pairs, a
mapping date -> text, or a :class:`~tls_tasks.timelines.types.Timeline`; a text is a str or a list of str, and may stand
under ``summary``. A references row is one timeline or a list of them.

Text in ``predictions`` comes from a model: as much of it is read as possible, and nothing in it raises. Everything else
comes from the caller, and what has none of these forms raises an error that names row and field.
"""

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import InputError, check_choice, describe, shorten, warn_of_repeated, warn_of_unread
from tls_tasks.core.parsed import Parsed, Problem
from tls_tasks.core.rows import no_class, read_columns
from tls_tasks.data.files import json_or_text
from tls_tasks.text.dates import read_date
from tls_tasks.timelines.read import DEFAULT_POLICY, TimelinePolicy, add_day, parse_timeline
from tls_tasks.timelines.types import Timeline

_FORMS = "a timeline: text, a list of {'date': …, 'text': …}, a list of (date, text) pairs, or a mapping date -> text"

# Of a model's answer as much is read as possible; a reference that would lose an entry must not be scored against.
_LOSSES = ("invalid_date", "bad_entry")

_ENTRY_KEYS = ("date", "text", "summary")

_LIKE_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}")

_Place = tuple[str, int]
"""A place in the input, for errors: a field or a row of it, and the index within."""


def check_row(row: Any, field: str, index: int) -> None:
    """Refuse a row that could not be scored under any options, by any metric of the family."""
    if field == "references":
        read_references(row, index)
    elif not isinstance(row, str):  # a model's text may hold anything
        read_prediction(row, index)


def as_plain(value: Any) -> Any:
    """A :class:`~tls_tasks.timelines.types.Timeline` as rows of JSON."""
    return value.as_rows() if isinstance(value, Timeline) else no_class(value)


def read_prediction(row: Any, index: int, policy: TimelinePolicy = DEFAULT_POLICY) -> Parsed[Timeline]:
    """Read one predictions row.

    Args:
        row: A timeline in any form; None is no answer.
        index: The row's number, for errors.
        policy: How text is read.

    Raises:
        InputError: The row is neither text nor a timeline: NaN, a wrong shape, an invalid date.

    Example:
        >>> read_prediction("2011-01-25: Protests begin.", 0).value.dates
        (datetime.date(2011, 1, 25),)
        >>> read_prediction([{"date": "2011-01-25"}], 3)
        Traceback (most recent call last):
        ...
        tls_tasks.core.errors.InputError: predictions[3][0]: got an entry without 'text', with the keys ['date'], expected {'date': …, 'text': …}
    """  # noqa: E501
    if row is None or isinstance(row, str):
        return parse_timeline(row, policy)
    return _structured(row, ("predictions", index), policy)


def read_references(
    row: Any, index: int, policy: TimelinePolicy = DEFAULT_POLICY, repeated: list[str] | None = None
) -> tuple[Timeline, ...]:
    """Read one references row: one timeline, a list of them, or a mapping annotator -> timeline.

    Args:
        row: A timeline in any form, or several timelines.
        index: The row's number, for errors.
        policy: How text is read.
        repeated: Takes place and date of what a timeline has more than once.

    Raises:
        InputError: None, NaN, a wrong shape, an invalid date, text without a timeline.

    Example:
        >>> len(read_references([{"2011-01-25": "Protests begin."}, {"2011-02-11": ["Mubarak resigns."]}], 0))
        2
    """
    place = ("references", index)
    row = _unwrapped(json_or_text(row))
    several: Iterable[tuple[Any, Any]] = ()  # an empty list is one timeline
    if _is_list(row) and not all(map(_is_entry, row)):
        several = enumerate(row)
    elif isinstance(row, Mapping) and row and not _is_entry(row) and not any(map(_holds_date, row)):
        several = ((repr(name), one) for name, one in row.items())
    timelines = [_reference(one, _within(place, position), policy, repeated) for position, one in several]
    return tuple(timelines) or (_reference(row, place, policy, repeated),)


def _within(place: _Place, position: Any) -> _Place:
    return f"{place[0]}[{place[1]}]", position


def _reference(row: Any, place: _Place, policy: TimelinePolicy, repeated: list[str] | None) -> Timeline:
    if isinstance(row, str):
        parsed = parse_timeline(row, policy)
        if parsed.value is None:
            raise InputError(*place, f"text in which no timeline can be read ({shorten(row)})", _FORMS)
        for problem in parsed.problems:
            if problem.kind in _LOSSES:
                raise InputError(*place, f"text with an entry that can't be read ({shorten(problem.detail)})", _FORMS)
    else:
        parsed = _structured(row, place)
    if repeated is not None:
        here = f"{place[0]}[{place[1]}]"
        repeated += [f"{here}: {noted.detail}" for noted in parsed.problems if noted.kind == "repeated_date"]
    return parsed.value or Timeline()


def _is_list(row: Any) -> bool:
    return isinstance(row, Sequence) and not isinstance(row, str | bytes)


def _is_entry(entry: Any) -> bool:
    if isinstance(entry, Mapping):
        return not entry.keys().isdisjoint(_ENTRY_KEYS)
    is_pair = _is_list(entry) and len(entry) == 2 and (isinstance(entry[1], str) or _is_list(entry[1]))
    return is_pair and day_of(entry[0]) is not None


def _structured(row: Any, place: _Place, policy: TimelinePolicy | None = None) -> Parsed[Timeline]:
    """A timeline of entries; of a prediction's repeated dates the policy says which texts count, as in text."""
    if isinstance(row, Timeline):
        return Parsed(row)
    row = _unwrapped(row)
    if isinstance(row, Mapping) and _is_entry(row):
        raise InputError(*place, f"one entry {shorten(row)}", "a timeline; did you mean [[{'date': …, 'text': …}, …]]?")
    if isinstance(row, Mapping) or _is_list(row):
        days = list(_days(row, place))
        counts = Counter(day for day, _ in days)
        repeated = [Problem("repeated_date", str(day)) for day in sorted(counts) for _ in range(1, counts[day])]
        merged: dict[datetime.date, list[str]] = {}
        if policy is not None:
            for day, sentences in days:
                add_day(merged, day, sentences, policy)
        return Parsed(Timeline.of(merged or days), tuple(repeated))
    raise InputError(*place, describe(row), _FORMS)


def _unwrapped(row: Any) -> Any:
    """The timelines of a topic as the papers' pseudocode and tilse's ground truth hold them; else the row itself."""
    names = ("gold_timelines", "timelines") if isinstance(row, Mapping) else ()
    return next((row[name] for name in names if name in row), row)


def _holds_date(key: Any) -> bool:
    """Whether a key is no name: a date, even a month, a range or one that no calendar has, or no text."""
    return not isinstance(key, str) or read_date(key) is not None or _LIKE_DATE.fullmatch(key.strip()) is not None


def _days(row: Any, place: _Place) -> Iterator[tuple[datetime.date, tuple[str, ...]]]:
    if isinstance(row, Mapping):
        if len(row) > 1 and not any(map(_holds_date, row)):
            raise InputError(*place, f"keys of which none is a date, {shorten([*row])}", _FORMS)
        for day, text in row.items():
            if text is not None:  # Arrow gives each row the dates of all
                yield _day(day, place, row), _sentences(text, place)
        return
    for position, entry in enumerate(row):
        here = _within(place, position)
        if isinstance(entry, Mapping):
            text_key = "text" if entry.get("text") is not None or "summary" not in entry else "summary"
            for key in ("date", text_key):
                if key not in entry:
                    got = f"an entry without {key!r}, with the keys {shorten([*entry])}"
                    raise InputError(*here, got, "{'date': …, 'text': …}")
            entry = entry["date"], entry[text_key]
        if not _is_list(entry) or len(entry) != 2:
            raise InputError(*here, describe(entry), "an entry: {'date': …, 'text': …} or a pair (date, text)")
        yield _day(entry[0], here), _sentences(entry[1], here)


def _day(value: Any, place: _Place, keys: Iterable[Any] = ()) -> datetime.date:
    day = day_of(value)
    if day is None:
        # Among names of annotators, a date that no calendar has is the mistake.
        value = next((key for key in keys if _holds_date(key) and day_of(key) is None), value)
        expected = "a date such as '2011-01-25', a datetime.date or a datetime.datetime"
        raise InputError(*place, f"date {describe(value)}", expected)
    return day


def day_of(value: Any) -> datetime.date | None:
    """The day of a str, date or datetime; time of day and time zone are dropped, not converted.

    None for anything else, and for a month, a year, a range and ``01/02/2011``: the caller must say which.
    """
    if isinstance(value, datetime.datetime):
        return value.date() if value == value else None  # pandas' NaT is a datetime that does not equal itself
    if not isinstance(value, str):
        return value if isinstance(value, datetime.date) else None
    found = read_date(value)
    is_day = found is not None and found.precision == "day" and not found.is_range and not found.other
    return found.date if found and is_day else None


def _sentences(value: Any, place: _Place) -> tuple[str, ...]:
    texts = value if _is_list(value) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise InputError(*place, f"{describe(text)} as the text", "a str or a list of str")
    return tuple(texts)


# ---- what the timeline metrics share: rows of one prediction with its references


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One prediction with its references.

    Attributes:
        index: Row number.
        topic: The row's topic, if topics were given.
        parsed: The prediction as it was read.
        references: At least one timeline.
    """

    index: int
    topic: str | None
    parsed: Parsed[Timeline]
    references: tuple[Timeline, ...]

    @property
    def prediction(self) -> Timeline:
        """The predicted timeline; empty if nothing could be read, which scores 0."""
        return self.parsed.value or Timeline()

    def groups(self, mode: str) -> Iterator[tuple[int | None, tuple[Timeline, ...]]]:
        """The references that are scored together, each group with its position (None: all of them)."""
        if mode == "joint":
            yield None, self.references
        else:
            for position, reference in enumerate(self.references):
                yield position, (reference,)

    def empty_flags(self, references: Sequence[Timeline]) -> tuple[str, ...]:
        """``empty_prediction`` and ``empty_reference``: a side without any date, which scores 0 by definition."""
        sides = {"empty_prediction": self.prediction, "empty_reference": any(references)}
        return tuple(flag for flag, has_dates in sides.items() if not has_dates)


def read_rows(
    predictions: Any, references: Any, topics: Any, reference_mode: str, policy: TimelinePolicy
) -> list[TimelineRow]:
    """Read all rows.

    Args:
        predictions: One timeline per row.
        references: One timeline per row, or a list of them.
        topics: The topic of each row, or None.
        reference_mode: ``separate`` or ``joint``; checked here, since both metrics have it.
        policy: How model text is read.

    Raises:
        InputError: Columns of unequal length, or a row that is no timeline.
        OptionError: There is no such reference mode.

    Warns:
        ParseFailureWarning: Some predictions could not be read.
        RepeatedDateWarning: A reference timeline has a date more than once.
    """
    check_choice("reference_mode", reference_mode, ("separate", "joint"))
    columns = {"predictions": predictions, "references": references, "topics": topics}
    answers, golds, labels = read_columns(**columns)
    repeated: list[str] = []
    rows: list[TimelineRow] = []
    for index, (answer, gold) in enumerate(zip(answers, golds, strict=True)):
        parsed, wanted = read_prediction(answer, index, policy), read_references(gold, index, policy, repeated)
        rows.append(TimelineRow(index, None if labels is None else str(labels[index]), parsed, wanted))
    warn_of_unread([row.index for row in rows if row.parsed.failed], len(rows), "timelines")
    warn_of_repeated(repeated)
    return rows
