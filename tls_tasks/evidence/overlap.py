"""How alike two quoted spans are, and which of many are alike enough, row by row, without a table of all pairs."""

from __future__ import annotations

import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.text.rouge155 import Tokenizer
from tls_tasks.text.tokenizers import unicode_words

FEW_PAIRS = 3000
"""So many pairs are compared one by one; of more, the words of one side are indexed first."""


class Row(NamedTuple):
    """What of the other side is alike enough to one key: positions, and the overlap of each."""

    positions: Sequence[int] | NDArray[np.int64]
    overlaps: Sequence[float] | NDArray[np.float64]


RowOf = Callable[[int], Row]


class Overlap(NamedTuple):
    """One measure of overlap.

    Attributes:
        key: A span -> what of it is compared; spans of one key are alike in everything.
        rows: Keys of one side, those of the other, and a threshold -> a function that gives the row of a position of
            the first side: what of the other side reaches the threshold. A row is made when it is asked for, so that
            a page of many objects needs no more memory than they do.
    """

    key: Callable[[str], Hashable]
    rows: Callable[[Sequence[Any], Sequence[Any], float], RowOf]


def resolve_overlap(name: str, tokenizer: str | Tokenizer) -> Overlap:
    """The measure of this name over these words.

    Args:
        name: ``jaccard``: words in common, of all words, as sets; ``token_f1``: F1 of the words with their repetitions,
            as for SQuAD; ``substring``: 1 if one span is a part of the other (words joined by one blank), else 0;
            ``exact``: 1 if the words are the same in the same order, else 0. Two spans without words overlap by 1.
        tokenizer: What words are, see :func:`resolve_words`.

    Raises:
        OptionError: No measure has this name.

    Example:
        >>> jaccard = resolve_overlap("jaccard", "whitespace")
        >>> jaccard.rows([jaccard.key("Felt anxious")], [jaccard.key("felt anxious before lunch")], 0.5)(0)
        Row(positions=[0], overlaps=[0.5])
    """
    words = resolve_words(tokenizer)
    if name == "jaccard":
        key = _whitespace_word_set if words is whitespace_words else partial(_word_set, words)
        return Overlap(key, partial(_set_rows, _jaccard, _least_jaccard))
    if name == "token_f1":
        return Overlap(partial(_numbered, words), partial(_set_rows, _f1, _least_f1))
    if name == "substring":
        return Overlap(partial(_joined, words), _substring_rows)
    if name == "exact":
        return Overlap(partial(_in_order, words), _equal_rows)
    raise OptionError.unknown("overlap", name, ("jaccard", "token_f1", "substring", "exact"))


