"""Blocks of a log scored by actors of Ray Data, on one machine or a cluster; the extra ``ray``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tls_tasks.after.streamed import BlockScorer, Engine
from tls_tasks.after.units import Header
from tls_tasks.core.errors import DataError, MissingExtraError


def engine_on(address: str | None, n_actors: int | None = None) -> Engine:
    """Score blocks on a cluster. All its machines need this package, and must be able to read the log.

    Args:
        address: Of a cluster that runs, ``auto`` for the one of this machine; None: one that begins and ends with this
            process.
        n_actors: How many actors; None: one a core of the cluster.

    Raises:
        MissingExtraError: If Ray is not installed.
        DataError: If there is no cluster at this address.
    """
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise MissingExtraError("--engine ray", "ray") from error
    if not ray.is_initialized():
        try:
            ray.init(address=address, include_dashboard=None if address else False, log_to_driver=False)
        except (ConnectionError, ValueError) as error:
            raise DataError(f"--address {address}: no Ray cluster there ({error!s:.200})") from error
    n = n_actors or max(1, int(ray.cluster_resources().get("CPU", 1)))

    def score(header: Header, blocks: Sequence[int]) -> Iterator[tuple[int, int, bytes]]:
        if not blocks:
            return
        path = header.log.path
        header = replace(header, log=replace(header.log, path=path if "://" in path else str(Path(path).absolute())))
        # Ray Data gets the numbers of the blocks alone: its own readers turn dates in JSON into timestamps.
        numbers = ray.data.from_items([{"block": block} for block in blocks], override_num_blocks=len(blocks))
        most = min(n, len(blocks))
        actors = ray.data.ActorPoolStrategy(min_size=1, max_size=most, initial_size=most)
        scored = numbers.map_batches(_Actor, fn_constructor_args=(header,), batch_size=1, num_cpus=1, compute=actors)
        for row in scored.iter_rows():
            yield row["block"], row["n_documents"], row["content"]

    return score


class _Actor:
    def __init__(self, header: Header) -> None:
        self._scorer = BlockScorer(header)

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        [block] = batch["block"]
        n_documents, content = self._scorer(int(block))
        return {"block": [int(block)], "n_documents": [n_documents], "content": [content]}
