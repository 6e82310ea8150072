"""Data sets of the extraction tasks: reading rows, loading documents, and the prompt.

A task looks for its data in the order of :mod:`tls_tasks.data.sources`. One document is one text with its gold objects.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from tls_tasks.core.errors import DataError, InputError, check_whole_number
from tls_tasks.core.score import grouped
from tls_tasks.data.catalogue import DataSet, find_data_set, read_catalogue
from tls_tasks.data.files import Rows, example_rows, file_rows, filled_text, split_files, text_lines
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.data.rows_by_id import PREDICTION_FIELDS, Row, RowsById, join_rows, read_by_id
from tls_tasks.data.sources import DEFAULT_CONTEXT_BUDGET, LoadedData, SetReader, distinct, load, text_fields
from tls_tasks.evidence.postprocess import check_ungrounded
from tls_tasks.evidence.read import ObjectReader
from tls_tasks.evidence.types import EvidenceSchema, read_schema

JOURNALS, GOLD = "journals.jsonl", "gold.jsonl"
"""The two files of a folder: ``{"journal_id", "text"}`` and ``{"journal_id", "items"}`` a line."""

ID_FIELDS = ("journal_id", "id", "doc_id")
"""Fields that may hold the document's id; a row with none of them is numbered."""

TEXT_FIELDS = ("text", "full_text", "document")
"""Fields that may hold the text; the first one present is read."""

OBJECT_FIELDS = ("items", "objects", "references")
"""Fields that may hold the gold objects: a list, or a list as JSON text."""

ENTITY_FIELDS = ("ner_info", "entities")
"""Fields that may hold the gold as character offsets instead: a list of ``{"label", "start", "end"}``."""

_OFFSET_KEYS = {"label", "start", "end", "text"}
_MAX_MISPLACED = 0.1


@dataclass(frozen=True, slots=True)
class EvidenceDocument:
    """One document to extract from.

    Attributes:
        id: Unique within the data set.
        text: The full text.
        objects: The gold objects, each of which quotes the text verbatim; empty for a text without any.
    """

    id: str
    text: str
    objects: tuple[Mapping[str, Any], ...]


_Gold = Annotated[list[Any], BeforeValidator(lambda value: json.loads(value) if isinstance(value, str) else value)]


class _EvidenceRow(DataRow):
    id: Id = named(*ID_FIELDS, default="")
    text: str = named(*TEXT_FIELDS)
    gold: _Gold = named(*OBJECT_FIELDS, *ENTITY_FIELDS)


def read_rows(schema: EvidenceSchema, rows: Rows, *, strict: bool = True) -> tuple[EvidenceDocument, ...]:
    """Turn rows into documents, in the same order.

    Args:
        schema: The schema of the gold objects.
        rows: Pairs of file and line, for error messages, and an object with one of :data:`TEXT_FIELDS` and one of
            :data:`OBJECT_FIELDS` or :data:`ENTITY_FIELDS`. One of :data:`ID_FIELDS` is optional.
        strict: Whether a gold object must fit the schema and quote the text verbatim, or only have a domain and a span.

    Raises:
        DataError: There are no rows, a row lacks a field, two documents share an id, or a gold object violates the
            schema or quotes something that is not in the text, which would make every score wrong.

    Example:
        >>> from tls_tasks.evidence.types import EvidenceSchema
        >>> row = {"id": 7, "text": "No fever.", "entities": [{"label": "symptom", "start": 3, "end": 8}]}
        >>> read_rows(EvidenceSchema("s", ("symptom",)), [("line 1", row)])[0].objects
        ({'domain': 'symptom', 'evidence_span': 'fever'},)
    """
    reader, documents = ObjectReader(schema), []
    for index, (where, value) in enumerate(rows):
        row = read_model(_EvidenceRow, value, where)
        entries = row.gold
        if all(value.get(name) is None for name in OBJECT_FIELDS):
            entries = _from_offsets(schema, entries, row.text, where)
        text = row.text if strict else None
        objects = (_object(reader, entry, text, f"{where}, object {n}") for n, entry in enumerate(entries, start=1))
        documents.append(EvidenceDocument(row.id or str(index), row.text, tuple(objects)))
    return distinct("evidence", documents)


