"""Units -> results: the one way from documents to numbers.

A *unit* is a flat dict of sums: what one document, or one (document, reference) pair, adds to the corpus. A corpus is
the sum of its units, and a *result* is a function of some of these sums. From these alone come the score of a document
and of a corpus, lists, intervals, standard errors, paired tests, topics, and shards that merge exactly. The idea is
sacrebleu's (per-segment statistics); here it holds for every metric.

NaN has two meanings, kept apart: NaN in a part is an instrument that failed, and makes every result over it NaN; 0/0 of
parts is undefined, and a result says what it is then.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property, lru_cache, partial, reduce
from typing import Any, NamedTuple

import numpy as np

from tls_tasks.core.errors import InputError, check_choice, shorten
from tls_tasks.core.intervals import Interval, Statistics, caution, check_interval
from tls_tasks.core.parsed import NOTES, without_notes
from tls_tasks.core.shown import Shown

AGGREGATES = ("f_of_means", "mean_f")
"""``f_of_means``: F of the mean precision and the mean recall; ``mean_f``: the mean of the units' F (macro)."""


class Columns(Sequence[Mapping[str, float]]):
    """Units that are kept part by part, for corpora of many documents; each is made when it is asked for.

    Example:
        >>> units = Columns({"right": [1, 0], "asked": [2, 2]}, 2)
        >>> units[0], units.sums
        ({'right': 1, 'asked': 2}, {'right': 1.0, 'asked': 4.0})
    """

    def __init__(self, columns: Mapping[str, Sequence[float]], n: int) -> None:
        """``columns``: part -> its amount in each of the ``n`` units."""
        self.columns, self.n = columns, n

    def __len__(self) -> int:
        """How many units there are."""
        return self.n

    def __getitem__(self, place: Any) -> Any:
        """One unit, or a list of them."""
        if isinstance(place, slice):
            return [self[own] for own in range(self.n)[place]]
        return {part: column[place] for part, column in self.columns.items()}

    def take(self, places: Sequence[int], parts: Iterable[str]) -> Columns:
        """Some of the units, with these parts of them."""
        return Columns({part: [self.columns[part][place] for place in places] for part in parts}, len(places))

    @cached_property
    def sums(self) -> dict[str, float]:
        """The sum of each part."""
        return {part: math.fsum(column) for part, column in self.columns.items()}

    def __eq__(self, other: object) -> bool:
        """Equal to all sequences of equal units."""
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


def grouped(values: Sequence[Any], labels: Sequence[Hashable]) -> dict[Hashable, list[Any]]:
    """Values by label, in order of first appearance.

    Example:
        >>> grouped([1, 2, 3], ["a", "b", "a"])
        {'a': [1, 3], 'b': [2]}
    """
    groups: dict[Hashable, list[Any]] = {}
    for value, label in zip(values, labels, strict=True):
        groups.setdefault(label, []).append(value)
    return groups


def members_of(
    units: Sequence[Mapping[str, float]], labels: Sequence[Hashable], parts: Sequence[str]
) -> Iterator[tuple[Hashable, Sequence[Mapping[str, float]]]]:
    """Label -> its units, with these parts at least, in order of first appearance, one after the other.

    Example:
        >>> for topic, members in members_of(Columns({"hits": [1, 2, 3]}, 3), ["a", "b", "a"], ["hits"]):
        ...     print(topic, list(members))
        a [{'hits': 1}, {'hits': 3}]
        b [{'hits': 2}]
    """
    for label, places in grouped(range(len(units)), labels).items():
        yield label, units.take(places, parts) if isinstance(units, Columns) else [units[place] for place in places]


Unit = Mapping[str, float]
"""Part -> sum."""


def sums_of(units: Sequence[Unit], parts: Iterable[str]) -> dict[str, float]:
    """The sums of these parts at least, exactly rounded, so that the order of the units does not matter."""
    return units.sums if isinstance(units, Columns) else {part: math.fsum([u[part] for u in units]) for part in parts}


def mean_unit(units: Sequence[Unit]) -> dict[str, float]:
    """Return the unit of a document that was answered several times: the means of its parts.

    Example:
        >>> mean_unit([{"hits": 1.0, "n": 1.0}, {"hits": 0.0, "n": 1.0}])
        {'hits': 0.5, 'n': 1.0}
    """
    return {part: value / len(units) for part, value in sums_of(units, units[0]).items()}


