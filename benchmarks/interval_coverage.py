"""How often a 95 % interval holds the true value: ours, and its rivals, in populations whose true value is known.

    python benchmarks/interval_coverage.py [--data FOLDER] [--samples N] [--sizes N …]

Draws samples of n rows (or of n rows that two systems answered) from each population, and counts how often the interval
of a sample holds the population's value. The intervals are those of ``Score.intervals()`` and of ``compare``; the
rivals are worked out here. FOLDER is ``shared/data`` beside the checkout; without it there are no real timelines.
Prints the rows of the tables of docs/intervals.md; there are neither differences nor rivals of n = 100.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.stats import norm, t

from tls_tasks.core.options import LEAST_BOOTSTRAP
from tls_tasks.core.prf import prf_of_means
from tls_tasks.core.score import Result, Score, Sums, mean, ratio, values
from tls_tasks.core.significance import Settings, compare
from tls_tasks.timelines import score as score_timelines

DATA = Path(__file__).parent.parent.parent / "shared" / "data"
SIZES = (4, 8, 20, 100)
RESAMPLES = 1000
RIVALS = ("percentile bootstrap", "BCa bootstrap", "bootstrap-t", "plain jackknife-t")

Numbers = npt.NDArray[Any]
Generator = np.random.Generator
Pairs = Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Population:
    """Rows that can be drawn, and the value of all of them.

    Attributes:
        name: What they are.
        result: What is computed.
        truth: Its value over the whole population.
        draw: (generator, n) -> the units of n rows, each row's in a list.
    """

    name: str
    result: Result
    truth: float
    draw: Callable[[Generator, int], list[Pairs]]

    def score(self, generator: Generator, n: int) -> Score:
        """The score of a sample."""
        drawn = self.draw(generator, n)
        rows = [row for row, pairs in enumerate(drawn) for _ in pairs]
        return Score("", "", [unit for pairs in drawn for unit in pairs], {"": self.result}, rows=rows)


def populations(data: Path | None = None) -> list[Population]:
    """Those of the table; real timelines where there are some."""
    return [
        *([timelines(data)] if data is not None and data.is_dir() else []),
        bounded_mean("mean of Beta(5, 2) scores", 5, 2),
        bounded_mean("mean of Beta(4, 0.5) scores, most near 1", 4, 0.5),
        skewed_ratio("ratio, Beta(2, 1) right of 1 + NB asked", 2, 1),
        skewed_ratio("ratio, Beta(0.5, 2) right of 1 + NB asked", 0.5, 2),
        micro_f1("micro F1 of the same with spurious ones", 2, 1),
    ]


def hard_populations() -> list[Population]:
    """Those in which no interval from the sample alone can do what it says."""

    def hit(generator: Generator, n: int) -> list[Pairs]:
        return [[{"v": float(own), "n": 1.0}] for own in generator.random(n) < 0.95]

    def uneven(generator: Generator, n: int) -> list[Pairs]:
        asked = np.ceil(generator.lognormal(1.0, 1.5, n))
        return _asked_and_right(asked, generator.binomial(asked.astype(int), generator.beta(2, 1, n)))

    return [
        Population("mean of 0 and 1, 95 % of them 1", mean("v"), 0.95, hit),
        Population("ratio, asked lognormal(1, 1.5): few rows hold most", ratio("right", "asked"), 2 / 3, uneven),
    ]


def timelines(data: Path) -> Population:
    """AR-1 F1 of one annotator's timeline against the two others': 14 events of Crisis and its updates, 42 rows."""
    predictions, references = [], []
    for path in sorted([*data.glob("crisis/*/timelines.jsonl"), *data.glob("updates/*/timelines.jsonl")]):
        told = [_timeline(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]
        for place, own in enumerate(told):
            predictions.append(own)
            references.append([*told[:place], *told[place + 1 :]])
    score = score_timelines(predictions, references)
    rows: list[list[Mapping[str, float]]] = [[] for _ in predictions]
    for item, unit in zip(score.items, score.units, strict=True):
        rows[item.row].append(unit)
    result = prf_of_means("ar1")["ar1_f1"]

    def draw(generator: Generator, n: int) -> list[Pairs]:
        return [rows[place] for place in generator.integers(len(rows), size=n)]

    truth = values({"": result}, score.units)[""]
    return Population("real timelines, AR-1 F1, two references a row", result, truth, draw)


def _timeline(entries: Sequence[Any]) -> dict[str, list[str]]:
    return {day[:10]: sentences for day, sentences in entries}


def bounded_mean(name: str, a: float, b: float) -> Population:
    """A mean of scores in [0, 1]."""

    def draw(generator: Generator, n: int) -> list[Pairs]:
        return [[{"v": value, "n": 1.0}] for value in generator.beta(a, b, n)]

    return Population(name, mean("v"), a / (a + b), draw)


def _counts(generator: Generator, n: int, a: float, b: float) -> tuple[Numbers, Numbers]:
    """How much each document asks for, 6 in the mean and mostly less, and how much of it is right."""
    asked = 1 + generator.negative_binomial(1, 1 / 6, n)
    return asked, generator.binomial(asked, generator.beta(a, b, n))


def _asked_and_right(asked: Numbers, right: Numbers) -> list[Pairs]:
    return [[{"asked": float(of), "right": float(hits)}] for of, hits in zip(asked, right, strict=True)]


def skewed_ratio(name: str, a: float, b: float) -> Population:
    """A ratio of sums over documents that differ in size and in quality."""

    def draw(generator: Generator, n: int) -> list[Pairs]:
        return _asked_and_right(*_counts(generator, n, a, b))

    return Population(name, ratio("right", "asked"), a / (a + b), draw)


def _f1(hits: float, spurious: float, missed: float) -> float:
    return 2 * hits / (2 * hits + spurious + missed) if hits else 0.0


def micro_f1(name: str, a: float, b: float) -> Population:
    """F1 of the counts of all documents, with 0.3 spurious objects for each that is asked for."""

    def draw(generator: Generator, n: int) -> list[Pairs]:
        asked, hits = _counts(generator, n, a, b)
        spurious = generator.poisson(0.3 * asked)
        columns = zip(hits, spurious, asked - hits, strict=True)
        return [[dict(zip(("tp", "fp", "fn"), map(float, row), strict=True))] for row in columns]

    share = a / (a + b)
    return Population(name, Result(("tp", "fp", "fn"), _f1), _f1(share, 0.3, 1 - share), draw)


def coverage(population: Population, n: int, n_samples: int, *, seed: int = 1, n_resamples: int = RESAMPLES) -> float:
    """The share of samples whose interval holds the population's value."""
    generator, held = np.random.default_rng(seed), 0
    if n >= LEAST_BOOTSTRAP:
        ends = _bootstrapped(population, n, n_samples, generator, n_resamples)
        return sum(_holds(low, high, population.truth) for low, high in ends) / n_samples
    for _ in range(n_samples):
        interval = population.score(generator, n).intervals(n_resamples=n_resamples).get("")
        held += interval is not None and _holds(*interval, population.truth)
    return held / n_samples


