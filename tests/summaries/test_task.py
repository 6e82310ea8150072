"""The summarisation task configs: each loads, names every key that scoring returns, and survives what models write."""

import json
import math
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
    assert str(process(DOC, [answer])) == str(process(DOC, ["A bill was passed."]))  # as text, in which NaN equals NaN


@pytest.mark.parametrize("answer", ["", " \n", "<think>The council passed the bill.", "<think>x</think>\n"])
def test_nothing_scores_zero_and_is_counted(answer):
    values = process(DOC, [answer])
    undefined = [key for key in list(values) if math.isnan(values[key]) and values.pop(key)]
    assert undefined == [
        "numbers_in_source",
        "numbers_in_source_stderr",
    ]  # an answer without numbers has no share of them
    assert values == {**dict.fromkeys(values, 0), "empty_answers": 1}


def test_numbers_are_looked_up_in_the_document():
    doc = {**DOC, "text": "On 25 January 2011 the council passed a bill for 1,200 farms."}
    task = TASKS["summ_qmsum"]
    units = [task.process(doc, answer) for answer in ("1200 farms", "2011-01-25: 1300 farms", "Farms.")]
    results = task.results(units)
    assert [task.results([unit])["numbers_in_source"] for unit in units[:2]] == [1.0, 0.5]
    assert results["numbers_in_source"] == 0.75
