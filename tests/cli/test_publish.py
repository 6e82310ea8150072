"""``tls-tasks publish``: for each family a repository that datasets, the tasks and Inspect's own model take."""

import os
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT
from tls_tasks.cli import main
from tls_tasks.registry import find_task

SOURCES = {
    "tls_custom": ("topics.jsonl", 2, "tls_custom.ar1_f1"),
    "summ_custom": ("meetings.jsonl", 2, "summ_custom.rouge_l_f1"),
    "evidence_custom": ("journals.jsonl", 2, "evidence_custom.evidence_f1"),
    "tree_custom": ("invoices.jsonl", 2, "tree_custom.treeval_score"),
    "report_custom": ("reports", 2, "report_custom.f1"),
}


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
def test_what_is_published(name, sources, tmp_path, capsys):
    source, n_documents, result = SOURCES[name]
    out = tmp_path / "repository"
    assert main(["publish", name, "--repo", "acme/data", "--source", str(sources / source), "--out", str(out)]) == 0
    assert f"{n_documents} prompts, eval.yaml" in capsys.readouterr().out
    task = find_task(name)
    text = (out / "eval.yaml").read_text(encoding="utf-8")
    benchmark = yaml.safe_load(text)
    ids = [entry["id"] for entry in benchmark["tasks"]]
    assert result in ids and len(set(ids)) == len(ids)
    assert "the scorers below are not those of the results" in " ".join(text.replace("#", " ").split())
    datasets = pytest.importorskip("datasets")
    rows = datasets.load_dataset(str(out), name, split="test", cache_dir=str(tmp_path / "cache"))
    documents = task.documents(data=str(out))
    assert rows["input"] == [task.prompt(doc) for doc in documents] and len(documents) == n_documents
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
def test_inspects_own_model_takes_the_file(sources, tmp_path):
    """In the environment of the validators, since Inspect is no dependency of ours."""
    validator = os.environ.get("EVERY_EVAL_EVER")
    if not validator:
        pytest.skip("EVERY_EVAL_EVER names no environment with validators: make test sets it where Python 3.12 is")
    for name, (source, *_) in SOURCES.items():
        place = ["--source", str(sources / source), "--out", str(tmp_path / name)]
        assert main(["publish", name, "--repo", "acme/data", *place]) == 0
    files = [str(tmp_path / name / "eval.yaml") for name in SOURCES]
    command = [str(Path(validator).with_name("python")), "-c", _INSPECT, *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for line, (_, _, result) in zip(done.stdout.splitlines(), SOURCES.values(), strict=True):
        assert result in line.split()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["tls_crsis", "--repo", "acme/data"], "did you mean 'tls_crisis'?"),
        (["tree_custom", "--repo", "data"], "--repo: got 'data', expected ORG/NAME"),
        (["tree_custom", "--repo", "acme/data", "--schema", "x.json"], "it belongs to evidence, not to trees"),
    ],
)
def test_mistakes(arguments, said, sources, tmp_path, capsys):
    places = ["--source", str(sources / "invoices.jsonl"), "--out", str(tmp_path / "out")]
    assert main(["publish", *arguments, *places]) == 2
    assert said in capsys.readouterr().err and not (tmp_path / "out").exists()
