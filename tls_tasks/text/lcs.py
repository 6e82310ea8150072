"""Longest common subsequences by bit-parallel arithmetic on Python's integers.

One row of the textbook's table is one integer: bit ``i`` is 0 where the row rises at position ``i`` (Allison & Dix,
Information Processing Letters 23, 1986; the update is Hyyrö's of 2004). A row then costs four operations on integers,
whatever the length of the texts, and the table is never stored.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence

# A set of positions is an integer as wide as the text. For words that stand more often than this it is made once and
# kept; for rarer ones it is made when needed, or texts without repetition would keep one such integer for every word.
_KEPT_FROM = 9
_FEW_WORDS = 8192  # texts up to here keep them all: that is quicker, and 8 MB at most
_BITS = tuple(1 << position for position in range(512))


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """How many elements the longest common subsequence of two sequences has.

    Args:
        left: Any number of hashable elements, usually words.
        right: The same.

    Returns:
        From 0 to the length of the shorter one.

    Example:
        >>> lcs_length("the budget was approved by the committee".split(), "the committee approved the budget".split())
        3
    """
    n_before = len(left)
    if left and right and (left[0] == right[0] or left[-1] == right[-1]):
        left, right = _without_common_ends(left, right)
    n_common = n_before - len(left)
    shorter, longer = (left, right) if len(left) < len(right) else (right, left)
    row = _last_row(_positions_of(longer, shorter), len(shorter))  # narrow integers, and few of them to make
    return n_common + len(shorter) - row.bit_count()


def _last_row(steps: Iterable[int], n_bits: int) -> int:
    everything = row = (1 << n_bits) - 1
    if n_bits <= len(_BITS):  # bits that are carried over the end harm nothing, and cost less than cutting them off
        for positions in steps:
            hits = row & positions
            row = (row + hits) | (row - hits)
        return row & everything
    for positions in steps:
        hits = row & positions
        row = ((row + hits) | (row - hits)) & everything
    return row


def _without_common_ends(
    left: Sequence[Hashable], right: Sequence[Hashable]
) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Both without what they begin and end with in common: that is part of a longest common subsequence."""
    n_most = min(len(left), len(right))
    start = next((i for i in range(n_most) if left[i] != right[i]), n_most)
    n_most -= start
    end = next((i for i in range(n_most) if left[-1 - i] != right[-1 - i]), n_most)
    return left[start : len(left) - end], right[start : len(right) - end]


def _positions_of(words: Sequence[Hashable], text: Sequence[Hashable]) -> Iterable[int]:
    """For every word that stands in ``text``, where it does: bit ``i`` for position ``i``."""
    if len(text) <= _FEW_WORDS:
        return filter(None, map(position_bits(text).get, words))
    return _positions_of_many(words, text)


def _positions_of_many(words: Sequence[Hashable], text: Sequence[Hashable]) -> Iterator[int]:
    wanted = set(words)
    places: dict[Hashable, list[int]] = {}
    for position, word in enumerate(text):
        if word in wanted:
            places.setdefault(word, []).append(position)
    kept = {word: _as_bits(positions) for word, positions in places.items() if len(positions) >= _KEPT_FROM}
    for word in words:
        if word in kept:
            yield kept[word]
        elif word in places:
            yield sum(1 << position for position in places[word])


def _as_bits(positions: Sequence[int]) -> int:
    """The same as a sum of powers of two, in one go instead of one long addition for each."""
    field = bytearray(positions[-1] // 8 + 1)
    for position in positions:
        field[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(field, "little")


def position_bits(text: Sequence[Hashable]) -> dict[Hashable, int]:
    """Word -> where it stands in ``text``: bit ``i`` for position ``i``.

    Example:
        >>> position_bits(["a", "b", "a"])
        {'a': 5, 'b': 2}
    """
    found: dict[Hashable, int] = {}
    bits: Iterable[int] = _BITS if len(text) <= len(_BITS) else (1 << position for position in range(len(text)))
    for word, bit in zip(text, bits, strict=False):
        if word in found:
            found[word] |= bit
        else:
            found[word] = bit
    return found


def union_lcs(reference: Sequence[Hashable], candidates: Iterable[Sequence[Hashable]]) -> list[int]:
    """Where ``reference`` is met by its longest common subsequence with any of the candidates (Lin 2004, section 3.2).

    Several subsequences can be longest. The one taken is rouge_score's: read from the ends, equal words are a pair;
    else the reference's last word is given up, unless only the candidate's can be without loss.

    Args:
        reference: The words of one reference sentence.
        candidates: The words of each predicted sentence.

    Returns:
        Positions in ``reference``, rising.

    Example:
        >>> union_lcs("w1 w2 w3 w4 w5".split(), ["w1 w2 w6 w7 w8".split(), "w1 w3 w8 w9 w5".split()])
        [0, 1, 2, 4]
    """
    positions = position_bits(reference)
    everything = (1 << len(reference)) - 1
    union = 0
    for candidate in candidates:
        union |= _taken(positions, everything, candidate)
    return [position for position in range(union.bit_length()) if union >> position & 1]


def _taken(positions: Mapping[Hashable, int], everything: int, candidate: Sequence[Hashable]) -> int:
    """The positions of the reference that rouge_score's walk back through the table takes, as bits.

    A column of the table belongs to a word of the candidate; only words that stand in the reference change it.
    ``rises`` has a bit wherever the column's value grows from one word of the reference to the next: those words, and
    only those, can't be given up without loss. So the walk goes down to the next rise or pair in one step.
    """
    row, columns, before = everything, [], 0
    for number, word in enumerate(candidate, start=1):
        here = positions.get(word)
        if here is not None:
            hits = row & here
            row = ((row + hits) | (row - hits)) & everything
            columns.append((here, row ^ everything, number - before > 1))
            before = number
    taken, below = 0, everything
    skipped = before < len(candidate)  # columns of words that the reference doesn't have: rises only, no pairs
    for here, rises, skipped_before in reversed(columns):
        if skipped:
            below = (1 << (rises & below).bit_length()) - 1
        top = ((here | rises) & below).bit_length()
        if not top:
            break
        bit = 1 << (top - 1)
        if here & bit:
            taken |= bit
            below = bit - 1
        else:
            below = bit | (bit - 1)
        skipped = skipped_before
    return taken
