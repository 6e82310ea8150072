"""``tls-tasks report``: one page that shows scores and what they were made of."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

_DESCRIPTION = """\
Write one self-contained HTML page about logged runs (lm_eval --output_path OUT --log_samples): the runs with their
intervals, and for each document the picture that explains its score. The page needs no network and can be mailed.

exit codes: 0 written; 1 written, and something is wrong with a log; 2 not written

examples:
  tls-tasks report out/ -o report.html
  tls-tasks report out/base out/better --task tls_crisis -o crisis.html
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "report", run, summary="one page that explains scores", description=_DESCRIPTION)
    parser.add_argument("files", nargs="+", type=Path, metavar="RUN", help="samples, results, or folders with them")
    parser.add_argument("-o", "--out", type=Path, required=True, metavar="FILE", help="the page to write")
    parser.add_argument("--task", action="append", metavar="NAME", help="only this task (repeat for several)")
    parser.add_argument("--title", default="tls-tasks report", help="the heading")
    parser.add_argument("--newest", action="store_true", help="of several runs in a folder the newest of each task")


def run(args: argparse.Namespace) -> int:
    """Score, draw and write.

    Returns:
        0, or 1 if something is wrong with a log.

    Raises:
        TlsTasksError: If there is nothing to show.
    """
    from tls_tasks.after.page.page import page
    from tls_tasks.after.scored_runs import problems_of, score_places
    from tls_tasks.cli.progress import progress
    from tls_tasks.core.errors import DataError

    scored = [
        one
        for one in score_places(args.files, newest=args.newest, progress=progress)
        if args.task is None or one.task.name in args.task
    ]
    if not scored:
        raise DataError(f"no samples of {', '.join(args.task)} in {', '.join(map(str, args.files))}")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    args.out.write_text(page(scored, title=args.title, progress=progress), encoding="utf-8")
    problems = [problem for one in scored for problem in problems_of(one)]
    for problem in problems:
        print(f"tls-tasks report: {problem}", file=sys.stderr)
    n_documents = sum(len(one.score.ids) for one in scored)
    print(f"{args.out}: {len(scored)} runs of {len({one.task.name for one in scored})} tasks, {n_documents} documents")
    return int(bool(problems))
