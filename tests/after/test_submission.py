"""Submit, verify and rank real runs; and what is refused, one change at a time."""

import hashlib
import json
import random
import re
import shutil
import time
from pathlib import Path

import pytest

import tls_tasks
from tests.after.conftest import change_json, change_rows, only, put
from tests.conftest import ORACLES
from tls_tasks.after.logs import RunFiles, Sample, SampleLog
from tls_tasks.after.scored_runs import ScoredTask
from tls_tasks.after.submission import verification
from tls_tasks.after.submission.leaderboard import site
from tls_tasks.after.submission.verification import Verified
from tls_tasks.cli import main
from tls_tasks.core.score import Score, table_parts

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
        for out in (folder / name, folder / f"{name}.zip"):
            assert main(["submit", str(chat_runs / name), "-o", str(out)]) == 0
    return folder


@pytest.fixture
def sent(archive, tmp_path):
    """A copy of the good archive, to spoil."""
    shutil.copytree(archive / "good", tmp_path / "sent")
    return tmp_path / "sent"


def reported(archive, name):
    """The harness's own numbers that have a direction."""
    results = json.loads(only(archive / "good/run", "results_*").read_text(encoding="utf-8"))
    directions = results["higher_is_better"][name]
    numbers = {key.removesuffix(",none"): value for key, value in results["results"][name].items()}
    keys = [key for key in numbers if directions.get(key) is not None and not key.endswith("_stderr")]
    return {key: numbers[key] for key in keys}


def change_results(folder, *keys, value):
    change_json(only(folder, "results_*.json"), put(*keys, value=value))


def change_sample(folder, *keys, value):
    """Change the first sample of tls_crisis."""
    change_rows(only(folder, "samples_tls_crisis_*"), put(0, *keys, value=value))


def test_the_archive_holds_the_run(archive, chat_runs):
    folder = archive / "good"
    manifest = json.loads((folder / "manifest.json").read_text())
    assert (manifest["model"], sorted(manifest["tasks"])) == ("acme/good", NAMES)
    for name, digest in manifest["files"].items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    assert {path.name for path in (folder / "run").iterdir()} == {path.name for path in chat_runs.glob("good/*/*")}


def test_verify_on_a_machine_with_only_the_archive(archive, call, monkeypatch):
    monkeypatch.delenv("TLS_TASKS_DATA", raising=False)
    for place in (archive / "good", archive / "good.zip"):
        code, out, err = call("verify", place)
        assert (code, err) == (0, "") and "self-consistent: acme/good, summ_qmsum, tls_crisis; unsigned" in out


def test_the_zip_is_the_same_each_time_of_a_second(tmp_path, chat_runs, call, monkeypatch):
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now)
    for name in ("a.zip", "b.zip"):
        assert call("submit", chat_runs / "good", "-o", tmp_path / name)[0] == 0
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


@pytest.mark.parametrize(("keys", "value", "words"), CASES["test_what_is_refused_in_the_results"])
def test_what_is_refused_in_the_results(run, tmp_path, call, keys, value, words):
    change_results(run, *keys, value=value)
    code, _, err = call("submit", run, "-o", tmp_path / "out")
    assert code == 1 and f"tls-tasks submit: refused: {words}" in err.replace("refused: model: ", "refused: ")
    assert not (tmp_path / "out").exists()


def test_results_that_say_nothing_of_a_chat_template_are_refused(run, tmp_path, call):
    change_json(only(run, "results_*.json"), lambda results: results.pop("chat_template_sha"))
    code, _, err = call("submit", run, "-o", tmp_path / "out")
    assert code == 1 and "chat template: tls_crisis: the results record none" in err


@pytest.mark.parametrize(("keys", "value", "words"), CASES["test_what_is_refused_in_the_samples"])
def test_what_is_refused_in_the_samples(run, tmp_path, call, keys, value, words):
    change_sample(run, *keys, value=value)
    code, _, err = call("submit", run, "-o", tmp_path / "out")
    assert code == 1 and words in err and not (tmp_path / "out").exists()


def test_a_document_that_was_changed_with_its_hash_is_refused(run, tmp_path, call):
    def change(rows):
        doc = rows[0]["doc"]
        doc["query"] = "other"
        rows[0]["doc_hash"] = hashlib.sha256(json.dumps(doc, indent=2, ensure_ascii=False).encode()).hexdigest()

    change_rows(only(run, "samples_tls_crisis_*"), change)
    code, _, err = call("submit", run, "-o", tmp_path / "out")
    assert code == 1 and "hash: tls_crisis: task_hashes in the results differ" in err


