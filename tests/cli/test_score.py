"""``tls-tasks score`` and ``tls-tasks compare`` on files of real harness runs."""

import csv
import json
import re
import shutil
import warnings
from pathlib import Path

import pytest

import tls_tasks
from tests.cli.conftest import refused, run, write

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


def results_of(folder, task):
    for path in folder.rglob("results_*.json"):
        results = json.loads(path.read_text())["results"]
        if task in results:
            return results[task]
    raise AssertionError(task)


def test_timelines_as_a_table(made_runs, capsys):
    code, out, err = run("score", capsys, made_runs / "base")
    assert (code, err) == (0, "")
    reported = results_of(made_runs / "base", "tls_crisis")
    assert "alignment_rouge|variant:align+m:1|" in out and "date_f1|days:0|" in out
    rows = [line.split() for line in out[out.index("tls_crisis (") :].splitlines()]
    assert ["ar1_f1", f"{reported['ar1_f1,none']:.4f}"] in rows and [
        "date_mean_f",
        f"{reported['date_mean_f,none']:.4f}",
    ] in rows


def test_summaries_as_a_table(made_runs, capsys):
    _, out, _ = run("score", capsys, next(made_runs.glob("base/**/samples_summ_dialogsum_*")))
    value = results_of(made_runs / "base", "summ_dialogsum")["rouge_l_f1,none"]
    assert ["rouge_l_f1", f"{value:.4f}"] in map(
        str.split, out.splitlines()
    ) and "rouge_l|read:answer|types:rougeL|" in out


def test_a_results_file_alone_brings_the_samples_of_its_run(made_runs, tmp_path, capsys):
    path = next(path for path in made_runs.glob("base/**/results_*") if "summ_qmsum" in path.read_text())
    code, out, err = run("score", capsys, path)
    assert (code, err) == (0, "") and re.findall(r"^\w+(?= \()", out, re.MULTILINE) == ["summ_dialogsum", "summ_qmsum"]
    shutil.copytree(path.parent, tmp_path / "results_all.json")
    assert run("score", capsys, tmp_path / "results_all.json")[0] == 0, "a folder may have such a name"
    (tmp_path / path.name).write_bytes(path.read_bytes())
    code, _, err = run("score", capsys, tmp_path / path.name)
    assert code == 2 and "no samples to score" in err and "got none" in err


def test_json_and_csv_say_the_same(made_runs, tmp_path, capsys):
    files = {name: tmp_path / f"scores.{name}" for name in ("json", "csv")}
    options = [argument for name, path in files.items() for argument in (f"--{name}", path)]
    assert run("score", capsys, made_runs / "base", *options, "--confidence", "0.9")[0] == 0
    data = json.loads(files["json"].read_text())
    with files["csv"].open() as file:
        rows = list(csv.DictReader(file))
    for task in data:
        of_task = [row for row in rows if row["task"] == task["task"]]
        total = {row["metric"]: float(row["value"]) for row in of_task if not row["doc_id"]}
        assert total == task["metrics"]
        assert len({row["doc_id"] for row in of_task}) == task["n_documents"] + 1
        low, high = task["intervals"][next(iter(total))]
        assert low <= next(iter(total.values())) <= high
    crisis = next(task for task in data if task["task"] == "tls_crisis")
    assert len(crisis["topics"]) == 4 and not crisis["problems"]
    mean = sum(topic["date_mean_f"] for topic in crisis["topics"].values()) / 4
    assert mean == pytest.approx(crisis["metrics"]["date_mean_f"], abs=1e-12)


def test_a_spoiled_log_is_scored_and_said(made_runs, tmp_path, capsys):
    shutil.copytree(made_runs / "base", tmp_path / "run")
    path = next(tmp_path.glob("run/**/samples_summ_qmsum_*"))
    path.write_text(path.read_text() + "{broken\n")
    code, out, err = run("score", capsys, path)
    assert code == 1 and "rouge_l_f1" in out
    assert f"tls-tasks score: {path}:4: not JSON" in err


