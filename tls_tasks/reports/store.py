"""What judges keep on disk, in sqlite: verdicts that were given, and documents by the million.

Threads may share both.
"""

import json
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError, memory_for, warn_caller
from tls_tasks.core.whole import replaced
from tls_tasks.reports.types import PARTLY, Verdict

# Verdicts outlive the process; a power cut may cost the last ones. The column `line` holds a checksum: SQLite does not
# notice a byte that the disk has changed. tls-tasks 0.1.0 wrote a line of JSON there, later ones nothing.
_VERDICTS = """
PRAGMA synchronous = NORMAL;
CREATE TABLE IF NOT EXISTS verdicts (
    request TEXT PRIMARY KEY, value INTEGER NOT NULL, raw TEXT NOT NULL, probability REAL, line TEXT NOT NULL
) WITHOUT ROWID;
"""

_KNOWN = "SELECT * FROM verdicts WHERE request IN (SELECT value FROM json_each(?))"

# A compressed news article fits into a page of 8 KB. A table clustered by id would move the texts to overflow pages,
# where compression gains nothing; an index that is made at the end is sorted once, on disk.
_DOCUMENTS = """
PRAGMA page_size = 8192;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
CREATE TABLE documents (id TEXT NOT NULL, packed BLOB NOT NULL, checksum TEXT NOT NULL);
"""


class VerdictCache:
    """Verdicts by request: whatever happens to a run, a question that a judge has answered is not asked again.

    Several processes may use a file at a time. The key is a hash of model, messages and parameters, so that a changed
    prompt is a new question. Only readable verdicts are kept; a question without one is asked again. Two servers with
    different models of one name need two caches.

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
        self._label = f"{path}: cache of verdicts"
        self._lock = threading.Lock()
        with _naming(self._label, "; name another file as `cache`, or false to keep none"):
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            # Each statement is a transaction, for which others wait up to a minute; the lock takes care of threads.
            self._connection = sqlite3.connect(
                path or ":memory:", timeout=60.0, isolation_level=None, check_same_thread=False
            )
            with suppress(sqlite3.OperationalError):  # SQLite does not wait for a process that does the same just now
                self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.executescript(_VERDICTS)  # writes, so that what can't be written is refused now
            self._connection.execute(_KNOWN, ['[""]']).fetchall()  # and what can't be read

    def get(self, requests: Sequence[str]) -> dict[str, Verdict]:
        """The verdicts that are known, by request.

        Raises:
            DataError: The file is damaged.
        """
        verdicts = {}
        for request, value, raw, probability, line in self._run(_KNOWN, json.dumps(list(requests))):
            if line not in (_checksum(request, value, raw, probability), "") and not str(line).startswith("{"):
                raise DataError(f"{self._label}: damaged: a verdict is not as it was written")
            verdicts[request] = Verdict(value if value == PARTLY else bool(value), "", raw, probability, cached=True)
        return verdicts

    def store(self, request: str, verdict: Verdict) -> None:
        """Keep a verdict at once, unless it has no value or the request already has one.

        Raises:
            DataError: The file can't be written: the disk is full, or another process has locked it for a minute.
        """
        if verdict.value is not None:
            probability = None if verdict.probability is None else float(verdict.probability)
            value = verdict.value if verdict.value == PARTLY else int(verdict.value)
            values = (request, value, verdict.raw, probability)
            self._run("INSERT OR IGNORE INTO verdicts VALUES (?, ?, ?, ?, ?)", *values, _checksum(*values))

    def __len__(self) -> int:
        """How many verdicts there are."""
        return int(self._run("SELECT count(*) FROM verdicts")[0][0])

    def close(self) -> None:
        """Close the file."""
        self._connection.close()

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock, _naming(self._label):
            return self._connection.execute(statement, values).fetchall()


def _checksum(*values: Any) -> str:
    return f"{zlib.crc32(repr(values).encode()):08x}"


class DocumentStore(Mapping[str, dict[str, str]]):
    """A store written by :func:`build_store`: a mapping of document ids to ``{"title": …, "text": …}``.

    Nothing is held in memory, and each document is found in a tenth of a millisecond. Forked processes may share it.

    Args:
        path: The file.

    Raises:
        DataError: It doesn't exist, or is not a store.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "documents.sqlite"
        >>> build_store(path, [("d1", {"title": "Talks", "text": "They ended."})])
        1
        >>> store = DocumentStore(path)
        >>> store["d1"], "d2" in store, len(store)
        ({'title': 'Talks', 'text': 'They ended.'}, False, 1)
    """

    def __init__(self, path: str | Path) -> None:
        if not Path(path).is_file():
            raise DataError(f"{path}: no such file; tls-tasks build-store makes one")
        self._label = f"{path}: store of documents"
        # Read-only and immutable: no locks, so that threads and forks may share it, and the disk may be read-only.
        uri = f"{Path(path).resolve().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        with _naming(self._label):  # any other file is refused now
            columns = self._connection.execute("SELECT packed, * FROM documents WHERE id = ''").description
        if len(columns) < 4:
            told = "without checksums, as tls-tasks 0.2 wrote it; tls-tasks build-store makes one with them"
            warn_caller(f"{self._label} {told}", UserWarning)
        self._is_checked = False

    def __getitem__(self, doc_id: str) -> dict[str, str]:
        """The document.

        Raises:
            KeyError: There is no document with this id.
            DataError: The file is damaged.
        """
        with _naming(f"{self._label}: document {doc_id!r}", "; build it again: tls-tasks build-store"):
            try:
                [(_, packed, *checksum)] = self._connection.execute("SELECT * FROM documents WHERE id = ?", (doc_id,))
            except ValueError:  # no row; or a lone surrogate: sqlite has UTF-8 only
                self._check_index()
                raise KeyError(doc_id) from None
            if checksum not in ([], [_checksum(doc_id, packed)]):
                raise sqlite3.DatabaseError("damaged: it is not as it was written")
            document: dict[str, str] = json.loads(zlib.decompress(packed).decode("utf-8", "surrogatepass"))
        return document

    def _check_index(self) -> None:
        """Refuse a damaged index, which may lack a document. The first missing id has the whole file read, once."""
        if not self._is_checked:
            [(told, *_), *_] = self._connection.execute("PRAGMA integrity_check(documents)")
            if told != "ok":
                raise sqlite3.DatabaseError(f"damaged: {told}")
            self._is_checked = True

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order in which the store was built."""
        with _naming(self._label):
            yield from (doc_id for (doc_id,) in self._connection.execute("SELECT id FROM documents ORDER BY rowid"))

    def __len__(self) -> int:
        """How many documents there are."""
        with _naming(self._label):
            return int(self._connection.execute("SELECT count(*) FROM documents").fetchone()[0])


