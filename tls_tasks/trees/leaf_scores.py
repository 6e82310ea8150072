"""The scores of pairs of leaf values: by the metrics, and as the values are meant. Each pair is scored once."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import compress
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.trees.compliance import fits
from tls_tasks.trees.counts import EXACT, Outcome
from tls_tasks.trees.leaf_values import FloatArray, LeafMetric
from tls_tasks.trees.meanings import has_meaning, meaning, reader_of_meanings, reads_numbers
from tls_tasks.trees.nodes import MISSING
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf

MOST_OUTCOMES = 1_000_000
"""So many pairs of values are remembered: bounds the memory."""


class _Query(NamedTuple):
    """Two values that are to be scored; ``is_typed``: whether the prediction has the leaf's type."""

    outcome: Outcome
    reference: Any
    prediction: Any
    is_typed: bool


class LeafScorer:
    """Scores pairs of leaf values: all that wait for it at once, leaf by leaf.

    Args:
        plan: The schema and its settings.
    """

    def __init__(self, plan: Plan) -> None:
        self.plan, self.is_loose = plan, plan.options.types == "loose"
        self.outcomes: dict[Any, Outcome] = {}
        self.queries: list[_Query] = []
        self.grids: dict[Any, Any] = {}
        self.sorted_lists: dict[tuple[int, int], Any] = {}

    def outcome(self, field: Field, reference: Any, prediction: Any, is_typed: bool = True) -> Outcome:
        """Return the outcome of two values, whose scores :meth:`score` fills in."""
        answers = id(reference) if type(reference) is AnyOf else reference
        key: Any = (field.index, type(reference), answers, type(prediction), prediction, is_typed)
        try:
            outcome = self.outcomes.get(key)
        except TypeError:  # a list or a dictionary
            key = outcome = None
        if outcome is None:
            accepts_null = type(reference) is AnyOf and reference.may_be_null
            outcome = Outcome(field, "wrong", accepts_null=accepts_null)
            if key is not None:
                self.outcomes[key] = outcome
        if not outcome.scores:
            self.queries.append(_Query(outcome, reference, prediction, is_typed))
        return outcome

    def score(self) -> None:
        """Score all pairs that wait."""
        queries: dict[int, list[_Query]] = {}
        for query in self.queries:
            queries.setdefault(query.outcome.field.index, []).append(query)
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

    def score_all(self, field: Field, references: Iterable[Any], predictions: Collection[Any]) -> None:
        """Score all references with all predictions, which have the leaf's type."""
        with self.apart():
            for reference in references:
                for prediction in predictions:
                    self.outcome(field, reference, prediction)

    def _score(self, field: Field, queries: Sequence[_Query]) -> None:
        """Fill in the scores of pairs of a leaf."""
        references, predictions = [query.reference for query in queries], [query.prediction for query in queries]
        is_typed = [query.is_typed for query in queries]
        scores, similarity = [], np.zeros(len(queries))
        for metric in field.metrics:
            seen = self._as_one_array(field, predictions, is_typed) if metric.name == "exact_match" else predictions
            by_pair = np.full(len(queries), metric.worst)
            if any(is_typed):
                by_pair[is_typed] = metric.pairs(list(compress(references, is_typed)), list(compress(seen, is_typed)))
            scores.append(by_pair.tolist())
            similarity = similarity + metric.normalize(by_pair)
        similarity = np.array(is_typed) * (similarity / len(field.metrics))
        kinds = ["correct" if is_exact else "wrong" for is_exact in similarity >= EXACT]
        if not self.plan.follows_treeval:
            similarity = np.maximum(similarity, self._by_meaning(field, references, predictions))
        by_query = zip(*scores, strict=True)
        for query, kind, by_metric, alike in zip(queries, kinds, by_query, similarity.tolist(), strict=True):
            query.outcome.kind, query.outcome.scores, query.outcome.similarity = kind, by_metric, alike

    def _as_one_array(self, field: Field, predictions: list[Any], is_typed: list[bool]) -> list[Any]:
        """The predictions as treeval compares them outside of lists: they are one array, all floats if one is."""
        kinds = set(map(type, compress(predictions, is_typed)))
        if not self.is_loose or field.depth or float not in kinds or not kinds & {int, bool}:
            return predictions
        return [float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions]

    def _by_meaning(self, field: Field, references: list[Any], predictions: list[Any]) -> FloatArray:
        """The similarities of values as they are meant; 0 where that is as they stand."""
        read, similarity = reader_of_meanings(field, self.plan.options.day_month), np.zeros(len(references))
        types = {*map(type, references), *map(type, predictions)}
        if reads_numbers(field, self.plan.options.day_month) and len(types) == 1 and types <= field.types:
            return similarity
        pairs = zip(references, predictions, strict=True)
        rows = [row for row, pair in enumerate(pairs) if has_meaning(field, read, *pair)]
        if rows:
            sides = ([meaning(read, side[row]) for row in rows] for side in (references, predictions))
            similarity[rows] = mean_similarity(field.metrics, [metric.pairs for metric in field.metrics], *sides)
        return similarity


def mean_similarity(metrics: Sequence[LeafMetric], scores: Sequence[Any], *sides: Any) -> FloatArray:
    """The mean of the metrics' scores in [0, 1], of pairs or of all with all."""
    total: Any = 0.0
    for metric, score in zip(metrics, scores, strict=True):
        total = total + metric.normalize(score(*sides))
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
