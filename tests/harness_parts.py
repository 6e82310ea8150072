"""Real harness parts for the tests: a task manager for our tasks, a tiny checkpoint, a server on loopback."""

import json
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import entry_points

import pytest

from scripts import walk
from tests.conftest import ROOT, made_once
from tests.reports.judges.server import Server as JudgeServer


def in_thread(function, *arguments, **options):
    """What a function returns that starts an event loop: here one may be running, since Playwright's goes on."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(function, *arguments, **options).result()


def manager(place=ROOT / "task_configs", **metadata):
    """A task manager for the tasks of a folder alone: scanning the harness's own takes half a minute."""
    from lm_eval.tasks import TaskManager

    return TaskManager(include_path=str(place), include_defaults=False, metadata=metadata or None)


@pytest.fixture(scope="session")
def task_manager():
    return manager()


def run_here(task_manager, tasks, model, **options):
    """A run of the harness in this process."""
    import lm_eval

    return lm_eval.simple_evaluate(model=model, tasks=tasks, task_manager=task_manager, **options)


def run_chat(task_manager, tasks, server, **options):
    """The same with the chat endpoint of a :class:`Server` as the model."""
    arguments = {"model": "acme/table", "base_url": server.url, "max_retries": 1}
    options = {"model_args": arguments, "apply_chat_template": True, **options}
    return run_here(task_manager, tasks, "local-chat-completions", **options)


@pytest.fixture(scope="session")
def commands(tmp_path_factory):
    """The folder of the quick commands of scripts/walk.py, for all workers; needs tls-tasks installed."""
    if "tls_datewise" not in {point.name for point in entry_points(group="lm_eval.models")}:
        pytest.skip("this tls-tasks is not installed")
    user = os.getppid() if "PYTEST_XDIST_WORKER" in os.environ else os.getpid()
    return made_once(tmp_path_factory, "commands", lambda folder: walk.serve(folder, user))


@pytest.fixture(scope="session")
def run_installed(commands):
    """``lm_eval --model MODEL ARGUMENTS`` in an empty folder, word for word.

    Returns:
        The process, its results file, and task -> samples.
    """

    def run(folder, model, arguments):
        command = f"lm_eval --model {model} {arguments} --output_path out --log_samples".split()
        done = subprocess.run(
            command, cwd=folder, env=walk.environment(commands), capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        (file,) = folder.glob("out/**/results_*.json")
        results = json.loads(file.read_text())
        samples = {}
        for name in results["configs"]:
            (file,) = folder.glob(f"out/**/samples_{name}_2*.jsonl")
            samples[name] = [json.loads(line) for line in file.read_text().splitlines()]
            assert results["configs"][name]["metadata"]["provenance"]["edition"] == "embedded"
        is_all = list(results["configs"]) == ["tree_extraction"]  # its embedded edition is the data set
        assert ("EMBEDDED EDITION" in done.stderr) == (not is_all)
        return done, results, samples

    return run


@pytest.fixture(scope="session")
def tiny_model(tmp_path_factory):
    """A GPT-2 of two layers with random weights and a tokenizer trained here, saved as a checkpoint."""
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return made_once(tmp_path_factory, "tiny", lambda folder: make_tiny_model(folder, context=2048))


def make_tiny_model(
    folder, texts=("2011-01-25: Police clash with protesters in Cairo.",) * 3, n_words=400, context=512, is_silent=False
):
    """A checkpoint with random weights; a silent one ends every answer at once, whatever room it has."""
    import torch
    import transformers
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=n_words, special_tokens=["<|end|>"], initial_alphabet=alphabet)
    tokenizer.train_from_iterator(texts, trainer)
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|end|>", pad_token="<|end|>")
    fast.chat_template = "{% for message in messages %}{{ message.content }}\n{% endfor %}"
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        vocab_size=len(fast), n_positions=context, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0
    )
    model = transformers.GPT2LMHeadModel(config)
    if is_silent:
        model.transformer.ln_f.bias.data.fill_(1.0)
        model.transformer.wte.weight.data[0] = 1.0
    model.save_pretrained(folder)


class Server(JudgeServer):
    """An OpenAI-compatible endpoint for chats and completions: a table, text in the prompt -> answer, or a function."""

    def __init__(self, answer=None):
        self.answers: dict[str, str] = {}

        def say(sentence, n_before, messages):
            prompt = messages[-1]["content"]
            return answer(prompt) if answer else next(text for key, text in self.answers.items() if key in prompt)

        super().__init__(say)
        self.url += "/chat/completions"


@pytest.fixture
def serve():
    """Starts judges on loopback: ``serve(answer, latency=…)``; they end with the test."""
    servers = []

    def start(*arguments, **options):
        servers.append(JudgeServer(*arguments, **options))
        return servers[-1]

    yield start
    for running in servers:
        running.close()


@pytest.fixture
def server():
    running = Server()
    yield running
    running.close()
