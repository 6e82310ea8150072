"""``tls-tasks fetch``, the cache, and the tasks that read it; the files are made up, or real where those are."""

import dataclasses
import gzip
import hashlib
import json
import resource
import signal
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

import platformdirs
import pytest

import tls_tasks
from tests.conftest import ROOT
from tests.harness_parts import run_here
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError
from tls_tasks.data import fetched
from tls_tasks.data.files import file_rows
from tls_tasks.data.sources import EmbeddedEditionWarning
from tls_tasks.timelines.data import PUBLIC, _load_topics
from tls_tasks.timelines.topics import read_data_set, read_rows

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.usefixtures("isolated")

LINE = "-" * 32
REFERENCES = f"""2009-04-27
"['He said ""no"" .', 'Two cases .']"
{LINE}
2009-04-29
['Tests .']
{LINE}
2009-04-27
['A second reference begins .']
{LINE}
"""
ARTICLES = 'time,Sentences\n2009-04-26,"[""It\'s early ."", \'One.\\\\nTwo .\']"\n2009-04-28,"[\'Late .\']"\n'


def entry(files, repository="lab/news", holds="references", licence="none stated", commit="c" * 40):
    pinned = [
        {"path": path, "bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for path, content in files.items()
    ]
    return {"repository": repository, "commit": commit, "licence": licence, "holds": holds, "files": pinned}


@pytest.fixture
def made_up(mirror, monkeypatch):
    """tls_timeline17 as two small files on the mirror."""
    copy = made_up_copy(mirror, "tls_timeline17", "flu season")
    monkeypatch.setitem(PUBLIC, "tls_timeline17", copy)
    return copy


def made_up_copy(mirror, name, topic, places=(("lab/news", "c" * 40),) * 2):
    """A data set with one topic, as two small files on the mirror; ``places``: their repositories and commits."""
    texts = {f"Gold/outputTimelines{topic}.txt": REFERENCES.encode()}
    articles = {f"Data/{topic}/time-sent.csv": ARTICLES.encode()}
    sources = []
    for (repository, commit), files, holds in zip(places, (texts, articles), ("references", "articles"), strict=True):
        sources.append(entry(files, repository, holds, commit=commit))
        for path, content in files.items():
            mirror.files[f"{repository}/{commit}/{urllib.parse.quote(path)}"] = content
    given = {"keywords": {topic: ["flu"]}, "sources": sources}
    return fetched.public_copy(name, given, PUBLIC[name].maker)


def test_the_command_then_the_task(made_up, mirror, capsys, recwarn):
    assert main(["fetch", "tls_timeline17"]) == 0
    out = capsys.readouterr().out
    assert f"references from lab/news@{'c' * 40}, licence: none stated" in out
    assert "try it: lm_eval --tasks tls_timeline17 …" in out
    loaded = _load_topics("tls_timeline17")
    assert (loaded.edition, loaded.origin) == ("fetched", f"lab/news@{'c' * 40}")
    (topic,) = loaded.documents
    assert (topic.name, topic.keywords) == ("flu season", ("flu",))
    assert [[str(day) for day in timeline.dates] for timeline in topic.timelines] == [
        ["2009-04-27", "2009-04-29"],
        ["2009-04-27"],
    ]
    assert topic.timelines[0].entries[0].sentences == ('He said "no" .', "Two cases .")
    assert [(str(one.date), one.sentences) for one in topic.articles] == [
        ("2009-04-26", ("It's early .", "One. Two .")),
        ("2009-04-28", ("Late .",)),
    ]
    assert not [warning for warning in recwarn if warning.category is EmbeddedEditionWarning]
    provenance = {}
    documents = tls_tasks.task("tls_timeline17_closed_book").documents(provenance=provenance)
    assert [document["doc_id"] for document in documents] == ["flu season/0", "flu season/1"]
    assert provenance["edition"] == "fetched"
    assert main(["fetch", "tls_timeline17"]) == 0
    assert "tls_timeline17: is there" in capsys.readouterr().out
    assert len(mirror.asked) == 2


def test_the_order_of_the_sources(made_up, monkeypatch, tmp_path, topic_writer, capsys):
    main(["fetch", "tls_timeline17"])
    topic_writer(tmp_path / "mine" / "t17" / "egypt")
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path / "mine"))
    assert _load_topics("tls_timeline17").edition == "local"
    assert _load_topics("tls_timeline17", edition="fetched").edition == "fetched"
    monkeypatch.delenv("TLS_TASKS_DATA")
    states = {row["name"]: row for row in json.loads(listed(capsys))["tasks"]}
    assert states["tls_timeline17"]["data"] == states["tls_timeline17_closed_book"]["fetch"] == "fetched"
    assert states["tls_crisis"]["fetch"] == "tls-tasks fetch tls_crisis"
    assert states["tls_open"]["fetch"] == "no public copy", "it has no articles"
    assert states["tls_open_closed_book"]["fetch"] == "tls-tasks fetch tls_open"


