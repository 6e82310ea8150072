"""The files of runs: found in files and folders, and those that the harness writes read without it.

Nothing in a log is silently dropped: a line that can't be read, a document that comes twice, a document that is missing
are each a :class:`LogProblem`, which names file and line.
"""

import itertools
import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tls_tasks.after.foreign import MOST_BYTES, Results, SampleRow, read_file, read_results, read_row
from tls_tasks.core.errors import DataError

_FILE = re.compile(
    r"(?:results|samples_(?:.*::)?(?P<task>.+))_(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d(?:\.\d+)?)\.json(?(task)l)"
)
_INSPECT_NAME = re.compile(r"(?P<date>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)[^_]*_(?P<task>.+)_[^_]+")
_INSPECT = re.compile(rb'\s*\{\s*"version":\s*\d+,\s*"status"')
_BEGIN = 1 << 16  # bytes by which a log is known
_EXPECTED = "results_<date>.json, samples_<task>_<date>.jsonl, a log of Inspect, JSONL with `id`"


@dataclass(frozen=True, slots=True)
class LogProblem:
    """Something wrong with a log.

    Attributes:
        kind: ``wrong_row``, ``repeated_document``, ``missing_documents``, ``unscored_document``, ``other_number``,
            ``other_prompt``, ``no_numbers``.
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
    row: SampleRow

    @property
    def filter(self) -> str:
        """The filter of the harness that the answer went through."""
        return self.row.get("filter", "none")

    @property
    def request(self) -> str:
        """What the model was asked; empty if the row does not say. Some releases log a chat as a list with one text."""
        arguments = self.row.get("arguments")
        first = arguments.get("gen_args_0", {}).get("arg_0") if isinstance(arguments, dict) else None
        return str(first[0] if isinstance(first, list) and len(first) == 1 else first or "")


@dataclass(frozen=True, slots=True)
class SampleLog:
    """The samples of one task of one run, in the order of ``doc_id``.

    Attributes:
        path: The file.
        samples: What could be read; where the answers were filtered in several ways, those of the first filter.
        problems: What could not.
        filtered: Filter -> its samples.
    """

    path: Path
    samples: tuple[Sample, ...]
    problems: tuple[LogProblem, ...] = ()
    filtered: Mapping[str, tuple[Sample, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The files of one run of the harness.

    Attributes:
        folder: Where they are.
        date: The date in their names.
        results: The results file; None if only samples are there.
        samples: Task -> file.
        host: Who wrote them: ``lm_eval``, ``inspect_ai``, or ``rows`` for plain JSONL.
        label: What the user calls the run; empty: as its model is called.
    """

    folder: Path
    date: str
    results: Path | None
    samples: Mapping[str, Path] = field(default_factory=dict)
    host: str = "lm_eval"
    label: str = ""

    def read_results(self, tasks: Collection[str]) -> Results:
        """The results file, with what it says of these tasks; empty if there is none.

        Raises:
            DataError: If it isn't one.
        """
        if self.results is None:
            return {}
        expected = "not a results file of the harness: "
        return read_file(self.results, lambda content: read_results(content, tasks), expected)


def find_runs(places: Iterable[str | Path], *, task: str | None = None, newest: bool = False) -> list[RunFiles]:
    """The runs in files and folders, the oldest first.

    Args:
        places: Logs, or folders that are searched to any depth, perhaps as ``LABEL=PLACE``. A results file of the
            harness brings the samples of its run that lie beside it. A JSONL file of plain rows must be named itself.
        task: A samples file of the harness that is named otherwise is of this task.
        newest: Of several runs in a folder take the newest samples of each task only.

    Raises:
        DataError: If a place doesn't exist, or holds no log.
    """
    files_of: dict[tuple[Path, str], dict[str, Path]] = {}  # (folder, date) -> task, empty for the results -> file
    others: dict[Path, RunFiles] = {}
    labels: dict[Path, str] = {}  # folder or file -> what its runs are called
    for label, place in map(labelled, places):
        has_log = False
        for path in _files_at(place):
            if match := _FILE.fullmatch(path.name):
                files_of.setdefault((path.parent, match["date"]), {})[match["task"] or ""] = path
            elif task is not None and path == place:
                others[path] = RunFiles(path.parent, "", None, {task: path})
            elif run := _other_host(path, path == place):
                others[path] = run
            else:
                continue
            has_log = True
            labels |= {path: label} if label else {}
        if not has_log:
            raise DataError(f"{place}: no log there; expected {_EXPECTED}")
    runs = [RunFiles(*key, files.pop("", None), files) for key, files in files_of.items()]
    runs += others.values()
    named = [replace(run, label=labels.get(next(iter(run.samples.values()), run.folder), "")) for run in runs]
    ordered = sorted(named, key=lambda run: (run.date, str(run.folder)))
    return list(_newest(ordered))[::-1] if newest else ordered


def labelled(place: str | Path) -> tuple[str, Path]:
    """The label and the path of ``LABEL=PATH``; no label of what is there as it is written.

    Example:
        >>> labelled("gpt=out/gpt") == ("gpt", Path("out/gpt")), labelled("out")[0]
        (True, '')
    """
    label, _, path = str(place).partition("=")
    return (label, Path(path)) if label and path and not Path(place).exists() else ("", Path(place))


