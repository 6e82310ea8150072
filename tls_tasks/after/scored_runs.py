"""Runs of the harness, found and scored again: what every command after the run begins with.

The installed package scores the logged answers as it does in the harness, so that rescoring an untouched log gives what
the harness printed. No model and no harness is needed; the documents' units give intervals and tests besides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from tls_tasks.after.conditions import Conditions, conditions_of, stated_metadata
from tls_tasks.after.foreign import Results
from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog, find_runs
from tls_tasks.after.readers import contents_of
from tls_tasks.after.run import Content, Run, logged_run
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Result, Score, unscored
from tls_tasks.core.task import Task, answer_text, is_asked
from tls_tasks.data.editions import Edition, edition_with, status
from tls_tasks.hosts.task_files import TaskFile, data_set_of, task_file, task_files
from tls_tasks.registry import find_task

_STALE = (
    "they were made of other data, with another context_budget or by a file of your own; lm_eval --cache_requests true "
    "does that with what an earlier run left in LM_HARNESS_CACHE_PATH (without it, in caching/.cache of lm_eval's own "
    "folder)"
)

Progress = Callable[[Iterable[Any], str, int], Iterable[Any]]
"""Wraps items to show how far the work is: (items, what they are, how many)."""

_EFFORT = {
    "map_calls": "map calls",
    "write_calls": "write calls",
    "map_tokens_in": "tokens of articles read",
    "events": "events found",
}

_ANSWERS = ("lm_eval", "inspect_ai")  # the hosts whose logs hold the documents of our tasks

T = TypeVar("T")


@dataclass(frozen=True)
class ScoredTask(Run):
    """One task of ours in one run, scored again: what can't be scored (the log was changed) is NaN.

    Attributes:
        task: The task.
        version: The task's version that ran, as the results file says it; without one this release's.
    """

    task: Task
    version: float

    @property
    def family(self) -> str:
        """The task's family."""
        return self.task.family

    @property
    def ids(self) -> Sequence[str]:
        """Each document's name: its ``doc_id`` field, else its number."""
        return [_id(sample) for sample in self.log.samples]

    @property
    def reported(self) -> dict[str, float]:
        """The numbers in the results file; empty if there is none, or the run made answers only."""
        row = self.results.get("results", {}).get(self.name, {})
        filter_name = self.log.samples[0].filter if self.log.samples else "none"
        numbers = {key: row.get(f"{key},{filter_name}") for key in self.score.definitions}
        return {key: value for key, value in numbers.items() if isinstance(value, float)}  # not "N/A"

    @cached_property
    def conditions(self) -> Conditions:
        """What the numbers were made under, as the results file states it."""
        return conditions_of(self.task, self.version, self.results)

    @property
    def provenance(self) -> Mapping[str, str]:
        """Edition and origin of the data, as the task wrote them into the results file; empty if it did not."""
        stated: Mapping[str, str] = stated_metadata(self.name, self.results).get("provenance") or {}
        return stated

    @property
    def edition(self) -> str:
        """Which data it ran on: ``local``, ``fetched``, ``hub``, ``embedded``; ``unknown`` if the files don't say."""
        first: Mapping[str, Any] = self.log.samples[0].doc if self.log.samples else {}
        return str(self.provenance.get("edition") or first.get("edition") or "unknown")

    @property
    def pinned(self) -> Edition | None:
        """The edition that has the fingerprint of its data; None if this release knows none."""
        return edition_with(data_set_of(self.task).name, self.conditions.fingerprint)

    @property
    def status(self) -> str:
        """What the numbers are worth by what the run says of itself: ``embedded``, ``unknown data``, ``known data``."""
        trusted = self.edition in {"fetched", "hub"} and "data" not in self.provenance
        return status(data_set_of(self.task), self.conditions.fingerprint, self.edition, trusted=trusted)

    @property
    def data(self) -> str:
        """What it ran on, in words: what the data is called or worth, and its edition."""
        worth = self.provenance.get("data") or self.status
        return f"{self.edition} edition" if worth == self.edition else f"{worth}, {self.edition} edition"

    @property
    def stated(self) -> str:
        """The conditions that the log states."""
        return f"{self.data}, version {self.version:g}, {self.conditions}"

    @property
    def effort(self) -> str:
        """What a run of ``tls_corpus`` asked its model; empty for other runs."""
        counts = (self.results.get("config") or {}).get("tls_corpus") or {}
        return ", ".join(
            f"{counts[key]:,.0f} {name}" for key, name in _EFFORT.items() if isinstance(counts.get(key), float)
        )

    @property
    def problems(self) -> list[LogProblem]:
        """Everything that is wrong with the log: lines, documents, and numbers that aren't the reported ones."""
        other_numbers = [
            LogProblem("other_number", str(self.run.results), f"{self.name}: {key} is {reported!r}, rescored {now!r}")
            for key, (reported, now) in self.disagreements.items()
        ]
        return [*self.log.problems, *other_numbers, *self.stale]

    @property
    def stale(self) -> list[LogProblem]:
        """That the model was asked other prompts than those of the logged documents: at most one, for all of them.

        A log of another release has other prompts by right, and one that does not say its release can't be asked.
        """
        is_of_this_release = self.results.get("versions", {}).get(self.name) == task_files()[self.name].version
        if not is_of_this_release or not (wrong := self.not_asked()):
            return []
        line, name = wrong[0]
        detail = f"{self.name}: {len(wrong)} of {len(self.score.units)} requests are not the prompts of their documents"
        return [LogProblem("other_prompt", f"{self.log.path}:{line}", f"{detail} ({name} first): {_STALE}")]

    def not_asked(self) -> Sequence[tuple[int, str]]:
        """Line and name of the documents whose model was asked another prompt."""
        return [(one.line, _id(one)) for one in self.log.samples if not was_asked(self.task, self.log, one)]

    def explain(self, sample: Sample) -> dict[str, dict[str, Any]]:
        """Metric -> all that it has to say of one answer.

        Raises:
            DataError: If the document can't be scored.
        """
        return self.made_of(sample, self.task.explain, answer_text(sample.answer))

    def made_of(self, sample: Sample, function: Callable[..., T], *arguments: Any) -> T:
        """What one of the task's functions makes of a logged document.

        Raises:
            DataError: Whatever the function raises, with the document's place.
        """
        return _of_document(self.log, sample, function, *arguments)

    def picture(self, sample: Sample) -> dict[str, Any]:
        """What the page draws of one answer.

        Raises:
            DataError: If the document can't be scored.
        """
        explained = self.explain(sample)
        return self.made_of(sample, self.task.picture, answer_text(sample.answer), explained)

    @cached_property
    def signatures(self) -> dict[str, str]:
        """Metric -> signature, of the metrics that score this task; empty if no document can be explained."""
        for sample in self.log.samples:
            try:
                explained = self.explain(sample)
            except DataError:
                continue  # a document that was changed; the next one may do
            return {name: str(result["signature"]) for name, result in explained.items()}
        return {}


