"""The reader of each host's logs: the harness, Inspect, rows of Every Eval Ever, and plain rows of one JSON object."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from tls_tasks.after.aggregates import Logged
from tls_tasks.after.conditions import model_name
from tls_tasks.after.foreign import Results, SampleRow, read_json
from tls_tasks.after.inspect_logs import read_inspect
from tls_tasks.after.logs import MOST_BYTES_OF_ROW, LogProblem, RunFiles, Sample, SampleLog, filled_lines, read_samples
from tls_tasks.after.run import Content
from tls_tasks.core.errors import DataError

_FUNCTION = re.compile(r"\bdef (\w+)\(|<function (\w+) at ")

_NO_METRIC = frozenset(
    "doc_id doc target arguments resps filtered_resps filter metrics doc_hash prompt_hash target_hash".split()
)

# The columns of plain rows with request, answer and target: of each the first that is there.
_COLUMNS = (
    ("input", "prompt", "question"),
    ("output", "prediction", "answer"),
    ("target", "reference", "references"),
)


def contents_of(run: RunFiles, *, task: str | None = None, tasks: Collection[str] | None = None) -> Iterator[Content]:
    """What the logs of a run say, task by task.

    Args:
        run: The run.
        task: What the results file of the harness calls the task, where that is not as the samples file is named.
        tasks: The tasks that are read; None: all.

    Raises:
        DataError: If a log can't be read.
    """
    if reader := _READERS.get(run.host):  # whose files are not named as the tasks are
        contents = map(reader, run.samples.values())
        yield from (content for content in contents if tasks is None or content.task in tasks)
        return
    paths = {name: path for name, path in run.samples.items() if tasks is None or name in tasks}
    results = run.read_results(list(paths))
    for name, path in paths.items():
        sizes = results.get("n-samples", {}).get(task or name)
        yield read_harness(run, name, read_samples(path, n_expected=sizes["effective"] if sizes else None), results)


def read_harness(run: RunFiles, name: str, log: SampleLog, results: Results) -> Content:
    """A task of the harness's.

    A metric is called as the harness prints it, with its filter where a task has several: ``exact_match,strict-match``.
    """
    configured = {
        _called(entry["metric"]): entry
        for entry in results.get("configs", {}).get(name, {}).get("metric_list") or ()
        if isinstance(entry, dict) and "metric" in entry
    }
    better = results.get("higher_is_better", {}).get(name, {})
    numbers = results.get("results", {}).get(name, {})
    logged = {}
    for filter_name, samples in log.filtered.items():
        rows = {sample.doc_id: cast("dict[str, Any]", sample.row) for sample in samples}
        for metric in dict.fromkeys(metric for row in rows.values() for metric in _metrics(row)):
            reported = numbers.get(f"{metric},{filter_name}")
            logged[metric if len(log.filtered) == 1 else f"{metric},{filter_name}"] = Logged(
                [rows.get(sample.doc_id, {}).get(metric) for sample in log.samples],
                _called(configured.get(metric, {}).get("aggregation")),
                better.get(metric),
                float(reported) if isinstance(reported, int | float) else None,
            )
    ids = [str(sample.doc_id) for sample in log.samples]
    return Content(name, model_name(results, run.folder), log, ids, logged, results)


def _called(stated: Any) -> str:
    """The name of a metric or an aggregation; of a function of the task's own the harness logs the source."""
    match = _FUNCTION.search(stated) if isinstance(stated, str) else None
    return (match[1] or match[2]) if match else stated if isinstance(stated, str) else ""


def _metrics(row: Mapping[str, Any]) -> list[str]:
    """The metrics of a row; releases before ``metrics`` was logged have them among the other columns."""
    named: list[str] | None = row.get("metrics")
    return named if named is not None else [key for key in row if key not in _NO_METRIC]


