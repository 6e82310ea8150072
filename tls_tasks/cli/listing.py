"""``tls-tasks list | fetch | fingerprint``: what there is to run, the data of each task, and how it is known."""

import argparse
import importlib
import json
import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import Subparsers, add_command, count, note, say, write_json
from tls_tasks.core.errors import DataError, OptionError, TlsTasksError, without_warnings
from tls_tasks.core.terminal import text_table
from tls_tasks.core.whole import write_whole
from tls_tasks.data.catalogue import DataSet
from tls_tasks.data.editions import Edition, edition_with, editions_of, golds_hash
from tls_tasks.data.hub import is_cached
from tls_tasks.data.order import DATA_VARIABLE, own_folder
from tls_tasks.hosts.discovery import TaskFile, data_set_of, group_files, task_files
from tls_tasks.registry import FAMILIES, METRICS, find_task
from tls_tasks.summaries.public_files import RATED
from tls_tasks.timelines.data import PUBLIC

_CLOSED_BOOK = "_closed_book"  # the task of the same data set that gives no articles
_ALL = "all"


def add_parser(subparsers: Subparsers) -> None:
    """Add the three commands."""
    add = add_command(subparsers, "list", _run_list).add_argument
    add("--obtain", action="store_true", help="say how to get the original of each data set")
    add("--json", action="store_true", help="print everything as JSON")
    add = add_command(subparsers, "fetch", _run_fetch).add_argument
    add("names", nargs="+", metavar="NAME", help="tls_crisis, tls_timeline17, tls_open, or all; summeval, qags")
    add = add_command(subparsers, "fingerprint", _run_fingerprint).add_argument
    add("names", nargs="*", metavar="TASK", help="compute those of these tasks; none: list what is known")
    add("--edition", help="only this one: fetched, hub or embedded (all three)")
    add("--data", metavar="PLACE", help="of data at this place instead")
    add("--write", type=Path, metavar="FILE", help="also put them into FILE, in the form of editions.json")


def _run_list(args: argparse.Namespace) -> None:
    """List tasks, groups and metrics with their versions, and the data that each task would use.

    The data on this machine is one of:
      local     a folder below TLS_TASKS_DATA
      fetched   in the cache of tls-tasks fetch
      hub       the data set on the hub, completely in the cache
      embedded  a few documents written for tls-tasks, for trying things out; with a network, the hub comes first
    The order is --metadata '{"data": …}', TLS_TASKS_DATA, what was fetched, the hub, the embedded edition.

    Examples:
      tls-tasks list
      tls-tasks list --obtain
      tls-tasks list --json
    """
    tasks = list(map(_row, task_files().values()))
    groups = [
        {"name": group.name, "version": group.version, "members": ", ".join(group.members)}
        for group in group_files().values()
    ]
    metrics = []
    for spec in METRICS.values():
        version, keys = importlib.import_module(spec.module).VERSION, ", ".join(spec.result_keys)
        row = {"name": spec.name, "version": version, "family": spec.family, "keys": keys, "summary": spec.summary}
        metrics.append(row)
    if args.json:
        write_json(Path("-"), {"tasks": tasks, "groups": groups, "metrics": metrics})
        return
    columns = "version data fetch hub", "version members", "version family keys"
    for title, rows, keys in zip(("task", "group", "metric"), (tasks, groups, metrics), columns, strict=True):
        values = [[row["name"], *(row[key] for key in keys.split())] for row in rows]
        cells = [[f"{value:g}" if isinstance(value, float) else str(value) for value in row] for row in values]
        say(f"{text_table([(title, *keys.split()), *cells])}\n")
    if args.obtain:
        say("\n".join(f"{row['name']}: {row['obtain']}" for row in tasks))
        say("\n".join(f"{name}: tls-tasks fetch {name}; or get {copy.terms}" for name, copy in RATED.items()))


def data_sets() -> dict[str, DataSet]:
    """All families' data sets by name, a user's own among them."""
    modules = [importlib.import_module(f"tls_tasks.{family}.data") for family in FAMILIES]
    return {name: data_set for module in modules for name, data_set in module.ALL_SETS.items()}


def _row(task: TaskFile) -> dict[str, Any]:
    """A task, and where its data is, in the order in which the task looks, without loading any of it."""
    data_set = data_set_of(task)
    # The hub's timelines come without articles, so that only closed-book tasks can use them.
    lacks_articles = task.family == "timelines" and not task.name.endswith(_CLOSED_BOOK)
    hub, cached = "no hub source", False
    if (source := data_set.hub) is not None and not lacks_articles:
        cached = all(is_cached(source.repo_id, source.revision, file) for file in source.files)
        hub = source.origin + ("" if cached else " (not in the cache)")
    folder = own_folder(data_set, Path(root).expanduser()) if (root := os.environ.get(DATA_VARIABLE)) else None
    public = PUBLIC.get(data_set.name)
    if public is not None and lacks_articles and not public.has_articles:
        public = None
    fetched = public is not None and public.is_there
    data = f"local {folder}" if folder else "fetched" if fetched else "hub" if cached else "embedded"
    command = f"tls-tasks fetch {data_set.name}"
    fetch = "no public copy" if public is None else "fetched" if fetched else command
    obtain = data_set.obtain if public is None else f"{command}; or {data_set.obtain}"
    places = {"data": "yours" if data_set.own else data, "fetch": fetch, "hub": hub, "obtain": obtain}
    head = {"name": task.name, "family": task.family, "version": task.version}
    return {**head, **places, "metrics": task.metrics}


