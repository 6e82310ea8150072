"""``tls-tasks prepare summaries``."""

import json

import pytest

from tls_tasks.cli import main
from tls_tasks.data.order import EMBEDDED
from tls_tasks.summaries.data import load_documents

ROWS = [
    {"id": "2011-01-25", "text": "The council met.\nIt voted.", "summary": "It voted.", "query": "What happened?"},
    {"id": "b", "text": "Ärger im Rathaus", "references": ["Ärger.", "Zank."]},
]


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    return file


def test_the_task_reads_what_was_written(rows, tmp_path, capsys):
    out = tmp_path / "out"
    assert main(["prepare", "summaries", "--source", str(rows), "--out", str(out), "--licence", "cc-by-4.0"]) == 0
    printed = capsys.readouterr().out
    assert f"{out}: 2 documents" in printed and f'"data": "{out}", "name": "ours"' in printed
    before, after = (load_documents("summ_custom", data=place) for place in (rows, out))
    assert before == after
    assert [(doc["doc_id"], doc["query"], json.loads(doc["references"])) for doc in after] == [
        ("2011-01-25", "What happened?", ["It voted."]),
        ("b", "", ["Ärger.", "Zank."]),
    ]
    card = (out / "README.md").read_text(encoding="utf-8")
    assert "license: cc-by-4.0" in card and "2 documents, 3 summaries of 1 words on average." in card


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"text": "A."}', "rows.jsonl, line 2: no field references or reference or summary or output"),
        ('{"text": 5, "summary": "A."}', "rows.jsonl, line 2: text/document"),
        ("{", "rows.jsonl, line 2: not JSON"),
        (json.dumps(ROWS[0]), "two documents have the id '2011-01-25'"),
    ],
)
def test_nothing_is_written_of_a_broken_row(rows, tmp_path, capsys, row, message):
    rows.write_text(json.dumps(ROWS[0]) + "\n" + row, encoding="utf-8")
    assert main(["prepare", "summaries", "--source", str(rows), "--out", str(tmp_path / "out")]) == 2
    assert message in capsys.readouterr().err and not (tmp_path / "out").exists()


def test_what_is_refused(rows, tmp_path, capsys):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").touch()
    for source, options, message in (
        (rows, [], "not an empty folder"),
        (tmp_path / "none.jsonl", [], "no such file or folder"),
        (rows, ["--schema", "s.json"], "--schema: got s.json, expected none: it belongs to evidence"),
        (EMBEDDED / "summ_qmsum", ["--force"], "embedded"),
    ):
        command = ["prepare", "summaries", "--source", str(source), "--out", str(tmp_path / "out"), *options]
        assert main(command) == 2
        assert message in capsys.readouterr().err
