"""Every task of every family: the object, its YAML file and the harness say the same, and no answer stops a run."""

import importlib
import json
import math
import pickle
import re
import subprocess
import sys
import warnings
from functools import partial
from pathlib import Path

import pytest

import tls_tasks
from tests.conftest import ROOT, RUNS, ByFamily
from tests.harness_parts import manager
from tests.hostile import HOSTILE
from tls_tasks.core.errors import OptionError
from tls_tasks.core.score import Score, table_parts, unscored, values
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.hosts.discovery import group_files, task_files
from tls_tasks.hosts.lm_eval import process_results
from tls_tasks.registry import FAMILIES, define

TASKS = {family: importlib.import_module(module).TASKS for family, module in FAMILIES.items()}
NAMES = [name for tasks in TASKS.values() for name in tasks]
OWN = ByFamily(
    "OWN in tests/test_tasks.py",
    timelines="tls_crisis",
    summaries="summ_dialogsum",
    evidence="evidence_journals",
    trees="tree_extraction",
    reports="report_generation",
)  # what the tasks for data of one's own run on here
PUBLIC = ("documents", "prompt", "target", "process", "results", "explain")


@pytest.fixture(scope="module", params=NAMES)
def task(request):
    return tls_tasks.task(request.param)


@pytest.fixture(scope="module")
def documents(task):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the embedded edition warns
        return task.documents(**options_for(task))


def options_for(task):
    return {"data": str(EMBEDDED / OWN[task.family])} if "_custom" in task.name else {"edition": "embedded"}


def test_every_result_key_says_what_it_is(task):
    """Whether higher is better, whether it is a count, a mean, in [0, 1], and its value of no documents."""
    said = {
        key: [own.better, own.is_count, own.is_mean, own.bounded, str(own.empty)] for key, own in task.table.items()
    }
    assert said == json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))[task.name]
    for key in task.table:
        assert 0 < len(define(key).split()) <= 12, f"tls_tasks/result_keys.json: define {key} in at most 12 words"


def test_every_family_has_tasks_and_every_file_its_task():
    for family in FAMILIES:
        assert TASKS[family], f"TASKS in tls_tasks/{family}/task.py is empty"
    for name in NAMES:
        family = tls_tasks.task(name).family
        assert name in task_files(), f"no YAML file is called {name}: write task_configs/{family}/{name}.yaml"
        assert task_files()[name].family == family, f"{name}: its YAML file belongs into task_configs/{family}/"
    for name, file in task_files().items():
        assert name in NAMES, f"{name}: TASKS in tls_tasks/{file.family}/task.py lacks this task of task_configs"


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_baseline_and_a_run(family):
    """Each of these is forgotten without a word: the task works without them."""
    pytest.importorskip("lm_eval")
    from tls_tasks.hosts import models

    own = [name for name, one in vars(models).items() if getattr(one, "family", None) == family]
    assert (ROOT / f"tls_tasks/{family}/baseline.py").is_file(), f"tls_tasks/{family}/baseline.py is missing"
    assert own, f"{family}: tls_tasks/hosts/models.py has no class for its baseline (see LeadLM)"
    assert f'"tls_tasks.hosts.models:{own[0]}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8"), (
        f'{own[0]}: enter it in pyproject.toml under project.entry-points."lm_eval.models", and install again'
    )
    assert any(name in TASKS[family] for _, names, _ in RUNS for name in names), (
        f"{family}: RUNS in tests/conftest.py has no run of its tasks"
    )
    assert (ROOT / "task_configs" / family / "README.md").is_file(), f"task_configs/{family}/README.md is missing"


def test_an_unknown_task_names_those_that_exist():
    with pytest.raises(OptionError, match="task: got 'tls_crises', expected one of 'tls_crisis'"):
        tls_tasks.task("tls_crises")


def test_the_yaml_and_the_task_say_the_same(task, documents, task_manager):
    """Documents, prompts, targets, results and directions; what the harness computes is what the task computes."""
    if "_custom" in task.name:
        task_manager = manager(**options_for(task))
    loaded = task_manager.load([task.name])["tasks"][task.name]
    rows = list(loaded.test_docs())
    assert rows == list(map(dict, documents))
    assert [loaded.doc_to_text(row) for row in rows] == [task.prompt(row) for row in documents]
    assert [loaded.doc_to_target(row) for row in rows] == [task.target(row) for row in documents]
    table = task.for_document(documents[0]).table
    listed = {entry["metric"]: entry for entry in loaded.config.metric_list}
    errors = {key for key in listed if key.endswith("_stderr") and key not in table}
    # a key that a file leaves out would be averaged without a word
    files, code = f"metric_list in task_configs/{task.family}/", f"the table in tls_tasks/{task.family}/task.py"
    assert not (lacking := set(table) - set(listed)), f"{files} lacks {sorted(lacking)}, which {code} has"
    assert not (lacking := set(listed) - errors - set(table)), f"{code} lacks {sorted(lacking)}, which {files} has"
    wanted = {f"{key}_stderr" for key in task.for_document(documents[0]).jackknife_keys}
    assert errors == wanted, f"{files} should have the standard errors {sorted(wanted)}, and has {sorted(errors)}"
    order = list(listed)
    for key in errors:  # anywhere else the harness overwrites it
        before = order[order.index(key) - 1]
        assert before == key.removesuffix("_stderr"), f"{files}: {key} must follow its metric, and follows {before}"
    for key in table:
        listed_as, better = listed[key]["higher_is_better"], table[key].better
        assert listed_as == better, f"{key}: higher_is_better is {listed_as} in {files}, `better` {better} in {code}"
    answers = [task.target(row) for row in documents]
    if task.judge is not None:
        answers = task.judge(answers, documents)
    own = task.for_document(documents[0])
    units = [own.process(row, answer) for row, answer in zip(documents, answers, strict=True)]
    results = own.results(units, [own.get_topic(row) for row in documents])
    harness = [loaded.process_results(row, [answer]) for row, answer in zip(rows, answers, strict=True)]
    for key, aggregate in loaded.aggregation().items():
        if key in table:
            value = aggregate([row[key] for row in harness])
            assert value == pytest.approx(results[key], abs=1e-12, nan_ok=True), key


