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
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from tls_tasks.after.logs import LogProblem, RunFiles, Sample, SampleLog
from tls_tasks.after.run import Progress, Run, model_name
from tls_tasks.after.scored_runs import ScoredTask, name_of, of_task, score_sample, task_of, topic_of, was_asked
from tls_tasks.after.units import LogBlocks, begin_folder, packed, read_units, write_block
from tls_tasks.core.errors import DataError, needs_extra
from tls_tasks.core.score import Result, Score, table_parts
from tls_tasks.core.task import Task
from tls_tasks.hosts.discovery import task_file
from tls_tasks.registry import FAMILIES, find_task

BLOCK = 4 << 20
"""Bytes of a log that are scored at once: what a process repeats after a crash."""

Block = tuple[int, bytes]
"""The number of a block, and its file."""

_AT_ONCE = 16  # blocks a process: a process without work waits until all of them are done

_CELLS = ("block", "content")

Scored = Generator[Block, None, None]
"""Blocks as they come, in any order."""


@dataclass(frozen=True, slots=True)
class Job:
    """What is scored.

    Attributes:
        task: The task's name.
        log: The log.
        first: The first document that can be read, from which the task knows its results; none in an empty log.
    """

    task: str
    log: LogBlocks
    first: tuple[Sample, ...]

    def scorer(self) -> tuple[Task, dict[str, Result]]:
        """The task with what its documents say of it, and the results that its file lists.

        Raises:
            DataError: If the first document is none of the task's.
        """
        return task_of(task_file(self.task), self.log.path, self.first)


Engine = Callable[[Job, Sequence[int]], Scored]
"""Scores blocks."""

_scorer: BlockScorer  # of a worker, which sets it when it begins


class BlockScorer:
    """Scores blocks of one log; in each process there is one."""

    def __init__(self, job: Job) -> None:
        """``job``: what is scored."""
        self._log, (self._task, _) = job.log, job.scorer()

    def __call__(self, number: int) -> Block:
        """A block's number, and its file."""
        lines = [None if read is None else self._row(read) for read in self._log.read(number)]
        rows = [row for row in lines if row is not None]
        return number, packed(rows, len(lines), table_parts(self._task.table))

    def _row(self, read: Sample | LogProblem) -> dict[str, Any]:
        if isinstance(read, LogProblem):
            row = {"line": int(read.place.rpartition(":")[2]), "problem": read.kind, "detail": read.detail}
        else:
            unit, problem = score_sample(self._task, self._log.path, read)
            answer = hashlib.blake2b(json.dumps(read.answer).encode(), digest_size=8).digest()
            row = {
                **unit,
                "doc_id": read.doc_id,
                "line": read.line,
                "answer": int.from_bytes(answer, "little", signed=True),
                "asked": was_asked(self._task, self._log.path, read),
                "filter": read.filter,
                "name": name_of(read),
                "topic": topic_of(read),
                "problem": problem and problem.kind,
                "detail": problem and problem.detail,
            }
        # Half a surrogate pair, which a log may contain, as its escape: Arrow refuses it.
        texts = {key: cell.encode("utf-8", "backslashreplace") for key, cell in row.items() if isinstance(cell, str)}
        return {**row, **{key: cell.decode() for key, cell in texts.items()}}


def score_streamed(
    path: Path,
    name: str,
    folder: Path,
    run: RunFiles | None = None,
    *,
    engine: Engine | None = None,
    block_bytes: int = BLOCK,
    progress: Progress | None = None,
) -> ScoredTask:
    """Score a log block by block; blocks whose units are in the folder are not scored again.

    Args:
        path: A samples file.
        name: The task.
        folder: Where the units go.
        run: The log's files, as far as they are there.
        engine: What scores the blocks; None: a process a core of this machine.
        block_bytes: The length of a block.
        progress: Shows how far it is.

    Returns:
        The results, bit-equal to those of the log scored at once.

    Raises:
        DataError: If the folder holds other units, the first document is none of the task's, or a worker died.
        OSError: If the log can't be read or the folder not be written.
    """
    log = LogBlocks.of(path, block_bytes)
    samples = (read for block in range(log.n_blocks) for read in log.read(block) if isinstance(read, Sample))
    job = Job(name, log, tuple(islice(samples, 1)))
    task, table = job.scorer()  # fails here, not in every worker
    blocks = begin_folder(folder, name, log)
    try:
        with closing((engine or in_processes())(job, blocks)) as scored:
            for block, content in progress(scored, f"{name} blocks", len(blocks)) if progress else scored:
                write_block(folder, block, content)
    except BrokenProcessPool as error:
        advice = "--workers 1 takes the least memory, and the same command goes on where it stopped"
        raise DataError(f"{folder}: a worker was killed (is there too little memory?); {advice}") from error
    run = run or RunFiles(path.parent, "", None)
    results = run.read_results([name])
    sizes = results.get("n-samples", {}).get(name)
    stored = read_units(folder, log, sizes["effective"] if sizes else None)
    read = SampleLog(path, job.first, tuple(stored.problems))
    score = Score(name, "", stored.units, table, stored.topics)
    logged = Run(
        run, name, run.label or model_name(results, run.folder), read, stored.names, results=results, score=score
    )
    return of_task(logged, task_file(name), task, stored.not_asked)


