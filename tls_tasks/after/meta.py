"""How far a metric agrees with people who rated the same answers, and people with each other.

By system: do the systems' means stand in people's order? By document: do the answers to one document? Kendall's tau-b
and Pearson's r are one formula over pairs of systems, of the signs of their differences and of the differences.

Source: Deutsch, Dror & Roth, A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods, TACL
2021: intervals of resampled systems and documents (BOOT-BOTH), tests of swapped cells (PERM-BOTH).
"""

import itertools
import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, Field

from tls_tasks.core.errors import DataError, InputError, OptionError, nearest
from tls_tasks.core.intervals import Table, check_interval
from tls_tasks.core.score import grouped
from tls_tasks.data.files import file_rows
from tls_tasks.data.keyed import some
from tls_tasks.data.models import DataRow, Id, read_models
from tls_tasks.registry import find_task

Scores = Mapping[str, Mapping[Any, Any]]
"""System -> id -> a number, or metric -> number."""

LEVELS = ("by_system", "by_document")
STATISTICS = ("tau_b", "pearson", "pairwise_accuracy")
_LEAST, _LEAST_INTERVAL = 3, 5  # systems for a value by system, and for its interval
_BINS = (0.0, 0.01, 0.02, math.inf)
_SAME = 1e-12  # what only rounding tells apart is the same


def _as_number(cell: Any) -> Any:
    """CSV has text."""
    return float(cell) if isinstance(cell, str) else cell


class _Rating(DataRow):
    """One person's rating of one answer; NaN where there is none."""

    system: Id
    id: Id
    rating: Annotated[float, Field(allow_inf_nan=False), BeforeValidator(_as_number)] = math.nan
    aspect: str = "rating"
    rater: Id = ""


