"""Reports as models, tracks and programs write them -> :class:`~tls_tasks.reports.types.Report`.

A model's answer to a prompt with numbered documents is prose with citation marks, or JSON (:func:`parse_report`). Rows
of reports (:func:`parse_report_row`) have two forms. That of NeuCLIR 2024 and report_gen_eval: ``request_id``,
``run_id``, ``collection_ids``, ``sentences`` with ``text`` and ``citations``. That of TREC RAGTIME and RAG:
``metadata`` with ``topic_id`` and ``run_id``, ``responses`` (RAG 2024: ``answer``), ``references``. In both, citations
are a list of ids, a map of ids to scores, a single id, or indices into ``references``, from 0. A row may also have the
report as Markdown (``article``): the pages that it links to or lists are then its documents, by their URLs.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

from tls_tasks.core.errors import describe
from tls_tasks.core.json_text import FoundJson, find_json
from tls_tasks.core.parsed import Parsed, Problem, problem, problem_kinds, unread_in
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.reports.citations import Citations, in_brackets
from tls_tasks.reports.documents import addresses
from tls_tasks.reports.json_lines import FORMS, Read, read_rows, with_keys
from tls_tasks.reports.read_prose import is_refusal, prose_sentences, unescaped
from tls_tasks.reports.types import Report, ReportSentence

PROBLEM_KINDS = problem_kinds("reports", "json")
"""What may be wrong with a row or a model's answer; ``unknown_citation`` and ``other_request`` only with an answer."""

MAX_SENTENCES = 2_000
"""Sentences of a report that are scored."""

ID_FIELDS = ("request_id", "topic_id", "narrative_id", "query_id", "qid")
ROW_FORMS = FORMS["reports"]
"""Who writes a form of a report's row -> what tells it apart; in error messages and in docs/reports.md."""

REPORT_FORMS = "a Report, text, or a dict with a list 'sentences' (or 'responses' or 'answer')"

_SENTENCE_FIELDS = ("sentences", "responses", "answer")
_MARKDOWN_FIELDS = ("article", "report", "response", "answer")
_CITED_ID_FIELDS = ("doc_id", "docid", "id")
_LIST_FIELDS = (*_SENTENCE_FIELDS, "report")
_TEXT_FIELDS = ("text", "sentence", "statement", "claim", "content")
_PROSE_FIELDS = ("report", "answer", "text", "response", "content", "sentence", "statement", "claim")
_CITATION_FIELDS = ("citations", "citation", "cites", "references", "sources", "source", "documents", "docs", "doc_ids")
_MAY_BE_JSON = re.compile(r"""["'](?:(?:text|sentence|statement|claim|response)s?|answer|report|content)["']\s{0,5}:""")
_NUMBER_FIELDS = ("document", "doc", "number", "index")
_MAX_DEPTH = 6


def read_reports(lines: Iterable[str], name: str) -> Read[Report]:
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
        run.jsonl, line 2: not JSON: Expecting property name enclosed in double quotes at character 2
    """
    return read_rows(lines, name, parse_report_row, lambda report: (report.run_id, report.request_id), ROW_FORMS)


def parse_report(
    text: str,
    doc_ids: Sequence[str] = (),
    *,
    titles: Sequence[str] = (),
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
        titles: Their titles, in the same order; citations by title are read if they are given.
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
    citations = Citations(doc_ids, titles)
    return _report(text, citations, limit, request_id=request_id, run_id=run_id, collection_ids=tuple(collection_ids))


def _report(text: str, citations: Citations, limit: int | None, **about: Any) -> Parsed[Report]:
    """The report in a model's text."""
    answer = strip_thinking(text)
    from_json = _json_sentences(answer.text, citations)
    sentences = from_json or prose_sentences(answer.text, citations)
    read = sentences.value or []
    kept, beyond = within_limit(read[:MAX_SENTENCES], limit)
    if len(read) > MAX_SENTENCES:
        beyond += (problem("too_long", f"{len(read) - MAX_SENTENCES:,} of {len(read):,} sentences"),)
    cited = [doc_id for sentence in kept for doc_id in sentence.citations]
    unknown = [problem("unknown_citation", doc_id) for doc_id in cited if not citations.may_have(doc_id)]
    written = "" if from_json or beyond else answer.text.strip()
    is_report = kept and (cited or not is_refusal(written))
    report = Report(**about, sentences=kept, written=written) if is_report else None
    return Parsed(report, (*answer.problems(text), *sentences.problems, *beyond, *unknown))


