"""What the commands share: adding a command to the parser, and printing tables, notes, JSON and progress."""

import argparse
import inspect
import json
import logging
import math
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias

from tqdm import tqdm

from tls_tasks.core.atomic import atomic_write_text
from tls_tasks.core.terminal import visible, visible_lines

Subparsers: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
"""What ``ArgumentParser.add_subparsers`` returns."""

Run = Callable[[argparse.Namespace], int | None]
"""What a command does with its arguments; returns the exit code, None for 0."""


def add_command(subparsers: Subparsers, name: str, run: Run) -> argparse.ArgumentParser:
    """Add a command.

    Args:
        subparsers: Where to add it.
        name: What the user types.
        run: Called with the parsed arguments; returns the exit code, None for 0. Its docstring is the command's
            ``--help``, and the first line stands in the list of commands; it ends with an example.

    Returns:
        The command's parser, to which its arguments are added.

    Example:
        >>> def count(args: argparse.Namespace) -> int:
        ...     "Count to N."
        ...     return args.n
        >>> parser = argparse.ArgumentParser(prog="tls-tasks")
        >>> subparsers = parser.add_subparsers()
        >>> _ = add_command(subparsers, "count", count).add_argument("n", type=int)
        >>> args = parser.parse_args(["count", "3"])
        >>> args.run(args)
        3
    """
    text, layout = inspect.cleandoc(run.__doc__ or ""), argparse.RawDescriptionHelpFormatter
    parser = subparsers.add_parser(name, description=text, formatter_class=layout)
    parser.set_defaults(run=run)
    return parser


def note(command: str, *messages: object) -> int:
    """Print messages about the input on stderr, one a line, so that stdout holds results only.

    Returns:
        The exit code of a command that may find problems: 1 if there is a message, else 0.
    """
    for message in messages:
        say(f"tls-tasks {command}: {visible(str(message))}", file=sys.stderr)
    return int(bool(messages))


@contextmanager
def warnings_as_notes(command: str) -> Iterator[None]:
    """Print warnings as notes, each once, without Python's file and line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    note(command, *dict.fromkeys(str(warning.message) for warning in caught))


def say(text: object, *, file: TextIO | None = None, flush: bool = False) -> None:
    r"""Print, so that no character of the text is obeyed by a terminal; all that commands print goes through here.

    Newlines stay, since they are our layout: a value from elsewhere first goes through
    :func:`~tls_tasks.core.terminal.visible` (tables and :func:`note` do that by themselves).

    Example:
        >>> say("model \x1b[2J")
        model \x1b[2J
    """
    print(visible_lines(str(text)), file=file, flush=flush)


class VisibleFormatter(logging.Formatter):
    """What is logged while a command runs, with what it quotes made visible."""

    def format(self, record: logging.LogRecord) -> str:
        """The text of a record."""
        return visible_lines(super().format(record))


_PLURALS = {"criterion": "criteria"}
"""Those that have no s."""


def count(n: int, what: str) -> str:
    """A number of things.

    Example:
        >>> count(1, "task"), count(2, "task"), count(2, "criterion")
        ('1 task', '2 tasks', '2 criteria')
    """
    return f"{n} {what if n == 1 else _PLURALS.get(what, f'{what}s')}"


def number(value: float, digits: int = 4) -> str:
    """A number with four decimals; ``NaN`` for what could not be computed.

    Example:
        >>> number(0.12345), number(float("nan"))
        ('0.1235', 'NaN')
    """
    return "NaN" if math.isnan(value) else f"{value:.{digits}f}"


def write_json(path: Path, value: Any) -> None:
    """Write a JSON file, or print it if the path is ``-``; numbers that JSON does not have (NaN) become null."""
    text = json.dumps(plain(value), indent=2, ensure_ascii=False)
    if str(path) == "-":
        say("".join(one if one.isprintable() or one == "\n" else json.dumps(one)[1:-1] for one in text))
    else:
        atomic_write_text(path, text + "\n")


def plain(value: Any) -> Any:
    """A value for JSON, which has no NaN: what is undefined is null."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def progress(items: Iterable[Any], what: str, n_items: int) -> Iterable[Any]:
    """The items, with a progress bar if stderr is a terminal and the work takes longer than a moment.

    Example:
        >>> list(progress([1, 2], "documents", 2))
        [1, 2]
    """
    # disable=None: only where stderr is no terminal
    bar: Iterable[Any] = tqdm(items, desc=what, total=n_items, leave=False, delay=0.5, disable=None)
    return bar


_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


def no_formula(text: str) -> str:
    """A cell that a spreadsheet would take for a formula, after an apostrophe; numbers stay numbers.

    Example:
        >>> no_formula("=1+1"), no_formula("-5"), no_formula("egypt")
        ("'=1+1", '-5', 'egypt')
    """
    return f"'{text}" if text.startswith(_FORMULA) and not _NUMBER.fullmatch(text) else text
