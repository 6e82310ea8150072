"""The start-up hook and tls_tasks.hosts.discovery.

A case runs in a fresh Python, whose site module reads the hook's .pth file.

lm_eval is the installed one. Where a test needs a host that doesn't exist yet (a release that reads entry points), one
that is broken, or evaluate without the ten seconds of its import, it writes a small one of the same shape.
"""

from __future__ import annotations

import configparser
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from textwrap import dedent

import pytest

import tls_tasks
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.hosts import discovery as plugin

CASES = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))

ROOT = Path(__file__).parents[2]
HOOK = ROOT / "hook" / "_tls_tasks_hook.py"
PTH = ROOT / "hook" / "tls_tasks_hook.pth"

TASK_MANAGER = """
class TaskManager:
    def __init__(self, verbosity=None, include_path=None, include_defaults=True, metadata=None):
        self.include_path = include_path
"""
LOADING = "def evaluation_module_factory(path, module_type=None, **options):\n    return path\n"
INCLUDED = "import lm_eval.tasks; print(lm_eval.tasks.TaskManager().include_path)"


def write(folder: Path, files: dict[str, str]) -> None:
    """Write files: path below ``folder`` -> text."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(dedent(text), encoding="utf-8")


def add_plugin(folder: Path, name: str, groups: dict[str, dict[str, str]] | None = None) -> None:
    """Write the metadata of an installed distribution; ENTRY_POINTS has those of its name, unless some are given."""
    points = configparser.ConfigParser()
    points.read_dict(groups or CASES["ENTRY_POINTS"][name])
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    with (info / "entry_points.txt").open("w", encoding="utf-8") as file:
        points.write(file)


def python(code: str, site: Path, *, see_installed: bool = False, cwd: Path | None = None, **environ: str) -> str:
    """Run ``code`` in a Python that has read the .pth files of ``site``; return what it printed.

    What is installed in this environment, tls-tasks perhaps among it, is seen only with ``see_installed``. Fails if
    anything is printed on stderr, except where ``TLS_TASKS_DEBUG`` asks for it: then stderr is returned.
    """
    start = f"import site, sys\nsys.path.insert(0, {str(site)!r})\nsite.addsitedir({str(site)!r})\n"
    options = [] if see_installed else ["-S"]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("TLS_TASKS", "PYTHON"))}
    done = subprocess.run(
        [sys.executable, *options, "-c", start + dedent(code)],
        env={**clean, "HF_HUB_OFFLINE": "1", **environ},
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if "TLS_TASKS_DEBUG" in environ:
        return done.stderr
    assert done.stderr == ""
    return done.stdout.strip()


def with_hook(folder: Path) -> Path:
    shutil.copy(HOOK, folder)
    shutil.copy(PTH, folder)
    return folder


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A site folder with the hook in it."""
    (tmp_path / "site").mkdir()
    return with_hook(tmp_path / "site")


@pytest.fixture
def plugins(site: Path) -> Path:
    """The site folder with a plugin of each kind in it, and a host of each kind that doesn't read entry points."""
    empty = ("lm_eval", "lm_eval/models", "evaluate", "good", "good/tasks")
    write(site, {**{f"{package}/__init__.py": "" for package in empty}, "good/score/score.py": ""})
    write(site, {"lm_eval/tasks/__init__.py": TASK_MANAGER, "evaluate/loading.py": LOADING})
    add_plugin(site, "plugins")
    return site


# What it costs


def test_hook_is_short() -> None:
    assert len(HOOK.read_text(encoding="utf-8").splitlines()) < 130
    assert PTH.read_text(encoding="utf-8") == "import _tls_tasks_hook\n"


def test_hook_imports_nothing_and_does_next_to_nothing_at_start_up(site: Path) -> None:
    """Work is counted, not timed: a busy machine must not fail it. Half a millisecond where nothing else runs."""
    # -S: the modules that site itself brings must not hide what the hook would bring
    code = f"""
    import os, sys  # what every start imports
    sys.path.insert(0, {str(site)!r})
    before, calls = set(sys.modules), []
    sys.setprofile(lambda frame, event, argument: event == "call" and calls.append(frame.f_code.co_filename))
    import _tls_tasks_hook
    sys.setprofile(None)
    ours = [name for name in calls if name.endswith("_tls_tasks_hook.py")]
    print(len(calls), len(ours), *set(sys.modules) - before)
    """
    done = subprocess.run([sys.executable, "-S", "-c", dedent(code)], capture_output=True, text=True, check=True)
    n_calls, n_ours, *imported = done.stdout.split()
    assert int(n_ours) < 20 and int(n_calls) < 1000, done.stdout  # 7, and the import system's own
    assert imported == ["_tls_tasks_hook"]


