"""Whole runs of the real harness, each compared with a direct computation from the answers that it logged."""

import json

import pytest

import tls_tasks
from tests.harness_parts import run_here
from tls_tasks.timelines.data import load_documents
from tls_tasks.timelines.prompts import prompt
from tls_tasks.timelines.read import parse_timeline
from tls_tasks.timelines.types import Timeline

pytest.importorskip("lm_eval")

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

KEYS = [f"{prefix}_{part}" for prefix in ("ar1", "ar2", "date") for part in ("precision", "recall", "f1")]


def direct(samples, **options):
    """What the functions give for the logged answers, without the harness."""
    answers = [sample["filtered_resps"][0] for sample in samples]
    predictions = [parse_timeline(answer).value or Timeline() for answer in answers]
    references = [[json.loads(sample["doc"]["reference"])] for sample in samples]
    numbers = {}
    for metric in (tls_tasks.alignment_rouge, tls_tasks.date_f1):
        numbers |= metric(predictions, references, **options).as_dict()
    return {key: numbers[key] for key in KEYS}


def check(results, samples):
    """A task's results are the direct computation's, in all aggregates."""
    assert {key: results[f"{key},none"] for key in KEYS} == pytest.approx(direct(samples), abs=1e-12)
    topics = [sample["doc"]["topic"] for sample in samples]
    by_topic = direct(samples, aggregate="mean_f", topics=topics)
    for prefix in ("ar1", "ar2", "date"):
        assert results[f"{prefix}_mean_f,none"] == pytest.approx(by_topic[f"{prefix}_f1"], abs=1e-12)
    parsed = [parse_timeline(sample["filtered_resps"][0]) for sample in samples]
    assert results["parse_failures,none"] == sum(one.failed for one in parsed)
    assert results["n_dates,none"] == pytest.approx(sum(len(one.value or ()) for one in parsed) / len(parsed))


# --- the command line, word for word, as installed ---


@pytest.fixture(scope="module")
def run_of_the_baseline(run_installed, tmp_path_factory):
    """``lm_eval --tasks tls_crisis --model tls_datewise`` in an empty folder; needs tls-tasks installed."""
    done, results, samples = run_installed(tmp_path_factory.mktemp("run"), "tls_datewise", "--tasks tls_crisis")
    return done, results, samples["tls_crisis"]


def test_the_command_line_word_for_word(run_of_the_baseline):
    done, results, samples = run_of_the_baseline
    assert "|tls_crisis|" in done.stdout
    assert len(samples) == 8
    check(results["results"]["tls_crisis"], samples)


def test_the_baselines_numbers_are_not_trivial(run_of_the_baseline):
    numbers = run_of_the_baseline[1]["results"]["tls_crisis"]
    assert numbers["date_f1,none"] > 0.3
    assert numbers["ar1_f1,none"] > 0.05
    assert numbers["parse_failures,none"] == 0


def test_the_results_say_that_the_edition_is_embedded(run_of_the_baseline):
    _, results, samples = run_of_the_baseline
    assert {sample["doc"]["edition"] for sample in samples} == {"embedded"}
    assert results["versions"]["tls_crisis"] == 2.0


def test_the_log_holds_what_rescoring_needs(run_of_the_baseline):
    _, _, samples = run_of_the_baseline
    for sample in samples:
        task = tls_tasks.task("tls_crisis")
        assert sample["target"] == task.target(sample["doc"])
        unit = task.process(sample["doc"], sample["filtered_resps"][0])
        assert [sample[key] for key in KEYS] == [unit[key] for key in KEYS]


# --- every task, and the group ---


def test_every_task_gives_numbers_and_the_group_their_macro_average(task_manager):
    from tls_tasks.hosts.models import DatewiseLM

    run = run_here(task_manager, ["tls", "tls_closed_book"], DatewiseLM())
    for form in ("", "_closed_book"):
        names = [f"tls_{name}{form}" for name in ("crisis", "timeline17", "entities", "open")]
        for name in names:
            check(run["results"][name], run["samples"][name])
            # days spread evenly over whole years may miss all dates
            assert form or run["results"][name]["date_f1,none"] > 0
        group = run["groups"][f"tls{form}"]
        for key in (*KEYS, "ar1_mean_f", "ar2_mean_f", "date_mean_f"):
            members = [run["results"][name][f"{key},none"] for name in names]
            assert group[f"{key},none"] == pytest.approx(sum(members) / 4, abs=1e-12)


