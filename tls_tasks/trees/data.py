"""Data of the extraction tasks: where it comes from, its rows, the documents that a task asks about, the prompt.

A task looks for its data as :mod:`tls_tasks.data.sources` says. One document is one text with a schema and the tree
that is right for it; the documents of a task may have different schemas.
"""

import json
import logging
from collections.abc import Hashable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import DataError, InputError, check_whole_number
from tls_tasks.data.catalogue import DataSet, HubFiles, find_data_set, read_catalogue
from tls_tasks.data.files import ENDINGS, Rows, example_rows, file_rows, filled_text, readable, split_files
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.data.rows_by_id import PREDICTION_FIELDS, error_context, join_rows, read_by_id
from tls_tasks.data.sources import DEFAULT_CONTEXT_BUDGET, LoadedData, SetReader, distinct, hub_rows, load, text_fields
from tls_tasks.trees.compliance import reference_violations
from tls_tasks.trees.rows import read_prediction, read_reference
from tls_tasks.trees.schema import is_json_schema, read_schema, schema_and_form
from tls_tasks.trees.types import Branch, ListOf, RecursiveNode, SchemaNode, UnionNode, node_for
from tls_tasks.trees.value_normalization import EXPECTED_DATE, parse_numbers, unread_dates

_TEXT_FIELDS = ("text", "document", "input")
"""Fields that hold the document; the first that a row has is read."""

REFERENCE_FIELDS = ("reference", "item", "output")
"""Fields that hold the reference tree; the first that a row has is read."""

ID_FIELDS = ("id", "doc_id")
"""Fields that hold the document's name; without one it is the number of the row."""


class _TreeRow(DataRow):
    """A row of a data set; one without an id is numbered."""

    id: Id = named(*ID_FIELDS, default="")
    title: Any = None
    text: str = named(*_TEXT_FIELDS)
    json_schema: Any = named("schema")
    reference: Any = named(*REFERENCE_FIELDS)


@dataclass(frozen=True, slots=True)
class TreeDocument:
    """One document to take a tree from.

    Attributes:
        id: Its name, unique in the data set.
        kind: What sort of document it is: the name of its schema, or the row's ``title``; may be empty.
        text: The text, whole.
        schema: JSON text of the schema, in the form in which it was given.
        reference: JSON text of the reference tree.
    """

    id: str
    kind: str
    text: str
    schema: str
    reference: str


def read_rows(name: str, rows: Rows, schemas: Mapping[str, Any] | None = None) -> tuple[TreeDocument, ...]:
    """Make documents of rows, in the order of the rows.

    Args:
        name: Name of the data set, for messages.
        rows: Each with its place for messages: an object with one of :data:`_TEXT_FIELDS`; with ``schema``, which is a
            schema, JSON text of one, or a name of ``schemas``; with one of :data:`REFERENCE_FIELDS`, which is a tree
            or JSON text of one; and perhaps with one of :data:`ID_FIELDS` and ``title``.
        schemas: Schemas that rows may name.

    Raises:
        DataError: If there is no row, a row lacks a field, a schema or a tree can't be read, a tree has a value of
            another type than its schema or a key that its schema lacks, or two documents have one id.

    Example:
        >>> row = {"id": "s1", "text": "Song: Rain.", "schema": "song", "reference": {"song_name": "Rain"}}
        >>> read_rows("tree_extraction", [("line 1", row)], {"song": {"song_name": "string"}})[0].reference
        '{"song_name": "Rain"}'
    """
    documents = [read_row(where, row, index, schemas or {}) for index, (where, row) in enumerate(rows)]
    return distinct(name, documents)


