"""``tls-tasks prepare NAME --source DIR --out DIR``: turn a downloaded data set into Parquet with a data set card."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

_DESCRIPTION = """\
Turn a downloaded data set (the news-tls distribution, CHRONOS' data/open) into Parquet with a data set card.

The folder that it writes is what --metadata '{"data": "FOLDER"}' takes, and is ready to be pushed to the hub. What had
to be repaired while reading is counted in the card. Example:
  tls-tasks prepare tls_crisis --source datasets/crisis --out prepared/tls_crisis
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    from tls_tasks.datasets.catalogue import catalogue

    parser = add_command(
        subparsers, "prepare", run, summary="turn a downloaded data set into Parquet", description=_DESCRIPTION
    )
    parser.add_argument("name", choices=sorted(catalogue()), help="the data set")
    parser.add_argument("--source", type=Path, required=True, help="its folder, or one with its folder in it")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--licence", "--license", help="licence for the card: an identifier of the hub, or any text")
    parser.add_argument("--force", action="store_true", help="write although the folder is not empty")


def run(args: argparse.Namespace) -> int:
    """Prepare the data set and say what was written.

    Returns:
        0.

    Raises:
        DataError: If the source can't be read or the folder is not empty.
    """
    from tls_tasks.datasets.prepare import prepare, task_for

    topics = prepare(args.name, args.source, args.out, licence=args.licence, force=args.force)
    n_timelines = sum(len(topic.timelines) for topic in topics)
    n_articles = sum(len(topic.articles) for topic in topics)
    n_repairs = sum(len(topic.problems) for topic in topics)
    print(f"{args.out}: {len(topics)} topics, {n_timelines} timelines, {n_articles} articles; {n_repairs} repairs")
    print(f'try it: lm_eval --tasks {task_for(args.name, topics)} --metadata \'{{"data": "{args.out}"}}\' …')
    return 0
