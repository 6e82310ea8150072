"""One piece of model text as a JSON value: decoded, mended where it can be meant in one way only, or repaired.

json_repair guesses, so it comes last, and only for short pieces: where quotation marks don't pair it takes 0.3 s for
4 kB, 4 s for 16 kB.
"""

import datetime
import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from typing import Any

from tls_tasks.core.parsed import Problem, problem
from tls_tasks.core.reasoning import phrases

MAX_DIGITS = 640
"""Digits of an integer: the lowest limit that Python may be set to, so that ``int`` can't refuse it."""

MAX_DEPTH = 64
"""Levels of lists and objects: no model means what is nested deeper."""

MAX_REPAIRED_DEPTH = 50
"""Levels that json_repair is given."""

Notes = dict[Problem, None]
"""What was noted while reading, each thing once, in order."""

TOKEN = re.compile(phrases(__file__)["json_token"], re.DOTALL)
"""What is to be told apart in JSON and in what is nearly JSON; numbers and all else stand between tokens."""

_ENDS = phrases(__file__)["string_ends"]
_CLOSERS = {
    quotes: re.compile(rf"(?<!\\)[{ends}](?={_ENDS})") for quotes, ends in (("'", "'"), ("“”„", "“”"), ("‘", "’"))
}
_LINE_END = re.compile("\n")
_CLOSES = re.compile(r"\s{0,200}[\]}]")
_WORDS = {"None": "null", "True": "true", "False": "false"}
_MENDED = {
    **dict.fromkeys(["quoted", "key"], "quotes"), **dict.fromkeys(["word", "call"], "Python literal"),
    "mark": "trailing comma", "blank": "escaped line break",
}  # fmt: skip
_NO_WORDS = re.compile(r"\\.|(?<=\.[0-9])0{1,9}\b")
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'(?<!\\)"(NaN|Infinity)"(?!:)')
_MOMENTS = {"date": datetime.date, "datetime": datetime.datetime, "time": datetime.time}


