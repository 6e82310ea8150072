"""tls-tasks reports, also called judge: files, the judge that is asked, and what a bad one does."""

import argparse
import json
from pathlib import Path

import pytest

from tests.cli import conftest
from tests.reports.judges.conftest import serve
from tests.reports.judges.server import truth
from tls_tasks.cli import main
from tls_tasks.cli.judge import _judge_spec, add_parser
from tls_tasks.core.errors import DataError
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.judges import Recorded
from tls_tasks.reports.score import KEYS
from tls_tasks.reports.task import read_run, score_run

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

__all__ = ["serve"]

ROOT = Path(__file__).parents[2]
FOLDER = EMBEDDED_RECORDING.parent
REPORTS, NUGGETS, DOCUMENTS = (str(FOLDER / f"{name}.jsonl") for name in ("reports", "nuggets", "documents"))
RECORDED = [REPORTS, NUGGETS, "--documents", DOCUMENTS, "--recorded", "embedded"]

TINY_REPORTS = [
    {"request_id": "7", "run_id": "a", "sentences": [{"text": f"Sentence {number} of the report.", "citations": ["d1"]}
                                                     for number in range(6)]}
]  # fmt: skip
TINY_NUGGETS = [{"query_id": "7", "items": [{"question_text": "q", "gold_answers": ["a", "b"]}]}]
TINY_DOCUMENTS = [{"id": "d1", "title": "T", "text": "Text."}]


def write(path, rows):
    return str(conftest.write(path, *rows))


@pytest.fixture
def tiny(tmp_path):
    """Arguments for a run of one small report."""
    files = {"reports": TINY_REPORTS, "nuggets": TINY_NUGGETS, "documents": TINY_DOCUMENTS}
    reports, nuggets, documents = (write(tmp_path / f"{name}.jsonl", rows) for name, rows in files.items())
    return [reports, nuggets, "--documents", documents, "-o", str(tmp_path / "out")]


def scores(folder):
    return json.loads((folder / "scores.json").read_text())


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def judged(arguments, server, *more):
    return main(["judge", *arguments, "--base-url", server.url, "-m", "m", *more])


# ---- a recording


def test_a_recorded_run(tmp_path, capsys):
    assert main(["judge", *RECORDED, "-o", str(tmp_path / "out")]) == 0
    out, err = capsys.readouterr()
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines()[:4] if line}
    assert rows["run"] == list(KEYS)
    assert rows["careful"][:2] == ["0.9061", "1.0000"] and rows["hasty"][:2] == ["0.2701", "0.4889"]
    assert "12 reports, 88 sentences, 0 of them without a score, 2 unknown citations" in out
    assert "report_eval|" in out and "judge:embedded" in out and err == ""
    found = scores(tmp_path / "out")
    assert found["runs"]["careful"]["precision"] == 1.0 and found["judge"] == "embedded"
    results = lines(tmp_path / "out" / "results.jsonl")
    assert [(row["run_id"], row["request_id"]) for row in results][::6] == [("careful", "e01"), ("hasty", "e01")]
    assert len(lines(tmp_path / "out" / "verdicts.jsonl")) == 802
    again = [*RECORDED[:-1], str(tmp_path / "out" / "verdicts.jsonl")]  # a judged run is a recording
    assert main(["judge", *again, "-o", str(tmp_path / "again")]) == 0
    assert scores(tmp_path / "again") == found
    assert (tmp_path / "out" / "results.jsonl").read_bytes() == (tmp_path / "again" / "results.jsonl").read_bytes()


@pytest.mark.parametrize("size", ["5", "100"])
def test_batches_change_no_number(tmp_path, size):
    assert main(["judge", *RECORDED, "-o", str(tmp_path / "out"), "--batch-size", size]) == 0
    found = scores(tmp_path / "out")
    whole = score_run(read_run(Path(REPORTS), Path(NUGGETS)), Recorded.read(EMBEDDED_RECORDING, name="embedded"),
                      documents={row["id"]: row for row in lines(Path(DOCUMENTS))})  # fmt: skip
    assert {key: found[key] for key in KEYS} == {key: whole.as_dict()[key] for key in KEYS}
    assert [row["row"] for row in lines(tmp_path / "out" / "results.jsonl")] == list(range(12))


