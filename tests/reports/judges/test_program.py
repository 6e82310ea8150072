"""What report_gen_eval's users have: its look-up files, its command line and its example."""

import json
import pickle

import pytest

from tests.conftest import ROOT
from tls_tasks.cli.reports import main as report_eval_main
from tls_tasks.core.errors import InputError
from tls_tasks.reports.judges import ChatJudge, ModelProvider, choose, evaluate_report
from tls_tasks.reports.report_eval import report_eval

FILES = ROOT / "tests/recorded/report_gen_eval"
REPORT, NUGGETS = (json.loads((FILES / name).read_text()) for name in ("reports.jsonl", "nuggets.json"))
SENTENCES = REPORT["sentences"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TOGETHER_API_KEY", "sk-1")
    for name, row in (("reports", REPORT), ("nuggets", NUGGETS)):
        (tmp_path / f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    return tmp_path


@pytest.fixture
def server(serve, monkeypatch):
    """Stands for together.ai: YES to everything."""
    server = serve(lambda *_: "YES")
    monkeypatch.setattr(choose, "ChatJudge", lambda url, *rest, **options: ChatJudge(server.url, *rest, **options))
    return server


def lookup(folder, name="neuclir_1_ru"):
    (folder / "neuclir-docs-lookup").mkdir(exist_ok=True)
    documents = {doc_id: {"title": "T", "text": f"Text of {doc_id}."} for doc_id in ("d1", "d2", "d3")}
    (folder / "neuclir-docs-lookup" / f"doc_mapping_{name}.pkl").write_bytes(pickle.dumps(documents))


def test_its_command_line_as_written(here, server, capsys):
    arguments = ["reports.jsonl", "nuggets.jsonl", "results/", "--batch-size", "1", "--verbose"]
    assert report_eval_main(arguments) == 2
    err = capsys.readouterr().err
    assert f"looked in {here} for neuclir-docs-lookup/doc_mapping_neuclir_1_ru.pkl" in err and not server.requests
    lookup(here)
    assert report_eval_main(arguments) == 0
    asked = {own["messages"][0]["content"] for own in server.requests}
    assert any("Title: T" in text and "Text of d1." in text for text in asked)
    assert not any("Text of d3." in text for text in asked)
    scores = json.loads((here / "results" / "scores.json").read_text())
    assert scores["citation_support"] == 1.0 and scores["judge"].startswith("together/meta-llama/Llama-3.3-70B")
    assert (
        report_eval_main(["--verbose", "-p", "together", "-b", "1", *arguments[:3], "--compat", "report_gen_eval"]) == 0
    )
    assert "compat:report_gen_eval" in (here / "results" / "scores.json").read_text()
    with pytest.raises(SystemExit):
        report_eval_main(arguments[:2])
    assert "the following arguments are required: OUT" in capsys.readouterr().err


def test_its_example_as_written(here, server):
    def example(report):
        return evaluate_report(
            report,
            nuggets_file="nuggets.jsonl",
            provider=ModelProvider.TOGETHER,
            model_name="meta-llama/Llama-3.3-70B-Instruct-Turbo",
        )

    report = {**REPORT, "collection_ids": ["collection1"], "sentences": SENTENCES[:1]}
    with pytest.raises(InputError, match=r"looked in .* for neuclir-docs-lookup.doc_mapping_collection1\.pkl"):
        example(report)
    lookup(here, "collection1")
    assert example(report)["metrics"]["recall"] == 1.0
    nowhere = {name: value for name, value in report.items() if name != "collection_ids"}
    with pytest.raises(InputError, match="no report has collection_ids"):
        example(nowhere)


TREC = {"metadata": {"topic_id": "7", "run_id": "a"}, "responses": [{"text": "s", "citations": {"d1": 1.0}}]}
BANK = {"metadata": {"topic_id": "7"}, "nugget_bank": [{"question": "q", "answers": [{"answer": "a"}]}]}


@pytest.mark.parametrize("documents", [{"d1": "Text."}, {"c": {"d1": "Text."}, "e": {"d2": "Text."}}])
@pytest.mark.parametrize("report", [{"request_id": "7", "sentences": [{"text": "s", "citations": ["d1"]}]}, TREC])
@pytest.mark.parametrize("nuggets", [BANK, {**NUGGETS, "items": NUGGETS["items"][1:]}])
def test_a_report_without_collections_is_scored_and_other_forms_are_read(documents, report, nuggets):
    score = report_eval([report], [nuggets], documents, lambda query: True, compat="report_gen_eval").as_dict()
    assert (score["recall"], score["precision"]) == (1.0, 1.0)


def test_what_the_program_loses_is_our_error_and_still_a_key_error():
    report = {"request_id": "7", "sentences": [{"citations": ["d1"]}]}
    for error in (InputError, KeyError):
        with pytest.raises(
            error,
            match=r"predictions\[0\]: got a report that report_gen_eval drops with KeyError: 'text', .* request_id",
        ):
            report_eval([report], [NUGGETS], {}, lambda query: True, compat="report_gen_eval")
