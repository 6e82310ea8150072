"""Time evidence_extraction on many documents and on large pages, beside the original scorer's algorithm.

    make bench
    python benchmarks/evidence_extraction.py

Documents are made up by a seeded rule: spans of 2 to 8 words as frequent as in English, predictions that crop or extend
them. The original compares all pairs of a document, sorts them, and takes them in turn; that algorithm is written down
here, since its repository has no licence. Both sides must give the same counts, which is checked. Fails (exit code 1)
when a goal is missed.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tls_tasks.evidence.evidence_extraction import evidence_extraction

Object = dict[str, str]
Document = tuple[str, list[Object], list[Object]]
Counts = tuple[int, int, int]
ROOT = Path(__file__).parent.parent
LEVELS = ("low", "medium", "high", "unknown")
WORDS = [f"word{number}" for number in range(3000)]
WEIGHTS = [1 / (rank + 1) for rank in range(3000)]


def make_object(generator: random.Random, domain: str, span: str) -> Object:
    """An object that says something about each attribute."""
    level = "arousal_bucket" if domain == "emotion" else "intensity_bucket"
    polarity = generator.choice(("present", "absent"))
    return {
        "domain": domain,
        "evidence_span": span,
        "polarity": polarity,
        level: generator.choice(LEVELS),
        "time_bucket": "today",
    }


def make_document(generator: random.Random, n_objects: int) -> Document:
    """A text, its objects, and predictions that quote a little more or less, in another order."""
    words = generator.choices(WORDS, WEIGHTS, k=12 * n_objects)
    gold, told = [], []
    for start in range(0, len(words), 12):
        domain, end = generator.choice(("symptom", "food", "emotion", "mind")), start + generator.randint(2, 8)
        gold.append(make_object(generator, domain, " ".join(words[start:end])))
        quote = words[start + (generator.random() < 0.3) : end + generator.randint(0, 2)]
        told.append(make_object(generator, domain, " ".join(quote)))
    generator.shuffle(told)
    return " ".join(words), gold, told


def make_page(kind: str, n_objects: int) -> Document:
    """One document of one domain."""
    generator = random.Random(kind)
    spans: dict[str, Callable[[str, int], str]] = {
        "as in English": lambda side, number: " ".join(generator.choices(WORDS, WEIGHTS, k=generator.randint(2, 8))),
        "all pairs overlap": lambda side, number: f"pain number {side}{number} of today",
        "six words": lambda side, number: " ".join(generator.choices("abcdef", k=generator.randint(1, 6))),
        "one span": lambda side, number: "mild headache",
    }
    gold, told = (
        [make_object(generator, "symptom", spans[kind](side, number)) for number in range(n_objects)] for side in "gp"
    )
    return "", gold, told


def all_pairs(documents: Sequence[Document]) -> Counts:
    """The original's algorithm: every pair of a document, sorted, taken in turn."""
    tp = fp = fn = 0
    for _, gold, told in documents:
        pairs = []
        for g, wanted in enumerate(gold):
            for p, predicted in enumerate(told):
                if wanted["domain"] == predicted["domain"]:
                    left, right = (set(one["evidence_span"].lower().split()) for one in (wanted, predicted))
                    overlap = len(left & right) / len(left | right)
                    if overlap >= 0.5:
                        pairs.append((overlap, g, p))
        pairs.sort(key=lambda pair: -pair[0])
        taken: set[int] = set()
        used: set[int] = set()
        for _, g, p in pairs:
            if g not in taken and p not in used:
                taken.add(g)
                used.add(p)
        tp, fp, fn = tp + len(taken), fp + len(told) - len(used), fn + len(gold) - len(taken)
    return tp, fp, fn


def ours(documents: Sequence[Document], **options: Any) -> Counts:
    """The counts by this package, with attributes, coverage and everything else that is in the result."""
    texts, gold, told = (list(column) for column in zip(*documents, strict=True))
    result = evidence_extraction(told, gold, texts, **options).as_dict()
    return result["tp"], result["fp"], result["fn"]


