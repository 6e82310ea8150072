"""Logs of one JSON object a document: the instance rows of Every Eval Ever, and plain JSONL with `id` and columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tls_tasks.after.aggregates import Logged
from tls_tasks.after.content import Content
from tls_tasks.after.foreign import SampleRow, read_json
from tls_tasks.after.logs import MOST_BYTES_OF_ROW, LogProblem, Sample, SampleLog, filled_lines
from tls_tasks.core.errors import DataError

_ASKED = ("input", "prompt", "question")
_ANSWERED = ("output", "prediction", "answer")
_WANTED = ("target", "reference", "references")


def read_rows(path: Path) -> Content:
    """Plain rows: `id`, and a column a metric; the task is called as the file is, unless the rows name `task`, `model`.

    Columns that hold numbers in all rows that have them are metrics, better when higher.

    Raises:
        DataError: If no row has an `id`.
    """
    rows, problems = _read(path, "id")
    keys = dict.fromkeys(key for row in rows.values() for key in row if key != "id")
    logged = {key: Logged([row.get(key) for row in rows.values()], "mean") for key in keys if _is_metric(key, rows)}
    first = next(iter(rows.values()), {})
    samples = [
        _sample(place, row, _first(row, _ASKED), _first(row, _ANSWERED), _first(row, _WANTED))
        for place, row in enumerate(rows.values())
    ]
    log = SampleLog(path, tuple(samples), tuple(problems))
    task, model = (name if isinstance(name := first.get(key), str) else path.stem for key in ("task", "model"))
    return Content(task, model, log, list(rows), logged)


def read_every_eval_ever(path: Path) -> Content:
    """Instance rows of Every Eval Ever (schemas 0.2 and 0.3), and the record that names their file, if it is there.

    Raises:
        DataError: If no row has a `sample_id`.
    """
    rows, problems = _read(path, "sample_id")
    names = {str(row.get("evaluation_name")) for row in rows.values()}
    if len(names) > 1:
        raise DataError(f"{path}: rows of {len(names)} evaluations ({', '.join(sorted(names)[:5])}), expected one")
    scores = [_object(row, "evaluation").get("score") for row in rows.values()]
    samples = []
    for place, row in enumerate(rows.values()):
        asked, answered = _object(row, "input"), _object(row, "output")
        samples.append(_sample(place, row, asked.get("raw"), answered.get("raw"), asked.get("reference")))
    first = next(iter(rows.values()))
    metric, better, reported = _record(path, first.get("evaluation_result_id"))
    return Content(
        names.pop(),
        str(first.get("model_id", path.stem)),
        SampleLog(path, tuple(samples), tuple(problems)),
        list(rows),
        {metric: Logged(scores, "mean", better, reported)},
    )


def _read(path: Path, name: str) -> tuple[dict[str, dict[str, Any]], list[LogProblem]]:
    """Name -> row; what is wrong with the others."""
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


def _sample(place: int, row: Mapping[str, Any], asked: Any, answered: Any, target: Any) -> Sample:
    logged = {"doc_id": place, "target": _text(target), "arguments": {"gen_args_0": {"arg_0": _text(asked)}}}
    return Sample(place, row, [_text(answered)], place + 1, cast(SampleRow, logged))


def _text(value: Any) -> str:
    if isinstance(value, list) and len(value) == 1:
        return _text(value[0])
    return value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if name in row), None)


def _is_metric(key: str, rows: Mapping[str, Mapping[str, Any]]) -> bool:
    values = [row[key] for row in rows.values() if row.get(key) is not None]
    return bool(values) and all(isinstance(value, int | float) for value in values)


def _object(row: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = row.get(name)
    return value if isinstance(value, dict) else {}


def _record(path: Path, result_id: Any) -> tuple[str, bool | None, float | None]:
    """What the record beside the rows says of their result: metric, whether higher is better, and the number."""
    beside = path.with_name(f"{path.stem.removesuffix('_samples')}.json")
    if beside.is_file() and beside.stat().st_size <= MOST_BYTES_OF_ROW:
        record = read_json(beside.read_bytes())
        for result in record.get("evaluation_results", ()) if isinstance(record, dict) else ():
            if isinstance(result, dict) and result.get("evaluation_result_id") == result_id:
                config, number = _object(result, "metric_config"), _object(result, "score_details").get("score")
                return (
                    str(config.get("metric_name") or config.get("metric_id") or "score"),
                    not config["lower_is_better"] if isinstance(config.get("lower_is_better"), bool) else None,
                    float(number) if isinstance(number, int | float) else None,
                )
    return "score", None, None
