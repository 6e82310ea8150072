"""``tls-tasks summaries GOLD PREDICTIONS``: score summaries in files."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tls_tasks.cli.base import Subparsers, add_command, note, say, write_json
from tls_tasks.cli.scored_files import (
    add_files,
    as_json,
    document_table,
    explained,
    intervals_of,
    value_table,
    warnings_as_notes,
)


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "summaries", _run)
    add_files(parser, gold="the reference summaries", predictions="the summaries to score")
    parser.add_argument("--tokenizer", default="whitespace", help="whitespace (default), rouge or unicode")
    parser.add_argument("--stem", action="store_true", help="stem words, as rouge_score's use_stemmer does")
    parser.add_argument("--lsum", action="store_true", help="rougeLsum, too: sentence by sentence")
    parser.add_argument("--split", default="newline", help="where its sentences end: newline (default) or regex")


def _run(args: argparse.Namespace) -> int:
    """Score summaries by ROUGE-L.

    GOLD and PREDICTIONS are each one of
      a text file with one summary a line
      rows in JSON Lines, JSON, CSV or Parquet: {"id": "m1", "summary": "…"}; several references as "references",
        a model's text as "prediction"
      a folder with a file a summary, m1.txt
    They are joined by id, or line by line where there are no ids. A summary that lacks a prediction scores 0, and a
    prediction of what GOLD lacks is an error.

    Exit codes: 0 scored; 2 a file can't be read, or the two don't fit

    Examples:
      tls-tasks summaries references.txt summaries.txt
      tls-tasks summaries gold.jsonl predictions.jsonl --tokenizer rouge --stem --lsum
      tls-tasks summaries gold/ predictions/ --detailed --confidence 0.95
    """
    from tls_tasks.data.keyed import missing_note
    from tls_tasks.summaries.files import read_summaries
    from tls_tasks.summaries.rouge_l import rouge_l

    rows = read_summaries(args.gold, args.predictions)
    types = ["rougeL", *["rougeLsum"] * args.lsum]
    options: Mapping[str, Any] = {"tokenizer": args.tokenizer, "use_stemmer": args.stem, "split_summaries": args.split}
    with warnings_as_notes("summaries"):
        score = rouge_l(
            [row.prediction or "" for row in rows], [row.references for row in rows], rouge_types=types, **options
        )
    note("summaries", *missing_note(((row.id, row.prediction) for row in rows), "summaries", "it scores 0"))
    names, intervals = [row.id for row in rows], intervals_of(args, score)
    if args.json:
        write_json(Path("-"), as_json(score, names, intervals, args.detailed))
        return 0
    say(value_table(score.results, intervals, "rouge_l_f1"))
    if args.detailed:
        say("\n" + document_table(names, score, list(score.definitions), "summary"))
        say(explained(score, names) + "\n")
    say(score.signature)
    return 0
