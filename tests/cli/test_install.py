"""tls-tasks path, doctor, enable, disable, and what all commands share: exit codes, one-line errors, light imports."""

import importlib.util
import json
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

import tls_tasks
from tests.cli.conftest import run
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError
from tls_tasks.hosts import discovery as plugin

ROOT = Path(__file__).parents[2]
PROBLEMS = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))["PROBLEMS"]
"""Name -> what is otherwise in an environment in which all is well, and what doctor says of it."""


def python(*arguments, **environment):
    """A process of Python in a folder that has nothing of ours."""
    return subprocess.Popen(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "", **environment},
        cwd=Path(os.sep),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


# What every command shares


def test_path(capsys):
    assert main(["path"]) == main(["path", "tasks"]) == main(["path", "metrics"]) == 0
    tasks, metrics = str(plugin.tasks_path()), str(plugin.resource_folder("metrics"))
    assert capsys.readouterr().out.splitlines() == [tasks, tasks, metrics]


def test_python_m_works_from_any_folder():
    process = python("-m", "tls_tasks", "path")
    assert (*process.communicate(), process.returncode) == (f"{plugin.tasks_path()}\n", "", 0)


def test_characters_that_the_terminal_lacks_are_escaped():
    out, _ = python("-m", "tls_tasks", "list", "--help", PYTHONIOENCODING="ascii").communicate()
    assert '"data": \\u2026' in out


def test_no_host_is_imported():
    code = """if True:
        import sys
        from tls_tasks.cli import main
        main(["path"])
        main(["doctor"])
        print({"lm_eval", "evaluate", "datasets", "torch"} & set(sys.modules))
    """
    assert python("-c", code).communicate()[0].splitlines()[-1] == "set()"


def test_version(capsys):
    assert run("--version", capsys) == (0, f"tls-tasks {tls_tasks.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["paths"], ["path", "scorers"], ["doctor", "--fix"]])
def test_wrong_arguments_exit_2(arguments, capsys):
    code, out, err = run(arguments[0], capsys, *arguments[1:])
    assert (code, out) == (2, "") and "usage: tls-tasks" in err


def test_the_help_has_the_exit_codes(capsys):
    assert main([]) == 0
    text = capsys.readouterr().out
    assert '"$(tls-tasks path)"' in text and all(f"\n  {code}" in text for code in (0, 1, 2, 130))


def raising(error):
    def raised(*_):
        raise error

    return raised


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (DataError("no data in\n  x"), 2, "tls-tasks path: no data in x\n"),
        (FileNotFoundError(2, "No such file or directory", "x"), 2, "x: no such file or directory\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=["ours", "the system's", "interrupt"],
)
def test_errors_are_one_line(error, code, line, monkeypatch, capsys):
    monkeypatch.setattr(plugin, "resource_folder", raising(error))
    ended, out, err = run("path", capsys)
    assert (ended, out) == (code, "") and err.endswith(line) and err.count("\n") == line.count("\n")


def test_errors_that_are_our_fault_keep_their_traceback(monkeypatch):
    monkeypatch.setattr(plugin, "resource_folder", raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["path"])


def test_reader_that_is_gone():
    process = python("-m", "tls_tasks", "path")
    process.stdout.close()
    with process.stderr:
        assert process.stderr.read() == ""
    assert process.wait() == 141


# doctor


ENTRY_POINTS = (
    EntryPoint("tls_tasks", "tls_tasks.task_configs", "lm_eval.tasks"),
    EntryPoint("tls_datewise", "tls_tasks.timelines.baseline:DatewiseLM", "lm_eval.models"),
    EntryPoint("tls_tasks", "tls_tasks.metrics", "evaluate.modules"),
)
VERSIONS = {"lm_eval": "0.4.13", "evaluate": "0.4.6", "datasets": "5.2.0"}
NO_HOOK = "there is no start-up hook in this environment: "


@pytest.fixture
def environment(monkeypatch, tmp_path, capsys):
    """A function that makes an environment in which all is well but for its arguments, and what doctor says of it."""

    def diagnose(
        pth=True, module="current", active=True, off=False, versions=VERSIONS, entries=ENTRY_POINTS, sources=("", "")
    ):
        (tmp_path / "tls_tasks_hook.pth").unlink(missing_ok=True)
        if pth:
            (tmp_path / "tls_tasks_hook.pth").touch()
        hook = tmp_path / "_tls_tasks_hook.py"
        hook.write_bytes(plugin.hook_source().read_bytes() if module == "current" else b"# older")
        for name, text in zip(("tasks/manager.py", "api/registry.py"), sources, strict=True):
            (tmp_path / "lm_eval" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "lm_eval" / name).write_text(text, encoding="utf-8")
        specs = {
            "_tls_tasks_hook": module and SimpleNamespace(origin=str(hook)),
            "lm_eval": SimpleNamespace(submodule_search_locations=[str(tmp_path / "lm_eval")]),
        }
        with monkeypatch.context() as patch:
            find_spec = importlib.util.find_spec
            patch.setattr(importlib.util, "find_spec", lambda name: specs[name] if name in specs else find_spec(name))
            patch.setattr(plugin, "site_folders", lambda: (tmp_path,))
            patch.setattr(plugin, "is_active", lambda: active)
            patch.setenv("TLS_TASKS_NO_HOOK", str(int(off)))
            packages = {name: version and SimpleNamespace(version=version) for name, version in versions.items()}
            packages["tls-tasks"] = entries and SimpleNamespace(entry_points=entries)
            patch.setattr(plugin, "distribution", lambda name="tls-tasks": packages[name])
            code, out, _ = run("doctor", capsys)
        lines = out.splitlines()
        problems = [line.removeprefix("problem: ") for line in lines if line.startswith("problem: ")]
        assert code == int(bool(problems))
        return lines, problems

    return diagnose


def test_all_is_well(environment):
    lines, problems = environment()
    assert problems == []
    assert lines[0].startswith(f"tls-tasks {tls_tasks.__version__}, lm_eval 0.4.13, evaluate 0.4.6, datasets 5.2.0")
    assert lines[-3:] == [
        "lm_eval --tasks NAME found by the hook (tls_tasks)",
        "lm_eval --model NAME found by the hook (tls_datewise)",
        "evaluate.load(NAME)  found by the hook (tls_tasks)",
    ]


def test_the_hook_is_not_needed_where_the_host_reads_entry_points(environment):
    """That a release does is told by its source."""
    sources = ("def discover_plugin_task_paths(): ...", "def load_plugins(): ...")
    lines, problems = environment(sources=sources, active=False, pth=False, module=None)
    assert len(problems) == 1 and problems[0].startswith(NO_HOOK)  # evaluate needs it
    assert lines[-4:-1] == [
        "lm_eval --tasks NAME found: lm_eval reads entry points (tls_tasks)",
        "lm_eval --model NAME found: lm_eval reads entry points (tls_datewise)",
        "evaluate.load(NAME)  NOT found by name (tls_tasks)",
    ]
    lines, _ = environment(sources=(sources[0], "def get_model(): ..."))
    assert lines[-2] == "lm_eval --model NAME found by the hook (tls_datewise)"


@pytest.mark.parametrize("name", PROBLEMS)
def test_each_problem_is_named_with_its_remedy(environment, name):
    changes, words = PROBLEMS[name]
    _, [problem] = environment(**changes)
    assert words in problem


def test_what_is_not_found_is_said_for_each_host(environment):
    lines, _ = environment(versions={**VERSIONS, "lm_eval": None}, active=False)
    assert sum("NOT found by name" in line for line in lines) == 3
