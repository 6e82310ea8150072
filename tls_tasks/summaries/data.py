"""Data of the summarisation tasks: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. One document is one text with a query, if the data
set has queries, and all its reference summaries.
"""

import json
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, zip_longest
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, check_whole_number
from tls_tasks.core.rows import read_text
from tls_tasks.core.score import grouped
from tls_tasks.data.catalogue import DataSet, find_data_set, read_catalogue
from tls_tasks.data.files import Rows, example_rows, file_rows, split_files, text_lines
from tls_tasks.data.keyed import PREDICTION_FIELDS, joined, read_keyed, said_of
from tls_tasks.data.models import DataRow, Id, Texts, listed, named, read_model
from tls_tasks.data.order import DEFAULT_CONTEXT_BUDGET, Loaded, Reading, distinct, load, text_fields
from tls_tasks.summaries.rows import read_texts

ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""The data sets with the name under which a user's own runs, and without it."""


TEXT_FIELDS = ("text", "document", "dialogue", "transcript", "source", "report", "input")
"""Fields that may hold the document; the first one present is read."""

REFERENCE_FIELDS = ("references", "reference", "summary", "output")
"""Fields that may hold the reference summary, or a list of them; the first one present is read."""

ID_FIELDS = ("pid", "id", "doc_id", "uid")
"""Fields that may hold the document's id; a row with none of them is numbered. ``pid`` comes first, since in SCROLLS
only that is unique."""

_LAST_NUMBER = re.compile(r"_\d+$")
_BETWEEN_ARTICLES = "|||||"  # in Multi-News
_BLANK_LINE = re.compile(r"\r?\n[ \t]*\r?\n")


class _SummaryRow(DataRow):
    """A row of a data set; one without an id is numbered."""

    id: Id = named(*ID_FIELDS, default="")
    text: str = named(*TEXT_FIELDS)
    references: Texts = named(*REFERENCE_FIELDS)
    query: Any = None


@dataclass(frozen=True, slots=True)
class Document:
    """One document to summarise.

    Attributes:
        id: Unique within the data set.
        text: The full text.
        query: What the summary must answer; empty if there is no query.
        references: One or more reference summaries.
    """

    id: str
    text: str
    query: str
    references: tuple[str, ...]


