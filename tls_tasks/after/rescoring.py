"""Logged answers -> the harness's numbers again, by the installed package: no model, no harness.

The task's own ``process_results`` scores each answer, its own aggregations make the numbers, so that rescoring an
untouched log gives what the harness printed. Besides the numbers it gives sums a document, for intervals and tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tls_tasks.after.logs import Sample
from tls_tasks.after.task_files import TaskFile
from tls_tasks.core.intervals import Sums, total_of

_DOT = "."


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One task's numbers over logged answers; :class:`~tls_tasks.core.intervals.Additive`.

    Attributes:
        task: The task.
        ids: Each document's name: its ``doc_id`` field, else its number.
        clusters: Each document's topic; its own name where the task has no topics.
        values: What ``process_results`` gave for each document.
        units: Each document's sums, ``<metric>.<part>``.
    """

    task: TaskFile
    ids: tuple[str, ...]
    clusters: tuple[str, ...]
    values: tuple[Mapping[str, Any], ...]
    units: tuple[Sums, ...]

    def results(self, totals: Sums) -> dict[str, float]:
        """The metrics of any such totals, in the order of the task's ``metric_list``; none of no documents."""
        parts: dict[str, dict[str, float]] = {metric.key: {} for metric in self.task.metrics if totals}
        for name, value in totals.items():
            key, _, part = name.rpartition(_DOT)
            parts[key][part] = value
        return {metric.key: metric.aggregate.value(parts[metric.key]) for metric in self.task.metrics if totals}

    def as_dict(self) -> dict[str, float]:
        """The metrics over all documents."""
        return self.results(total_of(self.units))

    def of(self, positions: Sequence[int]) -> dict[str, float]:
        """The metrics over some documents, taken as a corpus of their own (a topic, say)."""
        return score_values(
            self.task,
            [self.ids[i] for i in positions],
            [self.clusters[i] for i in positions],
            [self.values[i] for i in positions],
        ).as_dict()

    def positions_by_cluster(self) -> dict[str, list[int]]:
        """Cluster -> the positions of its documents, in order of first appearance."""
        found: dict[str, list[int]] = {}
        for position, cluster in enumerate(self.clusters):
            found.setdefault(cluster, []).append(position)
        return found


def rescore(task: TaskFile, samples: Iterable[Sample]) -> TaskScore:
    """Score logged answers again.

    Args:
        task: The task that the answers are of.
        samples: Documents and answers.

    Returns:
        The numbers. A document that can't be scored (the log was changed) is NaN, and so is what it is part of.
    """
    ids, clusters, values = [], [], []
    for sample in samples:
        values.append(task.process(sample.doc, list(sample.answer)))
        ids.append(str(sample.doc.get("doc_id", sample.doc_id)))
        clusters.append(str(sample.doc.get("topic") or ids[-1]))
    return score_values(task, ids, clusters, values)


def score_values(
    task: TaskFile, ids: Sequence[str], clusters: Sequence[str], values: Sequence[Mapping[str, Any]]
) -> TaskScore:
    """The task's numbers from its documents' values, as ``process_results`` or a log has them."""
    merged: list[dict[str, float]] = [{} for _ in values]
    for metric in task.metrics:
        for unit, sums in zip(merged, metric.aggregate.units([value[metric.key] for value in values]), strict=True):
            unit.update({f"{metric.key}{_DOT}{name}": number for name, number in sums.items()})
    return TaskScore(task, tuple(ids), tuple(clusters), tuple(values), tuple(merged))


def clustered(score: TaskScore) -> TaskScore:
    """The same with one unit a cluster: what belongs together is drawn together."""
    groups = score.positions_by_cluster()
    units = tuple(total_of([score.units[position] for position in positions]) for positions in groups.values())
    names = tuple(groups)
    return TaskScore(score.task, names, names, (), units)
