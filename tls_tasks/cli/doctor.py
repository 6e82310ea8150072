"""``tls-tasks doctor`` and ``path``: whether lm_eval and evaluate find us here, and the folders that always work."""

import argparse
import importlib.util
import json
import platform
from collections.abc import Iterator
from pathlib import Path

import tls_tasks
from tls_tasks.cli.base import Subparsers, add_command, say
from tls_tasks.data.sources import EMBEDDED
from tls_tasks.hosts import discovery

_GROUPS = json.loads(Path(__file__).with_name("doctor.json").read_text(encoding="utf-8"))
"""Entry point group -> the package that it is for, what the user types, and the file of the package with the function
in it that reads the group in releases that do."""

_REINSTALL = "pip install --force-reinstall --no-deps your/checkout/of/tls-tasks"


def add_parser(subparsers: Subparsers) -> None:
    """Add both commands."""
    add_command(subparsers, "doctor", _run_doctor)
    path = add_command(subparsers, "path", _run_path)
    kinds, text = ("tasks", "metrics", "data"), "for lm_eval (default), for evaluate.load, or the embedded edition"
    path.add_argument("what", nargs="?", choices=kinds, default=kinds[0], help=text)


def _run_doctor(args: argparse.Namespace) -> int:
    """Check whether lm_eval and evaluate find the tasks, models and modules of this package.

    Says how they are found by name, or why not and what to do. Neither of the two is started, so this is quick.

    Exit codes: 0 all are found; 1 something is not

    Example:
      tls-tasks doctor && lm_eval ls tasks
    """
    hosts = {name: discovery.distribution(name) for name in ("lm_eval", "evaluate", "datasets")}
    versions = ", ".join(f"{name} {host.version if host else 'not installed'}" for name, host in hosts.items())
    installed, is_active = discovery.distribution(), discovery.is_active()
    pth_files = ", ".join(map(str, _pth_files())) or "no .pth file"
    say(f"tls-tasks {tls_tasks.__version__}, {versions}, Python {platform.python_version()}")
    say(f"task configurations  {discovery.tasks_path()}")
    say(f"evaluate modules     {discovery.resource_folder('metrics')}")
    say(f"start-up hook        {'active' if is_active else 'not active'} ({pth_files})")
    for group, (host, typed, *reader) in _GROUPS.items():
        names = sorted(entry.name for entry in installed.entry_points if entry.group == group) if installed else []
        how = "found by the hook" if is_active else "NOT found by name"
        if not names or hosts[host] is None:
            how = "NOT found by name"
        elif _has(host, *reader):
            how = f"found: {host} reads entry points"
        say(f"{typed:<20} {how} ({', '.join(names) or 'no entry point'})")
    packages = {"evaluate": hosts["evaluate"], "lm-eval": hosts["lm_eval"], "your/checkout/of/tls-tasks": installed}
    lacking = [name for name, package in packages.items() if package is None]
    problems = [f"{Path(name).name} is not installed: pip install {name}" for name in lacking]
    problems += _hook_problems(is_active)
    for problem in problems:
        say(f"problem: {problem}")
    return int(bool(problems))


def _run_path(args: argparse.Namespace) -> None:
    """Print the folder of the task configurations, of the evaluate modules, or of the embedded data.

    These folders always work, whatever the state of the start-up hook (see tls-tasks doctor).

    Examples:
      tls-tasks path metrics
      lm_eval run --tasks tls_crisis --model dummy --include_path "$(tls-tasks path)"
      python -c "import evaluate; print(evaluate.load('$(tls-tasks path metrics)/date_f1'))"
    """
    folders = {"tasks": "task_configs", "metrics": "metrics"}
    say(EMBEDDED if args.what == "data" else discovery.resource_folder(folders[args.what]))


def _hook_problems(is_active: bool) -> Iterator[str]:
    """What keeps the hook from working, each with its remedy. evaluate needs it even where lm_eval does not."""
    pth_files, spec = _pth_files(), importlib.util.find_spec(discovery.HOOK)
    if pth_files and spec is None:
        yield f"{pth_files[0]} imports {discovery.HOOK}, which is not there: {_REINSTALL}, or delete it"
    elif spec and spec.origin and Path(spec.origin).read_bytes() != discovery.hook_source().read_bytes():
        yield f"{spec.origin} belongs to another version: {_REINSTALL}"
    if is_active:
        return
    if discovery.is_switched_off():
        yield f"the start-up hook is switched off by the environment variable {discovery.KILL_SWITCH}"
    elif not pth_files:
        yield f"there is no start-up hook in this environment: {_REINSTALL}, or give the folders of tls-tasks path"
    elif spec is not None:
        yield "the start-up hook is not active in this process: was Python started with -S?"


def _pth_files() -> list[Path]:
    """The hook's ``.pth`` files that this Python reads at start-up."""
    return [path for folder in discovery.site_folders() if (path := folder / discovery.PTH).is_file()]


def _has(package: str, file: str, function: str) -> bool:
    """Whether a package has the function, told by its source: importing it would take seconds."""
    spec = importlib.util.find_spec(package)
    paths = [Path(folder) / file for folder in (spec and spec.submodule_search_locations) or () if file]
    return any(path.is_file() and function in path.read_text(encoding="utf-8") for path in paths)
