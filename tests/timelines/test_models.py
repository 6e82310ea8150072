"""Real checkpoints of every usual context, and few-shot prompts, through the real harness."""

import datetime
import logging

import pytest

from tests.conftest import ROOT
from tests.data_parts import write_topic
from tests.harness_parts import make_tiny_model, run_here
from tls_tasks.timelines.task import TASKS

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """Context -> a Llama of one layer that ends its answer at once."""
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    def make(size):
        folder = tmp_path_factory.mktemp(f"context-{size}")
        make_tiny_model(folder)  # for its tokenizer and chat template; some two characters a token
        ends = dict.fromkeys(("bos_token_id", "eos_token_id", "pad_token_id"), 0)
        shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 1}
        config = transformers.LlamaConfig(vocab_size=400, max_position_embeddings=size, **shape, **ends)
        model = transformers.LlamaForCausalLM(config)
        torch.nn.init.zeros_(model.lm_head.weight)  # all tokens are equal, and the first is the end
        model.save_pretrained(folder)
        return str(folder)

    return make


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A topic with 3,000 sentences on 600 days and a reference of 200 dates."""
    days = [(datetime.date(2011, 1, 1) + datetime.timedelta(day)).isoformat() for day in range(600)]
    sentences = [f"Sentence {number} says what happened in the capital on Friday." for number in range(5)]
    articles = [
        {"id": day, "time": day, "title": "", "sentences": [f"{day}: {text}" for text in sentences]} for day in days
    ]
    folder = tmp_path_factory.mktemp("data") / "crisis"
    write_topic(folder / "egypt", [[[day, ["Something happens."]] for day in days[::3]]], articles)
    return str(folder)


TASK_NAMES = ["tls_crisis", "tls_crisis_closed_book"]


def run(model, metadata=None, **options):
    """As the command line runs it, which tells the tasks the model's arguments."""
    from lm_eval.tasks import TaskManager

    arguments = {"pretrained": model, "dtype": "float32"}
    folder = str(ROOT / "task_configs")
    manager = TaskManager(include_path=folder, include_defaults=False, metadata={**arguments, **(metadata or {})})
    return run_here(manager, TASK_NAMES, "hf", model_args=arguments, device="cpu", batch_size=1, limit=1, **options)


@pytest.mark.parametrize(
    ("size", "answers", "asked"),
    [
        (2048, (512, 1024), (10, 20)),
        (4096, (1024, 2048), (20, 40)),
        (8192, (2048, 4096), (40, 81)),
        (32768, (8192, 8192), (163, 163)),
    ],
)
def test_a_task_runs_as_it_stands_on_a_model_of_any_context(checkpoint, data, caplog, size, answers, asked):
    from transformers import AutoTokenizer

    folder = checkpoint(size)
    with caplog.at_level(logging.WARNING):
        done = run(folder, {"data": data})
    for task, answer, n in zip(TASK_NAMES, answers, asked, strict=True):
        (sample,) = done["samples"][task]
        prompt, options = sample["arguments"][0]
        assert done["configs"][task]["generation_kwargs"]["max_gen_toks"] == options["max_gen_toks"] == answer
        assert len(AutoTokenizer.from_pretrained(folder)(prompt)["input_ids"]) + answer <= size
        days = sample["doc"]["context_days"] or n
        assert f"- Choose about {min(n, days)} dates." in prompt
    shown = done["samples"]["tls_crisis"][0]["doc"]
    assert shown["context_days"] > 1 and shown["context_days_total"] == 600
    assert shown["context_truncated"] == 3000 - shown["context_sentences"] > 0
    assert caplog.text.count("answers have") == (2 if size < 32768 else 0)
    assert "Left truncation" not in caplog.text


def test_auto_fills_the_context_of_the_model(checkpoint, data):
    from transformers import AutoTokenizer

    folder = checkpoint(8192)
    lengths = {}
    for value in ("auto", 24_000):
        (doc,) = TASKS["tls_crisis"].documents(data=data, model_args={"pretrained": folder}, context_budget=value)
        lengths[value] = len(AutoTokenizer.from_pretrained(folder)(TASKS["tls_crisis"].prompt(doc))["input_ids"])
    room = 8192 - 2048 - 512
    assert room - 100 < lengths["auto"] <= room
    assert lengths["auto"] == lengths[24_000]


@pytest.mark.parametrize(("multiturn", "chat"), [(False, False), (False, True), (True, True)])
def test_few_shot_prompts_hold_examples_and_their_answers(checkpoint, isolated, multiturn, chat):
    options = {"num_fewshot": 1, "fewshot_as_multiturn": multiturn, "apply_chat_template": chat}
    done = run(checkpoint(32768), **options)
    for name in TASK_NAMES:
        task = TASKS[name]
        example, (sample,) = task.fewshot(name)[0], done["samples"][name]
        prompt = sample["arguments"][0][0]
        assert done["n-shot"][name] == 1
        shot = f"{task.prompt(example)}\n{task.target(example)}\n"
        assert prompt.startswith(shot) and prompt.rstrip("\n").endswith(task.prompt(sample["doc"]))
        assert prompt.count("\nTimeline:") == 2
