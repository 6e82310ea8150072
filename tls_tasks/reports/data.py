"""Data of the report task: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. A document of the task is a request, with its nuggets and
the documents that its prompt shows. There is no hub source: the requests of the TREC tracks (RAGTIME, NeuCLIR, RAG)
come from their organisers, with collections of millions of documents under various licences.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data.catalogue import find_data_set, read_catalogue
from tls_tasks.data.order import EMBEDDED, Reading, load
from tls_tasks.reports.data_rows import DocumentRow, RequestRow, read_requests, read_shown

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of documents in a prompt, some 6,000 tokens of English: a context of 8k has room for the report."""

DATA_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))


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
        data: A folder with ``requests.jsonl``, ``nuggets.jsonl`` and ``documents.jsonl``
            (:mod:`tls_tasks.reports.data_rows`), or a folder with such a folder in it. No other source is tried.
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
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        InputError: If the budget is no whole number above 0; OptionError if there is no such data set or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     documents = load_documents("report_generation", edition="embedded", version=1.0)
        >>> documents[0]["doc_id"], len(json.loads(documents[0]["documents"]))
        ('e01', 22)
    """
    budget = check_whole_number("context_budget", context_budget)
    reading = Reading(
        find_data_set(DATA_SETS, name),
        DATA_SETS.values(),
        at=partial(_read_at, budget=budget),
        published=lambda: "it has no source on the hub",
        place=_NO_FOLDER,
    )
    loaded = load(reading, data, edition)
    loaded.note(provenance)
    added = {"judge": json.dumps(judge, sort_keys=True), "edition": loaded.edition}
    return [{**doc, **added} for doc in loaded.documents]


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


_NO_FOLDER = "not a folder with requests.jsonl, nuggets.jsonl and documents.jsonl"


def _read_at(folder: Path, budget: int) -> tuple[dict[str, Any], ...]:
    if not folder.is_dir():
        raise DataError(f"data: {folder} is {_NO_FOLDER}")
    requests = read_requests(folder)
    documents = read_shown(folder, requests, budget)
    return tuple(_document(request, documents[request.doc_id], budget) for request in requests)


def _document(request: RequestRow, rows: Mapping[str, DocumentRow], budget: int) -> dict[str, Any]:
    """The task's document of a request: its prompt shows whole documents, in order, as many as the budget holds."""
    missing = [doc_id for doc_id in request.shown or () if doc_id not in rows]
    if missing or not rows:
        what = f"no document {missing[0]!r}" if missing else f"no document of the collection {request.collection_id!r}"
        raise DataError(f"request {request.doc_id}: {what} in documents.jsonl")
    ordered = [rows[doc_id] for doc_id in request.shown or rows]
    lengths = accumulate(len(row.title) + len(row.text) for row in ordered)
    shown = [row for row, length in zip(ordered, lengths, strict=True) if length <= budget]
    if not shown:  # the first document is cut
        first = ordered[0]
        shown = [DocumentRow(first.id, first.title[:budget], first.text[: max(0, budget - len(first.title))])]
    fields = request._asdict()
    del fields["shown"]
    documents = json.dumps([row._asdict() for row in shown], ensure_ascii=False)
    return {**fields, "documents": documents, "documents_left_out": len(ordered) - len(shown)}


def embedded_recording(name: str = "report_generation") -> Path:
    """The hand-written verdicts that come with the embedded edition.

    Example:
        >>> embedded_recording().name
        'verdicts.jsonl'
    """
    return EMBEDDED / name / "verdicts.jsonl"
