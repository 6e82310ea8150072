"""How often `tls-tasks compare` finds a difference where there is none, and where there is one of the size it names.

Pairs of systems are drawn from logs of real runs: `evidence_journals` of ours and two stock tasks of lm-eval, whose
logs are made first (or are in --logs). Each pair is tested as the command tests it, at .05. Three ways to be equal:

- exchanged: two systems' answers to documents that are drawn, exchanged at random document by document;
- one run: answers of one system to documents that are drawn twice, as if they were two systems';
- tilted: two systems that differ on each document, on documents drawn so that their numbers are equal in the mean.
  Here nothing says that the test must hold: exchanging is no symmetry of what was drawn.

Power: documents are drawn so that the true difference is what `detectable` is in the population; four of five tests
should find it. Two standard errors of 1,000 tests are .014 at .05 and .025 at .8.
"""

from __future__ import annotations

import argparse
import importlib
import math
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import stdtrit

sys.path.insert(0, str(Path(__file__).parent.parent))
from tls_tasks.after.comparisons import read_system
from tls_tasks.after.joined import joined
from tls_tasks.core.score import Sums
from tls_tasks.core.significance import Difference, Settings, compare

TASKS = (("evidence_journals", "evidence_f1"), ("arc_easy", "acc"), ("wikitext", "bits_per_byte"))
SIZES = (10, 50, 200)
LEVEL = 0.05
_WHOLE = 4000  # documents of a population with weights

Numbers = npt.NDArray[np.float64]
Generator = np.random.Generator
Pair = tuple[Sums, Sums]
Draw = Callable[["Population", Generator, int], Pair]


@dataclass(frozen=True)
class Population:
    """Two systems on the documents that can be drawn.

    Attributes:
        name: The task and its metric.
        key: The metric.
        first, second: What each document adds, in the same order.
    """

    name: str
    key: str
    first: Sums
    second: Sums

    def difference(self, weights: Numbers) -> float:
        """What the second has more than the first, of documents with weights."""
        of, columns = self.first.table[self.key].of, self.first.columns[self.key]
        left, right = (of(*(weights @ own.rows[:, columns]).tolist()) for own in (self.first, self.second))
        return right - left

    def influences(self, probabilities: Numbers) -> Numbers:
        """How much each document would move the difference, per share of it; zero in the mean, but for rounding."""
        weights = probabilities * _WHOLE
        here = self.difference(weights)
        moved = [self.difference(weights + step) - here for step in np.eye(len(weights))]
        found: Numbers = np.array(moved) * (_WHOLE + 1)
        return found

    def tilted(self, wanted: Callable[[Numbers], float]) -> Numbers:
        """Probabilities of the documents by which the true difference is what is wanted of them."""
        alike = np.full(len(self.first.rows), 1 / len(self.first.rows))
        influences = self.influences(alike)
        influences = influences / np.abs(influences).max()

        def weights(tilt: float) -> Numbers:
            own: Numbers = np.exp(tilt * influences - abs(tilt))
            shares: Numbers = own / own.sum()
            return shares

        low, high = -30.0, 30.0
        for _ in range(60):
            middle = (low + high) / 2
            found = weights(middle)
            is_low = self.difference(found * _WHOLE) < wanted(found)
            low, high = (middle, high) if is_low else (low, middle)
        return weights(low)

    def detectable(self, n: int, probabilities: Numbers) -> float:
        """What `detectable` estimates of n documents: from the spread in the population, in its difference's sign."""
        influences = self.influences(probabilities)
        spread = math.sqrt(probabilities @ (influences - probabilities @ influences) ** 2)
        sign = math.copysign(1, self.difference(np.ones(len(self.first.rows))))
        return float(sign * spread / math.sqrt(n) * (stdtrit(n - 1, 0.975) + stdtrit(n - 1, 0.8)))

    def drawn(self, places: Any) -> Pair:
        """Both systems on some documents."""
        return replace(self.first, rows=self.first.rows[places]), replace(self.second, rows=self.second.rows[places])


