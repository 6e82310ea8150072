"""The files that the harness writes: ``results_<date>.json`` and ``samples_<task>_<date>.jsonl``, read without it.

Nothing in a log is silently dropped: a line that can't be read, a document that comes twice, a document that is missing
are each a :class:`LogProblem`, which names file and line.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from tls_tasks.after.foreign import Results, SampleRow, read_results, read_row
from tls_tasks.core.errors import DataError

MOST_BYTES_OF_ROW = 16 << 20
"""The most bytes of one row; also those of a results file."""


@dataclass(frozen=True, slots=True)
class LogProblem:
    """Something wrong with a log.

    Attributes:
        kind: ``wrong_row``, ``repeated_document``, ``missing_documents``, ``unscored_document``, ``other_number``,
            ``other_prompt``.
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
        host: Who wrote them: ``lm_eval``, ``inspect_ai``, ``every_eval_ever``, or ``rows`` for plain JSONL.
    """

    folder: Path
    date: str
    results: Path | None
    samples: Mapping[str, Path] = field(default_factory=dict)
    host: str = "lm_eval"

    def read_results(self, tasks: Collection[str]) -> Results:
        """The results file, with what it says of these tasks; empty if there is none.

        Raises:
            DataError: If it isn't one.
        """
        if self.results is None:
            return {}
        with self.results.open("rb") as file:
            content = file.read(MOST_BYTES_OF_ROW + 1)
        try:
            if len(content) > MOST_BYTES_OF_ROW:
                raise DataError(f"more than {MOST_BYTES_OF_ROW >> 20} MiB")
            return read_results(content, tasks)
        except DataError as error:
            raise DataError(f"{self.results}: not a results file of the harness: {error}") from error


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
            continue
        samples = filtered.setdefault(read.filter, {})
        if first := samples.get(read.doc_id):
            problems.append(repeated(path, line, read.doc_id, first.line, first.answer == read.answer))
        else:
            samples[read.doc_id] = read
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
        if n_bytes <= 0 or not (content := file.readline(MOST_BYTES_OF_ROW + 1)):
            return
        if len(content) > MOST_BYTES_OF_ROW:
            raise DataError(f"{path}:{line}: a row of more than {MOST_BYTES_OF_ROW >> 20} MiB")
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
    yield LogProblem("missing_documents", str(path), f"{n_missing} of {n_all} documents are missing: {named}")
