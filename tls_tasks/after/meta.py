"""How far a metric agrees with people who rated the same answers, and people with each other.

By system: do the systems' means stand in people's order? By document: do the answers to one document? Kendall's tau-b
and Pearson's r are one formula over pairs of systems, of the signs of their differences and of the differences.

Source: Deutsch, Dror & Roth, A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods, TACL
2021: intervals of resampled systems and documents (BOOT-BOTH), tests of swapped systems (PERM-SYSTEMS) or cells
(PERM-BOTH).
"""

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator

from tls_tasks.core.errors import DataError, InputError, check_choice, describe, nearest
from tls_tasks.core.intervals import Table
from tls_tasks.core.score import Score, grouped
from tls_tasks.core.significance import MOST_EXACT
from tls_tasks.core.task import Doc, Task
from tls_tasks.data.files import file_rows
from tls_tasks.data.models import DataRow, Id, read_models
from tls_tasks.data.rows_by_id import some
from tls_tasks.registry import find_task

Scores = Mapping[str, Mapping[Any, Any]]
"""System -> id -> a number, or metric -> number."""

People = str | Path | Iterable[Mapping[str, Any]]
"""Ratings, or a file of them."""

LEVELS = ("by_system", "by_document")
WITHIN = "within_system"
STATISTICS = ("tau_b", "pearson", "pairwise_accuracy")
_LEAST, _LEAST_INTERVAL = 3, 5  # systems for a value by system, and for its interval
_BINS = (0.0, 0.01, 0.02, math.inf)
_SAME = 1e-12  # what only rounding tells apart is the same
_AT_ONCE = 2_000_000  # numbers of a table of resamples, which are some megabytes
SWAPS = {
    "systems": "whole systems swapped: of systems like these, on these documents",
    "cells": "cells swapped: on these systems and documents, and of no others",
}
"""What a test exchanges, and whom it speaks of."""


def _as_number(cell: Any) -> Any:
    """CSV has text, empty where there is no rating."""
    return float(cell or "nan") if isinstance(cell, str) else cell


class _Rating(DataRow):
    """One person's rating of one answer."""

    system: Id
    id: Id
    rating: Annotated[float, BeforeValidator(_as_number)] = math.nan
    aspect: str = ""
    rater: str = ""


