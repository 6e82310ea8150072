"""Logs: what is wrong is named with file and line, all else keeps its numbers; what is printed is JSON."""

import contextlib
import functools
import io
import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.after.test_streamed import rows_of, text_of, write_log
from tests.fuzz.parts import changed, changed_bytes, fuzzed
from tls_tasks.after.logs import Sample, read_samples
from tls_tasks.after.scored_runs import read_runs
from tls_tasks.after.units import LogBlocks
from tls_tasks.cli import main
from tls_tasks.cli.base import plain
from tls_tasks.core.errors import DataError, TlsTasksError

pytestmark = pytest.mark.filterwarnings("ignore")

TASK = "summ_dialogsum"


@functools.cache
def good_rows():
    return list(rows_of(TASK, 5))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzzed")


def numbers_of(score):
    return [{part: repr(value) for part, value in unit.items()} for unit in score.units]


def spoiled_line(draw, row):
    """A row as a line of bytes that is not as it was, and still one line."""
    if draw(st.booleans()):
        return json.dumps(draw(changed(row))).encode()
    return draw(changed_bytes(json.dumps(row).encode())).replace(b"\n", b" ")


@fuzzed(20)
@given(st.data())
def test_of_a_line_that_is_broken_the_others_know_nothing(folder, data):
    rows = good_rows()
    place = data.draw(st.integers(0, len(rows) - 1))
    lines = [json.dumps(row).encode() for row in rows]
    path = write_log(folder, TASK, text_of(rows), n_expected=len(rows))
    [whole] = read_runs([folder])
    lines[place] = spoiled_line(data.draw, rows[place])
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    log = read_samples(path, n_expected=len(rows))
    check_blocks(path, data.draw(st.integers(200, 5000)))
    if len(log.filtered) > 1:  # a run with two filters, each with all documents but those of the other
        assert [one.kind for one in log.problems if str(len(rows)) in one.detail] == ["missing_documents"] * 2
        return
    others = {sample.doc_id: sample for sample in log.samples if sample.line != place + 1}
    named = {int(found[1]) for one in log.problems if (found := re.fullmatch(r".*:(\d+)", one.place))}
    again = {one.place for one in log.problems if one.kind == "repeated_document"}  # it has another's number now
    assert named <= {place + 1} or again
    assert again or others.keys() == set(range(len(rows))) - {place}
    assert place + 1 in named or any(sample.line == place + 1 for sample in log.samples) or not lines[place].split()
    try:
        [run] = read_runs([folder])
    except DataError as error:  # the first document says which task's it is
        assert path.name in str(error)
        return
    units = dict(zip((sample.doc_id for sample in run.log.samples), numbers_of(run.score), strict=True))
    assert all(units[number] == numbers_of(whole.score)[number] for number in others)
    json.dumps(plain([run.metrics, run.signatures, run.stated, list(map(str, run.problems))]), allow_nan=False)


def check_blocks(path, block_bytes):
    """In blocks of whatever size are the same samples and as many problems."""
    log = LogBlocks.of(path, block_bytes)
    found = [one for number in range(log.n_blocks) for one in log.read(number) if one is not None]
    read = read_samples(path)
    problems = [one for one in found if not isinstance(one, Sample)]
    assert [one.detail for one in problems] == [one.detail for one in read.problems if one.kind == "wrong_row"]
    samples = [one for one in found if isinstance(one, Sample)]
    first = {(one.filter, one.doc_id): repr(one.row) for one in reversed(samples)}
    assert first == {(name, one.doc_id): repr(one.row) for name, filtered in read.filtered.items() for one in filtered}


