"""``tls-tasks evidence JOURNALS GOLD PREDICTIONS``: score extracted objects in files."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import Subparsers, add_command, note, say, styled, write_json
from tls_tasks.cli.scored_files import (
    add_files,
    as_json,
    explained,
    intervals_of,
    value_table,
    warnings_as_notes,
)
from tls_tasks.core.text_table import text_table

if TYPE_CHECKING:
    from tls_tasks.core.score import Result, Score, Unit


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "evidence", _run)
    parser.add_argument("journals", type=Path, metavar="JOURNALS", help="the texts")
    add_files(parser, gold="their gold objects", predictions="the objects to score")
    parser.add_argument("--schema", type=Path, help="JSON file with the schema; default: that of journals")
    parser.add_argument("--threshold", default="0.5", help="overlap of words that a match needs (default 0.5)")
    parser.add_argument("--matching", default="greedy", help="greedy (default) or optimal")


def _run(args: argparse.Namespace) -> int:
    """Score extracted objects: which are found, whether their attributes and their quotes are right.

    JOURNALS     JSON Lines: {"journal_id": "J1", "text": "…"}
    GOLD         JSON Lines: {"journal_id": "J1", "items": [{"domain": …, "evidence_span": …, …}, …]}, one a journal
    PREDICTIONS  the same; "items" may also be the text that a model wrote. A journal without a line has no predictions:
                 all its gold objects are missed.
    Each may also be JSON, CSV or Parquet, or a folder with a file a journal: J1.txt, J1.json.

    Prints the total over all objects, then one line per journal.

    Exit codes: 0 scored; 2 a file can't be read, or the three don't fit

    Example:
      tls-tasks evidence journals.jsonl gold.jsonl predictions.jsonl --detailed
    """
    from tls_tasks.data.keyed import missing_note
    from tls_tasks.evidence.data_rows import read_three, schema_at
    from tls_tasks.evidence.evidence_extraction import evidence_extraction
    from tls_tasks.evidence.types import JOURNAL_SCHEMA

    schema = JOURNAL_SCHEMA if args.schema is None else schema_at(args.schema)
    journals, told = read_three(args.journals, args.gold, args.predictions, schema)
    ids = [journal.id for journal in journals]
    options: dict[str, Any] = {"schema": schema, "threshold": args.threshold, "matching": args.matching}
    with warnings_as_notes("evidence"):
        score = evidence_extraction(
            ["[]" if answer is None else answer for answer in told.values()],
            [journal.objects for journal in journals],
            [journal.text for journal in journals],
            **options,
        )
    note("evidence", *missing_note(told.items(), "journals", "all their gold objects are missed"))
    intervals = intervals_of(args, score)
    if misquoted := [own.id for own in journals for gold in own.objects if gold[schema.span_field] not in own.text]:
        note("evidence", f"{len(misquoted)} gold objects don't quote their journal verbatim, first of {misquoted[0]}")
    if args.json:
        write_json(Path("-"), as_json(score, ids, intervals, args.detailed, "journals", "journal_id"))
        return 0
    say("\n".join(_table(score, ids)))
    if intervals:
        say("\n" + value_table({key: score.results[key] for key in intervals}, intervals, "f1"))
    if args.detailed:
        say(explained(score, ids))
    return 0


def _table(score: Score, ids: Sequence[str]) -> Iterator[str]:
    """The total, then a line per journal; ``-`` where there was nothing to be right or wrong about."""
    names = [key.removesuffix("_accuracy") for key in score.definitions if key.endswith("_accuracy")]
    asked = {**{f"{name}_accuracy": f"{name}/asked" for name in names}, "evidence_coverage": "checked"}
    keys = ["tp", "fp", "fn", "precision", "recall", "f1", *asked]
    lines = [["journal", "tp", "fp", "fn", "precision", "recall", "f1", *names, "coverage"]]
    units_of = [(name, [unit]) for name, unit in zip(ids, score.units, strict=True)]
    for name, units in [("total", list(score.units)), *units_of]:
        lines.append([name, *(_cell(score.definitions[key], units, asked.get(key)) for key in keys)])
    head, total, *journals = text_table(lines).split("\n")
    yield from (head, styled(total), *journals)
    totals = score.results
    yield f"parse failures {totals['parse_failures']:.0f}, objects that break the schema {totals['schema_invalid']:.0f}"
    yield score.signature


def _cell(result: Result, units: Sequence[Unit], asked: str | None) -> str:
    if asked is not None and not any(unit[asked] for unit in units):
        return "-"
    return f"{result.value(units):.0f}" if result.is_count else f"{result.value(units):.4f}"
