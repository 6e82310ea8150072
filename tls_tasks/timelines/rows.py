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

# Problems of a model's answer that are errors of a reference: an entry would be lost, and the scores be wrong.
_LOSSES = ("invalid_date", "bad_entry")

_ENTRY_KEYS = ("date", "text", "summary")

_NUMERIC_DATE = re.compile(r"\d{1,4}([-/.])\d{1,2}\1\d{1,4}")

_Path = tuple[str, int]
"""Where a value is in the input, for errors: a field or a row of it (``references[3]``), and the index in it."""


def check_row(row: Any, field: str, index: int) -> None:
    """Raise InputError for a row that no metric of the family could score under any options."""
    if field == "references":
        read_references(row, index)
    elif not isinstance(row, str):  # a model's text may hold anything
        read_prediction(row, index)


def to_plain(value: Any) -> Any:
    """Return a Timeline as rows of JSON; raise TypeError for any other class."""
    return value.as_rows() if isinstance(value, Timeline) else no_class(value)


def read_prediction(row: Any, index: int, policy: TimelinePolicy = DEFAULT_POLICY) -> Parsed[Timeline]:
    """Read one predictions row.

    Args:
        row: A timeline in any form; None if there is no answer.
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
        repeated: A list to which ``references[0][1]: 2011-01-25`` is added for each date that a timeline repeats.

    Raises:
        InputError: None, NaN, a wrong shape, an invalid date, text without a timeline.

    Example:
        >>> len(read_references([{"2011-01-25": "Protests begin."}, {"2011-02-11": ["Mubarak resigns."]}], 0))
        2
    """
    path = ("references", index)
    row = _unwrap(json_or_text(row))
    rows_by_key: Iterable[tuple[Any, Any]] = ()  # an empty list is one timeline
    if _is_list(row) and not all(map(_is_entry, row)):
        rows_by_key = enumerate(row)
    elif isinstance(row, Mapping) and row and not _is_entry(row) and not any(map(_looks_like_date, row)):
        rows_by_key = ((repr(name), timeline) for name, timeline in row.items())
    timelines = [_read_reference(timeline, _inside(path, key), policy, repeated) for key, timeline in rows_by_key]
    return tuple(timelines) or (_read_reference(row, path, policy, repeated),)


def _inside(path: _Path, key: Any) -> _Path:
    """Return the path of the element ``key`` of the value at ``path``."""
    return f"{path[0]}[{path[1]}]", key


def _read_reference(row: Any, path: _Path, policy: TimelinePolicy, repeated: list[str] | None) -> Timeline:
    """Read one reference timeline; raise if an entry of it would be lost."""
    if isinstance(row, str):
        parsed = parse_timeline(row, policy)
        if parsed.value is None:
            raise InputError(*path, f"text in which no timeline can be read ({shorten(row)})", _FORMS)
        for problem in parsed.problems:
            if problem.kind in _LOSSES:
                raise InputError(*path, f"text with an entry that can't be read ({shorten(problem.detail)})", _FORMS)
    else:
        parsed = _structured(row, path)
    if repeated is not None:
        where = f"{path[0]}[{path[1]}]"
        repeated += [f"{where}: {problem.detail}" for problem in parsed.problems if problem.kind == "repeated_date"]
    return parsed.value or Timeline()


def _is_list(row: Any) -> bool:
    return isinstance(row, Sequence) and not isinstance(row, str | bytes)


def _is_entry(entry: Any) -> bool:
    if isinstance(entry, Mapping):
        return not entry.keys().isdisjoint(_ENTRY_KEYS)
    is_pair = _is_list(entry) and len(entry) == 2 and (isinstance(entry[1], str) or _is_list(entry[1]))
    return is_pair and read_day(entry[0]) is not None


def _structured(row: Any, path: _Path, policy: TimelinePolicy | None = None) -> Parsed[Timeline]:
    """Read a timeline that is not text; a prediction's ``policy`` decides which texts of a repeated date count."""
    if isinstance(row, Timeline):
        return Parsed(row)
    row = _unwrap(row)
    if isinstance(row, Mapping) and _is_entry(row):
        raise InputError(*path, f"one entry {shorten(row)}", "a timeline; did you mean [[{'date': …, 'text': …}, …]]?")
    if isinstance(row, Mapping) or _is_list(row):
        days = list(_read_days(row, path))
        counts = Counter(day for day, _ in days)
        repeated = [Problem("repeated_date", str(day)) for day in sorted(counts) for _ in range(1, counts[day])]
        selected: dict[datetime.date, list[str]] = {}
        if policy is not None:
            for day, sentences in days:
                add_day(selected, day, sentences, policy)
        return Parsed(Timeline.from_days(selected or days), tuple(repeated))
    raise InputError(*path, describe(row), _FORMS)


def _unwrap(row: Any) -> Any:
    """Return what is under ``gold_timelines`` (papers' pseudocode) or ``timelines`` (tilse), else the row itself."""
    names = ("gold_timelines", "timelines") if isinstance(row, Mapping) else ()
    return next((row[name] for name in names if name in row), row)


