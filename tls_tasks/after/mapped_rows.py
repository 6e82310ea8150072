"""Any metric of ours over any log or rows: what is the prediction and what the reference, a map of fields says.

A field is a path with dots into what a log says of a document (``answer``, ``target``, ``input``, ``doc.FIELD``,
``resps``, ``filtered_resps``; a FIELD alone is looked for in the document too), or into a row of another tool's file.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from tls_tasks.after.logs import RunFiles, Sample, find_runs
from tls_tasks.after.readers import contents_of
from tls_tasks.after.run import Content, Run
from tls_tasks.core.columns import grouped
from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.core.options import check_options
from tls_tasks.core.rows import shorten
from tls_tasks.core.score import Score, values
from tls_tasks.data.files import json_lines
from tls_tasks.registry import METRICS

COLUMNS = ("prediction", "reference", "topic", "source")
"""What a map may name."""

_OF_LOGS = {"prediction": ("answer",), "reference": ("target",)}
_OF_ROWS = {
    "prediction": ("prediction",),
    "reference": ("references", "reference"),
    "topic": ("topic",),
    "source": ("source",),
}
_OPTIONAL = {"topic", "source"}
_MISSING = object()


class Row(NamedTuple):
    """One document: where it is, its fields, and more of them behind these."""

    place: str
    fields: Mapping[str, Any]
    further: Mapping[str, Any]


@dataclass(frozen=True)
class MappedLog(Run):
    """A log whose answers were scored with a metric that its task does not have.

    Attributes:
        scored: What was scored, in words.
    """

    scored: str

    @property
    def data(self) -> str:
        """What was scored."""
        return self.scored

    @property
    def topics(self) -> list[str]:
        """Each document's topic; its own name where the map names none."""
        topics = self.score.topics
        return list(self.ids) if topics is None else [str(topics[places[0]]) for places in self._units]

    @cached_property
    def _units(self) -> list[list[int]]:
        """Of each document the places of its units: of some metrics it has one for each reference."""
        n = len(self.score.units)
        return list(grouped(range(n), self.score.rows or range(n)).values())

    def of_document(self, position: int) -> dict[str, float]:
        """One document's own results."""
        return values(self.score.definitions, [self.score.units[place] for place in self._units[position]])

    @property
    def signatures(self) -> dict[str, str]:
        """The metric's."""
        return {self.score.metric: self.score.signature}


def logs_and_rows(places: Iterable[Path], newest: bool = False) -> tuple[list[RunFiles], list[Row]]:
    """What is in the files: logs of a host, or rows of another tool.

    Args:
        places: Logs, folders of them, or files with one JSON object a line.
        newest: Of several runs in a folder take the newest samples of each task only.

    Raises:
        DataError: If a file is neither.
        InputError: If they are not all of one kind, or hold nothing.
    """
    runs: list[RunFiles] = []
    rows: list[Row] = []
    for place in places:
        try:
            logs = [run for run in find_runs([place], newest=newest) if run.host != "rows"]
        except DataError:  # no log: a reader of rows says what else is wrong with it
            logs = []
        runs += logs
        rows += () if logs else (_row(where, value) for where, value in json_lines(place))
    if runs and rows:
        raise InputError("files", None, "logs and rows of another tool", "one kind at a time")
    if not rows and not any(run.samples for run in runs):
        raise InputError(
            "files", None, "no samples" if runs else "no row", "rows with prediction and reference, or samples"
        )
    return runs, rows


def score_logs(
    runs: Iterable[RunFiles], metric: str, fields: Mapping[str, str], options: Mapping[str, Any]
) -> Iterator[MappedLog]:
    """Each task of the runs, scored with a metric; where answers were filtered in several ways, each by itself.

    Args:
        runs: The logs.
        metric: A metric's name.
        fields: What of :data:`COLUMNS` is which field; prediction and reference are else ``answer`` and ``target``.
        options: The metric's options.

    Raises:
        DataError: If a log can't be read, has no such field, or a document can't be scored.
        InputError: If the metric does not have such an option.
    """
    paths = {**_OF_LOGS, **_paths(fields)}
    scored = f"{metric}: {', '.join(f'{name} {path}' for name, (path,) in paths.items())}"
    for run in runs:
        for content in contents_of(run):
            for part in _by_filter(content):
                rows = [_logged(part.log.path, sample) for sample in part.log.samples]
                if not rows:
                    raise DataError(str(next(iter(part.log.problems), f"{part.log.path}: no document in it")))
                for row in rows if "reference" not in fields else ():
                    _refuse_list(row)
                # Nobody has reported these numbers, so that what was reported of others is left out.
                yield MappedLog(
                    run, replace(part, logged={}, results={}), _scored(metric, rows, paths, options), scored
                )


