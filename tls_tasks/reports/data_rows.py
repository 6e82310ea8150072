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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.lines import json_lines
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
        doc_ids: The documents that the prompt shows; None: those of the collection.
        nuggets: The row of the nugget file as JSON; empty where there is none.
    """

    request_id: str
    collection_id: str
    title: str
    background: str
    problem_statement: str
    limit: int | None
    doc_ids: tuple[str, ...] | None
    nuggets: str


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """One document of a collection."""

    id: str
    title: str
    text: str

    def as_dict(self) -> dict[str, str]:
        """As plain values."""
        return {"id": self.id, "title": self.title, "text": self.text}


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
    _refuse_repeats(file, [request.request_id for request in requests])
    if not requests:
        raise DataError(f"{file}: no request in it")
    return requests


def read_shown(
    folder: Path, requests: Iterable[RequestRow], budget: int
) -> dict[tuple[str, str | None], dict[str, DocumentRow]]:
    """The documents that prompts can show, read in one pass that keeps no others.

    Args:
        folder: With ``documents.jsonl``.
        requests: All requests.
        budget: Characters of documents in a prompt.

    Returns:
        (collection, request id) -> id -> document, for requests with ``doc_ids``; (collection, None) for those that
        show their collection, whose first documents that fill the budget are kept.

    Raises:
        DataError: No documents, or a row that is none.
    """
    file = row_file(folder, "documents")
    if file is None:
        raise DataError(f"{folder}: no documents.jsonl")
    wanted: dict[tuple[str, str | None], frozenset[str] | None] = {}
    for request in requests:
        key = (request.collection_id, None if request.doc_ids is None else request.request_id)
        wanted[key] = None if request.doc_ids is None else frozenset(request.doc_ids)
    shown: dict[tuple[str, str | None], dict[str, DocumentRow]] = {key: {} for key in wanted}
    spent = dict.fromkeys(wanted, 0)
    for where, row in json_lines(file):
        collection, document = _document(where, row)
        for (of, request_id), ids in wanted.items():
            key = (of, request_id)
            if of and collection and of != collection:
                continue
            if document.id in shown[key]:
                raise DataError(f"{where}: a second document with the id {document.id!r}")
            if (ids is None and spent[key] <= budget) or (ids is not None and document.id in ids):
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
        doc_ids=None if doc_ids is None else tuple(dict.fromkeys(doc_ids)),
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


def _refuse_repeats(file: Path, ids: Iterable[str]) -> None:
    seen: set[str] = set()
    for one in ids:
        if one in seen:
            raise DataError(f"{file}: two requests have the id {one!r}")
        seen.add(one)