def read_row(where: str, row: Any, index: int, schemas: Mapping[str, Any]) -> TreeDocument:
    """Read one row as a document; see :func:`read_rows`.

    Raises:
        DataError: If it is no document.
    """
    read = read_model(_TreeRow, row, where)
    kind, schema = read.title if isinstance(read.title, str) else "", read.json_schema
    if isinstance(schema, str) and not _is_json_text(schema):
        if schema not in schemas:
            names = ", ".join(map(repr, schemas)) or "none: there is no schemas.json beside the file"
            raise DataError(f"{where}: schema names {schema!r}; the schemas are {names}")
        kind, schema = schema, schemas[schema]
    if not isinstance(schema, Mapping | list) and not _is_json_text(schema):
        raise DataError(f"{where}: schema must be an object or a list, got {schema!r}")
    try:
        node, form = schema_and_form(schema)
        reference = parse_numbers(read_reference(read.reference, None), node)
        issues, unread = reference_violations(reference, node), unread_dates(reference, node)
    except InputError as error:
        raise DataError(f"{where}: {error}") from error
    if issues:
        raise DataError(f"{where}: reference: got {issues[0]}, expected a tree of its schema ({form})")
    if unread:
        raise DataError(f"{where}: reference: got {unread[0]}, expected {EXPECTED_DATE} of tree_eval")
    return TreeDocument(read.id or str(index), kind, read.text, _json_text(schema), _json_text(read.reference))


def _is_json_text(value: Any) -> bool:
    return isinstance(value, str) and value.lstrip().startswith(("{", "["))


def _json_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


# --- files of references and predictions, joined by id ---


class TreeRow(NamedTuple):
    """A prediction as it was written (None: there is none), its reference, and the text of both if it is known."""

    id: str
    prediction: Any
    reference: Any
    source: Any = None


def holds_many(path: Path) -> bool:
    """Tell whether a path is a folder or a file of rows, not one tree."""
    return path.is_dir() or path.name.endswith(tuple(ending for ending in ENDINGS if ending != ".json"))


def read_trees(predictions: Path, references: Path, sources: Path | None = None) -> list[TreeRow]:
    """Read all sides and join them.

    Args:
        predictions: Rows with one of :data:`~tls_tasks.data.rows_by_id.PREDICTION_FIELDS`, or a folder of trees.
        references: The same with one of :data:`~tls_tasks.trees.data.REFERENCE_FIELDS`.
        sources: Rows with one of :data:`_TEXT_FIELDS`, or a folder of texts; there may be more than references.

    Raises:
        DataError: A place that can't be read, what is no tree, a prediction that has no reference, or a reference that
            has no source.
    """
    answers, golds = read_by_id(predictions, ID_FIELDS, from_model=True), read_by_id(references, ID_FIELDS)
    pairs = [] if sources is None else join_rows(read_by_id(sources, ID_FIELDS), golds)
    texts = {gold.where: text.field(_TEXT_FIELDS) for _, text, gold in pairs if gold is not None}
    rows = []
    for name, gold, answer in join_rows(golds, answers):
        with error_context(gold):
            reference, prediction = read_reference(gold.field(REFERENCE_FIELDS), None), None
        if answer is not None:
            with error_context(answer):
                prediction = answer.answer((*PREDICTION_FIELDS, *REFERENCE_FIELDS))
                read_prediction(prediction, None)
        rows.append(TreeRow(name, prediction, reference, texts.get(gold.where)))
    return rows


SCHEMAS_FILE = "schemas.json"
"""The file beside the rows with the schemas that rows may name: an object, name -> schema."""

ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""The data sets with the name under which a user's own runs, and without it."""


