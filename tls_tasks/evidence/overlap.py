"""How similar two quoted spans are: four measures over their words."""

from __future__ import annotations

import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import unicode_words, whitespace_words


class Overlap(NamedTuple):
    """One measure of overlap.

    Attributes:
        key: The words of a span -> what is compared.
        value: Two keys -> their overlap, from 0 to 1.
        is_graded: Whether there are values between 0 and 1, so that a threshold makes sense.
    """

    key: Callable[[Sequence[str]], Any]
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


def _word_set(words: Sequence[Hashable]) -> frozenset[Hashable]:
    """The set of the words; having none is a word of its own, so that two spans without words are alike."""
    return frozenset(words or (None,))


def _numbered_words(words: Sequence[str]) -> frozenset[Hashable]:
    """The words with repetitions, numbered so that a set keeps them all."""
    return _word_set([(word, number) for word, n in Counter(words).items() for number in range(n)])


def _jaccard(left: frozenset[Hashable], right: frozenset[Hashable]) -> float:
    common = len(left & right)
    return common / (len(left) + len(right) - common)


def _f1(left: frozenset[Hashable], right: frozenset[Hashable]) -> float:
    return 2 * len(left & right) / (len(left) + len(right))


def _substring(left: str, right: str) -> float:
    return float((left in right or right in left) and bool(left) == bool(right))


def _equal(left: Sequence[str], right: Sequence[str]) -> float:
    return float(left == right)


OVERLAPS: Mapping[str, Overlap] = {
    "jaccard": Overlap(_word_set, _jaccard),
    "token_f1": Overlap(_numbered_words, _f1),
    "substring": Overlap(" ".join, _substring, is_graded=False),
    "exact": Overlap(tuple, _equal, is_graded=False),
}
"""Name -> measure. ``jaccard``: words in common, of all words, as sets; ``token_f1``: F1 of the words with their
repetitions, as for SQuAD; ``substring``: 1 if one span is part of the other (words joined by one blank), else 0;
``exact``: 1 if the words are the same in the same order, else 0. Two spans without words overlap by 1."""
