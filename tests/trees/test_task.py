"""The extraction task configs: each loads, names every key that scoring returns, and survives what models write."""

import json
import warnings
from collections import Counter
from functools import partial
from statistics import fmean

import pytest

from tests.conftest import ROOT
from tests.timelines.test_task import read
from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.trees.baseline import answer as rules_answer
from tls_tasks.trees.data import DATA_SETS, load_documents, prompt
from tls_tasks.trees.task import METRICS, TASKS
from tls_tasks.trees.tree_eval import tree_eval

FOLDER = ROOT / "task_configs" / "trees"
NAMES = list(DATA_SETS)
TASK = TASKS["tree_extraction"]
KEYS = list(TASK.table)
process = partial(process_results, TASK)
SCHEMA = {"name": "string", "n": "integer", "day": "date", "tags": ["string"]}
GOLD = {"name": "Café Nord", "n": 3, "day": "2024-03-05", "tags": ["a", "b"]}
DOC = {"doc_id": "d1", "schema": json.dumps(SCHEMA), "reference": json.dumps(GOLD)}
FOLDED = [f"{part}_{level}" for level in ("node", "leaf") for part in ("precision", "recall", "f1")]
VALUES = [f"{part}_value{how}" for how in ("", "_exact") for part in ("f1", "precision", "recall")]
COUNTED = [f"leaves_{kind}" for kind in ("correct", "wrong", "missed", "invented", "absent")]
RATES = ["json_valid", "parsed", "repaired", "duplicate_keys", "non_finite", "schema_compliance"]


def test_the_metric_list_names_exactly_what_scoring_returns():
    listed = [entry["metric"] for entry in read(FOLDER / "_default_yaml")["metric_list"]]
    assert set(listed) == set(process(DOC, ["{}"])) == {*KEYS, *(f"{key}_stderr" for key in TASK.jackknife_keys)}
    assert sorted(KEYS) == sorted([
        "treeval_score", *VALUES, *FOLDED, *METRICS, *COUNTED, *RATES, "type_errors", "parse_failures"
    ])  # fmt: skip
    assert set(TASK.jackknife_keys) == {*VALUES, *FOLDED, *METRICS}


def test_every_file_is_a_task_or_the_group_and_every_task_is_there():
    configs = [read(path) for path in FOLDER.glob("*.yaml")]
    assert sorted(config.get("task") for config in configs if "group" not in config) == sorted([*NAMES, "tree_custom"])
    assert len(configs) == len(NAMES) + 2


# --- one answer ---