def test_the_embedded_edition_of_a_real_run_is_refused(made_runs, tmp_path, call):
    code, _, err = call("submit", made_runs / "base", "-o", tmp_path / "out", "--model", "acme/base")
    assert code == 1 and "edition: tls_crisis: it ran on the embedded edition" in err
    assert "chat template: tls_crisis: it ran without one; run with --apply_chat_template, or say --no-chat" in err


def test_reports_that_nobody_judged_are_refused(tmp_path, call):
    from tests.made_runs import make_run
    from tls_tasks.hosts.models import ReportLeadLM

    make_run(tmp_path / "run", ReportLeadLM(k=2), ["report_generation"])
    code, _, err = call("submit", tmp_path / "run", "-o", tmp_path / "out", "--model", "acme/lead")
    assert code == 1 and "scores: report_generation: f1 is NaN; reports need a judge" in err


def test_a_local_checkpoint_under_its_published_name(run, tmp_path, call):
    change_results(run, "model_name", value="checkpoints/step 1200")
    assert call("submit", run, "-o", tmp_path / "out")[0] == 1
    code, out, _ = call("submit", run, "-o", tmp_path / "out", "--model", "acme/final")
    assert code == 0 and "acme/final, 2 tasks, 11 documents" in out
    assert call("verify", tmp_path / "out")[0] == 0


@pytest.mark.parametrize("model", ["acme/a--b", f"acme/{'m' * 97}", "acme/m.git", "acme", "acme/a/b", "ac me/m"])
def test_names_that_the_hub_does_not_take(run, tmp_path, call, model):
    code, _, err = call("submit", run, "-o", tmp_path / "out", "--model", model)
    assert code == 1 and "not ORG/NAME as on the hub (ASCII letters" in err
    assert call("submit", run, "-o", tmp_path / "out", "--model", f"acme/{'m' * 96}")[0] == 0


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
        (lambda sent: (sent / "extra.txt").write_text("x"), "file: extra.txt is not in the manifest"),
        (lambda sent: change_results(sent, "date", value=0), "json is not in the manifest with this hash"),
        (lambda sent: change_sample(sent, "target", value="no"), "jsonl is not in the manifest with this hash"),
        (lambda sent: only(sent, "results_*").write_text("{"), "json is not in the manifest with this hash"),
        (lambda sent: only(sent, "results_*").unlink(), "json is missing"),
    ],
)
def test_verify_sees_what_was_changed_on_the_way(sent, call, spoil, words):
    spoil(sent)
    code, _, err = call("verify", sent)
    assert code == 1 and words in err and err.count("\n") == 1


def never_ends(*_):
    """In C, where no other Python code runs."""
    re.fullmatch("(a+)+b", "a" * 99)


@pytest.mark.parametrize("function", ["unpacked", "verify_submission"])
def test_a_check_that_never_ends_is_ended(sent, call, monkeypatch, function):
    monkeypatch.setattr(verification, function, never_ends)
    monkeypatch.setattr(verification, "SECONDS", 1.0)
    code, _, err = call("leaderboard", sent, "-o", sent / "site")
    assert code == 2 and "left out: time: the checks took more than 1" in err


