"""The command line, ``tls-tasks COMMAND``.

A command is a module of this package, named in :data:`COMMAND_MODULES`. Its ``add_parser(subparsers)`` adds the command
(and its relatives, such as ``verify`` beside ``submit``) by :func:`tls_tasks.cli.base.add_command`, with the function
that does the work and returns the exit code. That function's docstring is the command's ``--help``, and heavy imports
belong in its body: every start builds all parsers.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import sys

from tls_tasks import __version__
from tls_tasks.cli.base import note
from tls_tasks.core.errors import TlsTasksError

COMMAND_MODULES = (
    "doctor",
    "listing",
    "fetch",
    "fingerprint",
    "prepare",
    "evidence",
    "trees",
    "judge",
    "agree",
    "documents",
    "score",
    "compare",
    "page",
    "submit",
    "leaderboard",
)
"""The modules of the commands, in the order of ``--help``."""

_DESCRIPTION = (
    "Scores for long-form model output: lm_eval tasks, evaluate modules, and tools for before and after a run."
)

_EPILOG = """\
Exit codes:
  0   done
  1   done, but a check failed or a problem was found; see stderr
  2   failed: wrong arguments or input; one line on stderr says what and where
  130 interrupted

Examples:
  tls-tasks doctor
  lm_eval --tasks tls_crisis --model dummy --include_path "$(tls-tasks path)"
"""


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: The arguments without the program's name; None: those of the process.

    Returns:
        The exit code, see ``tls-tasks --help``.

    Raises:
        SystemExit: From argparse: 0 after ``--help`` and ``--version``, 2 after wrong arguments.

    Example:
        >>> main(["path", "metrics"])  # doctest: +ELLIPSIS
        /...metrics
        0
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # help and model text may hold what the terminal's encoding lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    args = _parser().parse_args(argv)
    try:
        code = int(args.run(args))
        sys.stdout.flush()  # so that a closed pipe raises here, not while Python shuts down
    except BrokenPipeError:  # `tls-tasks … | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except (TlsTasksError, OSError) as error:
        note(args.command, " ".join(_message(error).split()))
        return 2
    return code


def _message(error: Exception) -> str:
    """The error's text; in errors of the operating system the file comes first, as in all other messages."""
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