def listed(capsys):
    capsys.readouterr()
    assert main(["list", "--json"]) == 0
    return capsys.readouterr().out


def test_without_leave_the_load_names_the_command(made_up, mirror):
    with pytest.warns(EmbeddedEditionWarning, match="For the real Timeline17: tls-tasks fetch tls_timeline17; or get"):
        assert _load_topics("tls_timeline17").edition == "embedded"
    assert mirror.asked == []
    with pytest.raises(DataError, match=r"has not been fetched \(tls-tasks fetch tls_timeline17\)"):
        _load_topics("tls_timeline17", edition="fetched")


@pytest.mark.parametrize(("arguments", "message"), CASES["what_cannot_be_fetched"])
def test_what_cannot_be_fetched(mirror, capsys, arguments, message):
    assert main(["fetch", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert mirror.asked == []


def test_failures_are_one_line_with_advice(made_up, mirror, monkeypatch, capsys, tmp_path):
    def fails():
        assert main(["fetch", "tls_timeline17"]) == 2
        [message] = capsys.readouterr().err.splitlines()
        assert not made_up.is_fetched
        return message

    path = next(iter(mirror.files))
    right = mirror.files[path]
    mirror.files[path] = b"x" * len(right)
    assert "SHA256 hash" in fails()
    mirror.files[path] = right
    monkeypatch.setenv("TLS_TASKS_MIRROR", "127.0.0.1:1")
    assert "127.0.0.1:1/lab/news/" in fails()
    monkeypatch.setenv("TLS_TASKS_MIRROR", mirror.address)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TLS_TASKS_CACHE", str(tmp_path / "file"))
    assert "can't be written: " in fails()


def test_a_reader_that_fails_leaves_nothing_that_counts(made_up, mirror, monkeypatch, capsys):
    texts = {"Gold/outputTimelinesflu.txt": b"2009-04-27\n__import__('os')\n"}
    mirror.files[f"lab/news/{'c' * 40}/Gold/outputTimelinesflu.txt"] = texts["Gold/outputTimelinesflu.txt"]
    copy = fetched.public_copy("tls_timeline17", {"sources": [entry(texts)]}, made_up.maker)
    monkeypatch.setitem(PUBLIC, "tls_timeline17", copy)
    assert main(["fetch", "tls_timeline17"]) == 2
    assert "expected a list of sentences, got \"__import__('os')\"" in capsys.readouterr().err
    assert not copy.is_fetched and list(copy.folder.parent.iterdir()) == []


# ---- other processes


FETCH = """
import json, sys
from tls_tasks.cli import main
from tls_tasks.data import fetched
from tls_tasks.timelines.data import PUBLIC
given = json.loads(sys.argv[1])
PUBLIC["tls_open"] = fetched.public_copy("tls_open", given, PUBLIC["tls_open"].maker)
sys.exit(main(["fetch", "tls_open"]))
"""


@pytest.fixture
def start(mirror):
    """Starts ``tls-tasks fetch tls_open`` in a process of its own; the data set is one file of 400 kB."""
    rows = [[f"2011-01-{day:02}", ["It was a day like any other. " * 50] * 10] for day in range(1, 28)]
    content = (json.dumps(rows) + "\n").encode()
    path = "data/open/Days_2011.1.27/timelines.jsonl"
    mirror.files[f"lab/news/{'c' * 40}/{path}"] = content
    given = json.dumps({"sources": [entry({path: content})]})

    def run(**options):
        return subprocess.Popen(
            [sys.executable, "-c", FETCH, given], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            **options,
        )  # fmt: skip

    return run


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_processes_at_the_same_time(start, tmp_path):
    for process in [start() for _ in range(4)]:
        _, err = process.communicate(timeout=900)
        assert process.returncode == 0, err
    assert files_below(tmp_path / "cache") == ["rows.parquet", "timelines.jsonl"]


def test_no_room(start, tmp_path):
    """A limit on the size of files is what a test can have of a full disk: writing fails in the middle."""
    process = start(preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000)))
    _, err = process.communicate(timeout=900)
    assert process.returncode == 2
    last = err.strip().splitlines()[-1]
    assert "can't be written: " in last and "make room, or set TLS_TASKS_CACHE" in last
    assert files_below(tmp_path / "cache") == []
    assert start().wait(timeout=900) == 0


