"""tls-tasks reports: files, the judge that is asked, and what a bad one does."""

import argparse
import json
from pathlib import Path

import pytest

from tests.cli.conftest import refused, run, write
from tests.conftest import read_jsonl
from tests.reports.judges.conftest import serve
from tests.reports.judges.server import truth
from tls_tasks.cli.reports import _judge_spec, add_parser
from tls_tasks.core.errors import DataError
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.runs import read_run
from tls_tasks.reports.score import KEYS

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

__all__ = ["serve"]

ROOT = Path(__file__).parents[2]
FOLDER = EMBEDDED_RECORDING.parent
REPORTS, NUGGETS, DOCUMENTS = (FOLDER / f"{name}.jsonl" for name in ("reports", "nuggets", "documents"))
RECORDED = ["--predictions", REPORTS, "--references", NUGGETS, "--documents", DOCUMENTS, "--recorded", "embedded"]

TINY_REPORTS, TINY_NUGGETS, TINY_DOCUMENTS = (CASES["TINY"][name] for name in ("reports", "nuggets", "documents"))


@pytest.fixture
def tiny(tmp_path):
    """Arguments for a run of one small report."""
    files = {name: write(tmp_path / f"{name}.jsonl", *rows) for name, rows in CASES["TINY"].items()}
    words = ["--predictions", files["reports"], "--references", files["nuggets"], "--documents", files["documents"]]
    return [*words, "-o", tmp_path / "out"]


def scores(folder):
    return json.loads((folder / "scores.json").read_text())


def judged(arguments, server, capsys, *more):
    return run("reports", capsys, *arguments, "--base-url", server.url, "-m", "m", *more)


# ---- a recording


def test_a_recorded_run(tmp_path, capsys):
    code, out, err = run("reports", capsys, *RECORDED, "-o", tmp_path / "out")
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[:4] if line}
    assert rows["run"] == [*KEYS]
    assert rows["careful"][:2] == ["0.9398", "1.0000"] and rows["hasty"][:2] == ["0.2937", "0.4889"]
    assert "reports: 12, sentences: 88 (0 without a score), unknown citations: 2" in out
    assert "report_eval|" in out and "judge:embedded" in out and (code, err) == (0, "")
    found = scores(tmp_path / "out")
    assert found["runs"]["careful"]["precision"] == 1.0 and found["judge"] == "embedded"
    results = read_jsonl(tmp_path / "out" / "results.jsonl")
    assert [(row["run_id"], row["request_id"]) for row in results][::6] == [("careful", "e01"), ("hasty", "e01")]
    assert len(read_jsonl(tmp_path / "out" / "verdicts.jsonl")) == 802
    again = [*RECORDED[:-1], tmp_path / "out" / "verdicts.jsonl"]  # a judged run is a recording
    assert run("reports", capsys, *again, "-o", tmp_path / "again")[0] == 0
    assert scores(tmp_path / "again") == found
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == (tmp_path / "again" / "results.jsonl").read_bytes()


def test_a_recording_that_lacks_verdicts_leaves_sentences_unscored(tmp_path, capsys):
    rows = read_jsonl(EMBEDDED_RECORDING)
    part = write(tmp_path / "part.jsonl", *(row for row in rows if row.get("doc_id") != "hills-01"))
    arguments = [*RECORDED[:-1], part, "-o", tmp_path / "out"]
    code, _, err = run("reports", capsys, *arguments)
    assert code == 1 and err.startswith("tls-tasks reports: ") and "3.4% of the sentences have no score" in err
    assert "The recording lacks them" in err and err.count("\n") == 1
    assert scores(tmp_path / "out")["n_unscored"] == 3


def test_micro(tmp_path, capsys):
    assert run("reports", capsys, *RECORDED, "-o", tmp_path, "--aggregate", "micro")[0] == 0
    found = scores(tmp_path)
    assert "agg:micro" in found["signature"] and found["runs"]["careful"]["recall"] == 45 / 48


def test_compat(tiny, serve, tmp_path, capsys):
    nugget = {"question_text": "q", "gold_answers": ["a"], "info": {"importance": "okay"}}
    write(tiny[3], {"query_id": "7", "items": [nugget]})
    write(tiny[1], {**TINY_REPORTS[0], "collection_ids": ["c"]})  # the program asks for one
    assert judged(tiny, serve(), capsys, "--compat", "report_gen_eval")[0] == 0
    found = scores(tmp_path / "out")
    # Of six sentences three are not supported; the others match the one answer.
    assert "compat:report_gen_eval" in found["signature"] and (found["recall"], found["precision"]) == (1.0, 0.5)


