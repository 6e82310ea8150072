"""``tls-tasks list`` and ``fetch``: what there is to run, and the data of each task.

Nothing here imports a family's tasks or metrics: `tls-tasks list` is to answer at once.
"""

import argparse
import os
import shlex
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import Subparsers, add_command, count, say, write_json
from tls_tasks.core.errors import DataError, OptionError
from tls_tasks.core.terminal import text_table
from tls_tasks.data.fetched import public_copies
from tls_tasks.data.hub import is_cached
from tls_tasks.data.sources import DATA_VARIABLE, find_folder
from tls_tasks.hosts.discovery import TaskFile, data_set_of, data_sets, group_files, task_files
from tls_tasks.registry import FAMILIES, METRICS

_CLOSED_BOOK = "_closed_book"  # the task of the same data set that gives no articles
_ALL = "all"

PUBLIC, RATED = map(public_copies, ("timelines", "summaries"))
"""What can be fetched, by name: data sets of tasks, and summaries with people's ratings."""


def add_parser(subparsers: Subparsers) -> None:
    """Add both commands."""
    add = add_command(subparsers, "list", _run_list).add_argument
    add("--obtain", action="store_true", help="say how to get the original of each data set")
    add("--json", action="store_true", help="print everything as JSON")
    add = add_command(subparsers, "fetch", _run_fetch).add_argument
    add("names", nargs="+", metavar="NAME", help="tls_crisis, tls_timeline17, tls_open, or all; summeval, qags")


def _run_list(args: argparse.Namespace) -> None:
    """List tasks and groups with their versions, metrics, and the data that each task would use.

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
    groups: list[dict[str, Any]] = [
        {"name": group.name, "version": group.version, "members": ", ".join(group.members)}
        for group in group_files().values()
    ]
    metrics: list[dict[str, Any]] = [
        {"name": spec.name, "family": spec.family, "keys": ", ".join(spec.result_keys), "summary": spec.summary}
        for spec in METRICS.values()
    ]
    if args.json:
        write_json(Path("-"), {"tasks": tasks, "groups": groups, "metrics": metrics})
        return
    columns = "version data fetch hub", "version members", "family keys"
    for title, rows, keys in zip(("task", "group", "metric"), (tasks, groups, metrics), columns, strict=True):
        values = [[row["name"], *(row[key] for key in keys.split())] for row in rows]
        cells = [[f"{value:g}" if isinstance(value, float) else str(value) for value in row] for row in values]
        say(f"{text_table([(title, *keys.split()), *cells])}\n")
    if args.obtain:
        say("\n".join(f"{row['name']}: {row['obtain']}" for row in tasks))
        say("\n".join(f"{name}: tls-tasks fetch {name}; or get {copy.terms}" for name, copy in RATED.items()))


def _row(task: TaskFile) -> dict[str, Any]:
    """A task, and where its data is, in the order in which the task looks, without loading any of it."""
    data_set = data_set_of(task)
    # The hub's timelines come without articles, so that only closed-book tasks can use them.
    lacks_articles = task.family == "timelines" and not task.name.endswith(_CLOSED_BOOK)
    hub, cached = "no hub source", False
    if (source := data_set.hub) is not None and not lacks_articles:
        cached = all(is_cached(source.repo_id, source.revision, file) for file in source.files)
        hub = source.origin + ("" if cached else " (not in the cache)")
    folder = find_folder(data_set, Path(root).expanduser()) if (root := os.environ.get(DATA_VARIABLE)) else None
    public = PUBLIC.get(data_set.name)
    if public is not None and lacks_articles and not public.has_articles:
        public = None
    fetched = public is not None and public.is_fetched
    data = f"local {folder}" if folder else "fetched" if fetched else "hub" if cached else "embedded"
    command = f"tls-tasks fetch {data_set.name}"
    fetch = "no public copy" if public is None else "fetched" if fetched else command
    obtain = data_set.obtain if public is None else f"{command}; or {data_set.obtain}"
    places = {"data": "yours" if data_set.custom else data, "fetch": fetch, "hub": hub, "obtain": obtain}
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
      TLS_TASKS_MIRROR  an address in the place of https://raw.githubusercontent.com/, with files at
                        OWNER/NAME/COMMIT/PATH below it

    Examples:
      tls-tasks fetch tls_crisis
      tls-tasks fetch all
      tls-tasks fetch summeval
    """
    known = {name: data_set for family in FAMILIES for name, data_set in data_sets(family).items()}
    copies = {**PUBLIC, **RATED}
    names = dict.fromkeys(name for given in args.names for name in (PUBLIC if given == _ALL else [given]))
    for name in names.keys() - copies.keys():
        if name not in known:
            raise OptionError.unknown("NAME", name, [*sorted(copies), _ALL])
        how = f"{known[name].obtain}, then set {DATA_VARIABLE}=<folder with {known[name].folders[0]} in it>"
        if (hub := known[name].hub) is not None:
            how = f"its tasks get it from the hub by themselves ({hub.origin})"
        raise DataError(f"{name}: has no public copy that could be fetched: {how}")
    for copy in map(copies.__getitem__, names):
        if copy.is_fetched:
            say(f"{copy.name}: is there: {copy.folder}")
            continue
        n_files = sum(len(source.files) for source in copy.sources)
        say(f"{copy.name}: {count(n_files, 'file')}, {copy.n_bytes / 1e6:.1f} MB: {copy.terms}", flush=True)
        folder = copy.fetch()
        task = copy.name if copy.has_articles else f"{copy.name}{_CLOSED_BOOK}"
        command = copy.settings.get("try", f"lm_eval --tasks {task} …").format(folder=shlex.quote(str(folder)))
        say(f"{copy.name}: is in {folder}\ntry it: {command}", flush=True)
