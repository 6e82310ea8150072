"""Texts that make careless parsers recurse, go quadratic or raise, for the tests of every parser.

With the answers in models' styles (``tests/batteries``) this is the corpus from which ``tests/fuzz`` draws. A text that
broke something belongs here: whole into HOSTILE, which every task is given, or what was bad in it into SPOILING of
the JSON file beside this one, which the fuzz targets put into other texts.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

SMALL, LARGE = 125_000, 500_000

_PIECES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
REPEATED, PREFIXED = _PIECES["REPEATED"], [(start, piece) for start, piece in _PIECES["PREFIXED"]]
SPOILING = _PIECES["SPOILING"]
"""What is put into texts: characters, numbers, and pieces of markup, JSON, YAML, dates, citations and verdicts."""


def texts(size: int) -> list[tuple[str, str]]:
    """(name, text of ``size`` characters)."""
    repeated = [(piece, piece * (size // len(piece))) for piece in REPEATED]
    return repeated + [(start + piece, start + piece * (size // len(piece))) for start, piece in PREFIXED]


def seconds(parse: Callable[[str], object], text: str) -> float:
    """Processor time of one call, so that a busy machine does not matter much."""
    begin = time.process_time()
    parse(text)
    return time.process_time() - begin


def is_linear(parse: Callable[[str], object], small: str, large: str) -> bool:
    """Whether four times the text takes less than eight times as long: what is quadratic takes sixteen times.

    Noise only ever adds to a measurement, so the least of up to four counts.
    """
    times = [(seconds(parse, small), seconds(parse, large))]
    while not (held := min(one[1] for one in times) < 8 * max(min(one[0] for one in times), 0.05)) and len(times) < 4:
        times.append((seconds(parse, small), seconds(parse, large)))
    return held


HOSTILE = [
    *("", "null", "NaN", "[" * 100_000),
    '{"a":' * 50_000,
    "2011-01-25: " * 20_000,
    '[{"date": "2011-01-25", "text": ' + "1" * 10_000 + "}]",
    '[{"date": {"date": []}, "text": {"text": {}}}]',
    "[__import__('os').abort()]",
    "\x00\ud800\udfff\u202e 2011-01-25: a",
    "9999-12-31: a\n0001-01-01: b\n0000-00-00: c",
    "2011-01-25: " + "<" * 1000 + "^" * 1000,
    "2011-01-25: " + "police " * 100_000,
    "\n".join(f"{year}-01-01: a" for year in range(1, 9999, 3)),
]
