"""Data of the extraction tasks: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. One document is one text with its gold objects.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.core.options import check_whole_number
from tls_tasks.data import hub
from tls_tasks.data.catalogue import DataSet, find_data_set, public_sets, read_catalogue
from tls_tasks.data.order import Loaded, Published, Reading, load, read_place
from tls_tasks.evidence.data_rows import EvidenceDocument, read_rows, rows_at, schema_at
from tls_tasks.evidence.schema import read_schema
from tls_tasks.evidence.types import EvidenceSchema

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of a document in a prompt, some 6,000 tokens of English; journals and case reports are shorter."""

ALL_SETS = read_catalogue(Path(__file__).with_name("data_sets.json"))
"""The data sets, and the name under which a user's own runs."""

DATA_SETS = public_sets(ALL_SETS)

_EXAMPLES = Path(__file__).with_name("fewshot.json")

_OWN = "which the task's YAML reports; for other attributes copy the YAML and name them in its metric_list"


def load_documents(
    data_set: str,
    /,
    *,
    name: str | None = None,
    data: str | Path | None = None,
    schema: Mapping[str, Any] | str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    accuracies: Sequence[str] | None = None,
    provenance: MutableMapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """Load the documents of one task.

    Args:
        data_set: ``evidence_journals`` or ``evidence_maccrobat``.
        name: What the results are to call data of your own, where the task is the family's ``_custom`` one.
        data: Where the data is; no other source is tried then. A file or folder as
            :func:`~tls_tasks.evidence.data_rows.rows_at` reads it, a folder with the data set's folder in it, or a hub
            data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such rows. Their fields are those of
            :mod:`tls_tasks.evidence.data_rows`.
        schema: The schema of ``data`` if it isn't the data set's own: a JSON file, or the content of one.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: How many characters of a document a prompt shows; the rest is cut off, and gold objects in it
            are missed.
        accuracies: The accuracies that the task's ``metric_list`` reports; None if unknown.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.

    Returns:
        One row per document. ``references`` (the gold objects) and ``schema`` (what
        :func:`~tls_tasks.evidence.schema.read_schema` takes) are JSON; ``text_truncated`` is the number of characters
        that the budget cut off.

    Raises:
        DataError: If the data that was asked for can't be used, or no source has any; says how to get it.
        InputError: If an option has an impossible value, or the schema has other attributes than ``accuracies``, which
            would make the run fail at its very end. OptionError for an unknown name or edition.

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
    loaded = _load_evidence(data_set, data, edition, other)
    own = other or schema_of(ALL_SETS[data_set])
    if accuracies is not None and sorted(accuracies) != sorted(own.accuracy_names):
        raise InputError("schema", None, f"accuracies {own.accuracy_names}", f"{list(accuracies)}, {_OWN}")
    loaded.note(provenance, name)
    return [_row(data_set, document, own, loaded.edition, budget) for document in loaded.documents]


def examples(name: str) -> list[dict[str, Any]]:
    """Examples for few-shot prompts, with the data set's own schema.

    Example:
        >>> json.loads(examples("evidence_journals")[1]["references"])
        []
    """
    by_name = json.loads(_EXAMPLES.read_text(encoding="utf-8"))
    own = name if name in by_name else next(iter(by_name))
    schema = schema_of(find_data_set(ALL_SETS, own))
    documents = read_rows(schema, [(_EXAMPLES.name, row) for row in by_name[own]])
    return [_row(name, document, schema, "examples", DEFAULT_CONTEXT_BUDGET) for document in documents]


def _row(
    name: str, document: EvidenceDocument, schema: EvidenceSchema, edition: str, budget: int
) -> dict[str, str | int]:
    return {
        "doc_id": document.id,
        "data_set": name,
        "text": document.text[:budget],
        "text_truncated": max(0, len(document.text) - budget),
        "references": json.dumps(document.objects, ensure_ascii=False),
        "schema": json.dumps(schema.as_dict(), ensure_ascii=False),
        "edition": edition,
    }


def _load_evidence(
    name: str, data: str | Path | None = None, edition: str | None = None, schema: EvidenceSchema | None = None
) -> Loaded[EvidenceDocument]:
    """The documents of a data set from the first source that has it; another schema needs data that follows it."""
    wanted = find_data_set(ALL_SETS, name)
    if schema is not None and data is None:
        raise InputError("schema", None, schema.name, "data of that schema in the option data")
    return load(_reading(wanted, schema or schema_of(wanted)), data, edition)


def read_local(name: str, place: Path, schema: EvidenceSchema) -> Loaded[EvidenceDocument]:
    """Read a data set from a folder or a file.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    return read_place(_reading(ALL_SETS[name], schema), place)


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
    keys = "\n".join(_key_lines(schema))
    return (
        f"<document>\n{doc['text']}\n</document>\n\n{instruction}\n\nAnswer with a JSON array that has one object "
        f"for each thing that you list. The keys of an object are:\n{keys}\nAn array with one object looks like this:\n"
        f"{json.dumps([_form(schema, span)], ensure_ascii=False)}\nList nothing that the document does not say. "
        "If there is nothing to list, answer [].\nWrite only the JSON array.\n\nJSON:"
    )


def _form(schema: EvidenceSchema, span: str) -> dict[str, str]:
    """An object of the first domain, with the first of each attribute's values."""
    domain = schema.domains[0]
    keys = [(attribute.field_of(domain), attribute.values[0]) for attribute in schema.attributes]
    return {schema.domain_field: domain, schema.span_field: span, **{key: value for key, value in keys if key}}


def _key_lines(schema: EvidenceSchema) -> Iterator[str]:
    yield f'- "{schema.domain_field}": {_one_of(schema.domains)}'
    quote = "the words of the document that say so, copied character for character, and as few as will do"
    yield f'- "{schema.span_field}": {quote}'
    for attribute in schema.attributes:
        domains_of: dict[str, list[str]] = {}
        for domain in schema.domains:
            key = attribute.field_of(domain)
            if key is not None:
                domains_of.setdefault(key, []).append(domain)
        for key, domains in domains_of.items():
            only = "" if len(domains) == len(schema.domains) else f" (only for {', '.join(domains)})"
            yield f'- "{key}"{only}: {_one_of(attribute.values)}'


def _one_of(values: Iterable[str]) -> str:
    return "one of " + ", ".join(f'"{value}"' for value in values)


def _reading(wanted: DataSet, schema: EvidenceSchema) -> Reading[EvidenceDocument]:
    return Reading(
        wanted,
        DATA_SETS.values(),
        at=lambda place: read_rows(schema, rows_at(place)),
        published=partial(_published, wanted),
        from_rows=partial(read_rows, schema),
    )


def _published(wanted: DataSet) -> Published[EvidenceDocument] | str:
    source = wanted.hub
    if source is None:
        return "nothing is published on the hub"
    documents = read_rows(schema_of(wanted), rows_at(hub.fetch(source.repo_id, source.revision, source.files[0])))
    if len(documents) != source.rows:
        raise DataError(f"{source.repo_id}: has {len(documents)} rows, but data_sets.json expects {source.rows}")
    return documents, source.origin