def _run_fetch(args: argparse.Namespace) -> None:
    """Fetch the real data of timeline tasks, or summaries with people's ratings, from public repositories.

    Every file is pinned by commit, size and sha256. It comes from the authors' repositories, under their licences,
    which are printed; tls-tasks contains and passes on none of it. A file that has arrived is not asked for again.
    lm_eval --tasks NAME finds the data by itself afterwards. summeval and qags, which `all` leaves out, become a log of
    each system and a table of ratings, for tls-tasks meta; the folder of both is printed.

    Environment:
      TLS_TASKS_CACHE   where it is kept; by default tls-tasks in the user's folder of caches (~/.cache)
      TLS_TASKS_FETCH   1: tasks fetch by themselves when they are loaded
      TLS_TASKS_MIRROR  an address in the place of https://raw.githubusercontent.com/, with files at
                        OWNER/NAME/COMMIT/PATH below it

    Examples:
      tls-tasks fetch tls_crisis
      tls-tasks fetch all
      tls-tasks fetch summeval
    """
    known, copies = data_sets(), {**PUBLIC, **RATED}
    names = dict.fromkeys(name for given in args.names for name in (PUBLIC if given == _ALL else [given]))
    for name in names.keys() - copies.keys():
        if name not in known:
            raise OptionError.unknown("NAME", name, [*sorted(copies), _ALL])
        how = f"{known[name].obtain}, then set {DATA_VARIABLE}=<folder with {known[name].folders[0]} in it>"
        if (hub := known[name].hub) is not None:
            how = f"its tasks get it from the hub by themselves ({hub.origin})"
        raise DataError(f"{name}: has no public copy that could be fetched: {how}")
    for copy in map(copies.__getitem__, names):
        if copy.is_there:
            say(f"{copy.name}: is there: {copy.folder}")
            continue
        n_files = sum(len(source.files) for source in copy.sources)
        say(f"{copy.name}: {count(n_files, 'file')}, {copy.n_bytes / 1e6:.1f} MB: {copy.terms}", flush=True)
        folder = copy.fetch()
        task = copy.name if copy.has_articles else f"{copy.name}{_CLOSED_BOOK}"
        command = copy.settings.get("try", f"lm_eval --tasks {task} …").format(folder=shlex.quote(str(folder)))
        say(f"{copy.name}: is in {folder}\ntry it: {command}", flush=True)


def _run_fingerprint(args: argparse.Namespace) -> int:
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
    known = [name for name, data_set in data_sets().items() if not data_set.own]
    rows: list[tuple[str, ...]] = [("data set", "edition", "documents", "known as", "fingerprint")]
    file: dict[str, dict[str, Any]] = {}
    if args.write is not None and args.write.exists():
        file = json.loads(args.write.read_text(encoding="utf-8"))
    lacking: list[str] = []
    for name in args.names or known:
        if name not in known:
            raise OptionError.unknown("TASK", name, known)
        listed = [edition or f"{name}: no fingerprint of {label} yet" for label, edition in editions_of(name).items()]
        for edition in _computed(name, args) if args.names else listed:
            if isinstance(edition, str):
                lacking.append(edition)
                continue
            same = edition_with(name, edition.fingerprint)
            size = "" if edition.documents is None else str(edition.documents)
            rows.append((name, edition.label, size, same.label if same else "unknown", edition.fingerprint))
            values = {"fingerprint": edition.fingerprint, "documents": edition.documents, "golds": edition.golds}
            file.setdefault(name, {})[(same or edition).label] = values
    say(text_table(rows))
    if args.write is not None:
        write_whole(args.write, json.dumps(file, indent=2) + "\n")
    return note("fingerprint", *lacking)


def _computed(name: str, args: argparse.Namespace) -> Iterator[Edition | str]:
    """The editions that can be read here; of another one why it can't."""
    labels = ["embedded", *["fetched"] * (name in PUBLIC), *["hub"] * ("hub" in editions_of(name))]
    task = find_task(f"{name}{_CLOSED_BOOK}" if name.startswith("tls_") else name)  # it needs no articles
    for label in ["local"] if args.data else [args.edition] if args.edition else labels:
        provenance: dict[str, str] = {}
        options: dict[str, Any] = {"data": args.data} if args.data else {"edition": label}
        try:
            with without_warnings(Warning):  # that it is embedded stands in the table
                documents = task.documents(provenance=provenance, **options)
        except (TlsTasksError, OSError) as error:
            yield str(error)
            continue
        golds = golds_hash((str(document["doc_id"]), task.target(document)) for document in documents)
        yield Edition(label, provenance["fingerprint"], len(documents), golds)