def parse_report_row(row: Any, *, limit: int | None = None, of_a_model: bool = False) -> Parsed[Report]:
    """One report.

    Args:
        row: The row, as JSON gives it; any value is accepted.
        limit: See :func:`within_limit`.
        of_a_model: Whether it is of a model's answer: then only ``citations`` are read here, since
            :func:`parse_report` reads what else may cite.

    Returns:
        The report, None if the row is not a report, and the problems, whose kinds are :data:`PROBLEM_KINDS`.

    Example:
        >>> row = {"metadata": {"topic_id": "7", "run_id": "a"}, "references": ["d1"],
        ...        "responses": [{"text": "It rained.", "citations": [0, 5]}]}
        >>> parsed = parse_report_row(row)
        >>> parsed.value.sentences[0].citations, parsed.counts()
        (('d1', 'references[5]'), {'bad_citation': 1})
    """
    if not isinstance(row, Mapping):
        return refused("no_report", f"{shown(row)}, no object")
    metadata = row.get("metadata")
    about = {**row, **metadata} if isinstance(metadata, Mapping) else row
    field = next((field for field in _SENTENCE_FIELDS if row.get(field) is not None), None)
    if prose := first_text(row, _MARKDOWN_FIELDS) if field in (None, "answer") and not of_a_model else "":
        request_id, run_id = first_id(about, (*ID_FIELDS, "id")), id_text(about.get("run_id"))
        citations = Citations(addresses(unescaped(prose)), is_numbered=False)
        return _report(prose, citations, limit, request_id=request_id, run_id=run_id, collection_ids=())
    if field is None:
        return refused("no_report", f"no {_SENTENCE_FIELDS[0]}")
    if not isinstance(row[field], list | tuple):
        return refused("no_report", f"{field}: {shown(row[field])}, no list")
    problems: list[Problem] = []
    references = row.get("references")
    if not isinstance(references, list | tuple | None):
        problems.append(problem("bad_references", f"references: got {shown(references)}"))
        references = None
    sentences = [_sentence(own, references, f"{field}[{n}]", problems, of_a_model) for n, own in enumerate(row[field])]
    kept, beyond = within_limit(sentences, limit)
    collections = tuple(filter(None, map(id_text, _listed(about.get("collection_ids")))))
    request_id = first_id(about, ID_FIELDS)
    written = "" if beyond else first_text(row, ("written",))
    return Parsed(Report(request_id, id_text(about.get("run_id")), collections, kept, written), (*problems, *beyond))


def find_report_json(text: str) -> tuple[Any, tuple[Problem, ...]]:
    """The row in a text that should be JSON, as a model may have written it, and what was wrong with it as JSON.

    Of several rows it is the last whole one; None if the text has no row. Never raises.

    Example:
        >>> find_report_json('Here: {"sentences": [{"text": "It rained."}]}')[0]
        {'sentences': [{'text': 'It rained.'}]}
    """
    found = find_json(text, _has_sentences)
    report, drafts = _last_report(found)
    return report[0], (*found.problems, *drafts)


def within_limit(
    sentences: Sequence[ReportSentence], limit: int | None
) -> tuple[tuple[ReportSentence, ...], tuple[Problem, ...]]:
    """The sentences that fit into a limit of characters, counted as the TREC tracks do: NFKC, joined by spaces.

    The first sentence that exceeds the limit is left out with all that follow: half a sentence can't be judged.

    Args:
        sentences: The sentences.
        limit: The limit; None: no limit.

    Returns:
        The sentences that are kept, and a problem for each of the others.

    Example:
        >>> kept, beyond = within_limit([ReportSentence("It rained."), ReportSentence("Rivers rose.")], 22)
        >>> kept, beyond
        ((ReportSentence(text='It rained.', citations=()),), (Problem(kind='over_limit', detail='Rivers rose.'),))
    """
    if limit is None:
        return tuple(sentences), ()
    lengths = accumulate(1 + len(unicodedata.normalize("NFKC", sentence.text)) for sentence in sentences)
    n_kept = sum(length - 1 <= limit for length in lengths)
    return tuple(sentences[:n_kept]), tuple(problem("over_limit", own.text) for own in sentences[n_kept:])


def id_text(value: Any) -> str:
    """An id as text, so that 300 and "300" are equal; empty if the value is not an id.

    Example:
        >>> id_text(300), id_text(" 300 "), id_text(True), id_text(None)
        ('300', '300', '', '')
    """
    return str(value).strip() if isinstance(value, int | str) and not isinstance(value, bool) else ""


