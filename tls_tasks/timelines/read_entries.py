"""What the readers of timelines share: an entry as it was written, before any policy, and the names of its parts."""

from __future__ import annotations

from typing import NamedTuple

from tls_tasks.text.dates import DateExpression

DATE_KEYS = ("date", "start", "start_date", "event_date", "datetime", "timestamp", "time", "day", "when")
"""Names of a date in JSON, YAML and table headers; the first one present is taken."""

END_KEYS = ("end", "end_date")
"""Names of the last day of a range."""

TEXT_KEYS = ("text", "summary", "event", "events", "description", "content", "sentences", "sentence", "details")
"""Names of an entry's text; all that are present are taken."""

TITLE_KEYS = ("headline", "title", "heading", "news", "body")
"""Names of a text that is taken if none of :data:`TEXT_KEYS` is present."""


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
