"""Where the text of a cited document comes from: mappings, stores and functions behind one look-up.

A document is a text, or a mapping with ``text`` and optionally ``title``, as in the collections of the TREC tracks.
Collections have ids such as ``neuclir/1/zh``; a few have a second spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tls_tasks.core.errors import InputError
from tls_tasks.core.rows import describe

_SAME_COLLECTION: Mapping[str, str] = {
    "neuclir/1/zho": "neuclir/1/zh",
    "neuclir/1/fas": "neuclir/1/fa",
    "neuclir/1/rus": "neuclir/1/ru",
}
"""Second spelling of a collection's id -> the first one. No other ids are considered equal."""

_ACCEPTED = "a mapping of document ids, a mapping of collections to such mappings, a store, or a function"
_MOST_SHOWN = 1000
"""No prompt shows more documents: a larger mapping is a pool, whose order says nothing."""
_DOCUMENT = "a str, or a mapping with a str 'text' and optionally a str 'title'"


def canonical_collection(collection_id: str) -> str:
    """The first spelling of a collection's id.

    Example:
        >>> canonical_collection("neuclir/1/zho"), canonical_collection("trusted/fasset")
        ('neuclir/1/zh', 'trusted/fasset')
    """
    return _SAME_COLLECTION.get(collection_id, collection_id)


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
        """The text of a document; None if there is no such document.

        Raises:
            InputError: If what is stored is not a document.
        """
        found = self.find(collection_ids, doc_id)
        return None if found is None else _document_text(found, doc_id)

    def within(self, collection_ids: Sequence[str]) -> tuple[str, ...]:
        """The collections to search for a report's documents, in order: those that it names, otherwise all."""
        names, known = dict.fromkeys(map(canonical_collection, collection_ids)), self.collections or ()
        return tuple(name for name in names if name in known) if names else known


def look_up(documents: Any) -> LookUp:
    """A look-up over whatever the caller has.

    Args:
        documents: Document id -> document; or collection id -> such a mapping, searched in the order in which a report
            names its collections (all of them if it names none); or a function of both ids that returns a document or
            None. Any object with ``keys`` and ``get`` is a mapping; a store of millions is only asked for single
            documents.

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
    if _is_mapping(documents):
        return _nested(documents) if _is_nested(documents) else LookUp(lambda _, doc_id: documents.get(doc_id))
    if callable(documents):
        return LookUp(documents)
    raise InputError("documents", None, describe(documents), _ACCEPTED)


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
    found = ((doc_id, documents.get(doc_id)) for doc_id in doc_ids)
    return {doc_id: str(own.get("title") or "") if isinstance(own, Mapping) else "" for doc_id, own in found}


def _document_text(document: Any, doc_id: str) -> str:
    """A document as a judge reads it: its title, if it has one, and its text.

    Raises:
        InputError: Not a document; the message has its id.

    Example:
        >>> _document_text({"title": "", "text": "They ended."}, "d1")
        'They ended.'
    """
    if isinstance(document, str):
        return document
    if isinstance(document, Mapping):
        title, text = document.get("title") or "", document.get("text")
        if isinstance(text, str) and isinstance(title, str):
            return f"Title: {title}\n\nContent: {text}" if title else text
    raise InputError(f"documents[{doc_id!r}]", None, describe(document), _DOCUMENT)


def _is_mapping(value: Any) -> bool:
    return hasattr(value, "keys") and hasattr(value, "get")


def _is_nested(documents: Any) -> bool:
    """Whether the first value is a mapping of documents and not a document."""
    first = next(iter(documents.keys()), None)
    value: Any = None if first is None else documents.get(first)
    return _is_mapping(value) and "text" not in value and "title" not in value


def _nested(collections: Any) -> LookUp:
    by_name: dict[str, Any] = {}
    for spelling in collections:
        name, documents = canonical_collection(str(spelling)), collections.get(spelling)
        if not _is_mapping(documents):
            raise InputError(f"documents[{spelling!r}]", None, describe(documents), "a mapping of document ids")
        if name in by_name:
            raise InputError(f"documents[{spelling!r}]", None, "a collection that was given before", f"{name!r} once")
        by_name[name] = documents

    def find(collection_ids: Sequence[str], doc_id: str) -> Any:
        for name in found.within(collection_ids):
            if (document := by_name[name].get(doc_id)) is not None:
                return document
        return None

    found = LookUp(find, tuple(by_name))
    return found
