"""Blocks of a log scored by actors of Ray Data, on one machine or a cluster; the extra ``ray``."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from pathlib import Path
from typing import Any

from tls_tasks.after.streamed import BlockScorer, Engine
from tls_tasks.after.units import Header
from tls_tasks.core.errors import DataError, MissingExtraError


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

    def score(header: Header, blocks: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
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
