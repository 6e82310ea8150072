"""The leaves of a walk: what values are to their node, and how their pairs score."""

from __future__ import annotations

from itertools import compress
from typing import Any

import numpy as np

from tls_tasks.trees.columns import requires_keys
from tls_tasks.trees.compliance import complies
from tls_tasks.trees.found import UNSURE
from tls_tasks.trees.leaf_base import LeafMetric
from tls_tasks.trees.meanings import as_meant
from tls_tasks.trees.nodes import ABSENT, MAYBE, MISSING, NULL, VALUE, WRONG, state_of
from tls_tasks.trees.pairs import EXACT, GUIDE, HITS, SOFT, Array, Sides, States, Tally
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import Branch, SchemaNode


class BadReferenceError(Exception):
    """A reference that doesn't comply with the schema. Never leaves the package: who catches it finds the row."""


class Leaves:
    """Scores leaves, and knows what the values of a node are.

    Args:
        plan: The schema and its settings.
        has_details: Whether it matters what each leaf is, or only the scores.
    """

    def __init__(self, plan: Plan, has_details: bool) -> None:
        self.plan, self.has_details = plan, has_details
        self.aims = (GUIDE,) if plan.follows_treeval else (GUIDE, SOFT, EXACT)
        self.is_loose = plan.options.types == "loose"
        self.requires_keys = requires_keys(plan.root)

    def leaf(self, field: Field, sides: Sides, states: States | None, tally: Tally) -> None:
        """Score the pairs that have two values; a prediction of another type gets each metric's worst score."""
        scored = None if states is None else states.has_left & states.has_right
        good = None if states is None or scored is None else scored & (states.right != WRONG)
        similarities: list[Any] = []
        for metric in field.metrics:
            predictions = self._batch(sides.predictions, good, field, metric)
            scores = sides.pairs.scores(metric, sides.references, predictions, good)
            if scored is not None and good is not None:
                scores = np.where(scored & ~good, metric.worst, scores)
            tally.add(field.part("sum", metric), scores)
            tally.add(field.part("n", metric), 1 if scored is None else scored)
            if self.has_details or SOFT in self.aims:
                similarities.append(metric.normalize(scores))
        if not self.has_details and SOFT not in self.aims:
            return
        similarity = similarities[0] if len(similarities) == 1 else sum(similarities) / len(similarities)
        is_right = similarity >= 1 - 1e-12
        if good is not None:
            is_right, similarity = is_right & good, similarity * good
        if self.has_details:
            self._kinds(field, is_right, states, tally)
        if SOFT in self.aims:
            meant = as_meant(field, sides, scored, self.plan.options.day_month)
            if meant is not None:
                similarity = np.maximum(similarity, meant)
                is_right = similarity >= 1 - 1e-12
            tally.add(HITS[SOFT], similarity)
            tally.add(HITS[EXACT], is_right)
            if self.has_details:
                self._met(field, similarity, is_right, states, tally)

    def add_worst(self, field: Field, times: Array, tally: Tally) -> None:
        """Count each metric's worst score so many times."""
        if times.any():
            for metric in field.metrics:
                tally.add(field.part("sum", metric), times * metric.worst)
                tally.add(field.part("n", metric), times)

    def _kinds(self, field: Field, is_right: Array, states: States | None, tally: Tally) -> None:
        """Count what the leaf is."""
        tally.add(f"correct|{field.name}", is_right)
        if states is None:
            tally.add(f"wrong|{field.name}", ~is_right)
            return
        tally.add(f"wrong|{field.name}", states.has_left & states.has_right & ~is_right)
        tally.add(f"missed|{field.name}", states.has_left & ~states.has_right)
        tally.add(f"invented|{field.name}", ~states.has_left & states.has_right)
        tally.add(f"absent|{field.name}", ~states.has_left & ~states.has_right)

    def _met(self, field: Field, similarity: Array, is_right: Array, states: States | None, tally: Tally) -> None:
        """Count what the leaf is where the items of lists are paired for similarity."""
        tally.add(f"soft|sum|{field.name}", similarity)
        tally.add(f"soft|right|{field.name}", is_right)
        if states is None:
            tally.add(f"soft|met|{field.name}", 1)
            tally.add(f"wanted|{field.name}", 1)
            return
        tally.add(f"soft|met|{field.name}", states.has_left & states.has_right)
        is_optional = states.left == MAYBE
        tally.add(f"wanted|{field.name}", states.has_left & ~is_optional)
        if is_optional.any():  # a reference that has a value if the prediction has one
            tally.add(f"soft|spare|{field.name}", is_optional & states.has_right)
            tally.add("exact|spare", is_optional & states.has_right)

    def _batch(self, predictions: list[Any], good: Array | None, field: Field, metric: LeafMetric) -> list[Any]:
        """The predictions as treeval compares them: a batch is one array, where one float makes floats of all."""
        if self.is_loose and not field.depth and metric.name == "exact_match":
            kinds = set(map(type, predictions if good is None else compress(predictions, good.tolist())))
            if float in kinds and kinds & {int, bool}:
                return [
                    float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions
                ]
        return predictions

    # --- what values are ---

    def both_states(self, node: SchemaNode, sides: Sides, tally: Tally) -> tuple[Array | None, Array | None]:
        """What the values of both sides are to their node; None: all of a side are values of its type.

        Raises:
            BadReferenceError: A value of a reference has another type.
        """
        left, right = self._states(node, sides.references), self._states(node, sides.predictions)
        if left is not None and not self.is_loose and (left == WRONG).any():
            raise BadReferenceError
        if self.has_details:
            if right is not None:  # null complies everywhere, but is walked as a dictionary that lacks its keys
                is_unsure = right != VALUE if self.requires_keys and isinstance(node, Branch) else right > VALUE
                tally.add(UNSURE, is_unsure[sides.pairs.columns])
            if isinstance(node, Field) and (right is not None or node.is_checked):
                self._check(node, sides.predictions, tally)
        return left, right

    def _states(self, node: SchemaNode, values: list[Any]) -> Array | None:
        kinds = set(map(type, values))
        types = node.types if isinstance(node, Field) else {dict if isinstance(node, Branch) else list}
        if kinds <= types:
            return None
        plain = {**dict.fromkeys(types, VALUE), type(None): NULL, type(MISSING): ABSENT}
        if kinds <= plain.keys():
            return np.fromiter(map(plain.__getitem__, map(type, values)), dtype=np.int8, count=len(values))
        return np.array([state_of(node, value, self.is_loose) for value in values], dtype=np.int8)

    def _check(self, field: Field, values: list[Any], tally: Tally) -> None:
        """Note values that may not comply, though they may be of the right type."""
        wrong = set()
        if field.is_checked:
            wrong = {
                value for value in {value for value in values if type(value) in field.types} if complies(value, field)
            }
        known = {*field.types, type(None), type(MISSING)}  # of these two the states tell enough
        is_unsure = [type(value) not in known or value in wrong for value in values]
        tally.add(UNSURE, np.array(is_unsure, dtype=np.int64))
