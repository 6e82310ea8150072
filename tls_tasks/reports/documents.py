"""Cited documents: one look-up over mappings and functions, and files of them, of which the cited ones are kept.

A document is a text, or a mapping with ``text`` and optionally ``title``, as in the collections of the TREC tracks.
Collections have ids such as ``neuclir/1/zh``; a few have a second spelling. A row of a file has ``id``, ``title``,
``text``, and ``collection`` where there are several collections.
"""

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any, NoReturn, cast

from pydantic import BeforeValidator

from tls_tasks.core.errors import DataError, InputError, describe, shorten
from tls_tasks.data.files import file_rows, readable
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.reports.types import Report

_SAME_COLLECTION = {"neuclir/1/zho": "neuclir/1/zh", "neuclir/1/fas": "neuclir/1/fa", "neuclir/1/rus": "neuclir/1/ru"}
"""Second spelling of a collection's id -> the first one. No other ids are considered equal."""

_ACCEPTED = (
    "a mapping of document ids, such as dict(zip(table['id'], table['text'])), a mapping of collections to such "
    "mappings, or a function"
)
_MOST_SHOWN = 1000
"""No prompt shows more documents: a larger mapping is a pool, whose order says nothing."""
_DOCUMENT = "a str, or a mapping with a str 'text' and optionally a str 'title'"

_ADDRESSES = re.compile(r"https?://(?:[^\s<>\"'`\[\]{}|()，。；、：！？）】」』》]|\([^\s()<>]{0,200}\)){1,1000}")
_LOOKUP_FOLDER = "neuclir-docs-lookup"
PLACES = "the cited documents: a file of rows (.jsonl, .jsonl.gz, .json, .csv, .parquet) or look-up files (.pkl)"


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
        find: (ids of a report's collections, document id) -> the document as it is stored, or None.
        collections: The existing collections by their first spelling, in order; None if documents are not kept by
            collection.
        example: One of the keys, as messages show it; empty where there is none or nobody can tell.
    """

    find: Callable[[Sequence[str], str], Any]
    collections: tuple[str, ...] | None = None
    example: str = ""

    def __call__(self, collection_ids: Sequence[str], doc_id: str) -> str | None:
        """A document as a judge reads it, its title, if it has one, and its text; None if there is no such document.

        Raises:
            InputError: If what is stored is not a document; the message has its id.
        """
        document = self.find(collection_ids, doc_id)
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
            None. Any object with ``keys`` and ``get`` is a mapping; a large one is only asked for single
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
        return LookUp(documents)
    if not _is_nested(documents):
        get = _get_by_text(_checked(documents))
        return LookUp(lambda _, doc_id: get(doc_id), example=_first_key(documents))
    by_collection: dict[str, Any] = {}
    for spelling in documents:
        name, members = canonical_collection(str(spelling)), documents.get(spelling)
        if not _is_mapping(members):
            raise InputError(f"documents[{spelling!r}]", None, describe(members), "a mapping of document ids")
        if name in by_collection:
            raise InputError(f"documents[{spelling!r}]", None, "a collection that was given before", f"{name!r} once")
        by_collection[name] = _get_by_text(_checked(members))

    def find(collection_ids: Sequence[str], doc_id: str) -> Any:
        names = (name for name in map(canonical_collection, collection_ids or by_collection) if name in by_collection)
        documents = (by_collection[name](doc_id) for name in names)
        return next((document for document in documents if document is not None), None)

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


def open_documents(places: Sequence[str], cited: Iterable[str]) -> Any:
    """The cited documents of files, for :func:`look_up`: by id, or by collection and id.

    Each file is read through once, and only what is cited is kept of it, with its first document, which shows in
    messages how ids are written there.

    Args:
        places: A file, or one ``COLLECTION=FILE`` a collection. JSON Lines are read line by line, other files of rows
            and look-up pickles of report_gen_eval into memory. A row is a :class:`DocumentRow`.
        cited: Their ids.

    Raises:
        InputError: Several files of which one has no collection.
        DataError: A file or row that can't be read, a repeated id, or collections named in some rows only.
    """
    pages, documents = {page_of(doc_id) for doc_id in cited}, dict[str, Any]()
    for place in places:
        is_named = "=" in place and not Path(place).exists()
        name, _, path = place.partition("=") if is_named else ("", "", place)
        if name in documents or not (name or len(places) == 1):
            raise InputError("--documents", None, place, "COLLECTION=FILE, each collection once")
        by_collection = _read_documents(Path(path), pages)
        documents[name] = by_collection.get(name) or by_collection.get("", by_collection)
    return documents.get("", documents)


def find_lookup(reports: Iterable[Report]) -> dict[str, dict[str, Any]]:
    """The cited documents from the look-up files of report_gen_eval, which lie in the working directory.

    Args:
        reports: Reports that name their collections.

    Returns:
        Collection -> id -> document.

    Raises:
        InputError: There are none; says where was looked.
        DataError: A file that can't be read.
    """
    reports = list(reports)
    names = dict.fromkeys(canonical_collection(name) for report in reports for name in report.collection_ids)
    files = {name: Path(_LOOKUP_FOLDER, f"doc_mapping_{name.replace('/', '_')}.pkl") for name in names}
    missing = [str(file) for file in files.values() if not file.is_file()]
    if missing or not files:
        looked = " and ".join(missing) or f"{_LOOKUP_FOLDER}, but no report has collection_ids"
        raise InputError("--documents", None, "nothing", f"{PLACES}; looked in {Path.cwd()} for {looked}")
    cited = {doc_id for report in reports for sentence in report.sentences for doc_id in sentence.citations}
    return {name: open_documents([str(file)], cited) for name, file in files.items()}


def _read_documents(path: Path, pages: Set[str]) -> dict[str, dict[str, Any]]:
    """The documents of these pages in a file, and its first one: collection (empty: none) -> id -> document."""
    by_collection: dict[str, dict[str, Any]] = {}
    for place, row in _pickled_rows(path) if path.suffix == ".pkl" else file_rows(path):
        document = read_model(DocumentRow, row, place)
        if by_collection and page_of(document.id) not in pages:
            continue
        members = by_collection.setdefault(document.collection, {})
        if document.id in members:
            raise DataError(f"{place}: document {document.id!r} comes twice")
        members[document.id] = {"title": document.title, "text": document.text}
    if "" in by_collection and len(by_collection) > 1:
        raise DataError(f"{path}: some rows name a collection and some don't")
    return by_collection


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