def in_processes(n_workers: int | None = None) -> Engine:
    """Score blocks in processes of this machine; None: one a core."""
    return partial(_in_processes, n_workers)


def _in_processes(n_workers: int | None, job: Job, blocks: Sequence[int]) -> Scored:
    n_cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    n = max(1, min(n_workers or n_cores, len(blocks)))
    # Not fork, which copies what other threads are in the midst of.
    method = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    context: Any = multiprocessing.get_context(method)
    # Imported once: its memory is shared.
    context.set_forkserver_preload([__name__, FAMILIES[find_task(job.task).family]])
    with ProcessPoolExecutor(n, context, _begin_worker, (job,)) as pool:
        try:
            # A limited number at a time, so that blocks that are done do not fill the memory.
            for start in range(0, len(blocks), _AT_ONCE * n):
                futures = [pool.submit(_score_block, block) for block in blocks[start : start + _AT_ONCE * n]]
                yield from (future.result() for future in as_completed(futures))
        finally:
            pool.shutdown(cancel_futures=True)


def _begin_worker(job: Job) -> None:
    global _scorer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all; the parent then waits for the blocks in work
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _scorer = BlockScorer(job)


def _end_with_parent() -> None:
    """A parent that was killed tells nobody, and a worker that waits for blocks would wait for ever."""
    if parent := multiprocessing.parent_process():
        parent.join()
    os._exit(1)


def _score_block(block: int) -> Block:
    return _scorer(block)


def on_ray(address: str, n_actors: int | None = None) -> Engine:
    """Score blocks on a cluster. All its machines need this package, and must be able to read the log.

    Args:
        address: Of a cluster that runs, ``auto`` for the one of this machine; ``local``: one that begins and ends with
            the scoring.
        n_actors: How many actors at most; None: one a core of the cluster.

    Raises:
        MissingExtraError: If Ray is not installed.
    """
    with needs_extra("--ray", "ray"):
        import ray
        import ray.data

    def score(job: Job, blocks: Sequence[int]) -> Scored:
        if not blocks:
            return
        with redirect_stdout(sys.stderr), _cluster(address):  # Ray says of dead nodes on stdout, which is for results
            cores = int(ray.cluster_resources().get("CPU", 1))
            most = max(1, min(n_actors or cores, len(blocks)))
            actors = ray.data.ActorPoolStrategy(min_size=1, max_size=most, initial_size=most)
            # Ray Data gets the numbers of the blocks alone: its own readers turn dates in JSON into timestamps.
            numbers = ray.data.from_items([{"block": block} for block in blocks], override_num_blocks=len(blocks))
            log = replace(job.log, path=job.log.path.absolute())  # whatever the working folders of the machines
            scored = numbers.map(_Actor, fn_constructor_args=(replace(job, log=log),), num_cpus=1, compute=actors)
            for row in scored.iter_rows():
                yield row["block"], row["content"]

    return score


def _cluster(address: str) -> Any:
    """Connect to a cluster, or begin one; a context manager that ends the connection, and what was begun.

    Raises:
        DataError: If there is no cluster at this address.
    """
    import ray

    ray.data.DataContext.get_current().enable_progress_bars = False  # there is one of ours
    more = {"include_dashboard": False} if address == "local" else {}
    try:
        connection = ray.init(address=address, log_to_driver=False, logging_level=logging.WARNING, **more)
    except (ConnectionError, ValueError, RuntimeError) as error:
        raise DataError(f"--ray {address}: no Ray cluster there ({error!s:.200})") from error
    logging.getLogger("ray.data").setLevel(logging.WARNING)
    return connection


class _Actor(BlockScorer):
    def __call__(self, row: Any) -> Any:
        return dict(zip(_CELLS, super().__call__(row["block"]), strict=True))
