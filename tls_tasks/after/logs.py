"""The files that the harness writes: ``results_<date>.json`` and ``samples_<task>_<date>.jsonl``, read without it.

Nothing in a log is silently dropped: a line that can't be read, a document that comes twice, a document that is missing
are each a :class:`LogProblem`, which names file and line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tls_tasks.core.errors import DataError

_DATE = r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?"
_SAMPLES = re.compile(rf"samples_(?P<task>.+)_(?P<date>{_DATE})\.jsonl")
_RESULTS = re.compile(rf"results_(?P<date>{_DATE})\.json")


@dataclass(frozen=True, slots=True)
class LogProblem:
    """Something wrong with a log.

    Attributes:
        kind: ``broken_line``, ``wrong_row``, ``repeated_document``, ``missing_documents``.
        place: File, and line if there is one.
        detail: What was found, for people.
    """

    kind: str
    place: str
    detail: str

    def __str__(self) -> str:
        """One line."""
        return f"{self.place}: {self.detail}"


@dataclass(frozen=True, slots=True)
class Sample:
    """One document and what the model answered.

    Attributes:
        doc_id: The document's number in its task.
        doc: The document as the task made it.
        answer: ``filtered_resps``, as ``process_results`` received it.
        line: The line in the file.
        row: The whole row.
    """

    doc_id: int
    doc: Mapping[str, Any]
    answer: list[Any]
    line: int
    row: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class SampleLog:
    """The samples of one task of one run, in the order of ``doc_id``.

    Attributes:
        task: The task's name, from the file's name; empty if it has none.
        path: The file.
        samples: What could be read.
        problems: What could not.
    """

    task: str
    path: Path
    samples: tuple[Sample, ...]
    problems: tuple[LogProblem, ...] = ()


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run of the harness.

    Attributes:
        folder: Where they are.
        date: The date in their names.
        results: The results file; None if only samples are there.
        samples: Task -> file.
    """

    folder: Path
    date: str
    results: Path | None
    samples: Mapping[str, Path] = field(default_factory=dict)

    def read_results(self) -> dict[str, Any]:
        """The results file; empty if there is none.

        Raises:
            DataError: If it isn't a JSON object.
        """
        return {} if self.results is None else read_results(self.results)


def find_runs(places: Iterable[str | Path], *, task: str | None = None) -> list[RunFiles]:
    """The runs in files and folders, the oldest first.

    Args:
        places: Files of the harness, or folders that are searched to any depth.
        task: A file that is named otherwise holds samples of this task.

    Raises:
        DataError: If a place doesn't exist, or holds no file of the harness.
    """
    runs: dict[tuple[Path, str], RunFiles] = {}
    for place in map(Path, places):
        if not place.exists():
            raise DataError(f"{place}: no such file or folder")
        found = 0
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            named = _SAMPLES.fullmatch(path.name) or _RESULTS.fullmatch(path.name)
            if named is None:
                if task is not None and path == place:
                    runs[path, ""] = RunFiles(path.parent, "", None, {task: path})
                    found += 1
                continue
            key = (path.parent, named["date"])
            run = runs.get(key) or RunFiles(path.parent, named["date"], None, {})
            runs[key] = _with_file(run, path, named.groupdict().get("task"))
            found += 1
        if not found:
            expected = (
                "results_<date>.json or samples_<task>_<date>.jsonl, as lm_eval --output_path --log_samples writes"
            )
            raise DataError(f"{place}: no file of the harness there; expected {expected}")
    return sorted(runs.values(), key=lambda run: (run.date, str(run.folder)))


def _with_file(run: RunFiles, path: Path, task: str | None) -> RunFiles:
    if task is None:
        return RunFiles(run.folder, run.date, path, run.samples)
    return RunFiles(run.folder, run.date, run.results, {**run.samples, task: path})


def task_of(path: Path) -> str:
    """The task that a samples file is named after; empty if it is named otherwise.

    Example:
        >>> task_of(Path("samples_tls_crisis_2026-11-21T04-11-39.260879.jsonl"))
        'tls_crisis'
    """
    named = _SAMPLES.fullmatch(path.name)
    return named["task"] if named else ""


def read_results(path: Path) -> dict[str, Any]:
    """A results file of the harness.

    Raises:
        DataError: If it isn't a JSON object with ``results`` and ``configs``.
    """
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path}: not JSON: {error}") from error
    if not isinstance(value, dict) or not isinstance(value.get("results"), dict):
        raise DataError(f"{path}: not a results file of the harness: it has no object `results`")
    return value


def read_samples(path: Path, *, n_expected: int | None = None) -> SampleLog:
    """Read a samples file.

    Args:
        path: ``samples_<task>_<date>.jsonl``, or any file with such rows.
        n_expected: How many documents there must be (``n-samples`` → ``effective`` of the results file).

    Returns:
        Its samples in the order of ``doc_id``; of a document that comes twice the first counts.
    """
    samples: dict[int, Sample] = {}
    problems: list[LogProblem] = []
    for line, text in enumerate(_lines(path), start=1):
        if not text.strip():
            continue
        read = _sample(text, line, f"{path}:{line}")
        if isinstance(read, LogProblem):
            problems.append(read)
        elif read.doc_id in samples:
            first = samples[read.doc_id]
            same = "the same answer" if first.answer == read.answer else "another answer"
            detail = f"document {read.doc_id} comes again, with {same}; line {first.line} counts"
            problems.append(LogProblem("repeated_document", f"{path}:{line}", detail))
        else:
            samples[read.doc_id] = read
    problems += _missing(path, samples, n_expected)
    return SampleLog(task_of(path), path, tuple(samples[key] for key in sorted(samples)), tuple(problems))


def _lines(path: Path) -> Iterator[str]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        yield from file


def _sample(text: str, line: int, place: str) -> Sample | LogProblem:
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        cut = "" if text.endswith("\n") else "; the file ends in it"
        return LogProblem("broken_line", place, f"not JSON ({error}){cut}")
    if not isinstance(row, dict):
        return LogProblem("wrong_row", place, f"expected an object, got {type(row).__name__}")
    for name, kind in (("doc_id", int), ("doc", dict), ("filtered_resps", list)):
        if not isinstance(row.get(name), kind) or isinstance(row.get(name), bool):
            return LogProblem("wrong_row", place, f"`{name}` is {row.get(name)!r:.40}, expected {kind.__name__}")
    return Sample(row["doc_id"], row["doc"], row["filtered_resps"], line, row)


def _missing(path: Path, samples: Mapping[int, Sample], n_expected: int | None) -> Sequence[LogProblem]:
    n_all = n_expected if n_expected is not None else max(samples, default=-1) + 1
    missing = [number for number in range(n_all) if number not in samples]
    if not missing or (n_expected is not None and len(samples) >= n_expected):
        return ()
    named = ", ".join(map(str, missing[:10])) + (" …" if len(missing) > 10 else "")
    detail = f"{len(missing)} of {n_all} documents are missing: {named}"
    return (LogProblem("missing_documents", str(path), detail),)