def test_a_recording_that_lacks_verdicts_leaves_sentences_unscored(tmp_path, capsys):
    rows = lines(EMBEDDED_RECORDING)
    part = write(tmp_path / "part.jsonl", [row for row in rows if row.get("doc_id") != "hills-01"])
    arguments = ["judge", *RECORDED[:-1], part, "-o", str(tmp_path / "out")]
    assert main(arguments) == 1
    err = capsys.readouterr().err
    assert err.startswith("tls-tasks judge: ") and "3.4% of the sentences have no score" in err
    assert "The recording lacks them" in err and err.count("\n") == 1
    assert main([*arguments, "--allow-unscored", "0.05"]) == 0
    assert scores(tmp_path / "out")["n_unscored"] == 3


def test_micro(tmp_path):
    assert main(["judge", *RECORDED, "-o", str(tmp_path), "--aggregate", "micro"]) == 0
    found = scores(tmp_path)
    assert "agg:micro" in found["signature"] and found["runs"]["careful"]["recall"] == 54 / 60


def test_compat(tiny, serve, tmp_path):
    nugget = {"question_text": "q", "gold_answers": ["a"], "info": {"importance": "okay"}}
    write(Path(tiny[1]), [{"query_id": "7", "items": [nugget]}])
    write(Path(tiny[0]), [{**TINY_REPORTS[0], "collection_ids": ["c"]}])  # the program asks for one
    assert judged(tiny, serve(), "--compat", "report_gen_eval") == 0
    found = scores(tmp_path / "out")
    # Of six sentences three are not supported; the others match the one answer.
    assert "compat:report_gen_eval" in found["signature"] and (found["recall"], found["precision"]) == (1.0, 0.5)


# ---- an endpoint


def test_an_endpoint_judges_and_the_second_run_asks_nothing(tiny, serve, tmp_path, capsys):
    server = serve()
    assert judged(tiny, server) == 0
    n_asked = len(server.requests)
    first = scores(tmp_path / "out")
    assert first["citation_support"] == 0.5 and first["judge"].startswith("m@127.0.0.1,prompts:")
    assert n_asked == 6 + 3 * 2  # one citation each; two answers for the three that hold
    rows = [row for row in lines(tmp_path / "out" / "verdicts.jsonl") if row["kind"] == "citation_support"]
    assert [row["verdict"] for row in rows] == [truth(row["fields"]["sentence"]) for row in rows]
    assert [row["about"]["sentence"] for row in rows] == list(range(6))
    out = capsys.readouterr().out
    table = {line.rsplit(maxsplit=1)[0]: line.rsplit(maxsplit=1)[1] for line in out.splitlines()[-9:] if line.strip()}
    assert (table["asked"], table["cached"], table["failed"]) == ("12", "0", "0")
    assert (table["prompt tokens"], table["completion tokens"]) == ("1,200", "24")
    assert judged(tiny, server) == 0
    assert len(server.requests) == n_asked
    assert {key: scores(tmp_path / "out")[key] for key in KEYS} == {key: first[key] for key in KEYS}


STAYS = {"no verdict": lambda sentence, n, messages: "I can't say.", "hangs": lambda sentence, n, messages: "hang"}


@pytest.mark.parametrize("answer", STAYS.values(), ids=STAYS)
def test_a_judge_that_never_answers_never_yields_a_number(tiny, serve, tmp_path, capsys, answer):
    assert judged(tiny, serve(answer), "--max-tries", "1", "--timeout", "0.3") == 1
    found = scores(tmp_path / "out")
    assert {found[key] for key in KEYS} == {None} and found["n_unscored"] == 6
    out, err = capsys.readouterr()
    assert "100.0% of the sentences have no score" in err and "NaN" in out


