"""Submit, verify and rank real runs; and what is refused, one change at a time."""

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ORACLES
from tls_tasks.cli import main

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NAMES = ["summ_qmsum", "tls_crisis"]


@pytest.fixture
def run(chat_runs, tmp_path):
    """A copy of the good run, to spoil."""
    shutil.copytree(chat_runs / "good", tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture(scope="module")
def archive(chat_runs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("archive")
    for name in ("good", "worse"):
        arguments = ["submit", chat_runs / name, "-o", folder / name, "--zip", folder / f"{name}.zip"]
        assert main(list(map(str, arguments))) == 0
    return folder


@pytest.fixture
def sent(archive, tmp_path):
    """A copy of the good archive, to spoil."""
    shutil.copytree(archive / "good", tmp_path / "sent")
    return tmp_path / "sent"


def reported(archive, name):
    """The harness's own numbers that have a direction."""
    results = json.loads(next(archive.glob("good/run/results_*")).read_text(encoding="utf-8"))
    directions = results["higher_is_better"][name]
    numbers = {key.removesuffix(",none"): value for key, value in results["results"][name].items()}
    keys = [key for key in numbers if directions.get(key) is not None and not key.endswith("_stderr")]
    return {key: numbers[key] for key in keys}


def change_results(folder, change):
    (path,) = folder.rglob("results_*.json")
    results = json.loads(path.read_text(encoding="utf-8"))
    change(results)
    path.write_text(json.dumps(results), encoding="utf-8")


def change_sample(folder, change, task="tls_crisis"):
    (path,) = folder.rglob(f"samples_{task}_*")
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(rows[0])
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def test_the_archive_holds_the_run_and_its_records(archive, chat_runs):
    folder = archive / "good"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["model"], sorted(manifest["tasks"])) == ("acme/good", NAMES)
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert {path.name for path in (folder / "run").iterdir()} == {path.name for path in chat_runs.glob("good/*/*")}


def test_the_model_index_is_read_back(archive):
    from huggingface_hub.repocard_data import model_index_to_eval_results

    index = yaml.safe_load((archive / "good" / "model-index.yml").read_text())["model-index"]
    name, results = model_index_to_eval_results(index)
    assert name == "good" and len(results) == sum(len(reported(archive, name)) for name in NAMES)


def every_eval_ever(archive, name):
    """The record of a task and its rows."""
    for path in (archive / "good" / "every_eval_ever").glob("data/tls-tasks/acme/good/*[0-9a-f].json"):
        record = json.loads(path.read_text(encoding="utf-8"))
        if record["evaluation_results"][0]["evaluation_name"] == name:
            samples = archive / "good" / "every_eval_ever" / record["detailed_evaluation_results"]["file_path"]
            return record, [json.loads(line) for line in samples.read_text(encoding="utf-8").splitlines()]
    raise AssertionError(f"no record of {name}")


@pytest.mark.parametrize("name", NAMES)
def test_every_eval_ever_takes_the_record(archive, name):
    import jsonschema

    schema = json.loads((ORACLES / "every_eval_ever" / "eval.schema.json").read_text())
    record, rows = every_eval_ever(archive, name)
    jsonschema.Draft7Validator(schema).validate(record)
    assert record["model_info"]["id"] == "acme/good" and record["schema_version"] == schema["version"]
    found = {row["metric_config"]["metric_name"]: row["score_details"]["score"] for row in record["evaluation_results"]}
    assert found == pytest.approx(reported(archive, name), abs=1e-12)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft7Validator(schema).validate({**record, "model_info": {"name": "x"}})
    (path,) = (archive / "good" / "run").glob(f"samples_{name}_*")
    samples = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert [row["output"]["raw"] for row in rows] == [sample["resps"][0] for sample in samples]
    assert [row["input"]["reference"] for row in rows] == [[sample["target"]] for sample in samples]
    assert {row["evaluation_id"] for row in rows} == {record["evaluation_id"]}


def test_its_official_validator_has_no_complaint(archive, tmp_path):
    """Version 0.3.0, in an environment of its own, since it needs Python 3.12: `make unit` makes it."""
    validator = os.environ.get("EVERY_EVAL_EVER")
    if not validator:
        pytest.skip("EVERY_EVAL_EVER names no validator of Every Eval Ever: make test sets it where Python 3.12 is")
    shutil.copytree(archive / "good" / "every_eval_ever", tmp_path / "records")
    command = [validator, "validate", "data/*/*/*/*"]
    done = subprocess.run(command, cwd=tmp_path / "records", capture_output=True, text=True)
    assert done.returncode == 0 and "4 passed, 0 warning-only, 0 failed" in done.stdout, done.stdout
    for path in tmp_path.rglob("*_samples.jsonl"):
        path.write_text(path.read_text(encoding="utf-8").replace("single_turn", "monologue"), encoding="utf-8")
    done = subprocess.run(command, cwd=tmp_path / "records", capture_output=True, text=True)
    assert done.returncode == 1 and "2 failed" in done.stdout


def test_verify_on_a_machine_with_only_the_archive(archive, call, monkeypatch):
    monkeypatch.delenv("TLS_TASKS_DATA", raising=False)
    for place in (archive / "good", archive / "good.zip"):
        code, out, err = call("verify", place)
        assert (code, err) == (0, "") and "self-consistent: acme/good, summ_qmsum, tls_crisis; unsigned" in out


def test_the_zip_is_the_same_each_time(archive, tmp_path, chat_runs):
    assert (
        main(["submit", str(chat_runs / "good"), "-o", str(tmp_path / "again"), "--zip", str(tmp_path / "a.zip")]) == 0
    )
    assert (tmp_path / "a.zip").read_bytes() == (archive / "good.zip").read_bytes()


def set_path(*keys, value):
    def change(node):
        for key in keys[:-1]:
            node = node[key]
        node[keys[-1]] = value

    return change


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_path("config", "limit", value=2.0), "limit: summ_qmsum: it ran with --limit 2; run all documents"),
        (set_path("n-samples", "tls_crisis", "original", value=9), "limit: tls_crisis: it ran on 8 of 9 documents"),
        (
            set_path("versions", "tls_crisis", value=0.5),
            "version: tls_crisis: it ran in version 0.5, this release has 3;",
        ),
        (set_path("group_subtasks", value={"tls": []}), "group: tls lacks tls_timeline17, tls_entities, tls_open; run"),
        (set_path("chat_template", value=None), "chat template: tls_crisis: it ran without one; run with --apply_chat"),
        (lambda results: results.pop("chat_template_sha"), "chat template: tls_crisis: the results record none"),
        (
            set_path("model_name", value="checkpoint"),
            "the model is called 'checkpoint', not ORG/NAME; run with pretrained",
        ),
        (set_path("task_hashes", "tls_crisis", value="0" * 64), "hash: tls_crisis: task_hashes in the results differ"),
        (
            set_path("results", "tls_crisis", "ar1_f1,none", value=0.5),
            "scores: tls_crisis: ar1_f1 is 0.5 in the results",
        ),
        (
            set_path("configs", "tls_crisis", "metadata", "provenance", value={"edition": "embedded"}),
            "edition: tls_crisis: it ran on the embedded edition; run on the real data",
        ),
        (
            set_path("results", "tls_crisis", value={"bypass,none": 999}),
            "scores: tls_crisis: the results hold no scores (--predict_only); run lm_eval again, without",
        ),
    ],
)
def test_what_is_refused_in_the_results(run, tmp_path, call, change, words):
    change_results(run, change)
    code, _, err = call("submit", run, "-o", tmp_path / "out")
    assert code == 1 and f"tls-tasks submit: refused: {words}" in err.replace("refused: model: ", "refused: ")
    assert not (tmp_path / "out").exists()


