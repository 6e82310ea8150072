"""The hosts' own tests, run on what we ship.

lm-eval's come with its source archive on the package index. evaluate's do not: they run where ``EVALUATE_TESTS`` names
the folder ``tests`` of a checkout of evaluate (and what they ask of a module is asked in ``test_modules.py`` too).

Where ``LM_EVAL_SOURCE`` names a checkout of lm-eval, of its main branch say, all that touches lm-eval is asked of that,
too.
"""

import json
import os
import shutil
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tls_tasks.registry import METRICS

pytestmark = pytest.mark.slow


def run_pytest(arguments, folder, **variables):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_EVALUATE_OFFLINE": "1", **variables}
    if "PYTHONPATH" not in variables:
        environment.pop("PYTHONPATH", None)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


SOURCE = os.environ.get("LM_EVAL_SOURCE", "")
needs_source = pytest.mark.skipif(not SOURCE, reason="LM_EVAL_SOURCE names no checkout of lm-eval")


@pytest.fixture(scope="module")
def only_lm_eval(tmp_path_factory):
    """A folder for ``PYTHONPATH`` with the package alone: the checkout has folders ``scripts`` and ``tests``, too."""
    folder = tmp_path_factory.mktemp("source")
    (folder / "lm_eval").symlink_to(Path(SOURCE, "lm_eval").resolve(), target_is_directory=True)
    return str(folder)


@pytest.fixture(scope="module", params=["release", pytest.param("source", marks=needs_source)])
def harness_tests(request, tmp_path_factory):
    """The harness's folder ``tests``, of the installed release or of the checkout; and what makes Python use that."""
    folder = tmp_path_factory.mktemp("harness")
    if request.param == "source":
        shutil.copytree(Path(SOURCE, "tests"), folder / "tests")
        return folder, {"PYTHONPATH": request.getfixturevalue("only_lm_eval")}
    wanted = f"lm_eval=={version('lm_eval')}"
    command = [sys.executable, *"-m pip download --quiet --no-deps --no-binary :all: -d".split(), str(folder), wanted]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"the package index has no source archive of {wanted}: {done.stderr[-300:]}")
    (archive,) = folder.glob("lm_eval-*.tar.gz")
    with tarfile.open(archive) as tar:
        members = [member for member in tar.getmembers() if "/tests/" in member.name and member.name.endswith(".py")]
        for member in members:
            target = folder / Path(member.name).relative_to(Path(member.name).parts[0])
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(tar.extractfile(member).read())
    (folder / "tests" / "__init__.py").touch()
    return folder, {}


def test_the_harness_own_task_tests(harness_tests):
    """As its CI runs them on changed tasks; discovery is the installed hook's."""
    harness_tests, variables = harness_tests
    files = sorted((ROOT / "task_configs").glob("*/*.yaml"))
    tasks = [path.stem for path in files if f"\ntask: {path.stem}\n" in path.read_text(encoding="utf-8")]
    tasks = [name for name in tasks if "_custom" not in name]  # they have no data before a user names some
    assert {"tls_open_closed_book", "summ_govreport", "evidence_maccrobat"} <= set(tasks) and len(tasks) >= 16
    # The archive lacks the module that reads the list of changed files; that list is all that the tests want of it.
    (harness_tests / "tests" / "utils.py").write_text(f"def new_tasks():\n    return {tasks!r}\n")
    # They ask for ten documents; the embedded edition has two of some tasks.
    suite = harness_tests / "tests" / "test_tasks.py"
    text = suite.read_text()
    assert text.count("    return 10\n") == 1
    suite.write_text(text.replace("    return 10\n", "    return 2\n"))
    done = run_pytest(["tests/test_tasks.py", "-k", "TestNewTasks"], harness_tests, **variables)
    assert done.returncode == 0, done.stdout[-3000:]
    assert " failed" not in done.stdout and f"{13 * len(tasks)} passed" in done.stdout, done.stdout[-300:]


@pytest.mark.skipif("EVALUATE_TESTS" not in os.environ, reason="EVALUATE_TESTS names no checkout of evaluate's tests")
def test_evaluates_own_tests_for_local_modules():
    suite = Path(os.environ["EVALUATE_TESTS"]) / "test_metric_common.py"
    done = run_pytest([str(suite), "-k", "LocalModuleTest", "-c", os.devnull], ROOT)
    assert done.returncode == 0, done.stdout[-3000:]
    assert f"{len(METRICS)} passed" in done.stdout


@needs_source
def test_our_tests_of_lm_eval_pass_with_the_checkout(only_lm_eval):
    """Tasks, metrics and options: what is built on lm-eval's own classes."""
    suites = ["tests/test_tasks.py", *(f"tests/hosts/test_{name}.py" for name in ("registered", "repeats", "unread"))]
    done = run_pytest(suites, ROOT, PYTHONPATH=only_lm_eval, LM_EVAL_SOURCE="")
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout and "failed" not in done.stdout


_COMMAND = "import lm_eval.__main__ as main; print(main.__file__); main.cli_evaluate()"


@needs_source
def test_the_command_finds_every_task_once_and_gives_the_same_numbers_with_the_checkout(only_lm_eval, tmp_path):
    """Whether the hook finds the tasks or the checkout does: never both of them."""
    results = []
    for place in ("", only_lm_eval):
        environment = {**os.environ, "HF_HUB_OFFLINE": "1", "PYTHONPATH": place}
        (folder := tmp_path / str(len(results))).mkdir()
        asked = "--tasks tls,tree --model tree_rules --output_path out".split()
        command = [sys.executable, "-c", _COMMAND, *asked]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout.startswith(only_lm_eval) == bool(place), done.stdout[:200]
        assert "overrides existing" not in done.stderr and "Duplicate task" not in done.stderr, done.stderr[-3000:]
        (file,) = folder.glob("out/**/results_*.json")
        found = json.loads(file.read_text(encoding="utf-8"))["results"]
        rows = ((name.rpartition("::")[2], row) for name, row in found.items())
        results.append({name: {key: row[key] for key in row if "," in key} for name, row in rows})
    assert len(results[0]) > 5 and results[0] == results[1]
