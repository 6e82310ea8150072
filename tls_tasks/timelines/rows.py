"""Rows of predictions and references in every form a caller may have them -> timelines -> pairs -> a score.

A timeline is model text, a JSON string, a list of ``{"date": …, "text": …}``, a list of ``(date, text)`` pairs, a
mapping date -> text, or a :class:`~tls_tasks.timelines.types.Timeline`; a text is a str or a list of str. A references
row is one timeline or a list of them.

Text in ``predictions`` comes from a model: as much of it is read as possible, and nothing in it raises. Everything else
comes from the caller, and what has none of these forms raises an error that names row and field.
"""

import datetime
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import Any

from tls_tasks.core.errors import InputError, warn_of_repeated, warn_of_unread
from tls_tasks.core.options import check_choice
from tls_tasks.core.parsed import Parsed, Problem
from tls_tasks.core.prf import Counts, Item, prf_of_means, prf_unit
from tls_tasks.core.rows import describe, read_columns, shorten
from tls_tasks.core.score import Result, Results, Score, values
from tls_tasks.core.terminal import shown
from tls_tasks.text.dates import read_date
from tls_tasks.timelines.entries import DATE_KEYS, TEXT_KEYS
from tls_tasks.timelines.read import DEFAULT_POLICY, TimelinePolicy, parse_timeline
from tls_tasks.timelines.types import Timeline

_FORMS = "a timeline: text, a list of {'date': …, 'text': …}, a list of (date, text) pairs, or a mapping date -> text"

# Of a model's answer as much is read as possible; a reference that would lose an entry must not be scored against.
_LOSSES = ("invalid_date", "bad_entry")

_Place = tuple[str, int]
"""A place in the input, for errors: a field or a row of it, and the index within."""


def check_row(row: Any, field: str, index: int) -> None:
    """Refuse a row that could not be scored under any options."""
    if field == "references":
        read_references(row, index)
    elif not isinstance(row, str):  # a model's text may hold anything
        read_prediction(row, index)


def is_row(mapping: Mapping[Any, Any]) -> bool:
    """Whether a mapping is a timeline, with a date among its keys, or an entry, rather than timelines by name."""
    return _is_entry(mapping) or any(day_of(key) is not None for key in mapping)


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
        InputError: The row is neither text nor a timeline: None, NaN, a wrong shape, an invalid date.

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
    return _structured(row, ("predictions", index))


def read_references(
    row: Any, index: int, policy: TimelinePolicy = DEFAULT_POLICY, repeated: list[str] | None = None
) -> tuple[Timeline, ...]:
    """Read one references row: one timeline or a list of them.

    Args:
        row: A timeline in any form, or a list of timelines.
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
    if isinstance(row, str):
        row = _from_json(row)
    row = _unwrapped(row)
    if not _is_list(row) or all(map(_is_entry, row)):  # an empty list is one timeline
        return (_reference(row, place, policy, repeated),)
    return tuple(_reference(one, _within(place, position), policy, repeated) for position, one in enumerate(row))


def _within(place: _Place, position: int) -> _Place:
    return f"{place[0]}[{place[1]}]", position


def _from_json(text: str) -> Any:
    """The list or object in a JSON string; any other string as it is."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list | dict) else text


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
        return any(key in entry for key in (*DATE_KEYS, *TEXT_KEYS))
    is_pair = _is_list(entry) and len(entry) == 2 and (isinstance(entry[1], str) or _is_list(entry[1]))
    return is_pair and day_of(entry[0]) is not None


def _structured(row: Any, place: _Place) -> Parsed[Timeline]:
    if isinstance(row, Timeline):
        return Parsed(row)
    row = _unwrapped(row)
    if isinstance(row, Mapping) and _is_entry(row):
        raise InputError(*place, f"one entry {shorten(row)}", "a timeline; did you mean [[{'date': …, 'text': …}, …]]?")
    if isinstance(row, Mapping) or _is_list(row):
        days = list(_days(row, place))
        counts = Counter(day for day, _ in days)
        repeated = [Problem("repeated_date", str(day)) for day in sorted(counts) for _ in range(1, counts[day])]
        return Parsed(Timeline.of(days), tuple(repeated))
    raise InputError(*place, describe(row), _FORMS)


def _unwrapped(row: Any) -> Any:
    """The list in an object around it, such as ``{"timeline": […]}`` or tilse's ground truth; else the row itself."""
    if not isinstance(row, Mapping) or _is_entry(row) or any(not isinstance(key, str) or read_date(key) for key in row):
        return row
    lists = [value for value in row.values() if _is_list(value)]
    return lists[0] if len(lists) == 1 else row


