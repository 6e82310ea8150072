"""Cited documents: one look-up over mappings, stores and functions; files of them, and bundles of those that are cited.

A document is a text, or a mapping with ``text`` and optionally ``title``, as in the collections of the TREC tracks.
Collections have ids such as ``neuclir/1/zh``; a few have a second spelling. A bundle holds only the documents that
reports cite, enough to judge and score them, and small enough to be kept with them: one JSON line per document, with
``id``, ``title``, ``text``, and ``collection`` where there are several collections.
"""

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

from pydantic import BeforeValidator

from tls_tasks.core.errors import DataError, InputError, describe, shorten
from tls_tasks.data.files import file_rows, read_objects, readable
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.reports.json_lines import write_rows
from tls_tasks.reports.types import Report

_SAME_COLLECTION = {"neuclir/1/zho": "neuclir/1/zh", "neuclir/1/fas": "neuclir/1/fa", "neuclir/1/rus": "neuclir/1/ru"}
"""Second spelling of a collection's id -> the first one. No other ids are considered equal."""

_ACCEPTED = (
    "a mapping of document ids, such as dict(zip(table['id'], table['text'])), a mapping of collections to such "
    "mappings, a store, or a function"
)
_MOST_SHOWN = 1000
"""No prompt shows more documents: a larger mapping is a pool, whose order says nothing."""
_DOCUMENT = "a str, or a mapping with a str 'text' and optionally a str 'title'"

_ADDRESSES = re.compile(r"https?://(?:[^\s<>\"'`\[\]{}|()，。；、：！？）】」』》]|\([^\s()<>]{0,200}\)){1,1000}")
_LOOKUP_FOLDER = "neuclir-docs-lookup"
_DOCUMENTS = "the cited documents: a bundle (.jsonl), a store (.sqlite) or the look-up files of report_gen_eval"


def addresses(text: str) -> list[str]:
    """The URLs in a text, each once.

    Example:
        >>> addresses("Rain ([a](https://a.org/x_(y))). See https://a.org/z.")
        ['https://a.org/x_(y)', 'https://a.org/z']
    """
    return list(dict.fromkeys(match[0].rstrip(".,;:!?*") for match in _ADDRESSES.finditer(text)))


def page_of(url: str) -> str:
    """A URL without what does not tell pages apart: scheme, ``www.``, fragment and last slash.

    Example:
        >>> page_of("https://www.bay.org/rain/#top"), page_of("http://bay.org/rain")
        ('bay.org/rain', 'bay.org/rain')
    """
    return url.partition("://")[2].partition("#")[0].removeprefix("www.").removesuffix("/") or url


def canonical_collection(collection_id: str) -> str:
    """The first spelling of a collection's id.

    Example:
        >>> canonical_collection("neuclir/1/zho"), canonical_collection("trusted/fasset")
        ('neuclir/1/zh', 'trusted/fasset')
    """
    return _SAME_COLLECTION.get(collection_id, collection_id)


def _one_collection(value: Any) -> Any:
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return canonical_collection(value) if isinstance(value, str) else value


_Collection = Annotated[str, BeforeValidator(_one_collection)]


class CollectionRow(DataRow):
    """A row that may say which collection it belongs to."""

    collection: _Collection = named("collection_id", "collection", "collection_ids", default="")


class DocumentRow(CollectionRow):
    """A document as the tracks' collections and report_gen_eval have it."""

    id: Id = named("id", "doc_id", "docid", "docno", "_id", "url")
    title: Id = ""
    text: str = named("text", "contents", "body")


@dataclass(frozen=True, slots=True)
class LookUp:
    """Finds the text of a document.

    Attributes:
        find: (ids of a report's collections, document id) -> the collection that has the document, empty if documents
            are not kept by collection, and the document as it is stored, or None.
        collections: The existing collections by their first spelling, in order; None if documents are not kept by
            collection.
        example: One of the keys, as messages show it; empty where there is none or nobody can tell.
    """

    find: Callable[[Sequence[str], str], tuple[str, Any]]
    collections: tuple[str, ...] | None = None
    example: str = ""

    def __call__(self, collection_ids: Sequence[str], doc_id: str) -> str | None:
        """A document as a judge reads it, its title, if it has one, and its text; None if there is no such document.

        Raises:
            InputError: If what is stored is not a document; the message has its id.
        """
        _, document = self.find(collection_ids, doc_id)
        if document is None or isinstance(document, str):
            return document
        parts = document if isinstance(document, Mapping) else {}
        title, text = parts.get("title") or "", parts.get("text")
        if not isinstance(text, str) or not isinstance(title, str):
            raise InputError(f"documents[{doc_id!r}]", None, describe(document), _DOCUMENT)
        return f"Title: {title}\n\nContent: {text}" if title else text


