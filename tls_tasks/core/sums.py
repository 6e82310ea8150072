"""Sums that have the same last bit in every version of Python."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable, Sequence


def plain_sum(values: Iterable[float]) -> float:
    """Add from left to right, and round after each step, as the original tools did.

    Python's own ``sum`` makes up for what it rounds from 3.12 on, so that its last bits are others there.

    Example:
        >>> plain_sum([1e16, 1.0, -1e16])
        0.0
    """
    return functools.reduce(operator.add, values, 0)


def plain_mean(values: Sequence[float]) -> float:
    """The mean by :func:`plain_sum`; there must be values."""
    return plain_sum(values) / len(values)
