"""``tls-tasks bundle-docs``, ``build-store`` and ``convert-lookup``: documents for the judge."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import add_command
from tls_tasks.core.errors import DataError, InputError

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

PLACE_HELP = (
    "documents: a bundle (.jsonl, .jsonl.gz) or a store (.sqlite); COLLECTION=PATH for one of several collections, and "
    "then the option several times"
)

_BUNDLE = """\
Write the documents that reports cite, and no others, to one file: enough to judge and score the reports, where the
collection has millions. Cited ids that are in no collection are listed; to the judge they are unsupported citations.
Check the licence of the collection before you pass a bundle on.

exit codes: 0 written; 1 written, but some cited ids are in no collection; 2 not written

examples:
  tls-tasks bundle-docs reports.jsonl --documents neuclir.sqlite -o cited.jsonl
  tls-tasks bundle-docs reports.jsonl --documents neuclir/1/zh=zh.sqlite --documents neuclir/1/ru=ru.sqlite -o b.jsonl
"""

_STORE = """\
Build a store: one sqlite file with all documents of a collection, which finds each of them at once without
keeping any in memory.

SOURCE is JSON Lines (.jsonl, .jsonl.gz) or Parquet. A row has an id (id, doc_id, docid, docno), a text (text, contents,
body) and perhaps a title.

examples:
  tls-tasks build-store collection.jsonl.gz -o collection.sqlite
  ir_datasets export neuclir/1/zh docs --format jsonl > zh.jsonl && tls-tasks build-store zh.jsonl -o zh.sqlite
"""

_CONVERT = """\
Turn a look-up file of report_gen_eval (neuclir-docs-lookup, a pickle of {id: {title, text}}) into a store.

Loading a pickle can run any code. This command loads plain data only, and refuses a file that asks for more.

example:
  tls-tasks convert-lookup neuclir-docs-lookup/doc_mapping_neuclir_1_zh.pkl -o zh.sqlite
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add these commands to the command line."""
    bundle = add_command(
        subparsers, "bundle-docs", _run_bundle, summary="write the documents that reports cite", description=_BUNDLE
    )
    bundle.add_argument("reports", metavar="REPORTS", type=Path, help="reports, JSON Lines")
    bundle.add_argument("--documents", metavar="PLACE", action="append", required=True, help=PLACE_HELP)
    bundle.add_argument("-o", "--output", metavar="FILE", type=Path, required=True, help="the bundle to write, .jsonl")
    for name, summary, description, source in (
        ("build-store", "put a collection of documents into one file", _STORE, "SOURCE"),
        ("convert-lookup", "turn a look-up pickle into a store", _CONVERT, "PICKLE"),
    ):
        parser = add_command(subparsers, name, _run_store, summary=summary, description=description)
        parser.add_argument("source", metavar=source, type=Path, help="what to turn into a store")
        parser.add_argument(
            "-o", "--output", metavar="FILE", type=Path, required=True, help="the store to write, .sqlite"
        )


def _run_bundle(args: argparse.Namespace) -> int:
    """Write the bundle and say what is in it.

    Returns:
        0, or 1 if some cited ids are in no collection.

    Raises:
        DataError: A file that can't be read or written.
    """
    from tls_tasks.data.files import text_lines
    from tls_tasks.reports.judges.documents import write_bundle
    from tls_tasks.reports.read import read_reports

    reports, bad = read_reports(text_lines(args.reports), str(args.reports))
    for row in bad:
        print(row, file=sys.stderr)
    if not reports:
        raise DataError(f"{args.reports}: no report in it")
    written = write_bundle(args.output, reports, open_documents(args.documents))
    print(f"{args.output}: {written.n_documents} documents of {len(reports)} reports")
    for doc_id in written.missing:
        print(f"cited, but in no collection: {doc_id}", file=sys.stderr)
    return int(bool(written.missing))


def _run_store(args: argparse.Namespace) -> int:
    """Build a store and say how many documents it has.

    Returns:
        0.

    Raises:
        DataError: A source that can't be read.
    """
    from tls_tasks.reports.judges.documents import read_documents
    from tls_tasks.reports.judges.store import build_store

    n_documents = build_store(args.output, read_documents(args.source))
    print(f"{args.output}: {n_documents} documents")
    return 0


def open_documents(places: Sequence[str]) -> Any:
    """The documents that ``--documents`` names, for :func:`~tls_tasks.reports.documents.look_up`.

    Args:
        places: ``PATH``, or one ``COLLECTION=PATH`` a collection.

    Raises:
        InputError: Several places of which one has no collection.
        DataError: A file that is neither bundle nor store.
    """
    if len(places) == 1 and not _collection(places[0]):
        return _open(Path(places[0]))
    documents: dict[str, Any] = {}
    for place in places:
        name = _collection(place)
        if not name or name in documents:
            raise InputError("--documents", None, place, "COLLECTION=PATH, each collection once")
        found = _open(Path(place[len(name) + 1 :]))
        documents[name] = found.get(name, found) if isinstance(found, dict) else found
    return documents


def _collection(place: str) -> str:
    """What stands before the equals sign, unless the whole is the name of a file."""
    return "" if Path(place).exists() else place.partition("=")[0] if "=" in place else ""


def _open(path: Path) -> Mapping[str, Any]:
    from tls_tasks.reports.judges.documents import read_bundle
    from tls_tasks.reports.judges.store import DocumentStore

    if path.name.endswith((".jsonl", ".jsonl.gz")):
        return read_bundle(path)
    if path.suffix == ".pkl":
        raise DataError(f"{path}: a pickle can run code: tls-tasks convert-lookup {path} -o FILE.sqlite")
    return DocumentStore(path)
