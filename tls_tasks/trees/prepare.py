"""``tls-tasks prepare trees``: check documents with their trees, write them as Parquet with a data set card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError
from tls_tasks.data.cards import front_matter, write_folder
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
    if not source.exists():
        raise DataError(f"{source}: no such file or folder")
    found = read_local(TASK, source)
    rows = [{column: asdict(one)[name] for column, name in _COLUMNS.items()} for one in found.documents]
    write_folder(found, out, force, partial(_write_parquet, rows), _card(len(rows), licence))
    return found.documents


def _write_parquet(rows: list[dict[str, str]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string()) for name in _COLUMNS])
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), path, compression="zstd")


def _card(n_documents: int, licence: str | None) -> Iterator[str]:
    yield from front_matter("Trees", ["text-generation"], "structured-extraction", licence)
    yield from ("", "# Documents with structured answers, prepared for tls-tasks", "")
    yield f"Made by `tls-tasks prepare trees`: {n_documents} documents, a row each with `id`, `text`, `schema` and"
    yield f"`reference`, both JSON text, and `title`. Licence: {licence or 'not stated'}."
    yield from ("", "## Use", "", "```")
    yield f'lm_eval --tasks {TASK} --metadata \'{{"data": "FOLDER or ORG/NAME", "name": "ours"}}\' …'
    yield from ("hf upload ORG/NAME FOLDER . --repo-type dataset --private", "```")
