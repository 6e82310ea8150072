"""tls-tasks path, doctor, enable, disable, and what all commands share: exit codes, one-line errors, light imports."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace

import pytest

import tls_tasks
from tls_tasks.cli import main
from tls_tasks.core.errors import DataError
from tls_tasks.hosts import discovery as plugin

ROOT = Path(__file__).parents[2]


def tls_tasks_command(*arguments: str, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "tls_tasks", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


# What every command shares


def test_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["path"]) == main(["path", "tasks"]) == main(["path", "metrics"]) == 0
    assert capsys.readouterr().out.splitlines() == [str(plugin.tasks_path())] * 2 + [
        str(plugin.resource_folder("metrics"))
    ]


def test_python_m_works_from_any_folder(tmp_path: Path) -> None:
    process = tls_tasks_command("path", cwd=tmp_path)
    out, err = process.communicate()
    assert (out, err, process.returncode) == (f"{plugin.tasks_path()}\n", "", 0)


def test_characters_that_the_terminal_lacks_are_escaped() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "tls_tasks", "list", "--help"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert '"data": \\u2026' in done.stdout


def test_no_host_is_imported() -> None:
    code = """if True:
        import sys
        from tls_tasks.cli import main
        main(["path"])
        main(["doctor"])
        print({"lm_eval", "evaluate", "datasets", "torch"} & set(sys.modules))
    """
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"tls-tasks {tls_tasks.__version__}\n"


@pytest.mark.parametrize("arguments", [["paths"], ["path", "scorers"], ["doctor", "--fix"]])
def test_wrong_arguments_exit_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "usage: tls-tasks" in capsys.readouterr().err


def test_the_help_has_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert '"$(tls-tasks path)"' in text and all(f"\n  {code}" in text for code in (0, 1, 2, 130))


def raising(error: BaseException):
    def run(*_: object) -> None:
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (DataError("no data in\n  x"), 2, "tls-tasks path: no data in x\n"),
        (FileNotFoundError(2, "No such file or directory", "x"), 2, "x: no such file or directory\n"),
        (KeyboardInterrupt(), 130, ""),
    ],
    ids=["ours", "the system's", "interrupt"],
)
def test_errors_are_one_line(
    error: BaseException, code: int, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(plugin, "resource_folder", raising(error))
    assert main(["path"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(line)
    assert err.count("\n") == line.count("\n")


def test_errors_that_are_our_fault_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "resource_folder", raising(ZeroDivisionError()))
    with pytest.raises(ZeroDivisionError):
        main(["path"])


def test_reader_that_is_gone() -> None:
    process = tls_tasks_command("path")
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
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
NO_HOOK = "there is no start-up hook in this environment: tls-tasks enable"


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
            code = main(["doctor"])
        lines = capsys.readouterr().out.splitlines()
        problems = [line.removeprefix("problem: ") for line in lines if line.startswith("problem: ")]
        assert code == int(bool(problems))
        return lines, problems

    return diagnose


def test_all_is_well(environment) -> None:
    lines, problems = environment()
    assert problems == []
    assert lines[0].startswith(f"tls-tasks {tls_tasks.__version__}, lm_eval 0.4.13, evaluate 0.4.6, datasets 5.2.0")
    assert lines[-3:] == [
        "lm_eval --tasks NAME found by the hook (tls_tasks)",
        "lm_eval --model NAME found by the hook (tls_datewise)",
        "evaluate.load(NAME)  found by the hook (tls_tasks)",
    ]


def test_the_hook_is_not_needed_where_the_host_reads_entry_points(environment) -> None:
    """That a release does is told by its source."""
    sources = ("def discover_plugin_task_paths(): ...", "def load_plugins(): ...")
    lines, problems = environment(sources=sources, active=False, pth=False, module=None)
    assert problems == [NO_HOOK]  # evaluate needs it
    assert lines[-4:-1] == [
        "lm_eval --tasks NAME found: lm_eval reads entry points (tls_tasks)",
        "lm_eval --model NAME found: lm_eval reads entry points (tls_datewise)",
        "evaluate.load(NAME)  NOT found by name (tls_tasks)",
    ]
    lines, _ = environment(sources=(sources[0], "def get_model(): ..."))
    assert lines[-2] == "lm_eval --model NAME found by the hook (tls_datewise)"


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"versions": {**VERSIONS, "lm_eval": None}}, "lm-eval is not installed: pip install lm-eval"),
        ({"entries": None}, "tls-tasks is not installed: pip install tls-tasks"),
        ({"module": None, "active": False}, "imports _tls_tasks_hook, which is not there: tls-tasks enable, or delete"),
        ({"module": "older"}, "_tls_tasks_hook.py belongs to another version: tls-tasks enable"),
        (
            {"active": False, "off": True},
            "the start-up hook is switched off by the environment variable TLS_TASKS_NO_HOOK",
        ),
        ({"active": False, "pth": False}, NO_HOOK),
        ({"active": False}, "the start-up hook is not active in this process: was Python started with -S?"),
    ],
    ids=["host", "not installed", "stale pth", "outdated", "switched off", "no pth", "not active"],
)
def test_each_problem_is_named_with_its_remedy(environment, changes: dict[str, object], problem: str) -> None:
    _, problems = environment(**changes)
    assert len(problems) == 1 and problem in problems[0]


def test_what_is_not_found_is_said_for_each_host(environment) -> None:
    lines, _ = environment(versions={**VERSIONS, "lm_eval": None}, active=False)
    assert sum("NOT found by name" in line for line in lines) == 3


def test_enable_needs_an_installation(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(plugin, "distribution", lambda: None)
    assert main(["enable"]) == 2
    assert capsys.readouterr().err.startswith("tls-tasks enable: tls-tasks is importable but not installed")
