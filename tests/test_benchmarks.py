"""`make bench`: every comparison to its end, and the exit code at the end."""

import importlib
import sys

import pytest

from benchmarks import run as bench_run
from benchmarks.run import SCRIPTS, main, measured, pairs

MADE = """
import os
from benchmarks.run import Comparison, Skipped, versus

def absent():
    raise Skipped("no such tool here")

def values(name):
    return [float(part) for part in os.environ[name].split()]

def comparisons():
    every = [
        Comparison("broken", lambda: 1 / 0, goal=1),
        Comparison("nothing", list, goal=1),
        versus("no peer", "a peer", lambda: __import__("no_such_peer_of_ours"), 1),
        versus("no tool", "another", absent, 1),
        versus("unequal", "a peer", lambda: (lambda: 1, lambda: 2), 1),
        versus("sums", "a loop", lambda: (lambda: sum(i for i in range(20_000)), lambda: sum(range(20_000))), 0.001),
        Comparison("size", lambda: values("SIZES"), unit="MB", goal=10, at_most=True),
        Comparison("ahead", lambda: [0.5], "a quick peer", note="none: known to be ahead"),
    ]
    yield from (one for one in every if one.name in os.environ["ONLY"].split(", ") or not os.environ["ONLY"])
    {end}
"""


@pytest.fixture
def bench(tmp_path, monkeypatch, capsys):
    """Run a script of comparisons as `make bench` runs its own; the exit code, the rows, and what it printed."""
    (tmp_path / "benchmarks").mkdir()
    monkeypatch.syspath_prepend(tmp_path)

    def run(sizes, only="", end="", name="made_here"):
        (tmp_path / "benchmarks" / f"{name}.py").write_text(MADE.replace("{end}", end))
        monkeypatch.setenv("SIZES", sizes)
        monkeypatch.setenv("ONLY", only)
        rows = []
        monkeypatch.setattr(bench_run, "measured", lambda *what: (rows.append(row) or row for row in measured(*what)))
        code = main([name])
        del sys.modules[f"benchmarks.{name}"]
        return code, {row.comparison.name: row for row in rows}, capsys.readouterr().out

    return run


def test_all_are_run_and_the_exit_code_comes_last(bench):
    code, rows, printed = bench("8 9 10")
    assert code == 1
    assert {name: row.state for name, row in rows.items()} == {
        "broken": "failed",
        "nothing": "failed",
        "no peer": "failed",
        "no tool": "skipped",
        "unequal": "failed",
        "sums": "met",
        "size": "met",
        "ahead": "measured",
    }
    assert rows["broken"].why == "ZeroDivisionError: division by zero"
    assert "no_such_peer_of_ours" in rows["no peer"].why
    assert rows["unequal"].why == "ValueError: the two sides disagree: 1 and 2"
    assert rows["sums"].ours > 0
    assert "| made_here | size |  |  | 9 MB | at most 10 |" in printed
    assert "| made_here | no tool | another |  |  | at least 1, **skipped**: no such tool here |" in printed
    assert printed.endswith("2 of 2 goals met, 1 without a goal, 1 skipped, 4 failed.\n")


def test_a_script_that_ends_in_an_error_is_a_row(bench):
    code, rows, _ = bench("1", "ahead", "raise SystemExit('no data')")
    assert (code, list(rows)) == (1, ["ahead", "all that follows"])
    assert rows["all that follows"].why == "SystemExit: no data"


def test_a_median_that_misses_its_goal_fails(bench):
    code, rows, printed = bench("20 21 22", "size")
    assert (code, rows["size"].state, rows["size"].median) == (1, "missed", 21)
    assert "| 21 MB | at most 10, **missed** |" in printed


def test_what_is_skipped_or_has_no_goal_fails_nothing(bench):
    code, rows, _ = bench("1", "no tool, ahead")
    assert (code, [row.state for row in rows.values()]) == (0, ["skipped", "measured"])


def test_each_repeat_is_a_pair_in_turn():
    calls = []
    found = pairs(lambda: calls.append("theirs"), lambda: calls.append("ours"))
    assert len(found) >= 3
    turns = [name for place, name in enumerate(calls) if place == 0 or calls[place - 1] != name]
    assert turns[:5] == ["ours", "theirs", "ours", "theirs", "ours"]


@pytest.mark.parametrize("script", SCRIPTS)
def test_every_script_says_what_it_compares(script):
    """Nothing is measured: that a peer is not installed, or data are not there, says its row when its turn comes."""
    found = [*importlib.import_module(f"benchmarks.{script}").comparisons()]
    assert found and len({(one.name, one.peer) for one in found}) == len(found)
    assert all(one.goal is not None or one.note for one in found)
