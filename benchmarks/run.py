"""Measure this package beside the original tools and peers; prints one table, and exits with 1 if a goal is missed.

    make bench
    python benchmarks/run.py [SCRIPT ...]

A script has a function ``comparisons()``, which yields a :class:`Comparison` for each row of the table. Nothing is
measured, loaded or made before its turn. A comparison that fails, or whose peer is not there, is a row that says so,
and the next one follows.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import operator
import os
import platform
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).parent.parent
SCRIPTS = ("alignment_rouge", "rouge_l", "evidence_extraction", "tree_eval")
PEERS = ("tilse", "rouge-score", "rouge-score-rs", "stickler-eval", "anls-star")
T = TypeVar("T")
Work = Callable[[], T]

LEAST = 0.02
"""Seconds: what is quicker is called several times in a row and its mean taken."""

ENOUGH = 5.0
"""Seconds after which a comparison has had its share, and stops at three repeats."""

FEWEST, MOST = 3, 15


class Skipped(Exception):
    """A comparison needs what is not here and pip can't install; the message says what, and how to have it."""


class Comparison(NamedTuple):
    """One row of the table, still to be measured.

    Attributes:
        name: What is compared.
        measure: Gives a value for each repeat, or the seconds of the peer and ours, of which the ratio is the value.
        peer: Who else does it; nothing where the figure is ours alone.
        unit: Of the value.
        goal: What the median must reach; None: there is no goal, which ``note`` explains.
        at_most: Whether small values are good.
        note: What a reader must know of the goal.
    """

    name: str
    measure: Callable[[], Sequence[float | tuple[float, float]]]
    peer: str = ""
    unit: str = "times"
    goal: float | None = None
    at_most: bool = False
    note: str = ""


class Row(NamedTuple):
    """One row of the table, measured.

    Attributes:
        script: The script.
        comparison: What was measured.
        state: met, missed, measured (no goal), skipped or failed.
        why: Why it was skipped, or failed.
        median: Of the values.
        ours: The median of our seconds, where a peer has others.
    """

    script: str
    comparison: Comparison
    state: str
    why: str = ""
    median: float | None = None
    ours: float | None = None


def versus(
    name: str,
    peer: str,
    make: Callable[[], tuple[Work[T], Work[T]]],
    goal: float | None = None,
    note: str = "",
    same: Callable[[T, T], bool] | None = operator.eq,
) -> Comparison:
    """A comparison of times. ``make`` gives the peer's call and ours; ``same`` says whether their results agree."""
    return Comparison(name, lambda: pairs(*make(), same), peer, goal=goal, note=note)


def pairs(
    theirs: Work[T], ours: Work[T], same: Callable[[T, T], bool] | None = operator.eq
) -> list[tuple[float, float]]:
    """Seconds of both, in turns, so that whatever else the machine does hits both.

    Raises:
        ValueError: The two sides disagree.
    """
    ours()  # what is imported and kept at first use
    gc.collect()
    found: list[tuple[float, float]] = []
    began = time.perf_counter()
    while len(found) < FEWEST or (len(found) < MOST and time.perf_counter() - began < ENOUGH):
        slow, expected = timed(theirs)
        fast, value = timed(ours)
        if not found and same and not same(expected, value):
            raise ValueError(f"the two sides disagree: {str(expected)[:80]} and {str(value)[:80]}")
        found.append((slow, fast))
    return found if found[0][0] > 1 else found[1:]  # the first call of a peer imports, too


def timed(work: Work[T]) -> tuple[float, T]:
    """Processor time of a call, with that of the processes it waited for, and its result; without the collector."""
    gc.disable()
    try:
        start = _processor_time()
        value, n_calls = work(), 1
        while (elapsed := _processor_time() - start) < LEAST:
            work()
            n_calls += 1
    finally:
        gc.enable()
    return elapsed / n_calls, value


def _processor_time() -> float:
    children = os.times()
    return time.process_time() + children.children_user + children.children_system


def repeated(measure: Work[T], n: int = FEWEST) -> list[T]:
    """The results of a few calls."""
    return [measure() for _ in range(n)]