# ---- an endpoint


def test_an_endpoint_judges_and_the_second_run_asks_nothing(tiny, serve, tmp_path, capsys):
    server = serve()
    code, out, _ = judged(tiny, server, capsys)
    n_asked = len(server.requests)
    first = scores(tmp_path / "out")
    assert first["citation_support"] == 0.5 and first["judge"].startswith("m@127.0.0.1,prompts:")
    assert n_asked == 6 + 3 * 2  # one citation each; two answers for the three that hold
    rows = [row for row in read_jsonl(tmp_path / "out" / "verdicts.jsonl") if row["kind"] == "citation_support"]
    assert [row["verdict"] for row in rows] == [truth(row["fields"]["sentence"]) for row in rows]
    assert [row["about"]["sentence"] for row in rows] == list(range(6))
    table = {line.rsplit(maxsplit=1)[0]: line.rsplit(maxsplit=1)[1] for line in out.splitlines()[-7:] if line.strip()}
    assert (code, table["asked"], table["cached"], table["failed"]) == (0, "12", "0", "0")
    assert (table["prompt tokens"], table["completion tokens"]) == ("1,200", "24")
    assert judged(tiny, server, capsys)[0] == 0 and len(server.requests) == n_asked
    assert {key: scores(tmp_path / "out")[key] for key in KEYS} == {key: first[key] for key in KEYS}


STAYS = {"no verdict": lambda sentence, n, messages: "I can't say.", "hangs": lambda sentence, n, messages: "hang"}


@pytest.mark.parametrize("answer", STAYS.values(), ids=STAYS)
def test_a_judge_that_never_answers_never_yields_a_number(tiny, serve, tmp_path, capsys, answer):
    code, out, err = judged(tiny, serve(answer), capsys, "--judge", '{"max_tries": 1, "timeout": 0.3}')
    found = scores(tmp_path / "out")
    assert code == 1 and {found[key] for key in KEYS} == {None} and found["n_unscored"] == 6
    assert "100.0% of the sentences have no score" in err and "NaN" in out


def test_a_judge_that_refuses_stops_the_run_with_its_words(tiny, serve, tmp_path, capsys):
    server = serve(lambda *_: (401, {"error": {"message": "Incorrect API key"}}, {}))
    code, _, err = judged(tiny, server, capsys)
    assert code == 2 and "Incorrect API key" in err and len(server.requests) <= 16
    assert not (tmp_path / "out" / "scores.json").exists()


def test_a_judge_that_refuses_later_keeps_what_it_said(tiny, serve, tmp_path, capsys):
    def answer(sentence, n, messages):
        return (401, {"error": {"message": "expired"}}, {}) if "<answer>" in messages[0]["content"] else truth(sentence)

    server = serve(answer)
    assert judged(tiny, server, capsys)[0] == 2
    assert len(read_jsonl(tmp_path / "out" / "verdicts.jsonl")) == 6
    n_asked = len(server.requests)
    server.answer = lambda sentence, n, messages: truth(sentence)
    assert judged(tiny, server, capsys)[0] == 0
    assert len(server.requests) == n_asked + 6  # the nuggets only


# ---- files


def test_rows_that_can_not_be_read_lose_nothing_but_themselves(tiny, serve, tmp_path, capsys):
    other = {"request_id": "8", "run_id": "a", "sentences": [{"text": "Sentence 3."}]}
    write(tiny[1], "{", *TINY_REPORTS, other, {"a": 1})
    code, _, err = judged(tiny, serve(), capsys)
    assert (
        code == 1
        and "reports.jsonl, line 1: not JSON" in err
        and "reports.jsonl, line 4: " in err
        and "(line left out)" in err
    )
    assert "request 8: no nuggets" in err
    assert scores(tmp_path / "out")["counts"]["reports"] == 2


