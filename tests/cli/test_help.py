"""Every command can be worked from its own help."""

import argparse

import pytest

from tls_tasks.cli import _parser


def commands():
    [subparsers] = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return subparsers.choices


@pytest.mark.parametrize("name", sorted(commands()))
def test_the_help_is_enough_to_work_from(name):
    parser = commands()[name]
    text = parser.format_help()
    assert f"tls-tasks {name}" in text.split("xample", 1)[-1], "an example of the command itself"
    for action in parser._actions:
        is_named_in_the_text = action.metavar and str(action.metavar) in (parser.description or "")
        assert action.help or is_named_in_the_text, f"{name}: nothing is said of {action.dest}"


@pytest.mark.parametrize("name", ["verify", "leaderboard", "compare", "page", "score", "submit"])
def test_what_the_user_names_is_in_capitals(name):
    named = [action.metavar or action.dest for action in commands()[name]._actions if not action.option_strings]
    assert named and all(map(str.isupper, named))


def test_every_command_is_in_the_list():
    assert {"score", "compare", "page", "report", "submit", "verify", "leaderboard", "list"} <= set(commands())
