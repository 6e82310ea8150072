"""Compute results from units: every number of every metric comes about here.

A *unit* is a flat dict of sums that one document, or one (document, reference) pair, adds to the corpus; each of the
sums is a *part*. A corpus is the sum of its units, and a *result* is a function of some parts. From these alone come
the score of a document and of a corpus, lists, intervals, standard errors, paired tests, topics, and shards that merge
exactly. The idea is sacrebleu's (per-segment statistics); here it holds for every metric.

NaN has two meanings: NaN in a part means that an instrument failed, and makes every result over it NaN; a result whose
parts give 0/0 is undefined, and its definition gives the value for this case.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache, partial, reduce
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.core.display import ScoreDisplay
from tls_tasks.core.errors import InputError, check_choice, shorten
from tls_tasks.core.intervals import Interval, Statistics, caution, check_interval
from tls_tasks.core.parsed import only_notes, without_notes

AGGREGATES = ("f_of_means", "mean_f")
"""``f_of_means``: F of the mean precision and the mean recall; ``mean_f``: the mean of the units' F (macro)."""


class Columns(Sequence[Mapping[str, float]]):
    """Units that are stored part by part, for corpora of many documents; a unit is built when it is read.

    Example:
        >>> units = Columns({"right": [1, 0], "asked": [2, 2]}, 2)
        >>> units[0], units.sums
        ({'right': 1, 'asked': 2}, {'right': 1.0, 'asked': 4.0})
    """

    def __init__(self, columns: Mapping[str, Sequence[float]], n: int) -> None:
        """Store ``columns``: part -> its amount in each of the ``n`` units."""
        self.columns, self.n = columns, n

    def __len__(self) -> int:
        """Return the number of units."""
        return self.n

    def __getitem__(self, index: Any) -> Any:
        """Return one unit, or a list of them."""
        if isinstance(index, slice):
            return [self[position] for position in range(self.n)[index]]
        return {part: column[index] for part, column in self.columns.items()}

    def take(self, indices: Sequence[int], parts: Iterable[str]) -> Columns:
        """Return some of the units, with these parts of them."""
        return Columns({part: [self.columns[part][index] for index in indices] for part in parts}, len(indices))

    @cached_property
    def sums(self) -> dict[str, float]:
        """The sum of each part."""
        return {part: math.fsum(column) for part, column in self.columns.items()}

    def __eq__(self, other: object) -> bool:
        """Return whether ``other`` is a sequence of equal units."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def grouped(values: Sequence[Any], labels: Sequence[Hashable]) -> dict[Hashable, list[Any]]:
    """Group values by label, in order of first appearance.

    Example:
        >>> grouped([1, 2, 3], ["a", "b", "a"])
        {'a': [1, 3], 'b': [2]}
    """
    groups: dict[Hashable, list[Any]] = {}
    for value, label in zip(values, labels, strict=True):
        groups.setdefault(label, []).append(value)
    return groups


def group_units(
    units: Sequence[Mapping[str, float]], labels: Sequence[Hashable], parts: Sequence[str]
) -> Iterator[tuple[Hashable, Sequence[Mapping[str, float]]]]:
    """Yield each label with its units, with these parts at least, in order of first appearance.

    Example:
        >>> for topic, members in group_units(Columns({"hits": [1, 2, 3]}, 3), ["a", "b", "a"], ["hits"]):
        ...     print(topic, list(members))
        a [{'hits': 1}, {'hits': 3}]
        b [{'hits': 2}]
    """
    for label, indices in grouped(range(len(units)), labels).items():
        yield label, units.take(indices, parts) if isinstance(units, Columns) else [units[index] for index in indices]


Unit = Mapping[str, float]
"""Part -> its sum in one document, or one (document, reference) pair."""


def sum_parts(units: Sequence[Unit], parts: Iterable[str]) -> dict[str, float]:
    """Return the sums of these parts at least, exactly rounded, so that the order of units does not matter."""
    return units.sums if isinstance(units, Columns) else {part: math.fsum([u[part] for u in units]) for part in parts}


def mean_unit(units: Sequence[Unit]) -> dict[str, float]:
    """Return the unit of a document that was answered several times: the means of its parts.

    Example:
        >>> mean_unit([{"hits": 1.0, "n": 1.0}, {"hits": 0.0, "n": 1.0}])
        {'hits': 0.5, 'n': 1.0}
    """
    return {part: value / len(units) for part, value in sum_parts(units, units[0]).items()}


@dataclass(frozen=True, slots=True)
class Result:
    """The definition of one result: a formula over sums of parts.

    Attributes:
        parts: The parts of the units that the formula takes.
        formula: Sums of the parts, in that order -> the value. NaN in gives NaN out. It is a module-level function or a
            ``partial`` of one, never a lambda, since scores are pickled.
        empty: The value of a corpus without documents.
        better: Whether higher is better; None: neither good nor bad.
        is_count: Whether it is a whole number, which has no interval and no standard error.
        is_mean: Whether a host's own mean over documents gives the same value.
        equal_votes: Whether each topic has one vote: a topic's sums are divided by its first part (its size) before
            they are added up. Only these results are no function of the corpus's sums.
        best_of_nothing: Whether an empty or nearly empty answer gets the best value. Such a result is right by its
            definition, but can't rank systems or be averaged over tasks: a model that never answers would lead.
        bounded: Whether it lies in [0, 1] by definition, as shares and F do; its interval then does, too.

    Example:
        >>> accuracy = ratio("right", "asked")
        >>> accuracy.value([{"right": 1, "asked": 2}, {"right": 2, "asked": 2}])
        0.75
    """

    parts: tuple[str, ...]
    formula: Callable[..., float]
    empty: float = 0.0
    better: bool | None = True
    is_count: bool = False
    is_mean: bool = False
    equal_votes: bool = False
    best_of_nothing: bool = False
    bounded: bool = True

    def value(self, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> float:
        """Return the value of these units."""
        if not units:
            return self.empty
        if self.equal_votes and topics is not None:
            units = [self._vote(members) for _, members in group_units(units, topics, self.parts)]
        sums = sum_parts(units, self.parts)
        return self.formula(*[sums[part] for part in self.parts])

    def _vote(self, members: Sequence[Unit]) -> Unit:
        """Return a topic's sums divided by its size, so that each topic has one vote."""
        sums = sum_parts(members, self.parts)
        size = sums[self.parts[0]]
        return {part: sums[part] / size if size else math.nan for part in self.parts}