def run_quietly(*arguments):
    """Exit code, what was printed, and what was said."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(list(map(str, arguments)))
    assert "Traceback" not in err.getvalue() and "please report" not in err.getvalue(), err.getvalue()
    return code, out.getvalue(), err.getvalue()


def strict_json(text):
    def refuse(constant):
        raise AssertionError(f"{constant} is no JSON")

    return json.loads(text, parse_constant=refuse)


@fuzzed(20)
@given(st.data())
def test_a_results_file_moves_no_score(folder, data):
    rows = good_rows()
    path = write_log(folder, TASK, text_of(rows), n_expected=len(rows))
    results = folder / "results_2026-01-01T00-00-00.json"
    said = json.loads(results.read_text(encoding="utf-8"))
    said |= {
        "results": {TASK: {"rouge_l_f1,none": 0.5}},
        "configs": {TASK: {"metadata": {"provenance": {"edition": "hub"}}}},
    }
    said |= {"config": {"model_args": "a=b", "limit": None}, "chat_template": None, "n-shot": {TASK: 0}}
    results.write_text(json.dumps(said), encoding="utf-8")
    _, before, _ = run_quietly("score", path, "--json", "-")
    if data.draw(st.booleans()):
        results.write_text(json.dumps(data.draw(changed(said))), encoding="utf-8")
    else:
        results.write_bytes(data.draw(changed_bytes(results.read_bytes())))
    code, printed, told = run_quietly("score", path, results, "--json", "-")
    assert code in (0, 1) or (code == 2 and told.startswith("tls-tasks score: ") and not printed), (code, told)
    if printed:
        [now], [then] = strict_json(printed), strict_json(before)
        assert now["metrics"] == then["metrics"]


EVERY_EVAL_EVER = {
    "schema_version": "instance_level_eval_0.2.1",
    "evaluation_id": "e",
    "model_id": "acme/a",
    "evaluation_name": "t",
    "evaluation_result_id": "r",
    "sample_id": "1",
    "input": {"raw": "Who?", "reference": ["Ann"]},
    "output": {"raw": ["Ann"]},
    "evaluation": {"score": 0.5, "is_correct": True},
}
PLAIN = {"id": "1", "score": 0.5, "exact": True, "prompt": "Who?", "answer": "Ann", "target": "Ann", "topic": "a"}


@fuzzed(12)
@given(st.sampled_from([EVERY_EVAL_EVER, PLAIN]), st.data())
def test_rows_of_others(folder, row, data):
    name = "sample_id" if row is EVERY_EVAL_EVER else "id"
    lines = [json.dumps({**row, name: str(number)}).encode() for number in range(4)]
    path = folder / "others.jsonl"
    path.write_bytes(b"\n".join(lines))
    spoilt = folder / "spoilt.jsonl"
    lines[data.draw(st.integers(0, 3))] = spoiled_line(data.draw, {**row, name: "3"})
    spoilt.write_bytes(b"\n".join(lines))
    for words in (["score", spoilt], ["compare", path, spoilt, "--permutations", 20]):
        code, printed, told = run_quietly(*words, "--json", "-")
        assert code in (0, 1, 2) and (code == 0 or told)
        if printed:
            strict_json(printed)


@pytest.fixture(scope="module")
def inspected():
    """A log of Inspect, as its own package writes it."""
    pytest.importorskip("inspect_ai")
    from inspect_ai import log as logs
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    made = {"created": "2026-01-01T00:00:00+00:00", "task": TASK, "model": "acme/a"}
    spec = logs.EvalSpec(**made, dataset=logs.EvalDataset(samples=2), config=logs.EvalConfig())
    asked = {"epoch": 1, "input": "Who?", "target": "Ann"}
    answered = {"scores": {"match": Score(value="C")}, "output": ModelOutput.from_content("acme/a", "Ann")}
    samples = [logs.EvalSample(id=n, metadata={"doc_id": str(n)}, **asked, **answered) for n in range(2)]
    metrics = {"accuracy": logs.EvalMetric(name="accuracy", value=1.0)}
    results = logs.EvalResults(scores=[logs.EvalScore(name="match", scorer="match", metrics=metrics)])
    log = logs.EvalLog(status="success", eval=spec, samples=samples, results=results)
    return json.loads(log.model_dump_json())


@fuzzed(20)
@given(data=st.data())
def test_logs_of_inspect(folder, inspected, data):
    path = folder / "log.json"
    path.write_text(json.dumps(data.draw(changed(inspected))), encoding="utf-8")
    try:
        runs = list(read_runs([path]))
    except TlsTasksError as error:
        assert str(error)
        return
    for run in runs:
        json.dumps(plain([run.metrics, run.signatures, run.model, run.data, list(map(str, run.problems))]))
        assert all(isinstance(logged.reported, float | None) for logged in run.logged.values())
