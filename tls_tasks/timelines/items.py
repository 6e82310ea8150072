"""What the timeline metrics share: rows in, (row, reference) pairs out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.core.errors import InputError, OptionError, ParseFailureWarning
from tls_tasks.core.parsed import Parsed
from tls_tasks.timelines.read import DEFAULT_POLICY, TimelinePolicy
from tls_tasks.timelines.rows import read_prediction, read_references
from tls_tasks.timelines.types import Timeline

REFERENCE_MODES = ("separate", "joint")
"""``separate``: one item a reference; ``joint``: one item a row, scored against all its references at once."""

NO_TIMELINE = Timeline()


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
        """The predicted timeline; empty where nothing could be read, which scores 0."""
        return self.parsed.value if self.parsed.value is not None else NO_TIMELINE

    def groups(self, mode: str) -> Iterator[tuple[int | None, tuple[Timeline, ...]]]:
        """The references that are scored together, each group with its number (None: all)."""
        if mode == "joint":
            yield None, self.references
        else:
            for position, reference in enumerate(self.references):
                yield position, (reference,)


def read_rows(
    predictions: Sequence[Any],
    references: Sequence[Any],
    topics: Sequence[str] | None,
    reference_mode: str,
    policy: TimelinePolicy | None,
) -> list[TimelineRow]:
    """Read all rows; see :mod:`tls_tasks.timelines.rows` for their forms.

    Raises:
        InputError: Columns of unequal length, or a row that doesn't fit.
        OptionError: The reference mode doesn't exist.

    Warns:
        ParseFailureWarning: Where predictions could not be read, with their number.
    """
    if reference_mode not in REFERENCE_MODES:
        raise OptionError.unknown("reference_mode", reference_mode, REFERENCE_MODES)
    n_rows = _column_length("predictions", predictions)
    for name, column in (("references", references), ("topics", topics)):
        if column is not None and _column_length(name, column) != n_rows:
            raise InputError(name, None, f"{len(column)} rows", f"{n_rows}, as many as predictions")
    policy = policy or DEFAULT_POLICY
    rows = [
        TimelineRow(
            index,
            None if topics is None else str(topics[index]),
            read_prediction(predictions[index], index, policy),
            read_references(references[index], index, policy),
        )
        for index in range(n_rows)
    ]
    failed = [row.index for row in rows if row.parsed.failed]
    if failed:
        warnings.warn(
            f"{len(failed)} of {n_rows} predictions could not be read as timelines and score 0: rows {failed[:10]}"
            + (" …" if len(failed) > 10 else ""),
            ParseFailureWarning,
            stacklevel=3,
        )
    return rows


def _column_length(name: str, column: Any) -> int:
    if isinstance(column, str | bytes) or not hasattr(column, "__len__") or not hasattr(column, "__getitem__"):
        raise InputError(name, None, type(column).__name__, "a list with one row a document")
    return len(column)


def empty_flags(prediction: Timeline, references: Sequence[Timeline]) -> tuple[str, ...]:
    """``empty_prediction`` and ``empty_reference``: no dates at all on one side, so 0 by definition."""
    flags = []
    if not prediction:
        flags.append("empty_prediction")
    if not any(references):
        flags.append("empty_reference")
    return tuple(flags)


def problems_of(rows: Sequence[TimelineRow]) -> dict[int, dict[str, int]]:
    """Row -> kind of trouble -> how often, for the rows that had any."""
    return {row.index: row.parsed.counts() for row in rows if row.parsed.problems}
