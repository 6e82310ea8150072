"""Runs of the harness, found and scored again: what every command after the run begins with.

The installed package scores the logged answers as it does in the harness, so that rescoring an untouched log gives what
the harness printed. No model and no harness is needed; the documents' units give intervals and tests besides.
"""

import hashlib
import json
import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar, cast

from tls_tasks.after.aggregates import same_number, table_of
from tls_tasks.after.foreign import SampleRow
from tls_tasks.after.logs import LogProblem, Sample, find_runs
from tls_tasks.after.meta import among_themselves
from tls_tasks.after.readers import logged_runs
from tls_tasks.after.run import BUDGET, Conditions, Progress, Run, prompt_options, stated_metadata
from tls_tasks.core.errors import DataError, without_warnings
from tls_tasks.core.parsed import leaves
from tls_tasks.core.score import Result, Score, mean_unit, unscored
from tls_tasks.core.task import Task, answer_text, answers_in, text_around
from tls_tasks.data.editions import Edition, find_edition, status
from tls_tasks.hosts.discovery import TaskFile, data_set_of, task_file, task_files
from tls_tasks.registry import find_task

_STALE = Path(__file__).with_name("stale.txt").read_text(encoding="utf-8").rstrip()

_MOST_PAIRS = 3_000  # of references that are scored by each other

_TOLERANCE = 1e-12  # how far a rescored value may be from the reported one

