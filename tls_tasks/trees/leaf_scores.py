"""The scores of pairs of leaf values: by the metrics, and as the values are meant. Each pair is scored once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import compress
from typing import Any

import numpy as np

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.counts import EXACT, Outcome
from tls_tasks.trees.leaf_values import FloatArray, LeafMetric
from tls_tasks.trees.meanings import has_meaning, meaning, reader_of_meanings
from tls_tasks.trees.nodes import MISSING
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf

MOST_OUTCOMES = 1_000_000
"""So many pairs of values are remembered: bounds the memory."""


class LeafScorer:
    """Scores pairs of leaf values: all that wait for it at once, leaf by leaf.

    Args:
        plan: The schema and its settings.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.is_loose = plan, plan.options.types == "loose"
        self.outcomes: dict[Any, Outcome] = {}
        self.queries: list[tuple[Outcome, Any, Any, bool]] = []  # a reference, a prediction, whether it has the type
        self.grids: dict[Any, dict[Any, FloatArray]] = {}
        self.sorted_lists: dict[tuple[int, int], Any] = {}

    def outcome(self, field: Field, reference: Any, prediction: Any, is_typed: bool = True) -> Outcome:
        """Return the outcome of two values, whose scores :meth:`score` fills in."""
        is_any = type(reference) is AnyOf
        outcome = Outcome(field, "wrong", accepts_null=is_any and reference.may_be_null)
        answers = id(reference) if is_any else reference
        key = (field.index, type(reference), answers, type(prediction), prediction, is_typed)
        with suppress(TypeError):  # a list or a dictionary is scored whenever it is asked for
            outcome = self.outcomes.setdefault(key, outcome)
        if not outcome.scores:
            self.queries.append((outcome, reference, prediction, is_typed))
        return outcome

    def score(self) -> None:
        """Score all pairs that wait."""
        queries: dict[int, list[Any]] = {}
        for query in self.queries:
            queries.setdefault(query[0].field.index, []).append(query)
        self.queries = []
        for index in sorted(queries):
            self._score(self.plan.fields[index], queries[index])
        if len(self.outcomes) > MOST_OUTCOMES:
            self.outcomes.clear()

    @contextmanager
    def apart(self) -> Iterator[None]:
        """Score what is asked meanwhile at the end; what waits goes on waiting, for one call with all pairs."""
        queries, self.queries = self.queries, []
        try:
            yield
            self.score()
        finally:
            self.queries = queries

    def _score(self, field: Field, queries: Sequence[Any]) -> None:
        """Fill in the scores of pairs of a leaf."""
        outcomes, references, predictions, is_typed = map(list, zip(*queries, strict=True))
        scores = []
        for metric in field.metrics:
            seen = self._as_one_array(field, predictions, is_typed) if metric.name == "exact_match" else predictions
            scores.append(np.full(len(queries), metric.worst))
            scores[-1][is_typed] = metric.pairs(list(compress(references, is_typed)), list(compress(seen, is_typed)))
        written = np.array(is_typed) * mean_similarity(field.metrics, scores)
        meant = 0.0 if self.plan.follows_treeval else self._by_meaning(field, references, predictions)
        by_pair = np.array(scores).T.tolist(), written.tolist(), np.maximum(written, meant).tolist()
        for outcome, by_metric, as_written, alike in zip(outcomes, *by_pair, strict=True):
            outcome.kind = "correct" if as_written >= EXACT else "wrong"
            outcome.scores, outcome.similarity = by_metric, alike

    def _as_one_array(self, field: Field, predictions: list[Any], is_typed: list[bool]) -> list[Any]:
        """The predictions as treeval compares them outside of lists: they are one array, all floats if one is."""
        kinds = set(map(type, compress(predictions, is_typed)))
        if not self.is_loose or field.depth or float not in kinds or not kinds & {int, bool}:
            return predictions
        return [float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions]

    def _by_meaning(self, field: Field, references: list[Any], predictions: list[Any]) -> FloatArray:
        """The similarities of values as they are meant; 0 where that is as they stand."""
        read, similarity = reader_of_meanings(field, self.plan.options.day_month), np.zeros(len(references))
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
    outcome = scorer.outcome(field, reference, prediction, scorer.is_loose or fits(prediction, field))
    scorer.score()
    return outcome.similarity


def is_present(value: Any) -> bool:
    """Whether a value is neither null nor absent."""
    return value is not None and value is not MISSING
