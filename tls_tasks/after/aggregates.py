"""What other people's tasks logged for each document -> the number that their host reported, as a :class:`Result`.

A number is taken only if it can be reproduced: as the mean of the logged values, else by the aggregation that the log
names (or that lm-eval has registered for the metric). Where neither gives it, the mean of the values is taken under a
name that says so; where they are no numbers the metric is left out, by name.
"""

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from importlib import import_module
from itertools import chain
from typing import Any

from tls_tasks.core.errors import without_warnings
from tls_tasks.core.score import Result, Score, ratio

_TOLERANCE = 1e-9  # of the reported number; hosts add up in other orders

_MOST = 1e100  # larger numbers, and infinity, are no measurement: their sums overflow

_MOST_COUNTED = 3_000
"""The most different values of one metric whose aggregation is no function of sums."""

_MEANS = ("", "mean", "nanmean")


@dataclass(frozen=True, slots=True)
class Logged:
    """What a host logged of one metric.

    Attributes:
        values: One a document, None where it logged none.
        aggregation: How the host says that it makes one number of them; empty if it does not say.
        better: Whether higher is better; None if the host does not say.
        reported: The number that it reported; None if there is none.
    """

    values: Sequence[Any]
    aggregation: str = ""
    better: bool | None = None
    reported: float | None = None


class _Counts(dict[str, float]):
    """A unit in which most parts are 0, and are not kept."""

    def __missing__(self, part: str) -> float:
        return 0.0


Units = list[_Counts]


def table_of(runs: Sequence[Mapping[str, Logged]], n: int) -> tuple[dict[str, Result], list[Units], dict[str, str]]:
    """The results of one run, or of several on the same documents, in one table.

    Args:
        runs: Of each run: metric -> what was logged of it. Metrics that not all have are left aside.
        n: How many documents each run has.

    Returns:
        The table; the units of each run; and metric -> why its number is not in the table.

    Example:
        >>> table, (units,), left_out = table_of([{"acc": Logged([1, 0], "mean", reported=0.5)}], 2)
        >>> table["acc"].value(units), left_out
        (0.5, {})
    """
    table: dict[str, Result] = {}
    units: list[Units] = [[_Counts() for _ in range(n)] for _ in runs]
    left_out: dict[str, str] = {}
    for key in [key for key in runs[0] if all(key in run for run in runs)]:
        name, made, reason = _result(key, [run[key] for run in runs])
        if reason:
            left_out[key] = reason
        if made is not None:
            better = next((run[key].better for run in runs if run[key].better is not None), True)
            table[name] = replace(made[0], better=better)
            for unit, parts in zip(chain(*units), chain(*made[1]), strict=True):
                unit.update(parts)
    return table, units, left_out


def paired(first: Score, second: Score, keys: Iterable[str], names: Sequence[str]) -> tuple[Score, Score, list[str]]:
    """Two scores of the same documents without the values that only one of them has, since nothing stands beside them.

    Returns:
        Both scores; and for each metric of which values are left out a sentence that says how many of which run.

    Example:
        >>> table, runs, _ = table_of([{"acc": Logged([1, 0, 0])}, {"acc": Logged([1, 1, None])}], 3)
        >>> first, second, said = paired(*[Score("", "", units, table) for units in runs], ["acc"], ["A", "B"])
        >>> first.acc, second.acc, said
        (0.5, 1.0, ['acc compares the 2 documents of which both have a value; left out: 1 that only A has'])
    """
    units, said = [list(first.units), list(second.units)], list[str]()
    for key in keys:
        parts = {*first.definitions[key].parts}
        has = [*zip(*[[not parts.isdisjoint(unit) for unit in own] for own in units], strict=True)]
        for place, (_, is_second) in ((place, sides) for place, sides in enumerate(has) if sides in _ALONE):
            unit = units[is_second][place]
            units[is_second][place] = _Counts({part: unit[part] for part in unit if part not in parts})
        only = [f"{n} that only {name} has" for side, name in zip(_ALONE, names, strict=True) if (n := has.count(side))]
        compares = f"{key} compares the {has.count((True, True))} documents of which both have a value"
        said += [f"{compares}; left out: {' and '.join(only)}"] * bool(only)
    return replace(first, units=units[0]), replace(second, units=units[1]), said


