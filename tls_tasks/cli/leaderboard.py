"""``tls-tasks leaderboard``: verified submissions ranked on a static page."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import Subparsers, add_command, count, note, say

if TYPE_CHECKING:
    from tls_tasks.after.comparisons import System


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "leaderboard", _run)
    parser.add_argument("submissions", nargs="+", type=Path, metavar="SUBMISSION", help="what tls-tasks submit wrote")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FOLDER", help="where to write index.html")


def _run(args: argparse.Namespace) -> int:
    """Rank submissions on a static page, one table a task.

    Each submission (a folder or zip that tls-tasks submit wrote) is verified first; one that fails is left out and
    named. Results published in papers stand below the ranking, marked as such.

    Exit codes: 0 written; 1 written, but a submission was left out; 2 not written

    Example:
      tls-tasks leaderboard submissions/* -o site/
    """
    from tls_tasks.after.submission.leaderboard import rankings, site
    from tls_tasks.core.errors import DataError, TlsTasksError

    kept: dict[str, System] = {}
    n_left_out = 0
    for place in args.submissions:
        try:
            system = _verified(place)
            if system.name in kept:
                raise DataError(f"a second submission of {system.name}; the first counts")
            kept[system.name] = system
        except (TlsTasksError, OSError) as error:
            # An error of the operating system names the file itself.
            reasons = str(error).removeprefix(f"{place}: ").splitlines()
        except Exception as error:  # a mistake of ours: nobody may stop the board by it
            reasons = [f"it could not be checked, please report this: {type(error).__name__}: {error}"]
        else:
            continue
        note("leaderboard", *(f"{place} left out: {reason}" for reason in reasons))
        n_left_out += 1
    if not kept:
        raise DataError("no submission passed verification, so there is nothing to rank")
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / "index.html").write_text(site(rankings(list(kept.values()))), encoding="utf-8")
    say(f"{args.out / 'index.html'}: {count(len(kept), 'submission')}, {n_left_out} left out")
    return int(n_left_out > 0)


def _verified(place: Path) -> System:
    from tls_tasks.after.comparisons import System
    from tls_tasks.after.submission.archive import verify
    from tls_tasks.after.submission.unpack import opened
    from tls_tasks.core.errors import DataError

    with opened(place) as folder:
        found, manifest, scored = verify(folder)
    if found:
        raise DataError("\n".join(map(str, found)))
    return System(manifest["model"], {task.name: task for task in scored})