def test_every_part_of_the_table_is_computed(task, documents):
    """A unit may leave out parts that are 0; a part that no answer ever has would be 0 without a word."""
    if task.judge is not None:
        pytest.skip("without verdicts a report has no score")
    own = task.for_document(documents[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that nothing could be read
        first = documents[0]
        answers = [(row, own.target(row)) for row in documents] + [(first, "no such answer"), (first, "")]
        units = [own.unit(row, answer) for row, answer in answers]
    never = set(table_parts(own.table)).difference(*units)
    assert not never, (
        f"{task.name}: the table takes {sorted(never)}, which no unit has: add the metric's unit to what the function "
        f"`unit` of the Task in tls_tasks/{task.family}/task.py returns"
    )


def test_a_target_is_an_answer_as_a_model_should_write_it(task, documents):
    """It is read without a failure, and the first result is as good as it gets."""
    if task.judge is not None:
        pytest.skip("without verdicts a report has no score")
    own = task.for_document(documents[0])
    units = [own.process(row, own.target(row)) for row in documents]
    results = own.results(units, [own.get_topic(row) for row in documents])
    failures = [value for key, value in results.items() if key.endswith("parse_failures")]
    assert sum(failures) == 0
    # A timeline is one of several references, and is scored against each of them.
    assert next(iter(results.values())) > (0.3 if task.family == "timelines" else 0.999)


@pytest.mark.parametrize("answer", ["", "\0 }{][ §§"])
def test_silence_and_noise_have_no_perfect_figure(task, documents, answer):
    """Among what a group averages and what systems are ranked by; what is perfect by definition is marked as such."""
    answers = [answer] * len(documents)
    if task.judge is not None:
        documents = [{**row, "judge": json.dumps("recorded")} for row in documents]
        answers = task.judge(answers, documents)
    own = task.for_document(documents[0])
    units = [own.process(row, one) for row, one in zip(documents, answers, strict=True)]
    results = own.results(units, [own.get_topic(row) for row in documents])
    for key, result in own.table.items():
        if result.best_of_nothing and not key.endswith("_leaf"):  # of leaves one that is right is enough
            assert results[key] == 1, f"{key}: nothing gets {results[key]}, so that it need not be left out"
        elif result.better:
            assert results[key] == 0 or math.isnan(results[key]), f"{key}: nothing gets {results[key]}"
    groups = [group.config for group in group_files().values() if task.name in group.members]
    for key in (entry["metric"] for group in groups for entry in group["aggregate_metric_list"]):
        better, best = own.table[key].better, results[key] == (1 if own.table[key].better else 0)
        assert better is None or not best, f"task_configs/{task.family}: the group averages {key}, perfect for silence"


def test_no_answer_raises(task, documents):
    """Nor does what a user's filter may have made of it."""
    process = partial(process_results, task)
    own = task.for_document(documents[0])
    for responses in [*([answer] for answer in HOSTILE), [], [None], [[]], [["an answer"]], [3], [{"a": 1}]]:
        numbers = process(documents[0], responses)
        assert set(numbers) == {*own.table, *(f"{key}_stderr" for key in own.jackknife_keys)}
        assert all(isinstance(value, float) for value in numbers.values())
        json.dumps({key: None if math.isnan(value) else value for key, value in numbers.items()})
        if task.judge is None:  # else there are verdicts to wait for
            is_empty = {key for key in own.table if math.isnan(own.table[key].empty)}  # a share of nothing is NaN
            assert all(numbers[key] >= 0 or (key in is_empty and math.isnan(numbers[key])) for key in own.table)


def test_a_document_that_was_changed_is_nan_and_not_a_lost_run(task, documents, caplog):
    own = task.for_document(documents[0])
    unit = own.process({"doc_id": "changed"}, "an answer")
    assert set(unit) == set(table_parts(own.table)) and all(map(math.isnan, unit.values()))
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
    kind = task.picture(documents[0], task.target(documents[0]), explained)["kind"]
    views = re.search(
        "const VIEWS = {(.*?)};", (ROOT / "tls_tasks/after/page.js").read_text(encoding="utf-8"), re.DOTALL
    )
    assert re.search(rf"\b{kind}:", views[1]), (
        f"{task.name}: `picture` returns the kind {kind!r}, which VIEWS in tls_tasks/after/page.js does not draw"
    )


WITHOUT_HOSTS = """
import sys, warnings
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("lm_eval", "evaluate", "datasets", "torch", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
warnings.simplefilter("ignore")
import importlib
import tls_tasks
from tls_tasks.registry import FAMILIES, define
for name in tls_tasks.METRICS:
    getattr(tls_tasks, name)
for module in FAMILIES.values():
    for name, task in importlib.import_module(module).TASKS.items():
        if "_custom" in name:
            continue
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
    assert done.stdout.split() == [name for name in NAMES if "_custom" not in name]
