"""Texts that make careless parsers recurse, go quadratic or raise, for the tests of every parser.

With the answers in models' styles (``tests/batteries``) this is the corpus from which ``tests/fuzz`` draws. A text that
broke something belongs here: whole into HOSTILE, which every task is given, or what was bad in it into SPOILING, which
the fuzz targets put into other texts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

SMALL, LARGE = 125_000, 500_000

REPEATED = (
    "[",
    "{",
    '"',
    "(",
    " ",
    "\n",
    "7",
    "2011-",
    "|",
    "*",
    "-",
    "<think>",
    "</think>",
    "`",
    "```\n",
    "a: ",
    "2011-01-25: ",
    "2011-01-25: a\n",
    "| 2011-01-25 | a |\n",
    '{"a":',
    '["a",',
    '["',
    '[" ',
    '\\"',
    '["\\"',
    '[{"a":1} /*',
    "[{'date':",
)

PREFIXED = (
    ('["', '\\"'),
    ('["', "\\q"),
    ("[[", "7"),
    ('[{"a"', '\n"b"'),
    ("2011-01-25: ", "\t"),
    ("| a |\n|---|\n", "| "),
    ("January 25", " "),
)

SPOILING = [
    "\x00", "\x1b[2J", "\ud800", "\udfff\ud83d", "\u202e", "\u2028", "\u200b", "\ufeff", "\x85", "\xa0", "\r\n",
    "\x0c", "é", "ſ", "İ", "ß", "ﬁ", "²", "①", "Ⅳ", "٣", "五", "２０１１－０１－２５", "“", "’", "–", "…", "：",
    "，", "【1】", "👩\u200d👧", "NaN", "-Infinity", "1e999", "-0", "0" * 400, "9" * 400, "1_000", "0x1F",
    "\\u0000", "\\ud800", "\\", "\\n", "'", '"', "null", "None", "TRUE", "[]", "{}", "[{}]", "{}{}", "},{", "],[",
    '"}', ":", ",", ",,", "#", "//", "/*", "<!--", "Α", "а", "9999-12-31", "0001-01-01", "0000-00-00",
    "2011-02-30", "2011-13-01", "29 February 2012", "31/12/2011", "Q3 2011", "[1]", "[1, 2]", "[1-3]", "[99]",
    "[0]", "[-1]", "[doc_1]", "(Smith, 2011)", "[^1]: x", "## References\n", "Sources:\n", "**", "__", "~~~\n",
    "```json\n", "|---|---|\n", "> ", "1. ", "- [ ] ", "<b>", "</a>", "<a b='c'>", "<![CDATA[", "&lt;",
    "<answer>", "</answer>", "<|im_end|>", "<tool_call>", "YES", "NO", "yes or no", "Final answer: ",
    "Here is it:\n\n", "&a ", "*a ", "!!python/object ", "? ", "--- \n", "<<: *a\n", "a: &a [*a]\n",
    "%YAML 1.1\n", "key: |\n  ", "\t- x\n", '{"date": ', '"text": "', '"evidence_span": "', '"sentences": [',
    '"citations": [', '"domain": "', '{"summary": "',
]  # fmt: skip
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
    "",
    "null",
    "NaN",
    "[" * 100_000,
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