# What it does, with the installed lm_eval


GOOD_MODEL = """
from lm_eval.api.filter import Filter
from lm_eval.api.model import LM
from lm_eval.api.registry import register_filter, register_metric, register_model

@register_model("good_model")
class Good(LM):
    pass

@register_filter("good_filter")
class GoodFilter(Filter):
    pass

@register_metric(metric="good_metric", higher_is_better=True, aggregation="mean")
def good_metric(**rows):
    return 1.0
"""


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """What the installed lm_eval finds; one process for all, since to import it takes seconds."""
    site = with_hook(tmp_path_factory.mktemp("site"))
    write(site, {"good/__init__.py": "", "good/model.py": GOOD_MODEL, "quits/__init__.py": "raise SystemExit(3)"})
    for file in ("good/tasks/good_task", "good/tasks/shared", "user/shared", "user/user_task"):
        write(site, {f"{file}.yaml": f"task: {Path(file).name}\nclass: nowhere.Nothing\n"})
    add_plugin(site, "facts")
    code = f"""
    import importlib, importlib.util, inspect, json, logging, pickle
    from pathlib import Path
    logging.disable()
    plugin, user = {str(site / "good" / "tasks")!r}, {str(site / "user")!r}
    found = importlib.util.find_spec("lm_eval.tasks").origin
    from lm_eval.tasks import TaskManager
    import lm_eval.tasks, lm_eval.models
    from lm_eval.api.registry import get_aggregation, get_filter, get_metric, get_model
    from lm_eval.api.registry import is_higher_better, model_registry

    def names(tasks):
        return [name for name in tasks.all_tasks if name in ("good_task", "shared", "user_task")]

    def shared(given):
        entry = TaskManager(include_path=given, include_defaults=False).task_index["shared"]
        return str(entry["yaml_path"] if isinstance(entry, dict) else entry.yaml_path)

    shapes = dict(none=None, empty="", text=user, path=Path(user), list=[user], tuple=(user,))
    shapes["mixed"] = [plugin, Path(user)]
    pickled = names(pickle.loads(pickle.dumps(TaskManager(include_defaults=False))))  # safe: written just here
    spec = pickle.loads(pickle.dumps(lm_eval.tasks.__spec__))  # safe: written just here
    wrapped = TaskManager.__init__
    importlib.reload(lm_eval.tasks)
    print(json.dumps(dict(
        found=found == spec.origin == lm_eval.tasks.__file__,
        shapes={{
            shape: names(TaskManager(include_path=given, include_defaults=False)) for shape, given in shapes.items()
        }},
        positional=names(TaskManager(None, user, False)),
        winner=shared(user),
        parameters=list(inspect.signature(TaskManager).parameters),
        pickled=pickled,
        reloaded=names(TaskManager(include_defaults=False)),
        wrapped_once=not hasattr(lm_eval.tasks.TaskManager.__init__.__wrapped__, "__wrapped__"),
        model=get_model("good_model").__module__,
        hf=str(model_registry._objs["hf"]),
        functions=[get(name).__module__ for get, name in (
            (get_metric, "good_metric"), (get_filter, "good_filter"), (get_aggregation, "good_aggregation"),
            (get_metric, "acc"), (get_filter, "take_first"),
        )],
        better=is_higher_better("good_metric"),
    )))
    """
    # In PYTHONPATH too: if a hook is installed here, this one comes before it.
    return dict(json.loads(python(code, site, see_installed=True, PYTHONPATH=str(site))))


def test_plugin_tasks_are_found_whatever_the_user_includes(facts: dict[str, object]) -> None:
    ours, both = ["good_task", "shared"], ["good_task", "shared", "user_task"]
    expected = dict.fromkeys(("none", "empty"), ours) | dict.fromkeys(("text", "path", "list", "tuple", "mixed"), both)
    assert facts["shapes"] == expected and facts["positional"] == both


def test_users_own_path_wins_over_a_plugin(facts: dict[str, object]) -> None:
    assert Path(str(facts["winner"])).parent.name == "user"


