"""How alike two quoted spans are: four measures over the words of both."""

from __future__ import annotations

import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import unicode_words, whitespace_words


class Overlap(NamedTuple):
    """One measure of overlap.

    Attributes:
        key: The words of a span -> what of them is compared.
        value: Two keys -> their overlap, from 0 to 1.
        is_graded: Whether there are values between 0 and 1, so that a threshold means something.
    """

    key: Callable[[Sequence[str]], Any]
    value: Callable[[Any, Any], float]
    is_graded: bool = True


def resolve_words(tokenizer: str | Tokenizer) -> Tokenizer:
    """The function that splits a span into words.

    Args:
        tokenizer: A name of :data:`TOKENIZERS`, or a function: text -> words.

    Raises:
        OptionError: No tokeniser has this name.
        InputError: Neither a name nor a function.
    """
    if isinstance(tokenizer, str):
        if tokenizer not in TOKENIZERS:
            raise OptionError.unknown("tokenizer", tokenizer, TOKENIZERS)
        return TOKENIZERS[tokenizer]
    if callable(tokenizer):
        return tokenizer
    raise InputError("tokenizer", None, repr(tokenizer), "a name of a tokeniser or a function: text -> words")


def _bare_words(text: str) -> list[str]:
    """Lower-case words between blanks without punctuation at their ends; what is only punctuation is no word.

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


def _numbered(words: Sequence[str]) -> frozenset[Any]:
    """The words, and each repetition of one with its number, so that a set keeps them all."""
    numbered: set[Any] = set(words)
    if len(numbered) < len(words):
        seen: Counter[str] = Counter()
        for word in words:
            if seen[word]:
                numbered.add((word, seen[word]))
            seen[word] += 1
    return frozenset(numbered)


def _jaccard(left: frozenset[Any], right: frozenset[Any]) -> float:
    common = len(left & right)
    return common / (len(left) + len(right) - common) if left or right else 1.0


def _f1(left: frozenset[Any], right: frozenset[Any]) -> float:
    return 2 * len(left & right) / (len(left) + len(right)) if left or right else 1.0


def _substring(left: str, right: str) -> float:
    return float((left in right or right in left) and bool(left) == bool(right))


def _equal(left: object, right: object) -> float:
    return float(left == right)


OVERLAPS: Mapping[str, Overlap] = {
    "jaccard": Overlap(frozenset, _jaccard),
    "token_f1": Overlap(_numbered, _f1),
    "substring": Overlap(" ".join, _substring, is_graded=False),
    "exact": Overlap(tuple, _equal, is_graded=False),
}
"""Name -> measure. ``jaccard``: words in common, of all words, as sets; ``token_f1``: F1 of the words with their
repetitions, as for SQuAD; ``substring``: 1 if one span is part of the other (words joined by one blank), else 0;
``exact``: 1 if the words are the same in the same order, else 0. Two spans without words overlap by 1."""
