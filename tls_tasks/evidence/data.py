"""Data of the extraction tasks: where it comes from, its rows, the documents that a task asks about, the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. One document is one text with its gold objects.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from tls_tasks.core.errors import DataError, InputError, check_choice, check_whole_number
from tls_tasks.core.score import grouped
from tls_tasks.data.catalogue import DataSet, find_data_set, read_catalogue
from tls_tasks.data.files import Rows, example_rows, file_rows, filled_text, split_files, text_lines
from tls_tasks.data.keyed import PREDICTION_FIELDS, Keyed, Row, joined, read_keyed
from tls_tasks.data.models import DataRow, Id, named, read_model
from tls_tasks.data.order import DEFAULT_CONTEXT_BUDGET, Loaded, Reading, distinct, load, text_fields
from tls_tasks.evidence.postprocess import UNGROUNDED, check_uncertain
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
_MOST_MISPLACED = 0.1


@dataclass(frozen=True, slots=True)
class EvidenceDocument:
    """One document to extract from.

    Attributes:
        id: Unique within the data set.
        text: The full text.
        objects: The gold objects, each of which quotes the text verbatim; empty if there is nothing to find.
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
        schema: What the objects must look like.
        rows: Pairs of a place, for error messages, and an object with one of :data:`TEXT_FIELDS` and one of
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
        objects = (_object(reader, own, text, f"{where}, object {n}") for n, own in enumerate(entries, start=1))
        documents.append(EvidenceDocument(row.id or str(index), row.text, tuple(objects)))
    return distinct("evidence", documents)


