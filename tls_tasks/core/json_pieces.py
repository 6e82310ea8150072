"""Pieces of a text that may be JSON: brackets are matched, and what is unfinished is cut back to whole items."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tls_tasks.core.json_values import MAX_DEPTH, TOKEN, decoded

_CLOSING = {"[": "]", "{": "}"}
_BRACKETS = (*_CLOSING.values(),)
_MAX_CUTS = 8  # levels to which an unfinished object is cut


@dataclass(slots=True)
class _Open:
    """A list or an object that has not ended yet.

    Attributes:
        bracket: ``[`` or ``{``.
        cut: Where its last whole item ends.
        in_value: Whether a value is expected or has begun: in a list always, in an object after a colon.
        has_inner: Whether a list or an object is one of its whole items.
    """

    bracket: str
    cut: int
    in_value: bool
    has_inner: bool = False


class Piece(NamedTuple):
    """A piece of a text that begins with a bracket.

    Attributes:
        start: Where it begins.
        end: Where its bracket is closed or the text ends; or where it is hopeless, since a bracket of the other kind
            stands in its place, or it is nested too deeply.
        path: The containers that are open at its end, the outermost first.
        depth: Levels of containers in it.
        is_unfinished: Whether the text ends in it.
    """

    start: int
    end: int
    path: list[_Open]
    depth: int
    is_unfinished: bool


def piece_at(text: str, start: int, stop: int) -> Piece:
    """Match the bracket at ``start``, in linear time; brackets in strings and comments don't count."""
    path: list[_Open] = []
    depth = 0
    for token in TOKEN.finditer(text, start, stop):
        kind, mark, end = token.lastgroup, token[0], token.end()
        if kind != "mark":
            is_whole = kind == "word" or (kind == "string" and bool(token["end"]))
        elif mark in _CLOSING:
            path.append(_Open(mark, end, mark == "["))
            if (depth := max(depth, len(path))) > MAX_DEPTH:
                return Piece(start, end, path, depth, False)
            continue
        elif is_whole := mark in _BRACKETS:
            if mark != _CLOSING[path[-1].bracket]:
                return Piece(start, end, path, depth, False)
            path.pop()
            if not path:
                return Piece(start, end, path, depth, False)
            path[-1].has_inner = True
        elif mark == ",":
            path[-1].cut, path[-1].in_value = token.start(), path[-1].bracket == "["
        elif mark == ":":
            path[-1].in_value = True
        if is_whole and path[-1].in_value:
            path[-1].cut = end  # not of an object's key, which is no item
    return Piece(start, stop, path, depth, True)


def cuts(text: str, piece: Piece, deep: bool) -> Iterator[tuple[str, int]]:
    """The piece without its unfinished item, and where it was cut.

    The whole piece is cut first; then, as long as it is an object whose value is unfinished, that value (``deep``: the
    other way round). A list of scalars is not cut: it is part of an item, not a list of items.
    """
    path = piece.path[:1]
    for outer, inner in zip(piece.path[: _MAX_CUTS - 1], piece.path[1:], strict=False):
        if outer.bracket == "[" or not (deep or inner.bracket == "{" or inner.has_inner):
            break
        path.append(inner)
    for n_levels in range(len(path), 0, -1) if deep else range(1, len(path) + 1):
        closing = "".join(_CLOSING[outer.bracket] for outer in reversed(path[:n_levels]))
        cut = path[n_levels - 1].cut
        yield text[piece.start : cut] + closing, cut


def end_of_json(content: str) -> int:
    """Where a text stops being JSON."""
    try:
        decoded(content, {}, strict=False)
    except json.JSONDecodeError as error:
        return error.pos
    except (ValueError, RecursionError):
        pass
    return 0
