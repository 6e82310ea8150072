"""Verdicts: a record, a cache or a reply that was changed gives a named error or no verdict, and never a wrong one."""

import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.parts import changed, changed_bytes, fuzzed
from tests.reports.judges.server import Server, completion
from tls_tasks.core.errors import DataError, JudgeError, TlsTasksError
from tls_tasks.reports.judges import Recorded, VerdictCache
from tls_tasks.reports.judges.choose import check_judge
from tls_tasks.reports.judges.endpoint import ChatJudge
from tls_tasks.reports.judges.recordings import recorded_row
from tls_tasks.reports.types import Query, Verdict

pytestmark = pytest.mark.filterwarnings("ignore")

QUERIES = [
    Query("citation_support", {"sentence": "It rained.", "document": "Rain."}, {"doc_id": "d1", "request_id": "7"}),
    Query("nugget_agreement", {"sentence": "It rained.", "question": "What?", "answer": "rain"}, {"request_id": "7"}),
    Query("negative", {"sentence": "Nobody knows."}, {"request_id": "7", "sentence": 1}),
    Query("requires_citation", {"sentence": "It was wet."}),
]
VALUES = [True, False, True, False]
LONG = [
    recorded_row(query, Verdict(value, raw="YES" if value else "NO"), "judge")
    for query, value in zip(QUERIES, VALUES, strict=True)
]
SHORT = [
    {"kind": query.kind, **query.about, **query.fields, "verdict": "yes." if value else "**No**"}
    for query, value in zip(QUERIES, VALUES, strict=True)
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzzed")


def said(judge):
    return [verdict.value for verdict in judge.ask(QUERIES)]


@fuzzed(30)
@given(st.sampled_from([LONG, SHORT]), st.integers(0, 3), st.data())
def test_a_line_of_a_recording(folder, rows, place, data):
    lines = [json.dumps(row).encode() for row in rows]
    if data.draw(st.booleans()):
        lines[place] = json.dumps(data.draw(changed(rows[place]))).encode()
    else:
        lines[place] = data.draw(changed_bytes(lines[place])).replace(b"\n", b" ")
    path = folder / "recording.jsonl"
    path.write_bytes(b"\n".join(lines))
    with contextlib.suppress(TlsTasksError):
        judge = Recorded.read(path)
        assert judge.name and len(judge)
        found = said(judge)
        assert all(value is right for n, (value, right) in enumerate(zip(found, VALUES, strict=True)) if n != place)


RIGHT = {
    f"{number:064}": Verdict(number % 2 == 1, raw="YES" if number % 2 else "NO", probability=number / 60, cached=True)
    for number in range(60)
}


@pytest.fixture(scope="module")
def cache(folder):
    """The bytes of a cache."""
    path = folder / "whole.sqlite"
    with contextlib.closing(VerdictCache(path)) as kept:
        for request, verdict in RIGHT.items():
            kept.store(request, verdict)
    return path.read_bytes()


@fuzzed(30)
@given(data=st.data())
def test_a_cache(folder, cache, data):
    path = folder / "changed.sqlite"
    for file in folder.glob("changed.sqlite*"):
        file.unlink(missing_ok=True)  # closing one database may remove the files of another
    path.write_bytes(data.draw(changed_bytes(cache)))
    with contextlib.suppress(TlsTasksError), contextlib.closing(VerdictCache(path)) as kept:
        found = kept.get([*RIGHT])
        assert all(verdict == RIGHT[request] for request, verdict in found.items())


def test_a_cache_whose_error_is_no_text(folder, cache):
    """SQLite repeats the damaged name of a table, and Python can't read what it says."""
    path = folder / "name.sqlite"
    path.write_bytes(cache.replace(b"CREATE TABLE verdicts", b"CREATE \x80\x80\x80\x80\x80 verdicts"))
    with pytest.raises(DataError, match=r"name\.sqlite: cache of verdicts: "):
        VerdictCache(path)


SPECS = [
    {"recorded": "verdicts.jsonl", "name": "a", "defaults": {"negative": "NO"}},
    {"base_url": "http://localhost:8000/v1", "model": "m", "parameters": {"temperature": 0},
     "max_tries": 2, "timeout": 5},
    {"provider": "openai", "model": "m", "api_key_env": "HOME", "name": "a"},
    {"harness": "hf", "model_args": {"pretrained": "p"}, "chat": True},
]  # fmt: skip


@example({**SPECS[2], "name": True})
@example({**SPECS[2], "name": [None]})
@example({**SPECS[2], "api_key_env": "\ud800"})
@example({**SPECS[1], "base_url": "\ud800"})
@example({"recorded": "\x00"})
@fuzzed(30)
@given(st.sampled_from(SPECS).flatmap(changed))
def test_what_names_a_judge(spec):
    if isinstance(spec, dict):
        spec["cache"] = False  # which would be made
    with contextlib.suppress(TlsTasksError, OSError):  # of a file that is named
        assert isinstance(check_judge(spec), str)


@pytest.fixture(scope="module")
def server():
    server = Server()
    yield server
    server.close()


@fuzzed(12)
@given(status=st.sampled_from([200, 200, 200, 400, 429, 500]), data=st.data())
def test_a_reply(server, status, data):
    reply = completion("YES")
    content = data.draw(changed(reply) | changed_bytes(json.dumps(reply).encode()))
    server.answer = lambda *_: (status, content, {})
    judge = ChatJudge(server.url, "m", max_tries=1)
    with contextlib.suppress(JudgeError):
        [verdict] = judge.ask(QUERIES[:1])
        assert verdict.value is None or verdict.raw
