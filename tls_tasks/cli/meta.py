"""``tls-tasks meta``: how far a metric agrees with people's ratings."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tls_tasks.after.comparisons import read_systems, scores_of
from tls_tasks.after.logs import labelled
from tls_tasks.after.meta import LEVELS, meta
from tls_tasks.after.run import Run
from tls_tasks.cli.base import Subparsers, add_command, note, progress, say, write_json
from tls_tasks.cli.printed import columns_table
from tls_tasks.core.errors import InputError


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    add = add_command(subparsers, "meta", _run).add_argument
    add("systems", nargs="+", metavar="LABEL=RUN", help="a system as FILE calls it, and its log or the folder of a run")
    add("--people", type=Path, required=True, metavar="FILE", help="ratings, CSV or JSONL: system, id, rating; aspect")
    add("--metric", action="append", metavar="NAME", help="compare this metric (the task's headline; repeatable)")
    add("--task", metavar="NAME", help="the task that people rated, where runs have several")
    add("--json", action="store_true", help="print JSON instead of tables; undefined values are null")


def _run(args: argparse.Namespace) -> int:
    """Tell how far a metric agrees with people who rated the same answers.

    FILE has a row a rating with the columns system (a LABEL), id (the document's name), rating, and aspect where there
    are several; the ratings of one answer by several raters are averaged. What one side lacks is left out and counted.
    Where a log says that less of a metric is better, its values are taken negative.

    By system: do the systems' means stand in people's order? By document: do the answers to a document? Both give
    Kendall's tau-b, Pearson's r, and the share of pairs in people's order (pairs that people tie are left out, those
    that the metric ties count half). Intervals resample systems and documents together; fewer than five systems have
    none by system, fewer than three no value. Of several metrics the p-values say whether one agrees better.

    Exit codes: 0 told; 1 told, but a log has problems (named on stderr); 2 failed

    Examples:
      tls-tasks meta lead=out/lead gpt=out/gpt small=out/small --people ratings.csv
      tls-tasks meta a=out/a b=out/b c=out/c --people ratings.jsonl --metric rouge_l_f1 --metric rouge_l_recall --json
    """
    runs = _read(args.systems, args.task)
    found = meta(scores_of(runs, args.metric), args.people)
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
    """A table an aspect: a column a metric; then the tests."""
    for aspect, one in found["aspects"].items():
        yield columns_table({key: _told(own) for key, own in one["metrics"].items()}, f"people's {aspect}")
        for test in one["tests"]:
            gaps = ((level, test["difference"][level]["tau_b"], test["p_value"][level]["tau_b"]) for level in LEVELS)
            told = ", ".join(f"{level} {gap:+.4f} (p {p_value:.4f})" for level, gap, p_value in gaps)
            yield f"tau_b of {test['first']} less that of {test['second']}: {told}"
        yield ""
    yield f"95% intervals: {found['n_resamples']} resamples of systems and documents; seed {found['seed']}"
    yield "p: as many permutations of cells; pairs that share a system are not independent, so their counts have none"


def _told(own: Mapping[str, Any]) -> dict[str, Any]:
    levels = (*LEVELS, "within_system")
    told = {f"{level} {name}": value for level in levels for name, value in own.get(level, {}).items()}
    for row in own["near"]:
        told["systems {from:g} to {to:g} apart".format(**row)] = "{in_peoples_order:g} of {pairs} pairs".format(**row)
    return {**told, **own["counts"]}
