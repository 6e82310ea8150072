"""Names, ids, topics and answers from elsewhere reach the terminal only with every control character visible."""

import json
import shutil
import unicodedata

import pytest

from tests.conftest import ROOT
from tls_tasks.cli import main
from tls_tasks.cli.base import say, write_json

pytestmark = pytest.mark.filterwarnings("ignore")

LOGS = ROOT / "tests" / "recorded" / "logs-0.1.0"
EVIL = "=a\x1b[2J\x1b]8;;http://x\x07\r\x9b31m\u202e\u2066\u2028\u200b\u0085b"
FORBIDDEN = ("Cc", "Cf", "Zl", "Zp")


def check(captured):
    for text in captured:
        bad = [one for one in text if one != "\n" and unicodedata.category(one) in FORBIDDEN]
        assert not bad, (bad, text[:300])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder a task: hostile model names, document ids and topics, and a row that can't be read."""
    folder = tmp_path_factory.mktemp("hostile")
    for source in sorted(path for path in LOGS.iterdir() if path.is_dir()):
        run = shutil.copytree(source, folder / source.name)
        for path in run.glob("results_*"):
            results = json.loads(path.read_text(encoding="utf-8"))
            results["model_name"] = results["model_source"] = EVIL
            path.write_text(json.dumps(results), encoding="utf-8")
        for path in run.glob("samples_*"):
            rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
            for row in rows:
                row["doc"]["doc_id"] = f"{EVIL}{row['doc_id']}"
                if "topic" in row["doc"]:
                    row["doc"]["topic"] = EVIL + row["doc"]["topic"]
            rows[0]["filtered_resps"] = [f"2011-01-25: {EVIL}"]
            rows.append({**rows[-1], EVIL: 1, "doc_id": EVIL})
            path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["tls_datewise", "summ_lead", "report_lead"])
def test_after_a_run(runs, name, tmp_path, capsys):
    run = runs / name
    commands = [
        ["score", run, "--csv", tmp_path / "scores.csv"],
        ["score", run, "--json", "-"],
        ["compare", run, run, "--resamples", 20, "--permutations", 20],
        ["page", run, "-o", tmp_path / "page.html"],
        ["submit", run, "-o", tmp_path / "out"],
        ["verify", run],
        ["leaderboard", run, "-o", tmp_path / "site"],
    ]
    for command in commands:
        main(list(map(str, command)))
        captured = capsys.readouterr()
        assert captured.out or captured.err
        check(captured)
    check([(tmp_path / "page.html").read_text(encoding="utf-8")])
    rows = (tmp_path / "scores.csv").read_text(encoding="utf-8")
    assert "\"'=a" in rows and '"=a' not in rows


def test_reports_and_verdicts(tmp_path, capsys):
    row = {"request_id": EVIL, "run_id": EVIL, "sentences": [{"text": "It rained.", "citations": [EVIL]}]}
    nuggets = {"query_id": "other", "items": [{"question_text": EVIL, "gold_answers": [EVIL]}]}
    for name, rows in (
        ("reports.jsonl", [row, row, {EVIL: 1}]),
        ("nuggets.jsonl", [nuggets]),
        ("docs.jsonl", [{"id": "d", "text": "t"}]),
        ("verdicts.jsonl", [{"kind": "citation_support", "sentence": "x", "doc_id": EVIL, "verdict": "YES"}]),
    ):
        (tmp_path / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    reports, nugget_file, docs, verdicts = (
        str(tmp_path / f"{name}.jsonl") for name in ("reports", "nuggets", "docs", "verdicts")
    )
    judged = ["--documents", docs, "--recorded", verdicts]
    commands = [
        ["judge", reports, nugget_file, "-o", str(tmp_path / "out"), "-v", *judged],
        ["reports", reports, nugget_file, *judged],
        ["bundle-docs", reports, "--documents", docs, "-o", str(tmp_path / "cited.jsonl")],
        ["agree", verdicts, reports],
        ["agree", verdicts, verdicts],
    ]
    for command in commands:
        main(command)
        captured = capsys.readouterr()
        assert captured.out or captured.err
        check(captured)


def test_json_on_stdout_is_the_same_value(capsys, tmp_path):
    from pathlib import Path

    write_json(Path("-"), {EVIL: ["東京", "\U000e0041", EVIL]})
    out = capsys.readouterr().out
    check([out])
    assert json.loads(out) == {EVIL: ["東京", "\U000e0041", EVIL]} and "東京" in out


def test_newlines_are_our_layout(capsys):
    say("a\nb\r")
    assert capsys.readouterr().out == "a\nb\\r\n"
