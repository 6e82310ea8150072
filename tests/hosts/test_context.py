"""The model's context: where it is found, and whole runs of checkpoints with a small one."""

import json
import logging
from pathlib import Path

import pytest

import tls_tasks
from tests.conftest import made_once
from tests.harness_parts import make_tiny_model, manager, run_here
from tests.test_fewshot import OURS
from tls_tasks.core.errors import OptionError
from tls_tasks.data.model_context import model_context
from tls_tasks.hosts.loading import load_fitting

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytestmark = pytest.mark.filterwarnings("ignore")


def context_length(model_args):
    model = model_context(model_args)
    return model and model.size


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A function: context -> a checkpoint whose tokenizer was trained on the tasks' own prompts."""
    pytest.importorskip("torch")
    texts = [tls_tasks.task(name).prompt(doc) for name in OURS for doc in tls_tasks.task(name).fewshot(name)]

    def make(context):
        return made_once(
            tmp_path_factory,
            f"context-{context}",
            lambda folder: make_tiny_model(folder, texts=texts, n_words=3000, context=context, is_silent=True),
        )

    return make


@pytest.mark.parametrize(("model_args", "length"), CASES["test_context_length_of_arguments"])
def test_context_length_of_arguments(model_args, length):
    assert context_length(model_args) == length


def test_context_length_of_checkpoints(checkpoint, tmp_path):
    import transformers

    folder = str(checkpoint(2048))
    assert context_length({"pretrained": folder}) == 2048
    assert context_length({"pretrained": folder, "max_length": 1024}) == 1024
    assert context_length({"model": "acme/api", "tokenizer": folder}) is None  # it knows of no limit
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.model_max_length = 32768
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    assert context_length({"model": "acme/api", "tokenizer": str(tmp_path / "tokenizer")}) == 32768
    transformers.LlamaConfig(max_position_embeddings=8192).save_pretrained(tmp_path / "llama")
    assert context_length({"pretrained": str(tmp_path / "llama")}) == 8192
    transformers.LlavaConfig(text_config=transformers.LlamaConfig(max_position_embeddings=4096)).save_pretrained(
        tmp_path / "llava"
    )
    assert context_length({"pretrained": str(tmp_path / "llava")}) == 4096
    (tmp_path / "llama" / "config.json").write_text("{")
    assert context_length({"pretrained": str(tmp_path / "llama")}) is None


def load(name, **options):
    generation = {"max_gen_toks": 1024}
    task = tls_tasks.task(name)
    return load_fitting(
        task, name, {"generation": generation, "answer_tokens": 1024, "edition": "embedded", **options}
    ), generation["max_gen_toks"]


def test_documents_are_shortened_just_so_much(checkpoint):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(checkpoint(2048))
    for name in ("summ_multi_news", "evidence_journals", "tree_extraction", "report_generation"):
        task = tls_tasks.task(name)
        whole = task.documents(edition="embedded")
        fitting, room = load(name, pretrained=str(checkpoint(2048)), max_length=2000)
        assert room == 1000
        n_cut = 0
        for full, doc in zip(whole, fitting, strict=True):
            n_tokens = len(tokenizer(task.prompt(doc))["input_ids"])
            assert n_tokens <= 2000 - 1000 - 64
            if task.prompt(doc) != task.prompt(full):
                n_cut += 1
                assert doc.get("text_truncated") or doc.get("documents_left_out")
        assert n_cut or name != "report_generation"


def test_a_prompt_that_is_too_long_without_its_document_is_said_to_be(caplog):
    fitting, _ = load("tree_extraction", max_length=400)
    assert all(doc["text"] == "" for doc in fitting)
    assert "prompts longer even without their documents: 36" in caplog.text
    assert len(caplog.messages) - sum("embedded" in text for text in caplog.messages) == 1


def test_auto_fills_a_large_context_and_falls_back_to_characters_where_none_is_known(tmp_path):
    file = tmp_path / "x.jsonl"
    file.write_text('{"id": "long", "report": "' + "It rained. " * 20_000 + '", "summary": "Rain."}\n')
    (default, _), (filled, _), (unknown, room) = (
        load("summ_govreport", edition=None, data=str(file), **options)
        for options in (
            {"max_length": 32768},
            {"max_length": 32768, "context_budget": "auto"},
            {"context_budget": "auto"},
        )
    )
    assert len(default[0]["text"]) == len(unknown[0]["text"]) == 24_000 and room == 1024
    # 3.2 bytes a token, without a tokenizer
    assert 0.98 < len(filled[0]["text"]) / (3 * (32768 - 1024 - 2048)) <= 1
    assert filled[0]["text_truncated"] + len(filled[0]["text"]) == 220_000
    with pytest.raises(OptionError, match="context_budget: got 'all', expected one of 'a whole number', 'auto'"):
        load("summ_govreport", context_budget="all")


def test_a_configuration_that_is_used_twice_gives_the_answer_its_room_again():
    task, generation = tls_tasks.task("tree_extraction"), {"max_gen_toks": 2048}
    rooms = []
    for model_args in ({"max_length": 2048}, {}, {"max_length": 32768}):
        load_fitting(task, task.name, {"generation": generation, "answer_tokens": 2048, **model_args})
        rooms.append(generation["max_gen_toks"])
    assert rooms == [1024, 2048, 2048]


@pytest.mark.slow
@pytest.mark.parametrize(("context", "rooms"), [(2048, {512, 1024}), (4096, {512, 1024, 2048})])
def test_every_task_runs_on_a_checkpoint_with_a_small_context(checkpoint, context, rooms, caplog):
    pytest.importorskip("lm_eval")
    model_args = {"pretrained": str(checkpoint(context)), "dtype": "float32"}
    with caplog.at_level(logging.WARNING):
        run = run_here(manager(**model_args), OURS, "hf", model_args=model_args, device="cpu", batch_size=4, limit=1)
    assert {run["configs"][name]["generation_kwargs"]["max_gen_toks"] for name in OURS} == rooms
    assert "Left truncation" not in caplog.text
    for name in OURS:
        said = [record for record in caplog.messages if record.startswith(f"{name}: to fit the model's context")]
        assert len(said) <= 1
        assert f"{context} tokens: " in run["configs"][name]["metadata"]["provenance"]["context"]
    said = "evidence_maccrobat: to fit the model's context of %s tokens: 0 of 4 documents shortened to prompts of %s"
    assert said % (context, context // 2 - context // 16) in caplog.text