def other_with_its_hash(row):
    row["doc"]["query"] = "other"
    row["doc_hash"] = hashlib.sha256(json.dumps(row["doc"], indent=2, ensure_ascii=False).encode()).hexdigest()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_path("doc", "query", value="other"), "doc_hash of document egypt/0 differ"),
        (set_path("arguments", "gen_args_0", "arg_0", value="other"), "prompt_hash of document egypt/0 differ"),
        (set_path("target", value="other"), "target_hash of document egypt/0 differ"),
        (set_path("filtered_resps", value=["2011-01-25: Protests."]), "scores: tls_crisis: ar1_f1 is "),
        (set_path("filtered_resps", value="text"), "samples: "),
        (set_path("doc_id", value=77), "doc_id 77 among 8 documents; run all documents"),
        (other_with_its_hash, "hash: tls_crisis: task_hashes in the results differ"),
    ],
)
def test_what_is_refused_in_the_samples(run, tmp_path, call, change, words):
    change_sample(run, change)
    code, _, err = call("submit", run, "-o", tmp_path / "out")
    assert code == 1 and words in err and not (tmp_path / "out").exists()


def test_the_embedded_edition_of_a_real_run_is_refused(made_runs, tmp_path, call):
    code, _, err = call("submit", made_runs / "base", "-o", tmp_path / "out", "--model", "acme/base")
    assert code == 1 and "edition: tls_crisis: it ran on the embedded edition" in err
    assert "chat template: tls_crisis: it ran without one; run with --apply_chat_template, or say --no-chat" in err