def test_models_of_plugins_are_found_and_never_replace_those_of_lm_eval(facts: dict[str, object]) -> None:
    assert facts["model"] == "good.model"
    assert "good" not in str(facts["hf"])


def test_filters_metrics_and_aggregations_of_plugins_are_found(facts: dict[str, object]) -> None:
    """Where the plugin's own decorator registers them, too: it takes the place of what the entry point left there."""
    assert facts["functions"] == ["good.model"] * 3 + ["lm_eval.api.metrics", "lm_eval.filters.selection"]
    assert facts["better"] is True


def test_task_manager_looks_and_pickles_as_before(facts: dict[str, object]) -> None:
    assert facts["parameters"] == ["verbosity", "include_path", "include_defaults", "metadata"]
    assert facts["pickled"] == facts["reloaded"] == ["good_task", "shared"]
    assert facts["found"]
    assert facts["wrapped_once"]


# When it stands down


def test_kill_switch(plugins: Path) -> None:
    code = """
    import lm_eval.tasks
    print(lm_eval.tasks.TaskManager().include_path, any("hook" in type(f).__module__ for f in sys.meta_path))
    """
    assert python(code, plugins, TLS_TASKS_NO_HOOK="1") == "None False"
    assert python(code, plugins, TLS_TASKS_NO_HOOK="0") == f"{[str(plugins / 'good' / 'tasks')]} True"


READS_ENTRY_POINTS = """
from importlib import metadata, util
from pathlib import Path

def a_name_that_nobody_foresaw():
    for plugin in metadata.entry_points(group="lm_eval.tasks"):
        if not plugin.name.startswith("never"):
            yield from util.find_spec(plugin.value).submodule_search_locations

class TaskManager:
    def __init__(self, verbosity=None, include_path=None, include_defaults=True, metadata=None):
        self.roots = [*a_name_that_nobody_foresaw(), *(include_path or [])]
        self.task_index = {p.stem: ENTRY for root in self.roots for p in Path(root).glob("**/*.yaml")}
"""


@pytest.mark.parametrize("entry", ["{'yaml_path': str(p)}", "type('Entry', (), {'yaml_path': p})"])
def test_roots_that_lm_eval_reads_itself_are_not_read_twice(plugins: Path, entry: str) -> None:
    """Root by root, and whatever the functions are called that do it: both forms of an index's entries."""
    write(plugins, {"lm_eval/tasks/__init__.py": READS_ENTRY_POINTS.replace("ENTRY", entry)})
    write(plugins, {"good/tasks/deep/good.yaml": "task: good\n", "other/__init__.py": "", "other/other.yaml": ""})
    add_plugin(plugins, "other", {"lm_eval.tasks": {"never": "other"}})
    code = """
    from lm_eval.tasks import TaskManager
    print(TaskManager().roots, TaskManager(include_path=["mine"]).roots)
    """
    good, other = str(plugins / "good" / "tasks"), str(plugins / "other")
    assert python(code, plugins) == f"{[good, other]} {[good, other, 'mine']}"


def test_names_that_lm_eval_registers_itself_are_its_own(plugins: Path) -> None:
    registry = """
    class Registry(dict):
        def register(self, name, target):
            assert name not in self
            self[name] = target

    model_registry, metric_registry = Registry(taken=1), Registry(taken=2)
    """
    write(plugins, {"lm_eval/api/__init__.py": "", "lm_eval/api/registry.py": registry})
    write(plugins, {"lm_eval/tasks/__init__.py": f"{TASK_MANAGER}\nimport lm_eval.api.registry\n"})
    add_plugin(plugins, "model")
    code = """
    import lm_eval.api.registry as registry, lm_eval.models, lm_eval.tasks
    print(registry.model_registry, registry.metric_registry)
    """
    assert python(code, plugins) == "{'taken': 1, 'mine': 'good:Model'} {'taken': 2, 'mine': 'good:Model'}"


def test_a_folder_that_the_user_includes_is_not_read_twice(plugins: Path) -> None:
    tasks = plugins / "good" / "tasks"
    code = f"""
    from lm_eval.tasks import TaskManager
    for given in ({str(tasks)!r}, {str(plugins)!r}, {str(tasks.parent / "task")!r}):
        print(TaskManager(include_path=given).include_path)
    """
    expected = [str(tasks), str(plugins), str([str(tasks), str(tasks.parent / "task")])]
    assert python(code, plugins).splitlines() == expected


# evaluate