def _files_at(place: Path) -> list[Path]:
    if not place.exists():
        raise DataError(f"{place}: no such file or folder")
    if place.is_dir():  # in a folder a pipe by the name of a log would be waited for for ever
        return sorted(path for path in place.rglob("*") if path.is_file())
    if place.name.startswith("results_"):
        return sorted({place, *place.parent.glob(f"*{place.stem.removeprefix('results')}.json*")})
    return [place]


def _newest(runs: Iterable[RunFiles]) -> Iterator[RunFiles]:
    """The newest samples of each task in each folder; an older run keeps the tasks that no newer one has."""
    taken: set[tuple[Path, str]] = set()
    for run in sorted(runs, key=lambda run: run.date, reverse=True):
        is_taken = {name: run.host == "lm_eval" and (run.folder, name) in taken for name in run.samples}
        samples = {name: path for name, path in run.samples.items() if not is_taken[name]}
        taken |= {(run.folder, name) for name in samples}
        if samples:
            yield replace(run, samples=samples)


def _other_host(path: Path, is_named: bool) -> RunFiles | None:
    """The run in a file that is not the harness's, told by its name or how it begins; None if it is no log.

    Args:
        path: The file.
        is_named: Whether the user named it: any file with a row in JSON is then taken for a log.
    """
    host = "inspect_ai" if path.suffix == ".eval" else ""
    if path.suffix in {".json", ".jsonl"}:
        with path.open("rb") as file:
            start = file.read(_BEGIN)
        if path.suffix == ".json":
            host = "inspect_ai" if _INSPECT.match(start) else ""
        elif is_named and start.lstrip().startswith(b"{"):
            host = "rows"
    if not host:
        return None
    match = _INSPECT_NAME.fullmatch(path.stem) if host == "inspect_ai" else None
    date, name = (match["date"], match["task"]) if match else ("", path.stem)
    return RunFiles(path.parent, date, None, {name: path}, host)


def read_samples(path: Path, *, n_expected: int | None = None) -> SampleLog:
    """Read a samples file.

    Args:
        path: ``samples_<task>_<date>.jsonl``, or any file with such rows.
        n_expected: How many documents there must be (``n-samples`` → ``effective`` of the results file).

    Returns:
        Its samples in the order of ``doc_id``; of a document that comes twice with one filter the first counts.
    """
    filtered: dict[str, dict[int, Sample]] = {}
    problems: list[LogProblem] = []
    for line, content in filled_lines(path):
        read = sample_of(path, line, content)
        if isinstance(read, LogProblem):
            problems.append(read)
        elif (first := filtered.setdefault(read.filter, {}).setdefault(read.doc_id, read)) is not read:
            problems.append(repeated(path, line, read.doc_id, first.line, first.answer == read.answer))
    for samples in filtered.values() or ({},):
        problems += missing(path, samples, n_expected)
    ordered = {name: tuple(found[key] for key in sorted(found)) for name, found in filtered.items()}
    return SampleLog(path, next(iter(ordered.values()), ()), tuple(problems), ordered)


def sample_of(path: Path | str, line: int, content: bytes) -> Sample | LogProblem:
    """A line of a samples file."""
    try:
        row = read_row(content)
    except DataError as error:
        cut = "" if content.endswith(b"\n") else "; the file ends in it"
        return LogProblem("wrong_row", f"{path}:{line}", f"{error}{cut}")
    return Sample(row["doc_id"], row["doc"], row["filtered_resps"], line, row)


def filled_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers; no more than the longest row is ever in memory."""
    with path.open("rb") as file:
        for line, content in lines_of(file, path):
            if not content.isspace():
                yield line, content


def lines_of(file: BinaryIO, path: Path | str, n_bytes: float = math.inf) -> Iterator[tuple[int, bytes]]:
    """The lines that begin in the next ``n_bytes`` of a file, numbered from 1.

    Raises:
        DataError: If one is too long.
    """
    for line in itertools.count(1):
        if n_bytes <= 0 or not (content := file.readline(MOST_BYTES + 1)):
            return
        if len(content) > MOST_BYTES:
            raise DataError(f"{path}:{line}: a row of more than {MOST_BYTES >> 20} MiB")
        n_bytes -= len(content)
        yield line, content


def repeated(path: Path | str, line: int, doc_id: int, first_line: int, same: bool) -> LogProblem:
    """That a document comes again; ``same``: with the same answer."""
    answer = "the same answer" if same else "another answer"
    detail = f"document {doc_id} comes again, with {answer}; line {first_line} counts"
    return LogProblem("repeated_document", f"{path}:{line}", detail)


def missing(path: Path | str, numbers: Iterable[int], n_expected: int | None) -> Iterator[LogProblem]:
    """What the numbers of a log's documents, each once, say of those that are missing."""
    there = np.fromiter(numbers, dtype=np.int64)
    if not len(there) and not n_expected:
        yield LogProblem("missing_documents", str(path), "no row in it")
        return
    # Neither the number that a file states nor the numbers of its documents are believed to be small.
    n_all = n_expected if n_expected is not None else int(there.max(initial=-1)) + 1
    n_missing = n_all - int(((there >= 0) & (there < n_all)).sum())
    if n_missing <= 0 or (n_expected is not None and len(there) >= n_expected):
        return
    first = np.setdiff1d(np.arange(min(n_all, len(there) + 11)), there)[:11].tolist()
    named = ", ".join(map(str, first[:10])) + (" …" if len(first) > 10 else "")
    yield LogProblem("missing_documents", str(path), f"{n_missing} of {n_all} documents missing: {named}")
