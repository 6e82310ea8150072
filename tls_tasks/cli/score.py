"""``tls-tasks score``: logged answers scored again, and rows by other tools."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from tls_tasks.cli.base import add_command

if TYPE_CHECKING:
    from tls_tasks.after.scored_runs import ScoredTask
    from tls_tasks.cli.base import Subparsers
    from tls_tasks.core.score import Interval

_DESCRIPTION = """\
Score answers again that lm_eval has logged (--log_samples, --predict_only): no model is asked, and an untouched log
gives the numbers that lm_eval printed. Each broken line, missing or repeated document, and each number that differs
from the results file is named on stderr.

With --metric the files are rows by any other tool, one JSON object a line, with `prediction` and `reference` (or
`references`) and what else the metric takes a column of (`topic`, `source`).

With --verdicts the files are reports and their nuggets (or a samples log of report_generation), and the verdicts those
that `tls-tasks judge` wrote: nobody is asked, and a question without a verdict is unscored.
"""

_EPILOG = """\
exit codes: 0 scored; 1 scored, and something is wrong with a log (stderr says what); 2 not scored

examples:
  tls-tasks score out/                                  everything below a folder
  tls-tasks score out/m/samples_tls_crisis_2026-11-21T04-11-39.260879.jsonl --json -
  tls-tasks score out/ --newest --csv scores.csv --parquet scores.parquet
  tls-tasks score answers.jsonl --metric rouge_l --option tokenizer=unicode
  tls-tasks score reports.jsonl nuggets.jsonl --verdicts judged/verdicts.jsonl --documents docs.jsonl
"""


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(
        subparsers, "score", run, summary="score logged answers again", description=_DESCRIPTION + "\n" + _EPILOG
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="samples, results, or folders with them")
    parser.add_argument("--task", help="take every samples file as one of this task of ours")
    parser.add_argument("--newest", action="store_true", help="of several runs in a folder the newest of each task")
    parser.add_argument("--metric", help="the files are rows by another tool; score them with this metric")
    parser.add_argument(
        "--option",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an option of --metric; VALUE is JSON or text",
    )
    parser.add_argument(
        "--verdicts", type=Path, metavar="FILE", help="the files are reports; score them by these verdicts"
    )
    parser.add_argument("--documents", action="append", metavar="PLACE", help="with --verdicts: the cited documents")
    parser.add_argument("--confidence", type=float, metavar="P", help="give bootstrap intervals, e.g. 0.95")
    parser.add_argument("--resamples", type=int, default=1000, metavar="N", help="resamples of the intervals (1000)")
    parser.add_argument("--seed", type=int, default=12345, help="seed of the intervals (12345)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write everything as JSON; - for stdout")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a table, one row a document and metric")
    parser.add_argument("--parquet", type=Path, metavar="FILE", help="the same as Parquet")


def run(args: argparse.Namespace) -> int:
    """Score, print and write.

    Returns:
        0, or 1 if something is wrong with a log.

    Raises:
        TlsTasksError: If there is nothing to score, or an option is impossible.
    """
    if args.verdicts is not None:
        from tls_tasks.cli.score_reports import run_reports

        return run_reports(args)
    if args.metric is not None:
        from tls_tasks.cli.score_rows import run_rows

        return run_rows(args)
    from tls_tasks.after.scored_runs import problems_of, score_places
    from tls_tasks.cli.progress import progress
    from tls_tasks.cli.score_tables import as_json, write_csv, write_parquet
    from tls_tasks.cli.score_text import score_text

    scored = []
    n_problems = 0
    for task in score_places(args.files, task=args.task, newest=args.newest, progress=progress):
        intervals = _intervals(task, args)
        scored.append((task, intervals))
        if str(args.json) != "-":
            print(score_text(task, intervals))
        for problem in problems_of(task):
            n_problems += 1
            print(f"tls-tasks score: {problem}", file=sys.stderr)
    if args.json is not None:
        write_text(args.json, as_json(scored))
    if args.csv is not None:
        write_csv([task for task, _ in scored], args.csv)
    if args.parquet is not None:
        write_parquet([task for task, _ in scored], args.parquet)
    return int(n_problems > 0)


def write_text(path: Path, text: str) -> None:
    """Write a file, or print it for ``-``."""
    if str(path) == "-":
        print(text)
    else:
        path.write_text(text + "\n", encoding="utf-8", errors="surrogateescape")


def _intervals(task: ScoredTask, args: argparse.Namespace) -> Mapping[str, Interval]:
    """Intervals over topics where there are topics, else over documents."""
    if args.confidence is None or not task.score.ids:
        return {}
    return task.score.intervals(args.confidence, args.resamples, args.seed)
