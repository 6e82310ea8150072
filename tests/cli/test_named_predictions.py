"""What a model said, under each name that a row may have for it: every command reads the same."""

import json

import pytest

from tests.cli.conftest import run, write
from tls_tasks.after.logs import find_runs
from tls_tasks.after.readers import logged_runs

TIMELINE = "2011-01-25: Protests begin."
QUOTE = {"domain": "symptom", "evidence_span": "headache", "polarity": "present"}
TREE = {"answer": "tea", "cups": 2}
SIDES = {  # command -> (gold, what a model said, further arguments)
    "timelines": ({"timeline": {"2011-01-25": ["Protests."]}}, TIMELINE, []),
    "summaries": ({"summary": "the cat sat"}, "the cat", []),
    "trees": ({"reference": TREE}, json.dumps(TREE), ["--schema", "schema.json"]),
    "evidence": ({"items": [QUOTE]}, json.dumps([QUOTE]), []),
}


@pytest.mark.parametrize("name", ["answer", "output", "response"])
@pytest.mark.parametrize("command", SIDES)
def test_files_joined_by_id(command, name, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    gold, said, arguments = SIDES[command]
    write(tmp_path / "schema.json", {"answer": "string", "cups": "integer"})
    texts = ["--sources", write(tmp_path / "texts.jsonl", {"id": "a", "text": "A headache."})]
    texts = texts if command == "evidence" else []
    files = ["--references", write(tmp_path / "gold.jsonl", {"id": "a", **gold})]
    printed = []
    for field in ("prediction", name):
        told = write(tmp_path / f"{field}.jsonl", {"id": "a", field: said})
        code, out, err = run(command, capsys, "--predictions", told, *files, *texts, *arguments)
        assert code == 0 and "1.0000" in out, err
        printed.append(out)
    assert printed[0] == printed[1]


@pytest.mark.parametrize("name", ["prediction", "answer", "output", "response"])
def test_plain_rows_with_their_own_numbers(name, tmp_path):
    path = write(tmp_path / "rows.jsonl", {"id": "a", name: "tea", "accuracy": 1})
    (run_of_rows,) = logged_runs(find_runs([path])[0])
    assert run_of_rows.log.samples[0].answer == ["tea"]