def direct(doc, answer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tree_eval([answer], [json.loads(doc["reference"])], json.loads(doc["schema"]))


def test_the_values_of_one_answer():
    tree = {"name": "Cafe Nord", "n": "3", "day": None, "tags": ["b"], "more": 1}
    values = process(DOC, [f"Here:\n```json\n{json.dumps(tree)}\n```"])
    expected = direct(DOC, tree).as_dict()
    assert values["treeval_score"] == expected["treeval_score"] > 0
    assert {key: values[key] for key in FOLDED} == {key: expected[key] for key in FOLDED}
    assert {key: values[key] for key in RATES} == {
        "json_valid": 0, "parsed": 1, "repaired": 0, "duplicate_keys": 0, "non_finite": 0, "schema_compliance": 0
    }  # fmt: skip
    assert (values["type_errors"], values["parse_failures"]) == (1, 0)
    assert (values["leaves_missed"], values["leaves_correct"], values["leaves_wrong"]) == (2, 1, 2)


def test_a_perfect_answer():
    values = process(DOC, [f"<think>{{}}</think>{json.dumps(GOLD)}"])
    assert values["treeval_score"] == 1.0
    assert all(values[key] == 1.0 for key in FOLDED)
    assert all(values[key] == 1.0 for key in METRICS)
    assert values["leaves_correct"] == 5 and values["schema_compliance"] == 1


@pytest.mark.parametrize("answer", ["", " \n", "I can't do that.", '<think>{"n": 3}', "```json\n```"])
def test_nothing_scores_zero_and_is_counted(answer):
    values = process(DOC, [answer])
    assert values["treeval_score"] == values["parsed"] == values["schema_compliance"] == 0
    assert values["parse_failures"] == 1
    assert values["f1_node"] == 0 and values["precision_node"] == 1
    assert all(values[key] == 0.0 == sum(values[key].units[0].values()) for key in METRICS)
    assert values["leaves_missed"] == 5


def test_several_right_answers_of_a_leaf():
    doc = {**DOC, "reference": json.dumps({**GOLD, "name": {"$any_of": ["Nord", "Café Nord"]}})}
    for name in ("Nord", "Café Nord"):
        assert process(doc, [json.dumps({**GOLD, "name": name})])["treeval_score"] == 1.0


def test_the_target_is_a_perfect_answer():
    doc = {**DOC, "reference": json.dumps({**GOLD, "name": {"$any_of": ["Nord", "Café Nord"]}, "tags": ["ä"]})}
    assert TASK.target(doc) == '{"name": "Nord", "n": 3, "day": "2024-03-05", "tags": ["ä"]}'
    for name in NAMES:
        task = TASKS[name]
        for doc in load_documents(name, edition="embedded"):
            assert task.results([task.process(doc, task.target(doc))])["treeval_score"] == 1.0


# --- over documents ---


def results_of(docs, answers):
    return TASK.results([TASK.process(doc, answer) for doc, answer in zip(docs, answers, strict=True)])


def answers_of(docs):
    """Right, found by rules, broken off, and none at all, by turns."""
    dresses = (
        lambda doc: doc["reference"],
        lambda doc: rules_answer(prompt(doc)),
        lambda doc: doc["reference"][: len(doc["reference"]) // 2],
        lambda doc: "I am sorry.",
    )
    return [dresses[index % 4](doc) for index, doc in enumerate(docs)]


def test_the_numbers_over_documents_are_those_of_one_call_a_schema():
    docs = list(load_documents("tree_extraction", edition="embedded"))
    answers = answers_of(docs)
    values = results_of(docs, answers)
    sums, items = Counter(), []
    for kind in dict.fromkeys(doc["kind"] for doc in docs):
        rows = [(answer, doc) for answer, doc in zip(answers, docs, strict=True) if doc["kind"] == kind]
        with pytest.warns(UserWarning, match=r"\d of 6 predictions could not be read as trees"):
            score = tree_eval(
                [answer for answer, _ in rows], [doc["reference"] for _, doc in rows], rows[0][1]["schema"]
            )
        whole = score.as_dict(detailed=True)
        items += whole["items"]
        for unit in score.units:
            sums.update(unit)
        for field in whole["fields"].values():
            sums.update({f"leaves_{name}": count for name, count in field.items()})
        sums.update({name: whole[name] for name in ("type_errors", "parse_failures")})
    assert values["treeval_score"] == pytest.approx(fmean([item["treeval_score"] for item in items]), abs=1e-12)
    for key in METRICS:
        found = [item["averages"]["per_metric"].get(key) for item in items]
        assert values[key] == pytest.approx(fmean([one for one in found if one is not None]), abs=1e-12)
    for level in ("node", "leaf"):
        hits, extra, missed = (sums[f"{level}_{name}"] for name in ("tp", "fp", "fn"))
        assert hits and extra + missed
        assert values[f"precision_{level}"] == pytest.approx(hits / (hits + extra), abs=1e-12)
        assert values[f"recall_{level}"] == pytest.approx(hits / (hits + missed), abs=1e-12)
        assert values[f"f1_{level}"] == pytest.approx(2 * hits / (2 * hits + extra + missed), abs=1e-12)
    assert all(values[key] == pytest.approx(sums[key] / len(docs), abs=1e-12) for key in RATES)
    assert all(values[key] == sums[key] for key in (*COUNTED, "type_errors", "parse_failures"))
    assert values["parse_failures"] == 9 and 0 < values["repaired"] <= 0.25


def test_the_baseline_is_neither_trivial_nor_right():
    """The numbers of the README."""
    docs = list(load_documents("tree_extraction", edition="embedded"))
    values = results_of(docs, [rules_answer(prompt(doc)) for doc in docs])
    readme = " ".join((FOLDER / "README.md").read_text(encoding="utf-8").split())
    told = (values[key] for key in ("f1_value", "treeval_score", "f1_node", "f1_leaf"))
    assert (
        "its value F1 is {:.2f} and its treeval score {:.2f} (node F1 {:.2f}, leaf F1 {:.2f})".format(*told) in readme
    )
    assert values["json_valid"] == values["schema_compliance"] == 1 and 0.2 < values["treeval_score"] < 0.6


def test_sums_of_nothing():
    assert [TASK.results([])[key] for key in FOLDED] == [1.0] * 6