@np.errstate(invalid="ignore", divide="ignore")  # 0 / 0 is NaN: undefined
def meta(
    scores: Scores, people: People, *, n_resamples: int = 10_000, seed: int = 12345, swap: str = "systems"
) -> dict[str, Any]:
    """How far metrics agree with people's ratings of the same answers, by system and by document.

    Answers without a finite score or without a rating are left out and counted. Several ratings of one answer are
    averaged. By system, a value takes at least three systems, an interval at least five.

    Args:
        scores: System -> document id -> its score, or the scores of several metrics by name; more is better.
        people: The ratings: rows with ``system``, ``id``, ``rating``, and ``aspect`` if there are several; or a file of
            them, CSV or JSON Lines. Ratings of systems without scores are left out.
        n_resamples: How many resamples the intervals take, and how many permutations the tests.
        seed: The seed of both.
        swap: What the tests exchange. ``systems``: whole systems, all 2^n ways of up to 14; p speaks of systems like
            these, on these documents. ``cells``: single answers; p speaks of these systems and documents alone.

    Returns:
        ``aspects``: aspect -> ``metrics`` and ``tests``. Of each metric ``counts`` says what was compared and left out;
        ``by_system`` and ``by_document`` have ``tau_b``, ``pearson`` and ``pairwise_accuracy``, each with ``_ci``
        (95 %; None: no interval) and ``_undefined``, the resamples without a value. If no document has answers to
        order, ``within_system`` has the same for each system's answers, averaged over systems. ``near`` counts
        the pairs of systems in people's order by their difference in score. A test has the
        ``difference`` in agreement between two metrics, first minus second, and its ``p_value``. NaN is undefined.

    Raises:
        InputError: If there is nothing to compare.
        DataError: If the ratings can't be read, a rating names a document without scores, or a system has no rating.
        OptionError: If there is no such ``swap``.

    Example:
        >>> scores = {"a": {"d1": 0.1, "d2": 0.3}, "b": {"d1": 0.2, "d2": 0.2}, "c": {"d1": 0.5, "d2": 0.4}}
        >>> rows = [("a", "d1", 1), ("b", "d1", 3), ("c", "d1", 4), ("a", "d2", 2), ("b", "d2", 2), ("c", "d2", 5)]
        >>> people = [dict(zip(("system", "id", "rating"), row)) for row in rows]
        >>> found = meta(scores, people)["aspects"]["rating"]["metrics"]["score"]
        >>> found["by_document"]["tau_b"], found["by_system"]["tau_b_ci"]
        (0.9082482904638631, None)
    """
    check_choice("swap", swap, SWAPS)
    if not isinstance(scores, Mapping):
        raise InputError("scores", None, describe(scores), "a mapping system -> document id -> score")
    if wrong := [system for system, own in scores.items() if not isinstance(own, Mapping)]:
        raise InputError(f"scores[{wrong[0]!r}]", None, describe(scores[wrong[0]]), "a mapping document id -> score")
    given = (((str(system), str(name)), value) for system, own in scores.items() for name, value in own.items())
    values = {cell: value if isinstance(value, Mapping) else {"score": value} for cell, value in given}
    if not values:
        raise InputError("scores", None, "no score", "system -> document id -> score, or metric -> score")
    systems, ids = (sorted(set(names)) for names in zip(*values, strict=True))  # draws don't depend on the order
    keys = list(dict.fromkeys(key for named in values.values() for key in named))

    def table(cells: Mapping[tuple[str, str], Any]) -> Table:
        found = np.array([[cells.get((system, doc_id), math.nan) for doc_id in ids] for system in systems], float)
        return np.where(np.isfinite(found), found, math.nan)

    tables = {key: table({cell: own.get(key) for cell, own in values.items()}) for key in keys}
    aspects = {}
    for aspect, cells in _read_people(people, {"system": {*systems}, "id": {*ids}}).items():
        rated = table({cell: math.fsum(own) / len(own) for cell, own in cells.items()})
        found = {key: _of_metric(tables[key], rated, n_resamples, seed) for key in keys}
        pairs = itertools.combinations(keys, 2)
        tests = [
            {"first": a, "second": b, **_test(tables[a], tables[b], rated, n_resamples, seed, swap)} for a, b in pairs
        ]
        aspects[aspect] = {"metrics": found, "tests": tests}
    return {"aspects": aspects, "n_resamples": n_resamples, "seed": seed, "swap": swap}


def _read_people(people: People, known: Mapping[str, Set[str]]) -> dict[str, dict[tuple[str, str], list[float]]]:
    """Aspect -> (system, id) -> the ratings."""
    given = enumerate(() if isinstance(people, str | Path) else people)
    rows = file_rows(Path(people)) if isinstance(people, str | Path) else ((f"people[{n}]", row) for n, row in given)
    rated: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    seen: set[tuple[str, str, str, str]] = set()
    systems: dict[str, None] = {}
    for where, row in read_models(_Rating, rows := list(rows)):
        systems[row.system] = None
        if row.system not in known["system"]:  # people have rated more systems than are compared
            continue
        if row.id not in known["id"]:
            names = f"there are {some(sorted(known['id']))}{nearest(row.id, known['id'])}"
            raise DataError(f"{where}: no score is of id {row.id!r}; {names}")
        cell = row.aspect, row.rater, row.system, row.id
        if row.rater and cell in seen:
            raise DataError(f"{where}: rater {row.rater!r} rates document {row.id!r} of {row.system!r} a second time")
        seen.add(cell)
        if not math.isnan(row.rating):
            rated[row.aspect or "rating"][row.system, row.id].append(row.rating)
    place = str(people) if isinstance(people, str | Path) else "people"
    others, unrated = sorted(systems.keys() - known["system"]), sorted(known["system"] - systems.keys())
    if others and unrated:  # a label that people don't have rather than systems without ratings
        names = f"there are {some(others)}{nearest(unrated[0], others)}"
        raise DataError(f"{place}: no rating is of system {unrated[0]!r}; {names}")
    if not rated:
        names = f" with the columns {', '.join(map(str, rows[0][1]))}" if rows else ""
        raise InputError(place, None, f"no ratings in rows{names}", "rows with system, id and rating")
    return rated


