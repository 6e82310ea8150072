"""What other people's tasks logged for each document -> the number that their host reported, as a :class:`Result`.

A number is taken only after it has been made again: the mean of the logged values, else what the aggregation that the
log names (or that lm-eval has registered for the metric) makes of them. Where neither gives it, the mean of the values
is taken under a name that says so; where they are no numbers the metric is left out, by name.
"""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from tls_tasks.core.score import Result, ratio
from tls_tasks.hosts.aggregations import SentenceMetric, registered_aggregation, sentence_metric

_TOLERANCE = 1e-9  # of the reported number; hosts add up in other orders

_MOST = 1e100  # larger numbers, and infinity, are no measurement: their sums overflow

_MOST_COUNTED = 3_000
"""The most different values of one metric whose aggregation is no function of sums."""

_MEANS = ("", "mean", "nanmean")

_OF_SUMS: Mapping[str, Callable[[float, float], float]] = {
    "perplexity": lambda of, total: math.exp(-total / of),
    "weighted_perplexity": lambda of, total: math.exp(-total / of),
    "bits_per_byte": lambda of, total: -total / of / math.log(2),
}


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


def _metric(key: str) -> str:
    """A metric's name in the harness, without its filter."""
    return key.partition(",")[0]


def _float(value: float) -> float:
    """A logged number; NaN for one that can't be added up."""
    return float(value) if abs(value) <= _MOST else math.nan


class _Counts(dict[str, float]):
    """A unit in which most parts are 0, and are not kept."""

    def __missing__(self, part: str) -> float:
        return 0.0


Units = list[_Counts]


def table_of(
    runs: Sequence[Mapping[str, Logged]], n_documents: int
) -> tuple[dict[str, Result], list[Units], dict[str, str]]:
    """The results of one run, or of several on the same documents, in one table.

    Args:
        runs: Of each run: metric -> what was logged of it. Metrics that not all have are left aside.
        n_documents: How many documents each run has.

    Returns:
        The table; the units of each run; and metric -> why its number is not in the table.

    Example:
        >>> table, (units,), left_out = table_of([{"acc": Logged([1, 0], "mean", reported=0.5)}], 2)
        >>> table["acc"].value(units), left_out
        (0.5, {})
    """
    table: dict[str, Result] = {}
    units: list[Units] = [[_Counts() for _ in range(n_documents)] for _ in runs]
    left_out: dict[str, str] = {}
    for key in runs[0]:
        if not all(key in run for run in runs):
            continue
        name, result, parts, why = _result(key, [run[key] for run in runs])
        if why:
            left_out[key] = why
        if result is None:
            continue
        table[name] = result
        for own, of_run in zip(units, parts, strict=True):
            for unit, found in zip(own, of_run, strict=True):
                unit.update(found)
    return table, units, left_out


def _result(key: str, runs: Sequence[Logged]) -> tuple[str, Result | None, list[Units], str]:
    """Name, result and units by the first way that gives what was reported, and what must be said of it."""
    name = runs[0].aggregation
    better = next((run.better for run in runs if run.better is not None), True)
    if any(run.aggregation != name for run in runs):
        said = " and ".join(sorted({repr(run.aggregation) for run in runs}))
        return key, None, [], f"aggregated in different ways: {said}"
    reported = next((run.reported for run in runs if run.reported is not None), None)
    registered = registered_aggregation(_metric(key), name)
    name = registered[0] if registered else name
    # The mean is tried first where the number shows whether it is right: most metrics are means, whatever they state.
    others = (_of_sums, _of_sentences, _registered)
    ways = (_mean, *others) if reported is not None or name in _MEANS else (*others, _mean)
    tried: dict[str, float] = {}
    for way in ways:
        made = way(key, name, runs)
        if made is None:
            continue
        result, units = made
        numbers = [result.value(own) for own in units]
        if all(_is(run.reported, number, way is _mean) for run, number in zip(runs, numbers, strict=True)):
            # What was reported as NaN, or leaves NaN out, has been made again of what was logged.
            is_meant = name == "nanmean" or (reported is not None and math.isnan(reported))
            return key, replace(result, better=better), units, "" if is_meant else _not_finite(runs)
        if way is _mean or name not in _MEANS:
            tried["the mean of its values" if way is _mean else f"{name or 'its own'} of its values"] = numbers[0]
    said = f"reported as {reported!r}, which can't be made again" if reported is not None else "can't be made"
    if name not in _MEANS and registered is None:
        said += f": its aggregation, {name}, is a function of the task's own"
    elif not tried:
        said += f": its values are no numbers, or more than {_MOST_COUNTED:,} different ones"
    if tried:
        said += f" ({', '.join(f'{what} is {number!r}' for what, number in tried.items())})"
    if (made := _mean(key, name, runs)) is None:
        return key, None, [], said
    return f"{key} (mean of documents)", replace(made[0], better=better), made[1], said


