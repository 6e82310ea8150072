"""Rows of a summarisation data set -> documents with a query and one or more reference summaries."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.catalogue import DataSet

TEXT_FIELDS = ("text", "document", "dialogue", "transcript", "source", "report", "input")
"""Fields that hold the document; the first that a row has is read."""

REFERENCE_FIELDS = ("references", "reference", "summary", "output")
"""Fields that hold the reference summary, or a list of them; the first that a row has is read."""

ID_FIELDS = ("pid", "id", "doc_id", "uid")
"""Fields that hold the document's name; without one it is the number of the row. ``pid`` first: in SCROLLS it is the
one that is unique."""

_LAST_NUMBER = re.compile(r"_\d+$")
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")


@dataclass(frozen=True, slots=True)
class SummaryDocument:
    """One document to summarise.

    Attributes:
        id: Its name, unique in the data set.
        text: The text, whole.
        query: What the summary must answer; empty where there is none.
        references: The reference summaries, one or more.
    """

    id: str
    text: str
    query: str
    references: tuple[str, ...]


def read_rows(wanted: DataSet, rows: Iterable[tuple[str, Any]]) -> tuple[SummaryDocument, ...]:
    r"""Make documents of rows, in the order of the rows.

    Args:
        wanted: The data set that the rows are of.
        rows: Each with its place for messages: an object with one of :data:`TEXT_FIELDS`, one of
            :data:`REFERENCE_FIELDS`, and perhaps one of :data:`ID_FIELDS` and ``query``.

    Raises:
        DataError: If there is no row, a row lacks a field, or two documents have one id.

    Example:
        >>> from tls_tasks.summaries.data import DATA_SETS
        >>> row = {"id": "m1", "input": "Why was it postponed?\n\nChair: Let us wait.", "output": "To wait."}
        >>> read_rows(DATA_SETS["summ_qmsum"], [("line 1", row)])
        (SummaryDocument(id='m1', text='Chair: Let us wait.', query='Why was it postponed?', references=('To wait.',)),)
    """
    documents = [_document(wanted, where, row, index) for index, (where, row) in enumerate(rows)]
    if not documents:
        raise DataError(f"{wanted.name}: no row in the data")
    if wanted.settings["references_in_rows"]:
        documents = _grouped(documents)
    seen: set[str] = set()
    for document in documents:
        if document.id in seen:
            raise DataError(f"{wanted.name}: two documents have the id {document.id!r}")
        seen.add(document.id)
    return tuple(documents)


def split_query(text: str) -> tuple[str, str]:
    r"""Split at the first blank line; without one all is text and the query is empty.

    Example:
        >>> split_query("What was decided?\n\nA: Yes.\n\nB: No.")
        ('What was decided?', 'A: Yes.\n\nB: No.')
        >>> split_query("A: Yes.")
        ('', 'A: Yes.')
    """
    blank = _BLANK_LINE.search(text)
    if blank is None:
        return "", text
    return text[: blank.start()].strip(), text[blank.end() :]


def _document(wanted: DataSet, where: str, row: Any, index: int) -> SummaryDocument:
    if not isinstance(row, Mapping):
        raise DataError(f"{where}: expected an object, got {type(row).__name__}")
    text = _string(_field(row, TEXT_FIELDS, where), TEXT_FIELDS, where)
    value = _field(row, REFERENCE_FIELDS, where)
    values = value if isinstance(value, list) and value else [value]
    references = tuple(_string(item, REFERENCE_FIELDS, where) for item in values)
    query = row.get("query")
    if query is None and wanted.settings["query_comes_first"]:
        query, text = split_query(text)
    name = next((row[field] for field in ID_FIELDS if row.get(field) not in (None, "")), index)
    return SummaryDocument(str(name), text, str(query or "").strip(), references)


def _field(row: Mapping[str, Any], names: Iterable[str], where: str) -> Any:
    for name in names:
        if row.get(name) is not None:
            return row[name]
    raise DataError(f"{where}: no field {' or '.join(names)}; there are {', '.join(map(str, row)) or 'none'}")


def _string(value: Any, names: Iterable[str], where: str) -> str:
    if not isinstance(value, str):
        raise DataError(f"{where}: {'/'.join(names)} must be text, got {type(value).__name__}")
    return value


def _grouped(documents: Iterable[SummaryDocument]) -> list[SummaryDocument]:
    """One document for rows whose ids differ in their last ``_N`` only; a dialogue that stands alone keeps its id.

    The text is part of the key, since the ids of the other splits end in the number of the dialogue.
    """
    groups: dict[tuple[str, str], list[SummaryDocument]] = {}
    for document in documents:
        groups.setdefault((_LAST_NUMBER.sub("", document.id), document.text), []).append(document)
    grouped = []
    for (name, _), members in groups.items():
        references = tuple(reference for member in members for reference in member.references)
        grouped.append(replace(members[0], id=name if len(members) > 1 else members[0].id, references=references))
    return grouped
