"""`make bench`: every comparison to its end, beside the last run, and the exit code at the end."""

import json
import sys

import pytest

from benchmarks.comparisons import LAST, Row, pairs, read, table
from benchmarks.run import SCRIPTS, main
from tests.conftest import ROOT

MADE = """
import os
from benchmarks.comparisons import Comparison, Skipped, versus

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
        code = main([name, "-o", str(tmp_path / "out")])
        monkeypatch.delitem(sys.modules, f"benchmarks.{name}")
        rows, printed = read(tmp_path / "out" / "comparisons.json"), capsys.readouterr().out
        assert (tmp_path / "out" / "comparisons.md").read_text() in printed
        return code, {key[1]: row for key, row in rows.items() if key[0] == name}, printed

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
    assert len(rows["sums"].values) >= 2
    assert rows["sums"].ours > 0
    assert "| made_here | size |  |  | 9 MB | at most 10 |  |" in printed
    assert "| made_here | no tool | another |  |  | at least 1, **skipped**: no such tool here |  |" in printed
    assert printed.endswith("2 of 2 goals met, 1 without a goal, 1 skipped, 4 failed.\n")


def test_a_run_stands_beside_the_last_one(bench):
    bench("8 9 10", "size")
    _, _, printed = bench("8.2 8.8 9.9", "size")
    assert "| 8.8 MB | at most 10 | 9 |" in printed
    code, rows, printed = bench("20 21 22", "size")
    assert (code, rows["size"].state) == (1, "missed")
    assert "| 21 MB | at most 10, **missed** | 8.8 **worse** |" in printed
    _, rows, printed = bench("1 1 1", "size")
    assert "| 1 MB | at most 10 | 21 **better** |" in printed


def test_a_script_that_ends_in_an_error_is_a_row_and_those_of_others_stay(bench):
    bench("1", "size")
    code, rows, _ = bench("1", "ahead", "raise SystemExit('no data')", name="made_too")
    assert (code, list(rows)) == (1, ["ahead", "all that follows"])
    assert rows["all that follows"].why == "SystemExit: no data"
    code, rows, _ = bench("2", "size")
    assert (code, list(rows), rows["size"].values) == (0, ["size"], [2])


def test_what_is_skipped_or_has_no_goal_fails_nothing(bench):
    code, rows, _ = bench("1", "no tool, ahead")
    assert (code, [row.state for row in rows.values()]) == (0, ["skipped", "measured"])


def test_each_repeat_is_a_pair_in_turn():
    calls = []
    found = pairs(lambda: calls.append("theirs"), lambda: calls.append("ours"))
    assert len(found) >= 3
    turns = [name for place, name in enumerate(calls) if place == 0 or calls[place - 1] != name]
    assert turns[:5] == ["ours", "theirs", "ours", "theirs", "ours"]


def row(values, at_most=False):
    return Row("a", "b", "c", "times", None, at_most, "", "measured", "2026-11-22", "", values)


@pytest.mark.parametrize(
    ("values", "last", "word"),
    [
        ([1, 2, 3], [1, 2, 3], ""),
        ([1, 2, 3], [2, 3, 9], "worse"),
        ([1, 2, 9], [2, 3, 4], ""),
        ([5, 6, 7], [1, 2, 3], "better"),
        ([5, 5], [5, 5], ""),
        ([5.01, 5.01], [5, 5], "better"),
        ([7], [5, 5], ""),
    ],
)
def test_what_has_moved(values, last, word):
    """Either median outside of the other's quartiles: of 1, 2, 3 they are 1.5 and 2.5. One value alone says nothing."""
    assert row(values).moved(row(last)) == word
    other = {"better": "worse", "worse": "better", "": ""}[word]
    assert row(values, at_most=True).moved(row(last, at_most=True)) == other


def test_the_document_has_the_last_run_and_the_run_all_scripts():
    rows = read(LAST)
    assert table(rows.values()) in (ROOT / "docs" / "developing" / "benchmarks.md").read_text(encoding="utf-8")
    assert {row.script for row in rows.values()} <= {*SCRIPTS}
    assert json.loads(LAST.read_text(encoding="utf-8"))["peers"]["rouge-score"] == "0.1.2"
