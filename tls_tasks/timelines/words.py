"""From the texts of timelines to numbered words."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, count
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tls_tasks.timelines.types import Timeline

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

_PUNCTUATION = frozenset(
    string.punctuation[start:end] for start in range(33) for end in range(start, 33)
)  # all substrings of string.punctuation, the empty one included: tilse asks ``word in string.punctuation``


def content_words(text: str) -> list[str]:
    """The words by which tilse weighs an alignment.

    Split at whitespace, case kept, without the words that are a substring of ``string.punctuation``.

    Example:
        >>> content_words("Police , again , clash .")
        ['Police', 'again', 'clash']
    """
    return [word for word in text.split() if word not in _PUNCTUATION]


def ints(values: Iterable[int], n: int) -> Ints:
    """The first ``n`` of them as an array."""
    return np.fromiter(values, dtype=np.int64, count=n)


def ranges(starts: Ints, sizes: Ints) -> Ints:
    """The numbers from each start on, as many as its size, one range after the other.

    Example:
        >>> ranges(np.array([3, 10]), np.array([2, 3])).tolist()
        [3, 4, 10, 11, 12]
    """
    ends = sizes.cumsum()
    found: Ints = np.arange(ends[-1] if len(ends) else 0) + (starts - ends + sizes).repeat(sizes)
    return found


class Lists(NamedTuple):
    """A list of numbers for each of many things.

    Attributes:
        starts: Where the list of each thing begins, and where the last one ends.
        values: All lists, one after the other.
    """

    starts: Ints
    values: Ints

    def of_each(self, things: Ints) -> tuple[Ints, Ints]:
        """How long the lists of these things are, and the lists, one after the other."""
        starts = self.starts[things]
        sizes = self.starts[things + 1] - starts
        return sizes, self.values[ranges(starts, sizes)]


class Words(NamedTuple):
    """Numbered words, in the order of the texts.

    Attributes:
        days: The position of each word's day among the days of all timelines, shape (N,), ascending.
        keys: Each word's number, shape (N,).
    """

    days: Ints
    keys: Ints


class Vocabulary(dict[str, int]):
    """Texts by number, with the words of each. Texts repeat their words, and one that is known costs one look-up.

    Args:
        counted: A text -> the words that ROUGE counts.
        content: A text -> the words that weigh the alignment, :func:`content_words` in tilse.
        stop: A day whose text has this is read sentence by sentence, and any other word by word, as whitespace
            separates them. If it is empty, all days have it.

    Attributes:
        n_characters: How long all texts are together.
    """

    def __init__(
        self,
        counted: Callable[[str], Iterable[Any]],
        content: Callable[[str], Iterable[Any]],
        stop: str = "",
    ) -> None:
        super().__init__()
        self.n_characters = 0
        self._stop = stop
        self._tables = [_Table(counted)] if content is counted else [_Table(counted), _Table(content)]
        self._lock = Lock()

    def __missing__(self, text: str) -> int:
        with self._lock:  # scores are computed in threads, too
            if text not in self:
                number = len(self)
                for table in self._tables:
                    table.put(number, text)
                self.n_characters += len(text)
                self[text] = number  # last: an interrupt before it leaves the number to the next text
            return self[text]

    def read(self, timelines: Iterable[Timeline]) -> tuple[Words, Words]:
        """The words that count and those that weigh the alignment."""
        days: list[Sequence[str]] = [
            sentences if self._stop in (text := " ".join(sentences)) else text.split()
            for timeline in timelines
            for _, sentences in timeline
        ]
        sizes = ints(map(len, days), len(days))
        texts = ints(map(self.__getitem__, chain.from_iterable(days)), int(sizes.sum()))
        on = np.arange(len(days)).repeat(sizes)
        found = [(on.repeat(n), keys) for table in self._tables for n, keys in [table.lists.of_each(texts)]]
        return Words(*found[0]), Words(*found[-1])


class _Table:
    """The words of the texts of a vocabulary.

    Attributes:
        lists: The words' numbers, for each text's number; then room for more.
    """

    def __init__(self, read: Callable[[str], Iterable[Any]]) -> None:
        self._read = read
        self._numbers: dict[Any, int] = defaultdict(count().__next__)
        self.lists = Lists(np.zeros(1024, dtype=np.int64), np.zeros(1024, dtype=np.int64))

    def put(self, number: int, text: str) -> None:
        """Set the words of a text, which begin where those of the one before end."""
        words = [self._numbers[word] for word in self._read(text)]
        start = int(self.lists.starts[number])
        end = start + len(words)
        self.lists = Lists(_with_room(self.lists.starts, number + 2), _with_room(self.lists.values, end))
        self.lists.values[start:end] = words
        self.lists.starts[number + 1] = end


def _with_room(values: Ints, n: int) -> Ints:
    """The array itself, or a copy with room for ``n`` values and as many again."""
    return values if n <= len(values) else np.concatenate([values, np.zeros(2 * n - len(values), dtype=np.int64)])
