"""Data of the extraction tasks: where it comes from, the documents that a task asks about, and the prompt.

A task looks for its data as :mod:`tls_tasks.data.order` says. One document is one text with its gold objects.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.core.errors import DataError, InputError
from tls_tasks.data import hub
from tls_tasks.data.loading import Loaded, Published, Reading, as_split, load, read_place
from tls_tasks.data.order import whole_number
from tls_tasks.evidence.data_rows import EvidenceDocument, read_rows
from tls_tasks.evidence.data_sets import EvidenceSet, evidence_set, evidence_sets
from tls_tasks.evidence.files import rows_at, schema_at
from tls_tasks.evidence.schema import read_schema
from tls_tasks.evidence.types import EvidenceSchema

if TYPE_CHECKING:
    import datasets

DEFAULT_CONTEXT_BUDGET = 24_000
"""Characters of a document in a prompt, some 6,000 tokens of English; journals and case reports are shorter."""

TEXT_FIELDS = ("doc_id", "data_set", "text", "references", "schema", "edition")
"""Fields of a document that hold text. ``references`` (the gold objects) and ``schema`` (what
:func:`~tls_tasks.evidence.schema.read_schema` takes) are JSON."""


_OWN = "which the task's YAML reports; for other attributes copy the YAML and name them in its metric_list"


@dataclass(frozen=True, slots=True)
class LoadedEvidence(Loaded[EvidenceDocument]):
    """Documents, where they come from, and what their objects look like."""

    schema: EvidenceSchema


def load_evidence_task(
    name: str,
    /,
    *,
    data: str | Path | None = None,
    schema: Mapping[str, Any] | str | Path | None = None,
    edition: str | None = None,
    context_budget: int = DEFAULT_CONTEXT_BUDGET,
    accuracies: Sequence[str] | None = None,
    provenance: MutableMapping[str, str] | None = None,
    **ignored: Any,
) -> dict[str, datasets.Dataset]:
    """Load the documents of one task, as the harness's ``custom_dataset`` wants them.

    The harness calls it with everything in the task's ``metadata``, in ``--metadata`` and in ``--model_args``.

    Args:
        name: Data set: ``evidence_journals`` or ``evidence_maccrobat``.
        data: Where the data is, instead of the usual order; see :func:`load_evidence`.
        schema: The schema of ``data`` where it isn't the data set's own: a JSON file or what is in one.
        edition: ``local``, ``hub`` or ``embedded``: take the data from there or fail. None takes the first that has it.
        context_budget: Characters of a document that a prompt shows; what is beyond them is cut off, and gold objects
            in it are missed.
        accuracies: The :func:`accuracy_names` that the task's ``metric_list`` reports; None: it isn't known.
        provenance: Filled with ``edition`` and ``origin`` of the data, and so shown in the results file.
        **ignored: What is meant for others.

    Returns:
        ``{"test": dataset}`` with one row a document: :data:`TEXT_FIELDS`, and ``text_truncated``, the number of
        characters that the budget cut off.

    Raises:
        DataError: If the data that was asked for can't be used.
        InputError: If an option has an impossible value, or the schema other attributes than ``accuracies`` says: the
            run would fail at its very end. OptionError for an unknown name or edition.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")  # the embedded edition warns
        ...     task = load_evidence_task("evidence_journals", edition="embedded", version=1.0)
        >>> json.loads(task["test"]["references"][0])[2]["evidence_span"]
        'No fever'
    """
    budget = whole_number("context_budget", context_budget)
    loaded = load_evidence(name, data, edition, None if schema is None else _schema(schema))
    if accuracies is not None and sorted(accuracies) != sorted(accuracy_names(loaded.schema)):
        raise InputError("schema", None, f"accuracies {accuracy_names(loaded.schema)}", f"{list(accuracies)}, {_OWN}")
    rows = [_row(name, document, loaded, budget) for document in loaded.documents]
    return as_split(loaded, rows, TEXT_FIELDS, ["text_truncated"], provenance)


def load_evidence(
    name: str, data: str | Path | None = None, edition: str | None = None, schema: EvidenceSchema | None = None
) -> LoadedEvidence:
    """Load a data set from the first source that has it.

    Args:
        name: ``evidence_journals`` or ``evidence_maccrobat``.
        data: A file or folder as :func:`~tls_tasks.evidence.files.rows_at` reads it, a folder with the data
            set's folder in it, or a hub data set ``org/name`` or ``org/name@revision`` whose split ``test`` has such
            rows. The fields are those of :mod:`tls_tasks.evidence.data_rows`. No other source is tried.
        edition: Take the data from this edition only; None takes the first that has it.
        schema: The schema of ``data``; None: the data set's own.

    Raises:
        DataError: If ``data`` can't be used, a local copy is broken, or no source has the data; says how to get it.
        InputError: If there is a schema without ``data``: gold of another schema can't be read by it.
        OptionError: If there is no such data set or edition.
    """
    wanted = evidence_set(name)
    if schema is not None and data is None:
        raise InputError("schema", None, schema.name, "data of that schema in the option data")
    schema = schema or wanted.schema
    return _with_schema(load(_reading(wanted, schema), data, edition), schema)


def prompt(doc: Mapping[str, Any]) -> str:
    r"""The prompt: the document, then the instruction, since models that cut a prompt cut its beginning.

    Example:
        >>> schema = '{"name": "plants", "domains": ["tree", "herb"], "attributes": []}'
        >>> print(prompt({"data_set": "evidence_journals", "text": "An oak.", "schema": schema}))
        <document>
        An oak.
        </document>
        <BLANKLINE>
        List what the document above says of: tree, herb.
        <BLANKLINE>
        Answer with a JSON array that has one object for each, with these keys:
        - "domain": one of "tree", "herb"
        - "evidence_span": the words of the document that say it, quoted verbatim: every character as it stands there
        Quote as little as says it. List nothing that the document doesn't say. If there is nothing to list, answer [].
        Write the JSON array and nothing else.
        <BLANKLINE>
        JSON:
    """
    wanted, schema = evidence_set(doc["data_set"]), read_schema(json.loads(doc["schema"]))
    general = f"List what the document above says of: {', '.join(schema.domains)}."
    instruction = wanted.instruction if schema == wanted.schema else general
    keys = "\n".join(_key_lines(schema))
    return (
        f"<document>\n{doc['text']}\n</document>\n\n{instruction}\n\n"
        f"Answer with a JSON array that has one object for each, with these keys:\n{keys}\n"
        "Quote as little as says it. List nothing that the document doesn't say. "
        "If there is nothing to list, answer [].\nWrite the JSON array and nothing else.\n\nJSON:"
    )


def accuracy_names(schema: EvidenceSchema) -> list[str]:
    """What has an accuracy over matched objects: each attribute, and the buckets together.

    Example:
        >>> accuracy_names(evidence_set("evidence_journals").schema)
        ['polarity', 'level', 'time', 'bucket']
    """
    names = [attribute.name for attribute in schema.attributes]
    return [*names, "bucket"] if any(attribute.bucket for attribute in schema.attributes) else names


def read_local(wanted: EvidenceSet, place: Path, schema: EvidenceSchema) -> LoadedEvidence:
    """Read a data set from a folder or a file.

    Raises:
        DataError: If there is nothing of this data set, or a file is broken.
    """
    return _with_schema(read_place(_reading(wanted, schema), place), schema)


def _with_schema(loaded: Loaded[EvidenceDocument], schema: EvidenceSchema) -> LoadedEvidence:
    return LoadedEvidence(loaded.documents, loaded.edition, loaded.origin, schema)


def _schema(value: Mapping[str, Any] | str | Path) -> EvidenceSchema:
    return read_schema(value) if isinstance(value, Mapping) else schema_at(Path(value).expanduser())


def _key_lines(schema: EvidenceSchema) -> Iterator[str]:
    yield f'- "{schema.domain_field}": {_one_of(schema.domains)}'
    quote = "the words of the document that say it, quoted verbatim: every character as it stands there"
    yield f'- "{schema.span_field}": {quote}'
    for attribute in schema.attributes:
        by_key: dict[str, list[str]] = {}
        for domain in schema.domains:
            key = attribute.field_of(domain)
            if key is not None:
                by_key.setdefault(key, []).append(domain)
        for key, domains in by_key.items():
            only = "" if len(domains) == len(schema.domains) else f" (of {', '.join(domains)} only)"
            yield f'- "{key}"{only}: {_one_of(attribute.values)}'


def _one_of(values: Iterable[str]) -> str:
    return "one of " + ", ".join(f'"{value}"' for value in values)


def _row(name: str, document: EvidenceDocument, loaded: LoadedEvidence, budget: int) -> dict[str, str | int]:
    return {
        "doc_id": document.id,
        "data_set": name,
        "text": document.text[:budget],
        "text_truncated": max(0, len(document.text) - budget),
        "references": json.dumps(document.objects, ensure_ascii=False),
        "schema": json.dumps(loaded.schema.as_dict(), ensure_ascii=False),
        "edition": loaded.edition,
    }


def _reading(wanted: EvidenceSet, schema: EvidenceSchema) -> Reading[EvidenceDocument]:
    return Reading(
        wanted,
        evidence_sets().values(),
        at=lambda place: read_rows(schema, rows_at(place)),
        published=partial(_published, wanted),
        from_rows=partial(read_rows, schema),
    )


def _published(wanted: EvidenceSet) -> Published[EvidenceDocument] | str:
    source = wanted.hub
    if source is None:
        return "nothing is published on the hub"
    documents = read_rows(wanted.schema, rows_at(hub.fetch(source.repo_id, source.revision, source.file)))
    if len(documents) != source.rows:
        raise DataError(f"{source.repo_id}: has {len(documents)} rows, data_sets.json expects {source.rows}")
    return documents, f"{source.repo_id}@{source.revision}"