class RepeatedKeys(dict[str, Any]):
    """An object in which a key occurs more than once: as a dict the last value counts, ``pairs`` has them all."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def object_of(pairs: list[tuple[str, Any]], notes: Notes) -> dict[str, Any]:
    """The object with these keys and values; repeated keys are noted."""
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            notes[problem("duplicate_key", key)] = None
        seen.add(key)
    return RepeatedKeys(pairs)


def number_of(token: str, notes: Notes) -> int | float:
    """The number; one that no finite float holds is noted, and so are NaN and Infinity."""
    if token.lstrip("-").isdigit() and len(token) <= MAX_DIGITS:
        return int(token)
    value = float(token)
    if value - value != 0:  # infinite or NaN
        notes[problem("non_finite", token)] = None
    return value


def decoded(text: str, notes: Notes, *, strict: bool = True) -> Any:
    """The value of a JSON document; numbers of any size are taken, and repeated keys are kept.

    Args:
        text: The document.
        notes: Collects what is wrong with it.
        strict: Whether control characters in strings are no JSON.

    Raises:
        ValueError: The text is no JSON document.
        RecursionError: It is nested too deeply.
    """
    numbers: Any = dict.fromkeys(("parse_int", "parse_float", "parse_constant"), partial(number_of, notes=notes))
    return json.loads(text, strict=strict, object_pairs_hook=partial(object_of, notes=notes), **numbers)


def loosely_decoded(text: str, notes: Notes) -> Any:
    """The same, with control characters in strings, which are noted."""
    try:
        return decoded(text, notes)
    except json.JSONDecodeError as error:
        if not error.msg.startswith("Invalid control character"):
            raise
    notes.clear()
    value = decoded(text, notes, strict=False)
    notes[problem("repaired_json", "control character in a string")] = None
    return value


@lru_cache(maxsize=4)
def _places(text: str, pattern: re.Pattern[str]) -> list[int]:
    """Where a pattern matches, looked up once for a text and not from each place that asks for the next one."""
    return [found.start() for found in pattern.finditer(text)]


def _next(text: str, pattern: re.Pattern[str], position: int) -> int:
    """The first place from a position on where a pattern matches; the end of the text if there is none."""
    places = _places(text, pattern)
    at = bisect_left(places, position)
    return places[at] if at < len(places) else len(text)


def tokens(text: str, start: int, stop: int) -> Iterator[tuple[str, re.Match[str], int]]:
    """The kind, the match and the end of each token; of a string in other quotes, ``quoted``, the match is its first.

    Such a string in straight quotes ends on its line.
    """
    position = start
    while token := TOKEN.search(text, position, stop):
        kind, position = str(token.lastgroup), token.end()
        if kind == "quote":
            closer = next(pattern for quotes, pattern in _CLOSERS.items() if token[0] in quotes)
            end = _next(text, closer, position)
            if end >= stop or (token[0] == "'" and _next(text, _LINE_END, position) < end):
                continue
            kind, position = "quoted", end + 1
        yield kind, token, position


def mended(text: str, notes: Notes) -> Any:
    r"""The value of what is JSON but for commas, comments, keys without quotes, other quotes, and what Python prints.

    The last are ``None``, dates and numbers such as ``datetime.date(2020, 1, 2)`` and ``Decimal('1.5')``, and line
    breaks that are written ``\n``.

    This is linear, and for pieces of any length; json_repair mends more, of short ones.

    Raises:
        ValueError: There is more wrong with it.
        RecursionError: It is nested too deeply.

    Example:
        >>> notes = {}
        >>> mended("{'text': 'The \"big\" one', when: None, } // all", notes), [noted.detail for noted in notes]
        ({'text': 'The "big" one', 'when': None}, ['quotes', 'Python literal', 'trailing comma', 'comment'])
        >>> mended("{“day”: datetime.date(2020, 1, 2),\\n 'cost': Decimal('1.5')}", notes)
        {'day': '2020-01-02', 'cost': 1.5}
    """

    def plain(kind: str, token: re.Match[str], written: str) -> str:
        if kind == "string" or (kind == "mark" and written not in ",\u00a0"):  # nearly all there are
            return written
        if kind in ("comment", "blank") or written == "\u00a0" or (written == "," and _CLOSES.match(text, token.end())):
            new = " "
        elif kind == "quoted":
            new = _quoted(written)
        elif kind == "call":
            new = _constructed(token)
        elif kind == "key":
            new = f'"{written}"'
        else:
            new = _WORDS.get(written, written)
        if new != written:
            notes[problem("repaired_json", _MENDED.get(kind, kind))] = None
        return new

    parts: list[str] = []
    position = 0
    for kind, token, end in tokens(text, 0, len(text)):
        parts += text[position : token.start()], plain(kind, token, text[token.start() : end])
        position = end
    return loosely_decoded("".join((*parts, text[position:])), notes)


def _quoted(written: str) -> str:
    """A string in other quotes as JSON has it."""
    inner = written[1:-1].replace("\\'", "'").replace('\\"', '"').replace('"', '\\"')
    return f'"{inner}"'


def _constructed(call: re.Match[str]) -> str:
    """What a call in Python constructs, as JSON: a date or time, a number or text; all else is text. Nothing is run."""
    name, arguments = call["name"], [part.strip() for part in call["arguments"].split(",")]
    with suppress(ValueError, TypeError):
        if name in _MOMENTS:
            zone = "+00:00" if arguments[-1].lower().endswith("utc") else ""
            numbers = [int(part.rpartition("=")[2]) for part in arguments[: len(arguments) - bool(zone)]]
            return f'"{_MOMENTS[name](*numbers).isoformat()}{zone}"'
        (argument,) = arguments
        if argument[0] + argument[-1] in ("''", '""'):
            return argument[1:-1] if name == "Decimal" else _quoted(argument)
        float(argument)
        return argument
    return json.dumps(call[0])


def repaired(text: str, notes: Notes) -> Any:
    """What json_repair makes of a text; words that it drops are noted, and so are NaN and Infinity.

    Raises:
        Exception: Of any kind: it is another project's parser on a model's text.
    """
    import json_repair

    made = json.dumps(json_repair.loads(text, skip_json_loads=True), ensure_ascii="\\u" in text)
    # Neither what is escaped nor zeros at the end of decimals are words.
    written, read = (dict.fromkeys(_WORD.findall(_NO_WORDS.sub(" ", one.lower()))) for one in (text, f"{made} None"))
    notes[problem("repaired_json", "json_repair")] = None
    if dropped := " ".join(word for word in written if word not in read):
        notes[problem("broken_json", f"json_repair dropped: {dropped}")] = None
    return decoded(made if _QUOTED.search(text) else _QUOTED.sub(r"\1", made), notes)
