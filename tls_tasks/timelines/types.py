"""Timeline and TimelineEntry: the form into which every prediction and reference is read."""

from __future__ import annotations

import datetime
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple


class TimelineEntry(NamedTuple):
    """One day of a timeline.

    Attributes:
        date: The day.
        sentences: The day's summary. If it is empty, the date still counts for date F1 and contributes no words.
    """

    date: datetime.date
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Timeline:
    """A timeline: days in ascending order, each with its daily summary.

    Attributes:
        entries: One entry per day, in strictly ascending order of date.

    Raises:
        ValueError: The dates are not strictly ascending (use :meth:`from_days`, which sorts and merges).

    Example:
        >>> from datetime import date
        >>> timeline = Timeline.from_days([(date(2011, 1, 28), ["Troops move."]), (date(2011, 1, 25), ["Protests."])])
        >>> timeline.dates
        (datetime.date(2011, 1, 25), datetime.date(2011, 1, 28))
        >>> len(timeline), timeline.n_sentences
        (2, 2)
    """

    entries: tuple[TimelineEntry, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if the dates do not ascend, so that no scorer has to check."""
        for earlier, later in itertools.pairwise(self.dates):
            if earlier >= later:
                raise ValueError(f"dates must strictly rise, got {earlier} before {later}; use Timeline.from_days")

    @classmethod
    def from_days(
        cls, days: Mapping[datetime.date, Iterable[str]] | Iterable[tuple[datetime.date, Iterable[str]]]
    ) -> Timeline:
        """Build a timeline from (date, sentences) pairs in any order; the sentences of a repeated date are joined."""
        pairs = days.items() if isinstance(days, Mapping) else days
        by_day: dict[datetime.date, list[str]] = {}
        for day, sentences in pairs:
            by_day.setdefault(day, []).extend(sentences)
        return cls(tuple(TimelineEntry(day, tuple(by_day[day])) for day in sorted(by_day)))

    @property
    def dates(self) -> tuple[datetime.date, ...]:
        """The dates, ascending."""
        return tuple(entry.date for entry in self.entries)

    @property
    def n_sentences(self) -> int:
        """The total number of sentences."""
        return sum(len(entry.sentences) for entry in self.entries)

    @property
    def text(self) -> str:
        """All sentences, joined by spaces."""
        return " ".join(itertools.chain.from_iterable(sentences for _, sentences in self.entries))

    def as_rows(self) -> list[dict[str, object]]:
        """Return the timeline as JSON-ready rows ``{"date": "2011-01-25", "text": [sentence, …]}``."""
        return [{"date": entry.date.isoformat(), "text": list(entry.sentences)} for entry in self.entries]

    def __len__(self) -> int:
        """Return the number of dates."""
        return len(self.entries)

    def __iter__(self) -> Iterator[TimelineEntry]:
        """Iterate over the days."""
        return iter(self.entries)
