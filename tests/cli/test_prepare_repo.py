"""``tls-tasks prepare --repo``: for each family a repository that datasets, the tasks and Inspect's own model take."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import refused, run
from tests.conftest import ROOT
from tls_tasks.registry import find_task

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
SOURCES = CASES["SOURCES"]
"""Task -> the data's name, a file of docs/your_data.md with two documents, and a result of the task."""


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The files of docs/your_data.md."""
    folder = tmp_path_factory.mktemp("sources")
    page = (ROOT / "docs" / "your_data.md").read_text(encoding="utf-8")
    for name, text in re.findall(r"<!-- file (\S+) -->\n```\w*\n(.*?)```", page, re.DOTALL):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", SOURCES)
def test_what_is_written(name, sources, tmp_path, capsys):
    data, source, result = SOURCES[name]
    out = tmp_path / "repository"
    places = ("--source", sources / source, "--out", out)
    code, printed, _ = run("prepare", capsys, data, "--repo", "acme/data", *places)
    assert code == 0 and f"hf upload acme/data {out} . --repo-type dataset" in printed
    task = find_task(name)
    text = (out / "eval.yaml").read_text(encoding="utf-8")
    benchmark = yaml.safe_load(text)
    ids = [entry["id"] for entry in benchmark["tasks"]]
    assert result in ids and len(set(ids)) == len(ids)
    assert "the scorers below are not those of the results" in " ".join(text.replace("#", " ").split())
    datasets = pytest.importorskip("datasets")
    rows = datasets.load_dataset(str(out), name, split="test", cache_dir=str(tmp_path / "cache"))
    documents = task.documents(data=str(out))
    assert rows["input"] == [task.prompt(doc) for doc in documents] and len(documents) == 2
    assert rows["target"] == [task.target(doc) for doc in documents]
    originals = task.documents(data=str(sources / source))
    assert [task.prompt(doc) for doc in documents] == [task.prompt(doc) for doc in originals]


_INSPECT = """
import sys
from pathlib import Path
from inspect_ai._eval.task.hf import HFTask, _load_eval_yaml
for path in sys.argv[1:]:
    print(*[HFTask.model_validate(entry).id for entry in _load_eval_yaml(Path(path))["tasks"]])
"""


@pytest.mark.slow
def test_inspects_own_model_takes_the_file(sources, tmp_path, capsys):
    """In an environment of its own, since Inspect is no dependency of ours."""
    python = os.environ.get("INSPECT_PYTHON")
    if not python:
        pytest.skip("INSPECT_PYTHON names no interpreter with Inspect: make test sets it where Python 3.12 is")
    for name, (data, source, _) in SOURCES.items():
        places = ("--source", sources / source, "--out", tmp_path / name)
        assert run("prepare", capsys, data, "--repo", "acme/data", *places)[0] == 0
    files = [str(tmp_path / name / "eval.yaml") for name in SOURCES]
    command = [python, "-c", _INSPECT, *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line, (*_, result) in zip(done.stdout.splitlines(), SOURCES.values(), strict=True):
        assert result in line.split()


@pytest.mark.parametrize(("arguments", "said"), CASES["test_mistakes"])
def test_mistakes_are_one_line_and_write_nothing(arguments, said, sources, tmp_path, capsys):
    places = ("--source", sources / "invoices.jsonl", "--out", tmp_path / "out")
    refused("prepare", capsys, *arguments.split(), *places, said=said)
    assert not (tmp_path / "out").exists()
