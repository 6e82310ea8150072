"""Any metric over any log: what a path finds, what is refused."""

import json
from pathlib import Path

import pytest

import tls_tasks
from tests.cli.conftest import refused, run, write
from tls_tasks.after.logs import find_runs
from tls_tasks.after.scored_runs import score_places
from tls_tasks.core.errors import DataError, OptionError

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["evidence_journals", "evidence_maccrobat"])
def test_an_extraction_log_of_ours_has_sources_and_schema(made_runs, capsys, name):
    (log,) = made_runs.glob(f"base/**/samples_{name}_*.jsonl")
    options = ["--metric", "evidence_extraction", "--option", "postprocess=drop", "--json", "-"]
    code, out, _ = run("score", capsys, log, *options)
    (found,) = json.loads(out)
    whole = json.loads(run("score", capsys, log, "--json", "-")[1])[0]["metrics"]
    assert code == 0 and found["metrics"]["f1"] == whole["evidence_f1"] > 0
    assert found["metrics"]["evidence_coverage"] == whole["evidence_coverage"] == 1


def log_of(folder, *docs, target="a b"):
    rows = ({"doc_id": n, "doc": doc, "filtered_resps": ["a b"], "target": target} for n, doc in enumerate(docs))
    return write(folder / "samples_own_2026-01-01T00-00-00.jsonl", *rows)


@pytest.mark.parametrize(("doc", "fields"), CASES["test_fields_called_anything"])
def test_fields_called_anything(tmp_path, capsys, doc, fields):
    path = log_of(tmp_path, doc, doc)
    code, out, err = run("score", capsys, path, "--metric", "rouge_l", "--map", fields, "--json", "-")
    expected = tls_tasks.rouge_l(["a b"] * 2, ["a"] * 2).results
    assert (code, err) == (0, "") and json.loads(out)[0]["metrics"] == expected


@pytest.mark.parametrize(
    ("fields", "words"),
    [*CASES["test_what_is_not_there_names_file_line_and_fields"], (f"reference=list.{'9' * 5000}", "; its fields")],
)
def test_what_is_not_there_names_file_line_and_fields(tmp_path, capsys, fields, words):
    path = log_of(tmp_path, {"said": "a", "gold": {"t": "a"}, "list": ["a", "b"]})
    err = refused("score", capsys, path, "--metric", "rouge_l", "--map", fields, said=words)
    assert err.startswith(f"tls-tasks score: {path}:1: ")


def test_topics_and_intervals(tmp_path, capsys):
    day, other = {"2011-01-25": ["Protests."]}, {"2011-01-26": ["Protests."]}
    docs = [{"said": "2011-01-25: Protests.", "gold": gold, "event": {"name": n}} for n, gold in ((1, day), (2, other))]
    fields = "prediction=said,reference=gold,topic=event.name"
    options = ["--metric", "date_f1", "--map", fields, "--confidence", "0.9", "--option", "tolerance=0", "--json", "-"]
    code, out, _ = run("score", capsys, log_of(tmp_path, *docs), *options)
    expected = tls_tasks.date_f1([doc["said"] for doc in docs], [day, other], topics=[1, 2])
    [result] = json.loads(out)
    assert code == 0 and result["metrics"] == expected.results
    assert result["intervals"]["date_f1"] == list(expected.intervals(confidence=0.9)["date_f1"])


def test_rows_are_refused_and_a_map_needs_a_metric(tmp_path, capsys):
    rows = write(tmp_path / "rows.jsonl", {"id": "a", "prediction": "a", "reference": "a"})
    log = log_of(tmp_path, {"summary": "a b"}, target="b")
    words = "tls-tasks timelines, summaries, evidence and trees score rows"
    refused("score", capsys, rows, log, "--metric", "rouge_l", said=words)
    words = "--map: got it without --metric, expected both"
    refused("score", capsys, rows, "--map", "prediction=a", said=words)
    code, out, _ = run("score", capsys, log, "--metric", "rouge_l", "--map", "reference=summary", "--json", "-")
    assert code == 0 and json.loads(out)[0]["metrics"]["rouge_l_f1"] == 1
    code, out, _ = run("score", capsys, log, "--metric", "rouge_l", "--json", "-", "--csv", tmp_path / "x.csv")
    assert code == 0 and 0 < json.loads(out)[0]["metrics"]["rouge_l_f1"] < 1
    assert "rouge_l_f1" in (tmp_path / "x.csv").read_text()


def test_a_log_with_broken_lines_is_scored_and_they_are_named(tmp_path, capsys):
    sample = {"doc_id": 0, "doc": {}, "filtered_resps": [None], "target": "b"}
    path = write(tmp_path / "samples_own_2026-01-01T00-00-00.jsonl", sample, {**sample, "doc_id": 1}, "{")
    code, out, err = run("score", capsys, path, "--metric", "rouge_l")
    assert code == 1 and "rouge_l_f1         0.0000" in out and f"{path}:3: not JSON" in err
    path.write_text("{")
    refused("score", capsys, path, "--metric", "rouge_l", said=f"{path}:1: not JSON")


def test_what_is_not_there_or_not_ours(tmp_path):
    with pytest.raises(DataError, match="no such file or folder"):
        find_runs([tmp_path / "nowhere"])
    with pytest.raises(DataError, match="no log there; expected results_<date>"):
        find_runs([tmp_path])
    (tmp_path / "samples_other_2026-01-01T00-00-00.jsonl").write_text("")
    with pytest.raises(DataError, match=r"expected those of a task of ours .*, got other;"):
        list(score_places([tmp_path]))
    with pytest.raises(OptionError, match="task: got 'nix'"):
        list(score_places([tmp_path], task="nix"))
    assert [one.name for one in score_places([tmp_path], task="summ_qmsum")] == ["summ_qmsum"]
    (tmp_path / "results_2026-01-01T00-00-00.json").write_text("{")
    with pytest.raises(DataError, match="not JSON"):
        list(score_places([tmp_path], task="summ_qmsum"))
