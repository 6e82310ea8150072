"""One entry of a timeline in model text, and what models call its parts."""

from __future__ import annotations

from typing import NamedTuple

from tls_tasks.text.dates import DateExpression, Known

UNKNOWN = Known()
"""No year, no month."""

DATE_KEYS = ("date", "start", "start_date", "event_date", "datetime", "timestamp", "time", "day", "when")
"""Names of a date in JSON, XML and table headers; the first one present is taken."""

END_KEYS = ("end", "end_date")
"""Names of the last day of a range."""

TEXT_KEYS = tuple(
    "text summary event events description content sentences sentence details headline title heading news body".split()
)
"""Names of an entry's text; all that are present are taken."""

ASIDE_KEYS = tuple(
    "id no nr number source sources url link links reference references ref refs citation citations confidence"
    " importance category type tags".split()
)
"""Names of what stands beside an entry's text and is no part of it."""


class RawEntry(NamedTuple):
    """One entry of a timeline in model text.

    Attributes:
        expression: Its date, None if the date can't be read.
        written: The date as written; empty if there is none.
        sentences: Its text.
    """

    expression: DateExpression | None
    written: str
    sentences: tuple[str, ...]
