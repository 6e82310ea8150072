"""Data of the extraction tasks: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.datasets.order` says. One document is one text with a schema and the tree
that is right for it; the documents of a task may have different schemas.
"""

from __future__ import annotations

import json
import logging
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
)
from tls_tasks.datasets.summary_files import file_rows, split_files
from tls_tasks.datasets.tree_rows import TreeDocument, read_row, read_rows
from tls_tasks.datasets.tree_sets import TreeSet, tree_set, tree_sets
from tls_tasks.errors import DataError, InputError
from tls_tasks.parsing.tree_schema import as_json_schema, is_json_schema, read_schema
from tls_tasks.types.trees import Branch, ListOf

if TYPE_CHECKING:
    import datasets

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of a document in a prompt, some 6,000 tokens of English: a context of 8k has room for the answer."""

SCHEMAS_FILE = "schemas.json"
"""The file beside the rows with the schemas that rows may name: an object, name -> schema."""

FIELDS = ("doc_id", "data_set", "kind", "text", "schema", "reference", "edition")
"""Fields of a document that hold text. ``schema`` and ``reference`` are JSON."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class LoadedTrees:
    """Documents and where they come from.

    Attributes:
        documents: In the order of the data.
        edition: One of :data:`tls_tasks.datasets.order.EDITIONS`.
        origin: Folder, file, or hub repository with revision.
    """

    documents: tuple[TreeDocument, ...]
    edition: str
    origin: str