def _not_finite(runs: Sequence[Logged]) -> str:
    values = [value for run in runs for value in run.values if isinstance(value, int | float)]
    n_wrong = sum(not abs(value) <= _MOST for value in values)
    return f"{n_wrong} of {len(values)} values are NaN, infinite or above {_MOST:g}" if n_wrong else ""


def _is(reported: float | None, number: float, may_be_nan: bool) -> bool:
    if reported is None:
        return may_be_nan or not math.isnan(number)
    if math.isnan(reported) or math.isnan(number):
        return math.isnan(reported) and math.isnan(number)
    return abs(reported - number) <= _TOLERANCE * max(1.0, abs(reported))


_Made = tuple[Result, list[Units]] | None


def _mean(key: str, name: str, runs: Sequence[Logged]) -> _Made:
    n = f"documents with {key}"
    units: list[Units] = []
    found: list[float] = []
    for run in runs:
        own: Units = []
        for value in run.values:
            if value is None:
                own.append(_Counts())
            elif (number := _number(value)) is None:
                return None
            elif name == "nanmean" and math.isnan(number):
                own.append(_Counts())
            else:
                own.append(_Counts({key: number, n: 1.0}))
                found.append(number)
        units.append(own)
    if not found:
        return None
    is_share = all(0 <= value <= 1 for value in found)
    return ratio(key, n, empty=math.nan, is_mean=True, bounded=is_share), units


def _number(value: Any) -> float | None:
    """A number, as text too: older releases of the harness write numbers of numpy so."""
    if isinstance(value, str):
        try:
            return {"True": 1.0, "False": 0.0}[value] if value in ("True", "False") else _float(float(value))
        except ValueError:
            return None
    return _float(value) if isinstance(value, int | float) else None


def _of_sums(key: str, name: str, runs: Sequence[Logged]) -> _Made:
    if name not in _OF_SUMS:
        return None
    total, of = f"{key} total", f"{key} weight"
    units: list[Units] = []
    for run in runs:
        pairs = [value if isinstance(value, list) else [value, 1] for value in run.values]
        if not all(len(pair) == 2 and all(isinstance(item, int | float) for item in pair) for pair in pairs):
            return None
        units.append([_Counts({total: _float(pair[0]), of: _float(pair[1])}) for pair in pairs])
    return Result((of, total), partial(_safe, _OF_SUMS[name]), math.nan, bounded=False), units


def _of_sentences(key: str, name: str, runs: Sequence[Logged]) -> _Made:
    """Scores of sacreBLEU: functions of statistics that add up, where its functions read all texts anew each time."""
    metric = sentence_metric(name)
    if metric is None:
        return None
    of_runs = [_safe_rows(metric, run.values) for run in runs]
    if not all(of_runs):
        return None
    parts = tuple(f"{key} {place}" for place in range(len(of_runs[0][0])))
    units = [[_Counts(zip(parts, row, strict=True)) for row in rows] for rows in of_runs]
    return Result(parts, partial(_safe, metric.of), math.nan, bounded=False), units


def _safe_rows(metric: SentenceMetric, values: Sequence[Any]) -> list[list[float]]:
    try:
        return metric.rows(values)
    except Exception:  # no pairs of texts, or a release of sacreBLEU that keeps its statistics elsewhere
        return []


def _safe(function: Callable[..., float], *arguments: Any) -> float:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that the F of no cases is ill-defined, at each of 10,000 exchanges
            return float(function(*arguments))
    except Exception:  # somebody else's function of somebody else's values; NaN is what it then is
        return math.nan


def _registered(key: str, name: str, runs: Sequence[Logged]) -> _Made:
    """A function that is none of sums, over the multiset of logged values: one part a value, which counts it.

    A resample is then a vector of counts, as with all other results, and the function gets each value so often.
    """
    found = registered_aggregation(_metric(key), name)
    if found is None:
        return None
    places: dict[str, int] = {}
    items: list[Any] = []
    units: list[Units] = []
    for run in runs:
        own: Units = []
        for value in run.values:
            text = json.dumps(value, sort_keys=True)
            if value is not None and text not in places:
                places[text] = len(items)
                items.append(value)
            own.append(_Counts() if value is None else _Counts({f"{key} {places[text]}": 1.0}))
        units.append(own)
    parts = tuple(f"{key} {place}" for place in range(len(items)))
    if len(parts) > _MOST_COUNTED:
        return None
    return Result(parts, partial(_of_counts, found[1], items), math.nan, bounded=False), units


def _of_counts(function: Callable[[list[Any]], float], items: Sequence[Any], *counts: float) -> float:
    drawn = [item for item, n in zip(items, counts, strict=True) for _ in range(round(n))]
    return _safe(function, drawn) if drawn else math.nan
