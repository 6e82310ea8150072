"""Data of the report task: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. One document of the task is one request, with the
documents that its prompt shows and its nuggets. There is no hub source: the requests of the TREC tracks (RAGTIME,
NeuCLIR, RAG) are got from their organisers, with collections of millions of documents whose licences differ.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data.catalogue import find_data_set, read_catalogue
from tls_tasks.data.order import EMBEDDED, Loaded, Reading, load
from tls_tasks.reports.data_rows import DocumentRow, RequestRow, read_requests, read_shown

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of documents in a prompt, some 6,000 tokens of English: a context of 8k has room for the report."""

DATA_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))


@dataclass(frozen=True, slots=True)
class ReportPrompt:
    """A request with the documents that its prompt shows, in the order of their numbers."""

    request: RequestRow
    documents: tuple[DocumentRow, ...]
    left_out: int


def load_documents(
    name: str,
    /,
    *,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    judge: Any = "none",
    provenance: MutableMapping[str, str] | None = None,
    **ignored: Any,
) -> list[dict[str, Any]]:
    """Load the documents of one task.

    The harness calls it with everything in the task's ``metadata``, in ``--metadata`` and in ``--model_args``.

    Args:
        name: Data set: ``report_generation``.
        data: Where the data is, instead of the usual order; see :func:`load_reports`.
        edition: ``local`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of documents that a prompt shows; documents beyond them are left out whole.
        judge: Who judges, written into every document: a filter of the harness sees nothing else.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.
        **ignored: What is meant for others.

    Returns:
        One row a request, whose id is ``doc_id``. ``documents`` is JSON, a list of ``{"id", "title", "text"}`` in the
        order of their numbers; ``nuggets`` the row of the nugget file; ``judge`` says in JSON who judges; ``limit`` is
        the number of characters that a report may have (0: no limit); ``documents_left_out`` counts the documents that
        the budget kept out of the prompt.

    Raises:
        DataError: If the data that was asked for can't be used.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     documents = load_documents("report_generation", edition="embedded", version=1.0)
        >>> documents[0]["doc_id"], len(json.loads(documents[0]["documents"]))
        ('e01', 22)
    """
    loaded = load_reports(name, data, edition, context_budget)
    loaded.note(provenance)
    return [_row(shown, loaded.edition, judge) for shown in loaded.documents]


def load_reports(
    name: str,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
) -> Loaded[ReportPrompt]:
    """Load requests and their documents from the first source that has them.

    Args:
        name: ``report_generation``.
        data: A folder with ``requests.jsonl``, ``nuggets.jsonl`` and ``documents.jsonl``
            (:mod:`tls_tasks.reports.data_rows`), or a folder with such a folder in it. No other source is tried.
        edition: Take the data from this edition only; None takes the first that has it.
        context_budget: Characters of documents in a prompt.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        InputError: If the budget is no whole number above 0; OptionError if there is no such data set or edition.
    """
    budget = check_whole_number("context_budget", context_budget)
    reading = Reading(
        find_data_set(DATA_SETS, name),
        DATA_SETS.values(),
        at=partial(_read_at, budget=budget),
        published=lambda: "it has no source on the hub",
        place=_NO_FOLDER,
    )
    return load(reading, data, edition)


def prompt(doc: Mapping[str, Any]) -> str:
    r"""The prompt: numbered documents, then the request, since models that cut a prompt cut its beginning.

    Example:
        >>> documents = '[{"id": "d1", "title": "Rain", "text": "It rained."}]'
        >>> request = {"title": "Rain", "background": "", "problem_statement": "Report if it rained.", "limit": 100}
        >>> print(prompt({"documents": documents, **request}))
        <documents>
        [1] Rain
        It rained.
        </documents>
        <BLANKLINE>
        Request: Rain
        Report if it rained.
        Write the report from the documents above, in plain sentences and at most 100 characters.
        After each fact give the numbers of the documents that support it in square brackets, such as [1] or [1, 3].
        Write the report and nothing else.
        <BLANKLINE>
        Report:
    """
    shown = "\n\n".join(
        f"[{number}] {document['title']}\n{document['text']}" if document["title"] else f"[{number}] {document['text']}"
        for number, document in enumerate(json.loads(doc["documents"]), start=1)
    )
    asked = [f"Request: {doc['title']}" if doc["title"] else "", doc["background"], doc["problem_statement"]]
    limit = f" and at most {doc['limit']} characters" if doc["limit"] else ""
    instruction = (
        f"Write the report from the documents above, in plain sentences{limit}.\n"
        "After each fact give the numbers of the documents that support it in square brackets, such as [1] or [1, 3].\n"
        "Write the report and nothing else."
    )
    request = "\n".join([*filter(None, asked), instruction])
    return f"<documents>\n{shown}\n</documents>\n\n{request}\n\nReport:"


def shown_documents(request: RequestRow, rows: Mapping[str, DocumentRow], budget: int) -> ReportPrompt:
    """Choose the documents of a prompt: whole ones, in order, as many as the budget holds; the first is cut to it.

    Raises:
        DataError: If there is none, or the request names one that isn't there.
    """
    missing = [doc_id for doc_id in request.doc_ids or () if doc_id not in rows]
    if missing or not rows:
        what = f"no document {missing[0]!r}" if missing else f"no document of the collection {request.collection_id!r}"
        raise DataError(f"request {request.request_id}: {what} in documents.jsonl")
    ordered = [rows[doc_id] for doc_id in request.doc_ids or rows]
    shown: list[DocumentRow] = []
    spent = 0
    for document in ordered:
        spent += len(document.title) + len(document.text)
        if spent > budget:
            break
        shown.append(document)
    if not shown:
        first = ordered[0]
        shown = [DocumentRow(first.id, first.title[:budget], first.text[: max(0, budget - len(first.title))])]
    return ReportPrompt(request, tuple(shown), len(ordered) - len(shown))


def _row(shown: ReportPrompt, edition: str, judge: Any) -> dict[str, str | int]:
    request = shown.request
    return {
        "doc_id": request.request_id,
        "collection_id": request.collection_id,
        "title": request.title,
        "background": request.background,
        "problem_statement": request.problem_statement,
        "documents": json.dumps([document._asdict() for document in shown.documents], ensure_ascii=False),
        "nuggets": request.nuggets,
        "judge": json.dumps(judge, sort_keys=True),
        "edition": edition,
        "limit": request.limit or 0,
        "documents_left_out": shown.left_out,
    }


_NO_FOLDER = "not a folder with requests.jsonl, nuggets.jsonl and documents.jsonl"


def _read_at(folder: Path, budget: int) -> tuple[ReportPrompt, ...]:
    if not folder.is_dir():
        raise DataError(f"data: {folder} is {_NO_FOLDER}")
    requests = read_requests(folder)
    rows = read_shown(folder, requests, budget)
    return tuple(shown_documents(request, rows[request.request_id], budget) for request in requests)


def embedded_recording(name: str = "report_generation") -> Path:
    """The hand-written verdicts that come with the embedded edition.

    Example:
        >>> embedded_recording().name
        'verdicts.jsonl'
    """
    return EMBEDDED / name / "verdicts.jsonl"
