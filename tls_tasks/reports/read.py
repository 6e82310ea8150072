"""Rows of reports, in the forms that tracks and programs write -> :class:`~tls_tasks.reports.types.Report`.

The form of NeuCLIR 2024 and report_gen_eval: ``request_id``, ``run_id``, ``collection_ids``, ``sentences`` with
``text`` and ``citations``. The form of TREC RAGTIME and RAG: ``metadata`` with ``topic_id`` and ``run_id``,
``responses`` (RAG 2024: ``answer``), ``references``. In both, citations are a list of ids, a map of ids to scores, a
single id, or indices into ``references``, from 0.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tls_tasks.core.json_text import find_json
from tls_tasks.core.json_values import problem
from tls_tasks.core.parsed import Parsed, Problem
from tls_tasks.core.rows import describe
from tls_tasks.reports.read_files import BadRow, read_rows
from tls_tasks.reports.types import Report, ReportSentence

REPORT_PROBLEMS = (
    "no_report",  # not a report; the detail says what is missing
    "no_text",  # a sentence without text; ignored
    "bad_citation",  # a citation that is not an id; kept as an unknown document, or dropped if empty
    "bad_references",  # references that are not a list
    "over_limit",  # a sentence beyond the length limit; left out
    "other_request",  # a model's text names another request than its reference, which is used
)
"""What may be wrong with a row."""

_SENTENCE_FIELDS = ("sentences", "responses", "answer")
ID_FIELDS = ("request_id", "topic_id", "narrative_id", "query_id", "qid")
_CITED_ID_FIELDS = ("doc_id", "docid", "id")
REPORT_FORMS = "a Report, JSON text, or a dict with a list 'sentences' (or 'responses' or 'answer')"


def read_reports(lines: Iterable[str], name: str) -> tuple[tuple[Report, ...], tuple[BadRow, ...]]:
    """Read reports from JSON Lines. A row that can't be read is listed, and the others are read.

    Args:
        lines: The lines.
        name: The file's name, for messages.

    Returns:
        The reports in the order of the lines, and the bad rows. If a run has several reports for a request, the first
        counts. Sentences without text and the like are listed with ``lost=False``: their report is kept.

    Example:
        >>> line = '{"request_id": 7, "run_id": "a", "sentences": [{"text": "It rained.", "citations": ["d1"]}]}'
        >>> reports, bad = read_reports([line, "{"], "run.jsonl")
        >>> reports[0].request_id, reports[0].sentences
        ('7', (ReportSentence(text='It rained.', citations=('d1',)),))
        >>> print(bad[0])
        run.jsonl, line 2: not JSON: Expecting property name enclosed in double quotes: line 1 column 2 (char 1)
    """

    def parse(row: Any) -> Parsed[Report]:
        return parse_report_row(row, needs_id=True)

    return read_rows(lines, name, parse, lambda report: (report.run_id, report.request_id))


def parse_report_row(row: Any, *, limit: int | None = None, needs_id: bool = False) -> Parsed[Report]:
    """One report.

    Args:
        row: The row, as JSON gives it; any value is accepted.
        limit: See :func:`within_limit`.
        needs_id: Whether a row must say which request it answers.

    Returns:
        The report, None if the row is not a report, and the problems, whose kinds are :data:`REPORT_PROBLEMS`.

    Example:
        >>> row = {"metadata": {"topic_id": "7", "run_id": "a"}, "references": ["d1"],
        ...        "responses": [{"text": "It rained.", "citations": [0, 5]}]}
        >>> parsed = parse_report_row(row)
        >>> parsed.value.sentences[0].citations, parsed.counts()
        (('d1', 'references[5]'), {'bad_citation': 1})
    """
    if not isinstance(row, Mapping):
        return Parsed(None, (problem("no_report", f"{shown(row)}, no object"),))
    metadata = row.get("metadata")
    found = {**row, **metadata} if isinstance(metadata, Mapping) else row
    request_id = next((text for field in ID_FIELDS if (text := id_text(found.get(field)))), "")
    if needs_id and not request_id:
        return Parsed(None, (problem("no_report", f"no {' or '.join(ID_FIELDS[:2])}"),))
    field = next((field for field in _SENTENCE_FIELDS if row.get(field) is not None), None)
    if field is None or not isinstance(row[field], list | tuple):
        got = f"no {_SENTENCE_FIELDS[0]}" if field is None else f"{field}: {shown(row[field])}, no list"
        return Parsed(None, (problem("no_report", got),))
    problems: list[Problem] = []
    references = _references(row.get("references"), problems)
    sentences = [_sentence(own, references, f"{field}[{index}]", problems) for index, own in enumerate(row[field])]
    report = Report(request_id, id_text(found.get("run_id")), _ids(found.get("collection_ids")), tuple(sentences))
    if limit is not None and (kept := within_limit(report.sentences, limit)) < len(sentences):
        problems += [problem("over_limit", f"{field}[{index}]") for index in range(kept, len(sentences))]
        report = replace(report, sentences=report.sentences[:kept])
    return Parsed(report, tuple(problems))


def find_report_json(text: str) -> tuple[Any, tuple[Problem, ...]]:
    """The row in a text that should be JSON, as a model may have written it, and what was wrong with it as JSON.

    Of several rows it is the longest; None if there is none. Never raises.

    Example:
        >>> find_report_json('Here: {"sentences": [{"text": "It rained."}]}')[0]
        {'sentences': [{'text': 'It rained.'}]}
    """
    found = find_json(text, _n_sentences)
    return (max(found.values, key=_n_sentences) if found.values else None), found.problems


def within_limit(sentences: Sequence[ReportSentence], limit: int) -> int:
    """How many sentences fit into a limit of characters, counted as the TREC tracks do: NFKC, joined by spaces.

    The first sentence that exceeds the limit is left out with all that follow: half a sentence can't be judged.

    Example:
        >>> within_limit([ReportSentence("It rained."), ReportSentence("Rivers rose.")], 22)
        1
    """
    length = -1
    for index, sentence in enumerate(sentences):
        length += 1 + len(unicodedata.normalize("NFKC", sentence.text))
        if length > limit:
            return index
    return len(sentences)


def report_row(report: Report) -> dict[str, Any]:
    """A report as a row of the first form.

    Example:
        >>> report_row(Report("7", "a", ("c",), (ReportSentence("It rained.", ("d1",)),)))["sentences"]
        [{'text': 'It rained.', 'citations': ['d1']}]
    """
    return {
        "request_id": report.request_id,
        "run_id": report.run_id,
        "collection_ids": list(report.collection_ids),
        "sentences": [{"text": sentence.text, "citations": list(sentence.citations)} for sentence in report.sentences],
    }


def id_text(value: Any) -> str:
    """An id as text, so that 300 and "300" are equal; empty if the value is not an id.

    Example:
        >>> id_text(300), id_text(" 300 "), id_text(True), id_text(None)
        ('300', '300', '', '')
    """
    if isinstance(value, bool) or not isinstance(value, int | str):
        return ""
    return value.strip() if isinstance(value, str) else _number(value)


def shown(value: Any) -> str:
    """What an error calls a wrong JSON value: containers by their type, since they can be of any size.

    Example:
        >>> shown([[[]]]), shown(3), shown(None)
        ('list', 'int 3', 'None')
    """
    if isinstance(value, int) and not isinstance(value, bool):
        return f"int {_number(value)}"
    return describe(value) if value is None or isinstance(value, str | float | bool) else type(value).__name__


def _n_sentences(value: Any) -> int:
    """How many sentences a JSON value has; an empty report counts as one, so that it is found."""
    if not isinstance(value, Mapping):
        return 0
    rows = next((value[field] for field in _SENTENCE_FIELDS if isinstance(value.get(field), list)), None)
    return 0 if rows is None else max(1, len(rows))


def _ids(value: Any) -> tuple[str, ...]:
    listed = value if isinstance(value, list | tuple) else [value]
    return tuple(text for member in listed if (text := id_text(member)))


def _references(value: Any, problems: list[Problem]) -> list[Any] | None:
    if value is None or isinstance(value, list | tuple):
        return None if value is None else list(value)
    problems.append(problem("bad_references", f"references: got {shown(value)}"))
    return None


def _sentence(row: Any, references: list[Any] | None, place: str, problems: list[Problem]) -> ReportSentence:
    text = row.get("text") if isinstance(row, Mapping) else row
    if not isinstance(text, str) or not text.strip():
        problems.append(problem("no_text", place))
        return ReportSentence("")
    given = row.get("citations") if isinstance(row, Mapping) else None
    ids = [_cited(citation, references, f"{place}.citations", problems) for citation in _listed(given)]
    return ReportSentence(text, tuple(dict.fromkeys(doc_id for doc_id in ids if doc_id)))


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    return list(given) if isinstance(given, list | tuple | Mapping) else [given]


def _cited(citation: Any, references: list[Any] | None, place: str, problems: list[Problem]) -> str:
    """The cited id. A citation that is not an id becomes one of no document: a wrong citation must not help."""
    if isinstance(citation, Mapping):
        citation = next((citation[field] for field in _CITED_ID_FIELDS if field in citation), citation)
    if isinstance(citation, float) and citation.is_integer():
        citation = int(citation)
    if isinstance(citation, int) and not isinstance(citation, bool) and references is not None:
        if 0 <= citation < len(references) and (found := id_text(references[citation])):
            return found
        problems.append(problem("bad_citation", f"{place}: no references[{_number(citation)}]"))
        return f"references[{_number(citation)}]"
    if found := id_text(citation):
        return found
    problems.append(problem("bad_citation", f"{place}: {shown(citation)}"))
    return "" if citation is None or isinstance(citation, str) else f"<{type(citation).__name__}>"


def _number(value: int) -> str:
    """A number in digits, or in hexadecimal where Python might refuse to write thousands of digits."""
    return str(value) if abs(value) < 10**18 else hex(value)