def _common(*tables: Table) -> list[Table]:
    """The cells that all have; without systems and documents of which there are none."""
    there = ~np.isnan(sum(tables))
    kept = np.ix_(there.any(axis=1), there.any(axis=0))
    return [np.where(there, table, math.nan)[kept] for table in tables]


def _of_metric(scores: Table, rated: Table, n_resamples: int, seed: int) -> dict[str, Any]:
    """Return all that is said of one metric and one aspect."""
    own, people = _common(scores, rated)
    (n, width), generator = own.shape, random.Random(seed)
    draws = [_drawn(size, n_resamples, generator) for size in own.shape]
    has_score, has_rating = ~np.isnan(scores), ~np.isnan(rated)
    without = np.isnan(_statistics(_terms(own, people).sum(axis=1))[0])
    counts = {
        "systems": n, "documents": width, "answers": (has_score & has_rating).sum(),
        "answers without a rating": (has_score & ~has_rating).sum(),
        "ratings without a score": (has_rating & ~has_score).sum(),
        "documents without an order": without.sum(),
    }  # fmt: skip
    drawn = dict(zip(LEVELS, _levels(own, people, *draws).swapaxes(0, 1), strict=True))
    if n and without.all():
        drawn[WITHIN] = _within_system(own, people, draws[1])
    levels: dict[str, dict[str, Any]] = {}
    for level, table in drawn.items():
        value, *resamples = table
        levels[level] = dict(zip(STATISTICS, value.tolist(), strict=True))
        for name, column in zip(STATISTICS, np.array(resamples).T, strict=True):
            defined = column[~np.isnan(column)]
            has_interval = len(defined) and (level != "by_system" or n >= _LEAST_INTERVAL)
            ends = np.quantile(defined, [0.025, 0.975]).tolist() if has_interval else None
            levels[level] |= {f"{name}_ci": ends, f"{name}_undefined": n_resamples - len(defined)}
    near = _near(*(_means(table, axis=1)[:, None] for table in (own, people)))
    return {"counts": {name: int(value) for name, value in counts.items()}, **levels, "near": near}


def _drawn(size: int, n_resamples: int, generator: random.Random) -> Table:
    """Return how often each is drawn, a row a resample; the first row is what was observed: each once."""
    drawn = (generator.choices(range(size), k=size) for _ in range(n_resamples))
    return np.array([np.ones(size), *(np.bincount(np.array(places, int), minlength=size) for places in drawn)])


def _levels(scores: Table, people: Table, systems: Table | None = None, documents: Table | None = None) -> Table:
    """Return the agreement by system and by document: (resample, level, statistic); NaN where nothing has an order.

    Args:
        scores: A row a system, a column a document.
        people: Their ratings.
        systems: How often each is drawn, a row a resample; None: once.
        documents: The same of documents.
    """
    draws = systems if systems is not None else np.ones((1, len(scores)))
    times = documents if documents is not None else np.ones((len(draws), scores.shape[1]))
    return np.stack([_by_system(scores, people, draws, times), _by_document(scores, people, draws, times)], axis=1)