def read_runs(
    places: Iterable[str | Path],
    *,
    task: str | None = None,
    only: Collection[str] | None = None,
    newest: bool = False,
    progress: Progress | None = None,
) -> Iterator[Run]:
    """All tasks of the runs in files and folders, run by run: ours scored again, others' with their logged numbers.

    Args:
        places: Logs of any host, or folders of them.
        task: Take every samples file of the harness as one of this task, for a user's task that includes ours.
        only: Read these tasks alone; None: all.
        newest: Of several runs in a folder take the newest samples of each task only.
        progress: Shows how far it is.

    Raises:
        DataError: If there is no log.
        OptionError: If there is no such task.
    """
    return _read(find_runs(places, task=task, newest=newest), task, progress, only)


def score_places(
    places: Iterable[str | Path], *, task: str | None = None, newest: bool = False, progress: Progress | None = None
) -> Iterator[ScoredTask]:
    """Our tasks in the harness's runs alone, scored again; see :func:`read_runs`.

    Raises:
        DataError: If there is nothing to score: no samples, or none of a task of ours.
        OptionError: If there is no such task.
    """
    runs = [run for run in find_runs(places, task=task, newest=newest) if run.host == "lm_eval"]
    return cast("Iterator[ScoredTask]", _read(runs, task, progress, task_files()))


