"""Data of the summarisation tasks: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. One document is one text with a query, if the data
set has queries, and all its reference summaries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, MutableMapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data import hub
from tls_tasks.data.catalogue import DataSet, find_data_set, read_catalogue
from tls_tasks.data.files import file_rows, hub_rows, split_files
from tls_tasks.data.order import Loaded, Published, Reading, load
from tls_tasks.summaries.data_rows import SummaryDocument, read_rows

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of a document in a prompt, some 6,000 tokens of English: a context of 8k has room for the answer."""

DATA_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))


def load_documents(
    name: str,
    /,
    *,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    provenance: MutableMapping[str, str] | None = None,
    **ignored: Any,
) -> list[dict[str, Any]]:
    """Load the documents of one task.

    The harness calls it with everything in the task's ``metadata``, in ``--metadata`` and in ``--model_args``.

    Args:
        name: Data set: ``summ_multi_news``, ``summ_dialogsum`` …
        data: Where the data is, instead of the usual order; see :func:`load_summaries`.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of a document that a prompt shows; what is beyond them is cut off.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.
        **ignored: What is meant for others.

    Returns:
        One row a document. ``references`` is JSON, ``[summary, …]``; ``text_truncated`` is the number of characters
        that the budget cut off.

    Raises:
        DataError: If the data that was asked for can't be used.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     documents = load_documents("summ_dialogsum", edition="embedded", version=1.0)
        >>> [len(json.loads(document["references"])) for document in documents]
        [3, 3, 3]
    """
    budget = check_whole_number("context_budget", context_budget)
    loaded = load_summaries(name, data, edition)
    loaded.note(provenance)
    return [_row(name, document, loaded.edition, budget) for document in loaded.documents]


def load_summaries(name: str, data: str | Path | None = None, edition: str | None = None) -> Loaded[SummaryDocument]:
    """Load a data set from the first source that has it.

    Args:
        name: ``summ_multi_news``, ``summ_dialogsum`` …
        data: A file of rows (JSON Lines, JSON, CSV, Parquet), a folder of such files, a folder with the data set's
            folder in it, or a hub data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such rows.
            The fields are those of :mod:`tls_tasks.summaries.data_rows`. No other source is tried.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        OptionError: If there is no such data set or edition.
    """
    return load(_reading(find_data_set(DATA_SETS, name)), data, edition)


def prompt(doc: Mapping[str, Any]) -> str:
    r"""The prompt: the document, then the instruction, since models that cut a prompt cut its beginning.

    Example:
        >>> print(prompt({"data_set": "summ_qmsum", "text": "Chair: Let us wait.", "query": "What now?"}))
        <document>
        Chair: Let us wait.
        </document>
        <BLANKLINE>
        Query: What now?
        Summarise what the meeting above says about the query. Write the summary and nothing else.
        <BLANKLINE>
        Summary:
    """
    query = f"Query: {doc['query']}\n" if doc["query"] else ""
    instruction = f"{DATA_SETS[doc['data_set']].settings['instruction']} Write the summary and nothing else."
    return f"<document>\n{doc['text']}\n</document>\n\n{query}{instruction}\n\nSummary:"


def _row(name: str, document: SummaryDocument, edition: str, budget: int) -> dict[str, str | int]:
    return {
        "doc_id": document.id,
        "data_set": name,
        "text": document.text[:budget],
        "text_truncated": max(0, len(document.text) - budget),
        "query": document.query,
        "references": json.dumps(document.references, ensure_ascii=False),
        "edition": edition,
    }


def _reading(wanted: DataSet) -> Reading[SummaryDocument]:
    return Reading(
        wanted,
        DATA_SETS.values(),
        at=lambda place: read_rows(wanted, chain.from_iterable(map(file_rows, split_files(place, wanted.split)))),
        published=partial(_published, wanted),
        from_rows=partial(read_rows, wanted),
    )


def _published(wanted: DataSet) -> Published[SummaryDocument]:
    source = wanted.hub
    if source is None:
        raise DataError(f"{wanted.name} is on no hub")
    files = [hub.fetch(source.repo_id, source.revision, file) for file in source.files]
    rows = list(hub_rows(files, source.settings["member"]))
    if source.rows is not None and len(rows) != source.rows:
        raise DataError(f"{source.repo_id}: has {len(rows)} rows, but data_sets.json expects {source.rows}")
    return read_rows(wanted, rows), source.origin
