"""Whole runs of the report task with judges of every sort, each compared with a direct computation."""

import json
import math
import subprocess
from functools import partial

import pytest

from scripts import walk
from tests.harness_parts import make_tiny_model, manager, run_chat, run_here
from tests.reports.answers import answers, docs, documents, requests, sample_reports
from tests.reports.judges.server import truth
from tls_tasks.cli import main
from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.reports.data import EMBEDDED_RECORDING
from tls_tasks.reports.judges import Recorded
from tls_tasks.reports.report_eval import report_eval
from tls_tasks.reports.score import KEYS, RATIOS
from tls_tasks.reports.task import TASKS

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("own_cache")]

NAME = "report_generation"
process_report = partial(process_results, TASKS[NAME])


def lead(k=10):
    from tls_tasks.hosts.models import ReportLeadLM

    return ReportLeadLM(k=k)


def run(model, options=None, **metadata):
    return run_here(manager(**metadata), [NAME], model, **(options or {}))


def run_with_answers(server, texts, **metadata):
    """A run in which a chat server writes these answers, one a request in order."""
    server.answers = {doc["problem_statement"]: text for doc, text in zip(docs(), texts, strict=True)}
    return run_chat(manager(**metadata), [NAME], server)


def results(outcome):
    return {
        key.removesuffix(",none"): value for key, value in outcome["results"][NAME].items() if key.endswith(",none")
    }


def direct(reports):
    """What report_eval gives for the sample reports, without the harness."""
    judge = Recorded.read(EMBEDDED_RECORDING)
    asked = [requests()[report.request_id] for report in reports]
    return [report_eval(reports, asked, documents(), judge, aggregate=how) for how in ("macro", "micro")]


# ---- a judge that is recorded


@pytest.mark.parametrize("name", ["careful", "hasty"])
def test_the_sample_runs_score_in_the_harness_what_they_score_without_it(server, name):
    outcome = run_with_answers(server, answers(name), judge="recorded")
    found = results(outcome)
    macro, micro = direct(sample_reports(name))
    for key in KEYS:
        assert found[key] == pytest.approx(macro.as_dict()[key], abs=1e-12), key
        assert found[f"{key}_micro"] == pytest.approx(micro.as_dict()[key], abs=1e-12), key
    assert found["n_unscored"] == found["parse_failures"] == 0
    assert found["unknown_citations"] == {"careful": 0, "hasty": 2}[name]
    samples = sorted(outcome["samples"][NAME], key=lambda sample: sample["doc_id"])
    for sample, item in zip(samples, macro.items, strict=True):
        assert {key: sample[key] for key in RATIOS} == {key: item.values()[key] for key in RATIOS}
        again = process_report(sample["doc"], sample["filtered_resps"])
        assert again == pytest.approx({key: sample[key] for key in again}, abs=0, nan_ok=True)
    provenance = outcome["configs"][NAME]["metadata"]["provenance"]
    assert provenance["edition"] == "embedded" and provenance["judge"] == "embedded"


def test_the_baseline_is_all_support_and_no_search():
    found = results(run(lead(), judge="recorded"))
    assert found["sentence_support"] == found["citation_support"] == found["precision"] == 1.0
    assert found["recall_micro"] == 5 / 48 and found["nugget_coverage_micro"] == 5 / 48
    assert found["n_sentences"] == 10 and found["n_unscored"] == 0


def test_what_nobody_has_judged_is_unscored_and_counted(server):
    texts = [*answers("careful")[:5], "The mayor was born in 1950 [3]."]
    found = results(run_with_answers(server, texts, judge="recorded"))
    assert found["n_unscored"] == 1 and not math.isnan(found["recall"])  # the mean of five


# ---- no judge, and one afterwards


def test_reports_without_a_judge_are_judged_later(tmp_path, capsys):
    outcome = run(lead())
    found = results(outcome)
    assert all(math.isnan(found[key]) and math.isnan(found[f"{key}_micro"]) for key in KEYS)
    assert found["n_unscored"] == 60
    log = tmp_path / f"samples_{NAME}_2025-01-01.jsonl"
    log.write_text("".join(json.dumps(sample, default=str) + "\n" for sample in outcome["samples"][NAME]))
    assert main(["reports", "--predictions", str(log), "-o", str(tmp_path / "out"), "--recorded", "embedded"]) == 0
    scores = json.loads((tmp_path / "out" / "scores.json").read_text())
    judged = results(run(lead(), judge="recorded"))
    assert {key: scores[key] for key in KEYS} == pytest.approx({key: judged[key] for key in KEYS}, abs=1e-12)
    assert log.stem in capsys.readouterr().out


def test_predict_only_keeps_the_answers_and_asks_nobody():
    outcome = run(lead(), {"predict_only": True})
    for sample in outcome["samples"][NAME]:
        assert sample["resps"][0][0] and json.loads(sample["filtered_resps"][0])["judge"] == "none"


# ---- a judge behind an endpoint


def numbered(sentence, n_before, messages):
    return truth(f"{len(sentence)}")


