"""Logs of release 0.1.0: this release gives the numbers that were printed then."""

import json
import math
import re
from pathlib import Path

import pytest

from tls_tasks.cli import main

LOGS = Path(__file__).parents[1] / "recorded" / "logs-0.1.0"
EXPECTED = json.loads((LOGS / "expected.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Task -> what ``score --json`` says, and its documents' values."""
    import pyarrow.parquet

    folder = tmp_path_factory.mktemp("old-logs")
    found = {}
    for run in sorted(path for path in LOGS.iterdir() if path.is_dir()):
        files = {name: folder / f"{run.name}.{name}" for name in ("json", "parquet")}
        assert main(["score", str(run), "--json", str(files["json"]), "--parquet", str(files["parquet"])]) == 0
        for task in json.loads(files["json"].read_text(encoding="utf-8")):
            found[task["task"]] = {**task, "documents": {}}
        for row in pyarrow.parquet.read_table(files["parquet"]).to_pylist():
            documents = found[row["task"]]["documents"]
            if row["doc_id"]:
                documents.setdefault(row["doc_id"], {})[row["metric"]] = row["value"]
    return found


def test_every_task_of_the_logs_is_expected(scored):
    assert sorted(scored) == sorted(EXPECTED)


def without_versions(signatures):
    """What signatures say otherwise since then of the same numbers: versions, and which keys are required."""
    return {name: re.sub(r"leaves:\w+", "leaves", sign.rpartition("|v:")[0]) for name, sign in signatures.items()}


@pytest.mark.parametrize("task", EXPECTED)
def test_the_numbers_are_those_of_the_old_release(scored, task):
    found, expected = scored[task], EXPECTED[task]
    for key in ("model", "version", "edition", "n_documents"):
        assert found[key] == expected[key]
    assert without_versions(found["signatures"]) == without_versions(expected["signatures"])
    assert found["metrics"] == pytest.approx(expected["metrics"], abs=1e-12)
    assert found["problems"] == []


@pytest.mark.parametrize("task", EXPECTED)
def test_so_are_those_of_each_document_and_topic(scored, task):
    found, expected = scored[task], EXPECTED[task]
    for part in ("documents", "topics"):
        assert found.get(part, {}).keys() == expected.get(part, {}).keys()
        for name, values in expected.get(part, {}).items():
            # JSON has null for NaN.
            wanted = {key: math.nan if value is None else value for key, value in values.items()}
            known = {key: math.nan if value is None else value for key, value in found[part][name].items()}
            assert known == pytest.approx(wanted, abs=1e-12, nan_ok=True)
