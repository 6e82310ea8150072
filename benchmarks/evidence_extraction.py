"""Time evidence_extraction on many documents and on large pages, beside the original scorer's algorithm.

    make bench
    python benchmarks/run.py evidence_extraction

Documents are made up by a seeded rule: spans of 2 to 8 words as frequent as in English, predictions that crop or extend
them. The original compares all pairs of a document, sorts them, and takes them in turn; that algorithm is written down
here, since its repository has no licence. Both sides must give the same counts, which is checked.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from benchmarks.run import Comparison, in_a_process, repeated, timed, versus
from tls_tasks.evidence.evidence_extraction import evidence_extraction

Object = dict[str, str]
Document = tuple[str, list[Object], list[Object]]
Counts = tuple[int, int, int]
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


def ours(documents: Sequence[Document]) -> Counts:
    """The counts by this package, with attributes, coverage and everything else that is in the result."""
    texts, gold, told = (list(column) for column in zip(*documents, strict=True))
    result = evidence_extraction(told, gold, texts).as_dict()
    return result["tp"], result["fp"], result["fn"]


def many() -> list[float]:
    """Seconds for 2,000 documents of 20 x 20 objects."""
    generator = random.Random(2004)
    documents = [make_document(generator, 20) for _ in range(2000)]
    return [seconds for seconds, _ in repeated(lambda: timed(partial(ours, documents)))]


def beside_all_pairs(make: Callable[[], list[Document]]) -> tuple[Callable[[], Counts], Callable[[], Counts]]:
    """The original's algorithm and ours."""
    documents = make()
    return partial(all_pairs, documents), partial(ours, documents)


def comparisons() -> Iterator[Comparison]:
    """What is compared."""
    for kind in ("as in English", "all pairs overlap"):
        what = f"a page of 2,000 x 2,000 objects of one domain, {kind}"
        # What is loaded at first use is no part of it.
        made = f"bench.ours([bench.make_page({kind!r}, 60)]), bench.make_page({kind!r}, 2000)"
        yield from in_a_process(what, "evidence_extraction", made, "bench.ours([made[1]])", (10, 100), added=True)
    yield Comparison("2,000 documents of 20 x 20 objects", many, unit="s", goal=1.6, at_most=True)
    made_documents: dict[str, tuple[Callable[[], list[Document]], float]] = {
        "500 documents of 20 x 20 objects": (lambda: [make_document(random.Random(n), 20) for n in range(500)], 0.5),
        "a page of 1,500 x 1,500 objects of one domain": (lambda: [make_page("as in English", 1500)], 4),
    }
    for what, (make, goal) in made_documents.items():
        note = "its time is that of the matching alone" if goal < 1 else ""
        yield versus(what, "all pairs", partial(beside_all_pairs, make), goal, note)