_ANSWERS = ("lm_eval", "inspect_ai")  # the hosts whose logs hold the documents of our tasks

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class ScoredTask(Run):
    """One task of ours in one run, scored again: what can't be scored (the log was changed) is NaN.

    Attributes:
        task: The task.
        version: The task's version that ran, as the results file says it; without one this release's.
        stale: That the model was asked other prompts than those of the logged documents: at most one, for all of them.
    """

    task: Task
    version: float
    stale: Sequence[LogProblem] = ()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the task, whose functions can't be pickled."""
        return {key: value for key, value in vars(self).items() if key != "task"}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Find the task again, by its name and the first document."""
        task, _ = task_of(task_file(state["name"]), state["log"].path, state["log"].samples)
        vars(self).update(state, task=task)

    @property
    def reported(self) -> dict[str, Any]:
        """Its metrics in the results file, numbers or not; empty if there is none, or the run made answers only."""
        row = self.results.get("results", {}).get(self.name, {})
        name = self.log.samples[0].filter if self.log.samples else "none"
        return {key: row[f"{key},{name}"] for key in self.score.definitions if f"{key},{name}" in row}

    @property
    def disagreements(self) -> dict[str, tuple[Any, float]]:
        """Metric -> (reported, computed), where the two differ."""
        pairs = {key: (value, self.metrics[key]) for key, value in self.reported.items() if key in self.metrics}
        is_same = {key: isinstance(pair[0], float) and same_number(*pair, _TOLERANCE) for key, pair in pairs.items()}
        return {key: pair for key, pair in pairs.items() if not is_same[key]}

    @cached_property
    def conditions(self) -> Conditions:
        """What the numbers were made under, as the results file states it."""
        stated = prompt_options(self.task, stated_metadata(self.name, self.results)).items()
        options = {key: value if isinstance(value, str) else json.dumps(value, sort_keys=True) for key, value in stated}
        if (system := self.results.get("system_instruction")) is not None:
            options["system_instruction"] = hashlib.sha256(str(system).encode("utf-8", "replace")).hexdigest()[:12]
        fingerprint, judge = (str(self.provenance.get(key) or "") for key in ("fingerprint", "judge"))
        budget, shots = options.pop(BUDGET, ""), self.results.get("n-shot", {}).get(self.name) or 0
        return Conditions(self.version, fingerprint, budget, tuple(sorted(options.items())), shots, judge)

    @property
    def provenance(self) -> Mapping[str, str]:
        """Edition and origin of the data, as the task wrote them into the results file; empty if it did not."""
        return dict(stated_metadata(self.name, self.results).get("provenance") or {})

    @property
    def edition(self) -> str:
        """Which data it ran on: ``local``, ``fetched``, ``hub``, ``embedded``; ``unknown`` if the files don't say."""
        first: Mapping[str, Any] = self.log.samples[0].doc if self.log.samples else {}
        return str(self.provenance.get("edition") or first.get("edition") or "unknown")

    @property
    def pinned(self) -> Edition | None:
        """The edition that has the fingerprint of its data; None if this release knows none."""
        return find_edition(data_set_of(self.task).name, self.conditions.fingerprint)

    @property
    def status(self) -> str:
        """What the numbers are worth by what the run says of itself: ``embedded``, ``unknown data``, ``known data``."""
        trusted = self.edition in {"fetched", "hub"} and "data" not in self.provenance
        return status(data_set_of(self.task), self.conditions.fingerprint, self.edition, trusted=trusted)

    @property
    def reported_keys(self) -> Sequence[str]:
        """The results that the field reports of the task."""
        return self.task.reported

    @property
    def is_judged(self) -> bool:
        """Whether the task needs a judge."""
        return self.task.judge is not None

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
    def problems(self) -> list[LogProblem]:
        """Everything that is wrong with the log: lines, documents, and numbers that aren't the reported ones."""
        place, pairs = str(self.run.results), self.disagreements.items()
        said = (f"{self.name}: {key} is {reported!r}, rescored {now!r}" for key, (reported, now) in pairs)
        return [*self.log.problems, *(LogProblem("other_number", place, detail) for detail in said), *self.stale]

    def repeats(self, sample: Sample) -> list[Sample]:
        """Return a sample for each answer to a document."""
        answers, responses = answers_in(sample.answer), [*leaves(sample.row.get("resps"))]
        if len(answers) == 1:
            return [sample]
        texts = responses if len(responses) == len(answers) else answers
        rows = [cast(SampleRow, {**sample.row, "resps": [[text]]}) for text in texts]
        return [replace(sample, answer=[answer], row=row) for answer, row in zip(answers, rows, strict=True)]

    def explain(self, sample: Sample) -> dict[str, dict[str, Any]]:
        """Metric -> all that it has to say of one answer, the first where there are several.

        Raises:
            DataError: If the document can't be scored.
        """
        return self.made_of(sample, self.task.explain, answer_text(sample.answer))

    def made_of(self, sample: Sample, function: Callable[..., T], *arguments: Any) -> T:
        """What one of the task's functions makes of a logged document.

        Raises:
            DataError: Whatever the function raises, with the document's place.
        """
        return _of_document(self.log.path, sample, function, *arguments)

    def picture(self, sample: Sample) -> dict[str, Any]:
        """What the page draws of one answer.

        Raises:
            DataError: If the document can't be scored.
        """
        return self.made_of(sample, self.task.picture, answer_text(sample.answer), self.explain(sample))

    @cached_property
    def signatures(self) -> dict[str, str]:
        """Metric -> signature, of the metrics that score this task; empty if no document can be explained."""
        for sample in self.log.samples:
            with suppress(DataError):  # a document that was changed; the next one may do
                return {name: str(result["signature"]) for name, result in self.explain(sample).items()}
        return {}