def test_a_judge_that_refuses_stops_the_run_with_its_words(tiny, serve, tmp_path, capsys):
    server = serve(lambda *_: (401, {"error": {"message": "Incorrect API key"}}, {}))
    assert judged(tiny, server) == 2
    assert "Incorrect API key" in capsys.readouterr().err and len(server.requests) <= 16
    assert not (tmp_path / "out" / "scores.json").exists()


def test_a_judge_that_refuses_later_keeps_what_it_said(tiny, serve, tmp_path):
    def answer(sentence, n, messages):
        return (401, {"error": {"message": "expired"}}, {}) if "<answer>" in messages[0]["content"] else truth(sentence)

    server = serve(answer)
    assert judged(tiny, server) == 2
    assert len(lines(tmp_path / "out" / "verdicts.jsonl")) == 6
    n_asked = len(server.requests)
    server.answer = lambda sentence, n, messages: truth(sentence)
    assert judged(tiny, server) == 0
    assert len(server.requests) == n_asked + 6  # the nuggets only


# ---- files


def test_rows_that_can_not_be_read_lose_nothing_but_themselves(tiny, serve, tmp_path, capsys):
    other = {"request_id": "8", "run_id": "a", "sentences": [{"text": "Sentence 3."}]}
    write(Path(tiny[0]), ["{", *TINY_REPORTS, other, {"a": 1}])
    assert judged(tiny, serve()) == 1
    err = capsys.readouterr().err
    assert "reports.jsonl, line 1: not JSON" in err and "reports.jsonl, line 4: " in err and "(line left out)" in err
    assert "request 8: no nuggets" in err
    assert scores(tmp_path / "out")["counts"]["reports"] == 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a: ["nowhere.jsonl", *a[1:]], "nowhere.jsonl: no such file"),
        (lambda a: [a[0], "nowhere.jsonl", *a[2:]], "nowhere.jsonl: no such file"),
        (lambda a: [a[0], *a[2:]], "a file of reports needs the nuggets file"),
        (lambda a: [*a[:2], *a[4:]], "--documents: got nothing, expected the cited documents"),
        (lambda a: [*a[:3], "nowhere.sqlite", *a[4:]], "nowhere.sqlite: no such file"),
        (lambda a: a[:4], "output: got nothing, expected one folder"),
        (lambda a: [a[0], a[1], "results", *a[2:]], "output: got two"),
        (
            lambda a: [*a, "--recorded", "x", "--harness", "hf"],
            "judge: got 'harness', expected one of 'defaults', 'name'",
        ),
        (lambda a: [*a, "--recorded", "x", "-m", "m"], "judge: got 'model', expected one of"),
        (lambda a: [*a, "--recorded", "nowhere.jsonl"], "nowhere.jsonl: no such file"),
        (lambda a: [*a, "-p", "openai"], "OPENAI_API_KEY: got nothing"),
        (lambda a: ["-p", "openai"], "REPORTS: got nothing"),
        (lambda a: [*a, "--base-url", "http://h"], "model: got None"),
        (lambda a: a, "TOGETHER_API_KEY: got nothing, expected a key in the environment or in .env"),
    ],
)
def test_what_can_not_work_is_one_line_and_no_call(tiny, capsys, monkeypatch, tmp_path, change, message):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOGETHER_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert main(["judge", *change(tiny)]) == 2
    out, err = capsys.readouterr()
    assert message in err and err.count("\n") == 1 and out == ""


@pytest.mark.parametrize("option", [["--allow-unscored", "x"], ["--batch-size", "x"], ["-p", "acme"], ["--limit", "x"]])
def test_impossible_options(tiny, capsys, option):
    with pytest.raises(SystemExit) as stop:
        main(["judge", *tiny, *option])
    assert stop.value.code == 2 and option[0] in capsys.readouterr().err


def test_the_limit_leaves_out_sentences(tiny, serve, tmp_path):
    assert judged(tiny, serve(), "--limit", "60") == 0
    assert scores(tmp_path / "out")["counts"]["sentences"] == 2


# ---- samples logs