def _bootstrapped(
    population: Population, n: int, n_samples: int, generator: Generator, n_resamples: int
) -> Iterator[tuple[float, float]]:
    """What ``Score.intervals()`` gives, all resamples at once: its default seed draws the same places each time."""
    drawn, times = random.Random(12345), np.zeros((n_resamples, n))
    for own in times:
        np.add.at(own, drawn.choices(range(n), k=n), 1)
    tail = n_resamples // 40
    for _ in range(n_samples):
        sums = times @ Sums.of(population.score(generator, n)).rows
        there = sorted(population.result.of(*row) for row in sums.tolist())
        yield there[tail], there[-tail - 1]


def _holds(low: float, high: float, truth: float) -> bool:
    return low - 1e-9 <= truth <= high + 1e-9


def coverage_of_difference(population: Population, n: int, n_samples: int, seed: int = 1) -> float:
    """The same of the difference of two systems that are equally good, which is 0."""
    generator, held = np.random.default_rng(seed), 0
    for _ in range(n_samples):
        first, second = (Sums.of(population.score(generator, n)) for _ in range(2))
        [found] = compare(first, second, [""], settings=Settings(n_permutations=1, n_resamples=RESAMPLES))
        held += found.interval is not None and _holds(*found.interval, 0.0)
    return held / n_samples


