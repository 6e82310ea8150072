"""The extraction task configs: each loads, names every key that scoring returns, and survives what models write."""

import json
import math
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cli.conftest import run
from tests.conftest import ROOT
from tests.harness_parts import manager, run_here
from tests.made_runs import make_run
from tests.timelines.test_task import read
from tls_tasks.core.errors import OptionError
from tls_tasks.evidence.data import DATA_SETS
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.task import TASKS
from tls_tasks.evidence.types import JOURNAL_SCHEMA
from tls_tasks.hosts.lm_eval import hooks, process_results

FOLDER = ROOT / "task_configs" / "evidence"
NAMES = list(DATA_SETS)
TASK = TASKS["evidence_journals"]
process = partial(process_results, TASK)
HOOKS = hooks("tls_tasks.evidence.task")
every_task = pytest.mark.parametrize("name", NAMES)

TEXT = "Had tea twice. Felt calm, no fever."
TEA = {"domain": "food", "evidence_span": "Had tea", "polarity": "present", "intensity_bucket": "low"}
TEA |= {"time_bucket": "today"}
FEVER = {"domain": "symptom", "evidence_span": "no fever", "polarity": "absent", "time_bucket": "today"}
SCHEMA = json.dumps(JOURNAL_SCHEMA.as_dict())
DOC = {"doc_id": "J1", "text": TEXT, "references": json.dumps([TEA, FEVER]), "schema": SCHEMA}


def numbers(values):
    """What is not a standard error."""
    return {key: value for key, value in values.items() if not key.endswith("_stderr")}


def metric_list(name):
    return read(FOLDER / f"{name}.yaml").get("metric_list") or read(FOLDER / "_default_yaml")["metric_list"]


def test_postprocess_is_an_option_of_the_task():
    told = json.dumps([TEA, {**TEA, "evidence_span": "Had coffee"}, {**FEVER, "polarity": "perhaps"}])
    for how in (None, "keep", "drop"):
        doc = {**DOC, "postprocess": how}
        score = TASK.scores(doc, told)["evidence_extraction"]
        direct = evidence_extraction([told], [[TEA, FEVER]], [TEXT], postprocess=how)
        assert score == direct and (f"|post:{how}|" in score.signature) is (how is not None)
        assert process(doc, [told])["evidence_f1"] == direct.f1
    with pytest.raises(OptionError, match=r"postprocess: got 'drops', expected one of .*; did you mean 'drop'"):
        TASK.documents(edition="embedded", postprocess="drops")


def test_the_harness_runs_with_postprocess_and_examples():
    from tls_tasks.hosts.models import KeywordLM

    how = {"limit": 2, "num_fewshot": 1}
    run = run_here(manager(postprocess="drop", edition="embedded"), ["evidence_journals"], KeywordLM(), **how)
    samples = run["samples"]["evidence_journals"]
    assert [sample["doc"]["postprocess"] for sample in samples] == ["drop"] * 2
    assert samples[0]["arguments"][0][0].count("<document>") == 2


# --- configs ---


@every_task
def test_every_key_says_that_it_is_of_extraction(name):
    assert all(key.startswith("evidence_") for key in TASKS[name].table)


@every_task
def test_the_hooks_name_every_result(name):
    for entry in metric_list(name):
        if entry["aggregation"] != "mean":
            said = str(HOOKS(entry["metric"]))
            assert said.startswith("tls_tasks: jackknife") is entry["metric"].endswith("_stderr")


def test_a_schema_of_ones_own_has_all_its_results_by_metadata_alone(tmp_path, capsys):
    """Each with a standard error, in the harness and of its log; what the schema lacks is no result."""
    from tls_tasks.hosts.models import KeywordLM

    rows = [{"id": n, "text": f"A {n} oak.", "items": [{"domain": "tree", "evidence_span": "oak"}]} for n in "abc"]
    rows[0]["items"][0]["size"], rows[1]["items"][0]["size"], rows[2]["items"][0]["size"] = "small", "small", "big"
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))
    attribute = {"name": "size", "fields": {"": "size"}, "values": ["small", "big"]}
    schema = {"name": "plants", "domains": ["tree", "herb"], "attributes": [attribute]}
    model = KeywordLM()
    model.answer = lambda prompt: '[{"domain": "tree", "evidence_span": "oak", "size": "small"}]'
    options = {"data": str(tmp_path / "rows.jsonl"), "schema": schema, "name": "ours"}
    make_run(tmp_path / "out", model, ["evidence_custom"], metadata=options)
    (file,) = tmp_path.glob("out/**/results_*.json")
    results = json.loads(file.read_text())["results"]["evidence_custom"]
    assert results["evidence_size_accuracy,none"] == 2 / 3 and "evidence_polarity_accuracy,none" not in results
    assert results["evidence_size_accuracy_stderr,none"] == pytest.approx(1 / 3)
    code, out, err = run("score", capsys, tmp_path / "out", "--json", "-")
    assert (code, json.loads(out)[0]["metrics"]["evidence_size_accuracy"]) == (0, 2 / 3), err


# --- one answer ---