def _from_offsets(schema: EvidenceSchema, entities: list[Any], text: str, where: str) -> list[dict[str, Any]]:
    """Return the entities whose label is a domain of the schema, as objects.

    A quote doesn't say which of two identical passages it comes from, so each passage counts once per domain.
    """
    domains = {domain.upper(): domain for domain in schema.domains}
    objects: dict[tuple[str, str], dict[str, Any]] = {}
    n_misplaced = 0
    for number, entity in enumerate(entities, start=1):
        if not isinstance(entity, Mapping) or "label" not in entity:
            raise DataError(f"{where}, entity {number}: expected an object with label, start and end, got {entity!r}")
        domain = domains.get(str(entity["label"]).upper())
        if domain is None:
            continue
        start, end = entity.get("start"), entity.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            got = f"got {start!r} and {end!r}"
            raise DataError(f"{where}, entity {number}: start and end must be offsets in a text of {len(text)}, {got}")
        span = text[start:end]
        n_misplaced += str(entity.get("text", span)).split() != span.split()
        attributes = {key: value for key, value in entity.items() if key not in _OFFSET_KEYS}
        objects.setdefault((domain, span), {schema.domain_field: domain, schema.span_field: span, **attributes})
    # A few legitimately differ, because they join two passages; many differ if the offsets belong to another text.
    if n_misplaced > _MAX_MISPLACED * len(entities):
        raise DataError(f"{where}: the offsets of {n_misplaced} of {len(entities)} entities don't point at their text")
    return list(objects.values())


_UNUSABLE = frozenset({"missing_domain", "invalid_domain", "missing_span", "invalid_span"})


def _object(reader: ObjectReader, value: Any, text: str | None, where: str) -> dict[str, Any]:
    """Return a gold object without null values.

    Raises DataError if it can't be scored or, given the text that it quotes, violates the schema or misquotes.
    """
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: expected an object, got {type(value).__name__}")
    # Parquet gives every object the keys of all objects, null where a key was absent.
    fields = {key: item for key, item in value.items() if item is not None}
    entry = reader.read(fields)
    with_default = {f"missing_{attribute.name}" for attribute in reader.schema.attributes if attribute.default}
    issues = [issue for issue in entry.issues if (issue in _UNUSABLE if text is None else issue not in with_default)]
    if issues:
        raise DataError(f"{where}: {', '.join(issues)} in {json.dumps(fields, ensure_ascii=False)}")
    if text is not None and str(entry.span) not in text:
        raise DataError(f"{where}: {reader.schema.span_field} {entry.span!r} is not verbatim in the text")
    return fields


def rows_from(path: Path) -> Rows:
    """Yield (where, row) from a file, or from a folder with the two files of journals or with files of rows.

    Args:
        path: A folder with :data:`JOURNALS` and :data:`GOLD`; any other folder, or a file, as
            :func:`~tls_tasks.data.files.split_files` and :func:`~tls_tasks.data.files.file_rows` read it.

    Raises:
        DataError: If there is no such file, or it can't be read.
    """
    if (path / JOURNALS).is_file():
        yield from _paired_rows(path / JOURNALS, path / GOLD)
        return
    for file in split_files(path, "test"):
        yield from file_rows(file)


def _paired_rows(journals: Path | None, gold: Path | None) -> Iterator[tuple[str, Any]]:
    """Yield (file and line of the gold, row) for each journal, with its text and its gold objects.

    Without journals the texts are empty, and without gold there are no objects.

    Raises:
        DataError: If a file can't be read, repeats an id, or lacks an id of the other.
    """
    paths = filter(None, (journals or gold, gold or journals))
    sides = (read_by_id(path, ID_FIELDS, needs_ids=True) for path in paths)
    for name, journal, row in join_rows(*sides):
        if row is None:
            hint = '"items": [] says that there is nothing to find'
            raise DataError(f"{journal.where}: {gold} has no row for {name!r}; {hint}")
        text = journal.field(TEXT_FIELDS) if journals else ""
        yield row.where, {"id": name, "text": text, "items": row.field(OBJECT_FIELDS) if gold else []}