def first_id(row: Mapping[Any, Any], fields: Iterable[str]) -> str:
    """The first of these fields that is an id; empty if there is none."""
    return next(filter(None, (id_text(row.get(field)) for field in fields)), "")


def first_text(row: Mapping[Any, Any], fields: Iterable[str]) -> str:
    """The first of these fields that is text; empty if there is none."""
    return next((row[field] for field in fields if isinstance(row.get(field), str)), "")


def refused(kind: str, text: str) -> Parsed[Any]:
    """What is read of a row that is of no use."""
    return Parsed(None, (problem(kind, text),))


def shown(value: Any) -> str:
    """What an error calls a wrong JSON value: containers by their type, since they can be of any size.

    Example:
        >>> shown([[[]]]), shown(3), shown(None)
        ('list', 'int 3', 'None')
    """
    return describe(value) if value is None or isinstance(value, str | int | float) else type(value).__name__


def _has_sentences(value: Any) -> bool:
    """Whether a JSON value is a row with a list of sentences, be it empty."""
    return isinstance(value, Mapping) and any(isinstance(value.get(field), list) for field in _SENTENCE_FIELDS)


def _sentence(
    row: Any, references: Sequence[Any] | None, place: str, problems: list[Problem], of_a_model: bool
) -> ReportSentence:
    fields = row if isinstance(row, Mapping) else {"text": row}
    text = fields.get("text")
    if not isinstance(text, str) or not text.strip():
        problems.append(problem("no_text", place if "text" in fields else f"{place} {with_keys(row)}"))
        return ReportSentence("")
    field = "citations" if of_a_model or fields.get("citations") is not None else "citation"
    ids = [_cited(each, references, f"{place}.{field}", problems) for each in _listed(fields.get(field))]
    if not (ids or of_a_model) and Citations().strip(in_brackets(text, Citations()))[1]:
        problems.append(problem("unread_citation", f"{place}: {text}"))
    return ReportSentence(text, tuple(dict.fromkeys(doc_id for doc_id in ids if doc_id)))


def _cited(citation: Any, references: Sequence[Any] | None, place: str, problems: list[Problem]) -> str:
    """The cited id. A citation that is not an id becomes one of no document: a wrong citation must not help."""
    if isinstance(citation, Mapping):
        citation = next((citation[field] for field in _CITED_ID_FIELDS if field in citation), citation)
    if isinstance(citation, float) and citation.is_integer():
        citation = int(citation)
    if isinstance(citation, int) and not isinstance(citation, bool) and references is not None:
        if 0 <= citation < len(references) and (found := id_text(references[citation])):
            return found
        problems.append(problem("bad_citation", f"{place}: no references[{citation}]"))
        return f"references[{citation}]"
    if found := id_text(citation):
        return found
    problems.append(problem("bad_citation", f"{place}: {shown(citation)}"))
    return "" if citation is None or isinstance(citation, str) else f"<{type(citation).__name__}>"


def _listed(given: Any) -> list[Any]:
    """What a field lists: the members of a list, the keys of a map, or a single value.

    Example:
        >>> _listed({"d1": 0.9}), _listed("d1"), _listed(None)
        (['d1'], ['d1'], [])
    """
    return [] if given is None else list(given if isinstance(given, list | tuple | Mapping) else [given])


def _json_sentences(text: str, citations: Citations) -> Parsed[list[ReportSentence]] | None:
    """The sentences of a JSON answer, and what was wrong with it as JSON; None if there is no report in JSON.

    Example:
        >>> _json_sentences('[{"sentence": "It rained.", "sources": [2]}]', Citations(["a", "b"])).value
        [ReportSentence(text='It rained.', citations=('b',))]
    """
    if not _MAY_BE_JSON.search(text) or not (found := find_json(text, _weigh)).values:
        return None
    if not any(map(_has_keys, found.values)) and 2 * sum(end - start for start, end in found.places) < len(text):
        return None
    report, problems = _last_report(found)
    value = report if len(report) > 1 else report[0]
    rows, references = _rows(value), report[0].get("references") if isinstance(report[0], Mapping) else None
    own_list = references if isinstance(references, list) else []
    read = [first_text({"text": row} if isinstance(row, str) else row, _TEXT_FIELDS) for row in rows] or [_prose(value)]
    prose = Parsed(None) if rows else prose_sentences(read[0], citations)
    of_rows = [_row_sentence(row, citations, own_list) for row in rows]
    problems += [problem("no_text", str(row)) for row, own in zip(rows, of_rows, strict=True) if own is None]
    sentences = prose.value or list(filter(None, of_rows))
    unused = unread_in(value, read, _CITATION_FIELDS)
    return Parsed(sentences, (*found.problems, *problems, *prose.problems, *unused))


