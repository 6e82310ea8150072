"""The summarisation task configs: each loads, names every key that scoring returns, and survives what models write."""

import json
import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tls_tasks
from tests.conftest import ROOT
from tests.timelines.test_task import read
from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.summaries.data import DATA_SETS
from tls_tasks.summaries.task import TASKS

FOLDER = ROOT / "task_configs" / "summaries"
NAMES = list(DATA_SETS)
KEYS = list(TASKS["summ_qmsum"].table)
process = partial(process_results, TASKS["summ_qmsum"])
DOC = {"doc_id": "a", "references": json.dumps(["The council passed the bill.", "A bill was passed."])}


def test_the_group_averages_what_the_tasks_have():
    config = read(FOLDER / "summ.yaml")
    assert config["group"] == "summ" and config["task"] == NAMES
    keys = {entry["metric"] for entry in config["aggregate_metric_list"]}
    wanted = set(KEYS) - {"empty_answers"}  # a count: its mean over tasks says nothing
    assert keys == wanted, f"aggregate_metric_list in task_configs/summaries/summ.yaml: {sorted(keys ^ wanted)}"
    assert all(entry["weight_by_size"] is False for entry in config["aggregate_metric_list"])


def test_the_readme_tells_of_every_task_and_licence():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}` "))
        wanted = DATA_SETS[name]
        assert wanted.hub.repo_id in row and wanted.licence in row and wanted.title in row


@pytest.mark.parametrize("name", NAMES)
def test_every_task_loads_and_asks(task_manager, name):
    pytest.importorskip("lm_eval")
    task = task_manager.load([name])["tasks"][name]
    docs = list(task.test_docs())
    assert len(docs) == 3
    for doc in docs:
        assert task.doc_to_text(doc).endswith("Summary:"), "the instruction comes last"
        assert task.doc_to_target(doc) == json.loads(doc["references"])[0]
        assert doc["edition"] == "embedded" and doc["text_truncated"] == 0
    stops = task.config.generation_kwargs["until"]
    chat = "Here is the summary.\n\nSummary: The council met.\n\n- One <document> was read.\n\n\nIt closed."
    assert stops and not any(stop in chat for stop in stops)
    assert any(stop in f"A summary.\n\n{task.doc_to_text(docs[0])}" for stop in stops), "a base model that goes on"
    assert task.config.generation_kwargs["max_gen_toks"] == (
        1024 if name in ("summ_multi_news", "summ_govreport") else 512
    )
    assert task.config.metadata["provenance"]["edition"] == "embedded"


# --- one answer ---


def test_the_best_reference_counts():
    values = process(DOC, ["A bill was passed."])
    direct = tls_tasks.rouge_l(["A bill was passed."], [json.loads(DOC["references"])]).as_dict()
    assert values["rouge_l_f1"] == direct["rouge_l_f1"] == 1.0
    assert (values["n_words"], values["empty_answers"]) == (4, 0)


@pytest.mark.parametrize(
    "answer", ["<think>The council? Or not?</think>\n\nA bill was passed.", "so it is</think>A bill was passed.\n"]
)
def test_thinking_is_no_part_of_the_summary(answer):
    assert process(DOC, [answer]) == process(DOC, ["A bill was passed."])


@pytest.mark.parametrize("answer", ["", " \n", "<think>The council passed the bill.", "<think>x</think>\n"])
def test_nothing_scores_zero_and_is_counted(answer):
    values = process(DOC, [answer])
    assert values == {**dict.fromkeys(KEYS, 0), "empty_answers": 1}


def check(values):
    assert set(values) == set(KEYS)
    for value in values.values():
        assert math.isfinite(value) and value >= 0
    assert all(value <= 1 for key, value in values.items() if key.startswith("rouge_l"))
    json.dumps(values)


@given(st.text(st.characters(), max_size=300))
def test_any_text_scores(text):
    check(process(DOC, [text]))