def test_evaluate_finds_a_module_by_name_from_any_folder(plugins: Path, tmp_path: Path) -> None:
    code = """
    from evaluate.loading import evaluation_module_factory as find
    for path in ("score", "rouge", "score/score.py", "org/score", "./score"):
        print(find(path), find(path=path, module_type="metric"))
    """
    lines = python(code, plugins, cwd=tmp_path).splitlines()
    folder = plugins / "good" / "score"
    assert lines[0] == f"{folder} {folder}"
    assert lines[1:] == [f"{path} {path}" for path in ("rouge", "score/score.py", "org/score", "./score")]


def test_a_module_in_the_working_directory_wins(plugins: Path, tmp_path: Path) -> None:
    code = "from evaluate.loading import evaluation_module_factory as find; print(find('score'))"
    (tmp_path / "score").mkdir()
    assert python(code, plugins, cwd=tmp_path) == str(plugins / "good" / "score")  # a folder alone is no module
    write(tmp_path, {"score/score.py": ""})
    assert python(code, plugins, cwd=tmp_path) == "score"


def test_no_package_gets_between_evaluate_and_its_own_metrics(plugins: Path, tmp_path: Path) -> None:
    write(plugins, {f"good/{name}/{name}.py": "" for name in ("rouge", "mcnemar", "toxicity", "rouge_of_mine")})
    code = """
    from evaluate.loading import evaluation_module_factory as find
    print(*(find(name) for name in ("rouge", "mcnemar", "toxicity", "rouge_of_mine")))
    """
    assert python(code, plugins, cwd=tmp_path) == f"rouge mcnemar toxicity {plugins / 'good' / 'rouge_of_mine'}"
    write(tmp_path, {"rouge/rouge.py": ""})  # what the user has put here is the user's own choice: evaluate reads it
    assert python(code, plugins, cwd=tmp_path).startswith("rouge mcnemar")


@pytest.mark.skipif("EVALUATE_TESTS" not in os.environ, reason="EVALUATE_TESTS names no checkout of evaluate's tests")
def test_evaluates_own_names_are_those_of_its_checkout() -> None:
    checkout = Path(os.environ["EVALUATE_TESTS"]).parent
    folders = [path for kind in ("metrics", "comparisons", "measurements") for path in (checkout / kind).iterdir()]
    names = re.search(r'EVALUATES = """(.*?)"""', HOOK.read_text(encoding="utf-8"), re.S)
    assert names and sorted(names[1].split()) == sorted({path.name for path in folders if path.is_dir()})


# What is odd


def test_broken_plugins_are_passed_over_in_silence(plugins: Path) -> None:
    write(plugins, {"raises/__init__.py": "raise RuntimeError('one\\ntwo')"})
    write(plugins, {"quits/__init__.py": "raise SystemExit(3)"})
    add_plugin(plugins, "broken")
    code = "import lm_eval.tasks; print(lm_eval.tasks.TaskManager('INFO', ['mine']).include_path)"
    assert python(code, plugins) == str([str(plugins / "good" / "tasks"), "mine"])
    lines = python(code, plugins, TLS_TASKS_DEBUG="1").splitlines()
    assert len(lines) == 6 and all(line.startswith("tls-tasks hook: folder: ") for line in lines)
    assert {f"tls-tasks hook: folder: {error}" for error in ("RuntimeError('one\\ntwo')", "SystemExit(3)")} < {*lines}


def test_plain_module_stands_for_its_folder(plugins: Path) -> None:
    write(plugins, {"plain/tasks.py": ""})
    add_plugin(plugins, "plain", {"lm_eval.tasks": {"plain": "plain.tasks:unused"}})
    assert str(plugins / "plain") in python(INCLUDED, plugins)


@pytest.mark.parametrize(
    "hosts", CASES["test_hosts_of_another_shape_are_left_alone"], ids=["empty", "of another kind", "of another shape"]
)
def test_hosts_of_another_shape_are_left_alone(plugins: Path, hosts: dict[str, str]) -> None:
    write(plugins, hosts)
    assert python("import lm_eval.tasks, lm_eval.models, evaluate.loading; print('ok')", plugins) == "ok"


def test_hosts_own_errors_come_through(plugins: Path) -> None:
    write(plugins, {"lm_eval/tasks/__init__.py": "import absent_dependency"})
    code = """
    import importlib.util
    print(importlib.util.find_spec("lm_eval.tasks").name)
    try:
        import lm_eval.tasks
    except ModuleNotFoundError as error:
        print(error.name)
    """
    assert python(code, plugins).split() == ["lm_eval.tasks", "absent_dependency"]


