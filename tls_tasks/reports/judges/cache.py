"""The cache of verdicts: every question that a judge has answered is asked once, whatever happens to the run.

One sqlite file in WAL mode: several processes and threads may use it at a time, and what has been written is there
after the process was killed. The key is a hash of model, messages and parameters (:func:`~tls_tasks.reports.judges.keys
.request_key`), so that a change of prompt asks anew by itself. Only verdicts that could be read are kept: trouble is
tried again. Two servers that serve different models under one name need two caches.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.reports.judges.files import read_rows, write_rows
from tls_tasks.reports.judges.recordings import record
from tls_tasks.reports.judges.verdicts import shorten
from tls_tasks.reports.types import Query, Verdict

_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    request TEXT PRIMARY KEY, value INTEGER NOT NULL, raw TEXT NOT NULL, probability REAL, line TEXT NOT NULL
) WITHOUT ROWID
"""
_STORE = "INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)"
_WAIT = 60.0  # seconds for another process to finish writing; each write takes microseconds
_AT_ONCE = 500  # sqlite allows 999 variables in a query
_INHERITED: list[sqlite3.Connection] = []


class VerdictCache:
    """Verdicts by request.

    Args:
        path: The file, made if it isn't there; None keeps them in memory for as long as the object lives.

    Raises:
        DataError: The file can't be opened, or is no cache.

    Example:
        >>> cache = VerdictCache()
        >>> query = Query("negative", {"sentence": "s"})
        >>> cache.store("k", query, Verdict(True, raw="YES"), "gpt-x")
        >>> cache.get(["k", "other"])
        {'k': Verdict(value=True, reason='', raw='YES', probability=None, cached=True)}
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        self._open()

    def get(self, requests: Sequence[str]) -> dict[str, Verdict]:
        """The verdicts that are known, by request."""
        found = {}
        for start in range(0, len(requests), _AT_ONCE):
            part = requests[start : start + _AT_ONCE]
            marks = ",".join("?" * len(part))
            for request, value, raw, probability in self._run(
                f"SELECT request, value, raw, probability FROM verdicts WHERE request IN ({marks})",  # noqa: S608
                tuple(part),
            ):
                found[request] = Verdict(bool(value), "", raw, probability, cached=True)
        return found

    def store(self, request: str, query: Query, verdict: Verdict, judge: str) -> None:
        """Keep a verdict at once; one that could not be read is not kept, and one that is there stays.

        Raises:
            DataError: The file can't be written: the disk is full, or it is locked for a minute.
        """
        if verdict.value is None:
            return
        line = record(query, verdict, judge)
        values = (request, int(verdict.value), verdict.raw, verdict.probability, json.dumps(line))
        self._run(_STORE, values)

    def __len__(self) -> int:
        """How many verdicts there are."""
        return int(self._run("SELECT count(*) FROM verdicts")[0][0])

    def export(self, path: str | Path) -> int:
        """Write all verdicts as a recording, which :meth:`load` and ``Recorded`` read; returns how many."""
        return write_rows(Path(path), self._lines())

    def load(self, path: str | Path) -> int:
        """Read a recording that :meth:`export` wrote; verdicts that are there stay.

        Returns:
            How many verdicts are new.

        Raises:
            DataError: A line without ``request``: a hash of model, messages and parameters, which only an export has.
        """
        before = len(self)
        for place, row in read_rows(Path(path)):
            request, verdict = row.pop("request", None), row.get("verdict")
            if not isinstance(request, str) or verdict not in ("YES", "NO"):
                raise DataError(f"{place}: expected request and verdict (YES or NO), as the export of a cache has them")
            values = (
                request,
                int(verdict == "YES"),
                shorten(str(row.get("raw", ""))),
                row.get("probability"),
                json.dumps(row),
            )
            self._run(_STORE, values)
        return len(self) - before

    def close(self) -> None:
        """Close the file; it may be deleted then."""
        with self._lock:
            self._connection.close()

    def _lines(self) -> Iterator[Mapping[str, Any]]:
        for request, line in self._run("SELECT request, line FROM verdicts ORDER BY request"):
            yield {"request": request, **json.loads(line)}

    def _open(self) -> None:
        self._process = os.getpid()
        try:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                ":memory:" if self.path is None else self.path,
                timeout=_WAIT,
                isolation_level=None,  # each statement is a transaction of its own
                check_same_thread=False,  # the lock sees to it
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            # Written to the system at each verdict: outlives the process. A power cut may cost the last ones.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{self.path}: can't be used as a cache of verdicts: {error}") from error

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        if self._process != os.getpid():  # sqlite forbids to use a connection that came through a fork, or to close it
            _INHERITED.append(self._connection)
            self._lock = threading.Lock()
            self._open()
        with self._lock:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise DataError(f"{self.path}: cache of verdicts: {error}") from error
