"""The cache of verdicts: whatever happens to a run, a question that a judge has answered is not asked again.

One sqlite file in WAL mode. Several processes and threads may use it at a time, and what was written survives the
process. The key is a hash of model, messages and parameters, so that a changed prompt is a new question. Only readable
verdicts are kept; a question without one is asked again. Two servers with different models of one name need two caches.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.reports.types import Verdict

# The column `line` is unused; tls-tasks 0.1.0 wrote it.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    request TEXT PRIMARY KEY, value INTEGER NOT NULL, raw TEXT NOT NULL, probability REAL, line TEXT NOT NULL
) WITHOUT ROWID
"""


class VerdictCache:
    """Verdicts by request.

    Args:
        path: The file, created if it doesn't exist; None keeps verdicts in memory, as long as the object lives.

    Raises:
        DataError: The file can't be opened, or is not a cache.

    Example:
        >>> cache = VerdictCache()
        >>> cache.store("k", Verdict(True, raw="YES"))
        >>> cache.get(["k", "other"])
        {'k': Verdict(value=True, reason='', raw='YES', probability=None, cached=True)}
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = None if path is None else Path(path)
        self._lock = threading.Lock()
        try:
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = sqlite3.connect(
                self.path or ":memory:",
                timeout=60.0,  # for other processes to finish writing, which takes them microseconds
                isolation_level=None,  # each statement is a transaction
                check_same_thread=False,  # the lock takes care of that
            )
            self._connection.execute("PRAGMA journal_mode=WAL")
            # Verdicts outlive the process; a power cut may cost the last ones.
            self._connection.execute("PRAGMA synchronous=NORMAL")
            self._connection.execute(_SCHEMA)
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{self.path}: can't be used as a cache of verdicts: {error}") from error

    def get(self, requests: Sequence[str]) -> dict[str, Verdict]:
        """The verdicts that are known, by request."""
        rows = self._run(
            "SELECT request, value, raw, probability FROM verdicts WHERE request IN (SELECT value FROM json_each(?))",
            json.dumps(list(requests)),
        )
        return {
            request: Verdict(bool(value), "", raw, probability, cached=True)
            for request, value, raw, probability in rows
        }

    def store(self, request: str, verdict: Verdict) -> None:
        """Keep a verdict at once, unless it has no value or the request already has one.

        Raises:
            DataError: The file can't be written: the disk is full, or another process has locked it for a minute.
        """
        if verdict.value is not None:
            values = (request, int(verdict.value), verdict.raw, verdict.probability)
            self._run("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, '')", *values)

    def __len__(self) -> int:
        """How many verdicts there are."""
        return int(self._run("SELECT count(*) FROM verdicts")[0][0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            try:
                return self._connection.execute(statement, values).fetchall()
            except sqlite3.Error as error:
                raise DataError(f"{self.path}: cache of verdicts: {error}") from error
