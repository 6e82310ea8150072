"""The task configs of all families but reports: groups, READMEs, and what each task asks and where it stops."""

import importlib
import json
from pathlib import Path

import pytest

import tls_tasks
from tests.conftest import ROOT
from tests.timelines.test_task import read
from tls_tasks.registry import FAMILIES

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
TASKS = CASES["tasks"]


@pytest.mark.parametrize(("family", "name", "left_out"), CASES["groups"])
def test_a_group_averages_what_all_its_tasks_have(family, name, left_out):
    """But for counts, what is perfect by definition in silence, and what an answer may leave undefined."""
    config = read(ROOT / "task_configs" / family / f"{name}.yaml")
    assert config["group"] == name
    assert config["task"] == [task for task, case in TASKS.items() if case["group"] == name]
    common = set.intersection(*(set(tls_tasks.task(task).table) for task in config["task"]))
    assert {entry["metric"] for entry in config["aggregate_metric_list"]} == common - set(left_out)
    assert all(entry["weight_by_size"] is False for entry in config["aggregate_metric_list"])


@pytest.mark.parametrize("name", [name for name in TASKS if not name.startswith("tls_")])
def test_the_readme_tells_of_every_task_and_licence(name):
    family = tls_tasks.task(name).family
    wanted = importlib.import_module(f"tls_tasks.{family}.data").DATA_SETS[name]
    readme = (ROOT / "task_configs" / family / "README.md").read_text(encoding="utf-8")
    row = next(line for line in readme.splitlines() if line.startswith(f"| `{name}` "))
    assert wanted.licence in row and (wanted.hub.repo_id if wanted.hub else "none") in row
    assert wanted.hub is None or wanted.title in row
    if family != "summaries":
        assert all(f"`{key}`" in readme for key in tls_tasks.task(name).table)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_asks_last_and_stops_where_another_prompt_begins(task_manager, name):
    """What the harness asks is what the task asks: tests/test_tasks.py."""
    case, task = TASKS[name], task_manager.load([name])["tasks"][name]
    docs = list(task.test_docs())
    assert len(docs) == case["documents"]
    for doc in docs:
        assert task.doc_to_text(doc).endswith(case["ends"]), "the instruction comes last: harness models cut the left"
        assert doc["edition"] == "embedded" and not doc.get("text_truncated")
    stops, family = task.config.generation_kwargs["until"], tls_tasks.task(name).family
    assert stops and not any(stop in CASES["chats"][family] for stop in stops)
    if family == "timelines":
        assert all(f"\n{task.doc_to_text(doc)}".startswith(stop) for doc in docs for stop in stops)
    assert any(stop in f"An answer.\n\n{task.doc_to_text(docs[0])}" for stop in stops), "a base model that goes on"
    assert task.config.generation_kwargs["max_gen_toks"] == case["max_gen_toks"]
    assert task.config.metadata["provenance"]["edition"] == "embedded"


def test_every_family_is_here():
    assert {tls_tasks.task(name).family for name in TASKS} == set(FAMILIES) - {"reports"}
