"""The reader of each host's logs: the harness, Inspect, and plain rows of one JSON object."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from tls_tasks.after.aggregates import Logged
from tls_tasks.after.foreign import Results, SampleRow, read_json
from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog, filled_lines, read_samples
from tls_tasks.after.run import Run, model_name
from tls_tasks.core.errors import DataError, needs_extra
from tls_tasks.hosts.discovery import task_files

if TYPE_CHECKING:
    from inspect_ai.log import EvalSample, EvalScore
    from inspect_ai.scorer import Score

_FUNCTION = re.compile(r"\bdef (\w+)\(|<function (\w+) at ")

# Where rows have request, answer and target: of each the first that is there.
_OF_ROWS = ("input prompt question", "output prediction answer response", "target reference references")
_GRADES = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}  # correct, partial, incorrect, no answer
_MEANS = ("accuracy", "mean")
_ERRORS = frozenset({"stderr", "std", "var", "bootstrap_stderr"})


def logged_runs(run: RunFiles, *, task: str | None = None, tasks: Collection[str] | None = None) -> Iterator[Run]:
    """What the logs of a run say, task by task.

    Args:
        run: The run.
        task: What the results file of the harness calls the task, where that is not as the samples file is named.
        tasks: The tasks that are read; None: all.

    Raises:
        DataError: If a log can't be read.
        MissingExtraError: If it is one of Inspect, without inspect_ai.
    """
    if reader := _READERS.get(run.host):  # whose files are not named as the tasks are
        read = (reader(run, path) for path in run.samples.values())
        yield from (logged for logged in read if tasks is None or logged.name in tasks)
        return
    paths = {name: path for name, path in run.samples.items() if tasks is None or name in tasks}
    results = run.read_results(list(paths))
    for name, path in paths.items():
        sizes = results.get("n-samples", {}).get(task or name)
        log = read_samples(path, n_expected=sizes["effective"] if sizes else None)
        ids, logged = [str(sample.doc_id) for sample in log.samples], _harness_metrics(name, log, results)
        yield Run(run, name, model_name(results, run.folder), log, ids, logged, results)


def _harness_metrics(name: str, log: SampleLog, results: Results) -> dict[str, Logged]:
    """A metric is called as the harness prints it, with its filter where there are several: ``acc,strict-match``."""
    listed = results.get("configs", {}).get(name, {}).get("metric_list") or ()
    configured = {_called(own["metric"]): own for own in listed if isinstance(own, dict) and "metric" in own}
    better = results.get("higher_is_better", {}).get(name, {})
    numbers = results.get("results", {}).get(name, {})
    logged = {}
    for filter_name, samples in log.filtered.items():
        rows = {sample.doc_id: cast("dict[str, Any]", sample.row) for sample in samples}
        for metric in dict.fromkeys(metric for row in rows.values() for metric in row.get("metrics", ())):
            key, aggregation = f"{metric},{filter_name}", _called(configured.get(metric, {}).get("aggregation"))
            values = [rows.get(sample.doc_id, {}).get(metric) for sample in log.samples]
            row = Logged(values, aggregation, better.get(metric), _number(numbers.get(key)))
            logged[metric if len(log.filtered) == 1 else key] = row
    return logged


def _called(stated: Any) -> str:
    """The name of a metric or an aggregation; of a function of the task's own the harness logs the source."""
    text = stated if isinstance(stated, str) else ""
    match = _FUNCTION.search(text)
    return (match[1] or match[2]) if match else text


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) else None


# Rows


def _read_rows(run: RunFiles, path: Path) -> Run:
    """Plain rows: `id`, and a column a metric; the task is called as the file is, unless the rows name `task`, `model`.

    Columns that hold numbers in all rows that have them are metrics, better when higher.

    Raises:
        DataError: If no row has an `id`.
    """
    rows, problems = _rows_by_id(path)
    keys = dict.fromkeys(key for row in rows.values() for key in row if key != "id")
    columns = {key: [row.get(key) for row in rows.values()] for key in keys}
    logged = {key: Logged(values, "mean") for key, values in columns.items() if _are_numbers(values)}
    first = next(iter(rows.values()))
    task, model = (name if isinstance(name := first.get(key), str) else path.stem for key in ("task", "model"))
    samples = []
    for number, row in enumerate(rows.values()):
        choices = ([row.get(key) for key in names.split()] for names in _OF_ROWS)
        texts = (next((value for value in values if value is not None), None) for values in choices)
        samples.append(_sample(number, row, *texts))
    return Run(run, task, model, SampleLog(path, tuple(samples), tuple(problems)), list(rows), logged)


def _rows_by_id(path: Path) -> tuple[dict[str, dict[str, Any]], list[LogProblem]]:
    """Id -> row, and what is wrong with the other lines."""
    rows: dict[str, dict[str, Any]] = {}
    problems = []
    for line, content in filled_lines(path):
        place = f"{path}:{line}"
        try:
            row = read_json(content)
        except DataError as error:
            problems.append(LogProblem("wrong_row", place, str(error)))
            continue
        if not isinstance(row, dict) or not isinstance(row.get("id"), str | int):
            problems.append(LogProblem("wrong_row", place, "expected an object with `id`, a text or number"))
        elif rows.setdefault(str(row["id"]), row) is not row:
            problems.append(
                LogProblem("repeated_document", place, f"document {row['id']} comes again; the first counts")
            )
    if not rows:
        raise DataError(str(problems[0]) if problems else f"{path}: no row in it")
    return rows, problems


def _are_numbers(values: list[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) for value in known)