def exchanged(population: Population, generator: Generator, n: int) -> Pair:
    """Two systems whose answers were exchanged at random."""
    first, second = population.drawn(generator.integers(len(population.first.rows), size=n))
    swap = generator.random((n, 1)) < 0.5
    return (
        replace(first, rows=np.where(swap, second.rows, first.rows)),
        replace(second, rows=np.where(swap, first.rows, second.rows)),
    )


def one_run(population: Population, generator: Generator, n: int) -> Pair:
    """One system on two draws of documents."""
    places = generator.integers(len(population.first.rows), size=(2, n))
    return population.drawn(places[0])[0], population.drawn(places[1])[0]


def with_difference(population: Population, wanted: Callable[[Numbers], float]) -> Draw:
    """Two systems on documents drawn so that the true difference is this one."""
    probabilities = population.tilted(wanted)

    def draw(_: Population, generator: Generator, n: int) -> Pair:
        return population.drawn(generator.choice(len(probabilities), size=n, p=probabilities))

    return draw


def tested(population: Population, draw: Draw, n: int, n_pairs: int, seed: int = 1) -> Iterator[Difference]:
    """Pairs of systems, compared."""
    generator, settings = np.random.default_rng(seed), Settings(n_permutations=399, n_resamples=1)
    for _ in range(n_pairs):
        yield from compare(*draw(population, generator, n), [population.key], settings=settings)


def n_found(population: Population, draw: Draw, n: int, n_pairs: int, seed: int = 1) -> int:
    """How many of the pairs are told apart at .05."""
    return sum(found.p_value <= LEVEL for found in tested(population, draw, n, n_pairs, seed))


def populations(logs: Path, tasks: Sequence[tuple[str, str]] = TASKS, systems: Sequence[str] = ("a", "b")) -> list[Any]:
    """Those of the table, from the logs of two systems."""
    found = []
    for task, key in tasks:
        runs = [read_system(logs / name, tasks={task: task}).tasks[task] for name in systems]
        scores, _ = joined(systems, runs, {})
        found.append(Population(f"`{task}`, `{key}`", key, *[Sums.of(score) for score in scores]))
    return found


def make_logs(folder: Path) -> None:
    """Runs of two systems: rules that know a share of 200 answers, and our baseline with refusals here and there."""
    stock: Any = importlib.import_module("tests.stock_logs")
    runs: Any = importlib.import_module("tests.made_runs")
    models: Any = importlib.import_module("tls_tasks.hosts.models")
    stock.make_stock_runs(folder, {"a": ("a", 0.5), "b": ("b", 0.6)}, [task for task, _ in TASKS[1:]], n=200)
    for name, every in (("a", 3), ("b", 4)):
        runs.make_run(folder / name, runs.with_noise(models.KeywordLM(), every), [TASKS[0][0]])


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=Path, metavar="FOLDER", help="logs of systems a and b, from an earlier run")
    parser.add_argument("--pairs", type=int, default=1000, metavar="N")
    parser.add_argument("--sizes", type=int, nargs="*", default=SIZES, metavar="N")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if args.logs is None:
            make_logs(Path(folder))
        known = populations(args.logs or Path(folder))
    print(f"Found at .05 of {args.pairs} pairs of equal systems: n =", *args.sizes)
    for one in known:
        nulls = {"exchanged": exchanged, "one run": one_run, "tilted": with_difference(one, lambda _: 0.0)}
        for name, draw in nulls.items():
            counts = [n_found(one, draw, n, args.pairs) for n in args.sizes]
            print(f"| {one.name}, {name} |", " | ".join(map(str, counts)), "|", flush=True)
    print(
        "Found of pairs that differ by `detectable` (true difference; median of what the command says): n =",
        *args.sizes,
    )
    for one in known:
        cells = []
        for n in args.sizes:
            wanted = partial(one.detectable, n)
            draw, true = with_difference(one, wanted), wanted(one.tilted(wanted))
            pairs = list(tested(one, draw, n, args.pairs))
            share = sum(found.p_value <= LEVEL for found in pairs) / len(pairs)
            said = np.median([found.detectable for found in pairs])
            cells.append(f"{share:.3f} ({abs(true):.3f}; {said:.3f})".replace("0.", "."))
        print(f"| {one.name} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