def test_an_endpoint_judges_once_and_the_second_run_asks_nothing(serve):
    server = serve(numbered)
    spec = {"base_url": server.url, "model": "acme/judge"}
    first, n_asked = run(lead(k=2), {"limit": 3}, judge=spec), len(server.requests)
    assert n_asked > 20 and results(first)["n_unscored"] == 0
    second = run(lead(k=2), {"limit": 3}, judge=spec)
    assert len(server.requests) == n_asked
    assert results(second) == pytest.approx(results(first), nan_ok=True)
    assert first["configs"][NAME]["metadata"]["provenance"]["judge"].startswith("acme/judge@127.0.0.1,prompts:")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((401, {"error": {"message": "Incorrect key"}}, {}), "Incorrect key"),
        ((404, {"error": "no such model"}, {}), "404"),
    ],
)
def test_a_judge_that_refuses_costs_no_report_and_yields_no_number(serve, caplog, answer, words):
    server = serve(lambda *_: answer)
    outcome = run(lead(k=3), judge={"base_url": server.url, "model": "m"})
    found = results(outcome)
    assert all(math.isnan(found[key]) for key in KEYS) and found["n_unscored"] == 18
    assert words in caplog.text and len(server.requests) < 40
    assert all(sample["resps"][0][0] for sample in outcome["samples"][NAME])


def test_a_judge_that_answers_half_leaves_the_rest_unscored(serve):
    server = serve(lambda sentence, n, messages: "YES" if "1" in sentence or "2" in sentence else "Maybe.")
    judge = {"base_url": server.url, "model": "m"}
    found = results(run(lead(k=8), {"limit": 1}, judge=judge))
    assert 0 < found["n_unscored"] < 8 and not math.isnan(found["citation_support"])


# ---- a real small model as the judge


def test_a_tiny_checkpoint_judges_by_likelihood(tmp_path):
    make_tiny_model(tmp_path, context=4096)
    judge = {
        "harness": "hf",
        "model_args": {"pretrained": str(tmp_path), "dtype": "float32", "device": "cpu", "batch_size": 8},
    }
    outcome = run(lead(k=2), {"limit": 1}, judge=judge)
    found = results(outcome)
    assert found["n_unscored"] == 0  # likelihoods always tell YES from NO
    assert all(math.isnan(found[key]) or 0 <= found[key] <= 1 for key in KEYS)
    rows = [row for sample in outcome["samples"][NAME] for row in json.loads(sample["filtered_resps"][0])["judgments"]]
    assert rows and all(row["verdict"] in ("YES", "NO") and 0 <= row["probability"] <= 1 for row in rows)
    assert {row["judge"] for row in rows} == {outcome["configs"][NAME]["metadata"]["provenance"]["judge"]}


def test_a_tiny_checkpoint_writes_the_reports(tiny_model):
    options = {
        "model_args": {"pretrained": str(tiny_model), "dtype": "float32"},
        "device": "cpu", "batch_size": 2, "gen_kwargs": "max_gen_toks=16", "limit": 2,
    }  # fmt: skip
    outcome = run("hf", options, judge="recorded")
    assert len(outcome["samples"][NAME]) == 2
    assert all(isinstance(sample["filtered_resps"][0], str) for sample in outcome["samples"][NAME])


# ---- data and the command line


def test_a_folder_of_the_users(tmp_path):
    rows = {
        "requests": [{"request_id": 7, "problem_statement": "Did it rain?"}],
        "nuggets": [{"query_id": 7, "items": [{"question_text": "When did it rain?", "gold_answers": ["on Monday"]}]}],
        "documents": [{"id": "d1", "text": "It rained on Monday. It stopped."}],
    }
    verdicts = [
        {"kind": "citation_support", "sentence": "It rained on Monday.", "doc_id": "d1", "verdict": "YES"},
        {"kind": "nugget_agreement", "sentence": "It rained on Monday.", "question": "When did it rain?",
         "answer": "on Monday", "verdict": "YES"},
    ]  # fmt: skip
    for name, lines in {**rows, "verdicts": verdicts}.items():
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    outcome = run(lead(), data=str(tmp_path), judge={"recorded": str(tmp_path / "verdicts.jsonl")})
    found = results(outcome)
    assert {found[key] for key in KEYS} == {1.0}
    assert outcome["configs"][NAME]["metadata"]["provenance"]["edition"] == "local"


def test_the_command_line_word_for_word(run_installed, commands, tmp_path):
    """``lm_eval --tasks report_generation --model report_lead`` in an empty folder."""
    arguments = f'--tasks {NAME} --model_args k=4 --metadata {{"judge":"recorded"}}'
    _, logged, _ = run_installed(tmp_path, "report_lead", arguments)
    assert logged["configs"][NAME]["metadata"]["provenance"]["judge"] == "embedded"
    assert logged["results"][NAME]["citation_support,none"] == 1.0
    (samples,) = tmp_path.glob(f"out/**/samples_{NAME}_*.jsonl")
    done = subprocess.run(
        ["tls-tasks", "reports", "--predictions", str(samples), "-o", "judged", "--recorded", "embedded"],
        cwd=tmp_path, env=walk.environment(commands), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
