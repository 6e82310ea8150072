"""Any metric of ours over any log: what is the prediction and what the reference, a map of fields says.

A field is a path with dots into what a log says of a document (``answer``, ``target``, ``input``, ``doc.FIELD``,
``resps``, ``filtered_resps``; a FIELD alone is looked for in the document too).
"""

import inspect
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from tls_tasks.after.foreign import MISSING, value_at
from tls_tasks.after.logs import RunFiles, Sample
from tls_tasks.after.readers import logged_runs
from tls_tasks.after.run import Run
from tls_tasks.core.errors import DataError, InputError, OptionError, check_options, shorten
from tls_tasks.core.score import Score
from tls_tasks.registry import METRICS

COLUMNS = ("prediction", "reference", "topic", "source")
"""What a map may name."""

_FIELDS = ("answer", "target", "input", "doc", "resps", "filtered_resps")  # of a document in a log
_OF_LOGS = {"prediction": "answer", "reference": "target"}

Options = Mapping[str, Any]
"""The options of a metric."""

Fields = Mapping[str, str]
"""What of :data:`COLUMNS` is which field."""

Row = tuple[str, Sequence[Mapping[str, Any]]]
"""One document: where it is, and its fields; those of one mapping are looked for before those of the next."""


def score_logs(runs: Sequence[RunFiles], metric: str, fields: Fields, options: Options) -> Iterator[Run]:
    """Each task of the runs, scored with a metric; where answers were filtered in several ways, each by itself.

    Args:
        runs: The logs.
        metric: A metric's name.
        fields: Prediction and reference are else ``answer`` and ``target``.
        options: Of the metric.

    Raises:
        DataError: If a log can't be read, has no such field, or a document can't be scored.
        InputError: If the metric does not have such an option, or a file is no log.
    """
    if unknown := [name for name in fields if name not in COLUMNS]:  # before a log is read
        raise OptionError.unknown("--map", unknown[0], COLUMNS)
    paths = {**_OF_LOGS, **fields}
    scored = f"{metric}: {', '.join(f'{name} {path}' for name, path in paths.items())}"
    if rows_of := [str(path) for run in runs if run.host == "rows" for path in run.samples.values()]:
        expected = "logs; tls-tasks timelines, summaries, evidence and trees score rows"
        raise InputError("files", None, f"rows of another tool in {rows_of[0]}", expected)
    for run in (part for files in runs for whole in logged_runs(files) for part in _by_filter(whole)):
        rows = [_logged(run.log.path, sample) for sample in run.log.samples]
        if not rows:
            raise DataError(str(next(iter(run.log.problems), f"{run.log.path}: no document in it")))
        if "reference" not in fields:
            _refuse_lists(rows)
        # Nobody has reported these numbers, so that what was reported of others is left out.
        score = _score(metric, rows, paths, {**_schema(metric, rows), **options})
        yield replace(run, logged={}, results={}, score=score, scored=scored)


def _schema(metric: str, rows: Iterable[Row]) -> Options:
    """The schema that the documents of our own tasks hold as JSON, if it is one for all and the metric takes one."""
    told = {doc["schema"] for _, (_, doc) in rows if isinstance(doc.get("schema"), str)}
    with suppress(ValueError):
        if len(told) == 1 and "schema" in inspect.signature(METRICS[metric].load()).parameters:
            return {"schema": json.loads(told.pop())}
    return {}


def _score(metric: str, rows: Sequence[Row], fields: Fields, options: Options) -> Score:
    function = METRICS[metric].load()
    parameters = inspect.signature(function).parameters
    if unknown := [name for name in fields if f"{name}s" not in parameters]:
        raise InputError("--map", None, repr(unknown[0]), f"what {metric} takes")
    columns: dict[str, list[Any]] = {
        f"{name}s": [_value(row, name, path) for row in rows] for name, path in fields.items()
    }
    if "sources" in parameters and "source" not in fields:  # our own extraction tasks have it there
        sources = [value_at(doc, "text") for _, (_, doc) in rows]
        columns |= {"sources": sources} if any(source is not None for source in sources) else {}
    check_options(metric, options, [name for name in parameters if name not in columns])
    needed = [name for name, own in parameters.items() if own.default is own.empty]
    if lacking := [name for name in needed if name not in (*columns, *options)]:
        raise InputError("--option", None, f"no {lacking[0]}", f"--option {lacking[0]}=VALUE (JSON, or text)")
    try:
        score: Score = function(**columns, **options)
    except TypeError as error:
        raise InputError("--option", None, f"{error}", f"columns and options that {metric} takes") from error
    except InputError as error:
        if error.field not in columns or error.index is None:
            raise
        # The metric counts rows, the user has files.
        problem = f"{error.field}: got {error.got}, expected {error.expected}"
        raise DataError(f"{rows[error.index][0]}: {problem}") from error
    return score


def _logged(path: Path, sample: Sample) -> Row:
    answer: Any = sample.answer
    while isinstance(answer, list) and len(answer) == 1:
        answer = answer[0]
    known = {**sample.row, "answer": "" if answer is None else answer, "input": sample.request, "doc": sample.doc}
    fields = {name: known[name] for name in _FIELDS if known.get(name) is not None}
    return f"{path}:{sample.line}", [fields, sample.doc]


def _refuse_lists(rows: Iterable[Row]) -> None:
    """The harness logs a list of targets as Python prints it, which nobody wants to have as one reference."""
    for place, (fields, doc) in rows:
        target = fields.get("target")
        if isinstance(target, str) and target[:2] in ("['", '["') and target[-2:] in ("']", '"]'):
            advice = f"name the field that holds it, reference=doc.FIELD ({_names(doc)}), or say reference=target"
            raise DataError(f"{place}: the logged target is a list as text, {shorten(target)}; {advice}")


def _by_filter(run: Run) -> Iterator[Run]:
    if len(run.log.filtered) < 2:
        yield run
        return
    for name, samples in run.log.filtered.items():
        ids, log = [str(sample.doc_id) for sample in samples], replace(run.log, samples=samples, filtered={})
        yield replace(run, name=f"{run.name},{name}", log=log, ids=ids)


def _value(row: Row, name: str, path: str) -> Any:
    place, mappings = row
    for fields in mappings:
        if (value := value_at(fields, path, MISSING)) is not MISSING:
            return value
    there = "; in its document ".join(map(_names, mappings))
    raise DataError(f"{place}: no field {path!r} for {name}; its fields: {there}")


def _names(fields: Mapping[str, Any]) -> str:
    return ", ".join(map(str, fields)) or "none"