def seconds(work: Callable[[], Counts]) -> tuple[float, Counts]:
    """Processor time of one run on one core, and what it gave."""
    start = time.process_time()
    counts = work()
    return time.process_time() - start, counts


def page_in_its_own_process(kind: str, matching: str) -> tuple[float, float]:
    """Seconds, and megabytes that scoring one page adds to the peak of memory, in a process of its own."""
    code = (
        "import resource, sys; sys.path.insert(0, 'benchmarks'); import evidence_extraction as bench\n"
        "def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n"
        f"bench.ours([bench.make_page({kind!r}, 60)], matching={matching!r})\n"
        f"page = bench.make_page({kind!r}, 2000); before = peak()\n"
        f"elapsed, _ = bench.seconds(lambda: bench.ours([page], matching={matching!r}))\n"
        "print(elapsed, peak() - before)"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout
    elapsed, megabytes = output.split()
    return float(elapsed), float(megabytes)


def many_documents() -> bool:
    """Print the table of many documents; whether its goals are met."""
    generator = random.Random(2004)
    documents = [make_document(generator, 20) for _ in range(10_000)]
    print("| documents of 20 x 20 objects | time on one core | goal |\n|---|---|---|")
    met = []
    variants: tuple[dict[str, str], ...] = ({}, {"overlap": "token_f1"}, {"matching": "optimal"})
    for options in variants:
        elapsed, _ = seconds(partial(ours, documents, **options))
        name = ", ".join(f"{key} {value}" for key, value in options.items()) or "defaults"
        goal = 8.0 if not options else 10.0
        print(f"| 10,000, {name} | {elapsed:.2f} s | {goal:.0f} s |", flush=True)
        met.append(elapsed < goal)
    return all(met)


def against_all_pairs() -> bool:
    """Print the table beside the original's algorithm; whether its goals are met.

    Raises:
        ValueError: The two sides disagree.
    """
    print("\n| the same counts | all pairs | ours | ratio | goal |\n|---|---|---|---|---|")
    generator = random.Random(1998)
    met = []
    for what, documents, goal in (
        ("500 documents of 20 x 20 objects", [make_document(generator, 20) for _ in range(500)], 0.5),
        ("20 documents of 200 x 200 objects", [make_document(generator, 200) for _ in range(20)], 2),
        ("a page of 1,500 x 1,500 objects of one domain", [make_page("as in English", 1500)], 4),
    ):
        slow, slow_counts = seconds(partial(all_pairs, documents))
        fast, counts = min(seconds(partial(ours, documents)) for _ in range(3))
        if counts != slow_counts:
            raise ValueError(f"{what}: the two sides give different counts")
        print(f"| {what} | {slow:.2f} s | {fast:.3f} s | {slow / fast:.1f} | {goal} |", flush=True)
        met.append(slow / fast >= goal)
    return all(met)


def pages() -> bool:
    """Print the table of large pages; whether its goals are met."""
    print("\n| 2,000 x 2,000 objects of one domain | matching | time | memory | goals |\n|---|---|---|---|---|")
    met = []
    for kind, matching in (
        ("as in English", "greedy"),
        ("all pairs overlap", "greedy"),
        ("six words", "greedy"),
        ("one span", "greedy"),
        ("as in English", "optimal"),
    ):
        elapsed, megabytes = page_in_its_own_process(kind, matching)
        print(f"| {kind} | {matching} | {elapsed:.2f} s | {megabytes:.0f} MB | 5 s, 100 MB |", flush=True)
        met.append(elapsed < 5 and megabytes < 100)
    return all(met)


def main() -> int:
    """Print the tables; 1 if a goal isn't met."""
    met = [pages(), many_documents(), against_all_pairs()]  # pages first: a process begins with its parent's peak
    print("\nAll goals met." if all(met) else "\nNot all goals met: is the machine busy?")
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
