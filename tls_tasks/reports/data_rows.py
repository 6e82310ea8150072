"""Requests for reports, their nuggets and their documents, as JSON Lines in one folder.

``requests.jsonl``, a request a line::

    {"request_id": "e01", "collection_id": "embedded/coast", "title": …, "background": …, "problem_statement": …,
     "limit": 1000, "doc_ids": ["coast-01", …]}

``limit`` (characters of the report) and ``doc_ids`` (the documents that the prompt shows, such as what a search found)
may be absent; without ``doc_ids`` the prompt shows the collection. ``nuggets.jsonl`` has a request a line in any form
that :mod:`tls_tasks.reports.nuggets` reads, ``documents.jsonl`` a document a line: ``id``, ``text``, maybe ``title``
and ``collection``. Each file may be ``.jsonl.gz``.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError
from tls_tasks.data.files import json_lines
from tls_tasks.reports.documents import canonical_collection

REQUEST_IDS = ("request_id", "topic_id", "query_id", "id")
NUGGET_IDS = ("query_id", "request_id", "topic_id")
DOCUMENT_IDS = ("id", "doc_id", "docno")
COLLECTIONS = ("collection_id", "collection", "collection_ids")


@dataclass(frozen=True, slots=True)
class RequestRow:
    """One request as it is asked.

    Attributes:
        request_id: Its id.
        collection_id: Where its documents are; empty where there is one collection.
        title: A few words.
        background: Who asks, and why.
        problem_statement: What the report must tell.
        limit: Characters that a report may have; None where there is no limit.
        doc_ids: The documents that the prompt shows, in order; None: those of the collection.
        nuggets: The row of the nugget file as JSON; empty where there is none.
    """

    request_id: str
    collection_id: str
    title: str
    background: str
    problem_statement: str
    limit: int | None
    doc_ids: Mapping[str, None] | None
    nuggets: str


class DocumentRow(NamedTuple):
    """One document of a collection."""

    id: str
    title: str
    text: str


def row_file(folder: Path, name: str) -> Path | None:
    """The file of rows called ``name``, plain or gzip; None where there is none."""
    files = (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
    return next((file for file in files if file.is_file()), None)


def read_requests(folder: Path) -> tuple[RequestRow, ...]:
    """The requests of a folder with their nuggets, in the order of the file.

    Raises:
        DataError: No requests, a row that lacks a field, an id that occurs twice; names file, line and field.
    """
    file = row_file(folder, "requests")
    if file is None:
        raise DataError(
            f"{folder}: no requests.jsonl; a folder of requests has requests, nuggets and documents (.jsonl)"
        )
    nuggets = _nugget_rows(folder)
    requests = tuple(_request(where, row, nuggets) for where, row in json_lines(file))
    if not requests:
        raise DataError(f"{file}: no request in it")
    request_id, n_rows = Counter(request.request_id for request in requests).most_common(1)[0]
    if n_rows > 1:
        raise DataError(f"{file}: {n_rows} requests have the id {request_id!r}, expected one")
    return requests


def read_shown(folder: Path, requests: Sequence[RequestRow], budget: int) -> dict[str, dict[str, DocumentRow]]:
    """The documents that prompts can show, read in one pass that keeps no others.

    Args:
        folder: With ``documents.jsonl``.
        requests: All requests.
        budget: Characters of documents in a prompt.

    Returns:
        Request id -> document id -> document: those in ``doc_ids``, or of the collection the first that fill the
        budget.

    Raises:
        DataError: No documents, or an invalid row.
    """
    file = row_file(folder, "documents")
    if file is None:
        raise DataError(f"{folder}: no documents.jsonl")
    shown: dict[str, dict[str, DocumentRow]] = {request.request_id: {} for request in requests}
    spent = dict.fromkeys(shown, 0)
    for where, row in json_lines(file):
        collection, document = _document(where, row)
        for request in requests:
            key = request.request_id
            if collection and request.collection_id not in ("", collection):
                continue
            if document.id in shown[key]:
                raise DataError(f"{where}: a second document with the id {document.id!r}")
            if spent[key] <= budget if request.doc_ids is None else document.id in request.doc_ids:
                shown[key][document.id] = document
                spent[key] += len(document.title) + len(document.text)
    return shown


def _request(where: str, row: Any, nuggets: Mapping[str, str]) -> RequestRow:
    fields = _mapping(row, where)
    request_id = _text(fields, REQUEST_IDS, where, needed=True)
    limit = fields.get("limit")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise DataError(f"{where}: limit must be a whole number above 0, got {limit!r}")
    doc_ids = fields.get("doc_ids")
    if doc_ids is not None and not (isinstance(doc_ids, list) and all(isinstance(one, str) for one in doc_ids)):
        raise DataError(f"{where}: doc_ids must be a list of ids, got {doc_ids!r:.60}")
    return RequestRow(
        request_id=request_id,
        collection_id=_collection(fields, where),
        title=_text(fields, ("title", "query_text"), where),
        background=_text(fields, ("background",), where),
        problem_statement=_text(fields, ("problem_statement", "problem statement"), where, needed=True),
        limit=limit,
        doc_ids=None if doc_ids is None else dict.fromkeys(doc_ids),
        nuggets=nuggets.get(request_id, ""),
    )


def _document(where: str, row: Any) -> tuple[str, DocumentRow]:
    fields = _mapping(row, where)
    document = DocumentRow(
        _text(fields, DOCUMENT_IDS, where, needed=True),
        _text(fields, ("title",), where),
        _text(fields, ("text",), where, needed=True),
    )
    return _collection(fields, where), document


def _nugget_rows(folder: Path) -> dict[str, str]:
    """Request id -> its row of the nugget file; of two rows the first counts, as in report_gen_eval."""
    rows: dict[str, str] = {}
    file = row_file(folder, "nuggets")
    for where, row in json_lines(file) if file else ():
        request_id = _text(_mapping(row, where), NUGGET_IDS, where, needed=True)
        rows.setdefault(request_id, json.dumps(row, ensure_ascii=False))
    return rows


def _mapping(row: Any, where: str) -> Mapping[str, Any]:
    if not isinstance(row, Mapping):
        raise DataError(f"{where}: expected an object, got {type(row).__name__}")
    return row


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
    value = next((row[name] for name in COLLECTIONS if row.get(name)), "")
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if not isinstance(value, str):
        raise DataError(f"{where}: collection_id must be one id, got {value!r:.60}")
    return canonical_collection(value)