def _last_report(found: FoundJson) -> tuple[list[Any], list[Problem]]:
    """The values of the last report that is whole, and what is said of the others, which are drafts.

    Rows on lines of their own are one report, and so is what can be read of one that is damaged.
    """
    is_broken = any(noted.kind == "broken_json" for noted in found.problems)
    begins = [place for place, value in enumerate(found.values) if not (place and (is_broken or _is_row(value)))]
    reports = [list(found.values[begin:end]) for begin, end in pairwise([*begins, len(found.values)])]
    report = reports.pop(-2 if found.stage == "truncated" and len(reports) > 1 else -1) if reports else [None]
    return report, [problem("draft", str(draft[0])) for draft in reports]


def _weigh(value: Any) -> int:
    """How many sentences a JSON value holds; an empty report counts as one, so that it is found."""
    return len(_rows(value)) or int(_has_sentences(value) or bool(_prose(value)))


def _rows(value: Any, *, named: bool = False, depth: int = 0) -> list[Any]:
    """The sentences in a value: objects with a text, or texts in a list whose name says so; wrappers are opened."""
    if depth > _MAX_DEPTH or not isinstance(value, list | Mapping):
        return []
    if isinstance(value, list):
        rows = []
        for member in value:
            is_row = _is_row(member) or (named and (isinstance(member, str) or _cites(member)))
            rows += [member] if is_row else _rows(member, named=named, depth=depth + 1)
        return rows
    names = (*_LIST_FIELDS, *(name for name in value if name not in (*_LIST_FIELDS, *_CITATION_FIELDS)))
    inner = (_rows(value.get(name), named=name in _LIST_FIELDS, depth=depth + 1) for name in names)
    return next(filter(None, inner), [])


def _has_keys(value: Any) -> bool:
    """Whether a JSON value has the keys of a report, or all of its items have those of a sentence that cites."""
    if isinstance(value, list):
        return bool(value) and all(_is_row(item) and _cites(item) for item in value)
    return _has_sentences(value) or (_is_row(value) and _cites(value))


def _cites(value: Any) -> bool:
    return isinstance(value, Mapping) and not value.keys().isdisjoint(_CITATION_FIELDS)


def _is_row(value: Any) -> bool:
    return isinstance(value, Mapping) and bool(first_text(value, _TEXT_FIELDS))


def _prose(value: Any, depth: int = 0) -> str:
    """The text of a report that is one text."""
    if not isinstance(value, Mapping) or depth > _MAX_DEPTH:
        return ""
    inner = next((value[name] for name in _PROSE_FIELDS if name in value), None)
    return first_text(value, _PROSE_FIELDS) or _prose(inner, depth + 1)


def _row_sentence(row: Any, citations: Citations, own_list: list[Any]) -> ReportSentence | None:
    """The sentence of a row, however many full stops it has; marks in its text count as well."""
    fields: Mapping[Any, Any] = {"text": row} if isinstance(row, str) else row
    cited = next((fields[name] for name in _CITATION_FIELDS if name in fields), None)
    clean, marks = citations.strip(in_brackets(" ".join(first_text(fields, _TEXT_FIELDS).split()), citations))
    ids = [*_cited_ids(cited, citations, own_list), *(doc_id for mark in marks for doc_id in mark.ids)]
    return ReportSentence(clean.strip(), tuple(dict.fromkeys(ids))) if any(map(str.isalnum, clean)) else None


def _cited_ids(given: Any, citations: Citations, own_list: list[Any]) -> list[str]:
    """What a ``citations`` field in a model's answer cites; what can't be a citation is ignored.

    In an answer with a list of references of its own, numbers are indices into it from 0, as in TREC RAG.
    """
    ids: list[str] = []
    for cited in _listed(given):
        if isinstance(cited, Mapping):
            name = next((name for name in (*_CITED_ID_FIELDS, *_NUMBER_FIELDS) if name in cited), "")
            ids += _cited_ids(cited.get(name), citations, [])
        elif isinstance(cited, int) and not isinstance(cited, bool):
            own = own_list[cited] if 0 <= cited < len(own_list) else None
            ids.append(own if isinstance(own, str) else citations.of_number(cited))
        elif isinstance(cited, str) and cited.strip():
            marked = citations.strip(in_brackets(cited, citations))[1]
            found = citations.ids(cited.strip().strip("[]")) or [doc_id for mark in marked for doc_id in mark.ids]
            ids += found or [cited.strip()]
    return ids
