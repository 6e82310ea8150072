"""Look up cited documents in mappings, functions and files; of files only the cited documents are read into memory.

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

_LOOKUP_FORMS = "a dict of documents by id, a dict of such dicts by collection, or a function of collections and id"
_MOST_SHOWN = 1000
"""No prompt shows more documents: in a larger mapping the order does not give their numbers."""
_DOCUMENT_FORM = "a str, or a mapping with a str 'text' and optionally a str 'title'"

_ADDRESSES = re.compile(r"https?://(?:[^\s<>\"'`\[\]{}|()，。；、：！？）】」』》]|\([^\s()<>]{0,200}\)){1,1000}")
_LOOKUP_FOLDER = "neuclir-docs-lookup"
FILE_FORMS = "the cited documents: a file of rows (.jsonl, .jsonl.gz, .json, .csv, .parquet) or look-up files (.pkl)"


def addresses(text: str) -> list[str]:
    """Return the URLs in a text, each once.

    Example:
        >>> addresses("Rain ([a](https://a.org/x_(y))). See https://a.org/z.")
        ['https://a.org/x_(y)', 'https://a.org/z']
    """
    return list(dict.fromkeys(match[0].rstrip(".,;:!?*") for match in _ADDRESSES.finditer(text)))


def normalize_url(url: str) -> str:
    """Return a URL without the parts that don't tell pages apart: scheme, ``www.``, fragment, last slash.

    Example:
        >>> normalize_url("https://www.bay.org/rain/#top"), normalize_url("http://bay.org/rain")
        ('bay.org/rain', 'bay.org/rain')
    """
    return url.partition("://")[2].partition("#")[0].removeprefix("www.").removesuffix("/") or url


def canonical_collection(collection_id: str) -> str:
    """Return the first spelling of a collection's id.

    Example:
        >>> canonical_collection("neuclir/1/zho"), canonical_collection("trusted/fasset")
        ('neuclir/1/zh', 'trusted/fasset')
    """
    return _SAME_COLLECTION.get(collection_id, collection_id)


def _one_collection(value: Any) -> Any:
    """Return the collection of a field that is an id, or a list with one id, in its first spelling."""
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    return canonical_collection(value) if isinstance(value, str) else value


_Collection = Annotated[str, BeforeValidator(_one_collection)]


class CollectionRow(DataRow):
    """A row that may name its collection."""

    collection: _Collection = named("collection_id", "collection", "collection_ids", default="")


class DocumentRow(CollectionRow):
    """A document in the form of the tracks' collections and of report_gen_eval."""

    id: Id = named("id", "doc_id", "docid", "docno", "_id", "url")
    title: Id = ""
    text: str = named("text", "contents", "body")


@dataclass(frozen=True, slots=True)
class LookUp:
    """A function that returns the text of a document.

    Attributes:
        find: (ids of a report's collections, document id) -> the document as it is stored, or None.
        collections: The collections by their first spelling, in order; None if documents are not sorted by collection.
    """

    find: Callable[[Sequence[str], str], Any]
    collections: tuple[str, ...] | None = None

    def __call__(self, collection_ids: Sequence[str], doc_id: str) -> str | None:
        """Return a document as a judge reads it, title and text; None if there is no such document.

        Raises:
            InputError: If the stored value is not a document; the message names the id.
        """
        document = self.find(collection_ids, doc_id)
        if document is None or isinstance(document, str):
            return document
        parts = document if isinstance(document, Mapping) else {}
        title, text = parts.get("title") or "", parts.get("text")
        if not isinstance(text, str) or not isinstance(title, str):
            raise InputError(f"documents[{doc_id!r}]", None, describe(document), _DOCUMENT_FORM)
        return f"Title: {title}\n\nContent: {text}" if title else text


def make_lookup(documents: Any) -> LookUp:
    """Build a look-up over the documents that the caller has.

    Args:
        documents: Document id -> document; or collection id -> such a mapping, searched in the order in which a report
            names its collections (all of them if it names none); or a function of both ids that returns a document or
            None. Keys are compared as text: 1 is "1"; URLs are equal after scheme, ``www.``, fragment and last slash.

    Raises:
        InputError: Anything else.

    Example:
        >>> find = make_lookup({"neuclir/1/ru": {"d1": {"title": "Talks", "text": "They ended."}}})
        >>> print(find(["neuclir/1/rus"], "d1"))
        Title: Talks
        <BLANKLINE>
        Content: They ended.
        >>> find(["neuclir/1/rus"], "d2"), make_lookup({"d1": "They ended."})([], "d1")
        (None, 'They ended.')
    """
    if not isinstance(documents, Mapping):
        if not callable(documents):
            raise InputError("documents", None, describe(documents), _LOOKUP_FORMS)
        return documents if isinstance(documents, LookUp) else LookUp(documents)
    if not _is_nested(documents):
        get = _page_index(documents)
        return LookUp(lambda _, doc_id: get(doc_id))
    by_collection: dict[str, Any] = {}
    for spelling, members in documents.items():
        if not isinstance(members, Mapping):
            raise InputError(f"documents[{spelling!r}]", None, describe(members), "a dict of documents by id")
        by_collection[canonical_collection(str(spelling))] = _page_index(members)

    def find(collection_ids: Sequence[str], doc_id: str) -> Any:
        """Return the document from the first of the collections that has it; None if none has it."""
        names = (name for name in map(canonical_collection, collection_ids or by_collection) if name in by_collection)
        documents = (by_collection[name](doc_id) for name in names)
        return next((document for document in documents if document is not None), None)

    return LookUp(find, tuple(by_collection))