def _from_offsets(schema: EvidenceSchema, entities: list[Any], text: str, where: str) -> list[dict[str, Any]]:
    """The entities whose label is a domain of the schema, as objects.

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
        others = {key: value for key, value in entity.items() if key not in _OFFSET_KEYS}
        objects.setdefault((domain, span), {schema.domain_field: domain, schema.span_field: span, **others})
    # A few legitimately differ, because they join two passages; many differ if the offsets belong to another text.
    if n_misplaced > _MOST_MISPLACED * len(entities):
        raise DataError(f"{where}: the offsets of {n_misplaced} of {len(entities)} entities don't point at their text")
    return list(objects.values())


_UNUSABLE = frozenset({"missing_domain", "invalid_domain", "missing_span", "invalid_span"})


def _object(reader: ObjectReader, value: Any, text: str | None, where: str) -> dict[str, Any]:
    """A gold object. Refuses what can't be scored or, with the text that it quotes, doesn't fit."""
    if not isinstance(value, Mapping):
        raise DataError(f"{where}: expected an object, got {type(value).__name__}")
    # Parquet gives every object the keys of all objects, null where a key was absent.
    given = {key: item for key, item in value.items() if item is not None}
    entry = reader.read(given)
    with_default = {f"missing_{attribute.name}" for attribute in reader.schema.attributes if attribute.default}
    issues = [issue for issue in entry.issues if (issue in _UNUSABLE if text is None else issue not in with_default)]
    if issues:
        raise DataError(f"{where}: {', '.join(issues)} in {json.dumps(given, ensure_ascii=False)}")
    if text is not None and str(entry.span) not in text:
        raise DataError(f"{where}: {reader.schema.span_field} {entry.span!r} is not verbatim in the text")
    return given


def rows_at(place: Path) -> Rows:
    """The rows of a file, or of a folder: of its two files, or of its files of rows.

    Args:
        place: A folder with :data:`JOURNALS` and :data:`GOLD`; any other folder, or a file, as
            :func:`~tls_tasks.data.files.split_files` and :func:`~tls_tasks.data.files.file_rows` read it.

    Raises:
        DataError: If there is no such file, or it can't be read.
    """
    if (place / JOURNALS).is_file():
        yield from _paired_rows(place / JOURNALS, place / GOLD)
        return
    for file in split_files(place, "test"):
        yield from file_rows(file)


def _paired_rows(journals: Path | None, gold: Path | None) -> Iterator[tuple[str, Any]]:
    """The rows of journals, each with its gold objects; the place is that of the gold.

    Without journals their texts are empty, and without gold there are no objects.

    Raises:
        DataError: If a file can't be read, an id stands twice in one, or is in one of the two only.
    """
    places = filter(None, (journals or gold, gold or journals))
    sides = (read_keyed(place, ID_FIELDS, needs_ids=True) for place in places)
    for name, journal, row in joined(*sides):
        if row is None:
            hint = '"items": [] says that there is nothing to find'
            raise DataError(f"{journal.where}: {gold} has no row for {name!r}; {hint}")
        text = journal.field(TEXT_FIELDS) if journals else ""
        yield row.where, {"id": name, "text": text, "items": row.field(OBJECT_FIELDS) if gold else []}


def read_three(
    journals: Path | None, gold: Path | None, predictions: Path, schema: EvidenceSchema
) -> tuple[tuple[EvidenceDocument, ...], dict[str, str | None]]:
    """Read the three files of a scoring, each of which may be a folder with a file a journal.

    Args:
        journals: Rows with one of :data:`ID_FIELDS` and one of :data:`TEXT_FIELDS`; None: the texts are empty.
        gold: Rows with an id and one of :data:`OBJECT_FIELDS`, one a journal.
        predictions: The same, with objects or a model's text.
        schema: What the gold objects must look like.

    Returns:
        The journals with their gold, and what was predicted for each as text (model text, or JSON of what the file
        has), by id; None for a journal without a prediction.

    Raises:
        DataError: If a file can't be read, a row lacks a field, an id stands twice or is of no journal, or the gold
            has an object without domain or span; names file and line.
    """
    documents = read_rows(schema, _paired_rows(journals, gold), strict=False)
    known = Keyed(journals or gold or predictions, {document.id: Row(document.id, document) for document in documents})
    told: dict[str, str | None] = {}
    for name, _, row in joined(known, read_keyed(predictions, ID_FIELDS, needs_ids=True, of_a_model=True)):
        items = row and row.answer((*OBJECT_FIELDS, *PREDICTION_FIELDS))
        told[name] = items if isinstance(items, str | None) else json.dumps(items)  # as what a model wrote
    return documents, told


def schema_at(file: Path) -> EvidenceSchema:
    """The schema in a JSON file, in the form of :func:`~tls_tasks.evidence.types.read_schema`.

    Raises:
        DataError: If the file can't be read or is no JSON; InputError if it is no schema.
    """
    try:
        return read_schema(json.loads("".join(text_lines(file))))
    except InputError as error:
        error.field = f"{file}: {error.field}"
        raise
    except ValueError as error:
        raise DataError(f"{file}: not JSON: {error}") from error


ALL_SETS, DATA_SETS = read_catalogue(__file__)
"""The data sets with the name under which a user's own runs, and without it."""


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
        name: What the results are to call data of your own, where the task is the family's ``_custom`` one.
        data: Where the data is; no other source is tried then. A file or folder as
            :func:`~tls_tasks.evidence.data.rows_at` reads it, a folder with the data set's folder in it, or a hub
            data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such rows. Their fields are those of
            :mod:`tls_tasks.evidence.data`.
        schema: The schema of ``data`` if it isn't the data set's own: a JSON file, or the content of one.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: How many characters of a document a prompt shows; the rest is cut off, and gold objects in it
            are missed.
        postprocess: ``keep``, ``drop`` or ``uncertain``: answers are scored after
            :func:`~tls_tasks.evidence.postprocess.postprocess`, with this for ungrounded objects.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.

    Returns:
        One row per document. ``references`` (the gold objects) and ``schema`` (what
        :func:`~tls_tasks.evidence.types.read_schema` takes) are JSON; ``text_truncated`` is the number of characters
        that the budget cut off.

    Raises:
        DataError: If the data that was asked for can't be used, or no source has any; says how to get it.
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
    other = None
    if schema is not None:
        other = read_schema(schema) if isinstance(schema, Mapping) else schema_at(Path(schema).expanduser())
    loaded = _load_evidence(data_set, data, edition, other).noted(provenance, name)
    own = other or schema_of(ALL_SETS[data_set])
    check_choice("postprocess", postprocess, (None, *UNGROUNDED))
    check_uncertain("postprocess", postprocess, own)
    rows = [_row(data_set, document, own, loaded.edition, budget) for document in loaded.documents]
    return rows if postprocess is None else [{**row, "postprocess": postprocess} for row in rows]


