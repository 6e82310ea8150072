"""Logs scored block by block: the numbers of the whole, whoever scores what, and whatever is killed meanwhile."""

import io
import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tls_tasks
from tls_tasks.after.logs import find_runs, lines_of, read_samples
from tls_tasks.after.scored_runs import read_runs
from tls_tasks.after.streamed import BlockScorer, on_ray, score_streamed
from tls_tasks.after.units import LogBlocks
from tls_tasks.cli import main
from tls_tasks.cli.score import _as_dict, _text
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


def here(job, blocks):
    """An engine in this process that gives the last block first."""
    scorer = BlockScorer(job)
    for block in reversed(blocks):
        yield scorer(block)


def stream(path, folder, block_bytes):
    """Score a log: the run, and how many blocks there were to score."""
    task, numbers = path.name.split("_2026")[0].removeprefix("samples_"), []

    def progress(blocks, what, n):
        numbers.append(n)
        return blocks

    run = files_of(path)
    streamed = score_streamed(path, task, folder, run, engine=here, block_bytes=block_bytes, progress=progress)
    return streamed, numbers[0]


def files_of(path):
    return next(run for run in find_runs([path.parent]) if path in run.samples.values())


def all_of(run):
    """What the command prints and writes of a run."""
    intervals = run.intervals(confidence=0.9)
    return _text(run, intervals), json.dumps(_as_dict(run, intervals))


def whole_of(path):
    """The same of a log that is scored at once."""
    [run] = [run for run in read_runs([path.parent]) if run.log.path == path]
    return all_of(run)