def test_find_spec_without_a_host(site: Path) -> None:
    write(site, {"lm_eval/__init__.py": ""})  # a package of this name without what we look for
    code = "from importlib.util import find_spec; print(*map(find_spec, ('lm_eval.tasks', 'lm_eval.models')))"
    assert python(code, site) == "None None"


def test_namespace_package_as_host(plugins: Path) -> None:
    (plugins / "lm_eval" / "tasks" / "__init__.py").unlink()
    code = "import lm_eval.tasks; print(lm_eval.tasks.__file__)"
    assert python(code, plugins) == "None"


def test_other_finders_before_and_behind(plugins: Path) -> None:
    code = """
    import importlib.util

    class Reentrant:  # asks the whole chain, as import hooks of profilers do
        busy = False
        def find_spec(self, name, path=None, target=None):
            if self.busy or not name.startswith("lm_eval"):
                return None
            self.busy = True
            try:
                return importlib.util.find_spec(name)
            finally:
                self.busy = False

    sys.meta_path[:0] = [Reentrant()]
    sys.meta_path.insert(2, Reentrant())
    import lm_eval.tasks
    print(lm_eval.tasks.TaskManager().include_path)
    print("exec_module" in vars(lm_eval.tasks.__spec__.loader))
    """
    assert python(code, plugins).splitlines() == [str([str(plugins / "good" / "tasks")]), "False"]


def test_host_in_a_zip_file(plugins: Path, tmp_path: Path) -> None:
    archive = tmp_path / "hosts.zip"
    with zipfile.ZipFile(archive, "w") as file:
        for path in (plugins / "lm_eval").rglob("*.py"):
            file.write(path, path.relative_to(plugins))
    shutil.rmtree(plugins / "lm_eval")
    code = f"""
    sys.path.insert(0, {str(archive)!r})
    import lm_eval.tasks
    print(lm_eval.tasks.TaskManager().include_path, "hosts.zip" in lm_eval.tasks.__file__)
    """
    assert python(code, plugins) == f"{[str(plugins / 'good' / 'tasks')]} True"


# tls_tasks.hosts.discovery


def test_hosts_that_are_imported_already_are_patched_once(plugins: Path) -> None:
    """For environments whose .pth files Python doesn't read: ``import _tls_tasks_hook`` is enough."""
    (plugins / PTH.name).unlink()
    code = """
    import lm_eval.tasks, evaluate.loading
    import _tls_tasks_hook
    _tls_tasks_hook.install()
    print(lm_eval.tasks.TaskManager().include_path, evaluate.loading.evaluation_module_factory("score"))
    print(hasattr(lm_eval.tasks.TaskManager.__init__, "__wrapped__"))
    print(hasattr(lm_eval.tasks.TaskManager.__init__.__wrapped__, "__wrapped__"))
    """
    good = plugins / "good"
    assert python(code, plugins).splitlines() == [f"{[str(good / 'tasks')]} {good / 'score'}", "True", "False"]


def test_what_enable_left_is_harmless_after_uninstalling(plugins: Path) -> None:
    shutil.rmtree(plugins / "plugins-1.0.dist-info")
    shutil.rmtree(plugins / "good")
    assert python(INCLUDED, plugins) == "None"


def test_resource_folders() -> None:
    assert {path.name for path in plugin.tasks_path().iterdir() if path.is_dir()} >= {"summaries", "timelines"}
    assert (plugin.resource_folder("metrics") / "date_f1" / "date_f1.py").is_file()


def test_resource_folder_errors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tls_tasks, "__path__", [str(tmp_path)])
    with pytest.raises(TlsTasksError, match=f"metrics isn't in {re.escape(str(tmp_path))}; reinstall tls-tasks"):
        plugin.resource_folder("metrics")


def test_every_entry_point_of_pyproject_has_something_behind_it() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    groups = dict(re.findall(r'entry-points\."([\w.]+)"\]\n\w+ = "([\w.:]+)"\n', text))
    assert groups["evaluate.modules"] == "tls_tasks.metrics" and groups["lm_eval.tasks"] == "tls_tasks.task_configs"
    module, _, name = groups["lm_eval.models"].partition(":")
    assert hasattr(pytest.importorskip("lm_eval") and __import__(module, fromlist=[name]), name)
