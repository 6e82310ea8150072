"""Units of corpora of many documents, kept part by part; and units by topic."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any


class Columns(Sequence[Mapping[str, float]]):
    """Units that are kept part by part, for corpora of many documents; each is made when it is asked for.

    Example:
        >>> units = Columns({"right": [1, 0], "asked": [2, 2]}, 2)
        >>> units[0], units.sums
        ({'right': 1, 'asked': 2}, {'right': 1.0, 'asked': 4.0})
    """

    def __init__(self, columns: Mapping[str, Sequence[float]], n: int) -> None:
        """``columns``: part -> its amount in each of the ``n`` units."""
        self.columns, self.n = columns, n

    def __len__(self) -> int:
        """How many units there are."""
        return self.n

    def __getitem__(self, place: Any) -> Any:
        """One unit, or a list of them."""
        if isinstance(place, slice):
            return [self[own] for own in range(self.n)[place]]
        return {part: column[place] for part, column in self.columns.items()}

    def take(self, places: Sequence[int], parts: Iterable[str]) -> Columns:
        """Some of the units, with these parts of them."""
        return Columns({part: [self.columns[part][place] for place in places] for part in parts}, len(places))

    @cached_property
    def sums(self) -> dict[str, float]:
        """The sum of each part."""
        return {part: math.fsum(column) for part, column in self.columns.items()}

    def __eq__(self, other: object) -> bool:
        """Equal to all sequences of equal units."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def grouped(values: Sequence[Any], labels: Sequence[Hashable]) -> dict[Hashable, list[Any]]:
    """Values by label, in order of first appearance.

    Example:
        >>> grouped([1, 2, 3], ["a", "b", "a"])
        {'a': [1, 3], 'b': [2]}
    """
    groups: dict[Hashable, list[Any]] = {}
    for value, label in zip(values, labels, strict=True):
        groups.setdefault(label, []).append(value)
    return groups


def members_of(
    units: Sequence[Mapping[str, float]], labels: Sequence[Hashable], parts: Sequence[str]
) -> Iterator[tuple[Hashable, Sequence[Mapping[str, float]]]]:
    """Label -> its units, with these parts at least, in order of first appearance, one after the other.

    Example:
        >>> for topic, members in members_of(Columns({"hits": [1, 2, 3]}, 3), ["a", "b", "a"], ["hits"]):
        ...     print(topic, list(members))
        a [{'hits': 1}, {'hits': 3}]
        b [{'hits': 2}]
    """
    for label, places in grouped(range(len(units)), labels).items():
        yield label, units.take(places, parts) if isinstance(units, Columns) else [units[place] for place in places]