def look_up(documents: Any) -> LookUp:
    """A look-up over whatever the caller has.

    Args:
        documents: Document id -> document; or collection id -> such a mapping, searched in the order in which a report
            names its collections (all of them if it names none); or a function of both ids that returns a document or
            None. Any object with ``keys`` and ``get`` is a mapping; a store of millions is only asked for single
            documents. Keys are compared as text: 1 is "1"; URLs in a dict are equal after scheme, ``www.``, fragment
            and last slash.

    Raises:
        InputError: Anything else.

    Example:
        >>> find = look_up({"neuclir/1/ru": {"d1": {"title": "Talks", "text": "They ended."}}})
        >>> print(find(["neuclir/1/rus"], "d1"))
        Title: Talks
        <BLANKLINE>
        Content: They ended.
        >>> find(["neuclir/1/rus"], "d2"), look_up({"d1": "They ended."})([], "d1")
        (None, 'They ended.')
    """
    if isinstance(documents, LookUp):
        return documents
    if not _is_mapping(documents):
        if not callable(documents):
            raise InputError("documents", None, describe(documents), _ACCEPTED)
        return LookUp(lambda collection_ids, doc_id: ("", documents(collection_ids, doc_id)))
    if not _is_nested(documents):
        get = _get_by_text(_checked(documents))
        return LookUp(lambda _, doc_id: ("", get(doc_id)), example=_first_key(documents))
    by_collection: dict[str, Any] = {}
    for spelling in documents:
        name, members = canonical_collection(str(spelling)), documents.get(spelling)
        if not _is_mapping(members):
            raise InputError(f"documents[{spelling!r}]", None, describe(members), "a mapping of document ids")
        if name in by_collection:
            raise InputError(f"documents[{spelling!r}]", None, "a collection that was given before", f"{name!r} once")
        by_collection[name] = _get_by_text(_checked(members))

    def find(collection_ids: Sequence[str], doc_id: str) -> tuple[str, Any]:
        for name in map(canonical_collection, collection_ids or by_collection):
            if name in by_collection and (document := by_collection[name](doc_id)) is not None:
                return name, document
        return "", None

    keys = (f"{key} in the collection {name!r}" for name in documents if (key := _first_key(documents.get(name))))
    return LookUp(find, tuple(by_collection), next(keys, ""))


def shown_titles(documents: Any, doc_ids: Sequence[str] = ()) -> dict[str, str]:
    """The documents that a prompt showed, in the order of their numbers, each with its title.

    Args:
        documents: See :func:`look_up`.
        doc_ids: Which they were; if there are none, all of a mapping that isn't too large for a prompt.

    Example:
        >>> documents = {"d1": {"title": "Talks", "text": "They ended."}, "d2": "It rained."}
        >>> shown_titles(documents), shown_titles(documents, ["d2", "d1"]), shown_titles(None, ["d1"])
        ({'d1': 'Talks', 'd2': ''}, {'d2': '', 'd1': 'Talks'}, {'d1': ''})
    """
    if not _is_mapping(documents) or _is_nested(documents):
        return dict.fromkeys(doc_ids, "")
    if not doc_ids:
        keys = list(islice(documents.keys(), _MOST_SHOWN + 1))
        doc_ids = [str(key) for key in keys if len(keys) <= _MOST_SHOWN]
    get = _get_by_text(documents)
    shown = {doc_id: get(doc_id) for doc_id in doc_ids}
    return {doc_id: str(row.get("title") or "") if isinstance(row, Mapping) else "" for doc_id, row in shown.items()}


def _is_mapping(value: Any) -> bool:
    # A data frame has both, but its keys are columns.
    return hasattr(value, "keys") and hasattr(value, "get") and getattr(value, "ndim", 1) == 1


def _checked(documents: Any) -> Any:
    """The same documents. A store may answer None of what it lacks; a dict that holds None or columns is a mistake.

    Raises:
        InputError: A document that is None, or columns.
    """
    if isinstance(documents, dict) and (empty := [key for key, document in documents.items() if document is None]):
        raise InputError(f"documents[{empty[0]!r}]", None, "None", f"{_DOCUMENT}; leave out what has no text")
    if isinstance(documents, dict) and documents and all(isinstance(column, list) for column in documents.values()):
        raise InputError("documents", None, f"columns ({shorten([*documents])})", _ACCEPTED)
    return documents


def _first_key(documents: Any) -> str:
    return next((repr(str(key)) for key in documents.keys()), "")  # noqa: SIM118 - it need not be iterable


def _get_by_text(documents: Any) -> Callable[[str], Any]:
    """Finds documents by the text of their keys; those of a store, which are text, are not read."""
    keys: Iterable[Any] = documents.keys()
    keys = keys if isinstance(documents, dict) else list(islice(keys, 1))
    if all(isinstance(key, str) for key in keys):
        pages = {page_of(key): key for key in reversed(list(keys)) if "://" in key}
        if not pages:
            return cast(Callable[[str], Any], documents.get)
        return lambda doc_id: documents.get(doc_id) or documents.get(pages.get(page_of(doc_id), doc_id))
    own = {str(key): key for key in documents.keys()}  # noqa: SIM118 - it need not be iterable
    return lambda doc_id: documents.get(own[doc_id]) if doc_id in own else None