Results = Mapping[str, Result]
"""A table: result key -> its definition."""


def _ratio(undefined: float, denominator: float, numerator: float) -> float:
    """Return a ratio; ``undefined`` where its denominator is 0."""
    return numerator / denominator if denominator else undefined


def _nothing(_: Any) -> dict[str, Any]:
    return {}


def ratio(numerator: str, denominator: str, *, empty: float = 0.0, **options: Any) -> Result:
    """Return the ratio of two sums over the corpus (a micro average); ``empty`` where the denominator is 0."""
    return Result((denominator, numerator), partial(_ratio, empty), empty, **options)


def mean(part: str, **options: Any) -> Result:
    """Return the mean of a part over units, each of which has 1 in ``n``."""
    return ratio(part, "n", is_mean=not options.get("equal_votes"), **options)


def total(part: str, **options: Any) -> Result:
    """Return the sum of a part, a whole number: how many documents, objects or sentences have it."""
    return Result((part,), float, is_count=True, bounded=False, **options)


def table_parts(table: Results) -> list[str]:
    """Return the parts that a table takes, each once, in order."""
    return list(dict.fromkeys(part for result in table.values() for part in result.parts))


def unscored(table: Results) -> dict[str, float]:
    """Build the unit of a document that could not be scored: its NaN makes every result NaN, so that it is seen."""
    return dict.fromkeys(table_parts(table), math.nan)