_ALONE = (True, False), (False, True)
"""Whether the first and the second have a value, where one has none."""

_Made = tuple[Result, list[Units]] | None
_Named = tuple[str, Callable[[list[Any]], float]]


def _result(key: str, runs: Sequence[Logged]) -> tuple[str, _Made, str]:
    """Name, result and units by the first way that gives what was reported, and what must be said of it."""
    if len(stated := {run.aggregation for run in runs}) > 1:
        return key, None, f"aggregated in different ways: {' and '.join(sorted(map(repr, stated)))}"
    reported = next((run.reported for run in runs if run.reported is not None), None)
    # The name of a metric in the harness stands before its filter.
    from tls_tasks.hosts.registered import registered_aggregation  # our tasks' logs need no lm_eval

    registered = registered_aggregation(key.partition(",")[0], runs[0].aggregation)
    name = registered[0] if registered else runs[0].aggregation
    mean, causes = _mean(key, name, runs), []
    # The mean is tried first where the number shows whether it is right: most metrics are means, whatever they state.
    ways = ["the mean", name] if reported is not None or name in _MEANS else [name, "the mean"]
    for way in ways:
        if made := mean if way == "the mean" else _aggregated(key, name, runs, registered):
            numbers = [made[0].value(units) for units in made[1]]
            pairs = [(run.reported, number) for run, number in zip(runs, numbers, strict=True)]
            stands = made is mean or not any(told is None and math.isnan(number) for told, number in pairs)
            if stands and all(told is None or same_number(told, number, _TOLERANCE) for told, number in pairs):
                # What was reported as NaN, or leaves NaN out, has been reproduced from what was logged.
                is_meant = name == "nanmean" or (reported is not None and math.isnan(reported))
                return key, made, "" if is_meant else _not_finite(runs)
            causes.append(f"{way} of its values is {numbers[0]!r}")
    if name not in _MEANS and registered is None:
        causes.append(f"its aggregation, {name}, is a function of the task's own")
    what = "can't be made" if reported is None else f"reported as {reported!r}, which can't be made again"
    why = "; ".join(causes) or f"its values are no numbers, or more than {_MOST_COUNTED:,} different ones"
    return key if mean is None else f"{key} (mean of documents)", mean, f"{what}: {why}"


def _not_finite(runs: Sequence[Logged]) -> str:
    values = [value for run in runs for value in run.values]
    n_wrong = sum(isinstance(value, int | float) and not abs(value) <= _MOST for value in values)
    counts = {f"NaN, infinite or above {_MOST:g}": n_wrong, "missing or null": values.count(None)}
    return " and ".join(f"{n} of {len(values)} values {what}" for what, n in counts.items() if n)


def same_number(left: float, right: float, tolerance: float) -> bool:
    """Whether two numbers differ by rounding only, or both are NaN."""
    return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(left) and math.isnan(right))


def _mean(key: str, name: str, runs: Sequence[Logged]) -> _Made:
    n = f"documents with {key}"
    try:
        numbers = [[None if value is None else _number(value) for value in run.values] for run in runs]
    except (TypeError, ValueError):
        return None
    if name == "nanmean":
        numbers = [[None if number is None or math.isnan(number) else number for number in row] for row in numbers]
    units = [[_Counts() if number is None else _Counts({key: number, n: 1.0}) for number in row] for row in numbers]
    known = [unit[key] for unit in chain(*units) if unit]
    is_share = all(0 <= value <= 1 for value in known)
    return (ratio(key, n, empty=math.nan, is_mean=True, bounded=is_share), units) if known else None


def _number(value: Any) -> float:
    """A number, as text too: older releases of the harness write numbers of numpy so. NaN if it can't be added up."""
    if isinstance(value, str):
        value = float({"True": "1", "False": "0"}.get(value, value))
    if not isinstance(value, int | float):
        raise TypeError
    return float(value) if abs(value) <= _MOST else math.nan