def test_the_values_of_an_answer():
    told = [{**TEA, "polarity": "absent"}, {**FEVER, "evidence_span": "a fever"}, {"domain": "mood"}]
    assert numbers(process(DOC, [f"Here:\n```json\n{json.dumps(told)}\n```"])) == {
        "evidence_f1": 0.4,
        "evidence_precision": 1 / 3,
        "evidence_recall": 0.5,
        "evidence_mean_f1": 0.4,
        "evidence_polarity_accuracy": 0.0,
        "evidence_level_accuracy": 1.0,
        "evidence_time_accuracy": 1.0,
        "evidence_bucket_accuracy": 1.0,
        "evidence_coverage": 1 / 3,
        "evidence_coverage_normalised": 1 / 3,
        "evidence_schema_invalid": 2,
        "evidence_parse_failures": 0,
        "evidence_n_objects": 3,
    }


def test_abstention_is_no_failure_and_prose_is_one():
    abstained, refused = (numbers(process(DOC, [text])) for text in ("[]", "I can't read journals."))
    assert (abstained.pop("evidence_parse_failures"), refused.pop("evidence_parse_failures")) == (0, 1)
    assert abstained == refused and abstained["evidence_recall"] == 0


def test_the_target_scores_perfectly():
    result = TASK.results([TASK.process(DOC, TASK.target(DOC))])
    assert {value for key, value in result.items() if "_n_" not in key and result[key] <= 1} == {0, 1}
    assert result["evidence_f1"] == result["evidence_bucket_accuracy"] == result["evidence_coverage"] == 1


def test_what_the_budget_cut_off_is_no_source_of_quotes():
    assert process({**DOC, "text": "Had"}, [json.dumps([TEA])])["evidence_coverage"] == 0


def test_documents_with_a_schema_of_their_own_have_a_table_of_their_own():
    schema = {"domains": ["food"], "attributes": [{"name": "meal", "values": ["lunch", "dinner"]}]}
    lunch = [{"domain": "food", "evidence_span": "soup", "meal": "lunch"}]
    doc = {"doc_id": "x", "text": "soup", "references": json.dumps(lunch), "schema": json.dumps(schema)}
    values = process(doc, [json.dumps([{**lunch[0], "meal": "dinner"}])])
    assert values["evidence_meal_accuracy"] == 0 and "evidence_polarity_accuracy" not in values
    right = process(doc, [json.dumps(lunch)])["evidence_meal_accuracy"]
    assert right.aggregation([values["evidence_meal_accuracy"], right]) == 0.5
    with pytest.raises(AttributeError, match="no 'evidence_f2'"):
        HOOKS("evidence_f2")


# --- all answers: the harness's numbers are the function's, to the last bit ---

SPANS = ["Had tea", "tea twice", "Felt calm", "calm", "no fever", "a fever", "", "Had tea twice. Felt calm"]
OBJECTS = st.fixed_dictionaries(
    {"domain": st.sampled_from(JOURNAL_SCHEMA.domains), "evidence_span": st.sampled_from(SPANS)},
    optional={
        "polarity": st.sampled_from(["present", "absent", "maybe", 3]),
        "intensity_bucket": st.sampled_from(["low", "high", None]),
        "arousal_bucket": st.sampled_from(["low", "high"]),
        "time_bucket": st.sampled_from(["today", "past_week"]),
    },
)
GOLD = st.lists(OBJECTS, max_size=4)
ANSWERS = st.one_of(
    st.lists(OBJECTS, max_size=4).map(json.dumps), st.sampled_from(["", "none", "[]", '[{"domain": 3}]'])
)


@given(st.lists(st.tuples(GOLD, ANSWERS), min_size=1, max_size=6))
def test_the_aggregates_are_the_numbers_of_the_function(rows):
    docs = [{**DOC, "doc_id": row, "references": json.dumps(gold)} for row, (gold, _) in enumerate(rows)]
    values = [process(doc, [answer]) for doc, (_, answer) in zip(docs, rows, strict=True)]
    score = evidence_extraction([answer for _, answer in rows], [gold for gold, _ in rows], [TEXT] * len(rows))
    direct = score.as_dict()

    def aggregated(key):
        return HOOKS(key)([value[key] for value in values])

    for key in ("f1", "precision", "recall", "schema_invalid", "parse_failures"):
        assert aggregated(f"evidence_{key}") == direct[key], key
    for name in JOURNAL_SCHEMA.accuracy_names:
        assert aggregated(f"evidence_{name}_accuracy") == direct[f"{name}_accuracy"]
    for key in ("evidence_coverage", "evidence_coverage_normalised"):
        assert aggregated(key) == direct[key]
    assert aggregated("evidence_mean_f1") == math.fsum(unit["macro/f1"] for unit in score.units) / len(rows)
    assert sum(value["evidence_n_objects"] for value in values) == direct["tp"] + direct["fp"]
    error = HOOKS("evidence_f1_stderr")([value["evidence_f1"] for value in values])
    expected = score.standard_errors()["f1"]
    assert error == ("N/A" if math.isnan(expected) else expected)
    assert math.isnan(expected) or len(rows) > 1


# --- trouble ---
