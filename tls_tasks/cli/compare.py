"""``tls-tasks compare``: does one system beat another on the same documents?"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.after.comparisons import TaskComparison
    from tls_tasks.cli.base import Subparsers

_DESCRIPTION = """\
Compare runs on the same documents, the first against each of the others, by the numbers that are reported: paired
approximate randomisation (exact where all exchanges of up to 14 units can be tried), a paired bootstrap interval of the
difference, and Holm's adjustment where there are several systems. Documents of one topic are exchanged and drawn
together, since they are not independent.

exit codes: 0 compared; 1 compared, and something is wrong with a log; 2 not compared: the documents differ

examples:
  tls-tasks compare out/base out/better
  tls-tasks compare out/a out/b out/c --metric ar1_f1 --metric date_f1 --json comparison.json
  tls-tasks compare out/a out/b --task summ_qmsum --permutations 100000
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "compare", run, summary="paired significance tests between runs", description=_DESCRIPTION
    )
    parser.add_argument("systems", nargs="+", type=Path, metavar="RUN", help="samples, or a folder with one run each")
    parser.add_argument("--task", action="append", metavar="NAME", help="only this task (repeat for several)")
    parser.add_argument("--metric", action="append", metavar="KEY", help="only this metric (repeat for several)")
    parser.add_argument("--by-document", action="store_true", help="take documents of one topic as independent")
    parser.add_argument("--permutations", type=int, default=10_000, metavar="N", help="random exchanges (10000)")
    parser.add_argument("--resamples", type=int, default=1_000, metavar="N", help="resamples of the interval (1000)")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="P", help="of the interval (0.95)")
    parser.add_argument("--seed", type=int, default=12345, help="seed of both (12345)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON; - for stdout")


def run(args: argparse.Namespace) -> int:
    """Compare and print.

    Returns:
        0, or 1 if something is wrong with a log.

    Raises:
        TlsTasksError: If there is nothing to compare, or the systems did not answer the same documents.
    """
    from tls_tasks.after.comparisons import compare_systems, read_system
    from tls_tasks.after.scored_runs import problems_of
    from tls_tasks.cli.progress import progress
    from tls_tasks.cli.score import write_text
    from tls_tasks.core.significance import Settings

    settings = Settings(args.permutations, args.resamples, args.confidence, args.seed)
    systems = [read_system(path, tasks=args.task, progress=progress) for path in args.systems]
    comparisons = compare_systems(systems, keys=args.metric, by_document=args.by_document, settings=settings)
    n_problems = 0
    for system in systems:
        for problem in (problem for task in system.tasks.values() for problem in problems_of(task)):
            n_problems += 1
            print(f"tls-tasks compare: {problem}", file=sys.stderr)
    if str(args.json) != "-":
        print("\n".join(comparison_text(comparison) for comparison in comparisons))
        print(_footer(args))
    if args.json is not None:
        write_text(args.json, json.dumps([as_dict(one) for one in comparisons], indent=2, ensure_ascii=False))
    return int(n_problems > 0)


def comparison_text(comparison: TaskComparison) -> str:
    """A table a pair of systems."""
    head = (
        f"{comparison.task}: {comparison.second} against {comparison.first}, {comparison.n_documents} documents, "
        f"{comparison.n_units} {comparison.unit}s"
    )
    rows = [("metric", "first", "second", "difference", "interval", "p", "p (Holm)")]
    for one, adjusted in zip(comparison.differences, comparison.adjusted, strict=True):
        interval = f"[{one.interval.low:+.4f}, {one.interval.high:+.4f}]" if one.interval else "-"
        numbers = (_number(one.first), _number(one.second), f"{one.difference:+.4f}")
        rows.append((one.key, *numbers, interval, _p(one.p_value), _p(adjusted)))
    n_columns = len(rows[0]) - (comparison.n_systems <= 2)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:n_columns]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=False)).rstrip() for row in rows]
    return "\n".join([head, *lines, *comparison.warnings, ""])


def as_dict(comparison: TaskComparison) -> dict[str, Any]:
    """One comparison as plain values; what could not be computed is null."""
    return {
        "task": comparison.task,
        "first": comparison.first,
        "second": comparison.second,
        "n_documents": comparison.n_documents,
        "n_units": comparison.n_units,
        "unit": comparison.unit,
        "seed": comparison.settings.seed,
        "n_permutations": comparison.settings.n_permutations,
        "n_resamples": comparison.settings.n_resamples,
        "confidence": comparison.settings.confidence,
        "warnings": list(comparison.warnings),
        "metrics": [
            {
                "metric": one.key,
                "first": _finite(one.first),
                "second": _finite(one.second),
                "difference": _finite(one.difference),
                "interval": list(one.interval) if one.interval else None,
                "p_value": _finite(one.p_value),
                "p_value_holm": _finite(adjusted),
                "exact": one.exact,
            }
            for one, adjusted in zip(comparison.differences, comparison.adjusted, strict=True)
        ],
    }


def _footer(args: argparse.Namespace) -> str:
    return (
        f"two-sided paired randomisation, at most {args.permutations} exchanges (all of them for 14 units or fewer); "
        f"{args.confidence:.0%} paired bootstrap interval, {args.resamples} resamples; seed {args.seed}"
    )


def _number(value: float) -> str:
    return "NaN" if math.isnan(value) else f"{value:.4f}"


def _p(value: float) -> str:
    return "-" if math.isnan(value) else f"{value:.4f}"


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value
