"""Alignment ROUGE the slow, obvious way: one pair of days at a time, as the definition reads. The oracle of the fast
one."""

from __future__ import annotations

import string
from collections import Counter

import numpy
from scipy.optimize import linear_sum_assignment

from tls_tasks.core.score import Counts
from tls_tasks.text.rouge155 import rouge_counts


def slow_counts(prediction, references, variant, n):
    """The counts of one prediction against references taken jointly."""
    if variant == "concat":
        return rouge_counts(running_text(prediction), [running_text(reference) for reference in references], n)
    predicted = {entry.date: entry.sentences for entry in prediction}
    wanted = sorted({entry.date for reference in references for entry in reference})
    by_reference = [{entry.date: entry.sentences for entry in reference} for reference in references]

    def texts(day):
        return [days.get(day, ()) for days in by_reference]

    forward, backward = pairs(sorted(predicted), wanted, predicted, texts, variant)
    total = [0, 0, 0, 0]
    for day in sorted(predicted):
        hits = 0
        if day in forward:
            counts = rouge_counts(predicted[day], texts(forward[day]), n)
            hits = counts.precision_hits / (apart(day, forward[day]) + 1)
        total[0] += hits
        total[1] += rouge_counts(predicted[day], [()] * len(references), n).predicted
    for day in wanted:
        hits = 0
        if day in backward:
            counts = rouge_counts(predicted[backward[day]], texts(day), n)
            hits = counts.recall_hits / (apart(day, backward[day]) + 1)
        total[2] += hits
        total[3] += rouge_counts((), texts(day), n).reference
    return Counts(*total)


def running_text(timeline):
    return [sentence for entry in timeline for sentence in entry.sentences]


def apart(left, right):
    return abs(left.toordinal() - right.toordinal())


def pairs(days, wanted, predicted, texts, variant):
    """Predicted date -> reference date, and the other way round."""
    if variant == "agreement":
        same = {day: day for day in days if day in wanted}
        return same, same
    if not days or not wanted:
        return {}, {}
    costs = [[cost(day, other, predicted[day], texts(other), variant) for other in wanted] for day in days]
    mirrored = [list(column) for column in zip(*costs, strict=True)]
    if variant == "align+m:1":
        # list.index finds the first of several cheapest: the earliest date
        return (
            {day: wanted[row.index(min(row))] for day, row in zip(days, costs, strict=True)},
            {day: days[row.index(min(row))] for day, row in zip(wanted, mirrored, strict=True)},
        )
    rows, columns = linear_sum_assignment(numpy.array(costs))
    back_rows, back_columns = linear_sum_assignment(numpy.array(mirrored))
    return (
        {days[row]: wanted[column] for row, column in zip(rows, columns, strict=True)},
        {wanted[row]: days[column] for row, column in zip(back_rows, back_columns, strict=True)},
    )


def cost(day, other, sentences, references, variant):
    date_cost = 1 - 1 / (apart(day, other) + 1)
    return date_cost if variant == "align" else date_cost * (1 - content_f1(sentences, references))


def content_f1(sentences, references):
    """tilse's rough ROUGE-1: blank-separated words, case kept."""
    predicted = Counter(words(sentences))
    wanted = [Counter(words(reference)) for reference in references]
    match = sum(sum((predicted & counts).values()) for counts in wanted)
    offered, asked = len(references) * sum(predicted.values()), sum(sum(counts.values()) for counts in wanted)
    precision, recall = match / offered if offered else 0, match / asked if asked else 0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0


def words(sentences):
    return [word for sentence in sentences for word in sentence.split() if word not in string.punctuation]
