"""``tls-tasks meta``: how far a metric agrees with people's ratings."""

import argparse
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.after.comparisons import read_systems, scores_of
from tls_tasks.after.logs import labelled
from tls_tasks.after.meta import LEVELS, SWAPS, WITHIN, meta
from tls_tasks.after.run import Run
from tls_tasks.cli.base import Subparsers, add_command, count, note, progress, say, write_json
from tls_tasks.cli.printed import columns_table
from tls_tasks.core.errors import InputError
from tls_tasks.core.significance import smallest_p

_LEFT_OUT = ("answers without a rating", "ratings without a score", "documents without an order")
_SIGNIFICANT = 0.05
_SIZES = ("less than .01 apart", ".01 to .02 apart", ".02 or more apart")


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    add = add_command(subparsers, "meta", _run).add_argument
    add("systems", nargs="+", metavar="LABEL=RUN", help="a system as FILE calls it, and its log or the folder of a run")
    add("--people", type=Path, required=True, metavar="FILE", help="ratings, CSV or JSONL: system, id, rating; aspect")
    add("--metric", action="append", metavar="NAME", help="compare this metric (the task's headline; repeatable)")
    add("--task", metavar="NAME", help="the task that people rated, where runs have several")
    add("--swap", choices=tuple(SWAPS), default="systems", help="what p-values exchange: systems (default), or cells")
    add("--json", action="store_true", help="print all statistics as JSON; undefined values are null")


def _run(args: argparse.Namespace) -> int:
    """Tell how far a metric agrees with people who rated the same answers.

    FILE has a row a rating with the columns system (a LABEL), id (the document's name), rating, and aspect where there
    are several; the ratings of one answer by several raters are averaged. What one side lacks is left out and counted;
    FILE may rate more systems.
    Where a log says that less of a metric is better, its values are taken negative.

    Prints Kendall's tau-b with 95 % intervals. By system: do the systems' means stand in people's order? By document:
    do the answers to a document? (Where each has one answer: within system, do its answers?) Below, the pairs of
    systems in people's order by their difference in score. --json adds Pearson's r, the share of pairs in people's
    order, and what was left out or undefined. Intervals resample systems and documents together; fewer than five
    systems have none by system, fewer than three no value. Of several metrics the p-values say whether one agrees
    better: by exchanging whole systems, about systems like these; cells, about these systems and documents alone.

    Exit codes: 0 told; 1 told, but a log has problems (named on stderr); 2 failed

    Examples:
      tls-tasks meta lead=out/lead gpt=out/gpt small=out/small --people ratings.csv
      tls-tasks meta a=out/a b=out/b c=out/c --people ratings.jsonl --metric rouge_l_f1 --metric rouge_l_recall --json
    """
    runs = _read(args.systems, args.task)
    found = meta(scores_of(runs, args.metric), args.people, swap=args.swap)
    if args.json:
        write_json(Path("-"), found)
    else:
        say("\n".join(_agreement(found)))
    return note(args.command, *(problem for run in runs.values() for problem in run.problems))


def _read(named: Sequence[str], task: str | None) -> dict[str, Run]:
    """Label -> its run of the one task; plain rows are a task called as their file is."""
    runs: dict[str, Run] = {}
    for text in named:
        label, _ = labelled(text)
        if not label or label in runs:
            raise InputError("arguments", None, repr(text), "LABEL=RUN, each label once")
        tasks = read_systems(text, tasks=[task] if task else None, progress=progress)[0].tasks
        if len(tasks) > 1:
            raise InputError("--task", None, "nothing", f"the one that people rated, of {', '.join(tasks)}")
        (runs[label],) = tasks.values()
    return runs


def _agreement(found: Mapping[str, Any]) -> Iterator[str]:
    """Yield five lines an aspect, a column a metric; then what was left out, the tests, and how all was made."""
    for aspect, one in found["aspects"].items():
        counts = next(iter(one["metrics"].values()))["counts"]
        n, tests = counts["systems"], one["tests"]
        sizes = f"{count(n, 'system')}, {count(counts['documents'], 'document')}"
        columns = {key: dict(_lines(own)) for key, own in one["metrics"].items()}
        yield columns_table(columns, f"people's {aspect} ({sizes})")
        is_within = WITHIN in next(iter(one["metrics"].values()))
        if out := [f"{name}: {counts[name]}" for name in _LEFT_OUT[: 2 if is_within else 3] if counts[name]]:
            yield f"left out: {', '.join(out)}"
        for test in tests:
            gaps = ((level, test["difference"][level]["tau_b"], test["p_value"][level]["tau_b"]) for level in LEVELS)
            told = [f"{level.replace('_', ' ')} {gap:+.2f} (p {p:.2g})" for level, gap, p in gaps if not math.isnan(p)]
            yield f"tau of {test['first']} less that of {test['second']}: {', '.join(told) or 'undefined'}"
        yield ""
    method = f"{found['n_resamples']:,} resamples of systems and documents, seed {found['seed']}"
    yield f"Kendall's tau-b; 95% intervals: {method}"
    if any(one["tests"] for one in found["aspects"].values()):
        least = smallest_p(n) if found["swap"] == "systems" else 0
        few = f"; {n} systems can give none below {least:g}" if least >= _SIGNIFICANT else ""
        yield f"p: {SWAPS[found['swap']]}{few}"


def _lines(own: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield what is printed of a metric: name and text."""
    for level in ("by_system", WITHIN if WITHIN in own else "by_document"):
        ends = own[level]["tau_b_ci"]
        value = f"{own[level]['tau_b']:.2f}".replace("nan", "-")
        yield level.replace("_", " "), value + (" [{:.2f}, {:.2f}]".format(*ends) if ends else "")
    for size, row in zip(_SIZES, own["near"], strict=True):
        if row["pairs"]:
            yield f"in people's order, {size}", f"{row['in_peoples_order']:g} of {row['pairs']} pairs"
