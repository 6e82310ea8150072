"""``tls-tasks fingerprint``: which editions of the data sets this release knows by their content, and new ones."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import Subparsers, add_command, note, say
from tls_tasks.cli.listing import data_sets
from tls_tasks.core.errors import OptionError, TlsTasksError
from tls_tasks.core.terminal import text_table
from tls_tasks.core.whole import write_whole
from tls_tasks.data.catalogue import public_sets
from tls_tasks.data.editions import Edition, edition_with, editions_of, golds_hash
from tls_tasks.registry import find_task
from tls_tasks.timelines.data import PUBLIC


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    add = add_command(subparsers, "fingerprint", _run).add_argument
    add("names", nargs="*", metavar="TASK", help="compute those of these tasks; none: list what is known")
    add("--edition", help="only this one: fetched, hub or embedded (all three)")
    add("--data", metavar="PLACE", help="of data at this place instead")
    add("--write", type=Path, metavar="FILE", help="also put them into FILE, in the form of editions.json")


def _run(args: argparse.Namespace) -> int:
    """List or compute the fingerprints by which editions of data sets are known.

    A fingerprint is a SHA-256 over documents, references and ids, whatever files they came in. With task names, the
    data is read again from each of its sources: run it on a machine with the hub to fill in the editions that have
    none yet.

    Exit codes: 0 done; 1 an edition has no fingerprint or could not be read (named on stderr); 2 failed

    Examples:
      tls-tasks fingerprint
      tls-tasks fingerprint evidence_journals
      tls-tasks fingerprint summ_dialogsum summ_qmsum --edition hub --write tls_tasks/data/editions.json
      tls-tasks fingerprint tls_crisis --data data/crisis
    """
    known = public_sets(data_sets())
    rows: list[tuple[str, ...]] = [("data set", "edition", "documents", "known as", "fingerprint")]
    found: dict[str, list[Edition]] = {}
    lacking: list[str] = []
    for name in args.names or known:
        if name not in known:
            raise OptionError.unknown("TASK", name, known)
        entries, problems = _compute(name, args.edition, args.data) if args.names else _listed(name)
        found[name] = entries
        lacking += problems
        for entry in entries:
            same = edition_with(name, entry.fingerprint)
            size = "" if entry.documents is None else str(entry.documents)
            rows.append((name, entry.label, size, same.label if same else "unknown", entry.fingerprint))
    say(text_table(rows))
    if args.write is not None:
        _write(args.write, found)
    note("fingerprint", *lacking)
    return int(bool(lacking))


def _listed(name: str) -> tuple[list[Edition], list[str]]:
    """The editions that are known, and those that have no fingerprint."""
    entries = editions_of(name)
    lacking = [f"{name}: no fingerprint of {label} yet" for label, entry in entries.items() if entry is None]
    return [entry for entry in entries.values() if entry is not None], lacking


def _compute(name: str, only: str | None, data: str | None) -> tuple[list[Edition], list[str]]:
    """The editions that can be read here, and why the others can't."""
    sources = {"embedded": True, "fetched": name in PUBLIC, "hub": "hub" in editions_of(name)}
    wanted = [only] if only else [label for label, is_there in sources.items() if is_there]
    found: list[Edition] = []
    problems: list[str] = []
    for label in [None] if data else wanted:
        provenance: dict[str, str] = {}
        options: dict[str, Any] = {"data": data} if data else {"edition": label}
        try:
            task = find_task(f"{name}_closed_book" if name.startswith("tls_") else name)  # it needs no articles
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # that it is embedded stands in the table
                documents = task.documents(provenance=provenance, **options)
        except (TlsTasksError, OSError) as error:
            problems.append(str(error))
            continue
        golds = golds_hash((str(document["doc_id"]), task.target(document)) for document in documents)
        found.append(Edition(label or "local", provenance["fingerprint"], len(documents), golds))
    return found, problems


def _write(path: Path, found: dict[str, list[Edition]]) -> None:
    """Each under its label, or under the one that its fingerprint has already."""
    entries: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name, editions in found.items():
        own = entries.setdefault(name, {})
        for edition in editions:
            same = (label for label, entry in own.items() if entry and entry["fingerprint"] == edition.fingerprint)
            values = {"fingerprint": edition.fingerprint, "documents": edition.documents, "golds": edition.golds}
            own[next(same, edition.label)] = values
    write_whole(path, json.dumps(entries, indent=2) + "\n")