def _by_system(scores: Table, people: Table, systems: Table, documents: Table) -> Table:
    """Return the agreement of the systems' means, as :func:`_levels` does."""
    there = (~np.isnan(scores)).astype(float)
    n_drawn = there @ documents.T
    means = (np.nan_to_num(table * there) @ documents.T / n_drawn for table in (scores, people))
    first, second = np.triu_indices(len(scores), 1)
    weights = (systems[:, first] * systems[:, second]).T
    sums = (_terms(*means) * weights).sum(axis=1)
    return np.transpose(_statistics(sums if len(scores) >= _LEAST else sums * math.nan))


def _by_document(scores: Table, people: Table, systems: Table, documents: Table) -> Table:
    """Return the agreement of the answers to one document, averaged over documents, as :func:`_levels` does."""
    terms, (first, second) = _terms(scores, people), np.triu_indices(len(scores), 1)
    at_once, means = max(1, _AT_ONCE // max(terms.shape)), []
    for start in range(0, len(systems), at_once):
        draws, times = systems[start : start + at_once], documents[start : start + at_once]
        found = _statistics((draws[:, first] * draws[:, second]) @ terms)
        weights = times * ~np.isnan(found)
        means.append((np.nan_to_num(found) * weights).sum(axis=2) / weights.sum(axis=2))
    return np.transpose(np.concatenate(means, axis=1))


def _within_system(scores: Table, people: Table, documents: Table) -> Table:
    """Return the agreement of each system's answers, averaged over systems: (resample, statistic)."""
    found = []
    for own in zip(scores, people, strict=True):
        has_score = ~np.isnan(own[0])
        terms, draws, n = _terms(*(row[has_score, None] for row in own)), documents[:, has_score], has_score.sum()
        by_pair = np.zeros((len(terms), n, n))  # one product for each sum: there are many pairs of documents
        first, second = np.triu_indices(n, 1)
        by_pair[:, first, second] = terms[:, :, 0]
        found.append(_statistics(np.array([((draws @ table) * draws).sum(axis=1) for table in by_pair])))
    return np.transpose(_means(np.array(found), axis=0))


def _terms(scores: Table, people: Table) -> Table:
    """Return what each pair of rows adds to the six sums of :func:`_statistics`: (sum, pair, column)."""
    gaps, wanted = _gaps(scores), _gaps(people)
    neither = np.isnan(gaps + wanted)
    gaps[neither] = wanted[neither] = 0  # a pair that adds nothing to any sum
    signs, order = np.sign(gaps), np.sign(wanted)
    return np.array([signs * order, abs(signs), abs(order), gaps * wanted, gaps**2, wanted**2])


def _statistics(sums: Table) -> Table:
    """Return the three statistics of six sums over pairs.

    In the share of pairs in people's order a pair that people tie says nothing, one that the metric ties is half right.
    """
    agreeing, untied, ordered, products, squares, wanted = sums
    return np.array(
        [agreeing / np.sqrt(untied * ordered), products / np.sqrt(squares * wanted), (1 + agreeing / ordered) / 2]
    )


def _gaps(values: Table) -> Table:
    """What the first row of each pair of rows has more than the second; what only rounding tells apart is a tie."""
    first, second = np.triu_indices(len(values), 1)
    gaps = values[first] - values[second]
    gaps[abs(gaps) <= _SAME * np.nan_to_num(abs(values)).max(initial=0)] = 0
    return gaps


def _means(values: Table, axis: int | None) -> Any:
    """Means of what is no NaN; NaN of nothing."""
    there = ~np.isnan(values)
    return np.where(there, values, 0).sum(axis=axis) / there.sum(axis=axis)


def _near(scores: Table, people: Table) -> list[dict[str, Any]]:
    """How many pairs of systems stand in people's order, by how far apart they are; ties of the metric count half."""
    gaps, wanted = _gaps(scores), _gaps(people)
    rows = []
    for least, most in itertools.pairwise(_BINS):
        own = (abs(gaps) >= least - _SAME) & (abs(gaps) < most - _SAME) & (wanted != 0)
        right = float((1 + np.sign(gaps * wanted))[own].sum() / 2)
        rows.append({"from": least, "to": most, "pairs": int(own.sum()), "in_peoples_order": right})
    return rows


def _test(first: Table, second: Table, rated: Table, n_permutations: int, seed: int, swap: str) -> dict[str, Any]:
    """Return whether one metric agrees better than another: both standardised, systems or cells exchanged or not."""
    left, right, people = _common(first, second, rated)
    observed = np.subtract(*(_levels(own, people) for own in (left, right)))
    left, right = (own - _means(own, axis=None) for own in (left, right))
    left, right = (own / np.sqrt(_means(own**2, axis=None)) for own in (left, right))
    generator, n = random.Random(seed), len(left)
    if is_exact := swap == "systems" and n <= MOST_EXACT:
        swaps = np.array(list(itertools.product((0.0,), *[(0.0, 1.0)] * (n - 1))))  # the other half mirrors these
    elif swap == "systems":
        swaps = np.array([generator.choices((0.0, 1.0), k=n) for _ in range(n_permutations)])
    if swap == "systems":  # each system is drawn from one of two tables below each other, and from the other one
        stacked = np.vstack([left, right]), np.vstack([people, people])
        drawn = np.subtract(*(_levels(*stacked, np.hstack([1 - own, own])) for own in (swaps, 1 - swaps)))
    else:
        masks = (np.frombuffer(generator.randbytes(left.size), np.uint8).reshape(left.shape) % 2 == 1
                 for _ in range(n_permutations))  # fmt: skip
        pairs = ((np.where(mask, right, left), np.where(mask, left, right)) for mask in masks)
        drawn = np.concatenate([np.subtract(*(_levels(own, people) for own in pair)) for pair in pairs])
    hits, n_defined = (abs(drawn) >= abs(observed) - _SAME).sum(axis=0), (~np.isnan(drawn)).sum(axis=0)
    more = 0 if is_exact else 1  # the observed assignment is one of the random ones
    p_values = np.where(np.isnan(observed[0]), math.nan, (more + hits) / (more + n_defined))
    found = {"difference": observed[0].tolist(), "p_value": p_values.tolist()}
    return {
        name: {level: dict(zip(STATISTICS, row, strict=True)) for level, row in zip(LEVELS, rows, strict=True)}
        for name, rows in found.items()
    }


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
    if not (found := among_themselves(task, documents)):
        raise DataError(f"{name}: each of {len(documents)} documents has one reference, with no other to score it by")
    return found


def among_themselves(task: Task, documents: Sequence[Doc], most: int | None = None) -> dict[str, Any]:
    """What :func:`references_among_themselves` gives, of some documents.

    Args:
        task: Their task.
        documents: The documents.
        most: How many pairs of references may be scored; None: any number.

    Returns:
        Empty if no document has several references, or if there are more pairs.
    """
    rows = list(itertools.islice(task.among(documents), most and most + 1)) if task.among else []
    if not rows or (most and len(rows) > most):
        return {}
    topics = [task.get_topic(doc) for _, doc, _ in rows]
    units = [task.score(doc, answer) for _, doc, answer in rows]
    score = Score(task.name, "", units, task.table, topics)
    ns = {topic: len({*own}) for topic, own in grouped([reference for reference, _, _ in rows], topics).items()}
    by_topic = {str(topic): {"n": ns[topic], **own} for topic, own in score.topic_results().items()}
    means = {key: float(np.mean([own[key] for own in by_topic.values()])) for key in task.table}
    return {
        "task": task.name,
        "left_out": sum(task.get_topic(doc) not in ns for doc in documents),
        "mean_of_topics": {"n": sum(ns.values()), **means},
        "all": {"n": sum(ns.values()), **score.results},
        "topics": by_topic,
    }
