"""How similar two quoted spans are: four measures over their words."""

from __future__ import annotations

import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, MutableMapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import unicode_words, whitespace_words

_Numbers = MutableMapping[Hashable, int]  # word -> its bit; a word that is new gets the next one


class Overlap(NamedTuple):
    """One measure of overlap.

    Attributes:
        key: The words of a span, and the numbers of all words so far -> what is compared: a set of words as the bits of
            one integer, or text.
        value: Two keys -> their overlap, from 0 to 1.
        is_graded: Whether there are values between 0 and 1, so that a threshold makes sense.
    """

    key: Callable[[Sequence[str], _Numbers], Any]
    value: Callable[[Any, Any], float]
    is_graded: bool = True


def _bare_words(text: str) -> list[str]:
    """Lower-case words between blanks without punctuation at their ends; words of punctuation alone are dropped.

    Example:
        >>> _bare_words("“Seemed” half-asleep … today.")
        ['seemed', 'half-asleep', 'today']
    """
    return [bare for word in whitespace_words(text) if (bare := _bare(word))]


TOKENIZERS: Mapping[str, Tokenizer] = {
    "whitespace": whitespace_words,
    "strip_punct": _bare_words,
    "unicode": unicode_words,
}
"""The tokenisers by name: words between blanks, the same without punctuation at their ends, words of any script."""


@lru_cache(maxsize=10_000)
def _bare(word: str) -> str:
    start, end = 0, len(word)
    while start < end and _is_mark(word[start]):
        start += 1
    while start < end and _is_mark(word[end - 1]):
        end -= 1
    return word[start:end]


def _is_mark(character: str) -> bool:
    return character in string.punctuation or unicodedata.category(character)[0] == "P"


def _bits(words: Iterable[Hashable], numbers: _Numbers) -> int:
    """The set of the words; having none is a word of its own, so that two spans without words are alike."""
    bits = 0
    for word in words or (None,):
        bits |= 1 << numbers[word]
    return bits


def _numbered_bits(words: Sequence[str], numbers: _Numbers) -> int:
    """The words, with repetitions numbered so that the set keeps them all."""
    if len(set(words)) == len(words):
        return _bits(words, numbers)
    seen: Counter[str] = Counter()
    numbered: list[Hashable] = []
    for word in words:
        numbered.append((word, seen[word]) if seen[word] else word)
        seen[word] += 1
    return _bits(numbered, numbers)


def _joined(words: Sequence[str], _: _Numbers) -> str:
    return " ".join(words)


def _sequence_bit(words: Sequence[str], numbers: _Numbers) -> int:
    return 1 << numbers[tuple(words)]


def _jaccard(left: int, right: int) -> float:
    common = left & right
    return common.bit_count() / (left | right).bit_count() if common else 0.0


def _f1(left: int, right: int) -> float:
    common = left & right
    return 2 * common.bit_count() / (left.bit_count() + right.bit_count()) if common else 0.0


def _substring(left: str, right: str) -> float:
    return float((left in right or right in left) and bool(left) == bool(right))


OVERLAPS: Mapping[str, Overlap] = {
    "jaccard": Overlap(_bits, _jaccard),
    "token_f1": Overlap(_numbered_bits, _f1),
    "substring": Overlap(_joined, _substring, is_graded=False),
    "exact": Overlap(_sequence_bit, _jaccard, is_graded=False),
}
"""Name -> measure. ``jaccard``: words in common, of all words, as sets; ``token_f1``: F1 of the words with their
repetitions, as for SQuAD; ``substring``: 1 if one span is part of the other (words joined by one blank), else 0;
``exact``: 1 if the words are the same in the same order, else 0. Two spans without words overlap by 1."""