def meta(
    scores: Scores,
    people: str | Path | Iterable[Mapping[str, Any]],
    *,
    lower: Collection[str] = (),
    confidence: float = 0.95,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> dict[str, Any]:
    """How far metrics agree with people's ratings of the same answers, by system and by document.

    What one side lacks (a score that is NaN included) is left out and counted. Several ratings of one answer are
    averaged. By system at least three systems give a value, at least five an interval.

    Args:
        scores: System -> document id -> its score, or the scores of several metrics by name.
        people: The ratings: rows with ``system``, ``id``, ``rating``, and ``aspect`` and ``rater`` if there are
            several; or a file of them, CSV or JSON Lines.
        lower: The metrics of which less is better.
        confidence: Coverage of the intervals, in (0, 1).
        n_resamples: How many resamples the intervals take, and how many permutations the tests.
        seed: Of both.

    Returns:
        ``aspects``: aspect -> ``metrics`` and ``tests``. Of each metric ``counts`` says what was compared and left out;
        ``by_system`` and ``by_document`` have ``tau_b``, ``pearson`` and ``pairwise_accuracy``, each with ``_ci``
        (None: no interval) and ``_undefined``, the resamples that had no value; ``near`` counts the pairs of systems in
        people's order by how far apart their scores are. A test says of two metrics whether the first agrees better
        than the second. NaN is undefined.

    Raises:
        InputError: If there is nothing to compare, or a score is no number.
        DataError: If the ratings can't be read, a rater rated an answer twice, or no score is of a rating's system or
            document.

    Example:
        >>> scores = {"a": {"d1": 0.1, "d2": 0.3}, "b": {"d1": 0.2, "d2": 0.2}, "c": {"d1": 0.5, "d2": 0.4}}
        >>> rows = [("a", "d1", 1), ("b", "d1", 3), ("c", "d1", 4), ("a", "d2", 2), ("b", "d2", 2), ("c", "d2", 5)]
        >>> people = [dict(zip(("system", "id", "rating"), row)) for row in rows]
        >>> found = meta(scores, people)["aspects"]["rating"]["metrics"]["score"]
        >>> found["by_document"]["tau_b"], found["by_system"]["tau_b_ci"]
        (0.9082482904638631, None)
    """
    check_interval(1, confidence, n_resamples)
    values = {
        (str(system), str(doc_id)): value if isinstance(value, Mapping) else {"score": value}
        for system, own in scores.items()
        for doc_id, value in own.items()
    }
    if not values:
        raise InputError("scores", None, "no score", "system -> document id -> score, or metric -> score")
    for cell, own in values.items():
        if wrong := [v for v in own.values() if not (v is None or (isinstance(v, Real) and not math.isinf(v)))]:
            raise InputError(f"scores of {cell}", None, repr(wrong[0]), "a finite number, or None where there is none")
    systems, ids = (list(dict.fromkeys(names)) for names in zip(*values, strict=True))
    keys = list(dict.fromkeys(key for named in values.values() for key in named))
    if unknown := [key for key in lower if key not in keys]:
        raise OptionError.unknown("lower", unknown[0], keys)

    def table(cells: Mapping[tuple[str, str], float]) -> Table:
        return np.array([[cells.get((system, doc_id), math.nan) for doc_id in ids] for system in systems], float)

    tables = {key: table({cell: own.get(key, math.nan) for cell, own in values.items()}) for key in keys}
    tables |= {key: -tables[key] for key in lower}
    aspects, draws = {}, (n_resamples, confidence, seed)
    for aspect, cells in _read_people(people, systems, ids).items():
        rated = table(cells)
        found = {key: _of_metric(tables[key], rated, *draws) for key in keys}
        pairs = itertools.combinations(keys, 2)
        tests = [{"first": a, "second": b, **_test(tables[a], tables[b], rated, n_resamples, seed)} for a, b in pairs]
        aspects[aspect] = {"metrics": found, "tests": tests}
    return {"aspects": aspects, "confidence": confidence, "n_resamples": n_resamples, "seed": seed}


def _read_people(people: Any, systems: Sequence[str], ids: Sequence[str]) -> dict[str, dict[tuple[str, str], float]]:
    """Aspect -> (system, id) -> the mean rating."""
    is_file = isinstance(people, str | Path)
    rows = file_rows(Path(people)) if is_file else ((f"people[{index}]", row) for index, row in enumerate(people))
    # An empty cell of CSV is no rating, no aspect, no rater.
    full = ((where, {k: v for k, v in row.items() if v != ""} if isinstance(row, Mapping) else row)
            for where, row in rows)  # fmt: skip
    rated: dict[str, dict[tuple[str, str], list[float]]] = {}
    before: dict[tuple[str, ...], str] = {}
    known = {"system": set(systems), "id": set(ids)}
    for where, row in read_models(_Rating, full):
        for name, there in known.items():
            if (value := getattr(row, name)) not in there:
                names = f"there are {some(sorted(there))}{nearest(value, there)}"
                raise DataError(f"{where}: no score is of {name} {value!r}; {names}")
        if row.rater and (first := before.setdefault((row.aspect, row.system, row.id, row.rater), where)) != where:
            raise DataError(f"{where}: {row.rater} rated {row.id} of {row.system} before, in {first}")
        if not math.isnan(row.rating):
            rated.setdefault(row.aspect, {}).setdefault((row.system, row.id), []).append(row.rating)
    if not rated:
        raise InputError("people", None, "no ratings", "rows with system, id and rating")
    return {aspect: {cell: math.fsum(own) / len(own) for cell, own in cells.items()} for aspect, cells in rated.items()}


def _common(*tables: Table) -> list[Table]:
    """The cells that all have; without systems and documents of which there are none."""
    there = ~np.isnan(sum(tables))
    kept = np.ix_(there.any(axis=1), there.any(axis=0))
    return [np.where(there, table, math.nan)[kept] for table in tables]


def _of_metric(scores: Table, rated: Table, n_resamples: int, confidence: float, seed: int) -> dict[str, Any]:
    """All that is said of one metric and one aspect."""
    own, people = _common(scores, rated)
    (n, width), generator = own.shape, random.Random(seed)
    values, drawn = _levels(own, people), np.empty((n_resamples, len(LEVELS), len(STATISTICS)))
    for place in range(n_resamples):
        cells = np.ix_(generator.choices(range(n), k=n), generator.choices(range(width), k=width))
        drawn[place] = _levels(own[cells], people[cells])
    levels: dict[str, dict[str, Any]] = {level: {} for level in LEVELS}
    for (row, level), (column, name) in itertools.product(enumerate(LEVELS), enumerate(STATISTICS)):
        defined = drawn[~np.isnan(drawn[:, row, column]), row, column]
        has_interval = len(defined) and (level != "by_system" or n >= _LEAST_INTERVAL)
        ends = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2]).tolist() if has_interval else None
        undefined = n_resamples - len(defined)
        levels[level] |= {name: float(values[row, column]), f"{name}_ci": ends, f"{name}_undefined": undefined}
    counts = {
        "systems": n,
        "documents": width,
        "answers": int((~np.isnan(scores + rated)).sum()),
        "answers without a rating": int((np.isnan(rated) & ~np.isnan(scores)).sum()),
        "ratings without a score": int((np.isnan(scores) & ~np.isnan(rated)).sum()),
        "documents without an order": int(np.isnan(_agreement(own, people)[0]).sum()),
    }
    return {"counts": counts, **levels, "near": _near(*(_means(table, axis=1) for table in (own, people)))}


def _levels(scores: Table, people: Table) -> Table:
    """A row a level, a column a statistic; NaN where nothing has an order."""
    systems = _agreement(*(_means(table, axis=1)[:, None] for table in (scores, people)))
    if len(scores) < _LEAST:
        systems[:] = math.nan
    return np.array([systems[:, 0], _means(_agreement(scores, people), axis=1)])


def _agreement(scores: Table, people: Table) -> Table:
    """Each statistic (a row) of each column, over all pairs of rows that have both."""
    gaps, wanted = _gaps(scores), _gaps(people)
    neither = np.isnan(gaps + wanted)
    gaps[neither] = wanted[neither] = 0  # a pair that adds nothing to any sum
    signs, order = np.sign(gaps), np.sign(wanted)
    with np.errstate(invalid="ignore", divide="ignore"):
        # Pairs that people tie say nothing; those that the metric ties are half right.
        accuracy = ((1 + signs * order) / 2 * abs(order)).sum(axis=0) / abs(order).sum(axis=0)
        return np.array([_along(signs, order), _along(gaps, wanted), accuracy])