def in_a_process(
    name: str, script: str, make: str, call: str, goals: tuple[float, float], added: bool = False
) -> Iterator[Comparison]:
    """The processor time of a call in a process of its own, and the memory at its peak.

    Args:
        name: What is measured.
        script: The script, called ``bench`` in both expressions.
        make: An expression for ``made``; what it loads and makes is no part of the time.
        call: An expression.
        goals: Seconds and megabytes that it may take at most.
        added: Count the megabytes that the call adds to the peak, not all of the process.
    """
    code = (
        f"import time; from benchmarks import {script} as bench; from benchmarks.run import peak\n"
        f"made = {make}; before = peak() * {added}; start = time.process_time(); {call}\n"
        "print(time.process_time() - start, peak() - before)"
    )
    command = [sys.executable, "-c", code]

    @cache
    def found() -> list[list[float]]:
        outputs = repeated(lambda: subprocess.check_output(command, text=True, cwd=ROOT))
        return [[float(part) for part in output.split()] for output in outputs]

    memory = f"{name}, memory{' added' if added else ''}"
    yield Comparison(name, lambda: [one[0] for one in found()], "", "s", goals[0], True)
    yield Comparison(memory, lambda: [one[1] for one in found()], "", "MB", goals[1], True)


def peak() -> float:
    """Megabytes that this process has had at most."""
    try:  # getrusage would say what the parent had, too
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except OSError:
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def comparisons_of(script: str) -> Iterable[Comparison]:
    """What a script compares; a script that can't be loaded is a failure of its own."""
    yield from importlib.import_module(f"benchmarks.{script}").comparisons()


def measured(script: str, comparisons: Iterable[Comparison]) -> Iterator[Row]:
    """The rows of a script. What fails is a row that says so, and the next one follows."""
    following = iter(comparisons)
    while True:
        try:
            comparison = next(following)
        except StopIteration:
            return
        except (Exception, SystemExit) as error:  # what comes after it can't be known
            yield Row(script, Comparison("all that follows", list), "failed", _named(error))
            return
        yield _row(script, comparison)


def _named(error: BaseException) -> str:
    return f"{type(error).__name__}: {error!s:.300}"


def _row(script: str, one: Comparison) -> Row:
    try:
        found = one.measure()
        values = [value if isinstance(value, (int, float)) else value[0] / value[1] for value in found]
        seconds = [value[1] for value in found if not isinstance(value, (int, float))]
        median = statistics.median(values)
    except Skipped as error:
        return Row(script, one, "skipped", str(error))
    except (Exception, SystemExit) as error:  # a peer may fail in any way, and the others are still measured
        return Row(script, one, "failed", _named(error))
    ours = statistics.median(seconds) if seconds else None
    if one.goal is None:
        return Row(script, one, "measured", "", median, ours)
    is_met = median <= one.goal if one.at_most else median >= one.goal
    return Row(script, one, "met" if is_met else "missed", "", median, ours)


HEADS = ("script", "comparison", "peer", "ours", "median", "goal")


def cells(row: Row) -> list[str]:
    """A row of the table."""
    one = row.comparison
    goal = one.note or "none"
    if one.goal is not None:
        goal = f"{'at most' if one.at_most else 'at least'} {_shown(one.goal)}" + (f" ({one.note})" if one.note else "")
    if row.state not in ("met", "measured"):
        goal += f", **{row.state}**" + (f": {row.why}" if row.why else "")
    ours = "" if row.ours is None else _time(row.ours)
    median = "" if row.median is None else f"{_shown(row.median)} {one.unit}"
    texts = (row.script, one.name, one.peer, ours, median, goal)
    return [" ".join(cell.split()).replace("|", "\\|") for cell in texts]


def _shown(value: float) -> str:
    """Three digits of a value."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _time(seconds: float) -> str:
    return f"{_shown(seconds)} s" if seconds >= 0.01 else f"{_shown(seconds * 1000)} ms"


def table(rows: Iterable[Row]) -> str:
    """All rows as Markdown."""
    aligned = "".join("--:|" if head in ("ours", "median") else "---|" for head in HEADS)
    lines = [f"| {' | '.join(HEADS)} |", f"|{aligned}", *(f"| {' | '.join(cells(row))} |" for row in rows)]
    return "\n".join(lines) + "\n"


def about() -> str:
    """What the figures depend on."""
    peers = ", ".join(f"{name} {_version(name)}" for name in PEERS)
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, {peers}."


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def main(arguments: list[str] | None = None) -> int:
    """Measure and print; 1 if a goal is missed, or a comparison failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", default=SCRIPTS)
    rows: list[Row] = []
    for script in parser.parse_args(arguments).scripts:
        for row in measured(script, comparisons_of(script)):
            print(" | ".join(cells(row)), file=sys.stderr, flush=True)
            rows.append(row)
    n = Counter(row.state for row in rows)
    print(f"{table(rows)}\n{about()}")
    print(
        f"{n['met']} of {n['met'] + n['missed']} goals met, {n['measured']} without a goal, "
        f"{n['skipped']} skipped, {n['failed']} failed."
    )
    return int(n["missed"] + n["failed"] > 0)


if __name__ == "__main__":
    # Not this copy's main: the scripts raise the exceptions of the importable one.
    sys.exit(importlib.import_module("benchmarks.run").main())
