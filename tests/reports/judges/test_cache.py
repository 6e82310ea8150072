"""The cache of verdicts: nothing answered is lost, whatever ends the run; several processes and threads at a time."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

from tests.conftest import ROOT
from tests.reports.judges.server import truth
from tls_tasks.core.errors import DataError
from tls_tasks.reports.judges import VerdictCache, from_endpoint
from tls_tasks.reports.judges.choose import check_judge
from tls_tasks.reports.types import Query, Verdict

QUERIES = [Query("negative", {"sentence": f"Sentence {number}."}, {"sentence": number}) for number in range(60)]

ASK = """
import sys
from tls_tasks.reports.judges import from_endpoint
from tls_tasks.reports.types import Query
queries = [Query("negative", {"sentence": f"Sentence {number}."}) for number in range(60)]
judge = from_endpoint(sys.argv[1], "m", cache=sys.argv[2], max_in_flight=4)
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


def test_a_killed_run_loses_nothing_and_the_next_asks_only_what_is_missing(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    with subprocess.Popen(
        [sys.executable, str(ROOT / "tests/reports/judges/server.py"), "0.05", "30"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    ) as server:  # fmt: skip
        try:
            url = server.stdout.readline().strip()
            run = python(ASK, url, path, stdout=subprocess.DEVNULL)
            answered = [server.stdout.readline().strip() for _ in range(12)]
            run.send_signal(signal.SIGKILL)
            assert run.wait() == -signal.SIGKILL
            server.stdin.write("on\n")
            server.stdin.flush()
            kept = len(VerdictCache(path))
            assert kept >= 8  # all but what was on its way: 4 at most
            judge = from_endpoint(url, "m", cache=path)
            verdicts = judge.ask(QUERIES)
            assert judge.stats.cached == kept and judge.stats.tries == 60 - kept
        finally:
            server.kill()
        answered += server.stdout.read().split("\n")[:-1]
    assert [verdict.value for verdict in verdicts] == [truth(query.fields["sentence"]) == "YES" for query in QUERIES]
    twice = len(answered) - len(set(answered))
    # At most 4 were answered after the kill; of the last 4 the server is ended before it has said so.
    assert 56 <= len(set(answered)) <= 60 and twice <= 4


def test_an_interrupt_stops_the_run_and_keeps_what_was_answered(tmp_path, serve):
    path = tmp_path / "verdicts.sqlite"
    # Forty answers and no more: however late the interrupt comes, the run is not over.
    server = serve(lambda sentence, *_: truth(sentence) if len(server.requests) <= 40 else "hang", latency=0.05)
    run = python(ASK, server.url, path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while len(server.requests) < 13:
        time.sleep(0.01)
    run.send_signal(signal.SIGINT)
    _, errors = run.communicate(timeout=120)
    assert run.returncode != 0 and "KeyboardInterrupt" in errors
    assert 8 <= len(VerdictCache(path)) <= 12


def test_processes_share_a_cache(tmp_path):
    path = tmp_path / "verdicts.sqlite"
    runs = [python(WRITE, path, number) for number in range(4)]
    assert [run.wait(timeout=300) for run in runs] == [0] * 4
    cache = VerdictCache(path)
    assert len(cache) == 5 * 200
    assert len(cache.get([f"{run} {number}" for run in range(4) for number in range(200)])) == 800


def test_threads_share_a_cache(tmp_path):
    cache = VerdictCache(tmp_path / "v")

    def work(part):
        for number in range(100):
            cache.store(f"{part} {number}", Verdict(True, raw="YES"))
            cache.get([f"{part} {number}"])

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 400


def test_only_what_was_read_is_kept_and_the_first_verdict_stays():
    cache = VerdictCache()
    cache.store("k", Verdict(None, "unreadable", "well"))
    assert not cache.get(["k"]) and len(cache) == 0
    cache.store("k", Verdict(True, raw="Yes.", probability=0.9))
    cache.store("k", Verdict(False, raw="NO"))
    assert cache.get(["k"]) == {"k": Verdict(True, raw="Yes.", probability=0.9, cached=True)}
    assert len(cache.get([*map(str, range(3000)), "k"])) == 1


def test_a_cache_of_version_0_1_0_is_read_and_added_to(tmp_path):
    with sqlite3.connect(tmp_path / "v") as connection:
        connection.execute(
            "CREATE TABLE verdicts (request TEXT PRIMARY KEY, value INTEGER NOT NULL, raw TEXT NOT NULL, "
            "probability REAL, line TEXT NOT NULL) WITHOUT ROWID"
        )
        connection.execute("INSERT INTO verdicts VALUES ('old', 1, 'YES', NULL, '{}')")
    connection.close()
    cache = VerdictCache(tmp_path / "v")
    cache.store("new", Verdict(False, raw="NO"))
    assert {request: verdict.value for request, verdict in cache.get(["old", "new"]).items()} == {
        "old": True, "new": False,
    }  # fmt: skip


def test_the_key_of_a_question_is_that_of_version_0_1_0(serve):
    judge = from_endpoint(serve().url, "m")
    judge.ask(QUERIES[:1])
    assert judge.cache.get(["b90b959b7ce7f36b5a1de11f2483bc4a847c45dc1b490fc839815e1e72caedf0"])


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


def test_a_cache_is_tried_before_anything_is_asked(tmp_path):
    judge = {"base_url": "http://127.0.0.1:9/v1", "model": "m"}
    (tmp_path / "cache.sqlite").write_text("no data base, but a text of more than a hundred bytes " * 9)
    with pytest.raises(DataError, match=r"cache\.sqlite"):
        check_judge({**judge, "cache": str(tmp_path / "cache.sqlite")})
    assert check_judge({**judge, "cache": str(tmp_path / "new.sqlite")}) == check_judge({**judge, "cache": False})
    assert not (tmp_path / "new.sqlite").exists()
