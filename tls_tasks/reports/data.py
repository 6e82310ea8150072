"""Data of the report task: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. A document of the task is a request, with its nuggets and
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

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from tls_tasks.core.errors import DataError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data.catalogue import find_data_set, public_sets, read_catalogue
from tls_tasks.data.models import DataRow, Id, named, read_model, read_models
from tls_tasks.data.order import EMBEDDED, Loaded, Reading, load, read_place
from tls_tasks.reports.documents import CollectionRow, DocumentRow
from tls_tasks.reports.files import read_objects

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of documents in a prompt, some 6,000 tokens of English: a context of 8k has room for the report."""

_NO_FOLDER = "not a folder with requests.jsonl, nuggets.jsonl and documents.jsonl"
_SOURCES = "sources"  # a hash of all documents of a request, whatever the budget shows of them: for the fingerprint

EMBEDDED_RECORDING = EMBEDDED / "report_generation" / "verdicts.jsonl"
"""The hand-written verdicts that come with the embedded edition."""

ALL_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))
"""The data sets, and the name under which a user's own runs."""

DATA_SETS = public_sets(ALL_SETS)

_EXAMPLES = Path(__file__).with_name("fewshot.json")


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("must be text, got blanks")
    return text


_Text = Annotated[Id, AfterValidator(_filled)]


class _RequestRow(CollectionRow):
    request_id: _Text = named("request_id", "topic_id", "query_id", "id")
    title: Id = named("title", "query_text", default="")
    background: Id = ""
    problem_statement: _Text = named("problem_statement", "problem statement")
    limit: Annotated[int, Field(gt=0)] = 0
    doc_ids: list[str] | None = None


class _ShownRow(DocumentRow):
    text: _Text = named("text")


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
    loaded = load(_reading(data_set, check_whole_number("context_budget", context_budget)), data, edition)
    loaded.note(provenance, name)
    added = {"judge": json.dumps(judge, sort_keys=True), "edition": loaded.edition}
    return [{key: value for key, value in {**doc, **added}.items() if key != _SOURCES} for doc in loaded.documents]


def read_local(name: str, place: Path) -> Loaded[dict[str, Any]]:
    """The documents of a data set in a folder.

    Raises:
        DataError: If there are none, or a row is broken.
    """
    return read_place(_reading(name, DEFAULT_CONTEXT_BUDGET), place)


def _reading(name: str, budget: int) -> Reading[dict[str, Any]]:
    return Reading(
        find_data_set(ALL_SETS, name),
        DATA_SETS.values(),
        at=partial(_read_at, budget=budget),
        published=lambda: "it has no source on the hub",
        place=_NO_FOLDER,
    )


def examples(name: str) -> list[dict[str, Any]]:
    """Examples for few-shot prompts: the sentences of each one's report are the answers to its only nugget.

    Example:
        >>> examples("report_generation")[0]["limit"]
        300
    """
    by_name = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    found = []
    for row in by_name.get(name) or next(iter(by_name.values())):
        answers = {
            text: {"answer": text, "references": [{"doc_id": doc_id} for doc_id in cited]}
            for text, cited in row["report"]
        }
        nugget = {"question": row["problem_statement"], "aggregator_type": "AND", "answers": answers}
        nuggets = json.dumps({"query_id": row["request_id"], "nugget_bank": [nugget]}, ensure_ascii=False)
        request = _request(read_model(_RequestRow, row, _EXAMPLES.name), {row["request_id"]: nuggets})
        documents = list(read_models(_ShownRow, ((_EXAMPLES.name, document) for document in row["documents"])))
        added = {"judge": json.dumps("none"), "edition": "examples"}
        document = _document(request, documents, DEFAULT_CONTEXT_BUDGET)
        del document[_SOURCES]
        found.append({**document, **added})
    return found


