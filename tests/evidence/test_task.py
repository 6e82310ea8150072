"""The extraction task configs: each loads, names every key that scoring returns, and survives what models write."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tests.timelines.test_task import HOSTILE, read
from tls_tasks.core.scores import mean
from tls_tasks.evidence.data_sets import evidence_set, evidence_sets
from tls_tasks.evidence.evidence_extraction import evidence_extraction
from tls_tasks.evidence.task import process_evidence, result_keys
from tls_tasks.evidence.types import JOURNAL_SCHEMA
from tls_tasks.hosts.aggregations import f1_of_sums, ratio_of_sums, total

FOLDER = ROOT / "task_configs" / "evidence"
NAMES = list(evidence_sets())
every_task = pytest.mark.parametrize("name", NAMES)

TEXT = "Had tea twice. Felt calm, no fever."
TEA = {"domain": "food", "evidence_span": "Had tea", "polarity": "present", "intensity_bucket": "low"}
TEA |= {"time_bucket": "today"}
FEVER = {"domain": "symptom", "evidence_span": "no fever", "polarity": "absent", "time_bucket": "today"}
SCHEMA = json.dumps(JOURNAL_SCHEMA.as_dict())
DOC = {"doc_id": "J1", "text": TEXT, "references": json.dumps([TEA, FEVER]), "schema": SCHEMA}


def metric_list(name):
    return read(FOLDER / f"{name}.yaml").get("metric_list") or read(FOLDER / "_default_yaml")["metric_list"]


# --- configs ---


@every_task
def test_the_metric_list_names_exactly_what_scoring_returns(name):
    listed = [entry["metric"] for entry in metric_list(name)]
    schema = evidence_set(name).schema
    assert sorted(listed) == sorted(result_keys(schema))
    doc = {**DOC, "references": "[]", "schema": json.dumps(schema.as_dict())}
    assert set(process_evidence(doc, ["[]"])) == set(listed)
    assert all(key.startswith("evidence_") for key in listed)


@every_task
def test_the_values_are_what_their_aggregation_takes(name):
    values = process_evidence(
        {**DOC, "references": "[]", "schema": json.dumps(evidence_set(name).schema.as_dict())}, ["[]"]
    )
    for entry in metric_list(name):
        value, aggregation = values[entry["metric"]], str(entry["aggregation"])
        if "f1_of_sums" in aggregation:
            assert f1_of_sums([value]) == 0
        elif "ratio_of_sums" in aggregation:
            assert ratio_of_sums([value]) == 0
        else:
            assert value == 0


@every_task
def test_the_accuracies_of_the_yaml_are_those_of_the_metric_list(name):
    listed = [entry["metric"] for entry in metric_list(name)]
    accuracies = read(FOLDER / f"{name}.yaml")["dataset_kwargs"]["accuracies"]
    assert [key for key in listed if key.endswith("_accuracy")] == [f"evidence_{one}_accuracy" for one in accuracies]


def test_the_group_averages_what_all_tasks_have():
    config = read(FOLDER / "evid.yaml")
    assert config["group"] == "evid" and config["task"] == NAMES
    keys = [entry["metric"] for entry in config["aggregate_metric_list"]]
    common = set(result_keys(evidence_set("evidence_maccrobat").schema))
    assert set(keys) == common - {"evidence_schema_invalid", "evidence_parse_failures"}  # counts
    assert all(entry["weight_by_size"] is False for entry in config["aggregate_metric_list"])


def test_every_file_is_a_task_or_the_group_and_every_task_is_there():
    configs = [read(path) for path in FOLDER.glob("*.yaml")]
    assert sorted(config.get("task") for config in configs if "group" not in config) == sorted(NAMES)
    assert len(configs) == len(NAMES) + 1


def test_the_readme_tells_of_every_task_key_and_licence():
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}` "))
        wanted = evidence_set(name)
        assert wanted.licence in row
        if wanted.hub is not None:
            assert wanted.hub.repo_id in row and wanted.title in row and f"| {wanted.hub.rows} |" in row
        assert all(f"`{key}`" in readme for key in result_keys(wanted.schema))


@every_task
def test_every_task_loads_and_asks(task_manager, name):
    pytest.importorskip("lm_eval")
    # lm-eval 0.4.11 has no TaskManager.load
    loaded = (
        task_manager.load([name])["tasks"] if hasattr(task_manager, "load") else task_manager.load_task_or_group(name)
    )
    task = loaded[name]
    docs = list(task.test_docs())
    assert len(docs) == {"evidence_journals": 50, "evidence_maccrobat": 4}[name]
    for doc in docs:
        assert task.doc_to_text(doc).endswith("JSON:"), "the instruction comes last"
        assert task.doc_to_target(doc) == doc["references"]
        assert doc["edition"] == "embedded" and doc["text_truncated"] == 0
    stops = task.config.generation_kwargs["until"]
    chat = "Here is the array:\n\n```json\n[\n\n  {}\n]\n```\n\n\nI quoted from the <document>."
    assert stops and not any(stop in chat for stop in stops)
    assert any(stop in f"[]\n\n{task.doc_to_text(docs[0])}" for stop in stops), "a base model that goes on"
    assert (
        task.config.generation_kwargs["max_gen_toks"] == {"evidence_journals": 1024, "evidence_maccrobat": 4096}[name]
    )
    assert task.config.metadata["provenance"]["edition"] == "embedded"


# --- one answer ---


def test_the_values_of_an_answer():
    told = [{**TEA, "polarity": "absent"}, {**FEVER, "evidence_span": "a fever"}, {"domain": "mood"}]
    assert process_evidence(DOC, [f"Here:\n```json\n{json.dumps(told)}\n```"]) == {
        "evidence_f1": {"tp": 1, "fp": 2, "fn": 1},
        "evidence_precision": {"hits": 1, "of": 3},
        "evidence_recall": {"hits": 1, "of": 2},
        "evidence_mean_f1": 0.4,
        "evidence_polarity_accuracy": {"hits": 0, "of": 1},
        "evidence_level_accuracy": {"hits": 1, "of": 1},
        "evidence_time_accuracy": {"hits": 1, "of": 1},
        "evidence_bucket_accuracy": {"hits": 1, "of": 1},
        "evidence_coverage": {"hits": 1, "of": 3},
        "evidence_coverage_normalised": {"hits": 1, "of": 3},
        "evidence_schema_invalid": 2,
        "evidence_parse_failures": 0,
        "evidence_n_objects": 3,
    }


def test_abstention_is_no_failure_and_prose_is_one():
    abstained, refused = (process_evidence(DOC, [text]) for text in ("[]", "I can't read journals."))
    assert (abstained.pop("evidence_parse_failures"), refused.pop("evidence_parse_failures")) == (0, 1)
    assert abstained == refused and abstained["evidence_recall"] == {"hits": 0, "of": 2}


def test_what_the_budget_cut_off_is_no_source_of_quotes():
    values = process_evidence({**DOC, "text": "Had"}, [json.dumps([TEA])])
    assert values["evidence_coverage"] == {"hits": 0, "of": 1}


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
    values = [process_evidence({**DOC, "references": json.dumps(gold)}, [answer]) for gold, answer in rows]
    score = evidence_extraction(
        [answer for _, answer in rows], [gold for gold, _ in rows], [TEXT] * len(rows), macro=True
    )
    numbers = score.as_dict()
    columns = {key: [value[key] for value in values] for key in values[0]}
    assert f1_of_sums(columns["evidence_f1"]) == numbers["f1"]
    for key in ("precision", "recall", "polarity_accuracy", "level_accuracy", "time_accuracy", "bucket_accuracy"):
        assert ratio_of_sums(columns[f"evidence_{key}"]) == numbers[key], key
    for key in ("evidence_coverage", "evidence_coverage_normalised"):
        assert ratio_of_sums(columns[key]) == numbers[key]
    for key in ("schema_invalid", "parse_failures"):
        assert total(columns[f"evidence_{key}"]) == numbers[key]
    assert mean(columns["evidence_mean_f1"]) == pytest.approx(numbers["macro_f1"], abs=1e-15)
    assert sum(columns["evidence_n_objects"]) == numbers["tp"] + numbers["fp"]


# --- trouble ---


def check(values):
    assert set(values) == set(result_keys(JOURNAL_SCHEMA))
    for value in values.values():
        numbers = value.values() if isinstance(value, dict) else [value]
        assert all(math.isfinite(number) and number >= 0 for number in numbers)
    json.dumps(values)


@given(st.text(st.characters(), max_size=300))
def test_any_text_scores(text):
    check(process_evidence(DOC, [text]))


MORE_HOSTILE = [
    '[{"domain": {}, "evidence_span": []}]',
    '[{"domain": "food", "evidence_span": ' + '"tea ' * 30_000 + '"}]',
    "[" + '{"domain": "food", "evidence_span": "Had tea"},' * 5_000,
    '[{"domain": "food", "evidence_span": "Had tea", "polarity": NaN, "time_bucket": 1e999}]',
]


@pytest.mark.parametrize("text", HOSTILE + MORE_HOSTILE, ids=range(len(HOSTILE + MORE_HOSTILE)))
def test_hostile_text_scores(text):
    check(process_evidence(DOC, [text]))


@pytest.mark.parametrize("results", [[], [None], [[]], [["[]"]], [3], [{"a": 1}]])
def test_what_a_users_filter_may_have_made_of_the_answer(results):
    check(process_evidence(DOC, results))


def test_a_scorer_that_fails_shows_as_nan_and_not_as_a_lost_run(monkeypatch, caplog):
    from tls_tasks.evidence import task as evidence

    def broken(*_, **__):
        raise RuntimeError("a bug")

    monkeypatch.setattr(evidence, "evidence_extraction", broken)
    values = process_evidence(DOC, ["[]"])
    assert set(values) == set(result_keys(JOURNAL_SCHEMA))
    good = {"tp": 1, "fp": 0, "fn": 0}
    assert math.isnan(f1_of_sums([values["evidence_f1"], good]))
    assert math.isnan(ratio_of_sums([values["evidence_coverage"], {"hits": 1, "of": 1}]))
    assert math.isnan(values["evidence_mean_f1"]) and math.isnan(total([values["evidence_parse_failures"], 1]))
    assert "document J1 could not be scored: its values are NaN" in caplog.text