def _sample(place: int, doc: Mapping[str, Any], request: Any, answer: Any, target: Any) -> Sample:
    row = {"doc_id": place, "target": _text(target), "arguments": {"gen_args_0": {"arg_0": _text(request)}}}
    return Sample(place, doc, [_text(answer)], place + 1, cast(SampleRow, row))


def _text(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        return _text(value[0])
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


# Inspect


def _read_inspect(run: RunFiles, path: Path) -> Run:
    """A log of Inspect (``.eval`` or JSON), through Inspect's own reader.

    Of a sample that was asked several times (``--epochs``) all answers count as those of a document of ours, and the
    mean of their scores as the score of a document of others' tasks, as Inspect has it.

    Raises:
        DataError: If it can't be read.
        MissingExtraError: Without inspect_ai.
    """
    with needs_extra(f"{path}, a log of Inspect,", "inspect"):
        from inspect_ai.log import read_eval_log
    try:
        with ThreadPoolExecutor(1) as pool:  # it starts an event loop, and in a notebook one is running
            log = pool.submit(read_eval_log, str(path)).result()
    except Exception as error:  # of a zip file, JSON or pydantic: whatever is wrong with the file
        expected = "expected an .eval or JSON file of inspect eval, of a run that was not killed"
        reason = f"{type(error).__name__}: {error!s:.200}"
        raise DataError(f"{path}: not a whole log of Inspect ({reason}); {expected}") from error
    name = (log.eval.task_registry_name or log.eval.task).removeprefix("tls_tasks/")
    problems = []
    if log.status != "success":
        problems.append(LogProblem("missing_documents", str(path), f"the run did not end: its status is {log.status}"))
    if missing := (log.eval.dataset.samples or 0) * (log.eval.config.epochs or 1) - len(log.samples or ()):
        problems.append(LogProblem("missing_documents", str(path), f"samples missing: {missing}"))
    samples: dict[str, Sample] = {}
    numbers: dict[str, list[dict[str, Any]]] = {}
    for sample in log.samples or ():
        doc_id = str((sample.metadata or {}).get("doc_id", sample.id))
        if sample.error is not None:
            problems.append(LogProblem("unscored_document", str(path), f"{doc_id}: {sample.error.message:.200}"))
        read = _inspect_sample(sample, len(samples))
        if (first := samples.setdefault(doc_id, read)) is not read and name in task_files():
            first.answer.extend(read.answer)
            first.row["resps"][0].extend(read.row["resps"][0])
        numbers.setdefault(doc_id, []).append(_inspect_numbers(sample.scores or {}))
    scores = log.results.scores if log.results else []
    keys = {key for epochs in numbers.values() for row in epochs for key in row}
    means = {key: [_mean([row.get(key) for row in epochs]) for epochs in numbers.values()] for key in keys}
    logged = {key: Logged(means[key], "mean", None, value) for key, value in _reported(scores).items() if key in keys}
    # What the harness's results file would say of a task of ours, whose scorer has its name.
    own: Mapping[str, Any] = next((score.metrics for score in scores if score.name == name), {})
    results: Results = {
        "results": {name: {f"{key},none": float(metric.value) for key, metric in own.items()}},
        "configs": {name: {"metadata": cast(Any, {**(log.eval.metadata or {}), **log.eval.task_args})}},
        "versions": {name: log.eval.task_version},
        "model_name": log.eval.model,
        "config": {"model_args": {"model": log.eval.model}},
        "date": datetime.datetime.fromisoformat(log.eval.created).timestamp(),
    }
    whole = SampleLog(path, tuple(samples.values()), tuple(problems))
    return Run(run, name, log.eval.model, whole, list(samples), logged, results)


def _inspect_sample(sample: EvalSample, place: int) -> Sample:
    asked = sample.input if isinstance(sample.input, str) else "\n\n".join(message.text for message in sample.input)
    # What our scorers read, where it is not what the model wrote: an answer that was judged.
    read = [score.metadata.get("judged") for score in (sample.scores or {}).values() if score.metadata]
    answer = next((text for text in read if isinstance(text, str)), sample.output.completion)
    made = _sample(place, sample.metadata or {}, asked, answer, "")
    target = sample.target if isinstance(sample.target, str) or len(sample.target) != 1 else sample.target[0]
    made.row["target"], made.row["resps"] = target, [[sample.output.completion]]
    return made


def _inspect_numbers(scores: Mapping[str, Score]) -> dict[str, Any]:
    """Score -> value; the keys of a score that is a dictionary each by itself."""
    numbers: dict[str, Any] = {}
    for name, score in scores.items():
        parts = score.value if isinstance(score.value, dict) else {name: score.value}
        for key, value in parts.items():
            number = _GRADES.get(value, value) if isinstance(value, str) else value
            numbers.setdefault(key, float(number) if isinstance(number, bool | int) else number)
    return numbers


def _reported(scores: Iterable[EvalScore]) -> dict[str, float]:
    """Score -> the number in the log: its accuracy or mean; of others' metrics the first that is no standard error."""
    reported: dict[str, float] = {}
    for score in scores:
        numbers = {key: float(metric.value) for key, metric in score.metrics.items() if key not in _ERRORS}
        if stated := [numbers[key] for key in (*_MEANS, *numbers) if key in numbers]:
            reported.setdefault(score.name, stated[0])
    return reported


def _mean(values: list[Any]) -> Any:
    """The mean over epochs; what is no number stays as it is, for the reader to be told."""
    if len(values) == 1 or not all(isinstance(value, float) for value in values):
        return values[0]
    return math.fsum(values) / len(values)


_READERS: Mapping[str, Callable[[RunFiles, Path], Run]] = {"inspect_ai": _read_inspect, "rows": _read_rows}
