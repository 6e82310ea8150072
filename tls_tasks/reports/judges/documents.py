"""Documents from files, and bundles of only those that reports cite.

A bundle is enough to judge and score the reports, and small enough to be kept with them: one JSON line per document,
with ``id``, ``title``, ``text``, and ``collection`` where there are several collections.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.rows import describe
from tls_tasks.data.files import file_rows
from tls_tasks.reports.documents import canonical_collection, look_up
from tls_tasks.reports.files import read_objects, write_rows
from tls_tasks.reports.types import Report

ID_NAMES = ("id", "doc_id", "docid", "docno", "_id")
"""Where the tracks' collections keep the id of a document; the first one present counts."""

_LOOKUP_FOLDER = "neuclir-docs-lookup"
_DOCUMENTS = "the cited documents: a bundle (.jsonl), a store (.sqlite) or the look-up files of report_gen_eval"

TEXT_NAMES = ("text", "contents", "body")
"""Where they keep its text."""


def write_bundle(path: str | Path, reports: Iterable[Report], documents: Any) -> tuple[int, tuple[str, ...]]:
    """Write the documents that reports cite, each once, in the order of citation.

    Args:
        path: The file to write, JSON Lines.
        reports: The reports.
        documents: Anything that :func:`~tls_tasks.reports.documents.look_up` takes.

    Returns:
        How many documents were written, and the cited ids that are in no collection.
    """
    source = look_up(documents)
    kept: dict[tuple[str, str], dict[str, str]] = {}
    missing = set()
    for report in reports:
        # "" stands for a source without collections: its documents have none in the bundle either.
        collections = ("",) if source.collections is None else source.within(report.collection_ids)
        for doc_id in (doc_id for sentence in report.sentences for doc_id in sentence.citations):
            for name in collections:
                document = source.find([name] if name else report.collection_ids, doc_id)
                if document is not None:
                    kept.setdefault((name, doc_id), _bundle_row(name, doc_id, document))
                    break
            else:
                missing.add(doc_id)
    return write_rows(Path(path), kept.values()), tuple(sorted(missing))


def read_bundle(path: str | Path) -> dict[str, Any]:
    """The documents of a bundle: by collection and id, or by id if no line names a collection.

    Raises:
        DataError: A line that is not a document, a repeated id, or collections named on some lines only.
    """
    by_collection: dict[str, dict[str, dict[str, str]]] = {}
    for place, row in read_objects(Path(path)):
        doc_id, document = _document(row, place)
        members = by_collection.setdefault(str(row.get("collection") or ""), {})
        if doc_id in members:
            raise DataError(f"{place}: document {doc_id!r} comes twice")
        members[doc_id] = document
    if "" not in by_collection:
        return dict(by_collection)
    if len(by_collection) > 1:
        raise DataError(f"{path}: some lines name a collection and some don't")
    return dict(by_collection[""])


def find_lookup(reports: Iterable[Report]) -> dict[str, dict[str, Any]]:
    """The cited documents from the look-up files of report_gen_eval, which lie in the working directory.

    Args:
        reports: Reports that name their collections.

    Returns:
        Collection -> id -> document. The files are as large as memory, so that only what is cited is kept of them.

    Raises:
        InputError: There are none; says where was looked.
        DataError: A file that can't be read.
    """
    cited: dict[str, set[str]] = {}
    for report in reports:
        for name in map(canonical_collection, report.collection_ids):
            cited.setdefault(name, set()).update(doc_id for own in report.sentences for doc_id in own.citations)
    files = {name: Path(_LOOKUP_FOLDER, f"doc_mapping_{name.replace('/', '_')}.pkl") for name in cited}
    missing = [file for file in files.values() if not file.is_file()]
    if missing or not files:
        looked = " and ".join(map(str, missing)) if missing else f"{_LOOKUP_FOLDER}, but no report has collection_ids"
        raise InputError("--documents", None, "nothing", f"{_DOCUMENTS}; looked in {Path.cwd()} for {looked}")
    found = ((name, doc_id, own) for name, file in files.items() for doc_id, own in read_documents(file))
    documents: dict[str, dict[str, Any]] = {name: {} for name in files}
    for name, doc_id, document in found:
        if doc_id in cited[name]:
            documents[name][doc_id] = document
    return documents


def read_documents(source: str | Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The documents of a collection, for :func:`~tls_tasks.reports.judges.store.build_store`.

    Args:
        source: JSON Lines (``.jsonl``, ``.jsonl.gz``), which are read line by line; another file of rows or a look-up
            pickle of report_gen_eval, which are read into memory. A row has an id (:data:`ID_NAMES`), a text
            (:data:`TEXT_NAMES`) and perhaps a ``title``.

    Yields:
        Id and document, with ``title`` (perhaps empty) and ``text``.

    Raises:
        DataError: A file or row that can't be read; names both.
    """
    path = Path(source)
    rows = _pickled_rows(path) if path.suffix == ".pkl" else file_rows(path)
    return (_document(row, place) for place, row in rows)


def _bundle_row(collection: str, doc_id: str, document: Any) -> dict[str, str]:
    parts = {"text": document} if isinstance(document, str) else document
    _, kept = _document({**parts, "id": doc_id}, f"document {doc_id!r}")
    return {**({"collection": collection} if collection else {}), "id": doc_id, **kept}


def _document(row: Any, place: str) -> tuple[str, dict[str, str]]:
    if not isinstance(row, Mapping):
        raise DataError(f"{place}: got {describe(row)}, expected an object")
    doc_id = next((row[name] for name in ID_NAMES if name in row), None)
    text = next((row[name] for name in TEXT_NAMES if name in row), None)
    title = row.get("title") or ""
    for name, value in (("id", doc_id), ("text", text), ("title", title)):
        if not isinstance(value, str):
            raise DataError(f"{place}: {name}: got {describe(value)}, expected a str")
    return str(doc_id), {"title": title, "text": str(text)}


def _pickled_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    for doc_id, document in _read_lookup(path).items():
        parts = document if isinstance(document, dict) else {"text": document}
        yield f"{path}, document {doc_id!r}", {**parts, "id": doc_id}


class _DataOnly(pickle.Unpickler):
    """Builds what the instructions of a pickle can build by themselves: text, numbers, lists, dicts and the like.

    Functions and classes would be fetched by :meth:`find_class`; without them nothing can be called.
    """

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which plain data don't need; nothing in it was run")


def _read_lookup(path: Path) -> dict[str, Any]:
    """A pickled dict with string keys, read without running anything in it."""
    try:
        with path.open("rb") as file:
            lookup = _DataOnly(file).load()
    except Exception as error:  # damaged pickles raise almost anything
        raise DataError(f"{path}: not readable as a pickled dict: {error}") from error
    if not isinstance(lookup, dict) or not all(isinstance(key, str) for key in lookup):
        raise DataError(f"{path}: not a pickled dict with string keys")
    return lookup
