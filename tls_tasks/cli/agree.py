"""``tls-tasks agree A B``: how far two judges' verdicts agree."""

from __future__ import annotations

import argparse
from pathlib import Path

from tls_tasks.cli.base import Subparsers, add_command, number, say, write_json
from tls_tasks.core.text_table import text_table
from tls_tasks.reports.agreement import ALL, agreement, read_judgments


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(subparsers, "agree", _run)
    parser.add_argument("a", metavar="A", type=Path, help="recording of the first judge (.jsonl, .jsonl.gz)")
    parser.add_argument("b", metavar="B", type=Path, help="recording of the second judge")
    text = "compare the questions that both were asked, leave out others"
    parser.add_argument("--common", action="store_true", help=text)
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table; undefined values are null")


def _run(args: argparse.Namespace) -> int:
    """Compare the verdicts of two judges, or of a judge and of people, on the same questions.

    A and B are recordings: what `tls-tasks reports` writes as verdicts.jsonl, or lines by hand such as
      {"kind": "citation_support", "sentence": "It rained.", "doc_id": "d1", "verdict": "YES"}
    Printed for each kind of question: how often both said YES, one of them, neither; the share of equal verdicts (raw),
    Cohen's kappa, and positive agreement (the Dice coefficient of the YES answers). Most questions are answered NO, so
    that raw agreement is high even between judges who agree on nothing that matters. Questions to which one gave no
    verdict are left out and counted.

    Exit codes:
      0  compared
      2  not compared: a file that can't be read, or recordings of other questions (--common compares those in both)

    Examples:
      tls-tasks agree runs/a/verdicts.jsonl runs/b/verdicts.jsonl
      tls-tasks agree people.jsonl runs/a/verdicts.jsonl --common --json
    """
    a, b = read_judgments(args.a), read_judgments(args.b)
    found = agreement(a, b, common=args.common)
    if args.json:
        write_json(Path("-"), {kind: row._asdict() for kind, row in found.items()})
        return 0
    say(f"A: {args.a} ({len(a)} verdicts)\nB: {args.b} ({len(b)} verdicts)\n")
    names = [name.replace("_", " ") for name in found[ALL]._fields]
    rows = [(kind, *map(str, row[:6]), *map(number, row[6:])) for kind, row in found.items()]
    say(text_table([("kind", *names), *rows]))
    return 0
