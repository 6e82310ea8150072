"""Reports that models write as JSON: a list of sentences with what they cite, or prose in an object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.json_text import find_json
from tls_tasks.core.parsed import Problem
from tls_tasks.reports.citations import Citations
from tls_tasks.reports.read_prose import prose_sentences
from tls_tasks.reports.references import Entry, entry_of
from tls_tasks.reports.types import ReportSentence

SENTENCE_FIELDS = ("sentences", "responses", "answer")
CITED_ID_FIELDS = ("doc_id", "docid", "id")
_LIST_FIELDS = (*SENTENCE_FIELDS, "report")
_TEXT_FIELDS = ("text", "sentence", "statement", "claim", "content")
_PROSE_FIELDS = ("report", "answer", "text", "response", "content", "sentence", "statement", "claim")
_CITATION_FIELDS = ("citations", "citation", "cites", "references", "sources", "source", "documents", "docs", "doc_ids")
_REFERENCE_FIELDS = ("references", "sources", "bibliography", "citations", "documents")
_MAY_BE_JSON = re.compile(
    r"""["'](?:texts?|sentences?|statements?|claims?|responses?|answer|report|content)["']\s{0,5}:"""
)
_NUMBER_FIELDS = ("document", "doc", "number", "index")
_MAX_DEPTH = 6


def json_sentences(text: str, citations: Citations) -> tuple[list[ReportSentence], tuple[Problem, ...]] | None:
    """The sentences of a JSON answer, and what was wrong with it as JSON; None if there is no report in JSON.

    Example:
        >>> json_sentences('[{"sentence": "It rained.", "sources": [2]}]', Citations(["a", "b"]))[0]
        [ReportSentence(text='It rained.', citations=('b',))]
    """
    found = find_json(text, _weigh) if _MAY_BE_JSON.search(text) else None
    if found is None or not found.values:
        return None
    sentences: list[ReportSentence] = []
    values: list[Any] = list(found.values)
    one_a_line = len(values) > 1 and all(map(_is_row, values))  # JSON Lines
    for value in [values] if one_a_line else values:
        references = value.get("references") if isinstance(value, Mapping) else None
        in_list = references if isinstance(references, list) else None
        rows = _rows(value)
        for row in rows:
            sentences += _row_sentences(row, citations, in_list)
        if not rows:
            sentences += prose_sentences(_prose(value), citations, _entries(value))
    return sentences, found.problems


def listed(given: Any) -> list[Any]:
    """What a field lists: the members of a list, the keys of a map, or a single value.

    Example:
        >>> listed({"d1": 0.9}), listed("d1"), listed(None)
        (['d1'], ['d1'], [])
    """
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple | Mapping) else [given]


def _weigh(value: Any) -> int:
    """How many sentences a JSON value holds; an empty report counts as one, so that it is found."""
    is_empty = isinstance(value, Mapping) and any(isinstance(value.get(name), list) for name in SENTENCE_FIELDS)
    return len(_rows(value)) or int(is_empty or bool(_prose(value)))


def _rows(value: Any, *, named: bool = False, depth: int = 0) -> list[Any]:
    """The sentences in a value: objects with a text, or texts in a list whose name says so; wrappers are opened."""
    if depth > _MAX_DEPTH or not isinstance(value, list | Mapping):
        return []
    if isinstance(value, list):
        return [
            row
            for own in value
            for row in (
                [own] if _is_row(own) or (named and isinstance(own, str)) else _rows(own, named=named, depth=depth + 1)
            )
        ]
    names = (*_LIST_FIELDS, *(name for name in value if name not in _LIST_FIELDS and name not in _REFERENCE_FIELDS))
    inner = (_rows(value.get(name), named=name in _LIST_FIELDS, depth=depth + 1) for name in names)
    return next(filter(None, inner), [])


def _is_row(value: Any) -> bool:
    """Whether it is an object with a text, or a text with a list of what it cites."""
    if isinstance(value, list):
        return len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], list)
    return isinstance(value, Mapping) and bool(_text_of(value, _TEXT_FIELDS))


def _text_of(value: Mapping[Any, Any], names: tuple[str, ...]) -> str:
    return next((value[name] for name in names if isinstance(value.get(name), str)), "")


def _prose(value: Any) -> str:
    """The text of a report that is one text."""
    for _ in range(_MAX_DEPTH):
        if not isinstance(value, Mapping):
            return ""
        if text := _text_of(value, _PROSE_FIELDS):
            return text
        value = next((value[name] for name in _PROSE_FIELDS if name in value), None)
    return ""


def _entries(value: Any) -> list[Entry]:
    """The list of references beside a report that is one text, whose marks count from 1."""
    given = next((value[name] for name in _REFERENCE_FIELDS if isinstance(value.get(name), list | Mapping)), ())
    entries = []
    for name, row in given.items() if isinstance(given, Mapping) else enumerate(given, start=1):
        key, own = name, row
        if isinstance(row, Mapping):
            key = next((row[field] for field in ("id", *_NUMBER_FIELDS) if isinstance(row.get(field), str | int)), name)
            own = " ".join(text for text in row.values() if isinstance(text, str))
        if isinstance(own, str):
            entry = entry_of(own)
            key = key if isinstance(key, str) else str(_bounded(key))
            entries.append(entry if entry.key else Entry(key, entry.rest, is_mark=True))
    return entries


def _row_sentences(row: Any, citations: Citations, in_list: list[Any] | None) -> list[ReportSentence]:
    """The sentence of a row, however many full stops it has; marks in its text count as well."""
    given: Any
    if isinstance(row, Mapping):
        text, given = _text_of(row, _TEXT_FIELDS), next((row[name] for name in _CITATION_FIELDS if name in row), [])
    else:
        text, given = (row, []) if isinstance(row, str) else row
    clean, marks = citations.strip(" ".join(text.split()))
    ids = [*_cited_of_prompt(given, citations, in_list), *(doc_id for mark in marks for doc_id in mark.ids)]
    return [ReportSentence(clean.strip(), tuple(dict.fromkeys(ids)))] if any(map(str.isalnum, clean)) else []


def _cited_of_prompt(given: Any, citations: Citations, in_list: list[Any] | None) -> list[str]:
    """What a ``citations`` field in a model's answer cites; what can't be a citation is ignored."""
    ids: list[str] = []
    for cited in listed(given):
        if isinstance(cited, Mapping):
            names = (name for name in (*CITED_ID_FIELDS, *_NUMBER_FIELDS, *_CITATION_FIELDS) if name in cited)
            ids += _cited_of_prompt(cited.get(next(names, "")), citations, None)
        elif isinstance(cited, bool) or not isinstance(cited, int | str):
            continue
        elif isinstance(cited, int):
            # In an answer with a list of references of its own, numbers are indices into it from 0, as in TREC RAG.
            is_place = in_list is not None and 0 <= cited < len(in_list) and isinstance(in_list[cited], str)
            ids.append(str(in_list[cited]) if in_list and is_place else citations.of_number(_bounded(cited)))
        elif cited.strip():
            ids += citations.ids(cited.strip().strip("[]")) or _marked(cited, citations) or [cited.strip()]
    return ids


def _marked(text: str, citations: Citations) -> list[str]:
    return [doc_id for mark in citations.strip(text)[1] for doc_id in mark.ids]


def _bounded(number: int) -> int:
    """A number that can be written, whatever Python's limit on digits; -1 is out of every list."""
    return number if abs(number) < 10**9 else -1
