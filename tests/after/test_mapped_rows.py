"""Any metric over any rows and logs: what a path finds, what is refused, and that old ways stay."""

import json
from pathlib import Path

import pytest

import tls_tasks
from tls_tasks.cli import main

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


def score(capsys, path, *arguments):
    code = main(["score", str(path), *arguments])
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def written(path, *rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize(("row", "fields"), CASES["test_columns_called_anything"])
def test_columns_called_anything(tmp_path, capsys, row, fields):
    path = written(tmp_path / "rows.jsonl", row, row)
    code, out, err = score(capsys, path, "--metric", "rouge_l", "--map", fields, "--json", "-")
    assert (code, err) == (0, "") and json.loads(out) == tls_tasks.rouge_l(["a b"] * 2, ["a"] * 2).as_dict()


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("reference=gold.t.x", "no field 'gold.t.x' for reference; its fields: prediction, gold, list"),
        ("reference=list.2", "no field 'list.2' for reference"),
        ("reference=list.²", "no field 'list.²' for reference"),
        ("reference=list." + "9" * 5000, "for reference; its fields"),
        ("reference=list.-1", "no field 'list.-1' for reference"),
        ("reference=gold", "references: got "),
        ("prediction=list,reference=list", "predictions: got list ['a', 'b'], expected a str"),
    ],
)
def test_what_is_not_there_names_file_line_and_fields(tmp_path, capsys, fields, words):
    path = written(tmp_path / "rows.jsonl", {"prediction": "a", "gold": {"t": "a"}, "list": ["a", "b"]})
    code, _, err = score(capsys, path, "--metric", "rouge_l", "--map", fields)
    assert code == 2 and err.startswith(f"tls-tasks score: {path}, line 1: ") and words in err and err.count("\n") == 1


def test_topics_and_intervals_of_rows(tmp_path, capsys):
    day, other = {"2011-01-25": ["Protests."]}, {"2011-01-26": ["Protests."]}
    rows = [{"said": "2011-01-25: Protests.", "gold": gold, "event": {"name": n}} for n, gold in ((1, day), (2, other))]
    path = written(tmp_path / "rows.jsonl", *rows)
    fields = "prediction=said,reference=gold,topic=event.name"
    options = ["--metric", "date_f1", "--map", fields, "--confidence", "0.9", "--json", "-"]
    code, out, _ = score(capsys, path, *options)
    expected = tls_tasks.date_f1([row["said"] for row in rows], [day, other], topics=[1, 2])
    result = json.loads(out)
    assert code == 0 and {key: result[key] for key in expected.as_dict()} == expected.as_dict()
    assert result["intervals"]["date_f1"] == list(expected.intervals(confidence=0.9)["date_f1"])


def test_logs_and_rows_are_not_mixed_and_a_map_needs_a_metric(tmp_path, capsys):
    rows = written(tmp_path / "rows.jsonl", {"prediction": "a", "reference": "a"})
    sample = {"doc_id": 0, "doc": {"summary": "a"}, "filtered_resps": ["a"], "target": "b"}
    log = written(tmp_path / "samples_own_2026-01-01T00-00-00.jsonl", sample)
    code, _, err = score(capsys, rows, str(log), "--metric", "rouge_l")
    assert code == 2 and "files: got logs and rows of another tool, expected one kind at a time" in err
    code, _, err = score(capsys, rows, "--map", "prediction=a")
    assert code == 2 and "--map: got ['prediction=a'], expected it with --metric" in err
    code, out, _ = score(capsys, log, "--metric", "rouge_l", "--map", "reference=summary", "--json", "-")
    assert code == 0 and json.loads(out)[0]["metrics"]["rouge_l_f1"] == 1
    code, out, _ = score(capsys, log, "--metric", "rouge_l", "--json", "-", "--csv", str(tmp_path / "x.csv"))
    assert (
        code == 0
        and json.loads(out)[0]["metrics"]["rouge_l_f1"] == 0
        and "rouge_l_f1" in (tmp_path / "x.csv").read_text()
    )


def test_rows_of_every_eval_ever(tmp_path, capsys):
    row = {
        "schema_version": "0.2",
        "evaluation_id": "e",
        "sample_id": "1",
        "model_id": "m",
        "evaluation_name": "qa",
        "input": {"raw": "Who?", "reference": "the mayor", "choices": ["a"]},
        "output": {"raw": "the mayor won"},
        "evaluation": {"score": 1.0},
    }
    path = written(tmp_path / "e_samples.jsonl", row)
    code, out, _ = score(capsys, path, "--metric", "rouge_l", "--json", "-")
    (found,) = json.loads(out)
    assert code == 0 and (found["task"], found["model"]) == ("qa", "m")
    assert found["metrics"]["rouge_l_recall"] == 1 and found["metrics"]["rouge_l_precision"] == pytest.approx(2 / 3)
    code, out, _ = score(capsys, path, "--metric", "rouge_l", "--map", "reference=doc.input.choices.0", "--json", "-")
    assert code == 0 and json.loads(out)[0]["metrics"]["rouge_l_f1"] == 0


def test_a_log_with_broken_lines_is_scored_and_they_are_named(tmp_path, capsys):
    sample = {"doc_id": 0, "doc": {}, "filtered_resps": [None], "target": "b"}
    path = written(tmp_path / "samples_own_2026-01-01T00-00-00.jsonl", sample, {**sample, "doc_id": 1})
    path.write_text(path.read_text() + "{")
    code, out, err = score(capsys, path, "--metric", "rouge_l")
    assert code == 1 and "rouge_l_f1         0.0000" in out and f"{path}:3: not JSON" in err
    path.write_text("{")
    code, _, err = score(capsys, path, "--metric", "rouge_l")
    assert code == 2 and f"{path}:1: not JSON" in err and err.count("\n") == 1
