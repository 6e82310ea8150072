"""``tls-tasks prepare summaries``: check documents with their summaries, write them as Parquet with a data set card."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import fmean

from tls_tasks.data.cards import front_matter, use, write_folder, write_rows
from tls_tasks.summaries.data import Document, read_local

TASK = "summ_custom"


def prepare_summaries(
    source: Path, out: Path, *, licence: str | None = None, force: bool = False
) -> Sequence[Document]:
    """Check a data set and write it as Parquet with a data set card.

    Args:
        source: A file of rows, or a folder of such files, as ``summ_custom`` reads it.
        out: The folder to write: ``data/test-00000-of-00001.parquet`` (one row per document with ``id``, ``text``,
            ``query`` and ``references``, a list) and ``README.md``.
        licence: The licence to state on the card.
        force: Write into ``out`` even if it is not empty; other files in it are left alone.

    Returns:
        The documents that were written.

    Raises:
        DataError: The source can't be read or is the embedded edition, or ``out`` exists, is not an empty folder, and
            ``force`` isn't set.
    """
    found = read_local(TASK, source)
    rows = [{**asdict(document), "references": list(document.references)} for document in found.documents]
    write_folder(found, out, force, partial(write_rows, rows), _card(found.documents, licence))
    return found.documents


def _card(documents: Sequence[Document], licence: str | None) -> Iterator[str]:
    yield from front_matter("Summaries", ["summarization"], "summarization", licence)
    yield from ("", "# Documents with summaries, prepared for tls-tasks", "")
    yield "Made by `tls-tasks prepare summaries`. One row a document: `id`, `text`, `query`, which may be empty, and"
    yield "`references`, a list of summaries."
    references = [reference for document in documents for reference in document.references]
    words = fmean(len(reference.split()) for reference in references)
    yield f"{len(documents)} documents, {len(references)} summaries of {words:.0f} words on average."
    yield f"Licence: {licence or 'not stated'}."
    yield from use(f'lm_eval --tasks {TASK} --metadata \'{{"data": "FOLDER or ORG/NAME", "name": "ours"}}\' …')
