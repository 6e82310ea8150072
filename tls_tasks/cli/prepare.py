"""``tls-tasks prepare NAME --source DIR --out DIR``: turn downloaded or own data into Parquet with a data set card."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command, say
from tls_tasks.core.errors import OptionError

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

EVIDENCE, REPORTS, SUMMARIES = "evidence", "reports", "summaries"
"""The families whose data is prepared under the family's name."""


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    from tls_tasks.timelines.data import DATA_SETS

    parser = add_command(subparsers, "prepare", _run)
    parser.add_argument(
        "name", choices=[EVIDENCE, REPORTS, SUMMARIES, *sorted(DATA_SETS)], help="the data set, or a family"
    )
    parser.add_argument("--source", type=Path, required=True, help="the data set's folder, or its parent")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--schema", type=Path, help="evidence: JSON file with the schema; default: that of journals")
    parser.add_argument("--licence", "--license", help="licence for the card: an identifier of the hub, or any text")
    parser.add_argument("--force", action="store_true", help="write although the folder is not empty")


def _run(args: argparse.Namespace) -> int:
    """Turn downloaded or own data into Parquet with a data set card.

    The source is a downloaded timeline data set (the news-tls distribution, CHRONOS' data/open), or data of your own:
    texts with gold objects (evidence), which are a folder with journals.jsonl ({"journal_id", "text"}) and gold.jsonl
    ({"journal_id", "items"}), or a file of rows with "text" and "items"; texts with their summaries (summaries), a file
    of rows with "text" and "summary"; or a folder with requests.jsonl, nuggets.jsonl and documents.jsonl (reports).

    The folder that it writes is what --metadata '{"data": "FOLDER"}' takes, and is ready to be pushed to the hub. The
    first row that can't be used is named with its file and line (of evidence also the first object that breaks the
    schema or quotes what is not in its text), and nothing is written.

    Examples:
      tls-tasks prepare tls_crisis --source datasets/crisis --out prepared/tls_crisis
      tls-tasks prepare evidence --source my_journals --out prepared/journals
      tls-tasks prepare summaries --source meetings.csv --out prepared/meetings
    """
    if args.name == EVIDENCE:
        return _run_evidence(args)
    if args.schema is not None:
        raise OptionError("--schema", None, str(args.schema), f"none: it belongs to evidence, not to {args.name}")
    if args.name in (REPORTS, SUMMARIES):
        return _run_rows(args)
    from tls_tasks.timelines.prepare import prepare, task_for

    topics = prepare(args.name, args.source, args.out, licence=args.licence, force=args.force)
    n_timelines = sum(len(topic.timelines) for topic in topics)
    n_articles = sum(len(topic.articles) for topic in topics)
    say(f"{args.out}: {len(topics)} topics, {n_timelines} timelines, {n_articles} articles")
    say(f'try it: lm_eval --tasks {task_for(args.name, topics)} --metadata \'{{"data": "{args.out}"}}\' …')
    return 0


def _run_rows(args: argparse.Namespace) -> int:
    from tls_tasks.reports import prepare as reports
    from tls_tasks.summaries import prepare as summaries

    if args.name == SUMMARIES:
        documents = summaries.prepare_summaries(args.source, args.out, licence=args.licence, force=args.force)
        task, said = summaries.TASK, f"{len(documents)} documents"
    else:
        counts = reports.prepare_reports(args.source, args.out, licence=args.licence, force=args.force)
        task, said = reports.TASK, ", ".join(f"{n} {name}" for name, n in counts.items())
    say(f"{args.out}: {said}")
    say(f'try it: lm_eval --tasks {task} --metadata \'{{"data": "{args.out}", "name": "ours"}}\' …')
    return 0


def _run_evidence(args: argparse.Namespace) -> int:
    from tls_tasks.evidence.files import schema_at
    from tls_tasks.evidence.prepare import command_for, prepare_evidence
    from tls_tasks.evidence.types import JOURNAL_SCHEMA

    schema = JOURNAL_SCHEMA if args.schema is None else schema_at(args.schema)
    found = prepare_evidence(args.source, args.out, schema=schema, licence=args.licence, force=args.force)
    n_objects = sum(len(document.objects) for document in found.documents)
    say(f"{args.out}: {len(found.documents)} documents, {n_objects} objects of the schema {schema.name}")
    say(f"try it: {command_for(schema, str(args.out))}")
    return 0
