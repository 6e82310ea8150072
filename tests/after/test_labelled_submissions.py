"""Submissions with people's labels: packed, corrected again, shown on boards; and what a forger may change."""

import csv
import json
import shutil

import pytest

from tests.after.conftest import change_json, only, sign_again
from tests.conftest import made_once
from tests.harness_parts import JudgeServer
from tls_tasks.cli import main
from tls_tasks.data.order import EMBEDDED

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NAME = "report_generation"
SUBMIT = ("--model", "acme/lead", "--no-chat-template")


def make_judged(folder):
    """Two runs of one baseline, judged on loopback; labels of draws from the first."""
    from tests.made_runs import make_run
    from tls_tasks.hosts.models import ReportLeadLM

    shutil.copytree(EMBEDDED / NAME, folder / "data" / NAME)
    for file in (folder / "data").rglob("*.jsonl"):
        file.write_text(file.read_text(encoding="utf-8").replace(" the ", " THE "), encoding="utf-8")
    server = JudgeServer(lambda sentence, *_: "NO" if sum(map(ord, str(sentence))) % 3 else "YES")
    judge = {"base_url": server.url, "model": "judge"}
    for name, k in (("run", 8), ("other", 2)):
        make_run(folder / name, ReportLeadLM(k=k), [NAME], metadata={"data": str(folder / "data"), "judge": judge})
    server.close()
    draw(folder, "labels", 40, 1)
    draw(folder, "seed 2", 40, 2)
    draw(folder, "n 45", 45, 1)
    draw(folder, "of other", 45, 1, "other")


def draw(folder, name, n, seed, run="run"):
    """A draw with labels: NO for every third item."""
    table = folder / f"{name}.csv"
    samples = only(folder / run, "samples_*")
    assert main(["agree", str(samples), "--sample", str(n), "--seed", str(seed), "-o", str(table)]) == 0
    head, columns, *rows = csv.reader(table.open(encoding="utf-8"))
    with table.open("w", encoding="utf-8") as file:
        said = ([*row[:5], "NO" if at % 3 == 0 else "YES"] for at, row in enumerate(rows))
        csv.writer(file).writerows([head, columns, *said])


@pytest.fixture(scope="session")
def judged(tmp_path_factory):
    pytest.importorskip("lm_eval")
    return made_once(tmp_path_factory, "judged", make_judged)


@pytest.fixture
def sent(judged, tmp_path, call):
    arguments = ("submit", judged / "run", "-o", tmp_path / "sent", *SUBMIT, "--labels", judged / "labels.csv")
    assert call(*arguments)[::2] == (0, "")
    return tmp_path / "sent"


LABELLED = "citation_support_micro_corrected"


def relabel(old, new, n=1):
    def change(sent, _):
        text = (sent / "labels.csv").read_text()
        assert old in text
        (sent / "labels.csv").write_text(text.replace(old, new, n))

    return change


def swap(name):
    return lambda sent, judged: shutil.copyfile(judged / f"{name}.csv", sent / "labels.csv")


def state(**values):
    return lambda sent, _: change_json(sent / "manifest.json", lambda listed: listed["corrected"].update(values))


FORGED = {
    "a label": (relabel(",YES", ",NO"), f"labels: {LABELLED} is 0.639408053 in the manifest, 0.6"),
    "labels taken away": (relabel(",NO", ","), "labels: citation_support_empty is 0 in the manifest, 1 by labels.csv"),
    "an item that was not drawn": (relabel("sentence 1 cites", "sentence 99 cites"), "got an item that was not drawn"),
    "a larger draw": (relabel("n=40", "n=45"), "labels: citation_support_empty is 0 in the manifest, 5 by"),
    "another seed": (relabel("seed=1", "seed=7"), "got an item that was not drawn"),
    "the file of another seed": (swap("seed 2"), "in the manifest, 'corrected:ppi++,n:40,seed:2' by labels.csv"),
    "the file of another n": (swap("n 45"), "citation_support_labels is 40 in the manifest, 45 by"),
    "labels of another run": (swap("of other"), "labels: labels.csv: line 1: got items="),
    "too few labels": (relabel("YES", "", 60), "labels: labels: got 0 YES and 14 NO"),
    "no labels file": (lambda sent, _: (sent / "labels.csv").unlink(), "labels: labels.csv: can't be read as CSV"),
    "a file of any kind": (lambda sent, _: (sent / "labels.csv").write_bytes(b"\xff\x00"), "can't be read as CSV"),
    "a stated result": (state(**{LABELLED: 0.99}), f"labels: {LABELLED} is 0.99 in the manifest, 0.639408053 by"),
    "a caution taken away": (state(ci_caution=""), "labels: ci_caution is '' in the manifest, 'with only 6 topics"),
    "another task": (state(task="tls_crisis"), "labels: task is 'tls_crisis' in the manifest, 'report_generation' by"),
    "a result that is none": (state(f1_micro_corrected=1.0), "labels: f1_micro_corrected is 1.0 in the manifest, None"),
    "nothing stated": (
        lambda sent, _: change_json(sent / "manifest.json", lambda listed: listed.pop("corrected")),
        "file: labels.csv is no part of a submission",
    ),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_what_does_not_follow_from_the_labels_is_refused(judged, sent, call, forgery):
    change, words = FORGED[forgery]
    change(sent, judged)
    assert call("verify", sent)[0] == 1 or forgery in {"a stated result", "nothing stated"}
    sign_again(sent)
    code, _, err = call("verify", sent)
    assert code == 1 and words in err and str(sent) not in err


def test_a_board_shows_corrected_results_and_ranks_by_the_others(judged, sent, tmp_path, call, open_page):
    code, out, err = call("verify", sent)
    assert (code, err) == (0, "") and "not checked: labels.csv: who labelled; and items without a verdict" in out
    assert call("submit", judged / "other", "-o", tmp_path / "plain", *SUBMIT, "--model", "acme/plain")[0] == 0
    assert call("leaderboard", sent, tmp_path / "plain", "-o", tmp_path / "site")[0] == 0
    found = json.loads((sent / "manifest.json").read_text())["corrected"]
    low, high = found[f"{LABELLED}_ci"]
    said = f"corrected: citation_support {found[LABELLED]:.4f} ({low:.4f} to {high:.4f}) †, 40 labels; nugget_coverage"
    opened = open_page(tmp_path / "site" / "index.html", 390, True)
    first, second = (row.inner_text() for row in opened.page.locator(".ranking tbody tr").all()[:2])
    assert "acme/lead" in first and said in first and "acme/plain" in second, "by f1, which labels do not correct"
    assert "labels" not in second and '<th scope="col">corrected by labels</th>' in opened.page.content()
    assert opened.violations() == [] and "nobody here knows who labelled" in opened.page.content()


def test_labels_that_do_not_fit_or_hold_a_secret_are_not_packed(judged, tmp_path, call, monkeypatch):
    code, _, err = call("submit", judged / "other", "-o", tmp_path / "a", *SUBMIT, "--labels", judged / "labels.csv")
    assert code == 2 and "labels.csv: line 1: got items=" in err and not (tmp_path / "a").exists()
    monkeypatch.setenv("ACME_API_KEY", "S3cr3t-of-the-environment-0123")
    secret = tmp_path / "labels.csv"
    secret.write_text((judged / "labels.csv").read_text() + ",,,S3cr3t-of-the-environment-0123,,\n")
    code, _, err = call("submit", judged / "run", "-o", tmp_path / "a", *SUBMIT, "--labels", secret)
    assert code == 1 and "holds the value of ACME_API_KEY" in err and not (tmp_path / "a").exists()
