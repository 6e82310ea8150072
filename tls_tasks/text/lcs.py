"""Longest common subsequences: their length, and where they meet a text.

The length comes from rapidfuzz. Which of several longest subsequences is taken matters to rougeLsum, and rapidfuzz
gives no control of that, so :func:`union_lcs` computes its own, by bit-parallel arithmetic on Python's integers: one
column of the textbook's table is one integer, whose bit ``i`` is 0 where the column rises at position ``i`` (Allison
and Dix, Information Processing Letters 23, 1986; the update is Hyyrö's of 2004).
"""

from collections.abc import Hashable, Iterable, Mapping, Sequence

from rapidfuzz.distance import LCSseq


def lcs_length(left: Sequence[Hashable], right: Sequence[Hashable]) -> int:
    """How many elements the longest common subsequence of two sequences has.

    Args:
        left: Words.
        right: Words.

    Returns:
        From 0 to the length of the shorter one.

    Example:
        >>> lcs_length("the budget was approved by the committee".split(), "the committee approved the budget".split())
        3
    """
    return LCSseq.similarity(left, right)


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
    positions = _position_bits(reference)
    everything = (1 << len(reference)) - 1
    union = 0
    for candidate in candidates:
        union |= _taken(positions, everything, candidate)
    return [position for position in range(union.bit_length()) if union >> position & 1]


def _position_bits(text: Sequence[Hashable]) -> dict[Hashable, int]:
    """Word -> where it stands in ``text``: bit ``i`` for position ``i``.

    Example:
        >>> _position_bits(["a", "b", "a"])
        {'a': 5, 'b': 2}
    """
    found: dict[Hashable, int] = {}
    for position, word in enumerate(text):
        found[word] = found.get(word, 0) | 1 << position
    return found


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