@dataclass(frozen=True, slots=True)
class Result:
    """How one result key is computed.

    Attributes:
        parts: The parts of the units that it takes.
        of: Their sums, in that order -> the value. NaN in gives NaN out. A module-level function or a ``partial`` of
            one, never a lambda: scores are pickled.
        empty: The value of no documents.
        better: Whether higher is better; None: neither good nor bad.
        is_count: Whether it is a whole number, which has no interval and no standard error.
        is_mean: Whether a host's own mean over documents gives the same.
        equal_votes: Each topic has one vote: a topic's sums are divided by its first part (its size) before they are
            added up. The one result that is no function of the corpus's sums.
        best_of_nothing: Whether an answer with nothing in it, or with next to nothing, gets the best value. True by
            definition, but nothing to rank systems by, or to average over tasks: a model that never answers would lead.
        bounded: Whether it lies in [0, 1] by definition, as shares and F do; its interval then does, too.

    Example:
        >>> accuracy = ratio("right", "asked")
        >>> accuracy.value([{"right": 1, "asked": 2}, {"right": 2, "asked": 2}])
        0.75
    """

    parts: tuple[str, ...]
    of: Callable[..., float]
    empty: float = 0.0
    better: bool | None = True
    is_count: bool = False
    is_mean: bool = False
    equal_votes: bool = False
    best_of_nothing: bool = False
    bounded: bool = True

    def value(self, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> float:
        """The value of these units."""
        if not units:
            return self.empty
        if self.equal_votes and topics is not None:
            units = [self._vote(members) for _, members in members_of(units, topics, self.parts)]
        sums = sums_of(units, self.parts)
        return self.of(*[sums[part] for part in self.parts])

    def _vote(self, members: Sequence[Unit]) -> Unit:
        sums = sums_of(members, self.parts)
        size = sums[self.parts[0]]
        return {part: sums[part] / size if size else math.nan for part in self.parts}


Results = Mapping[str, Result]
"""A table: result key -> how it is computed."""


def _ratio(undefined: float, of: float, hits: float) -> float:
    return hits / of if of else undefined


def _nothing(_: Any) -> dict[str, Any]:
    return {}


def ratio(hits: str, of: str, *, empty: float = 0.0, **options: Any) -> Result:
    """``hits / of`` over the corpus (a micro average); ``empty`` where there is nothing to hit."""
    return Result((of, hits), partial(_ratio, empty), empty, **options)


def mean(part: str, **options: Any) -> Result:
    """The mean of a part over units, each of which has 1 in ``n``."""
    return ratio(part, "n", is_mean=not options.get("equal_votes"), **options)


def total(part: str, **options: Any) -> Result:
    """The sum of a part: how many documents, objects, sentences had it."""
    return Result((part,), float, is_count=True, bounded=False, **options)


def parts_of(table: Results) -> list[str]:
    """The parts that a table takes, each once, in order."""
    return list(dict.fromkeys(part for result in table.values() for part in result.parts))


def unscored(table: Results) -> dict[str, float]:
    """The unit of a document that could not be scored: it makes every result NaN, so that it is seen."""
    return dict.fromkeys(parts_of(table), math.nan)


def values(table: Results, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> dict[str, float]:
    """All results of these units.

    Example:
        >>> values({"accuracy": ratio("right", "asked"), "n": total("asked")}, [{"right": 1, "asked": 2}])
        {'accuracy': 0.5, 'n': 2.0}
    """
    return {key: result.value(units, topics) for key, result in table.items()}


@dataclass(frozen=True, repr=False)
class Score(Shown):
    """Numbers, with what they were made from.

    A result is an attribute and an item: ``score.f1``, ``score["f1"]``. Of names that are also attributes below, the
    item is the result. Scores are equal if their signatures, units, topics and problems are.

    Attributes:
        metric: Registry name.
        signature: How the numbers were made.
        units: One a document, or one a (document, reference) pair.
        definitions: Result key -> how it is computed.
        topics: Each unit's topic, if there are any: what is drawn and exchanged together.
        rows: The row that each unit is of, where a row may have several (one a reference): what is drawn together
            where there are no topics. None: each unit is a row.
        items: What each unit came from; each has ``as_dict()``.
        problems: Row -> kind of problem in the model's text, notes included -> how often.
        parse_failures: How many predictions could not be read at all.
        details: Makes what ``as_dict(detailed=True)`` adds before the items.
        more: Makes further plain results, which follow those of ``definitions``.
        as_lists: Whether ``as_dict`` gives one value a unit.
        interval: Options of :meth:`intervals`, if ``as_dict`` is to give ``<key>_ci``, and ``ci_caution``: why these
            can't be trusted, if so.
        undefined: What ``as_dict`` gives for NaN.
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

    def by_topic(self) -> dict[Hashable, dict[str, float]]:
        """The results of each topic.

        Raises:
            InputError: The metric was given no topics.
        """
        if self.topics is None:
            raise InputError("topics", None, "None", "a score of rows with topics; give them to the metric")
        groups = members_of(self.units, self.topics, parts_of(self.definitions))
        return {topic: values(self.definitions, members) for topic, members in groups}

    def as_dict(self, detailed: bool = False) -> dict[str, Any]:
        """The results as plain values; ``detailed`` adds items and problems."""
        plain: dict[str, Any] = {key: self._result(key) for key in self.definitions}
        if self.interval is not None:
            found = self.intervals(**self.interval)
            plain |= {f"{key}_ci": list(ends) for key, ends in found.items()} | {"ci_caution": caution(found)}
        plain |= {**self.more(self), "signature": self.signature}
        if not detailed:
            return plain
        plain |= {**self.details(self), "items": [item.as_dict() for item in self.items]}
        problems = {row: lost for row, kinds in self.problems.items() if (lost := without_notes(kinds))}
        said = {
            row: {kind: count for kind, count in kinds.items() if kind in NOTES} for row, kinds in self.problems.items()
        }
        notes = {row: kinds for row, kinds in said.items() if kinds}
        return plain | {"parse_failures": self.parse_failures, "problems": problems, "notes": notes}

    def _result(self, key: str) -> Any:
        value: Any = self.results[key]
        return [self._plain(key, one) for one in value] if self.as_lists else self._plain(key, value)

    def _plain(self, key: str, value: float) -> Any:
        if math.isnan(value):
            return self.undefined
        return int(value) if self.definitions[key].is_count else float(value)

    def differences(self) -> list[dict[str, Any]]:
        """The wrong, missed and invented values, one dictionary each (``tree_eval`` only).

        Raises:
            InputError: The metric has no such list.
        """
        if not all(hasattr(item, "differences") for item in self.items):
            scored = "|".join(self.signature.split("|")[:2])
            expected = "a score of tree_eval; explain(row) shows what other scores tell"
            raise InputError("differences", None, scored, expected)
        return [found for item in self.items for found in item.differences()]

    def intervals(
        self, *, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 12345, keys: Iterable[str] | None = None
    ) -> dict[str, Interval]:
        """Confidence intervals, over topics where there are any, else over rows: never over the references of a row.

        Below 100 topics or rows jackknife-t, from 100 on percentile bootstrap (docs/intervals.md). Counts, NaN and
        results to which fewer than two topics or rows contribute have no interval.

        Args:
            confidence: Coverage, in (0, 1).
            n_resamples: How many resamples a bootstrap draws; at least 1.
            seed: The seed of the bootstrap: the same seed gives the same interval.
            keys: The results that get intervals; None: all.
        """
        check_interval(len(self.units), confidence, n_resamples)
        return Sums.of(self).statistics(keys).intervals(confidence, n_resamples, seed)

    def standard_errors(self) -> dict[str, float]:
        """Jackknife standard errors, leaving out one topic (or row) at a time; NaN with fewer than two."""
        return Sums.of(self).statistics().standard_errors()


@dataclass(frozen=True)
class Sums:
    """The parts of all results, a row a topic (or a row of the input): what is drawn, exchanged and left out.

    Attributes:
        table: The results.
        rows: An array, a row a topic, a column a part. Of results with equal votes the parts are the topic's means.
        columns: Result key -> the columns of its parts.
    """

    table: Results
    rows: Any
    columns: Mapping[str, list[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, score: Score, *, by_topic: bool = True) -> Sums:
        """The sums of a score's units.

        Args:
            score: Whose units, topics and results they are.
            by_topic: A row a topic, where the score has topics; else a row for each row of the input.
        """
        places: dict[tuple[str, str], int] = {}  # (part, what it is divided by within a topic) -> column
        columns = {}
        units, topics = score.units, score.topics
        for key, result in score.definitions.items():
            size = result.parts[0] if result.equal_votes and topics is not None else ""
            columns[key] = [places.setdefault((part, size), len(places)) for part in result.parts]
        sizes = {
            (topic, size): math.fsum(unit[size] for unit in members)
            for size in {size for _, size in places if size}
            for topic, members in grouped(units, topics or ()).items()
        }
        of_input = range(len(units)) if score.rows is None else score.rows
        clusters, rows = topics if by_topic and topics is not None else of_input, []
        for members in grouped(range(len(units)), clusters).values():
            own = [units[member] for member in members]
            sums = {part: math.fsum(unit[part] for unit in own) for part, _ in places}
            topic = topics[members[0]] if topics is not None else None
            rows.append([sums[part] / sizes[topic, size] if size else sums[part] for part, size in places])
        return cls(score.definitions, np.array(rows), columns)

    def statistics(self, keys: Iterable[str] | None = None) -> Statistics:
        """What intervals and standard errors are made of: these results, or all, without the counts."""
        wanted = [key for key in (self.table if keys is None else keys) if not self.table[key].is_count]
        bounds = {key: (0.0, 1.0) for key in wanted if self.table[key].bounded}
        columns = {key: self.columns[key] for key in wanted}
        return Statistics(self.rows, columns, partial(self.values, keys=wanted), bounds)

    def values(self, sums: Any, keys: Iterable[str] | None = None) -> dict[str, float]:
        """The results of one row of sums."""
        plain, wanted = sums.tolist(), self.table if keys is None else keys
        return {key: self.table[key].of(*[plain[place] for place in self.columns[key]]) for key in wanted}


def jackknife(result: Result, units: Sequence[Unit], topics: Sequence[Hashable] | None = None) -> float:
    """The standard error of a result as :meth:`Score.standard_errors` has it, of a corpus of units.

    Example:
        >>> jackknife(mean("hit"), [{"hit": 0, "n": 1}, {"hit": 1, "n": 1}])
        0.5
    """
    return Score("", "", units, {"": result}, topics).standard_errors()[""]


def without_nan(numbers: Mapping[str, float]) -> dict[str, float | None]:
    """The numbers for JSON, which has no NaN: what is undefined or unscored is None.

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
    """F-beta of a precision and a recall; 0.0 where both are 0. ``beta`` > 1 favours recall (van Rijsbergen 1979).

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
        precision_hits: What the prediction got right (may be weighted, so a float).
        predicted: What the prediction offered.
        recall_hits: What of the reference was found. Differs from ``precision_hits`` where the two directions are
            aligned apart, as in alignment ROUGE.
        reference: What the reference asks for.

    Example:
        >>> Counts(2, 4, 2, 5).prf()
        PRF(precision=0.5, recall=0.4, f1=0.4444444444444445)
    """

    precision_hits: float
    predicted: float
    recall_hits: float
    reference: float

    def prf(self, beta: float = 1.0) -> PRF:
        """Precision, recall and F-beta; 0.0 where nothing was offered or asked for."""
        precision = self.precision_hits / self.predicted if self.predicted else 0.0
        recall = self.recall_hits / self.reference if self.reference else 0.0
        return PRF(precision, recall, f_beta(precision, recall, beta))


@dataclass(frozen=True, slots=True)
class Item:
    """What one row, or one (row, reference) pair, contributes to a score of precision, recall and F.

    Attributes:
        row: Position in ``predictions``.
        reference: Position among the row's references; None where they are taken jointly or there is one by nature.
        counts: Result prefix -> counts.
        topic: The row's topic, if topics were given.
        flags: Why a value is 0 by definition (``empty_prediction`` …); each metric's documentation lists its own.
        details: Makes what explains the numbers, ready for JSON: alignments, matches, misses.
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
        """The item's own scores, counts, flags and details as plain values."""
        result: dict[str, Any] = {"row": self.row, "reference": self.reference}
        if self.topic is not None:
            result["topic"] = self.topic
        for prefix, counts in self.counts.items():
            result |= _named_prf(prefix, counts.prf(self.beta))
        result["counts"] = {prefix: asdict(counts) for prefix, counts in self.counts.items()}
        return {**result, "flags": list(self.flags), **self.details()}


def _named_prf(prefix: str, prf: PRF) -> dict[str, float]:
    """The three result keys of a prefix.

    Example:
        >>> _named_prf("date", PRF(1.0, 0.5, 2 / 3))
        {'date_precision': 1.0, 'date_recall': 0.5, 'date_f1': 0.6666666666666666}
    """
    return {f"{prefix}_{part}": float(value) for part, value in zip(PRF._fields, prf, strict=True)}


def prf_unit(counts: Mapping[str, Counts], beta: float = 1.0) -> dict[str, float]:
    """The unit of counts by prefix, as :func:`prf_of_means` takes it.

    Example:
        >>> prf_unit({"date": Counts(1, 2, 1, 2)})
        {'n': 1.0, 'date_precision': 0.5, 'date_recall': 0.5, 'date_f1': 0.5}
    """
    unit = {"n": 1.0}
    for prefix, own in counts.items():
        unit |= _named_prf(prefix, own.prf(beta))
    return unit


def _f_of_means(beta: float, n: float, precision: float, recall: float) -> float:
    return f_beta(precision / n, recall / n, beta)


@lru_cache
def prf_of_means(prefix: str, how: str = "f_of_means", beta: float = 1.0, by_topic: bool = False) -> dict[str, Result]:
    """The three results of a prefix: the mean precision and recall over units, and F by ``how``.

    Args:
        prefix: Of the result keys and of the units' parts, as :func:`prf_unit` names them.
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

    Python's own ``sum`` makes up for what it rounds from 3.12 on, so that its last bits are others there.

    Example:
        >>> plain_sum([1e16, 1.0, -1e16])
        0.0
    """
    return reduce(operator.add, values, 0)


def plain_mean(values: Sequence[float]) -> float:
    """The mean by :func:`plain_sum`; there must be values."""
    return plain_sum(values) / len(values)
