"""Whole runs of every family's tasks in the real harness, each compared with a direct computation from its answers.

What is the same for all families is one test for each of them; the judges of reports have tests of their own in
``tests/reports/test_runs.py``.
"""

import json
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

import pytest

import tls_tasks
from tests.harness_parts import manager, run_chat, run_here
from tests.trees.test_task import FOLDED, KEYS, results_of
from tls_tasks.core.reasoning import strip_thinking
from tls_tasks.core.task import answer_text
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

AR_AND_DATES = [f"{prefix}_{part}" for prefix in ("ar1", "ar2", "date") for part in ("precision", "recall", "f1")]
ROUGE_L = ["rouge_l_precision", "rouge_l_recall", "rouge_l_f1"]


# --- what the functions give for the logged answers, without the harness ---


def answers_of(samples):
    return [sample["filtered_resps"][0] for sample in samples]


def timeline_numbers(samples, **options):
    predictions = [parse_timeline(answer).value or Timeline() for answer in answers_of(samples)]
    references = [[json.loads(sample["doc"]["reference"])] for sample in samples]
    numbers = {}
    for metric in (tls_tasks.alignment_rouge, tls_tasks.date_f1):
        numbers |= metric(predictions, references, **options).as_dict()
    return {key: numbers[key] for key in AR_AND_DATES}


def check_timelines(results, samples):
    by_topic = timeline_numbers(samples, aggregate="mean_f", topics=[sample["doc"]["topic"] for sample in samples])
    parsed = [parse_timeline(answer) for answer in answers_of(samples)]
    expected = {
        **timeline_numbers(samples),
        **{f"{prefix}_mean_f": by_topic[f"{prefix}_f1"] for prefix in ("ar1", "ar2", "date")},
        "parse_failures": sum(one.failed for one in parsed),
        "n_dates": fmean(len(one.value or ()) for one in parsed),
    }
    assert {key: results[f"{key},none"] for key in expected} == pytest.approx(expected, abs=1e-12)


def check_summaries(results, samples):
    answers = [strip_thinking(answer).text.strip() for answer in answers_of(samples)]
    references = [json.loads(sample["doc"]["references"]) for sample in samples]
    numbers = tls_tasks.rouge_l(answers, references).as_dict()
    lengths = [len(answer.split()) for answer in answers]
    expected = {key: numbers[key] for key in ROUGE_L} | {"n_words": fmean(lengths), "empty_answers": lengths.count(0)}
    assert {key: results[f"{key},none"] for key in expected} == pytest.approx(expected, abs=1e-12)
    if len(samples) > 1:
        assert all(isinstance(results[f"{key}_stderr,none"], float) for key in ROUGE_L)


def check_evidence(results, samples):
    docs = [sample["doc"] for sample in samples]
    schema = json.loads(docs[0]["schema"])
    references, texts = ([json.loads(doc["references"]) for doc in docs], [doc["text"] for doc in docs])
    score = tls_tasks.evidence_extraction(answers_of(samples), references, texts, schema=schema)
    numbers = score.as_dict()
    own = ("evidence_coverage", "evidence_coverage_normalised", "tp", "fp", "fn", "domains", "signature")
    keys = [key for key in numbers if key not in own]
    expected = {f"evidence_{key}": numbers[key] for key in keys} | {key: numbers[key] for key in own[:2]}
    assert {key: results[f"{key},none"] for key in expected} == expected  # to the last bit
    mean_f1 = sum(unit["macro/f1"] for unit in score.units) / len(samples)
    assert results["evidence_mean_f1,none"] == pytest.approx(mean_f1, abs=1e-12)
    assert results["evidence_n_objects,none"] == pytest.approx((numbers["tp"] + numbers["fp"]) / len(samples))
    if len(samples) > 1:
        assert isinstance(results["evidence_mean_f1_stderr,none"], float)
        assert results["evidence_f1_stderr,none"] == score.standard_errors()["f1"]


