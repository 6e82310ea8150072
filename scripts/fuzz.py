"""Run the fuzz targets of tests/fuzz with new seeds, each for about a minute.

What `make test` tries with the same few examples every time is tried with thousands of others. A failure is printed
with its smallest example and the command that finds it again. Pin it with ``@example`` at the test, or add what was bad
in it to tests/hostile.py; Hypothesis also remembers it in ``.hypothesis`` and tries it first from then on.

The target `time` is scripts/hunt.py, which looks for texts that take more than linear time.

    python scripts/fuzz.py
    python scripts/fuzz.py readers logs --seconds 600 --seed 7
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGETS = sorted(path.stem.removeprefix("test_") for path in (ROOT / "tests" / "fuzz").glob("test_*.py"))
TARGETS += ["time"]
HANGS = 120
"""Seconds that one text of the hunt may take."""
FIRST = 100
"""Examples of each test in the first round of a target; the next rounds have as many as the time allows."""


def main() -> int:
    """Run the targets one after the other; 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}; all by default")
    parser.add_argument("--seconds", type=float, default=60, help="time of each target (60)")
    parser.add_argument("--seed", type=int, help="the first seed; drawn by default")
    args = parser.parse_args()
    if unknown := set(args.targets) - set(TARGETS):
        parser.error(f"no target {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    seed = random.randrange(10**9) if args.seed is None else args.seed
    run = {"time": _hunt}
    return max([run.get(target, partial(_fuzz, target))(args.seconds, seed) for target in args.targets or TARGETS])


def _hunt(seconds: float, seed: int) -> int:
    """Look for texts that take more than linear time; one on which a reader hangs fails, too."""
    words = [sys.executable, "scripts/hunt.py", f"--seconds={seconds}", f"--seed={seed}"]
    try:
        done = subprocess.run(words, cwd=ROOT, check=False, capture_output=True, text=True, timeout=seconds + HANGS)
    except subprocess.TimeoutExpired as hung:
        last = (hung.stderr or b"").decode("utf-8", "replace").splitlines()[-1:]
        print(f"time: hangs: {''.join(last)}", flush=True)
        return 1
    print(done.stdout.strip(), *(["", done.stderr[-2000:]] if done.returncode else []), flush=True)
    return done.returncode


def _fuzz(target: str, seconds: float, seed: int) -> int:
    """Rounds of more and more examples until the time is up or one fails."""
    begin, n_examples, n_all = time.monotonic(), FIRST, 0
    while True:
        started = time.monotonic()
        words = ["-m", "pytest", f"tests/fuzz/test_{target}.py", "-q", "--no-header", "-x", "-p", "no:cacheprovider"]
        words += [f"--hypothesis-seed={seed}"]
        given = {"TLS_TASKS_FUZZ_EXAMPLES": str(n_examples), "HF_HUB_OFFLINE": "1"}
        done = subprocess.run(
            [sys.executable, *words], cwd=ROOT, env={**os.environ, **given}, check=False, capture_output=True, text=True
        )
        now, n_all = time.monotonic(), n_all + n_examples
        left = seconds - (now - begin)
        if done.returncode:
            again = " ".join([f"{name}={value}" for name, value in given.items()] + ["python", *words])
            print(f"{done.stdout}{done.stderr}\n{target}: failed. To find it again:\n  {again}", flush=True)
            return 1
        if left <= seconds / 10:
            print(f"{target}: {n_all} examples of each test in {now - begin:.0f} s, nothing found", flush=True)
            return 0
        n_examples = max(10, int(n_examples * min(10.0, left / (now - started))))
        seed += 1


if __name__ == "__main__":
    sys.exit(main())
