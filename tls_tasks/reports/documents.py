"""Cited documents: one look-up over mappings and functions, and files of them, of which the cited ones are kept.

A document is a text, or a mapping with ``text`` and optionally ``title``, as in the collections of the TREC tracks.
Collections have ids such as ``neuclir/1/zh``; a few have a second spelling. A row of a file has ``id``, ``title``,
``text``, and ``collection`` where there are several collections.
"""

import pickle
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, NoReturn

from pydantic import BeforeValidator

from tls_tasks.core.errors import DataError, InputError, describe
from tls_tasks.data.files import file_rows, readable
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.reports.types import Report

_SAME_COLLECTION = {"neuclir/1/zho": "neuclir/1/zh", "neuclir/1/fas": "neuclir/1/fa", "neuclir/1/rus": "neuclir/1/ru"}
"""Second spelling of a collection's id -> the first one. No other ids are considered equal."""

_ACCEPTED = "a dict of documents by id, a dict of such dicts by collection, or a function of collections and id"
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
    """

    find: Callable[[Sequence[str], str], Any]
    collections: tuple[str, ...] | None = None

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
            None. Keys are compared as text: 1 is "1"; URLs are equal after scheme, ``www.``, fragment and last slash.

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
    if not isinstance(documents, Mapping):
        if not callable(documents):
            raise InputError("documents", None, describe(documents), _ACCEPTED)
        return documents if isinstance(documents, LookUp) else LookUp(documents)
    if not _is_nested(documents):
        get = _by_page(documents)
        return LookUp(lambda _, doc_id: get(doc_id))
    by_collection: dict[str, Any] = {}
    for spelling, members in documents.items():
        if not isinstance(members, Mapping):
            raise InputError(f"documents[{spelling!r}]", None, describe(members), "a dict of documents by id")
        by_collection[canonical_collection(str(spelling))] = _by_page(members)

    def find(collection_ids: Sequence[str], doc_id: str) -> Any:
        names = (name for name in map(canonical_collection, collection_ids or by_collection) if name in by_collection)
        documents = (by_collection[name](doc_id) for name in names)
        return next((document for document in documents if document is not None), None)

    return LookUp(find, tuple(by_collection))


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
    if not isinstance(documents, Mapping) or _is_nested(documents):
        return dict.fromkeys(doc_ids, "")
    if not doc_ids:
        doc_ids = [str(key) for key in documents] if len(documents) <= _MOST_SHOWN else []
    get = _by_page(documents)
    shown = {doc_id: get(doc_id) for doc_id in doc_ids}
    return {doc_id: str(row.get("title") or "") if isinstance(row, Mapping) else "" for doc_id, row in shown.items()}


def _by_page(documents: Mapping[Any, Any]) -> Callable[[str], Any]:
    """Finds documents by the text of their keys, or the page that it names."""
    others = [key for key in documents if not isinstance(key, str) or "://" in key]
    pages = {page_of(str(key)): key for key in reversed(others)}
    return lambda doc_id: documents.get(doc_id) or documents.get(pages.get(page_of(doc_id), doc_id))


def _is_nested(documents: Mapping[Any, Any]) -> bool:
    """Whether the first value is a mapping of documents and not a document."""
    value = next(iter(documents.values()), None)
    return isinstance(value, Mapping) and "text" not in value and "title" not in value


def open_documents(places: Iterable[str | Path], cited: Iterable[str]) -> dict[str, Any]:
    """The cited documents of files, for :func:`look_up`: by id, or by collection and id.

    Each file is read through once, and only what is cited is kept of it.

    Args:
        places: The files. JSON Lines are read line by line, other files of rows and look-up pickles of report_gen_eval
            into memory. A row is a :class:`DocumentRow`.
        cited: Their ids.

    Raises:
        DataError: A file or row that can't be read, a repeated id, or collections named in some rows only.
    """
    pages, by_collection = {page_of(doc_id) for doc_id in cited}, dict[str, dict[str, Any]]()
    for path in map(Path, places):
        for where, row in _pickled_rows(path) if path.suffix == ".pkl" else file_rows(path):
            document = read_model(DocumentRow, row, where)
            if page_of(document.id) not in pages:
                continue
            members = by_collection.setdefault(document.collection, {})
            if document.id in members:
                raise DataError(f"{where}: document {document.id!r} comes twice")
            members[document.id] = {"title": document.title, "text": document.text}
            if "" in by_collection and len(by_collection) > 1:
                raise DataError(f"{where}: some rows name a collection and some don't")
    return by_collection.get("", by_collection)


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
        raise InputError("documents", None, "nothing", f"{PLACES}; looked in {Path.cwd()} for {looked}")
    cited = {doc_id for report in reports for sentence in report.sentences for doc_id in sentence.citations}
    return {name: open_documents([file], cited) for name, file in files.items()}


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
