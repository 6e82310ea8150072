"""Running a coroutine from code that is none."""

import sys
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def run_to_end(work: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine to its end, also where a loop is running already, as in Jupyter."""
    import asyncio  # 8 MB, which those who only look up documents do without

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        _run(work)
        return
    thread = ThreadPoolExecutor(1)
    try:
        thread.submit(_run, work).result()
    finally:
        thread.shutdown(wait=False)  # an interrupt is raised at once


def _run(work: Coroutine[Any, Any, None]) -> None:
    if sys.version_info >= (3, 11):
        from asyncio import Runner
    else:  # there asyncio raises an interrupt wherever the loop is, also where httpx takes it for the end of a request
        from backports.asyncio.runner import Runner
    with Runner() as runner:
        runner.run(work)
