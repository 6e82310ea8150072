"""The model's context: where it is found, and whole runs of checkpoints with a small one."""

import json
import logging
import re
from pathlib import Path

import pytest

import tls_tasks
from tests.conftest import made_once
from tests.harness_parts import Server, make_tiny_model, manager, run_here
from tests.test_fewshot import OURS
from tls_tasks.core.errors import InputError, OptionError
from tls_tasks.core.task import read_prompt
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
    assert context_length({"model": "acme/api", "tokenizer": folder}) == 2048
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.model_max_length = 32768
    tokenizer.save_pretrained(tmp_path / "tokenizer")
    assert context_length({"model": "acme/api", "tokenizer": str(tmp_path / "tokenizer")}) == 32768
    assert context_length({"pretrained": str(tmp_path / "tokenizer")}) == 32768
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
        fitting, room = load(name, pretrained=str(checkpoint(2048)), max_length=1500)
        assert 256 <= room < 1024
        n_cut = 0
        for full, doc in zip(whole, fitting, strict=True):
            n_tokens = len(tokenizer(task.prompt(doc))["input_ids"])
            assert n_tokens <= 1500 - room - 1500 // 16
            if task.prompt(doc) != task.prompt(full):
                n_cut += 1
                assert doc.get("text_truncated") or doc.get("documents_left_out")
        assert n_cut or name != "report_generation"


def test_a_prompt_that_is_too_long_without_its_document_is_said_to_be(caplog):
    fitting, _ = load("tree_extraction", max_length=900)
    assert 12 < sum(doc["text"] == "" for doc in fitting) <= 18
    assert "prompts longer even without their documents: 12" in caplog.text
    assert len(caplog.messages) - sum("embedded" in text for text in caplog.messages) == 1


@pytest.mark.parametrize(("name", "num_fewshot"), [("tls_crisis", 0), ("tls_timeline17", 1)])
def test_timelines_that_show_no_sentence_stop(name, num_fewshot):
    with pytest.raises(InputError, match=r"got 400 tokens for .*, expected more: .* no sentence of the articles"):
        load(name, max_length=400, num_fewshot=num_fewshot)