def _is_nested(documents: Any) -> bool:
    """Whether the first value is a mapping of documents and not a document."""
    first = next(iter(documents.keys()), None)
    value: Any = None if first is None else documents.get(first)
    return _is_mapping(value) and "text" not in value and "title" not in value


def write_bundle(path: str | Path, reports: Iterable[Report], documents: Any) -> tuple[int, tuple[str, ...]]:
    """Write the documents that reports cite, each once, in the order of citation.

    Args:
        path: The file to write, JSON Lines.
        reports: The reports.
        documents: Anything that :func:`look_up` takes.

    Returns:
        How many documents were written, and the cited ids that are in no collection.
    """
    source = look_up(documents)
    rows: dict[tuple[str, str], dict[str, str]] = {}
    missing = set()
    for report in reports:
        for doc_id in (doc_id for sentence in report.sentences for doc_id in sentence.citations):
            collection, document = source.find(report.collection_ids, doc_id)
            if document is None:
                missing.add(doc_id)
                continue
            fields = {"text": document} if isinstance(document, str) else document
            _, kept = _document({**fields, "id": doc_id}, f"document {doc_id!r}")
            rows[collection, doc_id] = {**({"collection": collection} if collection else {}), "id": doc_id, **kept}
    return write_rows(Path(path), rows.values()), tuple(sorted(missing))


def read_bundle(path: str | Path) -> dict[str, Any]:
    """The documents of a bundle: by collection and id, or by id if no line names a collection.

    Raises:
        DataError: A line that is not a document, a repeated id, or collections named on some lines only.
    """
    by_collection: dict[str, dict[str, Any]] = {}
    for place, row in read_objects(Path(path)):
        doc_id, document = _document(row, place)
        members = by_collection.setdefault(str(row.get("collection") or ""), {})
        if doc_id in members:
            raise DataError(f"{place}: document {doc_id!r} comes twice")
        members[doc_id] = document
    if "" in by_collection and len(by_collection) > 1:
        raise DataError(f"{path}: some lines name a collection and some don't")
    return by_collection.get("", dict(by_collection))


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
            cited.setdefault(name, set()).update(*(sentence.citations for sentence in report.sentences))
    files = {name: Path(_LOOKUP_FOLDER, f"doc_mapping_{name.replace('/', '_')}.pkl") for name in cited}
    missing = [str(file) for file in files.values() if not file.is_file()]
    if missing or not files:
        looked = " and ".join(missing) or f"{_LOOKUP_FOLDER}, but no report has collection_ids"
        raise InputError("--documents", None, "nothing", f"{_DOCUMENTS}; looked in {Path.cwd()} for {looked}")
    return {name: {own: row for own, row in read_documents(files[name]) if own in cited[name]} for name in files}


def read_documents(source: str | Path) -> Iterator[tuple[str, dict[str, str]]]:
    """The documents of a collection, for :func:`~tls_tasks.reports.store.build_store`.

    Args:
        source: JSON Lines (``.jsonl``, ``.jsonl.gz``), which are read line by line; another file of rows or a look-up
            pickle of report_gen_eval, which are read into memory. A row is a :class:`DocumentRow`.

    Yields:
        Id and document, with ``title`` (perhaps empty) and ``text``.

    Raises:
        DataError: A file or row that can't be read; names both.
    """
    path = Path(source)
    rows = _pickled_rows(path) if path.suffix == ".pkl" else file_rows(path)
    return (_document(row, place) for place, row in rows)


def _document(row: Any, place: str) -> tuple[str, dict[str, str]]:
    document = read_model(DocumentRow, row, place)
    return document.id, {"title": document.title, "text": document.text}


class _DataOnly(pickle.Unpickler):
    """Builds what the instructions of a pickle can build by themselves: text, numbers, lists, dicts and the like.

    Functions and classes would be fetched by :meth:`find_class`; without them nothing can be called.
    """

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which plain data don't need; nothing in it was run")


def _pickled_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a pickled dict with string keys, read without running anything in it."""
    with readable(path, "a pickled dict", Exception), path.open("rb") as file:  # damaged ones raise almost anything
        documents = _DataOnly(file).load()
    if not isinstance(documents, dict) or not all(isinstance(key, str) for key in documents):
        raise DataError(f"{path}: not a pickled dict with string keys")
    for doc_id, document in documents.items():
        parts = document if isinstance(document, dict) else {"text": document}
        yield f"{path}, document {doc_id!r}", {**parts, "id": doc_id}