def rivals(population: Population, n: int, n_samples: int, seed: int = 1, n_resamples: int = 500) -> list[float]:
    """The coverage of :data:`RIVALS`, in that order."""
    generator = np.random.default_rng(seed)
    held = np.zeros(len(RIVALS))
    for _ in range(n_samples):
        rows = Sums.of(population.score(generator, n)).rows
        held += [_holds(low, high, population.truth) for low, high in _rivals(population, rows, generator, n_resamples)]
    return list(held / n_samples)


def _rivals(population: Population, rows: Numbers, generator: Generator, n: int) -> Iterator[tuple[float, float]]:
    of = np.vectorize(population.result.of, otypes=[float])
    whole, size = rows.sum(axis=0), len(rows)
    value, left_out = float(of(*whole)), of(*(whole - rows).T)
    error = _error(left_out)
    drawn = rows[generator.integers(size, size=(n, size))]
    there = np.sort(of(*drawn.sum(axis=1).T))
    yield tuple(np.quantile(there, [0.025, 0.975]))
    below = np.clip(((there < value).mean() + (there <= value).mean()) / 2, 1 / n, 1 - 1 / n)
    bias, gaps = norm.ppf(below), left_out.mean() - left_out
    speed = (gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5) if error else 0.0
    ends = [bias + (bias + z) / (1 - speed * (bias + z)) for z in norm.ppf([0.025, 0.975])]
    yield tuple(np.quantile(there, norm.cdf(ends)))
    sums = drawn.sum(axis=1)
    errors = _error(of(*np.moveaxis(sums[:, None] - drawn, -1, 0)).T)
    known = errors > 1e-12
    low, high = np.quantile((of(*sums.T) - value)[known] / errors[known], [0.025, 0.975]) if known.any() else (0, 0)
    yield value - high * error, value - low * error
    reach = t.ppf(0.975, size - 1) * error
    yield value - reach, value + reach


def _error(left_out: Numbers) -> Any:
    n = len(left_out)
    return np.sqrt((n - 1) / n * ((left_out - left_out.mean(axis=0)) ** 2).sum(axis=0))


def _line(name: str, shares: Sequence[float]) -> str:
    return f"| {name} | " + " | ".join(f"{share:.3f}".lstrip("0") for share in shares) + " |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, metavar="FOLDER")
    parser.add_argument("--samples", type=int, default=2000, metavar="N")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, metavar="N")
    args = parser.parse_args()
    known, small = populations(args.data), [n for n in args.sizes if n < LEAST_BOOTSTRAP]

    for title, group in (("", known), (", where no interval can", hard_populations())):
        print(f"\nCoverage of the 95 % intervals of score.intervals(){title}: n =", *args.sizes)
        for one in group:
            print(_line(one.name, [coverage(one, n, args.samples) for n in args.sizes]), flush=True)
    if small:
        print("\nOf the difference of two systems, as compare has it: n =", *small)
        for one in known:
            print(_line(one.name, [coverage_of_difference(one, n, args.samples) for n in small]), flush=True)
        print("\nRivals: n =", *small)
        for one in known:
            found = [rivals(one, n, args.samples // 2) for n in small]
            for name, shares in zip(RIVALS, zip(*found, strict=True), strict=True):
                print(_line(f"{one.name}: {name}", shares), flush=True)


if __name__ == "__main__":
    main()
