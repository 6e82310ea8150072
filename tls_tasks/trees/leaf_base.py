"""What a leaf metric is: scores of pairs of values, one by one or all with all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tls_tasks.text.normalizers import names_of, normalizer
from tls_tasks.trees.values import AnyOf

FloatArray = NDArray[np.float64]
"""Scores: ``[n]`` of n pairs, ``[r, p]`` of r references with p predictions."""

Scorer = Callable[[Sequence[Any], Sequence[Any]], FloatArray]
"""References, predictions -> scores."""

TEXT_TYPES: frozenset[type] = frozenset({str})
"""What text metrics compare."""


@dataclass(frozen=True, slots=True)
class LeafMetric:
    """A metric of two leaf values.

    Values that a metric can't compare (a list for a metric of texts) get its worst score and never raise.

    Attributes:
        name: The key in results.
        score_pairs: Scores of the pairs (references[i], predictions[i]), of accepted values only.
        score_matrix: Scores of all pairs, of accepted values only.
        accepts: Whether the metric can compare this value.
        types: Types whose values are all accepted: asked first, since it is quick.
        score_range: Worst and best score, or best and worst where lower is better: (least, greatest).
        higher_is_better: Direction.
        settings: Options that differ from the defaults, for signatures.
        prepare: Applied to every value first.
        score_pair: The score of two accepted values, if that is quicker than a batch of one.
        forget: Forgets the scores of pairs that were asked for before; called before each scoring.
        own_name: What it is called where ``name`` is another one; for signatures.

    Example:
        >>> from tls_tasks.trees.leaf_metrics import resolve_metric
        >>> metric = resolve_metric("indel_ratio")
        >>> metric.pairs(["baroo", "drums"], ["bar", 7])
        array([0.75, 0.  ])
        >>> metric.matrix(["baroo", AnyOf(["drum kit", "drums"])], ["drums", "bar"]).round(2)
        array([[0.2 , 0.75],
               [1.  , 0.25]])
    """

    name: str
    score_pairs: Scorer
    score_matrix: Scorer
    accepts: Callable[[Any], bool] = lambda value: True
    types: frozenset[type] = frozenset()
    score_range: tuple[float, float] = (0.0, 1.0)
    higher_is_better: bool = True
    settings: str = ""
    prepare: Callable[[Any], Any] | None = None
    score_pair: Callable[[Any, Any], float] | None = None
    forget: Callable[[], None] | None = None
    own_name: str = ""

    @property
    def worst(self) -> float:
        """The score of what can't be compared."""
        return self.score_range[0] if self.higher_is_better else self.score_range[1]

    @property
    def best(self) -> float:
        """The score of a perfect value."""
        return self.score_range[1] if self.higher_is_better else self.score_range[0]

    @property
    def signature(self) -> str:
        """Its own name, whatever the key in results is, and settings."""
        return (self.own_name or self.name) + (f"({self.settings})" if self.settings else "")

    def pairs(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """The scores of ``references[i]`` with ``predictions[i]``.

        Args:
            references: Values; among them :class:`~tls_tasks.trees.values.AnyOf`, of which the best answer
                counts.
            predictions: As many values.

        Returns:
            ``[n]``, in ``score_range`` (user metrics: whatever they return).
        """
        if AnyOf in set(map(type, references)):
            flat, starts = _flattened(references)
            lengths = np.diff([*starts, len(flat)])
            return self._best_of(
                self.pairs(flat, [predictions[i] for i in np.repeat(range(len(starts)), lengths)]), starts
            )
        references, predictions = self._prepared(references), self._prepared(predictions)
        if self._accepts_all(references) and self._accepts_all(predictions):
            return self.score_pairs(references, predictions)
        good = [i for i, pair in enumerate(zip(references, predictions, strict=True)) if all(map(self.accepts, pair))]
        scores = np.full(len(references), self.worst)
        if good:
            scores[good] = self.score_pairs([references[i] for i in good], [predictions[i] for i in good])
        return scores

    def matrix(self, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
        """The scores of every reference with every prediction.

        Args:
            references: Values, as in :meth:`pairs`.
            predictions: Values.

        Returns:
            ``[len(references), len(predictions)]``, in ``score_range``.
        """
        if AnyOf in set(map(type, references)):
            flat, starts = _flattened(references)
            return self._best_of(self.matrix(flat, predictions), starts)
        if not len(references) or not len(predictions):
            return np.zeros((len(references), len(predictions)))
        references, predictions = self._prepared(references), self._prepared(predictions)
        if self._accepts_all(references) and self._accepts_all(predictions):
            return self.score_matrix(references, predictions)
        rows = [i for i, value in enumerate(references) if self.accepts(value)]
        columns = [i for i, value in enumerate(predictions) if self.accepts(value)]
        scores = np.full((len(references), len(predictions)), self.worst)
        if rows and columns:
            part = self.score_matrix([references[i] for i in rows], [predictions[i] for i in columns])
            scores[np.ix_(rows, columns)] = part
        return scores

    def normalized(self, names: str | Sequence[str]) -> LeafMetric:
        """The same metric of normalised texts; ``names`` as in :data:`~tls_tasks.text.normalizers.NORMALIZERS`.

        Example:
            >>> from tls_tasks.trees.leaf_metrics import resolve_metric
            >>> metric = resolve_metric("exact_match").normalized(["lower", "strip"])
            >>> metric.pairs(["Berlin"], [" BERLIN"]), metric.signature
            (array([1.]), 'exact_match(normalize=lower+strip)')
        """
        if not names_of(names):
            return self
        function, before = normalizer(names), self.prepare
        settings = [*([self.settings] if self.settings else []), f"normalize={'+'.join(names_of(names))}"]

        def prepare(value: Any) -> Any:
            return _with_texts(function, before(value) if before else value)

        return replace(self, prepare=prepare, settings=",".join(settings))

    def _prepared(self, values: Sequence[Any]) -> Sequence[Any]:
        return values if self.prepare is None else [self.prepare(value) for value in values]

    def _accepts_all(self, values: Sequence[Any]) -> bool:
        return set(map(type, values)) <= self.types or all(map(self.accepts, values))

    def _best_of(self, scores: FloatArray, starts: Sequence[int]) -> FloatArray:
        best = np.maximum if self.higher_is_better else np.minimum
        result: FloatArray = best.reduceat(scores, starts, axis=0)
        return result


def _flattened(references: Sequence[Any]) -> tuple[list[Any], list[int]]:
    """The answers one after the other, and where those of each reference begin."""
    flat: list[Any] = []
    starts: list[int] = []
    for reference in references:
        starts.append(len(flat))
        flat.extend(reference.values if isinstance(reference, AnyOf) else [reference])
    return flat, starts


def _with_texts(function: Callable[[str], str], value: Any) -> Any:
    """The value with its texts changed, those in a list too."""
    if isinstance(value, str):
        return function(value)
    return [_with_texts(function, one) for one in value] if isinstance(value, list | tuple) else value


def distinct(values: Sequence[Any]) -> tuple[list[Any], list[int] | None]:
    """The distinct values in order, and for each value the position of its like; None if all are distinct.

    Example:
        >>> distinct(["a", "b", "a"]), distinct(["a", "b"])
        ((['a', 'b'], [0, 1, 0]), (['a', 'b'], None))
    """
    positions: dict[Any, int] = {}
    places = [positions.setdefault(value, len(positions)) for value in values]
    return list(positions), None if len(positions) == len(places) else places


def of_distinct(scorer: Scorer, references: Sequence[Any], predictions: Sequence[Any]) -> FloatArray:
    """The matrix of ``scorer``, which sees each distinct value once."""
    rows, row_places = distinct(references)
    columns, column_places = distinct(predictions)
    scores = scorer(rows, columns)
    if row_places is not None:
        scores = scores[row_places]
    return scores if column_places is None else scores[:, column_places]


def overlaps(left: Iterable[Iterable[Any]], right: Iterable[Iterable[Any]]) -> FloatArray:
    """How many elements each set on the left shares with each on the right; ``[left, right]``.

    Sets are integers with one bit an element, so that a pair costs one operation.

    Example:
        >>> overlaps(["ab", "c"], ["abc", "x"])
        array([[2., 0.],
               [1., 0.]])
    """
    bits: dict[Any, int] = {}
    sets = [[_as_bits(one, bits) for one in side] for side in (left, right)]
    return np.array([[(one & other).bit_count() for other in sets[1]] for one in sets[0]], dtype=np.float64)


def _as_bits(elements: Iterable[Any], bits: dict[Any, int]) -> int:
    positions = {bits.setdefault(element, len(bits)) for element in elements}
    field = bytearray(max(positions, default=0) // 8 + 1)
    for position in positions:
        field[position >> 3] |= 1 << (position & 7)
    return int.from_bytes(field, "little")
