"""Inspect's logs (``.eval`` and JSON), through Inspect's own reader."""

from __future__ import annotations

import datetime
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tls_tasks.after.aggregates import Logged
from tls_tasks.after.foreign import Results, SampleRow
from tls_tasks.after.logs import LogProblem, Sample, SampleLog
from tls_tasks.after.run import Content
from tls_tasks.core.errors import DataError, MissingExtraError
from tls_tasks.hosts.task_files import task_files

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample
    from inspect_ai.scorer import Score

_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
_MEANS = ("accuracy", "mean")
_ERRORS = frozenset({"stderr", "std", "var", "bootstrap_stderr"})


def read_inspect(path: Path) -> Content:
    """One log.

    Of a sample that was asked several times (``--epochs``) each answer counts as a document of ours, and the mean of
    its scores as the score of a document of others' tasks, as Inspect has it.

    Raises:
        DataError: If it can't be read, or the run didn't end.
        MissingExtraError: Without inspect_ai.
    """
    try:
        from inspect_ai.log import read_eval_log
    except ImportError as error:
        raise MissingExtraError(f"{path}, a log of Inspect,", "inspect") from error
    try:
        with ThreadPoolExecutor(1) as pool:  # it starts an event loop, and in a notebook one is running
            log = pool.submit(read_eval_log, str(path)).result()
    except Exception as error:  # of a zip file, JSON or pydantic: whatever is wrong with the file
        raise DataError(
            f"{path}: not a whole log of Inspect ({type(error).__name__}: {error!s:.200}); expected "
            "an .eval or JSON file as inspect eval wrote it, of a run that was not killed"
        ) from error
    name = (log.eval.task_registry_name or log.eval.task).removeprefix("tls_tasks/")
    problems = []
    if log.status != "success":
        problems.append(LogProblem("missing_documents", str(path), f"the run did not end: its status is {log.status}"))
    if missing := (log.eval.dataset.samples or 0) * (log.eval.config.epochs or 1) - len(log.samples or ()):
        problems.append(LogProblem("missing_documents", str(path), f"{missing} samples are missing"))
    samples: dict[str, Sample] = {}
    numbers: dict[str, list[dict[str, Any]]] = {}
    for sample in log.samples or ():
        doc_id = str((sample.metadata or {}).get("doc_id", sample.id))
        if sample.error is not None:
            problems.append(LogProblem("unscored_document", str(path), f"{doc_id}: {sample.error.message:.200}"))
        if name in task_files() and sample.epoch > 1:
            doc_id = f"{doc_id} (epoch {sample.epoch})"
        samples.setdefault(doc_id, _sample(sample, len(samples)))
        numbers.setdefault(doc_id, []).append(_numbers(sample.scores or {}))
    reported = _reported(log)
    keys = dict.fromkeys(key for epochs in numbers.values() for row in epochs for key in row)
    logged = {
        key: Logged([_mean([row.get(key) for row in epochs]) for epochs in numbers.values()], "mean", None, value)
        for key in keys
        if (value := reported.get(key)) is not None
    }
    return Content(
        name,
        log.eval.model,
        SampleLog(path, tuple(samples.values()), tuple(problems)),
        list(samples),
        logged,
        _results(log, name),
    )


def _sample(sample: EvalSample, position: int) -> Sample:
    targets = [sample.target] if isinstance(sample.target, str) else list(sample.target)
    asked = sample.input if isinstance(sample.input, str) else "\n\n".join(message.text for message in sample.input)
    # What our scorers read, where it is not what the model wrote: an answer that was judged.
    read = [score.metadata.get("judged") for score in (sample.scores or {}).values() if score.metadata]
    answer = next((text for text in read if isinstance(text, str)), sample.output.completion)
    row: dict[str, Any] = {
        "doc_id": position,
        "target": targets[0] if len(targets) == 1 else targets,
        "arguments": {"gen_args_0": {"arg_0": asked}},
        "resps": [[sample.output.completion]],
    }
    return Sample(position, sample.metadata or {}, [answer], position + 1, cast(SampleRow, row))


def _numbers(scores: Mapping[str, Score]) -> dict[str, Any]:
    """Score -> value; the keys of a score that is a dictionary each by itself."""
    numbers: dict[str, Any] = {}
    for name, score in scores.items():
        parts = score.value if isinstance(score.value, dict) else {name: score.value}
        for key, value in parts.items():
            number = _GRADES.get(value, value) if isinstance(value, str) else value
            numbers.setdefault(key, float(number) if isinstance(number, bool | int) else number)
    return numbers


def _mean(values: list[Any]) -> Any:
    """The mean over epochs; what is no number stays as it is, for the reader to be told."""
    if len(values) == 1 or not all(isinstance(value, float) for value in values):
        return values[0]
    return math.fsum(values) / len(values)


def _reported(log: EvalLog) -> dict[str, float]:
    """Score -> the number in the log: its accuracy or mean; of others' metrics the first that is no standard error."""
    reported: dict[str, float] = {}
    for score in log.results.scores if log.results else ():
        metrics = {key: float(metric.value) for key, metric in score.metrics.items() if key not in _ERRORS}
        for key in (*_MEANS, *metrics):
            if key in metrics:
                reported.setdefault(score.name, metrics[key])
    return reported


def _results(log: EvalLog, name: str) -> Results:
    """What the harness's results file would say of a task of ours, whose scorer has its name."""
    own: Mapping[str, Any] = next(
        (score.metrics for score in (log.results.scores if log.results else ()) if score.name == name), {}
    )
    metadata = {**(log.eval.metadata or {}), **log.eval.task_args}
    return {
        "results": {name: {f"{key},none": float(metric.value) for key, metric in own.items()}},
        "configs": {name: {"metadata": cast(Any, metadata)}},
        "versions": {name: log.eval.task_version},
        "model_name": log.eval.model,
        "config": {"model_args": {"model": log.eval.model}},
        "date": datetime.datetime.fromisoformat(log.eval.created).timestamp(),
    }