def build_store(path: str | Path, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    """Write a store; the memory that it takes doesn't grow with the collection.

    Args:
        path: The file to write. It appears when it is complete, and not before.
        documents: Pairs of id and document (``text``, and perhaps ``title``), such as those of
            :func:`~tls_tasks.reports.documents.read_documents`.

    Returns:
        How many documents it has.

    Raises:
        DataError: A repeated id, or a disk that is full.
    """
    with _naming(str(path)), replaced(Path(path)) as file, closing(sqlite3.connect(file)) as connection:
        connection.executescript(_DOCUMENTS)
        connection.executemany("INSERT INTO documents VALUES (?, ?, ?)", map(_packed, documents))
        n_documents = connection.total_changes
        try:
            connection.execute("CREATE UNIQUE INDEX by_id ON documents (id)")
        except sqlite3.IntegrityError:
            (twice,) = connection.execute("SELECT id FROM documents GROUP BY id HAVING count(*) > 1").fetchone()
            raise DataError(f"document {twice!r} comes twice") from None
        connection.commit()
    return n_documents


def _packed(row: tuple[str, Mapping[str, Any]]) -> tuple[str, bytes, str]:
    doc_id, document = row
    kept = {"title": document.get("title") or "", "text": document["text"]}
    with memory_for(f"document {doc_id!r}"):
        packed = zlib.compress(json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        return doc_id, packed, _checksum(doc_id, packed)


@contextmanager
def _naming(place: str, advice: str = "") -> Iterator[None]:
    """Raise trouble with a file as a DataError that says which."""
    try:
        yield
    except (sqlite3.Error, zlib.error, UnicodeDecodeError, json.JSONDecodeError, OSError) as error:
        words = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
        raise DataError(f"{place}: {words}{advice}") from error