@pytest.mark.parametrize(("words", "message"), CASES["test_what_can_not_work_is_one_line_and_no_call"])
def test_what_can_not_work_is_one_line_and_no_call(tiny, capsys, monkeypatch, tmp_path, words, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOGETHER_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    places = {"reports": tiny[1], "nuggets": tiny[3], "documents": tiny[5]}
    refused("reports", capsys, *(word.format(**places) for word in words.split()), said=message)


@pytest.mark.parametrize("option", [["--batch-size", "x"], ["-p", "acme"], ["--limit", "x"]])
def test_impossible_options(tiny, capsys, option):
    code, _, err = run("reports", capsys, *tiny, *option)
    assert code == 2 and option[0] in err


def test_the_limit_leaves_out_sentences(tiny, serve, tmp_path, capsys):
    assert judged(tiny, serve(), capsys, "--limit", "60")[0] == 0
    assert scores(tmp_path / "out")["counts"]["sentences"] == 2


# ---- samples logs


ANSWER = "Sentence 2 is good [1]. Sentence 3 is not [1]. Sentence 4 cites nothing [5]."
ASKED = {"nuggets": json.dumps(TINY_NUGGETS[0]), "documents": json.dumps(TINY_DOCUMENTS)}
DOC = {"doc_id": "7", "collection_id": "", "limit": 0, **ASKED}
SAMPLE = {"doc_id": 0, "doc": DOC, "resps": [[ANSWER]], "filtered_resps": ["…"]}


def test_a_samples_log_has_nuggets_and_documents_of_its_own(serve, tmp_path, capsys):
    log = write(tmp_path / "samples_report_generation_x.jsonl", SAMPLE, {**SAMPLE, "filter": "another"})
    assert judged(["--predictions", log, "-o", tmp_path / "out"], serve(), capsys)[0] == 0
    found = scores(tmp_path / "out")
    assert found["counts"]["reports"] == 1 and found["counts"]["unknown_citations"] == 1
    assert found["citation_support"] == pytest.approx(1 / 3)
    assert list(found["runs"]) == ["samples_report_generation_x"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([SAMPLE, "{"], "line 2: not JSON"),
        ([SAMPLE, {"doc": {"text": "x"}, "resps": [], "filtered_resps": []}], "line 2: no sample of report_generation"),
        ([], "no report in it"),
    ],
)
def test_logs_of_other_tasks_are_refused(tmp_path, rows, message):
    with pytest.raises(DataError, match=message):
        read_run(write(tmp_path / "log.jsonl", *rows), None)


# ---- a recording alone: nobody is asked, nothing is written


def test_a_recording_is_scored_without_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("reports", capsys, *RECORDED, "--json")
    assert (code, err) == (0, "") and list(tmp_path.iterdir()) == []
    code, table, _ = run("reports", capsys, *RECORDED, "-o", "out")
    assert code == 0 and json.loads(out) == scores(tmp_path / "out")
    assert table.splitlines()[1].startswith("all "), "the headline comes first"


def test_folders_say_what_their_files_do(tmp_path, capsys):
    """A file a run, and the nuggets of a request in a file each; a run that lacks a request is named."""
    whole = json.loads(run("reports", capsys, *RECORDED, "--json")[1])
    runs, nuggets = tmp_path / "runs", tmp_path / "nuggets"
    by_run = {}
    for row in read_jsonl(REPORTS):
        by_run.setdefault(row["run_id"] if "run_id" in row else row["metadata"]["run_id"], []).append(row)
    for name, rows in by_run.items():
        write(runs / f"{name}.jsonl", *rows)
    for number, row in enumerate(read_jsonl(NUGGETS)):
        write(nuggets / f"{number}.jsonl", row)
    arguments = ["--predictions", runs, "--references", nuggets, *RECORDED[4:]]
    code, found, err = run("reports", capsys, *arguments, "--json")
    assert json.loads(found)["runs"] == whole["runs"] and (code, err) == (0, "")
    name, (_, *others) = next(iter(by_run.items()))
    write(runs / f"{name}.jsonl", *others)
    code, _, err = run("reports", capsys, *arguments)
    assert code == 0 and "no report for 1 request of NUGGETS" in err
    write(runs / "again.jsonl", *others)
    refused("reports", capsys, *arguments, said="stands in another file of")


# ---- the arguments of report_gen_eval


@pytest.mark.parametrize(("given", "spec"), CASES["test_the_judge_that_is_named"])
def test_the_judge_that_is_named(given, spec, monkeypatch):
    monkeypatch.setenv("TOGETHER_API_KEY", "of a test")
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    assert _judge_spec(parser.parse_args(["reports", "--predictions", "r.jsonl", *given]), Path("out")) == spec


def test_options_of_a_judge_that_are_no_json_are_refused_and_not_shown(tiny, capsys):
    said = "--judge: got text that is none, expected a JSON object"
    assert "sk-" not in refused("reports", capsys, *tiny, "--judge", '{"api_key": "sk-1', said=said)


def test_the_program_of_report_gen_eval_is_installed_with_the_package():
    assert 'report-eval = "tls_tasks.__main__:report_eval"\n' in (ROOT / "pyproject.toml").read_text()