def test_what_takes_too_long_is_refused(sent, call):
    code, _, err = call("verify", sent, "--time-limit", "0.001")
    assert code == 1 and "refused: time: the checks took more than 0.001 s" in err and "--time-limit SECONDS" in err
    for seconds in ("0", "nan", "1e9"):
        code, _, err = call("verify", sent, "--time-limit", seconds)
        assert code == 2 and "--time-limit: got" in err


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
        change_sample(sent, "filtered_resps", value=["no"])
        places = [archive / "worse", sent, archive / "worse.zip", tmp_path]
        code, out, err = call("leaderboard", *places, "-o", tmp_path / "site")
        assert code == 1 and "1 submission, 3 left out" in out
        assert f"{sent} left out: file: " in err and "a second submission of acme/worse" in err and "no manifest" in err
        code, _, err = call("leaderboard", sent, "-o", tmp_path / "none")
        assert code == 2 and "nothing to rank" in err

    def test_the_page_in_a_browser(self, archive, tmp_path, call, open_page):
        call("leaderboard", archive / "good", archive / "worse", "-o", tmp_path / "site")
        for width, dark in ((1280, False), (390, True)):
            opened = open_page(tmp_path / "site" / "index.html", width, dark)
            ranking = opened.page.locator("#tls_crisis ~ .ranking").first
            assert ranking.locator(".dot.hollow").count() == 0 < opened.page.locator(".dot.hollow").count()
            assert ranking.locator("tbody .whisker.doubtful").count() == 2 < ranking.locator("tbody tr").count() == 3
            assert "people against people" in ranking.locator("tbody tr").last.inner_text()
            assert opened.violations() == []
            wide = opened.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert (opened.errors, wide) == ([], 0)

    def test_groups_follow_the_paired_test(self):
        """Three systems on 20 units: two that can't be told apart, and one that is clearly worse."""
        generator, task, systems = random.Random(1), tls_tasks.task("summ_qmsum"), {}
        results = ("rouge_l_precision", "rouge_l_recall", "rouge_l_f1")
        for name, mean in (("acme/a", 0.5), ("acme/worst", 0.2), ("acme/b", 0.49)):
            values = [dict.fromkeys(results, mean + generator.uniform(-0.1, 0.1)) for _ in range(20)]
            rest = dict.fromkeys(table_parts(task.table), 0) | {"n": 1}
            units = [rest | value for value in values]
            samples = tuple(Sample(n, {}, [], n, {"doc_hash": f"h{n}"}) for n in range(20))
            score = Score("summ_qmsum", "", units, task.table, list(range(20)))
            log = SampleLog(ORACLES, samples)
            files, about = RunFiles(ORACLES, "", None), {"score": score, "task": task, "version": 1.0}
            scored = ScoredTask(files, "summ_qmsum", name, log, list(map(str, range(20))), results={"date": 0}, **about)
            systems[name] = Verified([], {"model": name}, [scored])
        rows = re.findall(r'<th scope="row">(acme/\w+)</th><td>(\d)</td>', site(systems))
        assert sorted(rows) == [("acme/a", "1"), ("acme/b", "1"), ("acme/worst", "2")]


SECRET = "S3cr3t-of-the-tests-0123456789"
IN_THE_DOCUMENT = (0, "doc", "judge"), json.dumps({"api_key": SECRET})
IN_A_URL = ("config", "model_args"), {"model": "x", "base_url": f"http://u:{SECRET}@h"}
OF_THE_ENVIRONMENT = ("config", "user_seed"), "S3cr3t-of-the-environment-0123"


@pytest.mark.parametrize(
    ("name", "secret", "kind"),
    [
        ("samples_tls_crisis_", IN_THE_DOCUMENT, "a field for a secret"),
        ("results_", IN_A_URL, "a password in a URL"),
        ("results_", OF_THE_ENVIRONMENT, "the value of ACME_API_KEY"),
    ],
)
def test_secrets_are_not_packed_and_never_shown(run, tmp_path, call, monkeypatch, name, secret, kind):
    monkeypatch.setenv("ACME_API_KEY", OF_THE_ENVIRONMENT[1])
    keys, value = secret
    change = change_rows if name.startswith("samples") else change_json
    change(only(run, f"{name}*"), put(*keys, value=value))
    code, out, err = call("submit", run, "-o", tmp_path / "out", "--model", "acme/good")
    said = [line for line in err.splitlines() if "refused: secret: " in line][-1]
    assert code == 1 and name in said and f":1 holds {kind} (not shown); give secrets by the name" in said
    assert "S3cr3t" not in out + err and not (tmp_path / "out").exists()


@pytest.mark.parametrize(("arguments", "place"), CASES["test_secrets_in_the_options_of_the_model"])
def test_secrets_in_the_options_of_the_model(run, tmp_path, call, arguments, place):
    change_results(run, "config", "model_args", value=arguments)
    code, out, err = call("submit", run, "-o", tmp_path / "out", "--model", "acme/good")
    assert code == 1 and place in err and "0123abcd" not in out + err


def test_settings_of_a_tokenizer_are_no_secrets(run, tmp_path, call):
    change_results(run, "config", "model_args", value="model=acme/good,add_bos_token=True,eos_token=</s>")
    assert call("submit", run, "-o", tmp_path / "out")[0] == 0