def _along(left: Table, right: Table) -> Table:
    shared: Table = (left * right).sum(axis=0) / np.sqrt((left**2).sum(axis=0) * (right**2).sum(axis=0))
    return shared


def _gaps(values: Table) -> Table:
    """What the first row of each pair of rows has more than the second; what only rounding tells apart is a tie."""
    first, second = np.triu_indices(len(values), 1)
    gaps = values[first] - values[second]
    gaps[abs(gaps) <= _SAME * np.nan_to_num(abs(values)).max(initial=0)] = 0
    return gaps


def _means(values: Table, axis: int | None) -> Table:
    """Means of what is no NaN; NaN of nothing."""
    there = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        means: Table = np.where(there, values, 0).sum(axis=axis) / there.sum(axis=axis)
    return means


def _near(scores: Table, people: Table) -> list[dict[str, Any]]:
    """How many pairs of systems stand in people's order, by how far apart they are; ties of the metric count half."""
    gaps, wanted = _gaps(scores[:, None]), _gaps(people[:, None])
    rows = []
    for least, most in itertools.pairwise(_BINS):
        own = (abs(gaps) >= least - _SAME) & (abs(gaps) < most - _SAME) & (wanted != 0)
        right = float((1 + np.sign(gaps * wanted))[own].sum() / 2)
        rows.append({"from": least, "to": most, "pairs": int(own.sum()), "in_peoples_order": right})
    return rows


def _test(first: Table, second: Table, rated: Table, n_permutations: int, seed: int) -> dict[str, Any]:
    """Whether one metric agrees better than another: both standardised, each cell exchanged or not."""
    left, right, people = _common(first, second, rated)
    observed = _levels(left, people) - _levels(right, people)
    left, right = _standardised(left), _standardised(right)
    generator, drawn = random.Random(seed), np.empty((n_permutations, *observed.shape))
    for place in range(n_permutations):
        swap = np.frombuffer(generator.randbytes(left.size), np.uint8).reshape(left.shape) % 2 == 1
        drawn[place] = _levels(np.where(swap, right, left), people) - _levels(np.where(swap, left, right), people)
    hits, n_defined = (abs(drawn) >= abs(observed) - _SAME).sum(axis=0), (~np.isnan(drawn)).sum(axis=0)
    p_values = np.where(np.isnan(observed), math.nan, (1 + hits) / (1 + n_defined))
    result: dict[str, Any] = {"n_cells": int((~np.isnan(people)).sum())}
    for level, gaps, p_of in zip(LEVELS, observed.tolist(), p_values.tolist(), strict=True):
        by_name = zip(STATISTICS, gaps, p_of, strict=True)
        result[level] = {name: {"difference": gap, "p_value": p_value} for name, gap, p_value in by_name}
    return result


def _standardised(table: Table) -> Table:
    gaps = table - _means(table, axis=None)
    with np.errstate(invalid="ignore", divide="ignore"):
        scaled: Table = gaps / np.sqrt(_means(gaps**2, axis=None))
    return scaled


def references_among_themselves(name: str, **options: Any) -> dict[str, Any]:
    """What people's references reach where each is scored as an answer against the others of its topic or document.

    Above this a metric can't tell a system from a person. It does not say what other people would reach, or people who
    write at another length; a system that is told how long the references are has an advantage over them.

    Args:
        name: The task's name.
        **options: Those of ``lm_eval --metadata``, such as ``data``.

    Returns:
        ``all``, the task's results over all pairs, and ``n``, how many references were scored; ``mean_of_topics``, with
        equal votes; ``topics``, the same of each; ``left_out``, the number of documents with one reference alone.

    Raises:
        InputError: If the task's documents have one reference each by definition.
        DataError: If no document has several here, or the data can't be had.
    """
    task = find_task(name)
    if task.among is None:
        raise InputError("references", None, name, "a task whose documents or topics may have several references")
    documents = task.documents(**options)
    if not (rows := list(task.among(documents))):
        raise DataError(
            f"{name}: each of {len(documents)} documents has one reference, and no other to score it against"
        )
    topics = [task.topic_of(doc) for _, doc, _ in rows]
    units = [task.score(doc, answer) for _, doc, answer in rows]
    names = grouped([reference for reference, _, _ in rows], topics)
    by_topic = {
        str(topic): {"n": len({*names[topic]}), **task.results(own)} for topic, own in grouped(units, topics).items()
    }
    n = sum(own["n"] for own in by_topic.values())
    means = {key: float(_means(np.array([own[key] for own in by_topic.values()]), axis=0)) for key in task.table}
    return {
        "task": name,
        "left_out": sum(task.topic_of(doc) not in names for doc in documents),
        "mean_of_topics": {"n": n, **means},
        "all": {"n": n, **task.results(units, topics)},
        "topics": by_topic,
    }
