"""The evaluate modules: found word for word, offline, from any folder; every form of row; every way of adding rows."""

import doctest
import inspect
import json
import os
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.conftest import ROOT
from tls_tasks.registry import METRICS

evaluate = pytest.importorskip("evaluate")

NAMES = sorted(METRICS)
REFERENCE = {"2011-01-25": ["Protests erupt across Egypt."], "2011-02-11": ["Mubarak resigns."]}
PREDICTION = "2011-01-25: Mass protests erupt in Cairo."


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def module(name):
    return evaluate.load(str(ROOT / "metrics" / name))


def direct(name, predictions, references, **options):
    return METRICS[name].load()(predictions, references, **options).as_dict()


def run(code, folder):
    """Run code in a process of its own, in an empty folder, offline; its last line is JSON."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1"}
    environment.pop("PYTHONPATH", None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=folder, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_word_for_word_from_an_empty_folder(tmp_path):
    """As an installed package: also a test that the environment has tls-tasks installed, not only on its path."""
    seconds, results = run(
        f"""
        import json, time
        import evaluate
        names, seconds, results = {NAMES!r}, [], []
        for name in names:
            took = []
            for _ in range(3):
                start = time.perf_counter()
                module = evaluate.load(name)
                took.append(time.perf_counter() - start)
            seconds.append(min(took))
            results.append(module.compute(predictions=[{PREDICTION!r}], references=[{REFERENCE!r}]))
        print(json.dumps([seconds, results]))
        """,
        tmp_path,
    )
    assert results == [direct(name, [PREDICTION], [REFERENCE]) for name in NAMES]
    assert max(seconds) < 0.1, seconds


@pytest.mark.parametrize(
    "prediction",
    [
        PREDICTION,
        json.dumps([{"date": "2011-01-25", "text": "Mass protests erupt in Cairo."}]),
        [{"date": "2011-01-25", "text": "Mass protests erupt in Cairo."}],
        {"2011-01-25": ["Mass protests erupt in Cairo."]},
    ],
    ids=["text", "json", "rows", "mapping"],
)
@pytest.mark.parametrize("references", [REFERENCE, [REFERENCE, REFERENCE], json.dumps(REFERENCE)])
def test_every_form_gives_what_the_function_gives(module, name, prediction, references):
    expected = direct(name, [PREDICTION], [REFERENCE])
    assert module.compute(predictions=[prediction], references=[references]) == expected


def test_rows_of_different_forms_in_one_column(module, name):
    predictions = [PREDICTION, {"2011-01-25": "a"}, [], [{"date": "2011-01-25", "text": ["a", "b"]}]]
    references = [REFERENCE, [REFERENCE, {}], json.dumps(REFERENCE), [("2011-01-25", "a")]]
    assert module.compute(predictions=predictions, references=references) == direct(name, predictions, references)


def test_added_one_by_one_and_in_batches(module, name):
    expected = direct(name, [PREDICTION] * 3, [REFERENCE] * 3)
    module.add(prediction=PREDICTION, reference=REFERENCE)
    module.add_batch(predictions=[PREDICTION, PREDICTION], references=[REFERENCE, REFERENCE])
    assert module.compute() == expected
    assert module.compute(predictions=[PREDICTION], references=[REFERENCE]) == direct(name, [PREDICTION], [REFERENCE])


def test_a_refused_row_leaves_the_module_usable(module, name):
    from tls_tasks.errors import InputError

    module.add(prediction=PREDICTION, reference=REFERENCE)
    with pytest.raises(InputError, match=r"predictions\[0\]: got None"):
        module.add(prediction=None, reference=REFERENCE)
    with pytest.raises(InputError, match=r"references: got 2 rows, expected 1"):
        module.add_batch(predictions=[PREDICTION], references=[REFERENCE, REFERENCE])
    assert module.compute() == direct(name, [PREDICTION], [REFERENCE])


def test_an_empty_batch(module, name):
    assert module.compute(predictions=[], references=[]) == direct(name, [], [])


def test_options_reach_the_scorer(module, name):
    result = module.compute(
        predictions=[PREDICTION, PREDICTION],
        references=[REFERENCE, [REFERENCE, {}]],
        reference_mode="joint",
        aggregate="mean_f",
        beta=2.0,
        topics=["egypt", "libya"],
        detailed=True,
    )
    assert {"refs:joint", "agg:mean_f", "beta:2.0", "by_topic:yes"} <= set(result["signature"].split("|"))
    assert len(result["items"]) == 2 and set(result["topics"]) == {"egypt", "libya"}


def test_text_that_arrow_would_change_arrives_unchanged(module, name):
    odd = {"2011-01-25": ["NaN 1e999 \ud800 \x00 police"], "2011-02-11": ["12345678901234567890123 clash"]}
    assert module.compute(predictions=[odd], references=[odd]) == direct(name, [odd], [odd])
    assert module.compute(predictions=["42"], references=[odd]) == direct(name, ["42"], [odd])


def test_combined():
    both = evaluate.combine([evaluate.load(str(ROOT / "metrics" / name)) for name in NAMES])
    both.add_batch(predictions=[PREDICTION], references=[REFERENCE])
    result = both.compute()
    for name in NAMES:
        expected = direct(name, [PREDICTION], [REFERENCE])
        assert {key: result[key] for key in expected if key != "signature"} == {
            key: value for key, value in expected.items() if key != "signature"
        }
        assert result[f"{name}_signature"] == expected["signature"]


@pytest.mark.slow
def test_two_processes_share_the_rows(tmp_path):
    code = f"""
        import json, sys
        import evaluate
        rank = int(sys.argv[1]) if len(sys.argv) > 1 else RANK
        module = evaluate.load({str(ROOT / "metrics" / "date_f1")!r}, num_process=2, process_id=rank,
                               experiment_id="shared", cache_dir={str(tmp_path / "cache")!r})
        rows = {[PREDICTION, "2011-02-11: Mubarak resigns."]!r}
        print(json.dumps(module.compute(predictions=rows[rank : rank + 1], references=[{REFERENCE!r}])))
    """
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda rank: run(code.replace("RANK", str(rank)), tmp_path), (0, 1)))
    expected = direct("date_f1", [PREDICTION, "2011-02-11: Mubarak resigns."], [REFERENCE, REFERENCE])
    assert results == [expected, None]


# --- what evaluate's own tests for local modules ask (tests/test_metric_common.py there) ---


def test_compute_takes_no_keyword_catch_all(module):
    kinds = {parameter.kind for parameter in inspect.signature(module._compute).parameters.values()}
    assert inspect.Parameter.VAR_KEYWORD not in kinds


def test_the_example_in_the_description_runs(module, name, monkeypatch):
    monkeypatch.setattr(evaluate, "load", lambda wanted, *_, **__: module)
    example = doctest.DocTestParser().get_doctest(module.inputs_description, {"evaluate": evaluate}, name, None, 0)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(example)
    assert (runner.failures, runner.tries > 1) == (0, True)


def test_the_shells_parameters_are_the_functions(module, name):
    """The shell names each option itself (evaluate forbids **kwargs), so that it could forget one."""
    function = inspect.signature(METRICS[name].load()).parameters
    shell = inspect.signature(module._compute).parameters
    assert set(shell) - {"detailed"} == set(function)
    assert all(
        shell[key].default == function[key].default for key in function if key not in {"predictions", "references"}
    )


def test_each_folder_is_a_space(name):
    folder = ROOT / "metrics" / name
    card = (folder / "README.md").read_text(encoding="utf-8")
    front = card.split("---")[1]
    assert all(
        f"{key}:" in front for key in ("title", "emoji", "sdk", "sdk_version", "app_file", "description", "tags")
    )
    for heading in ("Metric Description", "How to Use", "Inputs", "Output Values", "Limitations", "Citation"):
        assert f"# {heading}" in card, heading
    assert {path.name for path in folder.iterdir() if path.name != "__pycache__"} == {
        f"{name}.py", "README.md", "app.py", "requirements.txt"
    }  # fmt: skip
    compile((folder / "app.py").read_text(), "app.py", "exec")
    assert "tls-tasks" in (folder / "requirements.txt").read_text()
