"""Data of the report task: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as in :mod:`tls_tasks.data.sources`. A document of the task is a request, with its nuggets and
the documents that its prompt shows. There is no hub source: the requests of the TREC tracks (RAGTIME, NeuCLIR, RAG)
come from their organisers, with collections of millions of documents under various licences.

A folder of data has three files, each may be ``.jsonl.gz``. ``requests.jsonl``, a request a line::

    {"request_id": "e01", "collection_id": "embedded/coast", "title": …, "background": …, "problem_statement": …,
     "limit": 1000, "doc_ids": ["coast-01", …]}

``limit`` (characters of the report) and ``doc_ids`` (the documents that the prompt shows, such as the results of a
search) are optional; without ``doc_ids`` the prompt shows the collection. ``nuggets.jsonl`` has a request a line in any
form that :mod:`tls_tasks.reports.nuggets` reads, ``documents.jsonl`` a document a line: ``id``, ``text``, optionally
``title`` and ``collection``.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from tls_tasks.core.errors import DataError, check_whole_number
from tls_tasks.core.terminal import beginning
from tls_tasks.data.catalogue import DataSet, find_data_set, read_catalogue
from tls_tasks.data.files import example_rows, filled_text, read_objects
from tls_tasks.data.models import DataRow, Id, named, read_model, read_models
from tls_tasks.data.sources import EMBEDDED, SetReader, load
from tls_tasks.reports.documents import CollectionRow, DocumentRow

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of documents in a prompt, some 6,000 tokens of English: a context of 8k has room for the report."""

_PLACE = "not a folder with requests.jsonl, nuggets.jsonl and documents.jsonl"
_SOURCES = "sources"  # a hash of all documents of a request, whatever the budget shows of them: for the fingerprint

EMBEDDED_RECORDING = EMBEDDED / "report_generation" / "verdicts.jsonl"
"""The hand-written verdicts that come with the embedded edition."""

ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""The data sets with the name under which a user's own runs, and without it."""


_Text = Annotated[Id, Field(min_length=1)]


class _RequestRow(CollectionRow):
    request_id: _Text = named("request_id", "topic_id", "query_id", "id")
    title: Id = named("title", "query_text", default="")
    background: Id = ""
    problem_statement: _Text = named("problem_statement", "problem statement")
    limit: Annotated[int, Field(gt=0)] = 0
    doc_ids: list[str] | None = None


class _NuggetRow(DataRow):
    query_id: _Text = named("query_id", "request_id", "topic_id")


