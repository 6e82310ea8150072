"""Counts of two trees: nodes, leaves with a value, and the outcome of each leaf, whose values are scored here.

Metrics score values as they stand, and normalised. Each pair is scored once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

import numpy as np

from tls_tasks.core.score import plain_mean
from tls_tasks.trees.compliance import fits
from tls_tasks.trees.leaf_values import FloatArray, LeafMetric
from tls_tasks.trees.plan import Field, Plan
from tls_tasks.trees.types import AnyOf, SchemaNode
from tls_tasks.trees.value_normalization import needs_normalization, normalized, value_reader

KINDS = ("correct", "wrong", "missed", "invented", "absent")
"""What a leaf can be: right; there with another value; not there though it should be; there though it should not be;
and rightly not there."""

IN_BOTH, IN_REFERENCE, IN_PREDICTION = KINDS[:2], KINDS[:3], ("correct", "wrong", "invented")
"""Those with a value on both sides, in the reference, in the prediction."""

EXACT = 1 - 1e-12
"""The least similarity of an exact value."""


@dataclass(slots=True, eq=False)
class Outcome:
    """What became of one leaf.

    Attributes:
        field: The leaf.
        kind: One of :data:`KINDS`; empty for nothing but scores.
        scores: The score of each metric; empty where nothing is scored.
        similarity: How similar the values are, from 0 to 1, the better of as they stand and normalised.
        accepts_null: Whether null is a valid answer, too: the reference has a value if the prediction has one.
    """

    field: Field
    kind: str = ""
    scores: Sequence[float] = ()
    similarity: float = 0.0
    accepts_null: bool = False


@dataclass(slots=True, eq=False)
class Counts:
    """Counts of two values and everything below them.

    Attributes:
        node_tp, node_fp, node_fn: Nodes in both trees, in the prediction only, in the reference only.
        leaf_tp, leaf_fp, leaf_fn: The same of leaves with a value, among the nodes that both trees have.
        outside: How many values the prediction has where the schema has no leaf.
        outcomes: What became of each leaf; of pairs of items and of lists each has a list of its own, since sums of
            floats depend on their grouping.
        extra_reference_values: How many values more the chosen answers of the reference have than the first ones.
        choices: Each list of the reference with the positions of its items and of those that they were compared with;
            each set of answers with the index of the one that counts.
        common: Dictionaries and lists that both trees have (for treeval).
        is_null_pair: Whether these are two items of lists that are null; not of sums.
        is_scalar_pair: Whether one at least of two items that may be of several kinds is no dictionary or list; not of
            sums.

    Example:
        >>> counts = Counts(node_tp=1)
        >>> counts += Counts(node_tp=1, node_fn=2)
        >>> counts.node_tp, counts.node_fn
        (2, 2)
    """

    node_tp: int = 0
    node_fp: int = 0
    node_fn: int = 0
    leaf_tp: int = 0
    leaf_fp: int = 0
    leaf_fn: int = 0
    outside: int = 0
    extra_reference_values: int = 0
    outcomes: list[Any] = field(default_factory=list)
    choices: tuple[tuple[Any, Any], ...] = ()
    common: tuple[SchemaNode, ...] = ()
    is_null_pair: bool = False
    is_scalar_pair: bool = False

    def __iadd__(self, counts: Counts) -> Counts:
        """Add another."""
        self.node_tp += counts.node_tp
        self.node_fp += counts.node_fp
        self.node_fn += counts.node_fn
        self.leaf_tp += counts.leaf_tp
        self.leaf_fp += counts.leaf_fp
        self.leaf_fn += counts.leaf_fn
        self.outside += counts.outside
        self.extra_reference_values += counts.extra_reference_values
        self.outcomes += counts.outcomes
        self.choices += counts.choices
        self.common += counts.common
        return self

    @property
    def similarity(self) -> float:
        """The sum of the similarities of values; what is grouped is summed first."""
        return _total_similarity(self.outcomes)

    @property
    def leaves(self) -> Iterator[Outcome]:
        """The outcome of each leaf, without groups."""
        return _flat(self.outcomes)


def count_values(outcomes: Iterable[Outcome], kinds: Sequence[str] = IN_PREDICTION) -> int:
    """Count the values of the reference, but for those where null is a valid answer, too, and values of other kinds."""
    return sum(
        (outcome.kind in kinds) + (outcome.kind in IN_REFERENCE and not outcome.accepts_null) for outcome in outcomes
    )


def _flat(outcomes: Sequence[Any]) -> Iterator[Outcome]:
    for outcome in outcomes:
        if type(outcome) is list:
            yield from _flat(outcome)
        else:
            yield outcome


def _total_similarity(outcomes: Sequence[Any]) -> float:
    total = 0.0
    for outcome in outcomes:  # not sum(), which adds floats in another way since Python 3.12
        total += _total_similarity(outcome) if type(outcome) is list else outcome.similarity
    return total


def mean_outcomes(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Replace the scores of each leaf by their mean: in treeval a list within a list has one vote."""
    votes: dict[int, tuple[Field, list[Sequence[float]]]] = {}  # by index: fields of one type are equal
    outcomes = list(outcomes)
    for outcome in outcomes:
        if outcome.scores:
            votes.setdefault(outcome.field.index, (outcome.field, []))[1].append(outcome.scores)
    means = [Outcome(field, scores=[*map(plain_mean, zip(*scores, strict=True))]) for field, scores in votes.values()]
    return [*(Outcome(outcome.field, outcome.kind) for outcome in outcomes if outcome.kind), *means]


