"""A million logged samples: memory, cores, and what is repeated after SIGKILL. Needs Linux, whose /proc it reads.

    python benchmarks/scale.py                  # 1,000,000 rows for the memory, 200,000 for the cores; ten minutes
    python benchmarks/scale.py --rows 20000     # the same, quickly

Peak memory is that of the summed PSS (shared pages are counted once) of the command and all its children, sampled ten
times a second. The ratio of cores is that of wall times, runs in turn; the processor time beside it says how much of a
shared machine a run had.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

TASK = "summ_dialogsum"
GOAL_MIB, GOAL_RATIO = 500, 1.6


def write_log(folder: Path, n_rows: int) -> Path:
    """A samples file of so many documents of 60 words, with a reference and an answer of 25 words each."""
    import tls_tasks

    folder.mkdir()
    documents = list(tls_tasks.task(TASK).documents())
    words = sorted({word for doc in documents for word in doc["text"].split()})
    like = documents[0]
    draw = random.Random(1)
    path = folder / f"samples_{TASK}_2026-01-01T00-00-00.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(n_rows):
            text, reference, answer = (" ".join(draw.choices(words, k=k)) for k in (60, 25, 25))
            doc = {**like, "doc_id": f"d{number}", "text": text, "references": json.dumps([reference])}
            file.write(json.dumps({"doc_id": number, "doc": doc, "filtered_resps": [answer], "filter": "none"}) + "\n")
    return path


def family(pid: int) -> Iterator[int]:
    """A process and all that descend from it."""
    yield pid
    try:
        children = [
            child for file in Path(f"/proc/{pid}/task").glob("*/children") for child in file.read_text().split()
        ]
    except OSError:  # ended meanwhile
        return
    for child in children:
        yield from family(int(child))


def pss(pid: int) -> float:
    """MiB of a process; 0 if it has ended."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("Pss:")), 0.0)


def processor_time(pid: int) -> float:
    """Seconds of a process; 0 if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def run(path: Path, folder: Path, *more: str, watch: Callable[[int], bool] | None = None) -> dict[str, Any]:
    """Run ``tls-tasks score``; ``watch`` is asked ten times a second whether to kill it."""
    started = time.monotonic()
    command = [sys.executable, "-W", "ignore", "-m", "tls_tasks", "score", str(path), "--json", f"{folder}.json", *more]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, used = 0.0, dict[int, float]()
    while process.poll() is None:
        there = list(family(process.pid))
        peak = max(peak, sum(map(pss, there)))
        used |= {pid: seconds for pid in there if (seconds := processor_time(pid))}
        if watch and watch(process.pid):
            process.send_signal(signal.SIGKILL)
        time.sleep(0.1)
    return {
        "code": process.returncode,
        "wall_s": time.monotonic() - started,
        "cpu_s": sum(used.values()),
        "peak_mib": peak,
        "processes": len(used),
    }


def hash_of(folder: Path) -> str:
    """Of the results that a run wrote."""
    return hashlib.sha256(Path(f"{folder}.json").read_bytes()).hexdigest()[:12]


def blocks_in(folder: Path) -> dict[str, int]:
    """The blocks that are there, with the inode by which it is known that they were not written again."""
    return {file.name: file.stat().st_ino for file in folder.glob("block-*.parquet")}


def measure_memory(scratch: Path, n_rows: int) -> bool:
    """All rows on all cores, killed once on the way and started again."""
    path = write_log(scratch, n_rows)
    n_mib = path.stat().st_size / 2**20
    folder = scratch / "units"
    n_blocks = -(-path.stat().st_size // (4 << 20))
    killed = run(path, folder, "-o", str(folder), watch=lambda _: len(blocks_in(folder)) >= n_blocks // 3)
    while is_in_use(folder):  # until the workers have ended, too
        time.sleep(0.1)
    there = blocks_in(folder)
    begun = len(list(folder.glob(".block-*")))
    again = run(path, folder, "-o", str(folder))
    kept = sum(blocks_in(folder).get(name) == inode for name, inode in there.items())
    peak = max(killed["peak_mib"], again["peak_mib"])
    print(f"{n_rows:,} rows, {n_mib:,.0f} MiB in {n_blocks} blocks")
    print(f"peak of the summed PSS: {peak:.0f} MiB of {again['processes']} processes (goal: {GOAL_MIB})")
    wall, cpu = (killed[key] + again[key] for key in ("wall_s", "cpu_s"))
    print(f"wall {wall:.0f} s, processor {cpu:.0f} s with the run that was killed")
    print(
        f"killed after {len(there)} blocks ({begun} half written): {kept} of them kept, {n_blocks - kept} scored then"
    )
    whole = json.loads(Path(f"{folder}.json").read_text())[0]
    print(f"documents: {whole['n_documents']:,}; problems: {len(whole['problems'])}; JSON {hash_of(folder)}")
    return peak < GOAL_MIB and kept == len(there) and whole["n_documents"] == n_rows and not whole["problems"]


def is_in_use(folder: Path) -> bool:
    """Whether a file in a folder is open in some process."""
    for link in Path("/proc").glob("[0-9]*/fd/*"):
        with contextlib.suppress(OSError):
            if str(link.readlink()).startswith(str(folder)):
                return True
    return False


def measure_cores(scratch: Path, n_rows: int, n_repeats: int) -> bool:
    """One process, two, and the whole log at once, in turn."""
    path = write_log(scratch, n_rows)
    ways = {"1 worker": ["--workers", "1"], "2 workers": ["--workers", "2"], "at once": None}
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    hashes = set()
    for repeat in range(n_repeats):
        for name, more in ways.items():
            folder = scratch / f"{name.replace(' ', '')}{repeat}"
            found[name].append(run(path, folder, *([] if more is None else ["-o", str(folder), *more])))
            hashes.add(hash_of(folder))
    print(f"{n_rows:,} rows, {path.stat().st_size / 2**20:.0f} MiB, median of {n_repeats} runs")
    for name, runs in found.items():
        wall, cpu, peak = (statistics.median(one[key] for one in runs) for key in ("wall_s", "cpu_s", "peak_mib"))
        print(f"{name:<10}wall {wall:6.1f} s   processor {cpu:6.1f} s   peak {peak:5.0f} MiB")
    ratios = [one["wall_s"] / two["wall_s"] for one, two in zip(found["1 worker"], found["2 workers"], strict=True)]
    print(
        f"1 worker / 2 workers: {statistics.median(ratios):.2f} (goal: {GOAL_RATIO}); results equal: {len(hashes) == 1}"
    )
    return len(hashes) == 1 and statistics.median(ratios) >= GOAL_RATIO


def main() -> int:
    """Print the figures; 1 if a goal is missed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000, help="for the memory; 0: none")
    parser.add_argument("--core-rows", type=int, default=200_000, help="for the cores; 0: none")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        met = [measure_memory(Path(folder) / "million", args.rows)] if args.rows else []
        met += [measure_cores(Path(folder) / "cores", args.core_rows, args.repeats)] if args.core_rows else []
    return int(not all(met))


if __name__ == "__main__":
    sys.exit(main())
