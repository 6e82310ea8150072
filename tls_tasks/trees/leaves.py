"""How pairs of values of a leaf score, and what each pair is."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np

from tls_tasks.trees.counts import EXACT, HITS, SOFT, SPARE, Array, Counts
from tls_tasks.trees.meanings import as_meant
from tls_tasks.trees.nodes import MAYBE, WRONG
from tls_tasks.trees.pairs import Operands, States
from tls_tasks.trees.plan import Field, Plan

RIGHT = 1 - 1e-12
"""From this similarity on a value is right."""


def score_leaf(plan: Plan, field: Field, operands: Operands, states: States, counts: Counts, has_details: bool) -> None:
    """Score the pairs that have two values; a prediction of another type gets each metric's worst score.

    Args:
        plan: The schema and its settings.
        field: The leaf.
        operands: Its values.
        states: What they are to the leaf.
        counts: What is added to.
        has_details: Whether it matters what each pair is, or only its scores.
    """
    both = states.has_left & states.has_right
    usable = both & (states.right != WRONG)
    similarity: Any = 0.0
    for metric in field.metrics:
        predictions = operands.predictions
        if metric.name == "exact_match" and plan.options.types == "loose" and not field.depth:
            predictions = _as_one_array(predictions, usable)
        scores = operands.pairs.scores(metric, operands.references, predictions, usable)
        scores = np.where(both & ~usable, metric.worst, scores)
        counts.add(field.part("sum", metric), scores)
        counts.add(field.part("n", metric), both)
        similarity = similarity + metric.normalize(scores)
    similarity = usable * (similarity / len(field.metrics))
    if has_details:
        _count_kinds(field, states, similarity >= RIGHT, counts)
    if plan.follows_treeval:
        return
    meant = as_meant(field, operands, both, plan.options.day_month)
    if meant is not None:
        similarity = np.maximum(similarity, meant)
    is_right = similarity >= RIGHT
    counts.add(HITS, similarity, SOFT)
    counts.add(HITS, is_right, EXACT)
    if has_details:
        _count_values(field, states, similarity, is_right, counts)


def _as_one_array(predictions: list[Any], usable: Array) -> list[Any]:
    """The predictions as treeval compares them: they are one array, where one float makes floats of all."""
    kinds = set(map(type, compress(predictions, np.broadcast_to(usable, len(predictions)).tolist())))
    if float not in kinds or not kinds & {int, bool}:
        return predictions
    return [float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions]


def _count_kinds(field: Field, states: States, is_right: Array, counts: Counts) -> None:
    """Count what the leaf is in each pair."""
    has_left, has_right = states.has_left, states.has_right
    counts.add(f"correct|{field.name}", is_right)
    counts.add(f"wrong|{field.name}", has_left & has_right & ~is_right)
    counts.add(f"missed|{field.name}", has_left & ~has_right)
    counts.add(f"invented|{field.name}", ~has_left & has_right)
    counts.add(f"absent|{field.name}", ~has_left & ~has_right)


def _count_values(field: Field, states: States, similarity: Array, is_right: Array, counts: Counts) -> None:
    """Count what the leaf is where items of lists are paired for similarity, and how many values are wanted."""
    counts.add(f"sum|{field.name}", similarity, SOFT)
    counts.add(f"right|{field.name}", is_right, SOFT)
    counts.add(f"met|{field.name}", states.has_left & states.has_right, SOFT)
    is_optional = states.left == MAYBE
    counts.add(f"wanted|{field.name}", states.has_left & ~is_optional)
    counts.add(f"spare|{field.name}", is_optional & states.has_right, SOFT)
    counts.add(SPARE, is_optional & states.has_right, EXACT)


def add_worst(field: Field, times: Array, counts: Counts) -> None:
    """Count each metric's worst score so many times."""
    if times.any():
        for metric in field.metrics:
            counts.add(field.part("sum", metric), times * metric.worst)
            counts.add(field.part("n", metric), times)
