"""``tls-tasks list``: the tasks, groups and metrics, their versions, and the data that each task would use here."""

from __future__ import annotations

import argparse
import importlib
import os
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import Subparsers, add_command, say, write_json
from tls_tasks.core.terminal import text_table
from tls_tasks.data.catalogue import DataSet
from tls_tasks.data.hub import is_cached
from tls_tasks.data.order import DATA_VARIABLE, own_folder
from tls_tasks.hosts.task_files import TaskFile, group_files, task_files
from tls_tasks.registry import FAMILIES, METRICS
from tls_tasks.timelines.data import PUBLIC

_CLOSED_BOOK = "_closed_book"  # the task of the same data set that gives no articles


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "list", _run)
    parser.add_argument("--obtain", action="store_true", help="say how to get the original of each data set")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def _run(args: argparse.Namespace) -> int:
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
    listed = _listing()
    if args.json:
        write_json(Path("-"), listed)
        return 0
    for title, keys in (
        ("task", ("version", "data", "fetch", "hub")),
        ("group", ("version", "members")),
        ("metric", ("version", "family", "keys")),
    ):
        rows = [[row["name"], *(_cell(row[key]) for key in keys)] for row in listed[f"{title}s"]]
        say(f"{text_table([(title, *keys), *rows])}\n")
    if args.obtain:
        say("\n".join(f"{row['name']}: {row['obtain']}" for row in listed["tasks"]))
    return 0


def data_sets() -> dict[str, DataSet]:
    """All families' data sets by name, a user's own among them."""
    modules = [importlib.import_module(f"tls_tasks.{family}.data") for family in FAMILIES]
    return {name: data_set for module in modules for name, data_set in module.ALL_SETS.items()}


def _listing() -> dict[str, list[dict[str, Any]]]:
    known = data_sets()
    return {
        "tasks": [
            {
                "name": task.name,
                "family": task.family,
                "version": task.version,
                **_data(task, known[task.name.removesuffix(_CLOSED_BOOK)]),
                "metrics": task.metrics,
            }
            for task in task_files().values()
        ],
        "groups": [
            {"name": group.name, "version": group.version, "members": ", ".join(group.members)}
            for group in group_files().values()
        ],
        "metrics": [
            {
                "name": spec.name,
                "version": importlib.import_module(spec.module).VERSION,
                "family": spec.family,
                "keys": ", ".join(spec.result_keys),
                "summary": spec.summary,
            }
            for spec in METRICS.values()
        ],
    }


def _data(task: TaskFile, data_set: DataSet) -> dict[str, str]:
    """Where a task's data is, in the order in which the task looks, without loading any of it."""
    # The hub's timelines come without articles, so that only closed-book tasks can use them.
    lacks_articles = task.family == "timelines" and not task.name.endswith(_CLOSED_BOOK)
    hub, cached = "no hub source", False
    if (source := data_set.hub) is not None and not lacks_articles:
        cached = all(is_cached(source.repo_id, source.revision, file) for file in source.files)
        hub = source.origin + ("" if cached else " (not in the cache)")
    root = os.environ.get(DATA_VARIABLE)
    folder = own_folder(data_set, Path(root).expanduser()) if root else None
    public = PUBLIC.get(data_set.name)
    if lacks_articles and public is not None and not public.has_articles:
        public = None
    fetched = public is not None and public.is_there
    data = f"local {folder}" if folder else "fetched" if fetched else "hub" if cached else "embedded"
    command = f"tls-tasks fetch {data_set.name}"
    return {
        "data": "yours" if data_set.own else data,
        "fetch": "no public copy" if public is None else "fetched" if fetched else command,
        "hub": hub,
        "obtain": data_set.obtain if public is None else f"{command}; or {data_set.obtain}",
    }


def _cell(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
