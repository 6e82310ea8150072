"""``tls-tasks publish TASK --repo ORG/NAME``: a data set repository for the hub, whose results the hub can show."""

from __future__ import annotations

import argparse
import re
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command, count, say
from tls_tasks.cli.prepare import add_options, prepare_folder
from tls_tasks.core.errors import OptionError
from tls_tasks.core.whole import made_folder
from tls_tasks.registry import find_task

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "publish", _run)
    parser.add_argument("task", metavar="TASK", help="the task that the data is for: tls_crisis, summ_custom …")
    parser.add_argument("--repo", required=True, metavar="ORG/NAME", help="the data set repository that it will be")
    add_options(parser)


def _run(args: argparse.Namespace) -> int:
    """Write a data set repository for the hub, for whoever may publish the data.

    The folder holds what tls-tasks prepare writes (Parquet and card), the task's prompts with their targets, and an
    eval.yaml with an id for each result, such as tls_crisis.ar1_f1. That file makes the repository one whose
    leaderboard takes the .eval_results of tls-tasks submit --eval-results. Nothing is uploaded; the last line says how.

    eval.yaml admits only the scorers that Inspect brings along, and none of ours is among them: f1 stands there in
    their place, and a comment in the file says so.

    Examples:
      tls-tasks publish summ_custom --repo ORG/NAME --source meetings.jsonl --out publish/meetings --licence cc-by-4.0
    """
    from tls_tasks.data.eval_yaml import write_eval_yaml

    if not _REPOSITORY.fullmatch(args.repo):
        raise OptionError("--repo", None, repr(args.repo), "ORG/NAME, a data set repository on the hub")
    task = find_task(args.task)
    with made_folder(args.out, into=args.force) as folder:
        given = argparse.Namespace(**{**vars(args), "out": folder})
        said, _ = prepare_folder(args.task if task.family == "timelines" else task.family, given)
        n_prompts = write_eval_yaml(task, args.repo, folder)
    say(f"{args.out}: {said}, {count(n_prompts, 'prompt')}, eval.yaml")
    say(f"upload it: hf upload {args.repo} {args.out} . --repo-type dataset")
    return 0
