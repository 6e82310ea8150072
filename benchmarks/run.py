"""Run every comparison with the original tools and with peers to its end; one table, a JSON beside it, exit code.

    make bench
    python benchmarks/run.py [SCRIPT ...] [--keep]

A comparison that fails, or whose peer is not there, is a row that says so, and the next one follows. The table has the
last run's medians: those of build/bench/comparisons.json, which the run replaces, or in a fresh checkout those of
benchmarks/last.json. With SCRIPTs, the rows of the others stay as they are. ``--keep`` also puts the run into
benchmarks/last.json and its table into docs/developing/benchmarks.md. Exit code 1 if a goal is missed or a comparison
failed.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import re
import sys
from collections.abc import Iterable
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.comparisons import LAST, ROOT, Comparison, Row, cells, closing, measured, read, table

SCRIPTS = (
    "alignment_rouge",
    "rouge_l",
    "evidence_extraction",
    "tree_eval",
    "report_eval",
    "cost_curves",
    "cost_readers",
)
PEERS = ("tilse", "rouge-score", "stickler-eval", "anls-star", "deepdiff")
PAGE = ROOT / "docs" / "developing" / "benchmarks.md"
TABLE = re.compile(r"(?<=<!-- comparisons -->\n)(.*?)(?=<!-- end of comparisons -->)", re.DOTALL)


def comparisons_of(script: str) -> Iterable[Comparison]:
    """What a script compares; a script that can't be loaded is a failure of its own."""
    yield from importlib.import_module(f"benchmarks.{script}").comparisons()


def machine() -> dict[str, Any]:
    """What the figures depend on."""
    facts = {"python": platform.python_version(), "cores": os.cpu_count(), "load": os.getloadavg()}
    return {**facts, "peers": {name: _version(name) for name in PEERS}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def main(arguments: list[str] | None = None) -> int:
    """Run, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scripts", nargs="*", metavar="SCRIPT", default=SCRIPTS)
    parser.add_argument(
        "--keep", action="store_true", help="also write benchmarks/last.json and docs/developing/benchmarks.md"
    )
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "build" / "bench", metavar="FOLDER")
    args = parser.parse_args(arguments)
    path = args.output / "comparisons.json"
    last = read(path) or read(LAST)
    rows: list[Row] = []
    for script in args.scripts:
        for row in measured(script, comparisons_of(script)):
            print(" | ".join(cells(row)), file=sys.stderr, flush=True)
            rows.append(row)
    order = [*dict.fromkeys([*SCRIPTS, *args.scripts])]
    others = [row for row in last.values() if row.script not in args.scripts]
    every = sorted([*rows, *others], key=lambda row: order.index(row.script) if row.script in order else len(order))
    text = json.dumps({**machine(), "rows": [asdict(row) for row in every]}, indent=1) + "\n"
    args.output.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.with_suffix(".md").write_text(table(rows, last), encoding="utf-8")
    if args.keep:
        LAST.write_text(text, encoding="utf-8")
        page = TABLE.sub(lambda _: table(every), PAGE.read_text(encoding="utf-8"))
        PAGE.write_text(page, encoding="utf-8")
    print(table(rows, last))
    return closing(rows)


if __name__ == "__main__":
    sys.exit(main())
