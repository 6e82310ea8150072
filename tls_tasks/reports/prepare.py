"""``tls-tasks prepare reports``: check requests, nuggets and documents, write them as a folder with a card."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from tls_tasks.core.errors import DataError
from tls_tasks.data.cards import front_matter, write_folder
from tls_tasks.reports.data import folder_rows, read_local
from tls_tasks.reports.nuggets import parse_request

TASK = "report_custom"
_FILES = ("requests", "nuggets", "documents")


def prepare_reports(source: Path, out: Path, *, licence: str | None = None, force: bool = False) -> dict[str, int]:
    """Check a data set and write it as a folder that the task takes.

    Args:
        source: A folder with ``requests.jsonl``, ``documents.jsonl`` and maybe ``nuggets.jsonl``, as ``report_custom``
            reads it; each may be gzip.
        out: The folder to write: the three files, and ``README.md``.
        licence: The licence to state on the card.
        force: Write into ``out`` even if it is not empty; other files in it are left alone.

    Returns:
        How many rows each file has.

    Raises:
        DataError: The source can't be read or is the embedded edition, nuggets have a flaw or are of no request, or
            ``out`` exists, is not an empty folder, and ``force`` isn't set.
    """
    found = read_local(TASK, source)
    asked = {doc["doc_id"] for doc in found.documents}
    folder = Path(found.origin)
    rows = {name: list(folder_rows(folder, name, needed=name != "nuggets")) for name in _FILES}
    for where, row in rows["nuggets"]:
        nuggets = parse_request(row, needs_id=True)
        if nuggets.problems or nuggets.value is None:
            said = "; ".join(f"{flaw.kind}: {flaw.detail}" for flaw in nuggets.problems)
            raise DataError(f"{where}: nuggets with flaws ({said})")
        if nuggets.value.request_id not in asked:
            raise DataError(f"{where}: nuggets of {nuggets.value.request_id!r}, which requests.jsonl does not have")
    n_rows = {name: len(own) for name, own in rows.items()}
    texts = {
        f"{name}.jsonl": "".join(json.dumps(row, ensure_ascii=False) + "\n" for _, row in own)
        for name, own in rows.items()
    }
    write_folder(found, out, force, None, _card(n_rows, licence), texts)
    return n_rows


def _card(n_rows: Mapping[str, int], licence: str | None) -> Iterator[str]:
    head = front_matter("Report requests", ["text-generation"], "report-generation", licence)
    files = [{"config_name": name, "data_files": f"{name}.jsonl"} for name in n_rows]
    yield from (*head[: head.index("configs:")], f"configs: {json.dumps(files)}", "---")
    yield from ("", "# Report requests with nuggets, prepared for tls-tasks", "")
    counts = ", ".join(f"{n} {name}" for name, n in n_rows.items())
    yield f"Made by `tls-tasks prepare reports`: {counts}, a row each. Licence: {licence or 'not stated'}."
    yield from ("", "## Use", "", "```")
    yield f'lm_eval --tasks {TASK} --metadata \'{{"data": "FOLDER", "name": "ours"}}\' …'
    yield "```"