def shown_titles(documents: Any, doc_ids: Sequence[str] = ()) -> dict[str, str]:
    """Return the documents that a prompt showed, by id with their titles, in the order of their numbers.

    Args:
        documents: See :func:`make_lookup`.
        doc_ids: Their ids; if empty, all documents of a mapping that isn't too large for a prompt.

    Example:
        >>> documents = {"d1": {"title": "Talks", "text": "They ended."}, "d2": "It rained."}
        >>> shown_titles(documents), shown_titles(documents, ["d2", "d1"]), shown_titles(None, ["d1"])
        ({'d1': 'Talks', 'd2': ''}, {'d2': '', 'd1': 'Talks'}, {'d1': ''})
    """
    if not isinstance(documents, Mapping) or _is_nested(documents):
        return dict.fromkeys(doc_ids, "")
    if not doc_ids:
        doc_ids = [str(key) for key in documents] if len(documents) <= _MOST_SHOWN else []
    get = _page_index(documents)
    shown = {doc_id: get(doc_id) for doc_id in doc_ids}
    return {doc_id: str(row.get("title") or "") if isinstance(row, Mapping) else "" for doc_id, row in shown.items()}


def _page_index(documents: Mapping[Any, Any]) -> Callable[[str], Any]:
    """Return a function from an id to its document, by the text of the key or the page that the id names."""
    address_keys = [key for key in documents if not isinstance(key, str) or "://" in key]
    pages = {normalize_url(str(key)): key for key in reversed(address_keys)}
    return lambda doc_id: documents.get(doc_id) or documents.get(pages.get(normalize_url(doc_id), doc_id))


def _is_nested(documents: Mapping[Any, Any]) -> bool:
    """Return whether the first value is a mapping of documents and not a document."""
    value = next(iter(documents.values()), None)
    return isinstance(value, Mapping) and "text" not in value and "title" not in value


def open_documents(paths: Iterable[str | Path], cited: Iterable[str]) -> dict[str, Any]:
    """Read the cited documents of files, for :func:`make_lookup`: by id, or by collection and id.

    Each file is read once, and only its cited documents are returned.

    Args:
        paths: The files. JSON Lines are read line by line, other files of rows and look-up pickles of report_gen_eval
            into memory. A row is a :class:`DocumentRow`.
        cited: The ids of the cited documents.

    Raises:
        DataError: A file or row that can't be read or is empty, a repeated id, or collections named in some rows only.
    """
    pages, by_collection = {normalize_url(doc_id) for doc_id in cited}, dict[str, dict[str, Any]]()
    for path in map(Path, paths):
        if path.is_file() and not path.stat().st_size:
            raise DataError(f"{path}: it is empty, expected documents, a row each: id and text")
        for where, row in _pickled_rows(path) if path.suffix == ".pkl" else file_rows(path):
            document = read_model(DocumentRow, row, where)
            if normalize_url(document.id) not in pages:
                continue
            members = by_collection.setdefault(document.collection, {})
            if document.id in members:
                raise DataError(f"{where}: document {document.id!r} comes twice")
            members[document.id] = {"title": document.title, "text": document.text}
            if "" in by_collection and len(by_collection) > 1:
                raise DataError(f"{where}: some rows name a collection and some don't")
    return by_collection.get("", by_collection)


def read_lookup_files(reports: Iterable[Report]) -> dict[str, dict[str, Any]]:
    """Read the cited documents from report_gen_eval's look-up files in the working directory.

    Args:
        reports: Reports that name their collections.

    Returns:
        Collection -> id -> document.

    Raises:
        InputError: No such file exists; the message names the files that were expected.
        DataError: A file that can't be read.
    """
    reports = list(reports)
    names = dict.fromkeys(canonical_collection(name) for report in reports for name in report.collection_ids)
    files = {name: Path(_LOOKUP_FOLDER, f"doc_mapping_{name.replace('/', '_')}.pkl") for name in names}
    missing = [str(file) for file in files.values() if not file.is_file()]
    if missing or not files:
        looked = " and ".join(missing) or f"{_LOOKUP_FOLDER}, but no report has collection_ids"
        raise InputError("documents", None, "nothing", f"{FILE_FORMS}; looked in {Path.cwd()} for {looked}")
    cited = {doc_id for report in reports for sentence in report.sentences for doc_id in sentence.citations}
    return {name: open_documents([file], cited) for name, file in files.items()}


class _DataOnly(pickle.Unpickler):
    """An unpickler of plain data: text, numbers, lists and dicts.

    A pickle fetches functions and classes by :meth:`find_class`; without them it can call nothing.
    """

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, which plain data don't need; nothing in it was run")


def _pickled_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the rows of a pickled dict with string keys, read without running anything in it."""
    with readable(path, "a pickled dict", Exception), path.open("rb") as file:  # a damaged pickle may raise anything
        documents = _DataOnly(file).load()
    if not isinstance(documents, dict) or not all(isinstance(key, str) for key in documents):
        raise DataError(f"{path}: not a pickled dict with string keys")
    for doc_id, document in documents.items():
        fields = document if isinstance(document, dict) else {"text": document}
        yield f"{path}, document {doc_id!r}", {**fields, "id": doc_id}
