"""docs/developing/other_harnesses.md: its files are Python; lighteval's runs where ``LIGHTEVAL`` names its command.

lighteval pins releases that ours can't share an environment with; ``tls-tasks`` is installed beside it.
"""

import ast
import json
import os
import subprocess
from pathlib import Path

import pytest

import tls_tasks
from scripts import pages
from tls_tasks.timelines import baseline

FILES = {
    block.marker: block.text
    for block in pages.blocks("docs/developing/other_harnesses.md")
    if block.marker.startswith("file ")
}
MODEL = """
from lighteval.models.abstract_model import LightevalModel
from lighteval.models.model_output import ModelResponse
from lighteval.utils.cache_management import SampleCache
from tls_tasks.timelines import baseline


class Datewise(LightevalModel):
    tokenizer, add_special_tokens, max_length = None, False, 2048

    def __init__(self, config):
        self.config, self._cache = config, SampleCache(config)

    def greedy_until(self, docs):
        return [ModelResponse(text=[baseline.answer(doc.query)]) for doc in docs]

    loglikelihood = loglikelihood_rolling = None
"""


@pytest.mark.parametrize("file", FILES)
def test_every_file_of_the_page_is_python_over_a_task(file):
    calls = {
        node.func.attr
        for node in ast.walk(ast.parse(FILES[file]))
        if isinstance(getattr(node, "func", 0), ast.Attribute)
    }
    assert {"documents", "prompt", "process"} <= calls


@pytest.mark.slow
@pytest.mark.skipif("LIGHTEVAL" not in os.environ, reason="LIGHTEVAL names no command of lighteval's")
def test_lighteval_gives_the_task_s_results(tmp_path):
    (tmp_path / "in_lighteval.py").write_text(FILES["file in_lighteval.py"], encoding="utf-8")
    (tmp_path / "model.py").write_text(MODEL, encoding="utf-8")
    command = "custom datewise model.py tls_crisis|0 --custom-tasks in_lighteval.py --output-dir out".split()
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "hf")}
    command = [os.environ["LIGHTEVAL"], *command]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    (file,) = Path(tmp_path, "out").glob("**/results_*.json")
    found = json.loads(file.read_text(encoding="utf-8"))["results"]["tls_crisis|0"]
    task = tls_tasks.task("tls_crisis")
    documents = task.documents()
    units = [task.process(document, baseline.answer(task.prompt(document))) for document in documents]
    expected = task.results(units)
    assert {key: found[key] for key in expected} == pytest.approx(expected, abs=1e-12)
    assert expected["ar1_f1"] > 0