def read_files(
    journals: Path | None, gold: Path | None, predictions: Path, schema: EvidenceSchema
) -> tuple[tuple[EvidenceDocument, ...], dict[str, str | None]]:
    """Read texts, gold and predictions, each of them a file, or a folder with one file a journal.

    Args:
        journals: Rows with one of :data:`ID_FIELDS` and one of :data:`TEXT_FIELDS`; None: the texts are empty.
        gold: Rows with an id and one of :data:`OBJECT_FIELDS`, one a journal.
        predictions: The same, with objects or a model's text.
        schema: The schema of the gold objects.

    Returns:
        The journals with their gold, and id -> prediction as text (model text, or the file's objects as JSON); None for
        a journal without a prediction.

    Raises:
        DataError: If a file can't be read, a row lacks a field, an id is repeated or belongs to no journal, or the gold
            has an object without domain or span; the message names file and line.
    """
    documents = read_rows(schema, _paired_rows(journals, gold), strict=False)
    by_id = RowsById(journals or gold or predictions, {doc.id: Row(doc.id, doc) for doc in documents})
    answers: dict[str, str | None] = {}
    for name, _, row in join_rows(by_id, read_by_id(predictions, ID_FIELDS, needs_ids=True, from_model=True)):
        items = row and row.answer((*OBJECT_FIELDS, *PREDICTION_FIELDS))
        answers[name] = items if isinstance(items, str | None) else json.dumps(items)
    return documents, answers


def read_schema_file(file: Path) -> EvidenceSchema:
    """Read the schema in a JSON file, in the form of :func:`~tls_tasks.evidence.types.read_schema`.

    Raises:
        DataError: If the file can't be read or is not JSON; InputError if its content is no schema.
    """
    try:
        return read_schema(json.loads("".join(text_lines(file))))
    except InputError as error:
        error.field = f"{file}: {error.field}"
        raise
    except ValueError as error:
        raise DataError(f"{file}: not JSON: {error}") from error


ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""Name -> data set: all of them, and all but the ``_custom`` one, which holds a user's data."""


