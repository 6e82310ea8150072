"""Time the judge's client on loopback, beside what can't be undercut.

    make bench
    python benchmarks/report_eval.py

The judge is a server in a process of its own that answers each question after 100 ms. With 16 questions in flight,
1,454 questions (seven reports of NeuCLIR's development set) take 91 rounds, 9.1 seconds, on a client that costs
nothing. The import of the client, about a second, is not counted.
"""

from __future__ import annotations

import asyncio
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

import tls_tasks.reports.judges.client  # noqa: F401 - imported by the first question otherwise
from benchmarks.comparisons import ROOT, Comparison, run
from tls_tasks.reports.judges import from_endpoint
from tls_tasks.reports.types import Query

N_QUESTIONS, IN_FLIGHT, LATENCY = 1454, 16, 0.1


async def serve() -> None:
    """Answer YES to everything after the latency, until the process is ended; the address is the first line printed."""
    body = json.dumps(
        {"choices": [{"message": {"content": "YES"}}], "usage": {"prompt_tokens": 560, "completion_tokens": 1}}
    ).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    line.split(b":")[1] for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
                )
                await reader.readexactly(int(length))
                await asyncio.sleep(LATENCY)
                writer.write(answer)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=512)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


def questions() -> list[Query]:
    """Questions as long as those of real reports, all different."""
    words = "the committee approved a budget of police protest and army city vote talks court".split()
    generator = random.Random(2)
    return [
        Query(
            "nugget_agreement",
            {
                "sentence": f"{number}: {' '.join(generator.choices(words, k=25))}.",
                "question": f"{' '.join(generator.choices(words, k=10))}?",
                "answer": " ".join(generator.choices(words, k=4)),
            },
        )
        for number in range(N_QUESTIONS)
    ]


@cache
def time_judge() -> dict[str, float]:
    """Seconds and calls of a first run and of one from the cache.

    Raises:
        ValueError: A verdict is missing or wrong.
    """
    found: dict[str, float] = {}
    asked = questions()
    command = [sys.executable, __file__, "serve"]
    with (
        tempfile.TemporaryDirectory() as folder,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as server,
    ):
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            for name in ("asked", "again"):
                start = time.perf_counter()
                judge = from_endpoint(url, "bench", cache=Path(folder, "verdicts.sqlite"), max_in_flight=IN_FLIGHT)
                verdicts = judge.ask(asked)
                found |= {name: time.perf_counter() - start, f"{name}, calls": judge.stats.tries}
                if any(verdict.value is not True for verdict in verdicts):
                    raise ValueError("a verdict is missing or wrong")
                judge.cache.close()
        finally:
            server.kill()
    return found


def _figure(measure: Callable[[], dict[str, float]], name: str) -> list[float]:
    return [measure()[name]]


def comparisons() -> Iterator[Comparison]:
    """What is compared."""
    bound = math.ceil(N_QUESTIONS / IN_FLIGHT) * LATENCY
    asked = f"{N_QUESTIONS:,} questions, {IN_FLIGHT} in flight"
    for what, measure, name, unit, goal in (
        (asked, time_judge, "asked", "s", 1.25 * bound),
        (f"{asked}, calls", time_judge, "asked, calls", "calls", N_QUESTIONS),
        (f"{asked}, again from the cache", time_judge, "again", "s", 0.3),
    ):
        peer = f"no client can take less than {bound:.1f} s" if name == "asked" else ""
        yield Comparison(what, partial(_figure, measure, name), peer, unit, goal, True)


if __name__ == "__main__":
    if sys.argv[1:] == ["serve"]:
        asyncio.run(serve())
    sys.exit(run("report_eval", comparisons()))
