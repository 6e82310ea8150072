"""The summarisation task configs: each loads, names every key that scoring returns, and survives what models write."""

import json
from functools import partial

import pytest

import tls_tasks
from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.summaries.task import TASKS

process = partial(process_results, TASKS["summ_qmsum"])
DOC = {"doc_id": "a", "references": json.dumps(["The council passed the bill.", "A bill was passed."])}


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
    assert values == {**dict.fromkeys(values, 0), "empty_answers": 1}
