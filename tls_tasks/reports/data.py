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
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data.catalogue import find_data_set, public_sets, read_catalogue
from tls_tasks.data.order import EMBEDDED, Loaded, Reading, load, read_place
from tls_tasks.reports.documents import canonical_collection
from tls_tasks.reports.files import read_objects

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of documents in a prompt, some 6,000 tokens of English: a context of 8k has room for the report."""

_NO_FOLDER = "not a folder with requests.jsonl, nuggets.jsonl and documents.jsonl"
_REQUEST_IDS = ("request_id", "topic_id", "query_id", "id")
_NUGGET_IDS = ("query_id", "request_id", "topic_id")
_DOCUMENT_IDS = ("id", "doc_id", "docno")
_COLLECTIONS = ("collection_id", "collection", "collection_ids")
_SOURCES = "sources"  # a hash of all documents of a request, whatever the budget shows of them: for the fingerprint

EMBEDDED_RECORDING = EMBEDDED / "report_generation" / "verdicts.jsonl"
"""The hand-written verdicts that come with the embedded edition."""

ALL_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))
"""The data sets, and the name under which a user's own runs."""

DATA_SETS = public_sets(ALL_SETS)

_EXAMPLES = Path(__file__).with_name("fewshot.json")


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
        request = _request(_EXAMPLES.name, row, {row["request_id"]: nuggets})
        documents = [_collected(_EXAMPLES.name, document) for document in row["documents"]]
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
        nuggets.setdefault(_text(row, _NUGGET_IDS, where, needed=True), json.dumps(row, ensure_ascii=False))
    requests = [_request(where, row, nuggets) for where, row in folder_rows(folder, "requests")]
    if not requests:
        raise DataError(f"{folder}: no request in requests.jsonl")
    doc_id, n_rows = Counter(request["doc_id"] for request in requests).most_common(1)[0]
    if n_rows > 1:
        raise DataError(f"{folder}: {n_rows} requests have the id {doc_id!r}, expected one")
    documents = [_collected(where, row) for where, row in folder_rows(folder, "documents")]
    return tuple(_document(request, documents, budget) for request in requests)


def _collected(where: str, row: Mapping[str, Any]) -> tuple[str, str, dict[str, str]]:
    """A row's place and collection, and the document in it."""
    doc_id, text = _text(row, _DOCUMENT_IDS, where, needed=True), _text(row, ("text",), where, needed=True)
    return where, _collection(row, where), {"id": doc_id, "title": _text(row, ("title",), where), "text": text}


def _document(
    request: dict[str, Any], documents: Sequence[tuple[str, str, dict[str, str]]], budget: int
) -> dict[str, Any]:
    """The task's document of a request: its prompt shows whole documents, in order, as many as the budget holds."""
    rows: dict[str, dict[str, str]] = {}
    for where, collection, row in documents:
        if collection and request["collection_id"] not in ("", collection):
            continue
        if row["id"] in rows:
            raise DataError(f"{where}: a second document with the id {row['id']!r}")
        rows[row["id"]] = row
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


def _request(where: str, row: Mapping[str, Any], nuggets: Mapping[str, str]) -> dict[str, Any]:
    """A request; ``shown``: ids of the documents that its prompt shows, in order, None for those of its collection."""
    doc_id = _text(row, _REQUEST_IDS, where, needed=True)
    limit, shown = row.get("limit"), row.get("doc_ids")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 1):
        raise DataError(f"{where}: limit must be a whole number above 0, got {limit!r}")
    if shown is not None and not (isinstance(shown, list) and all(isinstance(member, str) for member in shown)):
        raise DataError(f"{where}: doc_ids must be a list of ids, got {shown!r:.60}")
    return {
        "doc_id": doc_id,
        "collection_id": _collection(row, where),
        "title": _text(row, ("title", "query_text"), where),
        "background": _text(row, ("background",), where),
        "problem_statement": _text(row, ("problem_statement", "problem statement"), where, needed=True),
        "limit": limit or 0,
        "nuggets": nuggets.get(doc_id, ""),
        "shown": None if shown is None else dict.fromkeys(shown),
    }


def _text(row: Mapping[str, Any], names: Iterable[str], where: str, *, needed: bool = False) -> str:
    value = next((row[name] for name in names if row.get(name) is not None), None)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # ids are compared as strings
    if isinstance(value, str) and (value.strip() or not needed):
        return value
    if value is None and not needed:
        return ""
    raise DataError(f"{where}: {'/'.join(names)} must be text, got {value!r:.60}")


def _collection(row: Mapping[str, Any], where: str) -> str:
    value = next((row[name] for name in _COLLECTIONS if row.get(name)), "")
    value = value[0] if isinstance(value, list) and len(value) == 1 else value
    if not isinstance(value, str):
        raise DataError(f"{where}: collection_id must be one id, got {value!r:.60}")
    return canonical_collection(value)