@pytest.mark.parametrize(("arguments", "words"), CASES["test_mistakes_are_one_line"])
def test_mistakes_are_one_line(tmp_path, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(tmp_path)
    if arguments[0] != ".":
        sample = {"doc_id": 0, "doc": {}, "filtered_resps": ["a"], "target": "a"}
        write(tmp_path / "samples_own_2026-01-01T00-00-00.jsonl", sample)
    refused("score", capsys, *arguments, said=words)


def test_compare_two_systems(made_runs, tmp_path, capsys):
    code, out, err = run("compare", capsys, made_runs / "base", made_runs / "noisy", "--json", tmp_path / "c.json")
    assert (code, err) == (0, "")
    data = {one["task"]: one for one in json.loads((tmp_path / "c.json").read_text())}
    names = "evidence_journals evidence_maccrobat report_generation summ_dialogsum summ_qmsum tls_crisis tls_timeline17"
    assert sorted(data) == [*names.split(), "tree_extraction", "tree_paraloq"]
    crisis = data["tls_crisis"]
    assert (crisis["n_documents"], crisis["n_units"], crisis["unit"], crisis["seed"]) == (8, 4, "topic", 12345)
    for one in crisis["metrics"]:
        for side, system in (("first", "base"), ("second", "noisy")):
            reported = results_of(made_runs / system, "tls_crisis")[f"{one['metric']},none"]
            assert one[side] == pytest.approx(reported, abs=1e-12)
        assert one["difference"] == one["second"] - one["first"] and one["p_value"] >= 0.125 and one["exact"]
        low, high = one["interval"] or (one["difference"], 0)  # without one the topics don't differ
        assert low <= one["difference"] <= high
    assert "n_dates" not in {one["metric"] for one in crisis["metrics"]}
    assert "warning: 4 topics cannot reach significance: no p-value below 0.125 is possible" in out
    assert "seed 12345" in out and "p (Holm)" not in out
    heads = re.findall(r"^(?:tls_crisis|summ_qmsum): first .*\), second .*\); (.*)", out, re.MULTILINE)
    assert sorted(heads) == ["3 documents", "8 documents, 4 topics"], "units are named where they are not the documents"


def test_compare_three_systems(made_runs, capsys):
    systems = [made_runs / "base", made_runs / "noisy", made_runs / "base"]
    code, out, _ = run("compare", capsys, *systems, "--task", "tls_crisis", "--metric", "date_f1")
    assert code == 0 and out.count("; 8 documents, 4 topics\n") == 2 and "p (Holm)" in out
    rows = [line.split() for line in re.findall(r"^date_f1 +[01]\..*", out, re.MULTILINE)]
    adjusted, itself = float(rows[0][-1]), float(rows[1][-1])
    assert adjusted == pytest.approx(min(1.0, 2 * float(rows[0][-2])), abs=2e-4) and itself == 1.0


def test_a_folder_is_the_newest_run_of_each_model_to_compare_and_to_page(made_runs, tmp_path, capsys):
    old, new = (next(made_runs.glob(f"{name}/**/samples_summ_qmsum_*")) for name in ("base", "noisy"))
    for path in (old, new):
        (tmp_path / "mix").mkdir(exist_ok=True)
        (tmp_path / "mix" / path.name).write_bytes(path.read_bytes())
    places = [made_runs / "base", tmp_path / "mix"]
    code, _, err = run("compare", capsys, *places, "--task", "summ_qmsum")
    words = f"{tmp_path / 'mix'}: the newest run of each model and task counts; older logs: 1"
    assert (code, err) == (0, f"tls-tasks compare: {words}\n")
    code, out, err = run("page", capsys, tmp_path / "mix", "-o", tmp_path / "page.html")
    assert (code, err) == (0, f"tls-tasks page: {words}\n") and ": 1 run of 1 task, " in out
    arguments = ["-o", tmp_path / "page.html", "--task", "summ_qmsum", *(f"{own}={old}" for own in ("one", "two"))]
    assert run("page", capsys, *arguments)[0] == 0
    assert all(f'"{own}"' in (tmp_path / "page.html").read_text() for own in ("one", "two"))
    named = [f"first={old}", f"second={new}"]
    assert "summ_qmsum: first first, second second; " in run("compare", capsys, *named)[1]
    assert ", first: samples_summ_qmsum" in run("score", capsys, named[0])[1]


def test_compare_refuses_other_documents(made_runs, tmp_path, capsys):
    shutil.copytree(made_runs / "base", tmp_path / "less")
    path = next(tmp_path.glob("less/**/samples_summ_qmsum_*"))
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:2]))
    both = [made_runs / "base", tmp_path / "less"]
    words = "no or another document for 1 of 3"
    said = refused("compare", capsys, *both, "--task", "summ_qmsum", said=words)
    assert "the same data, budget and limit" in said
    words = "1 of 3 documents that the first run lacks"
    refused("compare", capsys, *reversed(both), "--task", "summ_qmsum", said=words)


@pytest.mark.parametrize(("arguments", "words"), CASES["test_mistakes_of_compare_are_one_line"])
def test_mistakes_of_compare_are_one_line(made_runs, monkeypatch, capsys, arguments, words):
    monkeypatch.chdir(made_runs)
    refused("compare", capsys, *arguments, said=words)


def test_an_answer_that_cannot_be_read_is_counted_and_no_warning_of_python(tmp_path, capsys):
    task = tls_tasks.task("tls_crisis")
    rows = [{"doc_id": n, "doc": doc, "filtered_resps": ["None."]} for n, doc in enumerate(task.documents()[:2])]
    path = write(tmp_path / "samples_tls_crisis_2026-01-01T00-00-00.jsonl", *rows)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        code, out, _ = run("score", capsys, path)
    assert (code, caught) == (0, []) and ["parse_failures", "2.0000"] in map(str.split, out.splitlines())
