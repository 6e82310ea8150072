"""Timelines: days in ascending order, each with its daily summary."""

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
        ValueError: The dates are not strictly ascending (use :meth:`of`, which sorts and merges).

    Example:
        >>> from datetime import date
        >>> timeline = Timeline.of([(date(2011, 1, 28), ["The army is deployed."]), (date(2011, 1, 25), ["Protests."])])
        >>> timeline.dates
        (datetime.date(2011, 1, 25), datetime.date(2011, 1, 28))
        >>> len(timeline), timeline.n_sentences
        (2, 2)
    """

    entries: tuple[TimelineEntry, ...] = ()

    def __post_init__(self) -> None:
        """Check the order once, so that scorers don't have to."""
        for earlier, later in itertools.pairwise(self.dates):
            if earlier >= later:
                raise ValueError(f"timeline dates must strictly rise, got {earlier} before {later}; use Timeline.of")

    @classmethod
    def of(
        cls, days: Mapping[datetime.date, Iterable[str]] | Iterable[tuple[datetime.date, Iterable[str]]]
    ) -> Timeline:
        """Build a timeline from days in any order; the sentences of a repeated date are joined."""
        pairs = days.items() if isinstance(days, Mapping) else days
        merged: dict[datetime.date, list[str]] = {}
        for day, sentences in pairs:
            merged.setdefault(day, []).extend(sentences)
        return cls(tuple(TimelineEntry(day, tuple(merged[day])) for day in sorted(merged)))

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
        """All sentences, with blanks between them."""
        return " ".join(itertools.chain.from_iterable(sentences for _, sentences in self.entries))

    def as_rows(self) -> list[dict[str, object]]:
        """The timeline as JSON-ready rows ``{"date": "2011-01-25", "text": [sentence, …]}``."""
        return [{"date": entry.date.isoformat(), "text": list(entry.sentences)} for entry in self.entries]

    def __len__(self) -> int:
        """The number of dates."""
        return len(self.entries)

    def __iter__(self) -> Iterator[TimelineEntry]:
        """Iterate over the days."""
        return iter(self.entries)
