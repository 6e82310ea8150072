"""Runs of the harness, found and scored again: what every command after the run begins with."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog, find_runs, read_samples
from tls_tasks.after.rescoring import TaskScore, rescore
from tls_tasks.after.task_files import TaskFile, task_file, task_files
from tls_tasks.core.errors import DataError, TlsTasksError
from tls_tasks.core.task import answer_text

TOLERANCE = 1e-12
"""How far a rescored value may be from the reported one."""

Progress = Callable[[Iterable[Sample], str, int], Iterable[Sample]]
"""Wraps the samples of a task: (samples, what they are, how many)."""


@dataclass(frozen=True, slots=True)
class ScoredTask:
    """One task of one run.

    Attributes:
        run: Its files.
        log: Its samples, with what is wrong with the file.
        score: The numbers, computed again.
        reported: The numbers in the results file; empty if there is none, or the run made answers only.
        results: The whole results file; empty if there is none.
    """

    run: RunFiles
    log: SampleLog
    score: TaskScore
    reported: Mapping[str, float] = field(default_factory=dict)
    results: Mapping[str, Any] = field(default_factory=dict)

    @property
    def task(self) -> TaskFile:
        """The task."""
        return self.score.task

    @property
    def config(self) -> Mapping[str, Any]:
        """The task's configuration in the results file."""
        value = self.results.get("configs", {}).get(self.task.name, {})
        return value if isinstance(value, Mapping) else {}

    @property
    def edition(self) -> str:
        """Which data it ran on: ``local``, ``hub``, ``embedded``; ``unknown`` if the files don't say."""
        metadata = self.config.get("metadata") or {}
        first = self.log.samples[0].doc if self.log.samples else {}
        return str((metadata.get("provenance") or {}).get("edition") or first.get("edition") or "unknown")

    @property
    def model(self) -> str:
        """The model's name in the results file; else the name of the folder."""
        arguments = (self.results.get("config") or {}).get("model_args") or {}
        names = {part.partition("=")[0] for part in arguments.split(",")} if isinstance(arguments, str) else arguments
        # For a model that is named by none of these the harness makes up a name, another one each time.
        named = self.results.get("model_name") if {"pretrained", "model", "path", "engine"} & set(names) else None
        return str(named or self.results.get("model_source") or self.run.folder.name)

    def disagreements(self) -> dict[str, tuple[float, float]]:
        """Metric -> (reported, rescored), where the two differ by more than :data:`TOLERANCE`."""
        found = self.score.as_dict()
        return {
            key: (value, found[key])
            for key, value in self.reported.items()
            if key in found and not _same(value, found[key])
        }

    def explain(self, sample: Sample) -> dict[str, dict[str, Any]]:
        """Metric -> all that it has to say of one answer.

        Raises:
            TlsTasksError: If the document can't be scored.
        """
        return self.task.task.explain(sample.doc, answer_text(sample.answer))

    def signatures(self) -> dict[str, str]:
        """Metric -> signature, of the metrics that score this task; empty if no document can be explained."""
        for sample in self.log.samples:
            try:
                explained = self.explain(sample)
            except (TlsTasksError, KeyError, ValueError, TypeError):
                continue  # a document that was changed; the next one may do
            return {name: str(result["signature"]) for name, result in explained.items()}
        return {}


def score_places(
    places: Iterable[str | Path], *, task: str | None = None, newest: bool = False, progress: Progress | None = None
) -> Iterator[ScoredTask]:
    """Score all tasks of the runs in files and folders again, run by run.

    Args:
        places: Files of the harness, or folders.
        task: Take every samples file as one of this task, for a user's task that includes ours.
        newest: Of several runs in a folder take the newest samples of each task only.
        progress: Shows how far it is.

    Raises:
        DataError: If there is nothing to score: no samples, or none of a task of ours.
        OptionError: If there is no such task.
    """
    found = False
    runs = find_runs(places, task=task)
    for run in _newest(runs) if newest else runs:
        results = run.read_results()
        for name, path in run.samples.items():
            if task is None and name not in task_files():
                continue
            found = True
            yield score_samples(run, path, task_file(task or name), results, progress)
    if not found:
        names = sorted({name for run in runs for name in run.samples})
        what = f"only of {', '.join(names)}, which are not ours (--task says as what to take them)" if names else "none"
        raise DataError(f"no samples to score: {what}; lm_eval writes them with --output_path OUT --log_samples")


def score_samples(
    run: RunFiles, path: Path, task: TaskFile, results: Mapping[str, Any], progress: Progress | None = None
) -> ScoredTask:
    """Score one samples file again."""
    log = read_samples(path, n_expected=_n_expected(results, task.name))
    samples = progress(log.samples, task.name, len(log.samples)) if progress else log.samples
    score = rescore(task, samples)
    return ScoredTask(run, log, score, _reported(results, task, log), results)


def _newest(runs: Iterable[RunFiles]) -> list[RunFiles]:
    """The newest samples of each task in each folder; an older run keeps the tasks that no newer one has."""
    taken: set[tuple[Path, str]] = set()
    kept = []
    for run in sorted(runs, key=lambda run: run.date, reverse=True):
        samples = {name: path for name, path in run.samples.items() if (run.folder, name) not in taken}
        taken |= {(run.folder, name) for name in samples}
        if samples:
            kept.append(RunFiles(run.folder, run.date, run.results, samples))
    return kept[::-1]


def _n_expected(results: Mapping[str, Any], name: str) -> int | None:
    sizes = results.get("n-samples", {})
    size = sizes.get(name, {}).get("effective") if isinstance(sizes, Mapping) else None
    return size if isinstance(size, int) else None


def _reported(results: Mapping[str, Any], task: TaskFile, log: SampleLog) -> dict[str, float]:
    """The task's own metrics in the results file; a run that made answers only has none."""
    row = results.get("results", {}).get(task.name, {})
    filter_name = str(log.samples[0].row.get("filter", "none")) if log.samples else "none"
    keys = {metric.key: f"{metric.key},{filter_name}" for metric in task.metrics}
    return {key: float(row[name]) for key, name in keys.items() if isinstance(row.get(name), int | float)}


def _same(left: float, right: float) -> bool:
    return (math.isnan(left) and math.isnan(right)) or abs(left - right) <= TOLERANCE


def problems_of(scored: ScoredTask) -> list[LogProblem]:
    """Everything that is wrong with a task's log: lines, documents, and numbers that aren't the reported ones."""
    place = str(scored.run.results)
    return [
        *scored.log.problems,
        *(
            LogProblem("other_number", place, f"{scored.task.name}: {key} is {reported!r}, rescored {found!r}")
            for key, (reported, found) in scored.disagreements().items()
        ),
    ]