def load_documents(
    data_set: str,
    /,
    *,
    name: str | None = None,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    judge: Any = "none",
    provenance: MutableMapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Load the documents of one task.

    Args:
        data_set: ``report_generation``.
        name: What the results are to call data of your own, where the task is the family's ``_custom`` one.
        data: A folder with ``requests.jsonl``, ``nuggets.jsonl`` and ``documents.jsonl``, or a folder with such a
            folder in it. No other source is tried.
        edition: ``local`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of documents that a prompt shows; documents beyond them are left out whole.
        judge: Who judges, written into every document: a filter of the harness sees nothing else.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.

    Returns:
        One row a request, whose id is ``doc_id``. ``documents`` is JSON, a list of ``{"id", "title", "text"}`` in the
        order of their numbers; ``nuggets`` the row of the nugget file; ``judge`` says in JSON who judges; ``limit`` is
        the number of characters that a report may have (0: no limit); ``documents_left_out`` counts the documents that
        the budget kept out of the prompt.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        InputError: If the budget is not a whole number above 0; OptionError if there is no such data set or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     documents = load_documents("report_generation", edition="embedded")
        >>> documents[0]["doc_id"], len(json.loads(documents[0]["documents"]))
        ('e01', 22)
    """
    how = make_reader(find_data_set(ALL_SETS, data_set), check_whole_number("context_budget", context_budget))
    loaded = load(how, data, edition).record(provenance, name)
    return [_finished(document, judge, loaded.edition) for document in loaded.documents]


def _finished(document: Mapping[str, Any], judge: Any, edition: str) -> dict[str, Any]:
    kept = {key: value for key, value in document.items() if key != _SOURCES}
    return {**kept, "judge": json.dumps(judge, sort_keys=True), "edition": edition}


def make_reader(wanted: DataSet, budget: int = DEFAULT_CONTEXT_BUDGET) -> SetReader[dict[str, Any]]:
    """How a data set is read, wherever it lies."""
    read = partial(_read_at, budget=budget, criteria=wanted.settings.get("criteria", False))
    return SetReader(wanted, DATA_SETS.values(), read, not_found=_PLACE)


def examples(name: str) -> list[dict[str, Any]]:
    """Examples for few-shot prompts: the sentences of each one's report are the answers to its only nugget.

    Example:
        >>> examples("report_generation")[0]["limit"]
        300
    """
    documents = []
    for where, row in example_rows(__file__, name)[1]:
        request = read_model(_RequestRow, row, where)
        shown = list(read_models(DocumentRow, ((where, document) for document in row["documents"])))
        nuggets = json.dumps(row["nuggets"], ensure_ascii=False)
        more = {"rubrics": ""} if ALL_SETS[name].settings.get("criteria") else {}  # an example's answer has nuggets
        found = {**_document(request, nuggets, shown, DEFAULT_CONTEXT_BUDGET), **more}
        documents.append(_finished(found, "none", "examples"))
    return documents


def shorter(doc: Mapping[str, Any], by: int) -> Mapping[str, Any]:
    """A request whose prompt shows fewer documents, the last ones first; of the only one it shows less.

    Example:
        >>> shown = '[{"id": "d1", "title": "", "text": "Rain. Hail."}, {"id": "d2", "title": "", "text": "Snow."}]'
        >>> doc = shorter({"documents": shown, "documents_left_out": 0}, 4)
        >>> doc["documents_left_out"], shorter(doc, 4)["documents"]
        (1, '[{"id": "d1", "title": "", "text": "Rain."}]')
    """
    shown, left_out = json.loads(doc["documents"]), doc["documents_left_out"]
    while by > 0 and len(shown) > 1:
        by, left_out = by - _length(shown.pop()), left_out + 1
    if by > 0 and not left_out > doc["documents_left_out"]:
        shown = [{**shown[0], "text": beginning(shown[0]["text"], len(shown[0]["text"]) - by)}]
    return {**doc, "documents": json.dumps(shown, ensure_ascii=False), "documents_left_out": left_out}


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
        <BLANKLINE>
        Write the report that is asked for, from the documents above alone.
        - Write plain sentences, without headings or lists.
        - At the end of each sentence give the numbers of the documents that support it, in square brackets.
        - Use at most 100 characters, which is about 15 words.
        Sentences of a report look like this: The bridge was closed on Monday [2]. It was open again after two days [1, 3].
        Write only the report.
        <BLANKLINE>
        Report:
    """  # noqa: E501 - the prompt's lines are as long as they are
    documents = json.loads(doc["documents"])
    texts = (f"{own['title']}\n{own['text']}" if own["title"] else own["text"] for own in documents)
    shown = "\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, start=1))
    parts = [("Request: ", doc["title"]), ("Background: ", doc["background"]), ("", doc["problem_statement"])]
    request = "\n".join(f"{label}{text}" for label, text in parts if text)
    words = max(1, doc["limit"] // 6)  # an English word with its blank
    words -= words % 5 if words >= 10 else 0
    limit = f"- Use at most {doc['limit']} characters, which is about {words} words.\n" if doc["limit"] else ""
    return filled_text(Path(__file__).with_name("prompt.txt"), shown=shown, request=request, limit=limit)


def _read_at(folder: Path, budget: int, criteria: bool = False) -> tuple[dict[str, Any], ...]:
    if criteria:  # of the requests beside them, or of the embedded ones
        from tls_tasks.reports.rubrics import as_rubric  # as late as here: judges are imported without numpy

        place = folder if any(folder.glob("requests.jsonl*")) else EMBEDDED / "report_generation"
        of, found = {doc["doc_id"]: doc for doc in _read_at(place, budget)}, []
        for where, row in folder_rows(folder, "rubrics"):
            if (doc := of.pop(read_model(_NuggetRow, row, where).query_id, None)) is None:
                raise DataError(f"{where}: no request of that query_id in {place}, or a second row for it")
            as_rubric(row, where)  # refuses what would be refused after the run
            found.append({**doc, "nuggets": "", "rubrics": json.dumps(row.get("rubrics"), ensure_ascii=False)})
        if not found:
            raise DataError(f"{folder}: no rubric in rubrics.jsonl")
        return tuple(found)
    nuggets: dict[str, str] = {}
    for where, row in folder_rows(folder, "nuggets", needed=False):
        # Of two rows of a request the first counts, as in report_gen_eval.
        nuggets.setdefault(read_model(_NuggetRow, row, where).query_id, json.dumps(row, ensure_ascii=False))
    requests = [request for _, request in read_models(_RequestRow, folder_rows(folder, "requests"))]
    if not requests:
        raise DataError(f"{folder}: no request in requests.jsonl")
    request_id, n_rows = Counter(request.request_id for request in requests).most_common(1)[0]
    if n_rows > 1:
        raise DataError(f"{folder}: {n_rows} requests have the id {request_id!r}, expected one")
    documents = list(read_models(DocumentRow, folder_rows(folder, "documents")))
    return tuple(_document(request, nuggets.get(request.request_id, ""), documents, budget) for request in requests)


def _document(request: _RequestRow, nuggets: str, known: list[tuple[str, DocumentRow]], budget: int) -> dict[str, Any]:
    """The task's document of a request: its prompt shows whole documents, in order, as many as the budget holds."""
    rows: dict[str, dict[str, str]] = {}
    for where, document in known:
        if not document.collection or request.collection in ("", document.collection):
            if document.id in rows:
                raise DataError(f"{where}: a second document with the id {document.id!r}")
            rows[document.id] = {"id": document.id, "title": document.title, "text": document.text}
    missing = [repr(doc_id) for doc_id in request.doc_ids or () if doc_id not in rows]
    if missing or not rows:
        lacking = [*missing, f"of the collection {request.collection!r}"][0]
        raise DataError(f"request {request.request_id}: no document {lacking} in documents.jsonl")
    ordered = [rows[doc_id] for doc_id in dict.fromkeys(request.doc_ids or rows)]
    shown = [row for row, length in zip(ordered, accumulate(map(_length, ordered)), strict=True) if length <= budget]
    if not shown:  # the first document is cut
        title = ordered[0]["title"][:budget]
        shown = [{**ordered[0], "title": title, "text": ordered[0]["text"][: budget - len(title)]}]
    whole = json.dumps(ordered, ensure_ascii=False).encode("utf-8", "surrogatepass")
    kept = request.model_dump(include={"title", "background", "problem_statement", "limit"})
    about = {"doc_id": request.request_id, "collection_id": request.collection, **kept, "nuggets": nuggets}
    left_out = {"documents_left_out": len(ordered) - len(shown), _SOURCES: hashlib.sha256(whole).hexdigest()}
    return {**about, "documents": json.dumps(shown, ensure_ascii=False), **left_out}


def _length(document: Mapping[str, str]) -> int:
    return len(document["title"]) + len(document["text"])


def folder_rows(folder: Path, name: str, *, needed: bool = True) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a file, plain or gzip, each with its place for messages."""
    file = next(filter(Path.is_file, (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")), None)
    if file is None and needed:
        raise DataError(f"{folder}: no {name}.jsonl; a folder has requests, documents and maybe nuggets (.jsonl)")
    return read_objects(file) if file else iter(())
