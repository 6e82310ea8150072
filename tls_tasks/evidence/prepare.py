"""``tls-tasks prepare evidence``: check texts with gold objects, write them as Parquet with card and schema."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from tls_tasks.data.cards import front_matter, use, write_folder, write_rows
from tls_tasks.data.order import Loaded
from tls_tasks.evidence.data import read_local
from tls_tasks.evidence.data_rows import EvidenceDocument
from tls_tasks.evidence.types import JOURNAL_SCHEMA, EvidenceSchema

_SCHEMA_FILE = "schema.json"  # in the form that --metadata '{"schema": …}' takes
_TASK = "evidence_custom"


def prepare_evidence(
    source: Path, out: Path, *, schema: EvidenceSchema = JOURNAL_SCHEMA, licence: str | None = None, force: bool = False
) -> Loaded[EvidenceDocument]:
    """Check a data set and write it as Parquet with a data set card.

    Args:
        source: A file or folder as :func:`~tls_tasks.evidence.files.rows_at` reads it.
        out: The folder to write: ``data/test-00000-of-00001.parquet`` (one row per document with ``id``, ``text`` and
            ``items``, the gold objects as JSON), ``schema.json`` and ``README.md``.
        schema: What the objects must look like.
        licence: The licence to state on the card.
        force: Write into ``out`` even if it is not empty; other files in it are left alone.

    Returns:
        The documents that were written.

    Raises:
        DataError: The source can't be read, violates the schema or is the embedded edition, or ``out`` exists, is not
            an empty folder, and ``force`` isn't set.
    """
    found = read_local(_TASK, source, schema)
    rows = [
        # objects as JSON text: a struct column would give each of them the keys of all
        {"id": document.id, "text": document.text, "items": json.dumps(document.objects, ensure_ascii=False)}
        for document in found.documents
    ]
    texts = {_SCHEMA_FILE: json.dumps(schema.as_dict(), indent=2, ensure_ascii=False) + "\n"}
    write_folder(found, out, force, partial(write_rows, rows), _card(found.documents, schema, licence), texts)
    return found


def command_for(schema: EvidenceSchema, folder: str) -> str:
    """The command that runs the task on a prepared folder."""
    option = "" if schema == JOURNAL_SCHEMA else f', "schema": "{folder}/{_SCHEMA_FILE}"'
    return f'lm_eval --tasks {_TASK} --metadata \'{{"data": "{folder}"{option}}}\' …'


def _card(documents: Sequence[EvidenceDocument], schema: EvidenceSchema, licence: str | None) -> Iterator[str]:
    yield from front_matter("Extraction", ["token-classification"], "evidence-extraction", licence)
    yield from ("", "# Texts with gold objects, prepared for tls-tasks", "")
    yield "Made by `tls-tasks prepare evidence`. One row a document: `id`, `text` and `items`: its gold objects, JSON."
    yield f"Their schema, `{schema.name}`, is in `{_SCHEMA_FILE}`. Licence: {licence or 'not stated'}."
    yield from ("", "| domain | objects |", "|---|---|")
    counts = Counter(value[schema.domain_field] for document in documents for value in document.objects)
    yield from (f"| {domain} | {counts[domain]} |" for domain in schema.domains)
    empty = sum(not document.objects for document in documents)
    yield from ("", f"{len(documents)} documents, {empty} of them without objects.")
    yield from use(command_for(schema, "FOLDER"))
