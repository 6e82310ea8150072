"""Names, ids, topics and answers from elsewhere reach the terminal only with every control character visible."""

import json
import shutil
import unicodedata
from pathlib import Path

import pytest

from tests.after.conftest import change_json, change_rows
from tests.cli.conftest import run, write
from tls_tasks.cli.base import say, write_json

pytestmark = pytest.mark.filterwarnings("ignore")

TASKS = ["tls_crisis", "summ_dialogsum", "report_generation"]
EVIL = "=a\x1b[2J\x1b]8;;http://x\x07\r\x9b31m\u202e\u2066\u2028\u200b\u0085b"
FORBIDDEN = ("Cc", "Cf", "Zl", "Zp")


def spoil(rows):
    for row in rows:
        row["doc"]["doc_id"] = f"{EVIL}{row['doc_id']}"
        if "topic" in row["doc"]:
            row["doc"]["topic"] = EVIL + row["doc"]["topic"]
    rows[0]["filtered_resps"] = [f"2011-01-25: {EVIL}"]
    rows.append({**rows[-1], EVIL: 1, "doc_id": EVIL})


def check(*texts):
    for text in texts:
        bad = [one for one in text if one != "\n" and unicodedata.category(one) in FORBIDDEN]
        assert not bad, (bad, text[:300])


def check_commands(capsys, *commands):
    for name, *arguments in commands:
        _, out, err = run(name, capsys, *arguments)
        assert out or err
        check(out, err)


@pytest.mark.slow
@pytest.mark.parametrize("task", TASKS)
def test_after_a_run(made_runs, task, tmp_path, capsys):
    """Hostile model names, document ids and topics, and a row that can't be read."""
    [samples] = made_runs.glob(f"base/**/samples_{task}_*")
    results = samples.with_name(f"results_{samples.stem.rpartition('_')[2]}.json")
    (log := tmp_path / "log").mkdir()
    change_json(Path(shutil.copy(results, log)), lambda results: results.update(model_name=EVIL, model_source=EVIL))
    change_rows(Path(shutil.copy(samples, log)), spoil)
    check_commands(
        capsys,
        ("score", log, "--csv", tmp_path / "scores.csv"),
        ("score", log, "--json", "-"),
        ("compare", log, log, "--permutations", 20),
        ("page", log, "-o", tmp_path / "page.html"),
        ("submit", log, "-o", tmp_path / "out"),
        ("verify", log),
        ("leaderboard", log, "-o", tmp_path / "site"),
    )
    check((tmp_path / "page.html").read_text(encoding="utf-8"))
    rows = (tmp_path / "scores.csv").read_text(encoding="utf-8")
    assert "\"'=a" in rows and '"=a' not in rows


def test_reports_and_verdicts(tmp_path, capsys):
    row = {"request_id": EVIL, "run_id": EVIL, "sentences": [{"text": "It rained.", "citations": [EVIL]}]}
    nuggets = {"query_id": "other", "items": [{"question_text": EVIL, "gold_answers": [EVIL]}]}
    reports = write(tmp_path / "reports.jsonl", row, row, {EVIL: 1})
    nuggets = write(tmp_path / "nuggets.jsonl", nuggets)
    docs = write(tmp_path / "docs.jsonl", {"id": "d", "text": "t"})
    verdict = {"kind": "citation_support", "sentence": "x", "doc_id": EVIL, "verdict": "YES"}
    verdicts = write(tmp_path / "verdicts.jsonl", verdict)
    places = ("--predictions", reports, "--references", nuggets)
    judged = ("--documents", docs, "--recorded", verdicts)
    check_commands(capsys, ("reports", *places, "-o", tmp_path / "out", "-v", *judged), ("reports", *places, *judged))


def test_json_on_stdout_is_the_same_value(capsys):
    write_json(Path("-"), {EVIL: ["東京", "\U000e0041", EVIL]})
    out = capsys.readouterr().out
    check(out)
    assert json.loads(out) == {EVIL: ["東京", "\U000e0041", EVIL]} and "東京" in out


def test_newlines_are_our_layout(capsys):
    say("a\nb\r")
    assert capsys.readouterr().out == "a\nb\\r\n"
