"""A progress bar for long work, on a terminal only."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def progress(items: Iterable[T], what: str, n_items: int) -> Iterable[T]:
    """The items, with a bar on stderr if it is a terminal and the work is long enough to be seen.

    Example:
        >>> list(progress([1, 2], "documents", 2))
        [1, 2]
    """
    if not sys.stderr.isatty():
        return items
    from tqdm import tqdm

    bar: Iterable[T] = tqdm(items, desc=what, total=n_items, file=sys.stderr, leave=False, delay=0.5)
    return bar
