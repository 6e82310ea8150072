"""The look-up files of report_gen_eval, which are pickles, read without running anything in them.

A pickle is a program for a small machine. This is that machine without the instructions that fetch functions or call
them: text, numbers, lists and dicts can be built, and whatever else a file asks for is an error. It gives the entries
of the outermost dict one at a time, so that a file of 15 GB needs little memory; the file is read twice, first to learn
which values are referred to again.
"""

from __future__ import annotations

import pickletools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from tls_tasks.core.errors import DataError

_MARK = object()
_VALUES = frozenset(
    "SHORT_BINUNICODE BINUNICODE BINUNICODE8 UNICODE BININT BININT1 BININT2 INT LONG LONG1 LONG4 BINFLOAT FLOAT".split()
)
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None,
    "NEWTRUE": lambda: True,
    "NEWFALSE": lambda: False,
    "EMPTY_DICT": dict,
    "EMPTY_LIST": list,
    "EMPTY_TUPLE": tuple,
    "MARK": lambda: _MARK,
}
_STORED = frozenset({"PUT", "BINPUT", "LONG_BINPUT"})
_FETCHED = frozenset({"GET", "BINGET", "LONG_BINGET"})
_PASSED_OVER = frozenset({"PROTO", "FRAME"})


def read_lookup(path: Path) -> Iterator[tuple[str, Any]]:
    """The entries of a pickled dict with string keys, in order.

    Args:
        path: The file; never unpickled.

    Yields:
        Key and value, made of dicts, lists, tuples, text, numbers and None.

    Raises:
        DataError: A file that can't be read, is no pickle of a dict, or holds anything that isn't plain data; says what
            and at which byte.
    """
    try:
        with path.open("rb") as file:
            wanted = _referred_to(path, file)
            file.seek(0)
            yield from _Machine(path, wanted).entries(file)
    except (OSError, ValueError, IndexError, TypeError, KeyError, MemoryError, OverflowError) as error:
        raise DataError(f"{path}: not readable as a pickled dict: {error}") from error


def _referred_to(path: Path, file: BinaryIO) -> frozenset[int]:
    """The numbers of the values that are fetched again; all instructions are checked on the way."""
    wanted = set()
    for code, argument, position in pickletools.genops(file):
        if code.name not in _ALLOWED:
            raise DataError(
                f"{path}, byte {position}: the pickle asks for {code.name}, which plain data doesn't need"
                f"{f' ({argument})' if code.name == 'GLOBAL' else ''}; nothing in it was run"
            )
        if code.name in _FETCHED:
            wanted.add(int(str(argument)))
    return frozenset(wanted)


class _Machine:
    """Builds values on a stack; entries of the dict at its bottom are handed out instead of kept."""

    def __init__(self, path: Path, wanted: frozenset[int]) -> None:
        self._path, self._wanted = path, wanted
        self._stack: list[Any] = []
        self._memory: dict[int, Any] = {}
        self._n_stored = 0

    def entries(self, file: BinaryIO) -> Iterator[tuple[str, Any]]:
        """The entries of the outermost dict."""
        for code, argument, _ in pickletools.genops(file):
            name = code.name
            if name in _VALUES:
                self._stack.append(argument)
            elif name in _CONSTANTS:
                self._stack.append(_CONSTANTS[name]())
            elif name in _FETCHED:
                self._stack.append(self._memory[int(str(argument))])
            elif name == "MEMOIZE" or name in _STORED:
                self._store(self._n_stored if argument is None else int(str(argument)))
            elif name in ("SETITEM", "SETITEMS"):
                yield from self._set_items(self._take(2 if name == "SETITEM" else None))
            elif name in _BUILDERS:
                _BUILDERS[name](self)
        if len(self._stack) != 1 or not isinstance(self._stack[0], dict):
            raise ValueError("it holds no dict")
        yield from self._handed_out(list(self._stack[0].items()))

    def _store(self, number: int) -> None:
        self._n_stored += 1
        if number in self._wanted:
            self._memory[number] = self._stack[-1]

    def _take(self, n: int | None) -> list[Any]:
        """The topmost n values, or those down to the mark, taken off the stack."""
        if n is None:
            position = len(self._stack) - 1
            while self._stack[position] is not _MARK:
                position -= 1
            values = self._stack[position + 1 :]
            del self._stack[position:]
        else:
            values = self._stack[-n:]
            del self._stack[-n:]
        return values

    def _set_items(self, values: list[Any]) -> Iterator[tuple[str, Any]]:
        items = list(zip(values[::2], values[1::2], strict=True))
        if len(self._stack) == 1:
            yield from self._handed_out(items)
        else:
            self._stack[-1].update(items)

    def _handed_out(self, items: list[tuple[Any, Any]]) -> Iterator[tuple[str, Any]]:
        for key, value in items:
            if not isinstance(key, str):
                raise ValueError(f"a key is {type(key).__name__}, expected str")
            yield key, value

    def extend(self, n: int | None) -> None:
        """Put values behind those of the list below them."""
        values = self._take(n)
        self._stack[-1].extend(values)

    def gather(self, n: int | None, kind: Callable[[list[Any]], Any]) -> None:
        """Make one value of several."""
        self._stack.append(kind(self._take(n)))


def _dict(values: list[Any]) -> dict[Any, Any]:
    return dict(zip(values[::2], values[1::2], strict=True))


_BUILDERS: dict[str, Callable[[_Machine], None]] = {
    "APPEND": lambda machine: machine.extend(1),
    "APPENDS": lambda machine: machine.extend(None),
    "LIST": lambda machine: machine.gather(None, list),
    "TUPLE": lambda machine: machine.gather(None, tuple),
    "TUPLE1": lambda machine: machine.gather(1, tuple),
    "TUPLE2": lambda machine: machine.gather(2, tuple),
    "TUPLE3": lambda machine: machine.gather(3, tuple),
    "DICT": lambda machine: machine.gather(None, _dict),
    "STOP": lambda machine: None,
}

_ALLOWED = frozenset({*_VALUES, *_CONSTANTS, *_STORED, *_FETCHED, *_PASSED_OVER, *_BUILDERS, "MEMOIZE"}) | {
    "SETITEM",
    "SETITEMS",
}
