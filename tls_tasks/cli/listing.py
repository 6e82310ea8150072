"""``tls-tasks list``: what there is, in which version, and on which data it would run here."""

from __future__ import annotations

import argparse
import importlib
import json
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

_DESCRIPTION = """\
List tasks, groups and metrics with their versions, and the data that each task would run on here:
  local     below TLS_TASKS_DATA
  hub       the hub source, all files in the cache
  embedded  a few documents written for tls-tasks, for trying things out; with the network a hub source comes before it
The order is --metadata '{"data": …}', TLS_TASKS_DATA, the hub, the embedded edition.

examples:
  tls-tasks list
  tls-tasks list --obtain
  tls-tasks list --json
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "list", run, summary="tasks, metrics, versions and data", description=_DESCRIPTION)
    parser.add_argument("--obtain", action="store_true", help="say for each data set how to get the original")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(args: argparse.Namespace) -> int:
    """Print the list.

    Returns:
        0.
    """
    found = listing()
    if args.json:
        print(json.dumps(found, indent=2, ensure_ascii=False))
        return 0
    print(_table("task", found["tasks"], ("version", "data", "hub")))
    print(_table("group", found["groups"], ("version", "members")))
    print(_table("metric", found["metrics"], ("version", "kind", "keys")))
    if args.obtain:
        print("\n".join(f"{row['name']}: {row['obtain']}" for row in found["tasks"]))
    return 0


def listing() -> dict[str, list[dict[str, Any]]]:
    """Tasks, groups and metrics as plain rows, read from the task files, the data sets and the registry."""
    from tls_tasks.after.task_files import group_files, task_files
    from tls_tasks.cli.states import data_sets, data_state
    from tls_tasks.registry import METRICS

    known = data_sets()
    tasks = []
    for task in task_files().values():
        options = task.config.get("dataset_kwargs", {})
        named = next((value for value in options.values() if value in known), task.name)
        state = data_state(known[named], options.get("closed_book", False))
        tasks.append(
            {
                "name": task.name,
                "family": task.family,
                "version": task.version,
                "data": f"local {state.local}" if state.local else state.edition,
                "hub": f"{state.hub}{'' if state.is_cached else ' (not in the cache)'}"
                if state.hub
                else "no hub source",
                "obtain": state.obtain,
                "metrics": [metric.key for metric in task.metrics],
            }
        )
    groups = [
        {"name": group.name, "version": group.version, "members": ", ".join(group.members)}
        for group in group_files().values()
    ]
    metrics = [
        {
            "name": spec.name,
            "version": getattr(importlib.import_module(spec.function.partition(":")[0]), "VERSION", "?"),
            "family": spec.family,
            "keys": ", ".join(spec.result_keys),
            "summary": spec.summary,
        }
        for spec in METRICS.values()
    ]
    return {"tasks": tasks, "groups": groups, "metrics": metrics}


def _table(title: str, rows: list[dict[str, Any]], keys: tuple[str, ...]) -> str:
    cells = [(title, *keys), *((row["name"], *(_cell(row[key]) for key in keys)) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    return "\n".join([*lines, ""])


def _cell(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
