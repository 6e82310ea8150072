"""``tls-tasks prepare NAME --source DIR --out DIR``: turn downloaded or own data into Parquet with a data set card."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command, say
from tls_tasks.core.errors import OptionError

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers

_FAMILIES = ("evidence", "reports", "summaries", "trees")  # whose data is prepared under the family's name


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    from tls_tasks.timelines.data import DATA_SETS

    parser = add_command(subparsers, "prepare", _run)
    parser.add_argument("name", choices=[*_FAMILIES, *sorted(DATA_SETS)], help="the data set, or a family")
    add_options(parser)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what every command that prepares data takes."""
    parser.add_argument("--source", type=Path, required=True, help="the data set's folder or file, or its parent")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--schema", type=Path, help="evidence: JSON file with the schema; default: that of journals")
    parser.add_argument("--licence", "--license", help="licence for the card: an identifier of the hub, or any text")
    parser.add_argument("--force", action="store_true", help="write although the folder is not empty")


def _run(args: argparse.Namespace) -> int:
    """Turn downloaded or own data into Parquet with a data set card.

    The source is a downloaded timeline data set (the news-tls distribution, CHRONOS' data/open), or data of your own:
    texts with gold objects (evidence), which are a folder with journals.jsonl ({"journal_id", "text"}) and gold.jsonl
    ({"journal_id", "items"}), or a file of rows with "text" and "items"; texts with their summaries (summaries), a file
    of rows with "text" and "summary"; texts with their trees (trees), a file of rows with "text", "schema" and
    "reference"; or a folder with requests.jsonl, nuggets.jsonl and documents.jsonl (reports).

    The folder that it writes is what --metadata '{"data": "FOLDER"}' takes, and is ready to be pushed to the hub. The
    first row that can't be used is named with its file and line (of evidence also the first object that breaks the
    schema or quotes what is not in its text), and nothing is written.

    Examples:
      tls-tasks prepare tls_crisis --source datasets/crisis --out prepared/tls_crisis
      tls-tasks prepare evidence --source my_journals --out prepared/journals
      tls-tasks prepare summaries --source meetings.csv --out prepared/meetings
    """
    said, command = prepare_folder(args.name, args)
    say(f"{args.out}: {said}\ntry it: {command}")
    return 0


def prepare_folder(name: str, args: argparse.Namespace) -> tuple[str, str]:
    """Write the folder.

    Args:
        name: A timeline data set, or the family of other data.
        args: What :func:`add_options` added.

    Returns:
        What was written, and the command that runs it.
    """
    options = {"licence": args.licence, "force": args.force}
    if name == "evidence":
        from tls_tasks.evidence.files import schema_at
        from tls_tasks.evidence.prepare import command_for, prepare_evidence
        from tls_tasks.evidence.types import JOURNAL_SCHEMA

        schema = JOURNAL_SCHEMA if args.schema is None else schema_at(args.schema)
        found = prepare_evidence(args.source, args.out, schema=schema, **options)
        n_objects = sum(len(document.objects) for document in found.documents)
        said = f"{len(found.documents)} documents, {n_objects} objects of the schema {schema.name}"
        return said, command_for(schema, str(args.out))
    if args.schema is not None:
        raise OptionError("--schema", None, str(args.schema), f"none: it belongs to evidence, not to {name}")
    named = f'{{"data": "{args.out}", "name": "ours"}}'
    if name == "summaries":
        from tls_tasks.summaries import prepare as summaries

        said = f"{len(summaries.prepare_summaries(args.source, args.out, **options))} documents"
        task = summaries.TASK
    elif name == "trees":
        from tls_tasks.trees import prepare as trees

        said, task = f"{len(trees.prepare_trees(args.source, args.out, **options))} documents", trees.TASK
    elif name == "reports":
        from tls_tasks.reports import prepare as reports

        counts = reports.prepare_reports(args.source, args.out, **options)
        said, task = ", ".join(f"{n} {part}" for part, n in counts.items()), reports.TASK
    else:
        from tls_tasks.timelines import prepare as timelines

        topics = timelines.prepare(name, args.source, args.out, **options)
        n_timelines = sum(len(topic.timelines) for topic in topics)
        said = f"{len(topics)} topics, {n_timelines} timelines, {sum(len(topic.articles) for topic in topics)} articles"
        task, named = timelines.task_for(name, topics), f'{{"data": "{args.out}"}}'
    return said, f"lm_eval --tasks {task} --metadata '{named}' …"
