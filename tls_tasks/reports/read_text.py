"""Model text -> a report: its sentences and what each of them cites. Never raises, whatever the model wrote."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tls_tasks.core.json_text import JSON_PROBLEM_KINDS, find_json, strip_thinking
from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Parsed, Problem
from tls_tasks.reports.read import within_limit
from tls_tasks.reports.read_lines import blocks, sentence_spans
from tls_tasks.reports.read_marks import Citations, Mark
from tls_tasks.reports.types import Report, ReportSentence

PROBLEM_KINDS = (
    "unknown_citation",  # a citation of no document of the prompt; kept, since it is a wrong citation
    "over_limit",  # a sentence beyond the length limit of the request; left out
    *JSON_PROBLEM_KINDS,
)
"""What may be wrong with a report in a text."""

_MAY_BE_JSON = re.compile(r"""["'](?:text|sentences|responses?|answer|report)["']\s{0,5}:""")
_SENTENCE_LISTS = ("sentences", "responses", "answer", "report")
_PROSE_FIELDS = ("report", "answer", "text", "response")
_CITATION_FIELDS = ("citations", "citation", "cites", "references", "sources")


def parse_report(
    text: str,
    doc_ids: Sequence[str] = (),
    *,
    request_id: str = "",
    run_id: str = "",
    collection_ids: Sequence[str] = (),
    limit: int | None = None,
) -> Parsed[Report]:
    r"""Read a report as models write it: prose with marks such as ``[1]``, or JSON with a list of sentences.

    Thinking, headings, list markers and a list of references at the end are not part of the report. A mark after a
    full stop belongs to the sentence before it, unless the paragraph begins with a mark: then marks precede their
    sentences. Marks are removed from the text.

    Args:
        text: What the model wrote.
        doc_ids: Ids of the documents that the prompt showed, in the order of their numbers.
        request_id: Which request was answered.
        run_id: Who answered.
        collection_ids: Where the documents are.
        limit: Characters (NFKC, sentences joined by spaces) that a report may have; the first sentence that exceeds
            them and all that follow are left out. None: no limit.

    Returns:
        The report, None if there is no sentence at all, and the problems, whose kinds are :data:`PROBLEM_KINDS`.

    Example:
        >>> parsed = parse_report("# Rain\n\nIt rained [1]. So? [2, 7]\n\nSources:\n[1] d1", ["d1", "d2"])
        >>> parsed.value.sentences
        (ReportSentence(text='It rained.', citations=('d1',)), ReportSentence(text='So?', citations=('d2', '7')))
        >>> parsed.problems
        (Problem(kind='unknown_citation', detail='7'),)
        >>> parse_report('{"sentences": [{"text": "It rained.", "citations": [1]}]}', ["d1"]).value.sentences
        (ReportSentence(text='It rained.', citations=('d1',)),)
    """
    citations = Citations(doc_ids)
    answer = strip_thinking(text)
    problems: list[Problem] = [problem("unfinished_thinking", text)] if answer.unfinished else []
    sentences = None
    if _MAY_BE_JSON.search(answer.text):
        sentences = _json_sentences(answer.text, citations, problems)
    if sentences is None:
        sentences = _prose_sentences(answer.text, citations)
    sentences = _within(sentences, limit, problems)
    for sentence in sentences:
        unknown = [doc_id for doc_id in sentence.citations if not citations.is_known(doc_id)]
        problems += [problem("unknown_citation", doc_id) for doc_id in unknown]
    if not sentences:
        return Parsed(None, tuple(problems))
    return Parsed(Report(request_id, run_id, tuple(collection_ids), tuple(sentences)), tuple(problems))


def _prose_sentences(text: str, citations: Citations) -> list[ReportSentence]:
    """The sentences of prose with their marks.

    Example:
        >>> _prose_sentences("[1] says that it rained. [2] says that it snowed.", Citations(["a", "b"]))[1]
        ReportSentence(text='says that it snowed.', citations=('b',))
    """
    sentences: list[ReportSentence] = []
    for block in blocks(text):
        clean, marks = citations.strip(block)
        if not _has_word(clean) and sentences:  # marks on a line of their own
            sentences[-1] = _with(sentences[-1], [doc_id for mark in marks for doc_id in mark.ids])
        sentences += _block_sentences(clean, marks)
    return sentences


def _block_sentences(clean: str, marks: Sequence[Mark]) -> list[ReportSentence]:
    """The sentences of one paragraph, each with the marks in it or right after it."""
    leading = bool(marks) and not clean[: marks[0].position].strip()
    places = {mark.position for mark in marks}
    spans = sentence_spans(clean, places if leading else (), places)
    if not spans:
        return []
    cited: list[list[str]] = [[] for _ in spans]
    index = 0
    for mark in marks:
        while index + 1 < len(spans) and _is_after(mark.position, spans, index, leading):
            index += 1
        cited[index] += mark.ids
    found = []
    for (start, end), ids in zip(spans, cited, strict=True):
        if _has_word(clean[start:end]):
            found.append(ReportSentence(clean[start:end].strip(), tuple(dict.fromkeys(ids))))
        elif found:
            found[-1] = _with(found[-1], ids)
    return found


def _is_after(position: int, spans: Sequence[tuple[int, int]], index: int, leading: bool) -> bool:
    """Whether a mark belongs to a later sentence than this."""
    return position >= spans[index][1] if leading else position > spans[index + 1][0]


def _with(sentence: ReportSentence, ids: Sequence[str]) -> ReportSentence:
    return ReportSentence(sentence.text, tuple(dict.fromkeys([*sentence.citations, *ids])))


def _has_word(text: str) -> bool:
    return any(character.isalnum() for character in text)


def _json_sentences(text: str, citations: Citations, problems: list[Problem]) -> list[ReportSentence] | None:
    """The sentences of a JSON answer; None if there is no JSON."""
    found = find_json(text, _weigh)
    if not found.values:
        return None
    problems += found.problems
    sentences: list[ReportSentence] = []
    for value in found.values:
        rows = _rows(value)
        references = value.get("references") if isinstance(value, Mapping) else None
        listed = references if isinstance(references, list) else None
        for row in rows:
            sentences += _row_sentences(row, citations, listed)
        if not rows and isinstance(value, Mapping):
            prose = next(str(value[name]) for name in _PROSE_FIELDS if isinstance(value.get(name), str))
            sentences += _prose_sentences(prose, citations)
    return sentences


def _weigh(value: Any) -> int:
    """How many sentences a JSON value holds."""
    if rows := _rows(value):
        return len(rows)
    return int(isinstance(value, Mapping) and any(isinstance(value.get(name), str) for name in _PROSE_FIELDS))


def _rows(value: Any) -> list[Any]:
    """The list of sentences in a value: objects with ``text``, or texts under a name that says so."""
    if isinstance(value, Mapping):
        lists = (value.get(name) for name in _SENTENCE_LISTS)
        rows = next((rows for rows in lists if isinstance(rows, list) and rows), [])
        return [row for row in rows if isinstance(row, str) or _is_row(row)]
    return [row for row in value if _is_row(row)] if isinstance(value, list) else []


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and isinstance(value.get("text"), str)


def _row_sentences(row: Any, citations: Citations, listed: list[Any] | None) -> list[ReportSentence]:
    """The sentence of a row, however many full stops it has; marks in its text count as well."""
    text = row if isinstance(row, str) else row["text"]
    given: Any = [] if isinstance(row, str) else next((row[name] for name in _CITATION_FIELDS if name in row), [])
    clean, marks = citations.strip(" ".join(text.split()))
    ids = [*_cited(given, citations, listed), *(doc_id for mark in marks for doc_id in mark.ids)]
    return [ReportSentence(clean.strip(), tuple(dict.fromkeys(ids)))] if _has_word(clean) else []


def _cited(given: Any, citations: Citations, listed: list[Any] | None) -> list[str]:
    """What a ``citations`` field cites: ids, numbers, a map of ids to scores, or a single one."""
    if isinstance(given, Mapping):
        given = list(given)
    elif not isinstance(given, list):
        given = [] if given is None else [given]
    ids: list[str] = []
    for cited in given:
        if isinstance(cited, bool) or not isinstance(cited, int | str):
            ids += _cited(cited.get("doc_id", cited.get("id")), citations, None) if isinstance(cited, Mapping) else []
        elif isinstance(cited, int):
            # In an answer with a list of references of its own, numbers are indices into it from 0, as in TREC RAG.
            in_list = listed is not None and 0 <= cited < len(listed) and isinstance(listed[cited], str)
            ids.append(str(listed[cited]) if listed is not None and in_list else citations.of_number(_bounded(cited)))
        elif cited.strip():
            ids += citations.ids(cited.strip().strip("[]")) or [cited.strip()]
    return ids


def _bounded(number: int) -> int:
    """A number that can be written, whatever Python's limit on digits; -1 is out of every list."""
    return number if abs(number) < 10**9 else -1


def _within(sentences: list[ReportSentence], limit: int | None, problems: list[Problem]) -> list[ReportSentence]:
    """The sentences before the first that exceeds the limit."""
    if limit is None:
        return sentences
    kept = within_limit(sentences, limit)
    problems += [problem("over_limit", beyond.text) for beyond in sentences[kept:]]
    return sentences[:kept]
