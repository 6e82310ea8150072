"""A reader of JSON lists and objects within text: one pass, no recursion, and it says what it kept of a damaged one.

:mod:`json` can't do this part: it raises RecursionError on ``[[[[…``, computes a line number for each of a million
failed attempts (which makes a scan quadratic), and keeps nothing of a list that a token limit cut off.

Beyond strict JSON it takes what can be read in one way only, and notes it as ``repaired_json``: comments, trailing
commas, a missing comma between two containers or at the end of a line, control characters in strings, needless
backslashes, zeros before a number, no-break spaces, ``None``, ``True`` and ``False``. :func:`scan` with ``loose``
guesses a little: strings in single quotes, with quotes or apostrophes inside them, and keys without quotes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from tls_tasks.core.json_values import Notes, number_of, object_of, problem

MAX_DEPTH = 64
"""Containers nested deeper are given up: no model means them, and what walks them later may recurse."""

MAX_CUTS = 8
"""Levels to which an unfinished object is cut."""

MAX_BROKEN = 10_000
"""Damaged containers in one text after which it is given up: a model in a loop."""


class Container(NamedTuple):
    """One container of a text.

    Attributes:
        state: ``whole``; ``unfinished``: the text ends in it; ``broken``: something in it can't be read.
        cuts: What may be used: the whole value; or else the part before the trouble without its unfinished item, then,
            as long as it is an object whose value is unfinished, the same with that value cut in the same way. A list
            of scalars is not cut: it is part of an item, not a list of items.
        notes: What was noted in it.
        start: Where it begins.
        end: Where reading stopped.
    """

    state: Literal["whole", "unfinished", "broken"]
    cuts: tuple[Any, ...]
    notes: Notes
    start: int
    end: int


@dataclass(slots=True)
class Open:
    """A container that has not ended yet, and what is allowed next in it."""

    is_object: bool
    expect: Literal["item", "key", "colon", "value", "comma"]
    items: list[Any] = field(default_factory=list)  # (key, value) pairs of an object
    key: str = ""

    def put(self, value: Any) -> None:
        """Add a finished item."""
        self.items.append((self.key, value) if self.is_object else value)
        self.expect = "comma"

    def may_be_cut(self) -> bool:
        """Whether it is an object, or a list with a list or an object in it."""
        return self.is_object or any(isinstance(item, (list, dict)) for item in self.items)

    def finished(self, notes: Notes) -> Any:
        """The container as Python has it."""
        return object_of(self.items, notes) if self.is_object else self.items


# A list of numbers in prose is a citation, so it is no beginning; nor is a bracket before a word.
_BEGINNING = re.compile(r"\{\s*(?:\"|//|# )|\[\s*(?:[\[{\"]|# )")
_LOOSE_BEGINNING = re.compile(r"\{\s*(?:[\"'A-Za-z_]|//|# )|\[\s*(?:[\[{\"']|# )")
LOOSE_ONLY = re.compile(r"\{\s*['A-Za-z_]|\[\s*'")
"""What a loose scan may open and a strict one does not: a single quote or a word after a bracket."""

_BLANKS = " \t\r\n\u00a0"
_TO_QUOTE = re.compile(r"[^\"\\]*(?:\\.[^\"\\]*)*", re.DOTALL)  # nothing follows, so there is nothing to go back for
_CONTROL = re.compile(r"[\x00-\x1f]")
_RUN = re.compile(r"[A-Za-z0-9.+-]*")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]{1,9})?")
_ZERO_FIRST = re.compile(r"-?0[0-9]")
_BRACKETS = re.compile(r"[\[{\s]*")
_NEW_LINE = re.compile(r"\n[ \t\r]*\Z")
_ESCAPE = re.compile(r"\\(?:([\"\\/bfnrt]|u[0-9a-fA-F]{4})|(.?))|\"", re.DOTALL)
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_COMMENTS = {"//": "\n", "/*": "*/"}
_NUMBER_WORDS = ("NaN", "Infinity", "-Infinity")
# Loosely, a quote ends a string if what follows could follow a string. All repetitions are bounded.
_BARE_KEY = re.compile(r"([A-Za-z_][A-Za-z0-9_ -]{0,40}?)\s{0,9}:")
_KEY_END = {quote: re.compile(rf"[^\n]{{0,60}}?{quote}(?=\s{{0,9}}:)") for quote in "\"'"}
_VALUE_END = {
    quote: re.compile(
        rf"(?<!\\){quote}(?=\s{{0,40}}(?:[\]}}]|\Z|,\s{{0,40}}(?:[\"'\[{{\]}}]|[A-Za-z_][A-Za-z0-9_]{{0,30}}\s{{0,3}}:)))"
    )
    for quote in "\"'"
}


def scan(text: str, *, loose: bool = False, deep: bool = False) -> Iterator[Container]:
    """The JSON lists and objects of a text, outermost ones, from left to right.

    Time is linear in the text: reading goes on where it stopped, also after a broken container.

    Args:
        text: Any text.
        loose: Whether to guess where strings end, see above.
        deep: Whether as much as possible of what is unfinished is wanted, see :class:`Container`.

    Example:
        >>> for found in scan('See [1]: [{"a": 1},] and {"b": {"c": [2], "d": [3, 4'):
        ...     print(found.state, found.cuts)
        whole ([{'a': 1}],)
        unfinished ({}, {'b': {'c': [2]}})
        >>> [found.cuts for found in scan("[{date: '2011', text: 'Cairo's day'}]", loose=True)]
        [([{'date': '2011', 'text': "Cairo's day"}],)]
    """
    position = broken = 0
    reading, beginnings = (_LooseReading, _LOOSE_BEGINNING) if loose else (_Reading, _BEGINNING)
    while broken < MAX_BROKEN and (beginning := beginnings.search(text, position)):
        found = reading(text, beginning.start(), deep).read()
        yield found
        position = found.end
        broken += found.state == "broken"


class _Reading:
    """The reading of one container that begins at ``start``."""

    __slots__ = ("deep", "notes", "open", "position", "start", "text", "value")
    quotes = '"'

    def __init__(self, text: str, start: int, deep: bool) -> None:
        self.text, self.start, self.position, self.deep = text, start, start, deep
        self.notes: Notes = {}
        self.open: list[Open] = []
        self.value: Any = None

    def read(self) -> Container:
        """Read until the container ends, the text ends, or something can't be read."""
        text, length = self.text, len(self.text)
        while self.position < length:
            char = text[self.position]
            if char in _BLANKS:
                if char == "\u00a0":
                    self._note("no-break space")
                self.position += 1
            elif char in "/#" and self._comment():
                pass
            elif not self._token(char):
                break
            elif not self.open:
                return Container("whole", (self.value,), self.notes, self.start, self.position)
        # A string without its end has moved the position to the end of the text.
        state: Literal["unfinished", "broken"] = "unfinished" if self.position == length else "broken"
        return Container(state, self._cuts(), self.notes, self.start, self.position)

    def _comment(self) -> bool:
        """Pass over ``// …``, ``# …`` or ``/* … */``; one that doesn't end goes to the end of the text."""
        opening = self.text[self.position : self.position + 2]
        closing = "\n" if opening[0] == "#" else _COMMENTS.get(opening)
        if closing is None:
            return False
        self._note("comment")
        end = self.text.find(closing, self.position + len(closing))
        self.position = len(self.text) if end < 0 else end + len(closing)
        return True

    def _token(self, char: str) -> bool:
        """Take the token that begins with ``char``; False if it has no place here."""
        if char in "[{":
            return self._begin(char)
        top = self.open[-1]
        if char in "]}":
            return self._end(char, top)
        if char == "," and top.expect == "comma":
            top.expect = "key" if top.is_object else "item"
        elif char == ":" and top.expect == "colon":
            top.expect = "value"
        elif char in self.quotes and (top.expect in ("item", "key", "value") or self._misses_comma(top)):
            return self._string(top)
        elif char not in ',:"' and top.expect in ("item", "value"):
            return self._scalar(top)
        else:
            return False
        self.position += 1
        return True

    def _begin(self, char: str) -> bool:
        if self.open:
            top = self.open[-1]
            if top.expect == "comma" and not top.is_object and isinstance(top.items[-1], (list, dict)):
                self._note("missing comma")
            elif top.expect not in ("item", "value"):
                return False
        if len(self.open) == MAX_DEPTH:
            # A model that repeats a bracket for ever: pass over them all at once.
            run = _BRACKETS.match(self.text, self.position)
            self.position = run.end() if run else self.position
            return False
        self.open.append(Open(char == "{", "key" if char == "{" else "item"))
        self.position += 1
        return True

    def _misses_comma(self, top: Open) -> bool:
        """Whether a new line begins with what can only be the next key, or the next item of a list."""
        if top.expect != "comma" or not _NEW_LINE.search(self.text, max(0, self.position - 80), self.position):
            return False
        if top.is_object and not _KEY_END[self.text[self.position]].match(self.text, self.position + 1):
            return False
        self._note("missing comma")
        top.expect = "key" if top.is_object else "item"
        return True

    def _end(self, char: str, top: Open) -> bool:
        if top.is_object != (char == "}") or top.expect not in ("item", "key", "comma"):
            return False
        if top.items and top.expect != "comma":
            self._note("trailing comma")
        self.position += 1
        self.value = self.open.pop().finished(self.notes)
        if self.open:
            self.open[-1].put(self.value)
        return True

    def _string(self, top: Open) -> bool:
        end = self._string_end(top)
        if end < 0:
            return False
        value = self._unescaped(self.text[self.position + 1 : end])
        self.position = end + 1
        if top.expect == "key":
            top.key, top.expect = value, "colon"
        else:
            top.put(value)
        return True

    def _string_end(self, top: Open) -> int:
        """Where the closing quote is; without one, -1, and the position goes to the end of the text."""
        match = _TO_QUOTE.match(self.text, self.position + 1)
        end = match.end() if match else len(self.text)
        if end < len(self.text) and self.text[end] == '"':
            return end
        self.position = len(self.text)
        return -1

    def _unescaped(self, raw: str) -> str:
        if _CONTROL.search(raw):
            self._note("control character in a string")
        if "\\" not in raw:
            return raw
        value: str = json.loads(f'"{_ESCAPE.sub(self._valid_escape, raw)}"', strict=False)
        return value

    def _valid_escape(self, escape: re.Match[str]) -> str:
        """An escape or a quote within a string as JSON wants it."""
        if escape[1]:
            return escape[0]
        if escape[0] == '"':
            return '\\"'
        self._note("needless backslash")
        return escape[2]

    def _scalar(self, top: Open) -> bool:
        run = _RUN.match(self.text, self.position)
        token = run.group() if run else ""
        if self.position + len(token) == len(self.text) and token not in _WORDS:
            self.position = len(self.text)  # the text may have been cut within it
            return False
        if token in _WORDS:
            if token[0].isupper():
                self._note("Python literal")
            top.put(_WORDS[token])
        elif _NUMBER.fullmatch(token) or token in _NUMBER_WORDS:
            if _ZERO_FIRST.match(token):
                self._note("leading zero")
            top.put(number_of(token, self.notes))
        else:
            return False
        self.position += len(token)
        return True

    def _note(self, what: str) -> None:
        self.notes[problem("repaired_json", what)] = None

    def _cuts(self) -> tuple[Any, ...]:
        """What is whole in the open containers; see :class:`Container`."""
        path = [self.open[0]]
        for inner in self.open[1:MAX_CUTS]:
            if not path[-1].is_object or path[-1].expect != "value" or not (self.deep or inner.may_be_cut()):
                break
            path.append(inner)
        cuts = tuple(_cut(path[: depth + 1], self.notes) for depth in range(len(path)))
        return cuts[::-1] if self.deep else cuts


class _LooseReading(_Reading):
    """A reading that guesses where strings end."""

    __slots__ = ()
    quotes = "\"'"

    def _token(self, char: str) -> bool:
        top = self.open[-1] if self.open else None
        if top is not None and top.expect == "key" and (match := _BARE_KEY.match(self.text, self.position)):
            top.key, top.expect, self.position = match[1], "colon", match.end(1)
            return True
        return super()._token(char)

    def _string_end(self, top: Open) -> int:
        quote = self.text[self.position]
        if top.expect == "key":
            match = _KEY_END[quote].match(self.text, self.position + 1)
            return match.end() - 1 if match else -1
        match = _VALUE_END[quote].search(self.text, self.position + 1)
        if match is None:
            self.position = len(self.text)
        return match.start() if match else -1


def _cut(path: list[Open], notes: Notes) -> Any:
    """The first container of ``path`` with the others inside it, each without its unfinished item."""
    value = path[-1].finished(notes)
    for outer in reversed(path[:-1]):
        value = object_of([*outer.items, (outer.key, value)], notes)
    return value