def test_reports_that_nobody_judged_are_refused(tmp_path, call):
    from tests.made_runs import make_run
    from tls_tasks.hosts.models import ReportLeadLM

    make_run(tmp_path / "run", ReportLeadLM(k=2), ["report_generation"])
    code, _, err = call("submit", tmp_path / "run", "-o", tmp_path / "out", "--model", "acme/lead")
    assert code == 1 and "scores: report_generation: recall, precision" in err and "reports need a judge" in err


def test_a_local_checkpoint_under_its_published_name(run, tmp_path, call):
    change_results(run, set_path("model_name", value="checkpoints/step 1200"))
    assert call("submit", run, "-o", tmp_path / "out")[0] == 1
    code, out, _ = call("submit", run, "-o", tmp_path / "out", "--model", "acme/final")
    assert code == 0 and "acme/final, 2 tasks, 11 documents" in out
    assert call("verify", tmp_path / "out")[0] == 0


def test_without_samples_or_results(run, tmp_path, call):
    for path in run.rglob("results_*"):
        path.unlink()
    code, _, err = call("submit", run, "-o", tmp_path / "out", "--model", "acme/good")
    assert code == 1 and "results: tls_crisis: no results file beside samples_tls_crisis_" in err
    code, _, err = call("submit", tmp_path, "-o", run)
    assert code == 1
    for path in run.rglob("samples_*"):
        path.unlink()
    code, _, err = call("submit", run, "-o", tmp_path / "out")
    assert code == 2 and "no log there" in err


def test_a_folder_with_something_in_it_is_not_overwritten(chat_runs, tmp_path, call):
    (tmp_path / "notes.txt").write_text("mine")
    code, _, err = call("submit", chat_runs / "good", "-o", tmp_path)
    assert code == 2 and "not empty; choose another folder" in err and [*tmp_path.iterdir()] == [tmp_path / "notes.txt"]


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda sent: (sent / "model-index.yml").unlink(), "file: model-index.yml is missing"),
        (lambda sent: (sent / "extra.txt").write_text("x"), "file: extra.txt is not in the manifest"),
        (lambda sent: change_results(sent, set_path("date", value=0)), "json is not in the manifest with this hash"),
        (
            lambda sent: change_sample(sent, set_path("filtered_resps", value=["no"])),
            "jsonl is not in the manifest with this hash",
        ),
        (lambda sent: next(sent.glob("run/results_*")).write_text("{"), "json is not in the manifest with this hash"),
        (lambda sent: next(sent.glob("run/results_*")).unlink(), "json is missing"),
    ],
)
def test_verify_sees_what_was_changed_on_the_way(sent, call, spoil, words):
    spoil(sent)
    code, _, err = call("verify", sent)
    assert code == 1 and words in err and err.count("\n") == 1


def test_what_is_not_there(tmp_path, call):
    said = f"{tmp_path / 'x'}: no such file or folder\n"
    assert call("verify", tmp_path / "x") == (2, "", f"tls-tasks verify: {said}")
    code, _, err = call("verify", tmp_path)
    assert code == 2 and "no manifest.json; expected a folder or zip" in err and err.count("\n") == 1
    code, _, err = call("leaderboard", tmp_path / "x", "-o", tmp_path / "site")
    assert code == 2 and err.startswith(f"tls-tasks leaderboard: {tmp_path / 'x'} left out: no such file or folder\n")


