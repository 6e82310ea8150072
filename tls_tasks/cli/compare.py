"""``tls-tasks compare``: is one system better than another on the same documents?"""

from __future__ import annotations

import argparse
import dataclasses
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tls_tasks.cli.base import Subparsers, add_command, count, note, number, progress, say, write_json
from tls_tasks.core.terminal import visible
from tls_tasks.core.text_table import text_table

if TYPE_CHECKING:
    from tls_tasks.after.comparisons import System, TaskComparison
    from tls_tasks.core.significance import Settings


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "compare", _run)
    parser.add_argument("systems", nargs="+", type=Path, metavar="RUN", help="a samples file, or the folder of one run")
    parser.add_argument("--task", action="append", metavar="NAME", help="only this task (may be repeated)")
    parser.add_argument("--metric", action="append", metavar="KEY", help="only this metric (may be repeated)")
    parser.add_argument("--by-document", action="store_true", help="treat documents on one topic as independent")
    parser.add_argument("--permutations", type=int, default=10_000, metavar="N", help="random exchanges (10000)")
    parser.add_argument("--resamples", type=int, default=1_000, metavar="N", help="bootstrap resamples (1000)")
    parser.add_argument("--confidence", type=float, default=0.95, metavar="P", help="of the intervals (0.95)")
    parser.add_argument("--seed", type=int, default=12345, help="random seed (12345)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all results as JSON; - for stdout")


def _run(args: argparse.Namespace) -> int:
    """Test whether one system is better than another on the same documents.

    Compares the first run with each of the others, on the metrics as they are reported. Gives p-values of a paired
    approximate randomisation test (exact for up to 14 units), confidence intervals of the differences, and Holm's
    correction where there are more than two systems. Documents on the same topic are not independent, so they are
    exchanged and resampled together.

    Exit codes: 0 compared; 1 compared, but a log has problems; 2 not compared, e.g. because the documents differ

    Examples:
      tls-tasks compare out/base out/better
      tls-tasks compare out/a out/b out/c --metric ar1_f1 --metric date_f1 --json comparison.json
      tls-tasks compare out/a out/b --task summ_qmsum --permutations 100000
    """
    from tls_tasks.after.comparisons import compare_systems, read_system
    from tls_tasks.core.options import LEAST_BOOTSTRAP
    from tls_tasks.core.significance import Settings

    settings = Settings(args.permutations, args.resamples, args.confidence, args.seed)
    systems = [read_system(path, tasks=args.task, progress=progress) for path in args.systems]
    comparisons = compare_systems(systems, keys=args.metric, by_document=args.by_document, settings=settings)
    problems = [problem for system in systems for task in system.tasks.values() for problem in task.problems]
    _note_of_runs(args.systems, systems)
    note("compare", *problems)
    if str(args.json) != "-":
        say("\n".join(_text(comparison, holm=len(systems) > 2) for comparison in comparisons))
        say(
            f"two-sided paired randomisation test, {settings.n_permutations} random exchanges (all exchanges for 14 "
            f"units or fewer); {settings.confidence:.0%} intervals of paired differences, jackknife-t (of "
            f"{LEAST_BOOTSTRAP} units or more bootstrap, {settings.n_resamples} resamples); seed {settings.seed}"
        )
    if args.json is not None:
        write_json(args.json, [_as_dict(comparison, settings) for comparison in comparisons])
    return int(bool(problems))


def _note_of_runs(places: list[Path], systems: list[System]) -> None:
    """Say which file was taken where there were several, and that a run is compared with itself."""
    for place, system in zip(places, systems, strict=True):
        for name, task in system.tasks.items():
            if len([*place.rglob(f"samples_{name}_[0-9]*.jsonl")]) > 1:
                note("compare", f"{place} has several runs of {name}; the newest is compared: {task.log.path}")
    used = [task.log.path.resolve() for system in systems for task in system.tasks.values()]
    if len(set(used)) < len(used):
        note("compare", "the same run is given more than once")


def _text(comparison: TaskComparison, holm: bool) -> str:
    sizes = count(comparison.n_documents, "document")
    if comparison.n_units < comparison.n_documents:
        sizes += f", {count(comparison.n_units, comparison.unit)}"
    head = f"{comparison.task}: first {visible(comparison.first)}, second {visible(comparison.second)}; {sizes}"
    rows = [["metric", "first", "second", "difference", "interval", "p", "p (Holm)"]]
    for result, adjusted in zip(comparison.differences, comparison.adjusted, strict=True):
        interval = f"[{result.interval.low:+.4f}, {result.interval.high:+.4f}]" if result.interval else "-"
        p_values = ["-" if math.isnan(p) else f"{p:.4f}" for p in (result.p_value, adjusted)]
        values = [number(result.first), number(result.second), f"{result.difference:+.4f}"]
        rows.append([result.key, *values, interval, *p_values])
    if not holm:  # nothing to correct for
        rows = [row[:-1] for row in rows]
    return "\n".join([head, text_table(rows), *comparison.warnings, ""])


def _as_dict(comparison: TaskComparison, settings: Settings) -> dict[str, Any]:
    names = ("task", "first", "second", "n_documents", "n_units", "unit")
    return {
        **{name: getattr(comparison, name) for name in names},
        **dataclasses.asdict(settings),
        "warnings": comparison.warnings,
        "metrics": [
            {
                "metric": result.key,
                "first": result.first,
                "second": result.second,
                "difference": result.difference,
                "interval": result.interval,
                "p_value": result.p_value,
                "p_value_holm": adjusted,
                "exact": result.exact,
            }
            for result, adjusted in zip(comparison.differences, comparison.adjusted, strict=True)
        ],
    }