def load_tree_task(
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
        name: Data set: ``tree_extraction`` or ``tree_paraloq``.
        data: Where the data is, instead of the usual order; see :func:`load_trees`.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of a document that a prompt shows; what is beyond them is cut off.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.
        **ignored: What is meant for others.

    Returns:
        ``{"test": dataset}`` with one row a document: :data:`FIELDS`, and ``text_truncated``, the number of characters
        that the budget cut off.

    Raises:
        DataError: If the data that was asked for can't be used.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     task = load_tree_task("tree_extraction", edition="embedded", version=1.0)
        >>> task["test"][0]["kind"], json.loads(task["test"][0]["reference"])["total"]
        ('invoice', 342.3)
    """
    from datasets import Dataset, Features, Value

    if not isinstance(context_budget, int) or isinstance(context_budget, bool) or context_budget < 1:
        raise InputError("context_budget", None, repr(context_budget), "a whole number above 0")
    loaded = load_trees(name, data, edition)
    if provenance is not None:
        provenance.update(edition=loaded.edition, origin=loaded.origin)
    rows = [_row(name, document, loaded.edition, context_budget) for document in loaded.documents]
    features = Features({**dict.fromkeys(FIELDS, Value("string")), "text_truncated": Value("int64")})
    return {"test": Dataset.from_list(rows, features=features)}


def load_trees(name: str, data: str | Path | None = None, edition: str | None = None) -> LoadedTrees:
    """Load a data set from the first source that has it.

    Args:
        name: ``tree_extraction`` or ``tree_paraloq``.
        data: A file of rows (JSON Lines, JSON, CSV, Parquet), a folder of such files, a folder with the data set's
            folder in it, or a hub data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such rows.
            The fields are those of :func:`tls_tasks.datasets.tree_rows.read_rows`; schemas that rows name stand in
            :data:`SCHEMAS_FILE` in the same folder. No other source is tried.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        OptionError: If there is no such data set or edition.
    """
    wanted = tree_set(name)
    named = None if data is None else partial(_from_user, wanted, data)
    steps = {"local": _from_environment, "hub": _from_hub, "embedded": _from_embedded}
    return take_first(wanted, named, {key: partial(step, wanted) for key, step in steps.items()}, edition)


def prompt(doc: Mapping[str, Any]) -> str:
    r"""The prompt: document, schema, instruction, in this order, since models that cut a prompt cut its beginning.

    The schema is JSON Schema: the data's own, or made of treeval's form with null allowed at every leaf.

    Example:
        >>> print(prompt({"text": "Out on 3 May 2024.", "schema": '{"day": "date"}'}))
        <document>
        Out on 3 May 2024.
        </document>
        <BLANKLINE>
        JSON Schema:
        {"type": "object", "properties": {"day": {"type": ["string", "null"], "format": "date"}}, "required": ["day"], "additionalProperties": false}
        <BLANKLINE>
        Fill the schema with what the document says. Copy text as it stands in the document. Write numbers as plain numbers. Write dates as YYYY-MM-DD. Write null for what the document does not say, and [] for a list of which it names no item. Answer with one JSON object and nothing else.
        <BLANKLINE>
        JSON:
    """  # noqa: E501 - the prompt's lines are as long as they are
    schema = prompt_schema(doc["schema"])
    dates = " Write dates as YYYY-MM-DD." if '"format": "date"' in schema else ""
    node = read_schema(doc["schema"])
    root = "object" if isinstance(node, Branch) else "list" if isinstance(node, ListOf) else "value"
    return (
        f"<document>\n{doc['text']}\n</document>\n\nJSON Schema:\n{schema}\n\n"
        "Fill the schema with what the document says. Copy text as it stands in the document. Write numbers as plain "
        f"numbers.{dates} Write null for what the document does not say, and [] for a list of which it names no item. "
        f"Answer with one JSON {root} and nothing else.\n\nJSON:"
    )


def prompt_schema(schema: str) -> str:
    """The schema as a prompt shows it: one line of JSON Schema.

    Example:
        >>> prompt_schema('["string"]')
        '{"type": "array", "items": {"type": ["string", "null"]}}'
    """
    value = json.loads(schema)
    shown = value if is_json_schema(value) else as_json_schema(read_schema(value), nullable=True)
    return json.dumps(shown, ensure_ascii=False)


def read_local(wanted: TreeSet, place: Path) -> LoadedTrees:
    """Read a data set from a folder or a file.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    folder = own_folder(wanted, place) or place
    refuse_other(wanted, folder, tree_sets().values())
    files = [file for file in split_files(folder, wanted.split) if file.name != SCHEMAS_FILE]
    if not files:
        raise DataError(f"{folder}: {SCHEMAS_FILE} is there, but no file of rows beside it")
    rows = chain.from_iterable(file_rows(file) for file in files)
    documents = read_rows(wanted.name, rows, _schemas(files[0].with_name(SCHEMAS_FILE)))
    return LoadedTrees(documents, edition_of(folder), str(folder))


def _schemas(file: Path) -> Mapping[str, Any]:
    """The schemas that rows may name; none if there is no such file."""
    if not file.is_file():
        return {}
    try:
        schemas = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: can't be read as JSON: {error}") from error
    if not isinstance(schemas, dict):
        raise DataError(f"{file}: expected an object, name -> schema, got {type(schemas).__name__}")
    return schemas


def _row(name: str, document: TreeDocument, edition: str, budget: int) -> dict[str, str | int]:
    return {
        "doc_id": document.id,
        "data_set": name,
        "kind": document.kind,
        "text": document.text[:budget],
        "text_truncated": max(0, len(document.text) - budget),
        "schema": document.schema,
        "reference": document.reference,
        "edition": edition,
    }


def _from_user(wanted: TreeSet, data: str | Path) -> LoadedTrees:
    place = Path(data).expanduser()
    hub_id = HUB_ID.fullmatch(str(data))
    if place.exists():
        return read_local(wanted, place)
    if hub_id is None:
        raise DataError(f"data: {data} is neither a folder nor a file nor a hub data set org/name")
    rows: Iterable[tuple[str, Any]] = (
        (f"{data}, row {number}", row) for number, row in enumerate(hub.split_rows(hub_id[1], hub_id[2]), start=1)
    )
    return LoadedTrees(read_rows(wanted.name, rows), "hub", str(data))


def _from_environment(wanted: TreeSet) -> LoadedTrees | str:
    root = os.environ.get(DATA_VARIABLE)
    if not root:
        return f"{DATA_VARIABLE} is not set"
    folder = own_folder(wanted, Path(root).expanduser())
    if folder is None:
        return pass_over(wanted, f"{DATA_VARIABLE}={root} has no folder {' or '.join(folder_names(wanted))}")
    return read_local(wanted, folder)


def _from_hub(wanted: TreeSet) -> LoadedTrees | str:
    source = wanted.hub
    if source is None:
        return "it is on no hub"
    try:
        file = hub.fetch(source.repo_id, source.revision, source.file)
        documents, n_rows = _readable(file_rows(file))
    except DataError as error:
        return pass_over(wanted, str(error))
    if not documents:
        return pass_over(wanted, f"{source.repo_id}: none of its {n_rows} rows can be read")
    left_out = f" ({n_rows - len(documents)} of {n_rows} rows left out)" if len(documents) < n_rows else ""
    return LoadedTrees(documents, "hub", f"{source.repo_id}@{source.revision}{left_out}")


def _readable(rows: Iterable[tuple[str, Any]]) -> tuple[tuple[TreeDocument, ...], int]:
    """The documents of a published set, and the number of its rows.

    Its user can't mend it, and a row or two whose schema or tree is broken should not cost the others. Documents keep
    the number of their row as id, so that it stays plain which ones are meant.
    """
    documents: list[TreeDocument] = []
    n_rows = 0
    for where, row in rows:
        try:
            documents.append(read_row(where, row, n_rows, {}))
        except DataError as error:
            _log.warning("left out: %s", error)
        n_rows += 1
    return tuple(documents), n_rows


def _from_embedded(wanted: TreeSet) -> LoadedTrees | str:
    folder = EMBEDDED / wanted.name
    return read_local(wanted, folder) if folder.is_dir() else "it has no embedded edition"
