"""Asynchronous work for synchronous callers, also where a loop is running already, as in Jupyter."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")


def run_in_thread(work: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine to its end on a loop in a thread of its own.

    An interrupt (Ctrl-C) cancels the work, waits until it has stopped, and is raised here.

    Raises:
        BaseException: Whatever the coroutine raises.

    Example:
        >>> async def answer():
        ...     return 42
        >>> run_in_thread(answer())
        42
    """
    loop = asyncio.new_event_loop()
    task = loop.create_task(work)
    thread = threading.Thread(target=_run, args=(loop, task), name="tls-tasks judge", daemon=True)
    thread.start()
    try:
        thread.join()
    except BaseException:
        loop.call_soon_threadsafe(task.cancel)
        thread.join()
        raise
    return task.result()


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[Any]) -> None:
    try:
        loop.run_until_complete(asyncio.wait([task]))
        loop.run_until_complete(_end_others())
        loop.run_until_complete(loop.shutdown_asyncgens())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


async def _end_others() -> None:
    """End what a library has started and left running, such as litellm's log."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
