"""Logged answers -> the harness's numbers again, by the installed package: no model, no harness.

The task scores each answer as it does in the harness, so that rescoring an untouched log gives what the harness
printed. The units of the documents give intervals and tests besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from tls_tasks.after.logs import Sample
from tls_tasks.after.task_files import TaskFile
from tls_tasks.core.score import Interval, Score, Unit, grouped, values
from tls_tasks.core.task import answer_text


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One task's numbers over logged answers.

    Attributes:
        task: The task's file, which names the results.
        ids: Each document's name: its ``doc_id`` field, else its number.
        topics: Each document's topic; its own name where the task has no topics.
        score: The numbers: one unit a document.
    """

    task: TaskFile
    ids: tuple[str, ...]
    topics: tuple[str, ...]
    score: Score

    def as_dict(self) -> dict[str, float]:
        """The results over all documents, in the order of the task's ``metric_list``; none of no documents."""
        return dict(self.score.results) if self.ids else {}

    def of_document(self, position: int) -> dict[str, float]:
        """One document's own results."""
        return values(self.score.table, [self.score.units[position]])

    def by_topic(self) -> dict[str, dict[str, float]]:
        """Topic -> its own results; of a task without topics each document's."""
        positions = grouped(range(len(self.ids)), self.topics)
        return {str(topic): self.taken(places).as_dict() for topic, places in positions.items()}

    def intervals(self, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 12345) -> Mapping[str, Interval]:
        """Bootstrap intervals over topics where there are topics, else over documents; none of no documents."""
        if not self.ids:
            return {}
        return self.score.intervals(confidence=confidence, n_resamples=n_resamples, seed=seed)

    def taken(self, positions: Sequence[int]) -> TaskScore:
        """Some documents, in this order, as a corpus of their own."""
        topics = tuple(self.topics[i] for i in positions)
        score = replace(self.score, units=[self.score.units[i] for i in positions], topics=topics)
        return TaskScore(self.task, tuple(self.ids[i] for i in positions), topics, score)


def rescore(task: TaskFile, samples: Iterable[Sample]) -> TaskScore:
    """Score logged answers again.

    Args:
        task: The task that the answers are of.
        samples: Documents and answers.

    Returns:
        The numbers. A document that can't be scored (the log was changed) is NaN, and so is what it is part of.
    """
    own, table = task.task, task.task.table
    ids: list[str] = []
    topics: list[str] = []
    units: list[Unit] = []
    for sample in samples:
        if not units:
            own = own.for_document(sample.doc)
            table = {metric.key: own.table[metric.key] for metric in task.metrics if metric.key in own.table}
            own = replace(own, table=table)
        units.append(own.process(sample.doc, answer_text(sample.answer)))
        ids.append(str(sample.doc.get("doc_id", sample.doc_id)))
        topics.append(str(sample.doc.get("topic") or ids[-1]))
    return TaskScore(task, tuple(ids), tuple(topics), Score(task.name, "", units, table, tuple(topics)))
