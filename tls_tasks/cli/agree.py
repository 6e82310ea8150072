"""``tls-tasks agree A B``: how far two judges' verdicts agree."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.cli.base import Subparsers
    from tls_tasks.reports.agreement import Agreement, Judgment

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

_COLUMNS = ("n", "both_yes", "only_a", "only_b", "both_no", "unscored", "raw", "kappa", "positive")


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
    from tls_tasks.reports.agreement import agreement

    a, b = read_judgments(args.a), read_judgments(args.b)
    found = agreement(a, b, common=args.common)
    if args.json:
        print(json.dumps({kind: _plain(row) for kind, row in found.items()}, indent=2))
        return 0
    print(f"A: {args.a} ({len(a)} verdicts)\nB: {args.b} ({len(b)} verdicts)\n")
    print("\n".join(table(found)))
    return 0


def read_judgments(path: Path) -> list[Judgment]:
    """The lines of a recording as judgments.

    Raises:
        DataError: A file that can't be read, or a line without a known kind or with a verdict that is none.
    """
    from tls_tasks.core.errors import DataError, OptionError
    from tls_tasks.reports.agreement import PARTS, Judgment
    from tls_tasks.reports.judges.files import read_rows
    from tls_tasks.reports.judges.recordings import KIND_NAMES
    from tls_tasks.reports.judges.verdicts import read_verdict

    judgments = []
    for place, row in read_rows(path):
        kind, word, key = row.get("kind"), row.get("verdict"), row.get("key")
        if not isinstance(kind, str) or kind not in KIND_NAMES:
            raise DataError(f"{place}: {OptionError.unknown('kind', kind, KIND_NAMES)}")
        if word is not None and not isinstance(word, str | bool):
            raise DataError(f"{place}: verdict: got {word!r:.60}, expected YES, NO or null")
        nested = [value for name in ("about", "fields") if isinstance(value := row.get(name), dict)]
        known: dict[str, object] = {}
        for source in (*nested[:1], row, *nested[1:]):
            known |= source
        if "fields" in row and "sentence" not in row["fields"]:
            known.pop("sentence", None)  # the number of the sentence, not its text
        parts = {name: str(known[name]) for name in PARTS if known.get(name) is not None}
        value = read_verdict(word) if isinstance(word, str) else word
        judgments.append(Judgment(KIND_NAMES[kind], parts, key if isinstance(key, str) else "", value))
    return judgments


def table(found: dict[str, Agreement]) -> list[str]:
    """The lines of a table, one a kind.

    Example:
        >>> from tls_tasks.reports.agreement import Agreement
        >>> print(table({"all": Agreement(1, 0, 0, 1)})[1].split())
        ['all', '2', '1', '0', '0', '1', '0', '1.000', '1.000', '1.000']
    """
    width = max(len("kind"), *map(len, found))
    lines = [f"{'kind':<{width}}" + "".join(f"{name.replace('_', ' '):>10}" for name in _COLUMNS)]
    for kind, row in found.items():
        values = row.as_dict()
        lines.append(f"{kind:<{width}}" + "".join(f"{_show(values[name]):>10}" for name in _COLUMNS))
    return lines


def _show(value: float) -> str:
    if isinstance(value, int):
        return str(value)
    return "-" if math.isnan(value) else f"{value:.3f}"


def _plain(row: Agreement) -> dict[str, float | None]:
    return {name: None if math.isnan(value) else value for name, value in row.as_dict().items()}
