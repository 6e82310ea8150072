"""Whole runs of the extraction tasks, each compared with a direct computation from the answers that it logged."""

import json
import warnings
from statistics import fmean

import pytest

from tests.conftest import ROOT
from tests.harness_parts import run_here
from tests.trees.test_task import FOLDED, KEYS, results_of
from tls_tasks.core.task import answer_text
from tls_tasks.trees.data import DATA_SETS, load_documents, prompt
from tls_tasks.trees.tree_eval import tree_eval

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

NAMES = list(DATA_SETS)


def check(results, samples):
    """A task's results are what the functions give for the logged answers, without the harness."""
    counts, scores, failures = dict.fromkeys(("tp", "fp", "fn"), 0.0), [], 0
    for sample in samples:
        doc, answer = sample["doc"], sample["filtered_resps"][0]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            score = tree_eval([answer], [json.loads(doc["reference"])], json.loads(doc["schema"]))
        scores.append(score.as_dict()["treeval_score"])
        failures += score.parse_failures
        for name in counts:
            counts[name] += score.units[0][f"node_{name}"]
    assert results["treeval_score,none"] == pytest.approx(fmean(scores), abs=1e-12)
    hits, wanted = counts["tp"], counts["tp"] + counts["fn"]
    assert results["recall_node,none"] == pytest.approx(hits / wanted, abs=1e-12)
    assert results["parse_failures,none"] == failures
    expected = results_of(
        [sample["doc"] for sample in samples], [answer_text(sample["filtered_resps"]) for sample in samples]
    )
    for key in KEYS:
        assert results[f"{key},none"] == pytest.approx(expected[key], abs=1e-12), key
    if len(samples) > 1:
        assert isinstance(results["treeval_score_stderr,none"], float)


def test_the_command_line_word_for_word(run_installed, tmp_path):
    """``lm_eval --tasks tree_extraction --model tree_rules`` in an empty folder."""
    done, results, samples = run_installed(tmp_path, "tree_rules", "--tasks tree_extraction")
    assert "|tree_extraction|" in done.stdout
    check(results["results"]["tree_extraction"], samples["tree_extraction"])


def test_the_baseline_on_every_task_and_the_groups_macro_average(task_manager):
    from tls_tasks.hosts.models import RulesLM

    run = run_here(task_manager, ["tree"], RulesLM())
    for name in NAMES:
        check(run["results"][name], run["samples"][name])
        assert 0 < run["results"][name]["treeval_score,none"] < 1
        assert run["results"][name]["json_valid,none"] == 1
        assert run["configs"][name]["metadata"]["provenance"]["edition"] == "embedded"
    averaged = set(run["groups"]["tree"])
    for key in ("treeval_score", "recall_node", "f1_node", "schema_compliance"):
        members = [run["results"][name][f"{key},none"] for name in NAMES]
        assert run["groups"]["tree"][f"{key},none"] == pytest.approx(sum(members) / 2, abs=1e-12)
    # perfect for a model that says nothing
    assert not averaged & {f"{key},none" for key in FOLDED if key not in ("recall_node", "f1_node")}


def test_the_baseline_speaks_through_a_chat_template(task_manager):
    from tls_tasks.hosts.models import RulesLM

    runs = [
        run_here(task_manager, ["tree_extraction"], RulesLM(), apply_chat_template=chat, fewshot_as_multiturn=False)
        for chat in (False, True)
    ]
    plain, chat = ([sample["filtered_resps"] for sample in run["samples"]["tree_extraction"]] for run in runs)
    assert plain == chat


def test_metadata_of_the_command_line_reaches_the_data(tmp_path):
    from lm_eval.tasks import TaskManager

    from tls_tasks.hosts.models import RulesLM

    row = {"text": "Total: 12.50 " + "x" * 90, "schema": "bill", "reference": {"total": 12.5, "paid": None}}
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"id": name, **row}) + "\n" for name in "ab"))
    (tmp_path / "schemas.json").write_text('{"bill": {"total": "number", "paid": "boolean"}}')
    manager = TaskManager(
        include_path=str(ROOT / "task_configs"),
        include_defaults=False,
        metadata={"context_budget": 50, "data": str(tmp_path / "x.jsonl")},
    )
    run = run_here(manager, ["tree_extraction"], RulesLM())
    assert run["configs"]["tree_extraction"]["metadata"]["provenance"]["edition"] == "local"
    samples = run["samples"]["tree_extraction"]
    assert [(sample["doc"]["doc_id"], sample["doc"]["text_truncated"]) for sample in samples] == [("a", 53), ("b", 53)]
    assert run["results"]["tree_extraction"]["treeval_score,none"] == 1.0


def test_a_tiny_checkpoint_through_model_hf_on_every_task(task_manager, tiny_model):
    run = run_here(
        task_manager,
        NAMES,
        "hf",
        model_args={"pretrained": str(tiny_model), "dtype": "float32"},
        device="cpu",
        batch_size=2,
        gen_kwargs="max_gen_toks=16",
        limit=2,
    )
    for name in NAMES:
        samples = run["samples"][name]
        assert len(samples) == 2 and isinstance(samples[0]["filtered_resps"][0], str)
        check(run["results"][name], samples)


def answers_to(docs):
    """One answer a document, by turns: good ones in several dresses, then bad and hostile ones."""
    dresses = [
        lambda gold: gold,
        lambda gold: f"Here is the JSON:\n\n```json\n{json.dumps(json.loads(gold), indent=2)}\n```\nIs there more?",
        lambda gold: f"<think>A draft: {{}}</think>\n\n{gold[:-1]},}}",
        lambda gold: gold[: len(gold) * 2 // 3],
        lambda _: "I'm sorry, but I can't help with that. \ud83d",
        lambda _: '{"a":' * 60_000 + "[NaN, 1e999" * 20_000,
    ]
    return [dresses[index % len(dresses)](doc["reference"]) for index, doc in enumerate(docs)]


def test_a_chat_endpoint_with_good_bad_and_hostile_answers_on_every_task(task_manager, server):
    docs = [doc for name in NAMES for doc in load_documents(name, edition="embedded")]
    server.answers = {prompt(doc): answer for doc, answer in zip(docs, answers_to(docs), strict=True)}
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
        scores += [sample["treeval_score"] for sample in samples]
    assert len(scores) == 39
    assert {*scores[0::6], *scores[1::6], *scores[2::6]} == {1.0}  # whole trees in three dresses
    assert all(0 < score < 1 for score in scores[3::6])
    assert {*scores[4::6], *scores[5::6]} == {0.0}
    results = run["results"]["tree_extraction"]
    assert results["parse_failures,none"] == 12
    assert (results["json_valid,none"], results["repaired,none"]) == (pytest.approx(1 / 6), pytest.approx(1 / 3))
    request = server.requests[0]
    assert request["max_tokens"] == 2048 and request["stop"] == ["\n<document>"]


def test_predict_only_keeps_the_answers(task_manager):
    from tls_tasks.hosts.models import RulesLM

    run = run_here(task_manager, ["tree_paraloq"], RulesLM(), predict_only=True)
    assert all(sample["filtered_resps"][0] for sample in run["samples"]["tree_paraloq"])
