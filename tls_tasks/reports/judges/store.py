"""A collection of documents on disk: millions of them, not held in memory, each found in a tenth of a millisecond.

One sqlite file with a row per document, its text compressed, and an index on the ids. A compressed news article fits
into a page of 8 KB. (A table clustered by id would move the texts to overflow pages, where compression gains nothing.)
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError

_APPLICATION = 1953264757  # "tlsu": tells our files from other sqlite files
_SCHEMA = f"""
PRAGMA page_size = 8192;
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;
PRAGMA application_id = {_APPLICATION};
CREATE TABLE documents (id TEXT NOT NULL, packed BLOB NOT NULL);
"""


class DocumentStore(Mapping[str, dict[str, str]]):
    """A store written by :func:`build_store`: a mapping of document ids to ``{"title": …, "text": …}``.

    Threads and forked processes may share it.

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
        self.path = Path(path)
        if not self.path.is_file():
            raise DataError(f"{self.path}: no such file; tls-tasks build-store makes one")
        # Read-only and immutable: no locks, so that threads and forks may share it, and the disk may be read-only.
        uri = f"{self.path.resolve().as_uri()}?mode=ro&immutable=1"
        self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        try:
            ((application,),) = self._run("PRAGMA application_id")
        except sqlite3.DatabaseError as error:
            raise DataError(f"{self.path}: not a store of documents: {error}") from error
        if application != _APPLICATION:
            raise DataError(f"{self.path}: a database, but not a store of documents")

    def __getitem__(self, doc_id: str) -> dict[str, str]:
        """The document.

        Raises:
            KeyError: There is no document with this id.
            DataError: The file is damaged.
        """
        try:
            rows = self._run("SELECT packed FROM documents WHERE id = ?", doc_id)
        except UnicodeEncodeError:  # a lone surrogate: sqlite has UTF-8 only
            rows = []
        if not rows:
            raise KeyError(doc_id)
        try:
            document: dict[str, str] = json.loads(zlib.decompress(rows[0][0]).decode("utf-8", "surrogatepass"))
        except (zlib.error, ValueError) as error:
            raise DataError(f"{self.path}: document {doc_id!r} is damaged: {error}") from error
        return document

    def __iter__(self) -> Iterator[str]:
        """The ids, in the order in which the store was built."""
        for (doc_id,) in self._connection.execute("SELECT id FROM documents ORDER BY rowid"):
            yield doc_id

    def __len__(self) -> int:
        """How many documents there are."""
        return int(self._run("SELECT count(*) FROM documents")[0][0])

    def _run(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(statement, values).fetchall()


def build_store(path: str | Path, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    """Write a store; the memory that it takes doesn't grow with the collection.

    Args:
        path: The file to write. It appears when it is complete, and not before.
        documents: Pairs of id and document (``text``, and perhaps ``title``), such as those of
            :func:`~tls_tasks.reports.judges.documents.read_documents`.

    Returns:
        How many documents it has.

    Raises:
        DataError: A repeated id, or a disk that is full.
    """
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.unlink(missing_ok=True)
        try:
            n_documents = _fill(unfinished, documents)
            unfinished.replace(path)
        finally:
            unfinished.unlink(missing_ok=True)
    except (sqlite3.Error, OSError) as error:
        raise DataError(f"{path}: can't be written: {error}") from error
    return n_documents


def _fill(path: Path, documents: Iterable[tuple[str, Mapping[str, Any]]]) -> int:
    connection = sqlite3.connect(path)
    try:
        connection.executescript(_SCHEMA)
        rows = ((doc_id, _packed(document)) for doc_id, document in documents)
        connection.executemany("INSERT INTO documents VALUES (?, ?)", rows)
        try:
            connection.execute("CREATE UNIQUE INDEX by_id ON documents (id)")  # last: sorted once, on disk
        except sqlite3.IntegrityError:
            ((twice,),) = connection.execute("SELECT id FROM documents GROUP BY id HAVING count(*) > 1 LIMIT 1")
            raise DataError(f"document {twice!r} comes twice") from None
        connection.commit()
        return int(connection.execute("SELECT count(*) FROM documents").fetchone()[0])
    finally:
        connection.close()


def _packed(document: Mapping[str, Any]) -> bytes:
    kept = {"title": document.get("title") or "", "text": document["text"]}
    return zlib.compress(json.dumps(kept, ensure_ascii=False).encode("utf-8", "surrogatepass"))