def shorter(doc: Mapping[str, Any], by: int) -> Mapping[str, Any]:
    """A request whose prompt shows fewer documents, the last ones first; of the only one it shows less.

    Example:
        >>> shown = '[{"id": "d1", "title": "", "text": "It rained."}, {"id": "d2", "title": "", "text": "It snowed."}]'
        >>> doc = shorter({"documents": shown, "documents_left_out": 0}, 4)
        >>> doc["documents_left_out"], shorter(doc, 4)["documents"]
        (1, '[{"id": "d1", "title": "", "text": "It rai"}]')
    """
    shown, left_out = json.loads(doc["documents"]), doc["documents_left_out"]
    while by > 0 and len(shown) > 1:
        by, left_out = by - _length(shown.pop()), left_out + 1
    if by > 0 and not left_out > doc["documents_left_out"]:
        shown = [{**shown[0], "text": shown[0]["text"][: max(0, len(shown[0]["text"]) - by)]}]
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
    shown = "\n\n".join(
        f"[{number}] {document['title']}\n{document['text']}" if document["title"] else f"[{number}] {document['text']}"
        for number, document in enumerate(json.loads(doc["documents"]), start=1)
    )
    asked = [
        f"Request: {doc['title']}" if doc["title"] else "",
        f"Background: {doc['background']}" if doc["background"] else "",
        doc["problem_statement"],
    ]
    words = max(1, doc["limit"] // 6)  # an English word with its blank
    if words >= 10:
        words -= words % 5
    limit = f"- Use at most {doc['limit']} characters, which is about {words} words.\n" if doc["limit"] else ""
    request = "\n".join(filter(None, asked))
    return (
        f"<documents>\n{shown}\n</documents>\n\n{request}\n\n"
        "Write the report that is asked for, from the documents above alone.\n"
        "- Write plain sentences, without headings or lists.\n"
        "- At the end of each sentence give the numbers of the documents that support it, in square brackets.\n"
        f"{limit}Sentences of a report look like this: "
        "The bridge was closed on Monday [2]. It was open again after two days [1, 3].\n"
        "Write only the report.\n\nReport:"
    )


def _read_at(folder: Path, budget: int) -> tuple[dict[str, Any], ...]:
    if not folder.is_dir():
        raise DataError(f"data: {folder} is {_NO_FOLDER}")
    nuggets: dict[str, str] = {}
    for where, row in folder_rows(folder, "nuggets", needed=False):
        # Of two rows of a request the first counts, as in report_gen_eval.
        nuggets.setdefault(read_model(_NuggetRow, row, where).query_id, json.dumps(row, ensure_ascii=False))
    requests = [_request(row, nuggets) for _, row in read_models(_RequestRow, folder_rows(folder, "requests"))]
    if not requests:
        raise DataError(f"{folder}: no request in requests.jsonl")
    doc_id, n_rows = Counter(request["doc_id"] for request in requests).most_common(1)[0]
    if n_rows > 1:
        raise DataError(f"{folder}: {n_rows} requests have the id {doc_id!r}, expected one")
    documents = list(read_models(_ShownRow, folder_rows(folder, "documents")))
    return tuple(_document(request, documents, budget) for request in requests)


def _document(request: dict[str, Any], documents: Sequence[tuple[str, _ShownRow]], budget: int) -> dict[str, Any]:
    """The task's document of a request: its prompt shows whole documents, in order, as many as the budget holds."""
    rows: dict[str, dict[str, str]] = {}
    for where, own in documents:
        if own.collection and request["collection_id"] not in ("", own.collection):
            continue
        if own.id in rows:
            raise DataError(f"{where}: a second document with the id {own.id!r}")
        rows[own.id] = {"id": own.id, "title": own.title, "text": own.text}
    named = request.pop("shown")
    missing = [doc_id for doc_id in named or () if doc_id not in rows]
    if missing or not rows:
        collection = f"no document of the collection {request['collection_id']!r}"
        what = f"no document {missing[0]!r}" if missing else collection
        raise DataError(f"request {request['doc_id']}: {what} in documents.jsonl")
    ordered = [rows[doc_id] for doc_id in named or rows]
    lengths = accumulate(map(_length, ordered))
    shown = [row for row, length in zip(ordered, lengths, strict=True) if length <= budget]
    if not shown:  # the first document is cut
        title = ordered[0]["title"][:budget]
        shown = [{**ordered[0], "title": title, "text": ordered[0]["text"][: budget - len(title)]}]
    shown_text = json.dumps(shown, ensure_ascii=False)
    sources = hashlib.sha256(json.dumps(ordered, ensure_ascii=False).encode("utf-8", "surrogatepass")).hexdigest()
    left_out = len(ordered) - len(shown)
    return {**request, "documents": shown_text, "documents_left_out": left_out, _SOURCES: sources}


def _length(document: Mapping[str, str]) -> int:
    return len(document["title"]) + len(document["text"])


def folder_rows(folder: Path, name: str, *, needed: bool = True) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a file, plain or gzip, each with its place for messages."""
    files = (folder / f"{name}.jsonl", folder / f"{name}.jsonl.gz")
    file = next((file for file in files if file.is_file()), None)
    if file is None and needed:
        raise DataError(f"{folder}: no {name}.jsonl; a folder has requests, documents and maybe nuggets (.jsonl)")
    return read_objects(file) if file else iter(())


def _request(row: _RequestRow, nuggets: Mapping[str, str]) -> dict[str, Any]:
    """A request; ``shown``: ids of the documents that its prompt shows, in order, None for those of its collection."""
    return {
        "doc_id": row.request_id,
        "collection_id": row.collection,
        "title": row.title,
        "background": row.background,
        "problem_statement": row.problem_statement,
        "limit": row.limit,
        "nuggets": nuggets.get(row.request_id, ""),
        "shown": None if row.doc_ids is None else dict.fromkeys(row.doc_ids),
    }
