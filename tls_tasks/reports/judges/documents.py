"""Documents from files, from ir_datasets, and as a bundle of only those that reports cite.

A bundle is enough to judge and score the reports, and small enough to lie beside them: one JSON line a document, with
``id``, ``title``, ``text``, and ``collection`` where the documents come in collections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, MissingExtraError
from tls_tasks.core.text_rows import describe
from tls_tasks.reports.documents import look_up
from tls_tasks.reports.judges.files import read_rows, write_rows
from tls_tasks.reports.judges.pickles import read_lookup
from tls_tasks.reports.types import Report

ID_NAMES = ("id", "doc_id", "docid", "docno", "_id")
"""Where the id of a document stands in the collections of the tracks; the first that is there."""

TEXT_NAMES = ("text", "contents", "body")
"""Where its text stands."""

IR_DATASETS = "ir_datasets:"
"""What a source of ir_datasets begins with, e.g. ``ir_datasets:neuclir/1/zh``."""

_KINDS = f".jsonl, .jsonl.gz, .parquet, .pkl (a look-up of report_gen_eval) or {IR_DATASETS}NAME"


class Bundled(NamedTuple):
    """What :func:`write_bundle` did: how many documents it wrote, and which cited ids are in no collection."""

    n_documents: int
    missing: tuple[str, ...]


def write_bundle(path: str | Path, reports: Iterable[Report], documents: Any) -> Bundled:
    """Write the cited documents of reports, each once, in the order of citing.

    Args:
        path: The file to write, JSON Lines.
        reports: The reports.
        documents: Anything that :func:`~tls_tasks.reports.documents.look_up` takes.

    Returns:
        How many documents are in the file, and the ids that were found nowhere, sorted.
    """
    source = look_up(documents)
    kept: dict[tuple[str, str], dict[str, str]] = {}
    missing = set()
    for report in reports:
        # Where collections aren't told apart, the documents of the bundle aren't either.
        wanted = [""] if source.collections is None else source.within(report.collection_ids)
        for doc_id in (doc_id for sentence in report.sentences for doc_id in sentence.citations):
            for name in wanted:
                if (name, doc_id) not in kept:
                    document = source.find([name] if name else report.collection_ids, doc_id)
                    if document is None:
                        continue
                    kept[name, doc_id] = _line(name, doc_id, document)
                break
            else:
                missing.add(doc_id)
    return Bundled(write_rows(Path(path), kept.values()), tuple(sorted(missing)))


def read_bundle(path: str | Path) -> dict[str, Any]:
    """The documents of a bundle: by collection and id, or by id where no line names a collection.

    Raises:
        DataError: A line that is no document, an id that comes twice, or lines of which only some name a collection.
    """
    by_collection: dict[str, dict[str, dict[str, str]]] = {}
    for place, row in read_rows(Path(path)):
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


def read_documents(source: str | Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The documents of a collection, one at a time, for :func:`~tls_tasks.reports.judges.store.build_store`.

    Args:
        source: A file (JSON Lines, maybe packed; Parquet; a look-up pickle of report_gen_eval) or the name of a data
            set in ir_datasets after ``ir_datasets:``. A row has an id (:data:`ID_NAMES`), a text (:data:`TEXT_NAMES`)
            and maybe a ``title``.

    Yields:
        Id and document, with ``title`` (maybe empty) and ``text``.

    Raises:
        DataError: A source that can't be read, or a row that is no document; names file and row.
        MissingExtraError: ir_datasets isn't installed.
    """
    name = str(source)
    if name.startswith(IR_DATASETS):
        return _ir_documents(name.removeprefix(IR_DATASETS))
    for ending, read in _READERS.items():
        if name.endswith(ending):
            return read(Path(source))
    raise DataError(f"{name}: expected {_KINDS}")


def _line(collection: str, doc_id: str, document: Any) -> dict[str, str]:
    parts = {"text": document} if isinstance(document, str) else document
    _, kept = _document({**parts, "id": doc_id}, f"document {doc_id!r}")
    return {**({"collection": collection} if collection else {}), "id": doc_id, **kept}


def _document(row: Mapping[str, Any], place: str) -> tuple[str, dict[str, str]]:
    doc_id = next((row[name] for name in ID_NAMES if name in row), None)
    text = next((row[name] for name in TEXT_NAMES if name in row), None)
    title = row.get("title") or ""
    for name, value in (("id", doc_id), ("text", text), ("title", title)):
        if not isinstance(value, str):
            raise DataError(f"{place}: {name}: got {describe(value)}, expected a str")
    return str(doc_id), {"title": title, "text": str(text)}


def _json_documents(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for place, row in read_rows(path):
        yield _document(row, place)


def _pickled_documents(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    for doc_id, document in read_lookup(path):
        parts = {"text": document} if isinstance(document, str) else document
        if not isinstance(parts, Mapping):
            raise DataError(f"{path}: document {doc_id!r}: got {describe(parts)}, expected title and text")
        yield _document({**parts, "id": doc_id}, f"{path}, document {doc_id!r}")


def _parquet_documents(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    n_rows = 0
    try:
        with pq.ParquetFile(path) as file:
            columns = [name for name in (*ID_NAMES, *TEXT_NAMES, "title") if name in file.schema_arrow.names]
            for batch in file.iter_batches(batch_size=256, columns=columns):
                for row in batch.to_pylist():
                    n_rows += 1
                    yield _document(row, f"{path}, row {n_rows}")
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}, after row {n_rows}: not readable as Parquet: {error}") from error


def _ir_documents(name: str) -> Iterator[tuple[str, dict[str, str]]]:
    try:
        import ir_datasets
    except ImportError:
        raise MissingExtraError(f"source '{IR_DATASETS}{name}'", "ir") from None
    try:
        documents = ir_datasets.load(name).docs_iter()
    except (KeyError, AttributeError) as error:
        raise DataError(f"{IR_DATASETS}{name}: no such data set, or none with documents ({error})") from error
    for document in documents:
        parts = document._asdict()
        if not any(text in parts for text in TEXT_NAMES):
            parts["text"] = document.default_text()
        yield _document(parts, f"{IR_DATASETS}{name}, document {parts.get('doc_id')!r}")


_READERS = {
    ".jsonl": _json_documents,
    ".jsonl.gz": _json_documents,
    ".parquet": _parquet_documents,
    ".pkl": _pickled_documents,
}
