"""Hunt for texts on which a reader takes more than linear time; a target of ``make fuzz``.

The texts are made of the patterns' own literals: a string that a pattern could match is drawn, some of it is repeated,
and a character that fits nowhere ends it. The pattern's reader, or each one if they share it, is given 4 kB, 64 kB and
1 MB of it.

    python scripts/hunt.py --seconds 60 --seed 7
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import takewhile
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent.parent))

from tls_tasks.core.reasoning import Patterns

SIZES = (4_000, 64_000, 1_000_000)
GROWTH = 20
"""How many times as long a text of sixteen times the length may take."""
FASTEST = 0.05
"""Seconds below which times are noise."""
RARELY = 0.75
"""How often a text that takes no more than its share at 64 kB is not tried with 1 MB."""
FAILING = ("", "!", "\x00", "é", "\n", "x", "1", "]", '"', "’")
_CLASSES = {
    "DIGIT": "0123",
    "SPACE": " \t\n",
    "WORD": "ab_1",
    "NOT_DIGIT": "a -",
    "NOT_SPACE": "a1.",
    "NOT_WORD": " .-\n",
}


def patterns() -> dict[str, re.Pattern[str]]:
    """Every pattern of the package by its name."""
    found: dict[str, re.Pattern[str]] = {}
    readers()  # imports all that reads
    for where, module in sorted(sys.modules.items()):
        if not where.startswith("tls_tasks."):
            continue
        for name, value in vars(module).items():
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                found[f"{where}.{name}"] = value
            elif isinstance(value, Patterns):
                found.update({f"{where}.{key}": value[key] for key in value._texts})
    return found


def drawn(pattern: re.Pattern[str]) -> str:
    """A string that a pattern could match, but for what its lookarounds and its groups of the past say."""
    return "".join(_parts(parser.parse(pattern.pattern, pattern.flags)))[:200]


def _parts(tree: Any) -> Iterator[str]:
    for code, value in tree:
        if code is codes.LITERAL:
            yield chr(value)
        elif code is codes.NOT_LITERAL or code is codes.ANY:
            yield random.choice("a1 .")
        elif code is codes.IN:
            yield _member(value)
        elif code is codes.BRANCH:
            yield from _parts(random.choice(value[1]))
        elif code is codes.SUBPATTERN:
            yield from _parts(value[3])
        elif code in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT):
            for _ in range(min(max(value[0], random.randint(0, 3)), value[1], 9)):
                yield from _parts(value[2])
        elif code in (codes.ASSERT, codes.ASSERT_NOT) and random.random() < 0.5:
            yield from _parts(value[1])
        elif code is codes.ATOMIC_GROUP:
            yield from _parts(value)


def _member(members: Any) -> str:
    """A character of a class."""
    code, value = random.choice(members)
    if code is codes.LITERAL:
        return chr(value)
    if code is codes.RANGE:
        return chr(random.choice((value[0], value[1])))
    return random.choice(_CLASSES.get(str(value).removeprefix("CATEGORY_"), "a1 .\n"))


def readers() -> dict[str, Callable[[str], object]]:
    """The readers of model text, by family."""
    from tls_tasks.evidence.read import parse_evidence
    from tls_tasks.reports.read import parse_report
    from tls_tasks.summaries.read import parse_summary
    from tls_tasks.timelines.read import parse_timeline
    from tls_tasks.trees.read import parse_tree

    ids = ["d1", "d2", "5", "e01_1"]
    cited: Callable[[str], object] = partial(parse_report, doc_ids=ids)
    return {
        "timelines": parse_timeline,
        "evidence": parse_evidence,
        "trees": parse_tree,
        "reports": cited,
        "summaries": parse_summary,
    }


def seconds(read: Callable[[str], object], text: str) -> float:
    """Processor time of a reading."""
    begin = time.process_time()
    read(text)
    return time.process_time() - begin


def grows(read: Callable[[str], object], text_of: Callable[[int], str]) -> list[float]:
    """The times at the sizes, if one of them is more than its share of the one before; empty if all are fair."""
    times = [seconds(read, text_of(SIZES[0]))]
    for size in SIZES[1:]:
        limit = GROWTH * max(FASTEST, times[-1])
        times.append(seconds(read, text_of(size)))
        if times[-1] > limit and min(seconds(read, text_of(size)) for _ in range(2)) > limit:
            return times
        is_fair = times[-1] < times[0] * SIZES[1] / SIZES[0] and random.random() < RARELY
        if times[-1] < FASTEST / GROWTH or is_fair:
            break
    return []


class Text(NamedTuple):
    """A text of any size: a head, a piece that is repeated, and an end."""

    head: str
    piece: str
    end: str

    def __call__(self, size: int) -> str:
        """Return so many characters of it, and what it is made of for none."""
        return self.head + self.piece * (size // len(self.piece)) + self.end if size else " + ".join(map(repr, self))


def texts(every: Mapping[str, re.Pattern[str]]) -> Iterator[tuple[str, Text]]:
    """Draw a text for each pattern, again and again; those for which the pattern itself takes too long come first."""
    while True:
        round_of_all = {name: _text(pattern) for name, pattern in sorted(every.items())}
        shares = {name: _share(every[name], text) + random.random() for name, text in round_of_all.items()}
        yield from sorted(round_of_all.items(), key=lambda item: -shares[item[0]])


def _text(pattern: re.Pattern[str]) -> Text:
    pieces = [drawn(pattern) for _ in range(random.randint(1, 2))] + random.choices(FAILING, k=1)
    cut = [piece[random.randint(0, len(piece) // 2) :] if random.random() < 0.5 else piece for piece in pieces]
    head = random.choice(("", "", cut[0], "# ", "2011-01-25: ", "[1] "))
    return Text(head, "".join(cut) or "a", random.choice(FAILING))


def _share(pattern: re.Pattern[str], text: Text) -> int:
    """How many times its fair share a pattern takes for 4 kB, as a whole number."""
    short, long = (seconds(lambda own: [*pattern.finditer(own)], text(size)) for size in (250, 4_000))
    return int(long / max(short, 0.00005) / 16)


def main() -> int:
    """Draw texts until the time is up; 1 if one was too slow."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    options.add_argument("--seconds", type=float, default=60)
    options.add_argument("--seed", type=int, default=0)
    args = options.parse_args()
    random.seed(args.seed)
    warnings.simplefilter("ignore")
    every, begin, n_texts, slow = patterns(), time.monotonic(), 0, 0
    for name, text_of in takewhile(lambda _: time.monotonic() - begin < args.seconds, texts(every)):
        every_reader, own = readers(), name.split(".")[1]
        for family, read in {own: every_reader[own]}.items() if own in every_reader else every_reader.items():
            print(f"trying {family}: {text_of(0)}", file=sys.stderr, flush=True)
            if times := grows(read, text_of.__call__):
                slow += 1
                said = ", ".join(f"{size:,}: {taken:.2f} s" for size, taken in zip(SIZES, times, strict=False))
                print(f"{family}: {text_of(0)} (of {name}): {said}", flush=True)
        n_texts += 1
    print(f"time: {n_texts} texts from {len(every)} patterns, {slow} too slow")
    return int(slow > 0)


if __name__ == "__main__":
    sys.exit(main())
