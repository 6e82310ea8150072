"""One task of one run, whoever ran it: what its log holds, and the numbers that can be compared, shown and gated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tls_tasks.after.aggregates import Logged, table_of
from tls_tasks.after.foreign import Results
from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog
from tls_tasks.core.intervals import Interval
from tls_tasks.core.score import Score, values

_TOLERANCE = 1e-12  # how far a rescored value may be from the reported one


@dataclass(frozen=True, slots=True)
class Content:
    """One task of one run as its log has it.

    Attributes:
        task: The task's name.
        model: The model's name.
        log: Its samples, with what is wrong with the file.
        ids: Each document's name.
        logged: Metric -> what was logged of it.
        results: The whole results file, or what would stand in it; empty where nothing like it is logged.
    """

    task: str
    model: str
    log: SampleLog
    ids: Sequence[str]
    logged: Mapping[str, Logged]
    results: Results = field(default_factory=Results)


@dataclass(frozen=True)
class Run:
    """One task of one run: its documents, and the numbers of each; of others' tasks those that their host logged.

    Attributes:
        run: The files that it was read from, and who wrote them.
        content: All that the log says.
        score: Its numbers: one unit a document, in the order of the samples.
    """

    run: RunFiles
    content: Content
    score: Score

    @property
    def log(self) -> SampleLog:
        """Its samples, with what is wrong with the file."""
        return self.content.log

    @property
    def results(self) -> Results:
        """The whole results file, or what would stand in it; empty if there is nothing like it."""
        return self.content.results

    @property
    def name(self) -> str:
        """The task's name."""
        return self.content.task

    @property
    def model(self) -> str:
        """The model's name."""
        return self.content.model

    @property
    def ids(self) -> Sequence[str]:
        """Each document's name."""
        return self.content.ids

    @property
    def documents(self) -> list[tuple[str, Sample]]:
        """Each document's name, and what the model answered."""
        return list(zip(self.ids, self.log.samples, strict=True))

    @property
    def reported(self) -> Mapping[str, float]:
        """The numbers that the host reported; empty if it did not."""
        return {key: logged.reported for key, logged in self.content.logged.items() if logged.reported is not None}

    @property
    def topics(self) -> list[str]:
        """Each document's topic; its own name where the task has no topics."""
        return list(map(str, self.score.topics or self.ids))

    @property
    def metrics(self) -> dict[str, float]:
        """The results over all documents; none of no documents."""
        return dict(self.score.results) if len(self.score.units) else {}

    @property
    def ranked(self) -> dict[str, float]:
        """The results by which systems are compared: good or bad, and not at their best where nothing is answered."""
        table = self.score.definitions
        return {
            key: value
            for key, value in self.metrics.items()
            if table[key].better is not None and not table[key].best_of_nothing
        }

    def of_document(self, position: int) -> dict[str, float]:
        """One document's own results."""
        return values(self.score.definitions, [self.score.units[position]])

    def intervals(self, confidence: float = 0.95, n_resamples: int = 1000, seed: int = 12345) -> dict[str, Interval]:
        """Confidence intervals over topics where there are topics, else over documents; none of no documents."""
        if not len(self.score.units):
            return {}
        return self.score.intervals(confidence=confidence, n_resamples=n_resamples, seed=seed)

    @property
    def disagreements(self) -> dict[str, tuple[float, float]]:
        """Metric -> (reported, computed), where the two differ."""
        pairs = {key: (value, self.metrics[key]) for key, value in self.reported.items() if key in self.metrics}
        return {key: pair for key, pair in pairs.items() if not _same(*pair)}

    @property
    def problems(self) -> list[LogProblem]:
        """Everything that is wrong with the log."""
        return list(self.log.problems)

    @property
    def family(self) -> str:
        """The family of a task of ours; empty for others'."""
        return ""

    @property
    def data(self) -> str:
        """What it ran on, in words, as far as that is known."""
        return f"numbers as {self.run.host} logged them"

    @property
    def stated(self) -> str:
        """What the log says of how the numbers were made, in one line."""
        return self.data

    @property
    def effort(self) -> str:
        """What the run asked its model, in words; empty if the log doesn't say."""
        return ""

    @property
    def signatures(self) -> Mapping[str, str]:
        """Metric -> signature; empty if the log has none."""
        return {}

    def picture(self, sample: Sample) -> dict[str, Any]:
        """What the page draws of one answer: plain data, of a ``kind`` that its script knows.

        Raises:
            DataError: If the document can't be scored.
        """
        target = sample.row.get("target")
        several = isinstance(target, list) and all(isinstance(text, str) for text in target)
        return {"kind": "text", "target": "" if target is None else "\n".join(target) if several else str(target)}


def logged_run(run: RunFiles, content: Content) -> Run:
    """A run with the numbers that its host logged; why some can't be recomputed is a problem of the log."""
    table, (units,), reasons = table_of([content.logged], len(content.ids))
    place = str(run.results or content.log.path)
    problems = [LogProblem("other_number", place, f"{content.task}: {key}: {why}") for key, why in reasons.items()]
    log = replace(content.log, problems=(*content.log.problems, *problems))
    return Run(run, replace(content, log=log), Score(content.task, "", units, table))


def _same(left: float, right: float) -> bool:
    return (math.isnan(left) and math.isnan(right)) or abs(left - right) <= _TOLERANCE * max(1.0, abs(left))