def _looks_like_date(key: Any) -> bool:
    """Return whether a key is no name: any date, even a month, a range or an impossible one, or no text."""
    return not isinstance(key, str) or read_date(key) is not None or _NUMERIC_DATE.fullmatch(key.strip()) is not None


def _read_days(row: Any, path: _Path) -> Iterator[tuple[datetime.date, tuple[str, ...]]]:
    """Yield (date, sentences) for each entry of a list of entries, or of a mapping date -> text."""
    if isinstance(row, Mapping):
        if len(row) > 1 and not any(map(_looks_like_date, row)):
            raise InputError(*path, f"keys of which none is a date, {shorten([*row])}", _FORMS)
        for day, text in row.items():
            if text is not None:  # Arrow gives each row the dates of all rows, with None where it has no text
                yield _check_day(day, path, row), _check_sentences(text, path)
        return
    for index, entry in enumerate(row):
        entry_path = _inside(path, index)
        if isinstance(entry, Mapping):
            text_key = "text" if entry.get("text") is not None or "summary" not in entry else "summary"
            for key in ("date", text_key):
                if key not in entry:
                    got = f"an entry without {key!r}, with the keys {shorten([*entry])}"
                    raise InputError(*entry_path, got, "{'date': …, 'text': …}")
            entry = entry["date"], entry[text_key]
        if not _is_list(entry) or len(entry) != 2:
            raise InputError(*entry_path, describe(entry), "an entry: {'date': …, 'text': …} or a pair (date, text)")
        yield _check_day(entry[0], entry_path), _check_sentences(entry[1], entry_path)


def _check_day(value: Any, path: _Path, keys: Iterable[Any] = ()) -> datetime.date:
    """Return the day, or raise InputError; ``keys`` are all keys of the value's mapping."""
    day = read_day(value)
    if day is None:
        # The error names a key that is meant as a date but is none, rather than a name beside it.
        value = next((key for key in keys if _looks_like_date(key) and read_day(key) is None), value)
        expected = "a date such as '2011-01-25', a datetime.date or a datetime.datetime"
        raise InputError(*path, f"date {describe(value)}", expected)
    return day


def read_day(value: Any) -> datetime.date | None:
    """Return the day of a str, date or datetime; time of day and time zone are dropped, not converted.

    Returns None for anything else, and for a month, a year, a range and the ambiguous ``01/02/2011``.
    """
    if isinstance(value, datetime.datetime):
        return value.date() if value == value else None  # pandas' NaT is a datetime that does not equal itself
    if not isinstance(value, str):
        return value if isinstance(value, datetime.date) else None
    parsed = read_date(value)
    is_day = parsed is not None and parsed.precision == "day" and not parsed.is_range and not parsed.other
    return parsed.date if parsed and is_day else None


def _check_sentences(value: Any, path: _Path) -> tuple[str, ...]:
    texts = value if _is_list(value) else [value]
    for text in texts:
        if not isinstance(text, str):
            raise InputError(*path, f"{describe(text)} as the text", "a str or a list of str")
    return tuple(texts)


# ---- rows of one prediction with its references, which all timeline metrics read


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

    def reference_groups(self, mode: str) -> Iterator[tuple[int | None, tuple[Timeline, ...]]]:
        """Yield (index, references) for each group that is scored together; the index of all references is None."""
        if mode == "joint":
            yield None, self.references
        else:
            for index, reference in enumerate(self.references):
                yield index, (reference,)

    def empty_flags(self, references: Sequence[Timeline]) -> tuple[str, ...]:
        """Return ``empty_prediction`` and ``empty_reference`` for sides without dates, which score 0 by definition."""
        sides = {"empty_prediction": self.prediction, "empty_reference": any(references)}
        return tuple(flag for flag, has_dates in sides.items() if not has_dates)


def read_rows(
    predictions: Any, references: Any, topics: Any, reference_mode: str, policy: TimelinePolicy
) -> list[TimelineRow]:
    """Read the columns of a timeline metric into rows.

    Args:
        predictions: One timeline per row.
        references: One timeline per row, or a list of them.
        topics: The topic of each row, or None.
        reference_mode: ``separate`` or ``joint``; only checked here, for both metrics.
        policy: How model text is read.

    Raises:
        InputError: Columns of unequal length, or a row that is no timeline.
        OptionError: ``reference_mode`` is neither.

    Warns:
        ParseFailureWarning: Some predictions could not be read.
        RepeatedDateWarning: A reference timeline has a date more than once.
    """
    check_choice("reference_mode", reference_mode, ("separate", "joint"))
    columns = {"predictions": predictions, "references": references, "topics": topics}
    predictions, references, topics = read_columns(**columns)
    repeated: list[str] = []
    rows: list[TimelineRow] = []
    for index, (prediction, reference) in enumerate(zip(predictions, references, strict=True)):
        parsed, golds = read_prediction(prediction, index, policy), read_references(reference, index, policy, repeated)
        rows.append(TimelineRow(index, None if topics is None else str(topics[index]), parsed, golds))
    warn_of_unread([row.index for row in rows if row.parsed.failed], len(rows), "timelines")
    warn_of_repeated(repeated)
    return rows
