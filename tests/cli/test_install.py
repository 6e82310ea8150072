"""tls-tasks path, doctor, enable, disable, and what all commands share: exit codes, one-line errors, light imports."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import tls_tasks
from tls_tasks.cli import main
from tls_tasks.cli.doctor import HOSTS, _hook_state, _HookState, _report, _upstream_groups
from tls_tasks.core.errors import DataError
from tls_tasks.hosts import discovery as plugin

ROOT = Path(__file__).parents[2]

HEALTHY = _HookState(
    pth_files=(Path("site/tls_tasks_hook.pth"),),
    module=Path("site/_tls_tasks_hook.py"),
    is_current=True,
    is_active=True,
    is_switched_off=False,
    versions={"lm_eval": "0.4.13", "evaluate": "0.4.6", "datasets": "5.2.0"},
    upstream=dict.fromkeys(HOSTS, False),
    entry_points=(
        EntryPoint("tls_tasks", "tls_tasks.task_configs", "lm_eval.tasks"),
        EntryPoint("tls_datewise", "tls_tasks.timelines.baseline:DatewiseLM", "lm_eval.models"),
        EntryPoint("tls_tasks", "tls_tasks.metrics", "evaluate.modules"),
    ),
)


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


@pytest.mark.parametrize("command", [[], ["path"], ["doctor"], ["enable"], ["disable"]])
def test_every_help_has_an_example(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main([*command, "--help"])
    text = capsys.readouterr().out
    assert stop.value.code == 0
    assert f"  tls-tasks {' '.join(command)}".rstrip() in text or '"$(tls-tasks path)"' in text
    assert command or all(f"\n  {code}" in text for code in (0, 1, 2, 130))


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
    error: BaseException,
    code: int,
    line: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(plugin, "tasks_path", raising(error))
    assert main(["path"]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith(line)
    assert err.count("\n") == line.count("\n")


def test_errors_that_are_our_fault_keep_their_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin, "tasks_path", raising(ZeroDivisionError()))
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


def test_all_is_well() -> None:
    assert HEALTHY.problems == []
    assert {group: HEALTHY.route(group) for group in HOSTS} == dict.fromkeys(HOSTS, "hook")
    assert _report(HEALTHY)[0].startswith(
        f"tls-tasks {tls_tasks.__version__}, lm_eval 0.4.13, evaluate 0.4.6, datasets 5.2.0"
    )
    assert _report(HEALTHY)[-3:] == [
        "lm_eval --tasks NAME found by the hook (tls_tasks)",
        "lm_eval --model NAME found by the hook (tls_datewise)",
        "evaluate.load(NAME)  found by the hook (tls_tasks)",
    ]


def test_the_hook_is_not_needed_where_the_host_reads_entry_points() -> None:
    upstream = {**HEALTHY.upstream, "lm_eval.tasks": True, "lm_eval.models": True}
    state = dataclasses.replace(HEALTHY, upstream=upstream, is_active=False, pth_files=(), module=None)
    assert [state.route(group) for group in HOSTS] == ["upstream", "upstream", "none"]
    assert state.problems == ["there is no start-up hook in this environment: tls-tasks enable"]  # evaluate needs it
    assert "lm_eval --tasks NAME found: lm_eval reads entry points (tls_tasks)" in _report(state)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"versions": {**HEALTHY.versions, "lm_eval": None}}, "lm_eval is not installed: pip install lm-eval"),
        (
            {"entry_points": ()},
            "tls-tasks is importable but not installed: pip install tls-tasks (in a checkout: pip install -e .)",
        ),
        (
            {"broken": (EntryPoint("tls_datewise", "tls_tasks.gone:LM", "lm_eval.models"),)},
            "the entry point tls_datewise of lm_eval.models names tls_tasks.gone:LM, which does not exist: reinstall",
        ),
        (
            {"module": None, "is_current": False, "is_active": False},
            f"{HEALTHY.pth_files[0]} imports _tls_tasks_hook, which is not there: tls-tasks enable, or delete it",
        ),
        ({"is_current": False}, f"{HEALTHY.module} belongs to another version: tls-tasks enable"),
        (
            {"is_active": False, "is_switched_off": True},
            "the start-up hook is switched off by the environment variable TLS_TASKS_NO_HOOK",
        ),
        ({"is_active": False, "pth_files": ()}, "there is no start-up hook in this environment: tls-tasks enable"),
        ({"is_active": False}, "the start-up hook is not active in this process: was Python started with -S?"),
    ],
    ids=["host", "not installed", "entry point", "stale pth", "outdated", "switched off", "no pth", "not active"],
)
def test_each_problem_is_named_with_its_remedy(changes: dict[str, object], problem: str) -> None:
    state = dataclasses.replace(HEALTHY, **changes)
    assert state.problems == [problem]
    assert _report(state)[-1] == f"problem: {problem}"


def test_what_is_not_found_is_said_for_each_host() -> None:
    state = dataclasses.replace(HEALTHY, versions={**HEALTHY.versions, "lm_eval": None}, is_active=False)
    assert [state.route(group) for group in HOSTS] == ["none"] * 3
    assert sum("NOT found by name" in line for line in _report(state)) == 3


def test_upstream_is_recognised_by_its_source(tmp_path: Path) -> None:
    (tmp_path / "tasks").mkdir()
    (tmp_path / "api").mkdir()
    (tmp_path / "tasks" / "manager.py").write_text("def discover_plugin_task_paths(): ...\n", encoding="utf-8")
    (tmp_path / "api" / "registry.py").write_text("def get_model(): ...\n", encoding="utf-8")
    assert _upstream_groups(tmp_path) == {"lm_eval.tasks": True, "lm_eval.models": False, "evaluate.modules": False}


def test_hook_state_of_this_environment_agrees_with_doctor(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    state = _hook_state()
    assert main(["doctor"]) == (1 if state.problems else 0)
    assert capsys.readouterr().out.splitlines() == _report(state)
    for value in ("1", "0"):
        monkeypatch.setenv("TLS_TASKS_NO_HOOK", value)
        assert _hook_state().is_switched_off == (value == "1")


def test_enable_needs_an_installation(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(plugin, "distribution", lambda: None)
    assert main(["enable"]) == 2
    assert capsys.readouterr().err.startswith("tls-tasks enable: tls-tasks is importable but not installed")