SAMPLE = {
    "doc_id": 0,
    "doc": {"doc_id": "7", "collection_id": "", "limit": 0, "nuggets": json.dumps(TINY_NUGGETS[0]),
            "documents": json.dumps(TINY_DOCUMENTS)},
    "resps": [["Sentence 2 is good [1]. Sentence 3 is not [1]. Sentence 4 cites nothing [5]."]],
    "filtered_resps": ["…"],
}  # fmt: skip


def test_a_samples_log_has_nuggets_and_documents_of_its_own(serve, tmp_path):
    log = write(tmp_path / "samples_report_generation_x.jsonl", [SAMPLE, {**SAMPLE, "filter": "another"}])
    assert judged([log, "-o", str(tmp_path / "out")], serve()) == 0
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
        read_run(Path(write(tmp_path / "log.jsonl", rows)), None)


# ---- a recording alone: nobody is asked, nothing is written


def test_a_recording_is_scored_without_a_folder(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert main(["reports", *RECORDED, "--json"]) == 0
    out, err = capsys.readouterr()
    assert err == "" and list(tmp_path.iterdir()) == []
    assert main(["judge", *RECORDED, "-o", "out"]) == 0
    expected = json.loads((tmp_path / "out" / "scores.json").read_text())
    assert json.loads(out) == expected
    assert capsys.readouterr().out.splitlines()[1].startswith("all "), "the headline comes first"


def test_folders_say_what_their_files_do(tmp_path, capsys):
    """A file a run, and the nuggets of a request in a file each; a run that lacks a request is named."""
    assert main(["reports", *RECORDED, "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    by_run = {}
    for row in lines(Path(REPORTS)):
        by_run.setdefault(row["run_id"] if "run_id" in row else row["metadata"]["run_id"], []).append(row)
    for run, rows in by_run.items():
        (tmp_path / "runs").mkdir(exist_ok=True)
        write(tmp_path / "runs" / f"{run}.jsonl", rows)
    (tmp_path / "nuggets").mkdir()
    for number, row in enumerate(lines(Path(NUGGETS))):
        write(tmp_path / "nuggets" / f"{number}.jsonl", [row])
    folders = [str(tmp_path / "runs"), str(tmp_path / "nuggets")]
    assert main(["reports", *folders, *RECORDED[2:], "--json"]) == 0
    found, err = capsys.readouterr()
    assert json.loads(found)["runs"] == whole["runs"] and err == ""
    _, *others = next(iter(by_run.values()))
    write(tmp_path / "runs" / f"{next(iter(by_run))}.jsonl", others)
    assert main(["reports", *folders, *RECORDED[2:]]) == 0
    assert "no report for 1 request of NUGGETS" in capsys.readouterr().err
    write(tmp_path / "runs" / "again.jsonl", others)
    assert main(["reports", *folders, *RECORDED[2:]]) == 2
    assert "stands in another file of" in capsys.readouterr().err


# ---- the arguments of report_gen_eval


def arguments(*given):
    parser = argparse.ArgumentParser()
    add_parser(parser.add_subparsers())
    return parser.parse_args(["judge", *given])


@pytest.mark.parametrize(
    ("given", "spec"),
    CASES["test_the_judge_that_is_named"],
)  # fmt: skip
def test_the_judge_that_is_named(given, spec):
    args = arguments("r.jsonl", "n.jsonl", "results/", "--batch-size", "1", "--verbose", *given)
    assert (args.outdir, args.batch_size, args.verbose) == (Path("results"), 1, True)
    assert _judge_spec(args, Path("out")) == {**spec, "cache": str(Path("out/verdicts.sqlite"))}


@pytest.mark.parametrize(
    ("given", "spec"),
    [
        (["--recorded", "embedded"], "recorded"),
        (["--recorded", "x"], {"recorded": "x"}),
        (["--harness", "hf", "--model-args", "pretrained=x"], {"harness": "hf", "model_args": "pretrained=x"}),
    ],
)
def test_judges_without_a_cache(given, spec):
    assert _judge_spec(arguments("r", *given), Path("out")) == spec


def test_the_alias_is_installed_with_the_package():
    assert 'report-eval = "tls_tasks.cli.judge:main"\n' in (ROOT / "pyproject.toml").read_text()