@pytest.mark.parametrize(("name", "num_fewshot"), [("evidence_journals", 2), ("tree_extraction", 0), ("summ_qmsum", 1)])
def test_a_run_without_most_of_its_documents_stops_and_names_the_smallest_context(name, num_fewshot):
    with pytest.raises(InputError, match=r"got 400 tokens for .*, expected at least ") as caught:
        load(name, max_length=400, num_fewshot=num_fewshot)
    least = int(re.search(r"at least (\d+)", str(caught.value))[1])
    with pytest.raises(InputError, match=f"expected at least {least}:"):
        load(name, max_length=least - 1, num_fewshot=num_fewshot)
    fitting, room = load(name, max_length=least, num_fewshot=num_fewshot)
    assert room == (least // 4 if name.startswith("tls_") else 256)
    assert 2 * sum(doc.get("text", doc.get("context")) != "" for doc in fitting) >= len(fitting)


def test_of_a_long_document_whole_paragraphs_are_left(tmp_path):
    paragraphs = [f"Paragraph {n}. " + "It rained on all the days of the week. " * 8 for n in range(30)]
    text = "\n\n".join(paragraph.strip() for paragraph in paragraphs)
    (tmp_path / "x.jsonl").write_text(json.dumps({"id": "long", "report": text, "summary": "Rain."}) + "\n")
    (doc,), room = load("summ_govreport", edition=None, data=str(tmp_path / "x.jsonl"), max_length=2048)
    assert room == 256 and doc["text_truncated"] == len(text) - len(doc["text"])
    assert text.startswith(doc["text"] + "\n\n") and 1 < doc["text"].count("Paragraph") < 30
    provenance = {}
    load("summ_govreport", edition=None, data=str(tmp_path / "x.jsonl"), max_length=2048, provenance=provenance)
    assert f"which show {100 * len(doc['text']) / len(text):.1f} % of the text" in provenance["context"]


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
    # 3 bytes a token, without a tokenizer
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
    assert rooms == [955, 2048, 2048]  # the longest prompt has 2,895 bytes, of which 3 are a token


class TokenServer(Server):
    """An endpoint that reads tokens too: ``prompts`` are the texts that arrive."""

    def __init__(self, folder):
        import transformers

        self.tokenizer, self.prompts = transformers.AutoTokenizer.from_pretrained(folder), []
        super().__init__(lambda prompt: "I can't.")

    async def _reply(self, body, headers, writer):
        if isinstance(tokens := body.get("prompt"), list):
            body["prompt"] = tokens[0] if isinstance(tokens[0], str) else self.tokenizer.decode(tokens[0])
        self.prompts.append(body.get("prompt") or body["messages"][-1]["content"])
        return await super()._reply(body, headers, writer)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "model_args", "context"),
    [
        ("local-completions", {}, None),
        ("local-completions", {"max_length": 8192}, "8192 tokens (max_length)"),
        ("local-completions", {"max_length": 1500}, "1500 tokens (max_length)"),
        ("local-completions", {"tokenized_requests": False}, "unknown"),
        ("local-chat-completions", {}, "unknown"),
        ("local-chat-completions", {"max_length": 8192}, "8192 tokens (max_length)"),
    ],
)
def test_prompts_arrive_whole_or_the_run_stops(checkpoint, model, model_args, context):
    """Where nobody states a ``max_length`` lm-eval cuts tokenized prompts to 2,047 tokens less the answer's."""
    folder, names = str(checkpoint(8192)), ["tls_crisis", "report_generation"]
    server, is_chat = TokenServer(folder), "chat" in model
    arguments = {"model": "acme/x", "base_url": server.url, "max_retries": 1, "tokenizer_backend": None, **model_args}
    if not is_chat:
        arguments["base_url"] = server.url.replace("/chat", "")
    if not is_chat and "tokenized_requests" not in model_args:
        arguments |= {"tokenizer": folder, "tokenizer_backend": "huggingface"}
    try:
        run = run_here(manager(**arguments), names, model, model_args=arguments, apply_chat_template=is_chat)
    except InputError as error:
        assert context is None and not server.prompts
        assert re.search(
            r"2048 tokens .*: too few for tls_crisis, .*; add max_length=8192 to --model_args$", str(error)
        )
        return
    finally:
        server.close()
    asked = [tls_tasks.task(name).prompt(sample["doc"]) for name in names for sample in run["samples"][name]]
    assert sorted(prompt.strip() for prompt in server.prompts) == sorted(prompt.strip() for prompt in asked) and asked
    for name in names:
        assert run["configs"][name]["metadata"]["provenance"]["context"].startswith(context)


@pytest.mark.slow
@pytest.mark.parametrize(("context", "num_fewshot"), [(1024, 0), (2048, 0), (2048, 1), (4096, 1), (4096, 3), (8192, 5)])
def test_every_task_runs_on_a_checkpoint_with_a_small_context(checkpoint, context, num_fewshot, caplog):
    """Whole prompts reach the model, with their examples, and something of each document."""
    pytest.importorskip("lm_eval")
    model_args = {"pretrained": str(checkpoint(context)), "dtype": "float32"}
    how = {"model_args": model_args, "device": "cpu", "batch_size": 4, "limit": 1, "num_fewshot": num_fewshot}
    with caplog.at_level(logging.WARNING):
        run = run_here(manager(**model_args), OURS, "hf", **how)
    assert "Left truncation" not in caplog.text
    for name in OURS:
        said = [record for record in caplog.messages if record.startswith(f"{name}: to fit the model's context")]
        assert len(said) <= 1
        assert f"{context} tokens (HFLM): " in run["configs"][name]["metadata"]["provenance"]["context"]
        config, task = run["configs"][name], tls_tasks.task(name)
        room, stated = (config[key] for key in ("generation_kwargs", "dataset_kwargs"))
        assert stated["least_answer_tokens"] <= room["max_gen_toks"] <= stated["answer_tokens"]
        asked = run["samples"][name][0]["arguments"][0][0]
        assert asked.count("<document") == 1 + num_fewshot and asked.startswith("<document")
        assert read_prompt(asked.replace("documents>", "document>"))[0]
        assert asked.endswith(task.prompt(run["samples"][name][0]["doc"]))
