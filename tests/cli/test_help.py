"""Every command can be worked from its own help."""

import argparse
import re
import subprocess
import sys

import pytest

from tls_tasks.cli import _parser, main
from tls_tasks.registry import FAMILIES


def commands():
    [subparsers] = [action for action in _parser()._actions if isinstance(action, argparse._SubParsersAction)]
    return subparsers.choices


@pytest.mark.parametrize("name", sorted(commands()))
def test_the_help_is_enough_to_work_from(name):
    parser = commands()[name]
    text = parser.format_help()
    assert parser.prog in text.split("xample", 1)[-1], "an example of the command itself"
    for action in parser._actions:
        is_named_in_the_text = action.metavar and str(action.metavar) in (parser.description or "")
        assert action.help or is_named_in_the_text, f"{name}: nothing is said of {action.dest}"


@pytest.mark.parametrize("name", ["verify", "leaderboard", "compare", "page", "score", "submit"])
def test_what_the_user_names_is_in_capitals(name):
    named = [action.metavar or action.dest for action in commands()[name]._actions if not action.option_strings]
    assert named and all(map(str.isupper, named))


def test_the_tool_stays_small():
    """What a command or an option more buys must be worth one of those that there are."""
    options = [action for parser in commands().values() for action in parser._actions if action.option_strings]
    assert len(commands()) <= 18
    assert len([action for action in options if not isinstance(action, argparse._HelpAction)]) <= 116


def test_every_command_is_in_the_list():
    assert {"score", "compare", "page", "submit", "verify", "leaderboard", "list"} <= set(commands())


def test_alone_it_shows_an_example_of_each_command_the_families_first(capsys):
    assert main([]) == 0
    out, err = capsys.readouterr()
    titles = re.findall(r"^([a-z ]+):$", out, re.MULTILINE)
    assert titles[:4] == ["score what you have", "installation and data", "after a run", "submit"] and err == ""
    named = re.findall(r"^  ([a-z-]+) +[A-Z]", out, re.MULTILINE)
    assert named[:5] == [*FAMILIES]
    assert set(named) == {parser.prog.split()[-1] for parser in commands().values()}
    for name in named:
        assert re.search(rf"^ +tls-tasks {name} ?", out, re.MULTILINE), name
    with pytest.raises(SystemExit) as stop:
        main(["--help"])
    assert stop.value.code == 0 and capsys.readouterr().out == out


HEAVY = {"numpy", "scipy", "pyarrow", "pandas", "httpx", "openai", "rapidfuzz", "nltk", "torch", "transformers"}
HOSTS = {"lm_eval", "evaluate", "datasets", "inspect_ai", "ray"}


@pytest.mark.parametrize("command", ["list", "--version", "path"])
def test_what_only_tells_imports_nothing_heavy(command):
    code = f"import sys; from tls_tasks.cli import main; main([{command!r}]); print(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    modules = printed.splitlines()[-1].split()
    assert not (HEAVY | HOSTS) & set(modules)
    assert not [name for name in modules if re.fullmatch(r"tls_tasks\.\w+\.(task|score|data|read)", name)]
