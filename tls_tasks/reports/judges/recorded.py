"""Recordings in files: the judge that reads one, and the one that keeps what another judge says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.reports.judges import recordings
from tls_tasks.reports.judges.files import read_rows, write_rows
from tls_tasks.reports.judges.recordings import record
from tls_tasks.reports.types import Judge, Query, Verdict


class Recorded(recordings.Recorded):
    """A judge that repeats what was recorded; see :class:`tls_tasks.reports.judges.recordings.Recorded`."""

    @classmethod
    def read(
        cls,
        path: str | Path,
        *,
        strict: bool = False,
        defaults: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> Recorded:
        """The judge of a recording in a file, JSON Lines.

        Raises:
            DataError: A file that can't be read, or a line that doesn't fit; names file and line.
        """
        numbered = list(read_rows(Path(path)))
        rows, places = [row for _, row in numbered], [place for place, _ in numbered]
        return cls(rows, strict=strict, defaults=defaults, name=name, places=places)


class Recorder:
    """Passes questions on to a judge and keeps what it says: a judged run is a recording.

    Args:
        judge: Who is asked.

    Example:
        >>> recorder = Recorder(Recorded([{"kind": "negative", "sentence": "Nobody knows.", "verdict": "YES"}]))
        >>> _ = recorder.ask([Query("negative", {"sentence": "Nobody knows."})])
        >>> [(row["kind"], row["verdict"]) for row in recorder.rows()]
        [('negative', 'YES')]
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._asked: list[tuple[Query, Verdict]] = []

    @property
    def name(self) -> str:
        """The judge's name."""
        return self.judge.name

    def ask(self, queries: Sequence[Query]) -> list[Verdict]:
        """What the judge says."""
        verdicts = list(self.judge.ask(queries))
        self._asked += zip(queries, verdicts, strict=True)
        return verdicts

    def rows(self, documents: bool = False) -> list[dict[str, Any]]:
        """The lines of the recording, in the order of asking.

        Args:
            documents: Whether the text of documents stands in them; the key tells them apart without it.
        """
        return [record(query, verdict, self.judge.name, documents) for query, verdict in self._asked]

    def write(self, path: str | Path, documents: bool = False) -> int:
        """Write the recording; returns how many lines it has."""
        return write_rows(Path(path), self.rows(documents))
