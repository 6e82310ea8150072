"""What a script of this folder compares: how it is measured, what its goal is, and how it stands in the table.

A script has a function ``comparisons()``, which yields a :class:`Comparison` for each row of the table; ``run.py`` runs
those of all scripts, and each script its own. Nothing is measured, loaded or made before its turn.
"""

from __future__ import annotations

import datetime
import gc
import json
import operator
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import groupby
from os import times
from pathlib import Path
from typing import NamedTuple, TypeVar

ROOT = Path(__file__).parent.parent
LAST = ROOT / "benchmarks" / "last.json"
T = TypeVar("T")
Work = Callable[[], T]
Key = tuple[str, str, str]

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


@dataclass
class Row:
    """One row of the table, measured; as it is in the JSON."""

    script: str
    name: str
    peer: str
    unit: str
    goal: float | None
    at_most: bool
    note: str
    state: str
    """met, missed, measured (no goal), skipped or failed."""

    date: str
    why: str = ""
    values: Sequence[float] = ()
    ours: float | None = None
    """Median of our seconds, where a peer has others."""

    @property
    def key(self) -> Key:
        """What two runs have in common."""
        return self.script, self.name, self.peer

    @property
    def quartiles(self) -> tuple[float, float, float]:
        """The first, the median, the third."""
        values = [*self.values] * (2 if len(self.values) == 1 else 1)
        low, middle, high = statistics.quantiles(values, method="inclusive")
        return low, middle, high

    def moved(self, last: Row) -> str:
        """``better`` or ``worse`` if each median is outside of the other's quartiles; nothing without repeats."""
        if min(len(self.values), len(last.values)) < 2:
            return ""
        (low, now, high), (last_low, before, last_high) = self.quartiles, last.quartiles
        if low <= before <= high or last_low <= now <= last_high:
            return ""
        return "better" if (now < before) == self.at_most else "worse"


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
    return time.process_time() + times().children_user + times().children_system


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
        f"import time; from benchmarks import {script} as bench; from benchmarks.comparisons import peak\n"
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


def measured(script: str, comparisons: Iterable[Comparison]) -> Iterator[Row]:
    """The rows of a script. What fails is a row that says so, and the next one follows."""
    following = iter(comparisons)
    while True:
        try:
            comparison = next(following)
        except StopIteration:
            return
        except (Exception, SystemExit) as error:  # what comes after it can't be known
            yield _row(script, Comparison("all that follows", partial(_raise, error)))
            return
        yield _row(script, comparison)


def _raise(error: BaseException) -> list[float]:
    raise error


def _row(script: str, one: Comparison) -> Row:
    what = (script, one.name, one.peer, one.unit, one.goal, one.at_most, one.note)
    today = datetime.date.today().isoformat()
    try:
        if not (found := [*one.measure()]):
            raise ValueError("nothing was measured")
        values = [value if isinstance(value, (int, float)) else value[0] / value[1] for value in found]
        ours = [value[1] for value in found if not isinstance(value, (int, float))]
        row = Row(*what, "measured", today, "", [_rounded(value) for value in values])
        row.ours = _rounded(statistics.median(ours)) if ours else None
    except Skipped as error:
        return Row(*what, "skipped", today, str(error))
    except (Exception, SystemExit) as error:
        return Row(*what, "failed", today, f"{type(error).__name__}: {error!s:.300}")
    if one.goal is not None:
        middle = row.quartiles[1]
        row.state = "met" if (middle <= one.goal if one.at_most else middle >= one.goal) else "missed"
    return row


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def shown(value: float) -> str:
    """Three digits of a value."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


HEADS = ("script", "comparison", "peer", "ours", "median", "goal", "last")


def cells(row: Row, last: Mapping[Key, Row] | None = None) -> list[str]:
    """A row of the table; without a last run without its column."""
    if row.goal is None:
        goal = row.note or "none"
    else:
        goal = f"{'at most' if row.at_most else 'at least'} {shown(row.goal)}" + (f" ({row.note})" if row.note else "")
    ours = "" if row.ours is None else _time(row.ours)
    median = f"{shown(row.quartiles[1])} {row.unit}" if row.values else ""
    if row.state not in ("met", "measured"):
        goal += f", **{row.state}**" + (f": {row.why}" if row.why else "")
    found = [row.script, row.name, row.peer, ours, median, goal]
    if last is not None:
        before = last.get(row.key)
        there = before and before.values and row.values
        found.append(f"{shown(before.quartiles[1])} {_bold(row.moved(before))}".strip() if before and there else "")
    return [" ".join(cell.split()).replace("|", "\\|") for cell in found]


def _time(seconds: float) -> str:
    return f"{shown(seconds)} s" if seconds >= 0.01 else f"{shown(seconds * 1000)} ms"


def _bold(word: str) -> str:
    return f"**{word}**" if word else ""


def table(rows: Iterable[Row], last: Mapping[Key, Row] | None = None) -> str:
    """All rows as Markdown; where there is a last run, with its medians, and what has moved since."""
    heads = HEADS[: len(HEADS) - (last is None)]
    aligned = "".join("--:|" if head in ("ours", "median") else "---|" for head in heads)
    lines = [f"| {' | '.join(heads)} |", f"|{aligned}"]
    for (state, script, peer, *_), some in groupby(rows, key=lambda row: (row.state, row.script, row.peer, row.why)):
        group = [*some]
        if state == "skipped" and len(group) > 1:  # one line says it
            name, goal = f"{len(group)} inputs", "see the script"
            group = [Row(script, name, peer, "", None, False, goal, state, "", group[0].why)]
        lines += [f"| {' | '.join(cells(row, last))} |" for row in group]
    return "\n".join(lines) + "\n"


def read(path: Path) -> dict[Key, Row]:
    """The rows of a run that was written; none if there is none."""
    if not path.exists():
        return {}
    rows = [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]
    return {row.key: row for row in rows}


def closing(rows: Sequence[Row]) -> int:
    """Say how many goals are met; 1 if one is not, or a comparison failed."""
    n = Counter(row.state for row in rows)
    print(
        f"{n['met']} of {n['met'] + n['missed']} goals met, {n['measured']} without a goal, "
        f"{n['skipped']} skipped, {n['failed']} failed."
    )
    return int(n["missed"] + n["failed"] > 0)


def run(script: str, comparisons: Iterable[Comparison]) -> int:
    """Measure the comparisons of one script and print them beside the last run, which stays as it is."""
    rows = [*measured(script, comparisons)]
    print(table(rows, read(LAST)))
    return closing(rows)
