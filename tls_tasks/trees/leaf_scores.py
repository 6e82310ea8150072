"""The scores of pairs of leaf values: by the metrics, and as the values are meant. Each pair is scored once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import compress
from typing import Any

import numpy as np

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.counts import EXACT, Outcome
from tls_tasks.trees.leaf_values import FloatArray, LeafMetric
from tls_tasks.trees.meanings import has_meaning, meaning, reader_of_meanings
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf


class LeafScorer:
    """Scores pairs of leaf values: all pairs of a leaf that wait, once somebody asks for the scores of one.

    So a caller's metric sees all pairs of a corpus in one call, but for those in lists.

    Args:
        plan: The schema and its settings.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.outcomes: dict[Any, Outcome] = {}
        self.waiting: list[list[Any]] = [[] for _ in plan.fields]

    def outcome(self, field: Field, reference: Any, prediction: Any, is_typed: bool = True) -> Outcome:
        """Return the outcome of two values, whose scores :meth:`score` fills in."""
        is_any = type(reference) is AnyOf
        outcome = Outcome(field, "wrong", accepts_null=is_any and reference.may_be_null)
        answers = id(reference) if is_any else reference
        key = (field.index, type(reference), answers, type(prediction), prediction, is_typed)
        with suppress(TypeError):  # a list or a dictionary is scored whenever it is asked for
            outcome = self.outcomes.setdefault(key, outcome)
        if not outcome.scores:
            self.waiting[field.index].append((outcome, reference, prediction, is_typed))
        return outcome

    def score(self, outcomes: Iterable[Outcome]) -> None:
        """Fill in the scores of these outcomes, and of all that wait for the same leaves."""
        for index in {outcome.field.index for outcome in outcomes if outcome.kind == "wrong" and not outcome.scores}:
            waiting, self.waiting[index] = self.waiting[index], []
            if waiting:
                self._score(self.plan.fields[index], waiting)

    def _score(self, field: Field, waiting: Sequence[Any]) -> None:
        """Fill in the scores of pairs of a leaf."""
        outcomes, references, predictions, is_typed = map(list, zip(*waiting, strict=True))
        scores = []
        for metric in field.metrics:
            seen = self._as_one_array(field, predictions) if metric.name == "exact_match" else predictions
            scores.append(np.full(len(waiting), metric.worst))
            scores[-1][is_typed] = metric.pairs(list(compress(references, is_typed)), list(compress(seen, is_typed)))
        written = np.array(is_typed) * mean_similarity(field.metrics, scores)
        meant = 0.0 if self.plan.follows_treeval else self._by_meaning(field, references, predictions)
        by_pair = np.array(scores).T.tolist(), written.tolist(), np.maximum(written, meant).tolist()
        for outcome, by_metric, as_written, alike in zip(outcomes, *by_pair, strict=True):
            outcome.kind = "correct" if as_written >= EXACT else "wrong"
            outcome.scores, outcome.similarity = by_metric, alike

    def _as_one_array(self, field: Field, predictions: list[Any]) -> list[Any]:
        """The predictions as treeval compares them outside of lists: they are one array, all floats if one is."""
        kinds = set(map(type, predictions))
        if not self.plan.follows_treeval or field.depth or float not in kinds or not kinds & {int, bool}:
            return predictions
        return [float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions]

    def _by_meaning(self, field: Field, references: list[Any], predictions: list[Any]) -> FloatArray:
        """The similarities of values as they are meant; 0 where that is as they stand."""
        read, similarity = reader_of_meanings(field, self.plan.day_month), np.zeros(len(references))
        pairs = enumerate(zip(references, predictions, strict=True))
        rows = [row for row, pair in pairs if has_meaning(field, read, *pair)]
        if rows:
            sides = [[meaning(read, side[row]) for row in rows] for side in (references, predictions)]
            similarity[rows] = mean_similarity(field.metrics, [metric.pairs(*sides) for metric in field.metrics])
        return similarity


def mean_similarity(metrics: Sequence[LeafMetric], scores: Sequence[Any]) -> FloatArray:
    """Return the mean of the metrics' scores in [0, 1]."""
    total: Any = sum(metric.normalize(score) for metric, score in zip(metrics, scores, strict=True))
    similarity: FloatArray = total / len(metrics)
    return similarity


def similarity_of(plan: Plan, field: Any, reference: Any, prediction: Any) -> float:
    """Return how similar two values of a leaf are, as they stand or as they are meant."""
    scorer = LeafScorer(plan)
    outcome = scorer.outcome(field, reference, prediction, plan.follows_treeval or fits(prediction, field))
    scorer.score([outcome])
    return outcome.similarity
