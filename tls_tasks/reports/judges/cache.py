"""Cache the verdicts of an endpoint in sqlite, so that an interrupted run asks and pays for no question twice.

A run resumes from this cache alone. It is inside the judge, since only the judge sees each answer when it arrives. A
recording (:mod:`~tls_tasks.reports.judges.recordings`) is written when a run is over.
"""

import json
import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.reports.types import Verdict

# A verdict outlives the process as soon as it is stored; a power cut may cost the last ones. There is a checksum since
# SQLite does not notice a byte that the disk has changed.
_TABLE = """
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS verdicts (
    request TEXT PRIMARY KEY, value REAL NOT NULL, raw TEXT NOT NULL, probability REAL, checksum TEXT NOT NULL
) WITHOUT ROWID;
"""
_SELECT = "SELECT * FROM verdicts WHERE request IN (SELECT value FROM json_each(?))"


class VerdictCache:
    """Verdicts by request; processes and threads may share a file.

    The key is a hash of model, messages and parameters, so that a changed prompt is a new question. Only readable
    verdicts are stored; a question without one is asked again. Two servers with different models of one name need two
    caches.

    Args:
        path: The file, created if it doesn't exist; None keeps verdicts in memory, as long as the object lives.

    Raises:
        DataError: The file can't be opened or written, or is not a cache.

    Example:
        >>> cache = VerdictCache()
        >>> cache.store("k", Verdict(True, raw="YES"))
        >>> cache.get(["k", "other"])
        {'k': Verdict(value=True, reason='', raw='YES', probability=None, cached=True)}
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self._label, self._lock = f"{path}: cache of verdicts", threading.Lock()
        with self._errors("; name another file as `cache`, or false to keep none"):
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            # Each statement is a transaction, for which others wait up to a minute; the lock takes care of threads.
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=60.0, isolation_level=None, check_same_thread=False
            )
            with suppress(sqlite3.OperationalError):  # raised where another process is just doing the same
                self._connection.execute("PRAGMA journal_mode = WAL")
            # A file that can't be written or read is refused now, not after the first answer.
            self._connection.executescript(_TABLE)
            self._connection.execute(_SELECT, ['[""]']).fetchall()

    def get(self, requests: Sequence[str]) -> dict[str, Verdict]:
        """Return the cached verdicts, by request.

        Raises:
            DataError: The file is damaged.
        """
        verdicts = {}
        for request, value, raw, probability, checksum in self._run(_SELECT, json.dumps(list(requests))):
            if checksum != _checksum(request, value, raw, probability):
                raise DataError(f"{self._label}: damaged: a verdict is not as it was written")
            verdicts[request] = Verdict(bool(value), "", raw, probability, cached=True)
        return verdicts

    def store(self, request: str, verdict: Verdict) -> None:
        """Store a verdict at once, unless it has no value or the request already has one.

        Raises:
            DataError: The file can't be written: the disk is full, or another process has locked it for a minute.
        """
        if verdict.value is not None:
            probability = None if verdict.probability is None else float(verdict.probability)
            values = (request, float(verdict.value), verdict.raw, probability)
            self._run("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", *values, _checksum(*values))

    def __len__(self) -> int:
        """Return the number of verdicts."""
        return int(self._run("SELECT count(*) FROM verdicts")[0][0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        """Execute one SQL statement and return its rows."""
        with self._lock, self._errors():
            return self._connection.execute(statement, values).fetchall()

    @contextmanager
    def _errors(self, advice: str = "") -> Iterator[None]:
        """Raise errors of the file as a DataError that names it."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
            message = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
            raise DataError(f"{self._label}: {message}{advice}") from error


def _checksum(*values: Any) -> str:
    return f"{zlib.crc32(repr(values).encode()):08x}"