def load_documents(
    data_set: str,
    /,
    *,
    name: str | None = None,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    provenance: MutableMapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Load the documents of one task.

    Args:
        data_set: ``summ_multi_news``, ``summ_dialogsum`` …
        name: What the results are to call data of your own, where the task is the family's ``_custom`` one.
        data: Where the data is; no other source is tried then. A file of rows (JSON Lines, JSON, CSV, Parquet), a
            folder of such files, a folder with the data set's folder in it, or a hub data set ``org/name`` or
            ``org/name@revision`` whose split ``test`` has such rows. A row has one of :data:`TEXT_FIELDS` and one of
            :data:`REFERENCE_FIELDS`, and may have one of :data:`ID_FIELDS` and ``query``.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: How many characters of a document a prompt shows; the rest is cut off.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.

    Returns:
        One row per document. ``references`` is JSON, ``[summary, …]``; ``text_truncated`` is the number of characters
        that the budget cut off; ``words`` is how many words the prompt asks for: the mean length of the data set's
        reference summaries, rounded (0: it asks for none).

    Raises:
        DataError: If the data that was asked for can't be used, or no source has any; says how to get it.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     documents = load_documents("summ_dialogsum", edition="embedded")
        >>> [len(json.loads(document["references"])) for document in documents]
        [3, 3, 3]
    """
    budget = check_whole_number("context_budget", context_budget)
    loaded = _load_summaries(data_set, data, edition).noted(provenance, name)
    lengths = [len(summary.split()) for document in loaded.documents for summary in document.references]
    words = _rounded(ALL_SETS[data_set].settings.get("mean_words") or fmean(lengths))
    return [_row(data_set, document, loaded.edition, budget, words) for document in loaded.documents]


def examples(name: str) -> list[dict[str, Any]]:
    """Examples for few-shot prompts, each of which asks for as many words as its own summary has.

    Example:
        >>> example = examples("summ_dialogsum")[0]
        >>> example["words"], json.loads(example["references"])
        (20, ['#Person1# returns a leaking kettle without a receipt, and #Person2# finds the payment and offers a new one.'])
    """  # noqa: E501 - a summary is one line
    wanted, (_, rows) = find_data_set(ALL_SETS, name), example_rows(__file__, name)
    documents = [_read_row(wanted, where, row, 0) for where, row in rows]
    asked = ((one, _rounded(len(one.references[0].split()))) for one in documents)
    return [_row(name, one, "examples", DEFAULT_CONTEXT_BUDGET, words) for one, words in asked]


def _rounded(words: float) -> int:
    """To a number that a prompt may say: fives below 100, then tens.

    Example:
        >>> _rounded(23.6), _rounded(263.66), _rounded(1), _rounded(0)
        (25, 260, 5, 0)
    """
    step = 5 if words < 100 else 10
    return max(step, round(words / step) * step) if words else 0


def _load_summaries(name: str, data: str | Path | None = None, edition: str | None = None) -> Loaded[Document]:
    """The documents of a data set from the first source that has it."""
    return load(reading(find_data_set(ALL_SETS, name)), data, edition)


def prompt(doc: Mapping[str, Any]) -> str:
    r"""The prompt: the document, then the instruction, since models that cut a prompt cut its beginning.

    Example:
        >>> doc = {"data_set": "summ_qmsum", "text": "Chair: Let us wait.", "query": "What now?", "words": 70}
        >>> print(prompt(doc))
        <document>
        Chair: Let us wait.
        </document>
        <BLANKLINE>
        Query: What now?
        The document above is the transcript of a meeting. Summarise what it says in answer to the query.
        The summary should have about 70 words. Write only the summary.
        <BLANKLINE>
        Summary:
    """
    query = f"Query: {doc['query']}\n" if doc["query"] else ""
    instruction = ALL_SETS[doc["data_set"]].settings["instruction"]
    length = f"The summary should have about {doc['words']} words. " if doc.get("words") else ""
    asked = f"{query}{instruction}\n{length}Write only the summary."
    return f"<document>\n{doc['text']}\n</document>\n\n{asked}\n\nSummary:"


def _row(name: str, document: Document, edition: str, budget: int, words: int) -> dict[str, str | int]:
    text = document.text
    if ALL_SETS[name].settings.get("articles"):
        articles = map(str.strip, text.split(_BETWEEN_ARTICLES))
        text = "\n\n-----\n\n".join(filter(None, articles))
    fields = text_fields(name, document.id, text, budget)
    references = json.dumps(document.references, ensure_ascii=False)
    return {**fields, "query": document.query, "words": words, "references": references, "edition": edition}


def reading(wanted: DataSet) -> Reading[Document]:
    """How a data set is read, wherever it lies."""

    def at(place: Path) -> tuple[Document, ...]:
        return read(chain.from_iterable(map(file_rows, split_files(place, wanted.split))))

    read = partial(_read_rows, wanted)
    return Reading(wanted, DATA_SETS.values(), at, from_rows=read, of_files=_paired_rows)


def _paired_rows(documents: Path, summaries: Path) -> Rows:
    """The rows of two text files, a document and its summary a line, as Multi-News is published.

    Newlines within a document are written out as ``NEWLINE_CHAR`` there.

    Raises:
        DataError: If the files differ in length or can't be read.
    """
    pairs = zip_longest(text_lines(documents), text_lines(summaries))
    for number, (document, summary) in enumerate(pairs, start=1):
        if document is None or summary is None:
            raise DataError(f"{documents} and {summaries} differ in length: one ends before line {number}")
        row = {"document": document.strip().replace("NEWLINE_CHAR", "\n"), "summary": summary.strip()}
        yield f"{documents}, line {number}", row


def _read_rows(wanted: DataSet, rows: Rows) -> tuple[Document, ...]:
    r"""Make documents of rows, each with its place for messages, in the order of the rows.

    Example:
        >>> row = {"id": "m1", "input": "Why was it postponed?\n\nChair: Let us wait.", "output": "To wait."}
        >>> _read_rows(DATA_SETS["summ_qmsum"], [("line 1", row)])
        (Document(id='m1', text='Chair: Let us wait.', query='Why was it postponed?', references=('To wait.',)),)
    """
    documents = [_read_row(wanted, where, row, index) for index, (where, row) in enumerate(rows)]
    return distinct(wanted.name, _grouped(documents) if wanted.settings["references_in_rows"] else documents)


def _split_query(text: str) -> tuple[str, str]:
    r"""Split at the first blank line; without one all is text and the query is empty.

    Example:
        >>> _split_query("What was decided?\n\nA: Yes.\n\nB: No.")
        ('What was decided?', 'A: Yes.\n\nB: No.')
        >>> _split_query("A: Yes.")
        ('', 'A: Yes.')
    """
    first, *rest = _BLANK_LINE.split(text, maxsplit=1)
    return (first.strip(), rest[0]) if rest else ("", text)


def _read_row(wanted: DataSet, where: str, row: Any, index: int) -> Document:
    read = read_model(_SummaryRow, row, where)
    query, text = read.query, read.text
    if query is None and wanted.settings["query_comes_first"]:
        query, text = _split_query(text)
    return Document(read.id or str(index), text, str(query or "").strip(), tuple(read.references))


def _grouped(documents: Sequence[Document]) -> list[Document]:
    """One document for all rows whose ids differ only in a final ``_N``; a dialogue with a single row keeps its id.

    The text is part of the key, since the ids of the other splits end in the number of the dialogue.
    """
    labels = [(_LAST_NUMBER.sub("", document.id), document.text) for document in documents]
    whole = []
    for members in grouped(documents, labels).values():
        name = _LAST_NUMBER.sub("", members[0].id) if len(members) > 1 else members[0].id
        references = tuple(reference for member in members for reference in member.references)
        whole.append(replace(members[0], id=name, references=references))
    return whole


class SummaryRow(NamedTuple):
    """A prediction (None: there is none) and its references."""

    id: str
    prediction: str | None
    references: tuple[str, ...]


def read_summaries(gold: Path, predictions: Path) -> list[SummaryRow]:
    """Read gold and predicted summaries from files, joined by id or line by line.

    Args:
        gold: Rows with one of :data:`REFERENCE_FIELDS`, a folder of texts, or a text a line.
        predictions: The same with ``summary`` or one of :data:`~tls_tasks.data.keyed.PREDICTION_FIELDS`.

    Raises:
        DataError: A place that can't be read, a row that is no text, or a prediction that the gold lacks.
    """
    sides = (read_keyed(side, ID_FIELDS, text="line", from_model=side is predictions) for side in (gold, predictions))
    rows = []
    for name, reference, prediction in joined(*sides):
        with said_of(reference):
            references = read_texts(listed(reference.field(REFERENCE_FIELDS)), 0)
        with said_of(prediction or reference):
            told = prediction and prediction.answer((*PREDICTION_FIELDS, "summary"))
            text = None if told is None else read_text(told, "predictions", 0)
        rows.append(SummaryRow(name, text, references))
    return rows
