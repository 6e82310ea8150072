"""The evaluate modules: found word for word, offline, from any folder; every form of row; every way of adding rows."""

import doctest
import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conftest import ROOT, ByFamily
from tls_tasks.registry import FAMILIES, METRICS

evaluate = pytest.importorskip("evaluate")

NAMES = sorted(METRICS)


class Example(SimpleNamespace):
    """Rows of one kind of metric.

    Attributes:
        prediction, reference: One row.
        other, other_reference: Another row.
        prediction_forms, reference_forms: What stands for the same prediction, the same reference.
        mixed: Columns whose rows have different forms.
        odd: Texts that Arrow would change or refuse, as prediction and as reference.
        required: Options that the function can't do without, in every call.
        columns: Further columns of one row, which evaluate's combine can't leave out.
        options, signed, keys: Options; what they leave in the signature; what they add to the result.
    """


CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
# By family; a metric whose options are not those of its family's others has an entry of its own under its name, such as
# "NAME": Example(**{**CASES["summaries"], "options": {…}, "signed": […], "keys": […]}).
EXAMPLES = ByFamily(
    "tests/hosts/test_modules.json",
    **{family: Example(**{"required": {}, "columns": {}, **fields}) for family, fields in CASES.items()},
)
# What JSON has no form for.
EXAMPLES["timelines"].mixed[1][-1] = [("2011-01-25", "a")]
EXAMPLES["summaries"].mixed[1][-1] = ("42",)
EXAMPLES["summaries"].reference_forms["tuple"] = (EXAMPLES["summaries"].reference,)
EXAMPLES["summaries"].options["rouge_types"] = ("rougeLsum", "rougeL")


def example_of(name):
    return EXAMPLES.get(name) or EXAMPLES[METRICS[name].family]


def row_of(name):
    """One prediction and its reference."""
    return example_of(name).prediction, example_of(name).reference


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


@pytest.fixture
def example(name):
    return example_of(name)


@pytest.fixture
def module(name):
    return evaluate.load(str(ROOT / "metrics" / name))


def direct(name, predictions, references, **options):
    return METRICS[name].load()(predictions, references, **{**example_of(name).required, **options}).as_dict()


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
    work, results = run(
        f"""
        import json, sys
        import evaluate
        events, calls = [], []
        sys.addaudithook(lambda event, arguments: event.startswith("socket.") and events.append(event))
        rows = {[(name, *row_of(name), example_of(name).required) for name in NAMES]!r}
        work, results = [], []
        for name, prediction, reference, required in rows:
            evaluate.load(name)  # imports what it needs
            calls.clear(), events.clear()
            sys.setprofile(lambda frame, event, argument: event == "call" and calls.append(None))
            module = evaluate.load(name)
            sys.setprofile(None)
            work.append([len(calls), events[:]])
            results.append(module.compute(predictions=[prediction], references=[reference], **required))
        print(json.dumps([work, results]))
        """,
        tmp_path,
    )
    assert results == [
        direct(name, [prediction], [reference]) for name in NAMES for prediction, reference in [row_of(name)]
    ]
    # No time is lost: 14,000 calls of Python functions, nearly all of them evaluate's own, and no network.
    assert all(n_calls < 50_000 and not sockets for n_calls, sockets in work), work


@pytest.mark.parametrize(
    ("name", "prediction", "reference"),
    [
        pytest.param(name, prediction, reference, id="-".join((name, *forms)))
        for name in NAMES
        for *forms, prediction, reference in (
            (left, right, example_of(name).prediction_forms[left], example_of(name).reference_forms[right])
            for left in example_of(name).prediction_forms
            for right in example_of(name).reference_forms
        )
    ],
)
def test_every_form_gives_what_the_function_gives(module, name, example, prediction, reference):
    expected = direct(name, *[[one] for one in row_of(name)])
    assert module.compute(predictions=[prediction], references=[reference], **example.required) == expected


def test_rows_of_different_forms_in_one_column(module, name, example):
    predictions, references = example.mixed
    result = module.compute(predictions=predictions, references=references, **example.required)
    assert result == direct(name, predictions, references)


def test_added_one_by_one_and_in_batches(module, name, example):
    prediction, reference = example.prediction, example.reference
    expected = direct(name, [prediction] * 3, [reference] * 3)
    module.add(prediction=prediction, reference=reference)
    module.add_batch(predictions=[prediction, prediction], references=[reference, reference])
    assert module.compute(**example.required) == expected
    result = module.compute(predictions=[prediction], references=[reference], **example.required)
    assert result == direct(name, [prediction], [reference])


def test_a_refused_row_leaves_the_module_usable(module, name, example):
    from tls_tasks.core.errors import InputError

    prediction, reference = example.prediction, example.reference
    module.add(prediction=prediction, reference=reference)
    with pytest.raises(InputError, match=r"predictions\[0\]: got NaN"):
        module.add(prediction=float("nan"), reference=reference)
    with pytest.raises(InputError, match=r"references: got length 2, expected 1"):
        module.add_batch(predictions=[prediction], references=[reference, reference])
    assert module.compute(**example.required) == direct(name, [prediction], [reference])


def test_an_empty_batch(module, name, example):
    assert module.compute(predictions=[], references=[], **example.required) == direct(name, [], [])