def score_rows(metric: str, rows: Sequence[Row], fields: Mapping[str, str], options: Mapping[str, Any]) -> Score:
    """Rows of another tool, scored with a metric.

    Args:
        metric: A metric's name.
        rows: The rows.
        fields: What of :data:`COLUMNS` is which column; else each is the one of its name (``references`` too).
        options: The metric's options.

    Raises:
        DataError: If a row has no such column or can't be scored.
        InputError: If the metric does not have such an option.
    """
    return _scored(metric, rows, {**_OF_ROWS, **_paths(fields)}, options, optional=_OPTIONAL - fields.keys())


def _scored(
    metric: str,
    rows: Sequence[Row],
    paths: Mapping[str, Sequence[str]],
    options: Mapping[str, Any],
    optional: Iterable[str] = (),
) -> Score:
    function = METRICS[metric].load()
    parameters = inspect.signature(function).parameters
    columns: dict[str, list[Any]] = {}
    for name, choices in paths.items():
        column = [_value(row, choices, None if name in optional else name) for row in rows]
        if f"{name}s" not in parameters and name not in optional:
            raise InputError("--map", None, repr(name), f"what {metric} takes")
        if f"{name}s" in parameters and any(value is not _MISSING for value in column):
            columns[f"{name}s"] = [None if value is _MISSING else value for value in column]
    check_options(metric, options, [name for name in parameters if name not in columns])
    try:
        score: Score = function(**columns, **options)
    except TypeError as error:
        raise InputError("--option", None, f"{error}", f"columns and options that {metric} takes") from error
    except InputError as error:
        if error.field not in columns or error.index is None:
            raise
        # The metric counts rows, the user has files.
        problem = f"{error.field}: got {error.got}, expected {error.expected}"
        raise DataError(f"{rows[error.index].place}: {problem}") from error
    return score


def _paths(fields: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    for name in fields:
        if name not in COLUMNS:
            raise OptionError.unknown("--map", name, COLUMNS)
    return {name: (path,) for name, path in fields.items()}


def _row(place: str, value: Any) -> Row:
    if not isinstance(value, dict):
        raise DataError(f"{place}: expected an object, got {type(value).__name__}")
    return Row(place, value, {})


def _logged(path: Path, sample: Sample) -> Row:
    answer: Any = sample.answer
    while isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    fields = {
        "answer": "" if answer is None else answer,
        "target": sample.row.get("target"),
        "input": sample.request,
        "doc": sample.doc,
        "resps": sample.row.get("resps"),
        "filtered_resps": sample.row.get("filtered_resps"),
    }
    own = {name: value for name, value in fields.items() if value is not None}
    return Row(f"{path}:{sample.line}", own, sample.doc)


def _refuse_list(row: Row) -> None:
    """The harness logs a list of targets as Python prints it, which nobody wants to have as one reference."""
    target = row.fields.get("target")
    if isinstance(target, str) and target[:2] in ("['", '["') and target[-2:] in ("']", '"]'):
        raise DataError(
            f"{row.place}: the logged target is a list as text, {shorten(target)}; name the field that holds it, "
            f"reference=doc.FIELD ({_names(row.further)}), or take the text with reference=target"
        )


def _by_filter(content: Content) -> Iterator[Content]:
    log = content.log
    if len(log.filtered) < 2:
        yield content
        return
    for name, samples in log.filtered.items():
        own = replace(log, samples=samples, filtered={})
        yield replace(content, task=f"{content.task},{name}", log=own, ids=[str(sample.doc_id) for sample in samples])


def _value(row: Row, choices: Sequence[str], needed_as: str | None) -> Any:
    for path in choices:
        for start in (row.fields, row.further):
            if (value := _at(start, path)) is not _MISSING:
                return value
    if needed_as is None:
        return _MISSING
    inside = f"; in its document {_names(row.further)}" if row.further else ""
    named = " or ".join(map(repr, choices))
    raise DataError(f"{row.place}: no field {named} for {needed_as}; its fields: {_names(row.fields)}{inside}")


def _at(value: Any, path: str) -> Any:
    """What lies at a path: a key of an object, or a place in a list, at each dot; a key may have dots itself."""
    if isinstance(value, Mapping) and path in value:
        return value[path]
    step, dot, rest = path.partition(".")
    if isinstance(value, Mapping) and dot and step in value:
        inner = value[step]
    elif isinstance(value, list) and step.isdecimal() and len(step) < 10 and int(step) < len(value):
        inner = value[int(step)]
    else:
        return _MISSING
    return _at(inner, rest) if dot else inner


def _names(fields: Mapping[str, Any]) -> str:
    return ", ".join(map(str, fields)) or "none"
