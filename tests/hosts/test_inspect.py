"""Inspect as a second host: real runs of ``inspect eval`` and ``inspect score``, with the numbers of lm-eval."""

import hashlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tls_tasks
from tests.conftest import ROOT
from tests.data.test_own_data import CUSTOM
from tests.harness_parts import run_here
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.data.order import EMBEDDED
from tls_tasks.hosts.task_files import task_files

pytest.importorskip("lm_eval")
inspect_ai = pytest.importorskip("inspect_ai", reason="the extra inspect is not installed")

from inspect_ai.log import read_eval_log, recompute_metrics  # noqa: E402
from inspect_ai.model import ModelAPI, ModelOutput, ModelUsage, get_model, modelapi  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INSPECT_CACHE_DIR", str(tmp_path / "cache"))


def output(text):
    said = ModelOutput.from_content("mockllm", text)
    said.usage = ModelUsage()  # without it the model fetches a tokeniser, to count
    return said


def answer_to(task, doc):
    """By chance, but the same in both hosts: what is asked for, a part of it, a refusal, or nothing."""
    target = task.target(doc)
    place = hashlib.sha256(task.prompt(doc).encode()).digest()[0] % 6
    return (target, target[: len(target) // 2], target[len(target) // 3 :], "I can't help.", "", target)[place]


def run_inspect(name, answer=answer_to, *, epochs=None, limit=None, **options):
    """The log of a run, and what the model was asked."""
    task, asked = tls_tasks.task(name), []
    known = {option: value for option, value in options.items() if option in task.options}
    answers = {task.prompt(doc): answer(task, doc) for doc in task.documents(**known)}

    def say(messages, tools, tool_choice, config):
        asked.append((messages, config))
        return output(answers[messages[-1].text])

    (log,) = inspect_ai.eval(
        f"tls_tasks/{name}",
        task_args=options,
        model=get_model("mockllm/model", custom_outputs=say, memoize=False),
        display="none",
        log_dir="logs",
        epochs=epochs,
        limit=limit,
    )
    assert log.status == "success", log.error
    return read_eval_log(log.location), asked


def metrics_of(log, scorer=0):
    return {key: found.value for key, found in log.results.scores[scorer].metrics.items()}


def run_harness(names, metadata):
    """Task -> its results without standard errors of the harness's own."""
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    class Fixed(LM):
        def generate_until(self, requests):
            tasks = {request.task_name: tls_tasks.task(request.task_name) for request in requests}
            return [answer_to(tasks[request.task_name], request.doc) for request in requests]

        loglikelihood = loglikelihood_rolling = None

    Fixed.__abstractmethods__ = frozenset()
    manager = TaskManager(include_path=str(ROOT / "task_configs"), include_defaults=False, metadata=metadata)
    return run_here(manager, names, Fixed(), bootstrap_iters=0)["results"]


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    """A recording in which nothing stands: every verdict is the default of its kind."""
    file = tmp_path_factory.mktemp("judge") / "verdicts.jsonl"
    file.touch()
    yes = {"citation_support": "YES", "negative": "NO", "requires_citation": "YES", "first_instance": "NO"}
    return {"recorded": str(file), "defaults": {**yes, "nugget_agreement": "NO"}}


PUBLIC = [name for name in task_files() if "_custom" not in name]


@pytest.mark.parametrize("names", [PUBLIC, *([name] for name in CUSTOM)], ids=lambda names: names[0])
def test_every_task_has_the_numbers_of_lm_eval(names, judge):
    where = {"data": str(EMBEDDED / CUSTOM[names[0]])} if names[0] in CUSTOM else {"edition": "embedded"}
    expected = run_harness(names, {**where, "judge": judge})
    n_compared = 0
    for name in names:
        task = tls_tasks.task(name)
        log, asked = run_inspect(name, **where, **({"judge": judge} if task.judge else {}))
        found = metrics_of(log)
        for key, value in expected[name].items():
            key = key.removesuffix(",none")
            if key in task.table or key.removesuffix("_stderr") in task.with_errors:
                if value == "N/A":
                    assert key not in found
                    continue
                assert found[key] == pytest.approx(value, abs=1e-12, nan_ok=True), (name, key)
                n_compared += not math.isnan(value)
        generation = task_files()[name].config["generation_kwargs"]
        assert (asked[0][1].max_tokens, asked[0][1].stop_seqs) == (generation["max_gen_toks"], generation["until"])
        assert len(asked) == len(log.samples) == expected[name].get("sample_len", len(log.samples))
    assert n_compared >= 4 * len(names)
