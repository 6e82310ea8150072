"""Reports that models write as JSON: a list of sentences with what they cite, or prose in an object."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from tls_tasks.core.json_text import find_json
from tls_tasks.core.parsed import Problem
from tls_tasks.reports.citations import Citations, in_brackets
from tls_tasks.reports.read_prose import prose_sentences
from tls_tasks.reports.types import ReportSentence

SENTENCE_FIELDS = ("sentences", "responses", "answer")
CITED_ID_FIELDS = ("doc_id", "docid", "id")
_LIST_FIELDS = (*SENTENCE_FIELDS, "report")
_TEXT_FIELDS = ("text", "sentence", "statement", "claim", "content")
_PROSE_FIELDS = ("report", "answer", "text", "response", "content", "sentence", "statement", "claim")
_CITATION_FIELDS = ("citations", "citation", "cites", "references", "sources", "source", "documents", "docs", "doc_ids")
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
    values: list[Any] = list(found.values)
    if len(values) > 1 and all(map(_is_row, values)):  # JSON Lines
        values = [values]
    sentences: list[ReportSentence] = []
    for value in values:
        rows, references = _rows(value), value.get("references") if isinstance(value, Mapping) else None
        own_list = references if isinstance(references, list) else []
        sentences += filter(None, (_row_sentence(row, citations, own_list) for row in rows))
        if not rows:
            sentences += prose_sentences(_prose(value), citations)
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
    if depth > _MAX_DEPTH:
        return []
    if isinstance(value, list):
        rows = []
        for own in value:
            is_row = _is_row(own) or (named and isinstance(own, str))
            rows += [own] if is_row else _rows(own, named=named, depth=depth + 1)
        return rows
    if not isinstance(value, Mapping):
        return []
    names = (*_LIST_FIELDS, *(name for name in value if name not in (*_LIST_FIELDS, *_CITATION_FIELDS)))
    inner = (_rows(value.get(name), named=name in _LIST_FIELDS, depth=depth + 1) for name in names)
    return next(filter(None, inner), [])


def _is_row(value: Any) -> bool:
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


def _row_sentence(row: Any, citations: Citations, own_list: list[Any]) -> ReportSentence | None:
    """The sentence of a row, however many full stops it has; marks in its text count as well."""
    fields: Mapping[Any, Any] = {"text": row} if isinstance(row, str) else row
    cited = next((fields[name] for name in _CITATION_FIELDS if name in fields), None)
    clean, marks = citations.strip(in_brackets(" ".join(_text_of(fields, _TEXT_FIELDS).split())))
    ids = [*_cited_ids(cited, citations, own_list), *(doc_id for mark in marks for doc_id in mark.ids)]
    return ReportSentence(clean.strip(), tuple(dict.fromkeys(ids))) if any(map(str.isalnum, clean)) else None


def _cited_ids(given: Any, citations: Citations, own_list: list[Any]) -> list[str]:
    """What a ``citations`` field in a model's answer cites; what can't be a citation is ignored.

    In an answer with a list of references of its own, numbers are indices into it from 0, as in TREC RAG.
    """
    ids: list[str] = []
    for cited in listed(given):
        if isinstance(cited, Mapping):
            name = next((name for name in (*CITED_ID_FIELDS, *_NUMBER_FIELDS) if name in cited), "")
            ids += _cited_ids(cited.get(name), citations, [])
        elif isinstance(cited, int) and not isinstance(cited, bool):
            own = own_list[cited] if 0 <= cited < len(own_list) else None
            ids.append(own if isinstance(own, str) else citations.of_number(cited))
        elif isinstance(cited, str) and cited.strip():
            marked = citations.strip(in_brackets(cited))[1]
            found = citations.ids(cited.strip().strip("[]")) or [doc_id for mark in marked for doc_id in mark.ids]
            ids += found or [cited.strip()]
    return ids
