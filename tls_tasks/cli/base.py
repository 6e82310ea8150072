"""What the commands share: how a command is added to the parser, and where its help comes from."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

Run = Callable[[argparse.Namespace], int]
"""What a command does with its arguments; returns the exit code."""


def add_command(
    subparsers: Subparsers, name: str, run: Run, *, summary: str, description: str
) -> argparse.ArgumentParser:
    """Add a command.

    Args:
        subparsers: What ``ArgumentParser.add_subparsers`` returned.
        name: What the user types.
        run: Called with the parsed arguments; its return value is the exit code.
        summary: One line for the list of commands.
        description: The text of ``tls-tasks NAME --help``, printed as it stands; ends with an example.

    Returns:
        The command's parser, for its arguments.

    Example:
        >>> parser = argparse.ArgumentParser(prog="tls-tasks")
        >>> subparsers = parser.add_subparsers()
        >>> command = add_command(subparsers, "count", lambda args: args.n, summary="count", description="Count to n.")
        >>> _ = command.add_argument("n", type=int)
        >>> args = parser.parse_args(["count", "3"])
        >>> args.run(args)
        3
    """
    parser = subparsers.add_parser(
        name, help=summary, description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.set_defaults(run=run)
    return parser