def test_a_killed_process_leaves_nothing_that_counts(start, mirror, tmp_path):
    """The server sends half and waits, the process is killed, the next one does it all."""
    mirror.stalls |= set(mirror.files)
    process = start()
    while not mirror.asked:
        time.sleep(0.05)
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=900)
    mirror.stalls.clear()
    assert start().wait(timeout=900) == 0
    assert {"rows.parquet", "timelines.jsonl"} <= set(files_below(tmp_path / "cache"))


# ---- where it is kept


def test_the_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("TLS_TASKS_CACHE", str(tmp_path / "own"))
    assert fetched.cache_folder() == tmp_path / "own"
    monkeypatch.delenv("TLS_TASKS_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert fetched.cache_folder() == tmp_path / "xdg" / "tls-tasks"
    monkeypatch.setattr(platformdirs, "user_cache_dir", lambda name: f"~/.cache/{name}")  # as without a home folder
    with pytest.raises(DataError, match="set TLS_TASKS_CACHE"):
        fetched.cache_folder()


def test_what_is_pinned():
    for name, copy in PUBLIC.items():
        assert copy.name == name
        for source in copy.sources:
            assert len(source.commit) == 40 and source.licence and source.holds in {"references", "articles"}
            assert all(len(file.sha256) == 64 and file.bytes > 1000 for file in source.files)
    assert {name: sum(len(one.files) for one in copy.sources) for name, copy in PUBLIC.items()} == {
        "tls_crisis": 5,
        "tls_timeline17": 18,
        "tls_open": 50,
    }


# ---- the real files


def put_real(mirror, shared_data, name):
    """The files of a data set that lie beside the checkout, on the mirror; returns those that don't."""
    raw, missing = shared_data / "raw", []
    for source in PUBLIC[name].sources:
        for file in source.files:
            path = Path(file.path)
            places = [
                shared_data / "open_tls" / path.parent.name / path.name,
                raw / path.name,
                raw / "T17" / path.name,
                raw / Path(*path.parts[1:]),
                raw / Path(*path.parts[1:]).with_suffix(".csv.gz"),
            ]
            found = next((place for place in places if place.is_file()), None)
            if found is None:
                missing.append(file.path)
                continue
            content = found.read_bytes()
            if found.name.endswith(".csv.gz"):
                content = gzip.decompress(content)
            if hashlib.sha256(content).hexdigest() != file.sha256:  # some were written anew there
                missing.append(file.path)
            url = f"{source.repository}/{source.commit}/{urllib.parse.quote(file.path)}"
            mirror.files[url] = content
    return missing


def test_the_real_files(mirror, shared_data, monkeypatch, capsys):
    """As many of them as there are: of Open-TLS 37 topics, of Crisis Yemen's articles, of Timeline17 H1N1."""
    for name in PUBLIC:
        missing = put_real(mirror, shared_data, name)
        paths = {file.path for one in PUBLIC[name].sources for file in one.files} - set(missing)
        monkeypatch.setitem(PUBLIC, name, only(PUBLIC[name], paths))
        assert main(["fetch", name]) == 0
    topics = _load_topics("tls_open", need_articles=False, edition="fetched").documents
    expected = {topic.name: topic for topic in read_data_set(shared_data / "open_tls")}
    assert len(topics) == 37 and all(topic == expected[topic.name] for topic in topics)
    with pytest.warns(EmbeddedEditionWarning):
        assert _load_topics("tls_open").edition == "embedded"
    expected = {topic.name: topic for topic in read_data_set(shared_data / "crisis")}
    crisis = {topic.name: topic for topic in _fetched_topics("tls_crisis")}
    assert crisis["yemen"] == expected["yemen"]
    assert {name: topic.timelines for name, topic in crisis.items()} == {
        name: topic.timelines for name, topic in expected.items()
    }
    (h1n1,) = _fetched_topics("tls_timeline17")
    assert [len(timeline) for timeline in h1n1.timelines] == [7, 12, 15]
    assert len(h1n1.articles) == 86


def only(copy, paths):
    """The data set with some of its files only."""
    sources = tuple(
        dataclasses.replace(source, files=tuple(file for file in source.files if file.path in paths))
        for source in copy.sources
    )
    return dataclasses.replace(copy, sources=sources)


def _fetched_topics(name):
    return read_rows(name, file_rows(PUBLIC[name].folder / "rows.parquet"), name)


@pytest.mark.slow
def test_the_harness_finds_it(made_up, task_manager):
    from tls_tasks.hosts.models import DatewiseLM

    main(["fetch", "tls_timeline17"])
    results = run_here(task_manager, ["tls_timeline17"], DatewiseLM())
    assert results["configs"]["tls_timeline17"]["metadata"]["provenance"]["edition"] == "fetched"
    assert results["n-samples"]["tls_timeline17"]["effective"] == 2
