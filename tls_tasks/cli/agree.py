"""``tls-tasks agree A B``: how far two judges' verdicts agree."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command, plain

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers
    from tls_tasks.reports.agreement import Agreement

_DESCRIPTION = """\
Compare the verdicts of two judges, or of a judge and of people, on the same questions.

A and B are recordings: what `tls-tasks judge` writes as verdicts.jsonl, or lines by hand such as
  {"kind": "citation_support", "sentence": "It rained.", "doc_id": "d1", "verdict": "YES"}
Printed for each kind of question: how often both said YES, one of them, neither; the share of equal verdicts (raw),
Cohen's kappa, and positive agreement (the Dice coefficient of the YES). Most questions are answered NO, so that raw
agreement is high even between judges who agree on nothing that counts. Questions to which one gave no verdict are left
out and counted.

exit codes:
  0  compared
  2  not compared: a file that can't be read, or recordings of other questions (--common compares those in both)

examples:
  tls-tasks agree runs/a/verdicts.jsonl runs/b/verdicts.jsonl
  tls-tasks agree people.jsonl runs/a/verdicts.jsonl --common --json
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add this command to the command line."""
    parser = add_command(
        subparsers, "agree", run, summary="how far two judges' verdicts agree", description=_DESCRIPTION
    )
    parser.add_argument("a", metavar="A", type=Path, help="recording of the first judge (.jsonl, .jsonl.gz)")
    parser.add_argument("b", metavar="B", type=Path, help="recording of the second judge")
    parser.add_argument(
        "--common", action="store_true", help="compare the questions that both were asked, leave out others"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table; undefined values are null")


def run(args: argparse.Namespace) -> int:
    """Compare the recordings and print the numbers.

    Returns:
        0.

    Raises:
        DataError: A file that can't be read.
        InputError: The recordings don't answer the same questions.
    """
    from tls_tasks.reports.agreement import agreement, read_judgments

    a, b = read_judgments(args.a), read_judgments(args.b)
    found = agreement(a, b, common=args.common)
    if args.json:
        print(json.dumps(plain({kind: row._asdict() for kind, row in found.items()}), indent=2))
        return 0
    print(f"A: {args.a} ({len(a)} verdicts)\nB: {args.b} ({len(b)} verdicts)\n")
    print("\n".join(table(found)))
    return 0


def table(found: dict[str, Agreement]) -> list[str]:
    r"""The lines of a table, one a kind.

    Example:
        >>> from tls_tasks.reports.agreement import agreement_of
        >>> print("\n".join(table({"all": agreement_of([(True, True), (False, False)])})))
        kind         n  both yes    only a    only b   both no  unscored       raw     kappa  positive
        all          2         1         0         0         1         0     1.000     1.000     1.000
    """
    width = max(map(len, ("kind", *found)))
    names = next(iter(found.values()))._fields
    lines = [f"{'kind':<{width}}" + "".join(f"{name.replace('_', ' '):>10}" for name in names)]
    for kind, row in found.items():
        lines.append(f"{kind:<{width}}" + "".join(f"{_show(value):>10}" for value in row))
    return lines


def _show(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "-" if math.isnan(value) else f"{value:.3f}"
