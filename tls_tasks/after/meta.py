"""How far a metric agrees with people who rated the same answers, and people with each other.

By system: do the systems' means stand in people's order? By document: do the answers to one document? Kendall's tau-b
and Pearson's r are one formula over pairs of systems, of the signs of their differences and of the differences.

Source: Deutsch, Dror & Roth, A Statistical Analysis of Summarization Evaluation Metrics Using Resampling Methods, TACL
2021: intervals of resampled systems and documents (BOOT-BOTH), tests of swapped cells (PERM-BOTH).
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

from tls_tasks.core.errors import DataError, InputError, describe, nearest
from tls_tasks.core.intervals import Table
from tls_tasks.core.score import Score, grouped
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
_WITHIN = "within_system"
STATISTICS = ("tau_b", "pearson", "pairwise_accuracy")
_LEAST, _LEAST_INTERVAL = 3, 5  # systems for a value by system, and for its interval
_BINS = (0.0, 0.01, 0.02, math.inf)
_SAME = 1e-12  # what only rounding tells apart is the same


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
def meta(scores: Scores, people: People, *, n_resamples: int = 1000, seed: int = 12345) -> dict[str, Any]:
    """How far metrics agree with people's ratings of the same answers, by system and by document.

    Answers without a finite score or without a rating are left out and counted. Several ratings of one answer are
    averaged. By system, a value takes at least three systems, an interval at least five.

    Args:
        scores: System -> document id -> its score, or the scores of several metrics by name; more is better.
        people: The ratings: rows with ``system``, ``id``, ``rating``, and ``aspect`` if there are several; or a file of
            them, CSV or JSON Lines.
        n_resamples: How many resamples the intervals take, and how many permutations the tests.
        seed: The seed of both.

    Returns:
        ``aspects``: aspect -> ``metrics`` and ``tests``. Of each metric ``counts`` says what was compared and left out;
        ``by_system`` and ``by_document`` have ``tau_b``, ``pearson`` and ``pairwise_accuracy``, each with ``_ci``
        (95 %; None: no interval) and ``_undefined``, the resamples without a value. If no document has answers to
        order, ``within_system`` has the same three for each system's answers, averaged over systems. ``near`` counts
        the pairs of systems in people's order by their difference in score. A test has the
        ``difference`` in agreement between two metrics, first minus second, and its ``p_value``. NaN is undefined.

    Raises:
        InputError: If there is nothing to compare.
        DataError: If the ratings can't be read, or a rating names a system or document without scores.

    Example:
        >>> scores = {"a": {"d1": 0.1, "d2": 0.3}, "b": {"d1": 0.2, "d2": 0.2}, "c": {"d1": 0.5, "d2": 0.4}}
        >>> rows = [("a", "d1", 1), ("b", "d1", 3), ("c", "d1", 4), ("a", "d2", 2), ("b", "d2", 2), ("c", "d2", 5)]
        >>> people = [dict(zip(("system", "id", "rating"), row)) for row in rows]
        >>> found = meta(scores, people)["aspects"]["rating"]["metrics"]["score"]
        >>> found["by_document"]["tau_b"], found["by_system"]["tau_b_ci"]
        (0.9082482904638631, None)
    """
    if not isinstance(scores, Mapping):
        raise InputError("scores", None, describe(scores), "a mapping system -> document id -> score")
    if wrong := [system for system, own in scores.items() if not isinstance(own, Mapping)]:
        raise InputError(f"scores[{wrong[0]!r}]", None, describe(scores[wrong[0]]), "a mapping document id -> score")
    given = (((str(system), str(name)), value) for system, own in scores.items() for name, value in own.items())
    values = {cell: value if isinstance(value, Mapping) else {"score": value} for cell, value in given}
    if not values:
        raise InputError("scores", None, "no score", "system -> document id -> score, or metric -> score")
    systems, ids = (list(dict.fromkeys(names)) for names in zip(*values, strict=True))
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
        tests = [{"first": a, "second": b, **_test(tables[a], tables[b], rated, n_resamples, seed)} for a, b in pairs]
        aspects[aspect] = {"metrics": found, "tests": tests}
    return {"aspects": aspects, "n_resamples": n_resamples, "seed": seed}


def _read_people(people: People, known: Mapping[str, Set[str]]) -> dict[str, dict[tuple[str, str], list[float]]]:
    """Aspect -> (system, id) -> the ratings."""
    given = enumerate(() if isinstance(people, str | Path) else people)
    rows = file_rows(Path(people)) if isinstance(people, str | Path) else ((f"people[{n}]", row) for n, row in given)
    rated: dict[str, dict[tuple[str, str], list[float]]] = defaultdict(lambda: defaultdict(list))
    seen: set[tuple[str, str, str, str]] = set()
    for where, row in read_models(_Rating, rows := list(rows)):
        for name, there in known.items():
            if (value := getattr(row, name)) not in there:
                names = f"there are {some(sorted(there))}{nearest(value, there)}"
                raise DataError(f"{where}: no score is of {name} {value!r}; {names}")
        cell = row.aspect, row.rater, row.system, row.id
        if row.rater and cell in seen:
            raise DataError(f"{where}: rater {row.rater!r} rates document {row.id!r} of {row.system!r} a second time")
        seen.add(cell)
        if not math.isnan(row.rating):
            rated[row.aspect or "rating"][row.system, row.id].append(row.rating)
    if not rated:
        names = f" with the columns {', '.join(map(str, rows[0][1]))}" if rows else ""
        place = str(people) if isinstance(people, str | Path) else "people"
        raise InputError(place, None, f"no ratings in rows{names}", "rows with system, id and rating")
    return rated


def _common(*tables: Table) -> list[Table]:
    """The cells that all have; without systems and documents of which there are none."""
    there = ~np.isnan(sum(tables))
    kept = np.ix_(there.any(axis=1), there.any(axis=0))
    return [np.where(there, table, math.nan)[kept] for table in tables]


def _of_metric(scores: Table, rated: Table, n_resamples: int, seed: int) -> dict[str, Any]:
    """All that is said of one metric and one aspect."""
    own, people = _common(scores, rated)
    (n, width), generator = own.shape, random.Random(seed)
    values, drawn = _levels(own, people), np.empty((n_resamples, len(LEVELS), len(STATISTICS)))
    for place in range(n_resamples):
        rows, columns = (generator.choices(range(size), k=size) for size in own.shape)
        drawn[place] = _levels(own[np.ix_(rows, columns)], people[np.ix_(rows, columns)])
    levels = _named(values)
    for (row, level), (column, name) in itertools.product(enumerate(LEVELS), enumerate(STATISTICS)):
        own_drawn = drawn[:, row, column]
        defined = own_drawn[~np.isnan(own_drawn)]
        has_interval = len(defined) and (level != "by_system" or n >= _LEAST_INTERVAL)
        ends = [float(end) for end in np.quantile(defined, [0.025, 0.975])] if has_interval else None
        levels[level] |= {f"{name}_ci": ends, f"{name}_undefined": n_resamples - len(defined)}
    has_score, has_rating = ~np.isnan(scores), ~np.isnan(rated)
    counts = {
        "systems": n, "documents": width, "answers": (has_score & has_rating).sum(),
        "answers without a rating": (has_score & ~has_rating).sum(),
        "ratings without a score": (has_rating & ~has_score).sum(),
        "documents without an order": np.isnan(_agreement(own, people)[0]).sum(),
    }  # fmt: skip
    if counts["documents without an order"] == width:
        within = _means(_agreement(own.T, people.T), axis=1).tolist()
        levels[_WITHIN] = dict(zip(STATISTICS, within, strict=True))
    near = _near(*(_means(table, axis=1)[:, None] for table in (own, people)))
    return {"counts": {name: int(value) for name, value in counts.items()}, **levels, "near": near}


def _named(values: Table) -> dict[str, dict[str, Any]]:
    return {level: dict(zip(STATISTICS, row, strict=True)) for level, row in zip(LEVELS, values.tolist(), strict=True)}


def _levels(scores: Table, people: Table) -> Table:
    """A row a level, a column a statistic; NaN where nothing has an order."""
    systems = _agreement(*(_means(table, axis=1)[:, None] for table in (scores, people)))[:, 0]
    if len(scores) < _LEAST:
        systems[:] = math.nan
    return np.array([systems, _means(_agreement(scores, people), axis=1)])


def _agreement(scores: Table, people: Table) -> Table:
    """Each statistic (a row) of each column, over all pairs of rows that have both."""
    gaps, wanted = _gaps(scores), _gaps(people)
    neither = np.isnan(gaps + wanted)
    gaps[neither] = wanted[neither] = 0  # a pair that adds nothing to any sum
    signs, order = np.sign(gaps), np.sign(wanted)
    pairs = ((signs, order), (gaps, wanted))
    cosines = [(a * b).sum(axis=0) / np.sqrt((a**2).sum(axis=0) * (b**2).sum(axis=0)) for a, b in pairs]
    # Pairs that people tie say nothing; those that the metric ties are half right.
    accuracy = ((1 + signs * order) / 2 * abs(order)).sum(axis=0) / abs(order).sum(axis=0)
    return np.array([*cosines, accuracy])


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


def _test(first: Table, second: Table, rated: Table, n_permutations: int, seed: int) -> dict[str, Any]:
    """Whether one metric agrees better than another: both standardised, each cell exchanged or not."""
    left, right, people = _common(first, second, rated)
    observed = _levels(left, people) - _levels(right, people)
    left, right = (own - _means(own, axis=None) for own in (left, right))
    left, right = (own / np.sqrt(_means(own**2, axis=None)) for own in (left, right))
    generator, drawn = random.Random(seed), np.empty((n_permutations, *observed.shape))
    for place in range(n_permutations):
        swap = np.frombuffer(generator.randbytes(left.size), np.uint8).reshape(left.shape) % 2 == 1
        drawn[place] = _levels(np.where(swap, right, left), people) - _levels(np.where(swap, left, right), people)
    hits, n_defined = (abs(drawn) >= abs(observed) - _SAME).sum(axis=0), (~np.isnan(drawn)).sum(axis=0)
    p_values = np.where(np.isnan(observed), math.nan, (1 + hits) / (1 + n_defined))
    return {"difference": _named(observed), "p_value": _named(p_values)}


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
    topics = [task.topic_of(doc) for _, doc, _ in rows]
    units = [task.score(doc, answer) for _, doc, answer in rows]
    score = Score(task.name, "", units, task.table, topics)
    ns = {topic: len({*own}) for topic, own in grouped([reference for reference, _, _ in rows], topics).items()}
    by_topic = {str(topic): {"n": ns[topic], **own} for topic, own in score.by_topic().items()}
    means = {key: float(np.mean([own[key] for own in by_topic.values()])) for key in task.table}
    return {
        "task": task.name,
        "left_out": sum(task.topic_of(doc) not in ns for doc in documents),
        "mean_of_topics": {"n": sum(ns.values()), **means},
        "all": {"n": sum(ns.values()), **score.results},
        "topics": by_topic,
    }