def test_the_baseline_is_deterministic_and_speaks_through_a_chat_template(task_manager):
    from tls_tasks.hosts.models import DatewiseLM

    runs = [
        run_here(task_manager, ["tls_open"], DatewiseLM(), apply_chat_template=chat, fewshot_as_multiturn=False)
        for chat in (False, False, True)
    ]
    answers = [[sample["filtered_resps"] for sample in run["samples"]["tls_open"]] for run in runs]
    assert answers[0] == answers[1] == answers[2]


# --- a real model, on the spot ---


def test_a_tiny_checkpoint_through_model_hf(task_manager, tiny_model):
    run = run_here(
        task_manager,
        ["tls_crisis", "tls_open_closed_book"],
        "hf",
        model_args={"pretrained": str(tiny_model), "dtype": "float32"},
        device="cpu",
        batch_size=2,
        gen_kwargs="max_gen_toks=24",
        limit=3,
    )
    for task in ("tls_crisis", "tls_open_closed_book"):
        samples = run["samples"][task]
        assert samples and all(isinstance(sample["filtered_resps"][0], str) for sample in samples)
        check(run["results"][task], samples)


# --- a chat endpoint on loopback: what models answer, good and bad ---


def answers_to(docs):
    """One answer a document; the first six can be read, in part or whole."""
    references = [json.loads(doc["reference"]) for doc in docs]
    lines = ["\n".join(f"{row['date']}: {' '.join(row['text'])}" for row in rows) for rows in references]
    entries = [[{"date": row["date"], "summary": " ".join(row["text"])} for row in rows] for rows in references]
    table = "\n".join(f"| {row['date']} | {' '.join(row['text'])} |" for row in references[5])
    return [
        "Here is the timeline you asked for:\n\n" + lines[0],
        "```json\n" + json.dumps(entries[1], indent=2) + "\n```\nLet me know if you need more.",
        json.dumps(entries[2])[:-80],  # cut off in the last entry
        "<think>First the dates. 1999-01-01: no.</think>\n\n"
        + lines[3].replace("2011-", "- **2011-").replace(": ", "**: "),
        "'; DROP TABLE docs; -- <script>alert(1)</script> {{7*7}} ${7*7} __import__('os').abort() \ud83d\n" + lines[4],
        "| Date | Event |\n|---|---|\n" + table,
        "I'm sorry, but I can't help with that.",
        "[" * 60_000 + '{"date": "2011-01-25' * 2000,
    ]


def test_a_chat_endpoint_with_good_bad_and_hostile_answers(task_manager, server):
    docs = load_documents("tls_crisis", edition="embedded")
    texts = answers_to(docs)
    for doc, text in zip(docs, texts, strict=True):
        server.answers[prompt(doc).partition("</sentences>")[2]] = text
    run = run_here(
        task_manager,
        ["tls_crisis"],
        "local-chat-completions",
        model_args={"model": "acme/table", "base_url": server.url, "max_retries": 1},
        apply_chat_template=True,
    )
    samples = run["samples"]["tls_crisis"]
    assert len(samples) == len(docs)
    check(run["results"]["tls_crisis"], samples)
    by_doc = {sample["doc"]["doc_id"]: sample for sample in samples}
    scored = [by_doc[doc["doc_id"]] for doc in docs]
    date_f1 = [sample["date_f1"] for sample in scored]
    assert [date_f1[index] for index in (0, 1, 3, 4, 5)] == [1.0] * 5  # whole references, in five dresses
    assert 0.8 < date_f1[2] < 1.0  # all but the entry that was cut
    assert date_f1[6:] == [0.0, 0.0]
    assert run["results"]["tls_crisis"]["parse_failures,none"] == 2
    request = server.requests[0]
    assert request["max_tokens"] == 8192 and "\n\n" not in request["stop"]