class TestLeaderboard:
    def test_verified_submissions_are_ranked_and_published_rows_marked(self, archive, tmp_path, call):
        code, out, err = call("leaderboard", archive / "worse.zip", archive / "good", "-o", tmp_path / "site")
        assert (code, err) == (0, "") and "2 submissions, 0 left out" in out
        page = (tmp_path / "site" / "index.html").read_text()
        crisis = page[page.index('<h2 id="tls_crisis"') :]
        assert "tls_crisis (unknown data)</h2>" in crisis and "nothing here compares with other tables" in crisis
        assert crisis.index("acme/good") < crisis.index("acme/worse") < crisis.index("SUnSET, Qwen72B")
        apart = crisis[crisis.index('<h2 id="tls_crisis-published">') :]
        assert crisis.count("<td>published</td>") == apart.count("<td>published</td>") == 5
        assert "published, not recomputed. Not ranked with the rows above" in apart
        assert "4 topics cannot reach significance" in crisis and "<td>self-consistent</td>" in crisis
        value = reported(archive, "tls_crisis")["ar1_f1"]
        assert f'<td class="number">{value:.4f}</td><th scope="row">acme/good</th>' in crisis
        assert "<script" not in page and "http" not in page.replace("http-equiv", "")

    def test_a_submission_that_does_not_hold_is_left_out_and_named(self, archive, sent, tmp_path, call):
        change_sample(sent, set_path("filtered_resps", value=["no"]))
        places = [archive / "worse", sent, archive / "worse.zip", tmp_path]
        code, out, err = call("leaderboard", *places, "-o", tmp_path / "site")
        assert code == 1 and "1 submission, 3 left out" in out
        assert f"{sent} left out: file: " in err and "a second submission of acme/worse" in err and "no manifest" in err
        code, _, err = call("leaderboard", sent, "-o", tmp_path / "none")
        assert code == 2 and "nothing to rank" in err

    def test_the_page_in_a_browser(self, archive, tmp_path, call, open_page):
        call("leaderboard", archive / "good", archive / "worse", "-o", tmp_path)
        for width, dark in ((1280, False), (390, True)):
            opened = open_page(tmp_path / "index.html", width, dark)
            assert opened.page.locator("tbody tr").count() >= 4 and opened.violations() == []
            wide = opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert (opened.errors, wide) == ([], 0)

    def test_groups_follow_the_paired_test(self):
        """Three systems on 20 units: two that can't be told apart, and one that is clearly worse."""
        import random

        import tls_tasks
        from tls_tasks.after.logs import RunFiles, Sample, SampleLog
        from tls_tasks.after.scored_runs import ScoredTask
        from tls_tasks.after.submission.leaderboard import site
        from tls_tasks.after.submission.verification import Verified
        from tls_tasks.core.score import Score

        generator, task, systems = random.Random(1), tls_tasks.task("summ_qmsum"), {}
        for name, mean in (("acme/a", 0.5), ("acme/worst", 0.2), ("acme/b", 0.49)):
            values = [
                {"n": 1, "rouge_l_precision": v, "rouge_l_recall": v, "rouge_l_f1": v, "n_words": 1, "empty_answers": 0}
                for v in (mean + generator.uniform(-0.1, 0.1) for _ in range(20))
            ]
            samples = tuple(Sample(n, {}, [], n, {"doc_hash": f"h{n}"}) for n in range(20))
            score = Score("summ_qmsum", "", values, task.table, list(range(20)))
            log = SampleLog(ORACLES, samples)
            files, about = RunFiles(ORACLES, "", None), {"score": score, "task": task, "version": 1.0}
            scored = ScoredTask(files, "summ_qmsum", name, log, list(map(str, range(20))), results={"date": 0}, **about)
            systems[name] = Verified([], {"model": name}, [scored])
        rows = re.findall(r'<th scope="row">(acme/\w+)</th><td>(\d)</td>', site(systems))
        assert sorted(rows) == [("acme/a", "1"), ("acme/b", "1"), ("acme/worst", "2")]


@pytest.mark.parametrize("where", ["samples", "results", "environment"])
def test_secrets_are_not_packed_and_never_shown(run, tmp_path, call, monkeypatch, where):
    secret = "S3cr3t-of-the-tests-0123456789"
    if where == "samples":
        change_sample(run, set_path("doc", "judge", value=json.dumps({"api_key": secret})))
    elif where == "results":
        change_results(run, set_path("config", "model_args", value={"model": "x", "base_url": f"http://u:{secret}@h"}))
    else:
        monkeypatch.setenv("ACME_API_KEY", secret)
        change_results(run, set_path("config", "user_seed", value=secret))
    code, out, err = call("submit", run, "-o", tmp_path / "out", "--model", "acme/good")
    kind = {"samples": "a field for a secret", "results": "a password in a URL"}.get(where, "the value of ACME_API_KEY")
    name = "samples_tls_crisis_" if where == "samples" else "results_"
    said = [line for line in err.splitlines() if "refused: secret: " in line][-1]
    assert code == 1 and name in said and f":1 holds {kind} (not shown); give secrets by the name" in said
    assert secret not in out + err and not (tmp_path / "out").exists()


@pytest.mark.parametrize(("arguments", "place"), CASES["test_secrets_in_the_options_of_the_model"])
def test_secrets_in_the_options_of_the_model(run, tmp_path, call, arguments, place):
    change_results(run, set_path("config", "model_args", value=arguments))
    code, out, err = call("submit", run, "-o", tmp_path / "out", "--model", "acme/good")
    assert code == 1 and place in err and "0123abcd" not in out + err


def test_settings_of_a_tokenizer_are_no_secrets(run, tmp_path, call):
    change_results(run, set_path("config", "model_args", value="model=acme/good,add_bos_token=True,eos_token=</s>"))
    assert call("submit", run, "-o", tmp_path / "out")[0] == 0