def read_runs(
    places: Iterable[str | Path],
    *,
    task: str | None = None,
    only: Collection[str] | None = None,
    ours: bool = False,
    newest: bool = False,
    progress: Progress | None = None,
) -> Iterator[Run]:
    """All tasks of the runs in files and folders, run by run: ours scored again, others' with their logged numbers.

    Args:
        places: Logs of any host, or folders of them.
        task: Take every samples file of the harness as one of this task, for a user's task that includes ours.
        only: Read these tasks alone; None: all.
        ours: Read our tasks in the harness's runs alone.
        newest: Of several runs of a model in a folder take the newest samples of each task only.
        progress: Shows how far it is.

    Raises:
        DataError: If there is no log.
        OptionError: If there is no such task.
    """
    only = task_files() if ours else only
    runs = [run for run in find_runs(places, task=task, newest=newest) if not ours or run.host == "lm_eval"]
    logged = (run for files in runs for run in logged_runs(files, task=task, tasks=None if task else only))
    every: Iterable[Run] = (replace(run, model=run.run.label or run.model) for run in logged)
    if newest:
        every = {(run.run.folder, run.model, run.name): run for run in every}.values()  # the oldest come first
    run = None
    for run in every:
        taken_as = (task if run.run.host == "lm_eval" else None) or _included_task(run)
        is_ours = taken_as == task or (run.run.host in _ANSWERS and taken_as in task_files())
        yield _score_again(run, task_file(taken_as), progress) if is_ours else _with_table(run)
    if run is None:
        names = ", ".join(sorted({name for run in runs for name in run.samples})) or "none"
        wanted = "a task of ours (--task says as what to take others)" if ours else ", ".join(only or ["any task"])
        how = "lm_eval writes them with --output_path OUT --log_samples"
        raise DataError(f"no samples to score: expected those of {wanted}, got {names}; {how}")


def _included_task(run: Run) -> str:
    """Return the task of ours that a user's task includes under another name, with its data and its scoring."""
    config = run.results.get("configs", {}).get(run.name, {})
    if run.name not in task_files() and str(config.get("process_results")).startswith("tls_tasks: "):
        for name, file in task_files().items():
            if _data_and_metrics(config) == _data_and_metrics(file.config):
                return name
    return run.name


def _data_and_metrics(config: Mapping[str, Any]) -> tuple[Any, list[Any]]:
    """Return the arguments of a task's data set, and the names of its metrics."""
    rows = config.get("metric_list") or ()
    return config.get("dataset_kwargs"), [row.get("metric") for row in rows if isinstance(row, Mapping)]


def score_places(places: Iterable[str | Path], **options: Any) -> Iterator[ScoredTask]:
    """Our tasks in the harness's runs alone, scored again; with the options of :func:`read_runs`.

    Raises:
        DataError: If there is nothing to score: no samples, or none of a task of ours.
        OptionError: If there is no such task.
    """
    return cast("Iterator[ScoredTask]", read_runs(places, ours=True, **options))


def references_of(runs: Sequence[Run]) -> dict[str, Any]:
    """What the references of a task's runs reach among themselves: ``values``, their ``name``, and ``about`` them.

    Empty where runs have other references, no document or topic has several, or there are too many to score.
    """
    targets = [sorted((name, str(sample.row.get("target"))) for name, sample in run.documents) for run in runs]
    first = runs[0]
    if isinstance(first, ScoredTask) and all(own == targets[0] for own in targets):
        with suppress(Exception):  # nothing to tell, or a log that was changed: neither may cost the page or board
            found = among_themselves(first.task, [sample.doc for sample in first.log.samples], _MOST_PAIRS)
            means, kind = found["mean_of_topics"], "topics" if first.task.topic else "documents"
            about = f"{means['n']} references, {len(found['topics'])} {kind}"
            values = {key: value for key, value in means.items() if key != "n" and not math.isnan(value)}
            return {"name": "people against people", "about": about, "values": values}
    return {}


def _with_table(run: Run) -> Run:
    """A run with the numbers that its host logged; why some can't be computed again is a problem of the log."""
    table, (units,), reasons = table_of([run.logged], len(run.ids))
    place = str(run.run.results or run.log.path)
    problems = [LogProblem("other_number", place, f"{run.name}: {key}: {why}") for key, why in reasons.items()]
    if not table and not reasons:
        said = f"{run.name}: its rows have no numbers; `tls-tasks timelines`, `summaries` … score answers"
        problems = [LogProblem("no_numbers", place, said)]
    log = replace(run.log, problems=(*run.log.problems, *problems))
    return replace(run, log=log, score=Score(run.name, "", units, table))


