"""What other people's tasks logged for each document -> the number that their host reported, as a :class:`Result`.

A number that is the mean of the logged values is taken as it is. Of any other (BLEU, F1, perplexity) the mean of the
documents, each scored alone, stands under a name that says so; where documents have no numbers the metric is left out,
by name.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any

from tls_tasks.core.errors import without_warnings
from tls_tasks.core.score import Result, Score, ratio

_TOLERANCE = 1e-9  # of the reported number; hosts add up in other orders

_MOST = 1e100  # larger numbers, and infinity, are no measurement: their sums overflow

_MEANS = ("", "mean", "nanmean")
_OF_LABELS = ("f1", "matthews_corrcoef")
"""Aggregations of pairs (gold, predicted): of a document alone, that both are equal is all there is to say."""


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


_COUNT = "documents with {}"
"""The part that is 1 in a document with a number, and 0 in one without."""

Units = list[dict[str, float]]

Rows = list[list[float | None]]
"""Of each run the number of each document; None where there is none."""


def table_of(runs: Sequence[Mapping[str, Logged]], n: int) -> tuple[dict[str, Result], list[Units], dict[str, str]]:
    """The results of one run, or of several on the same documents, in one table.

    Args:
        runs: Of each run: metric -> what was logged of it. Metrics that not all have are left aside.
        n: How many documents each run has.

    Returns:
        The table; the units of each run; and metric -> what is wrong with its values, or why it has no number here.

    Example:
        >>> table, (units,), left_out = table_of([{"acc": Logged([1, 0], "mean", reported=0.5)}], 2)
        >>> table["acc"].value(units), left_out
        (0.5, {})
    """
    table: dict[str, Result] = {}
    units: list[Units] = [[{} for _ in range(n)] for _ in runs]
    left_out: dict[str, str] = {}
    for key in [key for key in runs[0] if all(key in run for run in runs)]:
        name, rows, reason = _numbers(key, [run[key] for run in runs])
        if reason:
            left_out[key] = reason
        if rows is not None:
            better = next((run[key].better for run in runs if run[key].better is not None), True)
            is_share = all(value is None or 0 <= value <= 1 for value in chain(*rows))
            result = ratio(name, count := _COUNT.format(name), empty=math.nan, is_mean=True, bounded=is_share)
            table[name] = replace(result, better=better)
            for unit, value in zip(chain(*units), chain(*rows), strict=True):
                unit[name], unit[count] = (0.0, 0.0) if value is None else (value, 1.0)
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
        count = _COUNT.format(key)
        has = [*zip(*[[unit.get(count) != 0 for unit in own] for own in units], strict=True)]
        for place, (_, is_second) in ((place, sides) for place, sides in enumerate(has) if sides in _ALONE):
            units[is_second][place] = {**units[is_second][place], key: 0.0, count: 0.0}
        only = [f"{n} that only {name} has" for side, name in zip(_ALONE, names, strict=True) if (n := has.count(side))]
        compares = f"{key} compares the {has.count((True, True))} documents of which both have a value"
        said += [f"{compares}; left out: {' and '.join(only)}"] * bool(only)
    return replace(first, units=units[0]), replace(second, units=units[1]), said


_ALONE = (True, False), (False, True)
"""Whether the first and the second have a value, where one has none."""


def _numbers(key: str, runs: Sequence[Logged]) -> tuple[str, Rows | None, str]:
    """The name of a result, the numbers of its documents, and what must be said of it."""
    if len(stated := {run.aggregation for run in runs}) > 1:
        return key, None, f"aggregated in different ways: {' and '.join(sorted(map(repr, stated)))}"
    (name,), reported = stated, [run.reported for run in runs]
    values, is_reported = _rows(runs, _number), any(number is not None for number in reported)
    if values and name == "nanmean":
        values = [[None if value is None or math.isnan(value) else value for value in row] for row in values]
    means = [_mean(row) for row in values or ()]
    pairs = zip(reported, means, strict=True) if means else ()
    is_mean = all(told is None or same_number(told, mean, _TOLERANCE) for told, mean in pairs)
    # The mean is tried first where the number shows whether it is right: most metrics are means, whatever they state.
    if values and is_mean and (is_reported or name in _MEANS[1:]):
        # What was reported as NaN, or leaves NaN out, has been made again of what was logged.
        is_meant = name == "nanmean" or any(number is not None and math.isnan(number) for number in reported)
        return key, values, "" if is_meant else _not_finite(runs)
    from tls_tasks.hosts.registered import registered_aggregation  # our tasks' logs need no lm_eval

    # The name of a metric in the harness stands before its filter.
    registered = registered_aggregation(key.partition(",")[0], name)
    name, function = registered or (name, None)
    alone = None if name in _MEANS or function is None else _rows(runs, partial(_alone, name, function))
    if alone and any(value == value for value in chain(*alone) if value is not None):
        return f"{key} (mean of documents)", alone, ""
    if values and not is_reported:
        return key, values, _not_finite(runs)
    what = "has no number" if not is_reported else f"reported as {next(n for n in reported if n is not None)!r}"
    how = "" if name in _MEANS or registered else f"; its aggregation, {name}, is a function of the task's own"
    if values is None:
        return key, None, f"{what}, and its values are no numbers{how}"
    return f"{key} (mean of documents)", values, f"{what}, but the mean of its values is {means[0]!r}{how}"


def _rows(runs: Sequence[Logged], number: Callable[[Any], float]) -> Rows | None:
    """The number of each document of each run; None if values are of another kind, or there are none."""
    try:
        rows = [[None if value is None else number(value) for value in run.values] for run in runs]
    except (TypeError, ValueError):
        return None
    return rows if any(value is not None for value in chain(*rows)) else None


def _mean(row: Sequence[float | None]) -> float:
    values = [value for value in row if value is not None]
    return math.fsum(values) / len(values) if values else math.nan


def _alone(name: str, function: Callable[[list[Any]], float], value: Any) -> float:
    """A document's own number, by the aggregation that the harness has for all of them."""
    if name in _OF_LABELS:
        gold, predicted = value
        return float(gold == predicted)
    try:
        with without_warnings(Warning):  # that a corpus of one sentence is short
            return _number(function([value]))
    except Exception:  # somebody else's function of somebody else's value; NaN is what it then is
        return math.nan


def _not_finite(runs: Sequence[Logged]) -> str:
    values = [value for run in runs for value in run.values]
    n_wrong = sum(isinstance(value, int | float) and not abs(value) <= _MOST for value in values)
    counts = {f"NaN, infinite or above {_MOST:g}": n_wrong, "missing or null": values.count(None)}
    return " and ".join(f"{n} of {len(values)} values {what}" for what, n in counts.items() if n)


def same_number(left: float, right: float, tolerance: float) -> bool:
    """Whether two numbers differ by rounding only, or both are NaN."""
    return math.isclose(left, right, rel_tol=tolerance, abs_tol=tolerance) or (math.isnan(left) and math.isnan(right))


def _number(value: Any) -> float:
    """A number, as text too: older releases of the harness write numbers of numpy so. NaN if it can't be added up."""
    if isinstance(value, str):
        value = float({"True": "1", "False": "0"}.get(value, value))
    if not isinstance(value, int | float):
        raise TypeError
    return float(value) if abs(value) <= _MOST else math.nan
