"""A log of any size scored block by block: what is in memory does not grow with it.

Blocks are scored in several processes of this machine, or by actors of Ray Data (the extra ``ray``).
"""

from __future__ import annotations

import hashlib
import json
import logging
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, redirect_stdout
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, cast

from tls_tasks.after.blocks import LogBlocks
from tls_tasks.after.conditions import model_name
from tls_tasks.after.foreign import Results, SampleRow
from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog
from tls_tasks.after.run import Content
from tls_tasks.after.scored_runs import ScoredTask, score_sample, task_of, topic_of, version_of, was_asked
from tls_tasks.after.units import Header, StoredUnits, UnitFolders, begin_folder, packed, tidy_up, write_block
from tls_tasks.core.errors import DataError, MissingExtraError
from tls_tasks.core.score import Score, parts_of
from tls_tasks.hosts.task_files import task_file
from tls_tasks.registry import FAMILIES, find_task

BLOCK = 4 << 20
"""Bytes of a log that are scored at once: what a process repeats after a crash."""

_FIRST = ("doc_id", "doc", "filtered_resps", "filter")
"""What a folder keeps of the first row."""

Report = Callable[[int, int], None]
"""Told as blocks are done: (blocks, documents)."""

Scored = Generator[tuple[int, int, bytes], None, None]
"""Blocks, each with its number of documents and its file, as they come, in any order."""

Engine = Callable[["Header", Sequence[int]], Scored]
"""Scores blocks."""

_scorer: BlockScorer | None = None  # of a worker


@dataclass(frozen=True)
class StreamedTask(ScoredTask):
    """A task whose documents are in folders; ``log`` has the first row alone, from which the task knows its results."""

    units: UnitFolders

    @property
    def ids(self) -> Sequence[str]:
        """Each document's name."""
        return self.units.text("name")

    def not_asked(self) -> Sequence[tuple[int, str]]:
        """Line and name of the documents whose model was asked another prompt."""
        return self.units.not_asked()


class BlockScorer:
    """Scores blocks of one log; in each process there is one."""

    def __init__(self, header: Header) -> None:
        """``header``: what is scored."""
        self._log = header.log
        self._samples = SampleLog(Path(self._log.path), ())
        self._task = find_task(header.task)
        if header.first is not None:
            self._task = self._task.for_document(header.first["doc"])

    def __call__(self, number: int) -> tuple[int, bytes]:
        """How many documents a block has, and its file."""
        lines = [None if read is None else self._row(read) for read in self._log.read(number)]
        rows = [row for row in lines if row is not None]
        return sum("doc_id" in row for row in rows), packed(rows, len(lines), parts_of(self._task.table))

    def _row(self, read: Sample | LogProblem) -> dict[str, Any]:
        if isinstance(read, LogProblem):
            line = int(read.place.rpartition(":")[2])
            return {"line": line, "problem": read.kind, "detail": _encodable(read.detail)}
        unit, problem = score_sample(self._task, self._samples, read)
        name, topic = topic_of(read)
        return {
            **unit,
            "doc_id": read.doc_id,
            "line": read.line,
            "answer": _hash(read.answer),
            "asked": was_asked(self._task, self._samples, read),
            "filter": _encodable(read.filter),
            "name": _encodable(name),
            "topic": _encodable(topic),
            "problem": problem and problem.kind,
            "detail": problem and _encodable(problem.detail),
        }


def score_streamed(
    path: str,
    name: str,
    folder: Path,
    *,
    shard: tuple[int, int] = (1, 1),
    n_workers: int | None = None,
    engine: Engine | None = None,
    block_bytes: int = BLOCK,
    begin: Callable[[int], Report] | None = None,
) -> None:
    """Score a share of a log into a folder of units; blocks that are there already are not scored again.

    Args:
        path: A samples file in JSONL, or its rows in Parquet; a URL is opened by fsspec.
        name: The task.
        folder: Where the units go.
        shard: (which, of how many), the first is 1.
        n_workers: How many processes; None: one a core.
        engine: Scores the blocks instead of processes of this machine.
        block_bytes: The length of a block.
        begin: Told how many blocks there are to score; what it gives is told as they are done.

    Raises:
        DataError: If the folder holds other units, the first document is none of the task's, or a worker died.
        OSError: If the log can't be read or the folder not be written.
    """
    log = LogBlocks.of(path, block_bytes)
    header = Header(name, log, *shard, first=_first_row(log))
    task_of(task_file(name), SampleLog(Path(path), _samples(header.first)))  # fails here, not in every worker
    blocks = begin_folder(folder, header)
    report = begin(len(blocks)) if begin else lambda n_blocks, n_documents: None
    try:
        with closing((engine or _processes(n_workers))(header, blocks)) as scored:
            for block, n_documents, content in scored:
                write_block(folder, block, content)
                report(1, n_documents)
    except BrokenProcessPool as error:
        raise DataError(
            f"{folder}: a worker was killed (is there too little memory? --workers 1 takes the least); the same "
            "command goes on where it stopped"
        ) from error
    tidy_up(folder)


