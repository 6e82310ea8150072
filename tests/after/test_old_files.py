"""Files that tls-tasks 0.2 reads and writes, one of each kind, and logs of 0.1.0: they give the numbers of then.

After a change that is meant to give other numbers, ``python -m tests.after.test_old_files`` records them again.
"""

import contextlib
import hashlib
import io
import json
import math
import os
import re
import shutil
import tempfile
import warnings
import zipfile
from pathlib import Path

import pytest

from tls_tasks.after.scored_runs import read_runs
from tls_tasks.cli import main
from tls_tasks.registry import find_task

FILES = Path(__file__).parents[1] / "recorded" / "files-0.2"
LOGS_0_1 = FILES.with_name("logs-0.1.0")
EXPECTED_0_1 = json.loads((LOGS_0_1 / "expected.json").read_text(encoding="utf-8"))


@contextlib.contextmanager
def unpacked():
    """A copy of the files is the working folder; the harness's log is what the submission holds."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(FILES, folder, dirs_exist_ok=True)
        os.chdir(folder)
        try:
            with zipfile.ZipFile("submission.zip") as packed:
                packed.extractall("submission")
            shutil.copytree("submission/run", "lm_eval/acme__new")
            yield
        finally:
            os.chdir(before)


def said(*arguments):
    """What a command prints as JSON."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(list(map(str, arguments))) == 0, arguments
    return json.loads(out.getvalue())


def numbers(tasks):
    names = ("model", "version", "n_documents", "metrics", "topics", "problems")
    return {task["task"]: {name: task.get(name) for name in names} for task in tasks}


def log():
    return numbers(said("score", "lm_eval", "lm_eval_reports", "--json", "-"))


def blocks():
    """Units of a log: of shards, and of a folder to which the command that made it returns."""
    (samples,) = Path("lm_eval/acme__new").glob("samples_tls_crisis_*")
    return {
        "merged": numbers(said("merge", "blocks/part1", "blocks/part2", "--json", "-")),
        "whole": numbers(said("score", samples, "-o", "blocks/whole", "--json", "-")),
    }


def other_logs():
    """A stock task of the harness, rows of one JSON object a document, and those of Every Eval Ever."""
    return {run.name: run.metrics for run in read_runs(["stock", "rows.jsonl", "submission/every_eval_ever"])}


def documents():
    """A user's own data, and data that was prepared: a hash of what the tasks make of each."""
    places = [(path.name, "data") for path in sorted(Path("data").iterdir())]
    places += [("tls_crisis", "prepared/tls_crisis"), ("summ_custom", "prepared/summaries")]
    places += [("evidence_custom", "prepared/evidence"), ("tree_custom", "prepared/trees")]
    made = {f"{task} {place}": find_task(task).documents(data=place) for task, place in places}
    since = {"article_dates", "reference_dates"}
    made = {name: [{key: row[key] for key in row.keys() - since} for row in rows] for name, rows in made.items()}
    return {name: hashlib.sha256(json.dumps(rows, sort_keys=True).encode()).hexdigest() for name, rows in made.items()}


KINDS = (log, blocks, other_logs, documents)


@pytest.fixture(scope="module")
def expected():
    return json.loads((FILES / "expected.json").read_text(encoding="utf-8"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_files_give_the_numbers_of_then(kind, expected):
    with unpacked():
        assert _of_then(json.loads(json.dumps(kind())), expected[kind.__name__]) == expected[kind.__name__]


def _of_then(found, then, is_results=False):
    """What is found, without results that have come since."""
    if not isinstance(found, dict) or not isinstance(then, dict):
        return found
    kept = found.keys() & then.keys() if is_results else found.keys()
    return {key: _of_then(found[key], then.get(key), key == "metrics") for key in kept}


@pytest.mark.parametrize("kind", [blocks])
def test_files_without_checksums_are_read_with_one_warning(kind):
    """A run of :func:`blocks` reads two folders, and adds a block to none."""
    with unpacked(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind()
    told = [str(one.message) for one in caught if "without checksums" in str(one.message)]
    assert len(told) == {blocks: 2}[kind], told


@pytest.fixture(scope="module")
def scored_0_1(tmp_path_factory):
    """Task -> what ``score --json`` says of logs of release 0.1.0, and its documents' values."""
    import pyarrow.parquet

    table = tmp_path_factory.mktemp("logs") / "documents.parquet"
    runs = sorted(path for path in LOGS_0_1.iterdir() if path.is_dir())
    scored = said("score", *runs, "--json", "-", "--parquet", table)
    found = {task["task"]: {**task, "documents": {}} for task in scored}
    for row in pyarrow.parquet.read_table(table).to_pylist():
        if row["doc_id"]:
            found[row["task"]]["documents"].setdefault(row["doc_id"], {})[row["metric"]] = row["value"]
    assert sorted(found) == sorted(EXPECTED_0_1)
    return found


def without_versions(signatures):
    """What signatures say otherwise since then of the same numbers: versions, and which keys are required."""
    return {name: re.sub(r"leaves:\w+", "leaves", sign.rpartition("|v:")[0]) for name, sign in signatures.items()}


def without_nan(values, keys):
    """The results that there were; a release may add some. JSON has null for NaN."""
    return {key: None if values[key] is None or math.isnan(values[key]) else values[key] for key in keys}


@pytest.mark.parametrize("task", EXPECTED_0_1)
def test_logs_of_0_1_give_the_numbers_of_then(scored_0_1, task):
    found, expected = scored_0_1[task], EXPECTED_0_1[task]
    for key in ("model", "version", "edition", "n_documents"):
        assert found[key] == expected[key]
    assert without_versions(found["signatures"]) == without_versions(expected["signatures"])
    assert found["problems"] == []
    pairs = [(found["metrics"], expected["metrics"])]
    for part in ("documents", "topics"):
        assert found.get(part, {}).keys() == expected.get(part, {}).keys()
        pairs += [(found[part][name], values) for name, values in expected.get(part, {}).items()]
    for values, of_then in pairs:
        assert without_nan(values, of_then) == pytest.approx(without_nan(of_then, of_then), abs=1e-12)


if __name__ == "__main__":
    os.environ["TLS_TASKS_CACHE"] = tempfile.mkdtemp()
    with unpacked():
        texts = json.dumps({kind.__name__: kind() for kind in KINDS}, indent=1)
    (FILES / "expected.json").write_text(texts + "\n", encoding="utf-8")