def _read(
    runs: Iterable[RunFiles], task: str | None, progress: Progress | None, only: Collection[str] | None
) -> Iterator[Run]:
    is_empty = True
    for run in runs:
        for content in contents_of(run, task=task, tasks=None if task else only):
            is_empty = False
            taken_as = task if run.host == "lm_eval" else None
            if taken_as is not None or (run.host in _ANSWERS and content.task in task_files()):
                yield _score_again(run, content, task_file(taken_as or content.task), progress)
            else:
                yield logged_run(run, content)
    if is_empty:
        names = sorted({name for run in runs for name in run.samples})
        which = "none"
        if names and only is task_files():
            which = f"only of {', '.join(names)}, which are not ours (--task says as what to take them)"
        elif names and only is not None:
            which = f"none of {', '.join(only)}, only of {', '.join(names)}"
        raise DataError(f"no samples to score: {which}; lm_eval writes them with --output_path OUT --log_samples")


def _of_document(log: SampleLog, sample: Sample, function: Callable[..., T], *arguments: Any) -> T:
    """What a task's function gives for a logged document.

    The harness's columns were read in :mod:`tls_tasks.after.foreign`; what is inside a document only its task can read,
    and it was written for documents that the task itself made.

    Raises:
        DataError: Whatever the function raises, with the document's place.
    """
    try:
        return function(sample.doc, *arguments)
    except Exception as error:  # a document that was changed can break a scorer in any way
        reason = f"{type(error).__name__}: {error}"
        raise DataError(f"{log.path}:{sample.line}: document {_id(sample)} can't be scored ({reason:.200})") from error


def _score_again(run: RunFiles, content: Content, file: TaskFile, progress: Progress | None) -> ScoredTask:
    log = content.log
    task, table = task_of(file, log)
    samples = progress(log.samples, file.name, len(log.samples)) if progress else log.samples
    scored = [score_sample(task, log, sample) for sample in samples]
    log = replace(log, problems=(*log.problems, *(problem for _, problem in scored if problem)))
    topics = [topic_of(sample)[1] for sample in log.samples]
    score = Score(file.name, "", [unit for unit, _ in scored], table, topics)
    content = replace(content, task=file.name, log=log)
    return ScoredTask(run, content, score, task, version_of(file, content.results))


def version_of(file: TaskFile, results: Results) -> float:
    """The version of a task that ran; this release's where the results don't say it."""
    version = results.get("versions", {}).get(file.name)
    return version if isinstance(version, float) else file.version


def task_of(file: TaskFile, log: SampleLog) -> tuple[Task, dict[str, Result]]:
    """The task of a log, and the results that its file lists, in that order.

    Raises:
        DataError: If the first document is none of the task's.
    """
    task: Task = find_task(file.name)
    if log.samples:
        task = _of_document(log, log.samples[0], task.for_document)
    return task, {key: task.table[key] for key in file.metrics if key in task.table}


def score_sample(task: Task, log: SampleLog, sample: Sample) -> tuple[dict[str, float], LogProblem | None]:
    """A logged answer's unit; where it can't be scored all parts are NaN, and the problem says why."""
    try:
        return _of_document(log, sample, task.score, answer_text(sample.answer)), None
    except DataError as error:
        place, _, detail = str(error).partition(": ")
        return unscored(task.table), LogProblem("unscored_document", place, detail)


def was_asked(task: Task, log: SampleLog, sample: Sample) -> bool:
    """Whether a logged request is its document's prompt, as far as the row says what was asked."""
    if not sample.request:
        return True
    try:
        return is_asked(_of_document(log, sample, task.prompt), sample.request)
    except DataError:  # a document that was changed, which is said elsewhere
        return True


def topic_of(sample: Sample) -> tuple[str, str]:
    """A document's name, and its topic: its own name where the task has no topics."""
    name = _id(sample)
    return name, str(sample.doc.get("topic") or name)


def _id(sample: Sample) -> str:
    return str(sample.doc.get("doc_id", sample.doc_id))
