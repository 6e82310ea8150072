"""``tls-tasks list``: everything that is registered, and the data as it is on this machine."""

import json

import huggingface_hub.constants
import pytest

from tests.cli.conftest import run
from tls_tasks.core.errors import OptionError
from tls_tasks.hosts.discovery import group_files, task_file, task_files
from tls_tasks.registry import METRICS
from tls_tasks.summaries import data as summaries
from tls_tasks.timelines import data as timelines


def listed(capsys, *options):
    code, out, _ = run("list", capsys, *options)
    assert code == 0
    return out


def tasks(capsys):
    """Name -> what is said of a task."""
    return {row["name"]: row for row in json.loads(listed(capsys, "--json"))["tasks"]}


def test_everything_is_there_with_its_version(capsys):
    found = json.loads(listed(capsys, "--json"))
    assert {row["name"] for row in found["tasks"]} == set(task_files())
    assert {row["name"] for row in found["groups"]} == set(group_files())
    assert {row["name"] for row in found["metrics"]} == set(METRICS)
    versions = {name: task.version for name, task in task_files().items()}
    assert {row["name"]: row["version"] for row in found["tasks"]} == versions
    out = listed(capsys)
    for row in [*found["tasks"], *found["groups"], *found["metrics"]]:
        assert f"\n{row['name']} " in f"\n{out}"


def test_the_state_of_the_data(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("TLS_TASKS_DATA", raising=False)
    states = {name: row["data"] for name, row in tasks(capsys).items()}
    assert {name for name, state in states.items() if state == "yours"} == {n for n in states if "_custom" in n}
    assert set(states.values()) == {"embedded", "yours"}, "no hub here, no local data"
    (tmp_path / "crisis").mkdir()
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path))
    states = {name: row["data"] for name, row in tasks(capsys).items()}
    assert states["tls_crisis"] == states["tls_crisis_closed_book"] == f"local {tmp_path / 'crisis'}"
    assert states["summ_qmsum"] == "embedded"


def test_a_hub_source_in_the_cache(capsys, monkeypatch, tmp_path):
    wanted = summaries.DATA_SETS["summ_dialogsum"]
    state = tasks(capsys)["summ_dialogsum"]
    assert state["data"] == "embedded" and state["hub"].endswith(f"@{wanted.hub.revision} (not in the cache)")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    repo = tmp_path / f"datasets--{wanted.hub.repo_id.replace('/', '--')}" / "snapshots" / wanted.hub.revision
    repo.mkdir(parents=True)
    (repo / wanted.hub.files[0]).write_text("id,dialogue,summary\n")
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)
    state = tasks(capsys)["summ_dialogsum"]
    assert state["data"] == "hub" and state["hub"] == f"{wanted.hub.repo_id}@{wanted.hub.revision}"


def test_the_hub_has_no_articles(capsys):
    assert tasks(capsys)["tls_crisis"]["hub"] == "no hub source"
    assert timelines.DATA_SETS["tls_crisis"].hub.repo_id in tasks(capsys)["tls_crisis_closed_book"]["hub"]


def test_how_to_get_the_data(capsys):
    out = listed(capsys, "--obtain")
    assert all(f"{task}: " in out for task in task_files())


def test_task_files_say_what_the_harness_reads(task_manager):
    assert {*task_files(), *group_files()} <= set(task_manager.all_tasks)
    known = {name: task for name, task in task_files().items() if "_custom" not in name}  # those need data
    loaded = task_manager.load_task_or_group(list(known))
    for name, task in known.items():
        config = loaded[name].config
        assert config.metadata["version"] == task.version
        listed = [entry["metric"] for entry in config.metric_list]
        assert [key for key in listed if not key.endswith("_stderr")] == task.metrics


def test_members_of_groups_exist():
    for group in group_files().values():
        assert set(group.members) <= {*task_files(), *group_files()}


def test_an_unknown_task_names_those_that_exist():
    with pytest.raises(OptionError, match="task: got 'tls_crises', expected one of '"):
        task_file("tls_crises")
