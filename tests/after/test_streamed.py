"""Logs scored block by block: the numbers of the whole, whoever scores what, and whatever is killed meanwhile."""

import datetime
import io
import json
import random
import re
import signal
import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from unittest.mock import Mock

import fsspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tls_tasks
from tests.conftest import read_jsonl
from tls_tasks.after.logs import lines_of, read_samples
from tls_tasks.after.streamed import BlockScorer, engine_on, score_streamed
from tls_tasks.after.units import LogBlocks, StoredUnits, block_file
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError
from tls_tasks.hosts.discovery import task_file

pytestmark = pytest.mark.filterwarnings("ignore")

TASKS = ["tls_crisis", "summ_dialogsum"]  # with topics of equal votes, and without


def rows_of(task_name, n):
    """Rows of ``n`` documents, which are the embedded ones again and again, with answers that are right in part."""
    task, draw = tls_tasks.task(task_name), random.Random(1)
    documents = list(task.documents())
    for number in range(n):
        doc = {**documents[number % len(documents)], "doc_id": f"document {number}"}
        words = task.target(documents[(number + number % 2) % len(documents)]).split(" ")
        answer = " ".join(words[: draw.randrange(1, len(words) + 1)])
        asked = {"gen_args_0": {"arg_0": task.prompt(doc)}}
        yield {"doc_id": number, "doc": doc, "arguments": asked, "filtered_resps": [answer], "filter": "none"}


def text_of(rows):
    return "".join(json.dumps(row, default=str) + "\n" for row in rows)


def write_log(folder, task, text, *, n_expected=None):
    """A samples file, with a results file beside it."""
    path = folder / f"samples_{task}_2026-01-01T00-00-00.jsonl"
    path.write_text(text, encoding="utf-8")
    said = {"results": {}, "date": 0.0, "versions": {task: task_file(task).version}, "model_name": "m"}
    if n_expected is not None:
        said["n-samples"] = {task: {"original": n_expected, "effective": n_expected}}
    (folder / "results_2026-01-01T00-00-00.json").write_text(json.dumps(said))
    return path


def spoiled(rows):
    """All that can be wrong with a log: no order, blank and broken lines, documents that come again or are missing."""
    first, second, third, fourth, *others = rows
    again = {**first, "filtered_resps": ["another answer"]}
    unscored = {**second, "doc": {"doc_id": "no document"}}
    other_prompt = {**third, "arguments": {"gen_args_0": {"arg_0": "Who?"}}}
    other_filter = [{**row, "filter": "other"} for row in (fourth, fourth)]
    broken = '{"doc_id": 0\n\n  \n"text"\n[]\n{"doc_id": 1e400}\n{"doc_id": 9007199254740993}\n'
    text = text_of([first, *others[::-1], other_prompt, *other_filter, again]) + broken + text_of([unscored, first])
    return text + '{"doc_id": 3, "doc'


def here(header, blocks):
    """An engine in this process that gives the last block first."""
    scorer = BlockScorer(header)
    for block in reversed(blocks):
        yield scorer(block)


def stream(path, folder, block_bytes, shard=(1, 1)):
    """Score a log; how many blocks there were to score."""
    task, numbers = path.name.split("_2026")[0].removeprefix("samples_"), []

    def progress(blocks, what, n):
        numbers.append(n)
        return blocks

    score_streamed(str(path), task, folder, shard=shard, engine=here, block_bytes=block_bytes, progress=progress)
    return numbers[0]


def told(capsys, *args):
    """Exit code, stdout, stderr after the command's name, and JSON of a command."""
    code = main([*map(str, args), "--json", "told.json"])
    out, err = capsys.readouterr()
    return code, out, err.replace(f"tls-tasks {args[0]}: ", ""), Path("told.json").read_text(encoding="utf-8")