def check_trees(results, samples):
    scores, units = [], []
    for sample, answer in zip(samples, answers_of(samples), strict=True):
        doc = sample["doc"]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            scores.append(tls_tasks.tree_eval([answer], [json.loads(doc["reference"])], json.loads(doc["schema"])))
        units.append(scores[-1].units[0])
    true, missed = (sum(unit[f"node_{part}"] for unit in units) for part in ("tp", "fn"))
    assert results["treeval_score,none"] == pytest.approx(fmean(one["treeval_score"] for one in scores), abs=1e-12)
    assert results["recall_node,none"] == pytest.approx(true / (true + missed), abs=1e-12)
    assert results["parse_failures,none"] == sum(one.parse_failures for one in scores)
    docs = [sample["doc"] for sample in samples]
    expected = results_of(docs, [answer_text(sample["filtered_resps"]) for sample in samples])
    for key in KEYS:
        assert results[f"{key},none"] == pytest.approx(expected[key], abs=1e-12), key
    if len(samples) > 1:
        assert isinstance(results["treeval_score_stderr,none"], float)


# --- answers of a chat endpoint: good ones in several dresses, then bad and hostile ones ---

SORRY = "I'm sorry, but I can't help with that. \ud83d"
THINKING = "<think>I have to think about this for very long"
HOSTILE = "'; DROP TABLE docs; -- <script>alert(1)</script> {{7*7}} __import__('os').abort() \ud83d\n"


def timeline_answer(index, doc):
    rows = json.loads(doc["reference"])
    lines = "\n".join(f"{row['date']}: {' '.join(row['text'])}" for row in rows)
    entries = [{"date": row["date"], "summary": " ".join(row["text"])} for row in rows]
    table = "\n".join(f"| {row['date']} | {' '.join(row['text'])} |" for row in rows)
    return [
        "Here is the timeline you asked for:\n\n" + lines,
        "```json\n" + json.dumps(entries, indent=2) + "\n```\nLet me know if you need more.",
        json.dumps(entries)[:-80],  # cut off in the last entry
        "<think>The dates. 1999-01-01: no.</think>\n\n" + lines.replace("2011-", "- **2011-").replace(": ", "**: "),
        HOSTILE + lines,
        "| Date | Event |\n|---|---|\n" + table,
        SORRY,
        "[" * 60_000 + '{"date": "2011-01-25' * 2000,
    ][index % 8]


def summary_answer(index, doc):
    gold = json.loads(doc["references"])[-1]
    thought = f"<think>What matters? <document> or not.</think>\n\n{gold}"
    return [gold, thought, "", f"{gold}\n\n{HOSTILE}", THINKING, "[" * 60_000 + "the " * 20_000][index % 6]


def evidence_answer(index, doc):
    gold = doc["references"]
    return [
        gold,
        f"<think>The quote is [1].</think>\n\nHere is the array:\n\n```json\n{gold}\n```\n\nNothing else was found.",
        json.dumps({"items": json.loads(gold)}, indent=2),
        SORRY,
        "[]",
        THINKING,
        gold[:-2],  # a token limit
        "[" * 60_000 + '{"domain": "food"' * 3_000,
        '[{"domain": "food", "evidence_span": "\ud83d __import__(\'os\')", "polarity": NaN}, 7, null]',
    ][index % 9]


