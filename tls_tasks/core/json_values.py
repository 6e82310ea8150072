"""One piece of model text as a JSON value: decoded, or repaired.

json_repair guesses, so it comes last, and only for short pieces: where quotation marks don't pair it takes 0.3 s for
4 kB, 4 s for 16 kB.
"""

import json
import re
from functools import partial
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

_CLOSES = re.compile(r"\s{0,200}(?:(?://|#|\.{3}|…)[^\n\]}]{0,200}\s{0,200})?[\]}]")
_NO_WORDS = re.compile(r"\\.|(?<=\.[0-9])0{1,9}\b")
_WORD = re.compile(r"[^\W_]+")
_QUOTED = re.compile(r'(?<!\\)"(NaN|Infinity)"(?!:)')


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


def mended(text: str, notes: Notes) -> Any:
    """The value of what is JSON but for comments and trailing commas. This is linear, and for pieces of any length.

    Raises:
        ValueError: There is more wrong with it.
        RecursionError: It is nested too deeply.

    Example:
        >>> notes = {}
        >>> mended('{"text": "A", } // all', notes), [noted.detail for noted in notes]
        ({'text': 'A'}, ['trailing comma', 'comment'])
    """

    def plain(token: re.Match[str]) -> str:
        is_comment = token.lastgroup == "comment"
        if not is_comment and (token[0] != "," or not _CLOSES.match(text, token.end())):
            return token[0]
        notes[problem("repaired_json", "comment" if is_comment else "trailing comma")] = None
        return " "

    return loosely_decoded(TOKEN.sub(plain, text), notes)


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
