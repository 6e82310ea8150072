"""evaluate_report: one report in one call, as report_gen_eval has it."""

import json
import math

import pytest

from tls_tasks.core.errors import DataError, InputError, OptionError
from tls_tasks.reports.judges import ModelProvider, evaluate_report

REPORT = {
    "request_id": "300",
    "run_id": "example-run",
    "collection_ids": ["c"],
    "sentences": [{"text": "Suicides rose by 3.7%.", "citations": ["d1"]}, {"text": "They rose.", "citations": ["d2"]}],
}
NUGGET = {"question_text": "How much?", "gold_answers": ["3.7%", "by 3.7 percent"], "info": {"importance": "vital"}}
NUGGETS = {"query_id": "300", "items": [NUGGET]}


def judge(query):
    return query.about.get("doc_id", "d1") == "d1"


@pytest.fixture
def nuggets(tmp_path):
    path = tmp_path / "nuggets.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ({**NUGGETS, "query_id": "299"}, NUGGETS)))
    return path


@pytest.mark.parametrize("options", [{}, {"compat": "report_gen_eval"}])
def test_one_report(nuggets, options, caplog):
    caplog.set_level("INFO")
    results = evaluate_report(
        REPORT, nuggets, documents={"d1": "a", "d2": "b", "d3": "c"}, judge=judge, verbose=True, **options
    )
    assert (results["request_id"], results["run_id"], results["collection_ids"]) == ("300", "example-run", ["c"])
    assert results["citation_documents"] == {"d1": "a", "d2": "b"}
    assert "Suicides rose by 3.7%." in caplog.text
    sentences = [(own["sentence_index"], own["sentence"]) for own in results["sentence_results"]]
    assert sentences == [*enumerate(sentence["text"] for sentence in REPORT["sentences"])]
    wanted = {
        "recall": 1.0,
        "precision": 0.5,
        "rewarded_sentences": 1,
        "penalized_sentences": 1,
        "total_nuggets": 1 + len(options),
    }
    assert wanted.items() <= results["metrics"].items()
    assert [sentence["score"] for sentence in results["sentence_results"]] == [2, -1]
    assert "judge:custom(judge)" in results["signature"]


def test_a_request_without_nuggets(nuggets):
    results = evaluate_report({**REPORT, "request_id": "301"}, nuggets, documents={}, judge=judge)
    assert results["metrics"]["total_nuggets"] == 0 and math.isnan(results["metrics"]["precision"])
    compat = evaluate_report(
        {**REPORT, "request_id": "301"}, nuggets, documents={}, judge=judge, compat="report_gen_eval"
    )
    assert compat["metrics"]["precision"] == 0.0


def test_what_is_missing(nuggets, tmp_path, monkeypatch):
    with pytest.raises(DataError, match=r"absent\.jsonl: no such file"):
        evaluate_report(REPORT, tmp_path / "absent.jsonl", judge=judge)
    with pytest.raises(OptionError, match="provider: got 'acme'"):
        evaluate_report(REPORT, nuggets, provider="acme", model_name="m")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("TOGETHER_API_KEY", raising=False)
    with pytest.raises(InputError, match="TOGETHER_API_KEY"):
        evaluate_report(REPORT, nuggets, provider=ModelProvider.TOGETHER, model_name="m")
