"""What trees are made of beyond plain values: several valid answers, paths, and the depth that is too deep."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 64
"""Dictionaries and lists nested deeper than this are no tree: no schema asks for them, and what walks them recurses."""

ANY_OF = "$any_of"
"""The key by which a reference in JSON gives several valid answers: ``{"$any_of": ["USA", "United States"]}``."""

Path = tuple[Hashable, ...]
"""Where a node is: keys, and positions in lists."""


@dataclass(frozen=True, slots=True, init=False)
class AnyOf:
    """Several valid answers for one leaf of a reference: the one that a prediction meets best counts.

    Attributes:
        values: The answers, at least one. None among them: the leaf may be absent.

    Raises:
        ValueError: No answer at all.

    Example:
        >>> AnyOf(["USA", "United States", None]).values
        ('USA', 'United States', None)
        >>> AnyOf(["USA", None]).present, AnyOf(["USA", None]).may_be_null
        (('USA',), True)
    """

    values: tuple[Any, ...]

    def __init__(self, values: Sequence[Any]) -> None:
        """``values`` as a list."""
        if isinstance(values, str | bytes | Mapping) or not len(values):
            raise ValueError(f"AnyOf takes a list of one answer or more, got {values!r}")
        object.__setattr__(self, "values", tuple(values))

    @property
    def present(self) -> tuple[Any, ...]:
        """The answers that are not null."""
        return tuple(value for value in self.values if value is not None)

    @property
    def may_be_null(self) -> bool:
        """Whether null is a valid answer."""
        return any(value is None for value in self.values)


def path_name(path: Sequence[Hashable]) -> str:
    """A path as people write it; the root is ``$``.

    Example:
        >>> path_name(("lines", 2, "unit price")), path_name(()), path_name((0, "a"))
        ("lines[2]['unit price']", '$', '[0].a')
    """
    name = ""
    for step in path:
        if isinstance(step, str) and step.isidentifier():
            name += f".{step}" if name else step
        else:
            name += f"[{step!r}]"
    return name or "$"


def is_plain(value: Any, without_key: str | None = None) -> bool:
    """Whether a value has nothing but dicts, lists, finite numbers, text, booleans and null, not nested too deeply.

    Args:
        value: Any value.
        without_key: A key that no dictionary in it may have.

    Example:
        >>> is_plain({"a": [1, None]}), is_plain({"a": float("nan")}), is_plain({"a": (1, 2)})
        (True, False, False)
    """
    layer = [value]
    for _ in range(MAX_DEPTH):
        kinds = set(map(type, layer))  # one question for all values of a level: trees come by the thousand
        if kinds <= _SCALARS:
            return True
        if not kinds <= _PLAIN or (float in kinds and not all(map(_is_finite, layer))):
            return False
        inner = [one for one in layer if type(one) is dict] if dict in kinds else []
        if without_key is not None and any(without_key in one for one in inner):
            return False
        deeper = [value for one in inner for value in one.values()]
        if list in kinds:
            deeper += [value for one in layer if type(one) is list for value in one]
        layer = deeper
    return set(map(type, layer)) <= _SCALARS | {float} and all(map(_is_finite, layer))


def _is_finite(value: Any) -> bool:
    return type(value) is not float or math.isfinite(value)


_SCALARS: frozenset[type] = frozenset({str, int, bool, type(None)})
_PLAIN = _SCALARS | {float, dict, list}


def is_too_deep(value: Any) -> bool:
    """Whether dictionaries and lists are nested more than :data:`MAX_DEPTH` deep.

    Example:
        >>> deep = []
        >>> for _ in range(100):
        ...     deep = [deep]
        >>> is_too_deep(deep), is_too_deep({"a": [1]})
        (True, False)
    """
    layer = [value]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for one in layer:
            if isinstance(one, Mapping):
                deeper += one.values()
            elif isinstance(one, list | tuple):
                deeper += one
        if not deeper:
            return False
        layer = deeper
    return any(isinstance(one, Mapping | list | tuple) for one in layer)


def plain(value: Any, bad_numbers: list[float] | None = None) -> Any:
    """The same with dicts for mappings, lists for tuples, and None for NaN and infinity.

    Args:
        value: Not nested too deeply.
        bad_numbers: Takes what was NaN or infinite.

    Example:
        >>> plain({"a": (1, float("nan"))})
        {'a': [1, None]}
    """
    if isinstance(value, Mapping):
        return {key: plain(one, bad_numbers) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one, bad_numbers) for one in value]
    if isinstance(value, float) and not math.isfinite(value):
        if bad_numbers is not None:
            bad_numbers.append(value)
        return None
    return value
