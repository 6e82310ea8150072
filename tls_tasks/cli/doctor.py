"""``tls-tasks doctor | path | enable | disable``: whether lm_eval and evaluate find us here, and how to make them.

:func:`_hook_state` gathers the facts; everything else follows from them.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from pathlib import Path

import tls_tasks
from tls_tasks.cli.base import Subparsers, add_command, say
from tls_tasks.core.errors import TlsTasksError
from tls_tasks.hosts import discovery

HOSTS: Mapping[str, tuple[str, str]] = {
    "lm_eval.tasks": ("lm_eval", "lm_eval --tasks NAME"),
    "lm_eval.models": ("lm_eval", "lm_eval --model NAME"),
    "evaluate.modules": ("evaluate", "evaluate.load(NAME)"),
}
"""Entry point group -> the package that it is for, and what the user types."""

_UPSTREAM_READERS = {
    "lm_eval.tasks": ("tasks/manager.py", "discover_plugin_task_paths"),
    "lm_eval.models": ("api/registry.py", "load_plugins"),
}
"""Entry point group -> the file of lm_eval, and the function in it, that reads the group in releases that do."""


def add_parser(subparsers: Subparsers) -> None:
    """Add the four commands."""
    add_command(subparsers, "doctor", _run_doctor)
    path = add_command(subparsers, "path", _run_path)
    path.add_argument(
        "what",
        nargs="?",
        choices=("tasks", "metrics", "data"),
        default="tasks",
        help="tasks (default): for lm_eval; metrics: modules for evaluate.load; data: the embedded edition",
    )
    add_command(subparsers, "enable", _run_enable)
    add_command(subparsers, "disable", _run_disable)


def _run_doctor(args: argparse.Namespace) -> int:
    """Check whether lm_eval and evaluate find the tasks, models and modules of this package.

    Says how they are found by name, or why not and what to do. Neither of the two is started, so this is quick.

    Exit codes: 0 all are found; 1 something is not

    Example:
      tls-tasks doctor && lm_eval ls tasks
    """
    state = _hook_state()
    say("\n".join(_report(state)))
    return int(bool(state.problems))


def _run_path(args: argparse.Namespace) -> int:
    """Print the folder of the task configurations, of the evaluate modules, or of the embedded data.

    These folders always work, whatever the state of the start-up hook (see tls-tasks doctor).

    Examples:
      tls-tasks path metrics
      lm_eval run --tasks tls_crisis --model dummy --include_path "$(tls-tasks path)"
      python -c "import evaluate; print(evaluate.load('$(tls-tasks path metrics)/date_f1'))"
    """
    if args.what == "data":
        from tls_tasks.data.order import EMBEDDED

        say(EMBEDDED)
    else:
        say(discovery.tasks_path() if args.what == "tasks" else discovery.resource_folder("metrics"))
    return 0


def _run_enable(args: argparse.Namespace) -> int:
    """Write the start-up hook into this environment.

    For installers that leave it out (pip install --target, some repackagings), and after tls-tasks disable. The hook is
    a file of under 100 lines, _tls_tasks_hook.py, which a .pth file imports whenever Python starts. It makes
    `lm_eval --tasks NAME` and `evaluate.load("NAME")` work without further options in releases that do not read entry
    points. TLS_TASKS_NO_HOOK=1 turns it off for one run.

    Example:
      tls-tasks enable && tls-tasks doctor
    """
    if discovery.distribution() is None:
        raise TlsTasksError("tls-tasks is importable but not installed; the hook would find no entry points")
    written = discovery.enable()
    say("\n".join(f"wrote {path}" for path in written) or f"already in {discovery.hook_folder()}")
    return 0


def _run_disable(args: argparse.Namespace) -> int:
    """Remove the start-up hook from this environment.

    tls-tasks enable or a new installation brings it back. Without it, pass the folders yourself, as
    tls-tasks path --help shows.

    Example:
      tls-tasks disable
    """
    removed = discovery.disable()
    say("\n".join(f"removed {path}" for path in removed) or f"no hook in {discovery.hook_folder()}")
    left = _hook_state().pth_files
    for path in left:
        say(f"{path} stays: it belongs to another environment; {discovery.KILL_SWITCH}=1 turns it off")
    return int(bool(left))


@dataclass(frozen=True, slots=True)
class _HookState:
    """What decides whether lm_eval and evaluate find us in this environment.

    Attributes:
        pth_files: The hook's ``.pth`` files that this Python reads at start-up.
        module: The hook module that they import; None if there is none.
        is_current: Whether that module belongs to this version of the package.
        is_active: Whether the hook works in this process.
        is_switched_off: Whether ``TLS_TASKS_NO_HOOK`` is set.
        versions: Distribution -> version, None where it is not installed.
        upstream: Entry point group -> whether the installed host reads it by itself.
        entry_points: Ours, as installed.
        broken: Those of them whose module does not exist.
    """

    pth_files: tuple[Path, ...]
    module: Path | None
    is_current: bool
    is_active: bool
    is_switched_off: bool
    versions: Mapping[str, str | None]
    upstream: Mapping[str, bool]
    entry_points: tuple[EntryPoint, ...]
    broken: tuple[EntryPoint, ...] = ()

    def route(self, group: str) -> str:
        """How the names of ``group`` reach their host: ``upstream`` (by itself), ``hook`` or ``none`` (not at all)."""
        if self.versions.get(HOSTS[group][0]) is None or not self.names(group):
            return "none"
        if self.upstream[group]:
            return "upstream"
        return "hook" if self.is_active else "none"

    def names(self, group: str) -> list[str]:
        """Our names in ``group`` that work, sorted."""
        return sorted(entry.name for entry in self.entry_points if entry.group == group and entry not in self.broken)

    @property
    def problems(self) -> list[str]:
        """What keeps a name from being found, each with its remedy; empty if all is well."""
        return [*self._install_problems(), *self._hook_problems()]

    def _install_problems(self) -> Iterator[str]:
        for host in sorted({host for host, _ in HOSTS.values()}):
            if self.versions.get(host) is None:
                yield f"{host} is not installed: pip install {host.replace('_', '-')}"
        if not self.entry_points:
            yield "tls-tasks is importable but not installed: pip install tls-tasks (in a checkout: pip install -e .)"
        for entry in self.broken:
            yield f"the entry point {entry.name} of {entry.group} names {entry.value}, which does not exist: reinstall"

    def _hook_problems(self) -> Iterator[str]:
        if self.pth_files and self.module is None:
            yield f"{self.pth_files[0]} imports {discovery.HOOK}, which is not there: tls-tasks enable, or delete it"
        elif self.module is not None and not self.is_current:
            yield f"{self.module} belongs to another version: tls-tasks enable"
        if self.is_active or all(self.upstream.values()):
            return
        if self.is_switched_off:
            yield f"the start-up hook is switched off by the environment variable {discovery.KILL_SWITCH}"
        elif not self.pth_files:
            yield "there is no start-up hook in this environment: tls-tasks enable"
        elif self.module is not None:
            yield "the start-up hook is not active in this process: was Python started with -S?"


def _hook_state() -> _HookState:
    """Gather the facts about this process and its environment, without importing a host."""
    spec = importlib.util.find_spec(discovery.HOOK)
    module = Path(spec.origin) if spec and spec.origin else None
    installed = discovery.distribution()
    entry_points = tuple(entry for entry in (installed.entry_points if installed else ()) if entry.group in HOSTS)
    return _HookState(
        pth_files=tuple(path for folder in discovery.site_folders() if (path := folder / discovery.PTH).is_file()),
        module=module,
        is_current=module is not None and module.read_bytes() == discovery.hook_source().read_bytes(),
        is_active=discovery.is_active(),
        is_switched_off=discovery.is_switched_off(),
        versions={name: _version(name) for name in ("lm_eval", "evaluate", "datasets")},
        upstream=_upstream_groups(_package_folder("lm_eval")),
        entry_points=entry_points,
        broken=tuple(entry for entry in entry_points if not _is_importable(entry.module)),
    )


def _upstream_groups(lm_eval_folder: Path | None) -> dict[str, bool]:
    """Which entry point groups lm_eval reads by itself, told by its source: importing it would take seconds.

    Args:
        lm_eval_folder: Where the package is; None: not installed.

    Returns:
        Each group of :data:`HOSTS` -> whether its host reads it. evaluate reads none.

    Example:
        >>> _upstream_groups(None)
        {'lm_eval.tasks': False, 'lm_eval.models': False, 'evaluate.modules': False}
    """
    reads = dict.fromkeys(HOSTS, False)
    for group, (file, function) in _UPSTREAM_READERS.items():
        path = lm_eval_folder / file if lm_eval_folder else None
        reads[group] = path is not None and path.is_file() and function in path.read_text(encoding="utf-8")
    return reads


def _report(state: _HookState) -> list[str]:
    """The lines of ``tls-tasks doctor``: the facts, what follows from them, and the problems."""
    hosts = ", ".join(f"{name} {version or 'not installed'}" for name, version in state.versions.items())
    pth_files = ", ".join(map(str, state.pth_files)) or "no .pth file"
    lines = [
        f"tls-tasks {tls_tasks.__version__}, {hosts}, Python {platform.python_version()}",
        f"task configurations  {discovery.tasks_path()}",
        f"evaluate modules     {discovery.resource_folder('metrics')}",
        f"start-up hook        {'active' if state.is_active else 'not active'} ({pth_files})",
    ]
    how = {"upstream": "found: {host} reads entry points", "hook": "found by the hook", "none": "NOT found by name"}
    for group, (host, typed) in HOSTS.items():
        names = ", ".join(state.names(group)) or "no entry point"
        lines.append(f"{typed:<20} {how[state.route(group)].format(host=host)} ({names})")
    return lines + [f"problem: {problem}" for problem in state.problems]


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _package_folder(name: str) -> Path | None:
    spec = importlib.util.find_spec(name)
    return Path(next(iter(spec.submodule_search_locations))) if spec and spec.submodule_search_locations else None


def _is_importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:  # a package above it is not there
        return False
