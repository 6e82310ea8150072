"""What `pip install` brings: the wheel's files, and the words of the README in a wheel and in an editable installation.

Each installation gets a virtual environment of its own, which sees the packages of the outer one by a path line; Python
reads no .pth files there, so an installation of tls-tasks in the outer environment is not active in it. Commands run in
an empty folder, with the Hub unreachable.
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import os
import subprocess
import sys
import sysconfig
import venv
import zipfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import tls_tasks
from tls_tasks.timelines.baseline import answer
from tls_tasks.timelines.data import load_documents, prompt

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
HOOK_FILES = ("_tls_tasks_hook.py", "tls_tasks_hook.pth")
RESOURCES = ("metrics", "task_configs")
OURS_ALONE = ("--ignore-installed", "--no-deps", "--no-index")

FIND_BY_NAME = """
import logging
logging.disable()
from lm_eval.tasks import TaskManager
from lm_eval.api.registry import get_model
print([name for name in TaskManager(include_defaults=False).all_tasks if name == "tls_crisis"])
print(get_model("tls_datewise").__name__)
import evaluate
rows = {"predictions": ["2011-01-25: Protests begin."], "references": [{"2011-01-25": ["Protests begin."]}]}
print(evaluate.load("date_f1").compute(**rows)["date_f1"])
"""


@dataclasses.dataclass(frozen=True)
class Environment:
    """A virtual environment with tls-tasks in it, and an empty folder to work in."""

    python: Path
    site: Path
    work: Path

    def run(self, *command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run ``command``; fails unless it ends with 0."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("TLS_TASKS", "PYTHON"))}
        offline = {"HF_HUB_OFFLINE": "1", "HF_ENDPOINT": "http://127.0.0.1:9", "HF_HOME": str(self.work.parent / "hf")}
        words, environment = list(map(str, command)), {**clean, **offline, **environ}
        done = subprocess.run(words, cwd=self.work, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        return done

    def pip(self, *arguments: str | Path) -> str:
        return self.run(self.python, "-m", "pip", "--disable-pip-version-check", *arguments).stdout

    def ours(self) -> list[str]:
        """What is in site-packages of this environment, other than the path line."""
        return sorted(path.name for path in self.site.iterdir() if path.name not in ("outer.pth", "__pycache__"))


def make_environment(folder: Path) -> Environment:
    venv.create(folder / "venv", with_pip=False, symlinks=os.name != "nt")
    python = folder / "venv" / ("Scripts" if os.name == "nt" else "bin") / "python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(subprocess.check_output([python, "-c", code], text=True).strip())
    outer = dict.fromkeys([sysconfig.get_path("purelib"), sysconfig.get_path("platlib")])
    (site / "outer.pth").write_text("\n".join(outer) + "\n", encoding="utf-8")
    (folder / "empty").mkdir()
    return Environment(python, site, folder / "empty")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for module in ("build", "hatchling", "pip"):
        pytest.importorskip(module)
    for name in ("README.md", "LICENSE"):
        if not (ROOT / name).is_file():
            pytest.skip(f"{name} isn't there yet; pyproject.toml names it")
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """An environment with the wheel; when all tests are done with it, uninstalling must leave nothing."""
    environment = make_environment(tmp_path_factory.mktemp("wheel"))
    environment.pip("install", *OURS_ALONE, wheel)
    yield environment
    check_uninstall(environment)


@pytest.fixture(scope="module")
def editable(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Environment]:
    """An environment with the checkout; when all tests are done with it, uninstalling must leave nothing."""
    environment = make_environment(tmp_path_factory.mktemp("editable"))
    environment.pip("install", *OURS_ALONE, "--no-build-isolation", "-e", ROOT)
    yield environment
    check_uninstall(environment)


def check_uninstall(environment: Environment) -> None:
    assert set(HOOK_FILES) <= set(environment.ours())
    environment.pip("uninstall", "--yes", "tls-tasks")
    assert environment.ours() == []
    done = environment.run(environment.python, "-c", "import sys; print([m for m in sys.modules if 'tls' in m])")
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_files_of_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    sources = {f"tls_tasks/{path.relative_to(ROOT).as_posix()}" for name in RESOURCES for path in files(ROOT / name)}
    sources |= {path.relative_to(ROOT).as_posix() for path in files(ROOT / "tls_tasks")}
    sources |= set(HOOK_FILES)
    assert sources == {name for name in names if ".dist-info/" not in name}
    assert {"tls_tasks/py.typed", "tls_tasks/timelines/data_sets.json"} <= sources
    assert any(name.startswith("tls_tasks/text/data/") for name in sources)
    assert any(name.startswith("tls_tasks/data/embedded/") for name in sources)


def files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]


@pytest.mark.parametrize("kind", ["installed", "editable"])
def test_names_are_found_word_for_word(kind: str, request: pytest.FixtureRequest) -> None:
    environment: Environment = request.getfixturevalue(kind)
    done = environment.run(environment.python, "-c", FIND_BY_NAME)
    assert done.stdout.splitlines() == ["['tls_crisis']", "DatewiseLM", "1.0"]


@pytest.mark.parametrize("kind", ["installed", "editable"])
def test_doctor_finds_the_hook(kind: str, request: pytest.FixtureRequest) -> None:
    environment: Environment = request.getfixturevalue(kind)
    command = environment.python.parent / "tls-tasks"
    healthy = environment.run(command, "doctor").stdout
    assert str(environment.site / "tls_tasks_hook.pth") in healthy and "problem" not in healthy
    home = ROOT if kind == "editable" else environment.site / "tls_tasks"
    assert environment.run(command, "path").stdout.strip() == str((home / "task_configs").resolve())


def test_every_start_is_silent_and_the_kill_switch_works(installed: Environment) -> None:
    is_on = "any('hook' in type(f).__module__ for f in sys.meta_path)"
    code = f"import sys; print('_tls_tasks_hook' in sys.modules, {is_on})"
    on = installed.run(installed.python, "-c", code)
    off = installed.run(installed.python, "-c", code, TLS_TASKS_NO_HOOK="1")
    assert (on.stdout, on.stderr) == ("True True\n", "")
    assert (off.stdout, off.stderr) == ("True False\n", "")


def test_the_command_line_of_the_harness_finds_validates_and_runs_a_task(installed: Environment) -> None:
    """Each start reads thousands of files, so they run side by side."""
    # The script that pip writes beside the harness, in this environment:
    script = [installed.python, "-c", "import sys; from lm_eval.__main__ import cli_evaluate; sys.exit(cli_evaluate())"]
    commands = [
        [installed.python, "-m", "lm_eval", "ls", "tasks"],
        [*script, "validate", "--tasks", "tls_crisis"],
        [*script, "--tasks", "tls_crisis", "--model", "tls_datewise", "--limit", "1"],
    ]
    with ThreadPoolExecutor() as pool:
        listed, validated, run = (done.stdout for done in pool.map(lambda command: installed.run(*command), commands))
    rows = [line.split("|") for line in listed.splitlines() if line.startswith("|tls_crisis ")]
    config = installed.site / "tls_tasks" / "task_configs" / "timelines" / "tls_crisis.yaml"
    assert [row[2].strip() for row in rows] == [str(config)]
    assert "All tasks found and valid" in validated
    rows = [[cell.strip() for cell in line.split("|")] for line in run.splitlines()]
    assert [row[1] for row in rows if "ar1_f1" in row or "date_f1" in row] != []
    assert any(row[1] == "tls_crisis" for row in rows if len(row) > 1)


def test_the_oldest_release_of_the_harness(wheel: Path, tmp_path: Path) -> None:
    """The supported range: found by name, run from the command line, the numbers those of a direct computation."""
    release = "0.4.12"  # the newest is what every other test runs
    environment = make_environment(tmp_path)
    environment.pip("install", *OURS_ALONE, wheel)
    options = ("--quiet", "--no-deps", "--no-compile")
    command = [environment.python, "-m", "pip", "install", *options, f"lm_eval=={release}"]
    index = subprocess.run(command, capture_output=True, text=True, check=False)
    if index.returncode:
        pytest.skip(f"the package index has no lm_eval {release}: {index.stderr[-200:]}")
    arguments = "--tasks tls_crisis --model tls_datewise --output_path out"
    environment.run(environment.python, "-m", "lm_eval", *arguments.split())
    (file,) = environment.work.glob("out/**/results_*.json")
    results = json.loads(file.read_text(encoding="utf-8"))
    assert results["lm_eval_version"] == release
    expected = direct_numbers()
    numbers = results["results"]["tls_crisis"]
    assert {key: numbers[f"{key},none"] for key in expected} == pytest.approx(expected, abs=1e-12)


def direct_numbers() -> dict[str, float]:
    """AR and date F1 of the baseline on the embedded edition, without the harness."""
    docs = load_documents("tls_crisis", edition="embedded")
    predictions = [answer(prompt(doc)) for doc in docs]
    references = [json.loads(doc["reference"]) for doc in docs]
    score = tls_tasks.alignment_rouge(predictions, references).as_dict()
    score |= tls_tasks.date_f1(predictions, references).as_dict()
    return {key: score[key] for key in ("ar1_f1", "ar2_recall", "date_f1")}


HOSTS = {"lm-eval", "evaluate", "datasets"}


def brought_by(requirements: Iterable[str], extra: str = "") -> dict[str, importlib.metadata.Distribution]:
    """What is installed here of these requirements and of what they require, by name."""
    found = {}
    for one in map(Requirement, requirements):
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            distribution = importlib.metadata.distribution(one.name)
            found[canonicalize_name(one.name)] = distribution
            for extra_of_it in ("", *one.extras):
                found |= brought_by(distribution.requires or (), extra_of_it)
    return found


def test_scorers_and_tasks_need_none_of_the_hosts(wheel: Path, tmp_path: Path) -> None:
    """Installed without dependencies, then links to the dependencies without the three hosts and what they bring."""
    from tests.test_tasks import NAMES, WITHOUT_HOSTS

    named = [name for name in NAMES if "_custom" not in name]
    declared = [line for line in importlib.metadata.requires("tls-tasks") or () if "extra ==" not in line]
    rest = [line for line in declared if Requirement(line).name not in HOSTS]
    assert len(rest) == len(declared) - len(HOSTS)
    environment = make_environment(tmp_path)
    environment.pip("install", *OURS_ALONE, wheel)
    (environment.site / "outer.pth").unlink()
    for distribution in brought_by(rest).values():
        tops = {path.parts[0] for path in distribution.files or ()} - {"..", "__pycache__"}
        for top in tops - {path.name for path in environment.site.iterdir()}:
            (environment.site / top).symlink_to(distribution.locate_file(top))
    listed = "import importlib.metadata; print(*(one.name for one in importlib.metadata.distributions()))"
    names = environment.run(environment.python, "-c", listed).stdout.split()
    assert "tls-tasks" in names and len(names) > len(rest) and not HOSTS & set(map(canonicalize_name, names))
    assert environment.run(environment.python, "-c", WITHOUT_HOSTS).stdout.split() == named
    assert "Examples:" in environment.run(environment.python, "-m", "tls_tasks", "score", "--help").stdout
