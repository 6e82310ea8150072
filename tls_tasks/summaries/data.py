"""Data sets of the summarisation tasks: loading documents, and the prompt.

A task looks for its data in the order of :mod:`tls_tasks.data.sources`. One document is one text, with a query if the
data set has queries, and all its reference summaries.
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
from tls_tasks.data.models import DataRow, Id, Texts, named, parse_list, read_model
from tls_tasks.data.rows_by_id import PREDICTION_FIELDS, error_context, join_rows, read_by_id
from tls_tasks.data.sources import DEFAULT_CONTEXT_BUDGET, LoadedData, SetReader, distinct, load, text_fields
from tls_tasks.summaries.rows import read_texts

ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""Name -> data set: all of them, and all but the ``_custom`` one, which holds a user's data."""


TEXT_FIELDS = ("text", "document", "dialogue", "transcript", "source", "report", "input")
"""Fields that may hold the document; the first one present is read."""

REFERENCE_FIELDS = ("references", "reference", "summary", "output")
"""Fields that may hold the reference summary, or a list of them; the first one present is read."""

ID_FIELDS = ("pid", "id", "doc_id", "uid")
"""Fields that may hold the document's id; a row with none of them is numbered. ``pid`` comes first, since in SCROLLS
only that is unique."""

_LAST_NUMBER = re.compile(r"_\d+$")
_BETWEEN_ARTICLES = "|||||"  # separates the articles of a document of Multi-News
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
        name: The name of your data in the results of a ``_custom`` task.
        data: The only place to read the data from. A file of rows (JSON Lines, JSON, CSV, Parquet), a
            folder of such files, a folder with the data set's folder in it, or a hub data set ``org/name`` or
            ``org/name@revision`` whose split ``test`` has such rows. A row has one of :data:`TEXT_FIELDS` and one of
            :data:`REFERENCE_FIELDS`, and may have one of :data:`ID_FIELDS` and ``query``.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: The number of characters of a document that a prompt shows; the rest is cut off.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.

    Returns:
        One row per document. ``references`` is JSON, ``[summary, …]``; ``text_truncated`` is the number of characters
        that the budget cut off; ``words`` is the number of words that the prompt asks for: the rounded mean length of
        the data set's reference summaries, or 0 for no request.

    Raises:
        DataError: If the requested data can't be used, or no source has any; the message says how to get it.
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
    loaded = _load_summaries(data_set, data, edition).record(provenance, name)
    lengths = [len(summary.split()) for document in loaded.documents for summary in document.references]
    words = _rounded(ALL_SETS[data_set].settings.get("mean_words") or fmean(lengths))
    return [_row(data_set, document, loaded.edition, budget, words) for document in loaded.documents]


def examples(name: str) -> list[dict[str, Any]]:
    """Return documents for few-shot prompts; each asks for as many words as its summary has.

    Example:
        >>> example = examples("summ_dialogsum")[0]
        >>> example["words"], json.loads(example["references"])
        (20, ['#Person1# returns a leaking kettle without a receipt, and #Person2# finds the payment and offers a new one.'])
    """  # noqa: E501 - a summary is one line
    data_set, (_, rows) = find_data_set(ALL_SETS, name), example_rows(__file__, name)
    documents = [_read_row(data_set, where, row, 0) for where, row in rows]
    lengths = ((document, _rounded(len(document.references[0].split()))) for document in documents)
    return [_row(name, document, "examples", DEFAULT_CONTEXT_BUDGET, words) for document, words in lengths]


def _rounded(words: float) -> int:
    """Round a number of words for a prompt: to fives below 100, to tens above.

    Example:
        >>> _rounded(23.6), _rounded(263.66), _rounded(1), _rounded(0)
        (25, 260, 5, 0)
    """
    step = 5 if words < 100 else 10
    return max(step, round(words / step) * step) if words else 0


def _load_summaries(name: str, data: str | Path | None = None, edition: str | None = None) -> LoadedData[Document]:
    """Load the documents of a data set from the first source that has it."""
    return load(make_reader(find_data_set(ALL_SETS, name)), data, edition)