def test_options_reach_the_scorer(module, name, example):
    columns = [example.prediction, example.other], [example.reference, example.other_reference]
    options = {**example.required, **example.options}
    unknown = set(options) - set(inspect.signature(METRICS[name].load()).parameters)
    assert not unknown, (
        f"{name} does not take {sorted(unknown)}, options in the example of its family: give it an entry of its own in "
        "EXAMPLES of tests/hosts/test_modules.py"
    )
    result = module.compute(predictions=columns[0], references=columns[1], **options, detailed=True)
    assert result == METRICS[name].load()(*columns, **options).as_dict(detailed=True)
    assert set(example.signed) <= set(result["signature"].split("|"))
    assert len(result["items"]) == 2, f"{name}: give its Score `items`, one a row, each with as_dict()"
    assert set(example.keys) <= set(result)


def test_text_that_arrow_would_change_arrives_unchanged(module, name, example):
    odd = example.odd
    for prediction in (odd, "42"):
        result = module.compute(predictions=[prediction], references=[odd], **example.required)
        assert result == direct(name, [prediction], [odd])


@pytest.mark.parametrize("kind", sorted(FAMILIES))
def test_combined(kind):
    names = [spec.name for spec in METRICS.values() if spec.family == kind]
    prediction, reference, columns = EXAMPLES[kind].prediction, EXAMPLES[kind].reference, EXAMPLES[kind].columns
    together = evaluate.combine([evaluate.load(str(ROOT / "metrics" / name)) for name in names])
    together.add_batch(predictions=[prediction], references=[reference], **columns)
    result = together.compute(**EXAMPLES[kind].required)
    for name in names:
        expected = direct(name, [prediction], [reference], **columns)
        # evaluate prefixes a key only where two modules give it
        signature = f"{name}_signature" if len(names) > 1 else "signature"
        assert {key: result[signature if key == "signature" else key] for key in expected} == expected


@pytest.mark.slow
def test_two_processes_share_the_rows(tmp_path):
    """Two processes for all metrics: most of the time goes into importing evaluate."""
    examples = {name: example_of(name) for name in NAMES}
    rows = {name: (one.prediction, one.other, one.reference, one.required) for name, one in examples.items()}
    code = f"""
        import json
        import evaluate
        results = {{}}
        for name, (*predictions, reference, required) in {rows!r}.items():
            module = evaluate.load({str(ROOT / "metrics")!r} + "/" + name, num_process=2, process_id=RANK,
                                   experiment_id="shared", cache_dir={str(tmp_path / "cache")!r} + name)
            results[name] = module.compute(predictions=[predictions[RANK]], references=[reference], **required)
        print(json.dumps(results))
    """
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda rank: run(code.replace("RANK", str(rank)), tmp_path), (0, 1)))
    for name, one in examples.items():
        assert results[0][name] == direct(name, [one.prediction, one.other], [one.reference] * 2), name
    assert results[1] == dict.fromkeys(NAMES)


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


def test_the_parameters_of_card_shell_and_function_are_the_same(module, name):
    """The shell names each option (evaluate forbids **kwargs), so that it could forget one; so could the card."""
    shell, function = (inspect.signature(own).parameters for own in (module._compute, METRICS[name].load()))
    defaults = {key: argument.default for key, argument in function.items()}
    assert {key: argument.default for key, argument in shell.items()} == {**defaults, "detailed": False}
    card = (ROOT / "metrics" / name / "README.md").read_text(encoding="utf-8")
    inputs = card.partition("### Inputs\n")[2].partition("\n### ")[0]
    items = [re.split(r";\s+", item) for item in re.findall(r"^- (.*(?:\n  .*)*)", inputs, re.M)]
    heads = [{*re.findall(r"`(\w+)`", part.partition(":")[0])} for part, *_ in items]
    others = {word for _, *parts in items for part in parts for word in re.findall(r"`(\w+)`", part.partition(":")[0])}
    assert set().union(*heads) <= set(shell) <= set().union(others, *heads)
    assert "takes the same arguments but `detailed`" in " ".join(card.split())


def test_a_copied_folder_names_no_package_of_the_index(name, monkeypatch):
    """Anybody could take a name that nobody has: what is to be installed is a checkout."""
    monkeypatch.setitem(sys.modules, "tls_tasks", None)
    with pytest.raises(ImportError, match="using 'pip install your/checkout/of/tls-tasks'"):
        evaluate.load(str(ROOT / "metrics" / name))


def test_each_folder_is_a_space(name):
    folder = ROOT / "metrics" / name
    card = (folder / "README.md").read_text(encoding="utf-8")
    front = card.split("---")[1]
    for key in ("title", "emoji", "sdk", "sdk_version", "app_file", "description", "tags"):
        assert f"{key}:" in front, f"metrics/{name}/README.md has no {key} in its head"
    for heading in ("Metric Description", "How to Use", "Inputs", "Output Values", "Limitations", "Citation"):
        assert f"# {heading}" in card, f"metrics/{name}/README.md has no section {heading}"
    assert f'evaluate.load("{name}")' in card, f"metrics/{name}/README.md does not load {name}"
    for key in METRICS[name].result_keys:
        assert key in card, f"metrics/{name}/README.md, Output Values: {key} is missing"
    assert {path.name for path in folder.iterdir() if path.name != "__pycache__"} == {
        f"{name}.py", "README.md", "app.py", "requirements.txt"
    }  # fmt: skip
    (version,) = re.findall(r"^sdk_version: (\d+\.\d+)\.\d+$", front, re.MULTILINE)
    assert f"gradio>={version}\n" in (folder / "requirements.txt").read_text(encoding="utf-8")