def _aggregated(key: str, name: str, runs: Sequence[Logged], registered: _Named | None) -> _Made:
    """A registered aggregation: of statistics that add up, where it has them, else of the multiset of logged values.

    Of a multiset one part a value counts it. A resample is then a vector of counts, as with all other results, and the
    function gets each value so often.
    """
    if name in _ADDITIVE:
        statistics_of, score_of = _ADDITIVE[name]
        try:
            rows = [statistics_of(run.values) for run in runs]
        except Exception:  # no such values, or a release of sacreBLEU that keeps its statistics elsewhere
            rows = []
        if rows and all(rows):
            parts = tuple(f"{key} {place}" for place in range(len(rows[0][0])))
            units = [[_Counts(zip(parts, row, strict=True)) for row in own] for own in rows]
            return Result(parts, partial(_safe, score_of), math.nan, bounded=False), units
    if registered is None or name in _MEANS:
        return None
    texts = [[None if value is None else json.dumps(value, sort_keys=True) for value in run.values] for run in runs]
    items = {text: json.loads(text) for own in texts for text in own if text is not None}
    if len(items) > _MOST_COUNTED:
        return None
    part_of = {text: f"{key} {place}" for place, text in enumerate(items)}
    units = [[_Counts() if text is None else _Counts({part_of[text]: 1.0}) for text in own] for own in texts]
    of = partial(_of_counts, registered[1], list(items.values()))
    return Result(tuple(part_of.values()), of, math.nan, bounded=False), units


def _of_counts(function: Callable[[list[Any]], float], items: Sequence[Any], *counts: float) -> float:
    drawn = [item for item, n in zip(items, counts, strict=True) for _ in range(round(n))]
    return _safe(function, drawn) if drawn else math.nan


def _safe(function: Callable[..., float], *arguments: Any) -> float:
    try:
        with without_warnings(Warning):  # that the F of no cases is ill-defined, at each of 10,000 exchanges
            return float(function(*arguments))
    except Exception:  # somebody else's function of somebody else's values; NaN is what it then is
        return math.nan


def _weighted(values: Sequence[Any]) -> list[list[float]]:
    """Log likelihoods and their weights; a likelihood alone counts once."""
    return [[*map(_number, value if isinstance(value, list) else [value, 1.0])] for value in values]


def _statistics(name: str, values: Sequence[Any]) -> list[list[float]]:
    """Statistics of each sentence, of pairs of references and a prediction."""
    references = [[pair[0]] if isinstance(pair[0], str) else pair[0] for pair in values]
    predictions = [pair[1] if isinstance(pair[1], str) else pair[1][0] for pair in values]
    found = _sacrebleu(name)._extract_corpus_statistics(predictions, [*zip(*references, strict=True)])
    return [list(map(float, row)) for row in found]


def _corpus_score(name: str, *sums: float) -> float:
    """The score of sums of statistics, which are counts but for rounding."""
    whole = [round(value) for value in sums] if name != "ter" else list(sums)
    return float(_sacrebleu(name)._compute_score_from_stats(whole).score)


@lru_cache
def _sacrebleu(name: str) -> Any:
    # A dependency of the harness's, which has it or not.
    return getattr(import_module("sacrebleu.metrics"), _OF_SACREBLEU[name])()


_OF_SACREBLEU = {"bleu": "BLEU", "chrf": "CHRF", "ter": "TER"}
_ADDITIVE: Mapping[str, tuple[Callable[[Sequence[Any]], list[list[float]]], Callable[..., float]]] = {
    **{name: (partial(_statistics, name), partial(_corpus_score, name)) for name in _OF_SACREBLEU},
    **dict.fromkeys(("perplexity", "weighted_perplexity"), (_weighted, lambda total, n: math.exp(-total / n))),
    "bits_per_byte": (_weighted, lambda total, n: -total / n / math.log(2)),
}
"""Aggregation -> what makes statistics, which add up, of the logged values, and what makes the number of their sums."""