def read_units(folders: Sequence[Path], run: RunFiles, results: Results) -> StreamedTask:
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
    file, path, samples = task_file(header.task), Path(header.log.path), _samples(header.first)
    task, table = task_of(file, SampleLog(path, samples))
    sizes = results.get("n-samples", {}).get(file.name)
    log = SampleLog(path, samples, tuple(units.problems(sizes["effective"] if sizes else None)))
    content = Content(file.name, model_name(results, run.folder), log, (), {}, results)
    score = Score(file.name, "", StoredUnits(units, parts_of(table)), table, units.text("topic"))
    return StreamedTask(run, content, score, task, version_of(file, results), units)


def _first_row(log: LogBlocks) -> Mapping[str, Any] | None:
    for block in range(log.n_blocks):
        for read in log.read(block):
            if isinstance(read, Sample):
                return {key: value for key, value in read.row.items() if key in _FIRST}
    return None


def _samples(first: Mapping[str, Any] | None) -> tuple[Sample, ...]:
    if first is None:
        return ()
    return (Sample(first["doc_id"], first["doc"], first["filtered_resps"], 1, cast(SampleRow, first)),)


def _processes(n_workers: int | None) -> Engine:
    """Score blocks in processes of this machine; None: one a core."""

    def score(header: Header, blocks: Sequence[int]) -> Scored:
        if not blocks:
            return
        n = min(n_workers or _n_cores(), len(blocks))
        method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
        context: Any = multiprocessing.get_context(
            method
        )  # not fork, which copies what other threads are in the midst of
        needed = [__name__, FAMILIES[find_task(header.task).family]]
        context.set_forkserver_preload(needed)  # imported once: its memory is shared
        left, waiting = iter(blocks), set[Future[tuple[int, int, bytes]]]()
        with ProcessPoolExecutor(n, context, _begin_worker, (header,)) as pool:
            try:
                while True:
                    # Few blocks are under way at a time, so that those that are done do not fill the memory.
                    waiting |= {pool.submit(_score_block, block) for block in islice(left, 2 * n - len(waiting))}
                    if not waiting:
                        return
                    done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                    for future in done:
                        yield future.result()
            finally:
                pool.shutdown(cancel_futures=True)

    return score


def _begin_worker(header: Header) -> None:
    global _scorer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent then waits for the blocks in work
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _scorer = BlockScorer(header)


def _end_with_parent() -> None:
    """A parent that was killed tells nobody, and a worker that waits for blocks would wait for ever."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _score_block(block: int) -> tuple[int, int, bytes]:
    assert _scorer is not None
    return block, *_scorer(block)


def _hash(answer: Any) -> int:
    """By which equal answers are known."""
    content = json.dumps(answer).encode()
    return int.from_bytes(hashlib.blake2b(content, digest_size=8).digest(), "little", signed=True)


def _encodable(text: str) -> str:
    """Half a surrogate pair, which a log may contain, as its escape: Arrow refuses it."""
    return text.encode("utf-8", "backslashreplace").decode()


def _n_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def engine_on(address: str | None, n_actors: int | None = None) -> Engine:
    """Score blocks on a cluster. All its machines need this package, and must be able to read the log.

    Args:
        address: Of a cluster that runs, ``auto`` for the one of this machine; None: one that begins and ends with the
            scoring.
        n_actors: How many actors at most; None: one a core of the cluster.

    Raises:
        MissingExtraError: If Ray is not installed.
    """
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError("--engine ray", "ray") from error

    def score(header: Header, blocks: Sequence[int]) -> Scored:
        if not blocks:
            return
        with redirect_stdout(sys.stderr), _cluster(address):  # Ray says of dead nodes on stdout, which is for results
            cores = int(ray.cluster_resources().get("CPU", 1))
            most = max(1, min(n_actors or cores, len(blocks)))
            actors = ray.data.ActorPoolStrategy(min_size=1, max_size=most, initial_size=most)
            # Ray Data gets the numbers of the blocks alone: its own readers turn dates in JSON into timestamps.
            numbers = ray.data.from_items([{"block": block} for block in blocks], override_num_blocks=len(blocks))
            scored = numbers.map_batches(
                _Actor, fn_constructor_args=(_everywhere(header),), batch_size=1, num_cpus=1, compute=actors
            )
            for row in scored.iter_rows():
                yield row["block"], row["n_documents"], row["content"]

    return score


@contextmanager
def _cluster(address: str | None) -> Iterator[None]:
    """Connect to a cluster, or begin one, unless this process has one already.

    Raises:
        DataError: If there is no cluster at this address.
    """
    import ray

    ray.data.DataContext.get_current().enable_progress_bars = False  # there is one of ours
    if ray.is_initialized():
        yield
        return
    more = {} if address else {"include_dashboard": False}
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING, **more)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise DataError(f"--address {address}: no Ray cluster there ({error!s:.200})") from error
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    try:
        yield
    finally:
        ray.shutdown()


def _everywhere(header: Header) -> Header:
    """With a path that doesn't depend on the working folder."""
    path = header.log.path
    return header if "://" in path else replace(header, log=replace(header.log, path=str(Path(path).absolute())))


class _Actor:
    def __init__(self, header: Header) -> None:
        self._scorer = BlockScorer(header)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        [block] = batch["block"]
        n_documents, content = self._scorer(int(block))
        return {"block": [int(block)], "n_documents": [n_documents], "content": [content]}
