"""Data of the summarisation tasks: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.datasets.order` says. One document is one text with a query, if the data
set has queries, and all its reference summaries.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.datasets import hub
from tls_tasks.datasets.order import (
    DATA_VARIABLE,
    EMBEDDED,
    HUB_ID,
    edition_of,
    folder_names,
    own_folder,
    pass_over,
    refuse_other,
    take_first,
    whole_number,
)
from tls_tasks.datasets.summary_files import file_rows, hub_rows, split_files
from tls_tasks.datasets.summary_rows import SummaryDocument, read_rows
from tls_tasks.datasets.summary_sets import SummarySet, summary_set, summary_sets
from tls_tasks.errors import DataError

if TYPE_CHECKING:
    import datasets

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of a document in a prompt, some 6,000 tokens of English: a context of 8k has room for the answer."""

TEXT_FIELDS = ("doc_id", "data_set", "text", "query", "references", "edition")
"""Fields of a document that hold text. ``references`` is JSON, ``[summary, …]``."""


@dataclass(frozen=True, slots=True)
class LoadedSummaries:
    """Documents and where they come from.

    Attributes:
        documents: In the order of the data.
        edition: One of :data:`tls_tasks.datasets.order.EDITIONS`.
        origin: Folder, file, or hub repository with revision.
    """

    documents: tuple[SummaryDocument, ...]
    edition: str
    origin: str


def load_summary_task(
    name: str,
    /,
    *,
    data: str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    provenance: MutableMapping[str, str] | None = None,
    **ignored: Any,
) -> dict[str, datasets.Dataset]:
    """Load the documents of one task, as the harness's ``custom_dataset`` wants them.

    The harness calls it with everything in the task's ``metadata``, in ``--metadata`` and in ``--model_args``.

    Args:
        name: Data set: ``summ_multi_news``, ``summ_dialogsum`` …
        data: Where the data is, instead of the usual order; see :func:`load_summaries`.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of a document that a prompt shows; what is beyond them is cut off.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.
        **ignored: What is meant for others.

    Returns:
        ``{"test": dataset}`` with one row a document: :data:`TEXT_FIELDS`, and ``text_truncated``, the number of
        characters that the budget cut off.

    Raises:
        DataError: If the data that was asked for can't be used.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     task = load_summary_task("summ_dialogsum", edition="embedded", version=1.0)
        >>> [len(json.loads(references)) for references in task["test"]["references"]]
        [3, 3, 3]
    """
    from datasets import Dataset, Features, Value

    budget = whole_number("context_budget", context_budget)
    loaded = load_summaries(name, data, edition)
    if provenance is not None:
        provenance.update(edition=loaded.edition, origin=loaded.origin)
    rows = [_row(name, document, loaded.edition, budget) for document in loaded.documents]
    features = Features({**dict.fromkeys(TEXT_FIELDS, Value("string")), "text_truncated": Value("int64")})
    return {"test": Dataset.from_list(rows, features=features)}


def load_summaries(name: str, data: str | Path | None = None, edition: str | None = None) -> LoadedSummaries:
    """Load a data set from the first source that has it.

    Args:
        name: ``summ_multi_news``, ``summ_dialogsum`` …
        data: A file of rows (JSON Lines, JSON, CSV, Parquet), a folder of such files, a folder with the data set's
            folder in it, or a hub data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such rows.
            The fields are those of :mod:`tls_tasks.datasets.summary_rows`. No other source is tried.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        OptionError: If there is no such data set or edition.
    """
    wanted = summary_set(name)
    named = None if data is None else partial(_from_user, wanted, data)
    steps = {"local": _from_environment, "hub": _from_hub, "embedded": _from_embedded}
    return take_first(wanted, named, {key: partial(step, wanted) for key, step in steps.items()}, edition)


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
    instruction = f"{summary_set(doc['data_set']).instruction} Write the summary and nothing else."
    return f"<document>\n{doc['text']}\n</document>\n\n{query}{instruction}\n\nSummary:"


def read_local(wanted: SummarySet, place: Path) -> LoadedSummaries:
    """Read a data set from a folder or a file.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    folder = own_folder(wanted, place) or place
    refuse_other(wanted, folder, summary_sets().values())
    rows = chain.from_iterable(file_rows(file) for file in split_files(folder, wanted.split))
    return LoadedSummaries(read_rows(wanted, rows), edition_of(folder), str(folder))


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


def _from_user(wanted: SummarySet, data: str | Path) -> LoadedSummaries:
    place = Path(data).expanduser()
    hub_id = HUB_ID.fullmatch(str(data))
    if place.exists():
        return read_local(wanted, place)
    if hub_id is None:
        raise DataError(f"data: {data} is neither a folder nor a file nor a hub data set org/name")
    rows: Iterable[tuple[str, Any]] = (
        (f"{data}, row {number}", row) for number, row in enumerate(hub.split_rows(hub_id[1], hub_id[2]), start=1)
    )
    return LoadedSummaries(read_rows(wanted, rows), "hub", str(data))


def _from_environment(wanted: SummarySet) -> LoadedSummaries | str:
    root = os.environ.get(DATA_VARIABLE)
    if not root:
        return f"{DATA_VARIABLE} is not set"
    folder = own_folder(wanted, Path(root).expanduser())
    if folder is None:
        return pass_over(wanted, f"{DATA_VARIABLE}={root} has no folder {' or '.join(folder_names(wanted))}")
    return read_local(wanted, folder)


def _from_hub(wanted: SummarySet) -> LoadedSummaries | str:
    source = wanted.hub
    try:
        files = [hub.fetch(source.repo_id, source.revision, file) for file in source.files]
        documents = read_rows(wanted, _counted(hub_rows(files, source.member), source.rows, source.repo_id))
    except DataError as error:
        return pass_over(wanted, str(error))
    return LoadedSummaries(documents, "hub", f"{source.repo_id}@{source.revision}")


def _counted(rows: Iterable[tuple[str, Any]], expected: int | None, where: str) -> list[tuple[str, Any]]:
    found = list(rows)
    if expected is not None and len(found) != expected:
        raise DataError(f"{where}: has {len(found)} rows, but summaries.json expects {expected}")
    return found


def _from_embedded(wanted: SummarySet) -> LoadedSummaries | str:
    folder = EMBEDDED / wanted.name
    return read_local(wanted, folder) if folder.is_dir() else "it has no embedded edition"
