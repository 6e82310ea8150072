"""Time alignment_rouge against tilse, side by side in one run.

    make bench
    OPEN_TLS=FOLDER python benchmarks/run.py alignment_rouge

FOLDER holds ``TOPIC/timelines.jsonl`` in news-tls' layout (Open-TLS from the CHRONOS repository; default: beside the
checkout). Each topic's prediction is its own reference, changed by a seeded rule: a quarter of the dates dropped, a
third shifted by up to five days, a third of the words dropped. Both sides compute five variants, ROUGE-1 and ROUGE-2,
on the same timelines. Needs the extra ``tilse``; the Perl part also Debian's libxml-parser-perl (or XML::Parser from
CPAN), and is skipped with a message where that is absent.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import subprocess
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from pathlib import Path

from benchmarks.run import MOST, ROOT, Comparison, Skipped, Work, in_a_process, repeated, timed, versus
from tls_tasks.timelines.alignment import VARIANTS
from tls_tasks.timelines.alignment_rouge import alignment_rouge, tilse_counts
from tls_tasks.timelines.types import Timeline

Pair = tuple[Timeline, Timeline]
DATA = Path(os.environ.get("OPEN_TLS", ROOT.parent / "shared" / "data" / "open_tls"))


def read_timeline(path: Path) -> Timeline:
    """The first reference timeline of a topic; a date without its day is the first of the month."""
    rows = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
    return Timeline.from_days([(_day(date), sentences) for date, sentences in rows])


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
    return Timeline.from_days(days)


def make_long(n_dates: int, seed: int) -> Timeline:
    """A made-up timeline of ``n_dates`` days of 25 words from a vocabulary with a realistic skew."""
    generator = random.Random(seed)
    vocabulary = [f"word{number}" for number in range(5000)]
    weights = [1 / (rank + 1) for rank in range(5000)]
    start = datetime.date(2000, 1, 1).toordinal()
    days = generator.sample(range(start, start + 4 * n_dates), n_dates)
    return Timeline.from_days(
        {
            datetime.date.fromordinal(day): [" ".join(generator.choices(vocabulary, weights, k=25)) + " ."]
            for day in days
        }
    )


def together(pairs: Sequence[Pair]) -> None:
    """All variants of all pairs, in one call as in a script."""
    predictions, references = zip(*pairs, strict=True)
    alignment_rouge(predictions, references)


def ours(pairs: Sequence[Pair]) -> None:
    """All variants of all pairs, one call a pair as in the harness."""
    for prediction, reference in pairs:
        alignment_rouge([prediction], [reference])


def tilse(pairs: Sequence[Pair], computation: str) -> None:
    """The same work by tilse."""
    for prediction, reference in pairs:
        for variant in VARIANTS:
            tilse_counts(prediction, [reference], variant, computation)


def perl_works() -> bool:
    """Whether Perl has what ROUGE-1.5.5.pl needs."""
    try:
        return subprocess.run(["perl", "-MXML::Parser", "-MDB_File", "-e", "1"], capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


@cache
def topics() -> list[Pair]:
    """Each topic's changed reference and its reference.

    Raises:
        Skipped: There are no topics.
    """
    paths = sorted(DATA.glob("*/timelines.jsonl"))
    if not paths:
        raise Skipped(f"no TOPIC/timelines.jsonl in the folder {DATA.name}: name one that has them in OPEN_TLS")
    generator = random.Random(2011)
    references = [read_timeline(path) for path in paths]
    return [(perturb(reference, generator), reference) for reference in references]


def against(computation: str) -> tuple[Work[None], Work[None]]:
    """Tilse's call and ours: on all topics, or on one of middle size if tilse calls Perl.

    Raises:
        Skipped: Perl, or what ROUGE needs of it, is not there.
    """
    pairs = topics()
    if computation == "original":
        if not perl_works():
            raise Skipped("Perl lacks XML::Parser or DB_File (Debian: apt-get install libxml-parser-perl)")
        pairs = sorted(pairs, key=lambda pair: len(pair[1]))[len(pairs) // 2 :][:1]
    return partial(tilse, pairs, computation), partial(ours, pairs)


def times_of_topics(work: Callable[[Sequence[Pair]], None]) -> list[float]:
    """Seconds for all topics."""
    pairs = topics()
    work(pairs)
    return repeated(lambda: timed(partial(work, pairs))[0], MOST)


def comparisons() -> Iterator[Comparison]:
    """What is compared."""
    for n_dates, goals in ((1000, (1, 200)), (3000, (10, 1000))):
        made = f"[(bench.make_long({n_dates}, 1), bench.make_long({n_dates}, 2))]"
        what = f"{n_dates:,} x {n_dates:,} dates, five variants"
        yield from in_a_process(what, "alignment_rouge", made, "bench.ours(made)", goals)
    all_topics = "topics of Open-TLS, five variants"
    times = partial(times_of_topics, together)
    yield Comparison(f"{all_topics}, in one call, seconds", times, unit="s", goal=0.3, at_most=True)
    yield versus(all_topics, "tilse reimpl", partial(against, "reimpl"), 40, same=None)  # it approximates
    one_topic = "a topic of middle size, five variants"
    yield versus(one_topic, "tilse with ROUGE-1.5.5 (Perl)", partial(against, "original"), 2000, same=None)