def examples(name: str) -> list[dict[str, Any]]:
    """Examples for few-shot prompts, with the data set's own schema.

    Example:
        >>> json.loads(examples("evidence_journals")[1]["references"])
        []
    """
    own, rows = example_rows(__file__, name)
    schema = schema_of(find_data_set(ALL_SETS, own))
    documents = read_rows(schema, rows)
    return [_row(name, document, schema, "examples", DEFAULT_CONTEXT_BUDGET) for document in documents]


def _row(name: str, document: EvidenceDocument, schema: EvidenceSchema, edition: str, budget: int) -> dict[str, Any]:
    fields = text_fields(name, document.id, document.text, budget)
    references, asked = (json.dumps(own, ensure_ascii=False) for own in (document.objects, schema.as_dict()))
    return {**fields, "references": references, "schema": asked, "edition": edition}


def _load_evidence(
    name: str, data: str | Path | None = None, edition: str | None = None, schema: EvidenceSchema | None = None
) -> Loaded[EvidenceDocument]:
    """The documents of a data set from the first source that has it; another schema needs data that follows it."""
    wanted = find_data_set(ALL_SETS, name)
    if schema is not None and data is None:
        raise InputError("schema", None, schema.name, "data of that schema in the option data")
    return load(reading(wanted, schema or schema_of(wanted)), data, edition)


def schema_of(wanted: DataSet) -> EvidenceSchema:
    """The schema of a data set's objects."""
    return read_schema(wanted.settings["schema"])


def prompt(doc: Mapping[str, Any]) -> str:
    r"""The prompt: the document, then the instruction, since models that cut a prompt cut its beginning.

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
    wanted, schema = find_data_set(ALL_SETS, doc["data_set"]), read_schema(json.loads(doc["schema"]))
    instruction = f"List everything that the document above says about: {', '.join(schema.domains)}."
    span = "words from the document"
    if schema == schema_of(wanted):
        instruction, span = wanted.settings["instruction"], wanted.settings["example_span"]
    form = {schema.domain_field: schema.domains[0], schema.span_field: span}  # with each attribute's first value
    form |= {key: attribute.values[0] for attribute, key in schema.fields_of(schema.domains[0])}
    lists = {"keys": "\n".join(_key_lines(schema)), "example": json.dumps([form], ensure_ascii=False)}
    return filled_text(Path(__file__).with_name("prompt.txt"), text=doc["text"], instruction=instruction, **lists)


def _key_lines(schema: EvidenceSchema) -> Iterator[str]:
    yield f'- "{schema.domain_field}": {_one_of(schema.domains)}'
    quote = "the words of the document that say so, copied character for character, and as few as will do"
    yield f'- "{schema.span_field}": {quote}'
    for attribute in schema.attributes:
        for key, domains in grouped(schema.domains, [*map(attribute.field_of, schema.domains)]).items():
            if key is not None:
                only = "" if len(domains) == len(schema.domains) else f" (only for {', '.join(domains)})"
                yield f'- "{key}"{only}: {_one_of(attribute.values)}'


def _one_of(values: Iterable[str]) -> str:
    return "one of " + ", ".join(f'"{value}"' for value in values)


def reading(wanted: DataSet, schema: EvidenceSchema) -> Reading[EvidenceDocument]:
    """How a data set is read, wherever it lies."""
    read = partial(read_rows, schema)
    return Reading(wanted, DATA_SETS.values(), lambda place: read(rows_at(place)), from_rows=read)
