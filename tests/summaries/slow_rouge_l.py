"""ROUGE-L by tables of numbers, slow and plain: the oracle of the fast one under Hypothesis."""

from collections import Counter


def length_by_two_rows(left, right):
    """How long the longest common subsequence is, keeping the last row of the table only."""
    above = [0] * (len(right) + 1)
    for word in left:
        row = [0]
        for column, other in enumerate(right):
            row.append(above[column] + 1 if word == other else max(row[-1], above[column + 1]))
        above = row
    return above[-1]


def table(reference, candidate):
    rows = [[0] * (len(candidate) + 1)]
    for word in reference:
        row = [0]
        for column, other in enumerate(candidate):
            row.append(rows[-1][column] + 1 if word == other else max(row[-1], rows[-1][column + 1]))
        rows.append(row)
    return rows


def positions_in_reference(reference, candidate):
    """The walk from the table's last corner: a pair where words are equal, else left if that is larger, else up."""
    lengths, found = table(reference, candidate), []
    row, column = len(reference), len(candidate)
    while row and column:
        if reference[row - 1] == candidate[column - 1]:
            row, column = row - 1, column - 1
            found.append(row)
        elif lengths[row][column - 1] > lengths[row - 1][column]:
            column -= 1
        else:
            row -= 1
    return sorted(found)


def union(reference, candidates):
    return sorted({position for one in candidates for position in positions_in_reference(reference, one)})


def summary_hits(predicted, reference):
    """Words of the union, one sentence of the reference after the other, each used up on both sides."""
    left = Counter(word for sentence in predicted for word in sentence)
    right = Counter(word for sentence in reference for word in sentence)
    hits = 0
    for sentence in reference:
        for position in union(sentence, predicted):
            word = sentence[position]
            if left[word] > 0 and right[word] > 0:
                left[word] -= 1
                right[word] -= 1
                hits += 1
    return hits
