"""Whole runs of the extraction tasks, each compared with a direct computation from the answers that it logged."""

import json

import pytest

import tls_tasks
from tests.conftest import ROOT
from tests.harness_parts import run_here
from tls_tasks.evidence.data import DATA_SETS, load_documents
from tls_tasks.evidence.schema import read_schema

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NAMES = list(DATA_SETS)
SIZES = {"evidence_journals": 50, "evidence_maccrobat": 4}


def check(results, samples):
    """A task's results are what the function gives for the logged answers, to the last bit; returns them."""
    docs = [sample["doc"] for sample in samples]
    schema = read_schema(json.loads(docs[0]["schema"]))
    score = tls_tasks.evidence_extraction(
        [sample["filtered_resps"][0] for sample in samples],
        [json.loads(doc["references"]) for doc in docs],
        [doc["text"] for doc in docs],
        schema=schema,
        macro=True,
    )
    numbers = score.as_dict()
    keys = ["precision", "recall", "f1", *(f"{name}_accuracy" for name in schema.accuracy_names)]
    for key in (*keys, "schema_invalid", "parse_failures"):
        assert results[f"evidence_{key},none"] == numbers[key], key
    for key in ("evidence_coverage", "evidence_coverage_normalised"):
        assert results[f"{key},none"] == numbers[key]
    assert results["evidence_mean_f1,none"] == pytest.approx(numbers["macro_f1"], abs=1e-12)
    assert results["evidence_n_objects,none"] == pytest.approx((numbers["tp"] + numbers["fp"]) / len(samples))
    if len(samples) > 1:
        assert isinstance(results["evidence_mean_f1_stderr,none"], float)
        assert results["evidence_f1_stderr,none"] == score.standard_errors()["f1"]
    return numbers


def test_the_command_line_word_for_word(run_installed, tmp_path):
    """``lm_eval --tasks evid --model evid_keyword`` in an empty folder."""
    done, results, samples = run_installed(tmp_path, "evid_keyword", "--tasks evid")
    assert "|evid " in done.stdout
    for name in NAMES:
        check(results["results"][name], samples[name])


def test_the_keyword_baseline_on_both_tasks_and_the_groups_macro_average(task_manager):
    from tls_tasks.hosts.models import KeywordLM

    run = run_here(task_manager, ["evid"], KeywordLM())
    for name in NAMES:
        assert len(run["samples"][name]) == SIZES[name]
        numbers = check(run["results"][name], run["samples"][name])
        assert numbers["f1"] > 0.35 and numbers["evidence_coverage"] == 1.0
        assert numbers["parse_failures"] == numbers["schema_invalid"] == 0
        assert run["configs"][name]["metadata"]["provenance"]["edition"] == "embedded"
    for key in ("f1", "precision", "recall", "mean_f1", "coverage", "coverage_normalised", "n_objects"):
        members = [run["results"][name][f"evidence_{key},none"] for name in NAMES]
        assert run["groups"]["evid"][f"evidence_{key},none"] == pytest.approx(sum(members) / 2, abs=1e-12)


def test_the_baseline_speaks_through_a_chat_template(task_manager):
    from tls_tasks.hosts.models import KeywordLM

    plain, chat = (
        run_here(
            task_manager, ["evidence_maccrobat"], KeywordLM(), apply_chat_template=chat, fewshot_as_multiturn=False
        )
        for chat in (False, True)
    )
    answers = [[s["filtered_resps"][0] for s in run["samples"]["evidence_maccrobat"]] for run in (plain, chat)]
    assert answers[0] == answers[1] and all(answer != "[]" for answer in answers[0][:2])


def test_metadata_of_the_command_line_reaches_the_data_and_the_schema(tmp_path):
    from lm_eval.tasks import TaskManager

    from tls_tasks.hosts.models import KeywordLM

    schema = {"name": "own", "domains": ["food", "symptom"], "attributes": []}
    rows = [{"text": "Had soup. " * 30, "items": [{"domain": "food", "evidence_span": "Had soup"}]}] * 2
    (tmp_path / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    metadata = {"context_budget": 9, "data": str(tmp_path / "x.jsonl"), "schema": schema}
    manager = TaskManager(include_path=str(ROOT / "task_configs"), include_defaults=False, metadata=metadata)
    run = run_here(manager, ["evidence_maccrobat"], KeywordLM())
    assert run["configs"]["evidence_maccrobat"]["metadata"]["provenance"]["edition"] == "local"
    samples = run["samples"]["evidence_maccrobat"]
    assert [sample["doc"]["text"] for sample in samples] == ["Had soup."] * 2
    assert check(run["results"]["evidence_maccrobat"], samples)["fn"] == 0


def test_a_tiny_checkpoint_through_model_hf_on_both_tasks(task_manager, tiny_model):
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
        assert check(run["results"][name], samples)["parse_failures"] == 1


def answer_to(index, doc):
    """Good answers in several dresses, then bad and hostile ones."""
    gold = doc["references"]
    dresses = [
        gold,
        f"<think>The quote is [1].</think>\n\nHere is the array:\n\n```json\n{gold}\n```\n\nNothing else was found.",
        json.dumps({"items": json.loads(gold)}, indent=2),
        "I'm sorry, but I can't help with medical texts.",
        "[]",
        "<think>I have to think about this for very long",
        gold[:-2],  # a token limit
        "[" * 60_000 + '{"domain": "food"' * 3_000,
        '[{"domain": "food", "evidence_span": "\ud83d __import__(\'os\')", "polarity": NaN}, 7, null]',
    ]
    return dresses[index % len(dresses)]


def test_a_chat_endpoint_with_good_bad_and_hostile_answers_on_both_tasks(task_manager, server):
    docs = {name: load_documents(name, edition="embedded") for name in NAMES}
    server.answers = {doc["text"]: answer_to(index, doc) for name in NAMES for index, doc in enumerate(docs[name])}
    run = run_here(
        task_manager,
        NAMES,
        "local-chat-completions",
        model_args={"model": "acme/table", "base_url": server.url, "max_retries": 1},
        apply_chat_template=True,
    )
    for name in NAMES:
        samples = sorted(run["samples"][name], key=lambda sample: sample["doc_id"])
        numbers = check(run["results"][name], samples)
        assert 0 < numbers["recall"] < 1
        for index, sample in enumerate(samples):
            if index % 9 in (0, 1, 2):  # the gold, dressed
                found = min(1, len(json.loads(sample["doc"]["references"])))  # 0/0 is 0
                assert sample["evidence_recall"] == sample["evidence_precision"] == found
            if index % 9 in (3, 5):
                assert sample["evidence_parse_failures"] == 1 and sample["evidence_n_objects"] == 0
            if index % 9 == 4:
                assert sample["evidence_parse_failures"] == 0 and sample["evidence_n_objects"] == 0
    budgets = {request["max_tokens"] for request in server.requests}
    assert budgets == {1024, 4096} and server.requests[0]["stop"] == ["\n<document>"]