_log = logging.getLogger(__name__)


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
        data_set: ``tree_extraction`` or ``tree_paraloq``.
        name: What the results are to call data of your own, where the task is the family's ``_custom`` one.
        data: Where the data is, instead of the usual order; see :func:`_load_trees`.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of a document that a prompt shows; what is beyond them is cut off.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.

    Returns:
        One row a document. ``schema`` and ``reference`` are JSON; ``text_truncated`` is the number of characters that
        the budget cut off.

    Raises:
        DataError: If the data that was asked for can't be used.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     document = load_documents("tree_extraction", edition="embedded")[0]
        >>> document["kind"], json.loads(document["reference"])["total"]
        ('invoice', 342.3)
    """
    budget = check_whole_number("context_budget", context_budget)
    loaded = _load_trees(data_set, data, edition).record(provenance, name)
    return [_row(data_set, document, loaded.edition, budget) for document in loaded.documents]


def examples(name: str) -> list[dict[str, Any]]:
    """Return the examples for few-shot prompts, each with its own small schema, in the form of a data set's rows.

    Example:
        >>> json.loads(examples("tree_extraction")[0]["reference"])["delivered_on"]
        '2023-06-06'
    """
    documents = read_rows(name, example_rows(__file__, name)[1])
    return [_row(name, document, "examples", DEFAULT_CONTEXT_BUDGET) for document in documents]


def _load_trees(name: str, data: str | Path | None = None, edition: str | None = None) -> LoadedData[TreeDocument]:
    """Load a data set from the first source that has it.

    Args:
        name: ``tree_extraction`` or ``tree_paraloq``.
        data: A file of rows (JSON Lines, JSON, CSV, Parquet), a folder of such files, a folder with the data set's
            folder in it, or a hub data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such rows.
            The fields are those of :func:`read_rows`; schemas that rows name stand in
            :data:`SCHEMAS_FILE` in the same folder. No other source is tried.
        edition: Take the data from this edition only; None takes the first that has it.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        OptionError: If there is no such data set or edition.
    """
    data_set = find_data_set(ALL_SETS, name)
    return load(make_reader(find_data_set(ALL_SETS, data_set.settings.get("same_as", name))), data, edition)


def prompt(doc: Mapping[str, Any], quotes: bool = False) -> str:
    r"""Build the prompt: document, schema, instruction; in this order, since models cut a long prompt's beginning.

    The schema is JSON Schema: the data's own, or made of treeval's form with null allowed at every leaf. ``quotes``:
    whether it asks for the quote of each value.

    Example:
        >>> print(prompt({"text": "Out on 3 May 2024.", "schema": '{"day": "date"}'}))
        <document>
        Out on 3 May 2024.
        </document>
        <BLANKLINE>
        JSON Schema:
        {"type": "object", "properties": {"day": {"type": ["string", "null"], "format": "date"}}, "required": ["day"], "additionalProperties": false}
        <BLANKLINE>
        Extract from the document above what this schema describes:
        - Copy text exactly as it stands in the document.
        - Write numbers as plain numbers, without units.
        - Write dates as YYYY-MM-DD.
        - Write null for what the document does not say, and [] for a list without items.
        Answer with values, not with the schema. An answer to another schema might be: {"city": "Oslo", "visitors": 1200, "mayor": null}
        Write only one JSON object.
        <BLANKLINE>
        JSON:
    """  # noqa: E501 - the prompt's lines are as long as they are
    schema = _prompt_schema(doc["schema"])
    dates = "- Write dates as YYYY-MM-DD.\n" if '"format": "date"' in schema else ""
    kind = type(node_for(read_schema(doc["schema"]), {})).__name__
    root, *forms = _FORMS.get(kind, _FORMS["Leaf"])
    fields = {"schema": schema, "dates": dates + _AS_QUOTED * quotes, "form": forms[quotes], "root": root}
    return filled_text(Path(__file__).with_name("prompt.txt"), text=doc["text"], **fields)


_AS_QUOTED = '- Write each value that is not null as {"value": ..., "quote": ...}, quoted word for word.\n'

_FORMS = json.loads(Path(__file__).with_name("prompt_forms.json").read_text(encoding="utf-8"))
"""What an answer is called, and what one looks like, without and with quotes, by the root of its schema."""


GROUNDED = "tree_grounded"
"""The task whose prompt asks for quotes."""


def shown_sources(doc: Mapping[str, Any]) -> list[str] | None:
    """Return the text that the prompt showed, as ``sources`` of tree_eval; None if it asked for no quotes."""
    return [doc["text"]] if doc.get("data_set") == GROUNDED else None


def grounded_prompt(doc: Mapping[str, Any]) -> str:
    """Build the prompt that also asks for quotes."""
    return prompt(doc, quotes=True)


def _prompt_schema(schema: str) -> str:
    """Return a schema as a prompt shows it: one line of JSON Schema.

    Example:
        >>> _prompt_schema('["string"]')
        '{"type": "array", "items": {"type": ["string", "null"]}}'
    """
    value = json.loads(schema)
    shown = value if is_json_schema(value) else _as_json_schema(read_schema(value))
    return json.dumps(shown, ensure_ascii=False)


def _as_json_schema(node: SchemaNode) -> dict[str, Any]:
    """Return a schema node as JSON Schema, with null allowed at each leaf.

    Example:
        >>> _as_json_schema(read_schema({"day": "date", "tags": ["string"]}))["properties"]["day"]
        {'type': ['string', 'null'], 'format': 'date'}
        >>> _as_json_schema(read_schema(["4/4", "2/2"]))
        {'enum': ['4/4', '2/2', None]}
    """
    if isinstance(node, UnionNode):
        return {"anyOf": [_as_json_schema(part) for part in node.parts]}
    if isinstance(node, RecursiveNode):
        return {}
    if isinstance(node, Branch):
        return {
            "type": "object",
            "properties": {str(key): _as_json_schema(child) for key, child in node.children.items()},
            "required": [str(key) for key in node.children if key in node.required],
            "additionalProperties": False if node.rest is None else _as_json_schema(node.rest.item),
        }
    if isinstance(node, ListOf):
        return {"type": "array", "items": _as_json_schema(node.item)}
    if node.choices:
        return {"enum": [*node.choices, None]}
    names = str(getattr(node.type, "__name__", node.type)).split("|")
    if isinstance(node.type, type) or not all(name in _JSON_LEAVES for name in names):
        return {"title": "|".join(names)}
    if len(names) > 1:
        return {"anyOf": [*(dict(_JSON_LEAVES[name]) for name in names), {"type": "null"}]}
    schema = dict(_JSON_LEAVES[names[0]])
    return schema | ({"type": [schema["type"], "null"]} if schema.get("type", "null") != "null" else {})


_JSON_LEAVES: Mapping[Hashable, Mapping[str, Any]] = {
    **{name: {"type": name} for name in ("string", "integer", "number", "boolean", "object", "null")},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "any": {},
}


def make_reader(entry: DataSet) -> SetReader[TreeDocument]:
    """Return the reader of a data set, for local, hub and embedded editions."""
    return SetReader(entry, DATA_SETS.values(), partial(_read_at, entry), _published, partial(read_rows, entry.name))


def _read_at(data_set: DataSet, path: Path) -> tuple[TreeDocument, ...]:
    """Read a folder or a file."""
    files = [file for file in split_files(path, data_set.split) if file.name != SCHEMAS_FILE]
    if not files:
        raise DataError(f"{path}: {SCHEMAS_FILE} is there, but no file of rows beside it")
    schemas_file, schemas = files[0].with_name(SCHEMAS_FILE), dict[str, Any]()
    if schemas_file.is_file():
        with readable(schemas_file, "JSON", ValueError):
            schemas = json.loads(schemas_file.read_text(encoding="utf-8"))
    if not isinstance(schemas, dict):
        raise DataError(f"{schemas_file}: expected an object, name -> schema, got {type(schemas).__name__}")
    return read_rows(data_set.name, chain.from_iterable(map(file_rows, files)), schemas)


def _row(name: str, document: TreeDocument, edition: str, budget: int) -> dict[str, str | int]:
    tree = {"kind": document.kind, "schema": document.schema, "reference": document.reference, "edition": edition}
    return {**text_fields(name, document.id, document.text, budget), **tree}


def _published(source: HubFiles) -> LoadedData[TreeDocument]:
    """Load the published set without the rows whose schema or tree is broken.

    Its user can't mend it, and a row or two should not cost the others. Documents keep the number of their row as id,
    so that it stays plain which ones are meant.
    """
    rows = hub_rows(source)
    documents: list[TreeDocument] = []
    for index, (where, row) in enumerate(rows):
        try:
            documents.append(read_row(where, row, index, {}))
        except DataError as error:  # noqa: PERF203 - a row, not the loop, may fail
            _log.warning("left out: %s", error)
    if not documents:
        raise DataError(f"{source.repo_id}: none of its {len(rows)} rows can be read")
    left_out = f" ({len(rows) - len(documents)} of {len(rows)} rows left out)" if len(documents) < len(rows) else ""
    return LoadedData(tuple(documents), "hub", f"{source.origin}{left_out}")