def _read_rows(path: Path) -> Content:
    """Plain rows: `id`, and a column a metric; the task is called as the file is, unless the rows name `task`, `model`.

    Columns that hold numbers in all rows that have them are metrics, better when higher.

    Raises:
        DataError: If no row has an `id`.
    """
    rows, problems = _rows_by_id(path, "id")
    keys = dict.fromkeys(key for row in rows.values() for key in row if key != "id")
    columns = {key: [row.get(key) for row in rows.values()] for key in keys}
    logged = {key: Logged(values, "mean") for key, values in columns.items() if _are_numbers(values)}
    samples = [
        _sample(place, row, *(next((row[name] for name in names if name in row), None) for names in _COLUMNS))
        for place, row in enumerate(rows.values())
    ]
    log = SampleLog(path, tuple(samples), tuple(problems))
    first = next(iter(rows.values()))
    task, model = (name if isinstance(name := first.get(key), str) else path.stem for key in ("task", "model"))
    return Content(task, model, log, list(rows), logged)


def _are_numbers(values: list[Any]) -> bool:
    known = [value for value in values if value is not None]
    return bool(known) and all(isinstance(value, int | float) for value in known)


def _read_every_eval_ever(path: Path) -> Content:
    """Instance rows of Every Eval Ever (schemas 0.2 and 0.3), and the record that names their file, if it is there.

    Raises:
        DataError: If no row has a `sample_id`.
    """
    rows, problems = _rows_by_id(path, "sample_id")
    names = {str(row.get("evaluation_name")) for row in rows.values()}
    if len(names) > 1:
        raise DataError(f"{path}: rows of {len(names)} evaluations ({', '.join(sorted(names)[:5])}), expected one")
    samples = []
    for place, row in enumerate(rows.values()):
        request = _object(row, "input")
        samples.append(
            _sample(place, row, request.get("raw"), _object(row, "output").get("raw"), request.get("reference"))
        )
    log = SampleLog(path, tuple(samples), tuple(problems))
    first = next(iter(rows.values()))
    record = _record(path, first.get("evaluation_result_id"))
    config, reported = _object(record, "metric_config"), _object(record, "score_details").get("score")
    lower = config.get("lower_is_better")
    logged = Logged(
        [_object(row, "evaluation").get("score") for row in rows.values()],
        "mean",
        not lower if isinstance(lower, bool) else None,
        float(reported) if isinstance(reported, int | float) else None,
    )
    metric = str(config.get("metric_name") or config.get("metric_id") or "score")
    return Content(names.pop(), str(first.get("model_id", path.stem)), log, list(rows), {metric: logged})


def _record(path: Path, result_id: Any) -> Mapping[str, Any]:
    """What the record beside the rows says of their result; empty if there is none."""
    beside = path.with_name(f"{path.stem.removesuffix('_samples')}.json")
    record = read_json(beside.read_bytes()) if beside.is_file() and beside.stat().st_size <= MOST_BYTES_OF_ROW else None
    results = record.get("evaluation_results", ()) if isinstance(record, dict) else ()
    of_rows = (own for own in results if isinstance(own, dict) and own.get("evaluation_result_id") == result_id)
    return next(of_rows, {})


def _rows_by_id(path: Path, name: str) -> tuple[dict[str, dict[str, Any]], list[LogProblem]]:
    """Id -> row; what is wrong with the others."""
    rows: dict[str, dict[str, Any]] = {}
    problems = []
    for line, content in filled_lines(path):
        place = f"{path}:{line}"
        try:
            row = read_json(content)
        except DataError as error:
            problems.append(LogProblem("wrong_row", place, str(error)))
            continue
        if not isinstance(row, dict) or not isinstance(row.get(name), str | int):
            problems.append(LogProblem("wrong_row", place, f"expected an object with `{name}`, a text or number"))
        elif (key := str(row[name])) in rows:
            problems.append(LogProblem("repeated_document", place, f"document {key} comes again; the first counts"))
        else:
            rows[key] = row
    if not rows:
        raise DataError(str(problems[0]) if problems else f"{path}: no row in it")
    return rows, problems


def _sample(place: int, row: Mapping[str, Any], request: Any, answer: Any, target: Any) -> Sample:
    logged = {"doc_id": place, "target": _text(target), "arguments": {"gen_args_0": {"arg_0": _text(request)}}}
    return Sample(place, row, [_text(answer)], place + 1, cast(SampleRow, logged))


def _text(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        return _text(value[0])
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _object(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


_READERS: Mapping[str, Callable[[Path], Content]] = {
    "inspect_ai": read_inspect,
    "every_eval_ever": _read_every_eval_ever,
    "rows": _read_rows,
}
