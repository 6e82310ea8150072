"""tls_tasks.hosts.registered: our metrics, aggregation and filter in a task file that knows nothing else of us."""

import json
import pickle
import re
from functools import partial
from importlib.metadata import entry_points

import pytest

import tls_tasks
from tests.harness_parts import manager, run_here

pytest.importorskip("lm_eval")

from tls_tasks.hosts import registered

ANSWER = "2011-01-25: Police clash."
GOLD = ["2011-01-25: Police clash.\n2011-01-26: A strike.", "2011-02-01: Snow falls.", "2011-03-01: Rain."]
SAID = [
    f"<think>2011-01-27: Hm.</think>{ANSWER}",
    "2011-02-01: Snow.\n2011-02-02: More snow.\n2011-02-03: Even more.",
    "I can't say.",
]
TASK = """
task: of_my_own
dataset_path: json
dataset_kwargs: {data_files: {test: FILE}}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
metric_list:
  - {metric: date_f1, aggregation: tls_pooled, higher_is_better: true}
  - {metric: alignment_rouge, aggregation: tls_pooled, higher_is_better: true}
  - metric: rouge_l
    aggregation: tls_pooled
    higher_is_better: true
    tokenizer: unicode
    rouge_types: [rougeL, rouge2]
  - {metric: exact_match, aggregation: mean, higher_is_better: true}
filter_list:
  - {name: answer, filter: [{function: tls_answer}, {function: take_first}]}
"""


@pytest.fixture
def run_of_my_own(tmp_path):
    """A run of the file, with a model that says what stands there."""
    from lm_eval.api.model import LM

    if "tls_pooled" not in {point.name for point in entry_points(group="lm_eval.aggregations")}:
        pytest.skip("the installed tls-tasks is older than its entry points for metrics: install it again")

    class Says(LM):
        def generate_until(self, requests):
            return [SAID[int(request.args[0].split()[-1])] for request in requests]

        loglikelihood = loglikelihood_rolling = None

    def run(task, answers):
        rows = [{"question": f"Topic {n}", "answer": text} for n, text in enumerate(answers)]
        (tmp_path / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        text = task.replace("FILE", str(tmp_path / "rows.jsonl"))
        (tmp_path / "of_my_own.yaml").write_text(text, encoding="utf-8")
        return run_here(manager(tmp_path), ["of_my_own"], Says())

    return run


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_file_of_anybodys_own_reports_the_corpus_scores(run_of_my_own):
    results = run_of_my_own(TASK, GOLD)["results"]["of_my_own"]
    expected = {
        **tls_tasks.date_f1(SAID, GOLD).as_dict(),
        **tls_tasks.alignment_rouge(SAID, GOLD).as_dict(),
        **tls_tasks.rouge_l([ANSWER, *SAID[1:]], GOLD, tokenizer="unicode", rouge_types=["rougeL", "rouge2"]).as_dict(),
    }
    for key in (
        f"{name}_{part}"
        for name in ("date", "ar1", "ar2", "rouge_l", "rouge2")
        for part in ("precision", "recall", "f1")
    ):
        assert results[f"{key},answer"] == pytest.approx(expected[key], abs=1e-12), key
    assert results["date_f1,answer"] == pytest.approx(2 * (4 / 9) * (1 / 2) / (4 / 9 + 1 / 2))
    assert results["exact_match,answer"] == 0.0
    alone = "metric_list:\n  - metric: date_f1\n  - metric: alignment_rouge\nfilter"
    bare = run_of_my_own(re.sub(r"(?s)metric_list:.*filter(?=_list)", alone, TASK), GOLD)
    keys = [key for key in bare["results"]["of_my_own"] if key.startswith(("date", "ar")) and "_stderr" not in key]
    assert len(keys) == 9 and {key: bare["results"]["of_my_own"][key] for key in keys} == {k: results[k] for k in keys}
    assert bare["higher_is_better"]["of_my_own"]["date_f1"] is True


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_filter_leaves_the_answer_to_metrics_of_others(run_of_my_own):
    assert run_of_my_own(TASK, ["2011-01-25: Police clash.", "x", "y"])["results"]["of_my_own"][
        "exact_match,answer"
    ] == pytest.approx(1 / 3)


def test_a_document_that_cannot_be_scored_is_nan_and_the_corpus_with_it(caplog):
    good = registered.score_document("date_f1", references=["2011-01-25: a"], predictions=["2011-01-25: a"])
    bad = registered.score_document("date_f1", references=["no timeline"], predictions=["2011-01-25: a"])
    assert good["date_f1"] == 1.0 and bad["date_f1"] != bad["date_f1"]
    assert "could not score a document" in caplog.text
    mixed = registered.pooled([good["date_f1"], bad["date_f1"]])
    assert mixed != mixed


@pytest.mark.parametrize(
    ("name", "options", "keys"),
    [
        ("rouge_l", {"rouge_types": ["rouge1", "rougeLsum"]}, ["rouge1_f1", "rouge_lsum_f1"]),
        ("tree_eval", {"schema": {"a": "string"}, "compat": "treeval"}, ["f1_node", "f1_leaf"]),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_options_decide_which_results_there_are(name, options, keys):
    metric, row = partial(registered.score_document, name), ['{"a": "b c"}']
    good, bad = metric(references=row, predictions=row, **options), metric(references=[1.5], predictions=row, **options)
    assert good.keys() == bad.keys() and [key for key in good if key.endswith("_f1") or key[:3] == "f1_"] == keys
    assert {good[key] for key in keys} == {1.0} and all(number != number for number in bad.values())


def test_a_document_of_many_numbers_survives_the_way_between_processes():
    rows = {"references": ['{"a": 1, "b": 2}'], "predictions": ['{"a": 1}'], "schema": {"a": "integer", "b": "integer"}}
    numbers = pickle.loads(pickle.dumps(registered.score_document("tree_eval", **rows)))
    assert registered.pooled([numbers["recall_value"]] * 2) == 0.5
    assert registered.pooled([]) != registered.pooled([])