def load_documents(
    data_set: str,
    /,
    *,
    name: str | None = None,
    data: str | Path | None = None,
    schema: Mapping[str, Any] | str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    postprocess: str | None = None,
    provenance: MutableMapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Load the documents of one task.

    Args:
        data_set: ``evidence_journals`` or ``evidence_maccrobat``.
        name: The name of your data in the results of a ``_custom`` task.
        data: The only place to read the data from. A file or folder as
            :func:`~tls_tasks.evidence.data.rows_from` reads it, a folder with the data set's folder in it, or a hub
            data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such rows. Their fields are those of
            :mod:`tls_tasks.evidence.data`.
        schema: The schema of ``data`` if it isn't the data set's own: a JSON file, or the content of one.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: The number of characters of a document that a prompt shows; the rest is cut off, and its gold
            objects are missed.
        postprocess: ``keep``, ``drop`` or ``uncertain``: answers are scored after
            :func:`~tls_tasks.evidence.postprocess.postprocess`, with this for ungrounded objects.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.

    Returns:
        One row per document. ``references`` (the gold objects) and ``schema`` (what
        :func:`~tls_tasks.evidence.types.read_schema` takes) are JSON; ``text_truncated`` is the number of characters
        that the budget cut off.

    Raises:
        DataError: If the requested data can't be used, or no source has any; the message says how to get it.
        InputError: If an option has an impossible value; OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     documents = load_documents("evidence_journals", edition="embedded")
        >>> json.loads(documents[0]["references"])[2]["evidence_span"]
        'No fever'
    """
    budget = check_whole_number("context_budget", context_budget)
    custom = None
    if schema is not None:
        custom = read_schema(schema) if isinstance(schema, Mapping) else read_schema_file(Path(schema).expanduser())
    loaded = _load_evidence(data_set, data, edition, custom).record(provenance, name)
    used = custom or data_set_schema(ALL_SETS[data_set])
    check_ungrounded("postprocess", postprocess, used)
    rows = [_row(data_set, document, used, loaded.edition, budget) for document in loaded.documents]
    return rows if postprocess is None else [{**row, "postprocess": postprocess} for row in rows]


def examples(name: str) -> list[dict[str, Any]]:
    """Return documents for few-shot prompts, in the schema of the data set.

    Example:
        >>> json.loads(examples("evidence_journals")[1]["references"])
        []
    """
    data_set, rows = example_rows(__file__, name)
    schema = data_set_schema(find_data_set(ALL_SETS, data_set))
    documents = read_rows(schema, rows)
    return [_row(name, document, schema, "examples", DEFAULT_CONTEXT_BUDGET) for document in documents]


def _row(name: str, document: EvidenceDocument, schema: EvidenceSchema, edition: str, budget: int) -> dict[str, Any]:
    """Return a document as the row of a task."""
    fields = text_fields(name, document.id, document.text, budget)
    references, schema_text = (json.dumps(part, ensure_ascii=False) for part in (document.objects, schema.as_dict()))
    return {**fields, "references": references, "schema": schema_text, "edition": edition}


def _load_evidence(
    name: str, data: str | Path | None = None, edition: str | None = None, schema: EvidenceSchema | None = None
) -> LoadedData[EvidenceDocument]:
    """Load a data set from the first source that has it; a custom schema needs data that follows it."""
    data_set = find_data_set(ALL_SETS, name)
    if schema is not None and data is None:
        raise InputError("schema", None, schema.name, "data of that schema in the option data")
    return load(make_reader(data_set, schema or data_set_schema(data_set)), data, edition)


def data_set_schema(data_set: DataSet) -> EvidenceSchema:
    """Return the schema of a data set's objects."""
    return read_schema(data_set.settings["schema"])


def prompt(doc: Mapping[str, Any]) -> str:
    r"""Build the prompt: the document, then the instruction, since models that cut a prompt cut its beginning.

    Example:
        >>> schema = '{"name": "plants", "domains": ["tree", "herb"], "attributes": []}'
        >>> print(prompt({"data_set": "evidence_journals", "text": "An oak.", "schema": schema}))
        <document>
        An oak.
        </document>
        <BLANKLINE>
        List everything that the document above says about: tree, herb.
        <BLANKLINE>
        Answer with a JSON array that has one object for each thing that you list. The keys of an object are:
        - "domain": one of "tree", "herb"
        - "evidence_span": the words of the document that say so, copied character for character, and as few as will do
        An array with one object looks like this:
        [{"domain": "tree", "evidence_span": "words from the document"}]
        List nothing that the document does not say. If there is nothing to list, answer [].
        Write only the JSON array.
        <BLANKLINE>
        JSON:
    """
    data_set, schema = find_data_set(ALL_SETS, doc["data_set"]), read_schema(json.loads(doc["schema"]))
    instruction = f"List everything that the document above says about: {', '.join(schema.domains)}."
    span = "words from the document"
    if schema == data_set_schema(data_set):
        instruction, span = data_set.settings["instruction"], data_set.settings["example_span"]
    example = {schema.domain_field: schema.domains[0], schema.span_field: span}
    example |= {key: attribute.values[0] for attribute, key in schema.keys_for(schema.domains[0])}
    lists = {"keys": "\n".join(_key_lines(schema)), "example": json.dumps([example], ensure_ascii=False)}
    return filled_text(Path(__file__).with_name("prompt.txt"), text=doc["text"], instruction=instruction, **lists)


def _key_lines(schema: EvidenceSchema) -> Iterator[str]:
    """Yield the lines of a prompt that explain the keys of an object."""
    yield f'- "{schema.domain_field}": {_list_values(schema.domains)}'
    quote = "the words of the document that say so, copied character for character, and as few as will do"
    yield f'- "{schema.span_field}": {quote}'
    for attribute in schema.attributes:
        for key, domains in grouped(schema.domains, [*map(attribute.key_for, schema.domains)]).items():
            if key is not None:
                only = "" if len(domains) == len(schema.domains) else f" (only for {', '.join(domains)})"
                yield f'- "{key}"{only}: {_list_values(attribute.values)}'


def _list_values(values: Iterable[str]) -> str:
    return "one of " + ", ".join(f'"{value}"' for value in values)


def make_reader(data_set: DataSet, schema: EvidenceSchema) -> SetReader[EvidenceDocument]:
    """Return the readers of a data set, one for each kind of source."""
    read = partial(read_rows, schema)
    return SetReader(data_set, DATA_SETS.values(), lambda path: read(rows_from(path)), from_rows=read)
