"""Which items of lists of two trees were compared, and which of several answers count: for people who look at them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tls_tasks.trees.types import ANY_OF, AnyOf, Path, Position

Alignments = dict[Path, list[tuple[int, int]]]
"""Path of a list in the reference -> positions of its items and of those that they were compared with.

Where a dictionary or list has several valid answers, its path with :data:`~tls_tasks.trees.types.ANY_OF` behind it has
the index of the one that counts, twice.
"""


def alignments_in(reference: Any, choices: Sequence[tuple[Any, Any]]) -> Alignments:
    """Name the lists and answers of a reference, of which the recursion has noted what it chose, by their paths."""
    return dict(_with_paths(reference, {id(value): choice for value, choice in choices}, ()))


def _with_paths(value: Any, choices: dict[int, Any], path: Path) -> Iterator[tuple[Path, Any]]:
    choice = choices.get(id(value))
    if isinstance(value, AnyOf) and choice is not None:
        yield (*path, ANY_OF), [(choice, choice)]
        yield from _with_paths(value.values[choice], choices, path)
    elif isinstance(value, list) and choice:
        yield path, choice
    for step, child in steps_of(value):
        yield from _with_paths(child, choices, (*path, step))


def steps_of(value: Any) -> list[tuple[Any, Any]]:
    """List the keys or positions of a dictionary or list with what is there."""
    if isinstance(value, list):
        return [(Position(index), item) for index, item in enumerate(value)]
    return list(value.items()) if isinstance(value, dict) else []


def chosen(value: Any, alignments: Any, path: Path = ()) -> Any:
    """Replace several answers in a reference by the ones that were chosen.

    Example:
        >>> chosen({"a": AnyOf([[1], [2]]), "b": AnyOf([3, 4])}, {("a", ANY_OF): [(1, 1)]})
        {'a': [2], 'b': AnyOf(values=(3, 4))}
    """
    if isinstance(value, AnyOf) and (choice := alignments.get((*path, ANY_OF))):
        return chosen(value.values[choice[0][0]], alignments, path)
    inner = [(step, chosen(child, alignments, (*path, step))) for step, child in steps_of(value)]
    return dict(inner) if isinstance(value, dict) else [child for _, child in inner] if inner else value
