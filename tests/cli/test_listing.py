"""``tls-tasks list``: everything that is registered, and the data as it is on this machine."""

import json

from tls_tasks.cli import main
from tls_tasks.hosts.discovery import group_files, task_files
from tls_tasks.registry import METRICS
from tls_tasks.summaries import data as summaries
from tls_tasks.timelines import data as timelines


def listed(capsys, *options):
    assert main(["list", *options]) == 0
    return capsys.readouterr().out


def test_everything_is_there_with_its_version(capsys):
    found = json.loads(listed(capsys, "--json"))
    assert {row["name"] for row in found["tasks"]} == set(task_files())
    assert {row["name"] for row in found["groups"]} == set(group_files())
    assert {row["name"] for row in found["metrics"]} == set(METRICS)
    assert all(isinstance(row["version"], int) for row in found["metrics"])
    assert {row["name"]: row["version"] for row in found["tasks"]} == {
        name: task.version for name, task in task_files().items()
    }
    out = listed(capsys)
    for row in [*found["tasks"], *found["groups"], *found["metrics"]]:
        assert f"\n{row['name']} " in f"\n{out}"


def test_the_state_of_the_data(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("TLS_TASKS_DATA", raising=False)
    states = {row["name"]: row["data"] for row in json.loads(listed(capsys, "--json"))["tasks"]}
    assert {name for name, state in states.items() if state == "yours"} == {n for n in states if "_custom" in n}
    assert set(states.values()) == {"embedded", "yours"}, "no hub here, no local data"
    (tmp_path / "crisis").mkdir()
    monkeypatch.setenv("TLS_TASKS_DATA", str(tmp_path))
    states = {row["name"]: row["data"] for row in json.loads(listed(capsys, "--json"))["tasks"]}
    assert states["tls_crisis"] == states["tls_crisis_closed_book"] == f"local {tmp_path / 'crisis'}"
    assert states["summ_qmsum"] == "embedded"


def test_a_hub_source_in_the_cache(capsys, monkeypatch, tmp_path):
    import huggingface_hub.constants

    def state():
        return next(row for row in json.loads(listed(capsys, "--json"))["tasks"] if row["name"] == "summ_dialogsum")

    wanted = summaries.DATA_SETS["summ_dialogsum"]
    assert state()["data"] == "embedded" and state()["hub"].endswith(f"@{wanted.hub.revision} (not in the cache)")
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path))
    repo = tmp_path / f"datasets--{wanted.hub.repo_id.replace('/', '--')}" / "snapshots" / wanted.hub.revision
    repo.mkdir(parents=True)
    (repo / wanted.hub.files[0]).write_text("id,dialogue,summary\n")
    monkeypatch.setattr("huggingface_hub.file_download.HF_HUB_CACHE", str(tmp_path), raising=False)
    assert state()["data"] == "hub" and state()["hub"] == f"{wanted.hub.repo_id}@{wanted.hub.revision}"


def test_the_hub_has_no_articles(capsys):
    sources = {row["name"]: row["hub"] for row in json.loads(listed(capsys, "--json"))["tasks"]}
    assert sources["tls_crisis"] == "no hub source"
    assert timelines.DATA_SETS["tls_crisis"].hub.repo_id in sources["tls_crisis_closed_book"]


def test_how_to_get_the_data(capsys):
    out = listed(capsys, "--obtain")
    assert all(f"{task}: " in out for task in task_files())
