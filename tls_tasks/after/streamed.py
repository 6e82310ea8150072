"""A samples file of any size scored block by block, in several processes: what is in memory does not grow with it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import replace
from pathlib import Path
from typing import Any

from tls_tasks.after.foreign import Results, read_row
from tls_tasks.after.logs import MOST_BYTES_OF_ROW, LogProblem, RunFiles, Sample, SampleLog
from tls_tasks.after.scored_runs import ScoredTask, score_sample, task_of, topic_of
from tls_tasks.after.units import (
    Header,
    StoredUnits,
    UnitFolders,
    block_file,
    missing_documents,
    write_block,
    write_header,
)
from tls_tasks.core.errors import DataError
from tls_tasks.core.score import Score, parts_of
from tls_tasks.core.task import Task
from tls_tasks.hosts.task_files import task_file
from tls_tasks.registry import find_task

BLOCK = 4 << 20
"""Bytes of a log that are scored at once: what is repeated after a crash, and what is in memory of each process."""

Report = Callable[[int, int], None]
"""Told after each block: (bytes of the log, documents)."""

_task: Task | None = None  # of a worker
_parts: Sequence[str] = ()


def score_streamed(
    path: Path,
    name: str,
    folder: Path,
    *,
    shard: tuple[int, int] = (1, 1),
    n_workers: int | None = None,
    report: Report | None = None,
) -> None:
    """Score a share of a log into a folder of units; blocks that are there already are not scored again.

    Args:
        path: ``samples_<task>_<date>.jsonl``.
        name: The task.
        folder: Where the units go.
        shard: (which, of how many), the first is 1: each takes every so-manieth block.
        n_workers: How many processes; None: one a core.
        report: Told how far it is.

    Raises:
        DataError: If the folder holds other units, or no row can be read.
        OSError: If the log can't be read or the folder not be written.
    """
    own, n_shards = shard
    header = Header(name, path.name, path.stat().st_size, own, n_shards, first=_first_document(path))
    folder.mkdir(parents=True, exist_ok=True)
    write_header(folder, header)
    n_blocks = 0
    with ProcessPoolExecutor(n_workers or _n_cores(), initializer=_begin, initargs=(name, header.first)) as pool:
        waiting: dict[Future[int], int] = {}
        for block, line, content in _blocks(path):
            n_blocks = block + 1
            if block % n_shards != own - 1 or block_file(folder, block).exists():
                if report:
                    report(len(content), 0)
                continue
            if len(waiting) >= 2 * (n_workers or _n_cores()):
                _collect(waiting, report)
            waiting[pool.submit(_score_block, str(path), line, content, str(block_file(folder, block)))] = len(content)
        while waiting:
            _collect(waiting, report)
    write_header(folder, replace(header, n_blocks=n_blocks))


def read_units(folders: Sequence[Path], run: RunFiles, results: Results) -> ScoredTask:
    """The results of a log whose units are in folders, one a shard; bit-equal to those of the log scored at once.

    Args:
        folders: As :func:`score_streamed` left them.
        run: The log's files, as far as they are there.
        results: What the results file says; empty if it is not there.

    Raises:
        DataError: If a shard is missing, doubled, unfinished or of another log.
    """
    units = UnitFolders(folders)
    header = units.header
    file = task_file(header.task)
    task, table = task_of(file, SampleLog(run.folder / header.log, _samples(header.first)))
    sizes = results.get("n-samples", {}).get(file.name)
    missing = missing_documents(units, sizes["effective"] if sizes else None)
    log = SampleLog(run.folder / header.log, _samples(header.first), (*units.problems, *missing))
    score = Score(file.name, "", StoredUnits(units, parts_of(table)), table, units.text("topic"))
    ran = results.get("versions", {}).get(file.name)
    return ScoredTask(run, log, task, ran if isinstance(ran, float) else file.version, score, results)


def _samples(first: Mapping[str, Any] | None) -> tuple[Sample, ...]:
    return (
        () if first is None else (Sample(0, first, [""], 1, {"doc_id": 0, "doc": dict(first), "filtered_resps": []}),)
    )


def _first_document(path: Path) -> Mapping[str, Any] | None:
    for _, line, content in _blocks(path):
        for row, _ in _rows(path, line, content):
            if isinstance(row, Sample):
                return row.doc
    return None


def _blocks(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """Number, first line and whole lines of each block."""
    line = 1
    with path.open("rb") as file:
        block = 0
        while content := file.read(BLOCK):
            content += file.readline(MOST_BYTES_OF_ROW + 1)
            if len(content) > BLOCK + MOST_BYTES_OF_ROW:
                raise DataError(f"{path}: a row of more than {MOST_BYTES_OF_ROW >> 20} MiB after line {line}")
            yield block, line, content
            block, line = block + 1, line + content.count(b"\n")


def _rows(path: Path, first_line: int, content: bytes) -> Iterator[tuple[Sample | LogProblem, int]]:
    for line, text in enumerate(content.split(b"\n"), start=first_line):
        if not text or text.isspace():
            continue
        try:
            row = read_row(text)
        except DataError as error:
            yield LogProblem("wrong_row", f"{path}:{line}", str(error)), line
        else:
            yield Sample(row["doc_id"], row["doc"], row["filtered_resps"], line, row), line


def _begin(name: str, first: Mapping[str, Any] | None) -> None:
    """Prepare a worker."""
    global _task, _parts
    _task = find_task(name) if first is None else find_task(name).for_document(first)
    _parts = parts_of(_task.table)


def _score_block(path: str, first_line: int, content: bytes, file: str) -> int:
    """Score a block into a file; how many documents it has."""
    assert _task is not None
    log = SampleLog(Path(path), ())
    rows = []
    for read, line in _rows(log.path, first_line, content):
        row: dict[str, Any] = {"line": line}
        if isinstance(read, LogProblem):
            rows.append({**row, "problem": read.kind, "detail": read.detail})
            continue
        unit, problem = score_sample(_task, log, read)
        said = {"problem": problem.kind, "detail": problem.detail} if problem else {}
        name, topic = topic_of(read)
        rows.append({**row, **said, "doc_id": read.doc_id, "name": name, "topic": topic, **unit})
    write_block(Path(file), rows, _parts)
    return sum("doc_id" in row for row in rows)


def _collect(waiting: dict[Future[int], int], report: Report | None) -> None:
    done, _ = wait(waiting, return_when=FIRST_COMPLETED)
    for future in done:
        n_bytes, n_documents = waiting.pop(future), future.result()
        if report:
            report(n_bytes, n_documents)


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
