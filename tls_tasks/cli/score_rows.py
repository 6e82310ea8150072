"""``tls-tasks score --metric NAME``: rows by other tools, one JSON object a line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.registry import METRICS

_COLUMNS = {"topic": "topics", "source": "sources"}
"""Key of a row -> the metric's column."""

_REFERENCES = ("references", "reference")


class Row(NamedTuple):
    """One row and where it stands."""

    place: str
    prediction: Any
    reference: Any
    columns: Mapping[str, Any]


def run_rows(args: argparse.Namespace) -> int:
    """Score the rows of all files together and print the result.

    Returns:
        0, or 1 if a row was left out; each such row is named on stderr.

    Raises:
        InputError: If no row can be scored, or an option is wrong.
        OptionError: If there is no such metric.
    """
    from tls_tasks.cli.score import write_text
    from tls_tasks.cli.score_text import value_table

    if args.metric not in METRICS:
        raise OptionError.unknown("--metric", args.metric, METRICS)
    for name in ("csv", "parquet", "task", "confidence"):
        if getattr(args, name) is not None:
            raise InputError(f"--{name}", None, "--metric", "it with samples of the harness only; use --json, --option")
    rows, problems = read_rows(args.files)
    result, refused = score_rows(args.metric, rows, dict(map(_option, args.option)))
    for problem in [*problems, *refused]:
        print(f"tls-tasks score: {problem}", file=sys.stderr)
    if str(args.json) != "-":
        print(f"{args.metric}: {len(rows) - len(refused)} rows")
        print(value_table({key: value for key, value in result.items() if isinstance(value, float)}, {}))
        print(result["signature"])
    if args.json is not None:
        write_text(args.json, json.dumps(result, indent=2, ensure_ascii=False))
    return int(bool(problems or refused))


def read_rows(files: Sequence[Path]) -> tuple[list[Row], list[str]]:
    """The rows of the files in order, and what is wrong with each line that holds none."""
    rows: list[Row] = []
    problems: list[str] = []
    for path in files:
        with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    row = _row(line, f"{path}:{number}")
                    if isinstance(row, Row):
                        rows.append(row)
                    else:
                        problems.append(row)
    return rows, problems


def score_rows(metric: str, rows: Sequence[Row], options: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The metric's result over the rows, and the rows that it refused, named.

    Raises:
        InputError: If it refuses all rows, or an option.
    """
    kept = list(rows)
    refused: list[str] = []
    while kept:
        try:
            return _result(metric, kept, options), refused
        except InputError as error:  # noqa: PERF203 - each turn leaves out the row that the metric named
            if error.index is None or error.index >= len(kept):
                raise
            bad = kept.pop(error.index)
            refused.append(f"{bad.place}: {error.field}: got {error.got}, expected {error.expected}; left out")
    raise InputError("files", None, refused[0] if refused else "no row", "rows with prediction and reference")


def _result(metric: str, rows: Sequence[Row], options: Mapping[str, Any]) -> dict[str, Any]:
    names = {name for row in rows for name in row.columns}
    columns = {_COLUMNS[name]: [row.columns.get(name) for row in rows] for name in names}
    predictions, references = [row.prediction for row in rows], [row.reference for row in rows]
    try:
        score = METRICS[metric].load()(predictions, references, **columns, **options)
    except TypeError as error:
        raise InputError("--option", None, f"{error}", f"columns and options that {metric} takes") from error
    result: dict[str, Any] = score.as_dict()
    return result


def _row(line: str, place: str) -> Row | str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"{place}: not JSON ({error})"
    if not isinstance(value, dict):
        return f"{place}: expected an object, got {type(value).__name__}"
    reference = next((name for name in _REFERENCES if name in value), None)
    if "prediction" not in value or reference is None:
        return f"{place}: expected `prediction` and `reference`, there are {', '.join(value) or 'no keys'}"
    return Row(place, value["prediction"], value[reference], {key: value[key] for key in _COLUMNS if key in value})


def _option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise InputError("--option", None, repr(text), "NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