def file_of(folder, block):
    [file] = folder.glob(f"block-{block:08}-*.parquet")
    return file


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
def test_blocks_have_the_bits_of_the_whole(tmp_path, capsys, task, is_spoiled):
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
    streamed, n_blocks = stream(path, tmp_path / "units", len(text) // 17)
    assert n_blocks > 16 and all_of(streamed) == whole_of(path)
    assert told(capsys, "score", results, "-o", "whole", "--workers", 1, "--confidence", "0.9") == whole


@pytest.mark.parametrize("block_bytes", [30, 300, 10**9])
def test_blocks_of_any_length_have_the_bits_of_the_whole(tmp_path, block_bytes):
    path = write_log(tmp_path, "summ_dialogsum", spoiled(list(rows_of("summ_dialogsum", 6)))[:900])
    assert all_of(stream(path, tmp_path / "units", block_bytes)[0]) == whole_of(path)


@given(st.binary(max_size=40).map(lambda text: text.replace(b"a", b"\n")), st.integers(1, 45))
def test_every_line_is_in_one_block(tmp_path_factory, text, block_bytes):
    path = tmp_path_factory.mktemp("log") / "log.jsonl"
    path.write_bytes(text)
    log = LogBlocks.of(path, block_bytes)
    wrong, before = [], 0
    for number in range(log.n_blocks):
        block = list(log.read(number))
        wrong += [(before + int(read.place.rpartition(":")[2]), read.detail) for read in block if read]
        before += len(block)
    assert before == len(list(lines_of(io.BytesIO(text), path)))
    assert wrong == [(int(p.place.rpartition(":")[2]), p.detail) for p in read_samples(path).problems[:-1]]


@pytest.mark.slow
def test_the_command_streams_in_processes(tmp_path, capsys, log, monkeypatch):
    whole = told(capsys, "score", log)
    assert told(capsys, "score", log, "-o", "units") == whole
    monkeypatch.setattr("tls_tasks.cli.score._LARGE", 100)
    monkeypatch.setattr("tls_tasks.cli.score.read_runs", None)  # a large log is never read as a whole
    assert told(capsys, "score", log) == whole


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
    code, out, err, _ = told(capsys, "score", "out", "-o", "some", "--workers", 1)
    assert (
        code == 1 and f"out/b/{other.name} left out: gsm8k is no task of ours" in err and out.count("rouge_l_f1 ") == 2
    )
    assert (
        main(["score", str(other), "-o", "none"]) == 2
        and "--task: got 'gsm8k', expected one of" in capsys.readouterr().err
    )


@pytest.mark.parametrize("error", [ValueError, ImportError, KeyError])
def test_a_bug_in_a_reader_does_not_look_like_a_bad_file(log, monkeypatch, error):
    monkeypatch.setattr("tls_tasks.after.units.sample_of", Mock(side_effect=error))
    with pytest.raises(error):
        list(LogBlocks.of(log, 2000).read(0))


def test_what_is_there_is_not_scored_again(tmp_path, log):
    runs = [stream(log, tmp_path / "units", 2000)]
    for block in (1, 3):
        file_of(tmp_path / "units", block).unlink()
    runs += [stream(log, tmp_path / "units", 2000) for _ in range(2)]
    assert [n for _, n in runs[1:]] == [2, 0] and runs[0][1] > 4
    assert all(all_of(run) == whole_of(log) for run, _ in runs)


def test_units_of_another_log_and_damaged_ones_are_named(tmp_path, log):
    units = tmp_path / "units"
    stream(log, units, 2000)
    with pytest.raises(DataError, match=r'units: holds units of .*"block_bytes": 2000.*, not of .* 3000'):
        stream(log, units, 3000)
    file_of(units, 2).write_bytes(file_of(units, 2).read_bytes()[:-5])
    with pytest.raises(DataError, match=r"block-00000002-\w+\.parquet: damaged: .*; remove it"):
        stream(log, units, 2000)
    log.write_text(log.read_text().replace("document 0", "document 9"))
    with pytest.raises(DataError, match=r"units: holds units of .*, not of"):
        stream(log, units, 2000)


@pytest.mark.parametrize("name", ["block-*.parquet", "log.json"])
def test_a_flipped_bit_is_an_error(tmp_path, log, name):
    stream(log, tmp_path / "units", 10**9)
    [file], draw = (tmp_path / "units").glob(name), random.Random(1)
    whole = file.read_bytes()
    for place in draw.choices(range(8 * len(whole)), k=200):
        spoilt = int.from_bytes(whole, "big") ^ 1 << place
        file.write_bytes(spoilt.to_bytes(len(whole), "big"))
        with pytest.raises(DataError, match=f"(?s){file}: damaged: .*remove it|{file.parent}: holds units of "):
            stream(log, tmp_path / "units", 10**9)


def test_odd_texts_and_empty_logs(tmp_path):
    [row] = rows_of("summ_dialogsum", 1)
    odd = [{**row, "doc_id": n, "doc": {**row["doc"], "doc_id": f"\0\ud800{n}", "topic": [n]}} for n in (-3, 7)]
    for name, text in {"odd": text_of(odd), "empty": "", "blank": "\n \n"}.items():
        (tmp_path / name).mkdir()
        path = write_log(tmp_path / name, "summ_dialogsum", text)
        assert all_of(stream(path, tmp_path / f"units_{name}", 50)[0]) == whole_of(path)


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

signal.signal(signal.SIGINT, signal.default_int_handler)  # which the tests' own process may ignore

def progress(blocks, what, n):
    for done, block in enumerate(blocks, start=1):
        yield block
        if done == 3:
            FAULT

two = streamed.in_processes(2)
log = Path(sys.argv[1])
streamed.score_streamed(log, "summ_dialogsum", Path("units"), engine=two, block_bytes=600, progress=progress)
"""


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_killed_goes_on_where_it_stopped(tmp_path, fault):
    path = write_log(tmp_path, "summ_dialogsum", text_of(rows_of("summ_dialogsum", 40)))
    command = [sys.executable, "-W", "ignore", "-c", RUN.replace("FAULT", fault), str(path)]
    # It ends only when all that hold its pipes have ended: no worker outlives it.
    ended = subprocess.run(command, capture_output=True, text=True, timeout=900, start_new_session=True)
    assert ended.returncode == FAULTS[fault], ended.stderr
    assert ("DataError: units: a worker was killed" in ended.stderr) == (ended.returncode == 1), ended.stderr
    done = {file: file.stat().st_ino for file in (tmp_path / "units").glob("block-*.parquet")}
    begun = {file.name.split(".")[1] for file in (tmp_path / "units").glob(".block-*")}
    assert len(done) >= 3 and len(begun) <= 2
    run, left = stream(path, tmp_path / "units", 600)
    assert left == len([*(tmp_path / "units").glob("block-*")]) - len(done) and left > 3
    assert {file: file.stat().st_ino for file in done} == done and not list((tmp_path / "units").glob(".*"))
    assert all_of(run) == whole_of(path)


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
        how = {"engine": on_ray(cluster.address), "block_bytes": 30_000, "progress": progress}
        run = score_streamed(path, "tls_crisis", tmp_path / "units", files_of(path), **how)
    finally:
        cluster.shutdown()
    capsys.readouterr()  # what Ray says of the node
    assert len(came) == len([*(tmp_path / "units").glob("block-*")]) > 20
    assert all_of(run) == whole_of(path)
