"""Examples for few-shot prompts: right answers to documents of no test set, shown as the harness shows them."""

import importlib
import json
import re

import pytest

import tls_tasks
from tests.harness_parts import run_chat, run_here
from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.registry import FAMILIES

pytestmark = pytest.mark.filterwarnings("ignore")

TASKS = {name: task for module in FAMILIES.values() for name, task in importlib.import_module(module).TASKS.items()}
NAMES = [name for name, task in TASKS.items() if task.fewshot is not None and "_custom" not in name]
every_task = pytest.mark.parametrize("name", NAMES)
BASELINES = {"summaries": "LeadLM", "evidence": "KeywordLM", "trees": "RulesLM", "reports": "ReportLeadLM"}
OURS = [name for name in NAMES if TASKS[name].family in BASELINES]


def strings(value):
    """All texts in a document, also those in the JSON of its columns."""
    if isinstance(value, str):
        try:
            inner = json.loads(value)
        except ValueError:
            inner = value
        if isinstance(inner, dict | list):
            yield from strings(inner)
        else:
            yield value
    elif isinstance(value, dict):
        for key, member in value.items():
            yield from (key, *strings(member))
    elif isinstance(value, list):
        for member in value:
            yield from strings(member)


@pytest.fixture(scope="module")
def test_texts():
    documents = [doc for task in map(TASKS.get, NAMES) for doc in task.documents(edition="embedded")]
    return {doc["doc_id"] for doc in documents}, "\n".join(text for doc in documents for text in strings(dict(doc)))


@every_task
def test_examples_have_the_columns_of_documents_and_occur_in_no_test_set(name, test_texts):
    task, (ids, texts) = tls_tasks.task(name), test_texts
    examples, document = task.fewshot(name), task.documents(edition="embedded")[0]
    assert len(examples) >= 5
    for example in examples:
        assert {key: type(value) for key, value in example.items()} == {k: type(v) for k, v in document.items()}
        assert example["doc_id"] not in ids
        shown = [text for key in ("text", "documents", "references", "reference") for text in strings(example.get(key))]
        for text in shown:
            for sentence in re.split(r"(?<=[.!?])\s+|\n", text):
                assert len(sentence.split()) < 5 or sentence not in texts
    assert len({example["doc_id"] for example in examples}) == len(examples)


@every_task
def test_the_target_of_an_example_is_a_perfect_answer_in_the_form_that_its_prompt_asks_for(name):
    task = tls_tasks.task(name)
    for example in task.fewshot(name):
        prompt, target = task.prompt(example), task.target(example)
        assert len(prompt) < 3000 and target and target == target.strip()
        numbers = process_results(task, example, [target])
        if task.family == "reports":
            cited = [document["id"] for document in json.loads(example["documents"])]
            assert numbers["n_sentences"] == target.count("\n") + 1 == target.count("].")
            assert numbers["unknown_citations"] == numbers["parse_failures"] == 0
            assert cited and len(target) <= example["limit"]
        elif json.loads(example.get("references", "[1]")):  # a journal with nothing to find has no F1
            assert next(iter(numbers.values())) == 1.0
        else:
            assert target == "[]"
        if task.family == "summaries":
            assert abs(len(target.split()) - example["words"]) <= 5


@pytest.mark.slow
def test_one_example_stands_before_every_prompt(task_manager):
    """A run of all tasks with a family's baseline, which answers the last prompt as if nothing stood before it."""
    from tls_tasks.hosts import models

    for family, baseline in BASELINES.items():
        names = [name for name in OURS if TASKS[name].family == family]
        runs = [
            run_here(task_manager, names, getattr(models, baseline)(), num_fewshot=n, limit=2, random_seed=n)
            for n in (0, 1, 2)
        ]
        for name in names:
            task = tls_tasks.task(name)
            first = task.fewshot(name)[0]
            before = f"{task.prompt(first)}\n{task.target(first)}\n\n"
            none, one, two = ([s for s in run["samples"][name]] for run in runs)
            assert runs[1]["n-shot"][name] == 1 and runs[1]["results"][name]
            for alone, behind, last in zip(none, one, two, strict=True):
                assert alone["arguments"][0][0] == task.prompt(alone["doc"])
                assert behind["arguments"][0][0] == before + task.prompt(alone["doc"])
                assert last["arguments"][0][0].startswith(before) and last["target"] == alone["target"]
                assert alone["filtered_resps"] == behind["filtered_resps"] == last["filtered_resps"]


@pytest.mark.slow
def test_two_examples_as_turns_of_a_chat(task_manager, server):
    server.answers = {"": "[]"}
    how = {"fewshot_as_multiturn": True, "num_fewshot": 2, "limit": 1}
    run = run_chat(task_manager, OURS, server, **how)
    asked = {request["messages"][-1]["content"]: request["messages"] for request in server.requests}
    assert len(asked) == len(OURS) - 1  # report_rubric asks what report_generation does
    for name in OURS:
        task = tls_tasks.task(name)
        messages = asked[task.prompt(run["samples"][name][0]["doc"])]
        assert [message["role"] for message in messages] == ["user", "assistant"] * 2 + ["user"]
        for place, example in enumerate(task.fewshot(name)[:2]):
            assert messages[2 * place]["content"] == task.prompt(example)
            assert messages[2 * place + 1]["content"].strip() == task.target(example)
