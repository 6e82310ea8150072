"""The command line, ``tls-tasks COMMAND``.

A command is a module of this package, named in :data:`COMMAND_MODULES`, with two functions: ``add_parser(subparsers)``
adds one command or more and sets ``run`` as a default of each (:func:`tls_tasks.cli.base.add_command` does);
``run(args)`` does the work and returns the exit code. Heavy imports belong into ``run``: every start reads all parsers.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from tls_tasks import __version__
from tls_tasks.core.errors import TlsTasksError

COMMAND_MODULES = (
    "install",
    "listing",
    "prepare",
    "evidence",
    "trees",
    "judge",
    "agree",
    "documents",
    "score",
    "compare",
    "report",
    "submit",
    "leaderboard",
)
"""The modules with commands, in the order of ``--help``."""

_DESCRIPTION = (
    "Scores for long-form model output: lm_eval tasks, evaluate modules, and what comes before and after a run."
)

_EPILOG = """\
exit codes:
  0   done
  1   done, and the answer is no: a check found a problem
  2   not done: wrong arguments or input; one line on stderr says what and where
  130 interrupted

examples:
  tls-tasks doctor
  lm_eval --tasks tls_crisis --model dummy --include_path "$(tls-tasks path)"
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: The arguments, without the program's name; None: those of the process.

    Returns:
        The exit code, see ``tls-tasks --help``.

    Raises:
        SystemExit: From argparse: 0 after ``--help`` and ``--version``, 2 after wrong arguments.

    Example:
        >>> main(["path", "metrics"])  # doctest: +ELLIPSIS
        /...metrics
        0
    """
    args = _parser().parse_args(argv)
    try:
        code = int(args.run(args))
        sys.stdout.flush()  # a reader that is gone shows here, not while Python shuts down
    except BrokenPipeError:  # `tls-tasks … | head`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except (TlsTasksError, OSError) as error:
        print(f"tls-tasks {args.command}: {' '.join(_said(error).split())}", file=sys.stderr)
        return 2
    return code


def _said(error: Exception) -> str:
    """The error in words; of the operating system's the file first, as in all other messages."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="tls-tasks",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"tls-tasks {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for module in COMMAND_MODULES:
        importlib.import_module(f"{__name__}.{module}").add_parser(subparsers)
    return parser
