"""Requests for reports, their nuggets and their documents, as JSON Lines in one folder.

``requests.jsonl``, a request a line::

    {"request_id": "e01", "collection_id": "embedded/coast", "title": …, "background": …, "problem_statement": …,
     "limit": 1000, "doc_ids": ["coast-01", …]}

``limit`` (characters of the report) and ``doc_ids`` (the documents that the prompt shows, such as the results of a
search) are optional; without ``doc_ids`` the prompt shows the collection. ``nuggets.jsonl`` has a request a line in any
form that :mod:`tls_tasks.reports.nuggets` reads, ``documents.jsonl`` a document a line: ``id``, ``text``, optionally
``title`` and ``collection``. Each file may be ``.jsonl.gz``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import json_lines
from tls_tasks.reports.documents import canonical_collection

_REQUEST_IDS = ("request_id", "topic_id", "query_id", "id")
_NUGGET_IDS = ("query_id", "request_id", "topic_id")
_DOCUMENT_IDS = ("id", "doc_id", "docno")
_COLLECTIONS = ("collection_id", "collection", "collection_ids")


class RequestRow(NamedTuple):
    """A request as it is asked.

    Attributes:
        doc_id: Its id.
        collection_id: Where its documents are; empty if there is only one collection.
        title: A few words.
        background: Who asks, and why.
        problem_statement: What the report must tell.
        limit: Characters that a report may have; 0: no limit.
        nuggets: The row of the nugget file as JSON; empty if there is none.
        shown: Ids of the documents that the prompt shows, in order; None: those of the collection.
    """

    doc_id: str
    collection_id: str
    title: str
    background: str
    problem_statement: str
    limit: int
    nuggets: str
    shown: Mapping[str, None] | None


class DocumentRow(NamedTuple):
    """A document of a collection."""

    id: str
    title: str
    text: str


def read_requests(folder: Path) -> tuple[RequestRow, ...]:
    """The requests of a folder with their nuggets, in the order of the file.

    Raises:
        DataError: No requests, a row that lacks a field, an id that occurs twice; names file, line and field.
    """
    nuggets: dict[str, str] = {}
    for where, row in _rows(folder, "nuggets", needed=False):
        # Of two rows of a request the first counts, as in report_gen_eval.
        nuggets.setdefault(_text(row, _NUGGET_IDS, where, needed=True), json.dumps(row, ensure_ascii=False))
    requests = tuple(_request(where, row, nuggets) for where, row in _rows(folder, "requests"))
    if not requests:
        raise DataError(f"{folder}: no request in requests.jsonl")
    doc_id, n_rows = Counter(request.doc_id for request in requests).most_common(1)[0]
    if n_rows > 1:
        raise DataError(f"{folder}: {n_rows} requests have the id {doc_id!r}, expected one")
    return requests


def read_shown(folder: Path, requests: Sequence[RequestRow], budget: int) -> dict[str, dict[str, DocumentRow]]:
    """The documents that prompts can show, read in one pass that keeps no others.

    Args:
        folder: With ``documents.jsonl``.
        requests: All requests.
        budget: Characters of documents in a prompt.

    Returns:
        Id of a request -> document id -> document: those that it names, or of its collection the first that fill the
        budget.

    Raises:
        DataError: No documents, or an invalid row.
    """
    kept: dict[str, dict[str, DocumentRow]] = {request.doc_id: {} for request in requests}
    spent = dict.fromkeys(kept, 0)
    for where, row in _rows(folder, "documents"):
        document = DocumentRow(
            _text(row, _DOCUMENT_IDS, where, needed=True),
            _text(row, ("title",), where),
            _text(row, ("text",), where, needed=True),
        )
        collection = _collection(row, where)
        for request in requests:
            if collection and request.collection_id not in ("", collection):
                continue
            if document.id in kept[request.doc_id]:
                raise DataError(f"{where}: a second document with the id {document.id!r}")
            if spent[request.doc_id] <= budget if request.shown is None else document.id in request.shown:
                kept[request.doc_id][document.id] = document
                spent[request.doc_id] += len(document.title) + len(document.text)
    return kept


def _rows(folder: Path, name: str, *, needed: bool = True) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a file, plain or gzip, each with its place for messages."""
    files = (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
    file = next((file for file in files if file.is_file()), None)
    if file is None and needed:
        raise DataError(f"{folder}: no {name}.jsonl; a folder has requests, documents and maybe nuggets (.jsonl)")
    for where, row in json_lines(file) if file else ():
        if not isinstance(row, Mapping):
            raise DataError(f"{where}: expected an object, got {type(row).__name__}")
        yield where, row


def _request(where: str, row: Mapping[str, Any], nuggets: Mapping[str, str]) -> RequestRow:
    doc_id = _text(row, _REQUEST_IDS, where, needed=True)
    limit, shown = row.get("limit"), row.get("doc_ids")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise DataError(f"{where}: limit must be a whole number above 0, got {limit!r}")
    if shown is not None and not (isinstance(shown, list) and all(isinstance(member, str) for member in shown)):
        raise DataError(f"{where}: doc_ids must be a list of ids, got {shown!r:.60}")
    return RequestRow(
        doc_id,
        _collection(row, where),
        _text(row, ("title", "query_text"), where),
        _text(row, ("background",), where),
        _text(row, ("problem_statement", "problem statement"), where, needed=True),
        limit or 0,
        nuggets.get(doc_id, ""),
        None if shown is None else dict.fromkeys(shown),
    )


def _text(row: Mapping[str, Any], names: Iterable[str], where: str, *, needed: bool = False) -> str:
    value = next((row[name] for name in names if row.get(name) is not None), None)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # ids are compared as strings
    if isinstance(value, str) and (value.strip() or not needed):
        return value
    if value is None and not needed:
        return ""
    raise DataError(f"{where}: {'/'.join(names)} must be text, got {value!r:.60}")


def _collection(row: Mapping[str, Any], where: str) -> str:
    value = next((row[name] for name in _COLLECTIONS if row.get(name)), "")
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if not isinstance(value, str):
        raise DataError(f"{where}: collection_id must be one id, got {value!r:.60}")
    return canonical_collection(value)