def _days(row: Any, place: _Place) -> Iterator[tuple[datetime.date, tuple[str, ...]]]:
    if isinstance(row, Mapping):
        for day, text in row.items():
            if text is not None:  # Arrow gives each row the dates of all
                yield _day(day, place), _sentences(text, place)
        return
    for position, entry in enumerate(row):
        here = _within(place, position)
        if isinstance(entry, Mapping):
            for missing, keys in (("'date'", DATE_KEYS), ("'text'", TEXT_KEYS)):
                if not any(key in entry for key in keys):
                    raise InputError(*here, f"an entry without {missing}", "{'date': …, 'text': …}")
            entry = _first(entry, DATE_KEYS), _first(entry, TEXT_KEYS)
        if not _is_list(entry) or len(entry) != 2:
            raise InputError(*here, describe(entry), "an entry: {'date': …, 'text': …} or a pair (date, text)")
        yield _day(entry[0], here), _sentences(entry[1], here)


def _first(entry: Mapping[str, Any], keys: Sequence[str]) -> Any:
    """The first value that is there: Arrow fills with None what other entries have."""
    return next((entry[key] for key in keys if entry.get(key) is not None), None)


def _day(value: Any, place: _Place) -> datetime.date:
    day = day_of(value)
    if day is None:
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


# ---- what the timeline metrics share: from rows to (row, reference) pairs, and from such pairs to a score


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
    answers, golds, labels = read_columns(is_row, **columns)
    repeated: list[str] = []
    rows: list[TimelineRow] = []
    for index, (answer, gold) in enumerate(zip(answers, golds, strict=True)):
        parsed, wanted = read_prediction(answer, index, policy), read_references(gold, index, policy, repeated)
        rows.append(TimelineRow(index, None if labels is None else str(labels[index]), parsed, wanted))
    warn_of_unread([row.index for row in rows if row.parsed.failed], len(rows), "timelines")
    warn_of_repeated(repeated)
    return rows


_Variants = Mapping[str, Sequence[Mapping[str, Counts]]]


def score_of(
    metric: str,
    prefixes: Sequence[str],
    signed: str,
    config: Any,
    rows: Sequence[TimelineRow],
    items: Sequence[Item],
    variants: _Variants | None = None,
) -> Score:
    """The score of (row, reference) pairs.

    Args:
        metric: Registry name.
        prefixes: Of its result keys.
        signed: The signature.
        config: The settings, among them ``aggregate``, ``beta`` and ``by_topic``.
        rows: The rows that the pairs are of.
        items: One per pair, in order.
        variants: Name -> the pairs' counts under another variant, for the detailed result.
    """
    table: dict[str, Result] = {}
    for prefix in prefixes:
        table |= prf_of_means(prefix, config.aggregate, config.beta, config.by_topic)
    return Score(
        metric=metric,
        signature=signed,
        units=[prf_unit(item.counts, config.beta) for item in items],
        definitions=table,
        topics=[item.topic for item in items] if config.by_topic else None,
        rows=[item.row for item in items],
        items=items,
        problems={row.index: row.parsed.counts() for row in rows if row.parsed.problems},
        parse_failures=sum(row.parsed.failed for row in rows),
        details=partial(_details, variants or {}, table, config.beta),
        explanation=partial(_explanation, rows),
    )


def _details(variants: _Variants, table: Results, beta: float, score: Score) -> dict[str, Any]:
    """The results under all variants, and of each topic."""
    details: dict[str, Any] = {}
    if variants:
        units = {name: [prf_unit(pair, beta) for pair in counts] for name, counts in variants.items()}
        details["variants"] = {name: values(table, own, score.topics) for name, own in units.items()}
    if score.topics is not None:
        details["topics"] = score.by_topic()
    return details


def _explanation(rows: Sequence[TimelineRow], item: Item) -> Iterator[str]:
    """The dates that were aligned, with both texts; the dates that are right, missed and spurious."""
    row, details = rows[item.row], item.details()
    references = row.references if item.reference is None else (row.references[item.reference],)
    texts = {
        side: {day.isoformat(): " ".join(texts) for day, texts in Timeline.of(chain(*timelines)).entries}
        for side, timelines in (("predicted", [row.prediction]), ("reference", references))
    }
    sides = details.get("alignment") or {}
    pairs: dict[tuple[Any, ...], list[str]] = {}
    for name, aligned in sides.items():
        for pair in aligned:
            pairs.setdefault(tuple(pair.values()), []).append(name)
    for (left, right, weight, hits), names in sorted(pairs.items()):
        words = "word" if hits == 1 else "words"
        yield f"  {left} ~ {right}: weight {weight:.3g}, {hits:g} {words} in common ({' and '.join(names)})"
        yield f"    predicted  {shown(texts['predicted'][left])}"
        yield f"    reference  {shown(texts['reference'][right])}"
    for place, side in enumerate(texts if sides else ()):
        for day in sorted(texts[side].keys() - {pair[place] for pair in pairs}):
            yield f"  {day}: {side} only"
            yield f"    {side}  {shown(texts[side][day])}"
    if "matches" in details:
        days = [tuple(match.values()) for match in details["matches"]]
        right_days = [left if left == right else f"{left} for {right}" for left, right in days]
        for name, listed in (("right", right_days), ("missed", details["missed"]), ("spurious", details["spurious"])):
            yield f"  dates {name}: {', '.join(listed) or '-'}"
    if item.flags:
        yield f"  flags: {', '.join(item.flags)}"