def _of_document(path: Path, sample: Sample, function: Callable[..., T], *arguments: Any) -> T:
    """What a task's function gives for a logged document.

    The harness's columns were read in :mod:`tls_tasks.after.foreign`; what is inside a document only its task can read,
    and it was written for documents that the task itself made.

    Raises:
        DataError: Whatever the function raises, with the document's place.
    """
    try:
        with without_warnings(UserWarning):  # of an answer that can't be read; a result counts these
            return function(sample.doc, *arguments)
    except Exception as error:  # a document that was changed can break a scorer in any way
        reason = f"{type(error).__name__}: {error}"
        raise DataError(f"{path}:{sample.line}: document {name_of(sample)} can't be scored ({reason:.200})") from error


def _score_again(run: Run, file: TaskFile, progress: Progress | None) -> ScoredTask:
    log = run.log
    task, table = task_of(file, log.path, log.samples)
    samples = progress(log.samples, file.name, len(log.samples)) if progress else log.samples
    scored = [score_sample(task, log.path, sample) for sample in samples]
    log = replace(log, problems=(*log.problems, *(problem for _, problem in scored if problem)))
    score = Score(file.name, "", [unit for unit, _ in scored], table, list(map(topic_of, log.samples)))
    other = ((sample.line, name_of(sample)) for sample in log.samples if not was_asked(task, log.path, sample))
    return of_task(replace(run, log=log, ids=list(map(name_of, log.samples)), score=score), file, task, other)


def of_task(run: Run, file: TaskFile, task: Task, other_prompts: Iterable[tuple[int, str]]) -> ScoredTask:
    """A run of a task of ours; line and name of the documents whose model was asked another prompt."""
    version, stale = run.results.get("versions", {}).get(file.name), []
    # A log of another release has other prompts by right, and one that does not say its release can't be asked.
    if version == file.version and (wrong := list(other_prompts)):
        (line, first), n = wrong[0], len(wrong)
        detail = f"not the prompts of their documents: {n} of {len(run.ids)} requests ({first} first): {_STALE}"
        stale = [LogProblem("other_prompt", f"{run.log.path}:{line}", f"{file.name}: {detail}")]
    fields = {**vars(run), "name": file.name, "logged": {}, "family": task.family, "headline": task.headline}
    return ScoredTask(**fields, task=task, version=version if isinstance(version, float) else file.version, stale=stale)


def task_of(file: TaskFile, path: Path, samples: Sequence[Sample]) -> tuple[Task, dict[str, Result]]:
    """The task of a log, and the results that its file lists, in that order.

    Raises:
        DataError: If the first document is none of the task's.
    """
    task: Task = find_task(file.name)
    own = _of_document(path, samples[0], task.for_document) if samples else task
    listed = {key: own.table[key] for key in file.metrics if key in own.table}
    return own, {**listed, **{key: result for key, result in own.table.items() if key not in task.table}}


def score_sample(task: Task, path: Path, sample: Sample) -> tuple[dict[str, float], LogProblem | None]:
    """A logged answer's unit; where it can't be scored all parts are NaN, and the problem says why."""
    try:
        units = [_of_document(path, sample, task.score, answer) for answer in answers_in(sample.answer)]
        return mean_unit(units), None
    except DataError as error:
        place, _, detail = str(error).partition(": ")
        return unscored(task.table), LogProblem("unscored_document", place, detail)


def was_asked(task: Task, path: Path, sample: Sample) -> bool:
    """Whether a logged request is its document's prompt, as far as the row says what was asked."""
    try:
        return not sample.request or text_around(_of_document(path, sample, task.prompt), sample.request) is not None
    except DataError:  # a document that was changed, which is said elsewhere
        return True


def topic_of(sample: Sample) -> str:
    """A document's topic: its own name where the task has no topics."""
    return str(sample.doc.get("topic") or name_of(sample))


def name_of(sample: Sample) -> str:
    """A document's name: its ``doc_id`` field, else its number."""
    return str(sample.doc.get("doc_id", sample.doc_id))
