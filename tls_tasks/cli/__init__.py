"""The command line, ``tls-tasks COMMAND``.

:data:`_GROUPS` names the module of each command. Its ``add_parser(subparsers)`` adds the command (and its relatives,
such as ``verify`` beside ``submit``) by :func:`tls_tasks.cli.base.add_command`, with the function that does the work
and returns the exit code (None: 0). That function's docstring is the command's ``--help``. A start imports the module
of its command only; ``tls-tasks --help`` imports all.
"""

import argparse
import importlib
import io
import json
import logging
import os
import re
import signal
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tls_tasks import __version__
from tls_tasks.cli.base import VisibleFormatter, note, say
from tls_tasks.core.errors import TlsTasksError, nearest

_GROUPS: Mapping[str, Mapping[str, str]] = json.loads(Path(__file__).with_name("commands.json").read_text("utf-8"))
"""The groups of ``--help``: module -> its commands."""

_MODULES = {name: module for group in _GROUPS.values() for module, names in group.items() for name in names.split()}

_EPILOG = Path(__file__).with_name("epilog.txt").read_text(encoding="utf-8")


def main(argv: list[str] | None = None, parser: argparse.ArgumentParser | None = None) -> int:
    """Run one command.

    Args:
        argv: The arguments without the program's name; None: those of the process.
        parser: That of a program of its own, which sets the defaults ``run`` and ``command``.

    Returns:
        The exit code, see ``tls-tasks --help``.

    Raises:
        SystemExit: From argparse: 0 after ``--help``, 2 after wrong arguments. 143 after SIGTERM.

    Example:
        >>> main(["path", "metrics"])  # doctest: +ELLIPSIS
        /...metrics
        0
    """
    if isinstance(sys.stdout, io.TextIOWrapper):  # help and model text may hold what the terminal's encoding lacks
        sys.stdout.reconfigure(errors="backslashreplace")
    if logging.lastResort is not None:  # what prints the warnings where nobody has set up logging
        logging.lastResort.setFormatter(VisibleFormatter())
    words = sys.argv[1:] if argv is None else argv
    command = parser.prog if parser else next((word for word in words if not word.startswith("-")), "")
    try:
        code = _run(words, command, parser)
        sys.stdout.flush()  # so that a closed pipe raises here, not while Python shuts down
    except BrokenPipeError:  # `tls-tasks … | head`: the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except KeyboardInterrupt:
        return 130
    except (TlsTasksError, OSError) as error:
        note(command, " ".join(_message(error).split()))
        return 2
    except MemoryError as error:
        note(command, f"there is too little memory: {error}")
        return 2
    return code


def _run(words: list[str], command: str, own: argparse.ArgumentParser | None) -> int:
    if words[:1] == ["--version"] and not own:  # no command is imported for it
        say(f"tls-tasks {__version__}")
        return 0
    parser = own or _parser(words[0] if words else "")
    if command and command not in _MODULES and not own:
        parser.error(f"no command {command!r}{nearest(command, _MODULES) or '; tls-tasks --help lists them'}")
    args = parser.parse_args(words)
    if args.command is None:
        parser.print_help()
        return 0
    with _ended_by_sigterm():
        return int(args.run(args) or 0)


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """Have SIGTERM raise, so that what is unfinished is removed as after an interrupt."""
    is_main_thread = threading.current_thread() is threading.main_thread()

    def end(number: int, _: object) -> None:
        signal.signal(number, signal.SIG_DFL)  # one is enough
        raise SystemExit(143)  # asyncio lets this through, and no other

    if not is_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _message(error: Exception) -> str:
    """The error's text; in errors of the operating system the file comes first, as in all other messages."""
    if isinstance(error, OSError) and error.strerror and error.filename is not None:
        return f"{error.filename}: {error.strerror[:1].lower()}{error.strerror[1:]}"
    return str(error)


def _parser(command: str = "") -> argparse.ArgumentParser:
    """The parser of a command, or of all where there is no such command."""
    usage, layout = "tls-tasks [--version] COMMAND …", argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("tls-tasks", usage, epilog=_EPILOG, formatter_class=layout)
    subparsers = parser.add_subparsers(
        prog="tls-tasks", dest="command", metavar="COMMAND", help="one of the above", title="arguments"
    )
    modules = [_MODULES[command]] if command in _MODULES else dict.fromkeys(_MODULES.values())
    for module in modules:
        importlib.import_module(f"{__name__}.{module}").add_parser(subparsers)
    lines = ["Scores for long model output: lm_eval tasks, evaluate modules, tools for before and after a run."]
    for title, group in _GROUPS.items() if command not in _MODULES else ():
        names = " ".join(group.values()).split()
        lines += ["", f"{title}:", *(line for name in names for line in _overview(subparsers.choices[name]))]
    parser.description = "\n".join(lines)
    return parser


def _overview(command: argparse.ArgumentParser) -> list[str]:
    """A command's line in the list, and its first example."""
    name, text = command.prog.split()[-1], command.description or ""
    example = re.search(r"^Examples?:\n +(tls-tasks .*?)(?:  |$)", text, re.MULTILINE)
    assert example is not None, f"{name}: its docstring ends in no example"
    return [f"  {name:<13}{text.partition(chr(10))[0]}", f"    {example[1]}"]
