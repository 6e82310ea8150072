"""The task configs: each loads, names every key that scoring returns, and survives whatever a model writes."""

import json
from functools import partial

import pytest
import yaml

from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.timelines.task import TASKS

process = partial(process_results, TASKS["tls_crisis"])
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


# --- the corpus ---


def test_corpus_results():
    task = TASKS["tls_crisis"]
    other = {**DOC, "doc_id": "libya/0", "topic": "libya"}
    answered = [
        (DOC, "2011-01-25: Protests."),
        (DOC, "No."),
        (other, "2011-01-25: Protests."),
        (other, "1999-01-01: a"),
    ]
    units = [task.process(doc, answer) for doc, answer in answered]
    results = task.results(units, [task.get_topic(doc) for doc, _ in answered])
    assert [unit["date_f1"] for unit in units] == [1.0, 0.0, 1.0, 0.0]
    assert (results["date_precision"], results["date_recall"], results["date_f1"]) == (0.5, 0.5, 0.5)
    assert results["date_mean_f"] == 0.5 and results["parse_failures"] == 1 and results["n_dates"] == 0.75


def test_topics_have_equal_votes_in_mean_f():
    task = TASKS["tls_crisis"]
    other = {**DOC, "doc_id": "libya/0", "topic": "libya"}
    answered = [(DOC, "2011-01-25: Protests."), (DOC, "No."), (DOC, "No."), (other, "2011-01-25: Protests.")]
    units = [task.process(doc, answer) for doc, answer in answered]
    results = task.results(units, [task.get_topic(doc) for doc, _ in answered])
    assert results["date_mean_f"] == (1 / 3 + 1) / 2
    assert results["date_f1"] == 0.5


def test_dates_are_looked_up_in_articles_and_references():
    doc = {**DOC, "article_dates": '["2011-01-25", "2011-01-27"]', "reference_dates": '["2011-01-25", "2011-02-11"]'}
    answer = "2011-01-25: Protests.\n2011-01-27: Police.\n2011-02-11: He resigns.\n2011-03-01: It rains."
    task = TASKS["tls_crisis"]
    results = task.results([task.process(doc, answer), task.process(doc, "2011-01-25: Protests.")])
    assert (results["dates_in_articles"], results["dates_invented"]) == (3 / 5, 1)


@pytest.mark.parametrize("name", NAMES)
def test_every_task_asks_for_its_dates_and_its_target_is_a_perfect_answer(name):
    task = TASKS[name]
    for doc in task.documents(edition="embedded"):
        prompt = task.prompt(doc)
        assert f"- Choose about {doc['n_asked']} dates.\n" in prompt and doc["query"] in prompt
        assert ("<sentences>" in prompt) is not name.endswith("closed_book")
        assert task.target(doc).count("\n") == doc["n_dates"] - 1
        assert all(date[4] == "-" and len(date) == 10 for date in (doc["start_date"], doc["end_date"]))
        assert all(len(row["date"]) == 10 for row in json.loads(doc["reference"]))
        unit = task.process(doc, task.target(doc))
        assert (unit["date_f1"], unit["n_dates"], unit["parse_failures"]) == (1.0, doc["n_dates"], 0)
        assert unit["ar1_f1"] == 1.0 and unit["ar2_f1"] == 1.0