def values(table: Results, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> dict[str, float]:
    """Return all results of these units.

    Example:
        >>> values({"accuracy": ratio("right", "asked"), "n": total("asked")}, [{"right": 1, "asked": 2}])
        {'accuracy': 0.5, 'n': 2.0}
    """
    return {key: result.value(units, topics) for key, result in table.items()}


@dataclass(frozen=True, repr=False)
class Score(ScoreDisplay):
    """The results of a metric, with the units from which they are computed.

    A result is an attribute and an item: ``score.f1``, ``score["f1"]``. If a result has the name of an attribute below,
    only the item is the result. Scores are equal if their signatures, units, topics and problems are.

    Attributes:
        metric: Registry name.
        signature: The metric with all settings that move a number, on one line.
        units: One unit for each document, or for each (document, reference) pair.
        definitions: Result key -> its definition.
        topics: Each unit's topic, if there are topics; units of a topic are resampled and exchanged together.
        rows: Each unit's row, where a row may have several units (one a reference); without topics, units of a row are
            resampled together. None: each unit is a row.
        items: For each unit the details from which it was computed; each item has ``as_dict()``.
        problems: Row -> kind of problem in the model's text, notes included -> how often.
        parse_failures: How many predictions could not be read at all.
        details: Returns the entries that ``as_dict(detailed=True)`` adds before the items.
        more: Returns further plain results, which follow those of ``definitions``.
        as_lists: Whether ``as_dict`` gives a list with one value for each unit.
        interval: Options of :meth:`intervals`, if ``as_dict`` is to add ``<key>_ci``, and ``ci_caution``, which says
            why intervals can't be trusted, if so.
        undefined: The value that ``as_dict`` gives for NaN.
        explanation: An item -> the lines that explain it, for :meth:`explain`.

    Example:
        >>> score = Score("accuracy", "accuracy|v:1", [{"right": 1, "asked": 2}], {"accuracy": ratio("right", "asked")})
        >>> score
        <Score accuracy: accuracy 0.5000, n 1, accuracy|v:1>
        >>> score.accuracy, score["accuracy"]
        (0.5, 0.5)
        >>> score.as_dict()
        {'accuracy': 0.5, 'signature': 'accuracy|v:1'}
    """

    metric: str
    signature: str
    units: Sequence[Unit]
    definitions: Results = field(compare=False)
    topics: Sequence[Hashable] | None = None
    rows: Sequence[Hashable] | None = field(default=None, compare=False)
    items: Sequence[Any] = field(default=(), compare=False)
    problems: Mapping[int, Mapping[str, int]] = field(default_factory=dict)
    parse_failures: int = 0
    details: Callable[[Score], Mapping[str, Any]] = field(default=_nothing, compare=False)
    more: Callable[[Score], Mapping[str, Any]] = field(default=_nothing, compare=False)
    as_lists: bool = False
    interval: Mapping[str, Any] | None = None
    undefined: float | None = field(default=math.nan, compare=False)
    explanation: Callable[[Any], Iterable[str]] = field(default=_nothing, compare=False)

    @cached_property
    def results(self) -> dict[str, float]:
        """The numbers: result key -> value; NaN where undefined or unscored. With ``as_lists``, a list, one a unit."""
        if not self.as_lists:
            return values(self.definitions, self.units, self.topics)
        lists: Any = {key: [result.value([unit]) for unit in self.units] for key, result in self.definitions.items()}
        return lists  # type: ignore[no-any-return]

    def topic_results(self) -> dict[Hashable, dict[str, float]]:
        """Return the results of each topic.

        Raises:
            InputError: The metric was given no topics.
        """
        if self.topics is None:
            raise InputError("topics", None, "None", "a score of rows with topics; give them to the metric")
        groups = group_units(self.units, self.topics, table_parts(self.definitions))
        return {topic: values(self.definitions, members) for topic, members in groups}

    def as_dict(self, detailed: bool = False) -> dict[str, Any]:
        """Return the results as plain values; ``detailed`` adds items and problems."""
        plain: dict[str, Any] = {key: self._result(key) for key in self.definitions}
        if self.interval is not None:
            intervals = self.intervals(**self.interval)
            plain |= {f"{key}_ci": list(interval) for key, interval in intervals.items()}
            plain["ci_caution"] = caution(intervals)
        plain |= {**self.more(self), "signature": self.signature}
        if not detailed:
            return plain
        plain |= {**self.details(self), "items": [item.as_dict() for item in self.items]}
        problems = {row: lost for row, kinds in self.problems.items() if (lost := without_notes(kinds))}
        notes = {row: noted for row, kinds in self.problems.items() if (noted := only_notes(kinds))}
        return plain | {"parse_failures": self.parse_failures, "problems": problems, "notes": notes}

    def _result(self, key: str) -> Any:
        """Return a result as a plain value, or with ``as_lists`` the value of each unit."""
        value: Any = self.results[key]
        return [self._plain(key, number) for number in value] if self.as_lists else self._plain(key, value)

    def _plain(self, key: str, value: float) -> Any:
        """Return a value as int or float, and ``undefined`` for NaN."""
        if math.isnan(value):
            return self.undefined
        return int(value) if self.definitions[key].is_count else float(value)

    def differences(self) -> list[dict[str, Any]]:
        """Return the wrong, missed and invented values, one dictionary each (``tree_eval`` only).

        Raises:
            InputError: The metric has no such list.
        """
        if not all(hasattr(item, "differences") for item in self.items):
            scored = "|".join(self.signature.split("|")[:2])
            expected = "a score of tree_eval; explain(row) shows what other scores tell"
            raise InputError("differences", None, scored, expected)
        return [difference for item in self.items for difference in item.differences()]

    def intervals(
        self, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 12345, keys: Iterable[str] | None = None
    ) -> dict[str, Interval]:
        """Return confidence intervals, over topics where there are any, else over rows (not over references of a row).

        Below 100 topics or rows they are jackknife-t, from 100 on percentile bootstrap (docs/intervals.md). Counts, NaN
        and results to which fewer than two topics or rows contribute have no interval.

        Args:
            confidence: Coverage, in (0, 1).
            n_resamples: The number of resamples of a bootstrap; at least 1.
            seed: The seed of the bootstrap: the same seed gives the same interval.
            keys: The results that get intervals; None: all.
        """
        check_interval(len(self.units), confidence, n_resamples)
        return Sums.from_score(self).statistics(keys).intervals(confidence, n_resamples, seed)

    def standard_errors(self) -> dict[str, float]:
        """Return jackknife standard errors, leaving out one topic (or row) at a time; NaN with fewer than two."""
        return Sums.from_score(self).statistics().standard_errors()


@dataclass(frozen=True)
class Sums:
    """Sums of parts by topic (or by row of the input), which intervals and tests resample, exchange and leave out.

    Attributes:
        table: The results.
        rows: An array of shape (topics, parts). Of results with equal votes, the parts are the topic's means.
        columns: Result key -> the columns of its parts in ``rows``.
    """

    table: Results
    rows: Any
    columns: Mapping[str, list[int]] = field(default_factory=dict)

    @classmethod
    def from_score(cls, score: Score, *, by_topic: bool = True) -> Sums:
        """Sum the parts of a score's units by topic or row.

        Args:
            score: The score whose units are summed.
            by_topic: Whether to sum by topic, where the score has topics; if not, by row of the input.
        """
        indices: dict[tuple[str, str], int] = {}  # maps (part, divisor of the topic's sum or "") to a column
        columns = {}
        units, topics = score.units, score.topics
        for key, result in score.definitions.items():
            size = result.parts[0] if result.equal_votes and topics is not None else ""
            columns[key] = [indices.setdefault((part, size), len(indices)) for part in result.parts]
        sizes = {
            (topic, size): math.fsum(unit[size] for unit in members)
            for size in {size for _, size in indices if size}
            for topic, members in grouped(units, topics or ()).items()
        }
        input_rows = range(len(units)) if score.rows is None else score.rows
        clusters, rows = topics if by_topic and topics is not None else input_rows, []
        for members in grouped(range(len(units)), clusters).values():
            cluster = [units[member] for member in members]
            sums = {part: math.fsum(unit[part] for unit in cluster) for part, _ in indices}
            topic = topics[members[0]] if topics is not None else None
            rows.append([sums[part] / sizes[topic, size] if size else sums[part] for part, size in indices])
        return cls(score.definitions, np.array(rows), columns)

    def statistics(self, keys: Iterable[str] | None = None) -> Statistics:
        """Return the function of sums that intervals and standard errors use: of ``keys``, or all, without counts."""
        chosen = [key for key in (self.table if keys is None else keys) if not self.table[key].is_count]
        bounds = {key: (0.0, 1.0) for key in chosen if self.table[key].bounded}
        columns = {key: self.columns[key] for key in chosen}
        return Statistics(self.rows, columns, partial(self.values, keys=chosen), bounds)

    def values(self, sums: Any, keys: Iterable[str] | None = None) -> dict[str, float]:
        """Return the results of one row of sums."""
        amounts, chosen = sums.tolist(), self.table if keys is None else keys
        return {key: self.table[key].formula(*[amounts[column] for column in self.columns[key]]) for key in chosen}


def jackknife(result: Result, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> float:
    """Return the standard error of a result on a corpus of units, as :meth:`Score.standard_errors` does.

    Example:
        >>> jackknife(mean("hit"), [{"hit": 0, "n": 1}, {"hit": 1, "n": 1}])
        0.5
    """
    return Score("", "", units, {"": result}, topics).standard_errors()[""]


def without_nan(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """Return the numbers for JSON, which has no NaN: undefined and unscored ones are None.

    Example:
        >>> without_nan({"f1": 0.5, "recall": math.nan})
        {'f1': 0.5, 'recall': None}
    """
    return {key: None if math.isnan(value) else value for key, value in numbers.items()}


class PRF(NamedTuple):
    """Precision, recall and F, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return F-beta of precision and recall; 0.0 where both are 0. ``beta`` > 1 favours recall (van Rijsbergen 1979).

    Example:
        >>> f_beta(0.5, 1.0)
        0.6666666666666666
    """
    if precision + recall == 0:
        return 0.0
    return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)


@dataclass(frozen=True, slots=True)
class Counts:
    """Sufficient statistics of one precision and one recall.

    Attributes:
        precision_hits: Amount of the prediction that is right (may be weighted, so a float).
        predicted: Amount of the prediction.
        recall_hits: Amount of the reference that is matched. It differs from ``precision_hits`` where each direction
            has its own alignment, as in alignment ROUGE.
        reference: Amount of the reference.

    Example:
        >>> Counts(2, 4, 2, 5).prf()
        PRF(precision=0.5, recall=0.4, f1=0.4444444444444445)
    """

    precision_hits: float
    predicted: float
    recall_hits: float
    reference: float

    def prf(self, beta: float = 1.0) -> PRF:
        """Return precision, recall and F-beta; 0.0 where nothing was predicted, or the reference is empty."""
        precision = self.precision_hits / self.predicted if self.predicted else 0.0
        recall = self.recall_hits / self.reference if self.reference else 0.0
        return PRF(precision, recall, f_beta(precision, recall, beta))


@dataclass(frozen=True, slots=True)
class Item:
    """The counts of one row, or one (row, reference) pair, in a score of precision, recall and F.

    Attributes:
        row: Index in ``predictions``.
        reference: Index among the row's references; None where they are taken jointly or each row has one.
        counts: Result prefix -> counts.
        topic: The row's topic, if topics were given.
        flags: Why a value is 0 by definition (``empty_prediction`` …); each metric's documentation lists its own.
        details: Returns the details that explain the numbers, ready for JSON: alignments, matches, misses.
        beta: Weight of recall in F.
    """

    row: int
    reference: int | None
    counts: Mapping[str, Counts]
    topic: str | None = None
    flags: tuple[str, ...] = ()
    details: Callable[[], Mapping[str, Any]] = dict
    beta: float = 1.0

    def as_dict(self) -> dict[str, Any]:
        """Return the item's own scores, counts, flags and details as plain values."""
        result: dict[str, Any] = {"row": self.row, "reference": self.reference}
        if self.topic is not None:
            result["topic"] = self.topic
        for prefix, counts in self.counts.items():
            result |= _named_prf(prefix, counts.prf(self.beta))
        result["counts"] = {prefix: asdict(counts) for prefix, counts in self.counts.items()}
        return {**result, "flags": list(self.flags), **self.details()}


def _named_prf(prefix: str, prf: PRF) -> dict[str, float]:
    """Return the three result keys of a prefix with their values.

    Example:
        >>> _named_prf("date", PRF(1.0, 0.5, 2 / 3))
        {'date_precision': 1.0, 'date_recall': 0.5, 'date_f1': 0.6666666666666666}
    """
    return {f"{prefix}_{part}": float(value) for part, value in zip(PRF._fields, prf, strict=True)}


def prf_unit(counts: Mapping[str, Counts], beta: float = 1.0) -> dict[str, float]:
    """Build the unit of counts by prefix, for the results of :func:`prf_of_means`.

    Example:
        >>> prf_unit({"date": Counts(1, 2, 1, 2)})
        {'n': 1.0, 'date_precision': 0.5, 'date_recall': 0.5, 'date_f1': 0.5}
    """
    unit = {"n": 1.0}
    for prefix, prefix_counts in counts.items():
        unit |= _named_prf(prefix, prefix_counts.prf(beta))
    return unit


def _f_of_means(beta: float, n: float, precision: float, recall: float) -> float:
    """Return F-beta of the mean precision and the mean recall of ``n`` units."""
    return f_beta(precision / n, recall / n, beta)


@lru_cache
def prf_of_means(prefix: str, how: str = "f_of_means", beta: float = 1.0, by_topic: bool = False) -> dict[str, Result]:
    """Return the three results of a prefix: the mean precision and recall over units, and F by ``how``.

    Args:
        prefix: The prefix of the result keys and of the units' parts, as :func:`prf_unit` names them.
        how: One of :data:`AGGREGATES`.
        beta: Weight of recall in F.
        by_topic: Whether topics have one vote each.
    """
    keys = precision, recall, f1 = [f"{prefix}_{part}" for part in PRF._fields]
    table = {key: mean(key, equal_votes=by_topic) for key in keys}
    if how == "f_of_means":
        table[f1] = Result(("n", precision, recall), partial(_f_of_means, beta), equal_votes=by_topic)
    return table


def check_aggregate(aggregate: str, beta: float) -> None:
    """Refuse an aggregate that does not exist and a beta that is not a positive number."""
    check_choice("aggregate", aggregate, AGGREGATES)
    if isinstance(beta, bool) or not isinstance(beta, int | float) or not 1e-100 <= beta <= 1e100:
        raise InputError("beta", None, shorten(beta), "a positive number from 1e-100 to 1e100")


def plain_sum(values: Iterable[float]) -> float:
    """Add from left to right, and round after each step, as the original tools did.

    From Python 3.12 on, ``sum`` compensates rounding errors, so that its last bits differ.

    Example:
        >>> plain_sum([1e16, 1.0, -1e16])
        0.0
    """
    return reduce(operator.add, values, 0)


def plain_mean(values: Sequence[float]) -> float:
    """Return the mean by :func:`plain_sum`; there must be values."""
    return plain_sum(values) / len(values)