def prompt(doc: Mapping[str, Any]) -> str:
    r"""Build the prompt: the document, then the instruction, since models that cut a prompt cut its beginning.

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
    request = f"{query}{instruction}\n{length}Write only the summary."
    return f"<document>\n{doc['text']}\n</document>\n\n{request}\n\nSummary:"


def _row(name: str, document: Document, edition: str, budget: int, words: int) -> dict[str, str | int]:
    """Return a document as the row of a task."""
    text = document.text
    if ALL_SETS[name].settings.get("articles"):
        articles = map(str.strip, text.split(_BETWEEN_ARTICLES))
        text = "\n\n-----\n\n".join(filter(None, articles))
    fields = text_fields(name, document.id, text, budget)
    references = json.dumps(document.references, ensure_ascii=False)
    return {**fields, "query": document.query, "words": words, "references": references, "edition": edition}


def make_reader(data_set: DataSet) -> SetReader[Document]:
    """Return the readers of a data set, one for each kind of source."""

    def read_path(path: Path) -> tuple[Document, ...]:
        return read(chain.from_iterable(map(file_rows, split_files(path, data_set.split))))

    read = partial(_read_rows, data_set)
    return SetReader(data_set, DATA_SETS.values(), read_path, from_rows=read, join_files=_paired_rows)


def _paired_rows(documents: Path, summaries: Path) -> Rows:
    """Yield (where, row) of two text files with a document and its summary a line, as Multi-News is published.

    The files write newlines within a document as ``NEWLINE_CHAR``.

    Raises:
        DataError: If the files differ in length or can't be read.
    """
    pairs = zip_longest(text_lines(documents), text_lines(summaries))
    for number, (document, summary) in enumerate(pairs, start=1):
        if document is None or summary is None:
            raise DataError(f"{documents} and {summaries} differ in length: one ends before line {number}")
        row = {"document": document.strip().replace("NEWLINE_CHAR", "\n"), "summary": summary.strip()}
        yield f"{documents}, line {number}", row


def _read_rows(data_set: DataSet, rows: Rows) -> tuple[Document, ...]:
    r"""Build documents from (where, row) pairs, in the same order.

    Example:
        >>> row = {"id": "m1", "input": "Why was it postponed?\n\nChair: Let us wait.", "output": "To wait."}
        >>> _read_rows(DATA_SETS["summ_qmsum"], [("line 1", row)])
        (Document(id='m1', text='Chair: Let us wait.', query='Why was it postponed?', references=('To wait.',)),)
    """
    documents = [_read_row(data_set, where, row, index) for index, (where, row) in enumerate(rows)]
    return distinct(data_set.name, _merge_rows(documents) if data_set.settings["references_in_rows"] else documents)


def _split_query(text: str) -> tuple[str, str]:
    r"""Split into query and text at the first blank line; without one the query is empty.

    Example:
        >>> _split_query("What was decided?\n\nA: Yes.\n\nB: No.")
        ('What was decided?', 'A: Yes.\n\nB: No.')
        >>> _split_query("A: Yes.")
        ('', 'A: Yes.')
    """
    first, *rest = _BLANK_LINE.split(text, maxsplit=1)
    return (first.strip(), rest[0]) if rest else ("", text)


def _read_row(data_set: DataSet, where: str, row: Any, index: int) -> Document:
    parsed = read_model(_SummaryRow, row, where)
    query, text = parsed.query, parsed.text
    if query is None and data_set.settings["query_comes_first"]:
        query, text = _split_query(text)
    return Document(parsed.id or str(index), text, str(query or "").strip(), tuple(parsed.references))


def _merge_rows(documents: Sequence[Document]) -> list[Document]:
    """Merge documents whose ids differ only in a final ``_N`` into one; a dialogue with a single row keeps its id.

    Their texts must be equal, too, since the ids of the other splits end in the number of the dialogue.
    """
    labels = [(_LAST_NUMBER.sub("", document.id), document.text) for document in documents]
    merged = []
    for members in grouped(documents, labels).values():
        name = _LAST_NUMBER.sub("", members[0].id) if len(members) > 1 else members[0].id
        references = tuple(reference for member in members for reference in member.references)
        merged.append(replace(members[0], id=name, references=references))
    return merged


class SummaryRow(NamedTuple):
    """A prediction, which is None if it is missing, and its references."""

    id: str
    prediction: str | None
    references: tuple[str, ...]


def read_summaries(gold: Path, predictions: Path) -> list[SummaryRow]:
    """Read gold and predicted summaries from files, joined by id or line by line.

    Args:
        gold: Rows with one of :data:`REFERENCE_FIELDS`, a folder of texts, or a text a line.
        predictions: The same with ``summary`` or one of :data:`~tls_tasks.data.rows_by_id.PREDICTION_FIELDS`.

    Raises:
        DataError: A path that can't be read, a row that is no text, or a prediction without references.
    """
    sides = (read_by_id(side, ID_FIELDS, text="line", from_model=side is predictions) for side in (gold, predictions))
    rows = []
    for name, reference, prediction in join_rows(*sides):
        with error_context(reference):
            references = read_texts(parse_list(reference.field(REFERENCE_FIELDS)), 0)
        with error_context(prediction or reference):
            answer = prediction and prediction.answer((*PREDICTION_FIELDS, "summary"))
            text = None if answer is None else read_text(answer, "predictions", 0)
        rows.append(SummaryRow(name, text, references))
    return rows
