"""Whole runs of the summarisation tasks, each compared with a direct computation from the answers that it logged."""

import json

import pytest

import tls_tasks
from tests.conftest import ROOT
from tests.harness_parts import run_here
from tls_tasks.core.errors import InputError
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.summaries.data import DATA_SETS, load_documents

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NAMES = list(DATA_SETS)
KEYS = ["rouge_l_precision", "rouge_l_recall", "rouge_l_f1"]


def check(results, samples):
    """A task's results are what the functions give for the logged answers, without the harness."""
    answers = [strip_thinking(sample["filtered_resps"][0]).text.strip() for sample in samples]
    references = [json.loads(sample["doc"]["references"]) for sample in samples]
    numbers = tls_tasks.rouge_l(answers, references).as_dict()
    assert {key: results[f"{key},none"] for key in KEYS} == pytest.approx(
        {key: numbers[key] for key in KEYS}, abs=1e-12
    )
    if len(samples) > 1:
        assert all(isinstance(results[f"{key}_stderr,none"], float) for key in KEYS)
    lengths = [len(answer.split()) for answer in answers]
    assert results["n_words,none"] == pytest.approx(sum(lengths) / len(lengths))
    assert results["empty_answers,none"] == lengths.count(0)


def test_the_command_line_word_for_word(run_installed, tmp_path):
    """``lm_eval --tasks summ --model summ_lead`` in an empty folder."""
    done, results, samples = run_installed(tmp_path, "summ_lead", "--tasks summ --model_args n=2")
    assert "|summ " in done.stdout
    for name in NAMES:
        check(results["results"][name], samples[name])


def test_the_lead_baseline_on_every_task_and_the_groups_macro_average(task_manager):
    from tls_tasks.hosts.models import LeadLM

    run = run_here(task_manager, ["summ"], LeadLM())
    for name in NAMES:
        assert len(run["samples"][name]) == 3
        check(run["results"][name], run["samples"][name])
        assert 0 < run["results"][name]["rouge_l_f1,none"] < 1
        assert run["results"][name]["empty_answers,none"] == 0
        assert run["configs"][name]["metadata"]["provenance"]["edition"] == "embedded"
    for key in (*KEYS, "n_words"):
        members = [run["results"][name][f"{key},none"] for name in NAMES]
        assert run["groups"]["summ"][f"{key},none"] == pytest.approx(sum(members) / 6, abs=1e-12)


def test_the_baseline_obeys_n_and_speaks_through_a_chat_template(task_manager):
    from tls_tasks.hosts.models import LeadLM

    runs = [
        run_here(task_manager, ["summ_govreport"], LeadLM(n=n), apply_chat_template=chat, fewshot_as_multiturn=False)
        for n, chat in ((3, False), (3, True), (1, False))
    ]
    three, chat, one = ([s["filtered_resps"][0] for s in run["samples"]["summ_govreport"]] for run in runs)
    assert three == chat
    assert all(long.startswith(short) and long != short for long, short in zip(three, one, strict=True))


@pytest.mark.parametrize("n", [0, -1, "3", True, 2.0])
def test_the_baseline_refuses_an_impossible_n(n):
    from tls_tasks.hosts.models import LeadLM

    with pytest.raises(InputError, match="n: got"):
        LeadLM(n=n)


def test_metadata_of_the_command_line_reaches_the_data(tmp_path):
    from lm_eval.tasks import TaskManager

    from tls_tasks.hosts.models import LeadLM

    rows = [{"uid": f"City_{number}", "transcript": "It rained. " * 40, "summary": "Rain."} for number in range(2)]
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    manager = TaskManager(
        include_path=str(ROOT / "task_configs"),
        include_defaults=False,
        metadata={"context_budget": 200, "data": str(tmp_path / "x.jsonl")},
    )
    run = run_here(manager, ["summ_meetingbank"], LeadLM(n=50))
    assert run["configs"]["summ_meetingbank"]["metadata"]["provenance"]["edition"] == "local"
    assert [sample["doc"]["doc_id"] for sample in run["samples"]["summ_meetingbank"]] == ["City_0", "City_1"]
    for sample in run["samples"]["summ_meetingbank"]:
        assert len(sample["doc"]["text"]) == 200 and sample["doc"]["text_truncated"] == 240
        assert 150 < len(sample["filtered_resps"][0]) <= 200


def test_a_tiny_checkpoint_through_model_hf_on_every_task(task_manager, tiny_model):
    run = run_here(
        task_manager,
        NAMES,
        "hf",
        model_args={"pretrained": str(tiny_model), "dtype": "float32"},
        device="cpu",
        batch_size=2,
        gen_kwargs="max_gen_toks=16",
        limit=1,
    )
    for name in NAMES:
        samples = run["samples"][name]
        assert len(samples) == 1 and isinstance(samples[0]["filtered_resps"][0], str)
        check(run["results"][name], samples)


def answers_to(docs):
    """One answer a document, task after task: good ones in several dresses, then bad and hostile ones."""
    good = [json.loads(doc["references"])[-1] for doc in docs]
    dresses = [
        lambda text: text,
        lambda text: f"<think>What matters? <document> or not.</think>\n\n{text}",
        lambda _: "",
        lambda text: f"{text}\n\n'; DROP TABLE docs; -- <script>alert(1)</script> {{{{7*7}}}} \ud83d",
        lambda _: "<think>I have to think about this for very long",
        lambda _: "[" * 60_000 + "the " * 20_000,
    ]
    return [dresses[index % len(dresses)](text) for index, text in enumerate(good)]


def test_a_chat_endpoint_with_good_bad_and_hostile_answers_on_every_task(task_manager, server):
    docs = [doc for name in NAMES for doc in load_documents(name, edition="embedded")]
    answers = answers_to(docs)
    server.answers = {doc["text"]: answer for doc, answer in zip(docs, answers, strict=True)}
    run = run_here(
        task_manager,
        NAMES,
        "local-chat-completions",
        model_args={"model": "acme/table", "base_url": server.url, "max_retries": 1},
        apply_chat_template=True,
    )
    scores = []
    for name in NAMES:
        samples = sorted(run["samples"][name], key=lambda sample: sample["doc_id"])
        check(run["results"][name], samples)
        scores += [sample["rouge_l_f1"] for sample in samples]
    assert len(scores) == 18
    assert scores[0::6] == scores[1::6] == [1.0] * 3  # whole references, the second after thinking
    assert scores[2::6] == scores[4::6] == [0.0] * 3
    assert all(0.5 < score < 1 for score in scores[3::6])
    assert all(score < 0.1 for score in scores[5::6])
    assert sum(run["results"][name]["empty_answers,none"] for name in NAMES) == 6
    assert {request["max_tokens"] for request in server.requests} == {512, 1024} and server.requests[0]["stop"] == [
        "\n<document>"
    ]
