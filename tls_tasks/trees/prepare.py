"""``tls-tasks prepare trees``: check documents with their trees, write them as Parquet with a data set card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.data.cards import front_matter, use, write_folder, write_rows
from tls_tasks.trees.data import read_local

TASK = "tree_custom"
_COLUMNS = {"id": "id", "text": "text", "schema": "schema", "reference": "reference", "title": "kind"}


def prepare_trees(source: Path, out: Path, *, licence: str | None = None, force: bool = False) -> Sequence[Any]:
    """Check a data set and write it as Parquet with a data set card.

    Args:
        source: A file of rows, or a folder of such files, as ``tree_custom`` reads it.
        out: The folder to write: ``data/test-00000-of-00001.parquet`` (one row per document with ``id``, ``text``,
            ``schema`` and ``reference``, both JSON text, and ``title``) and ``README.md``.
        licence: The licence to state on the card.
        force: Write into ``out`` even if it is not empty; other files in it are left alone.

    Returns:
        The documents that were written.

    Raises:
        DataError: The source can't be read or is the embedded edition, or ``out`` exists, is not an empty folder, and
            ``force`` isn't set.
    """
    found = read_local(TASK, source)
    rows = [{column: asdict(one)[name] for column, name in _COLUMNS.items()} for one in found.documents]
    write_folder(found, out, force, partial(write_rows, rows), _card(len(rows), licence))
    return found.documents


def _card(n_documents: int, licence: str | None) -> Iterator[str]:
    yield from front_matter("Trees", ["text-generation"], "structured-extraction", licence)
    yield from ("", "# Documents with structured answers, prepared for tls-tasks", "")
    yield f"Made by `tls-tasks prepare trees`: {n_documents} documents, a row each with `id`, `text`, `schema` and"
    yield f"`reference`, both JSON text, and `title`. Licence: {licence or 'not stated'}."
    yield from use(f'lm_eval --tasks {TASK} --metadata \'{{"data": "FOLDER or ORG/NAME", "name": "ours"}}\' …')
