"""``tls-tasks prepare reports``."""

import json

import pytest

from tls_tasks.cli import main
from tls_tasks.data.order import EMBEDDED
from tls_tasks.reports.data import load_documents

ROWS = {
    "requests": [{"request_id": "r1", "problem_statement": "Was the bridge rebuilt?", "doc_ids": ["d1"]}],
    "nuggets": [{"query_id": "r1", "items": [{"question_text": "What?", "gold_answers": ["It is – rebuilt."]}]}],
    "documents": [{"id": "d1", "text": "The council voted."}, {"id": "d2", "text": "Rain."}],
}


def write(folder, **other):
    folder.mkdir(exist_ok=True)
    for name, rows in {**ROWS, **other}.items():
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


def run(source, out, *options):
    return main(["prepare", "reports", "--source", str(source), "--out", str(out), *options])


def test_the_task_reads_what_was_written(tmp_path, capsys):
    source, out = write(tmp_path / "source"), tmp_path / "out"
    assert run(source, out) == 0
    assert f"{out}: 1 requests, 1 nuggets, 2 documents" in capsys.readouterr().out
    before, after = (load_documents("report_custom", data=place) for place in (source, out))
    assert before == after and json.loads(after[0]["nuggets"]) == ROWS["nuggets"][0]
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "data_files: documents.jsonl" in card and "1 requests, 1 nuggets, 2 documents, a row each" in card


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {"nuggets": [{"query_id": "r9", "items": []}]},
            "line 1: nuggets of 'r9', which requests.jsonl",
        ),
        (
            {"nuggets": [{"query_id": "r1", "items": [{"question_text": "Q?"}]}]},
            "nuggets with flaws (no_answers",
        ),
        ({"requests": [{"request_id": "r1", "problem_statement": "?", "doc_ids": ["d7"]}]}, "no document 'd7'"),
        ({"requests": []}, "no request in requests.jsonl"),
        ({"documents": [{"id": "d1"}]}, "documents.jsonl, line 1: no field text"),
    ],
)
def test_nothing_is_written_of_a_broken_row(tmp_path, capsys, changed, message):
    assert run(write(tmp_path / "source", **changed), tmp_path / "out") == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_what_is_refused(tmp_path, capsys):
    for source, message in (
        (tmp_path / "none", "none: no such file or folder"),
        (tmp_path, "no requests.jsonl; a folder has requests, documents"),
        (EMBEDDED / "report_generation", "embedded"),
    ):
        assert run(source, tmp_path / "out") == 2
        assert message in capsys.readouterr().err
