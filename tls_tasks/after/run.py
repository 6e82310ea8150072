"""One task of one run, whoever ran it: its log, the conditions that the log states, and the numbers of it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tls_tasks.after.aggregates import Logged
from tls_tasks.after.foreign import Results
from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog
from tls_tasks.core.intervals import Interval
from tls_tasks.core.score import Score, values
from tls_tasks.core.task import Task
from tls_tasks.core.terminal import shown

Progress = Callable[[Iterable[Any], str, int], Iterable[Any]]
"""Wraps items to show how far the work is: (items, what they are, how many)."""

BUDGET = "context_budget"
_LONGEST = 60  # characters that are shown of a value

# What the options of a task say of the data or the model; all others change the prompt.
_NO_PROMPT = frozenset({"closed_book", "data", "edition", "generation", "judge", "model_args", "name", "provenance"})

_NO_SCORE = Score("", "", (), {})


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of one task of one run, as its results file states them.

    Attributes:
        version: The task's version.
        fingerprint: Of the documents; empty if the file does not say.
        budget: ``context_budget``: how much of a document a prompt shows.
        options: All other options that change the prompt, each with its value.
        shots: How many examples stood before each prompt.
        judge: Who judged; empty for tasks without a judge.
    """

    version: float
    fingerprint: str
    budget: str
    options: tuple[tuple[str, str], ...]
    shots: int
    judge: str

    def __str__(self) -> str:
        """All but the version, in one line."""
        data = f"data {self.fingerprint[:12] or 'without a fingerprint'}"
        options = [(BUDGET, self.budget or "unknown"), *self.options]
        said = [data, *(f"{name} {shown(value, _LONGEST)}" for name, value in options), f"{self.shots}-shot"]
        return ", ".join([*said, f"judge {shown(self.judge)}"] if self.judge else said)


def stated_metadata(name: str, results: Mapping[str, Any]) -> Mapping[str, Any]:
    """The task's metadata in a results file, the ``--metadata`` of the run included; empty if there are none."""
    return dict(results.get("configs", {}).get(name, {}).get("metadata") or {})


def model_arguments(results: Results) -> dict[str, Any]:
    """The ``--model_args`` of a run, which older releases of the harness log as one text."""
    stated = (results.get("config") or {}).get("model_args") or {}
    return dict(part.partition("=")[::2] for part in stated.split(",")) if isinstance(stated, str) else stated


def model_name(results: Results, folder: Path) -> str:
    """The model's name in a results file; else what kind of model it is, or the name of the folder."""
    arguments = model_arguments(results)
    # For a model that is named by none of these the harness makes up a name, another one each time.
    is_named = {"pretrained", "model", "path", "engine"} & set(arguments)
    named = (results.get("model_name") or arguments.get("pretrained")) if is_named else None
    return str(named or results.get("model_source") or folder.name)


def prompt_options(task: Task, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a run's options that change what its prompts show."""
    names = set(task.options) - _NO_PROMPT
    return {key: value for key, value in metadata.items() if key in names and value is not None}


@dataclass(frozen=True)
class Run:
    """One task of one run as its log has it: its documents, and the numbers of each.

    Attributes:
        run: The files that it was read from, and who wrote them.
        name: The task's name.
        model: The model's name.
        log: Its samples, with what is wrong with the file.
        ids: Each document's name.
        logged: Metric -> what was logged of it.
        results: The whole results file, or what would stand in it; empty where nothing like it is logged.
        score: Its numbers: a unit a document, in the order of the samples.
        family: The family of a task of ours; empty for others'.
        headline: The result that stands for the task; empty where nobody said which.
    """

    run: RunFiles
    name: str
    model: str
    log: SampleLog
    ids: Sequence[str]
    logged: Mapping[str, Logged] = field(default_factory=dict)
    results: Results = field(default_factory=Results)
    score: Score = _NO_SCORE
    family: str = ""
    headline: str = ""

    @property
    def documents(self) -> list[tuple[str, Sample]]:
        """Each document's name, and what the model answered."""
        return list(zip(self.ids, self.log.samples, strict=True))

    @property
    def topics(self) -> list[str]:
        """Each document's topic; its own name where there are no topics."""
        return list(map(str, self.score.topics or self.ids))

    @property
    def metrics(self) -> dict[str, float]:
        """The results over all documents; none of no documents."""
        return dict(self.score.results) if len(self.score.units) else {}

    @property
    def ranked(self) -> dict[str, float]:
        """The results by which systems are compared: good or bad, and not at their best where nothing is answered.

        The headline is first, by which systems are ranked.
        """
        table = self.score.definitions
        usable = {key: table[key].better is not None and not table[key].best_of_nothing for key in table}
        ranked = {key: value for key, value in self.metrics.items() if usable[key]}
        return {key: ranked[key] for key in sorted(ranked, key=lambda key: key != self.headline)}

    def of_document(self, position: int) -> dict[str, float]:
        """One document's own results."""
        return values(self.score.definitions, [self.score.units[position]])

    def intervals(self, **options: Any) -> dict[str, Interval]:
        """As :meth:`Score.intervals <tls_tasks.core.score.Score.intervals>` gives them; none of no documents."""
        return self.score.intervals(**options) if len(self.score.units) else {}

    @property
    def problems(self) -> list[LogProblem]:
        """Everything that is wrong with the log."""
        return list(self.log.problems)

    @property
    def reported_keys(self) -> Sequence[str]:
        """The results that the field reports; empty where nobody said which."""
        return ()

    @property
    def is_judged(self) -> bool:
        """Whether a judge's verdicts are needed."""
        return False

    @property
    def data(self) -> str:
        """What it ran on, in words, as far as that is known."""
        return f"numbers as {self.run.host} logged them"

    @property
    def stated(self) -> str:
        """What the log says of how the numbers were made, in one line."""
        return self.data

    @property
    def signatures(self) -> Mapping[str, str]:
        """Metric -> signature; empty if the log has none."""
        return {self.score.metric: self.score.signature} if self.score.signature else {}

    def repeats(self, sample: Sample) -> list[Sample]:
        """Return a sample for each answer to a document: of others' tasks nobody knows which those are."""
        return [sample]

    def picture(self, sample: Sample) -> dict[str, Any]:
        """What the page draws of one answer: plain data, of a ``kind`` that its script knows.

        Raises:
            DataError: If the document can't be scored.
        """
        target = sample.row.get("target")
        several = isinstance(target, list) and all(isinstance(text, str) for text in target)
        return {"kind": "text", "target": "" if target is None else "\n".join(target) if several else str(target)}
