"""The task configs: each loads, names every key that scoring returns, and survives whatever a model writes."""

import json
import math

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from tls_tasks.hosts.aggregations import f_of_means, mean_f_by_topic, total
from tls_tasks.timelines.task import process_timeline, result_keys

FOLDER = ROOT / "task_configs" / "timelines"
NAMES = [f"tls_{name}{form}" for name in ("crisis", "timeline17", "entities", "open") for form in ("", "_closed_book")]
DOC = {
    "doc_id": "egypt/0",
    "topic": "egypt",
    "reference": json.dumps([{"date": "2011-01-25", "text": ["Protests erupt in Cairo."]}]),
}


class Loader(yaml.SafeLoader):
    """Reads ``!function`` as its name."""


Loader.add_constructor("!function", lambda loader, node: loader.construct_scalar(node))


def read(path):
    return Loader(path.read_text(encoding="utf-8")).get_single_data()


def test_the_metric_list_names_exactly_what_scoring_returns():
    listed = [entry["metric"] for entry in read(FOLDER / "_default_yaml")["metric_list"]]
    assert sorted(listed) == sorted(result_keys())
    assert set(process_timeline(DOC, ["2011-01-25: Protests."])) == set(listed)


def test_the_groups_average_what_the_tasks_have():
    for group, members in (("tls", NAMES[::2]), ("tls_closed_book", NAMES[1::2])):
        config = read(FOLDER / f"{group}.yaml")
        assert config["group"] == group and config["task"] == members
        keys = {entry["metric"] for entry in config["aggregate_metric_list"]}
        assert keys == set(result_keys()) - {"parse_failures"}  # a count: its mean over tasks says nothing
        assert all(entry["weight_by_size"] is False for entry in config["aggregate_metric_list"])


def test_every_file_is_a_task_or_a_group_and_every_task_is_there():
    names = {
        config.get("task") if "group" not in config else config["group"] for config in map(read, FOLDER.glob("*.yaml"))
    }
    assert names == {*NAMES, "tls", "tls_closed_book"}


@pytest.mark.parametrize("name", NAMES)
def test_every_task_loads_and_asks(task_manager, name):
    pytest.importorskip("lm_eval")
    # lm-eval 0.4.11 has no TaskManager.load
    loaded = (
        task_manager.load([name])["tasks"] if hasattr(task_manager, "load") else task_manager.load_task_or_group(name)
    )
    task = loaded[name]
    docs = list(task.test_docs())
    assert len(docs) >= 2
    for doc in docs:
        prompt = task.doc_to_text(doc)
        assert f"exactly {doc['n_dates']}" in prompt and doc["query"] in prompt
        assert prompt.endswith("Timeline:"), "the instruction comes last: harness models cut prompts from the left"
        assert ("News sentences about" in prompt) is not name.endswith("closed_book")
        assert task.doc_to_target(doc) == doc["reference"]
        assert all(date[4] == "-" and len(date) == 10 for date in (doc["start_date"], doc["end_date"]))
        assert all(len(row["date"]) == 10 for row in json.loads(doc["reference"]))
    stops = task.config.generation_kwargs["until"]
    assert stops and not any(stop in "Here it is:\n\n2011-01-25: a\n\n\n2011-01-26: b" for stop in stops)
    assert task.config.generation_kwargs["max_gen_toks"] >= 8192
    assert task.config.metadata["provenance"]["edition"] == "embedded"


# --- nothing that a model writes may cost the run ---


def check(values):
    assert set(values) == set(result_keys())
    for key, value in values.items():
        numbers = value.values() if isinstance(value, dict) else [value]
        assert all(isinstance(one, str) or math.isfinite(one) for one in numbers), key
    json.dumps(values)


@given(st.text(st.characters(), max_size=300))
def test_any_text_scores(text):
    check(process_timeline(DOC, [text]))


HOSTILE = [
    "",
    "null",
    "NaN",
    "[" * 100_000,
    '{"a":' * 50_000,
    "2011-01-25: " * 20_000,
    '[{"date": "2011-01-25", "text": ' + "1" * 10_000 + "}]",
    '[{"date": {"date": []}, "text": {"text": {}}}]',
    "[__import__('os').abort()]",
    "\x00\ud800\udfff\u202e 2011-01-25: a",
    "9999-12-31: a\n0001-01-01: b\n0000-00-00: c",
    "2011-01-25: " + "<" * 1000 + "^" * 1000,
    "2011-01-25: " + "police " * 100_000,
    "\n".join(f"{year}-01-01: a" for year in range(1, 9999, 3)),
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_text_scores(text):
    check(process_timeline(DOC, [text]))


@pytest.mark.parametrize("results", [[], [None], [[]], [["2011-01-25: a"]], [3], [{"a": 1}]])
def test_what_a_users_filter_may_have_made_of_the_answer(results):
    check(process_timeline(DOC, results))


def test_a_scorer_that_fails_shows_as_nan_and_not_as_a_lost_run(monkeypatch, caplog):
    from tls_tasks.timelines import date_f1

    def broken(*_):
        raise RuntimeError("a bug")

    monkeypatch.setattr(date_f1, "date_f1", broken)
    values = process_timeline(DOC, ["2011-01-25: Protests."])
    assert math.isnan(values["date_precision"]) and math.isnan(f_of_means([values["date_f1"]]))
    assert values["ar1_precision"] > 0
    assert "date_f1 could not score document egypt/0" in caplog.text


def test_aggregations():
    items = [
        {"precision": 1.0, "recall": 0.5, "f1": 2 / 3, "topic": "a"},
        {"precision": 0.0, "recall": 0.0, "f1": 0.0, "topic": "b"},
    ]
    assert f_of_means(items) == pytest.approx(1 / 3)
    assert mean_f_by_topic([*items, {"f1": 0.0, "topic": "a"}]) == pytest.approx(1 / 6)
    assert total([1, 0, 1]) == 2.0