# --- scores ---


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
            cast = self._cast_to_one_type(field, predictions) if metric.name == "exact_match" else predictions
            scores.append(np.full(len(waiting), metric.worst))
            scores[-1][is_typed] = metric.pairs(list(compress(references, is_typed)), list(compress(cast, is_typed)))
        written = np.array(is_typed) * mean_similarity(field.metrics, scores)
        normalized = 0.0 if self.plan.follows_treeval else self._normalized_similarity(field, references, predictions)
        by_pair = np.array(scores).T.tolist(), written.tolist(), np.maximum(written, normalized).tolist()
        for outcome, by_metric, as_written, similarity in zip(outcomes, *by_pair, strict=True):
            outcome.kind = "correct" if as_written >= EXACT else "wrong"
            outcome.scores, outcome.similarity = by_metric, similarity

    def _cast_to_one_type(self, field: Field, predictions: list[Any]) -> list[Any]:
        """Return the predictions as treeval's one array has them outside of lists: all floats if one is a float."""
        kinds = set(map(type, predictions))
        if not self.plan.follows_treeval or field.depth or float not in kinds or not kinds & {int, bool}:
            return predictions
        return [float(value) if isinstance(value, int) and abs(value) < 2**1000 else value for value in predictions]

    def _normalized_similarity(self, field: Field, references: list[Any], predictions: list[Any]) -> FloatArray:
        """Return the similarity of each pair of normalised values; 0 for pairs that normalisation doesn't change."""
        read, similarity = value_reader(field, self.plan.day_month), np.zeros(len(references))
        pairs = enumerate(zip(references, predictions, strict=True))
        rows = [row for row, pair in pairs if needs_normalization(field, read, *pair)]
        if rows:
            sides = [[normalized(read, side[row]) for row in rows] for side in (references, predictions)]
            similarity[rows] = mean_similarity(field.metrics, [metric.pairs(*sides) for metric in field.metrics])
        return similarity


def mean_similarity(metrics: Sequence[LeafMetric], scores: Sequence[Any]) -> FloatArray:
    """Return the mean of the metrics' scores in [0, 1]."""
    total: Any = sum(metric.normalize(score) for metric, score in zip(metrics, scores, strict=True))
    similarity: FloatArray = total / len(metrics)
    return similarity


def leaf_similarity(plan: Plan, field: Any, reference: Any, prediction: Any) -> float:
    """Return the similarity of two values of a leaf, in [0, 1], the better of as written and as normalised."""
    scorer = LeafScorer(plan)
    outcome = scorer.outcome(field, reference, prediction, plan.follows_treeval or fits(prediction, field))
    scorer.score([outcome])
    return outcome.similarity