@pytest.fixture(autouse=True)
def scratch(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def log(tmp_path):
    return write_log(tmp_path, "summ_dialogsum", text_of(rows_of("summ_dialogsum", 12)))


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("is_spoiled", [False, True])
def test_shards_of_any_number_have_the_bits_of_the_whole(tmp_path, capsys, task, is_spoiled):
    rows = list(rows_of(task, 13))
    text = spoiled(rows) if is_spoiled else text_of(rows)
    path = write_log(tmp_path, task, text, n_expected=15 if is_spoiled else None)
    results = tmp_path / "results_2026-01-01T00-00-00.json"
    whole = told(capsys, "score", results, "--confidence", "0.9")
    [scored] = json.loads(whole[3])
    assert whole[0] == is_spoiled and scored["n_documents"] == (12 if is_spoiled else 13)
    if is_spoiled:
        kinds = ["not JSON", "expected an object", "comes again, with another", "comes again, with the same"]
        kinds += ["documents missing: ", "can't be scored", "not the prompts", "the file ends in it", "`doc_id` is"]
        assert [kind for kind in kinds if not any(kind in problem for problem in scored["problems"])] == []
    else:
        assert not scored["problems"] and any(0 < value < 1 for value in scored["metrics"].values())
    for n in (1, 2, 3, 7):
        parts = [tmp_path / f"{own}of{n}" for own in range(1, n + 1)]
        for own, part in enumerate(parts, start=1):
            stream(path, part, len(text) // 17, (own, n))
        random.Random(n).shuffle(parts)
        assert told(capsys, "merge", *parts, "--results", results, "--confidence", "0.9") == whole


@pytest.mark.parametrize("block_bytes", [30, 300, 10**9])
def test_blocks_of_any_length_have_the_bits_of_the_whole(tmp_path, capsys, block_bytes):
    path = write_log(tmp_path, "summ_dialogsum", spoiled(list(rows_of("summ_dialogsum", 6)))[:900])
    stream(path, tmp_path / "units", block_bytes)
    assert told(capsys, "merge", tmp_path / "units") == told(capsys, "score", path)


@given(st.binary(max_size=40).map(lambda text: text.replace(b"a", b"\n")), st.integers(1, 45))
def test_every_line_is_in_one_block(tmp_path_factory, text, block_bytes):
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    path.write_bytes(text)
    log = LogBlocks.of(str(path), block_bytes)
    wrong, before = [], 0
    for number in range(log.n_blocks):
        block = list(log.read(number))
        wrong += [(before + int(read.place.rpartition(":")[2]), read.detail) for read in block if read]
        before += len(block)
    assert before == len(list(lines_of(io.BytesIO(text), path)))
    assert wrong == [(int(p.place.rpartition(":")[2]), p.detail) for p in read_samples(path).problems[:-1]]


@pytest.mark.slow
def test_the_command_streams_in_processes(tmp_path, capsys, log):
    whole = told(capsys, "score", log)
    assert told(capsys, "score", log, "-o", "units") == whole
    assert main(["score", str(log), "-o", "part", "--shard", "1/1", "--workers", "1"]) == 0
    assert main(["score", str(log), "-o", "other", "--shard", "2/2"]) == 0
    assert "shard 2/2" in capsys.readouterr().out


@pytest.mark.slow
def test_each_of_several_logs_has_a_folder_of_its_name(tmp_path, capsys):
    for model, task in [("a", "summ_dialogsum"), ("b", "summ_dialogsum"), ("b", "tls_crisis")]:
        (tmp_path / "out" / model).mkdir(parents=True, exist_ok=True)
        write_log(tmp_path / "out" / model, task, text_of(rows_of(task, 3 if model == "a" else 4)))
    whole = told(capsys, "score", "out")
    assert len(json.loads(whole[3])) == 3
    for _ in range(2):  # the second time from what is there
        assert told(capsys, "score", "out", "-o", "units", "--workers", 1) == whole
    names = ["a/samples_summ_dialogsum", "b/samples_summ_dialogsum", "b/samples_tls_crisis"]
    folders = [tmp_path / "units" / f"{name}_2026-01-01T00-00-00" for name in names]
    assert sorted(path.parent for path in tmp_path.glob("units/**/log.json")) == folders
    other = tmp_path / "out" / "b" / "samples_gsm8k_2026-01-02T00-00-00.jsonl"
    other.write_text(text_of(rows_of("summ_dialogsum", 1)))
    code, out, err, _ = told(capsys, "score", "out", "-o", "some", "--shard", "1/1", "--workers", 1)
    assert (
        code == 1 and f"out/b/{other.name} left out: gsm8k is no task of ours" in err and out.count("rouge_l_f1 ") == 2
    )
    code, out, _, _ = told(capsys, "score", "out/b", "-o", "part", "--shard", "2/2", "--workers", 1)
    assert code == 1 and "part/samples_summ_dialogsum_2026-01-01T00-00-00: shard 2/2 of samples_summ_dialogsum" in out
    assert (
        main(["score", str(other), "-o", "none"]) == 2
        and "--task: got 'gsm8k', expected one of" in capsys.readouterr().err
    )


def test_parquet_and_urls_are_read_as_jsonl_is(tmp_path, capsys, log):
    rows = read_jsonl(log)
    nested = tmp_path / "nested.parquet"
    pq.write_table(pa.Table.from_pylist(rows), nested, row_group_size=5)
    flat = [{**row, "doc": json.dumps(row["doc"]), "filtered_resps": json.dumps(row["filtered_resps"])} for row in rows]
    with fsspec.open("memory://logs/flat.parquet", "wb") as file:
        pq.write_table(pa.Table.from_pylist(flat), file, row_group_size=1)
    with fsspec.open("memory://logs/log.jsonl", "wb") as file:
        file.write(log.read_bytes())
    wanted = json.loads(told(capsys, "score", log)[3])[0]["metrics"]
    for n_blocks, path in [(3, str(nested)), (12, "memory://logs/flat.parquet"), (None, "memory://logs/log.jsonl")]:
        folder = tmp_path / f"units{n_blocks}"
        score_streamed(path, "summ_dialogsum", folder, engine=here, block_bytes=2000)
        assert json.loads(told(capsys, "merge", folder)[3])[0]["metrics"] == wanted
        assert n_blocks is None or StoredUnits([folder]).header.log.n_blocks == n_blocks


def test_a_url_of_a_server_is_read_and_one_that_opens_nothing_is_said(tmp_path, log):
    """A file of a server is no BytesIO, as one of memory:// is: it is read in pieces."""
    handler = partial(SimpleHTTPRequestHandler, directory=tmp_path)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        assert [sample.row for sample in LogBlocks.of(url + log.name, 10**9).read(0)] == read_jsonl(log)
        (tmp_path / "large.jsonl").write_bytes(b"{}\n" * 5_000_000)  # this server gives whole files only
        for address in (url + "large.jsonl", url + "none.jsonl", "nope://logs/x.jsonl", "://"):
            with pytest.raises(DataError, match=re.escape(f"{address}: not readable (")):
                LogBlocks.of(address, 2000)
        server.shutdown()


@pytest.mark.parametrize("error", [ValueError, ImportError, KeyError])
def test_a_bug_in_a_reader_does_not_look_like_a_bad_file(log, monkeypatch, error):
    monkeypatch.setattr("tls_tasks.after.units.sample_of", Mock(side_effect=error))
    with pytest.raises(error):
        list(LogBlocks.of(str(log), 2000).read(0))


def test_a_timestamp_in_parquet_is_no_text(tmp_path):
    row = {"doc_id": 0, "doc": {"day": datetime.datetime(2011, 1, 25)}, "filtered_resps": ["x"]}
    pq.write_table(pa.Table.from_pylist([row]), "log.parquet")
    [problem] = LogBlocks.of("log.parquet", 1).read(0)
    assert problem.kind == "wrong_row" and "write dates as text" in problem.detail


def test_what_is_there_is_not_scored_again(tmp_path, capsys, log):
    numbers = [stream(log, tmp_path / "units", 2000)]
    for block in (1, 3):
        block_file(tmp_path / "units", block).unlink()
    numbers += [stream(log, tmp_path / "units", 2000) for _ in range(2)]
    assert numbers[1:] == [2, 0] and numbers[0] > 4
    assert told(capsys, "merge", "units") == told(capsys, "score", log)


def test_shards_that_make_no_whole_are_named(tmp_path, log):
    for own in (1, 2, 3):
        stream(log, tmp_path / f"p{own}", 2000, (own, 3))
    stream(log, tmp_path / "q1", 2000, (1, 2))
    stream(log, tmp_path / "r1", 3000, (1, 3))
    p1, p2, p3 = (tmp_path / f"p{own}" for own in (1, 2, 3))

    def refused(*parts, match):
        with pytest.raises(DataError, match=match):
            StoredUnits(parts)

    refused(p1, p3, match="missing: shard 2/3")
    refused(p3, match="missing: shard 1/3, 2/3")
    refused(p1, p2, p3, p2, match="p2: shard 2/3 again; .*p2 has it")
    refused(p1, tmp_path / "q1", match="q1: units of .* in .* shard 1/2, but those of .*p1 are of .* shard 1/3")
    refused(tmp_path / "r1", p2, p3, match="p2: units of")
    refused(p1, tmp_path, match="no folder of units")
    with pytest.raises(DataError, match=r"p1: holds units of .*, not of"):
        stream(log, p1, 2000, (2, 3))
    block_file(p2, 1).unlink()
    refused(p1, p2, p3, match=r"p2: not finished, 1 of \d+ blocks missing")
    stream(log, p2, 2000, (2, 3))
    block_file(p3, 2).write_bytes(block_file(p3, 2).read_bytes()[:-5])
    refused(p1, p2, p3, match=r"block-00000002\.parquet: not readable .* remove it")
    log.write_text(log.read_text().replace("document 0", "document 9"))
    with pytest.raises(DataError, match=r"p1: holds units of .*, not of"):
        stream(log, p1, 2000, (1, 3))


@pytest.mark.parametrize("name", ["block-00000000.parquet", "log.json"])
def test_a_flipped_bit_is_an_error(tmp_path, log, name):
    """Or it changes nothing, as where the name of the checksum is another one now."""
    stream(log, tmp_path / "units", 10**9)
    file, of = tmp_path / "units" / name, random.Random(1)
    whole = file.read_bytes()

    def read():
        units = StoredUnits([tmp_path / "units"])
        return repr([units.header, units.columns, units.sums, units.text("name"), units.problems(None), units._lines])

    right, n_errors = read(), 0
    for place in of.choices(range(8 * len(whole)), k=200):
        spoilt = int.from_bytes(whole, "big") ^ 1 << place
        file.write_bytes(spoilt.to_bytes(len(whole), "big"))
        try:
            assert read() == right
        except DataError as error:
            assert re.match(f"(?s){file}: .*remove it|{file.parent}: no folder of units, ", str(error))
            n_errors += 1
    assert n_errors > 190


def test_odd_texts_and_empty_logs(tmp_path, capsys):
    [row] = rows_of("summ_dialogsum", 1)
    odd = [{**row, "doc_id": n, "doc": {**row["doc"], "doc_id": f"\0\ud800{n}", "topic": [n]}} for n in (-3, 7)]
    for name, text in {"odd": text_of(odd), "empty": "", "blank": "\n \n"}.items():
        (tmp_path / name).mkdir()
        path = write_log(tmp_path / name, "summ_dialogsum", text)
        stream(path, tmp_path / f"units_{name}", 50)
        assert told(capsys, "merge", f"units_{name}") == told(capsys, "score", path)


FAULTS = {
    # What happens when the third block is written -> the exit code.
    "os.kill(os.getpid(), signal.SIGKILL)": -signal.SIGKILL,
    "os.kill(multiprocessing.active_children()[0].pid, signal.SIGKILL)": 1,
    "os.killpg(0, signal.SIGINT)": -signal.SIGINT,
}

RUN = """
import multiprocessing, os, signal, sys
from pathlib import Path
from tls_tasks.after import streamed

def progress(blocks, what, n):
    for done, block in enumerate(blocks, start=1):
        yield block
        if done == 3:
            FAULT

streamed.score_streamed(sys.argv[1], "summ_dialogsum", Path("units"), n_workers=2, block_bytes=600, progress=progress)
"""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_killed_goes_on_where_it_stopped(tmp_path, capsys, fault):
    path = write_log(tmp_path, "summ_dialogsum", text_of(rows_of("summ_dialogsum", 40)))
    command = [sys.executable, "-W", "ignore", "-c", RUN.replace("FAULT", fault), str(path)]
    # It ends only when all that hold its pipes have ended: no worker outlives it.
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, start_new_session=True)
    assert ended.returncode == FAULTS[fault], ended.stderr
    assert ("DataError: units: a worker was killed" in ended.stderr) == (ended.returncode == 1), ended.stderr
    done = {file: file.stat().st_ino for file in (tmp_path / "units").glob("block-*.parquet")}
    begun = {file.name.split(".")[1] for file in (tmp_path / "units").glob(".block-*")}
    assert len(done) >= 3 and len(begun) <= 2
    left = stream(path, tmp_path / "units", 600)
    assert left == StoredUnits([tmp_path / "units"]).header.log.n_blocks - len(done) and left > 3
    assert {file: file.stat().st_ino for file in done} == done and not list((tmp_path / "units").glob(".*"))
    assert told(capsys, "merge", "units") == told(capsys, "score", path)


@pytest.mark.slow
def test_ray_goes_on_without_a_node(tmp_path, capsys):
    """Three nodes, one of which is killed when the first block has come."""
    pytest.importorskip("ray.data", reason="the extra ray is not installed")
    from ray.cluster_utils import Cluster

    path = write_log(tmp_path, "tls_crisis", spoiled(list(rows_of("tls_crisis", 40))), n_expected=45)
    node = {"num_cpus": 1, "object_store_memory": 80 << 20}
    head = {**node, "include_dashboard": False, "_system_config": {"health_check_period_ms": 1000}}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    nodes = [cluster.add_node(**node, wait=False) for _ in range(2)]
    cluster.wait_for_nodes(600)  # by itself Ray gives each of them half a minute
    came = []

    def progress(blocks, what, n):
        for block in blocks:
            yield block
            if not came:
                cluster.remove_node(nodes[0], allow_graceful=False)
            came.append(block)

    try:
        engine = engine_on(cluster.address)
        score_streamed(
            str(path), "tls_crisis", tmp_path / "units", engine=engine, block_bytes=30_000, progress=progress
        )
    finally:
        cluster.shutdown()
    capsys.readouterr()  # what Ray says of the node
    assert len(came) == StoredUnits([tmp_path / "units"]).header.log.n_blocks > 20
    assert told(capsys, "merge", "units") == told(capsys, "score", path)
