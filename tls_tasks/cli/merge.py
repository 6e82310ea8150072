"""``tls-tasks merge``: the results of a log that was scored in shards."""

from __future__ import annotations

import argparse
from pathlib import Path

from tls_tasks.cli.base import Subparsers, add_command
from tls_tasks.cli.score import add_output, print_runs


def add_parser(subparsers: Subparsers) -> None:
    """Add the command."""
    parser = add_command(subparsers, "merge", _run)
    parser.add_argument(
        "parts", nargs="+", type=Path, metavar="PART", help="folders that `score --shard` made, all of them"
    )
    parser.add_argument(
        "--results", type=Path, metavar="FILE", help="the results file of the run, whose numbers are compared"
    )
    add_output(parser)


def _run(args: argparse.Namespace) -> int:
    """Give the results of a log that was scored in shards.

    PARTS are the folders that `tls-tasks score LOG --shard I/N -o PART` made, one of each shard. The numbers are those
    of the whole log, to the last bit. A shard that is missing, doubled, unfinished or of another log is an error.

    Exit codes: 0 merged; 1 merged, but the log has problems (named on stderr); 2 not merged

    Examples:
      tls-tasks merge part1 part2 part3 part4
    """
    from tls_tasks.after.logs import RunFiles, find_runs
    from tls_tasks.after.streamed import read_units
    from tls_tasks.after.units import read_header

    header = read_header(args.parts[0])
    run = RunFiles(Path(header.log.path).parent, "", None)
    if args.results:
        [run] = find_runs([args.results])
    return print_runs([read_units(args.parts, run, run.read_results([header.task]))], args)