def tree_answer(index, doc):
    gold = doc["reference"]
    return [
        gold,
        f"Here is the JSON:\n\n```json\n{json.dumps(json.loads(gold), indent=2)}\n```\nIs there more?",
        f"<think>A draft: {{}}</think>\n\n{gold[:-1]},}}",
        gold[: len(gold) * 2 // 3],
        SORRY,
        '{"a":' * 60_000 + "[NaN, 1e999" * 20_000,
    ][index % 6]


@dataclass(frozen=True)
class Family:
    """What the runs of a family are made of.

    Attributes:
        model: The baseline as the harness names it, and its class in tls_tasks/hosts/models.py.
        group: Group -> its tasks, and results whose macro average is checked.
        check: (results, samples): compares a task's results with the direct computation.
        answer: (index, document): what the chat endpoint answers.
        scores: The result by which the endpoint's answers are told apart, and by turns the least and the greatest.
        row: A task, and rows of a data set of the user's with a long text, for ``--metadata``.
    """

    model: tuple[str, str]
    groups: dict[str, list[str]]
    averaged: Sequence[str]
    check: Callable[[dict[str, Any], list[Any]], None]
    answer: Callable[[int, dict[str, Any]], str]
    key: str
    ranges: Sequence[tuple[float, float]]
    limits: set[int]
    command: str
    own: tuple[str, dict[str, Any]] | None = None
    schemas: dict[str, Any] = field(default_factory=dict)


EXACT, NOTHING = (1.0, 1.0), (0.0, 0.0)
SETS = ("crisis", "timeline17", "entities", "open")
SUMMARIES = ("multi_news", "dialogsum", "qmsum", "summscreenfd", "meetingbank", "govreport")
FAMILIES = {
    "timelines": Family(
        model=("tls_datewise", "DatewiseLM"),
        groups={
            "tls": [f"tls_{name}" for name in SETS],
            "tls_closed_book": [f"tls_{name}_closed_book" for name in SETS],
        },
        averaged=(*AR_AND_DATES, "ar1_mean_f", "ar2_mean_f", "date_mean_f"),
        check=check_timelines,
        answer=timeline_answer,
        key="date_f1",
        ranges=[EXACT, EXACT, (0.5, 0.999), EXACT, EXACT, EXACT, NOTHING, NOTHING],
        limits={8192},
        command="--tasks tls_crisis",
    ),
    "summaries": Family(
        model=("summ_lead", "LeadLM"),
        groups={"summ": [f"summ_{name}" for name in SUMMARIES]},
        averaged=(*ROUGE_L, "n_words"),
        check=check_summaries,
        answer=summary_answer,
        key="rouge_l_f1",
        ranges=[EXACT, EXACT, NOTHING, (0.5, 0.999), NOTHING, (0.0, 0.1)],
        limits={512, 1024},
        command="--tasks summ --model_args n=2",
        own=("summ_meetingbank", {"transcript": "It rained. " * 40, "summary": "Rain."}),
    ),
    "evidence": Family(
        model=("evid_keyword", "KeywordLM"),
        groups={"evid": ["evidence_journals", "evidence_maccrobat"]},
        averaged=[f"evidence_{key}" for key in ("f1", "precision", "recall", "mean_f1", "n_objects")],
        check=check_evidence,
        answer=evidence_answer,
        key="evidence_f1",
        # a journal with nothing to find gets 0, whatever is answered
        ranges=[(0.0, 1.0)] * 3 + [NOTHING] * 3 + [(0.0, 1.0)] + [NOTHING] * 2,
        limits={1024, 4096},
        command="--tasks evid",
        own=(
            "evidence_maccrobat",
            {"text": "Aspirin. " * 50, "items": [{"domain": "MEDICATION", "evidence_span": "Aspirin"}]},
        ),
    ),
    "trees": Family(
        model=("tree_rules", "RulesLM"),
        groups={"tree": ["tree_extraction", "tree_paraloq"]},
        averaged=("treeval_score", "recall_node", "f1_node", "schema_compliance"),
        check=check_trees,
        answer=tree_answer,
        key="treeval_score",
        ranges=[EXACT, EXACT, EXACT, (0.001, 0.999), NOTHING, NOTHING],
        limits={2048},
        command="--tasks tree_extraction",
        own=("tree_extraction", {"text": "Total: 12.50 " + "x" * 300, "schema": "bill", "reference": {"total": 12.5}}),
        schemas={"bill": {"total": "number"}},
    ),
}

every_family = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def baseline(family):
    from tls_tasks.hosts import models

    return getattr(models, family.model[1])()


def tasks_of(family):
    return [name for names in family.groups.values() for name in names]


@every_family
def test_the_command_line_word_for_word(family, run_installed, tmp_path):
    """``lm_eval --tasks … --model BASELINE`` in an empty folder; its log holds what rescoring needs."""
    done, results, samples = run_installed(tmp_path, family.model[0], family.command)
    for name, logged in samples.items():
        assert name in done.stdout
        family.check(results["results"][name], logged)
        task = tls_tasks.task(name)
        for sample in logged:
            assert sample["target"] == task.target(sample["doc"])
            own = task.for_document(sample["doc"])
            unit = own.process(sample["doc"], sample["filtered_resps"][0])
            again = {key: result.value([unit]) for key, result in own.table.items() if key in sample}
            assert again and {key: repr(sample[key]) for key in again} == {key: repr(again[key]) for key in again}


@every_family
def test_the_baseline_on_every_task_and_the_macro_average_of_the_group(family, task_manager):
    run = run_here(task_manager, list(family.groups), baseline(family))
    for group, names in family.groups.items():
        for name in names:
            family.check(run["results"][name], run["samples"][name])
            # days spread evenly over whole years may miss all dates
            assert name.endswith("closed_book") or 0 < run["results"][name][f"{family.key},none"] < 1
            assert run["configs"][name]["metadata"]["provenance"]["edition"] == "embedded"
        for key in family.averaged:
            members = [run["results"][name][f"{key},none"] for name in names]
            assert run["groups"][group][f"{key},none"] == pytest.approx(fmean(members), abs=1e-12), key
    # what is perfect for a model that says nothing
    hidden = {f"{key},none" for key in FOLDED if key not in ("recall_node", "f1_node")}
    assert not hidden & set(run["groups"].get("tree", ()))


@every_family
def test_the_baseline_answers_alike_through_a_chat_template(family, task_manager):
    name = tasks_of(family)[-1]
    how = {"fewshot_as_multiturn": False}
    runs = [run_here(task_manager, [name], baseline(family), apply_chat_template=chat, **how) for chat in (False, True)]
    plain, chat = (answers_of(run["samples"][name]) for run in runs)
    assert plain == chat and any(plain)


@pytest.mark.parametrize("family", [family for family in FAMILIES.values() if family.own], ids=lambda f: f.own[0])
def test_metadata_of_the_command_line_reaches_the_data(family, tmp_path):
    task, row = family.own
    (tmp_path / "x.jsonl").write_text("".join(json.dumps({"id": name, **row}) + "\n" for name in "ab"))
    (tmp_path / "schemas.json").write_text(json.dumps(family.schemas))
    data = tmp_path if family.schemas else tmp_path / "x.jsonl"
    run = run_here(manager(context_budget=200, data=str(data)), [task], baseline(family))
    assert run["configs"][task]["metadata"]["provenance"]["edition"] == "local"
    samples = run["samples"][task]
    assert [sample["doc"]["doc_id"] for sample in samples] == ["a", "b"]
    length = len(row.get("text") or row["transcript"])
    assert {(len(sample["doc"]["text"]), sample["doc"]["text_truncated"]) for sample in samples} == {
        (200, length - 200)
    }
    family.check(run["results"][task], samples)


@every_family
def test_a_tiny_checkpoint_through_model_hf_on_every_task(family, task_manager, tiny_model):
    arguments = {"pretrained": str(tiny_model), "dtype": "float32"}
    how = {"device": "cpu", "batch_size": 2, "gen_kwargs": "max_gen_toks=16", "limit": 2}
    run = run_here(task_manager, list(family.groups), "hf", model_args=arguments, **how)
    for name in tasks_of(family):
        samples = run["samples"][name]
        assert samples and all(isinstance(answer, str) for answer in answers_of(samples))
        family.check(run["results"][name], samples)


@every_family
def test_a_chat_endpoint_with_good_bad_and_hostile_answers(family, task_manager, server):
    names = ["tls_crisis"] if "tls" in family.groups else tasks_of(family)
    docs = [(tls_tasks.task(name), doc) for name in names for doc in tls_tasks.task(name).documents(edition="embedded")]
    server.answers = {task.prompt(doc): family.answer(index, doc) for index, (task, doc) in enumerate(docs)}
    run = run_chat(task_manager, names, server)
    scores = []
    for name in names:
        samples = sorted(run["samples"][name], key=lambda sample: sample["doc_id"])
        family.check(run["results"][name], samples)
        scores += [sample[family.key] for sample in samples]
    for index, score in enumerate(scores):
        low, high = family.ranges[index % len(family.ranges)]
        assert low <= score <= high, (index, score)
    assert {request["max_tokens"] for request in server.requests} == family.limits
    assert "\n\n" not in server.requests[0]["stop"]


def test_predict_only_keeps_the_answers(task_manager):
    run = run_here(task_manager, ["tree_paraloq"], baseline(FAMILIES["trees"]), predict_only=True)
    assert all(answers_of(run["samples"]["tree_paraloq"]))


@pytest.mark.parametrize("n", [0, -1, "3", True, 2.0])
def test_the_lead_baseline_refuses_an_impossible_n(n):
    from tls_tasks.core.errors import InputError
    from tls_tasks.hosts.models import LeadLM

    with pytest.raises(InputError, match="n: got"):
        LeadLM(n=n)
