"""The cache of verdicts: nothing answered is lost, whatever ends the run; several processes and threads at a time."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import ROOT
from tests.reports.judges.server import truth
from tls_tasks.core.errors import DataError
from tls_tasks.reports.judges import ChatJudge, VerdictCache
from tls_tasks.reports.types import Query, Verdict

QUERIES = [Query("negative", {"sentence": f"Sentence {number}."}, {"sentence": number}) for number in range(60)]

ASK = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # which the tests' own process may ignore
from tls_tasks.reports.judges import ChatJudge
from tls_tasks.reports.types import Query
queries = [Query("negative", {"sentence": f"Sentence {number}."}) for number in range(60)]
judge = ChatJudge(sys.argv[1], "m", cache=sys.argv[2], max_in_flight=4)
print(len(judge.ask(queries)))
"""

WRITE = """
import sys
from tls_tasks.reports.judges import VerdictCache
from tls_tasks.reports.types import Verdict
cache = VerdictCache(sys.argv[1])
for number in range(200):
    cache.store(f"{sys.argv[2]} {number}", Verdict(True, raw="YES"))
    assert cache.get([f"{sys.argv[2]} {number}"])
    cache.store(f"shared {number}", Verdict(bool(int(sys.argv[2]) % 2)))
"""


def python(code, *arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", code, *map(str, arguments)], env=environment, text=True, **options)


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGINT])
def test_a_run_that_ends_early_loses_nothing_and_the_next_asks_only_what_is_missing(tmp_path, serve, end):
    path = tmp_path / "verdicts.sqlite"
    # Twenty answers and no more: however late the signal comes, the run is not over.
    server = serve(lambda sentence, *_: truth(sentence) if len(server.requests) <= 20 else "hang", latency=0.02)
    run = python(ASK, server.url, path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        while len(server.requests) < 13:
            time.sleep(0.01)
        run.send_signal(end)
        _, errors = run.communicate(timeout=900)
    finally:
        run.kill()
    assert run.returncode == -signal.SIGKILL or (run.returncode and "KeyboardInterrupt" in errors)
    kept = len(VerdictCache(path))
    assert 8 <= kept <= 20  # all but what was on its way: 4 at most
    server.answer, server.latency = lambda sentence, *_: truth(sentence), 0
    judge = ChatJudge(server.url, "m", cache=path)
    assert [verdict.value for verdict in judge.ask(QUERIES)] == [number % 2 == 0 for number in range(60)]
    assert judge.stats["cached"] == kept and judge.stats["tries"] == 60 - kept


def test_processes_share_a_cache(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    runs = [python(WRITE, path, number) for number in range(4)]
    assert [run.wait(timeout=900) for run in runs] == [0] * 4
    cache = VerdictCache(path)
    assert len(cache) == 5 * 200
    assert len(cache.get([f"{run} {number}" for run in range(4) for number in range(200)])) == 800


def test_threads_share_a_cache(tmp_path):
    cache = VerdictCache(tmp_path / "v")

    def work(number):
        cache.store(f"{number}", Verdict(True, raw="YES"))
        assert cache.get([f"{number}"])

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(work, range(400)))
    assert len(cache) == 400


def test_only_what_was_read_is_kept_and_the_first_verdict_stays():
    cache = VerdictCache()
    cache.store("k", Verdict(None, "unreadable", "well"))
    assert not cache.get(["k"]) and len(cache) == 0
    cache.store("k", Verdict(True, raw="Yes.", probability=0.9))
    cache.store("k", Verdict(False, raw="NO"))
    assert cache.get(["k"]) == {"k": Verdict(True, raw="Yes.", probability=0.9, cached=True)}
    assert len(cache.get([*map(str, range(3000)), "k"])) == 1


def test_a_cache_opens_while_another_process_writes_it(tmp_path):
    VerdictCache(tmp_path / "v").store("old", Verdict(True, raw="YES"))
    connection = sqlite3.connect(tmp_path / "v")
    connection.execute("BEGIN IMMEDIATE")
    assert VerdictCache(tmp_path / "v").get(["old"])
    connection.close()


def test_what_is_no_cache_is_named(tmp_path):
    (tmp_path / "text").write_text("not a database, and long enough to be seen as none " * 30)
    with pytest.raises(DataError, match="text: cache of verdicts: file is not a database"):
        VerdictCache(tmp_path / "text")
    with sqlite3.connect(tmp_path / "other") as connection:
        connection.execute("CREATE TABLE verdicts (a)")
    connection.close()
    with pytest.raises(DataError, match="other: cache of verdicts: no such column"):
        VerdictCache(tmp_path / "other").get(["k"])
    with pytest.raises(DataError, match="below: cache of verdicts"):
        VerdictCache(tmp_path / "text" / "below")
