"""Every task of every family: the object, its YAML file and the harness say the same, and no answer stops a run."""

import json
import math
import pickle
import subprocess
import sys
import warnings

import pytest

import tls_tasks
from tests.hostile import HOSTILE
from tls_tasks.after.task_files import task_files
from tls_tasks.core.errors import OptionError
from tls_tasks.core.score import Score, parts_of, unscored, values
from tls_tasks.hosts.lm_eval import Process
from tls_tasks.registry import FAMILIES, tasks_of

NAMES = [name for family in FAMILIES for name in tasks_of(family)]
PUBLIC = ("documents", "prompt", "target", "process", "results", "explain")


@pytest.fixture(scope="module", params=NAMES)
def task(request):
    return tls_tasks.task(request.param)


@pytest.fixture(scope="module")
def documents(task):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the embedded edition warns
        return task.documents(edition="embedded")


def test_every_family_has_tasks_and_every_file_its_task():
    assert all(tasks_of(family) for family in FAMILIES)
    assert set(NAMES) == set(task_files())
    assert all(tls_tasks.task(name).family == file.family for name, file in task_files().items())


def test_an_unknown_task_names_those_that_exist():
    with pytest.raises(OptionError, match="task: got 'tls_crises', expected one of 'tls_crisis'"):
        tls_tasks.task("tls_crises")


def test_the_yaml_and_the_task_say_the_same(task, documents, task_manager):
    """Documents, prompts, targets, results and directions; what the harness computes is what the task computes."""
    # lm-eval 0.4.11 has no TaskManager.load
    has_load = hasattr(task_manager, "load")
    found = task_manager.load([task.name])["tasks"] if has_load else task_manager.load_task_or_group(task.name)
    loaded = found[task.name]
    rows = list(loaded.test_docs())
    assert rows == list(map(dict, documents))
    assert [loaded.doc_to_text(row) for row in rows] == [task.prompt(row) for row in documents]
    assert [loaded.doc_to_target(row) for row in rows] == [task.target(row) for row in documents]
    table = task.for_document(documents[0]).table
    listed = {entry["metric"]: entry for entry in loaded.config.metric_list}
    errors = {key for key in listed if key.endswith("_stderr") and key not in table}
    assert set(listed) - errors == set(table), "a key that a file leaves out would be averaged without a word"
    assert errors == {f"{key}_stderr" for key in task.for_document(documents[0]).with_errors}
    order = list(listed)
    for key in errors:  # anywhere else the harness overwrites it
        assert order.index(key) == order.index(key.removesuffix("_stderr")) + 1
    assert {key: listed[key]["higher_is_better"] for key in table} == {key: table[key].better for key in table}
    answers = [task.target(row) for row in documents]
    if task.judge is not None:
        answers = task.judge(answers, documents)
    own = task.for_document(documents[0])
    units = [own.process(row, answer) for row, answer in zip(documents, answers, strict=True)]
    results = own.results(units, [own.topic_of(row) for row in documents])
    harness = [loaded.process_results(row, [answer]) for row, answer in zip(rows, answers, strict=True)]
    for key, aggregate in loaded.aggregation().items():
        if key in table:
            value = aggregate([row[key] for row in harness])
            assert value == pytest.approx(results[key], abs=1e-12, nan_ok=True), key


def test_a_target_is_an_answer_as_a_model_should_write_it(task, documents):
    """It is read without a failure, and the first result is as good as it gets."""
    if task.judge is not None:
        pytest.skip("without verdicts a report has no score")
    own = task.for_document(documents[0])
    units = [own.process(row, own.target(row)) for row in documents]
    results = own.results(units, [own.topic_of(row) for row in documents])
    failures = [value for key, value in results.items() if key.endswith("parse_failures")]
    assert sum(failures) == 0
    # A timeline is one of several references, and is scored against each of them.
    assert next(iter(results.values())) > (0.3 if task.family == "timelines" else 0.999)


def test_no_answer_raises(task, documents):
    """Nor does what a user's filter may have made of it."""
    process = Process(task)
    own = task.for_document(documents[0])
    for responses in [*([answer] for answer in HOSTILE), [], [None], [[]], [["an answer"]], [3], [{"a": 1}]]:
        numbers = process(documents[0], responses)
        assert set(numbers) == {*own.table, *(f"{key}_stderr" for key in own.with_errors)}
        assert all(isinstance(value, float) for value in numbers.values())
        json.dumps({key: None if math.isnan(value) else value for key, value in numbers.items()})
        if task.judge is None:  # else there are verdicts to wait for
            assert all(math.isfinite(numbers[key]) and numbers[key] >= 0 for key in own.table)


def test_a_document_that_was_changed_is_nan_and_not_a_lost_run(task, documents, caplog):
    own = task.for_document(documents[0])
    unit = own.process({"doc_id": "changed"}, "an answer")
    assert set(unit) == set(parts_of(own.table)) and all(map(math.isnan, unit.values()))
    assert f"{task.name}: could not score document changed" in caplog.text


def test_nan_is_not_hidden(task, documents):
    """A broken instrument poisons every result it is part of, alone and among others."""
    own = task.for_document(documents[0])
    good = own.process(documents[0], own.target(documents[0]))
    for units in ([unscored(own.table)], [good, unscored(own.table)]):
        assert all(map(math.isnan, values(own.table, units).values()))
        Score(task.name, "", units, own.table).as_dict()


def test_a_table_is_plain_data(task):
    assert set(pickle.loads(pickle.dumps(task.table))) == set(task.table)


def test_the_public_object(task, documents):
    assert all(callable(getattr(task, name)) for name in PUBLIC)
    explained = task.explain(documents[0], task.target(documents[0]))
    assert explained and all("signature" in result for result in explained.values())
    assert task.picture(documents[0], task.target(documents[0]), explained)["kind"]


WITHOUT_HOSTS = """
import sys, warnings
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("lm_eval", "evaluate", "datasets", "torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
warnings.simplefilter("ignore")
import tls_tasks
from tls_tasks.registry import FAMILIES, tasks_of
for name in tls_tasks.METRICS:
    getattr(tls_tasks, name)
for family in FAMILIES:
    for name, task in tasks_of(family).items():
        row = task.documents(edition="embedded")[0]
        answer = task.target(row)
        assert task.prompt(row) and task.results([task.process(row, answer)]), name
        task.explain(row, answer)
        print(name)
"""


def test_scorers_and_tasks_work_without_the_hosts(tmp_path):
    command = [sys.executable, "-c", WITHOUT_HOSTS]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == NAMES