def resolve_words(tokenizer: str | Tokenizer) -> Tokenizer:
    """The function that splits a span.

    Args:
        tokenizer: ``whitespace``: lower case, split at blanks, punctuation stays on words; ``strip_punct``: the same
            without punctuation at the ends of words; ``unicode``: words of any script, Chinese and Japanese by
            character; or a function: text -> words.

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


def whitespace_words(text: str) -> list[str]:
    """Words between blanks, in lower case.

    Example:
        >>> whitespace_words("Seemed half-asleep.")
        ['seemed', 'half-asleep.']
    """
    return text.lower().split()


def bare_words(text: str) -> list[str]:
    """Words between blanks, in lower case, without punctuation at their ends; what is only punctuation is no word.

    Example:
        >>> bare_words("“Seemed” half-asleep … today.")
        ['seemed', 'half-asleep', 'today']
    """
    return [bare for word in text.lower().split() if (bare := _bare(word))]


TOKENIZERS: Mapping[str, Tokenizer] = {
    "whitespace": whitespace_words,
    "strip_punct": bare_words,
    "unicode": unicode_words,
}


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


def _word_set(words: Tokenizer, span: str) -> frozenset[str]:
    return frozenset(words(span))


def _whitespace_word_set(span: str) -> frozenset[str]:
    """The default, without calls between."""
    return frozenset(span.lower().split())


def _joined(words: Tokenizer, span: str) -> str:
    return " ".join(words(span))


def _in_order(words: Tokenizer, span: str) -> tuple[str, ...]:
    return tuple(words(span))


def _numbered(words: Tokenizer, span: str) -> frozenset[Any]:
    """Words, and with its number each repetition of one, so that a set keeps them all."""
    listed = words(span)
    numbered: set[Any] = set(listed)
    if len(numbered) < len(listed):
        seen: Counter[str] = Counter()
        for word in listed:
            if seen[word]:
                numbered.add((word, seen[word]))
            seen[word] += 1
    return frozenset(numbered)


def _jaccard(common: Any, left: Any, right: Any) -> Any:
    return common / (left + right - common)


def _least_jaccard(threshold: float) -> float:
    """Since c / (n + m - c) >= t if and only if c >= (n + m) t / (1 + t)."""
    return threshold / (1 + threshold)


def _f1(common: Any, left: Any, right: Any) -> Any:
    return 2 * common / (left + right)


def _least_f1(threshold: float) -> float:
    """Since 2c / (n + m) >= t if and only if c >= (n + m) t / 2."""
    return threshold / 2


def _set_rows(
    value: Callable[[Any, Any, Any], Any],
    least: Callable[[float], float],
    left: Sequence[frozenset[Any]],
    right: Sequence[frozenset[Any]],
    threshold: float,
) -> RowOf:
    """Rows of sets by a ``value`` of (size of the intersection, both sizes), of numbers or arrays.

    ``least`` tells from the threshold how large an intersection must be, as a part of both sizes' sum.
    """
    if len(left) * len(right) > FEW_PAIRS or threshold <= 0:
        return _indexed_rows(value, left, right, threshold)
    part = least(threshold)
    ratio = part / (1 - part)  # of the sizes, since the intersection is no larger than the smaller one
    sized = [(one, len(one)) for one in right]

    def row(position: int) -> Row:
        one = left[position]
        size = len(one)
        low, high = size * ratio - 1e-9, size / ratio + 1e-9
        positions, overlaps = [], []
        for other, (two, other_size) in enumerate(sized):
            if low <= other_size <= high and (common := len(one & two)) >= part * (size + other_size) - 1e-9:
                overlap = value(common, size, other_size) if size else 1.0
                if overlap >= threshold:
                    positions.append(other)
                    overlaps.append(overlap)
        return Row(positions, overlaps)

    return row


def _indexed_rows(
    value: Callable[[Any, Any, Any], Any],
    left: Sequence[frozenset[Any]],
    right: Sequence[frozenset[Any]],
    threshold: float,
) -> RowOf:
    """The same by an index of the words of the right side: a row costs as much as its words are frequent there."""
    holders: dict[Any, list[int]] = {}
    for position, one in enumerate(right):
        for member in one:
            holders.setdefault(member, []).append(position)
    index = {member: np.array(positions) for member, positions in holders.items()}
    return partial(_indexed_row, value, left, index, np.array([len(one) for one in right]), threshold)


def _indexed_row(
    value: Callable[[Any, Any, Any], Any],
    left: Sequence[frozenset[Any]],
    holders: Mapping[Any, NDArray[np.int64]],
    sizes: NDArray[np.int64],
    threshold: float,
    position: int,
) -> Row:
    one = left[position]
    found = [holders[member] for member in one if member in holders]
    common = np.bincount(np.concatenate(found), minlength=len(sizes)) if found else np.zeros(len(sizes), dtype=int)
    overlaps = value(common, len(one), sizes) if one else (sizes == 0).astype(np.float64)
    positions = np.flatnonzero(overlaps >= threshold)
    return Row(positions, overlaps[positions])


def _substring_rows(left: Sequence[str], right: Sequence[str], threshold: float) -> RowOf:
    """Rows of texts of which one holds the other; an empty one is held by an empty one only. Any threshold is met."""

    def row(position: int) -> Row:
        one = left[position]
        positions = [
            other for other, text in enumerate(right) if (one in text or text in one) and bool(one) == bool(text)
        ]
        return Row(positions, [1.0] * len(positions))

    return row


def _equal_rows(left: Sequence[Hashable], right: Sequence[Hashable], threshold: float) -> RowOf:
    """Rows of equal keys. Any threshold is met."""
    holders: dict[Hashable, list[int]] = {}
    for position, key in enumerate(right):
        holders.setdefault(key, []).append(position)

    def row(position: int) -> Row:
        positions = holders.get(left[position], [])
        return Row(positions, [1.0] * len(positions))

    return row
