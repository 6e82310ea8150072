"""``--model tls_corpus`` in real runs of the harness: over rules on loopback, and over a real checkpoint."""

import json
import logging
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.harness_parts import Server, make_tiny_model, run_here
from tests.rule_model import answer
from tls_tasks.core.errors import InputError
from tls_tasks.timelines.data import load_documents
from tls_tasks.timelines.task import TASKS

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("isolated", "own_cache")]

MAP_CALLS, WRITE_CALLS, WRITE_QUESTIONS = 12, 62, 91  # of the embedded edition in chunks of 2,048 tokens


class Rules(Server):
    """The rules of tests/rule_model.py on loopback; ``change(answer, n)`` may say something else, or fail."""

    def __init__(self, change=lambda text, n: text):
        self.change, self.n = change, 0
        super().__init__(self.say)

    def say(self, prompt):
        self.n += 1
        return self.change(answer(prompt), self.n)


@pytest.fixture
def rules():
    running = Rules()
    yield running
    running.close()


def run(task_manager, rules, tasks=("tls_crisis",), model_args=(), **options):
    arguments = {"base": "local-chat-completions", "model": "rules", "base_url": rules.url, "max_retries": 1}
    arguments |= {"chunk_tokens": 2048, **dict(model_args)}
    options = {"apply_chat_template": True, **options}
    return run_here(task_manager, list(tasks), "tls_corpus", model_args=arguments, **options)


def answers_of(results, task="tls_crisis"):
    return [sample["resps"][0][0] for sample in results["samples"][task]]


def test_two_rounds_over_all_articles_and_what_is_kept_of_them(task_manager, rules):
    results = run(task_manager, rules, system_instruction="Be terse.")
    assert len(rules.requests) == MAP_CALLS + WRITE_CALLS
    told = results["config"]["tls_corpus"]
    assert told["map"] == {"questions": MAP_CALLS, "different": MAP_CALLS, "from_cache": 0}
    assert told["write"] == {"questions": WRITE_QUESTIONS, "different": WRITE_CALLS, "from_cache": 0}
    assert (told["topics"], told["map_calls"], told["chunk_tokens"]) == (4, MAP_CALLS, 2048) and told["events"] > 4
    # every sentence of the corpus was shown, though the task's own prompt has no room for them all
    shown = "".join(request["messages"][1]["content"] for request in rules.requests[:MAP_CALLS])
    assert shown.count("\n- ") == 397 + 4 * MAP_CALLS  # and the four rules of each question
    first, last = rules.requests[0], rules.requests[-1]
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    assert first["messages"][0]["content"] == "Be terse."
    assert first["messages"][1]["content"].startswith("You will read sentences from news articles about ")
    assert first["max_tokens"] == 256 and last["max_tokens"] in (100, 160) and len(first["stop"]) <= 4
    # as many dates as the reference has, in order, and each with the answer of the write round
    for sample, text in zip(results["samples"]["tls_crisis"], answers_of(results), strict=True):
        days = [line[:10] for line in text.splitlines()]
        assert len(days) == sample["doc"]["n_dates"] and days == sorted(set(days))
    assert results["results"]["tls_crisis"]["date_f1,none"] > 0.4


def test_the_command_line_as_installed_and_what_is_said_of_its_run(run_installed, rules, tmp_path):
    from tls_tasks.after.page import page
    from tls_tasks.after.scored_runs import score_places

    arguments = f"base=local-chat-completions,model=acme/rules,base_url={rules.url},chunk_tokens=2048"
    done, results, _ = run_installed(
        tmp_path, "tls_corpus", f"--tasks tls_crisis --model_args {arguments} --apply_chat_template"
    )
    assert f"tls_corpus: map round: {MAP_CALLS} questions" in done.stderr and '"topics": 4' in done.stderr
    assert results["config"]["tls_corpus"]["write_calls"] == WRITE_CALLS
    (scored,) = score_places([tmp_path / "out"])
    assert scored.model == "acme/rules+tls_corpus"  # not to be taken for the model by itself
    assert scored.effort.startswith(f"{MAP_CALLS} map calls, {WRITE_CALLS} write calls, ")
    assert scored.effort in page([scored])


def test_the_base_model_may_be_one_without_chat_template(task_manager, rules):
    """The same questions and answers; side by side requests too."""
    chat = run(task_manager, rules)
    arguments = {"base": "local-completions", "tokenizer_backend": None, "num_concurrent": 4}
    with ThreadPoolExecutor(1) as thread:  # it starts an event loop; browser tests may have left one here
        plain = thread.submit(run, task_manager, rules, model_args=arguments, apply_chat_template=False).result()
    assert answers_of(plain) == answers_of(chat)
    n = MAP_CALLS + WRITE_CALLS
    asked = [{request["messages"][0]["content"] for request in rules.requests[:n]}]
    asked.append({request["prompt"] for request in rules.requests[n:]})
    assert asked[0] == asked[1] and len(asked[0]) == n


