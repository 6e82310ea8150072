"""``tls-tasks page``: one HTML page that shows the scores of runs and explains each document's score."""

from __future__ import annotations

import argparse
from pathlib import Path

from tls_tasks.after.page import page
from tls_tasks.after.scored_runs import read_runs
from tls_tasks.cli.base import Subparsers, add_command, count, note, progress, say
from tls_tasks.core.errors import DataError
from tls_tasks.core.whole import write_whole


def add_parser(subparsers: Subparsers) -> None:
    """Add the command, which was called ``report`` before."""
    parser = add_command(subparsers, "page", _run, "report")
    parser.add_argument("files", nargs="+", type=Path, metavar="RUN", help="samples, results, or folders of them")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="the page to write")
    parser.add_argument("--task", action="append", metavar="NAME", help="only this task (may be repeated)")
    parser.add_argument("--title", default="tls-tasks", help="the heading")
    parser.add_argument("--newest", action="store_true", help="use only the newest run of each task in a folder")


def _run(args: argparse.Namespace) -> int:
    """Write one HTML page that shows the scores of runs and explains each document's score.

    The page shows the runs with confidence intervals and, for each document, a view that explains its score. It is one
    file that needs no network and can be sent by mail. RUN is what lm_eval --output_path OUT --log_samples wrote.

    Exit codes: 0 written; 1 written, but a log has problems; 2 not written

    Examples:
      tls-tasks page out/ -o page.html
      tls-tasks page out/base out/better --task tls_crisis -o crisis.html
    """
    if args.command == "report":
        note("report", "this command is called `tls-tasks page` now; the name `report` goes with the next release")
    scored = [
        task
        for task in read_runs(args.files, newest=args.newest, progress=progress)
        if args.task is None or task.name in args.task
    ]
    if not scored:
        raise DataError(f"no samples of {', '.join(args.task)} in {', '.join(map(str, args.files))}")
    write_whole(args.out, page(scored, title=args.title, progress=progress))
    problems = [problem for task in scored for problem in task.problems]
    note(args.command, *problems)
    n_tasks, n_documents = len({task.name for task in scored}), sum(len(task.ids) for task in scored)
    say(f"{args.out}: {count(len(scored), 'run')} of {count(n_tasks, 'task')}, {count(n_documents, 'document')}")
    return int(bool(problems))
