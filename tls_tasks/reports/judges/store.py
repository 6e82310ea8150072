"""A collection of documents on disk: millions of them, none in memory, each found in a tenth of a millisecond.

One sqlite file: a row a document, its text packed by zlib, an index on the id. Pages are 8 KB, which a packed news
article fits into. (A table clustered by id would move the text to overflow pages and gain nothing by packing.)
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError

_SCHEMA = """
PRAGMA page_size = 8192;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA application_id = 1953264757;
CREATE TABLE documents (id TEXT NOT NULL, packed BLOB NOT NULL);
"""
_APPLICATION = 1953264757  # "tlsu": what tells our files from other sqlite files
_AT_ONCE = 1000  # rows a transaction, so that memory stays small


class DocumentStore(Mapping[str, dict[str, str]]):
    """A store that :func:`build_store` wrote; a mapping of document ids to ``{"title": …, "text": …}``.

    Threads may share it, and it goes through a fork: each thread of each process has a connection of its own.

    Args:
        path: The file.

    Raises:
        DataError: It isn't there, or is no store.

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
        self.path = Path(path)
        if not self.path.is_file():
            raise DataError(f"{self.path}: no such file; tls-tasks build-store makes one")
        self._local = threading.local()
        try:
            ((application,),) = self._run("PRAGMA application_id")
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path}: no store of documents: {error}") from error
        if application != _APPLICATION:
            raise DataError(f"{self.path}: a database, but no store of documents")

    def __getitem__(self, doc_id: str) -> dict[str, str]:
        """The document.

        Raises:
            KeyError: There is none of this id.
            DataError: The file is damaged.
        """
        rows = self._run("SELECT packed FROM documents WHERE id = ?", (doc_id,)) if _sendable(doc_id) else []
        if not rows:
            raise KeyError(doc_id)
        try:
            document: dict[str, str] = json.loads(zlib.decompress(rows[0][0]).decode("utf-8", "surrogatepass"))
        except (zlib.error, ValueError) as error:
            raise DataError(f"{self.path}: document {doc_id!r} is damaged: {error}") from error
        return document

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order of building."""
        last = 0
        while rows := self._run("SELECT rowid, id FROM documents WHERE rowid > ? ORDER BY rowid LIMIT 1000", (last,)):
            yield from (doc_id for _, doc_id in rows)
            last = rows[-1][0]

    def __len__(self) -> int:
        """How many documents there are."""
        return int(self._run("SELECT count(*) FROM documents")[0][0])

    def _run(self, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        local = self._local
        if getattr(local, "process", None) != os.getpid():
            # Read only, and never changed after it was built: no locks, so that it may lie on a read-only disk.
            local.connection = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
            local.process = os.getpid()
        return list(local.connection.execute(statement, values).fetchall())


def build_store(path: str | Path, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    """Write a store, in memory that doesn't grow with the collection.

    Args:
        path: The file to write; it stands there when all is in it, and not before.
        documents: Pairs of id and document (``text``, maybe ``title``), such as
            :func:`~tls_tasks.reports.judges.documents.read_documents` gives.

    Returns:
        How many documents are in it.

    Raises:
        DataError: An id that comes twice, or a disk that is full.
    """
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        n_documents = _fill(unfinished, documents)
        unfinished.replace(path)
    except (sqlite3.Error, OSError) as error:
        raise DataError(f"{path}: can't be written: {error}") from error
    finally:
        with contextlib.suppress(OSError):
            unfinished.unlink(missing_ok=True)
    return n_documents


def _fill(path: Path, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    connection = sqlite3.connect(path, isolation_level=None)
    try:
        connection.executescript(_SCHEMA)
        rows = ((doc_id, _pack(document)) for doc_id, document in documents)
        while part := list(islice(rows, _AT_ONCE)):
            connection.execute("BEGIN")
            connection.executemany("INSERT INTO documents VALUES (?, ?)", part)
            connection.execute("COMMIT")
        try:
            connection.execute("CREATE UNIQUE INDEX by_id ON documents (id)")  # at the end: sorted once, on disk
        except sqlite3.IntegrityError:
            ((twice,),) = connection.execute("SELECT id FROM documents GROUP BY id HAVING count(*) > 1 LIMIT 1")
            raise DataError(f"document {twice!r} comes twice") from None
        return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    finally:
        connection.close()


def _pack(document: Mapping[str, Any]) -> bytes:
    kept = {"title": document.get("title") or "", "text": document["text"]}
    return zlib.compress(json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))


def _sendable(doc_id: object) -> bool:
    """Whether sqlite can look for it: half a surrogate pair is no UTF-8."""
    try:
        return isinstance(doc_id, str) and bool(doc_id.encode())
    except UnicodeEncodeError:
        return False