def test_a_run_that_was_stopped_asks_only_for_the_rest(task_manager, rules):
    def fails_once(text, n):
        if n == 41:
            raise ConnectionError
        return text

    rules.change = fails_once
    with pytest.raises(Exception, match="Connection aborted"):
        run(task_manager, rules)
    results = run(task_manager, rules)
    assert rules.n == 40 + 1 + (MAP_CALLS + WRITE_CALLS - 40)  # the failed one is asked again, the others are not
    assert results["config"]["tls_corpus"]["map"]["from_cache"] == MAP_CALLS
    again = run(task_manager, rules)
    assert rules.n == 1 + MAP_CALLS + WRITE_CALLS and answers_of(again) == answers_of(results)
    run(task_manager, rules, model_args={"sub_cache": False}, limit=1)
    assert rules.n > 1 + MAP_CALLS + WRITE_CALLS


def test_no_answer_stops_a_run(task_manager, rules):
    bad = [
        "none",
        "<think>endless",
        "no\x00thing",
        "[" * 60_000 + '{"date": "2011-01-25',
        "word " * 200_000,
        "2011-01-25: \ud83d",
    ]
    rules.change = lambda text, n: text if n % 2 else bad[n // 2 % len(bad)]
    results = run(task_manager, rules)
    told = results["config"]["tls_corpus"]
    assert told["map_unfinished_thinking"] == 1 and told["write_unfinished_thinking"] >= 1
    # where the write round gave nothing, the model's own note stands
    assert all(len(line) > 12 for text in answers_of(results) for line in text.splitlines())
    assert results["results"]["tls_crisis"]["parse_failures,none"] == 0


def test_a_model_that_finds_nothing_has_no_timeline_and_no_score(task_manager, rules, caplog):
    rules.change = lambda text, n: "none"
    logger = logging.getLogger("lm_eval.models.tls_corpus")
    logger.addHandler(caplog.handler)  # the harness may have set its loggers apart
    try:
        results = run(task_manager, rules)
    finally:
        logger.removeHandler(caplog.handler)
    assert rules.n == MAP_CALLS and answers_of(results) == [""] * 8
    numbers = results["results"]["tls_crisis"]
    assert (numbers["date_f1,none"], numbers["parse_failures,none"]) == (0.0, 8)
    warned = {record.getMessage() for record in caplog.records if record.levelname == "WARNING"}
    assert sum("its timelines are empty" in message for message in warned) == 4


def test_other_tasks_are_the_base_models_own(task_manager, rules):
    results = run(task_manager, rules, ["tls_crisis_closed_book", "summ_dialogsum"], limit=2)
    samples = [sample for name in results["samples"] for sample in results["samples"][name]]
    own = [json.loads(sample["arguments"][0][0][0])[0]["content"] for sample in samples]
    assert sorted(own) == sorted(request["messages"][0]["content"] for request in rules.requests) and len(own) == 4
    assert answers_of(results, "tls_crisis_closed_book") == ["I don't know."] * 2
    assert "map" not in results["config"]["tls_corpus"]


def test_limit_and_the_harnesss_own_caches(task_manager, rules, tmp_path, monkeypatch):
    monkeypatch.setattr("lm_eval.caching.cache.PATH", str(tmp_path / "requests"))
    options = {"limit": 1, "use_cache": str(tmp_path / "use_cache"), "cache_requests": True}
    first = run(task_manager, rules, **options)
    asked = rules.n
    assert asked == 3 + 10 and len(answers_of(first)) == 1  # one topic, one reference
    assert any((tmp_path / "requests").iterdir())
    second = run(task_manager, rules, model_args={"sub_cache": False}, **options)
    assert rules.n == asked and answers_of(second) == answers_of(first)
    options["use_cache"] = None  # requests from the harness's cache, answers asked anew
    third = run(task_manager, rules, model_args={"sub_cache": False}, **options)
    assert rules.n == 2 * asked and answers_of(third) == answers_of(first)


def test_topics_of_several_data_sets_are_kept_apart(task_manager, rules):
    tasks = ["tls_crisis", "tls_timeline17", "tls_open"]
    results = run(task_manager, rules, tasks)
    assert results["config"]["tls_corpus"]["topics"] > 4
    alone = [answers_of(run(task_manager, rules, [task]), task) for task in tasks]
    assert [answers_of(results, task) for task in tasks] == alone
    assert all(text for answers in alone for text in answers)


def test_a_real_checkpoint_with_its_chat_template(task_manager, tmp_path):
    transformers = pytest.importorskip("transformers")
    make_tiny_model(tmp_path / "tiny")
    config = transformers.GPT2Config.from_pretrained(tmp_path / "tiny", n_positions=4096)
    transformers.GPT2LMHeadModel(config).save_pretrained(tmp_path / "tiny")
    options = {
        "model_args": {"base": "hf", "pretrained": str(tmp_path / "tiny"), "dtype": "float32"},
        "device": "cpu",
        "batch_size": 4,
        "limit": 1,
        "apply_chat_template": True,
    }
    results = run_here(task_manager, ["tls_crisis"], "tls_corpus", **options)
    told = results["config"]["tls_corpus"]
    assert (
        told["chunk_tokens"] == 4096 and told["map"]["different"] > 3
    )  # the tokenizer has a token for nearly each byte
    assert told["map_tokens_in"] / told["map_calls"] <= 4096 - 512
    assert results["config"]["model_num_parameters"] > 0 and results["max_length"] == 4096
    (text,) = answers_of(results)
    assert isinstance(text, str)


# --- what it refuses ---


@pytest.mark.parametrize(("arguments", "message"), CASES["test_what_it_refuses"])
def test_what_it_refuses(arguments, message):
    from lm_eval.api.registry import model_registry

    from tls_tasks.hosts.corpus_model import CorpusLM
    from tls_tasks.hosts.models import DatewiseLM

    class TwoProcesses(DatewiseLM):
        world_size = 2

    if "two-processes" not in model_registry:
        model_registry.register("two-processes", target=TwoProcesses)
    with pytest.raises(InputError) as caught:
        CorpusLM(**arguments)
    assert str(caught.value).startswith(message)


def test_a_chunk_too_small_for_the_question_itself(task_manager, rules):
    with pytest.raises(InputError, match=r"chunk_tokens: got 300, expected .* or more"):
        run(task_manager, rules, model_args={"chunk_tokens": 300})
    assert rules.n == 0


# --- questions in the place of prompts ---


def request_of(rendered, doc):
    from lm_eval.api.instance import Instance

    return Instance("generate_until", doc, (rendered, {"until": ["x"], "max_gen_toks": 9, "temperature": 0.0}), 0)


def test_a_question_takes_the_place_of_the_prompt_and_nothing_else():
    from lm_eval.models.api_models import JsonChatStr

    from tls_tasks.hosts.corpus_model import read_request

    doc = load_documents("tls_crisis", edition="embedded")[0]
    own = TASKS["tls_crisis"].prompt(doc)
    messages = [{"role": "system", "content": "Be terse."}, {"role": "user", "content": own}]
    asked = [{"role": "system", "content": "Be terse."}, {"role": "user", "content": 'Who "is" it?'}]
    for rendered, expected in (
        (own, 'Who "is" it?'),
        (f"<|user|>{own.strip()}<|end|>\n<|assistant|>", '<|user|>Who "is" it?<|end|>\n<|assistant|>'),
        (JsonChatStr(json.dumps(messages, ensure_ascii=False)), JsonChatStr(json.dumps(asked, ensure_ascii=False))),
        (messages, asked),
    ):
        made = read_request(request_of(rendered, doc)).ask('Who "is" it?', 7, ["y"])
        assert made.args == (expected, {"until": ["y"], "max_gen_toks": 7, "temperature": 0.0})


def test_examples_and_changed_prompts_are_refused():
    from tls_tasks.hosts.corpus_model import read_request

    first, second = load_documents("tls_crisis", edition="embedded")[:2]
    prompt = TASKS["tls_crisis"].prompt
    examples = f"{prompt(second)}\n2011-01-25: Protests begin.\n\n"
    turns = [{"role": "user", "content": prompt(second)}, {"role": "assistant", "content": "2011-01-25: Protests."}]
    for rendered in (examples + prompt(first), [*turns, {"role": "user", "content": prompt(first)}]):
        with pytest.raises(InputError, match="num_fewshot: got examples in the prompt, expected 0"):
            read_request(request_of(rendered, first))
    with pytest.raises(InputError, match="prompt: got one of None without the task's own text"):
        read_request(request_of("Write a timeline.", first))
    assert read_request(request_of("Write a timeline.", {"text": "of other tasks"})) is None
