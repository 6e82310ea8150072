"""Time alignment_rouge against tilse, side by side in one run; prints ratios.

    make bench
    python benchmarks/alignment_rouge.py [--data FOLDER] [--perl-topics 3]

FOLDER holds ``TOPIC/timelines.jsonl`` in news-tls' layout (Open-TLS from the CHRONOS repository; default: beside the
checkout). Each topic's prediction is its own reference, changed by a seeded rule: a quarter of the dates dropped, a
third shifted by up to five days, a third of the words dropped. Both sides compute five variants, ROUGE-1 and ROUGE-2,
on the same timelines. Needs the extra ``tilse``; the Perl part also Debian's libxml-parser-perl (or XML::Parser from
CPAN), and is skipped with a message where that is absent.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tls_tasks.timelines.alignment import VARIANTS
from tls_tasks.timelines.alignment_rouge import alignment_rouge
from tls_tasks.timelines.tilse_engine import tilse_counts
from tls_tasks.timelines.types import Timeline

Pair = tuple[Timeline, Timeline]
DEFAULT_DATA = Path(__file__).parent.parent.parent / "shared" / "data" / "open_tls"


def read_timeline(path: Path) -> Timeline:
    """The first reference timeline of a topic; a date without its day is the first of the month."""
    rows = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    return Timeline.of([(_day(date), sentences) for date, sentences in rows])


def _day(text: str) -> datetime.date:
    parts = [int(part) for part in text.strip().split("T")[0].split("-")]
    return datetime.date(*[*parts, 1, 1][:3])


def perturb(timeline: Timeline, generator: random.Random) -> Timeline:
    """A plausible prediction: some dates gone, some shifted, some words gone."""
    days: dict[datetime.date, list[str]] = {}
    for entry in timeline:
        if generator.random() < 0.25:
            continue
        shift = generator.randint(-5, 5) if generator.random() < 0.33 else 0
        words = [word for word in " ".join(entry.sentences).split() if generator.random() > 0.33]
        days.setdefault(entry.date + datetime.timedelta(days=shift), []).append(" ".join(words))
    return Timeline.of(days)


def make_long(n_dates: int, seed: int) -> Timeline:
    """A made-up timeline of ``n_dates`` days of 25 words from a vocabulary with a realistic skew."""
    generator = random.Random(seed)
    vocabulary = [f"word{number}" for number in range(5000)]
    weights = [1 / (rank + 1) for rank in range(5000)]
    start = datetime.date(2000, 1, 1).toordinal()
    days = generator.sample(range(start, start + 4 * n_dates), n_dates)
    return Timeline.of(
        {
            datetime.date.fromordinal(day): [" ".join(generator.choices(vocabulary, weights, k=25)) + " ."]
            for day in days
        }
    )


def ours(pairs: Sequence[Pair]) -> None:
    """All variants of all pairs, one call a pair as in the harness."""
    for prediction, reference in pairs:
        alignment_rouge([prediction], [reference])


def tilse(pairs: Sequence[Pair], computation: str) -> None:
    """The same work by tilse."""
    for prediction, reference in pairs:
        for variant in VARIANTS:
            tilse_counts(prediction, [reference], variant, computation)


def seconds(work: Callable[[], None], repeats: int) -> float:
    """The median wall time of ``repeats`` runs."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def perl_works() -> bool:
    """Whether Perl has what ROUGE-1.5.5.pl needs."""
    try:
        return subprocess.run(["perl", "-MXML::Parser", "-MDB_File", "-e", "1"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def peak_megabytes(n_dates: int) -> tuple[float, float]:
    """Seconds and peak resident memory of one n x n comparison in a process of its own."""
    code = (
        "import resource, time, sys; sys.path.insert(0, 'benchmarks'); import alignment_rouge as bench; "
        f"left, right = bench.make_long({n_dates}, 1), bench.make_long({n_dates}, 2); start = time.perf_counter(); "
        "bench.ours([(left, right)]); "
        "print(time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    root = Path(__file__).parent.parent
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=root).stdout
    elapsed, megabytes = output.split()
    return float(elapsed), float(megabytes)


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--data", type=Path, default=DEFAULT_DATA, help="folder of TOPIC/timelines.jsonl")
    parser.add_argument("--perl-topics", type=int, default=3, help="how many topics tilse with Perl gets (slow)")
    arguments = parser.parse_args()
    paths = sorted(arguments.data.glob("*/timelines.jsonl"))
    if not paths:
        print(f"no TOPIC/timelines.jsonl under {arguments.data}: give a folder with --data")
        return 2
    generator = random.Random(2011)
    references = [read_timeline(path) for path in paths]
    pairs = [(perturb(reference, generator), reference) for reference in references]
    dates = [sum(map(len, side)) for side in zip(*pairs, strict=True)]
    print(f"{len(pairs)} topics, {dates[0]} predicted and {dates[1]} reference dates in all, five variants")
    ours(pairs)  # imports and stems once
    ratio("tilse reimpl", seconds(lambda: tilse(pairs, "reimpl"), 1), seconds(lambda: ours(pairs), 9), len(pairs), 60)
    few = sorted(pairs, key=lambda pair: len(pair[1]))[len(pairs) // 2 :][: arguments.perl_topics]
    if not perl_works():
        print(
            "tilse with Perl: skipped, Perl lacks XML::Parser or DB_File (Debian: apt-get install libxml-parser-perl)"
        )
    elif few:
        slow, fast = seconds(lambda: tilse(few, "original"), 1), seconds(lambda: ours(few), 21)
        ratio("tilse with Perl", slow, fast, len(few), 3000)
    elapsed, megabytes = peak_megabytes(1000)
    print(f"1,000 x 1,000 dates, five variants: {elapsed:.2f} s, peak {megabytes:.0f} MB (goals 1.5 s, 400 MB)")
    return 0


def ratio(peer: str, slow: float, fast: float, n_topics: int, goal: int) -> None:
    """Print one comparison."""
    print(f"{peer}: {slow:.3f} s, ours {fast:.4f} s on {n_topics} topics: {slow / fast:,.0f} times (goal {goal:,})")


if __name__ == "__main__":
    sys.exit(main())
